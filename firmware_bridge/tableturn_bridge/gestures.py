"""Which gestures of a panel are known, and what became of them.

A panel sends a gesture until it has its answer. Here each is told apart by session and number,
so that it is given out once, and each repeat gets the answer of the first.
"""

from __future__ import annotations

from collections import OrderedDict

from tableturn_bridge.protocol import Event, Result

REMEMBERED = 64
"""Gestures that are remembered. A panel keeps seven, so none of these comes again."""


class Counts:
    """What became of the gestures since this bridge was started."""

    def __init__(self) -> None:
        self.gestures = 0
        self.accepted = 0
        self.stale = 0
        self.rejected = 0

    def count(self, result: Result) -> None:
        """Count a final answer."""
        match result:
            case Result.ACCEPTED:
                self.accepted += 1
            case Result.STALE:
                self.stale += 1
            case Result.REJECTED:
                self.rejected += 1


class Gestures:
    """The gestures of one session of one panel."""

    def __init__(self) -> None:
        self._whose: tuple[int, int] | None = None
        self._results: OrderedDict[int, Result] = OrderedDict()

    def begin(self, uid: int, session: int) -> None:
        """A panel is there. Those of the same session stay known; all others are forgotten."""
        if self._whose != (uid, session):
            self._whose = uid, session
            self._results.clear()

    def heard(self, event: Event) -> tuple[bool, Result]:
        """Whether this gesture of the current session is new, and what to answer at once."""
        if (result := self._results.get(event.number)) is not None:
            return False, result
        self._results[event.number] = Result.SEEN
        if len(self._results) > REMEMBERED:
            self._results.popitem(last=False)
        return True, Result.SEEN

    def answer(self, event: Event, result: Result) -> bool:
        """Note what became of a gesture; False if it is of a session that has passed.

        The first answer stays, and False is returned for another: a gesture never gets two.
        Raises ValueError for SEEN, which is no answer.
        """
        if result is Result.SEEN:
            raise ValueError("SEEN is no final answer")
        known = self._whose is not None and self._whose[1] == event.session
        if not known or self._results.get(event.number) is not Result.SEEN:
            return False
        self._results[event.number] = result
        return True
