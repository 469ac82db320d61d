"""A small vocabulary for tests of bots: tables full of them, and how they play without a service.

table = bots_at("eastern-wonders", 3, bot="greedy")
play_out(table)
"""

from __future__ import annotations

from hashlib import sha256

from msgspec.structs import replace

from tableturn_server.bots import Bot, Sight, bot_of, names
from tableturn_server.bots.frames import LENGTH, frame, question_of
from tableturn_server.bots.worker import Worker
from tableturn_server.rules.actions import Action
from tableturn_server.rules.catalog import GAMES
from tableturn_server.rules.choices import Choice, pick
from tableturn_server.tables import commands
from tableturn_server.tables.commands import By
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.state import Confirmation
from tableturn_server.tables.state import Table as LiveTable
from tests.rules.play import Table
from tests.tables.play import HOST, TableOfTest, a_table

PAIRS = [(game, bot) for game in GAMES for bot in names(game)]
BOTS = By(bots=True)


def sight_of(table: Table, seat: int, log_hash: bytes = bytes(32)) -> Sight:
    """What a seat of a table of the rules sees, with nothing staged."""
    return Sight(table.game, table.confirmed, seat, log_hash)


def turn_of(bot: Bot, sight: Sight) -> tuple[Action, ...]:
    """A turn that the bot brings to its end by itself: it never needs the default."""
    for _ in range(64):
        action = bot.choose(sight)
        if action is None:
            assert sight.can_confirm, f"{bot} confirms too early after {sight.staged}"
            return sight.staged
        sight = sight.after(action)
    raise AssertionError(f"{bot} comes to no end: {sight.staged}")


def take(table: Table, seat: int, turn: tuple[Action, ...]) -> None:
    """Play a turn at a table of the rules, and confirm it."""
    open_ = table.confirmed
    for action in turn:
        open_ = table.game.stage(open_, seat, action)
    resolved = table.game.resolve(open_, table.hidden, seat)
    table.confirmed, table.hidden = resolved.open, resolved.hidden


def play_out(table: Table, *bots: str, most: int = 5000) -> list[tuple[Action, ...]]:
    """Bots play at a table of the rules, to the end or for so many turns; seats take turns."""
    players = [bot_of(bots[n % len(bots)], table.game.name) for n in range(8)]
    log_hash = bytes(32)
    turns: list[tuple[Action, ...]] = []
    while table.prompts and len(turns) < most:
        seat = table.prompts[0].seat
        turns.append(turn_of(players[seat - 1], sight_of(table, seat, log_hash)))
        take(table, seat, turns[-1])
        log_hash = sha256(log_hash + repr((seat, turns[-1])).encode()).digest()
    return turns


def bots_at(
    game: str = "eastern-wonders", seats: int = 2, bot: str = "greedy", **options: str
) -> TableOfTest:
    """A table of the authority with a bot on each seat, and the game begun."""
    made = a_table(game, seats=seats, taken=False, **options)  # type: ignore[arg-type]
    for _ in range(seats):
        assert made.does(commands.SeatBot(by=HOST, bot=bot))
    return made


def played_by_panels(turns: int, bot: str = "random", game: str = "eastern-wonders") -> LiveTable:
    """A table after so many turns of bots that a panel confirms, each by the press of a button.

    The turns are those that a worker answers, and the button is lit each time.
    """
    at = a_table(game, seats=2, taken=False, start_when_full=False)
    for _ in range(2):
        at.host_seats_bot(bot, confirmation=Confirmation.PANEL)
    panel = at.host_puts_panel(seats=(1, 2))
    assert at.does(commands.Start(by=HOST))
    worker = Worker()
    for _ in range(turns):
        for seat in due_bots(at.table):
            question, setting = question_of(at.table, seat)
            answer = worker.answer(frame(replace(question, told=setting))[LENGTH:])
            assert not answer.fault
            command = commands.Act(
                by=BOTS, seat=seat, expected_revision=at.table.revision, actions=answer.actions
            )
            assert at.does(command)
            assert due_bots(at.table) == ()
        panel.presses(at.asked_seats[0])
    return at.table


class Only(Bot):
    """A bot of tests: it does what it is told to, over and over."""

    def __init__(self, choice: str | None, then_confirm: bool = False) -> None:
        self.kind = choice
        self.then_confirm = then_confirm

    def choose(self, sight: Sight) -> Action | None:
        if self.kind is None or (self.then_confirm and sight.staged):
            return None
        return pick(self.wanted(sight), lambda _: 0)

    def wanted(self, sight: Sight) -> Choice:
        return next((c for c in sight.choices if c.kind == self.kind), Choice(kind="harvest"))
