"""Who comes back into a turn whose time was up: a step more, once, and nothing of it is kept."""

import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.due import due_at, due_bots
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import ClockKind, Takeback, TimeoutPolicy
from tests.tables.play import HOST, Person, a_table, refused
from tests.tables.timed import TimedTable, timed

STEPS = (ClockKind.PER_TURN, ClockKind.INCREMENT, ClockKind.DELAY, ClockKind.CORRESPONDENCE)
HOUR = 3600
SAYS = "Ann (red) came back into this turn already and has no time left"


def out_of_time(kind: ClockKind, *, left: bool = False) -> TimedTable:
    """Ann's first turn has lasted too long, and a bot stands in for her, or for nobody (`left`)."""
    bank = 1 if kind in (ClockKind.INCREMENT, ClockKind.DELAY) else 0
    game = timed(kind, bank=bank, step=HOUR, timeout=TimeoutPolicy.BOT, points="on")
    if left:
        game.person(1).leaves()
    assert game.runs_out(1)
    assert game.table.seat(1).stand_in
    return game


@pytest.mark.parametrize("kind", STEPS)
def test_nobody_has_one_step_after_another_by_coming_back(kind: ClockKind) -> None:
    """The bot takes the turn in which its player came back already."""
    game = out_of_time(kind)
    ann, bob = game.people
    panel = game.host_puts_panel(seats=(1, 2))
    ann.comes_back()
    assert game.left(1) == HOUR
    assert game.runs_out(1)
    before = game.table
    for again in (
        ann.comes_back,
        lambda: ann.acts("score 1 for seat 1"),
        ann.confirms,
        lambda: panel.presses(1),
    ):
        with refused("NOT_ALLOWED", says=SAYS):
            again()
    assert game.table is before
    assert due_bots(game.table) == (1,)
    game.bot_of(1).plays()
    # From the next turn on she plays herself, and may be late once more.
    bob.confirms()
    ann.comes_back()
    assert game.left(1) == HOUR
    assert game.runs_out(1)
    ann.comes_back()
    assert game.left(1) == HOUR


@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("kind", STEPS)
def test_nothing_is_kept_of_the_step_of_whoever_came_back(kind: ClockKind, acts: bool) -> None:
    game = out_of_time(kind)
    ann, bob = game.people
    if acts:
        ann.acts("score 1 for seat 1", confirm=True)
    else:
        ann.comes_back()
        game.passes(7)
        ann.confirms()
    assert game.left(1) == 0
    bob.confirms()
    assert game.left(1) == HOUR


def test_time_that_others_gave_is_kept_but_the_step_is_not() -> None:
    game = out_of_time(ClockKind.INCREMENT)
    ann, bob = game.people
    ann.comes_back()
    game.gives(HOST, 50, seat=1)
    game.passes(HOUR + 20)
    ann.confirms()
    assert game.bank(1) == 30
    bob.confirms()
    assert game.left(1) == HOUR + 30


def test_whoever_was_given_time_comes_back_once_more() -> None:
    game = out_of_time(ClockKind.INCREMENT)
    ann, bob = game.people
    ann.comes_back()
    game.runs_out(1)
    game.gives(bob.by, 5, seat=1)
    assert ann.comes_back()
    assert game.left(1) == 5


def test_a_pause_brings_no_other_step() -> None:
    game = out_of_time(ClockKind.INCREMENT)
    ann, _ = game.people
    ann.comes_back()
    game.passes(600)
    game.host_pauses()
    ann.lets_bot_play()
    ann.comes_back()
    game.host_resumes()
    assert game.left(1) == HOUR - 600
    game.runs_out(1)
    game.host_pauses()
    with refused("NOT_ALLOWED", says=SAYS):
        ann.comes_back()


@pytest.mark.parametrize("kind", STEPS)
def test_a_bot_on_the_seat_of_a_bot_that_stood_in_gets_no_time(kind: ClockKind) -> None:
    game = out_of_time(kind, left=True)
    game.host_seats_bot(seat=1)
    assert (game.left(1), game.deadline(1), game.clock_of(1).again) == (0, None, False)


@pytest.mark.parametrize("kind", STEPS)
def test_whoever_sits_down_instead_of_a_bot_has_a_step_once(kind: ClockKind) -> None:
    game = out_of_time(kind, left=True)
    Person(game, "Zoe").takes_seat(1)
    assert game.left(1) == HOUR
    Person(game, "Zoe").leaves()
    game.runs_out(1)
    Person(game, "Eve").takes_seat(1)
    assert game.left(1) == 0
    assert due_at(game.table) == game.clock  # the bot stands in again at once


