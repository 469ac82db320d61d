"""The past of a table that spectators see later: kept with each change, as long as it is needed."""

import pytest

from tableturn_server.store import (
    Committed,
    Conflict,
    Connection,
    LogRecord,
    Past,
    PastState,
    Stored,
    TableStore,
    keys,
)
from tableturn_server.store.tables import PAST_RESTS_MS
from tests.store.support import ask, at, change, new_id

pytestmark = pytest.mark.e2e

DELAY = 100


def state(n: int, stamp: int) -> PastState:
    return PastState(stamp, Stored(n, f"change-{n}", change(n).blob))


async def kept(connection: Connection, table: str) -> list[bytes]:
    """The ids of the states that are kept, oldest first."""
    return [entry[0] for entry in await connection.call("XRANGE", keys.past(table), "-", "+")]


async def a_table(tables: TableStore, stamp: int = 1000) -> str:
    table = new_id()
    first = change(1, past=Past(stamp, stamp, DELAY))
    assert await tables.create(table, ask(1), first, created_ms=stamp) == Committed(1)
    return table


async def changes(tables: TableStore, table: str, *stamps: int, first: int = 2) -> None:
    """Changes at these times, from this revision on; the first one follows the state at 1000."""
    before = 1000
    for n, stamp in enumerate(stamps, first):
        made = change(n, past=Past(stamp, before, DELAY))
        assert await tables.commit(table, at(n - 1), ask(n), made) == Committed(n)
        before = stamp


async def test_each_state_is_found_by_its_time(tables: TableStore) -> None:
    table = await a_table(tables)
    await changes(tables, table, 1010, 1010, 1050)
    assert await tables.past(table, 999) == (None, state(1, 1000))
    assert await tables.past(table, 1000) == (state(1, 1000), state(2, 1010))
    assert await tables.past(table, 1009) == (state(1, 1000), state(2, 1010))
    # Of two changes in one millisecond both were made by then.
    assert await tables.past(table, 1010) == (state(3, 1010), state(4, 1050))
    assert await tables.past(table, 1050) == (state(4, 1050), None)
    assert await tables.past(table, -5) == (None, state(1, 1000))


async def test_what_nobody_sees_any_more_is_thrown_away(
    tables: TableStore, connection: Connection
) -> None:
    table = await a_table(tables)
    await changes(tables, table, 1010, 1050, 1111, 1149)
    # At 1149 spectators see what was at 1049: revision 2, until revision 3 comes of age.
    assert await kept(connection, table) == [b"1010-2", b"1050-3", b"1111-4", b"1149-5"]
    await changes(tables, table, 1150, first=6)
    assert await kept(connection, table) == [b"1050-3", b"1111-4", b"1149-5", b"1150-6"]
    await changes(tables, table, 9000, first=7)
    assert await kept(connection, table) == [b"1150-6", b"9000-7"]


async def test_nothing_is_kept_where_spectators_see_all_at_once(
    tables: TableStore, connection: Connection
) -> None:
    table = new_id()
    await tables.create(table, ask(1), change(1), created_ms=1)
    await tables.commit(table, at(1), ask(2), change(2))
    assert not await connection.call("EXISTS", keys.past(table))
    assert await tables.past(table, 5000) == (None, None)


async def test_a_table_that_rests_keeps_no_past_and_begins_anew(
    tables: TableStore, connection: Connection
) -> None:
    table = await a_table(tables)
    left = await connection.call("PTTL", keys.past(table))
    assert PAST_RESTS_MS < left <= PAST_RESTS_MS + DELAY
    await connection.call("DEL", keys.past(table))  # as if that time had gone by
    await changes(tables, table, 990_000)
    # Spectators still see the state before it.
    assert await tables.past(table, 989_999) == (state(1, 1000), state(2, 990_000))
    assert 0 < await connection.call("PTTL", keys.past(table)) <= PAST_RESTS_MS + DELAY


async def test_a_past_of_changes_that_the_store_has_lost_is_given_up(
    tables: TableStore, connection: Connection
) -> None:
    """Out of a backup came the table and its log, and not what is kept for spectators."""
    table = await a_table(tables)
    await changes(tables, table, 1050)
    dumps = [await connection.call("DUMP", key) for key in (keys.table(table), keys.log(table))]
    await changes(tables, table, 1090, first=3)
    for key, dump in zip((keys.table(table), keys.log(table)), dumps, strict=True):
        await connection.call("RESTORE", key, 0, dump, "REPLACE")
    other = change(13, past=Past(1060, 1050, DELAY))
    assert await tables.commit(table, at(2), ask(13), other) == Committed(3)
    assert await kept(connection, table) == [b"1050-2", b"1060-3"]
    assert await tables.past(table, 5000) == (
        PastState(1060, Stored(3, "change-13", change(13).blob)),
        None,
    )


async def test_a_change_that_is_not_made_leaves_the_past_alone(
    tables: TableStore, connection: Connection
) -> None:
    table = await a_table(tables)
    await changes(tables, table, 1010)
    before = await kept(connection, table)
    late = change(9, past=Past(1020, 1000, DELAY))
    assert isinstance(await tables.commit(table, at(1), ask(9), late), Conflict)
    await tables.commit(table, at(1), ask(2), change(2, past=Past(1010, 1000, DELAY)))  # again
    await tables.commit(table, at(2), ask(10), None)
    assert await kept(connection, table) == before


async def test_a_state_may_be_kept_in_fewer_bytes(tables: TableStore) -> None:
    table = await a_table(tables)
    lean = change(2, past=Past(1010, 1000, DELAY, b"lean"))
    await tables.commit(table, at(1), ask(2), lean)
    assert await tables.past(table, 1010) == (
        PastState(1010, Stored(2, "change-2", b"lean")),
        None,
    )
    loaded = await tables.load(table)
    assert loaded is not None
    assert loaded.blob == lean.blob


async def test_a_restored_table_has_the_past_that_it_is_given(
    tables: TableStore, connection: Connection
) -> None:
    table = new_id()
    entries = [LogRecord(n, f"change-{n}", change(n).entry) for n in (1, 2)]
    stored = Stored(2, "change-2", change(2).blob)
    past = Past(1500, 0, DELAY)
    done = await tables.restore(table, stored, entries, [], None, created_ms=7, past=past)
    assert done == Committed(2)
    assert await tables.past(table, 1499) == (None, state(2, 1500))
    assert 0 < await connection.call("PTTL", keys.past(table)) <= PAST_RESTS_MS + DELAY
    plain = new_id()
    await tables.restore(plain, stored, entries, [], None, created_ms=7)
    assert not await connection.call("EXISTS", keys.past(plain))
