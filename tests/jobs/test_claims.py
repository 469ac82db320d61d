"""A claim is never swallowed: what is claimed is looked after, or given back, at once.

The clocks of these services stand still, or their leases last for an hour: a table whose job
nobody looks after would stand still as well.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tableturn_server.jobs import bot_turns
from tableturn_server.jobs import runner as runners
from tableturn_server.jobs.duty import Counts
from tableturn_server.store import keys
from tableturn_server.tables import commands
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Confirmation
from tests.jobs.support import Clock, Hold, an_office
from tests.store.support import Server, eventually
from tests.tables.play import HOST

HOUR = 3_600_000


def alone(runner: runners.Runner) -> None:
    """From now on nothing but itself wakes the runner."""
    runner._keeper.on_due = lambda _: None


async def test_a_claim_that_comes_before_the_settling_is_heard_of_begins_anew(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is settled, announced again and claimed, before the task hears of the first."""
    async with (
        an_office(valkey.url, starts=False) as there,
        an_office(valkey.url, poll=3600, lease_ms=HOUR) as office,
    ):
        settle = office.store.jobs.settle
        calls = 0

        async def slow(*args: Any) -> bool:
            nonlocal calls
            calls += 1
            first = calls == 1
            settled = await settle(*args)
            if first:
                await there.confirms(table_id, 2)
                await there.store.jobs.waiting()  # what it announced has arrived
                await office.runner._claim()
            return settled

        monkeypatch.setattr(office.store.jobs, "settle", slow)
        table_id = await office.a_table("free-table", bots="greedy", people=1)
        await office.has_taken(2)


