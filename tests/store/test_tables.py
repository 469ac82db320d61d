"""Commits: one winner, replays, conflicts, and nothing by halves."""

import asyncio
from collections import Counter

import pytest

from tableturn_server.store import (
    Committed,
    Conflict,
    Connection,
    Exists,
    Known,
    Listed,
    LogRecord,
    Missing,
    Past,
    Reused,
    Snapshot,
    Stored,
    StoreError,
    StoreFull,
    TableStore,
    Unchanged,
    keys,
)
from tableturn_server.store.tables import REMEMBERED_MS
from tests.store.support import ask, at, change, new_id, running_server

pytestmark = pytest.mark.e2e

FIRST = Stored(1, "change-1", change(1).blob)


@pytest.fixture
async def table(tables: TableStore, table_id: str) -> str:
    assert await tables.create(table_id, ask(1), change(1), created_ms=1000) == Committed(1)
    return table_id


async def test_a_new_table_has_revision_1_and_one_log_entry(tables: TableStore, table: str) -> None:
    assert await tables.load(table) == FIRST
    assert await tables.log(table, 0, 10) == [LogRecord(1, "change-1", change(1).entry)]
    assert await tables.revision(table) == (1, "change-1")


async def test_a_table_is_created_once(tables: TableStore, table: str) -> None:
    again = await tables.create(table, ask(1), change(1), created_ms=1000)
    assert again == Known(1, change(1).outcome)
    other = await tables.create(table, ask(2), change(2), created_ms=1000)
    assert other == Exists(FIRST)
    assert await tables.create(table, None, change(2), created_ms=1000) == Exists(FIRST)
    reused = await tables.create(table, ask(1, body=b"other"), change(2), created_ms=1000)
    assert reused == Reused()


@pytest.mark.case("S6", "D6", "S1")
async def test_one_of_fifty_concurrent_commits_wins(tables: TableStore, table: str) -> None:
    answers = await asyncio.gather(
        *(tables.commit(table, at(1), ask(n, by=f"seat-{n}"), change(n)) for n in range(50))
    )
    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {Committed: 1, Conflict: 49}
    winner = next(n for n, answer in enumerate(answers) if isinstance(answer, Committed))
    now = Stored(2, f"change-{winner}", change(winner).blob)
    assert all(answer == Conflict(now) for answer in answers if isinstance(answer, Conflict))
    assert [record.revision for record in await tables.log(table, 0, 100)] == [1, 2]


@pytest.mark.case("S6")
async def test_one_wins_over_several_connections_too(
    tables: TableStore, table: str, connection: Connection
) -> None:
    others = [Connection(connection.endpoint) for _ in range(8)]
    answers = await asyncio.gather(
        *(
            TableStore(other).commit(table, at(1), ask(n), change(n))
            for n, other in enumerate(others, 2)
        )
    )
    await asyncio.gather(*(other.close() for other in others))
    assert Counter(type(answer) for answer in answers) == {Committed: 1, Conflict: 7}


@pytest.mark.case("S8", "S7")
async def test_a_repeated_request_gets_its_first_answer(tables: TableStore, table: str) -> None:
    assert await tables.commit(table, at(1), ask(2), change(2)) == Committed(2)
    assert await tables.commit(table, at(2), ask(3), change(3)) == Committed(3)
    # Whatever it is based on by now, and whether it would be accepted or refused now.
    for based_on, write in ((1, change(2)), (3, change(4)), (3, None)):
        assert await tables.commit(table, at(based_on), ask(2), write) == Known(
            2, change(2).outcome
        )
    assert await tables.revision(table) == (3, "change-3")


@pytest.mark.case("S8")
async def test_a_request_id_with_another_body_is_refused(tables: TableStore, table: str) -> None:
    await tables.commit(table, at(1), ask(2), change(2))
    assert await tables.commit(table, at(2), ask(2, body=b"other"), change(3)) == Reused()
    assert await tables.revision(table) == (2, "change-2")
    # The id is its principal's own.
    assert await tables.commit(table, at(2), ask(2, by="bob"), change(3)) == Committed(3)


@pytest.mark.case("S8")
async def test_the_last_eight_outcomes_of_each_principal_are_kept(
    tables: TableStore, table: str, connection: Connection
) -> None:
    for n in range(1, 21):
        await tables.commit(table, at(n), ask(n, by="bob"), change(n + 1))
    assert await connection.call("LLEN", keys.seen(table, "bob")) == 8
    for n in range(13, 21):
        known = await tables.commit(table, at(21), ask(n, by="bob"), None)
        assert known == Known(n + 1, change(n + 1).outcome)
    assert await tables.commit(table, at(21), ask(12, by="bob"), None) == Unchanged(21)
    # Bob's requests have not pushed out Ann's.
    assert await tables.commit(table, at(21), ask(1), None) == Known(1, change(1).outcome)


