"""What one watcher was told last of a table, and how it goes on from there.

There is no queue: whoever is woken looks what is new since then. A plain spectator of a table
with a delay is woken by time as well, because what was too new comes of age (`due`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.rooms import MOST_TOLD, Held, Told
from tableturn_server.store import Signal

MOST_CHANGES = 500
"""Changes that are told one by one after a resume; a caller further behind gets a snapshot."""

_Event = table_pb2.WatchTableResponse


class Following:
    """One watcher of a table."""

    def __init__(
        self, keeper: Keeper, call: Call, request: table_pb2.WatchTableRequest, live: Held
    ) -> None:
        self._keeper = keeper
        self._by = call.by
        self._table_id = request.table_id
        self._wanted = request.seat
        self._seat: int | None = None
        self.live = live
        """The table as it is, also where the watcher sees it later."""
        self.due: int | None = None
        """When the watcher sees something newer without a signal, in milliseconds since 1970."""
        self.revision = 0
        self._change_id = ""

    async def begin(self, start: int, change_id: str, live: Held) -> AsyncIterator[bytes]:
        """The changes after a resume token that still fits; else a snapshot."""
        held, by, due = await self._keeper.sights.of(live, self._by)
        self._seat = held.audience(by, self._wanted)
        self.live, self.due = live, due
        if 0 < start <= held.revision:
            kept = await self._keeper.log(self._table_id, start - 1, 1)
            if kept and kept[0].revision > start + 1:
                yield _compacted(min(kept[0].revision, held.revision))
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

    def is_due(self, now: int) -> bool:
        """The watcher sees something newer by now."""
        return self.due is not None and now >= self.due

    async def come_of_age(self) -> AsyncIterator[bytes]:
        """What the watcher may see by now of the table as it was known."""
        async for event in self._show(self.live):
            yield event

    async def catch_up(self, signal: Signal | None) -> AsyncIterator[bytes]:
        """What is new after a signal; without one, what the store has now."""
        known = self.live
        if signal is None or signal.revision < known.revision:
            # An older revision than was told: perhaps the store has lost changes. Ask it.
            live = await self._keeper.look(self._table_id)
        elif signal.revision == known.revision and signal.change_id in ("", known.change_id):
            return
        else:
            # Perhaps another change of the revision that was told: the store had lost ours.
            live = await self._keeper.reach(self._table_id, signal.revision, signal.change_id)
        async for event in self._show(live):
            yield event

    async def _show(self, live: Held) -> AsyncIterator[bytes]:
        """What is new to the watcher when the table is as it is in `live`."""
        held, by, due = await self._keeper.sights.of(live, self._by)
        # A token may have won or lost a seat meanwhile (S15).
        seat = held.audience(by, self._wanted)
        if seat != self._seat:
            self._seat = seat
            yield self._snapshot(held)
        elif not held.is_at(self.revision, self._change_id):
            if self.revision < held.revision < self.revision + MOST_TOLD:
                async for event in self._changes_to(held):
                    yield event
            else:
                yield self._snapshot(held)
        self.live, self.due = live, due

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
