"""Hidden things are in nothing that is told before they are turned up."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import decide
from tableturn_server.tables.history import History, standing
from tableturn_server.tables.log import LogEntry
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import Table
from tests.tables.hiding import otherwise_held, otherwise_hidden
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    Confirmation,
    PanelOfTest,
    TableOfTest,
    a_table,
    action,
    digest,
    eastern_wonders,
)


def told(table: Table) -> list[bytes]:
    """Every view of a table, as bytes, but the hash of its seed, which is published."""
    audiences: list[int | None] = [None, *range(1, len(table.seats) + 1)]
    seen = [msgspec.structs.replace(views.view(table, who), seed_hash=b"") for who in audiences]
    return [msgspec.msgpack.encode(view) for view in seen]


def everything_that_may_be_sent(game: TableOfTest) -> Iterator[commands.AnyCommand]:
    """Commands of every kind, by everybody, those that are refused too."""
    revision = game.table.revision
    for by in (NOBODY, HOST, ADMIN, *(person.by for person in game.people)):
        yield commands.Start(by=by)
        yield commands.Undo(by=by, expected_revision=revision)
        yield commands.Pause(by=by)
        yield commands.Resume(by=by)
        yield commands.Concede(by=by)
        yield commands.Concede(by=by, seat=game.asked[0].seat)
        yield commands.TakeSeat(by=by, name="Zoe", token=HOST.token)
        yield commands.LeaveSeat(by=by)
        yield commands.TakeBack(by=by, expected_revision=revision)
        yield commands.SeatBot(by=by, bot="greedy")
        yield commands.SetConfirmation(
            by=by, seat=game.asked[0].seat, confirmation=Confirmation.PANEL
        )
        yield commands.AttachPanel(by=by, uid=8, token=digest("8"), seats=(0,))
        for text in ("move C3", "claim", "trade 99", "harvest", "pay red to seat 2"):
            yield commands.Act(by=by, expected_revision=revision, actions=(action(text),))
            yield commands.Act(by=by, expected_revision=revision - 1, actions=(action(text),))


def everything_that_may_be_pressed(panel: PanelOfTest) -> Iterator[commands.AnyCommand]:
    """Every gesture, by the seat that is asked; those that are refused too."""
    button = panel.at.asked_seats[0]
    for gesture in commands.Gesture:
        master = gesture in (commands.Gesture.MASTER, commands.Gesture.MASTER_LONG)
        yield panel.command(0 if master else button, gesture, button % 3 + 1)


def since(start: Table, game: TableOfTest) -> History:
    """What a takeback is given: the turns since a table, as if that were the snapshot."""
    entries = [entry for entry in game.log if entry.revision > start.revision]
    return History(start, standing(entries, start.turns, game.table.turns))


def answer(table: Table, command: commands.AnyCommand, history: History) -> object:
    """What is told of a command: the refusal, or the table after it and its log entry."""
    if isinstance(command, commands.Resume):
        table = msgspec.structs.replace(table, paused=True)
    try:
        change = decide(table, command, 2_000_000, history)
    except Refused as refused:
        return refused.reason, refused.sentence, refused.details
    return change and (told(change.table), change.entry, change.seat, change.waiting_for)


@pytest.mark.case("L2", "L3")
@pytest.mark.parametrize("name", ["eastern-wonders", "from-sand-to-sea", "spice-road"])
@pytest.mark.parametrize("seed", range(6))
def test_two_hidden_halves_look_the_same_until_something_is_turned_up(name: str, seed: int) -> None:
    chance = random.Random(seed)
    game = a_table(name, seats=3)
    panel = game.host_puts_panel(seats=(1, 2, 3))
    game.plays_on(3 + chance.randrange(20), chance)
    other = TableOfTest(otherwise_hidden(game.table), list(game.log), clock=game.clock)
    start, other_start = game.table, other.table
    same = turns_seen = 0
    accepted = set()
    for _ in range(40):
        assert told(game.table) == told(other.table)
        turns_seen += 1
        history, other_history = since(start, game), since(other_start, other)
        sent = [*everything_that_may_be_sent(game), *everything_that_may_be_pressed(panel)]
        for command in sent:
            told_here = answer(game.table, command, history)
            assert told_here == answer(other.table, command, other_history)
            if told_here and isinstance(told_here, tuple) and isinstance(told_here[0], list):
                accepted.add(type(command))
        person = chance.choice(game.asked)
        state = chance.getstate()
        before = len(game.log)
        try:
            person.takes_a_turn(chance)
        except Refused:
            break
        chance.setstate(state)
        other.person(person.seat).takes_a_turn(chance)
        entries, others = game.log[before:], other.log[before:]
        assert _staging(entries) == _staging(others)
        if game.log[-1].turned_up:
            break  # now something was seen, and they part
        assert entries == others
        same += 1
        if game.is_over():
            break
    assert same or game.log[-1].turned_up
    assert {commands.Concede, commands.Resume, commands.Pause, commands.Press} <= accepted
    assert {commands.AttachPanel, commands.SetConfirmation} <= accepted
    assert (commands.TakeBack in accepted) is (turns_seen > 1)


def _staging(entries: list[LogEntry]) -> list[tuple[object, ...]]:
    """Entries without what they turned up."""
    return [(entry.revision, entry.kind, entry.seat, entry.actions) for entry in entries]


@pytest.mark.parametrize("name", ["eastern-wonders", "from-sand-to-sea", "spice-road"])
def test_the_two_halves_do_part_when_a_tile_or_card_is_drawn(name: str) -> None:
    """That the test above compares two tables that are different indeed."""
    chance = random.Random(3)
    game = a_table(name)
    game.plays_on(2, chance)
    other = TableOfTest(otherwise_hidden(game.table), list(game.log), clock=game.clock)
    while told(game.table) == told(other.table):
        state = chance.getstate()
        seat = game.asked[0].seat
        game.person(seat).takes_a_turn(chance)
        chance.setstate(state)
        other.person(seat).takes_a_turn(chance)
    assert game.log[-1].turned_up != other.log[-1].turned_up


@pytest.mark.parametrize("name", ["from-sand-to-sea", "spice-road"])
@pytest.mark.parametrize("seed", range(4))
def test_closed_cards_are_told_to_their_owner_only(name: str, seed: int) -> None:
    """SR-14, SR-16, SS-12: hands, point cards and what is put away could be any others."""
    chance = random.Random(seed)
    game = a_table(name, seats=3, max_rounds="60")
    game.plays_on(3, chance)
    compared = 0
    while not game.is_over():
        for seat in range(1, 4):
            others = [who for who in (None, 1, 2, 3) if who != seat]
            other = otherwise_held(game.table, seat)
            for who in others:
                assert views.view(other, who) == views.view(game.table, who)
            compared += views.view(other, seat) != views.view(game.table, seat)
        game.plays_on(1, chance)
    assert compared > 20


@pytest.mark.parametrize("name", ["from-sand-to-sea", "spice-road"])
def test_everything_is_open_when_the_game_is_over(name: str) -> None:
    game = a_table(name, seats=3, max_rounds="30")
    game.plays_on(200, random.Random(1))
    assert game.is_over()
    seen = views.view(game.table, None).game_view
    assert seen is not None
    assert any(player.hand_size for player in seen.players)
    for player in seen.players:
        assert len(player.hand) == player.hand_size
        assert len(player.discard) == player.discard_size
        assert len(player.claimed_cards) + len(player.claimed_tiles) == player.claimed
    for who in (1, 2, 3):
        own = views.view(game.table, who).game_view
        assert own is not None
        assert own.players == seen.players


def test_the_seed_and_the_tokens_are_in_no_view() -> None:
    for game in (eastern_wonders(), a_table(seats=3, watch=b"w" * 32)):
        secrets = [game.table.making.seed, game.table.making.host, game.table.making.watch]
        secrets += [seat.token for seat in game.table.seats]
        for data in told(game.table):
            assert not any(secret in data for secret in secrets if secret)
