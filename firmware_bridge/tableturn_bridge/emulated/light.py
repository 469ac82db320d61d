"""The light of a lamp over time, as it is measured, and whether it is that of a sign.

A level is the share of a lamp's last four milliseconds in which it was lit, 0 to 255. So a lamp
that is switched takes four milliseconds until its level is right, and for that long, and as long
as a program needs to begin, nothing is concluded from it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from tableturn_bridge.patterns import STEP
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.lights import Sign

KEPT = 6000.0
"""Milliseconds for which a light is remembered."""
MOST = 4096
LATE = 16.0
"""A step may begin so many milliseconds after its time: the start of the program, and the level's
own delay."""
EARLY = 2.0
SETTLES = 8.0
"""After a change, a level is right after so many milliseconds."""
ONE_EDGE = 5.0
"""Changes that follow each other so closely are one: a level that rises or falls."""


def tolerance(brightness: int) -> int:
    """How far a level may be off: boards have fewer levels than 256."""
    return max(5, min(14, brightness // 6))


class Trace:
    """The levels of one lamp, each from its time on. All times are the emulator's milliseconds."""

    def __init__(self) -> None:
        self._times = [float("-inf")]
        self._levels = [0]

    def add(self, at: float, level: int) -> None:
        """From this time on, the lamp has this level."""
        at = max(at, self._times[-1])
        self._times.append(at)
        self._levels.append(level)
        if len(self._times) > MOST:
            first = max(1, bisect_left(self._times, at - KEPT) - 1)
            first = max(first, len(self._times) - MOST // 2)
            del self._times[:first], self._levels[:first]

    @property
    def level(self) -> int:
        """The level now."""
        return self._levels[-1]

    def at(self, time: float) -> int:
        """The level at a time."""
        return self._levels[max(0, bisect_right(self._times, time) - 1)]

    def outside(self, low: int, high: int, begin: float, end: float) -> float | None:
        """When, between two times, the level was outside a span first; None if never."""
        first = max(0, bisect_right(self._times, begin) - 1)
        last = bisect_right(self._times, end)
        for index in range(first, last):
            if not low <= self._levels[index] <= high:
                return max(begin, self._times[index])
        return None

    def edge_from(self, time: float) -> float | None:
        """When the level changed first at or after a time; None if it hasn't yet."""
        index = bisect_left(self._times, time)
        return self._times[index] if index < len(self._times) else None

    def edge_to(self, time: float) -> float | None:
        """When the last change at or before a time began."""
        index = bisect_right(self._times, time) - 1
        while index > 1 and self._times[index] - self._times[index - 1] <= ONE_EDGE:
            index -= 1
        return self._times[index] if index >= 0 and self._times[index] > float("-inf") else None


def wrong_at(
    trace: Trace, sign: Sign, brightness: int, started: float, begin: float, end: float
) -> float | None:
    """When, between two times, a light was first unlike that of a sign; None if never.

    `started` is when the board's program began, with which most signs are in step.
    """
    origin = int(started) if sign.since is None else sign.since
    within = tolerance(brightness)
    step = int((begin - origin) // STEP)
    while True:
        at = origin + step * STEP
        if at + LATE > end:
            return None
        first, last = max(at + LATE, begin + SETTLES), min(at + STEP - EARLY, end)
        if first <= last:
            level = lights.light(sign, brightness, origin, at)
            wrong = trace.outside(level - within, level + within, first, last)
            if wrong is not None:
                return wrong
        step += 1
