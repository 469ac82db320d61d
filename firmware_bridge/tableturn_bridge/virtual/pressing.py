"""What a hand does at a panel: presses, long ones, and two buttons at once."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from tableturn_bridge.virtual.fingers import MASTER, Finger, Touches
from tableturn_bridge.virtual.panel import CHORD_MS, LONG_MS, PATIENCE, SHORT_MS, Pressed


class Pressing(ABC):
    """A panel whose contacts can be moved at planned times.

    Those times are milliseconds of the board's own clock; what is told of them to others is in
    those of `clock`.
    """

    _fingers: Touches

    @abstractmethod
    def _begin(self) -> float:
        """The board's time at which a press can begin."""

    @abstractmethod
    def _plan(
        self, button: int, closes: bool, at: float, bounce: bool = False
    ) -> tuple[float, float]:
        """Let a contact close or open at a time, perhaps bouncing.

        Returns when that begins, which is later if the time has passed, and when it is at rest.
        """

    @abstractmethod
    async def _until(self, end: float) -> None:
        """Let time pass, and everything happen that is due by then."""

    @abstractmethod
    def _told(self, at: float) -> float:
        """A time of the board, in that of `clock`."""

    @abstractmethod
    def _lamps_changed_at(self) -> float | None:
        """When the picture of the lamps changed the last time, by the board's clock."""

    async def press(
        self,
        button: int,
        ms: float = SHORT_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """Press a button for so long. With `wait`, until it is clear what became of it.

        With `bounce`, its contact bounces 80 times on both edges. Raises TimeoutError if nothing
        is clear after so many seconds: the press was too short, or part of another gesture, or
        the host keeps the panel waiting.
        """
        self._fingers.index(button)
        with self._fingers.finger(button, self._begin()) as finger:
            _, at_rest = self._plan(button, True, finger.began, bounce)
            finger.released_at, end = self._plan(button, False, at_rest + ms, bounce)
            await self._until(end)
            return await self._outcome(finger, timeout) if wait else None

    async def hold(
        self,
        button: int,
        ms: float = LONG_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """A long press."""
        return await self.press(button, ms, bounce=bounce, wait=wait, timeout=timeout)

    async def master(
        self,
        ms: float = SHORT_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """Press the button that belongs to no seat."""
        return await self.press(MASTER, ms, bounce=bounce, wait=wait, timeout=timeout)

    async def chord(
        self, first: int, second: int, *, wait: bool = False, timeout: float = PATIENCE
    ) -> Pressed | None:
        """Hold a button, press a second one, and let go of both."""
        if first == second or MASTER in (first, second):
            raise ValueError("two different buttons of seats make a chord")
        for button in (first, second):
            self._fingers.index(button)
        with self._fingers.finger(first, self._begin()) as finger:
            pressed, _ = self._plan(first, True, finger.began)
            held, _ = self._plan(second, True, pressed + LONG_MS)
            for button in (second, first):
                finger.released_at, _ = self._plan(button, False, held + CHORD_MS)
            await self._until(finger.released_at)
            return await self._outcome(finger, timeout) if wait else None

    async def _outcome(self, finger: Finger, timeout: float) -> Pressed:
        """Wait until it is clear what became of a gesture."""
        async with asyncio.timeout(timeout):
            await finger.told.wait()
        outcome = finger.outcome
        assert outcome is not None
        lamp_at = self._lamps_changed_at()
        return Pressed(
            fate=outcome.fate,
            kind=outcome.gesture.kind.name,
            sent=outcome.sent,
            released_at=self._told(finger.released_at),
            acked_at=self._told(finger.acked_at),
            lamp_at=(
                self._told(lamp_at)
                if lamp_at is not None and lamp_at >= finger.released_at
                else None
            ),
        )
