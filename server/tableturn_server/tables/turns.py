"""Turns: staged step by step, undone, confirmed; the game paused, or left by a seat for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Illegal
from tableturn_server.rules.game import Game, Prompt, Resolved
from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import (
    asked_seats,
    bot_of,
    confirmed_at_panel,
    name_of,
    staged_position,
    staging_seats,
    with_value,
    without_votes,
)
from tableturn_server.tables.log import ChangeKind, LogEntry, drop_line, next_hash, turn_line
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_confirms_itself,
    check_may_remove,
    check_not_paused,
    check_occupant,
    check_question,
    check_running,
    is_host,
    playing_seat,
    seat_of_owner_or_host,
    unknown_token,
)
from tableturn_server.tables.stand_ins import back_line, returned
from tableturn_server.tables.state import SNAPSHOT_EVERY, Seat, Status, Table, game_of

Positions = Mapping[int, Any]
"""Positions with what seats have staged, by seat, as far as they are known."""


# -- staging and confirming ----------------------------------------------------------------


def act(table: Table, command: commands.Act, now: int, positions: Positions) -> Change:
    """Stage actions, and confirm the turn if asked to: all of it, or nothing.

    Whoever acts while a bot stands in for them is back.
    """
    number = playing_seat(table, command.by, command.seat, asked_seats)
    check_running(table)
    check_question(table, number, command.expected_revision)
    check_not_paused(table)
    if command.by.bots and not command.actions and not command.confirm:
        return _waits(table, number, now)
    if command.by.bots and not command.confirm and table.seat(number).stand_in:
        raise Refused(
            Reason.CANNOT_CONFIRM, f"the bot that stands in for seat {number} takes whole turns"
        )
    if not command.actions and not command.confirm:
        raise Refused(
            Reason.BAD_FIELD, "no action and no confirmation is asked for", field="actions"
        )
    if command.confirm:
        check_confirms_itself(table, command.by, number)
    if table.seat(number).stand_in and not command.by.bots:
        back = returned(table, number, now)
        change = play(back, number, command.actions, command.confirm, now, positions)
        lines = (back_line(table, number), *change.entry.lines)
        return replace(change, entry=replace(change.entry, lines=lines))
    return play(table, number, command.actions, command.confirm, now, positions)


def play(
    table: Table,
    number: int,
    actions: tuple[Action, ...],
    confirm: bool,
    now: int,
    positions: Positions,
    why: tuple[str, ...] = (),
) -> Change:
    """Stage actions for a seat, and confirm its turn if `confirm`, as far as the rules allow.

    `why` are lines for the log that come first.
    """
    game = game_of(table)
    asked = game.prompts(table.position)
    if all(prompt.seat != number for prompt in asked):
        raise not_asked(number)
    open_ = positions.get(number)
    if open_ is None:
        open_ = staged_position(game, table, number)
    who = name_of(table, number)
    lines = list(why)
    for index, action in enumerate(actions):
        try:
            after = game.stage(open_, number, action)
        except Illegal as error:
            raise Refused(Reason.ILLEGAL_ACTION, str(error), index=index) from error
        lines.append(f"{who} {game.describe(open_, number, action)}")
        open_ = after
    if confirm:
        return _confirm(table, game, asked, open_, number, actions, lines, now)
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.STAGE,
        seat=number,
        actions=actions,
        lines=tuple(lines),
        shown=_shown(game, actions),
    )
    played = table.staged[number - 1] + actions
    return Change(_staged(table, number, played, now), entry, number, position=open_)


def default_turn(table: Table, number: int, now: int, line: str) -> Change:
    """The least that the rules allow is done for a seat (DR-3); `line` says why.

    What the seat has staged is undone first (DR-2). The turn is one like any other: it may be
    taken back, and the log alone replays it.
    """
    why = (f"{line}; what it has staged is undone",) if table.staged[number - 1] else (line,)
    cleared = replace(table, staged=with_value(table.staged, number, ()))
    actions = game_of(table).default(table.position, number)
    return play(cleared, number, actions, True, now, {}, why)


def _waits(table: Table, number: int, now: int) -> Change:
    """A bot leaves a turn to the button of its seat as it is, with nothing staged."""
    if number not in asked_seats(table):
        raise not_asked(number)
    if not confirmed_at_panel(table, number) or table.staged[number - 1]:
        raise Refused(Reason.CANNOT_CONFIRM, f"seat {number} has more to do than to wait")
    revision = table.revision + 1
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.STAGE,
        seat=number,
        lines=(f"{name_of(table, number)} stages nothing; its button ends the turn",),
    )
    waits_at = table.waits_at or (0,) * len(table.seats)
    waiting = replace(
        table,
        revision=revision,
        stamp=now,
        asked_at=with_value(table.asked_at, number, revision),
        waits_at=with_value(waits_at, number, revision),
    )
    return Change(waiting, entry, number)


def not_asked(number: int) -> Refused:
    """The refusal of a seat whose turn it is not."""
    return Refused(Reason.NOT_ASKED, f"seat {number} is not asked anything now")


def _confirm(
    table: Table,
    game: Game[Any, Any],
    asked: tuple[Prompt, ...],
    open_: Any,
    number: int,
    actions: tuple[Action, ...],
    lines: list[str],
    now: int,
) -> Change:
    """Confirm a seat's staged turn; what was hidden turns up.

    `asked` is what seats were asked at the last confirmed position, `open_` the position with
    `actions` staged on top of what the seat had staged before.
    """
    try:
        resolved = game.resolve(open_, table.hidden, number)
    except Illegal as error:
        raise Refused(Reason.CANNOT_CONFIRM, str(error)) from error
    played = table.staged[number - 1] + actions
    after = _resolved(table, game, asked, resolved, number, turn_line(number, played), now)
    bot = bool(bot_of(table.seat(number)))
    after = replace(after, bot_turns=table.bot_turns + 1 if bot else 0)
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.CONFIRM,
        seat=number,
        turn=after.turns,
        actions=actions,
        played=played,
        lines=(*lines, f"{name_of(table, number)} confirms", *resolved.events),
        turned_up=resolved.turned_up,
        private=resolved.private,
        bot=bot,
        shown=_shown(game, actions),
    )
    return Change(after, entry, number, snapshot=after.turns % SNAPSHOT_EVERY == 0)


def undo(table: Table, command: commands.Undo, now: int) -> Change:
    """Undo the last staged action of a seat, or all.

    Nobody comes back by it: a bot that stands in leaves nothing staged.
    """
    number = playing_seat(table, command.by, command.seat, staging_seats)
    check_running(table)
    check_question(table, number, command.expected_revision)
    check_not_paused(table)
    return undone(table, number, now, everything=command.all)


def undone(table: Table, number: int, now: int, *, everything: bool) -> Change:
    """The last staged action of a seat is undone, or all of its turn."""
    staged = table.staged[number - 1]
    if not staged:
        raise Refused(Reason.NOTHING_TO_UNDO, f"seat {number} has nothing staged")
    kept = () if everything else staged[:-1]
    what = "all of this turn" if everything else "the last action"
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.UNDO,
        seat=number,
        actions=staged[len(kept) :],
        shown=_shown(game_of(table), staged[len(kept) :]),
        lines=(f"{name_of(table, number)} undoes {what}",),
    )
    return Change(_staged(table, number, kept, now), entry, number)


def _shown(game: Game[Any, Any], actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions as others may see them; empty if they may see all."""
    shown = tuple(map(game.shown, actions))
    return () if shown == actions else shown


