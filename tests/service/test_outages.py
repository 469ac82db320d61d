"""A service gives its signs of life, before it serves and as long as it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2
from tableturn_server.service.outages import BEAT, FRESH_MS, LONGEST_MS, Outages
from tableturn_server.store import Connection, Outage, OutageStore, StoreUnavailable, keys
from tests.jobs.support import Clock, Hold
from tests.service.support import Running, pb, serving
from tests.store.support import Server, eventually, running_server


@pytest.fixture
def store() -> Iterator[Server]:
    """A real store of which nobody else knows the time."""
    with running_server() as running:
        yield running


@pytest.fixture
async def connection(store: Server) -> AsyncIterator[Connection]:
    async with Connection(store.url) as made:
        yield made


class Sleeper:
    """Sleeps until the test says that the time is over."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[float] = asyncio.Queue()
        self._over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.asked.put_nowait(seconds)
        await self._over.wait()
        self._over.clear()

    def wakes(self) -> None:
        self._over.set()


async def last_sign(connection: Connection) -> int:
    return int(await connection.call("GET", keys.ALIVE) or 0)


async def test_a_sign_is_given_before_anybody_is_served(
    store: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is served knows then of the outage that ended with this start."""
    clock = Clock()
    async with serving(store.url, clock=clock):
        pass
    before = clock.ms
    clock.passes(3_600_000)
    seen: list[int] = []
    began = Running.__init__

    def served(self: Running, *args: object) -> None:
        began(self, *args)  # type: ignore[arg-type]
        seen.append(self.service.outages.last_end)

    monkeypatch.setattr(Running, "__init__", served)
    async with serving(store.url, clock=clock) as running:
        assert seen == [clock.ms]
        assert running.service.outages._known == (Outage(before, clock.ms),)
        assert await last_sign(connection) == clock.ms


async def test_signs_are_given_again_and_again(store: Server, connection: Connection) -> None:
    clock, sleeper = Clock(), Sleeper()
    outages = Outages(OutageStore(connection), clock=clock, sleep=sleeper)
    await outages.start()
    try:
        for _ in range(3):
            assert await sleeper.asked.get() == BEAT
            assert await last_sign(connection) == clock.ms
            clock.passes(2000)
            sleeper.wakes()
    finally:
        await outages.stop()
    assert outages.last_end == 0


async def test_while_the_store_is_away_signs_are_tried_more_often(
    store: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service starts all the same, and the sign is given as soon as the store is back."""
    clock, sleeper = Clock(), Sleeper()
    kept = OutageStore(connection)
    outages = Outages(kept, clock=clock, sleep=sleeper)

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("the store is away")

    with monkeypatch.context() as patch:
        patch.setattr(kept, "beat", away)
        await outages.start()
        assert await sleeper.asked.get() < BEAT
        with pytest.raises(StoreUnavailable):
            await outages.now()
    sleeper.wakes()
    try:
        assert await sleeper.asked.get() == BEAT
        assert await last_sign(connection) == clock.ms
    finally:
        await outages.stop()


async def test_what_was_told_holds_for_a_while(store: Server, connection: Connection) -> None:
    """Nobody waits for the store before each change: the signs come often enough."""
    clock = Clock()
    outages = Outages(OutageStore(connection), clock=clock)
    await outages.beat()
    first = clock.ms
    clock.passes(FRESH_MS)
    assert await outages.now() == clock.ms
    assert await last_sign(connection) == first
    clock.passes(1)
    assert await outages.now() == clock.ms
    assert await last_sign(connection) == clock.ms
    clock.passes(-1)  # set back: who knows what is true now
    assert await outages.now() == clock.ms
    assert outages._told == clock.ms


async def test_many_that_want_to_know_at_once_ask_once(
    store: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    kept = OutageStore(connection)
    outages = Outages(kept, clock=clock)
    hold = Hold(kept.beat)
    monkeypatch.setattr(kept, "beat", hold)
    asking = [asyncio.create_task(outages.now()) for _ in range(20)]
    await hold.reached.wait()
    monkeypatch.setattr(kept, "beat", None)  # nobody calls it again
    hold.go_on.set()
    assert await asyncio.gather(*asking) == [clock.ms] * 20


async def test_after_an_outage_all_jobs_are_due_at_once(
    store: Server, connection: Connection
) -> None:
    """So that the deadlines that are shown are right again. Only the one who ended it does so."""
    clock = Clock()
    async with serving(store.url, clock=clock) as running:
        await running.service.runner.stop()
        await running.store.jobs.announce("a-table", clock.ms + 3_600_000, clock.ms)
        clock.passes(LONGEST_MS + 1)
        await running.service.outages.beat()
        assert await running.store.jobs.next() == clock.ms
        (claim,) = await running.store.jobs.claim(clock.ms, 1000, 9)
        await running.store.jobs.settle(claim, clock.ms + 3_600_000, clock.ms)
        async with serving(store.url, clock=clock) as other:
            await other.service.runner.stop()
            assert other.service.outages.last_end == running.service.outages.last_end
            assert await running.store.jobs.next() == clock.ms + 3_600_000


async def test_the_runner_of_a_service_is_woken_by_the_end_of_an_outage(store: Server) -> None:
    clock = Clock()
    async with serving(store.url, clock=clock) as running:
        runner = running.service.runner
        await eventually(lambda: not runner._woken.is_set())
        await runner.stop()
        runner._woken.clear()
        clock.passes(LONGEST_MS + 1)
        await running.service.outages.beat()
        assert runner._woken.is_set()


class Stops:
    """A store that is stopped for a while, when it was sent so many commands more.

    What was sent last waits, and is carried out afterwards.
    """

    def __init__(self, real: Callable[..., Awaitable[Any]], clock: Clock, sent: int) -> None:
        self._real = real
        self._clock = clock
        self._left = sent

    async def __call__(self, *args: Any, **named: Any) -> Any:
        if self._left == 0:
            await asyncio.sleep(0)
            self._clock.passes(STOPPED_MS)
        self._left -= 1
        reply = await self._real(*args, **named)
        if args == ("TIME",) and self._left >= 0:  # the store's own clock goes on meanwhile
            reply = [int(reply[0]) - STOPPED_MS // 1000, int(reply[1])]
        return reply


STOPPED_MS = 7000


@pytest.mark.case("C1")
@pytest.mark.parametrize("sent", [0, 1])
@pytest.mark.parametrize("after", [1, 1900, 4900])
async def test_a_sign_that_waits_in_a_store_that_is_stopped_hides_no_outage(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, after: int, sent: int
) -> None:
    """It was sent when the store was stopped, and says nothing of the time after that."""
    clock = Clock()
    outages = Outages(OutageStore(connection), clock=clock)
    await outages.beat()
    begin = clock.ms
    clock.passes(after)
    monkeypatch.setattr(connection, "call", Stops(connection.call, clock, sent))
    await outages.beat()
    assert outages._known == (Outage(begin, clock.ms),)
    assert clock.ms == begin + after + STOPPED_MS


@pytest.mark.nightly
@pytest.mark.case("C1")
@pytest.mark.parametrize("stopped", [6.0, 8.0, 10.0])
async def test_nobody_is_charged_while_the_store_is_stopped(store: Server, stopped: float) -> None:
    """In real time, with two services, and players who would have to leave the game."""
    async with serving(store.url) as one, serving(store.url) as other:
        clock = clock_pb2.ClockSettings(
            kind=clock_pb2.CLOCK_KIND_PER_TURN,
            step=Duration(seconds=5),
            timeout=clock_pb2.TIMEOUT_POLICY_DROP,
        )
        host, people = await one.a_game(clock=clock)
        os.kill(store.process.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(stopped)
        finally:
            os.kill(store.process.pid, signal.SIGCONT)

        async def excused() -> bool:
            with contextlib.suppress(grpc.aio.AioRpcError):
                return (await host.reads_log())[-1].kind == pb.CHANGE_KIND_OUTAGE
            return False

        await eventually(excused)
        for running in (one, other):
            await running.service.outages.beat()
            (outage,) = running.service.outages._known
            assert outage.end - outage.begin >= stopped * 1000 - 100
        await people[0].confirms(at=(await people[0].looks()).revision)
