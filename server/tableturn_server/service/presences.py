"""Who is there: the watches of this process are told to the store, and those of all are read.

Nothing but a watch is a sign of somebody. A process says every few seconds which watches it
serves; what it has said becomes old when it dies, and so everybody knows.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import Counter

from tableturn.v1 import company_pb2
from tableturn_server.service import convert
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.outages import Outages
from tableturn_server.service.rooms import Held
from tableturn_server.store import (
    JobBoard,
    PresenceStore,
    Records,
    StoreError,
    TableStore,
    Watched,
    WatchHub,
)
from tableturn_server.tables.facts import (
    away_since,
    has_deputy,
    is_by_correspondence,
    is_deserted,
    plays_in_person,
)
from tableturn_server.tables.presence import (
    Presence,
    PresenceState,
    of_host,
    of_own_host,
    of_seat,
    presence,
    takes_part,
)
from tableturn_server.tables.state import AbsencePolicy, Status, Table

log = logging.getLogger(__name__)

BEAT = 5.0
"""Seconds between two signs of life of the watches of a process."""
FORGOTTEN_MS = 60_000
"""Who has no part in a table any more is forgotten after so long; a table may be held here that
is a little older than the one at which somebody sits by now."""
_BATCH = 500
_MOST_ANNOUNCED = 10_000


class Seen:
    """Who is at a table that is watched in this process, as far as it knows."""

    __slots__ = ("_data", "held", "presence", "records", "watches")

    def __init__(self, held: Held) -> None:
        self.held = held
        self.watches = 0
        self.records: Records = {}
        self.presence = Presence()
        self._data = b""

    def is_now(self, now: int) -> bool:
        """Look again; whether seats' people have come or gone since the last look."""
        found = presence(self.held.table, self.records, now)
        if found == self.presence:
            return False
        before, self.presence, self._data = self.presence, found, b""
        return found.seats != before.seats

    @property
    def data(self) -> bytes:
        """The message of it, encoded once."""
        if not self._data:
            self._data = message_of(self.presence).SerializeToString()
        return self._data


