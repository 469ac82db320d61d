"""Clocks, by the second: each kind, one's own deadline, and no clock but the service's."""

import random

import msgspec
import pytest

from tableturn_server.rules.game import PromptKind
from tableturn_server.tables import commands
from tableturn_server.tables.authority import decide
from tableturn_server.tables.clocks import turns_after, turns_of
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import ClockKind, Status
from tests.tables.play import HOST, a_table
from tests.tables.timed import EVERY_LIMITED, START, a_clock, timed

COUNT_UP, PER_TURN = ClockKind.COUNT_UP, ClockKind.PER_TURN
INCREMENT, DELAY = ClockKind.INCREMENT, ClockKind.DELAY
CORRESPONDENCE = ClockKind.CORRESPONDENCE
HOUR = 3600


# -- each kind -------------------------------------------------------------------------------


def test_a_table_without_a_clock_has_none() -> None:
    game = a_table()
    game.people[0].confirms()
    assert game.table.clocks == ()
    assert all(entry.clocks == () for entry in game.log)


def test_before_the_start_no_clock_runs() -> None:
    game = timed(PER_TURN, step=30, taken=False)
    game.person(1).takes_seat()
    game.passes(100)
    assert game.table.clocks == ()
    game.person(2).takes_seat()
    assert game.table.status is Status.RUNNING
    assert (game.running, game.left(1), game.used(1)) == ([1], 30, 0)


def test_time_that_is_only_counted_never_runs_out() -> None:
    game = timed(COUNT_UP)
    ann, bob = game.people
    game.passes(40)
    assert (game.used(1), game.deadline(1), game.sees(1).left) == (40, None, None)
    ann.confirms()
    game.passes(7)
    bob.confirms()
    game.passes(2)
    assert (game.used(1), game.used(2), game.running) == (42, 7, [1])


@pytest.mark.parametrize(("kind", "step"), [(PER_TURN, 30), (CORRESPONDENCE, 24 * HOUR)])
def test_each_turn_has_its_time_and_what_is_left_of_it_is_lost(kind: ClockKind, step: int) -> None:
    game = timed(kind, step=step)
    ann, bob = game.people
    assert game.deadline(1) == step
    game.passes(20)
    assert (game.left(1), game.left(2)) == (step - 20, 0)
    ann.confirms()
    assert (game.left(1), game.deadline(1), game.deadline(2)) == (0, None, 20 + step)
    bob.confirms()
    assert game.left(1) == step
    assert game.used(1) == 20


def test_an_increment_is_added_at_the_beginning_of_a_turn() -> None:
    game = timed(INCREMENT, bank=60, step=10)
    ann, bob = game.people
    assert (game.bank(1), game.bank(2)) == (70, 60)
    game.passes(25)
    ann.confirms()
    assert (game.bank(1), game.bank(2)) == (45, 70)
    game.passes(70)
    assert game.left(2) == 0
    bob.confirms()
    assert (game.bank(1), game.bank(2)) == (55, 0)
    ann.confirms()
    assert game.left(2) == 10  # an empty bank still has the step


def test_a_delay_is_used_up_before_the_bank() -> None:
    game = timed(DELAY, bank=60, step=10)
    ann, bob = game.people
    game.passes(9)
    assert (game.left(1), game.bank(1), game.deadline(1)) == (61, 60, 70)
    ann.confirms()
    assert game.left(1) == 60  # the rest of the delay is lost
    game.passes(25)
    bob.confirms()
    assert (game.bank(2), game.left(1)) == (45, 70)


def test_time_is_low_from_a_tenth_on_within_bounds() -> None:
    low = [
        timed(kind, bank=bank, step=step).sees(1).low_time - START
        for kind, bank, step in [
            (PER_TURN, 0, 30),  # 5 seconds
            (PER_TURN, 0, 120),  # a tenth
            (INCREMENT, 3 * HOUR, 0),  # a minute
            (CORRESPONDENCE, 0, 10 * HOUR),  # a tenth
        ]
    ]
    assert low == [25_000, 108_000, (3 * HOUR - 60) * 1000, 9 * HOUR * 1000]
    assert timed(COUNT_UP).sees(1).low_time == 0


