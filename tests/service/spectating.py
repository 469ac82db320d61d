"""A table with a delay, those who sit there and those who look on, and a time that passes."""

from __future__ import annotations

import itertools
import secrets
from typing import Any

from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import (
    company_pb2,
    company_pb2_grpc,
    table_pb2,
)
from tests.service.asking import Asking
from tests.service.support import (
    Caller,
    Running,
)

pb = table_pb2
DELAY = 60
MARKER = "Xanthippe"
WATCH = "the watch token of the table, for tests"
PANEL_TOKEN = "the token of the panel, for tests"


class World:
    """A service, and the time that passes there."""

    def __init__(self, running: Running, clock: Clock) -> None:
        self.running = running
        self.clock = clock

    async def passes(self, seconds: float) -> None:
        """Time passes while the service gives its signs of life."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = min(end, self.clock.now + 2)
            await self.running.service.outages.beat()

    async def a_table(self, **fields: Any) -> Caller:
        fields.setdefault("spectator_delay", Duration(seconds=DELAY))
        return await self.running.a_table(
            options={"points": "on", "first_seat": "1"}, seats=fields.pop("seats", 2), **fields
        )

    async def a_game(self, **fields: Any) -> tuple[Caller, list[Caller]]:
        """A game that spectators see begun."""
        fields.setdefault("spectator_delay", Duration(seconds=DELAY))
        host, people = await self.running.a_game(
            options={"points": "on", "first_seat": "1"}, **fields
        )
        await self.passes(DELAY)
        return host, people

    def spectator(self, host: Caller, token: str = "") -> Asking:
        return Asking(self.running.channel, token, host.table_id)


class Clock:
    """The time of one test; it doesn't go back from one to the next, since they share a store."""

    _days = itertools.count(20_000)

    def __init__(self) -> None:
        self.now = next(self._days) * 86_400.0

    def __call__(self) -> float:
        return self.now


def company(caller: Caller) -> Any:
    return company_pb2_grpc.CompanyServiceStub(caller.channel)


async def says(caller: Caller, text: str) -> None:
    request = company_pb2.SendChatRequest(
        table_id=caller.table_id, request_id=secrets.token_hex(8), text=text
    )
    await company(caller).SendChat(request, metadata=caller.metadata)


async def join_code(host: Caller) -> str:
    request = company_pb2.GetJoinCodeRequest(table_id=host.table_id)
    return str((await company(host).GetJoinCode(request, metadata=host.metadata)).code)


async def they_play(world: World, host: Caller, people: list[Caller]) -> None:
    ann, bob = people
    await ann.acts("score 7 for seat 2")
    await says(ann, f"{MARKER} has seven points")
    await ann.confirms()
    await host.changes("PauseGame")
    await host.changes("ResumeGame")
    bob.seen = host.seen
    await bob.acts("score 3 for seat 1", confirm=True)
    await host.changes("TakeBack", expected_revision=bob.seen)
    await bob.changes("StandIn")
    await bob.changes("ComeBack")
    await bob.changes("SetConfirmation", confirmation=pb.CONFIRMATION_DEVICE)


async def lines_of(who: Caller) -> list[pb.TableSummary]:
    """The whole list of tables: others are in this store too."""
    lines: list[pb.TableSummary] = []
    token = ""
    while True:
        request = pb.ListTablesRequest(page_size=100, page_token=token)
        page = await who.call("ListTables", request)
        lines += page.tables
        token = page.next_page_token
        if not token:
            return lines
