"""The tables in the store: every change is one call, decided inside the store (cases S6, S8, D6).

A decision made in this process is only a proposal: it names the change that it rests on, by its
revision and its id, and the commit script either carries it out as a whole or says what is there
instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from . import keys
from .errors import StoreError
from .hub import ASIDE
from .index import TableIndex
from .link import Reply
from .records import (
    CommitResult,
    Committed,
    Conflict,
    CreateResult,
    Exists,
    Known,
    LogRecord,
    Missing,
    Page,
    Past,
    PastState,
    Request,
    Reused,
    Snapshot,
    Stored,
    Unchanged,
    Write,
)
from .resp import Argument, Connection, Script

_HERE = files(__package__)
_COMMIT = Script(_HERE.joinpath("commit.lua").read_text("utf-8"))
_RESTORE = Script(_HERE.joinpath("restore.lua").read_text("utf-8"))

PAST_RESTS_MS = 10 * 60_000
"""For how much longer than the delay the past of a table is kept that nothing happens at."""
REMEMBERED_MS = 7 * 24 * 60 * 60_000
"""For how long the last request ids of a token are remembered after the last of them."""


class TableStore:
    """Reads and changes tables. Every method may raise StoreUnavailable, StoreFull, StoreError.

    An answer of `commit`, `create` or `restore` follows durability: what is told here survives
    a crash of the store.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._index = TableIndex(connection)

    # -- changes ---------------------------------------------------------------------------

    async def commit(
        self,
        table_id: str,
        based_on: tuple[int, str],
        request: Request | None,
        write: Write | None,
        *,
        outcome: bytes = b"",
    ) -> CommitResult:
        """Carry out a change that was decided on `based_on`: a revision and its change's id.

        Asked in this order: was this request answered before (Known, Reused), is there such a
        table (Missing), is `based_on` still its last change (else Conflict with the fresh state;
        the id tells apart two changes of one revision, after the store has lost the first).
        Without `write` nothing is changed: Unchanged confirms that what was decided rests on the
        current state (case S9); with an `outcome`, the request is remembered for having found
        nothing to change. With `write`, state, one log entry and the outcome are written as the
        next revision, or nothing at all.
        """
        revision = based_on[0]
        if revision < 1:
            raise ValueError("a change is based on a revision of 1 or more; see create()")
        reply = await self._decide(table_id, based_on, request, write, "", outcome)
        match reply[0]:
            case b"committed":
                return Committed(revision + 1)
            case b"conflict":
                return Conflict(_stored(reply[1:]))
            case b"unchanged":
                return Unchanged(revision)
            case b"missing":
                return Missing()
            case _:
                return _seen(reply)

    async def create(
        self, table_id: str, request: Request | None, write: Write, *, created_ms: int
    ) -> CreateResult:
        """Make a new table of revision 1. `created_ms` (Unix time) is its place in the index.

        A repeated request finds its outcome only under the same table id: derive the id from
        the principal and the request id.
        """
        # The index comes first: an id too many does no harm, a table that nobody finds does.
        await self._index.put(table_id, created_ms)
        reply = await self._decide(table_id, (0, ""), request, write, str(created_ms))
        match reply[0]:
            case b"committed":
                return Committed(1)
            case b"conflict":
                return Exists(_stored(reply[1:]))
            case _:
                return _seen(reply)

    async def restore(
        self,
        table_id: str,
        stored: Stored,
        entries: Sequence[LogRecord],
        snapshots: Sequence[Snapshot],
        request: Request | None,
        *,
        outcome: bytes = b"",
        created_ms: int,
        past: Past | None = None,
    ) -> CreateResult:
        """Put a whole table into the store: state, log and snapshots, or nothing.

        The entries' revisions ascend without a gap up to `stored.revision` (ValueError
        otherwise). Refuses with Exists if there is a table of this id.
        """
        first = stored.revision - len(entries) + 1
        if first < 1 or any(record.revision != first + n for n, record in enumerate(entries)):
            raise ValueError("log entries must end at the table's revision and have no gap")
        await self._index.put(table_id, created_ms)
        digest, body = request.digests() if request else (b"", b"")
        args: list[Argument] = [stored.revision, stored.change_id, stored.blob, created_ms]
        args += [digest, body, outcome, len(entries), len(snapshots)]
        args += [past.stamp, past.delay + PAST_RESTS_MS, past.blob] if past else ["", "", ""]
        args.append(REMEMBERED_MS)
        for record in entries:
            args += [record.revision, record.change_id, record.entry]
        for snapshot in snapshots:
            args += [snapshot.turn, snapshot.blob]
        reply = await self._durably(_RESTORE, _keys_of(table_id, request), args)
        match reply[0]:
            case b"committed":
                return Committed(stored.revision)
            case b"conflict":
                return Exists(_stored(reply[1:]))
            case _:
                return _seen(reply)

    def publish(self, table_id: str, revision: int) -> None:
        """Wake the watchers of all processes. Call it after the commit was answered.

        Nothing waits for it and it may be lost: watchers look for themselves every few seconds.
        """
        self._connection.send("PUBLISH", keys.wake(table_id), revision)

    def publish_aside(self, table_id: str) -> None:
        """Wake the watchers of all processes: something beside the table is new."""
        self._connection.send("PUBLISH", keys.wake(table_id), ASIDE)

    async def _decide(
        self,
        table_id: str,
        based_on: tuple[int, str],
        request: Request | None,
        write: Write | None,
        listed: str,
        outcome: bytes = b"",
    ) -> Reply:
        digest, body = request.digests() if request else (b"", b"")
        args: list[Argument] = [*based_on, based_on[0] + 1, digest, body]
        if write is None:
            args += ["confirm", b"", b"", outcome, b"", b"", b"", listed, REMEMBERED_MS]
            return await self._durably(_COMMIT, _keys_of(table_id, request), args)
        args += ["write", write.blob, write.entry, write.outcome, write.change_id]
        if write.snapshot is None:
            args += [b"", b""]
        else:
            args += [write.snapshot.turn, write.snapshot.blob]
        args += [listed, REMEMBERED_MS]
        past = write.past
        if past is not None:
            args += [past.stamp, past.before, max(past.stamp - past.delay, 0)]
            args += [past.delay + PAST_RESTS_MS, past.blob]
        return await self._durably(_COMMIT, _keys_of(table_id, request), args)

    async def _durably(self, script: Script, names: list[str], args: list[Argument]) -> Reply:
        """Run a script that writes; return its answer when that is durable.

        One node with `appendfsync always` answers after the fsync, so there is nothing to wait
        for. On a cluster, EVALSHA and WAIT have to go in one pipeline on one connection, here
        and nowhere else, and for replayed outcomes too.
        """
        return await script(self._connection, names, args)

    # -- reading ---------------------------------------------------------------------------

    async def load(self, table_id: str) -> Stored | None:
        """Return the table's current state, or None if there is none."""
        reply = await self._connection.call("HMGET", keys.table(table_id), "rev", "change", "blob")
        return None if reply[0] is None else _stored(reply)

    async def revision(self, table_id: str) -> tuple[int, str] | None:
        """Return the table's revision and that change's id."""
        return (await self.revisions([table_id]))[0]

    async def revisions(self, table_ids: Sequence[str]) -> list[tuple[int, str] | None]:
        """Return (revision, change id) of each table in one round trip, None for the missing."""
        replies = await self._connection.pipeline(
            [("HMGET", keys.table(table_id), "rev", "change") for table_id in table_ids]
        )
        found: list[tuple[int, str] | None] = []
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply
            found.append(None if reply[0] is None else (int(reply[0]), reply[1].decode()))
        return found

    async def log(
        self, table_id: str, after_revision: int, limit: int, until: int | None = None
    ) -> list[LogRecord]:
        """Return up to `limit` log entries of revisions after `after_revision`, oldest first.

        `until` is the last revision wanted. Never more than asked for: page through long logs.
        """
        last = "+" if until is None else f"{until}-0"
        reply = await self._connection.call(
            "XRANGE", keys.log(table_id), f"({after_revision}-0", last, "COUNT", limit
        )
        return [_record(entry) for entry in reply]

    async def log_tail(self, table_id: str, limit: int) -> list[LogRecord]:
        """Return the last `limit` log entries, oldest first."""
        reply = await self._connection.call(
            "XREVRANGE", keys.log(table_id), "+", "-", "COUNT", limit
        )
        return [_record(entry) for entry in reversed(reply)]

    async def snapshot(self, table_id: str, turn: int) -> bytes | None:
        """Return the snapshot taken at exactly this turn."""
        blob = await self._connection.call("HGET", keys.snaps(table_id), turn)
        return None if blob is None else bytes(blob)

    async def nearest_snapshot(self, table_id: str, turn: int) -> Snapshot | None:
        """Return the newest snapshot of this turn or before it: where a takeback begins."""
        turns = await self._connection.call("HKEYS", keys.snaps(table_id))
        best = max((at for at in map(int, turns) if at <= turn), default=None)
        blob = None if best is None else await self.snapshot(table_id, best)
        return None if best is None or blob is None else Snapshot(best, blob)

    async def past(self, table_id: str, until_ms: int) -> tuple[PastState | None, PastState | None]:
        """Return the state that a table was in at a time, and the next one after it.

        Nothing where nothing so old is kept, and no later one: see `Write.past`.
        """
        key = keys.past(table_id)
        replies = await self._connection.pipeline(
            [
                ("XREVRANGE", key, max(until_ms, 0), "-", "COUNT", 1),
                ("XRANGE", key, max(until_ms + 1, 0), "+", "COUNT", 1),
            ]
        )
        found: list[PastState | None] = []
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply
            found.append(_past(reply[0]) if reply else None)
        return found[0], found[1]

    # -- the index -------------------------------------------------------------------------

    async def list_tables(self, cursor: str = "", limit: int = 50) -> Page:
        """Return a page of the index, newest tables first; see `TableIndex.list_tables`."""
        return await self._index.list_tables(cursor, limit)

    async def index_put(self, table_id: str, created_ms: int) -> None:
        """List a table in the index; `create` and `restore` do it themselves."""
        await self._index.put(table_id, created_ms)

    async def rebuild_index(self) -> int:
        """List every table of the store again; return how many there are."""
        return await self._index.rebuild()


def _keys_of(table_id: str, request: Request | None) -> list[str]:
    principal = request.principal if request else ""
    return [
        keys.table(table_id),
        keys.log(table_id),
        keys.snaps(table_id),
        keys.seen(table_id, principal),
        keys.past(table_id),
    ]


def _stored(fields: Sequence[bytes]) -> Stored:
    return Stored(int(fields[0]), fields[1].decode(), fields[2])


def _seen(reply: Reply) -> Known | Reused:
    if reply[0] == b"known":
        return Known(int(reply[1]), reply[2])
    if reply[0] == b"reused":
        return Reused()
    raise StoreError(f"the commit script answered {reply[0]!r}")


def _past(entry: Reply) -> PastState:
    identity, fields = entry
    stamp, _, revision = identity.partition(b"-")
    pairs = dict(zip(fields[::2], fields[1::2], strict=True))
    return PastState(int(stamp), Stored(int(revision), pairs[b"c"].decode(), pairs[b"b"]))


def _record(entry: Reply) -> LogRecord:
    identity, fields = entry
    pairs = dict(zip(fields[::2], fields[1::2], strict=True))
    return LogRecord(int(identity.partition(b"-")[0]), pairs[b"c"].decode(), pairs[b"e"])
