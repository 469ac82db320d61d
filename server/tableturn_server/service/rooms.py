"""The tables that a process has seen: decoded, with what they look like, and their last changes.

Every process may serve any table. The tables that it holds are immutable, so whoever asks shares
them. What is held may be old, and therefore counts for nothing until the store has confirmed it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tableturn_server.service import convert
from tableturn_server.service.refusing import unknown_table
from tableturn_server.store import Stored, TableStore
from tableturn_server.tables import commands, views
from tableturn_server.tables.log import LogEntry, decode_entry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import is_known
from tableturn_server.tables.state import Table, decode, game_of

MOST_TABLES = 1000
"""Decoded tables that are held."""
MOST_TOLD = 64
"""Recent changes of each table that are held for its watchers."""


class Held:
    """A table as the store has it at one revision, and what it looks like to each audience.

    `behind` is for how many milliseconds less than the time now it is shown so.
    """

    __slots__ = ("_views", "behind", "change_id", "changes", "positions", "revision", "table")

    def __init__(self, revision: int, change_id: str, table: Table, behind: int = 0) -> None:
        self.revision = revision
        self.change_id = change_id
        self.table = table
        self.behind = behind
        self._views: dict[int | None, bytes] = {}
        self.changes: dict[int | None, bytes] = {}
        """What watchers of each audience are told of the change that made it."""
        self.positions: dict[int, Any] = {}
        """The positions with what seats have staged, as far as they are known."""

    def is_at(self, revision: int, change_id: str) -> bool:
        """It is the table at this change and no other one."""
        return (self.revision, self.change_id) == (revision, change_id)

    def audience(self, by: commands.By, seat: int) -> int | None:
        """As whom a token sees the table (None: a spectator). Raises Refused at this revision."""
        with self.resting(by):
            return views.audience(self.table, by, seat)

    @contextlib.contextmanager
    def resting(self, by: commands.By) -> Iterator[None]:
        """Refusals inside name this revision, which they rest on, to a caller who may know it."""
        try:
            yield
        except Refused as refused:
            if may_know(self.table, by):
                refused.details["revision"] = str(self.revision)
            raise

    def view(self, seat: int | None) -> bytes:
        """The `TableView` for a seat or a spectator (None), encoded once."""
        data = self._views.get(seat)
        if data is None:
            message = convert.table_view(self.table, self.change_id, seat, self.behind)
            data = self._views[seat] = message.SerializeToString()
        return data


class Told:
    """One change of a table's log, and what it looks like to each audience."""

    __slots__ = ("_entries", "change_id", "entry", "revision")

    def __init__(self, change_id: str, entry: LogEntry) -> None:
        self.revision = entry.revision
        self.change_id = change_id
        self.entry = entry
        self._entries: dict[int | None, bytes] = {}

    def log_entry(self, seat: int | None) -> bytes:
        """The `LogEntry` for a seat or a spectator (None), encoded once."""
        if not self.entry.private and not self.entry.shown:
            seat = None
        data = self._entries.get(seat)
        if data is None:
            message = convert.log_entry(self.entry, self.change_id, seat)
            data = self._entries[seat] = message.SerializeToString()
        return data


class Room:
    """What is held of one table."""

    __slots__ = ("held", "lock", "told")

    def __init__(self, held: Held) -> None:
        self.held = held
        self.told: OrderedDict[int, Told] = OrderedDict()
        self.lock = asyncio.Lock()

    def tell(self, told: Told) -> None:
        """Hold one more change for watchers."""
        self.told[told.revision] = told
        while len(self.told) > MOST_TOLD:
            self.told.popitem(last=False)