@pytest.mark.case("S9")
async def test_a_refusal_is_confirmed_by_the_store(tables: TableStore, table: str) -> None:
    assert await tables.commit(table, at(1), ask(2), None) == Unchanged(1)
    await tables.commit(table, at(1), None, change(2))
    now = Stored(2, "change-2", change(2).blob)
    assert await tables.commit(table, at(1), ask(2), None) == Conflict(now)
    # A refused request is not remembered: it may be accepted later.
    assert await tables.commit(table, at(2), ask(2), change(3)) == Committed(3)


@pytest.mark.case("S7", "S8")
async def test_a_request_with_nothing_to_do_is_remembered_too(
    tables: TableStore, table: str
) -> None:
    """Else it would act when it is sent again, after it was answered."""
    assert await tables.commit(table, at(1), ask(2), None, outcome=b"idle") == Unchanged(1)
    await tables.commit(table, at(1), None, change(2))
    for write in (None, change(3)):
        assert await tables.commit(table, at(2), ask(2), write) == Known(1, b"idle")
    assert await tables.commit(table, at(2), ask(2, body=b"other"), None) == Reused()
    assert await tables.load(table) == Stored(2, "change-2", change(2).blob)
    assert [record.revision for record in await tables.log(table, 0, 10)] == [1, 2]


async def test_requests_are_remembered_for_a_week_after_the_last(
    tables: TableStore, table: str, connection: Connection
) -> None:
    async def left(table_id: str) -> int:
        return int(await connection.call("PTTL", keys.seen(table_id, "ann")))

    assert REMEMBERED_MS - 60_000 < await left(table) <= REMEMBERED_MS
    for write, outcome in ((None, b"idle"), (change(2), b"")):
        await connection.call("PEXPIRE", keys.seen(table, "ann"), 100_000)
        request = ask(5 if write else 4)
        await tables.commit(table, at(1), request, write, outcome=outcome)
        assert await left(table) > REMEMBERED_MS - 60_000
    stored = Stored(1, "change-1", b"state")
    name = new_id()
    entries = [LogRecord(1, "change-1", b"entry")]
    await tables.restore(name, stored, entries, [], ask(1), outcome=b"done", created_ms=7)
    assert REMEMBERED_MS - 60_000 < await left(name) <= REMEMBERED_MS


async def test_another_change_of_the_same_revision_is_a_conflict(
    tables: TableStore, table: str, connection: Connection
) -> None:
    """The store has lost a change, and another one has its revision by now."""
    kept = {name: await connection.call("DUMP", name) for name in _table_and_log(table)}
    assert await tables.commit(table, at(1), None, change(2)) == Committed(2)
    for name, dump in kept.items():
        await connection.call("RESTORE", name, 0, dump, "REPLACE")
    assert await tables.commit(table, at(1), None, change(7)) == Committed(2)
    now = Stored(2, "change-7", change(7).blob)
    assert await tables.commit(table, at(2), ask(3), change(3)) == Conflict(now)
    assert await tables.commit(table, at(2), ask(3), None) == Conflict(now)
    assert await tables.load(table) == now
    assert [record.change_id for record in await tables.log(table, 0, 10)] == [
        "change-1",
        "change-7",
    ]
    assert await tables.commit(table, (2, "change-7"), ask(3), None) == Unchanged(2)
    assert await tables.commit(table, (2, "change-7"), ask(3), change(3)) == Committed(3)


def _table_and_log(table: str) -> tuple[str, str]:
    return keys.table(table), keys.log(table)


async def test_no_table_is_made_by_a_commit(tables: TableStore, table_id: str) -> None:
    assert await tables.commit(table_id, at(1), ask(1), change(2)) == Missing()
    assert await tables.commit(table_id, at(1), ask(1), None) == Missing()
    assert await tables.load(table_id) is None
    assert await tables.revisions([table_id]) == [None]
    with pytest.raises(ValueError, match="1 or more"):
        await tables.commit(table_id, at(0), ask(1), change(1))


async def test_the_log_is_read_in_pages_between_revisions(tables: TableStore, table: str) -> None:
    for n in range(1, 10):
        await tables.commit(table, at(n), None, change(n + 1))

    def revisions(records: list[LogRecord]) -> list[int]:
        return [record.revision for record in records]

    assert revisions(await tables.log(table, 0, 4)) == [1, 2, 3, 4]
    assert revisions(await tables.log(table, 4, 100)) == [5, 6, 7, 8, 9, 10]
    assert revisions(await tables.log(table, 4, 100, until=6)) == [5, 6]
    assert revisions(await tables.log(table, 10, 100)) == []
    assert revisions(await tables.log_tail(table, 3)) == [8, 9, 10]


