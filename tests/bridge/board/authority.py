"""A table with a panel, decided by the service's own code, on a store in this process.

`Service` carries calls out as the real one does: the request of `PanelService.PressPanel`, the
keeper, the authority, the rules. What is left out is the wire and the store's process; the store's
promise is kept by `Store`: one atomic step that knows requests and compares changes, as
`commit.lua` does. A service that is restarted is a new `Service` on the same store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from hashlib import sha256
from typing import Any, TypeVar

import structlog

from tableturn.v1 import panel_pb2
from tableturn.v1.table_pb2 import TableView
from tableturn_bridge.bridge import request_id
from tableturn_bridge.lamps import picture, seats_of
from tableturn_bridge.protocol import NO_BUTTON, Event, Result, State
from tableturn_server.service.calls import Call
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.panels import PanelService
from tableturn_server.store import (
    CommitResult,
    Committed,
    Conflict,
    CreateResult,
    Exists,
    HeldBy,
    Known,
    Lease,
    LogRecord,
    Missing,
    PanelStore,
    Request,
    Reused,
    Snapshot,
    Stored,
    TableStore,
    Unchanged,
    WatchHub,
    Write,
)
from tableturn_server.tables import commands
from tableturn_server.tables.commands import By
from tableturn_server.tables.log import LogEntry, decode_entry
from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Table, decode

T = TypeVar("T")
TABLE = "the-table"
HOLDER = "the bridge of this test"
REMEMBERED = 8
"""Requests of each principal that the store knows."""


def token(text: str) -> bytes:
    return sha256(text.encode()).digest()


HOST = By(token("the host's token"))
PANEL = By(token("the panel's token"))


class Store(TableStore):
    """What survives every restart of the service; each method is one atomic step."""

    def __init__(self) -> None:
        self.stored: Stored | None = None
        self.records: list[LogRecord] = []
        self.snapshots: dict[int, bytes] = {}
        self._seen: dict[str, list[tuple[bytes, bytes, int, bytes]]] = {}

    async def commit(
        self,
        table_id: str,
        based_on: tuple[int, str],
        request: Request | None,
        write: Write | None,
        *,
        outcome: bytes = b"",
    ) -> CommitResult:
        name, body = request.digests() if request else (b"", b"")
        for known, known_body, revision, told in self._seen.get(_principal(request), []):
            if request and known == name:
                return Known(revision, told) if known_body == body else Reused()
        if self.stored is None:
            return Missing()
        if (self.stored.revision, self.stored.change_id) != based_on:
            return Conflict(self.stored)
        if write is None:
            if request and outcome:
                self._remember(request, based_on[0], outcome)
            return Unchanged(based_on[0])
        self._write(based_on[0] + 1, write)
        if request:
            self._remember(request, based_on[0] + 1, write.outcome)
        return Committed(based_on[0] + 1)

    def _write(self, revision: int, write: Write) -> None:
        self.records.append(LogRecord(revision, write.change_id, write.entry))
        self.stored = Stored(revision, write.change_id, write.blob)
        if write.snapshot is not None:
            self.snapshots[write.snapshot.turn] = write.snapshot.blob

    def _remember(self, request: Request, revision: int, outcome: bytes) -> None:
        seen = self._seen.setdefault(_principal(request), [])
        seen.insert(0, (*request.digests(), revision, outcome))
        del seen[REMEMBERED:]

    async def create(
        self, table_id: str, request: Request | None, write: Write, *, created_ms: int
    ) -> CreateResult:
        if self.stored is not None:
            return Exists(self.stored)
        self._write(1, write)
        return Committed(1)

    async def load(self, table_id: str) -> Stored | None:
        return self.stored

    async def revisions(self, table_ids: Sequence[str]) -> list[tuple[int, str] | None]:
        at = None if self.stored is None else (self.stored.revision, self.stored.change_id)
        return [at for _ in table_ids]

    async def log(
        self, table_id: str, after_revision: int, limit: int, until: int | None = None
    ) -> list[LogRecord]:
        last = len(self.records) if until is None else until
        return self.records[after_revision:last][:limit]

    async def nearest_snapshot(self, table_id: str, turn: int) -> Snapshot | None:
        best = max((at for at in self.snapshots if at <= turn), default=None)
        return None if best is None else Snapshot(best, self.snapshots[best])

    def publish(self, table_id: str, revision: int) -> None:
        pass


def _principal(request: Request | None) -> str:
    return request.principal if request else ""


class _Panels(PanelStore):
    """Our bridge holds the panel, always."""

    def __init__(self) -> None:
        self.lease_ms = 4000

    async def holder(self, table_id: str, uid: int) -> Lease | None:
        return Lease(HOLDER, b"", 0, self.lease_ms)

    async def hold(
        self, table_id: str, uid: int, holder: str, report: bytes, *, now_ms: int
    ) -> HeldBy | None:
        return None


class _Hub(WatchHub):
    """Nobody watches: whoever wants to know looks."""

    def __init__(self) -> None:
        pass

    def notify(self, table_id: str, revision: int, change_id: str = "") -> None:
        pass


class Service:
    """The service at the one table, with its own memory. `clock` tells seconds."""

    def __init__(
        self, store: Store, runner: asyncio.Runner, clock: Callable[[], float], uid: int
    ) -> None:
        self.store = store
        self.uid = uid
        self._runner = runner
        self._keeper = Keeper(store, _Hub(), clock=clock)
        log = structlog.wrap_logger(structlog.ReturnLogger(), processors=[])
        self._panels = PanelService(self._keeper, store, _Panels(), log)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    # ------------------------------------------------------------ making the table

    def make(self, buttons: int, **options: str) -> None:
        """A free table with a seat for each of the panel's buttons, which nobody has taken."""
        wish = Wish(
            table_id=TABLE,
            game="free-table",
            seats=buttons,
            options={"first_seat": "1", **options},
            host=HOST.token,
        )
        table, entry, _ = make(wish, drawn_seed=bytes(16), now=self._keeper.now())
        self._do(self._keeper.create(table, entry, None))
        self._change(
            commands.AttachPanel(
                by=HOST, uid=self.uid, token=PANEL.token, seats=tuple(range(1, buttons + 1))
            )
        )

    def _change(self, command: commands.AnyCommand) -> None:
        async def change() -> None:
            deadline = asyncio.get_running_loop().time() + 10
            await self._keeper.carry_out(TABLE, command, None, deadline)

        self._do(change())

    def take_back(self) -> None:
        """The host takes the last turn back."""
        self._change(commands.TakeBack(by=HOST, expected_revision=self.table.revision))

    # ------------------------------------------------------------ looking

    @property
    def table(self) -> Table:
        assert self.store.stored is not None
        return decode(self.store.stored.blob)

    @property
    def log(self) -> list[LogEntry]:
        return [decode_entry(record.entry) for record in self.store.records]

    def picture(self, buttons: int) -> State:
        """What the bridge would show now, of what the service shows the panel."""
        held = self._do(self._keeper.sights.look(TABLE, PANEL)).held
        view = TableView.FromString(held.view(held.audience(PANEL, 0)))
        seats = seats_of(view, self.uid)
        assert seats is not None
        return picture(view, seats, buttons)

    # ------------------------------------------------------------ pressing

    def press(self, event: Event) -> tuple[Result, int]:
        """Carry a gesture out as the bridge asks for it.

        Returns what the bridge answers to that, and the revision that the gesture made (0: none).
        """
        request = panel_pb2.PressPanelRequest(
            table_id=TABLE,
            panel_uid=self.uid,
            button=_button(event.button),
            gesture=event.kind,  # type: ignore[arg-type]
            second_button=_button(event.second),
            expected_revision=event.revision,
            request_id=request_id(self.uid, event),
            holder=HOLDER,
        )

        async def press() -> int:
            deadline = asyncio.get_running_loop().time() + 10
            call = Call(PANEL, PANEL.token.hex(), "bench", deadline)
            done = await self._panels.press_panel(request, call)
            return int(done.revision)

        try:
            return Result.ACCEPTED, self._do(press())
        except Refused as refused:
            stale = refused.reason is Reason.STALE_REVISION
            return (Result.STALE if stale else Result.REJECTED), 0


def _button(number: int) -> int:
    return 0 if number == NO_BUTTON else number + 1
