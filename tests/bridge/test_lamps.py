"""The lamps of a panel, for every state of a real table."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from tableturn.v1.table_pb2 import TableView
from tableturn_bridge.lamps import (
    QUIET_AFTER,
    alike,
    next_change,
    next_seat,
    picture,
    tag_of,
)
from tableturn_bridge.patterns import OWN, Pattern
from tableturn_bridge.protocol import MOST_BUTTONS, Color, Flags, State, marked
from tableturn_server.service import convert
from tableturn_server.tables import commands, views
from tableturn_server.tables.state import Clock, ClockKind, Confirmation, StandInCause
from tests.tables.play import HOST, BotOfTest, TableOfTest, a_table, eastern_wonders

UID = 77
P = Pattern


def view_of(table: TableOfTest) -> TableView:
    return convert.table_view(table.table, "change", None)


class Shown:
    """A picture, as somebody at the table reads it."""

    def __init__(self, state: State) -> None:
        self.state = state

    @property
    def patterns(self) -> list[Pattern]:
        return [Pattern(byte & 15) for byte in self.state.lamps]

    @property
    def colors(self) -> list[Color]:
        return [Color(byte >> 4) for byte in self.state.lamps]

    @property
    def armed(self) -> list[int]:
        """The buttons that count now, from 1."""
        return [n + 1 for n in range(MOST_BUTTONS) if self.state.armed >> n & 1]

    @property
    def staged(self) -> list[int]:
        return [n + 1 for n in range(MOST_BUTTONS) if self.state.staged >> n & 1]

    @property
    def flags(self) -> Flags:
        return Flags(self.state.flags & 15)

    @property
    def starter(self) -> int:
        """The button with the start player's mark; 0 for none."""
        return marked(self.state.flags)


def shown(table: TableOfTest, *seats: int, buttons: int = 0, now: int = 0) -> Shown:
    """What a panel shows whose buttons serve these seats; all seats in order if none are given."""
    order = seats or tuple(range(1, len(table.table.seats) + 1))
    return Shown(picture(view_of(table), order, buttons or len(order), now=now))


# ---------------------------------------------------------------- whose turn


def test_the_seat_whose_turn_it_is_is_lit_and_armed_and_the_next_one_is_dim() -> None:
    panel = shown(a_table(seats=3))
    assert panel.patterns[:3] == [P.TURN, P.NEXT, P.OFF]
    assert panel.armed == [1]
    assert panel.colors[:3] == [Color.RED, Color.BLUE, Color.GREEN]


def test_the_lamps_follow_the_turn_around_the_table() -> None:
    table = a_table(seats=3)
    for whose, after in ((1, 2), (2, 3), (3, 1), (1, 2)):
        panel = shown(table)
        assert panel.patterns[whose - 1] is P.TURN
        assert panel.patterns[after - 1] is P.NEXT
        assert panel.armed == [whose]
        table.person(whose).confirms()


def test_buttons_may_serve_the_seats_in_any_order() -> None:
    panel = shown(a_table(seats=3), 3, 1, 2)
    assert panel.patterns[:3] == [P.OFF, P.TURN, P.NEXT]
    assert panel.armed == [2]


def test_the_picture_names_the_table_and_the_revision() -> None:
    table = a_table()
    state = shown(table).state
    assert state.tag == tag_of("the-table")
    assert state.revision == table.table.revision
    assert tag_of("123456789") == 0x29B1  # CRC-16/CCITT-FALSE, as the firmware counts


def test_a_staged_turn_that_can_be_confirmed_is_shown_as_such() -> None:
    table = a_table(points="on")
    assert shown(table).staged == []
    table.person(1).acts("score 5 for seat 2")
    panel = shown(table)
    assert panel.patterns[0] is P.STAGED
    assert panel.staged == [1]
    assert panel.armed == [1]


def test_a_staged_turn_that_cannot_be_confirmed_yet_is_not_armed() -> None:
    table = a_table(seats=3, order="chosen")
    assert shown(table).patterns[0] is P.TURN
    assert shown(table).armed == []
    table.person(1).acts("next seat 2")
    panel = shown(table)
    assert (panel.patterns[0], panel.staged, panel.armed) == (P.TURN, [1], [])
    table.person(1).acts("next seat 1")
    panel = shown(table)
    assert (panel.patterns[0], panel.staged, panel.armed) == (P.STAGED, [1], [1])


# ---------------------------------------------------------------- who begins the round


