"""The end of a service: watches are told, calls are finished, nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from tableturn.v1 import table_pb2, table_pb2_grpc
from tests.e2e.calls import OPTIONS, Code, Connection, refusal_of
from tests.e2e.following import Follower, following
from tests.e2e.processes import Service, alive, until
from tests.e2e.tables import Table, gapless, new_table

pytestmark = pytest.mark.e2e


@pytest.mark.case("G6")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
async def test_watches_are_told_of_the_end(own: Service, sig: signal.Signals) -> None:
    with Connection(own.address) as connection:
        table = await asyncio.to_thread(new_table, connection)
    valkey = own.valkey_pid
    async with grpc.aio.insecure_channel(own.address, options=OPTIONS) as channel:
        stub = table_pb2_grpc.TableServiceStub(channel)
        request = table_pb2.WatchTableRequest(table_id=table.table_id)
        calls = [stub.WatchTable(request) for _ in range(20)]
        for call in calls:
            first = await call.read()
            assert isinstance(first, table_pb2.WatchTableResponse)
            assert first.HasField("snapshot")
        assert own.process is not None
        begin = time.monotonic()
        own.process.send_signal(sig)
        for call in calls:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await _to_the_end(call)
            refusal = refusal_of(raised.value)
            assert (refusal.code, refusal.reason) == (Code.UNAVAILABLE, "SHUTTING_DOWN")
        code = await asyncio.to_thread(own.process.wait, 20)
    assert code == 0
    assert time.monotonic() - begin < 5
    assert not alive(valkey)
    assert own.valkeys() == []
    assert own.terminate() == 0


async def _to_the_end(call: Any) -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


@pytest.mark.case("G6", "S3")
def test_calls_that_run_at_the_end_are_answered_or_done_later(own: Service) -> None:
    """What was answered is there after the restart; what was not may be repeated, and is once."""
    people = 8
    with Connection(own.address) as connection:
        options = {"points": "on", "together": "before", "first_seat": "1"}
        table = new_table(connection, seats=people, options=options)
        acknowledged = [0] * people
        stop = threading.Event()

        def play(number: int) -> None:
            person = table.people[number]
            with Connection(own.address) as mine:
                person = person.through(mine)
                while not stop.is_set():
                    points = f"score 1 for seat {number + 1}"
                    person.act(points, expected=person.revision, repeat=True)
                    acknowledged[number] += 1
                    if acknowledged[number] == 15:
                        person.undo(everything=True, repeat=True)
                        acknowledged[number] = 0

        with ThreadPoolExecutor(people) as pool:
            playing = [pool.submit(play, number) for number in range(people)]
            try:
                for _ in range(2):
                    _goes_on(table)
                    assert own.terminate() == 0
                    own.start()
                _goes_on(table)
            finally:
                stop.set()
            for one in playing:
                one.result(30)
        staged = {turn.seat: len(turn.actions) for turn in table.view().staged}
        assert staged == {n: count for n, count in enumerate(acknowledged, 1) if count}
        assert gapless(table.log())


def _goes_on(table: Table) -> None:
    """Wait for some changes."""
    before = table.revision
    until(lambda: table.revision >= before + 20)


@pytest.mark.case("R5")
async def test_a_restart_is_a_pause_and_no_more(own: Service) -> None:
    with Connection(own.address) as connection:
        table = await asyncio.to_thread(new_table, connection)
        watcher = Follower(own.address, table.table_id, table.people[1].token)
        async with following(watcher):
            await watcher.reaches(1)
            for turn in range(4):
                if turn % 2:
                    await asyncio.to_thread(own.restart)
                person = table.people[turn % 2]
                answer = await asyncio.to_thread(person.confirm, repeat=True)
                await watcher.reaches(answer.revision)
    assert watcher.snapshots == 1
    assert watcher.faults == []


def test_a_second_ctrl_c_leaves_at_once_and_loses_nothing(own: Service) -> None:
    with Connection(own.address) as connection:
        table = new_table(connection)
        before = table.view()
        stream = table.watch()
        next(stream)
        pid, valkey = own.pid, own.valkey_pid
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGINT)
        assert own.process is not None
        assert own.process.wait(10) in (0, 130)
        own.process.stdout.close()  # type: ignore[union-attr]
        own.process = None
        own.start()
        assert own.valkey_pid != valkey or alive(valkey)
        assert table.view() == before
