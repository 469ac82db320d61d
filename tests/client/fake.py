"""A scripted service over a real socket: it expects calls in order, and answers as told."""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import any_pb2, symbol_database
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status  # type: ignore[import-untyped]

from tableturn.v1 import catalog_pb2, company_pb2, panel_pb2, table_pb2

_METHODS = {
    f"/{service.full_name}/{method.name}": method
    for module in (table_pb2, catalog_pb2, panel_pb2, company_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


@dataclass(frozen=True)
class Refuses:
    """A refusal as the service sends it."""

    code: grpc.StatusCode
    reason: str
    sentence: str = "no"
    metadata: dict[str, str] = field(default_factory=dict)
    domain: str = "tableturn"


@dataclass(frozen=True)
class Breaks:
    """A failure without an ErrorInfo, as gRPC or a proxy makes one."""

    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    details: str = "Socket closed"


class Hangs:
    """No answer, until the caller has gone."""


class Ends:
    """The end of a stream, without an error."""


Step = Message | Refuses | Breaks | Hangs | Ends


@dataclass(frozen=True)
class Call:
    """A call that came."""

    method: str
    request: Any
    token: str


@dataclass(frozen=True)
class Expected:
    method: str
    steps: tuple[Step, ...]
    fields: dict[str, object]


class FakeService:
    """What is expected comes in this order, or the test fails at `assert_done`."""

    def __init__(self) -> None:
        self.port = 0
        self.calls: list[Call] = []
        self.left = asyncio.Event()
        self._script: deque[Expected] = deque()
        self._faults: list[str] = []
        self._server: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    # ------------------------------------------------------------ the script

    def expect(self, method: str, *steps: Step, **fields: object) -> None:
        """The next call is `method` with these fields; the answer, or what a stream tells."""
        self._script.append(Expected(method, steps, fields))

    def assert_done(self) -> None:
        assert self._faults == []
        assert [one.method for one in self._script] == []

    def requests(self, method: str) -> list[Any]:
        return [call.request for call in self.calls if call.method == method]

    # ------------------------------------------------------------ the server

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers((_Handler(self),))
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)
            await self._server.wait_for_termination()
            self._server = None

    def take(self, method: str, request: Message, context: Any) -> tuple[Step, ...]:
        """The answer to a call that came."""
        metadata = dict(context.invocation_metadata() or ())
        token = str(metadata.get("authorization", "")).removeprefix("Bearer ")
        self.calls.append(Call(method, request, token))
        if not self._script:
            self._faults.append(f"{method} was not expected")
            return (Breaks(grpc.StatusCode.INTERNAL, "not expected"),)
        expected = self._script.popleft()
        if expected.method != method:
            self._faults.append(f"{method} came instead of {expected.method}")
        for name, value in expected.fields.items():
            got = getattr(request, name)
            if got != value:
                self._faults.append(f"{method}: {name} is {got!r} instead of {value!r}")
        return expected.steps


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, fake: FakeService) -> None:
        self._fake = fake

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        method = _METHODS.get(details.method)
        if method is None:
            return None
        request_type = symbol_database.Default().pool.FindMessageTypeByName(  # type: ignore[attr-defined]
            method.input_type.full_name
        )
        from google.protobuf.message_factory import GetMessageClass

        read = GetMessageClass(request_type).FromString
        name = method.name

        async def unary(request: Message, context: Any) -> Message:
            steps = self._fake.take(name, request, context)
            assert len(steps) == 1
            answer = steps[0]
            if isinstance(answer, Message):
                return answer
            await self._fail(answer, context)
            raise AssertionError

        async def stream(request: Message, context: Any) -> AsyncIterator[Message]:
            try:
                for step in self._fake.take(name, request, context):
                    if isinstance(step, Message):
                        yield step
                    elif isinstance(step, Ends):
                        return
                    else:
                        await self._fail(step, context)
                await asyncio.Event().wait()
            finally:
                self._fake.left.set()

        def write(message: Message) -> bytes:
            return message.SerializeToString()

        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(stream, read, write)
        return grpc.unary_unary_rpc_method_handler(unary, read, write)

    async def _fail(self, step: Step, context: Any) -> None:
        match step:
            case Hangs():
                await asyncio.Event().wait()
            case Breaks(code, details):
                await context.abort(code, details)
            case Refuses():
                await context.abort_with_status(rpc_status.to_status(status_of(step)))
            case _:
                raise AssertionError(step)


def status_of(refuses: Refuses) -> Any:
    info = error_details_pb2.ErrorInfo(
        reason=refuses.reason, domain=refuses.domain, metadata=refuses.metadata
    )
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=refuses.code.value[0], message=refuses.sentence, details=[detail])


# ---------------------------------------------------------------- messages in short


def view(revision: int, change_id: str = "", **fields: Any) -> table_pb2.TableView:
    return table_pb2.TableView(
        table_id="t1", revision=revision, change_id=change_id or f"c{revision}", **fields
    )


def snapshot(revision: int, change_id: str = "") -> table_pb2.WatchTableResponse:
    return table_pb2.WatchTableResponse(
        snapshot=table_pb2.Snapshot(table=view(revision, change_id))
    )


def change(revision: int, change_id: str = "") -> table_pb2.WatchTableResponse:
    entry = table_pb2.LogEntry(revision=revision, change_id=change_id or f"c{revision}")
    return table_pb2.WatchTableResponse(
        change=table_pb2.Change(entry=entry, table=view(revision, change_id))
    )


def heartbeat(revision: int) -> table_pb2.WatchTableResponse:
    return table_pb2.WatchTableResponse(heartbeat=table_pb2.Heartbeat(revision=revision))


def stale() -> table_pb2.WatchTableResponse:
    return table_pb2.WatchTableResponse(stale=table_pb2.Stale())


def compacted(revision: int) -> table_pb2.WatchTableResponse:
    return table_pb2.WatchTableResponse(compacted=table_pb2.Compacted(compacted_revision=revision))


def presence(here: Sequence[int] = (), away: Sequence[int] = ()) -> table_pb2.WatchTableResponse:
    """Who is there."""
    states = ((company_pb2.PRESENCE_STATE_HERE, here), (company_pb2.PRESENCE_STATE_AWAY, away))
    seats = [
        company_pb2.SeatPresence(seat=seat, state=state)
        for state, seats in states
        for seat in seats
    ]
    return table_pb2.WatchTableResponse(presence=company_pb2.Presence(seats=seats))


def said(number: int, text: str, seat: int = 1) -> table_pb2.WatchTableResponse:
    """Somebody has said something."""
    line = company_pb2.ChatLine(number=number, seat=seat, name="Ann", text=text)
    return table_pb2.WatchTableResponse(chat=line)


def unknown() -> table_pb2.WatchTableResponse:
    """An event of a later version."""
    return table_pb2.WatchTableResponse.FromString(b"\xfa\x07\x02hi")  # field 127


@contextlib.contextmanager
def free_port(listens: bool = False) -> Any:
    """A port where nobody answers: nothing listens, or somebody who says nothing."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        if listens:
            sock.listen()
        yield sock.getsockname()[1]


def numbers(events: Sequence[object]) -> list[int]:
    return [event.revision for event in events if hasattr(event, "revision")]
