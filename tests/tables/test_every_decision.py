"""A seat leaves, or a bot plays on for it, at every decision point of every game.

A decision point is a confirmed position, and each step that is staged on one. Whoever leaves, in
whatever way, leaves a table at which the others play on to the end (L10, DR-4).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tableturn_server.rules.actions import Action, FinishGame
from tableturn_server.rules.choices import Illegal, pick
from tableturn_server.rules.game import EndReason, PromptKind
from tableturn_server.rules.mechanics.cubes import LETTERS
from tableturn_server.rules.views import GameView
from tableturn_server.tables import commands
from tableturn_server.tables.authority import Change, staged_position
from tableturn_server.tables.clocks import deadlines
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Table,
    TimeoutPolicy,
    game_of,
)
from tests.rules import ledger
from tests.rules.cards import play_sand_to_sea
from tests.rules.play import play
from tests.rules.players import completion, first, take_turn
from tests.rules.test_every_game import GAMES, VARIANTS
from tests.tables.play import BOTS, HOST, SERVICE, TableOfTest, a_table

CLOCK = Clock(kind=ClockKind.PER_TURN, step=3_600_000, timeout=TimeoutPolicy.DROP)
AWAY = Absence(policy=AbsencePolicy.DROP, grace=5_000)


def table_of(name: str, seats: int, number: int, **short: str) -> TableOfTest:
    """A game that has begun, with one of the options with which each game is tried."""
    variants = VARIANTS.get(name, ({},))
    options: dict[str, Any] = {**variants[number % len(variants)], **short}
    return a_table(
        name,
        seats=seats,
        seed=number.to_bytes(16, "big"),
        clock=CLOCK,
        absence=AWAY,
        **options,
    )


def branch(game: TableOfTest) -> TableOfTest:
    """The same table, to try something at it. What was before is not read again."""
    return dataclasses.replace(game, log=[], snapshots={})


# -- play ----------------------------------------------------------------------------------


def acts(
    game: TableOfTest, seat: int, *actions: Action, confirm: bool, bot: bool = False
) -> Change:
    change = game.does(
        commands.Act(
            by=BOTS if bot else game.person(seat).by,
            seat=seat,
            expected_revision=game.table.revision,
            actions=actions,
            confirm=confirm,
        )
    )
    assert change is not None
    return change


def a_turn(table: Table, seat: int, chance: Random) -> list[Action]:
    """A turn by chance; nobody says that a free game is over."""
    while True:
        turn = take_turn(game_of(table), table.position, seat, chance)
        if not any(isinstance(action, FinishGame) for action in turn):
            return turn


def decision_points(game: TableOfTest, chance: Random, first_turn: int) -> Iterator[None]:
    """The game is played; it stands at the next decision point each time, after so many turns."""
    while game.table.turns < first_turn and not game.is_over():
        seat = chance.choice(game.asked_seats)
        acts(game, seat, *a_turn(game.table, seat, chance), confirm=True)
    if not game.is_over():
        yield
    while not game.is_over():
        seat = chance.choice(game.asked_seats)
        for action in a_turn(game.table, seat, chance):
            acts(game, seat, action, confirm=False)
            yield
        acts(game, seat, confirm=True)
        if not game.is_over():
            yield


def plays_to_its_end(game: TableOfTest, chance: Random) -> None:
    """Those who are in the game play on, by chance; nobody else is ever asked."""
    for turn in count():
        if game.is_over():
            return
        assert turn < 3_000, "this game does not end"
        assert asked_are_in_the_game(game.table)
        seat = chance.choice(game.asked_seats)
        if game.table.staged[seat - 1]:
            game.does(
                commands.Undo(
                    by=game.person(seat).by,
                    seat=seat,
                    expected_revision=game.table.revision,
                    all=True,
                )
            )
        acts(game, seat, *a_turn(game.table, seat, chance), confirm=True)


# -- ways to leave -------------------------------------------------------------------------


def by_its_own_wish(game: TableOfTest, seat: int) -> Change | None:
    return game.does(commands.Concede(by=game.person(seat).by, seat=seat))


def by_the_host(game: TableOfTest, seat: int) -> Change | None:
    return game.does(commands.Concede(by=HOST, seat=seat))


def by_vote(game: TableOfTest, seat: int) -> Change | None:
    """All others want it; of two one decides about another who is away."""
    others = [n for n in range(1, len(game.table.seats) + 1) if n != seat]
    away = frozenset({seat}) if len(others) == 1 else frozenset()
    change = None
    for other in others:
        by = game.person(other).by
        change = game.does(commands.VoteDrop(by=by, seat=other, target=seat, away=away))
    return change


def by_time(game: TableOfTest, seat: int) -> Change | None:
    due = deadlines(game.table).get(seat)
    if due is None:
        return None  # it has time while it is not asked
    game.clock = due
    return game.does(commands.TimeOut(by=SERVICE, seat=seat, deadline=due))


def by_absence(game: TableOfTest, seat: int) -> Change | None:
    return game.says_away(seat)


WAYS: tuple[Callable[[TableOfTest, int], Change | None], ...] = (
    by_its_own_wish,
    by_time,
    by_the_host,
    by_absence,
    by_vote,
)


# -- what holds then -----------------------------------------------------------------------


def asked_are_in_the_game(table: Table) -> bool:
    return all(not table.seat(p.seat).dropped for p in game_of(table).prompts(table.position))


def seen(table: Table) -> GameView:
    return game_of(table).view(table.position, None)


def nothing_is_lost(before: Table, after: Table, change: Change) -> None:
    """The cubes in play are those that were, but for what went back to the supply (DR-4)."""
    was, now = seen(before), seen(after)
    letters = "".join(
        line.split(" returned ")[1].split(" ")[0]
        for line in change.entry.lines
        if " returned " in line
    )
    returned = tuple(letters.count(letter) for letter in LETTERS)
    piles = () if len(now.piles) == len(was.piles) else was.piles
    gone = ledger.add(ledger.NONE, returned, *(ledger.counts(pile) for pile in piles))
    assert ledger.in_play(now) == ledger.add(ledger.in_play(was), ledger.minus(gone))


def the_order_is_the_old_one(before: Table, after: Table, seat: int) -> None:
    """The old order minus the seat, and the next one in it is asked (L10)."""
    was, now = seen(before), seen(after)
    left = tuple(n for n in was.turn_order if n != seat)
    if now.round != was.round and before.making.game == "free-table":
        assert sorted(now.turn_order) == sorted(left)  # each round may have an order of its own
    else:
        assert now.turn_order == left
    game = game_of(before)
    asked = {p.seat: p.kind for p in game.prompts(before.position)}
    others = {number: kind for number, kind in asked.items() if number != seat}
    then = {p.seat: p.kind for p in game.prompts(after.position)}
    if others:
        assert then == others
    elif asked[seat] is PromptKind.TURN and list(then.values()) == [PromptKind.TURN]:
        order = was.turn_order
        place = order.index(seat)
        following = [*order[place + 1 :], *order[:place]]
        if before.making.game != "free-table":  # where some may have passed
            assert list(then) == following[:1]


def what_others_staged_stays(before: Table, after: Table, seat: int) -> None:
    """Others go on where they are, as far as that is still possible."""
    game = game_of(before)
    asked = {p.seat: p.kind for p in game.prompts(before.position)}
    then = {p.seat: p.kind for p in game.prompts(after.position)}
    for other, staged in enumerate(before.staged, 1):
        if other == seat or not staged or asked[other] is not then.get(other):
            continue
        open_ = after.position
        try:
            for action in staged:
                open_ = game.stage(open_, other, action)
        except Illegal:
            assert after.staged[other - 1] == ()
        else:
            assert after.staged[other - 1] == staged
            assert after.asked_at[other - 1] == before.asked_at[other - 1]


def every_choice_leads_on(table: Table) -> None:
    """Whatever is offered to whoever is asked leads to a confirmation."""
    game = game_of(table)
    for seat in {p.seat for p in game.prompts(table.position)}:
        open_ = staged_position(game, table, seat)
        for choice in game.legal_actions(open_, seat):
            after = game.stage(open_, seat, pick(choice, first))
            for action in completion(game, after, seat):
                after = game.stage(after, seat, action)
            game.resolve(after, table.hidden, seat)


def the_result_is_told(table: Table, gone: set[int]) -> None:
    """The end has its flag and a result; whoever left is behind all others (DR-4)."""
    outcome = game_of(table).outcome(table.position)
    assert outcome is not None
    ranking = [result.seat for result in outcome.results]
    assert sorted(ranking) == list(range(1, len(table.seats) + 1))
    assert {result.seat for result in outcome.results if result.dropped} == gone
    stayed = len(ranking) - len(gone)
    assert set(ranking[stayed:]) == gone
    worst = max(r.rank for r in outcome.results if r.seat not in gone)
    assert all(r.rank > worst for r in outcome.results if r.seat in gone)
    if stayed == 1:
        assert outcome.reason is EndReason.LAST_SEAT
    else:
        assert outcome.reason in (EndReason.COMPLETED, EndReason.ROUND_CAP)


def leaves(game: TableOfTest, seat: int, way: Callable[..., Change | None]) -> TableOfTest | None:
    """The table after a seat has left it in some way; None if it can't in this way now."""
    after = branch(game)
    change = way(after, seat)
    if change is None:
        return None
    assert change.entry.kind is ChangeKind.DROP
    assert change.entry.seat == seat
    assert after.table.seat(seat).dropped
    assert after.table.staged[seat - 1] == ()
    assert after.table.votes == ()
    nothing_is_lost(game.table, after.table, change)
    assert asked_are_in_the_game(after.table)
    if after.is_over():
        the_result_is_told(after.table, {seat})
        return after
    the_order_is_the_old_one(game.table, after.table, seat)
    what_others_staged_stays(game.table, after.table, seat)
    every_choice_leads_on(after.table)
    return after


