"""A game of an evening at a panel alone: with a clock, with an absence policy, through outages.

No device follows the table. What the service or its store miss is made up for, and nobody pays
for it with their time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from tableturn.v1 import table_pb2
from tableturn.v1.company_pb2 import PresenceState
from tableturn.v1.table_pb2 import ChangeKind, LogEntry, TableStatus
from tableturn_bridge.virtual.remote import PanelProcess
from tableturn_client import connect
from tests.e2e.calls import Connection, new_id
from tests.e2e.panels import ASKED, WITHIN, Evening, bridge, until
from tests.e2e.playing import pick
from tests.e2e.processes import Service
from tests.e2e.tables import Table, gapless

pytestmark = pytest.mark.e2e

BOTH = (1, 2)
GRACE = 5
"""Seconds: the shortest grace there is."""
THRESHOLD = 5.0
"""Seconds: a service that is away for longer charges nobody for it."""


@contextlib.asynccontextmanager
async def at_the_panel(
    own: Service, home: Path, *arguments: str
) -> AsyncIterator[tuple[Evening, Table]]:
    """Two people at one panel that has made its own table; no turn has been taken yet."""
    settings = ("--clock", "10m + 1s", "--absence", "bot", "--grace", f"{GRACE}s")
    async with (
        PanelProcess(home, buttons=len(BOTH), boot_ms=30) as panel,
        bridge(home / "machine", own.address, panel.link, *settings, *arguments) as working,
        connect(own.address) as client,
    ):
        at = Evening(own.address, panel, working, client)
        await at.sit_down(BOTH)
        with Connection(own.address) as connection:
            yield at, Table(connection, at.tables[-1])
        assert at.bridge.end() == 130


async def turn_of(at: Evening) -> int:
    """The button whose lamp asks for a press, as soon as one does."""

    async with asyncio.timeout(WITHIN):
        while True:
            for button, lamp in enumerate(await at.panel.lamps(), 1):
                if lamp["sign"] in ASKED:
                    return button
            await asyncio.sleep(0.01)


Trouble = Callable[[], Awaitable[None]]


async def play(
    at: Evening, turns: int, during: dict[int, Trouble], between: dict[int, Trouble]
) -> None:
    """So many turns by presses alone; trouble during the press of a turn, or before it."""
    for number in range(1, turns + 1):
        if number in between:
            await between[number]()
        expected = 2 - number % 2
        while await turn_of(at) == expected:
            press = asyncio.create_task(at.press(expected))
            if number in during:
                await during.pop(number)()
            if (await press).fate == "ACCEPTED":
                break
        if number < turns:
            await at.panel.wait_lamp(3 - expected, ASKED, WITHIN)


def spans(log: list[LogEntry]) -> float:
    """Seconds from the start of the game to its end."""
    start = next(e for e in log if e.kind == ChangeKind.CHANGE_KIND_START)
    end = [e for e in log if e.kind == ChangeKind.CHANGE_KIND_CONFIRM][-1]
    return (end.time.ToNanoseconds() - start.time.ToNanoseconds()) / 1e9


def charged(table: Table) -> float:
    """Seconds that all seats together have been charged."""
    return sum(seat.clock.used.ToNanoseconds() for seat in table.view().seats) / 1e9


def all_here(table: Table) -> bool:
    """Nobody is shown away."""
    request = table_pb2.GetTableRequest(table_id=table.table_id)
    answer: table_pb2.GetTableResponse = table.call("GetTable", request, repeat=True)
    states = [seat.state for seat in answer.presence.seats]
    assert PresenceState.PRESENCE_STATE_AWAY not in states
    return states == [PresenceState.PRESENCE_STATE_HERE] * 2


def nobody_was_taken_over(log: list[LogEntry]) -> bool:
    allowed = {
        ChangeKind.CHANGE_KIND_CREATE,
        ChangeKind.CHANGE_KIND_PANEL,
        ChangeKind.CHANGE_KIND_TAKE_SEAT,
        ChangeKind.CHANGE_KIND_START,
        ChangeKind.CHANGE_KIND_CONFIRM,
        ChangeKind.CHANGE_KIND_OUTAGE,
    }
    return {entry.kind for entry in log} <= allowed


@pytest.mark.case("R6", "S3")
@pytest.mark.timeout(300)
async def test_a_game_of_a_hundred_turns_at_a_panel_alone(own: Service, tmp_path: Path) -> None:
    """Service and store are killed in the middle, and the power is off for a while."""
    turns = 100
    rules = ("--option", f"rounds={turns // 2}", "--option", "first_seat=1")
    async with at_the_panel(own, tmp_path, *rules) as (at, table):

        async def service_is_killed() -> None:
            own.kill()
            await asyncio.to_thread(own.start)

        async def store_is_killed() -> None:
            own.kill_valkey()

        async def power_is_off_for_a_while() -> None:
            """Longer than the threshold, and than the grace."""
            own.kill()
            await at.panel.wait_lamp(1, ["SERVICE_LOST"], WITHIN)
            await asyncio.sleep(THRESHOLD + 1)
            await asyncio.to_thread(own.start)
            await at.panel.wait_lamp(1, [*ASKED, "NEXT"], WITHIN)
            await until(lambda: all_here(table), "both are there")

        await play(
            at,
            turns,
            during={30: service_is_killed, 60: store_is_killed},
            between={80: power_is_off_for_a_while},
        )
        await until(
            lambda: table.view().status == TableStatus.TABLE_STATUS_FINISHED, "the game is over"
        )
        log = table.log()
        confirmed = [e for e in log if e.kind == ChangeKind.CHANGE_KIND_CONFIRM]
        assert [e.seat for e in confirmed] == [1, 2] * (turns // 2)
        assert [e.turn for e in confirmed] == list(range(1, turns + 1))
        assert at.accepted <= turns <= at.accepted + at.unknown
        assert gapless(log)
        assert nobody_was_taken_over(log), log
        # One outage was so long that nobody pays for it, and all other time was somebody's.
        excused = [e for e in log if e.kind == ChangeKind.CHANGE_KIND_OUTAGE]
        assert excused
        assert spans(log) - charged(table) > THRESHOLD
        assert charged(table) < spans(log)
        print(f"{spans(log):.1f} s, of which {charged(table):.1f} s were charged")


# ---------------------------------------------------------------- a game with pieces of its own


async def stages(host: Table, seat: int, random: Random) -> None:
    """The host lays a turn for a seat, step by step, as the people at the table say."""
    mine = Table(host.connection, host.table_id, host.token, seat)
    while True:
        asked = mine.actions()
        if asked.prompt.can_confirm and (not asked.choices or random.random() < 0.4):
            return
        action = pick(random.choice(asked.choices), random)
        request = table_pb2.ActRequest(
            table_id=host.table_id,
            request_id=new_id(),
            seat=seat,
            expected_revision=asked.revision,
            actions=[action],
        )
        await asyncio.to_thread(mine.call, "Act", request, repeat=True)


@pytest.mark.nightly
@pytest.mark.case("R6", "S3")
@pytest.mark.timeout(900)
async def test_eastern_wonders_at_a_panel_alone(own: Service, tmp_path: Path) -> None:
    """A hundred turns, each confirmed by a button; service and store are killed again and again."""
    random = Random(6)

    def confirmed() -> list[LogEntry]:
        return [e for e in table.log() if e.kind == ChangeKind.CHANGE_KIND_CONFIRM]

    async with at_the_panel(own, tmp_path, "--game", "eastern-wonders") as (at, table):
        host = Table(table.connection, table.table_id, at.host_token)
        held = rounds = 0
        while len(confirmed()) < 100:
            rounds += 1
            if rounds % 10 == 5:
                own.kill()
                await asyncio.to_thread(own.start)
            elif rounds % 10 == 9:
                own.kill_valkey()
            view = table.view()
            assert view.status == TableStatus.TABLE_STATUS_RUNNING
            seat = view.prompts[0].seat
            await stages(host, seat, random)
            await at.shows(table.view())
            button = list(view.panels[0].seats).index(seat) + 1
            await at.panel.wait_lamp(button, ASKED, WITHIN)
            # A press ends no turn in which nothing was done: that needs holding.
            if (await at.press(button)).fate == "REJECTED":
                held += (await at.panel.hold(button, wait=True))["fate"] == "ACCEPTED"
        log = table.log()
        assert gapless(log)
        assert [e.turn for e in confirmed()] == list(range(1, len(confirmed()) + 1))
        assert at.accepted + held <= len(confirmed()) <= at.accepted + at.unknown + held
        assert not [e for e in log if e.kind == ChangeKind.CHANGE_KIND_STAND_IN]
        await until(lambda: all_here(table), "both are there")
