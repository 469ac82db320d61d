"""Follows a table through broken connections, and notes what it was told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc

from tableturn.v1 import table_pb2, table_pb2_grpc
from tableturn.v1.table_pb2 import LogEntry, TableView, WatchTableResponse
from tests.e2e.calls import OPTIONS, bearer, refusal_of

PAUSE = 0.02


@dataclass
class Follower:
    """One watcher. It resumes where it was, and never believes that something can't be missing.

    `told` has each point of the table's history that it heard of, `faults` what must not be.
    """

    address: str
    table_id: str
    token: str = ""
    seat: int = 0
    revision: int = 0
    change_id: str = ""
    view: TableView | None = None
    told: list[tuple[int, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    entries: list[LogEntry] = field(default_factory=list)
    connections: int = 0
    snapshots: int = 0
    stale: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self) -> None:
        """Follow until the task is cancelled."""
        while True:
            async with grpc.aio.insecure_channel(self.address, options=OPTIONS) as channel:
                await self.once(channel)
            await asyncio.sleep(PAUSE)  # nobody is there: look again

    async def once(self, channel: grpc.aio.Channel) -> None:
        """Follow until the connection breaks."""
        stub = table_pb2_grpc.TableServiceStub(channel)
        call = stub.WatchTable(self.request(), metadata=bearer(self.token))
        try:
            async for event in call:
                self.hear(event)
        except grpc.aio.AioRpcError as error:
            if not refusal_of(error).transient:
                self.faults.append(f"the watch ended: {error!r}")

    def request(self) -> table_pb2.WatchTableRequest:
        return table_pb2.WatchTableRequest(
            table_id=self.table_id,
            seat=self.seat,
            start_revision=self.revision,
            start_change_id=self.change_id,
        )

    def hear(self, event: WatchTableResponse) -> None:
        """One event."""
        match event.WhichOneof("event"):
            case "snapshot":
                self._see(event.snapshot.table)
                self.snapshots += 1
            case "change":
                entry = event.change.entry
                if entry.revision != self.revision + 1:
                    self.faults.append(f"{entry.revision} came after {self.revision}")
                self._note(entry.revision, entry.change_id)
                self.entries.append(entry)
                if event.change.HasField("table"):
                    self._see(event.change.table)
            case "stale":
                self.stale += 1
            case "compacted":
                self.faults.append("the log of a running table was shortened")
            case "heartbeat":
                if event.heartbeat.revision < self.revision:
                    self.faults.append("a heartbeat told of an old revision")
            case None:
                self.faults.append("an empty event")

    def _see(self, view: TableView) -> None:
        if view.revision < self.revision:
            self.faults.append(f"{self.revision} was told, and then {view.revision}")
        self._note(view.revision, view.change_id)
        self.view = view
        self.news.set()

    def _note(self, revision: int, change_id: str) -> None:
        if (revision, change_id) != (self.revision, self.change_id):
            self.told.append((revision, change_id))
        self.revision, self.change_id = revision, change_id

    async def reaches(self, revision: int, within: float = 30.0) -> None:
        """Wait until it was told of this revision or a later one."""
        async with asyncio.timeout(within):
            while self.revision < revision or self.view is None:
                self.news.clear()
                await self.news.wait()


@contextlib.asynccontextmanager
async def following(*followers: Follower) -> AsyncIterator[None]:
    """These follow meanwhile."""
    tasks = [asyncio.create_task(follower.follow()) for follower in followers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
