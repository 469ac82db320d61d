"""Presses at a panel: what each gesture does where the table stands, and which one counts."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from tableturn_server.rules.actions import PassRound
from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import decide
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.export import export, read
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.presses import rematch_press
from tableturn_server.tables.rematch import next_table
from tableturn_server.tables.state import Occupant, Status, Takeback, decode, encode
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    STRANGER,
    BotOfTest,
    Confirmation,
    PanelOfTest,
    TableOfTest,
    a_table,
    action,
    eastern_wonders,
    refused,
)


def with_a_panel(game: TableOfTest) -> PanelOfTest:
    """A panel with a button for each seat."""
    return game.host_puts_panel(seats=tuple(range(1, len(game.table.seats) + 1)))


def a_lobby(seats: int = 4, **wishes: object) -> tuple[TableOfTest, PanelOfTest]:
    """A table at which seats are taken by pressing: one button for each seat, none is bound."""
    wishes = {"start_when_full": False, **wishes}
    game = a_table(seats=seats, taken=False, **wishes)  # type: ignore[arg-type]
    return game, game.host_puts_panel(seats=(0,) * seats)


def anything(panel: PanelOfTest) -> list[Callable[[], int]]:
    """Every gesture that there is."""
    return [
        lambda: panel.presses(1),
        lambda: panel.holds(1),
        lambda: panel.chords(1, 2),
        panel.presses_master,
        panel.holds_master,
    ]


# -- whose press it is ---------------------------------------------------------------------


def test_a_press_needs_the_panels_own_token() -> None:
    game = a_table()
    panel = with_a_panel(game)
    other = game.host_puts_panel(8, seats=(0,))
    before = game.table
    for by, reason in (
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
        (ADMIN, "BAD_TOKEN"),
        (HOST, "NOT_ALLOWED"),
        (game.people[0].by, "NOT_ALLOWED"),
        (other.by, "NOT_ALLOWED"),
    ):
        for gesture in Gesture:
            with refused(reason):
                game.does(replace(panel.command(1, gesture, 2), by=by))
    assert game.table is before


def test_a_panel_that_is_not_on_the_table_presses_nothing() -> None:
    game = a_table()
    panel = with_a_panel(game)
    with refused("UNKNOWN_NAME", field="panel_uid"):
        game.does(replace(panel.command(1, Gesture.PRESS), uid=8))
    with refused("BAD_TOKEN"):
        game.does(replace(panel.command(1, Gesture.PRESS), uid=8, by=STRANGER))


@pytest.mark.parametrize(
    ("button", "gesture", "second", "field"),
    [
        (0, Gesture.PRESS, 0, "button"),
        (3, Gesture.PRESS, 0, "button"),
        (0, Gesture.LONG, 0, "button"),
        (1, Gesture.MASTER, 0, "button"),
        (1, Gesture.MASTER_LONG, 0, "button"),
        (1, Gesture.CHORD, 0, "second_button"),
        (1, Gesture.CHORD, 3, "second_button"),
        (1, Gesture.CHORD, 1, "second_button"),
    ],
)
def test_a_button_that_is_not_there(button: int, gesture: Gesture, second: int, field: str) -> None:
    game = a_table()
    panel = with_a_panel(game)
    with refused("BAD_FIELD", field=field):
        game.does(panel.command(button, gesture, second))


def test_a_panel_presses_for_its_own_seats_only() -> None:
    game = a_table(seats=3)
    ann, bob, _ = game.people
    one, two = game.host_puts_panel(1, seats=(0, 1)), game.host_puts_panel(2, seats=(2, 3))
    for press in (one.presses, one.holds, two.presses, two.holds):
        with refused("NOT_ASKED"):
            press(1)
    assert one.presses(2) == ann.seat
    assert game.asked == [bob]
    with refused("NOT_ASKED"):
        one.chords(1, 2)


# -- while seats are taken -----------------------------------------------------------------


def test_seats_are_taken_in_the_order_of_the_presses() -> None:
    game, panel = a_lobby()
    assert panel.presses(3) == 1
    assert panel.presses(1) == 2
    assert panel.seats == (2, 0, 1, 0)
    first, second = game.table.seats[:2]
    assert (first.name, second.name) == ("Red", "Blue")
    assert first.token == second.token == panel.token
    assert first.occupant is Occupant.PERSON
    assert game.log[-1].kind is ChangeKind.TAKE_SEAT
    assert game.log[-1].lines == ("Blue (panel 7) takes seat 2 (blue)",)
    with refused("NOT_ASKED"):
        panel.presses(3)


def test_two_who_press_at_the_same_moment_both_sit_down() -> None:
    game, panel = a_lobby()
    seen = game.table.revision
    assert panel.presses(1, at=seen) == 1
    assert panel.presses(2, at=seen) == 2
    with refused("STALE_REVISION"):
        panel.presses(3, at=game.table.revision + 1)
    with refused("STALE_REVISION"):
        panel.presses(3, at=0)


def test_a_button_with_a_seat_takes_that_seat() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    game.people_by_name[0].takes_seat(1)
    panel = game.host_puts_panel(seats=(1, 3))
    with refused("NOT_ASKED"):
        panel.presses(1)
    assert panel.presses(2) == 3
    assert game.table.seat(3).at_panel
    assert not game.table.seat(1).at_panel


def test_a_free_seat_with_another_button_is_left_to_it() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    one, two = game.host_puts_panel(1, seats=(1, 2)), game.host_puts_panel(2, seats=(0, 0))
    assert two.presses(1) == 3
    with refused("SEAT_TAKEN"):
        two.presses(2)
    one.presses(1)
    one.presses(2)
    with refused("TABLE_FULL"):
        two.presses(2)


def test_the_last_press_starts_the_game_where_that_is_wanted() -> None:
    game, panel = a_lobby(seats=2, start_when_full=True)
    panel.presses(1)
    panel.presses(2)
    assert game.table.status is Status.RUNNING
    panel.presses(1)
    assert game.asked_seats == (2,)


def test_who_holds_a_button_starts_with_those_who_are_here() -> None:
    game, panel = a_lobby(seats=4)
    with refused("NOT_ASKED"):
        panel.holds(1)
    panel.presses(4)
    with refused("NOT_STARTED"):  # nobody plays alone
        panel.holds(4)
    panel.presses(2)
    assert panel.holds(2) == 2
    assert game.log[-1].lines[0] == "the game starts without seats 3, 4"
    table = game.table
    assert table.status is Status.RUNNING
    assert (table.making.seats, len(table.seats), len(table.asked_at)) == (2, 2, 2)
    assert panel.seats == (0, 2, 0, 1)
    assert panel.presses(4) == 1
    assert panel.presses(2) == 2
    # A long press that was meant for the lobby doesn't pass in the game.
    with refused("STALE_REVISION"):
        panel.holds(4, at=4)


def test_people_at_two_panels_move_up_when_the_game_starts() -> None:
    game = a_table(seats=6, taken=False, start_when_full=False)
    one = game.host_puts_panel(1, seats=(1, 2, 3, 4))
    two = game.host_puts_panel(2, seats=(5, 6))
    for panel in (one, two):
        for button in (1, 2):
            panel.presses(button)
    seen = game.table.revision
    assert two.holds(1) == 3
    assert game.log[-1].seat == 3
    assert game.log[-1].lines[:3] == (
        "White (white) moves to seat 3 (green)",
        "Black (black) moves to seat 4 (yellow)",
        "the game starts without seats 5, 6",
    )
    assert [(seat.name, seat.color) for seat in game.table.seats] == [
        ("Red", "red"), ("Blue", "blue"), ("Green", "green"), ("Yellow", "yellow"),
    ]  # fmt: skip
    assert [seat.token for seat in game.table.seats] == [one.token] * 2 + [two.token] * 2
    assert (one.seats, two.seats) == ((1, 2, 0, 0), (3, 4))
    for panel in (one, two):
        for button in (1, 2):
            with refused("STALE_REVISION"):
                panel.presses(button, at=seen)
            assert panel.presses(button) in panel.seats
    assert game.table.turns == 4


def test_a_button_that_served_a_free_seat_serves_none_when_others_have_moved_up() -> None:
    game = a_table(seats=4, taken=False, start_when_full=False)
    panel = with_a_panel(game)
    panel.presses(1)
    panel.presses(3)
    seen = game.table.revision
    game.host_starts(without_free_seats=True)
    assert panel.seats == (1, 0, 2, 0)
    for button in (2, 3, 4):
        with refused("STALE_REVISION", asked_at=game.table.revision):
            panel.presses(button, at=seen)
    with refused("NOT_ASKED", says="serves no seat"):
        panel.presses(2)
    panel.presses(1)
    assert panel.presses(3) == 2


def test_bots_move_up_too_and_devices_stay() -> None:
    game = a_table(seats=6, taken=False, start_when_full=False)
    panel = game.host_puts_panel(seats=(0, 0, 5))
    ann = game.people_by_name[0]
    ann.takes_seat(3)
    game.host_seats_bot(seat=4)
    panel.presses(3)
    named = game.host_seats_bot(seat=6, name="Robby", confirmation=Confirmation.PANEL)
    assert named.seat == 6
    game.host_starts(without_free_seats=True)
    assert game.log[-1].lines[:4] == (
        "Greedy 4 (yellow) moves to seat 1 (red)",
        "White (white) moves to seat 2 (blue)",
        "Robby (black) moves to seat 4 (yellow)",
        "the game starts without seats 5, 6",
    )
    assert [seat.name for seat in game.table.seats] == ["Greedy 1", "Blue", "Ann", "Robby"]
    assert [seat.bot for seat in game.table.seats] == ["greedy", "", "", "greedy"]
    assert game.table.seat(4).confirmation is Confirmation.PANEL
    assert (ann.seat, panel.seats) == (3, (0, 0, 2))
    # Who sits on a seat changed with the move: what was sent for somebody else doesn't count.
    assert [seat.since for seat in game.table.seats] == [
        game.table.revision, game.table.revision, 2 + 1, game.table.revision,
    ]  # fmt: skip
    imported = read(export(game.table, game.recorded()), table_id="", now=game.clock)
    assert imported.table.seats == game.table.seats


def test_a_device_behind_a_gap_stays_and_the_game_is_not_started() -> None:
    game, panel = a_lobby(seats=4)
    ann = game.people_by_name[0]
    panel.presses(1)
    ann.takes_seat(4)
    panel.presses(2)
    before = game.table
    with refused("NOT_STARTED", says="free: seat 3; whoever holds seat 4 on a device"):
        panel.holds(1)
    assert game.table is before
    ann.leaves()
    ann.takes_seat(3)
    panel.holds(1)
    assert game.table.making.seats == 3
    assert game.log[-1].lines[0] == "the game starts without seat 4"


def test_nobody_moves_where_the_game_can_not_be_played_without_the_free_seats() -> None:
    game, panel = a_lobby(seats=4, first_seat="4")
    for button in (1, 2, 3):
        panel.presses(button)
    game.does(commands.LeaveSeat(by=HOST, seat=2))
    with refused("NOT_STARTED", says="first_seat"):
        panel.holds(1)
    assert panel.seats == (1, 0, 3, 0)


def test_who_moved_up_sits_there_at_the_next_table_too() -> None:
    game = a_table(seats=4, taken=False, start_when_full=False)
    panel = with_a_panel(game)
    for button in (2, 4):
        panel.presses(button)
    panel.holds(4)
    game.does(commands.Act(
        by=panel.by, seat=1, expected_revision=game.table.revision,
        actions=(action("finish game"),), confirm=True,
    ))  # fmt: skip
    table, _ = next_table(game.table, panel.by, drawn_seed=bytes(16), now=game.clock)
    assert [seat.name for seat in table.seats] == ["Red", "Blue"]
    assert table.panels[0].seats == (0, 1, 0, 2)


def test_an_option_that_names_a_seat_must_hold_for_those_who_are_here() -> None:
    game, panel = a_lobby(seats=4, first_seat="3")
    panel.presses(1)
    panel.presses(2)
    with refused("NOT_STARTED", says="first_seat"):
        panel.holds(1)
    panel.presses(3)
    panel.holds(1)
    assert game.asked_seats == (3,)


def test_the_host_starts_without_the_free_seats_too() -> None:
    game = a_table("eastern-wonders", seats=4, taken=False)
    panel = with_a_panel(game)
    for person in game.people_by_name[:2]:
        person.takes_seat()
    with refused("NOT_STARTED"):
        game.host_starts()
    game.host_starts(without_free_seats=True)
    assert panel.seats == (1, 2, 0, 0)
    assert len(views.view(game.table, None).seats) == 2
    game.asked[0].acts(
        f"take pile {game.asked[0].sees().choices[0].piles[0].letters}", "place boat C3",
        confirm=True,
    )  # fmt: skip
    game.host_takes_back()
    assert game.table.turns == 0


def test_in_the_lobby_nothing_is_confirmed_undone_or_paused() -> None:
    game, panel = a_lobby()
    panel.presses(1)
    for gesture in anything(panel)[2:]:
        with refused("NOT_STARTED"):
            gesture()
    assert game.table.status is Status.OPEN


# -- a press -------------------------------------------------------------------------------


@pytest.mark.parametrize("only_the_panel", [False, True])
def test_a_press_confirms_what_is_staged(only_the_panel: bool) -> None:
    game = a_table(points="on")
    ann, bob = game.people
    panel = with_a_panel(game)
    if only_the_panel:
        game.host_sets_confirmation(1, Confirmation.PANEL)
    ann.acts("score 5 for seat 1")
    assert panel.presses(1) == 1
    entry = game.log[-1]
    assert (entry.kind, entry.seat, entry.played) == (
        ChangeKind.CONFIRM,
        1,
        (action("score 5 for seat 1"),),
    )
    assert game.asked == [bob]


def test_a_press_ends_the_turn_at_a_free_table() -> None:
    game = a_table(seats=3)
    panel = with_a_panel(game)
    for button in (1, 2, 3, 1):
        assert panel.presses(button) == button
    assert game.table.turns == 4


def test_a_press_never_skips_a_turn() -> None:
    game = eastern_wonders()
    panel = with_a_panel(game)
    for _ in range(2):
        person = game.asked[0]
        pile = person.sees().choices[0].piles[0].letters
        person.acts(f"take pile {pile}", "place boat C3", confirm=True)
    person = game.asked[0]
    with refused("CANNOT_CONFIRM"):
        panel.presses(person.seat)
    person.acts("harvest")
    panel.presses(person.seat)
    # Held, it ends the turn with nothing done.
    person = game.asked[0]
    assert panel.holds(person.seat) == person.seat
    assert game.log[-1].played == ()
    assert game.asked[0] != person


def test_a_press_does_not_confirm_what_can_not_be_confirmed() -> None:
    game = a_table(order="chosen")
    panel = with_a_panel(game)
    for press in (panel.presses, panel.holds):
        with refused("CANNOT_CONFIRM"):
            press(1)


def test_a_press_by_a_seat_that_is_not_asked_does_nothing() -> None:
    game = a_table(seats=3)
    panel = with_a_panel(game)
    for press in (panel.presses, panel.holds):
        with refused("NOT_ASKED"):
            press(2)
    panel.presses(1)
    game.does(commands.Concede(by=HOST, seat=2))
    for free in (False, True):
        if free:
            game.does(commands.LeaveSeat(by=HOST, seat=2))
        for press in (panel.presses, panel.holds):
            with refused("NOT_ASKED"):
                press(2)
        with refused("NOT_ASKED"):
            panel.chords(2, 1)


def test_a_seat_with_a_device_of_its_own_is_no_business_of_the_panels() -> None:
    game = a_table(points="on", passing="on")
    ann, _ = game.people
    panel = with_a_panel(game)
    game.host_sets_confirmation(1, Confirmation.DEVICE)
    ann.acts("score 5 for seat 1")
    for gesture in anything(panel)[:3]:
        with refused("NOT_ALLOWED"):
            gesture()
    ann.confirms()


def test_in_a_pause_no_button_of_a_seat_does_anything() -> None:
    game = a_table(between="on")
    ann, _ = game.people
    panel = with_a_panel(game)
    panel.presses_master()
    for gesture in (*anything(panel)[:3], panel.holds_master):
        with refused("PAUSED"):
            gesture()
    panel.presses_master()
    panel.presses(1)
    assert ann not in game.asked


# -- a seat that was left ------------------------------------------------------------------


def bob_is_gone() -> tuple[TableOfTest, PanelOfTest]:
    """A game of three in which Bob has staged something, and left."""
    game = a_table(seats=3, points="on")
    panel = with_a_panel(game)
    panel.presses(1)
    game.people[1].acts("score 2 for seat 2")
    game.people[1].leaves()
    return game, panel


def test_a_press_takes_a_seat_that_was_left_in_the_game() -> None:
    game, panel = bob_is_gone()
    assert panel.presses(2) == 2
    seat = game.table.seat(2)
    assert (seat.name, seat.token, seat.at_panel) == ("Blue", panel.token, True)
    assert game.log[-1].lines == ("Blue (panel 7) takes seat 2 (blue)",)
    assert game.table.turns == 1
    assert panel.seats == (1, 2, 3)
    # It goes on with what was staged there.
    assert panel.presses(2) == 2
    assert game.table.position.points == (0, 2, 0)


def test_a_press_that_was_meant_for_a_turn_takes_no_seat() -> None:
    game, panel = bob_is_gone()
    left = game.table.revision
    for seen in range(1, left):
        with refused("STALE_REVISION"):
            panel.presses(2, at=seen)
    with refused("STALE_REVISION"):
        panel.presses(2, at=left + 1)
    # Other people's turns are no reason to press again.
    game.does(commands.LeaveSeat(by=HOST, seat=3))
    assert panel.presses(2, at=left) == 2
    # Nor does the press by which somebody sat down end a turn.
    for seen in (left, game.table.revision - 1):
        with refused("STALE_REVISION", asked_at=game.table.revision):
            panel.presses(2, at=seen)


def test_only_a_press_of_its_own_button_takes_a_seat_in_the_game() -> None:
    game, panel = bob_is_gone()
    with refused("NOT_ASKED"):
        panel.holds(2)
    with refused("NOT_ASKED"):
        panel.chords(2, 1)
    other = game.host_puts_panel(8, seats=(0,))
    with refused("NOT_ASKED"):
        other.presses(1)
    game.host_pauses()
    with refused("PAUSED"):
        panel.presses(2)
    game.host_resumes()
    panel.presses(2)


# -- which button it was -------------------------------------------------------------------


def every_gesture(panel: PanelOfTest, at: int) -> list[Callable[[], int]]:
    """Every gesture, with the revision that the panel showed."""
    return [
        lambda: panel.presses(1, at=at),
        lambda: panel.holds(1, at=at),
        lambda: panel.chords(1, 2, at=at),
        lambda: panel.presses_master(at=at),
        lambda: panel.holds_master(at=at),
    ]


@pytest.mark.case("H8")
def test_a_press_does_not_count_for_a_seat_that_the_button_got_later() -> None:
    game = a_table(seats=3, between="on", points="on")
    panel = game.host_puts_panel(seats=(2, 1, 3))
    for button in (2, 1, 3):
        panel.presses(button)
    # All are asked at once, and the panel is set up anew with somebody's finger on a button.
    seen = game.table.revision
    anew = game.host_puts_panel(seats=(1, 2, 3))
    before = game.table
    for gesture in every_gesture(panel, seen):
        with refused("STALE_REVISION", asked_at=seen + 1):
            gesture()
    assert game.table is before
    assert anew.presses(1, at=seen + 1) == 1


@pytest.mark.parametrize("seats", [(0, 2, 3), (2, 1, 3), (3,)])
def test_nor_for_no_seat(seats: tuple[int, ...]) -> None:
    game = a_table(seats=3)
    panel = with_a_panel(game)
    seen = game.table.revision
    game.host_puts_panel(seats=seats)
    with refused("STALE_REVISION", asked_at=seen + 1):
        panel.presses(1, at=seen)


def test_a_panel_that_was_away_meanwhile_is_set_up_anew_too() -> None:
    game = a_table()
    panel = with_a_panel(game)
    seen = game.table.revision
    game.does(commands.DetachPanel(by=HOST, uid=panel.uid))
    with_a_panel(game)
    with refused("STALE_REVISION", asked_at=seen + 2):
        panel.presses(1, at=seen)
    panel.presses(1)


def test_another_token_and_another_panel_change_no_button() -> None:
    game = a_table(seats=3)
    game.host_puts_panel(seats=(1, 2))
    seen = game.table.revision
    anew = game.host_puts_panel(seats=(1, 2), token="another one")
    game.host_puts_panel(8, seats=(3,))
    assert anew.presses(1, at=seen) == 1


def test_in_the_lobby_a_press_counts_for_the_button_that_was_seen() -> None:
    game, panel = a_lobby(seats=3)
    panel.presses(1)
    seen = game.table.revision
    game.host_puts_panel(seats=(0, 1, 0))
    for press in (panel.presses, panel.holds):
        for button in (1, 2, 3):
            with refused("STALE_REVISION", asked_at=seen + 1):
                press(button, at=seen)
    assert panel.presses(1) == 2


@pytest.mark.case("S15")
def test_in_the_lobby_a_press_is_not_for_whoever_sits_there_later() -> None:
    game, panel = a_lobby(seats=3)
    panel.presses(1)
    panel.presses(2)
    seen = game.table.revision
    # Red leaves, and somebody else presses the button of red, or another one.
    for button in (1, 3):
        game.does(commands.LeaveSeat(by=HOST, seat=1))
        left = game.table.revision
        for press in (panel.presses, panel.holds):
            with refused("STALE_REVISION", asked_at=left):
                press(1, at=seen)
        assert panel.presses(button, at=left) == 1
        for press in (panel.presses, panel.holds):
            with refused("STALE_REVISION", asked_at=left + (button == 1)):
                press(1, at=left - 1)
    # Blue has been there all the time.
    assert panel.holds(2, at=seen) == 2


@pytest.mark.case("S15")
def test_nor_for_a_seat_of_the_hosts_that_was_left() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    panel = game.host_puts_panel(seats=(1, 2, 3))
    ann, bob = game.people_by_name[:2]
    ann.takes_seat()
    bob.takes_seat()
    seen = game.table.revision
    ann.leaves()
    left = game.table.revision
    for press in (panel.presses, panel.holds):
        with refused("STALE_REVISION", asked_at=left):
            press(1, at=seen)
    ann.takes_seat()
    for at in (seen, left):
        with refused("STALE_REVISION", asked_at=left + 1):
            panel.holds(1, at=at)
    assert panel.presses(3, at=seen) == 3  # nobody has touched this one
    assert panel.holds(1) == 1


def test_a_panel_of_an_earlier_version_is_read() -> None:
    game, panel = a_lobby(seats=2)
    panel.presses(1)
    name, _, body = encode(game.table).partition(b"\0")
    whole = msgspec.msgpack.decode(body)
    at = game.table.__struct_fields__.index("panels")
    whole[at] = [fields[:3] for fields in whole[at]]
    del whole[0][game.table.making.__struct_fields__.index("left_out") :]
    del whole[game.table.__struct_fields__.index("drop_turn") :]
    game.table = decode(name + b"\0" + msgspec.msgpack.encode(whole))
    assert (panel.there.since, panel.there.moved_at) == (0, ())
    assert panel.presses(2) == 2
    game.does(commands.LeaveSeat(by=HOST, seat=2))
    assert panel.seats == (1, 0)
    panel.presses(2)
    panel.holds(1)
    assert panel.presses(1) == 1


# -- which question a press was meant for --------------------------------------------------


@pytest.mark.case("H8")
def test_a_press_for_the_question_before_is_stale() -> None:
    game = a_table(passing="on")
    _, bob = game.people
    panel = with_a_panel(game)
    seen = game.table.revision
    panel.presses(1, at=seen)
    for press in (panel.presses, panel.holds):
        with refused("STALE_REVISION"):
            press(1, at=seen)
    bob.confirms()
    # It is seat 1's turn again, and the press comes once more, late.
    for press in (panel.presses, panel.holds):
        with refused("STALE_REVISION"):
            press(1, at=seen)
    with refused("STALE_REVISION"):
        panel.presses(1, at=game.table.revision + 1)
    panel.presses(1)


def test_a_press_counts_for_what_was_staged_when_it_was_made() -> None:
    game = a_table(points="on")
    ann, _ = game.people
    panel = with_a_panel(game)
    seen = game.table.revision
    ann.acts("score 5 for seat 1")
    with refused("STALE_REVISION"):
        panel.presses(1, at=seen)
    panel.presses(1)


@pytest.mark.case("S1")
def test_two_ready_presses_at_the_same_moment_both_count() -> None:
    game = a_table(seats=3, together="before")
    panel = with_a_panel(game)
    seen = game.table.revision
    assert panel.presses(2, at=seen) == 2
    assert panel.presses(1, at=seen) == 1
    assert game.asked_seats == (3,)
    with refused("STALE_REVISION"):
        panel.presses(2, at=seen)
    panel.presses(3, at=seen)
    # All have been ready: it is seat 1's turn, and no press from before ends it.
    for button in (1, 2, 3):
        with refused("NOT_ASKED" if button == 2 else "STALE_REVISION"):
            panel.presses(button, at=game.table.revision - 1)


def test_a_pause_that_was_meant_before_is_stale() -> None:
    game = a_table()
    panel = with_a_panel(game)
    seen = game.table.revision
    game.people[0].confirms()
    panel.presses_master(at=seen)  # whoever's turn it is: it means a pause
    assert game.log[-1].kind is ChangeKind.PAUSE
    with refused("STALE_REVISION"):
        panel.presses_master(at=seen)
    panel.presses_master()
    assert not game.table.paused
    assert game.log[-1].lines == ("panel 7 lets the game go on",)


def test_a_master_press_from_the_lobby_does_not_pause_the_game() -> None:
    game, panel = a_lobby(seats=2)
    panel.presses(1)
    panel.presses(2)
    seen = game.table.revision
    panel.holds(1)
    with refused("STALE_REVISION"):
        panel.presses_master(at=seen)


# -- a long press --------------------------------------------------------------------------


def test_a_long_press_passes_the_round_where_the_game_has_that() -> None:
    game = a_table(seats=2, passing="on", points="on")
    ann, bob = game.people
    panel = with_a_panel(game)
    panel.holds(1)
    assert game.log[-1].played == (PassRound(),)
    assert game.table.position.passed == (1,)
    # With something staged it ends the turn.
    bob.acts("score 2 for seat 2")
    panel.holds(2)
    assert game.table.position.passed == (1,)
    assert game.table.position.points == (0, 2)
    assert game.asked == [bob]
    panel.holds(2)
    assert game.asked == [ann]  # all have passed


def test_a_long_press_ends_the_turn_where_there_is_no_passing() -> None:
    game = a_table()
    panel = with_a_panel(game)
    panel.holds(1)
    assert game.log[-1].played == ()
    assert game.asked_seats == (2,)


# -- a chord -------------------------------------------------------------------------------


def test_a_chord_undoes_one_step_and_then_takes_the_last_turn_back() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    panel = with_a_panel(game)
    ann.acts("score 1 for seat 1", confirm=True)
    bob.acts("score 2 for seat 2", "score 3 for seat 2")
    for left in (1, 0):
        seen = game.table.revision
        assert panel.chords(2, 1) == 2
        assert len(bob.staged) == left
        with refused("STALE_REVISION"):
            panel.chords(2, 1, at=seen)
    assert panel.chords(1, 2) == 1
    assert game.log[-1].kind is ChangeKind.TAKEBACK
    assert game.log[-1].lines == ("Ann (red) takes turn 1 back",)
    assert game.asked == [ann]
    with refused("NOTHING_TO_TAKE_BACK"):
        panel.chords(1, 2)


def test_a_takeback_by_a_chord_is_meant_for_the_turn_that_was_seen() -> None:
    game = a_table(seats=3)
    panel = with_a_panel(game)
    panel.presses(1)
    seen = game.table.revision
    panel.presses(2)
    with refused("STALE_REVISION"):
        panel.chords(1, 2, at=seen)
    assert game.table.turns == 2


def test_a_chord_agrees_to_a_takeback_where_all_must() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, _, cleo = game.people
    panel = with_a_panel(game)
    panel.presses(1)
    panel.chords(1, 3)
    assert game.table.takeback_asked == (1,)
    assert game.log[-1].kind is ChangeKind.ASK_TAKEBACK
    assert game.does(panel.command(1, Gesture.CHORD, 3)) is None
    cleo.asks_to_take_back()
    panel.chords(2, 1)
    assert game.asked == [ann]


def test_where_nothing_is_taken_back_a_chord_only_undoes() -> None:
    game = a_table(takeback=Takeback.NEVER, points="on")
    panel = with_a_panel(game)
    panel.presses(1)
    with refused("NOT_ALLOWED"):
        panel.chords(1, 2)
    game.people[1].acts("score 3 for seat 2")
    panel.chords(2, 1)
    assert game.people[1].staged == ()


# -- the master button ---------------------------------------------------------------------


def test_a_long_master_press_begins_the_next_round_between_rounds_only() -> None:
    game = a_table(between="on", points="on")
    ann, bob = game.people
    panel = with_a_panel(game)
    with refused("CANNOT_CONFIRM"):
        panel.holds_master()
    panel.presses(1)
    panel.presses(2)
    before = game.table.revision - 1
    ann.acts("score 5 for seat 1")
    with refused("STALE_REVISION"):
        panel.holds_master(at=before)
    assert panel.holds_master() == 2  # Ann has something to book
    assert game.table.position.round == 2
    assert game.asked == [ann]
    with refused("STALE_REVISION"):
        panel.holds_master(at=before + 1)
    assert game.table.position.points == (0, 0)
    bob.leaves()


def test_a_round_is_begun_for_a_seat_that_is_asked_what_the_panel_showed() -> None:
    game = a_table(between="on", points="on")
    ann, _ = game.people
    panel = with_a_panel(game)
    panel.presses(1)
    panel.presses(2)
    seen = game.table.revision
    ann.acts("score 5 for seat 1", confirm=True)  # and is asked anew
    assert panel.holds_master(at=seen) == 2

    panel.presses(1)
    panel.presses(2)
    alone = game.host_puts_panel(panel.uid, seats=(1,))
    seen = game.table.revision
    ann.acts("score 5 for seat 1", confirm=True)
    with refused("STALE_REVISION"):
        alone.holds_master(at=seen)
    assert alone.holds_master() == 1


def test_points_that_are_staged_are_booked_before_the_next_round() -> None:
    game = a_table(between="on", points="on")
    panel = with_a_panel(game)
    panel.presses(1)
    panel.presses(2)
    for person in game.people:
        person.acts("score 5 for seat 1")
    with refused("CANNOT_CONFIRM"):
        panel.holds_master()
    panel.presses(1)
    assert panel.holds_master() == 1
    assert game.table.position.points == (5, 0)


def test_a_panel_without_a_seat_that_may_confirm_begins_no_round() -> None:
    game = a_table(between="on")
    ann, bob = game.people
    panel = game.host_puts_panel(seats=(1, 0))
    game.host_sets_confirmation(1, Confirmation.DEVICE)
    ann.confirms()
    bob.confirms()
    with refused("CANNOT_CONFIRM"):
        panel.holds_master()


# -- a bot's button ------------------------------------------------------------------------


def test_a_bots_button_confirms_what_the_bot_has_staged() -> None:
    game = eastern_wonders(taken=False)
    for _ in range(2):
        game.host_seats_bot(confirmation=Confirmation.PANEL)
    panel = with_a_panel(game)
    (seat,) = game.asked_seats
    for press in (panel.presses, panel.holds):
        with refused("CANNOT_CONFIRM"):  # it still has to decide
            press(seat)
    pile = views.question(game.table, seat)[1][0].piles[0].letters
    BotOfTest(game, seat).plays(f"take pile {pile}", "place boat C3", confirm=False)
    with refused("NOT_ALLOWED"):
        panel.chords(seat, 3 - seat)
    assert panel.presses(seat) == seat
    assert game.log[-1].bot
    assert game.asked_seats == (3 - seat,)


def test_a_bots_button_ends_its_turn_where_that_is_all() -> None:
    game = a_table(taken=False, passing="on")
    for _ in range(2):
        game.host_seats_bot(confirmation=Confirmation.PANEL)
    panel = with_a_panel(game)
    for press in (panel.presses, panel.holds):
        with refused("CANNOT_CONFIRM", says="still has to decide"):
            press(1)
    BotOfTest(game, 1).waits()
    panel.presses(1)
    BotOfTest(game, 2).waits()
    panel.holds(2)
    assert game.table.turns == 2
    assert game.log[-1].played == ()  # nobody passes for a bot


def test_an_empty_turn_of_a_bot_ends_by_holding_where_that_skips_something() -> None:
    game = eastern_wonders(taken=False)
    for _ in range(2):
        game.host_seats_bot(confirmation=Confirmation.PANEL)
    panel = with_a_panel(game)
    for _ in range(2):
        (seat,) = game.asked_seats
        pile = views.question(game.table, seat)[1][0].piles[0].letters
        BotOfTest(game, seat).plays(f"take pile {pile}", "place boat C3", confirm=False)
        panel.presses(seat)
    (seat,) = game.asked_seats
    for press in (panel.presses, panel.holds):
        with refused("CANNOT_CONFIRM", says="still has to decide"):
            press(seat)
    BotOfTest(game, seat).waits()
    with refused("CANNOT_CONFIRM"):
        panel.presses(seat)
    panel.holds(seat)
    assert game.log[-1].played == ()


def test_a_bot_that_confirms_by_itself_is_not_hurried() -> None:
    game = a_table(taken=False)
    bot = game.host_seats_bot()
    game.people_by_name[1].takes_seat()
    panel = with_a_panel(game)
    for press in (panel.presses, panel.holds):
        with refused("CANNOT_CONFIRM"):
            press(1)
    bot.plays()
    assert panel.presses(2) == 2


# -- after the end -------------------------------------------------------------------------


def test_after_the_end_a_long_press_asks_for_a_rematch() -> None:
    game = a_table(seats=2)
    panel = with_a_panel(game)
    with refused("GAME_RUNNING"):
        rematch_press(game.table, panel.command(2, Gesture.LONG))
    seen = game.table.revision
    game.people[0].acts("finish game", confirm=True)
    for gesture in anything(panel):
        with refused("GAME_OVER"):
            gesture()
    assert rematch_press(game.table, panel.command(2, Gesture.LONG)) == 2
    with refused("GAME_OVER"):
        rematch_press(game.table, panel.command(2, Gesture.PRESS))
    with refused("GAME_OVER"):
        rematch_press(game.table, panel.command(0, Gesture.MASTER))
    # Who wanted to pass when the game ended wants no rematch.
    with refused("STALE_REVISION"):
        rematch_press(game.table, panel.command(2, Gesture.LONG, at=seen))
    with refused("BAD_FIELD", field="button"):
        rematch_press(game.table, panel.command(3, Gesture.LONG))
    with refused("BAD_TOKEN"):
        rematch_press(game.table, replace(panel.command(2, Gesture.LONG), by=STRANGER))


def test_before_the_start_there_is_no_rematch() -> None:
    game, panel = a_lobby()
    with refused("NOT_STARTED"):
        rematch_press(game.table, panel.command(1, Gesture.LONG))


def test_a_press_is_decided_on_the_position_that_was_kept() -> None:
    game = a_table(points="on")
    panel = with_a_panel(game)
    change = game.does(
        commands.Act(
            by=game.people[0].by,
            expected_revision=game.table.revision,
            actions=(action("score 5 for seat 1"),),
        )
    )
    assert change is not None
    press = panel.command(1, Gesture.PRESS)
    kept = decide(game.table, press, game.clock, None, {1: change.position})
    assert kept == decide(game.table, press, game.clock)