class Presences:
    """Who is there at all tables. `process` is a name that no other process has."""

    def __init__(
        self,
        keeper: Keeper,
        tables: TableStore,
        store: PresenceStore,
        jobs: JobBoard,
        hub: WatchHub,
        *,
        outages: Outages | None = None,
        process: str = "",
    ) -> None:
        self._keeper = keeper
        self._tables = tables
        self._store = store
        self._jobs = jobs
        self._hub = hub
        self._outages = outages
        self._process = process or secrets.token_hex(8)
        self._open: Counter[tuple[str, bytes]] = Counter()
        self.watched: dict[str, Seen] = {}
        """The tables that are watched here."""
        self._announced: dict[str, int] = {}
        """For when a table was announced last, because somebody is away."""
        self._notes: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    # -- the watches of this process -------------------------------------------------------

    async def comes(self, held: Held, token: bytes) -> Seen:
        """A watch begins. It is remembered who it was if the token has a part in the table."""
        table_id = held.table.making.table_id
        seen = self.watched.get(table_id)
        if seen is None:
            seen = self.watched[table_id] = Seen(held)
        seen.watches += 1
        self._open[table_id, token] += 1
        with contextlib.suppress(StoreError):  # the next beat says it
            await self._note(table_id, token)
        return seen

    def goes(self, table_id: str, token: bytes) -> None:
        """A watch has ended. Nothing waits for it: whoever has left is gone already."""
        key = table_id, token
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
        seen = self.watched[table_id]
        seen.watches -= 1
        if not seen.watches:
            del self.watched[table_id]
        task = asyncio.get_running_loop().create_task(self._noted(table_id, token))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _noted(self, table_id: str, token: bytes) -> None:
        try:
            await self._note(table_id, token)
        except StoreError as error:  # what was said last becomes old
            log.info("it can't be told who has left: %s", error.sentence)

    async def _note(self, table_id: str, token: bytes) -> None:
        """Tell the store how many watches of a token there are, and all others if that matters."""
        now = self._keeper.now()
        watched = Watched(table_id, token, self._open[table_id, token])
        records = await self._store.note(watched, self._process, now)
        seen = self.watched.get(table_id)
        held = seen.held if seen is not None else self._keeper.held(table_id)
        if seen is not None:
            seen.records = records
            changed = seen.is_now(now)
        else:
            changed = bool(token)
        if changed:
            self._hub.notify_aside(table_id)
            self._tables.publish_aside(table_id)
        if held is not None:
            await self._forget(held.table, records, now)
            await self._announce(held.table, records, now)

    async def _forget(self, table: Table, records: Records, now: int) -> None:
        """Keep nothing of those who have given their seats up, or moved to another device.

        Raises StoreError.
        """
        before = now - FORGOTTEN_MS
        gone = [
            token
            for token, heard in records.items()
            if token and not takes_part(table, token) and heard.last < before
        ]
        if gone:
            await self._store.forget(table.making.table_id, gone, before)

    # -- signs of life ---------------------------------------------------------------------

    def start(self) -> None:
        """Begin with the signs of life."""
        self._task = asyncio.get_running_loop().create_task(self._go_on())

    async def stop(self) -> None:
        """Give no more signs; what was said of watches that have ended is heard."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        if self._notes:
            await asyncio.wait(self._notes, timeout=1.0)
        for task in self._notes:
            task.cancel()

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                await self.beat()
            except StoreError as error:
                log.info("no sign of those who watch can be given: %s", error.sentence)
            except Exception:
                log.exception("no sign of those who watch can be given")

    async def beat(self) -> None:
        """Say which watches there are, and look who else is there. Raises StoreError."""
        keys = list(self._open)
        for start in range(0, len(keys), _BATCH):
            part = [key for key in keys[start : start + _BATCH] if key in self._open]
            watched = [Watched(*key, self._open[key]) for key in part]
            await self._store.beat(watched, self._process, self._keeper.now())
        table_ids = list(self.watched)
        for start in range(0, len(table_ids), _BATCH):
            for table_id in await self.read(table_ids[start : start + _BATCH]):
                self._hub.notify_aside(table_id)

    async def read(self, table_ids: list[str]) -> list[str]:
        """Look who is at these tables; those where people have come or gone. Raises StoreError."""
        found = await self._store.look(table_ids)
        now = self._keeper.now()
        changed: list[str] = []
        for table_id, records in zip(table_ids, found, strict=True):
            seen = self.watched.get(table_id)
            if seen is None:
                continue
            seen.records = records
            if seen.is_now(now):
                changed.append(table_id)
            await self._forget(seen.held.table, records, now)
            await self._announce(seen.held.table, records, now)
        return changed

    def is_at(self, held: Held) -> None:
        """The table has changed, and so who sits there."""
        seen = self.watched.get(held.table.making.table_id)
        if seen is not None and seen.held is not held:
            seen.held = held
            if seen.is_now(self._keeper.now()):
                self._hub.notify_aside(held.table.making.table_id)

    # -- questions -------------------------------------------------------------------------

    async def at(self, held: Held) -> Presence:
        """Who is at a table. Raises StoreError."""
        now = self._keeper.now()
        records = await self._records(held)
        await self._announce(held.table, records, now)
        return presence(held.table, records, now)

    async def away(self, held: Held) -> frozenset[int]:
        """The seats that are away for longer than a lost connection may take (C7).

        An outage is nobody's absence. Raises StoreError.
        """
        now = self._keeper.now()
        grace = held.table.making.absence.grace
        last_end = 0
        if self._outages is not None:
            now = await self._outages.now()
            last_end = self._outages.last_end
        return frozenset(
            seat
            for seat, since in await self.absent(held, now)
            if max(away_since(held.table.seat(seat), since), last_end) + grace <= now
        )

    async def is_here(self, held: Held, seat: int) -> bool:
        """A device of a seat is heard now. Raises StoreError."""
        found = of_seat(held.table, await self._records(held), seat, self._keeper.now())
        return found.state is PresenceState.HERE

    async def absent(self, held: Held, now: int) -> tuple[tuple[int, int], ...]:
        """The seats whose people are away, with since when. Raises StoreError.

        Between two looks at a correspondence game nobody is.
        """
        return _absent(held.table, await self._records(held), now)

    async def host_away(self, held: Held, now: int) -> int | None:
        """Since when nobody is there who has the host's duties; None if somebody is.

        None as well if the host was never heard. Raises StoreError.
        """
        return _host_away(held.table, await self._records(held), now)

    async def host_back(self, held: Held, now: int) -> int | None:
        """Since when the host is there, though a seat has the duties as well; else None.

        Raises StoreError.
        """
        return _host_back(held.table, await self._records(held), now)

    async def _records(self, held: Held) -> Records:
        (records,) = await self._store.look([held.table.making.table_id])
        return records

    # -- what follows from it --------------------------------------------------------------

    async def _announce(self, table: Table, records: Records, now: int) -> None:
        """Let somebody look at the table when those who are away have been so for too long."""
        due = _due(table, records, now)
        table_id = table.making.table_id
        if due is None:
            self._announced.pop(table_id, None)
        elif self._announced.get(table_id) != due:
            if len(self._announced) >= _MOST_ANNOUNCED:
                self._announced.clear()
            with contextlib.suppress(StoreError):  # the next beat says it
                await self._jobs.announce(table_id, due, now)
                self._announced[table_id] = due


def token_of(table: Table, token: bytes) -> bytes:
    """Under which token a watch is noted: none, where it has no part in the table."""
    return token if takes_part(table, token) else b""


def message_of(found: Presence) -> company_pb2.Presence:
    """The message of who is there."""
    return company_pb2.Presence(
        seats=[
            company_pb2.SeatPresence(
                seat=one.seat,
                state=int(one.state),  # type: ignore[arg-type]
                since=convert.timestamp(one.since) if one.since else None,
            )
            for one in found.seats
        ],
        spectators=found.spectators,
    )


def _absent(table: Table, records: Records, now: int) -> tuple[tuple[int, int], ...]:
    return tuple(
        (one.seat, one.since)
        for one in presence(table, records, now).seats
        if one.state is PresenceState.AWAY
    )


def _host_away(table: Table, records: Records, now: int) -> int | None:
    if is_by_correspondence(table):
        return None
    found = of_host(table, records, now)
    if found.state is not PresenceState.AWAY:
        return None
    seats = [found.seat] if found.seat else table.seats_of(table.making.host)
    return max(found.since, *(table.seat(n).plays_since for n in seats), 0)


def _host_back(table: Table, records: Records, now: int) -> int | None:
    if not has_deputy(table):
        return None
    found = of_own_host(table, records, now)
    return found.since if found.state is PresenceState.HERE else None


def _due(table: Table, records: Records, now: int) -> int | None:
    """When somebody who is away now will have been so for too long; None for never."""
    making = table.making
    if table.status is Status.FINISHED:
        return None
    since: list[int] = []
    if table.status is Status.RUNNING:
        since += _missed(table, records, now)
    host = None if making.host_stays else _host_away(table, records, now)
    if host is not None:
        since.append(host)
    due = [at + making.absence.grace for at in since]
    back = _host_back(table, records, now)
    if back is not None:
        due.append(back)
    return min(due, default=None)


def _missed(table: Table, records: Records, now: int) -> list[int]:
    """Since when people are away for whom the table's policy does something.

    No bot plays on where nobody is there: when somebody is, the others are missed from then on.
    """
    policy = table.making.absence.policy
    if policy is AbsencePolicy.WAIT:
        return []
    away = dict(_absent(table, records, now))
    if policy is AbsencePolicy.BOT and is_deserted(table, away):
        return []
    return [at for seat, at in away.items() if plays_in_person(table.seat(seat))]
