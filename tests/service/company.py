"""What people do at a table beside the game, in short words: codes, talk, and being there."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import grpc

from tableturn.v1 import company_pb2, company_pb2_grpc, table_pb2
from tests.service.support import Caller, Running, digest

cp = company_pb2
UNKNOWN, HERE, AWAY = (
    cp.PRESENCE_STATE_UNSPECIFIED,
    cp.PRESENCE_STATE_HERE,
    cp.PRESENCE_STATE_AWAY,
)


async def asks(caller: Caller, method: str, **fields: Any) -> Any:
    """Call a method of CompanyService about the caller's table."""
    request = getattr(cp, f"{method}Request")(table_id=caller.table_id, **fields)
    return await send(caller, method, request)


async def send(caller: Caller, method: str, request: Any) -> Any:
    """Call a method of CompanyService."""
    stub: Any = company_pb2_grpc.CompanyServiceStub(caller.channel)
    return await getattr(stub, method)(request, metadata=caller.metadata, timeout=20)


async def resolve(caller: Caller, code: str) -> cp.ResolveCodeResponse:
    """Ask what a code is for."""
    answer: cp.ResolveCodeResponse = await send(
        caller, "ResolveCode", cp.ResolveCodeRequest(code=code)
    )
    return answer


def a_device(running: Running, table_id: str, name: str = "phone") -> Caller:
    """Somebody with a token that nobody knows yet."""
    return running.caller(f"the token of a {name} {secrets.token_hex(4)}", table_id)


async def seat_code(who: Caller, seat: int = 0) -> str:
    """A code that moves a seat to another device."""
    return str((await asks(who, "MakeSeatCode", seat=seat)).code)


async def join_code(who: Caller, **fields: bool) -> str:
    """The code of the caller's table."""
    return str((await asks(who, "GetJoinCode", **fields)).code)


async def forget_tries(running: Running) -> None:
    """No address has tried a wrong code."""
    _, found = await running.store.connection.call(
        "SCAN", "0", "MATCH", "tt:tries:*", "COUNT", 1000
    )
    for key in found:
        await running.store.connection.call("DEL", key)


async def says(caller: Caller, text: str, *, request_id: str = "", seat: int = 0) -> Any:
    """Say something."""
    request_id = request_id or secrets.token_hex(8)
    return await asks(caller, "SendChat", text=text, request_id=request_id, seat=seat)


async def hears(caller: Caller, after: int = 0) -> list[str]:
    """What was said."""
    answer = await asks(caller, "ListChat", after_number=after)
    return [line.text for line in answer.lines]


async def sits_down(
    caller: Caller, code: str, *, name: str = "", request_id: str = "", **fields: Any
) -> table_pb2.TakeSeatResponse:
    """Take a seat with a code."""
    request = table_pb2.TakeSeatRequest(
        table_id=caller.table_id,
        request_id=request_id or secrets.token_hex(8),
        name=name,
        token_sha256=digest(caller.token),
        code=code,
        **fields,
    )
    answer: table_pb2.TakeSeatResponse = await caller.call("TakeSeat", request, metadata=())
    caller.seat, caller.seen = answer.seat, answer.table.revision
    return answer


class Listening:
    """A watch of which what is told beside the game is kept."""

    def __init__(self, caller: Caller, **fields: Any) -> None:
        self.stream = caller.watches(**fields)
        self.presence: cp.Presence | None = None
        self.presences = 0
        self.lines: list[str] = []
        self.kinds: list[str] = []
        self.snapshot: table_pb2.TableView | None = None

    async def read(self) -> str:
        """The kind of the next event."""
        event = await self.stream.read()
        assert event is not grpc.aio.EOF
        assert event.HasField("time")
        kind = str(event.WhichOneof("event"))
        self.kinds.append(kind)
        if kind == "presence":
            self.presence = event.presence
            self.presences += 1
        elif kind == "chat":
            self.lines.append(event.chat.text)
        elif kind == "snapshot":
            self.snapshot = event.snapshot.table
        return kind

    async def begins(self) -> Listening:
        """Read until it is told who is there."""
        async with asyncio.timeout(10):
            while self.presence is None:
                await self.read()
        return self

    def states(self) -> list[int]:
        """Whether somebody is there, for each seat with a person."""
        assert self.presence is not None
        return [seat.state for seat in self.presence.seats]

    async def until(self, *states: int, spectators: int | None = None) -> cp.Presence:
        """Read until it is told that this is so."""
        async with asyncio.timeout(10):
            while (
                self.presence is None
                or self.states() != list(states)
                or spectators not in (None, self.presence.spectators)
            ):
                await self.read()
        assert self.presence is not None
        return self.presence

    async def hears(self, count: int) -> list[str]:
        """Read until so many lines were told."""
        async with asyncio.timeout(10):
            while len(self.lines) < count:
                await self.read()
        return self.lines

    def ends(self) -> None:
        self.stream.cancel()
