"""Jobs that are missing are found, by one process at a time."""

from __future__ import annotations

import asyncio

from tableturn_server.jobs import Sweeper
from tableturn_server.store import keys
from tests.jobs.support import Office, an_office
from tests.store.support import Server, eventually


def sweeper_of(office: Office, interval: float = 600) -> Sweeper:
    return Sweeper(office.store.jobs, office.store.tables, office.keeper, interval=interval)


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
