"""The order in which things are told: what a gesture did, and then what the table waits for.

The change that a press makes often comes before the press's own answer. The lamps show it at once;
the lines at the terminal would be read the wrong way round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from tableturn_bridge.protocol import Event
from tableturn_bridge.status import News, Tell

MOMENT = 0.5
"""Seconds for which a line waits at most."""


class Timer(Protocol):
    """Something that will be done."""

    def cancel(self) -> None:
        """It will not be done."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Does something after so many seconds."""


def by_the_loop(seconds: float, do: Callable[[], None]) -> Timer:
    """Do something after so many seconds, by the loop that runs now."""
    return asyncio.get_running_loop().call_later(seconds, do)


class InOrder:
    """Tells what happens; lines of kind `turn` wait for the answer to a gesture, for a moment."""

    def __init__(self, tell: Tell, later: Later = by_the_loop) -> None:
        self._to = tell
        self._later = later
        self._asked: set[int] = set()
        self._kept: list[News] = []
        self._timer: Timer | None = None

    def waits_for(self, event: Event) -> None:
        """A gesture is on its way to the table; what becomes of it will be told."""
        self._asked.add(event.number)

    def __call__(self, news: News) -> None:
        """Tell something, now or in its turn."""
        if news.kind == "turn" and self._asked:
            self._kept.append(news)
            if self._timer is None:
                self._timer = self._later(MOMENT, self._release)
            return
        self._to(news)
        if news.kind in ("pressed", "refused"):
            self._asked.discard(int(str(news.details["number"])))
        if not self._asked:
            self._release()

    def all(self) -> None:
        """Tell what was kept; no gesture will be answered any more."""
        self._asked.clear()
        self._release()

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        kept, self._kept = self._kept, []
        for news in kept:
            self._to(news)