# -- a turn brings its step once ---------------------------------------------------------------


@pytest.mark.parametrize(("kind", "bank"), [(PER_TURN, 0), (INCREMENT, 60), (DELAY, 60)])
def test_what_is_staged_and_undone_changes_no_clock(kind: ClockKind, bank: int) -> None:
    game = timed(kind, bank=bank, step=20, points="on")
    ann, _ = game.people
    clock = game.clock_of(1)
    for _ in range(3):
        game.passes(2)
        ann.acts("score 1 for seat 1")
        ann.undoes()
        assert game.clock_of(1) == clock
        assert game.log[-1].clocks == ()
    assert game.left(1) == bank + 20 - 6


def test_a_decision_that_somebody_else_demands_brings_a_step_of_its_own() -> None:
    game = timed(PER_TURN, game="eastern-wonders", seats=4, step=30, seed=bytes([6] * 16))
    chance = random.Random(6)
    returning: list[int] = []
    while not returning:
        game.passes(3)
        game.plays_on(1, chance)
        asked = turns_of(game.table).items()
        returning = [seat for seat, kind in asked if kind is PromptKind.RETURN_CUBES]
    assert game.log[-1].seat not in returning
    assert {game.left(seat) for seat in returning} == {30}
    game.passes(10)
    assert {game.left(seat) for seat in returning} == {20}


def test_what_follows_from_the_own_turn_is_the_same_turn() -> None:
    """No game of today asks so: what a seat must return itself belongs to the turn it confirms."""
    turn, returns = PromptKind.TURN, PromptKind.RETURN_CUBES
    assert turns_after({1: turn}, {1: returns, 2: returns}, 1) == {2}
    assert turns_after({1: returns, 2: returns}, {2: returns}, 1) == set()
    assert turns_after({2: returns}, {2: turn}, 2) == {2}
    assert turns_after({1: returns, 2: returns}, {1: turn}, 2) == {1}
    assert turns_after({1: turn}, {1: turn}, 1) == {1}
    assert turns_after({1: turn}, {1: turn}, 2) == set()  # seat 2 has left


def test_a_turn_that_follows_on_the_own_one_has_its_own_step() -> None:
    game = timed(INCREMENT, bank=60, step=10, passing="on")
    ann, bob = game.people
    ann.acts("pass", confirm=True)
    for turn in range(1, 4):
        game.passes(1)
        bob.confirms()
        assert game.bank(2) == 60 + 10 * (turn + 1) - turn


# -- the start clock ---------------------------------------------------------------------------


def test_the_start_clock_runs_before_the_own_time() -> None:
    game = timed(INCREMENT, bank=60, step=0, start=30)
    assert game.deadline(1) == 90
    game.passes(40)
    assert (game.bank(1), game.used(1)) == (50, 10)
    game.people[0].confirms()
    assert (game.left(1), game.left(2)) == (50, 90)


@pytest.mark.parametrize("first", ["stages", "confirms"])
def test_whoever_does_something_ends_the_start_clock(first: str) -> None:
    game = timed(DELAY, bank=60, step=10, start=30, points="on")
    ann, bob = game.people
    game.passes(20)
    if first == "stages":
        ann.acts("score 1 for seat 1")
        assert (game.deadline(1), game.sees(1).start_left) == (90, 0)
        game.passes(5)
    ann.confirms()
    assert game.used(1) == (5 if first == "stages" else 0)
    bob.confirms()
    assert (game.left(1), game.left(2)) == (70, 60)


def test_a_clock_that_only_counts_has_a_start_clock_too() -> None:
    game = timed(COUNT_UP, start=30)
    game.passes(50)
    game.people[0].confirms()
    assert game.used(1) == 20


def test_another_seat_does_not_end_the_start_clock() -> None:
    game = timed(PER_TURN, step=30, start=30, together="before")
    ann, bob = game.people
    game.passes(10)
    ann.confirms()
    assert (game.deadline(2), game.left(2), game.running) == (60, 50, [2])
    game.passes(35)
    bob.confirms()
    assert game.used(2) == 15