def test_the_start_player_is_marked_wherever_the_turn_is() -> None:
    table = a_table(seats=3, first_seat="2")
    for pattern in (P.TURN, P.OFF, P.NEXT, P.TURN):
        panel = shown(table)
        assert (panel.starter, panel.patterns[1]) == (2, pattern)
        table.asked[0].confirms()
    assert shown(table, 3, 1, 2).starter == 3
    assert shown(table, 3, 1).starter == 0  # it has its button on another panel


def test_the_mark_moves_where_the_rounds_begin_with_others() -> None:
    table = a_table(seats=3, order="reversed")
    seen = []
    for _ in range(6):
        seen.append(shown(table).starter)
        table.asked[0].confirms()
    assert seen == [1, 1, 1, 3, 3, 3]


def test_nobody_is_marked_before_the_start_in_a_pause_and_after_the_end() -> None:
    table = a_table(seats=2, taken=False, points="on")
    table.person(1).takes_seat()
    assert shown(table).starter == 0
    table.person(2).takes_seat()
    assert shown(table).starter == 1
    table.host_pauses()
    assert shown(table).starter == 0
    table.host_resumes()
    table.person(1).acts("finish game", confirm=True)
    assert shown(table).starter == 0


# ---------------------------------------------------------------- time


def a_clock(kind: ClockKind = ClockKind.PER_TURN, **settings: Any) -> TableOfTest:
    """A game of three with a minute for each turn."""
    table = a_table(seats=3, taken=False, **settings)
    clock = Clock(kind=kind, step=60_000)
    table.table = replace(table.table, making=replace(table.table.making, clock=clock))
    for number in (1, 2, 3):
        table.person(number).takes_seat()
    return table


def low_time(table: TableOfTest) -> int:
    """When the time of the seat that is asked begins to be low."""
    (seat,) = table.asked_seats
    return view_of(table).seats[seat - 1].clock.low_time.ToMilliseconds()


def test_low_time_is_shown_from_its_very_moment_on_and_is_armed_as_before() -> None:
    table = a_clock()
    moment = low_time(table)
    assert moment == table.table.stamp + 54_000
    before, after = shown(table, now=moment - 1), shown(table, now=moment)
    assert (before.patterns[:3], before.flags) == ([P.TURN, P.NEXT, P.OFF], Flags(0))
    assert (after.patterns[:3], after.flags) == ([P.LOW, P.NEXT, P.OFF], Flags.TIME_LOW)
    assert before.armed == after.armed == [1]
    assert shown(table).patterns[0] is P.TURN  # the service's time isn't known yet


def test_it_is_known_when_the_picture_changes_though_nothing_happens() -> None:
    table = a_clock()
    moment = low_time(table)
    assert next_change(view_of(table), moment - 1) == moment
    assert next_change(view_of(table), moment) is None
    table.person(1).confirms()
    assert next_change(view_of(table), moment) == low_time(table) > moment
    table.host_pauses()
    assert next_change(view_of(table), moment) is None
    assert next_change(view_of(a_table()), 1) is None


def test_low_time_is_more_urgent_than_a_staged_turn_and_ends_with_the_turn() -> None:
    table = a_clock(points="on")
    table.person(1).acts("score 5 for seat 2")
    late = low_time(table)
    panel = shown(table, now=late)
    assert (panel.patterns[0], panel.staged, panel.armed) == (P.LOW, [1], [1])
    table.person(1).confirms()
    panel = shown(table, now=late)
    assert (panel.patterns[:2], panel.flags) == ([P.OFF, P.TURN], Flags(0))


def test_time_that_has_run_out_is_shown_as_low_until_the_turn_ends() -> None:
    table = a_clock()
    clock = replace(table.table.clocks[0], ran_out=True, deadline=0)
    table.table = replace(table.table, clocks=(clock, *table.table.clocks[1:]))
    assert (shown(table).patterns[0], shown(table).flags) == (P.LOW, Flags.TIME_LOW)
    table.person(1).confirms()
    assert (shown(table).patterns[0], shown(table).flags) == (P.OFF, Flags(0))


def test_in_a_pause_no_time_is_low() -> None:
    table = a_clock()
    late = low_time(table)
    table.host_pauses()
    panel = shown(table, now=late)
    assert (panel.patterns[:3], panel.flags) == ([P.PAUSED] * 3, Flags.PAUSED)


# ---------------------------------------------------------------- all at the same time


