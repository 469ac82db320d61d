"""Following a table: a snapshot, then each change, as long as the caller stays.

There is no queue. Each watcher remembers what it was told last and, when it is woken and its
reader has taken the last message, looks what is new: so a slow reader costs no memory and gets
a fresh snapshot when it has fallen far behind (G1).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from google.protobuf.timestamp_pb2 import Timestamp

from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call, Context, Desk, shutting_down
from tableturn_server.service.company_events import Aside, Asides
from tableturn_server.service.following import Following
from tableturn_server.service.keeper import Keeper
from tableturn_server.store import Signal, StoreError, Watcher, WatchHub
from tableturn_server.tables.making import check_table_id

HEARTBEAT = 8.0
"""Seconds without a message after which a sign of life is sent."""
_RETRY = 1.0

_Event = table_pb2.WatchTableResponse


class Watches:
    """All watches of a process."""

    def __init__(
        self,
        keeper: Keeper,
        hub: WatchHub,
        desk: Desk,
        asides: Asides,
        *,
        heartbeat: float = HEARTBEAT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keeper = keeper
        self._hub = hub
        self._desk = desk
        self._asides = asides
        self._heartbeat = heartbeat
        self._clock = clock
        self._open: set[Watcher] = set()

    def __len__(self) -> int:
        return len(self._open)

    def end_all(self) -> None:
        """End every watch with SHUTTING_DOWN."""
        for signals in list(self._open):
            signals.close()

    async def follow(
        self, request: table_pb2.WatchTableRequest, call: Call, context: Context
    ) -> None:
        """Write events until the caller leaves (the task is cancelled) or the service ends."""
        check_table_id(request.table_id)
        end = self._desk.gate.watch(call.principal, call.peer)
        try:
            # Listen first, then look: nothing can fall between (S14).
            async with self._hub.watch(request.table_id) as signals:
                self._open.add(signals)
                try:
                    await self._follow(request, call, context, signals)
                finally:
                    self._open.discard(signals)
        finally:
            end()
        raise shutting_down()

    async def _follow(
        self,
        request: table_pb2.WatchTableRequest,
        call: Call,
        context: Context,
        signals: Watcher,
    ) -> None:
        held = await self._keeper.look(request.table_id)
        self._hub.notify(request.table_id, held.revision, held.change_id)
        watch = Following(self._keeper, call, request, held)
        pen = _Pen(context, self._keeper)
        with Aside(self._asides, call, held) as aside:
            async for event in watch.begin(request.start_revision, request.start_change_id, held):
                await pen.write(event)
            if not pen.used:  # nothing is new: say that it was heard
                await pen.write(self._sign_of_life(watch, None))
            for event in await aside.begin(held):
                await pen.write(event)
            await self._go_on(watch, aside, pen, signals)

    async def _go_on(self, watch: Following, aside: Aside, pen: _Pen, signals: Watcher) -> None:
        """Tell what is new at every signal, and give a sign of life where nothing is."""
        stale_since: float | None = None
        behind = False
        while True:
            try:
                async with asyncio.timeout(self._patience(watch, pen, behind)):
                    signal: Signal | None = await anext(signals)
            except StopAsyncIteration:
                return
            except TimeoutError:
                signal = None
            if signal is not None and signal.stale_since is not None:
                stale_since = signal.stale_since
            elif signal is not None or behind or watch.is_due(self._keeper.now()):
                pen.used = False
                aged = signal is None and not behind
                try:
                    async for event in watch.come_of_age() if aged else watch.catch_up(signal):
                        await pen.write(event)
                except StoreError:
                    stale_since, behind = stale_since or self._clock(), True
                else:
                    fresh, stale_since, behind = stale_since is not None, None, False
                    told = pen.used
                    for event in await aside.hear(signal):
                        await pen.write(event)
                    if told or (not fresh and pen.rested < self._heartbeat):
                        continue
            else:
                for event in await aside.hear(signal):
                    await pen.write(event)
            await pen.write(self._sign_of_life(watch, stale_since))

    def _patience(self, watch: Following, pen: _Pen, behind: bool) -> float:
        """Seconds to wait for a signal."""
        wait = self._heartbeat - pen.rested
        if behind:
            wait = min(wait, _RETRY)
        if watch.due is not None:
            wait = min(wait, (watch.due - self._keeper.now() + 1) / 1000)
        return max(wait, 0.0)

    def _sign_of_life(self, watch: Following, stale_since: float | None) -> bytes:
        if stale_since is not None:
            since = convert.timestamp(int(stale_since * 1000))
            return _Event(stale=table_pb2.Stale(since=since)).SerializeToString()
        now: Timestamp = convert.timestamp(self._keeper.now())
        beat = table_pb2.Heartbeat(revision=watch.revision, time=now)
        return _Event(heartbeat=beat).SerializeToString()


class _Pen:
    """Writes to one watcher. `used`: since somebody asked last."""

    def __init__(self, context: Context, keeper: Keeper) -> None:
        self._context = context
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._written_at = self._loop.time()
        self.used = False

    @property
    def rested(self) -> float:
        """Seconds since something was written."""
        return self._loop.time() - self._written_at

    async def write(self, event: bytes) -> None:
        """Write an event with the time at which it is sent: encoded once, it goes to many."""
        now: Timestamp = convert.timestamp(self._keeper.now())
        await self._context.write(event + convert.nested(6, now.SerializeToString()))
        self._written_at = self._loop.time()
        self.used = True
