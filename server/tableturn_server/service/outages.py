"""Times in which nobody served, and for which nobody is charged.

A process gives a sign of life every two seconds. What it is told in return holds for a while:
an outage takes longer than that, and whoever has given a sign in its midst would have ended it.
So a process that has been silent for longer, since it was asleep or the store was away, asks
before it decides anything that rests on the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

from tableturn_server.store import Outage, OutageStore, StoreError
from tableturn_server.store.outages import KEPT
from tableturn_server.tables.clocks import is_counting
from tableturn_server.tables.state import Table

log = logging.getLogger(__name__)

BEAT = 2.0
"""Seconds between two signs of life."""
LONGEST_MS = 5000
"""Without any sign for longer there was an outage."""
FRESH_MS = 3000
"""For so long holds what a process was told of outages: shorter than an outage by as much as the
clocks of two processes may differ, which are both within a second of the store's."""

_RETRY = 0.2
"""Seconds until the next try while the store is away."""

Sleep = Callable[[float], Awaitable[object]]


class Outages:
    """The outages that a process knows, and its own signs of life.

    `on_end` is called, with the time, in the one process whose sign has ended an outage.
    """

    def __init__(
        self,
        store: OutageStore,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Sleep = asyncio.sleep,
        on_end: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._on_end = on_end
        self._known: tuple[Outage, ...] = ()
        self._told: int | None = None
        """When we asked last, by our own clock."""
        self._asking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Give the first sign, if the store is there, and go on with it."""
        pause = await self._try()
        self._task = asyncio.get_running_loop().create_task(self._go_on(pause))

    async def stop(self) -> None:
        """Give no more signs."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _go_on(self, pause: float) -> None:
        while True:
            await self._sleep(pause)
            pause = await self._try()

    async def _try(self) -> float:
        """Give a sign, if that is possible; the seconds until the next one."""
        try:
            await self.beat()
        except StoreError as error:
            log.info("no sign of life can be given: %s", error.sentence)
            return _RETRY
        except Exception:
            log.exception("no sign of life can be given")
        return BEAT

    async def beat(self) -> None:
        """Give a sign of life, and hear of outages. Raises StoreError."""
        async with self._asking:
            await self._beat()

    async def _beat(self) -> None:
        beat = await self._store.beat(self._now, longest_ms=LONGEST_MS, known_ms=self.last_end)
        self._told = beat.at
        self._known = (*self._known, *beat.outages)[-KEPT:]
        if not beat.ended_one:
            return
        begin, end = beat.outages[-1]
        log.warning("nobody served for %.1f s; nobody is charged for it", (end - begin) / 1000)
        if self._on_end is not None:
            # Times that are shown are corrected sooner by it; nothing else rests on it.
            with contextlib.suppress(StoreError):
                await self._on_end(end)

    async def now(self) -> int:
        """The time, with all outages before it known. Raises StoreError."""
        while True:
            now = self._now()
            if self._is_fresh(now):
                return now
            async with self._asking:
                if not self._is_fresh(self._now()):  # others may have waited for the same
                    await self._beat()

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _is_fresh(self, now: int) -> bool:
        return self._told is not None and 0 <= now - self._told <= FRESH_MS

    @property
    def last_end(self) -> int:
        """When the last outage was over; 0 if there was none."""
        return self._known[-1].end if self._known else 0

    def of(self, table: Table) -> Outage | None:
        """The first outage for which the clocks that run at a table are still charged."""
        if not is_counting(table):
            return None
        since = min(clock.since for clock in table.clocks if clock.since)
        least = max(table.credited, since)
        return next((outage for outage in self._known if outage.end > least), None)
