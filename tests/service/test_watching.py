"""Watches: a snapshot and then every change, however slow, often or briefly somebody looks."""

import asyncio
import gc
import random
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
import pytest

from tableturn.v1 import table_pb2
from tableturn_server.service.limits import Limits
from tests.service.support import HOST, NO_LIMITS, Caller, Running, digest, refused, serving
from tests.store.support import Proxy, Server, eventually

pb = table_pb2
pytestmark = pytest.mark.e2e


class Watching:
    """Somebody who watches, and checks that what is told has no gap."""

    def __init__(self, caller: Caller, **fields: Any) -> None:
        self.stream = caller.watches(**fields)
        self.revision = fields.get("start", 0)
        self.change_id = fields.get("change_id", "")
        self.table = pb.TableView()
        self.kinds: list[str] = []
        self.entries: list[pb.LogEntry] = []

    async def next(self, within: float = 10) -> str:
        """The kind of the next event of the game: who is there is told beside it."""
        async with asyncio.timeout(within):
            while True:
                event = await self.stream.read()
                assert event is not grpc.aio.EOF
                assert event.HasField("time")
                kind = str(event.WhichOneof("event"))
                if kind != "presence":
                    break
        self.kinds.append(kind)
        if kind == "snapshot":
            self.table = event.snapshot.table
            self.revision, self.change_id = self.table.revision, self.table.change_id
        elif kind == "change":
            entry = event.change.entry
            assert entry.revision == self.revision + 1
            self.revision, self.change_id = entry.revision, entry.change_id
            self.entries.append(entry)
            if event.change.HasField("table"):
                self.table = event.change.table
                assert self.table.revision == self.revision
        return kind

    async def until(self, revision: int, within: float = 10) -> None:
        """Read until this revision was told, with the table as it is then."""
        async with asyncio.timeout(within):
            while self.table.revision < revision:
                await self.next(within)
        assert self.table.revision == revision

    async def events(self) -> AsyncIterator[str]:
        while True:
            yield await self.next()

    def ends(self) -> None:
        self.stream.cancel()


@pytest.mark.case("S14")
async def test_a_watch_begins_with_the_table_and_misses_nothing(running: Running) -> None:
    host, people = await running.a_game()
    watching: list[Watching] = []

    async def joins() -> None:
        await asyncio.sleep(random.uniform(0, 0.15))
        watching.append(Watching(host))
        assert await watching[-1].next() == "snapshot"

    async def plays() -> None:
        for n in range(40):
            await people[n % 2].confirms(at=people[(n + 1) % 2].seen)
            people[n % 2].seen = people[n % 2].seen

    people[0].seen = people[1].seen
    await asyncio.gather(plays(), *(joins() for _ in range(10)))
    last = max(person.seen for person in people)
    for watcher in watching:
        await watcher.until(last)
        assert watcher.table.turns == 40
        assert "snapshot" not in watcher.kinds[1:]
        watcher.ends()


