"""Keeps tables: carries commands out, on the tables that the process holds.

What it holds may be old: a change is committed on the very change that it was decided on, a
refusal is told only when the store has said that this is still the table's last change.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import msgspec

from tableturn_server.service import outcomes
from tableturn_server.service.earlier import GapError, history_of
from tableturn_server.service.outages import Outages
from tableturn_server.service.outcomes import Outcome
from tableturn_server.service.refusing import (
    reused,
    table_exists,
    too_late,
    turns_not_kept,
    unknown_table,
)
from tableturn_server.service.rooms import MOST_TABLES, Held, Rooms, Told
from tableturn_server.service.sights import Sights, past_of
from tableturn_server.store import (
    CommitResult,
    Committed,
    Conflict,
    Exists,
    JobBoard,
    Known,
    LogRecord,
    Missing,
    Past,
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
from tableturn_server.tables import commands
from tableturn_server.tables.authority import Change, decide, needs_history
from tableturn_server.tables.clocks import is_counting
from tableturn_server.tables.due import due_at
from tableturn_server.tables.export import Imported
from tableturn_server.tables.log import LogEntry, encode_entry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Table, encode

MOST_ATTEMPTS = 64
_BY = commands.By(service=True)
_OF_THE_TIME = (commands.TimeOut, commands.GoAway)
"""Where they have nothing to do that may be otherwise a moment later: it isn't remembered."""
_PUBLISH_AFTER = 0.01
"""Seconds in which the wake-ups for other processes are gathered. Ours are told at once."""
_LOOK = -1
"""Published instead of a revision: whoever hears it reads the revision from the store."""


class Done(msgspec.Struct, frozen=True):
    """What became of a command. `told` is its change, where there is one and it is at hand.

    `idle`: there was nothing to do.
    """

    revision: int
    seat: int = 0
    waiting_for: tuple[int, ...] = ()
    idle: bool = False
    replayed: bool = False
    held: Held | None = None
    told: Told | None = None


