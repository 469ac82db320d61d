"""What may come between: the service or the bridge stops, the panel is unplugged, time passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tableturn_bridge.lease import EVERY
from tableturn_bridge.protocol import RESEND, RESEND_SEEN, Event, Result
from tableturn_bridge.sitting import Wish
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.lights import RUN
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_client.errors import UnknownTable
from tableturn_client.messages import ChangeKind, Occupant, PanelStatus
from tableturn_server.store import LEASE_MS
from tests.bridge.evening import WITHIN, AtPanel, Evening, HandClock, Service, pressed, until
from tests.store.support import Server

CONFIRM = ChangeKind.CHANGE_KIND_CONFIRM
OPEN = Wish(options={"first_seat": "1"})
FASTER = 10
"""So much faster than usual the lease of a panel ends, and is renewed."""
LEASES = 5


@pytest.fixture
async def service(valkey: Server) -> AsyncIterator[Service]:
    async with Service(valkey.url) as service:
        yield service


@pytest.fixture
async def evening(service: Service, tmp_path: Path) -> AsyncIterator[Evening]:
    async with Evening(service.address, tmp_path / "home") as evening:
        yield evening


async def confirmed(panel: AtPanel) -> list[int]:
    return [entry.seat for entry in await panel.log() if entry.kind == CONFIRM]


# ---------------------------------------------------------------- the service


@pytest.mark.case("R8")
async def test_while_the_service_is_away_the_lamps_say_so_and_then_are_right_again(
    evening: Evening, service: Service
) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        await service.stop()
        await panel.shows("SERVICE_LOST", "SERVICE_LOST")
        assert panel.armed_now == []
        assert await panel.press(1) is Fate.NOT_ARMED
        await service.start()
        await panel.shows("TURN", "NEXT")
        await panel.turn(1)
        await panel.turn(2)
        assert await confirmed(panel) == [1, 2]
        assert len(panel.told("service_lost")) == len(panel.told("service_found")) == 1


async def test_a_bridge_that_is_started_before_the_service_waits_for_it(
    evening: Evening, service: Service
) -> None:
    await service.stop()
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.shows("SERVICE_LOST", "SERVICE_LOST")
        await panel.says("trying again")
        await service.start()
        await panel.shows("FREE", "FREE")
        await panel.begin()


async def test_a_gesture_that_finds_no_table_is_refused_in_the_end(
    evening: Evening, service: Service
) -> None:
    await service.stop()
    async with evening.panel(buttons=2, wish=OPEN, patience=0.5) as panel:
        await panel.shows("SERVICE_LOST", "SERVICE_LOST")
        assert await panel.master() is Fate.REJECTED
        await panel.says("there is no table to ask")
        await service.start()
        await panel.begin()
        assert not panel.view.paused


@pytest.mark.case("H8")
async def test_a_press_that_gets_no_answer_is_given_up_and_counts_for_nothing_later(
    evening: Evening, service: Service
) -> None:
    async with evening.panel(buttons=2, wish=OPEN, patience=0.5) as panel:
        await panel.begin()
        assert panel.work.bridge is not None
        panel.work.bridge._lost = lambda error: None  # type: ignore[method-assign]
        await service.stop()  # and the lamps haven't noticed
        assert await panel.press(1) is Fate.REJECTED
        await panel.says("no answer came")
        await service.start()
        assert await confirmed(panel) == []
        await panel.turn(1)
        assert await confirmed(panel) == [1]


@pytest.mark.case("R6")
async def test_a_hundred_turns_by_presses_only_with_a_restart_in_the_middle(
    evening: Evening, service: Service
) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        for turn in range(100):
            if turn == 50:
                await service.stop()
                await panel.shows("SERVICE_LOST", "SERVICE_LOST")
                await service.start()
            await panel.turn(1 + turn % 2)
        await panel.shows("TURN", "NEXT")
        assert await confirmed(panel) == [1, 2] * 50
        assert panel.work.counts.accepted == panel.board.board.fates["ACCEPTED"] == 103


async def test_a_panel_whose_table_is_gone_makes_a_new_one(
    evening: Evening, service: Service
) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        lost = panel.table.table_id
        await service.stop()
        await service.loses(lost)
        await service.start()
        await panel.shows("FREE", "FREE")
        await panel.says(f"the table {lost} is gone")
        assert panel.table.table_id != lost


async def test_a_bridge_for_one_table_ends_when_that_is_gone(
    evening: Evening, service: Service
) -> None:
    new = await evening.client.new_table("free-table", seats=2)
    table_id = new.table.table_id
    async with evening.panel(buttons=2, wish=Wish(table_id, token=new.table.token)) as panel:
        await panel.shows("FREE", "FREE")
        await service.stop()
        await service.loses(table_id)
        await service.start()
        await panel.ends_with(UnknownTable, table_id)


# ---------------------------------------------------------------- the bridge


@pytest.mark.case("H8")
async def test_a_press_whose_answer_the_bridge_took_with_it_counts_once(evening: Evening) -> None:
    """The service has the press, the panel has no answer yet, and the bridge is killed."""
    hand = HandClock()
    async with VirtualPanel(2, uid=7, boot_ms=0, opening_resets=False, now=hand) as board:
        async with evening.bridge(board, OPEN) as panel:
            await panel.begin()

            def says_nothing(event: Event, result: Result) -> None:
                pass

            panel.work._connection.answer = says_nothing  # type: ignore[method-assign]
            await board.press(1)
            await until(lambda: panel.view.turns == 1)
            await until(lambda: board.board.waiting == 1)
            hand.stop()  # so that it gives nothing up while there is no bridge
            await panel.heard()
        async with evening.bridge(board, OPEN) as panel:
            await panel.found()
            hand.passes(RESEND_SEEN)
            await until(lambda: board.board.fates["ACCEPTED"] == 4, "the answer")
            await panel.shows("NEXT", "TURN")
            assert await confirmed(panel) == [1]
            (told,) = panel.told("pressed")
            assert told.details["replayed"] is True


@pytest.mark.case("H8")
async def test_a_press_while_the_bridge_is_down_counts_for_no_later_turn(evening: Evening) -> None:
    hand = HandClock()
    async with VirtualPanel(2, uid=7, boot_ms=0, opening_resets=False, now=hand) as board:
        async with evening.bridge(board, OPEN) as panel:
            await panel.begin()
            hand.stop()  # so that it gives nothing up while there is no bridge
            await panel.heard()
            host = evening.machine.credentials.host(evening.server, panel.table.table_id)
            assert host is not None
            table_id = panel.table.table_id
        pressed(board, hand, 1)  # the lamps still show the turn
        await until(lambda: board.board.waiting == 1)
        table = evening.client.table(table_id, token=host.token)
        await table.pause()  # meanwhile something else happens, which is nothing to this seat
        await table.resume()
        async with evening.bridge(board, OPEN) as panel:
            await panel.found()
            hand.passes(RESEND[0])
            await panel.shows("NEXT", "TURN")
            assert await confirmed(panel) == [1]
            await until(lambda: board.board.fates["ACCEPTED"] == 4, "the answer")
            await panel.heard()
        pressed(board, hand, 2)
        await until(lambda: board.board.waiting == 1)
        await table.take_back(expected=(await table.view()).revision)
        async with evening.bridge(board, OPEN) as panel:
            await panel.found()
            hand.passes(RESEND[0])
            await panel.shows("TURN", "STALE")
            hand.passes(RUN)
            await panel.shows("TURN", "NEXT")
            assert board.board.fates["STALE"] == 1
            assert await confirmed(panel) == [1], "only what was confirmed before"


async def test_a_bridge_that_comes_back_goes_on_at_its_table(evening: Evening) -> None:
    async with VirtualPanel(3, uid=7, boot_ms=0) as board:
        async with evening.bridge(board, OPEN) as panel:
            await panel.begin()
            await panel.turn(1)
            table_id = panel.table.table_id
        async with evening.bridge(board) as panel:
            assert await panel.at_table() == table_id
            await panel.shows("OFF", "TURN", "NEXT")
        async with evening.bridge(board, Wish(fresh=True)) as panel:
            await panel.shows("FREE", "FREE", "FREE")
            assert panel.table.table_id != table_id


# ---------------------------------------------------------------- the panel


@pytest.mark.case("R7", "R8")
async def test_a_panel_that_is_unplugged_is_no_player_who_left(
    evening: Evening, tmp_path: Path
) -> None:
    async with (
        VirtualPanel(2, uid=7, boot_ms=0, link=tmp_path / "panel") as board,
        evening.bridge(board, OPEN) as panel,
    ):
        await panel.begin()
        board.unplug()
        await panel.says("is gone")
        assert [seat.occupant for seat in panel.view.seats] == [Occupant.OCCUPANT_PERSON] * 2
        host = evening.machine.credentials.host(evening.server, panel.table.table_id)
        assert host is not None
        seen = panel.view.revision
        await evening.client.table(panel.table.table_id, token=host.token).pause()
        await until(lambda: panel.view.revision > seen)
        board.plug()
        await panel.shows("PAUSED", "PAUSED")


@pytest.mark.case("R7")
async def test_a_player_who_thinks_for_long_is_there_all_the_time(
    valkey: Server, tmp_path: Path
) -> None:
    """Nothing is pressed and nothing changes: the bridge tells that it is there all the same.

    The service lends the panel for a short time here, and the bridge asks as much more often.
    """
    lease_ms = LEASE_MS // FASTER

    async def faster(seconds: float) -> None:
        await asyncio.sleep(seconds / FASTER)

    async with (
        Service(valkey.url, lease_ms=lease_ms) as service,
        Evening(service.address, tmp_path / "home") as evening,
        evening.panel(buttons=2, wish=OPEN, sleep=faster) as panel,
    ):
        await panel.begin()
        before = panel.view.revision
        first = await held(panel, 0)
        # Held so long after its first lease has ended, and many more.
        status = await held(panel, first.report_time.ToMilliseconds() + LEASES * lease_ms)
        report = status.report
        assert report.buttons == 2
        assert report.firmware == "1.0"
        assert report.gestures == report.accepted == 3
        assert panel.view.revision == before
        await panel.turn(1)


async def held(panel: AtPanel, since_ms: int) -> PanelStatus:
    """Wait until the service says that the panel is held, by what it heard after a time."""
    async with asyncio.timeout(WITHIN):
        while True:
            (status,) = await panel.table.panels()
            if status.held and status.report_time.ToMilliseconds() > since_ms:
                return status


def test_a_panel_is_held_again_long_before_its_lease_ends() -> None:
    assert EVERY * 1000 * 3 < LEASE_MS


async def test_another_panel_in_the_same_socket_gets_a_table_of_its_own(
    evening: Evening, tmp_path: Path
) -> None:
    link = tmp_path / "panel"
    async with (
        VirtualPanel(2, uid=7, boot_ms=0, link=link) as board,
        evening.bridge(board, OPEN) as panel,
    ):
        await panel.begin()
        first = panel.table.table_id
        board.unplug()
        await panel.says("is gone")
        async with VirtualPanel(3, uid=8, boot_ms=0, link=link) as other:
            await until(lambda: len(panel.told("found")) == 2)
            await until(lambda: [lamp.sign for lamp in other.lamps()] == ["FREE"] * 3)
            assert panel.table.table_id != first
