"""What a lamp shows at a moment: its sign, and the light that this makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tableturn_bridge.patterns import (
    MARK,
    NO_ANSWER,
    NOT_ARMED,
    REFUSED,
    SHAPES,
    STALE,
    STEP,
    STEPS,
    Pattern,
    Shape,
)
from tableturn_bridge.protocol import Color

RUN = STEP * STEPS
"""Milliseconds of one run of a pattern."""
LAMP_TEST = 4 * STEP
"""All lamps are lit for so long after a start."""


@dataclass(frozen=True)
class Sign:
    """What a lamp says.

    `name` is a pattern's, or one of those below. `since` is the time at which a sign that runs
    once began; other signs run in step with those of the other lamps. `marked`: the start player's.
    """

    name: str
    shape: Shape
    color: int = Color.NONE
    since: int | None = None
    marked: bool = False


DARK = Sign("DARK", Shape(0))
"""The board has no power."""
TEST = Sign("TEST", Shape(0xFFFF))
"""The lamp test after a start."""
LINK_LOST = Sign("LINK_LOST", SHAPES[Pattern.LINK_LOST])
VERSION = Sign("VERSION", SHAPES[Pattern.VERSION])

ONCE = {"REFUSED": Shape(REFUSED), "STALE": Shape(STALE), "NOT_ARMED": Shape(NOT_ARMED)}
"""The signs that run once."""
WAITING = {"PENDING": SHAPES[Pattern.PENDING], "NO_ANSWER": Shape(NO_ANSWER)}
HELD_CHORD = Shape(0x3333)


def of_lamp(lamp: int) -> Sign:
    """The sign of a lamp's byte in `State`."""
    pattern = Pattern(lamp & 0x0F)
    return Sign(pattern.name, SHAPES[pattern], lamp >> 4)


def with_mark(sign: Sign) -> Sign:
    """What a lamp says, with the mark of the start player on top."""
    steps, dim = sign.shape.steps, sign.shape.dim
    shape = replace(sign.shape, steps=steps ^ MARK, dim=dim or not steps)
    return replace(sign, shape=shape, marked=True)


def held_long(sign: Sign) -> Sign:
    """A button has been held for a long press: its lamp turns into the opposite."""
    return Sign("HELD_LONG", Shape(sign.shape.steps ^ 0xFFFF), sign.color)


def held_chord(sign: Sign) -> Sign:
    """A second button has been pressed: the lamps of both tell it."""
    return Sign("HELD_CHORD", HELD_CHORD, sign.color)


def _part(level: int, share: int, of: int) -> int:
    """So many parts of a level, rounded up: what is lit is never wholly dark."""
    return (level * share + of - 1) // of


def light(sign: Sign, brightness: int, started: int, now: int) -> int:
    """How bright a lamp is, from 0 to 255, on a board that started at a time."""
    step = (now - (started if sign.since is None else sign.since)) // STEP
    if not sign.shape.steps >> step % STEPS & 1:
        return 0
    level = _part(brightness, 1, 4) if sign.shape.dim else brightness
    if sign.shape.breathes:  # up in one run, down in the next
        place = step % (2 * STEPS)
        level = _part(level, min(place, 2 * STEPS - 1 - place) + 1, STEPS)
    return level
