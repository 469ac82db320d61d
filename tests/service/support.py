"""A small vocabulary for tests of the service: real sockets, a real Valkey, people with tokens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status  # type: ignore[import-untyped]

from tableturn import notation
from tableturn.v1 import actions_pb2, catalog_pb2_grpc, table_pb2, table_pb2_grpc
from tableturn_server.service.limits import Limits
from tableturn_server.service.server import Service
from tableturn_server.store import (
    LEASE_MS,
    CommitResult,
    Request,
    Store,
    TableStore,
    Write,
    open_store,
)

pb = table_pb2

ADMIN = "the admin's token, for tests"
HOST = "the host's token, for tests"
NO_LIMITS = Limits(rate=0, peer_rate=0, tables_per_minute=0, lines=0)


def digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def new_id() -> str:
    return f"t{secrets.token_hex(6)}"


@dataclass
class Failure:
    """How a call was refused."""

    reason: str = ""
    code: grpc.StatusCode = grpc.StatusCode.OK
    sentence: str = ""
    details: dict[str, str] = field(default_factory=dict)


def failure_of(error: grpc.aio.AioRpcError) -> Failure:
    status = rpc_status.from_call(error)
    assert status is not None, error
    if not status.details:
        return Failure("", error.code(), status.message)
    info = error_details_pb2.ErrorInfo()
    (detail,) = status.details
    assert detail.Unpack(info)
    assert info.domain == "tableturn"
    return Failure(info.reason, error.code(), status.message, dict(info.metadata))


@contextlib.contextmanager
def refused(reason: str, code: str = "", **details: object) -> Iterator[Failure]:
    """The call inside is refused for this reason, with these details."""
    failure = Failure()
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        yield failure
    found = failure_of(raised.value)
    failure.__dict__.update(found.__dict__)
    assert found.reason == reason, found
    if code:
        assert found.code.name == code
    for name, value in details.items():
        assert found.details.get(name) == str(value), found
    assert found.sentence


async def outcome(call: Awaitable[Any]) -> str:
    """`done`, or the reason of the refusal."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return failure_of(error).reason
    return "done"


def message(text: str) -> actions_pb2.Action:
    """The message of an action in text form, such as `move C3`."""
    kind, fields = notation.parse(text)
    action = actions_pb2.Action()
    inner = getattr(action, kind)
    inner.SetInParent()
    for name, value in fields.items():
        if isinstance(value, tuple):
            bundle = dict(zip(("yellow", "red", "green", "brown"), value, strict=True))
            getattr(inner, name).CopyFrom(actions_pb2.Cubes(**bundle))
        else:
            setattr(inner, name, value)
    return action


