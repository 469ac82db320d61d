"""Following a table through breaks of any kind.

A watch remembers the last revision that it told, with its change id. After a break - the
service restarts, the network changes, nothing is heard for `silence` seconds (case R9) - it
opens the stream again from there. It tells no revision twice and passes over none silently:
where changes can't be told any more, a `Snapshot` says why.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import UTC
from types import TracebackType
from typing import Self

import grpc

from tableturn.v1 import table_pb2
from tableturn_client.errors import (
    ConnectionLost,
    DeadlinePassed,
    LimitReached,
    Refused,
    TableturnError,
)
from tableturn_client.events import (
    Change,
    Disconnected,
    Event,
    Fresh,
    Presence,
    Reconnected,
    ResumePoint,
    Said,
    Snapshot,
    SnapshotReason,
    Stale,
)
from tableturn_client.faults import error_of
from tableturn_client.values import instance, number, request_of
from tableturn_client.wire import Wire, bearer, repeatable

SILENCE = 25.0
"""Seconds without a message after which the service counts as gone; it speaks every 10."""

_FRESH = ("snapshot", "change", "heartbeat")
"""What the service can only tell if it reaches its store."""

_WHERE = "a watch goes on from a ResumePoint"

_Stream = grpc.aio.UnaryStreamCall[table_pb2.WatchTableRequest, table_pb2.WatchTableResponse]


class Watch:
    """The events of a table: an async iterator that ends when it is closed.

    Use it as `async with table.watch() as watch: async for event in watch: ...`.
    A refusal, such as UnknownTable, is raised out of the iteration; so is a service that
    doesn't answer at the very beginning. Later breaks are told as events.
    """

    def __init__(
        self,
        wire: Wire,
        table_id: str,
        *,
        token: str = "",
        seat: int = 0,
        resume: ResumePoint | None = None,
        silence: float = SILENCE,
        company: bool = False,
        seen: Callable[[Event], None] | None = None,
    ) -> None:
        self._wire = wire
        self._table_id = table_id
        self._token = token
        self._seat = seat
        self._silence = number(silence)
        self._company = company
        self._seen = seen
        self._told = None if resume is None else instance(resume, ResumePoint, _WHERE)
        self._events: deque[Event] = deque()
        self._call: _Stream | None = None
        self._closed = False
        # Where the connection stands.
        self._heard_once = False
        self._began = wire.machine.now()
        self._disconnected = False
        self._tries = 0
        self._pause = 0.0
        # What the stream said that the next message is judged by.
        self._stale = False
        self._compacted = False
        self._from_start = False
        self._gap_at: ResumePoint | None = None
        self._odd: ResumePoint | None = None

    @property
    def resume_point(self) -> ResumePoint | None:
        """The last point that was told."""
        return self._told

    @property
    def connected(self) -> bool:
        """The service is heard, as far as is known."""
        return self._heard_once and not self._disconnected

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._closed:
                raise StopAsyncIteration
            await self._listen()
        event = self._events.popleft()
        if self._seen is not None:
            self._seen(event)
        return event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the watch."""
        self._closed = True
        self._events.clear()
        self._hang_up()

    # ------------------------------------------------------------ the connection

    async def _listen(self) -> None:
        """Take one message from the stream, which is opened if it isn't."""
        try:
            if self._call is None:
                if self._pause:
                    await self._wire.machine.sleep(self._pause)
                    self._pause = 0.0
                self._call = self._open()
            async with asyncio.timeout(self._silence):
                message = await self._call.read()
        except grpc.aio.AioRpcError as failure:
            self._break(error_of(failure, str(self._wire.address)))
        except TimeoutError:
            seconds = f"{self._silence:g}"
            self._break(
                DeadlinePassed(f"nothing came from {self._wire.address} for {seconds} seconds")
            )
        except asyncio.CancelledError:
            # Whoever waits has gone, and gRPC has ended the stream with it.
            self._hang_up()
            raise
        else:
            if isinstance(message, table_pb2.WatchTableResponse):
                self._hear(message)
            else:  # the service ended the stream
                self._break(ConnectionLost(f"{self._wire.address} has ended the watch"))

    def _open(self) -> _Stream:
        start = None if self._from_start else self._told
        request = request_of(
            table_pb2.WatchTableRequest,
            table_id=self._table_id,
            seat=self._seat,
            start_revision=start.revision if start else 0,
            start_change_id=start.change_id if start else "",
        )
        self._compacted = False
        self._odd = None
        return self._wire.tables.WatchTable(request, metadata=bearer(self._token))

    def _hang_up(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def _break(self, error: TableturnError) -> None:
        """The stream has ended. Go on later, unless that can't help."""
        self._hang_up()
        machine, retry = self._wire.machine, self._wire.retry
        self._tries += 1
        self._pause = retry.pause(self._tries, machine.chance())
        if self._heard_once:
            if isinstance(error, LimitReached):
                self._pause = max(self._pause, error.retry_after or 0.0)
            elif isinstance(error, Refused) and not error.repeatable:
                raise error
        elif not repeatable(error) or machine.now() + self._pause >= self._began + retry.total:
            raise error
        if self._heard_once and not self._disconnected:
            self._disconnected = True
            self._events.append(Disconnected(error))

    def _again(self, *, from_start: bool) -> None:
        """Open the stream anew: what it told doesn't fit to what was told before."""
        self._hang_up()
        self._from_start = from_start
        self._pause = self._wire.retry.pause(1, self._wire.machine.chance())

    # ------------------------------------------------------------ the messages

    def _hear(self, message: table_pb2.WatchTableResponse) -> None:
        """Judge one message. Any message is a sign of life, also one of a later version."""
        self._heard_once = True
        self._tries = 0
        if message.HasField("time"):
            self._wire.time.told(message.time)
        if self._disconnected:
            self._disconnected = False
            self._events.append(Reconnected())
        kind = message.WhichOneof("event")
        if kind == "stale":
            if not self._stale:
                self._stale = True
                self._events.append(Stale(message.stale.since.ToDatetime(UTC)))
            return
        if self._stale and kind in _FRESH:
            self._stale = False
            self._events.append(Fresh())
        if kind == "snapshot":
            self._hear_snapshot(message.snapshot.table)
        elif kind == "change":
            self._hear_change(message.change)
        elif kind == "heartbeat":
            self._hear_heartbeat(message.heartbeat.revision)
        elif kind == "compacted":
            self._compacted = True
        elif kind in ("presence", "chat") and self._company:
            told = Presence(message.presence) if kind == "presence" else Said(message.chat)
            self._events.append(told)

    def _hear_snapshot(self, view: table_pb2.TableView) -> None:
        point = ResumePoint(view.revision, view.change_id)
        told, self._told = self._told, point
        compacted, self._compacted = self._compacted, False
        self._from_start = False
        if told == point:
            return
        if told is None:
            reason = SnapshotReason.BEGIN
        elif point.revision <= told.revision:
            reason = SnapshotReason.FORKED
        elif compacted:
            reason = SnapshotReason.COMPACTED
        else:
            reason = SnapshotReason.SKIPPED
        self._events.append(Snapshot(view, reason))

    def _hear_change(self, change: table_pb2.Change) -> None:
        entry = change.entry
        told = self._told
        if told is None:
            self._again(from_start=True)
        elif entry.revision == told.revision + 1:
            self._told = ResumePoint(entry.revision, entry.change_id)
            view = change.table if change.HasField("table") else None
            self._events.append(Change(entry, view))
        elif entry.revision > told.revision + 1:
            # Ask for what is missing; if it is missing again, for the whole table.
            self._again(from_start=self._gap_at == told)
            self._gap_at = told
        elif entry.revision == told.revision and entry.change_id != told.change_id:
            self._again(from_start=True)

    def _hear_heartbeat(self, revision: int) -> None:
        """A heartbeat may overtake a change, or be late; two that differ are no accident."""
        told = self._told
        if told is None or revision == told.revision:
            self._odd = None
        elif self._odd == told:
            self._again(from_start=revision < told.revision or self._gap_at == told)
            self._gap_at = told
        else:
            self._odd = told
