"""A board with the real firmware, on an emulated chip, at a port that isn't as it should be.

What stands in the way is told by its name, nothing is harmed by it, and when it has gone the panel
works by itself.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tableturn_client.messages import ChangeKind
from tests.e2e.panels import WITHIN, Evening, Kind, bridge, evening, panel_of, until
from tests.e2e.processes import CommandLine, Service

pytestmark = pytest.mark.e2e


async def turns(at: Evening, number: int) -> None:
    """So many turns by presses, each accepted."""
    for _ in range(number):
        assert (await at.press(await at.asked())).fate == "ACCEPTED"


async def told_more(at: Evening, kind: str, before: int) -> None:
    """Wait until the bridge has told of it more often than before."""
    await until(lambda: len(at.bridge.told(kind)) > before, f"{kind} is told again")


@pytest.mark.timeout(300)
async def test_two_bridges_at_one_board(service: Service, tmp_path: Path) -> None:
    """The second one says who has it and does no harm; when the first is killed it takes over."""
    rules = ("rounds=8", "first_seat=1")
    async with evening(tmp_path, service.address, *rules, kind=Kind.EMULATED, uid=7) as at:
        await at.sit_down()
        await turns(at, 2)
        before = await at.panel.log()
        assert at.bridge.process is not None
        holder = f"(process {at.bridge.process.pid})"
        port = at.panel.link
        async with (
            bridge(tmp_path / "heir", service.address, port, machine=at.bridge.state) as heir,
            bridge(tmp_path / "stranger", service.address, port) as stranger,
        ):
            for other in (heir, stranger):
                told = await other.first("lost")
                assert (told["cause"], holder in told["sentence"]) == ("held-here", True)
                assert (await other.doctor(port))["cause"] == "held-here"
            await turns(at, 3)
            assert (await at.panel.log())["resets"] == before["resets"], "nobody else opened it"
            assert stranger.end() == 130

            at.bridge.kill()
            await heir.first("found")
            await turns(at, 3)
            assert [told["table_id"] for told in heir.told("table")] == at.tables
            assert heir.end() == 130
        log = await at.log(at.tables[0])
    seats = [entry.seat for entry in log if entry.kind == ChangeKind.CHANGE_KIND_CONFIRM]
    assert seats == [1, 2, 3, 1, 2, 3, 1, 2]


@pytest.mark.timeout(300)
async def test_the_wrong_speed(service: Service, tmp_path: Path) -> None:
    """Bridge and doctor call it by its name; at the right speed it works without a hand."""
    async with AsyncExitStack() as stack:
        panels = []
        for name in ("worked", "looked-at"):
            folder = tmp_path / name
            await asyncio.to_thread(folder.mkdir)
            panel = panel_of(Kind.EMULATED, folder, buttons=2, boot_ms=30, uid=7)
            panels.append(await stack.enter_async_context(panel))
            await panel.emulator("baud 57600")
        worked, other = panels
        home = tmp_path / "machine"
        working = await stack.enter_async_context(bridge(home, service.address, worked.link))
        finding, told = await asyncio.gather(working.doctor(other.link), working.first("lost"))
        assert (finding["cause"], finding["ok"]) == ("not-a-panel", False)
        assert "A panel speaks at 115200 baud." in finding["cure"]
        assert told["cause"] == "not-a-panel"
        assert told["sentence"].startswith(f"{worked.link} sends ")
        assert told["sentence"].endswith("A panel speaks at 115200 baud.")
        assert not working.told("found")
        for panel in panels:
            await panel.wait_lamp(1, ["LINK_LOST"], WITHIN)
        assert (await other.press(1, wait=True))["fate"] == "NOT_ARMED"

        await worked.emulator("baud 115200")
        await working.first("found")
        for button in (1, 2):
            await worked.wait_lamp(button, ["FREE"], WITHIN)
        assert (await worked.press(1, wait=True))["fate"] == "ACCEPTED"
        assert working.end() == 130


@pytest.mark.case("H4")
@pytest.mark.timeout(300)
async def test_a_boot_loader_that_talks_and_takes_its_time(
    service: Service, tmp_path: Path
) -> None:
    """As on a real board: its port is opened, and for more than a second it is no panel."""
    async with (
        panel_of(Kind.EMULATED, tmp_path, buttons=2, boot_ms=1500, greeting=True, uid=7) as panel,
        bridge(tmp_path / "machine", service.address, panel.link) as working,
    ):
        await working.first("found")
        for button in (1, 2):
            await panel.wait_lamp(button, ["FREE"], WITHIN)
        await panel.reset("external")
        await until(lambda: len(working.told("found")) > 1, "it is found again")
        await panel.wait_lamp(1, ["FREE"], WITHIN)
        assert (await panel.press(1, wait=True))["fate"] == "ACCEPTED"
        assert working.end() == 130
        finding = await working.doctor(panel.link)
        assert finding["ok"]
        assert finding["sentence"].startswith(f"panel 7 at {panel.link} works: firmware 1.0 ")
        assert "2 buttons and a master button" in finding["sentence"]
        assert "started by its reset line" in finding["sentence"]


@pytest.mark.case("H1", "H2", "H6")
@pytest.mark.timeout(300)
async def test_a_number_that_outlives_the_plug(service: Service, tmp_path: Path) -> None:
    """A board without a number is given one, keeps it without power, and finds its table again."""
    async with evening(tmp_path, service.address, "rounds=9", kind=Kind.EMULATED) as at:
        await at.sit_down()
        given = (await at.panel.state())["uid"]
        assert given
        for _ in range(3):
            await turns(at, 1)
            lost, found = (len(at.bridge.told(kind)) for kind in ("lost", "found"))
            await at.panel.unplug()
            await told_more(at, "lost", lost)
            await at.panel.plug()
            await told_more(at, "found", found)
        await turns(at, 1)
        assert {(told["panel_uid"], told["virtual"]) for told in at.bridge.told("found")} == {
            (given, False)
        }
        assert len(at.bridge.told("table")) == 1
        assert at.bridge.end() == 130
        host = CommandLine(at.bridge.state, service.address)
        (panel,) = host.json("panel", "status", at.tables[0])["panels"]
        assert panel["panel_uid"] == given