def test_where_all_act_together_all_are_lit_and_who_has_confirmed_is_steady() -> None:
    table = a_table(seats=3, together="before")
    assert shown(table).patterns[:3] == [P.TURN] * 3
    assert shown(table).armed == [1, 2, 3]
    table.person(2).confirms()
    panel = shown(table)
    assert panel.patterns[:3] == [P.TURN, P.READY, P.TURN]
    assert panel.armed == [1, 3]
    table.person(1).confirms()
    table.person(3).confirms()
    assert shown(table).patterns[:3] == [P.TURN, P.NEXT, P.OFF]


def test_between_two_rounds_all_lamps_say_so() -> None:
    table = a_table(between="on")
    table.person(1).confirms()
    table.person(2).confirms()
    panel = shown(table)
    assert panel.patterns[:2] == [P.BETWEEN, P.BETWEEN]
    assert panel.armed == [1, 2]


# ---------------------------------------------------------------- who is next


def test_nobody_is_next_who_has_passed_or_left_the_game() -> None:
    table = a_table(seats=4, passing="on")
    table.person(1).confirms()
    table.person(2).acts("pass", confirm=True)
    assert table.does(commands.Concede(by=HOST, seat=4))
    assert next_seat(view_of(table)) == 1
    assert shown(table).patterns[:4] == [P.NEXT, P.OFF, P.TURN, P.OFF]
    table.person(3).confirms()
    assert shown(table).patterns[:4] == [P.TURN, P.OFF, P.NEXT, P.OFF]


def test_starting_cubes_are_chosen_in_reverse_order_and_then_the_first_seat_begins() -> None:
    table = eastern_wonders(seats=3)
    chance = random.Random(1)
    for _ in range(3):
        (asked,) = table.asked
        told = next_seat(view_of(table))
        asked.takes_a_turn(chance)
        assert [person.seat for person in table.asked] == [told]


def test_nobody_is_next_after_the_last_turn_of_the_last_round() -> None:
    table = a_table(rounds="2")
    for person in (1, 2, 1):
        table.person(person).confirms()
    assert shown(table).patterns[:2] == [P.OFF, P.TURN]


def test_nobody_is_next_where_the_last_seat_begins_the_next_round_itself() -> None:
    table = a_table(seats=3, order="reversed")
    table.person(1).confirms()
    table.person(2).confirms()
    assert shown(table).patterns[:3] == [P.OFF, P.OFF, P.TURN]
    table.person(3).confirms()
    assert shown(table).patterns[:3] == [P.OFF, P.NEXT, P.TURN]


EVERY: list[tuple[str, dict[str, Any]]] = [
    ("eastern-wonders", {}),
    ("free-table", {}),
    ("free-table", {"order": "reversed"}),
    ("free-table", {"order": "chosen"}),
    ("free-table", {"together": "before"}),
    ("free-table", {"together": "after"}),
    ("free-table", {"between": "on"}),
    ("free-table", {"rounds": "4"}),
]


@pytest.mark.parametrize(("game", "options"), EVERY, ids=str)
def test_whoever_is_said_to_be_next_is_asked_next(game: str, options: dict[str, Any]) -> None:
    table = a_table(game, seats=3, **options)
    chance = random.Random(5)
    told = 0
    for _ in range(60):
        if table.is_over():
            break
        said = next_seat(view_of(table))
        asked = chance.choice(table.asked)
        asked.takes_a_turn(chance)
        now = [person.seat for person in table.asked] if not table.is_over() else []
        if said and now != [asked.seat]:  # else it is asked for something more in its own turn
            assert now == [said]
            told += 1
    assert told >= 8


# ---------------------------------------------------------------- paused, over


def test_a_pause_lets_all_lamps_breathe_and_arms_nothing() -> None:
    table = a_table(seats=3)
    table.host_pauses()
    panel = shown(table)
    assert panel.patterns[:3] == [P.PAUSED] * 3
    assert panel.armed == []
    assert panel.state.flags == Flags.PAUSED
    table.host_resumes()
    assert shown(table).armed == [1]


def test_after_the_end_the_winner_is_shown_and_all_can_have_a_rematch() -> None:
    table = a_table(seats=3, points="on")
    table.person(1).acts("score 5 for seat 2", "finish game", confirm=True)
    panel = shown(table)
    assert panel.patterns[:3] == [P.OFF, P.WINNER, P.OFF]
    assert panel.colors[1] is Color.BLUE
    assert panel.armed == [1, 2, 3]
    assert panel.state.flags == Flags.OVER


