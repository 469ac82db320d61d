"""Codes in a real server: never given twice, used once, and not to be found by trying."""

import asyncio
from collections.abc import Iterator

import pytest

from tableturn_server.store import Claimed, CodeFor, CodeStore, Connection, StoreError
from tableturn_server.store.codes import MOST_SEAT_CODES, MOST_TRIES, SEAT_CODE_MS, TRIES_MS
from tests.store.support import new_id

pytestmark = pytest.mark.e2e


@pytest.fixture
def codes(connection: Connection) -> CodeStore:
    return CodeStore(connection, new_id)


def drawing(connection: Connection, *drawn: str) -> CodeStore:
    """A store that draws these codes, and the last one again and again."""

    def one_after_the_other() -> Iterator[str]:
        yield from drawn
        while True:
            yield drawn[-1]

    ones = one_after_the_other()
    return CodeStore(connection, lambda: next(ones))


async def test_a_table_has_one_join_code(codes: CodeStore, table_id: str) -> None:
    code = await codes.join_code(table_id)
    assert await codes.join_code(table_id) == code
    assert await codes.look_up(code) == CodeFor(table_id)
    assert await codes.join_code(f"{table_id}-2") != code
    assert await codes.look_up(new_id()) is None


async def test_asked_for_at_once_it_is_the_same(codes: CodeStore, table_id: str) -> None:
    found = await asyncio.gather(*(codes.join_code(table_id) for _ in range(20)))
    assert len(set(found)) == 1
    assert await codes.look_up(found[0]) == CodeFor(table_id)


async def test_a_renewed_code_is_of_no_use(codes: CodeStore, table_id: str) -> None:
    before = await codes.join_code(table_id)
    after = await codes.join_code(table_id, renew=True)
    assert after != before
    assert await codes.look_up(before) is None
    assert await codes.look_up(after) == CodeFor(table_id)
    assert await codes.join_code(table_id) == after


async def test_a_code_that_is_left_over_does_not_count(
    codes: CodeStore, connection: Connection, table_id: str
) -> None:
    """A process was killed between the two steps of renewing: its table says which one counts."""
    before = await codes.join_code(table_id)
    await connection.call("SET", f"tt:{{{table_id}}}:code", "other")
    assert await codes.look_up(before) is None
    # Nor does one that has become somebody else's.
    after = await codes.join_code(table_id)
    assert after not in (before, "other")
    assert await codes.look_up(after) == CodeFor(table_id)


async def test_no_code_is_given_twice(connection: Connection, table_id: str) -> None:
    taken, fresh = new_id(), new_id()
    first = drawing(connection, taken)
    assert await first.join_code(table_id) == taken
    second = drawing(connection, taken, taken, fresh)
    assert await second.seat_code(CodeFor(f"{table_id}-2", 1, 5)) == fresh
    assert await first.look_up(taken) == CodeFor(table_id)
    with pytest.raises(StoreError):
        await drawing(connection, taken).seat_code(CodeFor(f"{table_id}-2", 1, 5))


async def test_a_seat_code_lasts_ten_minutes(
    codes: CodeStore, connection: Connection, table_id: str
) -> None:
    code = await codes.seat_code(CodeFor(table_id, 2, 17))
    assert await codes.look_up(code) == CodeFor(table_id, 2, 17)
    left = await connection.call("PTTL", f"tt:code:{{{code}}}")
    assert SEAT_CODE_MS - 60_000 < left <= SEAT_CODE_MS == 600_000


async def test_a_seat_code_is_for_one_alone(codes: CodeStore, table_id: str) -> None:
    code = await codes.seat_code(CodeFor(table_id, 2, 17))
    assert await codes.claim(code, "ann")
    assert not await codes.claim(code, "bob")
    assert await codes.claim(code, "ann")  # the same request again
    await codes.release(code, "bob")
    assert not await codes.claim(code, "bob")
    await codes.release(code, "ann")
    assert await codes.claim(code, "bob")
    await codes.use_up(code, "bob")
    for user in ("ann", "bo", ""):
        assert await codes.claim(code, user) is Claimed.NO
        assert await codes.look_up(code, user) is None
    assert await codes.look_up(code) is None


