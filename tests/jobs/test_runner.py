"""The turns of bots are taken, each once, by whichever process comes first."""

from __future__ import annotations

import contextlib
import logging
import os
import signal

import pytest

from tableturn_server.jobs import bot_turns
from tableturn_server.jobs import runner as runners
from tableturn_server.jobs.duty import Counts
from tableturn_server.rules.actions import Action, PlaceBoat
from tableturn_server.store import StoreError
from tableturn_server.tables import commands
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import Confirmation, Status
from tests.bots.test_pool import HANGS, python
from tests.jobs.support import an_office, new_seed, seats_in_turn, token_of
from tests.store.support import Server, eventually
from tests.tables.play import HOST


@pytest.mark.parametrize("bots", ["random", "greedy"])
async def test_a_table_of_bots_plays_to_its_end(valkey: Server, bots: str) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table("eastern-wonders", seats=3, bots=bots, max_rounds="4")
        table = await office.finished(table_id)
        turns = await office.turns(table_id)
        assert len(turns) == table.turns >= 3 + 4 * 3
        assert office.runner.counts.turns == table.turns
        assert office.runner.counts.stale == office.runner.counts.failures == 0
        assert office.pool.failed == 0
        await office.idle()


async def test_a_service_is_woken_by_its_own_changes(valkey: Server) -> None:
    """It looks by itself in an hour only."""
    async with an_office(valkey.url, poll=3600) as office:
        for people in (0, 1):
            table_id = await office.a_table(
                "free-table", seats=2, people=people, rounds="3", bots="greedy"
            )
            for turn in range(3 * people):
                await office.has_taken(7 + turn)
                await office.confirms(table_id, 2)
            await office.finished(table_id)