class Rooms:
    """The tables of a store, as one process holds them."""

    def __init__(
        self,
        store: TableStore,
        *,
        clock: Callable[[], float] = time.time,
        most_tables: int = MOST_TABLES,
    ) -> None:
        self._store = store
        self._clock = clock
        self._most_tables = most_tables
        self._rooms: OrderedDict[str, Room] = OrderedDict()

    def now(self) -> int:
        """The time in milliseconds since 1970."""
        return int(self._clock() * 1000)

    # -- reading ---------------------------------------------------------------------------

    async def look(self, table_id: str) -> Held:
        """The table as it is in the store now (S9). Raises Refused for an unknown one."""
        room = self._rooms.get(table_id)
        if room is not None:
            held = room.held
            if await self._store.revision(table_id) == (held.revision, held.change_id):
                return held
        return await self.load(table_id)

    async def look_at_all(self, table_ids: Sequence[str]) -> list[Held | None]:
        """Many tables at once; None for one that isn't there or can't be read."""
        revisions = await self._store.revisions(table_ids)
        found: list[Held | None] = []
        for table_id, known in zip(table_ids, revisions, strict=True):
            room = self._rooms.get(table_id)
            if known is None:
                found.append(None)
            elif room is not None and (room.held.revision, room.held.change_id) == known:
                found.append(room.held)
            else:
                stored = await self._store.load(table_id)
                try:
                    found.append(self.hold(table_id, stored) if stored else None)
                except Refused:
                    found.append(None)
        return found

    async def reach(self, table_id: str, revision: int, change_id: str = "") -> Held:
        """The table at this revision or a later one; from memory if it is there.

        With a change id, memory counts only if it has that change; else the store is asked.
        """

        def is_there(held: Held) -> bool:
            if change_id:
                return (held.revision, held.change_id) == (revision, change_id)
            return held.revision >= revision

        room = self._rooms.get(table_id)
        if room is None:
            return await self.load(table_id)
        if is_there(room.held):
            return room.held
        async with room.lock:
            # Others may have waited for the same.
            if is_there(room.held) and self._rooms.get(table_id) is room:
                return room.held
            if room.held.revision < revision:
                return await self.load(table_id)
            return await self.look(table_id)

    async def changes(self, table_id: str, after: int, until: int) -> list[Told]:
        """The changes of revisions `after + 1` to `until`, from memory if they are there."""
        room = self._rooms.get(table_id)
        if room is None:
            return await self._log(table_id, after, until - after, until)
        wanted = range(after + 1, until + 1)
        if all(revision in room.told for revision in wanted):
            return [room.told[revision] for revision in wanted]
        async with room.lock:
            if not all(revision in room.told for revision in wanted):
                found = await self._log(table_id, after, until - after, until)
                for told in found:
                    known = room.told.get(told.revision)
                    if known is not None and known.change_id != told.change_id:
                        room.told.clear()  # the store has lost changes: another history
                    room.tell(told)
                return found
            return [room.told[revision] for revision in wanted]

    async def log(
        self, table_id: str, after: int, limit: int, until: int | None = None
    ) -> list[Told]:
        """A part of the log, from the store; not after the revision `until`."""
        return await self._log(table_id, after, limit, until)

    async def _log(self, table_id: str, after: int, limit: int, until: int | None) -> list[Told]:
        records = await self._store.log(table_id, after, limit, until)
        return [Told(record.change_id, decode_entry(record.entry)) for record in records]

    def held(self, table_id: str) -> Held | None:
        """The table as it was when this process saw it last, if it is held."""
        room = self._rooms.get(table_id)
        return None if room is None else room.held

    async def load(self, table_id: str) -> Held:
        """The table, read from the store. Raises Refused for an unknown one."""
        stored = await self._store.load(table_id)
        if stored is None:
            self.forget(table_id)
            raise unknown_table(table_id)
        return self.hold(table_id, stored)

    def hold(self, table_id: str, stored: Stored) -> Held:
        """Take over what the store says. Its answers come in order, so the last one is true."""
        room = self._rooms.get(table_id)
        if room is not None:
            held = room.held
            if (held.revision, held.change_id) == (stored.revision, stored.change_id):
                return held
        fresh = decoded(table_id, stored)
        self.put(table_id, fresh)
        return fresh

    def put(self, table_id: str, held: Held) -> Room:
        """Hold a table as it is after a change."""
        room = self._rooms.get(table_id)
        if room is None:
            room = self._rooms[table_id] = Room(held)
            while len(self._rooms) > self._most_tables:
                self._rooms.popitem(last=False)
            return room
        if held.revision <= room.held.revision:  # the store has lost changes: another history
            room.told.clear()
        room.held = held
        self._rooms.move_to_end(table_id)
        return room

    def forget(self, table_id: str) -> None:
        """Hold nothing of a table any more."""
        self._rooms.pop(table_id, None)


def may_know(table: Table, by: commands.By) -> bool:
    """A caller may be told how far a table is: not a stranger, where it is private."""
    if not table.making.private or by.admin or by.bots or by.service:
        return True
    return is_known(table, by.token)


def decoded(table_id: str, stored: Stored, like: Table | None = None, behind: int = 0) -> Held:
    """A table out of what the store has of it, `like` the one at another revision. Raises Refused.

    It is shown `behind` milliseconds later. Refused is one that a later version has written.
    """
    try:
        table = decode(stored.blob, like)
        game_of(table)
    except ValueError as error:
        raise Refused(
            Reason.UNKNOWN_NAME,
            f"table {table_id!r} can't be read by this version of the service: {error}",
            revision=stored.revision,
        ) from error
    return Held(stored.revision, stored.change_id, table, behind)