def _staged(table: Table, number: int, actions: tuple[Action, ...], now: int) -> Table:
    """The table with these actions staged by a seat; its question is a new one."""
    revision = table.revision + 1
    return replace(
        table,
        revision=revision,
        stamp=now,
        staged=with_value(table.staged, number, actions),
        asked_at=with_value(table.asked_at, number, revision),
    )


def _resolved(
    table: Table,
    game: Game[Any, Any],
    asked: tuple[Prompt, ...],
    resolved: Resolved[Any, Any],
    number: int,
    line: str,
    now: int,
) -> Table:
    """The table with a new confirmed position, reached by a turn or drop of a seat.

    Whoever is asked the same as before may go on where they are: their question doesn't change,
    and what they have staged stays if it is still legal.
    """
    revision = table.revision + 1
    before = {p.seat: p.kind for p in asked}
    after = {p.seat: p.kind for p in game.prompts(resolved.open)}
    asked_at, staged = list(table.asked_at), list(table.staged)
    for index in range(len(asked_at)):
        seat = index + 1
        same = seat != number and before.get(seat) == after.get(seat)
        if not same or (staged[index] and not _fits(game, resolved.open, seat, staged[index])):
            asked_at[index] = revision
            staged[index] = ()
    over = game.outcome(resolved.open) is not None
    return replace(
        table,
        revision=revision,
        stamp=now,
        status=Status.FINISHED if over else Status.RUNNING,
        seats=tuple(map(_in_person, table.seats)) if over else table.seats,
        votes=() if over else table.votes,
        asked_at=tuple(asked_at),
        staged=tuple(staged),
        turned_at=revision,
        turns=table.turns + 1,
        log_hash=next_hash(table.log_hash, line),
        takeback_asked=(),
        open=resolved.open,
        hidden=resolved.hidden,
    )