async def test_a_bot_answers_a_person_and_then_waits(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table("free-table", seats=3, bots="greedy", people=1)
        for round_ in range(1, 6):

            async def asked(turns: int = 3 * round_ - 1) -> bool:
                return (await office.table(table_id)).turns == turns

            await eventually(asked)
            assert (await office.table(table_id)).position.turn == 3
            await office.confirms(table_id, 3)
        assert seats_in_turn(await office.turns(table_id), 3)
        await eventually(lambda: office.runner.counts.turns == 12)
        await office.idle()


async def test_the_same_seed_and_bots_give_the_same_game(valkey: Server) -> None:
    hashes = set()
    for workers in (1, 2):
        async with an_office(valkey.url, workers=workers) as office:
            for bots in ("random", "greedy"):
                table_id = await office.a_table(seats=3, bots=bots, max_rounds="5")
                hashes.add((bots, (await office.finished(table_id)).log_hash))
            other = await office.a_table(seats=3, max_rounds="5", seed=new_seed())
            assert (await office.finished(other)).log_hash not in {h for _, h in hashes}
    assert len(hashes) == 2


async def test_two_services_take_each_turn_of_ten_tables_once(valkey: Server) -> None:
    hour = 3_600_000
    async with (
        an_office(valkey.url, lease_ms=hour) as here,
        an_office(valkey.url, lease_ms=hour) as there,
    ):
        games = [("eastern-wonders", {"max_rounds": "4"}), ("free-table", {"rounds": "12"})]
        tables = []
        for number in range(10):
            game, options = games[number % 2]
            office = (here, there)[number // 2 % 2]
            tables.append(await office.a_table(game, seats=3, seed=new_seed(), **options))  # type: ignore[arg-type]
        turns = 0
        for number, table_id in enumerate(tables):
            table = await here.finished(table_id)
            entries = await there.turns(table_id)
            assert len(entries) == table.turns
            if games[number % 2][0] == "free-table":
                assert seats_in_turn(entries, 3)
                assert table.turns == 36
            turns += table.turns
        counts = [here.runner.counts, there.runner.counts]
        assert sum(count.turns for count in counts) == turns
        # No lease ended, however slow this machine is: so nobody did what another did.
        assert sum(count.stale for count in counts) == 0
        assert sum(count.failures + count.illegal for count in counts) == 0
        await here.idle()


async def test_double_work_is_harmless(valkey: Server) -> None:
    """Leases that hold nobody off: both services take every turn, and one of them counts."""
    async with an_office(valkey.url) as here, an_office(valkey.url) as there:
        for office in (here, there):
            office.runner._lease_ms = 0
            office.runner._poll = 0.001
        table_id = await here.a_table("free-table", seats=3, rounds="40")
        await here.finished(table_id)
        assert seats_in_turn(await there.turns(table_id), 3)
        counts = [here.runner.counts, there.runner.counts]
        assert sum(count.turns for count in counts) == 120
        assert sum(count.failures + count.illegal for count in counts) == 0


async def test_a_job_of_a_service_that_died_is_done_by_another(valkey: Server) -> None:
    """It had announced the turn and committed the change, or claimed the job, and then died."""
    async with an_office(valkey.url, starts=False) as dead:
        table_id = await dead.a_table("free-table", seats=2, rounds="3")
        assert await dead.store.jobs.waiting() == 1
        assert await dead.store.jobs.claim(dead.keeper.now(), 500, 5)
    async with an_office(valkey.url) as office:
        await office.finished(table_id)


async def test_a_table_that_was_announced_and_never_made_is_forgotten(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        await office.store.jobs.announce("never-made", office.keeper.now(), office.keeper.now())
        office.runner.wake()
        await office.idle()
        assert office.runner.counts.failures == 0


async def test_paused_and_dropped_bots_do_nothing(valkey: Server) -> None:
    async with an_office(valkey.url, starts=False) as office:
        table_id = await office.a_table("free-table", seats=3, bots="greedy", people=1)
        await office.does(table_id, commands.Pause(by=HOST))
        office.runner.start()
        office.runner.wake()
        await office.idle()
        assert (await office.table(table_id)).turns == 0
        await office.does(table_id, commands.Resume(by=HOST))
        await eventually(lambda: office.runner.counts.turns == 2)
        await office.idle()
        await office.does(table_id, commands.Concede(by=HOST, seat=1))
        await office.confirms(table_id, 3)
        await eventually(lambda: office.runner.counts.turns == 3)
        assert [e.seat for e in await office.turns(table_id)] == [1, 2, 1, 3, 2]


async def test_a_bot_whose_turns_a_panel_confirms_stages_them_only(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table(
            seats=2, bots="greedy", people=1, confirmation=Confirmation.PANEL, first_seat="2"
        )
        await office.idle()
        table = await office.table(table_id)
        assert table.turns == 0
        assert table.staged[0]
        assert [e.kind for e in await office.log(table_id)][-1] is ChangeKind.STAGE


async def test_where_the_press_is_all_that_is_needed_the_bot_leaves_it_to_the_panel(
    valkey: Server,
) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table(
            "free-table", seats=2, bots="greedy", people=1, confirmation=Confirmation.PANEL
        )
        await office.idle()
        table = await office.table(table_id)
        assert table.turns == 0
        assert table.staged == ((), ())
        assert due_bots(table) == ()  # it has said so
        assert office.runner.counts == Counts(turns=1)


async def test_a_panel_gets_something_to_confirm_also_when_a_worker_answers_nonsense(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default would be to do nothing, which a button that is pressed does not confirm."""
    async with an_office(valkey.url) as office:
        table_id = await office.a_table(seats=2)
        await office.has_taken(2)
        await office.runner.stop()

    async with an_office(valkey.url, starts=False) as office:
        for seat in (1, 2):
            await office.does(
                table_id,
                commands.SetConfirmation(by=HOST, seat=seat, confirmation=Confirmation.PANEL),
            )

        async def turn(*_: object) -> tuple[Action, ...]:
            return (PlaceBoat("A1"),)

        monkeypatch.setattr(office.pool, "turn", turn)
        office.runner.start()

        async def staged() -> bool:
            return any((await office.table(table_id)).staged)

        await eventually(staged)
        assert office.runner.counts.illegal == 1


async def test_when_no_worker_answers_the_default_is_played(valkey: Server) -> None:
    async with an_office(valkey.url, command=("false",)) as office:
        table_id = await office.a_table(seats=2, max_rounds="2")
        table = await office.finished(table_id)
        assert office.pool.defaults == table.turns == 6


async def test_when_a_worker_answers_what_is_not_legal_the_default_is_played(
    valkey: Server, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = python(
        "from tableturn_server.rules.actions import ClaimTile\n"
        "worker.whole_turn = lambda *_: (ClaimTile(),)"
    )
    async with an_office(valkey.url, command=wrong) as office:
        table_id = await office.a_table(seats=2, max_rounds="2")
        table = await office.finished(table_id)
        assert office.runner.counts.illegal == table.turns == 6
        assert all(e.played == () or e.turn <= 2 for e in await office.turns(table_id))
    assert "is not legal" in caplog.text


async def test_one_worker_that_hangs_keeps_no_table_from_its_end(valkey: Server) -> None:
    async with an_office(valkey.url, command=HANGS, thinking=0.05) as office:
        tables = [
            await office.a_table("free-table", seats=2, rounds="1", bots="greedy") for _ in range(3)
        ]
        for table_id in tables:
            await office.finished(table_id)
        assert office.pool.defaults == 6


async def test_a_worker_that_is_killed_in_mid_game_costs_no_turn(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table(seats=2, bots="greedy", max_rounds="10")
        for turns in (4, 8, 12):
            await office.has_taken(turns)
            for pid in office.pool.pids:
                os.kill(pid, signal.SIGKILL)
        table = await office.finished(table_id)
        assert len(await office.turns(table_id)) == table.turns == office.runner.counts.turns
        assert office.pool.defaults == 0
        same = await office.a_table(seats=2, bots="greedy", max_rounds="10")
        assert (await office.finished(same)).log_hash == table.log_hash


async def test_a_table_that_fails_is_left_alone_for_a_while_and_blocks_no_other(
    valkey: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runners, "FIRST_PAUSE_MS", 50)
    tries = 0
    async with an_office(valkey.url, poll=0.02) as office:
        take = office.pool.turn

        async def turn(table, seat):  # type: ignore[no-untyped-def]
            nonlocal tries
            if table.making.table_id == "sick":
                tries += 1
                if tries < 4:
                    raise RuntimeError("this table is sick")
            return await take(table, seat)

        monkeypatch.setattr(office.pool, "turn", turn)
        await office.a_table("free-table", seats=2, rounds="2", table_id="sick")
        well = [await office.a_table("free-table", seats=2, rounds="2") for _ in range(12)]
        for table_id in well:
            await office.finished(table_id)
        await office.finished("sick")
        assert office.runner.counts.failures == 3
        await office.idle()
    assert caplog.text.count("what is due at table sick can't be done") == 3


async def test_a_table_without_an_end_lets_others_have_their_turn(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "AT_ONCE", 1)
    monkeypatch.setattr(bot_turns, "ENDLESS", 10**9)
    async with an_office(valkey.url) as office:
        endless = await office.a_table("free-table", seats=2)
        await eventually(lambda: office.runner.counts.turns > 10)
        other = await office.a_table("free-table", seats=2, rounds="5")
        await office.finished(other)
        assert (await office.table(endless)).status is Status.RUNNING


async def test_bots_alone_in_a_game_without_an_end_slow_down(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_turns, "ENDLESS", 30)
    monkeypatch.setattr(bot_turns, "ENDLESS_PAUSE_MS", 3_600_000)
    async with an_office(valkey.url, poll=0.01) as office:
        endless = await office.a_table("free-table", seats=2)
        await eventually(lambda: office.runner.counts.turns >= 30)
        with_people = await office.a_table("free-table", seats=2, people=1)
        for turn in range(1, 40):
            await office.has_taken(30 + turn)
            await office.confirms(with_people, 2)
        assert (await office.table(endless)).turns == 30


async def test_a_store_that_is_away_is_waited_for(
    valkey: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """It hangs for a while in the middle of a game; afterwards the game goes on."""
    caplog.set_level(logging.INFO)
    async with an_office(valkey.url) as office:
        table_id = await office.a_table("free-table", seats=2, rounds="200")
        await eventually(lambda: office.runner.counts.turns > 20)
        office.store.connection.drop("for the test")
        os.kill(valkey.process.pid, signal.SIGSTOP)
        try:
            await eventually(
                lambda: (
                    "can't be looked after" in caplog.text
                    or "no jobs can be claimed" in caplog.text
                )
            )
        finally:
            os.kill(valkey.process.pid, signal.SIGCONT)

        async def back() -> bool:
            with contextlib.suppress(StoreError):
                return bool(await office.table(table_id))
            return False

        await eventually(back)
        table = await office.finished(table_id)
        assert len(await office.turns(table_id)) == table.turns == 400


async def test_a_runner_that_stops_leaves_its_tables_to_others_at_once(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table("free-table", seats=2, rounds="100")
        await eventually(lambda: office.runner.counts.turns > 10)
        await office.runner.stop()
        assert not office.runner._tables
        stopped = (await office.table(table_id)).turns
        assert stopped < 200
        assert len(await office.store.jobs.claim(office.keeper.now() + 1, 0, 5)) == 1
        async with an_office(valkey.url) as other:
            await other.finished(table_id)


async def test_people_alone_announce_nothing(valkey: Server) -> None:
    async with an_office(valkey.url, starts=False) as office:
        table_id = await office.a_table("free-table", seats=2, people=2)
        for seat in (1, 2, 1):
            await office.confirms(table_id, seat)
        assert await office.store.jobs.waiting() == 0


async def test_a_takeback_sets_the_bot_to_work_again(valkey: Server) -> None:
    async with an_office(valkey.url) as office:
        table_id = await office.a_table("free-table", seats=2, people=1, bots="greedy")
        await eventually(lambda: office.runner.counts.turns == 1)
        await office.confirms(table_id, 2)
        await eventually(lambda: office.runner.counts.turns == 2)
        table = await office.table(table_id)
        await office.does(
            table_id,
            commands.TakeBack(by=token_of(2), seat=2, expected_revision=table.revision),
        )
        assert (await office.table(table_id)).turns == 1
        await office.confirms(table_id, 2)
        await eventually(lambda: office.runner.counts.turns == 3)
        assert (await office.table(table_id)).turns == 3
