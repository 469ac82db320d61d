"""Keeps tables: reads them from the store, and carries commands out.

Every process may serve any table. It holds decoded tables that it has seen; they are immutable,
so whoever asks shares them. What it holds may be old, and therefore counts for nothing until
the store has confirmed it: a change is committed on the very change that it was decided on, a
refusal is told only when the store has said that this is still the table's last change.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from tableturn_server.service import convert
from tableturn_server.store import (
    CommitResult,
    Committed,
    Conflict,
    Exists,
    JobBoard,
    Known,
    LogRecord,
    Missing,
    Request,
    Reused,
    Snapshot,
    Stored,
    StoreError,
    TableStore,
    Unchanged,
    WatchHub,
    Write,
)
from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import Change, decide, needs_history
from tableturn_server.tables.due import due_at
from tableturn_server.tables.export import Imported
from tableturn_server.tables.history import History, snapshot_turn, standing, turn_to_take_back
from tableturn_server.tables.log import LogEntry, decode_entry, encode_entry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Status, Table, decode, encode, game_of

MOST_TABLES = 1000
"""Decoded tables that are held."""
MOST_TOLD = 64
"""Recent changes of each table that are held for its watchers."""
MOST_ATTEMPTS = 64
_LOG_PAGE = 500
_PUBLISH_AFTER = 0.01
"""Seconds in which the wake-ups for other processes are gathered. Ours are told at once."""
_LOOK = -1
"""Published instead of a revision: whoever hears it reads the revision from the store."""


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of an answer, to give it again: never a view, never a secret."""

    seat: int = 0
    waiting_for: tuple[int, ...] = ()


_encode_outcome = msgspec.msgpack.Encoder().encode
_decode_outcome = msgspec.msgpack.Decoder(Outcome).decode


class Held:
    """A table as the store has it at one revision, and what it looks like to each audience."""

    __slots__ = ("_views", "change_id", "changes", "positions", "revision", "table")

    def __init__(self, revision: int, change_id: str, table: Table) -> None:
        self.revision = revision
        self.change_id = change_id
        self.table = table
        self._views: dict[int | None, bytes] = {}
        self.changes: dict[int | None, bytes] = {}
        """What watchers of each audience are told of the change that made it."""
        self.positions: dict[int, Any] = {}
        """The positions with what seats have staged, as far as they are known."""

    def audience(self, by: commands.By, seat: int) -> int | None:
        """As whom a token sees the table (None: a spectator). Raises Refused at this revision."""
        try:
            return views.audience(self.table, by, seat)
        except Refused as refused:
            refused.details["revision"] = str(self.revision)
            raise

    def view(self, seat: int | None) -> bytes:
        """The `TableView` for a seat or a spectator (None), encoded once."""
        data = self._views.get(seat)
        if data is None:
            message = convert.table_view(self.table, self.change_id, seat)
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


class Done(msgspec.Struct, frozen=True):
    """What became of a command. `told` is its change, where there is one and it is at hand."""

    revision: int
    seat: int = 0
    waiting_for: tuple[int, ...] = ()
    replayed: bool = False
    held: Held | None = None
    told: Told | None = None


class _GapError(Exception):
    """The store does not have the turns that a table rests on."""


class _Room:
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


