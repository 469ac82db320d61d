"""The watch hub: nobody misses the newest revision, whatever messages are lost."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tableturn_server.store import Committed, Connection, Signal, TableStore, WatchHub
from tests.store.support import Proxy, Server, ask, at, change, eventually, new_id, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture
async def hub(tables: TableStore, server: Server) -> AsyncIterator[WatchHub]:
    async with WatchHub(server.url, tables.revisions, interval=30) as opened:
        yield opened


@pytest.fixture
async def table(tables: TableStore, table_id: str) -> str:
    await tables.create(table_id, ask(1), change(1), created_ms=1)
    return table_id


async def _subscribers(connection: Connection, table: str) -> int:
    reply = await connection.call("PUBSUB", "NUMSUB", f"tt:{{{table}}}:wake")
    return int(reply[1])


async def _next(watcher: object) -> Signal:
    async with asyncio.timeout(10):
        signal = await anext(watcher)  # type: ignore[call-overload]
        assert isinstance(signal, Signal)
        return signal


@pytest.mark.case("S14")
async def test_a_watcher_starts_with_the_current_revision(
    hub: WatchHub, tables: TableStore, table: str
) -> None:
    async with hub.watch(table) as signals:
        assert await _next(signals) == Signal(1, None, "change-1")
    await tables.commit(table, at(1), None, change(2))
    async with hub.watch(table) as signals:
        assert await _next(signals) == Signal(2, None, "change-2")
    async with hub.watch(new_id()) as signals:
        assert await _next(signals) == Signal(0, None)


async def test_commits_of_other_processes_wake_watchers(
    hub: WatchHub, tables: TableStore, table: str, connection: Connection
) -> None:
    async with hub.watch(table) as signals:
        await _next(signals)
        await eventually(lambda: _subscribers(connection, table))
        for n in range(1, 20):
            await tables.commit(table, at(n), None, change(n + 1))
            tables.publish(table, n + 1)
            assert await _next(signals) == Signal(n + 1, None)


async def test_a_slow_watcher_gets_the_newest_only(hub: WatchHub, table: str) -> None:
    async with hub.watch(table) as signals:
        await _next(signals)
        for n in range(2, 50):
            hub.notify(table, n)
        hub.notify(table, 7)  # late, and never a step back
        assert await _next(signals) == Signal(49, None)


@pytest.mark.case("G2")
async def test_leaving_removes_everything_at_once(
    hub: WatchHub, table: str, connection: Connection
) -> None:
    async def watch() -> None:
        async with hub.watch(table) as signals:
            async for _ in signals:
                pass

    tasks = [asyncio.create_task(watch()) for _ in range(200)]
    await eventually(lambda: hub.watchers == 200)
    assert hub.tables == 1
    assert await eventually(lambda: _subscribers(connection, table)) == 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert hub.watchers == 0
    assert hub.tables == 0

    async def nobody() -> bool:
        return await _subscribers(connection, table) == 0

    await eventually(nobody)


async def test_closing_the_hub_ends_its_watchers(tables: TableStore, server: Server) -> None:
    hub = WatchHub(server.url, tables.revisions)
    hub.start()
    async with hub.watch(new_id()) as signals:
        await _next(signals)
        waiting = asyncio.create_task(anext(signals, None))
        await asyncio.sleep(0)
        await hub.close()
        assert await waiting is None
    assert hub.watchers == 0
    async with hub.watch(new_id()) as signals:
        assert await anext(signals, None) is None


async def test_a_lost_message_is_made_good_by_reading(
    tables: TableStore, server: Server, table: str
) -> None:
    """Nobody publishes at all: the regular reading finds the change."""
    async with (
        WatchHub(server.url, tables.revisions, interval=0.1) as hub,
        hub.watch(table) as signals,
    ):
        await _next(signals)
        await tables.commit(table, at(1), None, change(2))
        assert await _next(signals) == Signal(2, None, "change-2")


async def test_a_change_while_the_subscriber_is_away_is_found(
    tables: TableStore, server: Server, table: str, connection: Connection
) -> None:
    """Its connection is killed, a commit is made and announced meanwhile: still seen, at once."""
    proxy = Proxy(server.socket)
    async with (
        proxy.listen() as port,
        WatchHub(f"redis://127.0.0.1:{port}", tables.revisions, interval=60) as hub,
        hub.watch(table) as signals,
    ):
        await _next(signals)
        for n in range(1, 6):
            await eventually(lambda: _subscribers(connection, table))
            for line in (await connection.call("CLIENT", "LIST", "TYPE", "PUBSUB")).splitlines():
                fields = dict(part.split(b"=", 1) for part in line.split())
                if fields[b"name"] == b"tableturn-hub":
                    await connection.call("CLIENT", "KILL", "ID", fields[b"id"])
            assert await tables.commit(table, at(n), None, change(n + 1)) == Committed(n + 1)
            tables.publish(table, n + 1)
            assert (await _next(signals)).revision == n + 1


@pytest.mark.case("D4")
async def test_watchers_are_told_that_the_store_is_away_and_back(table: str) -> None:
    with running_server() as real:
        proxy = Proxy(real.socket)
        path = str(real.socket.with_name("proxy.sock"))
        connection = Connection(f"unix://{path}", patience=0.1)
        tables = TableStore(connection)
        async with proxy.listen(path=path):
            await tables.create(table, None, change(1), created_ms=1)
        hub = WatchHub(f"unix://{path}", tables.revisions, interval=0.2, clock=lambda: 123.0)
        async with hub, hub.watch(table) as signals:
            # The store is away from the beginning: that is said, and nothing is waited for.
            assert await _next(signals) == Signal(0, 123.0)
            for revision in (1, 2):
                async with proxy.listen(path=path), Connection(real.url) as direct:
                    if revision > 1:
                        await TableStore(direct).commit(table, at(1), None, change(2))
                    while (signal := await _next(signals))[:2] != (revision, None):
                        assert signal.revision in (0, revision - 1, revision)
                assert (await _next(signals))[:2] == (revision, 123.0)
                assert hub.stale_since == 123.0
        await connection.close()


async def test_a_fork_after_a_failover_is_told_too(
    tables: TableStore, server: Server, table: str, connection: Connection
) -> None:
    """The store has lost revisions: watchers learn the lower one, and read a snapshot."""
    async with (
        WatchHub(server.url, tables.revisions, interval=0.1) as hub,
        hub.watch(table) as signals,
    ):
        await tables.commit(table, at(1), None, change(2))
        hub.notify(table, 2)
        while await _next(signals) != Signal(2, None, "change-2"):
            pass
        key = f"tt:{{{table}}}:table"
        await connection.call("HSET", key, "rev", 1, "change", "change-1")
        assert await _next(signals) == Signal(1, None, "change-1")
        # Another change has the revision that was told.
        await connection.call("HSET", key, "change", "another")
        assert await _next(signals) == Signal(1, None, "another")
        hub.notify(table, 1)  # a wake-up that says nothing new
        hub.notify(table, 1, "a third")
        assert await _next(signals) == Signal(1, None, "a third")
