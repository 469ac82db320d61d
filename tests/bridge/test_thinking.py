"""Who thinks at a panel is there (R7), for as long as its bridge follows the table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tableturn.v1.company_pb2 import PresenceState
from tableturn_bridge.sitting import Wish
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_client import Absence, Clock, IfAway
from tableturn_client.messages import ChangeKind
from tests.bridge.evening import Evening
from tests.service.passing import World
from tests.service.support import serving
from tests.store.support import eventually, running_server

HOUR = 3600.0
GRACE = 5.0
"""The shortest one."""


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def timed(world: World, tmp_path: Path) -> AsyncIterator[Evening]:
    """An evening whose time passes as the test says; in its store nobody knows another time."""
    with running_server() as own:
        async with serving(own.url, clock=lambda: world.now) as running:
            world.running = running
            async with Evening(f"127.0.0.1:{running.port}", tmp_path / "home") as evening:
                yield evening


async def presence(evening: Evening, table_id: str) -> list[int]:
    """Who is there, as anybody sees it."""
    table = evening.client.table(table_id)
    await table.view()
    assert table.last_presence is not None
    return [seat.state for seat in table.last_presence.seats]


HERE, AWAY = PresenceState.PRESENCE_STATE_HERE, PresenceState.PRESENCE_STATE_AWAY


@pytest.mark.case("R6", "R7")
async def test_a_think_of_an_hour_at_the_panel_is_never_gone(
    timed: Evening, world: World, tmp_path: Path
) -> None:
    """Ann sat down with a phone that has gone since, Bob by pressing; both have a button.

    Only when the bridge has ended, nobody is there, and the game waits for the first of them.
    """
    wish = Wish(
        options={"first_seat": "1"},
        clock=Clock.increment(2 * HOUR, 10),
        absence=Absence(IfAway.BOT, GRACE),
    )
    async with (
        # Its name stays its own: while it is unplugged others take the number of its terminal.
        VirtualPanel(2, uid=7, boot_ms=0, link=tmp_path / "panel") as board,
        timed.bridge(board, wish) as panel,
    ):
        table_id = await panel.at_table()
        await panel.shows("FREE", "FREE")
        ann = await timed.client.table(table_id).take_seat("Ann")
        async with ann.watch() as watch:
            await anext(watch)
        kept = timed.machine.credentials.host(timed.server, table_id)
        assert kept is not None
        host = timed.client.table(table_id, token=kept.token)
        await host.attach_panel(7, panel.table.token, (1, 0))
        await panel.shows("SEATED", "FREE")
        assert await panel.press(2) is Fate.ACCEPTED
        await panel.shows("SEATED", "SEATED")
        assert await panel.hold(2) is Fate.ACCEPTED
        await panel.shows("TURN", "NEXT")
        await world.passes(HOUR)
        assert await presence(timed, table_id) == [HERE, HERE]
        assert [prompt.seat for prompt in panel.view.prompts] == [1]
        panel.board.unplug()
        await world.passes(HOUR / 4)
        assert await presence(timed, table_id) == [HERE, HERE]
        panel.board.plug()
        await panel.shows("TURN", "NEXT")
        assert await panel.press(1) is Fate.ACCEPTED
        await panel.shows("NEXT", "TURN")
        assert not [e for e in await panel.log() if e.kind == ChangeKind.CHANGE_KIND_STAND_IN]

    async def both_are_away() -> bool:
        return await presence(timed, table_id) == [AWAY, AWAY]

    await eventually(both_are_away)
    await world.passes(2 * GRACE)
    table = timed.client.table(table_id)
    assert not (await table.view()).seats[1].stand_in  # nobody is there to play with

    async def a_bot_plays_on() -> bool:
        return bool((await table.view()).seats[1].stand_in)

    async with ann.watch() as watch:  # her phone is found again
        await anext(watch)
        await world.passes(2 * GRACE)
        await eventually(a_bot_plays_on)