class Keeper:
    """The tables of a store, as one process holds them.

    A change after which something has to be done for the table, such as a bot's turn, is
    announced on the board of `jobs` before it is made and again afterwards, and told to `on_due`.
    """

    def __init__(
        self,
        store: TableStore,
        hub: WatchHub,
        *,
        jobs: JobBoard | None = None,
        clock: Callable[[], float] = time.time,
        most_tables: int = MOST_TABLES,
    ) -> None:
        self._store = store
        self._hub = hub
        self._jobs = jobs
        self.on_due: Callable[[], None] = _nobody
        self._clock = clock
        self._most_tables = most_tables
        self._rooms: OrderedDict[str, _Room] = OrderedDict()
        self._to_publish: dict[str, int] = {}

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
        return await self._load(table_id)

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
                    found.append(self._hold(table_id, stored) if stored else None)
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
            return await self._load(table_id)
        if is_there(room.held):
            return room.held
        async with room.lock:
            # Others may have waited for the same.
            if is_there(room.held) and self._rooms.get(table_id) is room:
                return room.held
            if room.held.revision < revision:
                return await self._load(table_id)
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

    async def log(self, table_id: str, after: int, limit: int) -> list[Told]:
        """A part of the log, from the store."""
        return await self._log(table_id, after, limit, None)

    async def _log(self, table_id: str, after: int, limit: int, until: int | None) -> list[Told]:
        records = await self._store.log(table_id, after, limit, until)
        return [Told(record.change_id, decode_entry(record.entry)) for record in records]

    async def _load(self, table_id: str) -> Held:
        stored = await self._store.load(table_id)
        if stored is None:
            self.forget(table_id)
            raise unknown_table(table_id)
        return self._hold(table_id, stored)

    def _hold(self, table_id: str, stored: Stored) -> Held:
        """Take over what the store says. Its answers come in order, so the last one is true."""
        room = self._rooms.get(table_id)
        if room is not None:
            held = room.held
            if (held.revision, held.change_id) == (stored.revision, stored.change_id):
                return held
        try:
            table = decode(stored.blob)
            game_of(table)
        except ValueError as error:
            raise Refused(
                Reason.UNKNOWN_NAME,
                f"table {table_id!r} can't be read by this version of the service: {error}",
                revision=stored.revision,
            ) from error
        fresh = Held(stored.revision, stored.change_id, table)
        self._put(table_id, fresh)
        return fresh

    def _put(self, table_id: str, held: Held) -> _Room:
        room = self._rooms.get(table_id)
        if room is None:
            room = self._rooms[table_id] = _Room(held)
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

    # -- changing --------------------------------------------------------------------------

    async def carry_out(
        self,
        table_id: str,
        command: commands.AnyCommand,
        request: Request | None,
        deadline: float,
    ) -> Done:
        """Carry a command out, once. Raises Refused, with the revision that it rests on.

        If the table has changed meanwhile the command is decided again, on the fresh state and
        with the revision that its sender had seen (S1, S6).
        """
        room = self._rooms.get(table_id)
        held = room.held if room is not None else await self._load(table_id)
        loop = asyncio.get_running_loop()
        for _ in range(MOST_ATTEMPTS):
            change, refused, history, gap = None, None, None, False
            if needs_history(held.table, command):
                try:
                    history = await self._history(table_id, held.table)
                except _GapError:
                    fresh = await self._load(table_id)
                    if (fresh.revision, fresh.change_id) != (held.revision, held.change_id):
                        held = fresh  # what was held is old
                        continue
                    gap = True
            try:
                change = decide(held.table, command, self.now(), history, held.positions)
            except Refused as error:
                lost = gap and error.reason is Reason.NOTHING_TO_TAKE_BACK
                refused = turns_not_kept() if lost else error
            if loop.time() >= deadline:  # nobody waits for the answer any more
                raise too_late(held.revision)
            change_id = secrets.token_hex(8)
            result = await self._commit(table_id, held, change, change_id, request)
            match result:
                case Committed() if change is not None:
                    return self._committed(table_id, held, change, change_id)
                case Known():
                    return _replayed(result)
                case Conflict():
                    held = self._hold(table_id, result.stored)
                case Missing():
                    self.forget(table_id)
                    raise unknown_table(table_id)
                case Reused():
                    raise reused(held.revision)
                case Unchanged() if refused is None:
                    return Done(held.revision, held=held)
                case _:
                    assert refused is not None
                    refused.details["revision"] = str(held.revision)
                    raise refused
        raise too_late(held.revision)

    async def _commit(
        self,
        table_id: str,
        held: Held,
        change: Change | None,
        change_id: str,
        request: Request | None,
    ) -> CommitResult:
        based_on = (held.revision, held.change_id)
        if change is None:
            return await self._store.commit(table_id, based_on, request, None)
        blob = encode(change.table)
        write = Write(
            blob=blob,
            entry=encode_entry(change.entry),
            outcome=_encode_outcome(Outcome(change.seat, change.waiting_for)),
            change_id=change_id,
            snapshot=Snapshot(change.table.turns, blob) if change.snapshot else None,
        )
        try:
            async with self._announced(change.table):
                return await self._store.commit(table_id, based_on, request, write)
        except asyncio.CancelledError:
            # The caller is gone, but the change may be made: watchers shall look.
            self._store.publish(table_id, _LOOK)
            raise
        except StoreError:
            self.forget(table_id)
            raise

    @contextlib.asynccontextmanager
    async def _announced(self, table: Table) -> AsyncIterator[None]:
        """Around a commit: announce what has to be done for the table after it, if anything has.

        Before the commit, so that whoever finds the change finds the job, also if this process
        dies in between. And again after it, because whoever looked in between found nothing to
        do: also when the caller is gone or the store has not answered, for the change may be made.
        """
        due = due_at(table)
        if due is None or self._jobs is None:
            yield
            return
        table_id = table.making.table_id
        await self._jobs.announce(table_id, due, self.now())
        try:
            yield
        finally:
            self._jobs.announce_again(table_id, due, self.now())
            self.on_due()

    def _committed(self, table_id: str, before: Held, change: Change, change_id: str) -> Done:
        """A change is durable: hold it, and tell whoever watches."""
        held = Held(change.table.revision, change_id, change.table)
        if change.table.open is before.table.open:
            held.positions = before.positions.copy()
            if change.position is not None:
                held.positions[change.seat] = change.position
            else:
                held.positions.pop(change.seat, None)
        told = Told(change_id, change.entry)
        self._put(table_id, held).tell(told)
        self._tell(table_id, held)
        return Done(held.revision, change.seat, change.waiting_for, held=held, told=told)

    async def _history(self, table_id: str, table: Table) -> History | None:
        """What a takeback needs, from the nearest snapshot on (L5).

        None if no turn stands. Raises _GapError if the store does not have all of it: this
        table is an old one, because the store keeps what the newest one needs.
        """
        if table.status is not Status.RUNNING or not table.turns:
            return None
        found = await self._store.nearest_snapshot(
            table_id, snapshot_turn(turn_to_take_back(table))
        )
        if found is None:
            raise _GapError
        snapshot = decode(found.blob)
        entries: list[LogEntry] = []
        after = snapshot.revision
        if after > table.revision:  # taken when a turn was played again
            raise _GapError
        while after < table.revision:
            page = await self._store.log(table_id, after, _LOG_PAGE, table.revision)
            if not page:
                break
            after = page[-1].revision
            entries += [e for e in map(_entry_of, page) if e.turn]
        try:
            return History(snapshot, standing(entries, snapshot.turns, table.turns))
        except KeyError as error:
            raise _GapError from error

    # -- new tables ------------------------------------------------------------------------

    async def create(
        self, table: Table, entry: LogEntry, request: Request | None
    ) -> tuple[Held, bool, bool]:
        """Put a new table into the store: the table, whether it is new, whether it is a replay.

        A table that has the id already is returned as it is, not as a replay.
        """
        table_id = table.making.table_id
        change_id = secrets.token_hex(8)
        write = Write(
            blob=encode(table),
            entry=encode_entry(entry),
            outcome=_encode_outcome(Outcome()),
            change_id=change_id,
        )
        async with self._announced(table):
            result = await self._store.create(
                table_id, request, write, created_ms=table.making.created
            )
        match result:
            case Committed():
                held = Held(table.revision, change_id, table)
                self._put(table_id, held).tell(Told(change_id, entry))
                self._tell(table_id, held)
                return held, True, False
            case Exists():
                return self._hold(table_id, result.stored), False, False
            case Reused():
                raise reused(None)
            case _:
                return await self.look(table_id), False, True

    async def restore(self, imported: Imported, request: Request | None) -> tuple[Held, bool]:
        """Put an imported table into the store: the table, and whether this is a replay."""
        table = imported.table
        table_id = table.making.table_id
        change_id = imported.log[-1].change_id
        entries = [
            LogRecord(kept.entry.revision, kept.change_id, encode_entry(kept.entry))
            for kept in imported.log
        ]
        async with self._announced(table):
            result = await self._store.restore(
                table_id,
                Stored(table.revision, change_id, encode(table)),
                entries,
                [Snapshot(turn, encode(snapshot)) for turn, snapshot in imported.snapshots],
                request,
                outcome=_encode_outcome(Outcome()),
                created_ms=table.making.created,
            )
        match result:
            case Committed():
                held = Held(table.revision, change_id, table)
                self._put(table_id, held)
                self._tell(table_id, held)
                return held, False
            case Exists():
                raise table_exists(table_id, result.stored.revision)
            case Reused():
                raise reused(None)
            case _:
                return await self.look(table_id), True

    def _tell(self, table_id: str, held: Held) -> None:
        """Wake the watchers of this process at once, and of all others a moment later.

        Under load many tables change in a moment; their wake-ups leave in one go.
        """
        self._hub.notify(table_id, held.revision, held.change_id)
        if not self._to_publish:
            asyncio.get_running_loop().call_later(_PUBLISH_AFTER, self._publish)
        self._to_publish[table_id] = held.revision

    def _publish(self) -> None:
        waiting, self._to_publish = self._to_publish, {}
        for table_id, revision in waiting.items():
            self._store.publish(table_id, revision)


