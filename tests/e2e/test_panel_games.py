"""Whole games at a panel: each turn is confirmed by a button, and every lamp is waited for.

Service, Valkey, bridge and panel are processes of their own; the panel is the real firmware on an
emulated chip, or its model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tableturn_bridge.virtual.remote import PanelProcess
from tableturn_client import Seat, connect
from tableturn_client.messages import ChangeKind, LogEntry, TableStatus, TableView
from tableturn_client.seating import Confirmation
from tableturn_server.tables.log import text
from tests.bots.support import play_out
from tests.e2e.panels import ASKED, WITHIN, Kind, bridge, evening, panel_of
from tests.e2e.processes import CommandLine, Service
from tests.e2e.tables import gapless
from tests.rules.play import Table

pytestmark = pytest.mark.e2e

KINDS = [Kind.EMULATED, pytest.param(Kind.VIRTUAL, marks=pytest.mark.nightly)]
"""The virtual panel plays such games in other tests too."""


def points(view: TableView) -> list[tuple[int, int]]:
    """Who has how many points at the end, the winner first."""
    return [(result.seat, result.points) for result in view.outcome.results]


def confirmed(log: list[LogEntry]) -> list[LogEntry]:
    return [entry for entry in log if entry.kind == ChangeKind.CHANGE_KIND_CONFIRM]


# ---------------------------------------------------------------- Eastern Wonders


@dataclass
class Players:
    """Two people with a laptop and a phone each, and one panel that confirms for both."""

    host: CommandLine
    laptops: list[CommandLine]
    phones: list[Seat]
    table_id: str
    panel: PanelProcess

    async def stages(self, seat: int, texts: list[str], by_laptop: bool) -> None:
        """Somebody lays out a whole turn on a device of theirs, which can't confirm it."""
        if by_laptop:
            await asyncio.to_thread(self.laptops[seat - 1].json, "act", self.table_id, *texts)
            return
        phone = self.phones[seat - 1]
        await phone.view()
        await phone.act(*texts)

    async def turn(self, seat: int, texts: list[str], by_laptop: bool) -> None:
        """The lamp asks, a turn is staged, the lamp says so, and a press confirms it."""
        await self.panel.wait_lamp(seat, ["TURN"], WITHIN)
        await self.stages(seat, texts, by_laptop)
        await self.panel.wait_lamp(seat, ["STAGED"], WITHIN)
        other = await self.panel.lamps()
        assert other[2 - seat]["sign"] not in ASKED
        press = await self.panel.press(seat, 30, wait=True)
        assert (press["fate"], press["kind"]) == ("ACCEPTED", "PRESS")


@asynccontextmanager
async def two_at_a_panel(
    service: Service, home: Path, seed: bytes, kind: Kind
) -> AsyncIterator[Players]:
    """A table with a chosen seed; Ann and Bob sit there, and leave the last word to a panel."""
    host, ann, bob = (CommandLine(home / name, service.address) for name in ("host", "ann", "bob"))
    made = host.json("new", "eastern-wonders", "--seats", "2", "--seed", seed.hex(),
                     "--start-when-full")  # fmt: skip
    table_id = made["table_id"]
    for seat, (person, name) in enumerate(((ann, "Ann"), (bob, "Bob")), 1):
        person.json("join", table_id, name, "--seat", str(seat))
    async with (
        panel_of(kind, home, buttons=2, boot_ms=30, uid=7) as panel,
        bridge(home / "bridge", service.address, panel.link, "--table", table_id,
               machine=host.home) as working,
        connect(service.address) as client,
    ):  # fmt: skip
        phones = []
        for seat, person in enumerate((ann, bob), 1):
            (token,) = person.tokens()
            phones.append(client.seat(table_id, seat, token=token))
            await phones[-1].set_confirmation(Confirmation.PANEL)
        yield Players(host, [ann, bob], phones, table_id, panel)
        assert not working.told("refused")
        assert not working.told("lost")
        assert working.end() == 130


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", KINDS)
async def test_eastern_wonders_to_its_end(service: Service, tmp_path: Path, kind: Kind) -> None:
    """A game of two good players, known beforehand: with its seed it goes the same way here."""
    seed = (12).to_bytes(16, "big")
    known = Table("eastern-wonders", 2, seed=seed)
    game = play_out(known, "greedy")
    assert len(game) == 56
    outcome = known.game.outcome(known.confirmed)
    assert outcome is not None

    async with two_at_a_panel(service, tmp_path, seed, kind) as at:
        for number, actions in enumerate(game):
            view = await at.phones[0].view()
            (prompt,) = view.prompts
            await at.turn(prompt.seat, [text(one) for one in actions], by_laptop=number < 4)
        over = await at.phones[0].view()
        assert over.status == TableStatus.TABLE_STATUS_FINISHED
        winner = points(over)[0][0]
        await at.panel.wait_lamp(winner, ["WINNER"], WITHIN)
        state = await at.panel.state()
        log = [entry async for entry in at.phones[0].log()]
    assert points(over) == [(one.seat, one.points) for one in outcome.results]
    assert state["revision"] == over.revision
    assert gapless(log)
    turns = confirmed(log)
    assert [entry.turn for entry in turns] == list(range(1, len(game) + 1))
    staged = [
        one for entry in log if entry.kind == ChangeKind.CHANGE_KIND_STAGE for one in entry.texts
    ]
    assert staged == [text(one) for actions in game for one in actions]


# ---------------------------------------------------------------- a free table


@pytest.mark.case("R1", "R7")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_free_table_to_its_end(service: Service, tmp_path: Path, kind: Kind) -> None:
    """Five people, four rounds, all by their buttons: they sit down, begin and play to the end."""
    buttons, rounds = 5, 4
    everybody = tuple(range(1, buttons + 1))
    rules = (f"rounds={rounds}", "first_seat=1")
    async with evening(tmp_path, service.address, *rules, kind=kind, buttons=buttons) as at:
        await at.sit_down(everybody)
        for number in range(rounds * buttons):
            button = number % buttons + 1
            await at.panel.wait_lamp(button, ["TURN"], WITHIN)
            if number % 7 == 3:  # an elbow on another button: nothing is sent
                elbow = everybody[(button + 2) % buttons]
                assert (await at.panel.press(elbow, wait=True))["fate"] == "NOT_ARMED"
            assert (await at.press(button)).fate == "ACCEPTED"
        over = await at.view()
        assert over.status == TableStatus.TABLE_STATUS_FINISHED
        await at.shows(over)
        for button in everybody:
            await at.panel.wait_lamp(button, ["OFF", "WINNER"], WITHIN)
        log = await at.log(at.tables[0])
        pressed = at.bridge.told("pressed")
        assert at.bridge.end() == 130
    turns = confirmed(log)
    assert [entry.seat for entry in turns] == list(everybody) * rounds
    assert [entry.turn for entry in turns] == list(range(1, rounds * buttons + 1))
    assert gapless(log)
    # Five seats and the beginning besides the turns; each was told once.
    assert len(pressed) == buttons + 1 + rounds * buttons
    assert len({one["number"] for one in pressed}) == len(pressed)