def test_after_a_minute_the_winners_lamp_is_quiet_and_a_rematch_is_possible_all_the_same() -> None:
    table = a_table(seats=3, points="on")
    table.person(1).acts("score 5 for seat 2", "finish game", confirm=True)
    quiet = table.table.stamp + QUIET_AFTER
    assert next_change(view_of(table), table.table.stamp) == quiet
    assert shown(table, now=quiet - 1).patterns[1] is P.WINNER
    panel = shown(table, now=quiet)
    assert panel.patterns[:3] == [P.OFF] * 3
    assert panel.armed == [1, 2, 3]
    assert next_change(view_of(table), quiet) is None


def test_a_game_that_knows_no_winner_shows_none() -> None:
    table = a_table(rounds="1")
    table.person(1).confirms()
    table.person(2).confirms()
    assert table.is_over()
    assert shown(table).patterns[:2] == [P.OFF, P.OFF]


# ---------------------------------------------------------------- taking seats


def test_while_seats_are_taken_free_ones_ask_to_be_pressed() -> None:
    table = a_table(seats=3, taken=False, start_when_full=False)
    panel = shown(table, 0, 0, 0)
    assert panel.patterns[:3] == [P.FREE] * 3
    assert panel.armed == [1, 2, 3]
    assert panel.state.flags == Flags.SEATING
    table.person(1).takes_seat()
    panel = shown(table, 0, 1, 0)
    assert panel.patterns[:3] == [P.FREE, P.SEATED, P.FREE]
    assert panel.colors[:3] == [Color.NONE, Color.RED, Color.NONE]
    assert panel.armed == [1, 2, 3]


def test_while_seats_are_taken_a_bot_begins_nothing_by_its_button() -> None:
    table = a_table(seats=3, taken=False, start_when_full=False)
    table.person(1).takes_seat()
    bot = commands.SeatBot(by=HOST, bot="random", confirmation=Confirmation.PANEL)
    assert table.does(bot)
    panel = shown(table)
    assert panel.patterns[:3] == [P.SEATED, P.SEATED, P.FREE]
    assert panel.armed == [1, 3]


def test_a_button_is_dark_when_all_seats_are_taken_by_others() -> None:
    table = a_table(seats=2, start_when_full=False)
    panel = shown(table, 2, 1, 0)
    assert panel.patterns[:3] == [P.SEATED, P.SEATED, P.OFF]
    assert panel.armed == [1, 2]


def test_a_button_is_dark_when_the_free_seats_have_buttons_of_another_panel() -> None:
    table = a_table(seats=2, taken=False, start_when_full=False)
    token = bytes(32)
    for uid, seats in ((UID, (0, 0)), (UID + 1, (1, 2))):
        assert table.does(commands.AttachPanel(by=HOST, uid=uid, token=token, seats=seats))
    assert shown(table, 0, 0).patterns[:2] == [P.OFF, P.OFF]
    assert shown(table, 1, 2).patterns[:2] == [P.FREE, P.FREE]


def test_a_button_that_has_a_free_seat_shows_its_colour() -> None:
    table = a_table(seats=2, taken=False, start_when_full=False)
    panel = shown(table, 2, 1)
    assert panel.patterns[:2] == [P.FREE, P.FREE]
    assert panel.colors[:2] == [Color.BLUE, Color.RED]


def test_buttons_beyond_the_seats_are_dark() -> None:
    panel = shown(a_table(seats=2), 1, 2, 0, buttons=5)
    assert panel.patterns == [P.TURN, P.NEXT, P.OFF, P.OFF, P.OFF, P.OFF]
    assert panel.armed == [1]


# ---------------------------------------------------------------- not armed


def test_a_seat_that_confirms_on_its_own_device_is_lit_and_not_armed() -> None:
    table = a_table(seats=2)
    assert table.does(commands.SetConfirmation(by=HOST, seat=1, confirmation=Confirmation.DEVICE))
    assert (shown(table).patterns[0], shown(table).armed) == (P.TURN, [])
    assert table.does(commands.SetConfirmation(by=HOST, seat=1, confirmation=Confirmation.PANEL))
    assert (shown(table).patterns[0], shown(table).armed) == (P.TURN, [1])


@pytest.mark.parametrize("who", list(Confirmation))
def test_a_bots_button_is_lit_and_not_armed_while_it_decides(who: Confirmation) -> None:
    table = a_table(seats=2, taken=False)
    table.host_seats_bot(confirmation=who)
    table.person(1).takes_seat()
    assert (shown(table).patterns[0], shown(table).armed) == (P.TURN, [])


