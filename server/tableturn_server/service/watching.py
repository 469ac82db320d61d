"""Following a table: a snapshot, then each change, as long as the caller stays.

There is no queue. Each watcher remembers what it was told last and, when it is woken and its
reader has taken the last message, looks what is new: so a slow reader costs no memory and gets
a fresh snapshot when it has fallen far behind (G1).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from google.protobuf.timestamp_pb2 import Timestamp

from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call, Context, Desk, shutting_down
from tableturn_server.service.keeper import MOST_TOLD, Held, Keeper, Told
from tableturn_server.store import Signal, StoreError, Watcher, WatchHub
from tableturn_server.tables.making import check_table_id

HEARTBEAT = 8.0
"""Seconds without a message after which a sign of life is sent."""
MOST_CHANGES = 500
"""Changes that are told one by one after a resume; a caller further behind gets a snapshot."""
_RETRY = 1.0

_Event = table_pb2.WatchTableResponse


class Watches:
    """All watches of a process."""

    def __init__(
        self,
        keeper: Keeper,
        hub: WatchHub,
        desk: Desk,
        *,
        heartbeat: float = HEARTBEAT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keeper = keeper
        self._hub = hub
        self._desk = desk
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
        watch = _Watch(self._keeper, call, request, held)
        told = False
        async for event in watch.begin(request.start_revision, request.start_change_id, held):
            await context.write(event)
            told = True
        stale_since: float | None = None
        if not told:  # nothing is new: say that it was heard
            await context.write(self._sign_of_life(watch, stale_since))
        behind = False
        while True:
            wait = min(self._heartbeat, _RETRY) if behind else self._heartbeat
            try:
                async with asyncio.timeout(wait):
                    signal: Signal | None = await anext(signals)
            except StopAsyncIteration:
                return
            except TimeoutError:
                signal = None
            if signal is not None and signal.stale_since is not None:
                stale_since = signal.stale_since
            elif signal is not None or behind:
                try:
                    told = False
                    async for event in watch.catch_up(signal):
                        await context.write(event)
                        told = True
                except StoreError:
                    stale_since, behind = stale_since or self._clock(), True
                else:
                    fresh, stale_since, behind = stale_since is not None, None, False
                    if told or not fresh:
                        continue
            await context.write(self._sign_of_life(watch, stale_since))

    def _sign_of_life(self, watch: _Watch, stale_since: float | None) -> bytes:
        if stale_since is not None:
            since = convert.timestamp(int(stale_since * 1000))
            return _Event(stale=table_pb2.Stale(since=since)).SerializeToString()
        now: Timestamp = convert.timestamp(self._keeper.now())
        beat = table_pb2.Heartbeat(revision=watch.revision, time=now)
        return _Event(heartbeat=beat).SerializeToString()


class _Watch:
    """What one watcher was told last, and how it goes on from there."""

    def __init__(
        self, keeper: Keeper, call: Call, request: table_pb2.WatchTableRequest, held: Held
    ) -> None:
        self._keeper = keeper
        self._by = call.by
        self._table_id = request.table_id
        self._wanted = request.seat
        self._seat = held.audience(call.by, request.seat)
        self.revision = 0
        self._change_id = ""

    async def begin(self, start: int, change_id: str, held: Held) -> AsyncIterator[bytes]:
        """The changes after a resume token that still fits; else a snapshot."""
        if start:
            kept = await self._keeper.log(self._table_id, start - 1, 1)
            if kept and kept[0].revision > start + 1:
                yield _compacted(kept[0].revision)
            elif (
                kept
                and (kept[0].revision, kept[0].change_id) == (start, change_id)
                and held.revision - start <= MOST_CHANGES
            ):
                self.revision, self._change_id = start, change_id
                if held.revision > start:
                    async for event in self._changes_to(held):
                        yield event
                return
        yield self._snapshot(held)

    async def catch_up(self, signal: Signal | None) -> AsyncIterator[bytes]:
        """What is new after a signal; without one, what the store has now."""
        if signal is None or signal.revision < self.revision:
            # An older revision than was told: perhaps the store has lost changes. Ask it.
            held = await self._keeper.look(self._table_id)
        elif signal.revision == self.revision and signal.change_id in ("", self._change_id):
            return
        else:
            # Perhaps another change of the revision that was told: the store had lost ours.
            held = await self._keeper.reach(self._table_id, signal.revision, signal.change_id)
        if (held.revision, held.change_id) == (self.revision, self._change_id):
            return
        # A token may have won or lost a seat meanwhile (S15).
        seat = held.audience(self._by, self._wanted)
        if seat != self._seat:
            self._seat = seat
            yield self._snapshot(held)
        elif not self.revision < held.revision < self.revision + MOST_TOLD:
            yield self._snapshot(held)
        else:
            async for event in self._changes_to(held):
                yield event

    async def _changes_to(self, held: Held) -> AsyncIterator[bytes]:
        """Each change up to this revision, the last one with the table; a snapshot at a gap.

        The change that was told last is read too: if it is another one by now, the store has
        lost changes, and those that follow do not go on from it.
        """
        changes = await self._keeper.changes(self._table_id, self.revision - 1, held.revision)
        complete = [told.revision for told in changes] == list(
            range(self.revision, held.revision + 1)
        )
        ends = (self._change_id, held.change_id)
        if not complete or (changes[0].change_id, changes[-1].change_id) != ends:
            yield self._snapshot(held)
            return
        for told in changes[1:-1]:
            yield convert.nested(2, convert.nested(1, told.log_entry(self._seat)))
        yield _last_change(changes[-1], held, self._seat)
        self.revision, self._change_id = held.revision, held.change_id

    def _snapshot(self, held: Held) -> bytes:
        self.revision, self._change_id = held.revision, held.change_id
        return convert.nested(1, convert.nested(1, held.view(self._seat)))


def _last_change(told: Told, held: Held, seat: int | None) -> bytes:
    """The event of a change with the table after it, encoded once for each audience."""
    data = held.changes.get(seat)
    if data is None:
        change = convert.nested(1, told.log_entry(seat)) + convert.nested(2, held.view(seat))
        data = held.changes[seat] = convert.nested(2, change)
    return data


def _compacted(revision: int) -> bytes:
    compacted = table_pb2.Compacted(compacted_revision=revision)
    return _Event(compacted=compacted).SerializeToString()