def _nobody() -> None:
    """Nobody in this process does what is due."""


def _entry_of(record: LogRecord) -> LogEntry:
    return decode_entry(record.entry)


def _replayed(known: Known) -> Done:
    outcome = _decode_outcome(known.outcome)
    return Done(known.revision, outcome.seat, outcome.waiting_for, replayed=True)


def too_late(revision: int) -> Refused:
    """The refusal of a call that could not be carried out in time; nothing was changed."""
    return Refused(
        Reason.STORE_UNAVAILABLE,
        "there was not time enough to carry the call out; repeat it with the same request id",
        revision=revision,
    )


def turns_not_kept() -> Refused:
    """The refusal to take a turn back when the store has not all that it takes."""
    return Refused(
        Reason.NOTHING_TO_TAKE_BACK,
        "the earlier turns of this table are not kept completely; nothing can be taken back",
    )


def reused(revision: int | None) -> Refused:
    """The refusal of a request id that was used for something else (S8)."""
    refused = Refused(
        Reason.REQUEST_ID_REUSED,
        "this request id was used for another request; a new request needs a new id",
        field="request_id",
    )
    if revision is not None:
        refused.details["revision"] = str(revision)
    return refused


def table_exists(table_id: str, revision: int) -> Refused:
    """The refusal of an id that another table has."""
    return Refused(
        Reason.TABLE_EXISTS,
        f"there is a table {table_id!r} already, which was made otherwise",
        revision=revision,
    )


def unknown_table(table_id: str) -> Refused:
    """The refusal of an id that no table has."""
    return Refused(Reason.UNKNOWN_TABLE, f"there is no table {table_id!r}")
