"""Who is away, or out of time: what the table does then, and how they come back."""

import random

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Occupant,
    StandInCause,
    TimeoutPolicy,
)
from tests.tables.play import (
    ADMIN,
    BOTS,
    HOST,
    NOBODY,
    SERVICE,
    Person,
    TableOfTest,
    a_table,
    refused,
)
from tests.tables.test_people import cause, kind

GRACE = 120_000
BOT = Absence(policy=AbsencePolicy.BOT, grace=GRACE)
DROP = Absence(policy=AbsencePolicy.DROP, grace=GRACE)


# -- away ----------------------------------------------------------------------------------


@pytest.mark.case("C7", "C8")
def test_a_bot_plays_on_after_the_grace_and_the_player_is_back_at_the_next_decision() -> None:
    game = a_table(absence=BOT, points="on")
    ann, bob = game.people
    assert game.says_away(1, away_for=GRACE - 1) is None
    assert game.says_away(1, away_for=GRACE)
    assert kind(game) is ChangeKind.STAND_IN
    assert game.log[-1].lines == ("Ann (red) is away, and greedy plays on",)
    assert cause(game, 1) == StandInCause.ABSENCE
    assert game.says_away(1) is None
    game.bot_of(1).plays("score 1 for seat 1")
    bob.confirms()
    assert game.hears(1)
    assert kind(game) is ChangeKind.COME_BACK
    assert game.hears(1) is None
    ann.acts("score 9 for seat 1", confirm=True)
    assert not game.log[-1].bot


@pytest.mark.case("C8")
def test_a_seat_leaves_the_game_after_the_grace_where_that_is_the_policy() -> None:
    game = a_table(seats=3, absence=DROP)
    bob = game.person(2)
    assert game.says_away(1, away_for=GRACE - 1) is None
    assert game.says_away(1)
    assert game.log[-1].kind is ChangeKind.DROP
    assert game.log[-1].lines[0] == "Ann (red) is away for too long and leaves the game"
    assert game.table.seat(1).dropped
    assert game.asked == [bob]
    assert game.says_away(1) is None


def test_the_table_waits_where_that_is_the_policy() -> None:
    game = a_table(absence=Absence(policy=AbsencePolicy.WAIT, grace=GRACE))
    assert game.says_away(1, away_for=10 * GRACE) is None


@pytest.mark.parametrize("policy", [BOT, DROP])
def test_nobody_is_away_for_whom_nobody_waits(policy: Absence) -> None:
    game = a_table(seats=3, absence=policy, start_when_full=False)
    assert game.says_away(1) is None  # before the start
    game.host_starts()
    assert game.says_away(2) is None  # not asked
    game.host_pauses()
    assert game.says_away(1) is None
    game.host_resumes()
    game.person(1).lets_bot_play()
    assert game.says_away(1) is None
    game.person(1).comes_back()
    game.person(1).leaves()
    game.host_seats_bot(seat=1)
    assert game.says_away(1) is None
    game.bot_of(1).plays()
    game.person(2).acts("finish game", confirm=True)
    assert game.says_away(3) is None
    for by in (HOST, ADMIN, NOBODY, BOTS):
        with refused("BAD_TOKEN" if by in (NOBODY, BOTS, ADMIN) else "NOT_ALLOWED"):
            game.does(commands.GoAway(by=by, seat=1, since=1, bot="greedy"))


def test_in_a_game_by_correspondence_nobody_is_ever_away() -> None:
    clock = Clock(kind=ClockKind.CORRESPONDENCE, step=86_400_000, timeout=TimeoutPolicy.WARN)
    game = a_table(absence=DROP, clock=clock)
    assert game.says_away(1, away_for=10 * GRACE) is None


@pytest.mark.case("C7")
def test_whoever_sat_down_or_came_back_since_was_there_whatever_is_heard() -> None:
    """By a call, say, with no device that follows the table."""
    game = a_table(absence=BOT)
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=1)
    game.person(1).comes_back()
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=1)


@pytest.mark.case("C7")
def test_a_seat_that_was_left_is_away_since_then_whatever_is_said() -> None:
    game = a_table(seats=3, absence=BOT)
    ann, bob, _ = game.people
    ann.leaves()
    assert game.table.seat(1).left_at == game.clock
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=game.clock)
    assert (game.table.seat(1).occupant, game.table.seat(1).stand_in) == (
        Occupant.NOBODY,
        "greedy",
    )
    assert due_bots(game.table) == (1,)
    game.bot_of(1).plays()
    assert game.asked == [bob]
    assert game.hears(1) is None  # no device is one of an empty seat
    # Whoever takes the seat plays it themselves.
    assert Person(game, "Eve").takes_seat(1) == 1
    seat = game.table.seat(1)
    assert (seat.stand_in, seat.stand_in_cause, seat.left_at) == ("", 0, 0)


def test_a_panel_or_a_bot_may_take_such_a_seat_too() -> None:
    for button in (True, False):
        game = a_table(absence=BOT)
        game.person(1).leaves()
        game.clock += GRACE
        assert game.says_away(1)
        if button:
            assert game.host_puts_panel(seats=(1, 0)).presses(1) == 1
        else:
            game.host_seats_bot(seat=1)
        seat = game.table.seat(1)
        assert (seat.stand_in, seat.stand_in_cause, seat.left_at) == ("", 0, 0)