def test_a_bots_button_is_armed_once_it_stages_nothing_more() -> None:
    table = a_table(seats=2, taken=False)
    bots = [table.host_seats_bot(confirmation=Confirmation.PANEL) for _ in range(2)]
    bots[0].waits()
    assert (shown(table).patterns[:2], shown(table).armed) == ([P.TURN, P.NEXT], [1])


def test_a_bots_button_is_armed_once_it_has_staged_its_turn() -> None:
    table = a_table("eastern-wonders", seats=2, taken=False)
    for _ in range(2):
        table.host_seats_bot(confirmation=Confirmation.PANEL)
    seat = table.asked_seats[0]
    pile = views.question(table.table, seat)[1][0].piles[0].letters
    assert shown(table).armed == []
    BotOfTest(table, seat).plays(f"take pile {pile}", "place boat C3", confirm=False)
    assert (shown(table).patterns[seat - 1], shown(table).armed) == (P.STAGED, [seat])


def test_a_seat_that_was_left_asks_for_somebody_to_go_on() -> None:
    table = a_table(seats=3)
    table.person(2).leaves()
    panel = shown(table)
    assert panel.patterns[:3] == [P.TURN, P.FREE, P.OFF]
    assert panel.armed == [1, 2]
    table.host_pauses()
    assert shown(table).armed == []


def stood_in(table: TableOfTest, number: int) -> None:
    """A bot plays on for a seat."""
    seat = replace(table.table.seat(number), stand_in="random", stand_in_cause=StandInCause.ABSENCE)
    seats = [*table.table.seats]
    seats[number - 1] = seat
    table.table = replace(table.table, seats=tuple(seats))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_where_a_bot_plays_on_a_press_brings_the_person_back(number: int) -> None:
    """Whether it is asked, next or neither (C7)."""
    table = a_table(seats=3)
    stood_in(table, number)
    panel = shown(table)
    assert panel.patterns[number - 1] is P.FREE
    assert panel.colors[number - 1] is (Color.RED, Color.BLUE, Color.GREEN)[number - 1]
    assert panel.armed == sorted({1, number})
    table.host_pauses()
    assert shown(table).armed == []


def test_who_plays_on_a_device_of_their_own_comes_back_there() -> None:
    table = a_table(seats=2)
    assert table.does(commands.SetConfirmation(by=HOST, seat=1, confirmation=Confirmation.DEVICE))
    stood_in(table, 1)
    assert (shown(table).patterns[0], shown(table).armed) == (P.TURN, [])


def test_no_button_of_a_seat_that_left_the_game_is_armed() -> None:
    table = a_table(seats=3)
    table.person(1).confirms()
    table.person(1).concedes()
    panel = shown(table)
    assert panel.patterns[:3] == [P.OFF, P.TURN, P.NEXT]
    assert panel.armed == [2]


# ---------------------------------------------------------------- the service, another bridge


@pytest.mark.parametrize("pattern", [P.SERVICE_LOST, P.ELSEWHERE])
def test_a_panel_that_cannot_be_used_shows_it_on_all_lamps(pattern: Pattern) -> None:
    panel = Shown(alike(pattern, 4, tag=9, revision=57))
    assert panel.patterns[:4] == [pattern] * 4
    assert panel.patterns[4:] == [P.OFF, P.OFF]
    assert (panel.armed, panel.state.tag, panel.state.revision) == ([], 9, 57)


# ---------------------------------------------------------------- whatever is played


@pytest.mark.parametrize("game", ["eastern-wonders", "free-table"])
def test_in_any_game_the_lamps_say_whom_the_table_waits_for(game: str) -> None:
    """Through a whole game by chance: an armed button is one whose press would count."""
    options: dict[str, Any] = {"passing": "on", "points": "on", "together": "after"}
    options["between"] = "on"
    table = a_table(game, seats=3, **(options if game == "free-table" else {}))
    chance = random.Random(3)
    for _ in range(150):
        if table.is_over():
            break
        view, panel = view_of(table), shown(table)
        asked = {prompt.seat for prompt in view.prompts}
        ready = {prompt.seat for prompt in view.prompts if prompt.can_confirm}
        lit = (P.TURN, P.STAGED, P.BETWEEN)
        assert {n + 1 for n, pattern in enumerate(panel.patterns) if pattern in lit} == asked
        assert set(panel.armed) == ready
        assert all(pattern < OWN for pattern in panel.patterns)
        assert panel.state.body()
        person = chance.choice(table.asked)
        person.takes_a_turn(chance)