async def test_each_watcher_sees_what_its_token_may_see(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    watching = [Watching(who) for who in (host, ann, bob)]
    for watcher in watching:
        assert await watcher.next() == "snapshot"
    assert [watcher.table.viewer for watcher in watching] == [0, 1, 2]
    assert [bool(watcher.table.choices) for watcher in watching] == [False, True, False]
    await ann.confirms()
    for watcher in watching:
        await watcher.until(ann.seen)
    assert [bool(watcher.table.choices) for watcher in watching] == [False, False, True]
    for watcher in watching:
        watcher.ends()


async def test_another_process_hears_of_a_change_too(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url, watch_interval=60) as two:
        host, (ann, bob) = await one.a_game()
        watching = [Watching(two.caller("", host.table_id)) for _ in range(5)]
        for watcher in watching:
            await watcher.next()
        for n in range(6):
            who = (ann, bob)[n % 2]
            await who.confirms(at=max(ann.seen, bob.seen))
            for watcher in watching:
                await watcher.until(who.seen, within=2)
        for watcher in watching:
            assert watcher.kinds == ["snapshot"] + ["change"] * 6
            watcher.ends()


@pytest.mark.case("R1", "R5")
async def test_a_watch_goes_on_where_another_one_ended(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host, (ann, bob) = await one.a_game()
        first = Watching(host)
        await first.next()
        first.ends()
        for n in range(5):
            who = (ann, bob)[n % 2]
            await who.confirms(at=max(ann.seen, bob.seen))
        elsewhere = two.caller(HOST, host.table_id)
        again = Watching(elsewhere, start=first.revision, change_id=first.change_id)
        await again.until(max(ann.seen, bob.seen))
        assert again.kinds == ["change"] * 5
        again.ends()
        # Nothing is new: a sign of life says so at once, then comes the next change.
        current = Watching(elsewhere, start=again.revision, change_id=again.change_id)
        assert await current.next() == "heartbeat"
        await bob.confirms(at=max(ann.seen, bob.seen))
        assert await current.next() == "change"
        current.ends()


async def test_a_resume_token_of_another_history_gets_the_whole_table(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    await ann.confirms()
    for start, change_id in ((2, "another"), (2, ""), (ann.seen + 5, "x"), (2**63, "x")):
        watching = Watching(host, start=start, change_id=change_id)
        watching.revision = 0
        assert await watching.next() == "snapshot"
        watching.ends()


@pytest.mark.case("R10")
async def test_a_history_that_is_not_kept_any_more_is_told_as_such(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    first = Watching(host)
    await first.next()
    first.ends()
    for n in range(6):
        await (ann, bob)[n % 2].confirms(at=max(ann.seen, bob.seen))
    seen = max(ann.seen, bob.seen)
    await running.store.connection.call("XTRIM", f"tt:{{{host.table_id}}}:log", "MINID", seen - 1)
    again = Watching(host, start=first.revision, change_id=first.change_id)
    assert [await again.next(), await again.next()] == ["compacted", "snapshot"]
    assert again.revision == seen
    again.ends()


async def test_a_sign_of_life_comes_again_and_again(valkey: Server) -> None:
    async with serving(valkey.url, heartbeat=0.1) as running:
        host, _ = await running.a_game()
        watching = Watching(host)
        kinds = [await watching.next() for _ in range(4)]
        assert kinds == ["snapshot", "heartbeat", "heartbeat", "heartbeat"]
        watching.ends()


@pytest.mark.case("D4")
async def test_watchers_are_told_when_the_store_is_away(valkey: Server) -> None:
    proxy = Proxy(valkey.socket)
    url = "redis://127.0.0.1:{}"
    async with proxy.listen() as port, serving(url.format(port), heartbeat=0.2) as running:
        host, (ann, _) = await running.a_game()
        watching = Watching(host)
        await watching.next()
        proxy.swallow = True
        while await watching.next() != "stale":
            pass
        # A sign of life comes all the same, and says it again.
        assert await watching.next() == "stale"
        proxy.swallow = False
        while await watching.next() == "stale":
            pass
        assert watching.kinds[-1] in ("heartbeat", "snapshot", "change")
        await ann.confirms()
        await watching.until(ann.seen)
        watching.ends()


@pytest.mark.case("S15")
async def test_a_token_that_loses_its_seat_sees_what_spectators_see(running: Running) -> None:
    host, (ann, _) = await running.a_game(
        watch_token_sha256=digest("the watch token, for tests"), takeback=pb.TAKEBACK_POLICY_NEVER
    )
    closed = Watching(ann, seat=1)
    await closed.next()
    await host.changes("LeaveSeat", seat=1)
    with refused("BAD_TOKEN"):
        await closed.next()
    _, (bob, _) = await running.a_game()
    open_ = Watching(bob)
    await open_.next()
    assert open_.table.viewer == 1
    await bob.changes("LeaveSeat")
    assert await open_.next() == "snapshot"
    assert open_.table.viewer == 0
    await bob.takes_seat(1)
    assert await open_.next() == "snapshot"
    assert open_.table.viewer == 1
    open_.ends()


@pytest.mark.case("G2")
async def test_a_watcher_that_leaves_leaves_no_trace(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    for round_ in range(3):
        watching = [Watching(host) for _ in range(20)]
        for watcher in watching:
            await watcher.next()
        assert len(running.service.watches) == running.store.hub.watchers == 20
        for n, watcher in enumerate(watching):
            watcher.ends()
            if n == 10:
                who = (ann, bob)[round_ % 2]
                await who.confirms(at=max(ann.seen, bob.seen))
        await eventually(lambda: not len(running.service.watches), within=1)
        assert running.store.hub.watchers == 0


@pytest.mark.case("G1")
async def test_two_hundred_watchers_that_do_not_read_delay_nobody(running: Running) -> None:
    host, people = await running.a_game("eastern-wonders", seats=3)
    await running.play_on(people, 3, random.Random(1))
    port = running.port
    options = (("grpc.use_local_subchannel_pool", 1),)
    channels = [
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=(*options, ("n", n)))
        for n in range(4)
    ]
    streams = [Caller(channels[n % 4], "", host.table_id).watches() for n in range(200)]
    for stream in streams:
        await stream.read()
    await eventually(lambda: len(running.service.watches) == 200)
    times = []
    chance = random.Random(2)
    for _ in range(15):
        await running.play_on(people, 1, chance)
        for _ in range(4):
            begin = time.perf_counter()
            await host.looks()
            times.append(time.perf_counter() - begin)
    assert sorted(times)[len(times) // 2] < 0.25
    for channel in channels:
        await channel.close()
    await eventually(lambda: not len(running.service.watches), within=2)
    del streams
    gc.collect()


async def test_a_slow_reader_gets_the_newest_table(valkey: Server) -> None:
    async with serving(valkey.url) as running:
        host, people = await running.a_game("eastern-wonders", seats=4)
        # A small window: the server can't send ahead.
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.http2.lookahead_bytes", 1024),
            ("grpc.http2.bdp_probe", 0),
        )
        async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=options) as slow:
            stream = Caller(slow, HOST, host.table_id).watches()
            first = await stream.read()
            assert first.HasField("snapshot")
            await running.play_on(people, 60, random.Random(3))
            seen = (await host.looks()).revision
            last = first.snapshot.table.revision
            kinds = []
            while last < seen:
                event = await stream.read()
                if event.HasField("presence"):
                    continue
                kinds.append(event.WhichOneof("event"))
                if event.HasField("snapshot"):
                    last = event.snapshot.table.revision
                else:
                    assert event.change.entry.revision == last + 1
                    last = event.change.entry.revision
            assert last == seen
            stream.cancel()


@pytest.mark.case("G6")
async def test_watches_end_with_the_service(valkey: Server) -> None:
    async with serving(valkey.url) as running:
        host, _ = await running.a_game()
        watching = [Watching(host) for _ in range(10)]
        for watcher in watching:
            await watcher.next()
        stopping = asyncio.create_task(running.service.stop(2.0))
        for watcher in watching:
            with refused("SHUTTING_DOWN", "UNAVAILABLE"):
                await watcher.next()
        await stopping
        assert not len(running.service.watches)
    gc.collect()


async def test_watches_are_limited(valkey: Server) -> None:
    limits = Limits(**{**_fields(NO_LIMITS), "watches": 3, "peer_watches": 5})
    async with serving(valkey.url, limits=limits) as running:
        host, (ann, _) = await running.a_game()
        watching = [Watching(ann) for _ in range(3)]
        for watcher in watching:
            await watcher.next()
        with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED") as failure:
            await Watching(ann).next()
        assert int(failure.details["retry_after_ms"]) > 0
        watching += [Watching(host), Watching(host)]
        for watcher in watching[3:]:
            await watcher.next()
        with refused("LIMIT_REACHED"):
            await Watching(host).next()
        watching[0].ends()
        await eventually(lambda: len(running.service.watches) == 4)
        assert await Watching(host).next() == "snapshot"
        for watcher in watching:
            watcher.ends()


def _fields(limits: Limits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in limits.__dataclass_fields__}


async def test_calls_and_new_tables_are_limited(valkey: Server) -> None:
    limits = replace(NO_LIMITS, rate=5, peer_rate=50, tables_per_minute=2)
    async with serving(valkey.url, limits=limits) as running:
        host = await running.a_table()
        await running.a_table()
        with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED") as failure:
            await running.a_table()
        assert 0 < int(failure.details["retry_after_ms"]) <= 31_000
        with refused("LIMIT_REACHED") as failure:
            await asyncio.gather(*(host.looks() for _ in range(50)))
        # Another token from the same address is not concerned.
        other = running.caller("another token, for tests", host.table_id)
        await other.looks()
        assert int(failure.details["retry_after_ms"]) > 0
        async with asyncio.timeout(30):  # who waits is heard again
            while True:
                try:
                    await host.looks()
                    break
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.05)
        with refused("LIMIT_REACHED"):
            nobody = running.caller("", host.table_id)
            await asyncio.gather(*(nobody.looks() for _ in range(500)))


@pytest.mark.case("G4")
async def test_pings_of_a_client_are_welcome(valkey: Server) -> None:
    async with serving(valkey.url, heartbeat=60) as running:
        host, _ = await running.a_game()
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.keepalive_time_ms", 1_200),
            ("grpc.keepalive_timeout_ms", 2_000),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
        )
        async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=options) as pings:
            watching = Watching(Caller(pings, HOST, host.table_id))
            await watching.next()
            with pytest.raises(TimeoutError):
                await watching.next(within=12)
            assert len(running.service.watches) == 1
            watching.ends()


@pytest.mark.case("D7")
async def test_no_wake_up_is_lost_when_callers_give_up(valkey: Server) -> None:
    """A repeated call that is cancelled must not make watchers expect a change that never was."""
    async with serving(valkey.url, slow=True) as running:
        host, (ann, bob) = await running.a_game()
        people = (ann, bob)
        watching = Watching(host)
        await watching.next()
        for n in range(8):
            who = people[n % 2]
            seen = (await who.looks()).revision
            await who.confirms(at=seen, request_id=f"turn {n}")
            request = pb.ConfirmRequest(
                table_id=who.table_id, request_id=f"turn {n}", expected_revision=seen
            )
            call = who.tables.Confirm(request, metadata=who.metadata)
            await asyncio.sleep(random.uniform(0.005, 0.04))
            call.cancel()
            await watching.until(who.seen, within=1.5)
        watching.ends()
