"""An emulated board as a process of its own, and what is left when it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tableturn_bridge.virtual.remote import PanelProcess
from tests.bridge.virtual.play import exists
from tests.bridge.virtual.test_pty import host_at
from tests.support import boards


@pytest.fixture(autouse=True)
def made() -> None:
    """The firmware and the emulator are there."""
    boards.firmware(3)
    boards.emulator()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a name that is short enough for sockets in folders of it."""
    with TemporaryDirectory(prefix="tt-") as name:
        yield Path(name)


async def test_a_host_and_a_finger_in_other_processes(tmp_path: Path) -> None:
    async with PanelProcess(tmp_path, emulated=True, buttons=3, uid=9, greeting=True) as panel:
        async with host_at(str(panel.link)) as host:
            await panel.wait_lamp(1, ["TURN"], 20)
            told = await panel.press(1, bounce=True, wait=True)
            assert (told["fate"], told["kind"]) == ("ACCEPTED", "PRESS")
            again = await panel.wait_lamp(1, ["TURN"], 20, told["released_at"])
            assert again["since"] >= told["released_at"]
            assert (await panel.chord(2, 1, wait=True))["kind"] == "CHORD"
            assert {event.number: event.kind for event in host.events} == {1: 1, 2: 3}
            await panel.reset("watchdog")
            await panel.wait_lamp(1, ["LINK_LOST", "TEST"], 20)
            await panel.wait_lamp(1, ["TURN"], 20)
            assert (await panel.log())["resets"]["WATCHDOG"] == 1
            assert (await panel.emulator("state"))["uid"] == "9"
        await panel.unplug()
        assert not exists(panel.link)
        assert {lamp["sign"] for lamp in await panel.lamps()} == {"DARK"}
        assert await panel.plug(tmp_path / "other") == str(tmp_path / "other")
    assert panel.process is not None
    assert panel.process.returncode == 0
    assert nothing_in(tmp_path)


def nothing_in(folder: Path) -> bool:
    return not list(folder.iterdir())


async def test_when_it_is_killed_its_emulator_ends_too(
    tmp_path: Path, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(short))
    async with PanelProcess(tmp_path, emulated=True, buttons=3) as panel:
        assert panel.process is not None
        panel.process.kill()
        await panel.process.wait()
        async with asyncio.timeout(20):
            while exists(panel.link):  # noqa: ASYNC110 - nobody tells when it goes
                await asyncio.sleep(0.01)
            while not nothing_in(short):  # noqa: ASYNC110 - its socket, and the folder of that
                await asyncio.sleep(0.01)
        async with PanelProcess(tmp_path, emulated=True, buttons=3):
            assert exists(panel.link)


def test_nobody_reads_what_it_says(tmp_path: Path) -> None:
    line = f"exec {sys.executable} -m tableturn_bridge.emulated --buttons 3 >&- </dev/null"
    with subprocess.Popen(
        ["sh", "-c", f"{line} --link {tmp_path}/panel"], stderr=subprocess.PIPE
    ) as process:
        end = time.monotonic() + 20
        while not exists(tmp_path / "panel") and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.terminate()
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
