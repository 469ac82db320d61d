"""Contacts and gestures, on the model and on the firmware: what a finger does, and what counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tableturn_bridge.protocol import NO_BUTTON, Event, Flags, Kind, ResetCause, Result

from .bench import SESSION, Bench, all_armed, red_to_move
from .benches import FirmwareBench, the_firmware

# ---------------------------------------------------------------- contacts


def test_80_bounces_on_both_edges_are_one_event(bench: Bench) -> None:
    bench.plays()
    for press in range(5):
        bench.messages()
        pressed = bench.now
        bench.bounce(0, True)
        bench.wait(90)
        bench.bounce(0, False)
        rests = bench.now
        bench.quietly(100)
        (time,) = bench.event_times()
        # While it bounces it is closed for as long as open: at rest it counts at the latest.
        assert rests <= time <= rests + 8 + bench.slack
        (event,) = bench.events()
        assert (event.number, event.button, event.kind) == (press + 1, 0, Kind.PRESS)
        assert abs(event.age - (time - pressed)) <= 32 + 8 + bench.slack
        bench.ack(event.number, Result.ACCEPTED)
        bench.wait(50)


@pytest.mark.parametrize("every", [0.13, 0.9, 1.0, 1.7, 3.1])
def test_bounces_of_any_speed_are_one_event(bench: Bench, every: float) -> None:
    bench.plays()
    bench.bounce(0, True, 40, every)
    bench.wait(100)
    bench.bounce(0, False, 40, every)
    bench.quietly(100)
    assert [(event.number, event.kind) for event in bench.events()] == [(1, Kind.PRESS)]


def test_a_contact_that_is_closed_for_less_than_8_ms_is_no_press(bench: Bench) -> None:
    bench.plays()
    for _ in range(50):
        bench.down(0)
        bench.wait(6.5)
        bench.up(0)
        bench.wait(9)
    bench.quietly(1000)
    assert bench.events() == []
    bench.down(0)
    bench.wait(9.5)
    bench.up(0)
    bench.wait(20)
    assert len(bench.events()) == 1


def test_a_gap_of_less_than_8_ms_is_no_release(bench: Bench) -> None:
    bench.plays()
    bench.down(0)
    bench.wait(100)
    for _ in range(20):
        bench.up(0)
        bench.wait(6.5)
        bench.down(0)
        bench.wait(20)
    assert bench.events() == []
    bench.up(0)
    bench.wait(20)
    (event,) = bench.events()
    assert event.age >= 600


def test_a_press_counts_8_ms_after_its_last_bounce(bench: Bench) -> None:
    """The event is on the line at once: debounce and the frame's own time, and nothing else."""
    bench.plays()
    for length in (60, 61, 62.5, 63.3, 70.9):
        counts = bench.press(0, length)
        (time,) = bench.event_times()
        assert bench.are([time], [counts])
        (event,) = bench.events()
        assert abs(event.age - length) <= 1.5
        bench.ack(event.number, Result.ACCEPTED)
        bench.wait(100)


def test_a_button_that_is_closed_at_the_start_makes_no_gesture(bench: Bench) -> None:
    bench.down(0)
    bench.reset(ResetCause.BROWN_OUT)
    bench.wait(30)
    bench.plays()
    bench.wait(300)
    bench.up(0)
    bench.quietly(1000)
    assert bench.events() == []
    bench.press(0)
    assert len(bench.events()) == 1


def test_all_buttons_of_a_panel_are_told_apart(bench: Bench) -> None:
    bench.plays(all_armed)
    for number, button in enumerate((0, 1, 2, 3, NO_BUTTON), start=1):
        bench.press(button)
        (event,) = bench.events()
        assert (event.number, event.button, event.second) == (number, button, NO_BUTTON)
        assert event.kind == (Kind.MASTER if button == NO_BUTTON else Kind.PRESS)
        bench.ack(number, Result.ACCEPTED)
        bench.wait(50)


# ---------------------------------------------------------------- gestures


@pytest.mark.parametrize(
    ("length", "kind", "master"),
    [(785, Kind.PRESS, Kind.MASTER), (815, Kind.LONG, Kind.MASTER_LONG)],
)
def test_from_800_ms_on_it_is_a_long_press(
    bench: Bench, length: float, kind: Kind, master: Kind
) -> None:
    bench.plays()
    for number, (button, expected) in enumerate(((0, kind), (NO_BUTTON, master)), start=1):
        bench.down(button)
        bench.quietly(length)
        assert bench.events() == []  # all is decided when it is let go
        bench.up(button)
        bench.wait(20)
        (event,) = bench.events()
        assert (event.number, event.kind, event.button) == (number, expected, button)
        assert abs(event.age - length) <= 1.5
        bench.ack(number, Result.ACCEPTED)
        bench.quietly(200)


def test_a_press_tells_what_was_shown_when_it_began(bench: Bench) -> None:
    bench.plays()
    bench.down(0)
    bench.wait(30)
    bench.shows(replace(red_to_move, tag=0x4321, revision=58))
    bench.wait(30)
    bench.up(0)
    bench.wait(20)
    (event,) = bench.events()
    assert (event.tag, event.revision, event.session) == (0x1234, 57, SESSION)


