"""Two services on one store: no table, seat or watcher is bound to one of them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from tableturn.v1 import table_pb2
from tableturn_server import store
from tests.e2e.calls import OPTIONS, Code, Connection, new_id, refused
from tests.e2e.following import Follower, following
from tests.e2e.processes import Service, Valkey, running_valkey, serving, until
from tests.e2e.rivals import Rivals, Wish
from tests.e2e.tables import gapless, new_table

pytestmark = pytest.mark.e2e


class Pair:
    """Two services, with a connection to each."""

    def __init__(self, valkey: Valkey, services: list[Service]) -> None:
        self.valkey = valkey
        self.services = services
        self.connections = [Connection(service.address) for service in services]

    def close(self) -> None:
        for connection in self.connections:
            connection.channel.close()


def started(home: Path, stack: ExitStack) -> Pair:
    valkey = stack.enter_context(running_valkey())
    services = [stack.enter_context(serving(home / name, store=valkey.url)) for name in "ab"]
    pair = Pair(valkey, services)
    stack.callback(pair.close)
    return pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield started(tmp_path_factory.mktemp("pair"), stack)


@pytest.fixture
def own_pair(tmp_path: Path) -> Iterator[Pair]:
    """Two that may be killed."""
    with ExitStack() as stack:
        yield started(tmp_path, stack)


@pytest.mark.case("R2", "S9", "S4")
def test_a_table_made_at_one_is_joined_and_played_through_the_other(pair: Pair) -> None:
    here, there = pair.connections
    table = new_table(here, sit=False)
    for name, connection in (("Ann", here), ("Bob", there)):
        table.people.append(table.through(connection).take_seat(name))
    for turn in range(40):
        person = table.people[turn % 2].through(pair.connections[turn % 3 % 2])
        answer = person.act("score 1 for seat 1", confirm=True)
        # Whoever was told of a change finds it everywhere, at once.
        for connection in pair.connections:
            seen = table.through(connection).view()
            assert seen.revision == answer.revision
            assert seen.game_view.players[0].points == turn + 1
            assert table.through(connection).log(after=answer.revision - 1) == person.log(
                after=answer.revision - 1
            )
    assert gapless(table.log())


@pytest.mark.case("R2")
async def test_watchers_at_the_other_hear_of_each_change_at_once(pair: Pair) -> None:
    here, _ = pair.connections
    table = await asyncio.to_thread(new_table, here)
    watchers = [Follower(service.address, table.table_id) for service in pair.services]
    async with following(*watchers):
        for watcher in watchers:
            await watcher.reaches(1)
        for turn in range(20):
            person = table.people[turn % 2]
            answer = await asyncio.to_thread(person.confirm)
            for watcher in watchers:
                # By the wake-up: revisions are read by themselves every 3 s only.
                await watcher.reaches(answer.revision, within=1.5)
    for watcher in watchers:
        assert watcher.faults == []
        assert watcher.snapshots == 1
        assert len(watcher.entries) == 20


@pytest.mark.case("R2")
async def test_watchers_hear_of_changes_when_wake_ups_are_lost(pair: Pair) -> None:
    here, _ = pair.connections
    table = await asyncio.to_thread(new_table, here)
    watcher = Follower(pair.services[1].address, table.table_id)
    async with store.Connection(pair.valkey.url) as direct, following(watcher):
        await watcher.reaches(1)
        for turn in range(3):
            await direct.call("CLIENT", "KILL", "TYPE", "pubsub")
            answer = await asyncio.to_thread(table.people[turn % 2].confirm)
            await watcher.reaches(answer.revision, within=5)
    assert watcher.faults == []
    assert watcher.snapshots == 1


@pytest.mark.case("R1", "R4", "R5")
async def test_a_watcher_comes_back_at_any_process_as_often_as_it_likes(pair: Pair) -> None:
    here, _ = pair.connections
    table = await asyncio.to_thread(new_table, here)
    ann = table.people[0]
    watcher = Follower("", table.table_id, ann.token)
    done = asyncio.Event()

    async def play() -> None:
        for turn in range(60):
            await asyncio.to_thread(table.people[turn % 2].confirm)
        done.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(play())
        for service in itertools.cycle(pair.services):
            async with grpc.aio.insecure_channel(service.address, options=OPTIONS) as channel:
                listening = asyncio.create_task(watcher.once(channel))
                await watcher.reaches(watcher.revision + 1 if not done.is_set() else 1)
                listening.cancel()
                await asyncio.wait([listening])
            watcher.connections += 1
            assert watcher.view is not None
            assert watcher.view.viewer == 1
            if done.is_set():
                break
    assert watcher.connections >= 10
    assert watcher.snapshots == 1
    assert watcher.faults == []


@pytest.mark.case("S6", "D6")
def test_of_many_at_both_processes_one_wins(pair: Pair) -> None:
    ann = new_table(pair.connections[0]).people[0]
    seen = ann.revision
    addresses = [service.address for service in pair.services]
    rivals = Rivals(Wish(addresses, ann.table_id, ann.token, 1, seen, 20))
    try:
        told = rivals.go()
    finally:
        rivals.close()
    assert [one.revision for one in told if one.revision] == [seen + 1]
    assert [one.reason for one in told if one.reason] == ["STALE_REVISION"] * 19
    assert len(ann.log(after=seen)) == 1


@pytest.mark.case("S7", "S8", "R1")
def test_a_call_is_repeated_at_the_other_process(pair: Pair) -> None:
    here, there = pair.connections
    ann = new_table(here).people[0]
    seen = ann.revision
    request_id = new_id()
    first = ann.act("score 1 for seat 2", expected=seen, request_id=request_id)
    again = ann.through(there).act("score 1 for seat 2", expected=seen, request_id=request_id)
    assert again.replayed
    assert (again.revision, list(again.lines)) == (first.revision, list(first.lines))
    with refused(Code.INVALID_ARGUMENT, "REQUEST_ID_REUSED"):
        ann.through(there).act("score 2 for seat 2", expected=seen, request_id=request_id)


@pytest.mark.case("R1", "R5", "D5")
async def test_when_one_process_dies_people_go_on_at_the_other(own_pair: Pair) -> None:
    pair = own_pair
    here, there = pair.connections
    table = await asyncio.to_thread(new_table, here)
    ann, bob = table.people
    watcher = Follower(pair.services[0].address, table.table_id, bob.token)
    async with following(watcher):
        await asyncio.to_thread(ann.act, "score 1 for seat 1")
        await watcher.reaches((await asyncio.to_thread(ann.view)).revision)
    pair.services[0].kill()
    watcher.address = pair.services[1].address
    async with following(watcher):
        await asyncio.to_thread(ann.through(there).confirm)
        answer = await asyncio.to_thread(bob.through(there).confirm)
        await watcher.reaches(answer.revision)
    assert watcher.snapshots == 1
    assert watcher.faults == []
    # A new one knows everything that the dead one knew.
    await asyncio.to_thread(pair.services[0].start)
    assert gapless(await asyncio.to_thread(table.log))


@pytest.mark.case("D4")
async def test_while_the_store_is_away_calls_are_refused_at_once_and_watches_stay(
    own_pair: Pair,
) -> None:
    pair = own_pair
    table = await asyncio.to_thread(new_table, pair.connections[0])
    ann = table.people[0]
    seen = (await asyncio.to_thread(ann.view)).revision
    watcher = Follower(pair.services[1].address, table.table_id)
    async with following(watcher):
        await watcher.reaches(seen)
        await asyncio.to_thread(pair.valkey.stop)
        for number in range(5):
            begin = time.monotonic()
            with refused(Code.UNAVAILABLE, "STORE_UNAVAILABLE", "same request id"):
                await asyncio.to_thread(ann.confirm, expected=seen, request_id=f"click-{number}")
            with refused(Code.UNAVAILABLE, "STORE_UNAVAILABLE"):
                await asyncio.to_thread(
                    table.connection.tables.GetTable,
                    table_pb2.GetTableRequest(table_id=table.table_id),
                )
            assert time.monotonic() - begin < 3
        await asyncio.to_thread(until, lambda: watcher.stale)
        await asyncio.to_thread(pair.valkey.start)
        answer = await asyncio.to_thread(
            ann.confirm, expected=seen, request_id="click-0", repeat=True
        )
        await watcher.reaches(answer.revision)
    assert answer.revision == seen + 1
    assert watcher.snapshots == 1
    assert watcher.faults == []
    assert gapless(await asyncio.to_thread(table.log))
