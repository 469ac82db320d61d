"""Nobody is charged for a time in which nobody served, and nobody's time is up because of it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tableturn_server.jobs.duty import Counts
from tableturn_server.service.outages import FRESH_MS, LONGEST_MS
from tableturn_server.store import StoreError
from tableturn_server.tables import commands
from tableturn_server.tables.log import ChangeKind
from tests.jobs.support import Clock, Hold, Office, an_office, token_of
from tests.jobs.test_timeouts import HOUR, MINUTE, is_quiet, two_people
from tests.store.support import Proxy, Server
from tests.tables.play import HOST


@contextlib.asynccontextmanager
async def a_lonely_office(valkey: Server, clock: Clock) -> AsyncIterator[Office]:
    """A service whose runner does not run yet: the only one."""
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        yield office


async def test_late_jobs_after_the_service_was_off_charge_nobody(valkey: Server) -> None:
    """It was off for an hour; the time of seat 1 would have been up in half a minute."""
    clock = Clock()
    async with a_lonely_office(valkey, clock) as office:
        table_id = await two_people(office)
        await office.lives(clock, MINUTE // 2)
    clock.passes(HOUR)
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        await office.has_happened(table_id, "OUTAGE")
        seat = (await office.table(table_id)).clocks[0]
        assert seat.deadline == clock.ms + MINUTE // 2
        assert clock.ms - seat.since == MINUTE // 2
        await office.lives(clock, MINUTE // 2 - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == ["OUTAGE"]
        await office.lives(clock, 1)
        await office.has_happened(table_id, "OUTAGE", "CONFIRM")
        assert (await office.table(table_id)).clocks[0].used == MINUTE


async def test_whoever_acts_first_after_an_outage_is_not_charged_for_it(valkey: Server) -> None:
    """No runner has come so far: the change itself puts it right first, in one of its own."""
    clock = Clock()
    async with a_lonely_office(valkey, clock) as office:
        table_id = await two_people(office)
        await office.lives(clock, 20_000)
        clock.passes(HOUR)
        await office.confirms(table_id, 1)
        assert await office.kinds(table_id) == ["OUTAGE", "CONFIRM"]
        table = await office.table(table_id)
        assert table.clocks[0].used == 20_000
        assert table.credited == clock.ms


async def test_an_outage_is_put_right_once_however_many_see_it(valkey: Server) -> None:
    clock = Clock()
    async with (
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock) as here,
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock) as there,
    ):
        tables = [await two_people(here) for _ in range(10)]
        clock.passes(HOUR)
        for table_id in tables:
            await here.has_happened(table_id, "OUTAGE")
            assert (await there.table(table_id)).clocks[0].deadline == clock.ms + MINUTE
        await here.outages.beat()
        await there.outages.beat()
        for office in (here, there):
            await is_quiet(office)
        assert [await here.kinds(table_id) for table_id in tables] == [["OUTAGE"]] * 10


async def test_each_of_several_outages_is_put_right(valkey: Server) -> None:
    """Nobody looked at the table in between."""
    clock = Clock()
    async with a_lonely_office(valkey, clock) as office:
        table_id = await two_people(office)
        for _ in range(3):
            clock.passes(HOUR)
            await office.outages.beat()
            await office.lives(clock, 1000)
        await office.confirms(table_id, 1)
        assert await office.kinds(table_id) == ["OUTAGE"] * 3 + ["CONFIRM"]
        assert (await office.table(table_id)).clocks[0].used == 3000


async def test_what_a_table_does_not_count_is_not_put_right(valkey: Server) -> None:
    """A table without a clock, one that is paused, and one that began after the outage."""
    clock = Clock()
    async with a_lonely_office(valkey, clock) as office:
        without = await office.a_table("free-table", people=2)
        paused = await two_people(office)
        await office.does(paused, commands.Pause(by=HOST))
        clock.passes(HOUR)
        await office.outages.beat()
        later = await two_people(office)
        await office.confirms(without, 1)
        await office.does(paused, commands.Resume(by=HOST))
        await office.confirms(later, 1)
        assert await office.kinds(without) == await office.kinds(later) == ["CONFIRM"]
        assert await office.kinds(paused) == ["PAUSE", "RESUME"]


async def test_one_service_that_was_asleep_is_no_outage_where_another_served(
    valkey: Server,
) -> None:
    """A laptop's lid was closed, and the time of a seat was up meanwhile."""
    clock = Clock()
    async with (
        an_office(valkey.url, poll=0.01, clock=clock, starts=False) as asleep,
        an_office(valkey.url, poll=0.01, clock=clock, starts=False) as awake,
    ):
        table_id = await two_people(asleep)
        await awake.lives(clock, 2 * MINUTE)
        asleep.runner.start()
        await asleep.has_happened(table_id, "CONFIRM")