@pytest.mark.parametrize(("before", "after"), [(0b0010, 0b0001), (0b0001, 0b0010), (0, 0)])
def test_a_press_counts_only_if_it_is_armed_at_both_its_ends(
    bench: Bench, before: int, after: int
) -> None:
    bench.plays(replace(red_to_move, armed=before))
    bench.down(0)
    bench.wait(40)
    bench.shows(replace(red_to_move, armed=after))
    bench.wait(40)
    bench.up(0)
    bench.wait(300)
    assert bench.events() == []
    assert bench.pinged().queue == 0


def test_chords_and_master_need_not_be_armed(bench: Bench) -> None:
    bench.plays(replace(red_to_move, armed=0))
    bench.down(2)
    bench.quietly(850)
    bench.down(1)
    bench.wait(50)
    bench.up(1)
    bench.wait(20)
    assert chord(bench) == (2, 1)
    bench.up(2)  # it says nothing more
    bench.wait(20)
    bench.press(NO_BUTTON)
    assert [event.kind for event in bench.events()] == [Kind.MASTER]


def chord(bench: Bench) -> tuple[int, int]:
    (event,) = bench.events()
    assert event.kind == Kind.CHORD
    return event.button, event.second


def test_a_chord_is_told_when_the_first_of_both_is_let_go(bench: Bench) -> None:
    bench.plays()
    bench.down(3)
    bench.quietly(820)
    bench.shows(replace(red_to_move, revision=99))
    bench.down(0)
    bench.wait(100)
    bench.up(3)
    bench.wait(20)
    ((_, event),) = bench.sent
    assert isinstance(event, Event)
    assert (event.revision, abs(event.age - 920) <= 2) == (57, True)
    assert chord(bench) == (3, 0)
    bench.up(0)  # it says nothing more
    bench.quietly(130)
    (again,) = bench.events()
    assert again == replace(event, age=again.age, tries=1)
    assert abs(again.age - event.age - 120) <= 1


def test_a_second_button_before_800_ms_makes_no_chord(bench: Bench) -> None:
    bench.plays(all_armed)
    bench.down(2)
    bench.wait(780)
    bench.down(1)
    bench.wait(100)
    bench.up(1)
    bench.wait(20)
    bench.up(2)
    bench.wait(20)
    told = [(event.button, event.kind) for event in bench.events() if event.tries == 0]
    assert told == [(1, Kind.PRESS), (2, Kind.LONG)]


def test_while_seats_are_taken_there_are_no_chords(bench: Bench) -> None:
    bench.plays(replace(all_armed, flags=int(Flags.SEATING)))
    bench.down(2)
    bench.quietly(900)
    bench.down(1)
    bench.wait(60)
    bench.up(1)
    bench.wait(20)
    bench.up(2)
    bench.wait(20)
    told = [(event.button, event.kind) for event in bench.events() if event.tries == 0]
    assert told == [(1, Kind.PRESS), (2, Kind.LONG)]


def test_a_third_button_speaks_for_itself(bench: Bench) -> None:
    bench.plays(all_armed)
    bench.down(2)
    bench.quietly(850)
    bench.down(1)
    bench.wait(50)
    bench.press(3)
    assert [(event.button, event.kind) for event in bench.events()] == [(3, Kind.PRESS)]
    bench.up(2)
    bench.wait(20)
    told = [event for event in bench.events() if event.button != 3]
    assert [(event.button, event.second, event.kind) for event in told] == [(2, 1, Kind.CHORD)]


def test_two_at_the_same_moment_are_two_presses(bench: Bench) -> None:
    bench.plays(all_armed)
    bench.down(0)
    bench.down(1)
    bench.wait(80)
    bench.up(1)
    bench.up(0)
    bench.wait(20)
    assert {(event.button, event.kind) for event in bench.events()} == {
        (0, Kind.PRESS),
        (1, Kind.PRESS),
    }


@pytest.mark.parametrize("buttons", [2, 3, 5, 6])
def test_a_panel_of_any_size_has_its_buttons_and_no_others(buttons: int) -> None:
    with the_firmware(buttons) as bench:
        bench.plays(all_armed)
        for button in range(6):
            bench.press(button)
            told = [event.button for event in bench.events() if event.tries == 0]
            assert told == ([button] if button < buttons else [])
            bench.ack(button + 1, Result.ACCEPTED)
            bench.wait(50)
        assert bench.pinged().queue == 0


def test_whoever_writes_to_the_lamps_does_not_press_the_buttons(chip: FirmwareBench) -> None:
    """Lamps and buttons are pins of one chip: a held button stays so whatever lights up."""
    chip.plays(all_armed)
    chip.down(0)
    for brightness in (255, 3, 120, 0, 255):
        chip.quietly(150, replace(all_armed, brightness=brightness, lamps=(0x11,) * 6))
        chip.shows(replace(all_armed, brightness=brightness))
    assert chip.events() == []
    chip.up(0)
    chip.wait(20)
    assert [event.kind for event in chip.events()] == [Kind.PRESS]
