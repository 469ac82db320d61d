"""Does what is due: claims jobs, looks at their tables, and takes the turns of bots.

Any number of processes do this on one store. A lease keeps them out of each other's way; that
a turn is taken once is sure by the turn itself, which names the revision that it rests on and
carries a request id made of that change: a second one finds the table changed, or itself done.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from random import uniform

import msgspec

from tableturn_server.bots.pool import Pool, WorkerFailed, least_turn
from tableturn_server.rules.actions import Action
from tableturn_server.service.keeper import Held, Keeper
from tableturn_server.store import Claim, JobBoard, Request, StoreError
from tableturn_server.store.jobs import KEPT_MS
from tableturn_server.tables import commands
from tableturn_server.tables.due import due_at, due_bots
from tableturn_server.tables.facts import confirmed_at_panel, has_people
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Table

log = logging.getLogger(__name__)

LEASE_MS = 5000
RENEW_MS = 500
"""A lease that is older is renewed before the next turn."""
THINKING = 1.0
"""Seconds after which the lease is renewed, again and again, while a bot thinks."""
POLL = 1.0
"""Seconds between two looks at the jobs, when nobody of this process has told of one."""
DEADLINE = 3.0
"""Seconds in which a turn has to be carried out once it is known."""
TURNS_IN_A_ROW = 4
"""Then a table goes to the end of the queue: none keeps the others waiting."""
AT_ONCE = 64
"""Tables for each worker that are looked after at the same time. Most of them wait for the worker,
where tables with people come first; beyond so many, they have to be claimed first."""
FIRST_PAUSE_MS = 1000
LONGEST_PAUSE_MS = 60_000
"""How long a table that fails is left alone: longer each time."""

ENDLESS = 5000
"""After so many turns a game of bots alone is taken for one that has no end, such as a free table
without a number of rounds."""
ENDLESS_PAUSE_MS = 10_000
"""How long its bots think from then on: it must not fill the disk while nobody looks."""

_BY = commands.By(bots=True)
_encode = msgspec.msgpack.Encoder().encode
_ILLEGAL = (Reason.ILLEGAL_ACTION, Reason.CANNOT_CONFIRM)
_CHANGED = (
    Reason.BAD_TOKEN,  # the host has sent the bot away
    Reason.NOT_ALLOWED,  # a panel has to confirm by now
    Reason.STALE_REVISION,
    Reason.NOT_ASKED,
    Reason.NOT_STARTED,
    Reason.GAME_OVER,
    Reason.PAUSED,
    Reason.REQUEST_ID_REUSED,
)
"""If the table is not any more what the turn rested on: look again."""


class Counts(msgspec.Struct):
    """What a runner has done so far."""

    turns: int = 0
    stale: int = 0
    """Turns that somebody else had taken, or that were asked no more."""
    illegal: int = 0
    failures: int = 0


class Runner:
    """Takes the turns of bots at all tables of a store, as long as it runs."""

    def __init__(
        self,
        board: JobBoard,
        keeper: Keeper,
        pool: Pool,
        *,
        workers: int = 1,
        poll: float = POLL,
        lease_ms: int = LEASE_MS,
        jitter: Callable[[float, float], float] = uniform,
    ) -> None:
        self._board = board
        self._keeper = keeper
        self._pool = pool
        self._room = AT_ONCE * workers
        self._poll = poll
        self._lease_ms = lease_ms
        self._jitter = jitter
        self._woken = asyncio.Event()
        self._main: asyncio.Task[None] | None = None
        self._tables: set[asyncio.Task[None]] = set()
        self._claims: dict[str, Claim] = {}
        """Of the tables that are looked after now, until they are settled. The counter is that of
        before the look: what was announced since then is not done by it."""
        self._pauses: dict[str, tuple[int, int]] = {}
        """Tables that failed: how often, and until when they are left alone."""
        self._ending = False
        self.counts = Counts()

    def start(self) -> None:
        """Begin. From now on changes of this process wake it."""
        self._keeper.on_due = self.wake
        self._main = asyncio.get_running_loop().create_task(self._run())

    def wake(self) -> None:
        """Something is due: look at once."""
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
            try:
                more = await self._claim()
            except StoreError as error:
                log.info("no jobs can be claimed: %s", error.sentence)
                await self._rest(pause)
                continue
            except Exception:
                log.exception("no jobs can be claimed")
                await self._rest(pause)
                continue
            if not more and not self._ending:
                await self._rest(pause)

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
                due = await self._do(table_id)
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
        if due is None and now < claim.announced + KEPT_MS:
            due = claim.announced + KEPT_MS  # its change may still be on the way
        with contextlib.suppress(StoreError):
            settled = await self._board.settle(claim, due, now)
            if not settled or (due is not None and due <= self._keeper.now()):
                self.wake()  # announced again, by our own turns if by nobody else

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
        """Take the turns that are due; when the next thing is due."""
        try:
            held = await self._keeper.look(table_id)
        except Refused as refused:
            if refused.reason is Reason.UNKNOWN_TABLE:
                return None  # announced, but not made
            raise
        for _ in range(TURNS_IN_A_ROW):
            if _is_endless(held.table):
                until = held.table.stamp + ENDLESS_PAUSE_MS
                if self._keeper.now() < until and due_bots(held.table):
                    return until
            seats = due_bots(held.table)
            if not seats:
                self._pauses.pop(table_id, None)
                due = due_at(held.table)
                if due is not None and due <= self._keeper.now():
                    due = self._keeper.now() + FIRST_PAUSE_MS  # nothing that is done here
                return due
            if self._ending:
                break
            if not await self._renewed(table_id):
                break  # we were too slow: somebody else does it
            held = await self._take_turn(table_id, held, seats[0])
        return self._keeper.now()

    async def _thought(self, table_id: str, table: Table, seat: int) -> tuple[Action, ...]:
        """What a bot wants to do. While it thinks, or waits for a worker, the lease is kept."""
        thinking = asyncio.get_running_loop().create_task(self._pool.turn(table, seat))
        try:
            while not (await asyncio.wait({thinking}, timeout=THINKING))[0]:
                # Should somebody else have the job by now, the turn is taken once all the same.
                with contextlib.suppress(StoreError):
                    await self._renewed(table_id)
            return thinking.result()
        finally:
            if not thinking.done():
                thinking.cancel()
                await asyncio.wait({thinking})

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

    async def _take_turn(self, table_id: str, held: Held, seat: int) -> Held:
        """One turn of a bot; the table after it, whoever has taken it.

        Where a panel confirms it is staged only; or the bot says that it stages nothing.
        """
        table = held.table
        try:
            actions = await self._thought(table_id, table, seat)
        except WorkerFailed:  # the service is ending
            return held
        confirm = not confirmed_at_panel(table, seat)
        done = await self._carry_out(table_id, held, seat, actions, confirm)
        if done is None:
            self.counts.illegal += 1
            log.warning("a bot's turn at table %s is not legal; it takes the default", table_id)
            actions = least_turn(table, seat)
            done = await self._carry_out(table_id, held, seat, actions, confirm)
            if done is None:
                raise RuntimeError(f"seat {seat} has no legal turn")
        now = done.table
        if not confirm and now.staged[seat - 1] and not confirmed_at_panel(now, seat):
            # Since it was asked the host has said that no panel confirms: nobody else does it.
            return await self._carry_out(table_id, done, seat, (), True) or done
        return done

    async def _carry_out(
        self,
        table_id: str,
        held: Held,
        seat: int,
        actions: tuple[Action, ...],
        confirm: bool,
    ) -> Held | None:
        """Stage and confirm a turn, once; the table after it, or None if it isn't legal."""
        command = commands.Act(
            by=_BY,
            seat=seat,
            expected_revision=held.revision,
            actions=actions,
            confirm=confirm,
        )
        # The seat is part of the id: bots that are asked at once don't share a request.
        request = Request(
            f"bot:{seat}", f"{held.revision}:{held.change_id}", _encode((actions, confirm))
        )
        deadline = asyncio.get_running_loop().time() + DEADLINE
        try:
            done = await self._keeper.carry_out(table_id, command, request, deadline)
        except Refused as refused:
            if refused.reason not in _CHANGED + _ILLEGAL:
                raise
            fresh = await self._keeper.look(table_id)
            if (fresh.revision, fresh.change_id) != (held.revision, held.change_id):
                self.counts.stale += 1
                return fresh
            if refused.reason in _ILLEGAL:
                return None
            raise  # it would be refused again, for ever
        if done.held is None:  # somebody else has taken this very turn
            self.counts.stale += 1
            return await self._keeper.look(table_id)
        self.counts.turns += 1
        return done.held


def _is_endless(table: Table) -> bool:
    """Bots play on and on among themselves."""
    return table.turns >= ENDLESS and not has_people(table)
