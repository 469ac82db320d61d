"""An emulated board as a process of its own, and what is left when it ends."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tableturn_bridge.virtual.remote import PanelProcess
from tests.bridge.virtual.play import exists
from tests.bridge.virtual.test_pty import host_at
from tests.support import boards

COMMAND = [sys.executable, "-m", "tableturn_bridge.emulated"]


@pytest.fixture(autouse=True)
def made() -> None:
    """The firmware and the emulator are there."""
    boards.firmware(3)
    boards.emulator()


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


def started(folder: Path) -> subprocess.Popen[bytes]:
    arguments = [f"--link={folder / 'panel'}", f"--control={folder / 'control'}", "--buttons=3"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"{folder / 'panel'}\n".encode()
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing_behind(number: int, tmp_path: Path) -> None:
    with started(tmp_path) as process:
        process.send_signal(number)
        assert process.wait(20) == 0
    assert nothing_in(tmp_path)


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    assert nothing_in(tmp_path)


async def test_when_it_is_killed_its_emulator_ends_too(tmp_path: Path) -> None:
    async with PanelProcess(tmp_path, emulated=True, buttons=3) as panel:
        assert panel.process is not None
        panel.process.kill()
        await panel.process.wait()
        async with asyncio.timeout(20):
            while exists(panel.link):  # noqa: ASYNC110 - nobody tells when it goes
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--link={}/file"], "file"),
        (["--link={}/no/panel"], "no/panel"),
        (["--control={}/file"], "is a file already"),
        (["--buttons=9"], "2<=x<=6"),
        (["--noise=3"], "0<=x<=1"),
        (["--elf={}/file", "--buttons=3"], "file"),
    ],
)
def test_bad_arguments_are_a_sentence(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    filled = [argument.format(tmp_path) for argument in arguments]
    ended = subprocess.run(
        [*COMMAND, *filled], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode in (1, 2)
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