# -- every decision point ------------------------------------------------------------------


def drop_everywhere(
    game: TableOfTest, chance: Random, *, to_the_end: float, first_turn: int = 0, most: int = 10**6
) -> int:
    """At each decision point each seat leaves, in every way; some games are played on.

    The points are `most` ones, from a turn on.
    """
    tried = 0
    points = decision_points(game, chance, first_turn)
    for number, _ in zip(range(most), points, strict=False):
        for seat in range(1, len(game.table.seats) + 1):
            ways = [leaves(game, seat, way) for way in WAYS]
            after = ways[number % len(ways)] or ways[0]
            assert after is not None
            assert (None in ways) is not (seat in game.asked_seats and is_timed(game))
            assert {same(way.table) for way in ways if way} == {same(after.table)}
            tried += 1
            if not after.is_over() and chance.random() < to_the_end:
                another = chance.choice([*after.asked_seats, 0, 0])
                gone = {seat}
                if another and another != seat:
                    by_the_host(after, another)
                    gone.add(another)
                plays_to_its_end(after, chance)
                the_result_is_told(after.table, gone)
    return tried


def is_timed(game: TableOfTest) -> bool:
    """The time of whoever is asked runs."""
    return bool(deadlines(game.table))


def same(table: Table) -> tuple[object, ...]:
    """What is the same in whatever way a seat has left."""
    seats = tuple(replace(seat, plays_since=0) for seat in table.seats)
    return table.position, table.hidden, table.turns, table.log_hash, table.staged, seats


