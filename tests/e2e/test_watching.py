"""Watching: nothing is missed, nobody who is slow or dead costs the others anything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from tableturn.v1 import table_pb2, table_pb2_grpc
from tests.e2e.calls import OPTIONS, Connection, new_id, refusal_of
from tests.e2e.following import Follower, following
from tests.e2e.playing import pick
from tests.e2e.processes import Service, serving, until
from tests.e2e.tables import Table, gapless, new_table
from tests.e2e.watchers import watching

pytestmark = pytest.mark.e2e


def memory(pid: int) -> int:
    """What a process holds in memory, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    raise LookupError(pid)


def sockets(pid: int) -> int:
    """How many sockets a process has open."""
    found = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += os.readlink(entry).startswith("socket:")
    return found


# -- nothing is missed -----------------------------------------------------------------------


@pytest.mark.case("S14")
async def test_whoever_comes_while_others_write_misses_nothing(
    service: Service, connection: Connection
) -> None:
    table = await asyncio.to_thread(new_table, connection)
    stop = threading.Event()

    def write() -> int:
        """As fast as one can, until everybody has seen enough."""
        expected = table.revision
        turn = 0
        while not stop.is_set():
            person = table.people[turn % 2]
            expected = person.confirm(expected=expected).revision
            turn += 1
        return expected

    writing = asyncio.get_running_loop().run_in_executor(None, write)
    random = Random(4)
    followers: list[Follower] = []
    tasks: list[asyncio.Task[None]] = []
    try:
        for number in range(24):
            follower = Follower(service.address, table.table_id)
            if number % 2:
                # Those who have read the log first, and go on from there.
                entry = (await asyncio.to_thread(table.log))[-1]
                follower.revision, follower.change_id = entry.revision, entry.change_id
            followers.append(follower)
            tasks.append(asyncio.create_task(follower.follow()))
            await asyncio.sleep(random.random() * 0.02)  # at any moment of a change
        await followers[-1].reaches(followers[-1].revision + 20)
        stop.set()
        last = await writing
        for follower in followers:
            await follower.reaches(last)
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    log = await asyncio.to_thread(table.log)
    points = [(entry.revision, entry.change_id) for entry in log]
    assert gapless(log)
    for number, follower in enumerate(followers):
        assert follower.faults == []
        assert follower.snapshots == (0 if number % 2 else 1)
        assert follower.told == points[-len(follower.told) :]
        assert follower.entries == log[-len(follower.entries) :]


# -- slow readers ----------------------------------------------------------------------------

SLOW = (*OPTIONS, ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_535))


def stage_and_undo(table: Table, changes: int) -> int:
    """Many changes of a table with a large view; returns its revision."""
    person = table.asked()
    asked = person.actions()
    action = pick(asked.choices[0], Random(1))
    expected = asked.revision
    for number in range(changes):
        fields: dict[str, Any] = {
            "table_id": table.table_id,
            "request_id": new_id(),
            "expected_revision": expected,
        }
        if number % 2 == 0:
            answer = person.call("Act", table_pb2.ActRequest(actions=[action], **fields))
        else:
            answer = person.call("Undo", table_pb2.UndoRequest(**fields))
        expected = answer.revision
    return expected


@pytest.mark.case("G1")
async def test_a_slow_reader_gets_a_fresh_snapshot_and_costs_no_memory(own: Service) -> None:
    readers, changes = 80, 600
    with Connection(own.address) as connection:
        table = await asyncio.to_thread(new_table, connection, "eastern-wonders", seats=4)
        size = (await asyncio.to_thread(table.view)).ByteSize()
        async with contextlib.AsyncExitStack() as stack:
            calls = []
            for _ in range(readers):
                channel = grpc.aio.insecure_channel(own.address, options=SLOW)
                await stack.enter_async_context(channel)
                stub = table_pb2_grpc.TableServiceStub(channel)
                call = stub.WatchTable(table_pb2.WatchTableRequest(table_id=table.table_id))
                event = await call.read()
                assert isinstance(event, table_pb2.WatchTableResponse)
                assert event.HasField("snapshot")
                calls.append(call)
            before = memory(own.pid)
            last = await asyncio.to_thread(stage_and_undo, table, changes)
            grown = memory(own.pid) - before
            # A queue for each of them would hold:
            queued = readers * changes * size // 2**20
            assert queued > 60
            assert grown < queued / 2, grown
            # Some never read again, and leave while something still waits to be sent to them.
            for call in calls[5:]:
                await _catches_up(call, last, changes)


async def _catches_up(call: Any, last: int, changes: int) -> None:
    """A reader that reads again is told what has waited for it, and then how things are."""
    revision, told, snapshots = 0, 0, 0
    async with asyncio.timeout(20):
        while revision < last:
            event = await call.read()
            told += 1
            if event.HasField("snapshot"):
                assert event.snapshot.table.revision > revision
                revision = event.snapshot.table.revision
                snapshots += 1
            elif event.HasField("change"):
                assert event.change.entry.revision == revision + 1 or revision == 0
                revision = event.change.entry.revision
    assert revision == last
    assert snapshots >= 1
    assert told < changes


