"""Times in which nobody served are written down: each once, by whoever comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from tableturn_server.store import Connection, Outage, OutageStore, StoreUnavailable, keys
from tableturn_server.store.outages import KEPT, LATE_MS, Beat
from tableturn_server.store.resp import Argument
from tests.store.support import running_server

NOW = 1_700_000_000_000
LONGEST = 5000


@pytest.fixture
async def stores() -> AsyncIterator[list[OutageStore]]:
    """Those of two processes, on a store that nobody has used."""
    with running_server() as server:
        async with Connection(server.url) as here, Connection(server.url) as there:
            yield [OutageStore(here), OutageStore(there)]


async def beat(store: OutageStore, now: int, known: int = 0) -> Beat:
    return await store.beat(lambda: now, longest_ms=LONGEST, known_ms=known)


async def ends_none(store: OutageStore, now: int) -> bool:
    """A sign that ends no outage, where there was none."""
    found = await beat(store, now)
    return found == ((), False, now)


async def test_the_first_sign_in_a_new_store_ends_no_outage(stores: list[OutageStore]) -> None:
    assert await ends_none(stores[0], NOW)
    assert await ends_none(stores[1], NOW + 10)


async def test_a_silence_is_an_outage_if_it_was_longer_than_allowed(
    stores: list[OutageStore],
) -> None:
    await beat(stores[0], NOW)
    assert await ends_none(stores[0], NOW + LONGEST)
    later = NOW + 2 * LONGEST + 1
    found = await beat(stores[0], later)
    assert found == ((Outage(NOW + LONGEST, later),), True, later)


async def test_an_outage_ends_once_and_all_hear_of_it(stores: list[OutageStore]) -> None:
    await beat(stores[0], NOW)
    end = NOW + 3_600_000
    beats = await asyncio.gather(*(beat(store, end) for store in stores * 5))
    assert sum(found.ended_one for found in beats) == 1
    assert {found.outages for found in beats} == {(Outage(NOW, end),)}


async def test_only_those_are_told_that_are_not_known(stores: list[OutageStore]) -> None:
    times = [NOW + n * 10_000 for n in range(4)]
    for time in times:
        await beat(stores[0], time)
    found = await beat(stores[1], times[-1], known=times[1])
    assert found.outages == (Outage(times[1], times[2]), Outage(times[2], times[3]))
    assert (await beat(stores[1], times[-1], known=times[-1])).outages == ()


async def test_an_outage_is_never_negative_and_time_never_goes_back(
    stores: list[OutageStore],
) -> None:
    """Two clocks differ, or one is set back by an hour: no outage follows from that."""
    here, there = stores
    await beat(here, NOW + 900)
    for time in range(NOW, NOW + 60_000, 2000):
        assert await ends_none(there, time - 900)
        assert await ends_none(here, time + 900)
    assert await ends_none(there, NOW - 3_600_000)
    last = NOW + 58_000 + 900
    end = last + LONGEST + 1
    assert await ends_none(there, last + LONGEST)
    assert await ends_none(there, end)
    after = await beat(here, end + LONGEST + 1)
    assert after.outages == (Outage(end, end + LONGEST + 1),)


async def test_the_last_hundred_are_kept(stores: list[OutageStore]) -> None:
    for n in range(KEPT + 5):
        await beat(stores[0], NOW + n * 10_000)
    outages = (await beat(stores[0], NOW + (KEPT + 4) * 10_000)).outages
    assert len(outages) == KEPT
    assert outages[-1].end == NOW + (KEPT + 4) * 10_000
    assert all(a.end == b.begin for a, b in pairwise(outages))
    assert all(outage.end - outage.begin == 10_000 for outage in outages)


class Late(Connection):
    """A connection on which signs take too long: so many, or all."""

    def __init__(self, url: str, late: int) -> None:
        super().__init__(url)
        self.late = late

    async def call(self, *args: Argument, timeout: float | None = None) -> Any:
        reply = await super().call(*args, timeout=timeout)
        if args != ("TIME",) or not self.late:
            return reply
        self.late -= 1
        of_store = int(reply[0]) * 1_000_000 + int(reply[1]) - LATE_MS * 1000 - 1
        return [*divmod(of_store, 1_000_000)]


@pytest.mark.case("C1")
async def test_a_sign_that_took_too_long_counts_for_nothing() -> None:
    """It tells of a time at which nobody knows whether anybody could serve."""
    with running_server() as server:
        async with Late(server.url, late=-1) as connection:
            with pytest.raises(StoreUnavailable):
                await beat(OutageStore(connection), NOW)
            assert await connection.call("EXISTS", keys.ALIVE) == 0


@pytest.mark.case("C1")
async def test_it_is_given_again_with_the_time_at_which_that_is_done() -> None:
    times = iter((NOW + 2000, NOW + 9000))
    with running_server() as server:
        connection = Late(server.url, late=0)
        async with connection:
            store = OutageStore(connection)
            await beat(store, NOW)
            connection.late = 1
            found = await store.beat(lambda: next(times), longest_ms=LONGEST, known_ms=0)
            assert found == ((Outage(NOW, NOW + 9000),), True, NOW + 9000)
