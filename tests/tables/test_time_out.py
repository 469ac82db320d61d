"""Time that is up: what the table's policy says is done, once, and what the rules say of it."""

import random

import pytest

from tableturn_server.rules import catalog
from tableturn_server.rules.game import PromptKind
from tableturn_server.tables import commands
from tableturn_server.tables.clocks import turns_of
from tableturn_server.tables.due import due_at
from tableturn_server.tables.export import export, read
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    ClockKind,
    StandInCause,
    Takeback,
    TimeoutPolicy,
    decode,
    encode,
    game_of,
)
from tests.tables.play import SERVICE, Person, action, refused
from tests.tables.timed import START, TimedTable, timed

PER_TURN, INCREMENT = ClockKind.PER_TURN, ClockKind.INCREMENT
EVERY_POLICY = tuple(TimeoutPolicy)


def rapid(timeout: TimeoutPolicy, **wishes: object) -> TimedTable:
    return timed(PER_TURN, step=30, timeout=timeout, **wishes)  # type: ignore[arg-type]


# -- when --------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", EVERY_POLICY)
def test_time_is_up_at_the_deadline_not_before_and_once(timeout: TimeoutPolicy) -> None:
    game = rapid(timeout, seats=3)
    assert due_at(game.table) == START + 30_000
    game.passes(29.999)
    assert game.time_is_up(1) is None
    game.passes(0.001)
    assert game.time_is_up(1)
    assert game.time_is_up(1, deadline=30) is None
    assert game.log[-1].clocks[0][0] == 1


@pytest.mark.parametrize("timeout", EVERY_POLICY)
def test_whoever_confirms_first_is_not_out_of_time(timeout: TimeoutPolicy) -> None:
    """A confirmation and the time-out at the same moment: what comes first counts."""
    game = rapid(timeout)
    game.passes(30)
    game.people[0].confirms()
    before = game.table
    assert game.time_is_up(1, deadline=30) is None
    assert game.time_is_up(2, deadline=30) is None
    assert game.table is before


def test_a_deadline_that_was_moved_is_none_any_more() -> None:
    game = rapid(TimeoutPolicy.DROP, seats=3)
    game.passes(20)
    game.gives(game.people[1].by, 5, seat=1)
    game.passes(12)
    assert game.time_is_up(1, deadline=30) is None
    game.host_pauses()
    game.passes(100)
    assert game.time_is_up(1, deadline=35) is None
    game.host_resumes()
    assert game.deadline(1) == 135
    assert game.runs_out(1)


def test_a_time_out_is_for_the_deadline_that_it_names() -> None:
    game = rapid(TimeoutPolicy.DROP)
    game.passes(40)
    for deadline in (29, 31, 40):
        assert game.time_is_up(1, deadline=deadline) is None
    assert game.time_is_up(1, deadline=30)


def test_seats_that_never_run_out() -> None:
    game = rapid(TimeoutPolicy.DROP, seats=3)
    game.passes(1000)
    assert game.time_is_up(2) is None  # it is not asked, and 0 is no deadline
    with refused("UNKNOWN_NAME"):
        game.time_is_up(4, deadline=30)
    with refused("UNKNOWN_NAME"):
        game.does(commands.TimeOut(by=SERVICE, seat=0, deadline=START))


# -- WARN --------------------------------------------------------------------------------------


def test_a_warning_and_the_turn_goes_on() -> None:
    game = rapid(TimeoutPolicy.WARN, points="on")
    ann, bob = game.people
    ann.acts("score 2 for seat 1")
    seen = game.table.revision
    game.runs_out(1)
    assert game.last(ChangeKind.TIME_OUT) == "the time of Ann (red) is up; the turn goes on"
    assert (game.clock_of(1).ran_out, game.deadline(1), game.runs(1)) == (True, None, True)
    assert due_at(game.table) is None
    game.passes(25)
    ann.confirms(at=seen)  # what is asked, and staged, is the same
    assert (game.used(1), game.left(1), game.clock_of(1).ran_out) == (55, 0, False)
    bob.confirms()
    assert game.left(1) == 30


def test_a_turn_that_follows_on_one_that_was_too_long_has_its_time() -> None:
    game = rapid(TimeoutPolicy.WARN, passing="on")
    ann, bob = game.people
    ann.acts("pass", confirm=True)
    game.runs_out(2)
    game.passes(3)
    bob.confirms()
    assert (game.running, game.clock_of(2).ran_out, game.deadline(2)) == ([2], False, 63)


# -- DEFAULT: DR-2, DR-3 -----------------------------------------------------------------------


