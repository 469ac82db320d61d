"""From contacts to gestures, in virtual time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_bridge.protocol import NO_BUTTON, Flags, Kind, ResetCause, Result, State
from tableturn_bridge.virtual.contacts import Contact

from .play import Bench, all_armed, red_to_move


def kinds(bench: Bench) -> list[tuple[str, int, int]]:
    return [(Kind(one.kind).name, one.button, one.second) for one in bench.events()]


def playing(picture: State = red_to_move) -> Bench:
    bench = Bench()
    bench.plays(picture)
    bench.messages()
    return bench


# ---------------------------------------------------------------- bounces


def test_80_bounces_on_both_edges_are_one_press() -> None:
    bench = playing()
    bench.bounce(0, True)
    bench.wait(60)
    bench.bounce(0, False)
    bench.wait(100)
    assert kinds(bench) == [("PRESS", 0, NO_BUTTON)]


def test_a_press_is_read_after_8_ms_and_no_earlier() -> None:
    bench = playing()
    start = bench.now
    bench.down(0)
    bench.wait(50)
    bench.up(0)
    bench.wait(7)
    assert bench.events() == []
    bench.wait(1)
    (event,) = bench.events()
    assert event.age == 50
    assert bench.now == start + 58


@pytest.mark.parametrize("ms", [1, 4, 7])
def test_a_contact_that_closes_for_less_is_no_press(ms: int) -> None:
    bench = playing()
    bench.press(0, ms)
    bench.wait(100)
    assert bench.events() == []
    assert bench.fates() == []


@given(st.lists(st.integers(1, 7), max_size=60))
def test_no_bounces_below_8_ms_ever_make_a_second_press(lengths: list[int]) -> None:
    """Whatever a contact does before it is at rest, closed: it is pressed once."""
    contact = Contact(False, 0)
    now, closed, presses = 0, False, 0
    for length in [*lengths, 20]:
        closed = not closed or length == 20
        contact.set(closed, now)
        for _ in range(length):
            now += 1
            presses += contact.read(now) and contact.pressed
    assert contact.pressed
    # It may be read as pressed, and after long enough as released; never faster than 8 ms each.
    assert 1 <= presses <= 1 + now // 16


# ---------------------------------------------------------------- gestures


@pytest.mark.parametrize(
    ("ms", "kind"), [(60, "PRESS"), (799, "PRESS"), (800, "LONG"), (3000, "LONG")]
)
def test_a_long_press_begins_at_800_ms(ms: int, kind: str) -> None:
    bench = playing()
    bench.down(0)
    bench.quietly(ms)
    assert bench.events() == []  # decided when it is let go
    bench.up(0)
    bench.wait(8)
    assert kinds(bench) == [(kind, 0, NO_BUTTON)]


def test_two_ready_presses_at_the_same_moment_are_no_chord() -> None:
    bench = playing(all_armed)
    bench.down(0)
    bench.down(1)
    bench.wait(60)
    bench.up(0)
    bench.up(1)
    bench.wait(8)
    assert kinds(bench) == [("PRESS", 0, NO_BUTTON), ("PRESS", 1, NO_BUTTON)]


def test_two_buttons_held_from_the_same_moment_are_two_long_presses() -> None:
    bench = playing(all_armed)
    bench.down(0)
    bench.down(1)
    bench.quietly(1000, all_armed)
    bench.up(1)
    bench.up(0)
    bench.wait(8)
    assert kinds(bench) == [("LONG", 0, NO_BUTTON), ("LONG", 1, NO_BUTTON)]


@pytest.mark.parametrize("let_go_first", [2, 1])
def test_a_second_button_on_a_held_one_is_one_chord(let_go_first: int) -> None:
    bench = playing(all_armed)
    bench.down(2)
    bench.wait(900)
    bench.down(1)
    bench.wait(100)
    bench.up(let_go_first)
    bench.wait(50)
    bench.up(3 - let_go_first)
    bench.wait(50)
    assert kinds(bench) == [("CHORD", 2, 1)]


def test_a_second_button_before_800_ms_is_no_chord() -> None:
    bench = playing(all_armed)
    bench.down(2)
    bench.wait(799)
    bench.down(1)
    bench.wait(60)
    bench.up(1)
    bench.up(2)
    bench.wait(8)
    assert kinds(bench) == [("PRESS", 1, NO_BUTTON), ("LONG", 2, NO_BUTTON)]


@pytest.mark.parametrize("let_go_first", [2, 1])
def test_while_seats_are_taken_two_buttons_are_two_people(let_go_first: int) -> None:
    """One holds to begin, another one sits down: neither is lost in the other's gesture."""
    bench = playing(replace(all_armed, flags=int(Flags.SEATING)))
    bench.down(2)
    bench.wait(900)
    bench.down(1)
    bench.wait(100)
    assert bench.signs()[1:3] == ("NEXT", "HELD_LONG")
    bench.up(let_go_first)
    bench.wait(50)
    bench.up(3 - let_go_first)
    bench.wait(8)
    assert sorted(kinds(bench)) == [("LONG", 2, NO_BUTTON), ("PRESS", 1, NO_BUTTON)]