def stand_in_everywhere(game: TableOfTest, chance: Random) -> int:
    """At each decision point a bot plays on for each seat that is asked, and its player is back."""
    tried = 0
    for _ in decision_points(game, chance, 0):
        for seat in game.asked_seats:
            after = branch(game)
            assert after.does(commands.StandIn(by=HOST, seat=seat, bot="greedy"))
            table = after.table
            assert (table.position, table.staged[seat - 1]) == (game.table.position, ())
            rules = game_of(table)
            between = any(
                p.kind is PromptKind.BETWEEN_ROUNDS for p in rules.prompts(table.position)
            )
            assert (seat in due_bots(table)) is not between
            chance.choice((bot_plays_once, nobody_plays))(after, seat, chance)
            assert after.is_over() or after.table.seat(seat).stand_in == "greedy"
            if not after.is_over():
                assert after.does(commands.ComeBack(by=after.person(seat).by, seat=seat))
                assert due_bots(after.table) == ()
                every_choice_leads_on(after.table)
            if seat in after.asked_seats:
                change = acts(after, seat, *a_turn(after.table, seat, chance), confirm=True)
                assert not change.entry.bot
            tried += 1
    return tried


def bot_plays_once(game: TableOfTest, seat: int, chance: Random) -> None:
    before = game.table.turns
    change = acts(game, seat, *a_turn(game.table, seat, chance), confirm=True, bot=True)
    assert change.entry.bot
    assert game.table.turns == before + 1


