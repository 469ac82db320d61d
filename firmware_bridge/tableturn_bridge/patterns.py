"""What a lamp does to say something: sixteen patterns and a mark, told apart without colours.

A pattern runs through 16 steps of 64 milliseconds, a little over a second, and begins again; bit
0 is the first step. DIM patterns light the lamp at a quarter of its brightness, breathing ones
let it swell and fade over two runs. Lamps of one panel run in step, so that what is true of the
whole table is seen as one movement.

The host chooses the patterns below OWN in `State`; the panel itself shows those from there on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

STEP = 64
"""Milliseconds of one step."""
STEPS = 16
BRIGHTEST = 255
DIMMEST = 96
"""How bright lamps are at least: on a board that has 32 levels of light, dim ones could not be told
from others below it."""


class Pattern(IntEnum):
    """What a lamp says."""

    OFF = 0
    """Nothing is asked of this seat."""
    TURN = 1
    """It is this seat's turn."""
    STAGED = 2
    """A turn is staged: press to confirm it."""
    NEXT = 3
    """This seat is next."""
    READY = 4
    """This seat has confirmed, where all do so at the same time."""
    FREE = 5
    """Press to take a seat, or to play on yourself where a bot does so for you."""
    SEATED = 6
    """This seat is taken; the game has not begun."""
    PAUSED = 7
    """The game is paused."""
    BETWEEN = 8
    """Between two rounds."""
    LOW = 9
    """It is this seat's turn, and its time runs out, or has run out."""
    WINNER = 10
    """This seat has won, just now."""
    SERVICE_LOST = 11
    """The bridge is there, but can't reach the service."""
    ELSEWHERE = 12
    """This panel can't be used here: another bridge holds it, or the table is another panel's."""
    # What the panel shows by itself.
    LINK_LOST = 13
    """The host is not heard, or not yet."""
    VERSION = 14
    """Host and panel have no protocol version in common."""
    PENDING = 15
    """A gesture waits for its answer."""


OWN = Pattern.LINK_LOST
"""From this pattern on, the panel chooses."""


@dataclass(frozen=True)
class Shape:
    """How a pattern looks: the steps in which the lamp is lit, and how."""

    steps: int
    dim: bool = False
    breathes: bool = False


SHAPES: dict[Pattern, Shape] = {
    Pattern.OFF: Shape(0),
    Pattern.TURN: Shape(0xFFFF),
    Pattern.STAGED: Shape(0x3FFF),
    Pattern.NEXT: Shape(0xFFFF, dim=True),
    Pattern.READY: Shape(0x0FFF, dim=True),
    Pattern.FREE: Shape(0x000F),
    Pattern.SEATED: Shape(0x7FFF, dim=True),
    Pattern.PAUSED: Shape(0xFFFF, breathes=True),
    Pattern.BETWEEN: Shape(0xFFFF, dim=True, breathes=True),
    Pattern.LOW: Shape(0x0F0F),
    Pattern.WINNER: Shape(0x3737),
    Pattern.SERVICE_LOST: Shape(0x0005),
    Pattern.ELSEWHERE: Shape(0x0015),
    Pattern.LINK_LOST: Shape(0x0001),
    Pattern.VERSION: Shape(0x0555),
    Pattern.PENDING: Shape(0x5555),
}

MARK = 0x0500
"""The start player's mark, on top of what the lamp says: it is the opposite in these two steps, so
that a light has two short gaps, and a dark lamp two short dim lights."""

REFUSED = 0x0333
"""Three flashes: the gesture was refused. Runs once."""
STALE = 0x0033
"""Two flashes: what the gesture was meant for had passed. Runs once."""
NOT_ARMED = 0x0003
"""One flash: this button has nothing to say now. Runs once."""
NO_ANSWER = 0x00FF
"""Runs until the answer comes: the gesture has waited for too long."""


def lamp(pattern: Pattern, color: int = 0) -> int:
    """The byte of one lamp in `State`."""
    return color << 4 | pattern
