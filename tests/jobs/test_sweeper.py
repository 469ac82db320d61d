"""Jobs that are missing are found, by one process at a time."""

from __future__ import annotations

import asyncio

import pytest

from tableturn_server.jobs import Sweeper
from tableturn_server.store import StoreUnavailable, keys
from tests.jobs.support import Clock, Office, an_office
from tests.store.support import Server, eventually


def sweeper_of(office: Office, interval: float = 600, again: float = 5) -> Sweeper:
    return Sweeper(
        office.store.jobs, office.store.tables, office.keeper, interval=interval, again=again
    )


async def lose_all_jobs(office: Office) -> None:
    for shard in range(keys.JOB_SHARDS):
        for key in keys.jobs(shard):
            await office.store.connection.call("DEL", key)


async def test_lost_jobs_are_found_at_the_start(valkey: Server) -> None:
    async with an_office(valkey.url, starts=False) as office:
        tables = [await office.a_table("free-table", seats=2, rounds="2") for _ in range(3)]
        waiting = await office.a_table("free-table", seats=2, people=1, first_seat="2")
        await office.a_table("free-table", seats=3, people=3)
        await lose_all_jobs(office)
        await office.store.tables.index_put("never-made", 5)
        office.runner.start()
        sweeper = sweeper_of(office)
        sweeper.start()
        try:
            for table_id in tables:
                await office.finished(table_id)
        finally:
            await sweeper.stop()
        assert (await office.table(waiting)).turns == 0
        await office.idle()


async def test_only_what_is_missing_is_announced(valkey: Server) -> None:
    async with an_office(valkey.url, starts=False) as office:
        await office.a_table("free-table", seats=2, rounds="2")
        assert await sweeper_of(office).sweep() == 0
        await lose_all_jobs(office)
        await office.a_table("free-table", seats=2, rounds="2")
        assert await sweeper_of(office).sweep() == 1
        assert await office.store.jobs.waiting() == 2


async def test_one_process_sweeps_and_the_others_leave_it_to_it(valkey: Server) -> None:
    async with an_office(valkey.url, starts=False) as office:
        for _ in range(60):
            await office.a_table("free-table", seats=2, rounds="2")
        await lose_all_jobs(office)
        found = await asyncio.gather(*(sweeper_of(office).sweep() for _ in range(4)))
        assert sorted(found, key=str) == [60, None, None, None]
        assert await office.store.jobs.swept_at() > 0


async def test_it_sweeps_again_and_again(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        sweeper = sweeper_of(office, interval=0.05)
        sweeper.start()
        try:
            for _ in range(3):
                table_id = await office.a_table("free-table", seats=2, people=1, first_seat="2")
                before = await office.store.jobs.swept_at()

                async def swept(before: int = before) -> bool:
                    return await office.store.jobs.swept_at() > before

                await eventually(swept)
                assert (await office.table(table_id)).turns == 0
        finally:
            await sweeper.stop()


async def test_a_store_that_is_away_at_the_start_costs_no_interval(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(valkey.url) as office:
        away = 3
        begin = office.store.jobs.begin_sweep

        async def begin_sweep(lease_ms: int) -> str | None:
            nonlocal away
            if away:
                away -= 1
                raise StoreUnavailable("the store is away")
            return await begin(lease_ms)

        monkeypatch.setattr(office.store.jobs, "begin_sweep", begin_sweep)
        sweeper = sweeper_of(office, interval=3600, again=0.01)
        sweeper.start()
        try:
            await eventually(office.store.jobs.swept_at)
        finally:
            await sweeper.stop()


async def test_a_sweep_of_a_process_that_died_costs_no_interval(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes next sweeps as soon as the time of that one is over."""
    async with an_office(valkey.url) as office:
        assert await office.store.jobs.begin_sweep(3_600_000)
        tries = 0
        begin = office.store.jobs.begin_sweep

        async def begin_sweep(lease_ms: int) -> str | None:
            nonlocal tries
            tries += 1
            return await begin(lease_ms)

        monkeypatch.setattr(office.store.jobs, "begin_sweep", begin_sweep)
        sweeper = sweeper_of(office, interval=3600, again=0.01)
        sweeper.start()
        try:
            await eventually(lambda: tries > 2)
            assert await office.store.jobs.swept_at() == 0
            await office.store.connection.call("DEL", keys.SWEEP)
            await eventually(office.store.jobs.swept_at)
        finally:
            await sweeper.stop()


async def test_what_another_process_has_swept_just_now_is_not_swept_again(valkey: Server) -> None:
    """Each sweeps when it is started; then one of them in each half of an interval is enough."""
    clock = Clock()
    async with an_office(valkey.url, starts=False, clock=clock) as office:
        rounds = 0

        def jitter(_low: float, _high: float) -> float:
            nonlocal rounds
            rounds += 1
            clock.passes(1)
            return 0.0001

        sweeper = Sweeper(
            office.store.jobs, office.store.tables, office.keeper, interval=100, jitter=jitter
        )
        sweeper.start()
        try:
            swept = await eventually(office.store.jobs.swept_at)
            seen = rounds
            await eventually(lambda: rounds > seen + 5)
            assert await office.store.jobs.swept_at() == swept
            clock.passes(50_000)

            async def again() -> bool:
                return await office.store.jobs.swept_at() > swept

            await eventually(again)
        finally:
            await sweeper.stop()


async def test_one_that_was_too_slow_leaves_the_rest_to_another(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(valkey.url, starts=False) as office:
        for _ in range(60):
            await office.a_table("free-table", seats=2, rounds="2")
        load = office.store.tables.load

        async def slow(table_id: str):  # type: ignore[no-untyped-def]
            await office.store.connection.call("SET", keys.SWEEP, "somebody else's")
            return await load(table_id)

        monkeypatch.setattr(office.store.tables, "load", slow)
        assert await sweeper_of(office).sweep() is None
        assert await office.store.jobs.swept_at() == 0
        assert await office.store.connection.call("GET", keys.SWEEP) == b"somebody else's"
