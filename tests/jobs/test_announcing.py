"""No job is lost between its announcement and the change that makes it necessary."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tableturn_server.store.jobs import KEPT_MS
from tableturn_server.tables.export import Recorded, export, read
from tests.jobs.support import Clock, Hold, Office, an_office
from tests.store.support import Server, eventually, new_id

LEASE = KEPT_MS + 1000
"""Another time than that for which a job is kept: the store shows both in the same place."""


async def a_table_that_waits(office: Office) -> str:
    """The person on seat 2 has a turn; then the bot on seat 1 is asked."""
    return await office.a_table("free-table", bots="greedy", people=1, first_seat="2")


async def person_confirms(office: Office) -> Callable[[], Awaitable[Any]]:
    table_id = await a_table_that_waits(office)
    return lambda: office.confirms(table_id, 2)


async def running_table_is_imported(office: Office) -> Callable[[], Awaitable[Any]]:
    table_id = await office.a_table("free-table", rounds="2", first_seat="1")
    log = [Recorded(t.change_id, t.entry) for t in await office.keeper.log(table_id, 0, 500)]
    document = export(await office.table(table_id), log)
    imported = read(document, table_id=new_id(), now=office.keeper.now())
    return lambda: office.keeper.restore(imported, None)


@pytest.mark.parametrize(
    ("method", "prepared"),
    [("commit", person_confirms), ("restore", running_table_is_imported)],
)
async def test_a_job_is_announced_before_its_change_is_committed(
    valkey: Server,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    prepared: Callable[[Office], Awaitable[Callable[[], Awaitable[Any]]]],
) -> None:
    """The process may die at any moment: a job too many is harmless, one too few is not."""
    async with an_office(valkey.url, starts=False) as office:
        does = await prepared(office)
        before = await office.store.jobs.waiting()
        hold = Hold(getattr(office.store.tables, method))
        monkeypatch.setattr(office.store.tables, method, hold)
        task = asyncio.ensure_future(does())
        await hold.reached.wait()
        assert await office.store.jobs.waiting() == before + 1
        hold.go_on.set()
        await task


async def test_the_bots_of_an_imported_table_go_on(valkey: Server) -> None:
    """A service that does not know of it is told: it looks by itself in an hour only."""
    async with an_office(valkey.url, poll=3600) as office:
        await office.runner.stop()
        restore = await running_table_is_imported(office)
        async with an_office(valkey.url, poll=0.01) as other:
            held, _ = await restore()
            await other.finished(held.table.making.table_id)


async def test_a_look_before_the_commit_does_not_lose_the_job(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process claims and settles the job; then comes the commit. No time passes."""
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as here,
        an_office(valkey.url, poll=0.01, clock=clock, lease_ms=LEASE) as there,
    ):
        table_id = await a_table_that_waits(here)
        hold = Hold(here.store.tables.commit)
        monkeypatch.setattr(here.store.tables, "commit", hold)
        task = asyncio.create_task(here.confirms(table_id, 2))
        await hold.reached.wait()
        await there.is_due(table_id, there.keeper.now() + KEPT_MS)
        assert there.runner.counts.turns == 0
        hold.go_on.set()
        await task
        await there.has_taken(1)


async def test_one_that_dies_after_its_commit_is_followed_by_another(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not announce the job again; but nobody has given it up yet."""
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as here,
        an_office(valkey.url, poll=0.01, clock=clock, lease_ms=LEASE) as there,
    ):
        table_id = await a_table_that_waits(here)
        hold = Hold(here.store.tables.commit)
        monkeypatch.setattr(here.store.tables, "commit", hold)
        monkeypatch.setattr(here.store.jobs, "announce_again", lambda *_: None)
        # The first announcement goes another way while the connection is up, too.
        task = asyncio.create_task(here.confirms(table_id, 2))
        await there.store.jobs.announce(table_id, there.keeper.now(), there.keeper.now())
        await hold.reached.wait()
        await here.store.jobs.waiting()  # by now its own announcement has come, too
        await there.is_due(table_id, there.keeper.now() + KEPT_MS)
        hold.go_on.set()
        await task
        clock.passes(KEPT_MS - 1)
        await there.idle()
        assert there.runner.counts.turns == 0
        clock.passes(1)
        await there.has_taken(1)


async def test_a_caller_that_is_gone_does_not_keep_the_job_from_being_announced_again(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as here,
        an_office(valkey.url, poll=0.01, clock=clock, lease_ms=LEASE) as there,
    ):
        table_id = await a_table_that_waits(here)
        before = Hold(here.store.tables.commit)
        after = Hold(before, when_done=True)
        monkeypatch.setattr(here.store.tables, "commit", after)
        task = asyncio.create_task(here.confirms(table_id, 2))
        await before.reached.wait()
        await there.is_due(table_id, there.keeper.now() + KEPT_MS)
        before.go_on.set()
        await after.reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await there.has_taken(1)


async def test_a_job_is_given_up_when_its_change_can_not_come_any_more(valkey: Server) -> None:
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock, lease_ms=LEASE) as office:
        await office.store.jobs.announce("never-made", office.keeper.now(), office.keeper.now())
        await office.is_due("never-made", office.keeper.now() + KEPT_MS)
        clock.passes(KEPT_MS)

        async def none() -> bool:
            return await office.store.jobs.waiting() == 0

        await eventually(none)
        assert office.runner.counts.failures == 0