def test_nobody_was_there_before_the_start() -> None:
    game = a_table(seats=3, taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    ann.leaves()
    assert game.table.seat(1).left_at == 0


def test_a_device_that_is_heard_brings_back_only_whoever_was_away() -> None:
    game = a_table(absence=BOT)
    ann, _ = game.people
    assert game.hears(1) is None
    ann.lets_bot_play()
    assert game.hears(1) is None
    ann.comes_back()
    assert game.says_away(1)
    assert ann.lets_bot_play()  # she says so herself now
    assert game.hears(1) is None
    assert cause(game, 1) == StandInCause.WISH


# -- with a clock --------------------------------------------------------------------------


def out_of_time(clock: Clock, *, leaves: bool = False) -> tuple[TableOfTest, Person]:
    """Ann is asked, and her time is up."""
    game = a_table(clock=clock, points="on", absence=BOT)
    ann = game.person(1)
    if leaves:
        ann.leaves()
    due = deadline(game, 1)
    game.clock = due
    assert game.does(commands.TimeOut(by=SERVICE, seat=1, deadline=due, bot="greedy"))
    game.clock += 60_000
    return game, ann


def deadline(game: TableOfTest, seat: int) -> int:
    return game.table.clocks[seat - 1].deadline


@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("kind", [ClockKind.PER_TURN, ClockKind.DELAY, ClockKind.INCREMENT])
def test_whoever_is_back_without_time_has_a_step_for_the_turn(kind: ClockKind, acts: bool) -> None:
    bank = 0 if kind is ClockKind.PER_TURN else 1_000
    clock = Clock(kind=kind, bank=bank, step=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    assert cause(game, 1) == StandInCause.TIME
    assert deadline(game, 1) == 0
    assert game.hears(1) is None  # a device that is heard doesn't make up for the time
    if acts:
        ann.acts("score 1 for seat 1")
    else:
        ann.comes_back()
    assert deadline(game, 1) == game.clock + 30_000


def test_whoever_has_time_left_goes_on_with_it() -> None:
    game = a_table(clock=Clock(kind=ClockKind.DELAY, step=30_000, bank=600_000), absence=BOT)
    due = deadline(game, 1)
    assert game.says_away(1)
    game.clock += 600_000  # a bot's time is nobody's
    game.hears(1)
    assert deadline(game, 1) == due + 601_000


def test_without_a_step_whoever_has_no_time_stays_away_until_others_add_some() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    for asks in (ann.comes_back, lambda: ann.acts("score 1 for seat 1")):
        with refused("NOT_ALLOWED", says="no time left; others may add time"):
            asks()
    assert game.table.seat(1).stand_in
    game.does(commands.AddTime(by=game.person(2).by, seat=1, time=5_000))
    assert ann.comes_back()
    assert deadline(game, 1) == game.clock + 5_000


def test_whoever_is_not_asked_needs_no_time_to_be_back() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    game.bot_of(1).plays()
    assert ann.comes_back()


def test_who_was_away_and_has_no_time_is_not_brought_back_by_a_device() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.DEFAULT)
    game, _ = out_of_time(clock)  # the default was taken
    game.person(2).confirms()
    assert game.says_away(1)
    assert game.hears(1) is None
    assert game.table.seat(1).stand_in


def test_where_a_turn_goes_on_nobody_is_kept_away() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.WARN)
    _, ann = out_of_time(clock)
    ann.lets_bot_play()
    assert ann.comes_back()


def test_between_rounds_nobody_needs_time_to_be_back() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=1_500, timeout=TimeoutPolicy.DEFAULT)
    game = a_table(clock=clock, between="on")
    ann, bob = game.people
    due = deadline(game, 1)
    game.clock = due
    game.does(commands.TimeOut(by=SERVICE, seat=1, deadline=due))
    bob.confirms()
    assert game.asked_seats == (1, 2)
    ann.lets_bot_play()
    assert ann.comes_back()


@pytest.mark.parametrize("step", [30_000, 0])
def test_whoever_takes_a_seat_in_its_turn_has_a_step_for_it(step: int) -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=1_000, step=step, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock, leaves=True)
    assert (game.table.seat(1).occupant, cause(game, 1)) == (Occupant.NOBODY, StandInCause.TIME)
    ann.takes_seat(1)
    assert game.table.seat(1).stand_in == ""
    assert deadline(game, 1) == game.clock + step


def test_bots_that_stand_in_play_a_whole_game() -> None:
    chance = random.Random(3)
    game = a_table("eastern-wonders", seats=3, max_rounds="4")
    for person in game.people[:2]:
        person.lets_bot_play("random")
    while not game.is_over():
        if due := due_bots(game.table):
            game.bot_of(due[0]).plays_by_chance(chance)
        else:
            game.person(3).takes_a_turn(chance)
    turns = [entry for entry in game.log if entry.kind is ChangeKind.CONFIRM]
    assert all(entry.bot is (entry.seat != 3) for entry in turns)
    assert views.view(game.table, None).outcome