async def test_a_claim_that_the_settling_comes_too_late_for_begins_anew(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease ends, and the job is claimed again, while the first settling is on its way."""
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as there,
        an_office(valkey.url, poll=3600, clock=clock, lease_ms=1000) as office,
    ):
        hold = Hold(office.store.jobs.settle)
        monkeypatch.setattr(office.store.jobs, "settle", hold)
        table_id = await office.a_table("free-table", bots="greedy", people=1)
        await hold.reached.wait()
        monkeypatch.undo()
        clock.passes(1500)
        await office.runner._claim()
        hold.go_on.set()
        await office.idle()
        await there.confirms(table_id, 2)
        await there.store.jobs.waiting()
        office.runner.wake()
        await office.has_taken(2)


async def test_a_lease_that_has_ended_while_a_bot_thinks_and_is_had_again_is_given_back(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as there,
        an_office(valkey.url, poll=3600, clock=clock, lease_ms=1000) as office,
    ):
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        table_id = await office.a_table("free-table", bots="greedy", people=1)
        await hold.reached.wait()
        clock.passes(1500)
        await office.runner._claim()
        hold.go_on.set()
        await office.idle()
        await there.confirms(table_id, 2)
        await there.store.jobs.waiting()
        office.runner.wake()
        await office.has_taken(2)


async def test_what_is_announced_before_a_second_claim_is_not_done_by_the_first_look(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow process had looked when there was nothing to do yet."""
    clock = Clock()
    async with (
        an_office(valkey.url, starts=False, clock=clock) as there,
        an_office(valkey.url, starts=False, poll=3600, clock=clock, lease_ms=1000) as office,
    ):
        table_id = await there.a_table("free-table", bots="greedy", people=1, first_seat="2")
        await there.store.jobs.announce(table_id, there.keeper.now(), there.keeper.now())
        hold = Hold(office.keeper.look, when_done=True)
        with monkeypatch.context() as patch:
            patch.setattr(office.keeper, "look", hold)
            office.runner.start()
            await hold.reached.wait()
        await there.confirms(table_id, 2)
        await there.store.jobs.waiting()
        clock.passes(1500)
        await office.runner._claim()
        hold.go_on.set()
        await office.has_taken(1)


async def test_a_lease_is_kept_while_a_bot_thinks(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_turns, "THINKING", 0.01)
    clock = Clock()
    async with an_office(valkey.url, poll=3600, clock=clock) as office:
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        table_id = await office.a_table("free-table", bots="greedy", people=1)
        await hold.reached.wait()
        for _ in range(5):
            clock.passes(runners.LEASE_MS - 1)
            await office.is_due(table_id, office.keeper.now() + runners.LEASE_MS)
            assert await office.store.jobs.claim(office.keeper.now(), 1, 5) == []
        hold.go_on.set()
        await office.has_taken(1)
        await office.idle()
        assert office.runner.counts == Counts(turns=1)


async def test_a_job_that_was_announced_meanwhile_is_claimed_at_once(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process announced it, which can't wake this one."""
    async with (
        an_office(valkey.url, starts=False) as there,
        an_office(valkey.url, starts=False, poll=3600) as office,
    ):
        hold = Hold(office.store.jobs.settle)
        monkeypatch.setattr(office.store.jobs, "settle", hold)
        table_id = await there.a_table("free-table", bots="greedy", people=1)
        office.runner.start()
        alone(office.runner)
        await hold.reached.wait()
        await there.confirms(table_id, 2)
        await there.store.jobs.waiting()
        hold.go_on.set()
        await office.has_taken(2)


async def test_a_table_that_has_had_enough_for_now_is_claimed_again_at_once(
    valkey: Server,
) -> None:
    async with (
        an_office(valkey.url, starts=False) as there,
        an_office(valkey.url, starts=False, poll=3600) as office,
    ):
        rounds = str(2 * runners.STEPS_IN_A_ROW)
        table_id = await there.a_table("free-table", rounds=rounds)
        office.runner.start()
        alone(office.runner)
        await office.finished(table_id)


async def test_when_there_was_no_room_the_next_table_is_claimed_as_soon_as_there_is(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "AT_ONCE", 1)
    async with (
        an_office(valkey.url, starts=False) as there,
        an_office(valkey.url, starts=False, poll=3600) as office,
    ):
        tables = [await there.a_table("free-table", rounds="2") for _ in range(3)]
        office.runner.start()
        alone(office.runner)
        for table_id in tables:
            await office.finished(table_id)


async def test_a_table_that_fails_is_left_alone_for_longer_each_time(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "LONGEST_PAUSE_MS", 10_000)
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:

        async def turn(*_: object) -> None:
            raise RuntimeError("this table is sick")

        monkeypatch.setattr(office.pool, "turn", turn)
        table_id = await office.a_table("free-table")
        for failures, pause in enumerate((1000, 2000, 4000, 8000, 10_000, 10_000), 1):
            await office.is_due(table_id, office.keeper.now() + pause)
            assert office.runner.counts.failures == failures
            clock.passes(pause)


async def test_a_runner_that_stops_takes_no_further_turn(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(valkey.url) as office:
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        table_id = await office.a_table("free-table", rounds="20")
        await hold.reached.wait()
        stopping = asyncio.create_task(office.runner.stop(grace=60))
        await eventually(lambda: office.runner._ending)
        hold.go_on.set()
        await stopping
        assert (await office.table(table_id)).turns == 1
        # And whoever comes next has it at once.
        lease = await office.store.connection.call("HGET", keys.jobs_of(table_id)[2], table_id)
        assert lease is None


@pytest.mark.parametrize(("game", "first"), [("eastern-wonders", "2"), ("free-table", "1")])
async def test_a_turn_for_a_panel_that_has_gone_meanwhile_is_confirmed(
    valkey: Server, monkeypatch: pytest.MonkeyPatch, game: str, first: str
) -> None:
    """The host says so while the bot thinks of what to stage, or that it stages nothing."""
    async with an_office(valkey.url) as office:
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        table_id = await office.a_table(
            game, bots="greedy", confirmation=Confirmation.PANEL, people=1, first_seat=first
        )
        await hold.reached.wait()
        await office.does(
            table_id,
            commands.SetConfirmation(by=HOST, seat=1, confirmation=Confirmation.DEVICE),
        )
        hold.go_on.set()

        async def confirmed() -> bool:
            return (await office.table(table_id)).turns == 1

        await eventually(confirmed)
        assert office.runner.counts.failures == office.runner.counts.illegal == 0


async def test_a_turn_that_is_refused_at_a_table_that_has_not_changed_is_a_failure(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be refused for ever: so it is not tried again at once."""
    clock = Clock()
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await office.a_table("free-table")

        async def refused(*_: object) -> None:
            raise Refused(Reason.NOT_ALLOWED, "never")

        monkeypatch.setattr(office.keeper, "carry_out", refused)
        office.runner.start()
        await office.is_due(table_id, office.keeper.now() + runners.FIRST_PAUSE_MS)
        assert office.runner.counts == Counts(failures=1)


@pytest.mark.parametrize("confirmation", [None, Confirmation.PANEL])
async def test_a_bot_whose_seat_is_changed_while_it_thinks_is_no_failure(
    valkey: Server, monkeypatch: pytest.MonkeyPatch, confirmation: Confirmation | None
) -> None:
    """It is sent away, or a panel has to confirm; the bot after it is not kept waiting."""
    async with an_office(valkey.url) as office:
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        table_id = await office.a_table(seats=2)
        await hold.reached.wait()
        (seat, *_) = due_bots(await office.table(table_id))
        change: commands.AnyCommand = commands.LeaveSeat(by=HOST, seat=seat)
        if confirmation is not None:
            change = commands.SetConfirmation(by=HOST, seat=seat, confirmation=confirmation)
        await office.does(table_id, change)
        hold.go_on.set()
        if confirmation is None:
            await office.idle()
            assert office.runner.counts.turns == 0
        else:

            async def staged() -> bool:
                return bool((await office.table(table_id)).staged[seat - 1])

            await eventually(staged)
        assert office.runner.counts.failures == 0
        assert office.runner.counts.stale == 1
