"""Clocks that stand or run for nobody: pauses, rounds, takebacks, bots, seats that are left."""

import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.clocks import granted, granted_again, more, withdrawn
from tableturn_server.tables.due import due_at
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import ClockKind, SeatClock, Status, TimeoutPolicy
from tests.tables.play import BOTS, HOST, NAMES, Person, a_table
from tests.tables.timed import EVERY_LIMITED, START, TimedTable, a_clock, timed

COUNT_UP, PER_TURN = ClockKind.COUNT_UP, ClockKind.PER_TURN
INCREMENT, DELAY = ClockKind.INCREMENT, ClockKind.DELAY
HOUR = 3600


def of_kind(kind: ClockKind, **wishes: object) -> TimedTable:
    bank = 2 * HOUR if kind in (INCREMENT, DELAY) else 0
    return timed(kind, bank=bank, step=HOUR, **wishes)  # type: ignore[arg-type]


# -- pauses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY_LIMITED)
def test_a_pause_charges_nobody_and_grants_nothing(kind: ClockKind) -> None:
    game = of_kind(kind)
    ann, _ = game.people
    had = game.left(1)
    game.passes(20)
    ann.pauses()
    assert (game.running, game.deadline(1), game.left(1)) == ([], None, had - 20)
    game.passes(5 * HOUR)
    ann.resumes()
    assert (game.left(1), game.deadline(1)) == (had - 20, game.now + had - 20)
    game.passes(5)
    assert (game.left(1), game.used(1)) == (had - 25, 25)
    assert game.table.paused_time == 5 * HOUR * 1000


def test_a_seat_that_leaves_the_paused_game_leaves_the_next_one_a_whole_turn() -> None:
    game = timed(INCREMENT, seats=3, bank=60, step=10)
    game.passes(5)
    game.host_pauses()
    game.person(1).concedes()
    assert (game.running, game.left(2)) == ([], 70)
    game.passes(50)
    game.host_resumes()
    assert (game.running, game.left(2), game.used(1)) == ([2], 70, 5)


def test_a_game_that_ends_while_it_is_paused_is_paused_no_longer() -> None:
    game = timed(PER_TURN, step=30)
    game.host_pauses()
    game.passes(8)
    game.people[0].concedes()
    assert game.table.status is Status.FINISHED
    assert (game.table.paused_time, game.table.standing_since) == (8000, 0)


def test_pauses_are_counted_at_a_table_without_a_clock_too() -> None:
    game = a_table()
    game.host_pauses()
    since = game.clock
    assert game.table.standing_since == since
    game.clock += 9_000
    game.host_resumes()
    assert (game.table.standing_since, game.table.paused_time) == (0, game.clock - since)


# -- between rounds ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY_LIMITED)
def test_the_time_between_rounds_is_nobodys(kind: ClockKind) -> None:
    game = of_kind(kind, between="on", points="on")
    ann, bob = game.people
    ann.confirms()
    bob.confirms()
    assert (game.running, game.asked_seats) == ([], (1, 2))
    game.passes(50)
    ann.acts("score 3 for seat 2", confirm=True)
    game.passes(40)
    bob.confirms()
    assert (game.table.between_time, game.table.standing_since) == (90_000, 0)
    assert (game.running, game.used(1), game.used(2)) == ([1], 0, 0)
    bank = 2 * HOUR + HOUR * (kind is INCREMENT) if game.table.making.clock.bank else 0
    assert game.left(1) == bank + HOUR


def test_a_pause_between_rounds_is_a_pause() -> None:
    game = of_kind(PER_TURN, between="on")
    for person in game.people:
        person.confirms()
    game.passes(10)
    game.host_pauses()
    game.passes(20)
    game.host_resumes()
    game.passes(40)
    game.people[0].confirms()
    assert (game.table.between_time, game.table.paused_time) == (50_000, 20_000)


def test_a_takeback_from_between_rounds_goes_back_into_the_turn() -> None:
    game = of_kind(INCREMENT, between="on")
    for person in game.people:
        game.passes(30)
        person.confirms()
    game.passes(10)
    game.host_takes_back()
    assert (game.running, game.left(2), game.used(2)) == ([2], 3 * HOUR - 30, 30)
    assert game.table.between_time == 10_000


# -- takebacks ---------------------------------------------------------------------------------


def test_a_takeback_withdraws_the_step_of_the_turn_that_does_not_happen() -> None:
    game = timed(INCREMENT, bank=60, step=10)
    ann, bob = game.people
    game.passes(25)
    ann.confirms()
    game.passes(4)
    game.host_takes_back()
    # What was used stays used; the step of ann's turn is withdrawn and granted anew.
    assert (game.bank(1), game.bank(2), game.used(2)) == (45, 56, 4)
    assert (game.running, game.deadline(1)) == ([1], 29 + 45)
    game.passes(1)
    ann.confirms()
    assert (game.bank(1), game.bank(2)) == (44, 66)
    bob.confirms()
    assert game.bank(1) == 54


def test_what_was_used_of_a_step_that_is_withdrawn_stays_used() -> None:
    game = timed(INCREMENT, bank=5, step=10)
    ann, _ = game.people
    ann.confirms()
    game.passes(12)
    game.host_takes_back()
    assert (game.bank(2), game.used(2)) == (0, 12)
    ann.confirms()
    assert game.bank(2) == 3  # 5 and one step, less 12