@pytest.mark.case("S7")
async def test_the_very_request_that_used_it_up_is_known(
    codes: CodeStore, connection: Connection, table_id: str
) -> None:
    """For as long as the code would have counted, and not longer."""
    code = await codes.seat_code(CodeFor(table_id, 2, 17))
    await connection.call("PEXPIRE", f"tt:code:{{{code}}}", 100_000)
    assert await codes.claim(code, "ann") is Claimed.YES
    await codes.use_up(code, "ann")
    await codes.release(code, "ann")
    for _ in range(2):
        assert await codes.claim(code, "ann") is Claimed.BEFORE
        assert await codes.look_up(code, "ann") == CodeFor(table_id, 2, 17)
    assert 0 < await connection.call("PTTL", f"tt:code:{{{code}}}:user") <= 100_000
    await connection.call("DEL", f"tt:code:{{{code}}}")
    assert await codes.claim(code, "ann") is Claimed.NO
    assert await codes.look_up(code, "ann") is None


async def test_a_seat_has_so_many_codes(codes: CodeStore, table_id: str) -> None:
    found = await asyncio.gather(*(codes.seat_codes(table_id, 1) for _ in range(20)))
    assert found.count(0) == MOST_SEAT_CODES == 5
    assert all(0 <= wait <= SEAT_CODE_MS for wait in found)
    assert await codes.seat_codes(table_id, 2) == 0
    assert await codes.seat_codes(f"{table_id}-2", 1) == 0


async def test_of_many_at_once_one_uses_it(codes: CodeStore, table_id: str) -> None:
    code = await codes.seat_code(CodeFor(table_id, 2, 17))
    found = await asyncio.gather(*(codes.claim(code, f"user {n}") for n in range(30)))
    assert sorted(found) == [Claimed.NO] * 29 + [Claimed.YES]


async def test_an_address_has_so_many_wrong_tries(codes: CodeStore, connection: Connection) -> None:
    address = f"ipv4:{new_id()}"
    for _ in range(MOST_TRIES):
        assert await codes.try_one(address) == 0
    other = CodeStore(connection, new_id)
    for store in (codes, other):
        wait = await store.try_one(address)
        assert 0 < wait <= TRIES_MS == 600_000
    assert await codes.try_one(f"{address}7") == 0


async def test_right_ones_do_not_count(codes: CodeStore) -> None:
    address = f"ipv4:{new_id()}"
    for _ in range(3 * MOST_TRIES):
        assert await codes.try_one(address) == 0
        await codes.was_right(address)
    await codes.was_right(address)  # once too often gives nothing
    for _ in range(MOST_TRIES):
        assert await codes.try_one(address) == 0
    assert await codes.try_one(address)


async def test_many_at_once_are_no_way_around(codes: CodeStore) -> None:
    address = f"ipv4:{new_id()}"
    found = await asyncio.gather(*(codes.try_one(address) for _ in range(50)))
    assert found.count(0) == MOST_TRIES


async def test_a_table_s_code_and_tries_end_by_themselves(
    codes: CodeStore, connection: Connection, table_id: str
) -> None:
    code = await codes.join_code(table_id)
    await codes.try_one(f"ipv4:{table_id}")
    for key in (f"tt:code:{{{code}}}", f"tt:{{{table_id}}}:code"):
        assert await connection.call("PTTL", key) > 0
    _, tries = await connection.call("SCAN", "0", "MATCH", "tt:tries:*", "COUNT", "10000")
    assert tries
    assert all([await connection.call("PTTL", key) > 0 for key in tries])
    assert not any(table_id.encode() in key for key in tries), "addresses are not kept"