class Caller:
    """Somebody with a token (or none) who calls a service."""

    def __init__(self, channel: grpc.aio.Channel, token: str = "", table_id: str = "") -> None:
        self.channel = channel
        self.token = token
        self.table_id = table_id
        self.seat = 0
        self.seen = 0
        self.tables: Any = table_pb2_grpc.TableServiceStub(channel)
        self.catalog: Any = catalog_pb2_grpc.CatalogServiceStub(channel)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    async def call(self, method: str, request: Any, **options: Any) -> Any:
        """Call a method of TableService."""
        options.setdefault("metadata", self.metadata)
        options.setdefault("timeout", 20)
        return await getattr(self.tables, method)(request, **options)

    async def changes(self, method: str, *, request_id: str = "", **fields: Any) -> Any:
        """Call a method that changes the table, under a new request id unless one is given."""
        kind = getattr(pb, f"{method}Request")
        request = kind(
            table_id=self.table_id, request_id=request_id or secrets.token_hex(8), **fields
        )
        response = await self.call(method, request)
        if hasattr(response, "revision"):
            self.seen = max(self.seen, response.revision)
        return response

    async def looks(self, seat: int = 0) -> pb.TableView:
        """The table as this caller sees it."""
        response = await self.call(
            "GetTable", pb.GetTableRequest(table_id=self.table_id, seat=seat)
        )
        self.seen = response.table.revision
        view: pb.TableView = response.table
        return view

    async def may(self, seat: int = 0) -> pb.ListActionsResponse:
        """What the seat may do."""
        request = pb.ListActionsRequest(table_id=self.table_id, seat=seat)
        found: pb.ListActionsResponse = await self.call("ListActions", request)
        self.seen = found.revision
        return found

    async def reads_log(self, after: int = 0, size: int = 500) -> list[pb.LogEntry]:
        """The log after a revision."""
        request = pb.ListLogRequest(table_id=self.table_id, after_revision=after, page_size=size)
        response = await self.call("ListLog", request)
        return list(response.entries)

    async def takes_seat(self, seat: int = 0, *, name: str = "", request_id: str = "") -> Any:
        request = pb.TakeSeatRequest(
            table_id=self.table_id,
            request_id=request_id or secrets.token_hex(8),
            seat=seat,
            name=name or self.token[:20],
            token_sha256=digest(self.token),
        )
        response = await self.call("TakeSeat", request, metadata=())
        self.seat, self.seen = response.seat, response.table.revision
        return response

    async def acts(
        self, *texts: str, confirm: bool = False, at: int | None = None, **fields: Any
    ) -> Any:
        """Stage actions, from the newest revision that this caller has seen."""
        return await self.changes(
            "Act",
            expected_revision=self.seen if at is None else at,
            actions=[message(text) for text in texts],
            confirm=confirm,
            **fields,
        )

    async def confirms(self, at: int | None = None, **fields: Any) -> Any:
        expected = self.seen if at is None else at
        return await self.changes("Confirm", expected_revision=expected, **fields)

    def watches(self, *, seat: int = 0, start: int = 0, change_id: str = "") -> Any:
        """The stream of a watch."""
        request = pb.WatchTableRequest(
            table_id=self.table_id, seat=seat, start_revision=start, start_change_id=change_id
        )
        return self.tables.WatchTable(request, metadata=self.metadata)

    async def takes_a_turn(self, chance: random.Random) -> None:
        """Actions by chance, and a confirmation as soon as chance wants one that is possible."""
        while True:
            may = await self.may()
            choices = [choice for choice in may.choices if choice.kind != "finish_game"]
            if may.prompt.can_confirm and (not choices or chance.random() < 0.4):
                await self.confirms()
                return
            action = chosen(chance.choice(choices), chance)
            await self.changes("Act", expected_revision=self.seen, actions=[action])


def chosen(choice: actions_pb2.Choice, chance: random.Random) -> actions_pb2.Action:
    """One action out of a choice, as its comment says how."""
    action = actions_pb2.Action()
    inner = getattr(action, choice.kind)
    inner.SetInParent()
    singular = {
        "tiles": "tile",
        "colors": "cube",
        "seats": "seat",
        "bonuses": "bonus",
        "cards": "card",
    }
    for many, one in singular.items():
        if getattr(choice, many):
            setattr(inner, one, chance.choice(list(getattr(choice, many))))
    if choice.piles:
        inner.pile.CopyFrom(chance.choice(list(choice.piles)))
    for name in ("count", "points"):
        if choice.HasField(name):
            bounds = getattr(choice, name)
            setattr(inner, name, chance.randint(bounds.min, bounds.max))
    if choice.HasField("cubes"):
        held = choice.cubes.available
        cubes = [c for c in ("yellow", "red", "green", "brown") for _ in range(getattr(held, c))]
        for color in chance.sample(cubes, choice.cubes.min):
            setattr(inner.cubes, color, getattr(inner.cubes, color) + 1)
    return action


