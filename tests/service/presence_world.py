"""Two services on one store, and a time that passes as a test says: who is there, who is not."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count

from tableturn_server.tables import commands
from tableturn_server.tables.commands import By
from tests.service.company import Listening
from tests.service.support import Caller, Running, pb, serving
from tests.store.support import Server

STARTS = count(1_790_000_000, 24 * 3600)
"""When each test begins: time goes on from one to the next, as a store expects of it."""
GRACE = 120


@dataclass
class World:
    """Two services on one store, and the time, which stands unless somebody lets it pass."""

    one: Running
    two: Running
    began: float
    now: float

    @property
    def ms(self) -> int:
        return int(self.now * 1000)

    async def passes(self, seconds: float) -> None:
        """Time passes, and both services give their signs of life."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 4)
            for running in (self.one, self.two):
                await running.service.outages.beat()
                await running.service.presences.beat()

    async def is_heard(self, who: Listening, *states: int, spectators: int | None = None) -> None:
        """The watcher is told that this is so, after the next sign of life at the latest."""
        for running in (self.one, self.two):
            await running.service.presences.beat()
        await who.until(*states, spectators=spectators)

    async def state(self, who: Caller) -> list[tuple[int, float]]:
        """Who is there, for somebody who looks once: a state and since how many seconds."""
        answer = await who.call("GetTable", pb.GetTableRequest(table_id=who.table_id))
        assert answer.time.ToMilliseconds() == self.ms
        return [
            (
                one.state,
                self.now - one.since.ToMilliseconds() / 1000 if one.state else 0,
            )
            for one in answer.presence.seats
        ]

    async def stand_in(self, host: Caller, seat: int) -> None:
        """A bot plays on for somebody who has been away for too long."""
        await self.passes(GRACE)
        command = commands.GoAway(by=By(service=True), seat=seat, since=1, bot="greedy")
        await self.one.service.keeper.carry_out(host.table_id, command, None, float("inf"))
        assert (await host.looks()).seats[seat - 1].stand_in == "greedy"


@contextlib.asynccontextmanager
async def a_world(valkey: Server) -> AsyncIterator[World]:
    async with contextlib.AsyncExitStack() as stack:
        began = float(next(STARTS))
        found: list[World] = []

        def clock() -> float:
            return found[0].now if found else began

        one, two = [
            await stack.enter_async_context(serving(valkey.url, clock=clock, heartbeat=0.2))
            for _ in range(2)
        ]
        found.append(World(one, two, began, began))
        yield found[0]


def elsewhere(who: Caller, running: Running) -> Caller:
    """The same person, at another service."""
    return running.caller(who.token, who.table_id)
