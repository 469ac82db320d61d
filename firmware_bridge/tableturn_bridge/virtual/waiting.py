"""Gestures that wait for their answer: kept, sent again, and given up with the link."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_bridge.protocol import (
    ANSWER_PATIENCE,
    QUEUE,
    RESEND,
    RESEND_SEEN,
    Event,
    Result,
)
from tableturn_bridge.virtual.contacts import Gesture

MOST_AGE = 0xFFFF
MOST_TRIES = 0xFF
NUMBERS = 0x10000


@dataclass
class Waiting:
    """An event in the queue."""

    number: int
    gesture: Gesture
    due: int
    """When it is sent the next time."""
    sent: int = 0
    """How often it has been sent."""
    seen: bool = False
    """The host has it, and asks for patience."""

    def event(self, session: int, now: int) -> Event:
        """What is sent of it at this time."""
        gesture = self.gesture
        return Event(
            session=session,
            number=self.number,
            button=gesture.button,
            kind=gesture.kind,
            second=gesture.second,
            tag=gesture.sight.tag,
            revision=gesture.sight.revision,
            age=min(MOST_AGE, now - gesture.pressed_at),
            tries=min(MOST_TRIES, self.sent),
        )

    def sent_at(self, now: int) -> None:
        """It has been sent: the next time comes later and later, up to the last step."""
        pause = RESEND_SEEN if self.seen else RESEND[min(self.sent, len(RESEND) - 1)]
        self.sent += 1
        self.due = now + pause

    @property
    def patience_ends(self) -> int:
        """When its lamp begins to show that there is no answer."""
        return self.gesture.released_at + ANSWER_PATIENCE


class Queue:
    """At most `QUEUE` events in the order of their making, each with its own timer."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []
        self._last = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, gesture: Gesture, now: int) -> bool:
        """Keep a gesture, to be sent at once. False if there is no room."""
        if len(self._waiting) == QUEUE:
            return False
        self._last = (self._last + 1) % NUMBERS
        self._waiting.append(Waiting(self._last, gesture, now))
        return True

    def due(self, now: int) -> list[Waiting]:
        """What has to be sent now."""
        return [one for one in self._waiting if one.due <= now]

    def acknowledge(self, number: int, result: Result, now: int) -> Waiting | None:
        """The host has answered. The event, if it is done by that and no longer waits."""
        for one in self._waiting:
            if one.number == number:
                if result is Result.SEEN:
                    one.seen = True
                    one.due = now + RESEND_SEEN
                    return None
                self._waiting.remove(one)
                return one
        return None

    def empty(self) -> list[Waiting]:
        """Give up all that waits."""
        given_up, self._waiting = self._waiting, []
        return given_up

    def of(self, button: int) -> Waiting | None:
        """The event of a button that has waited longest."""
        return next((one for one in self._waiting if button in one.gesture.buttons), None)

    def next_time(self, now: int) -> int | None:
        """When something has to be sent, or a lamp's patience ends."""
        times = [one.due for one in self._waiting]
        times += [one.patience_ends for one in self._waiting if one.patience_ends > now]
        return min(times, default=None)