@dataclass
class Running:
    """A service in this process, and callers of it."""

    service: Service
    store: Store
    port: int
    channel: grpc.aio.Channel

    def caller(self, token: str = "", table_id: str = "") -> Caller:
        return Caller(self.channel, token, table_id)

    async def a_table(
        self, game: str = "free-table", *, seats: int = 2, table_id: str = "", **fields: Any
    ) -> Caller:
        """A new table; its host."""
        host = self.caller(HOST, table_id or new_id())
        options = fields.pop("options", {"first_seat": "1"} if game == "free-table" else {})
        fields.setdefault("start_when_full", True)
        await host.changes(
            "CreateTable",
            game=game,
            seats=seats,
            options=options,
            host_token_sha256=digest(HOST),
            **fields,
        )
        return host

    async def a_game(
        self, game: str = "free-table", *, seats: int = 2, **fields: Any
    ) -> tuple[Caller, list[Caller]]:
        """A new table with everybody on their seats: its host, and the people."""
        host = await self.a_table(game, seats=seats, **fields)
        people = [
            self.caller(f"the token of person {n + 1} {secrets.token_hex(4)}", host.table_id)
            for n in range(seats)
        ]
        for person in people:
            await person.takes_seat()
        for person in people:
            await person.looks()
        return host, people

    async def play_on(self, people: list[Caller], turns: int, chance: random.Random) -> None:
        """Whoever is asked takes turns."""
        for _ in range(turns):
            view = await people[0].looks()
            if not view.prompts:
                return
            await people[chance.choice(view.prompts).seat - 1].takes_a_turn(chance)


class SlowTables(TableStore):
    """A store that takes its time before and after each change."""

    async def commit(
        self,
        table_id: str,
        based_on: tuple[int, str],
        request: Request | None,
        write: Write | None,
        *,
        outcome: bytes = b"",
    ) -> CommitResult:
        await asyncio.sleep(random.uniform(0, 0.03))
        result = await super().commit(table_id, based_on, request, write, outcome=outcome)
        await asyncio.sleep(random.uniform(0, 0.03))
        return result


@contextlib.asynccontextmanager
async def serving(
    url: str,
    *,
    slow: bool = False,
    limits: Limits = NO_LIMITS,
    heartbeat: float = 8.0,
    watch_interval: float = 0.3,
    lease_ms: int = LEASE_MS,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Running]:
    """A service in this process on a real socket and a real store."""
    async with open_store(url=url, watch_interval=watch_interval) as store:
        if slow:
            store = replace(store, tables=SlowTables(store.connection))
        service = Service(
            store,
            digest(ADMIN),
            limits=limits,
            heartbeat=heartbeat,
            lease_ms=lease_ms,
            clock=clock,
        )
        port = await service.start("127.0.0.1", 0)
        # Channels of one process share a connection unless they are told not to.
        options = (("grpc.use_local_subchannel_pool", 1),)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
                yield Running(service, store, port, channel)
        finally:
            await service.stop(1.0)


# -- the service in a process of its own ---------------------------------------------------


@dataclass
class Served:
    """A service in a process of its own."""

    process: subprocess.Popen[bytes]
    ready: dict[str, Any]
    log: Path

    @property
    def address(self) -> str:
        return str(self.ready["address"])

    def ends(self, sig: signal.Signals = signal.SIGTERM, within: float = 15) -> int:
        self.process.send_signal(sig)
        return self.process.wait(within)


COMMAND = (sys.executable, "-m", "tableturn_server.service")


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TABLETURN")}
    return {**kept, **more}


def serve(data: Path, *options: str, env: dict[str, str] | None = None, port: int = 0) -> Served:
    """Start a service, and wait until it is ready."""
    log = data.with_name(f"{data.name}-{secrets.token_hex(3)}.log")
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*COMMAND, "--data", str(data), "--port", str(port), "--json", *options],
            stdout=subprocess.PIPE,
            stderr=file,
            env=env or environment(),
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, log.read_text()
    return Served(process, json.loads(line), log)


@contextlib.contextmanager
def served(data: Path, *options: str, **more: Any) -> Iterator[Served]:
    """A service that is ended afterwards, whatever has become of it."""
    running = serve(data, *options, **more)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.ends()
        assert running.process.stdout is not None
        running.process.stdout.close()