class Keeper(Rooms):
    """The tables of a store, as one process holds and changes them.

    A change after which something has to be done for the table, such as a bot's turn, is
    announced on the board of `jobs` before it is made and again afterwards, and told to `on_due`
    with the time. Nobody is charged for the `outages`.
    """

    def __init__(
        self,
        store: TableStore,
        hub: WatchHub,
        *,
        jobs: JobBoard | None = None,
        outages: Outages | None = None,
        clock: Callable[[], float] = time.time,
        most_tables: int = MOST_TABLES,
    ) -> None:
        super().__init__(store, clock=clock, most_tables=most_tables)
        self.sights = Sights(self, store)
        self._hub = hub
        self._jobs = jobs
        self._outages = outages
        self.on_due: Callable[[int], None] = _nobody
        self._to_publish: dict[str, int] = {}

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
        try:
            return await self._carried_out(table_id, command, request, deadline)
        except Refused as refused:
            told = await self.sights.refusal(refused, table_id, command)
            if told is refused:
                raise
            raise told from refused

    async def _carried_out(
        self,
        table_id: str,
        command: commands.AnyCommand,
        request: Request | None,
        deadline: float,
    ) -> Done:
        held = self.held(table_id) or await self.load(table_id)
        loop = asyncio.get_running_loop()
        for _ in range(MOST_ATTEMPTS):
            change, refused, history, gap = None, None, None, False
            if needs_history(held.table, command):
                try:
                    history = await history_of(self._store, table_id, held.table)
                except GapError:
                    fresh = await self.load(table_id)
                    if (fresh.revision, fresh.change_id) != (held.revision, held.change_id):
                        held = fresh  # what was held is old
                        continue
                    gap = True
            now = await self._time(held.table)
            if self._is_charged(held.table, command):
                held = await self.excused(table_id, held, deadline)
                continue
            try:
                change = decide(held.table, command, now, history, held.positions)
            except Refused as error:
                lost = gap and error.reason is Reason.NOTHING_TO_TAKE_BACK
                refused = turns_not_kept() if lost else error
            if loop.time() >= deadline:  # nobody waits for the answer any more
                raise too_late(held.revision)
            idle = None if change or refused else outcomes.idle(held.table, command)
            change_id = secrets.token_hex(8)
            kept = change or (None if isinstance(command, _OF_THE_TIME) else idle)
            result = await self._commit(table_id, held, kept, change_id, request)
            match result:
                case Committed() if change is not None:
                    return self._committed(table_id, held, change, change_id)
                case Known():
                    return _replayed(result)
                case Conflict():
                    held = self.hold(table_id, result.stored)
                case Missing():
                    self.forget(table_id)
                    raise unknown_table(table_id)
                case Reused():
                    raise reused(held.revision)
                case Unchanged() if idle is not None:
                    return Done(held.revision, idle.seat, idle.waiting_for, idle=True, held=held)
                case _:
                    assert refused is not None
                    refused.details["revision"] = str(held.revision)
                    raise refused
        raise too_late(held.revision)

    async def answered(self, table_id: str, request: Request, by: commands.By) -> Done | None:
        """What a request has done that was carried out before; None if it is new (S7).

        Raises Refused where its id was used for something else (S8).
        """
        held = self.held(table_id) or await self.load(table_id)
        based_on = (held.revision, held.change_id)
        result = await self._store.commit(table_id, based_on, request, None)
        match result:
            case Known():
                return _replayed(result)
            case Reused():
                raise await self.sights.told(reused(None), held, by)
            case _:
                return None

    async def excused(self, table_id: str, held: Held, deadline: float) -> Held:
        """The table with nobody charged for an outage: a change of its own for each of them."""
        while self._outages is not None and (outage := self._outages.of(held.table)):
            command = commands.Excuse(by=_BY, begin=outage.begin, end=outage.end)
            done = await self.carry_out(table_id, command, None, deadline)
            assert done.held is not None
            if done.held.revision == held.revision:  # nobody's clock ran then
                break
            held = done.held
        return held

    def _is_charged(self, table: Table, command: commands.AnyCommand) -> bool:
        """Somebody at the table is charged for an outage: that has to be put right first."""
        if self._outages is None or isinstance(command, commands.Excuse):
            return False
        return self._outages.of(table) is not None

    async def _time(self, table: Table) -> int:
        """The time; where clocks run, with all outages before it known."""
        if self._outages is None or not is_counting(table):
            return self.now()
        return await self._outages.now()

    async def _commit(
        self,
        table_id: str,
        held: Held,
        change: Change | Outcome | None,
        change_id: str,
        request: Request | None,
    ) -> CommitResult:
        """Commit a change, or what is kept of a command with nothing to do; None: ask only."""
        based_on = (held.revision, held.change_id)
        if not isinstance(change, Change):
            kept = outcomes.encode(change) if change else b""
            return await self._store.commit(table_id, based_on, request, None, outcome=kept)
        blob = encode(change.table)
        write = Write(
            blob=blob,
            entry=encode_entry(change.entry),
            outcome=outcomes.encode(Outcome(change.seat, change.waiting_for)),
            change_id=change_id,
            snapshot=Snapshot(change.table.turns, blob) if change.snapshot else None,
            past=past_of(change.table, held.table.stamp),
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
            self.on_due(due)

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
        self.put(table_id, held).tell(told)
        self._tell(table_id, held)
        return Done(held.revision, change.seat, change.waiting_for, held=held, told=told)

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
            outcome=outcomes.encode(Outcome()),
            change_id=change_id,
            past=past_of(table, table.stamp),
        )
        async with self._announced(table):
            result = await self._store.create(
                table_id, request, write, created_ms=table.making.created
            )
        match result:
            case Committed():
                held = Held(table.revision, change_id, table)
                self.put(table_id, held).tell(Told(change_id, entry))
                self._tell(table_id, held)
                return held, True, False
            case Exists():
                return self.hold(table_id, result.stored), False, False
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
                outcome=outcomes.encode(Outcome()),
                created_ms=table.making.created,
                past=_past_of_import(imported),
            )
        match result:
            case Committed():
                held = Held(table.revision, change_id, table)
                self.put(table_id, held)
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


def _past_of_import(imported: Imported) -> Past | None:
    """An imported table is for spectators what it was before, as old as its last change then."""
    past = past_of(imported.table, 0)
    if past is None or len(imported.log) < 2:
        return past
    return replace(past, stamp=imported.log[-2].entry.time)


def _nobody(_: int) -> None:
    """Nobody in this process does what is due."""


def _replayed(known: Known) -> Done:
    outcome = outcomes.decode(known.outcome)
    return Done(known.revision, outcome.seat, outcome.waiting_for, idle=outcome.idle, replayed=True)