def test_a_takeback_takes_the_second_step_along() -> None:
    game = out_of_time(ClockKind.INCREMENT)
    ann, bob = game.people
    ann.comes_back()
    game.passes(10)
    ann.confirms()
    game.passes(2)
    game.host_takes_back()
    # The bank of 1 s and both steps but 3590 s are used; what is withdrawn is owed, and paid.
    assert game.clock_of(1).delay == 0
    assert not game.clock_of(1).again
    assert game.left(1) == 0
    assert bob.seat == 2


# -- nobody plays in person ----------------------------------------------------------------


@pytest.mark.case("C7")
def test_two_who_are_away_find_the_game_as_they_left_it() -> None:
    """Both phones are in pockets: a bot may stand in, but it plays for somebody only."""
    game = a_table(points="on")
    ann, bob = game.people
    ann.confirms()
    left = game.table.position
    bob.lets_bot_play()
    assert due_bots(game.table) == (2,)  # Ann is there, and shall not wait
    ann.lets_bot_play()
    assert (due_bots(game.table), due_at(game.table)) == ((), None)
    bob.comes_back()
    assert (game.table.position, game.asked) == (left, [bob])
    bob.confirms()
    assert due_bots(game.table) == (1,)


def test_bots_that_sit_there_play_without_people() -> None:
    game = a_table(seats=2, taken=False, start_when_full=False)
    for _ in range(2):
        game.host_seats_bot()
    game.host_starts()
    assert due_bots(game.table) == (1,)


def test_a_bot_stands_in_for_a_seat_that_was_left_while_somebody_plays() -> None:
    game = a_table(seats=3)
    ann, bob, cleo = game.people
    ann.lets_bot_play()
    assert due_bots(game.table) == (1,)
    bob.leaves()
    cleo.concedes()
    assert due_bots(game.table) == ()
    Person(game, "Zoe").takes_seat(2)
    assert due_bots(game.table) == (1,)


# -- signs of people -----------------------------------------------------------------------


def since(game: TimedTable, seat: int) -> int:
    return game.table.seat(seat).plays_since


@pytest.mark.case("C7")
def test_whoever_acts_by_calls_only_is_not_away() -> None:
    """A device that watched once and was put down says nothing of who plays on another."""
    game = timed(ClockKind.NONE, points="on")
    ann, bob = game.people
    began = since(game, 2)
    for does in (
        lambda: ann.acts("score 1 for seat 1"),
        ann.undoes,
        ann.confirms,
    ):
        game.passes(100)
        does()
        assert since(game, 1) == game.clock
        assert since(game, 2) == began
    game.passes(100)
    bob.confirms()
    assert since(game, 2) == game.clock > since(game, 1)


def test_who_wants_a_turn_back_is_there() -> None:
    game = timed(ClockKind.NONE, takeback=Takeback.ALL_AGREE)
    ann, bob = game.people
    ann.confirms()
    game.passes(100)
    ann.asks_to_take_back()
    assert since(game, 1) == game.clock > since(game, 2)
    game.passes(100)
    bob.asks_to_take_back()
    assert since(game, 2) == game.clock > since(game, 1)


def test_a_press_of_a_button_is_a_sign_of_its_seat_and_of_no_other() -> None:
    game = timed(ClockKind.NONE, seats=3, taken=False)
    panel = game.host_puts_panel(seats=(1, 2))
    panel.presses(1)
    panel.presses(2)
    Person(game, "Cleo").takes_seat()
    began = since(game, 2)
    game.passes(100)
    panel.holds(1)
    assert since(game, 1) == game.clock
    assert since(game, 2) == began
    game.passes(100)
    panel.presses_master()  # that button belongs to nobody
    panel.presses_master()
    assert since(game, 1) == game.clock - 100_000
    panel_pauses = commands.Pause(by=panel.by)  # nor is a call by whoever has the panel's token
    assert game.does(panel_pauses)
    assert since(game, 2) == began


def test_what_others_the_service_and_bots_do_is_no_sign_of_anybody() -> None:
    game = timed(ClockKind.PER_TURN, step=30, timeout=TimeoutPolicy.DEFAULT, points="on")
    began = since(game, 1)
    game.runs_out(1)
    game.host_pauses()
    game.host_resumes()
    game.passes(5)
    game.gives(HOST, 5, seat=1)
    game.does(commands.StandIn(by=HOST, seat=2, bot="greedy"))
    game.bot_of(2).plays()
    assert game.log[-1].kind is ChangeKind.CONFIRM
    assert since(game, 1) == began
