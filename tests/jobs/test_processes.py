"""Processes that race for what is due, and one that is killed: each thing is done once."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tableturn_server.jobs.duty import Counts
from tableturn_server.store import LogRecord, Stored
from tableturn_server.tables.due import due_at
from tableturn_server.tables.log import ChangeKind, encode_entry
from tableturn_server.tables.state import Table, encode
from tests.jobs.support import Office, an_office
from tests.jobs.test_timeouts import MINUTE, TURNS
from tests.store.support import Server, eventually
from tests.tables.play import a_table

ROOT = Path(__file__).parents[2]
TABLES = 1000
LEASE = 60_000


@dataclass
class Process:
    """A `tests.jobs.process`."""

    process: asyncio.subprocess.Process

    async def says(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            return (await self.process.stdout.readline()).decode().strip()

    def begins(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")

    async def ends(self) -> Counts:
        """What it has done, after it has ended as it should."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        counts = msgspec.json.decode(await self.says(), type=Counts)
        assert await self.process.wait() == 0
        return counts

    async def is_killed(self) -> None:
        """kill -9, as when the power fails."""
        self.process.kill()
        await self.process.wait()


@contextlib.asynccontextmanager
async def a_process(valkey: Server, *wishes: str, lease_ms: int = LEASE) -> AsyncIterator[Process]:
    command = [sys.executable, "-m", "tests.jobs.process", valkey.url, str(lease_ms), *wishes]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        made = Process(process)
        assert await made.says() == "ready"
        yield made
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def tables_whose_time_is_up(office: Office, count: int) -> list[str]:
    """Tables at which seat 1 should have ended its turn a second ago; nobody knows of them yet."""
    game = a_table(clock=TURNS)
    asked = office.keeper.now() - MINUTE - 1000
    first = replace(game.table.clocks[0], since=asked, deadline=asked + MINUTE)
    table = replace(game.table, stamp=asked, clocks=(first, *game.table.clocks[1:]))
    entries = [LogRecord(e.revision, f"change-{e.revision}", encode_entry(e)) for e in game.log]

    async def put(table_id: str) -> str:
        named: Table = replace(table, making=replace(table.making, table_id=table_id))
        stored = Stored(named.revision, entries[-1].change_id, encode(named))
        await office.store.tables.restore(table_id, stored, entries, [], None, created_ms=asked)
        return table_id

    names = [f"late-{number}" for number in range(count)]
    return list(await asyncio.gather(*map(put, names)))


async def announce(office: Office, tables: list[str]) -> None:
    due = due_at(await office.table(tables[0]))
    assert due is not None
    for table_id in tables:
        await office.store.jobs.announce(table_id, due, office.keeper.now())
    await office.store.jobs.waiting()


async def test_two_processes_race_for_a_thousand_jobs_and_do_each_once(valkey: Server) -> None:
    """Two processes of the system on one store; the time of a seat is up at 1,000 tables."""
    async with (
        an_office(valkey.url, starts=False) as office,
        a_process(valkey) as here,
        a_process(valkey) as there,
    ):
        tables = await tables_whose_time_is_up(office, TABLES)
        (before,) = await office.store.tables.revisions(tables[:1])
        assert before is not None
        await announce(office, tables)
        begun = time.perf_counter()
        for process in (here, there):
            process.begins()

        async def all_done() -> bool:
            found = await office.store.tables.revisions(tables)
            return all(known is not None and known[0] > before[0] for known in found)

        await eventually(all_done, 60)
        spent = time.perf_counter() - begun
        counts = [await here.ends(), await there.ends()]
        for table_id in tables:
            new = [e for e in await office.log(table_id) if e.kind is ChangeKind.CONFIRM]
            assert len(new) == 1
            assert (new[0].seat, new[0].turn) == (1, 1)
            assert "is up" in new[0].lines[0]
        print(f"{TABLES} time-outs in {spent:.2f} s: {[count.timeouts for count in counts]}")
        assert sum(count.timeouts for count in counts) == TABLES
        assert min(count.timeouts for count in counts) > 0
        assert sum(count.failures for count in counts) == 0


async def test_what_a_killed_process_had_claimed_is_done_by_another(valkey: Server) -> None:
    """kill -9 after the lease: it ends, and the other one has the tables."""
    async with (
        an_office(valkey.url, starts=False) as office,
        a_process(valkey, "holds", lease_ms=500) as killed,
        a_process(valkey) as other,
    ):
        tables = await tables_whose_time_is_up(office, 20)
        await announce(office, tables)
        killed.begins()
        for _ in tables:
            assert await killed.says() == "claimed"
        await killed.is_killed()
        other.begins()

        async def done() -> bool:
            return all([(await office.table(table_id)).turns == 1 for table_id in tables])

        await eventually(done, 30)
        assert (await other.ends()).timeouts == len(tables)


async def test_of_two_processes_one_is_killed_in_the_middle_of_its_work(valkey: Server) -> None:
    """Whatever it was at: each seat's time is up once, and no table is forgotten."""
    async with (
        an_office(valkey.url, starts=False) as office,
        a_process(valkey, lease_ms=500) as killed,
        a_process(valkey, lease_ms=500) as other,
    ):
        tables = await tables_whose_time_is_up(office, 300)
        await announce(office, tables)
        killed.begins()

        async def some() -> bool:
            return (await office.table(tables[0])).turns == 1 or (
                await office.table(tables[-1])
            ).turns == 1

        await eventually(some, 30)
        await killed.is_killed()
        other.begins()

        async def done() -> bool:
            return all([(await office.table(table_id)).turns == 1 for table_id in tables])

        await eventually(done, 30)
        await other.ends()
        for table_id in tables:
            assert [e.seat for e in await office.turns(table_id)] == [1]