def _in_person(seat: Seat) -> Seat:
    """The seat at the end: no bot has to play on for anybody."""
    return replace(seat, stand_in="", stand_in_cause=0) if seat.stand_in else seat


def _fits(game: Game[Any, Any], open_: Any, number: int, actions: tuple[Any, ...]) -> bool:
    """What a seat has staged is still legal on a new confirmed position."""
    try:
        for action in actions:
            open_ = game.stage(open_, number, action)
    except Illegal:
        return False
    return True


# -- the game as a whole -------------------------------------------------------------------


def pause(
    table: Table, command: commands.Pause | commands.Resume, now: int, *, paused: bool
) -> Change | None:
    """Pause the game, or let it go on."""
    seats = [n for n in table.seats_of(command.by.token) if not table.seat(n).dropped]
    if not seats and not is_host(table, command.by):
        raise unknown_token(
            table, command.by, "the token of a seat that is in the game, or the host's"
        )
    check_running(table)
    if table.paused is paused:
        return None
    who = name_of(table, seats[0]) if seats else "the host"
    return pausing(table, who, seats[0] if seats else 0, now, paused=paused)


def pausing(table: Table, who: str, number: int, now: int, *, paused: bool) -> Change:
    """The game is paused or goes on, because somebody (a seat, or 0) wants it."""
    line = f"{who} {'pauses the game' if paused else 'lets the game go on'}"
    return halted(table, line, number, now, paused=paused)


def halted(table: Table, line: str, number: int, now: int, *, paused: bool) -> Change:
    """The game is paused or goes on; `line` says why."""
    revision = table.revision + 1
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.PAUSE if paused else ChangeKind.RESUME,
        seat=number,
        lines=(line,),
    )
    after = replace(table, revision=revision, stamp=now, paused=paused, paused_at=revision)
    return Change(after, entry)


def concede(table: Table, command: commands.Concede, now: int) -> Change:
    """Take a seat out of the game for good (DR-2, DR-4)."""
    number = seat_of_owner_or_host(table, command.by, command.seat)
    check_may_remove(table, command.by, number)
    check_running(table)
    check_occupant(table, number, command.expected_revision)
    seat = table.seat(number)
    if seat.dropped:
        raise Refused(Reason.NOT_ASKED, f"seat {number} has left the game already")
    return dropping(table, number, now, f"{name_of(table, number)} leaves the game")


def dropping(table: Table, number: int, now: int, line: str) -> Change:
    """A seat leaves the game for good (DR-2, DR-4), whoever wants it; `line` says why."""
    game = game_of(table)
    resolved = game.drop(table.position, table.hidden, number)
    asked = game.prompts(table.position)
    after = _resolved(table, game, asked, resolved, number, drop_line(number), now)
    gone = replace(table.seat(number), dropped=True, stand_in="", stand_in_cause=0)
    after = replace(
        after,
        seats=with_value(after.seats, number, gone),
        bot_turns=0,
        drop_turn=after.turns,
        votes=without_votes(after, number),
    )
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.DROP,
        seat=number,
        turn=after.turns,
        lines=(line, *resolved.events),
        turned_up=resolved.turned_up,
        private=resolved.private,
    )
    return Change(after, entry, number, snapshot=after.turns % SNAPSHOT_EVERY == 0)