# -- dead watchers ---------------------------------------------------------------------------

DEAD = 200


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Service]:
    """A service that refuses one watch more: so it can be told from outside how many there are."""
    with serving(tmp_path / "counted", "--peer-watches", str(DEAD)) as running:
        yield running


def slowest_change(table: Table, turns: int) -> float:
    """How long the slowest of some changes took, in seconds."""
    slowest = 0.0
    expected = table.revision
    for turn in range(turns):
        begin = time.monotonic()
        expected = table.people[turn % 2].confirm(expected=expected).revision
        slowest = max(slowest, time.monotonic() - begin)
    return slowest


@pytest.mark.case("G1", "G2")
def test_two_hundred_dead_watchers_delay_nobody_and_are_forgotten(counted: Service) -> None:
    with Connection(counted.address) as connection:
        table = new_table(connection)
        before = sockets(counted.pid)
        with watching(counted.address, table.table_id, DEAD) as (process, told):
            assert told == ["snapshot"] * DEAD
            with pytest.raises(grpc.RpcError) as raised:
                next(table.watch(timeout=10))
            assert refusal_of(raised.value).reason == "LIMIT_REACHED"
            # They answer nothing any more, as behind a cable that was pulled out.
            os.kill(process.pid, signal.SIGSTOP)
            assert slowest_change(table, 40) < 1
            process.kill()
            process.wait(10)
            begin = time.monotonic()
            until(lambda: sockets(counted.pid) <= before + 2, why="their sockets are closed")
            assert time.monotonic() - begin < 5
        # There is room for as many again: none of the dead ones is counted any more.
        with watching(counted.address, table.table_id, DEAD) as (_, told):
            assert told == ["snapshot"] * DEAD
        assert slowest_change(table, 10) < 1


@pytest.mark.case("G2")
def test_a_watch_that_was_cancelled_ends_at_once(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--peer-watches", "1") as service,
        Connection(service.address) as connection,
    ):
        table = new_table(connection)
        for _ in range(20):
            begin = time.monotonic()
            until(lambda: _watches_once(table), within=1)
            assert time.monotonic() - begin < 1


def _watches_once(table: Table) -> bool:
    stream = table.watch(timeout=10)
    try:
        return bool(next(stream).HasField("snapshot"))
    except grpc.RpcError as error:
        if refusal_of(error).reason != "LIMIT_REACHED":
            raise
        return False
    finally:
        stream.cancel()


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.case("G1", "G2")
def test_watchers_that_never_answer_again_are_given_up(counted: Service) -> None:
    """No FIN, no RST: only the pings that nobody answers tell that they are gone."""
    with Connection(counted.address) as connection:
        table = new_table(connection)
        before = sockets(counted.pid)
        with watching(counted.address, table.table_id, DEAD) as (process, _):
            os.kill(process.pid, signal.SIGSTOP)
            until(lambda: sockets(counted.pid) <= before + 2, within=120)
            with watching(counted.address, table.table_id, DEAD) as (_, told):
                assert told == ["snapshot"] * DEAD


# -- idle watchers ---------------------------------------------------------------------------


async def idle(service: Service, table_id: str, ping_ms: int, heartbeats: int) -> None:
    """Watch a table at which nothing happens, and ask with pings whether the service lives."""
    options = (
        *OPTIONS,
        ("grpc.keepalive_time_ms", ping_ms),
        ("grpc.keepalive_timeout_ms", 5_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    )
    async with grpc.aio.insecure_channel(service.address, options=options) as channel:
        stub = table_pb2_grpc.TableServiceStub(channel)
        call = stub.WatchTable(table_pb2.WatchTableRequest(table_id=table_id))
        first = await call.read()
        assert isinstance(first, table_pb2.WatchTableResponse)
        revision = first.snapshot.table.revision
        beside = await call.read()
        assert isinstance(beside, table_pb2.WatchTableResponse)
        assert beside.HasField("presence")
        heard = 0
        while heard < heartbeats:
            async with asyncio.timeout(10):  # "something comes at least every 10 seconds"
                event = await call.read()
            assert isinstance(event, table_pb2.WatchTableResponse), event
            if event.HasField("presence"):  # others have come to look
                continue
            assert event.heartbeat.revision == revision
            heard += 1
        call.cancel()


@pytest.mark.case("G4", "R9")
async def test_an_idle_watch_is_told_that_the_service_lives(
    service: Service, connection: Connection
) -> None:
    table = await asyncio.to_thread(new_table, connection)
    await idle(service, table.table_id, ping_ms=1_000, heartbeats=1)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.case("G4")
async def test_an_idle_watch_lives_for_minutes(service: Service, connection: Connection) -> None:
    table = await asyncio.to_thread(new_table, connection)
    async with asyncio.TaskGroup() as group:
        for ping_ms in (1_000, 10_000, 30_000):
            group.create_task(idle(service, table.table_id, ping_ms, heartbeats=48))
    watcher = Follower(service.address, table.table_id)
    async with following(watcher):
        await watcher.reaches(1)