@pytest.mark.case("L5")
async def test_the_nearest_snapshot_is_found(tables: TableStore, table: str) -> None:
    for n in range(1, 4):
        taken = Snapshot(turn=n * 20, blob=b"turn\0%d" % n)
        await tables.commit(table, at(n), None, change(n + 1, snapshot=taken))
    assert await tables.snapshot(table, 40) == b"turn\x002"
    assert await tables.snapshot(table, 41) is None
    assert await tables.nearest_snapshot(table, 59) == Snapshot(40, b"turn\x002")
    assert await tables.nearest_snapshot(table, 19) is None


async def test_a_whole_table_is_restored_or_nothing(tables: TableStore) -> None:
    entries = [LogRecord(n, f"change-{n}", change(n).entry) for n in range(1, 2001)]
    stored = Stored(2000, "change-2000", change(2000).blob)
    snapshots = [Snapshot(n, b"s%d" % n) for n in (20, 40)]
    name = new_id()

    async def restore() -> object:
        return await tables.restore(
            name, stored, entries, snapshots, ask(1), outcome=b"done", created_ms=7
        )

    assert await restore() == Committed(2000)
    assert await restore() == Known(2000, b"done")
    assert await tables.load(name) == stored
    assert await tables.log(name, 0, 5000) == entries
    assert await tables.nearest_snapshot(name, 100) == snapshots[1]
    assert await tables.commit(name, at(2000), ask(2), change(2001)) == Committed(2001)
    again = await tables.restore(name, stored, entries, [], None, created_ms=7)
    assert isinstance(again, Exists)
    assert again.stored.revision == 2001
    with pytest.raises(ValueError, match="no gap"):
        await tables.restore(new_id(), stored, entries[:5], [], None, created_ms=7)


@pytest.mark.parametrize("key", ["table", "log", "snaps", "seen", "past"])
async def test_nothing_is_written_by_halves(
    tables: TableStore, connection: Connection, table: str, key: str
) -> None:
    """Whichever part can't be written, no other part is."""
    names = {
        "table": keys.table(table),
        "log": keys.log(table),
        "snaps": keys.snaps(table),
        "seen": keys.seen(table, "eve"),
        "past": keys.past(table),
    }
    await connection.call("SET", names[key], "of a wrong type")
    before = await _dump(connection, names)
    whole = change(2, snapshot=Snapshot(20, b"twenty"), past=Past(20, 10, 5))
    with pytest.raises(StoreError, match="WRONGTYPE"):
        await tables.commit(table, at(1), ask(1, by="eve"), whole)
    assert await _dump(connection, names) == before


async def _dump(connection: Connection, names: dict[str, str]) -> list[object]:
    return [await connection.call("DUMP", name) for name in names.values()]


async def test_without_memory_writes_are_refused_whole_and_reading_goes_on() -> None:
    with running_server() as full:
        async with Connection(full.url) as connection:
            tables = TableStore(connection)
            await tables.create("a", ask(1), change(1), created_ms=1)
            await connection.call("CONFIG", "SET", "maxmemory", "1")
            with pytest.raises(StoreFull):
                await tables.commit("a", at(1), ask(2), change(2))
            assert await tables.load("a") == FIRST
            assert len(await tables.log("a", 0, 10)) == 1
            # A replay and a confirmation write nothing: they are answered.
            assert await tables.commit("a", at(1), ask(1), change(1)) == Known(1, change(1).outcome)
            assert await tables.commit("a", at(1), ask(2), None) == Unchanged(1)
            await connection.call("CONFIG", "SET", "maxmemory", "0")
            assert await tables.commit("a", at(1), ask(2), change(2)) == Committed(2)


async def test_the_index_lists_newest_first_and_is_rebuilt() -> None:
    with running_server() as empty:
        async with Connection(empty.url) as connection:
            tables = TableStore(connection)
            # Five in each millisecond: pages must not lose or repeat any of them.
            wanted = [Listed(f"t{n}", 1000 + n // 5) for n in range(40)]
            for line in wanted:
                await tables.create(line.table_id, None, change(1), created_ms=line.created_ms)
            wanted.sort(key=lambda line: (line.created_ms, line.table_id), reverse=True)
            assert await _all_pages(tables, 7) == wanted
            for shard in range(keys.INDEX_SHARDS):
                await connection.call("DEL", keys.index(shard))
            assert await _all_pages(tables, 7) == []
            assert await tables.rebuild_index() == 40
            assert await _all_pages(tables, 3) == wanted
            with pytest.raises(ValueError, match="cursor"):
                await tables.list_tables("nonsense", 5)


async def _all_pages(tables: TableStore, limit: int) -> list[Listed]:
    found: list[Listed] = []
    cursor = ""
    while True:
        page = await tables.list_tables(cursor, limit)
        assert len(page.tables) <= limit
        found += page.tables
        cursor = page.cursor
        if not cursor:
            return found


@pytest.mark.parametrize("name", ["", "a b", "a{b}", "x" * 65, "a:b", "é", "a\n"])
async def test_strange_ids_are_refused(tables: TableStore, name: str) -> None:
    with pytest.raises(ValueError, match="table id"):
        await tables.load(name)
