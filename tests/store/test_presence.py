"""Who watches a table, noted by several processes in a real server; time is an argument."""

import asyncio

import pytest

from tableturn_server.store import Connection, PresenceStore, Records, TableStore, Watched
from tableturn_server.tables.presence import SILENCE_MS, Heard
from tests.store.support import at, change

pytestmark = pytest.mark.e2e

ANN, BOB, NOBODY = b"\x0a" * 32, b"\x0b" * 32, b""
KITCHEN, ATTIC = "kitchen", "attic"


@pytest.fixture
def presence(connection: Connection) -> PresenceStore:
    return PresenceStore(connection)


class Notes:
    """What processes note at one table, in short words."""

    def __init__(self, store: PresenceStore, table_id: str) -> None:
        self.store = store
        self.table_id = table_id

    async def has(self, token: bytes, watches: int, process: str, now: int) -> Records:
        return await self.store.note(Watched(self.table_id, token, watches), process, now)

    async def look(self) -> Records:
        (found,) = await self.store.look([self.table_id])
        return found


@pytest.fixture
def notes(presence: PresenceStore, table_id: str) -> Notes:
    return Notes(presence, table_id)


async def test_nobody_was_ever_there(notes: Notes) -> None:
    assert await notes.look() == {}


async def test_somebody_comes_and_leaves(notes: Notes) -> None:
    assert await notes.has(ANN, 1, KITCHEN, 1000) == {ANN: Heard(1000, 0, ((1000, 1),))}
    assert await notes.has(ANN, 0, KITCHEN, 3000) == {ANN: Heard(1000, 3000, ())}
    found = await notes.has(ANN, 1, KITCHEN, 5000)
    assert found == await notes.look() == {ANN: Heard(5000, 3000, ((5000, 1),))}


async def test_a_sign_of_life_is_no_arrival(notes: Notes, presence: PresenceStore) -> None:
    await notes.has(ANN, 1, KITCHEN, 1000)
    await notes.has(BOB, 2, KITCHEN, 1500)
    watched = [Watched(notes.table_id, ANN, 1), Watched(notes.table_id, BOB, 3)]
    await presence.beat(watched, KITCHEN, 6000)
    assert await notes.look() == {
        ANN: Heard(1000, 0, ((6000, 1),)),
        BOB: Heard(1500, 0, ((6000, 3),)),
    }
    await presence.beat([], KITCHEN, 9000)


@pytest.mark.case("R1", "R4")
async def test_a_device_that_moves_to_another_process_has_never_left(notes: Notes) -> None:
    await notes.has(ANN, 1, KITCHEN, 1000)
    await notes.has(ANN, 1, ATTIC, 4000)
    assert (await notes.look())[ANN] == Heard(1000, 0, ((1000, 1), (4000, 1)))
    found = await notes.has(ANN, 0, KITCHEN, 5000)
    assert found[ANN] == Heard(1000, 0, ((4000, 1),))
    for _ in range(3):  # however often it is said
        assert await notes.has(ANN, 0, KITCHEN, 6000) == found
        assert await notes.has(ANN, 1, ATTIC, 4000) == found
    assert (await notes.has(ANN, 0, ATTIC, 7000))[ANN] == Heard(1000, 7000, ())


async def test_what_a_killed_process_said_becomes_old(notes: Notes) -> None:
    await notes.has(ANN, 1, KITCHEN, 1000)
    now = 1000 + SILENCE_MS + 1
    assert not (await notes.look())[ANN].fresh(now)
    assert (await notes.look())[ANN].fresh(now - 1)
    # Whoever comes again comes anew, and takes the old sign away.
    assert (await notes.has(ANN, 1, ATTIC, now))[ANN] == Heard(now, 1000, ((now, 1),))


async def test_who_leaves_by_one_door_while_another_process_is_dead_is_gone(notes: Notes) -> None:
    await notes.has(ANN, 1, KITCHEN, 1000)
    now = 2000 + SILENCE_MS
    await notes.has(ANN, 1, ATTIC, now)
    assert (await notes.has(ANN, 0, ATTIC, now + 5))[ANN] == Heard(now, now + 5, ())


async def test_of_those_without_a_part_only_the_number_is_known(notes: Notes) -> None:
    await notes.has(NOBODY, 3, KITCHEN, 1000)
    await notes.has(NOBODY, 2, ATTIC, 1000)
    assert await notes.look() == {NOBODY: Heard(0, 0, ((1000, 2), (1000, 3)))}
    await notes.has(NOBODY, 0, KITCHEN, 1000)
    await notes.has(NOBODY, 0, ATTIC, 1000)
    assert await notes.look() == {}


@pytest.mark.case("S12")
async def test_who_come_at_once_are_all_noted(notes: Notes) -> None:
    tokens = [bytes([n]) * 32 for n in range(1, 40)]
    await asyncio.gather(*(notes.has(token, 1, KITCHEN, 1000) for token in tokens))
    assert set(await notes.look()) == set(tokens)


async def test_who_has_no_part_any_more_is_forgotten(notes: Notes, presence: PresenceStore) -> None:
    """With all that was noted, unless something was heard lately."""
    old, late, left, stays = (bytes([n]) * 32 for n in range(1, 5))
    await notes.has(NOBODY, 1, KITCHEN, 1000)
    for token in (old, late, left, stays):
        await notes.has(token, 1, KITCHEN, 1000)
        await notes.has(token, 1, ATTIC, 2000)
    await presence.beat([Watched(notes.table_id, late, 1)], KITCHEN, 9000)
    await notes.has(left, 0, KITCHEN, 8000)
    await notes.has(left, 0, ATTIC, 9000)
    await presence.forget(notes.table_id, [old, late, left], 9000)
    assert set(await notes.look()) == {NOBODY, late, left, stays}
    assert (await notes.look())[late] == Heard(1000, 0, ((2000, 1), (9000, 1)))
    assert (await notes.look())[late].last == (await notes.look())[left].last == 9000
    await presence.forget(notes.table_id, [old, late, left], 9001)
    assert set(await notes.look()) == {NOBODY, stays}


async def test_many_tables_in_one_look(presence: PresenceStore, table_id: str) -> None:
    names = [f"{table_id}-{n}" for n in range(3)]
    await presence.note(Watched(names[1], ANN, 1), KITCHEN, 5)
    assert await presence.look(names) == [{}, {ANN: Heard(5, 0, ((5, 1),))}, {}]
    assert await presence.look([]) == []


async def test_it_is_forgotten_some_day(notes: Notes, connection: Connection) -> None:
    await notes.has(ANN, 1, KITCHEN, 1000)
    left = await connection.call("PTTL", f"tt:{{{notes.table_id}}}:here")
    assert left > 80 * 24 * 3600 * 1000


async def test_it_is_no_change_of_the_table(notes: Notes, tables: TableStore) -> None:
    await tables.create(notes.table_id, None, change(1), created_ms=1)
    await notes.has(ANN, 1, KITCHEN, 1000)
    await notes.has(ANN, 0, KITCHEN, 1000)
    assert await tables.revision(notes.table_id) == at(1)