@pytest.mark.clause("DR-3")
@pytest.mark.parametrize("name", catalog.GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_dr_3_the_least_that_the_rules_allow_is_done(name: str, seed: int) -> None:
    """DR-3: a whole game of nobody but the clock is played by defaults to a legal end."""
    game = rapid(TimeoutPolicy.DEFAULT, game=name, seed=bytes([seed] * 16), max_rounds="4")
    for _ in range(60):
        if game.is_over():
            break
        (seat, *_) = turns_of(game.table)
        rules = game_of(game.table)
        least = rules.default(game.table.position, seat)
        assert game.runs_out(seat)
        if game.table.paused:  # after a whole round of nobody
            game.host_resumes()
            continue
        entry = game.log[-1]
        assert entry.kind is ChangeKind.CONFIRM
        assert entry.played == entry.actions == least
        assert entry.lines[0].startswith("the time of ")
        assert entry.lines[0].endswith(" is up")
        assert entry.timed
        assert (entry.seat, entry.bot, game.table.bot_turns) == (seat, False, 0)
    assert game.is_over()
    again = read(export(game.table, game.recorded()), table_id="", now=game.clock)
    assert again.table.clocks == game.table.clocks


@pytest.mark.clause("DR-2", "DR-3")
@pytest.mark.parametrize("name", [name for name in catalog.GAMES if name != "free-table"])
@pytest.mark.parametrize("seed", range(4))
def test_dr_2_what_is_staged_is_undone_first(name: str, seed: int) -> None:
    """DR-2: in the middle of games, whatever the seat has staged."""
    chance = random.Random(seed)
    game = rapid(TimeoutPolicy.DEFAULT, game=name, seats=3, seed=bytes([seed] * 16))
    staged = 0
    for _ in range(12):
        game.plays_on(3, chance)
        if game.is_over():
            break
        person = game.asked[0]
        rules = game_of(game.table)
        choice = next(iter(rules.legal_actions(game.table.position, person.seat)), None)
        if choice is not None:
            person.acts_by_chance(choice, chance)
            staged += 1
        seat, asked = person.seat, game.table.position
        assert game.runs_out(seat)
        assert game.log[-1].played == rules.default(asked, seat)
        assert game.log[-1].lines[0].endswith("; what it has staged is undone") is bool(choice)
        assert not any(game.table.staged)
    assert staged > 5


@pytest.mark.clause("DR-2", "DR-3")
def test_dr_2_and_dr_3_at_a_free_table() -> None:
    """DR-2, DR-3: points that were only staged are not booked, and the turn ends."""
    game = rapid(TimeoutPolicy.DEFAULT, points="on")
    ann, bob = game.people
    ann.acts("score 9 for seat 1")
    game.runs_out(1)
    assert game.log[-1].lines == (
        "the time of Ann (red) is up; what it has staged is undone",
        "Ann (red) confirms",
    )
    assert game.table.position.points == (0, 0)
    assert game.asked == [bob]


@pytest.mark.clause("DR-3")
def test_dr_3_the_order_is_chosen_and_the_last_one_passes() -> None:
    """DR-3: a forced choice takes the first offer."""
    game = rapid(TimeoutPolicy.DEFAULT, order="chosen", passing="on")
    assert set(turns_of(game.table).values()) == {PromptKind.ORDER}
    game.runs_out(1)
    assert game.log[-1].played == (action("next seat 1"),)
    game.people[0].acts("pass", confirm=True)
    game.runs_out(2)
    assert game.log[-1].played == (action("pass"),)


def test_a_default_turn_is_taken_back_where_all_agree() -> None:
    game = rapid(TimeoutPolicy.DEFAULT, takeback=Takeback.ALL_AGREE)
    ann, bob = game.people
    game.runs_out(1)
    game.passes(3)
    assert ann.asks_to_take_back() == (2,)
    assert bob.asks_to_take_back() == ()
    assert (game.asked, game.table.turns, game.left(1)) == ([ann], 0, 30)
    game.runs_out(1)
    assert game.table.turns == 1


def test_the_host_gives_no_second_step_by_taking_a_default_turn_back() -> None:
    """Neither with the bots' turns after it, nor at a panel."""
    game = rapid(TimeoutPolicy.DEFAULT, takeback=Takeback.HOST, taken=False, seats=3)
    for name in ("Ann", "Bob"):
        Person(game, name).takes_seat()
    game.host_seats_bot()
    panel = game.host_puts_panel(seats=(1, 2))
    ann, bob = Person(game, "Ann"), Person(game, "Bob")
    ann.confirms()
    game.runs_out(2)
    says = "time was up for that turn"
    for _ in range(2):
        with refused("NOTHING_TO_TAKE_BACK", says=says):
            game.host_takes_back()
        with refused("NOTHING_TO_TAKE_BACK", says=says):
            panel.chords(1, 2)
        if game.asked == [game.people_by_name[2]]:
            game.bot_of(3).plays()
    ann.confirms()
    game.host_takes_back()  # a turn that was played is taken back, as ever
    assert game.asked == [ann]
    assert bob.seat == 2


# -- a game that is left -----------------------------------------------------------------------


def test_a_game_in_which_nobody_does_anything_for_a_round_is_paused() -> None:
    """Or else it would go on for ever where it has no end, and fill the disk."""
    game = rapid(TimeoutPolicy.DEFAULT, seats=3)
    for seat in (1, 2, 3):
        assert game.runs_out(seat)
    assert game.table.idle_turns == 3
    assert game.runs_out(1)
    paused = "nobody has done anything for a whole round; the game is paused"
    assert game.last(ChangeKind.PAUSE) == paused
    assert (game.table.paused, game.running, due_at(game.table)) == (True, [], None)
    assert game.table.turns == 3
    assert decode(encode(game.table)) == game.table
    # Anybody lets it go on; the round is counted anew.
    game.passes(1000)
    game.person(2).resumes()
    assert (game.table.idle_turns, game.asked) == (0, [game.person(1)])
    for seat in (1, 2, 3):
        assert game.runs_out(seat)
        assert game.log[-1].timed
    assert game.runs_out(1)
    assert game.table.paused


@pytest.mark.parametrize("sign", ["stages", "pauses", "gives time", "a press"])
def test_whoever_does_anything_is_no_nobody(sign: str) -> None:
    game = rapid(TimeoutPolicy.DEFAULT, seats=2, points="on")
    ann, bob = game.people
    panel = game.host_puts_panel(seats=(1, 2))
    game.runs_out(1)
    game.runs_out(2)
    assert game.table.idle_turns == 2
    match sign:
        case "stages":
            ann.acts("score 1 for seat 1")
        case "pauses":
            game.host_pauses()
            game.host_resumes()
        case "gives time":
            game.gives(bob.by, 5, seat=1)
        case _:
            panel.presses_master()
            panel.presses_master()
    assert game.table.idle_turns == 0
    assert game.runs_out(1)
    assert game.log[-1].timed


def test_bots_that_play_are_nobody() -> None:
    game = rapid(TimeoutPolicy.DEFAULT, seats=2, taken=False)
    Person(game, "Ann").takes_seat()
    game.host_seats_bot()
    for _ in range(2):
        assert game.runs_out(1)
        game.bot_of(2).plays()
    assert game.table.idle_turns == 2
    assert game.runs_out(1)
    assert game.table.paused


def test_seats_that_have_left_the_game_are_not_counted() -> None:
    game = rapid(TimeoutPolicy.DEFAULT, seats=4)
    game.person(4).concedes()
    for seat in (1, 2, 3):
        assert game.runs_out(seat)
    assert game.runs_out(1)
    assert game.table.paused


def test_several_seats_whose_time_is_up_at_once_take_their_defaults_one_by_one() -> None:
    game = rapid(TimeoutPolicy.DEFAULT, seats=3, together="before")
    game.passes(30)
    for seat in (1, 2, 3):
        assert game.time_is_up(seat, deadline=30)
    assert game.asked == [game.person(1)]
    assert (game.deadline(1), game.used(1)) == (60, 30)


def test_a_seat_that_was_left_takes_its_default_too() -> None:
    game = rapid(TimeoutPolicy.DEFAULT)
    game.people[0].leaves()
    game.runs_out(1)
    assert game.asked == [game.person(2)]


# -- BOT, DROP ---------------------------------------------------------------------------------


@pytest.mark.clause("DR-1")
def test_a_bot_plays_on_until_its_player_is_back() -> None:
    game = rapid(TimeoutPolicy.BOT, points="on")
    ann, bob = game.people
    ann.acts("score 9 for seat 1")
    game.runs_out(1)
    seat = game.table.seat(1)
    assert (seat.stand_in, seat.stand_in_cause) == ("greedy", StandInCause.TIME)
    line = "the time of Ann (red) is up: a bot plays on (greedy)"
    assert game.last(ChangeKind.STAND_IN) == line
    assert (ann.staged, game.deadline(1), due_at(game.table)) == ((), None, game.table.stamp)
    game.bot_of(1).plays()
    bob.confirms()
    assert (game.deadline(1), game.left(1)) == (None, 30)
    ann.comes_back()
    assert game.deadline(1) == game.now + 30


@pytest.mark.clause("DR-2", "DR-4")
def test_dr_4_a_seat_that_is_out_of_time_leaves_the_game() -> None:
    """DR-2, DR-4: what it has staged is undone, and the others go on."""
    game = rapid(TimeoutPolicy.DROP, seats=3, points="on")
    ann, bob, _ = game.people
    ann.acts("score 9 for seat 1")
    game.runs_out(1)
    line = "the time of Ann (red) is up: the seat leaves the game"
    assert game.last(ChangeKind.DROP) == line
    assert (game.table.seat(1).dropped, game.table.staged[0]) == (True, ())
    assert game.table.position.points == (0, 0, 0)
    assert game.table.drop_turn == game.table.turns == 1
    assert (game.asked, game.deadline(2), game.deadline(1)) == ([bob], 60, None)
    game.runs_out(2)
    assert game.is_over()
    assert due_at(game.table) is None


def test_with_an_empty_bank_a_turn_without_a_step_is_over_at_once() -> None:
    game = timed(INCREMENT, bank=60, timeout=TimeoutPolicy.DEFAULT)
    game.runs_out(1)
    game.people[1].confirms()
    assert (game.deadline(1), game.left(1)) == (game.now, 0)
    assert due_at(game.table) == game.clock
    assert game.time_is_up(1)
    assert game.asked == [game.person(2)]