async def test_a_process_that_falls_asleep_while_it_asks_asks_once_more(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that took an hour says nothing of that hour."""
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await two_people(office)
        hold = Hold(office.outages._store.beat, when_done=True)
        monkeypatch.setattr(office.outages._store, "beat", hold)
        clock.passes(FRESH_MS + 1)
        office.runner.start()
        office.runner.wake()
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await hold.reached.wait()
        clock.passes(HOUR)
        hold.go_on.set()
        await office.has_happened(table_id, "OUTAGE")


async def test_what_was_told_of_outages_holds_for_less_than_an_outage_takes(
    valkey: Server,
) -> None:
    """Two clocks differ by as much as they may: still nobody is charged for an outage.

    The service that is behind was told last just before it.
    """
    clock = Clock()
    async with (
        an_office(valkey.url, clock=clock.skewed(900), starts=False) as ahead,
        an_office(valkey.url, clock=clock.skewed(-900), starts=False) as behind,
    ):
        table_id = await two_people(behind)
        await behind.lives(clock, 2000)
        clock.passes(LONGEST_MS - 1700)
        await ahead.outages.beat()
        begin = clock.ms - (LONGEST_MS - 1700) - 900
        assert ahead.outages._known[-1].begin == begin
        await behind.confirms(table_id, 1)
        assert await behind.kinds(table_id) == ["OUTAGE", "CONFIRM"]


async def test_late_jobs_after_the_store_was_away_charge_nobody(valkey: Server) -> None:
    clock = Clock()
    proxy = Proxy(valkey.socket)
    with tempfile.TemporaryDirectory(prefix="tt-") as directory:
        path = str(Path(directory) / "s")
        async with contextlib.AsyncExitStack() as stack:
            async with proxy.listen(path=path):
                office = await stack.enter_async_context(
                    an_office(f"unix://{path}", poll=0.01, clock=clock)
                )
                table_id = await two_people(office)
                await office.lives(clock, 20_000)
            for _ in range(30):
                clock.passes(2000)
                with pytest.raises(StoreError):
                    await office.outages.beat()
            async with proxy.listen(path=path):
                await office.has_happened(table_id, "OUTAGE")
                seat = (await office.table(table_id)).clocks[0]
                assert seat.deadline == clock.ms + MINUTE - 20_000
                assert office.runner.counts == Counts()
                await office.lives(clock, MINUTE - 20_000)
                await office.has_happened(table_id, "OUTAGE", "CONFIRM")
                await stack.aclose()


async def test_after_an_outage_the_deadlines_that_are_shown_are_right_at_once(
    valkey: Server,
) -> None:
    """Nobody's time was up meanwhile, and nobody acts: the tables are looked at all the same."""
    clock = Clock()
    async with a_lonely_office(valkey, clock) as office:
        table_id = await two_people(office)
    clock.passes(LONGEST_MS + 1)
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        await office.has_happened(table_id, "OUTAGE")
        assert (await office.table(table_id)).clocks[0].deadline == clock.ms + MINUTE


async def test_the_start_of_a_new_store_is_no_outage(valkey: Server) -> None:
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        assert office.outages.last_end == 0
        table_id = await two_people(office)
        await office.lives(clock, MINUTE)
        await office.has_happened(table_id, "CONFIRM")


async def test_a_clock_that_is_set_back_gives_and_takes_no_time(valkey: Server) -> None:
    """For an hour the table's time stands still, as the table's time never goes back (C1)."""
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        await office.lives(clock, 10_000)
        clock.passes(-HOUR)
        await office.outages.beat()
        await office.confirms(table_id, 1)
        table = await office.table(table_id)
        assert 0 <= table.clocks[0].used <= 10_000
        assert table.clocks[1].since == table.stamp
        await office.confirms(table_id, 2)
        assert (await office.table(table_id)).clocks[1].used == 0
        assert await office.kinds(table_id) == ["CONFIRM"] * 2
        assert office.outages.last_end == 0


# -- two services whose clocks differ ------------------------------------------------------


async def test_two_services_whose_clocks_differ_keep_one_time_at_a_table(valkey: Server) -> None:
    """0.9 s ahead and behind: stamps only grow, and nobody has used less than nothing (C1)."""
    clock = Clock()
    async with (
        an_office(valkey.url, clock=clock.skewed(900), starts=False) as ahead,
        an_office(valkey.url, clock=clock.skewed(-900), starts=False) as behind,
    ):
        table_id = await two_people(ahead)
        offices = (behind, ahead, ahead, behind)
        for turn in range(12):
            await offices[turn % 4].lives(clock, 700)
            await offices[turn % 4].confirms(table_id, turn % 2 + 1)
            clocks = (await ahead.table(table_id)).clocks
            assert all(seat.used >= 0 and seat.bank >= 0 and seat.delay >= 0 for seat in clocks)
        log = await behind.log(table_id)
        assert [e.time for e in log] == sorted(e.time for e in log)
        assert {e.kind for e in log[3:]} == {ChangeKind.CONFIRM}
        used = sum(seat.used for seat in (await ahead.table(table_id)).clocks)
        assert abs(used - 12 * 700) <= 1800


@pytest.mark.parametrize("skew", [900, -900])
async def test_nobodys_time_is_up_before_it_is_by_the_clock_of_whoever_says_so(
    valkey: Server, skew: int
) -> None:
    clock = Clock()
    async with (
        an_office(valkey.url, clock=clock.skewed(-skew), starts=False) as office,
        an_office(valkey.url, poll=0.01, clock=clock.skewed(skew)) as other,
    ):
        table_id = await two_people(office)
        deadline = (await office.table(table_id)).clocks[0].deadline
        await other.lives(clock, deadline - skew - clock.ms - 1)
        await is_quiet(other)
        assert await other.kinds(table_id) == []
        await other.lives(clock, 1)
        await other.has_happened(table_id, "CONFIRM")
        entry = (await other.log(table_id))[-1]
        assert entry.time == deadline
        table = await other.table(table_id)
        assert table.clocks[0].used == MINUTE


async def test_an_outage_that_another_clock_has_ended_leaves_nobody_with_less_than_nothing(
    valkey: Server,
) -> None:
    """The service that is behind looks at the table before the outage is over by its clock."""
    clock = Clock()
    async with (
        an_office(valkey.url, clock=clock.skewed(900), starts=False) as ahead,
        an_office(valkey.url, clock=clock.skewed(-900), starts=False) as behind,
    ):
        table_id = await two_people(behind)
        clock.passes(HOUR)
        await ahead.outages.beat()
        await behind.confirms(table_id, 1)
        assert await behind.kinds(table_id) == ["OUTAGE", "CONFIRM"]
        table = await behind.table(table_id)
        assert 0 <= table.clocks[0].used <= 1800
        assert table.stamp == clock.ms + 900
        await behind.does(
            table_id,
            commands.Act(by=token_of(2), seat=2, expected_revision=table.revision, confirm=True),
        )
        assert (await behind.table(table_id)).clocks[1].used == 0
