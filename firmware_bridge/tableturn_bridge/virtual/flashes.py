"""Flashes: signs that run once on a lamp, and what ends them before they have run through."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_bridge.protocol import NO_BUTTON
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.contacts import Gesture
from tableturn_bridge.virtual.lights import Sign


@dataclass(frozen=True)
class _Flash:
    """A sign that runs once on one lamp. `master`: it is about the button of no seat."""

    name: str
    since: int
    master: bool


class Flashes:
    """The flashes of a panel with so many lamps. Times are milliseconds."""

    def __init__(self, lamps: int) -> None:
        self._lamps = range(lamps)
        self._running: dict[int, _Flash] = {}

    def _lamps_of(self, gesture: Gesture) -> tuple[int, ...]:
        """Those of its buttons. The button that belongs to no seat has all lamps for it."""
        return tuple(self._lamps) if gesture.button == NO_BUTTON else gesture.buttons

    def begin(self, gesture: Gesture, name: str, now: int) -> None:
        """Run a sign of `lights.ONCE` once on the lamps of a gesture's buttons."""
        for lamp in self._lamps_of(gesture):
            self._running[lamp] = _Flash(name, now, gesture.button == NO_BUTTON)

    def waits(self, gesture: Gesture) -> None:
        """A gesture waits from now on, and its lamps have to say so: they flash no longer.

        With that of the button of no seat, its own flashes end; a seat's run on.
        """
        for lamp in self._lamps_of(gesture):
            flash = self._running.get(lamp)
            if flash is not None and (flash.master or gesture.button != NO_BUTTON):
                del self._running[lamp]

    def arms(self, armed: int) -> None:
        """The buttons of these bits have something to say now, and had not before."""
        for lamp, flash in list(self._running.items()):
            if flash.name == "NOT_ARMED" and armed >> lamp & 1:
                del self._running[lamp]

    def expire(self, now: int) -> None:
        """Those that have run through are over."""
        for lamp, flash in list(self._running.items()):
            if now - flash.since >= lights.RUN:
                del self._running[lamp]

    def clear(self) -> None:
        """All are over."""
        self._running.clear()

    def ends(self) -> list[int]:
        """When each has run through."""
        return [flash.since + lights.RUN for flash in self._running.values()]

    def sign(self, lamp: int, color: int) -> Sign | None:
        """What a lamp flashes, in its colour; None if nothing."""
        flash = self._running.get(lamp)
        if flash is None:
            return None
        return Sign(flash.name, lights.ONCE[flash.name], color, flash.since)
