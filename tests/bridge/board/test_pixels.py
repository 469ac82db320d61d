"""Coloured lamps, as they are decoded from the pin of the chain: colours, brightness, patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tableturn_bridge.patterns import STEP, STEPS, Pattern, lamp
from tableturn_bridge.protocol import Caps, Color, Hello, State

from .bench import all_armed
from .benches import FirmwareBench, the_firmware
from .light import patterns_of

Light = tuple[int, int, int]

# What an eye sees: for red, green and blue whether there is much of it, some, or none.
SEEN = {
    Color.NONE: (3, 3, 3),
    Color.RED: (3, 0, 0),
    Color.BLUE: (0, 0, 3),
    Color.GREEN: (0, 3, 0),
    Color.YELLOW: (3, 2, 0),
    Color.WHITE: (3, 3, 3),
    Color.BLACK: (0, 3, 3),  # no light is black
    Color.PURPLE: (2, 0, 3),
    Color.ORANGE: (3, 1, 0),
}


@pytest.fixture
def chip() -> Iterator[FirmwareBench]:
    """A board with six buttons and coloured lamps."""
    with the_firmware(6, pixels=True) as bench:
        yield bench
        state = bench.state()
        assert state["pixel_faults"] == "0"
        # A chain takes 50 us of darkness on its line for the end of a picture, some only 9.
        assert int(state["pixel_gap_ns"]) < 9_000


def showing(*lamps: int, brightness: int = 255) -> State:
    return replace(all_armed, lamps=(*lamps, *[0] * (6 - len(lamps))), brightness=brightness)


def pixels(chip: FirmwareBench) -> list[Light]:
    """The colours that the chain shows now."""
    shown = chip.ask("lamps")["pixels"].split(",")
    assert len(shown) == chip.buttons
    return [tuple(bytes.fromhex(one)) for one in shown]  # type: ignore[misc]


def seen(light: Light) -> tuple[int, ...]:
    """Much, some, little or none of each part, beside the strongest one."""
    most = max(light) or 1
    return tuple(round(3 * part / most) for part in light)


def test_it_says_that_it_has_pixels(chip: FirmwareBench) -> None:
    (hello,) = chip.messages()
    assert isinstance(hello, Hello)
    assert Caps(hello.caps) == Caps.MASTER_BUTTON | Caps.PIXELS


@pytest.mark.parametrize("first", [0, 3])
def test_each_seat_has_its_own_colour(chip: FirmwareBench, first: int) -> None:
    colors = list(Color)[first : first + 6]
    chip.plays(showing(*(lamp(Pattern.TURN, color) for color in colors)))
    chip.wait(20)
    shown = pixels(chip)
    assert [seen(light) for light in shown] == [SEEN[color] for color in colors]
    assert all(max(light) >= 128 for light in shown)


def test_all_colours_but_white_and_none_differ(chip: FirmwareBench) -> None:
    lights: dict[Color, Light] = {}
    for color in Color:
        chip.plays(showing(lamp(Pattern.TURN, color)))
        lights[color] = pixels(chip)[0]
    assert lights[Color.NONE] == lights[Color.WHITE]
    assert len(set(lights.values())) == len(Color) - 1
    # A colour that this version doesn't know is light all the same.
    chip.plays(showing(lamp(Pattern.TURN, 15)))
    assert max(pixels(chip)[0]) >= 128


@pytest.mark.parametrize("brightness", [255, 128, 60])
def test_a_pixel_is_as_bright_as_its_lamp(chip: FirmwareBench, brightness: int) -> None:
    full, dim = lamp(Pattern.TURN, Color.RED), lamp(Pattern.NEXT, Color.RED)
    chip.plays(showing(full, dim, lamp(Pattern.OFF, Color.RED), brightness=brightness))
    chip.wait(20)
    shown = pixels(chip)
    assert shown[2:] == [(0, 0, 0)] * 4
    assert abs(shown[0][0] - brightness) <= 1
    assert abs(shown[1][0] - -(-brightness // 4)) <= 1
    assert shown[0][1:] == shown[1][1:] == (0, 0)


@pytest.mark.parametrize("pattern", [Pattern.STAGED, Pattern.PAUSED, Pattern.WINNER, Pattern.READY])
def test_pixels_move_as_the_lamps_do(chip: FirmwareBench, pattern: Pattern) -> None:
    """What a pattern says must be seen in the colours too."""
    picture = showing(lamp(pattern, Color.GREEN), lamp(pattern, Color.NONE))
    chip.plays(picture)
    begin = chip.started + 2048 * (int(chip.now - chip.started) // 2048 + 1)
    chip.quietly(begin - chip.now + STEP / 2)
    greens, whites = [], []
    for _ in range(2 * STEPS):
        shown = pixels(chip)
        greens.append(shown[0][1])
        whites.append(shown[1][0])
        assert shown[0][0] == shown[0][2] == 0
        assert shown[2:] == [(0, 0, 0)] * 4
        chip.quietly(STEP)
        chip.shows(picture)
    assert patterns_of(greens) == patterns_of(whites) == {(pattern, False)}


def test_no_half_picture_is_ever_latched(chip: FirmwareBench) -> None:
    """While bytes come and buttons bounce, the chain shows only what some picture has said."""
    allowed = {(0, 0, 0), (255, 0, 0), (0, 0, 255)}
    chip.plays(showing(*[lamp(Pattern.OFF)] * 6))
    shown: set[Light] = set()
    for burst in range(100):
        color = Color.RED if burst % 2 else Color.BLUE
        chip.shows(showing(*[lamp(Pattern.TURN, color)] * 6))
        chip.shows(showing(*[lamp(Pattern.OFF, color)] * (burst % 6)))
        for _ in range(6):
            chip.wait(0.7)
            shown |= set(pixels(chip))
    assert shown == allowed
