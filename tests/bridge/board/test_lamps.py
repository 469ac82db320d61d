"""What the lamps say, by their light alone: on the model and on the firmware's pins."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tableturn_bridge.patterns import (
    NO_ANSWER,
    NOT_ARMED,
    OWN,
    REFUSED,
    SHAPES,
    STALE,
    STEP,
    STEPS,
    Pattern,
    Shape,
)
from tableturn_bridge.patterns import lamp as lamp_byte
from tableturn_bridge.protocol import (
    NO_BUTTON,
    QUEUE,
    HelloRequest,
    ResetCause,
    Result,
    State,
    with_mark,
)

from .bench import Bench, all_armed, red_to_move
from .benches import FirmwareBench
from .light import alike, expected, patterns_of

CHOSEN = [pattern for pattern in Pattern if pattern < OWN]
HELD_CHORD = 0x3333


def showing(*patterns: Pattern, mark: int = 0, brightness: int = 255) -> State:
    """A picture with these patterns; all buttons are armed."""
    lamps = [lamp_byte(pattern, number) for number, pattern in enumerate(patterns, start=1)]
    lamps += [0] * (6 - len(lamps))
    return replace(all_armed, lamps=tuple(lamps), flags=with_mark(0, mark), brightness=brightness)


def of(button: int, steps: list[tuple[int, ...]]) -> list[int]:
    return [levels[button] for levels in steps]


def once(bench: Bench, button: int, runs: int = 1) -> list[int]:
    """How a lamp moves from now on, which is when a sign has begun."""
    seen = []
    bench.wait(STEP / 2)
    for _ in range(STEPS * runs):
        seen.append(bench.levels()[button])
        bench.quietly(STEP)
        assert bench.picture is not None
        bench.shows(bench.picture)
    return seen


def flickers(bench: Bench, button: int) -> bool:
    """A gesture of this button waits: its lamp is now lit, now dark, in each step from now on."""
    bench.wait(STEP * 3 / 2 - (bench.now - bench.started) % STEP)
    seen = []
    for _ in range(6):
        seen.append(bench.levels()[button])
        bench.wait(STEP)
    return all(one != other for one, other in pairwise(seen))


# ---------------------------------------------------------------- patterns


@pytest.mark.parametrize("first", range(0, len(CHOSEN), 4))
def test_every_pattern_is_known_by_its_light_alone(bench: Bench, first: int) -> None:
    patterns = CHOSEN[first : first + 4]
    bench.plays(showing(*patterns))
    steps = bench.steps()
    for button, pattern in enumerate(patterns):
        assert patterns_of(of(button, steps)) == {(pattern, False)}


@pytest.mark.parametrize("pattern", CHOSEN)
def test_the_start_players_mark_is_seen_on_each_pattern(bench: Bench, pattern: Pattern) -> None:
    bench.plays(showing(pattern, pattern, mark=2))
    steps = bench.steps()
    assert patterns_of(of(0, steps)) == {(pattern, False)}
    assert patterns_of(of(1, steps)) == {(pattern, True)}


@pytest.mark.parametrize("brightness", [255, 160, 96, 40, 24, 2])
def test_brightness_holds_for_full_dim_and_breathing_lamps(bench: Bench, brightness: int) -> None:
    patterns = (Pattern.TURN, Pattern.NEXT, Pattern.PAUSED, Pattern.BETWEEN)
    bench.plays(showing(*patterns, brightness=brightness))
    steps = bench.steps()
    for button, pattern in enumerate(patterns):
        wanted = expected(SHAPES[pattern], brightness)
        assert all(
            abs(one - other) <= 8 for one, other in zip(of(button, steps), wanted, strict=True)
        ), pattern
    # However dark the room is: what is lit can be seen.
    assert min(level for button in range(len(patterns)) for level in of(button, steps)) > 0


def test_breathing_swells_and_fades_in_many_steps(bench: Bench) -> None:
    bench.plays(showing(Pattern.PAUSED))
    levels = of(0, bench.steps())
    assert levels[:16] == sorted(levels[:16])
    assert levels[16:] == sorted(levels[16:], reverse=True)
    assert len(set(levels)) >= 12


def test_what_the_panel_says_by_itself_is_known_by_its_light(bench: Bench) -> None:
    bench.wait(300)
    steps = bench.steps(STEPS)
    assert patterns_of(of(0, steps)) == {(Pattern.LINK_LOST, False)}
    assert all(len(set(levels)) == 1 for levels in steps)  # all lamps say so, in step
    bench.tell(HelloRequest(2, 3, 5))
    steps = bench.steps(STEPS)
    assert patterns_of(of(0, steps)) == {(Pattern.VERSION, False)}
    assert all(len(set(levels)) == 1 for levels in steps)
    bench.plays()
    bench.press(0)
    assert patterns_of(of(0, bench.steps(STEPS))) == {(Pattern.PENDING, False)}


def test_all_lamps_are_tested_at_the_start(bench: Bench) -> None:
    bench.reset(ResetCause.WATCHDOG)
    bench.wait(5)
    bench.plays(showing(Pattern.OFF))
    assert set(bench.levels()) == {0}
    bench.reset(ResetCause.WATCHDOG)
    bench.wait(10)
    bench.greet()
    bench.shows(showing(Pattern.OFF))
    for at in range(10, 250, 20):
        bench.to(bench.started + at)
        assert set(bench.levels()) == {255}
    bench.to(bench.started + 256 + 10)
    assert set(bench.levels()) == {0}


def test_the_panel_takes_no_sign_of_its_own_from_the_host(bench: Bench) -> None:
    """A pattern that the host has no right to is shown as what it is called; nothing breaks."""
    bench.plays(showing(Pattern.PENDING, Pattern.VERSION, Pattern.LINK_LOST))
    steps = bench.steps()
    assert [patterns_of(of(button, steps)) for button in range(3)] == [
        {(Pattern.PENDING, False)},
        {(Pattern.VERSION, False)},
        {(Pattern.LINK_LOST, False)},
    ]


# ---------------------------------------------------------------- what a finger does


@pytest.mark.parametrize("pattern", [Pattern.TURN, Pattern.STAGED, Pattern.OFF, Pattern.NEXT])
def test_a_held_lamp_turns_into_its_opposite(bench: Bench, pattern: Pattern) -> None:
    bench.plays(showing(pattern, pattern))
    bench.down(0)
    bench.quietly(830)
    steps = bench.steps(STEPS)
    wanted = expected(Shape(SHAPES[pattern].steps ^ 0xFFFF), steps=STEPS)
    assert alike(of(0, steps), wanted)
    assert patterns_of(of(1, bench.steps())) == {(pattern, False)}
    bench.up(0)
    bench.wait(20)
    bench.ack(1, Result.ACCEPTED)
    bench.wait(10)
    assert patterns_of(of(0, bench.steps())) == {(pattern, False)}


def test_both_lamps_of_a_chord_tell_it(bench: Bench) -> None:
    bench.plays(showing(Pattern.TURN, Pattern.OFF, Pattern.NEXT))
    bench.down(2)
    bench.quietly(850)
    bench.down(0)
    bench.wait(20)
    steps = bench.steps(STEPS)
    wanted = expected(Shape(HELD_CHORD), steps=STEPS)
    assert alike(of(0, steps), wanted)
    assert alike(of(2, steps), wanted)
    assert set(of(1, steps)) == {0}


@pytest.mark.parametrize(("result", "shape"), [(Result.REJECTED, REFUSED), (Result.STALE, STALE)])
def test_a_refusal_flashes_once_and_at_once(bench: Bench, result: Result, shape: int) -> None:
    bench.plays(showing(Pattern.TURN, Pattern.OFF))
    for button in (0, 1):
        bench.press(button)
        bench.wait(150)
        bench.ack(button + 1, result)
        seen = once(bench, button, 2)
        assert alike(seen[:STEPS], expected(Shape(shape), steps=STEPS))
        assert set(seen[STEPS:]) == {255 if button == 0 else 0}


def test_a_button_that_is_not_asked_flashes_once(bench: Bench) -> None:
    bench.plays(replace(showing(Pattern.OFF, Pattern.TURN), armed=0b0010))
    bench.press(0)
    seen = once(bench, 0, 2)
    assert alike(seen[:STEPS], expected(Shape(NOT_ARMED), steps=STEPS))
    assert set(seen[STEPS:]) == {0}
    assert bench.events() == []


def test_no_flash_hides_the_turn_or_the_next_press(bench: Bench) -> None:
    waiting = replace(showing(Pattern.TURN, Pattern.OFF), armed=0)
    bench.plays(waiting)
    bench.press(0)
    bench.shows(replace(waiting, armed=0b0001))
    bench.wait(2 * STEP)
    assert bench.levels()[0] == 255  # the rest of the flash would be dark
    bench.press(0)
    assert flickers(bench, 0)
    bench.ack(1, Result.REJECTED)
    bench.wait(20)
    bench.press(0)
    assert flickers(bench, 0)


def test_a_press_that_finds_no_room_flashes_at_once(bench: Bench) -> None:
    bench.plays(showing(Pattern.OFF, Pattern.OFF, Pattern.OFF))
    for number in range(QUEUE):
        bench.press(number % 2)
    bench.press(2)
    assert alike(once(bench, 2), expected(Shape(REFUSED), steps=STEPS))
    bench.press(NO_BUTTON)
    assert bench.pinged().dropped == 2
    assert alike(once(bench, 3), expected(Shape(REFUSED), steps=STEPS))


def test_all_lamps_answer_for_the_master_button(bench: Bench) -> None:
    bench.plays(showing(Pattern.OFF, Pattern.OFF, Pattern.OFF, Pattern.OFF))
    bench.press(NO_BUTTON)
    steps = bench.steps(STEPS)
    for button in range(4):
        assert patterns_of(of(button, steps)) == {(Pattern.PENDING, False)}
    bench.ack(1, Result.REJECTED)
    bench.wait(STEP / 2)
    flashes = []
    for _ in range(STEPS):
        levels = bench.levels()
        assert len(set(levels)) == 1
        flashes.append(levels[0])
        bench.quietly(STEP)
    assert alike(flashes, expected(Shape(REFUSED), steps=STEPS))


def test_both_lamps_of_a_chord_tell_what_became_of_it(bench: Bench) -> None:
    bench.plays(showing(Pattern.OFF, Pattern.OFF, Pattern.OFF))
    bench.down(2)
    bench.quietly(850)
    bench.down(0)
    bench.wait(50)
    bench.up(2)
    bench.wait(40)
    bench.up(0)
    bench.wait(20)
    steps = bench.steps(STEPS)
    assert patterns_of(of(0, steps)) == patterns_of(of(2, steps)) == {(Pattern.PENDING, False)}
    bench.ack(1, Result.STALE)
    assert alike(once(bench, 0), expected(Shape(STALE), steps=STEPS))
    assert set(bench.levels()) == {0}


def test_without_an_answer_the_lamp_says_so_after_3_seconds(bench: Bench) -> None:
    bench.plays(showing(Pattern.OFF))
    released = bench.press(0)
    bench.quietly(released + 3000 - bench.now + 10)
    steps = bench.steps(STEPS)
    assert alike(of(0, steps), expected(Shape(NO_ANSWER), steps=STEPS))
    bench.ack(1, Result.ACCEPTED)
    bench.wait(20)
    assert bench.levels()[0] == 0


# ---------------------------------------------------------------- the pins


def test_a_lamp_at_rest_does_not_flicker(chip: FirmwareBench) -> None:
    """In any 4 ms it is lit for the same time: no eye sees that it is switched at all."""
    chip.plays(showing(Pattern.NEXT, Pattern.TURN, Pattern.TURN, Pattern.TURN, brightness=200))
    chip.watch()
    chip.quietly(2000)
    assert chip.light == []


def test_the_steps_come_at_their_times_and_never_drift(chip: FirmwareBench) -> None:
    chip.plays(showing(Pattern.LOW))
    chip.watch()
    chip.quietly(20_000)
    edges = [time - chip.started for time, button, level in chip.light if level in (0, 255)]
    assert len(edges) > 70
    for edge in edges:
        assert edge % 256 <= 8, edge


def test_a_lamp_follows_a_picture_at_once(chip: FirmwareBench) -> None:
    chip.plays(showing(Pattern.OFF))
    for pattern, level in ((Pattern.TURN, 255), (Pattern.OFF, 0)) * 5:
        chip.wait(37)
        chip.shows(showing(pattern))
        chip.wait(10)  # 2.5 ms on the line, one for the program, four in which light is measured
        assert chip.levels()[0] == level


def test_lamps_of_buttons_that_a_panel_has_not_stay_dark(chip: FirmwareBench) -> None:
    chip.plays(showing(*[Pattern.TURN] * 6))
    chip.quietly(1000)
    assert chip.ask("lamps")["levels"].split(",") == ["255"] * 4 + ["0"] * 2


def test_the_newest_picture_counts_on_both(bench: Bench) -> None:
    bench.plays()
    bench.shows(showing(Pattern.TURN))
    bench.shows(red_to_move)
    bench.shows(showing(Pattern.OFF, Pattern.OFF, Pattern.TURN))
    bench.wait(20)
    assert bench.levels() == (0, 0, 255, 0)
