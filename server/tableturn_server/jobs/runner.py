"""Does what is due: claims jobs, looks at their tables, and settles when to look again.

Any number of processes do this on one store. A lease keeps them out of each other's way; that
each thing is done once is sure by the thing itself (`duty`). A deadline that is still to come
needs no lease: its job waits on the board until then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import uniform

from tableturn_server.bots.pool import Pool
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.outages import Outages
from tableturn_server.service.rooms import Held
from tableturn_server.store import Claim, JobBoard, StoreError
from tableturn_server.store.jobs import KEPT_MS
from tableturn_server.tables.refusals import Reason, Refused

from .absences import Absences, Presence
from .bot_turns import BotTurns
from .duty import Counts, Due, Duty, Hands
from .timeouts import Credits, TimeOuts

log = logging.getLogger(__name__)

LEASE_MS = 5000
RENEW_MS = 500
"""A lease that is older is renewed before the next step."""
POLL = 1.0
"""Seconds between two looks at the jobs, when none is known that is due before."""
LEAST_REST = 0.002
"""Seconds between two looks at the jobs in any case: what is due now may be on its way."""
STEPS_IN_A_ROW = 4
"""Then a table goes to the end of the queue: none keeps the others waiting."""
AT_ONCE = 64
"""Tables for each worker that are looked after at the same time. Most of them wait for the worker,
where tables with people come first; beyond so many, they have to be claimed first."""
FIRST_PAUSE_MS = 1000
LONGEST_PAUSE_MS = 60_000
"""How long a table that fails is left alone: longer each time."""


class Runner:
    """Does what is due at all tables of a store, as long as it runs."""

    def __init__(
        self,
        board: JobBoard,
        keeper: Keeper,
        outages: Outages,
        pool: Pool,
        *,
        presence: Presence | None = None,
        workers: int = 1,
        poll: float = POLL,
        lease_ms: int = LEASE_MS,
        jitter: Callable[[float, float], float] = uniform,
    ) -> None:
        self._board = board
        self._keeper = keeper
        self._outages = outages
        self._room = AT_ONCE * workers
        self._poll = poll
        self._lease_ms = lease_ms
        self._jitter = jitter
        self.counts = Counts()
        hands = Hands(keeper, self.counts)
        self._duties: tuple[Duty, ...] = (
            Credits(keeper, outages),
            TimeOuts(hands),
            BotTurns(hands, pool),
            *([Absences(hands, presence, outages)] if presence is not None else ()),
        )
        """In the order in which they have their say. The last one has to ask who is there."""
        self._woken = asyncio.Event()
        self._look_at = 0
        """When the jobs are looked at next, if nothing wakes us before."""
        self._main: asyncio.Task[None] | None = None
        self._tables: set[asyncio.Task[None]] = set()
        self._claims: dict[str, Claim] = {}
        """Of the tables that are looked after now, until they are settled. The counter is that of
        before the look: what was announced since then is not done by it."""
        self._pauses: dict[str, tuple[int, int]] = {}
        """Tables that failed: how often, and until when they are left alone."""
        self._ending = False

    def start(self) -> None:
        """Begin. From now on changes of this process wake it."""
        self._keeper.on_due = self.expect
        self._main = asyncio.get_running_loop().create_task(self._run())

    def wake(self) -> None:
        """Something is due: look at once."""
        self._woken.set()

    def expect(self, due: int) -> None:
        """Something is due at that time: look not later than then."""
        if due < self._look_at:
            self._woken.set()

    async def stop(self, grace: float = 1.0) -> None:
        """Claim no more, let the running turns end, and leave the rest to others."""
        self._ending = True
        self.wake()
        if self._main is not None:
            # A claim that is on its way is heard, and given back: else its lease would have to end.
            await asyncio.wait({self._main}, timeout=grace)
            self._main.cancel()
            await asyncio.wait({self._main})
        if self._tables:
            await asyncio.wait(self._tables, timeout=grace)
        for task in self._tables:
            task.cancel()
        if self._tables:
            await asyncio.wait(self._tables)

    async def _run(self) -> None:
        while not self._ending:
            self._woken.clear()
            pause = self._jitter(0.8, 1.2) * self._poll
            self._look_at = self._keeper.now() + int(pause * 1000)
            try:
                if await self._claim():
                    continue
                if len(self._tables) < self._room:
                    pause = self._until_next(await self._board.next(), pause)
            except StoreError as error:
                log.info("no jobs can be claimed: %s", error.sentence)
            except Exception:
                log.exception("no jobs can be claimed")
            if not self._ending:
                await self._rest(pause)

    def _until_next(self, due: int | None, pause: float) -> float:
        """Seconds to rest, given the next job on the board: a time-out shall not be late."""
        if due is None or due >= self._look_at:
            return pause
        self._look_at = due
        return max((due - self._keeper.now()) / 1000, LEAST_REST)

    async def _rest(self, seconds: float) -> None:
        """Wait until somebody tells of a job, or for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    async def _claim(self) -> bool:
        """Claim jobs, and begin to look after their tables; whether there may be more."""
        room = self._room - len(self._tables)
        if room <= 0:
            return False
        claims = await self._board.claim(self._keeper.now(), self._lease_ms, room)
        for claim in claims:
            table_id = claim.table_id
            known = self._claims.get(table_id)
            if known is not None:  # its lease has ended before it was looked after: go on
                self._claims[table_id] = replace(known, until=claim.until)
                continue
            self._claims[table_id] = claim
            task = asyncio.get_running_loop().create_task(self._look_after(table_id))
            self._tables.add(task)
            task.add_done_callback(self._left)
        return len(claims) == room

    def _left(self, task: asyncio.Task[None]) -> None:
        was_full = len(self._tables) >= self._room
        self._tables.discard(task)
        if was_full:
            self.wake()

    # -- one table -------------------------------------------------------------------------

    async def _look_after(self, table_id: str) -> None:
        """Do what is due at a table, and settle its job. Never raises an Exception."""
        now = self._keeper.now()
        _, until = self._pauses.get(table_id, (0, 0))
        due: int | None = until
        try:
            if until <= now:
                due = self._once_more(self._claims[table_id], await self._do(table_id))
        except StoreError as error:
            log.info("table %s can't be looked after: %s", table_id, error.sentence)
            await self._give_back(self._claims.pop(table_id))
            return
        except Refused as refused:
            due = self._left_alone(table_id)
            log.warning("what is due at table %s is refused: %s", table_id, refused.sentence)
        except Exception:
            due = self._left_alone(table_id)
            log.exception("what is due at table %s can't be done", table_id)
        # From here on whoever claims the job begins anew, and be it this process: the job may be
        # due again, and claimed, before this task hears that it is settled.
        claim = self._claims.pop(table_id)
        now = self._keeper.now()
        with contextlib.suppress(StoreError):
            settled = await self._board.settle(claim, due, now)
            if not settled or (due is not None and due <= self._keeper.now()):
                self.wake()  # announced again, by our own turns if by nobody else

    def _once_more(self, claim: Claim, due: int | None) -> int | None:
        """When to look again: soon, if the change that was announced may still be on its way.

        Nobody may be left to announce it again.
        """
        kept = claim.announced + KEPT_MS
        if self._keeper.now() >= kept:
            return due
        return kept if due is None else min(due, kept)

    async def _give_back(self, claim: Claim) -> None:
        """The store is away. As soon as it is there again, the table is looked at again.

        If that takes too long the lease ends by itself.
        """
        while not self._ending and self._keeper.now() < claim.until:
            await asyncio.sleep(self._jitter(0.5, 1.0) * self._poll)
            with contextlib.suppress(StoreError):
                now = self._keeper.now()
                await self._board.settle(claim, now, now)
                self.wake()
                return

    def _left_alone(self, table_id: str) -> int:
        """A table has failed: when it is looked at again."""
        self.counts.failures += 1
        times, _ = self._pauses.get(table_id, (0, 0))
        if len(self._pauses) > 10_000:
            self._pauses.clear()
        until = self._keeper.now() + min(FIRST_PAUSE_MS << min(times, 16), LONGEST_PAUSE_MS)
        self._pauses[table_id] = times + 1, until
        return until

    async def _do(self, table_id: str) -> int | None:
        """Do what is due at a table; when the next thing is."""
        try:
            held = await self._keeper.look(table_id)
        except Refused as refused:
            if refused.reason is Reason.UNKNOWN_TABLE:
                return None  # announced, but not made
            raise
        for _ in range(STEPS_IN_A_ROW):
            now = await self._outages.now()
            due = await self._next(held, now)
            if due is None or due.at > now:
                self._pauses.pop(table_id, None)
                return None if due is None else due.at
            if self._ending or not await self._renewed(table_id):
                break  # or we were too slow: somebody else does it
            before = held.revision, held.change_id
            if due.do is not None:
                held = await due.do(partial(self._kept, table_id))
            if before == (held.revision, held.change_id) and not self._ending:
                return now + FIRST_PAUSE_MS  # nothing that can be done
        return self._keeper.now()

    async def _next(self, held: Held, now: int) -> Due | None:
        """The first of the duties that is due by now, or the one that will be due first."""
        first: Due | None = None
        for duty in self._duties:
            due = await duty.next(held, now)
            if due is not None and (first is None or due.at < first.at):
                first = due
            if first is not None and first.at <= now:
                break
        return first

    async def _kept(self, table_id: str) -> None:
        """Keep a table for longer; it does not matter if that fails."""
        with contextlib.suppress(StoreError):
            await self._renewed(table_id)

    async def _renewed(self, table_id: str) -> bool:
        """There is time enough for a turn; False if somebody else has the job by now."""
        now = self._keeper.now()
        claim = self._claims[table_id]
        if claim.until - now >= self._lease_ms - RENEW_MS:
            return True
        renewed = await self._board.renew(claim, now, self._lease_ms)
        if renewed is None:
            return False
        self._claims[table_id] = renewed
        return True