def test_a_chord_that_has_nothing_to_say_flashes_on_both_its_buttons() -> None:
    bench = playing(all_armed)
    bench.down(0)
    bench.wait(900)
    bench.wait(1600)  # the link is lost, and with it what the hold was meant for
    assert bench.sign(0) == "LINK_LOST"
    bench.shows(all_armed)
    bench.down(1)
    bench.wait(100)
    bench.up(1)
    bench.wait(8)
    assert bench.signs()[:3] == ("NOT_ARMED", "NOT_ARMED", "OFF")
    assert bench.events() == []
    assert bench.fates() == ["NOT_ARMED"]


def test_a_third_button_during_a_chord_speaks_for_itself() -> None:
    bench = playing(all_armed)
    bench.down(0)
    bench.wait(900)
    bench.down(1)
    bench.wait(50)
    bench.press(2)
    bench.up(0)
    bench.up(1)
    bench.wait(8)
    assert kinds(bench) == [("PRESS", 2, NO_BUTTON), ("CHORD", 0, 1)]


@pytest.mark.parametrize(("ms", "kind"), [(60, "MASTER"), (900, "MASTER_LONG")])
def test_the_button_without_a_seat_needs_not_be_armed(ms: int, kind: str) -> None:
    bench = playing(replace(red_to_move, armed=0))
    bench.press(NO_BUTTON, ms)
    assert kinds(bench) == [(kind, NO_BUTTON, NO_BUTTON)]


def test_the_lamp_tells_what_a_held_button_has_become() -> None:
    bench = playing(all_armed)
    bench.down(0)
    bench.wait(700)
    assert bench.sign(0) == "TURN"
    bench.wait(108)
    assert bench.sign(0) == "HELD_LONG"
    bench.down(1)
    bench.wait(8)
    assert bench.signs()[:3] == ("HELD_CHORD", "HELD_CHORD", "OFF")
    bench.up(0)
    bench.wait(8)
    assert bench.signs()[:3] == ("PENDING", "PENDING", "OFF")
    bench.up(1)
    bench.wait(8)
    (event,) = bench.events()
    bench.ack(event.number, Result.REJECTED)
    assert bench.signs()[:3] == ("REFUSED", "REFUSED", "OFF")


# ---------------------------------------------------------------- armed


def test_a_press_of_a_button_that_is_not_asked_is_one_flash_and_no_event() -> None:
    bench = playing()
    bench.press(1)
    assert bench.events() == []
    assert bench.sign(1) == "NOT_ARMED"
    assert bench.fates() == ["NOT_ARMED"]
    assert bench.watch(1, 1) == "##.............."
    assert bench.sign(1) == "NEXT"


def test_a_press_that_began_before_its_button_was_armed_is_not_sent() -> None:
    """It was meant for something else: the picture changed under the finger."""
    bench = playing()
    bench.down(1)
    bench.wait(30)
    bench.shows(replace(all_armed, revision=58))
    bench.wait(30)
    bench.up(1)
    bench.wait(8)
    assert bench.events() == []
    bench.press(1)
    assert [one.revision for one in bench.events()] == [58]


@pytest.mark.parametrize("ms", [60, 900])
def test_a_press_whose_button_is_no_longer_armed_when_it_is_let_go_is_not_sent(ms: int) -> None:
    """Somebody else was faster: the press would be for what has passed."""
    bench = playing()
    bench.down(0)
    bench.wait(ms - 30)
    bench.shows(replace(red_to_move, revision=58, armed=0b0010))
    bench.wait(30)
    bench.up(0)
    bench.wait(8)
    assert bench.events() == []
    assert bench.fates() == ["NOT_ARMED"]
    assert bench.sign(0) == "NOT_ARMED"


@pytest.mark.case("H8")
def test_a_press_carries_what_was_shown_when_it_began() -> None:
    bench = playing()
    bench.down(0)
    bench.wait(30)
    bench.shows(replace(red_to_move, revision=58, tag=0x9999))
    bench.wait(30)
    bench.up(0)
    bench.wait(8)
    (event,) = bench.events()
    assert (event.tag, event.revision) == (0x1234, 57)


@pytest.mark.parametrize("button", [4, 6, 254, -1])
def test_a_button_that_the_panel_has_not(button: int) -> None:
    with pytest.raises(ValueError, match="has no button"):
        Bench().board.edge(button, True, 0)


def test_a_button_that_is_held_over_a_reset_says_nothing() -> None:
    bench = playing()
    bench.down(0)
    bench.wait(200)
    bench.start(ResetCause.BROWN_OUT)
    bench.plays()
    bench.messages()
    bench.up(0)
    bench.wait(100)
    assert bench.events() == []
    assert bench.fates() == []
    bench.press(0)
    assert len(bench.events()) == 1