# -- several seats at once ---------------------------------------------------------------------


@pytest.mark.case("C5")
@pytest.mark.parametrize("kind", EVERY_LIMITED)
def test_each_seat_has_its_own_deadline_that_no_other_moves(kind: ClockKind) -> None:
    bank = 60 if kind in (INCREMENT, DELAY) else 0
    game = timed(kind, seats=4, bank=bank, step=HOUR, together="before", points="on")
    due = bank + HOUR
    assert [game.deadline(n) for n in (1, 2, 3, 4)] == [due] * 4
    game.passes(5)
    game.person(2).confirms()
    game.passes(3)
    game.person(4).acts("score 1 for seat 1")
    game.person(1).concedes()
    assert game.running == [3, 4]
    assert [game.deadline(n) for n in (1, 2, 3, 4)] == [None, None, due, due]


@pytest.mark.case("C5")
def test_idle_seats_make_the_table_wait_once() -> None:
    game = timed(PER_TURN, seats=4, step=30, together="before")
    game.passes(30)
    for seat in (1, 2, 3, 4):
        assert game.time_is_up(seat)
    assert [game.clock_of(seat).ran_out for seat in (1, 2, 3, 4)] == [True] * 4


# -- whose time it is --------------------------------------------------------------------------


@pytest.mark.case("C1")
def test_the_log_tells_each_deadline_and_what_was_left() -> None:
    game = timed(INCREMENT, bank=60, step=10)
    ann, bob = game.people
    game.passes(25)
    ann.confirms()
    game.passes(7.5)
    bob.confirms()
    told = [(e.kind, e.time - START, e.clocks) for e in game.log[-3:]]
    assert told == [
        (ChangeKind.TAKE_SEAT, 0, ((1, START + 70_000, 70_000), (2, 0, 60_000))),
        (ChangeKind.CONFIRM, 25_000, ((1, 0, 45_000), (2, START + 95_000, 70_000))),
        (ChangeKind.CONFIRM, 32_500, ((1, START + 87_500, 55_000), (2, 0, 62_500))),
    ]


@pytest.mark.case("C4")
def test_no_command_that_a_client_sends_tells_a_time_of_its_own() -> None:
    """What a client may send has no time in it but the one that is added."""
    ours = {commands.TimeOut, commands.Excuse, commands.GoAway, commands.Reseat}
    for kind in set(commands.AnyCommand.__args__) - ours:
        for name in kind.__struct_fields__:
            timely = any(word in name for word in ("time", "since", "deadline", "left", "clock"))
            assert not timely or (kind, name) == (commands.AddTime, "time")


@pytest.mark.case("C1")
def test_a_process_whose_clock_is_behind_charges_nobody_twice() -> None:
    game = timed(DELAY, bank=60, step=10)
    ann, bob = game.people
    game.passes(30)
    ann.confirms()
    game.clock -= 12_000
    bob.confirms()  # decided by a process 12 seconds behind
    assert game.table.stamp == START + 30_000
    assert (game.bank(2), game.used(2)) == (60, 0)
    game.clock = START + 31_000
    ann.confirms()
    assert (game.used(1), game.bank(1), game.deadline(2)) == (31, 40, 101)


def test_what_is_given_stays_as_it_was() -> None:
    game = timed(PER_TURN, step=30)
    before = game.table
    change = decide(before, commands.Pause(by=HOST), START + 10_000)
    assert change is not None
    assert before.clocks[0].since == START
    assert change.table.clocks[0].since == 0


def test_a_table_without_a_clock_keeps_nothing_else_up() -> None:
    game = a_table(points="on")
    ann, _ = game.people
    table = game.table
    ann.acts("score 1 for seat 1")
    changed = msgspec.structs.asdict(game.table)
    same = set(changed) - {"revision", "stamp", "staged", "asked_at", "seats"}
    assert all(changed[name] == getattr(table, name) for name in same)
    assert a_clock(ClockKind.NONE) == game.table.making.clock
