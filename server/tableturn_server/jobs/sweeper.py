"""Looks for jobs that are missing: tables at which something is due and nobody knows.

Jobs are announced before the changes that need them, so none should ever be missing; but a
store may be put together from a backup, or a table may have been made by an older version.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from random import uniform

from tableturn_server.service.keeper import Keeper
from tableturn_server.store import JobBoard, StoreError, TableStore
from tableturn_server.tables.due import due_at, host_may_change
from tableturn_server.tables.state import decode

log = logging.getLogger(__name__)

INTERVAL = 600.0
"""Seconds between two sweeps of a store, by whichever process."""
AGAIN = 5.0
"""Seconds until the next try, if a process has not swept since it was started."""
_LEASE_MS = 60_000
_PAGE = 50
_BREATH = 0.02
"""Seconds that calls get between two pages of tables."""


class Sweeper:
    """Sweeps when it is started, and again and again, unless another process does."""

    def __init__(
        self,
        board: JobBoard,
        tables: TableStore,
        keeper: Keeper,
        *,
        interval: float = INTERVAL,
        again: float = AGAIN,
        jitter: Callable[[float, float], float] = uniform,
    ) -> None:
        self._board = board
        self._tables = tables
        self._keeper = keeper
        self._interval = interval
        self._again = again
        self._jitter = jitter
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End, in the middle of a sweep if need be: the next one finds the rest."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        begun = self._keeper.now()
        while True:
            pause = self._again
            try:
                swept = await self._board.swept_at()
                # At the start once, whatever was done before: this may be the newer version.
                if swept < begun or self._keeper.now() - swept >= self._interval * 500:
                    # Whoever is at it may have died, and be no more in a while.
                    if await self.sweep() is not None:
                        pause = self._interval
                else:  # less than half an interval ago
                    pause = self._interval
            except StoreError as error:
                log.info("no sweep for missing jobs now: %s", error.sentence)
            except Exception:
                log.exception("the sweep for missing jobs has ended early")
                pause = self._interval
            await asyncio.sleep(pause * self._jitter(0.9, 1.1))

    async def sweep(self) -> int | None:
        """Announce what is missing; how many jobs that were. None if somebody else is at it."""
        sweep = await self._board.begin_sweep(_LEASE_MS)
        if sweep is None:
            return None
        found = 0
        cursor = ""
        while True:
            page = await self._tables.list_tables(cursor, _PAGE)
            for line in page.tables:
                found += await self._look_at(line.table_id)
            cursor = page.cursor
            if not cursor:
                break
            await asyncio.sleep(_BREATH)
            if not await self._board.keep_sweep(sweep, _LEASE_MS):
                return None  # we were too slow: somebody else is at it, or will be
        await self._board.end_sweep(sweep, self._keeper.now())
        if found:
            log.warning("%d tables had lost their job", found)
        else:
            # Somebody may have announced one while this process did not listen.
            log.debug("no job was missing")
        return found

    async def _look_at(self, table_id: str) -> bool:
        stored = await self._tables.load(table_id)
        if stored is None:
            return False
        try:
            table = decode(stored.blob)
        except ValueError:  # a table of another version
            return False
        due, now = due_at(table), self._keeper.now()
        if due is None and not host_may_change(table):
            return False
        at = now if due is None else due
        if not await self._board.ensure(table_id, at, now):
            return False
        self._keeper.on_due(at)
        # Whoever knew that a host is away may have died: that is looked at, but no job was lost.
        return due is not None
