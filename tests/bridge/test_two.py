"""Two bridges on one panel, two panels on one table, and tables that a panel has no place at."""

from __future__ import annotations

import shutil

import pytest

from tableturn_bridge.sitting import Wish
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_client import Table, connect
from tableturn_client.credentials import Credential, key
from tableturn_client.errors import NoCredentials, NotPermitted, UnknownTable
from tableturn_client.messages import ChangeKind
from tests.bridge.evening import QUICK, Evening, until

OPEN = Wish(options={"first_seat": "1"})


async def hosted(evening: Evening, seats: int = 2, **options: str) -> Table:
    """A table whose host's token is kept on this machine."""
    options = {"first_seat": "1", **options}
    new = await evening.client.new_table("free-table", seats=seats, options=options)
    evening.machine.credentials.put(
        Credential(key(evening.server), new.table.table_id, "host", new.table.token)
    )
    return new.table


# ---------------------------------------------------------------- two bridges on one panel


async def test_of_two_bridges_on_one_panel_the_second_says_who_holds_it(evening: Evening) -> None:
    """Two machines with the same token, and two boards that claim to be the same panel."""
    elsewhere = evening.another_machine("elsewhere")
    async with VirtualPanel(2, uid=7, boot_ms=0) as twin:
        async with evening.panel(buttons=2, wish=OPEN) as panel:
            await panel.begin()
            shutil.copytree(evening.machine.home, elsewhere.home)
            async with evening.bridge(twin, machine=elsewhere, name="kitchen") as second:
                await second.shows("ELSEWHERE", "ELSEWHERE")
                await second.says(evening.machine.credentials.machine())
                assert second.armed_now == []
                await panel.turn(1)
                assert await second.chord(1, 2) is Fate.REJECTED
                await panel.shows("NEXT", "TURN")
                assert second.told("refused")[0].details["reason"] == "PANEL_HELD"
        # The first one has let go of it.
        async with evening.bridge(twin, machine=elsewhere, name="kitchen") as second:
            await second.shows("NEXT", "TURN")
            await second.turn(2)


async def test_of_two_bridges_on_one_machine_the_second_is_told_so(evening: Evening) -> None:
    async with (
        VirtualPanel(2, uid=7, boot_ms=0) as twin,
        evening.panel(buttons=2, wish=OPEN) as panel,
    ):
        await panel.begin()
        async with evening.bridge(twin) as second:
            await until(lambda: bool(second.told("lost")))
            assert not second.told("found")
            await panel.turn(1)


# ---------------------------------------------------------------- two panels on one table


async def test_two_panels_serve_different_seats_of_one_table(evening: Evening) -> None:
    table = await hosted(evening, seats=4)
    async with (
        evening.panel(buttons=2, uid=7, wish=Wish(table.table_id)) as left,
        evening.panel(buttons=2, uid=8, wish=Wish(table.table_id, seats=(0, 0))) as right,
    ):
        await left.shows("FREE", "FREE")
        await right.shows("FREE", "FREE")
        await left.sit_down_all()
        await right.sit_down_all()
        assert await right.hold(1) is Fate.ACCEPTED
        await left.shows("TURN", "NEXT")
        await right.shows("OFF", "OFF")
        await left.turn(1)
        await left.turn(2)
        await right.shows("TURN", "NEXT")
        await right.turn(1)
        await right.turn(2)
        await left.shows("TURN", "NEXT")
        seats = {panel.uid: tuple(panel.seats) for panel in left.view.panels}
        assert seats == {7: (1, 2), 8: (3, 4)}


async def test_a_second_panel_gets_the_seats_that_the_first_one_left(evening: Evening) -> None:
    table = await hosted(evening, seats=4)
    async with evening.panel(buttons=2, uid=7, wish=Wish(table.table_id, seats=(3, 1))) as left:
        await left.shows("FREE", "FREE")
        async with evening.panel(buttons=2, uid=8, wish=Wish(table.table_id)) as right:
            await right.shows("FREE", "FREE")
            seats = {panel.uid: tuple(panel.seats) for panel in right.view.panels}
            assert seats == {7: (3, 1), 8: (2, 4)}


@pytest.mark.parametrize("seats", [(2, 1), None])
async def test_a_panel_for_seats_of_another_one_is_refused_in_words_and_waits(
    evening: Evening, seats: tuple[int, ...] | None
) -> None:
    table = await hosted(evening)
    async with evening.panel(buttons=2, uid=7, wish=Wish(table.table_id)) as first:
        await first.begin()
        async with evening.panel(buttons=2, uid=8, wish=Wish(table.table_id, seats)) as second:
            await second.shows("ELSEWHERE", "ELSEWHERE")
            assert second.armed_now == []
            assert len(second.told("elsewhere")) == 1
            await second.says("panel 7" if seats else "another panel")
            await first.turn(1)
            await table.detach_panel(7)
            await first.shows("ELSEWHERE", "ELSEWHERE")
            await second.shows(*(("TURN", "NEXT") if seats else ("NEXT", "TURN")))


# ---------------------------------------------------------------- no place


async def test_a_panel_that_was_taken_off_says_so_and_comes_back_when_it_is_put_there_again(
    evening: Evening,
) -> None:
    table = await hosted(evening)
    async with evening.panel(buttons=2, wish=Wish(table.table_id)) as panel:
        await panel.begin()
        await table.detach_panel(7)
        await panel.shows("ELSEWHERE", "ELSEWHERE")
        kept = evening.machine.credentials.panel_of(evening.server, table.table_id, 7)
        assert kept is not None
        await table.attach_panel(7, kept.token, (1, 2))
        await panel.shows("TURN", "NEXT")
        await panel.turn(1)


async def test_an_unknown_table_ends_the_bridge_with_its_words(evening: Evening) -> None:
    async with evening.panel(wish=Wish("no-such-table")) as panel:
        await panel.ends_with(UnknownTable, "no-such-table")


async def test_a_table_of_somebody_elses_tells_how_its_host_puts_the_panel_there(
    evening: Evening,
) -> None:
    async with connect(evening.address, retry=QUICK) as stranger:
        new = await stranger.new_table("free-table", seats=2)
    async with evening.panel(buttons=2, wish=Wish(new.table.table_id)) as panel:
        await panel.ends_with(NoCredentials, "--token")
    token = new.table.token
    async with evening.panel(buttons=2, wish=Wish(new.table.table_id, token=token)) as panel:
        await panel.shows("FREE", "FREE")
    async with evening.panel(buttons=2, wish=Wish(new.table.table_id)) as panel:
        await panel.at_table()


async def test_a_wrong_token_is_refused(evening: Evening) -> None:
    table = await hosted(evening)
    wish = Wish(table.table_id, token="a-token-that-opens-nothing")
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.ends_with(NotPermitted, "token")


async def test_every_press_is_in_the_log_of_its_table_once(evening: Evening) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        await panel.turn(1)
        kinds = [entry.kind for entry in await panel.log()]
        kind = ChangeKind
        assert kinds == [
            kind.CHANGE_KIND_CREATE,
            kind.CHANGE_KIND_PANEL,
            kind.CHANGE_KIND_TAKE_SEAT,
            kind.CHANGE_KIND_TAKE_SEAT,
            kind.CHANGE_KIND_START,
            kind.CHANGE_KIND_CONFIRM,
        ]