def nobody_plays(game: TableOfTest, seat: int, chance: Random) -> None:
    """The player is back before the bot has decided anything."""


every_game = pytest.mark.parametrize(("name", "seats"), GAMES)


@pytest.mark.clause("DR-2", "DR-4")
@pytest.mark.case("L10", "C8")
@every_game
def test_a_seat_leaves_at_every_decision_point_and_the_others_play_on(
    name: str, seats: int
) -> None:
    for number in range(len(VARIANTS[name])):
        chance = Random(number)
        game = table_of(name, seats, number, **short(name))
        assert drop_everywhere(game, chance, to_the_end=0.1) > seats


@pytest.mark.clause("DR-2", "DR-4")
@pytest.mark.case("L10")
@every_game
def test_a_seat_leaves_in_the_midst_of_a_game(name: str, seats: int) -> None:
    """When boats are under way, holds are full and cards are played."""
    for number in range(2 * len(VARIANTS[name])):
        chance = Random(number)
        first_turn = chance.randrange(10, 60)
        game = table_of(name, seats, number)
        drop_everywhere(game, chance, to_the_end=0, first_turn=first_turn, most=40)


def amid_returns(name: str) -> TableOfTest:
    """Red has paid the two others, who must return cubes: both are asked at once."""
    where = {"red": "C3", "blue": "C4", "green": "C4"}
    holds = {"red": "RG", "blue": "Y" * 10, "green": "Y" * 10}
    rules: Any
    if name == "eastern-wonders":
        rules = play(boats=where, holds=holds)
        rules.red.moves("C4")
    else:
        rules = play_sand_to_sea(boats=where, holds=holds, tiles={"C3": "YYY>B", "C4": "YY>RR"})
        rules.red.sails("C4", away="S1")
    rules.red.pays(rules.blue, "R")
    rules.red.pays(rules.green, "G")
    game = a_table(name, seats=3, clock=CLOCK, absence=AWAY)
    game.table = replace(game.table, open=rules.confirmed, hidden=rules.hidden)
    acts(game, 1, *rules.staged[1], confirm=True)
    assert game.asked_seats == (2, 3)
    return game


@pytest.mark.clause("DR-4", "EW-22", "EW-R10", "SS-17")
@pytest.mark.parametrize("name", ["eastern-wonders", "from-sand-to-sea"])
def test_a_seat_leaves_while_several_must_return_cubes(name: str) -> None:
    for number in range(4):
        drop_everywhere(amid_returns(name), Random(number), to_the_end=0.2, most=6)


@pytest.mark.case("C7")
@every_game
def test_a_bot_stands_in_at_every_decision_point_and_the_player_is_back(
    name: str, seats: int
) -> None:
    for number in range(len(VARIANTS[name])):
        chance = Random(100 + number)
        game = table_of(name, seats, number, **short(name))
        assert stand_in_everywhere(game, chance) > 3


@pytest.mark.nightly
@pytest.mark.clause("DR-2", "DR-4")
@pytest.mark.case("L10", "C8")
@every_game
def test_in_whole_games_too(name: str, seats: int) -> None:
    for number in range(6):
        chance = Random(1_000 + number)
        drop_everywhere(table_of(name, seats, number), chance, to_the_end=0.1)
        stand_in_everywhere(table_of(name, seats, number + 1), chance)


def short(name: str) -> dict[str, str]:
    """Options with which a game is over soon."""
    return {"rounds": "2"} if name == "free-table" else {"max_rounds": "4"}