def test_what_is_owed_is_taken_off_the_next_steps_and_no_other_time() -> None:
    settings = a_clock(INCREMENT, bank=60, step=10)
    owes = SeatClock(bank=4_000, owed=17_000)
    assert granted(settings, owes) == SeatClock(bank=4_000, owed=7_000)
    assert granted(settings, granted(settings, owes)) == SeatClock(bank=7_000)
    again = SeatClock(bank=4_000, delay=10_000, owed=17_000, again=True)
    assert granted_again(settings, owes) == again
    assert granted(settings, again) == granted(settings, owes)
    assert withdrawn(settings, again).delay == 0
    assert more(owes, 9_000) == SeatClock(bank=13_000, owed=17_000)


@pytest.mark.parametrize("kind", [PER_TURN, DELAY])
def test_the_turn_that_is_taken_again_has_its_own_time_again(kind: ClockKind) -> None:
    game = of_kind(kind)
    ann, _ = game.people
    had = game.left(1)
    game.passes(25)
    ann.confirms()
    game.host_takes_back()
    assert (game.left(1), game.used(1), game.left(2)) == (had, 25, had - HOUR)


@pytest.mark.case("C5")
def test_a_takeback_moves_no_deadline_of_who_is_asked_the_same() -> None:
    game = timed(INCREMENT, seats=3, bank=60, step=10, together="before")
    game.passes(5)
    game.person(2).confirms()
    game.passes(3)
    game.host_takes_back()
    assert [game.deadline(n) for n in (1, 2, 3)] == [70, 8 + 65, 70]


def test_a_takeback_through_turns_of_bots_withdraws_each_of_their_steps() -> None:
    game = timed(INCREMENT, seats=3, bank=60, step=10, taken=False, passing="on")
    game.person(1).takes_seat()
    game.host_seats_bot()
    game.host_seats_bot()
    before = game.table.clocks
    game.person(1).acts("pass", confirm=True)
    for seat in (2, 3, 2, 3):
        game.bot_of(seat).plays()
    assert [game.bank(n) for n in (1, 2, 3)] == [70, 90, 80]
    game.host_takes_back()
    assert game.table.clocks == before


# -- bots and stand-ins ------------------------------------------------------------------------


def test_nobody_waits_for_a_bot_and_its_time_is_counted() -> None:
    game = timed(DELAY, bank=60, step=10, taken=False)
    game.host_seats_bot()
    Person(game, "Bob").takes_seat()
    assert (game.running, game.deadline(1), game.clock_of(1).deadline) == ([1], None, 0)
    game.passes(500)
    game.bot_of(1).plays()
    assert (game.used(1), game.bank(1)) == (500, 60)


def test_a_bot_that_stands_in_uses_nobodys_time_up() -> None:
    game = timed(INCREMENT, bank=60, step=10)
    ann, bob = game.people
    game.passes(20)
    ann.lets_bot_play()
    assert (game.running, game.deadline(1), game.bank(1)) == ([1], None, 50)
    game.passes(300)
    game.bot_of(1).plays()
    bob.confirms()
    assert (game.bank(1), game.used(1), game.deadline(1)) == (60, 320, None)
    game.passes(10)
    ann.comes_back()
    assert (game.bank(1), game.deadline(1)) == (60, game.now + 60)


def test_a_bot_on_a_seat_that_is_asked_ends_its_deadline() -> None:
    game = timed(PER_TURN, step=30)
    game.people[0].leaves()
    assert game.deadline(1) == 30
    game.passes(10)
    game.host_seats_bot()
    assert (game.deadline(1), game.left(1)) == (None, 20)
    assert due_at(game.table) == game.table.stamp


def test_a_seat_that_was_left_has_a_deadline_and_whoever_takes_it_has_the_rest() -> None:
    game = timed(PER_TURN, step=30)
    ann, _ = game.people
    game.passes(10)
    ann.leaves()
    assert game.deadline(1) == 30
    game.passes(5)
    Person(game, "Zoe").takes_seat()
    assert (game.deadline(1), game.left(1)) == (30, 15)
    assert due_at(game.table) == START + 30_000


def test_a_drop_in_mid_turn_hands_the_turn_on_and_moves_no_other_clock() -> None:
    game = timed(INCREMENT, seats=3, bank=60, step=10, points="on")
    ann, bob, cleo = game.people
    ann.acts("score 1 for seat 1")
    game.passes(12)
    cleo.concedes()
    assert (game.running, game.deadline(1)) == ([1], 70)
    ann.confirms()
    game.passes(5)
    bob.concedes()
    assert (game.running, game.bank(1), game.used(2)) == ([], 58, 5)
    assert game.is_over()


def test_at_the_end_no_clock_runs_and_nothing_is_due() -> None:
    game = timed(PER_TURN, step=30)
    game.passes(4)
    game.people[0].acts("finish game", confirm=True)
    assert game.is_over()
    assert (game.running, game.used(1), due_at(game.table)) == ([], 4, None)


def test_what_a_bot_still_sends_after_the_person_is_back_comes_too_late() -> None:
    game = timed(PER_TURN, step=30, timeout=TimeoutPolicy.BOT)
    game.runs_out(1)
    seen = game.table.revision
    game.people[0].comes_back()
    late = commands.Act(by=BOTS, seat=1, expected_revision=seen, confirm=True)
    with pytest.raises(Exception, match=r"asked|token|changed"):
        game.does(late)
    assert game.left(1) == 30  # the step was granted again
    assert game.log[-1].kind is ChangeKind.COME_BACK


def test_seats_that_are_taken_away_at_the_start_have_no_clock() -> None:
    game = timed(PER_TURN, seats=4, step=30, taken=False, start_when_full=False)
    for name in NAMES[:2]:
        Person(game, name).takes_seat()
    game.does(commands.Start(by=HOST, without_free_seats=True))
    assert len(game.table.clocks) == 2
    assert game.running == [1]
