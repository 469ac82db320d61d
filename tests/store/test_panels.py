"""Leases of panels against a real server: first come, first held, and ended by time alone."""

import pytest

from tableturn_server.store import Connection, HeldBy, Lease, PanelStore, TableStore
from tests.store.support import at, change, eventually

pytestmark = pytest.mark.e2e

LONG_MS = 600_000
UID = 4711
KITCHEN, ATTIC = "kitchen-0001", "attic-0002"


@pytest.fixture
def panels(connection: Connection) -> PanelStore:
    return PanelStore(connection, lease_ms=LONG_MS)


async def hold(
    panels: PanelStore, table_id: str, holder: str, report: bytes = b""
) -> HeldBy | None:
    return await panels.hold(table_id, UID, holder, report, now_ms=1000)


async def test_first_come_first_held(panels: PanelStore, table_id: str) -> None:
    assert await hold(panels, table_id, KITCHEN) is None
    other = await hold(panels, table_id, ATTIC)
    assert other is not None
    assert other.holder == KITCHEN
    assert 0 < other.left_ms <= LONG_MS
    # Other panels, and this one at other tables, are nobody's yet.
    assert await panels.hold(table_id, UID + 1, ATTIC, b"", now_ms=1) is None
    assert await hold(panels, f"{table_id}-2", ATTIC) is None


async def test_a_bridge_that_was_killed_comes_back_at_once(
    panels: PanelStore, table_id: str
) -> None:
    assert await hold(panels, table_id, KITCHEN, b"before") is None
    assert await hold(panels, table_id, KITCHEN, b"after") is None
    lease = await panels.holder(table_id, UID)
    assert isinstance(lease, Lease)
    assert (lease.holder, lease.report, lease.told_ms) == (KITCHEN, b"after", 1000)
    assert 0 < lease.left_ms <= LONG_MS


async def test_a_lease_ends_by_itself(connection: Connection, table_id: str) -> None:
    panels = PanelStore(connection, lease_ms=30)
    assert await hold(panels, table_id, KITCHEN) is None

    async def is_ours() -> bool:
        return await hold(panels, table_id, ATTIC) is None

    await eventually(is_ours)

    async def is_nobodys() -> bool:
        return await panels.holder(table_id, UID) is None

    await eventually(is_nobodys)
    assert not await panels.release(table_id, UID, ATTIC)


async def test_it_is_held_for_longer_by_each_word(connection: Connection, table_id: str) -> None:
    short, panels = (
        PanelStore(connection, lease_ms=20_000),
        PanelStore(connection, lease_ms=LONG_MS),
    )
    assert await hold(short, table_id, KITCHEN) is None
    assert await hold(panels, table_id, KITCHEN) is None
    lease = await panels.holder(table_id, UID)
    assert lease is not None
    assert lease.left_ms > 20_000
    # Who is refused takes nothing away.
    assert await hold(short, table_id, ATTIC) is not None
    lease = await panels.holder(table_id, UID)
    assert lease is not None
    assert lease.left_ms > 20_000


async def test_only_who_holds_it_lets_it_go(panels: PanelStore, table_id: str) -> None:
    assert await hold(panels, table_id, KITCHEN) is None
    assert not await panels.release(table_id, UID, ATTIC)
    assert await hold(panels, table_id, ATTIC) is not None
    assert await panels.release(table_id, UID, KITCHEN)
    assert not await panels.release(table_id, UID, KITCHEN)
    assert await panels.holder(table_id, UID) is None
    assert await hold(panels, table_id, ATTIC) is None


async def test_all_panels_in_one_look(panels: PanelStore, table_id: str) -> None:
    await panels.hold(table_id, 1, KITCHEN, b"one", now_ms=5)
    await panels.hold(table_id, 3, ATTIC, b"three", now_ms=6)
    found = await panels.all(table_id, [1, 2, 3])
    assert {uid: lease and lease.holder for uid, lease in found.items()} == {
        1: KITCHEN,
        2: None,
        3: ATTIC,
    }
    assert await panels.all(table_id, []) == {}


async def test_a_lease_is_no_change_of_the_table(
    panels: PanelStore, tables: TableStore, table_id: str
) -> None:
    await tables.create(table_id, None, change(1), created_ms=1)
    await hold(panels, table_id, KITCHEN)
    await panels.release(table_id, UID, KITCHEN)
    assert await tables.revision(table_id) == at(1)
    assert len(await tables.log(table_id, 0, 10)) == 1
