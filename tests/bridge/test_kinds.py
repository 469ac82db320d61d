"""What holds for panels of either kind: a model, or the real firmware on an emulated board."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import pytest

from tableturn_bridge import frames
from tableturn_bridge.emulated.panel import EmulatedPanel
from tableturn_bridge.protocol import Hello
from tableturn_bridge.virtual.pty import VirtualPanel
from tests.bridge.emulated.test_panel import emulated
from tests.bridge.virtual.play import until
from tests.bridge.virtual.test_pty import host_at
from tests.support import boards

PATIENCE = 20

AnyPanel = VirtualPanel | EmulatedPanel
Make = Callable[..., AbstractAsyncContextManager[AnyPanel]]


@pytest.fixture(params=["virtual", "emulated"])
def kind(request: pytest.FixtureRequest) -> str:
    """The module of a kind of panel, which is there."""
    kind = str(request.param)
    if kind == "emulated":
        boards.firmware(3)
        boards.emulator()
    return kind


@pytest.fixture
def make(kind: str) -> Make:
    """Makes a panel of that kind."""
    return VirtualPanel if kind == "virtual" else emulated


@pytest.mark.parametrize(
    "wrong",
    [
        lambda panel: panel.press(5),
        lambda panel: panel.press(-1),
        lambda panel: panel.chord(1, 1),
        lambda panel: panel.chord(1, 5),
        lambda panel: panel.chord(0, 1),
        lambda panel: panel.wait_lamp(0, ["TURN"], 1),
        lambda panel: asyncio.to_thread(panel.down, 7),
    ],
)
async def test_buttons_that_are_not_there(
    make: Make, wrong: Callable[[AnyPanel], Awaitable[object]]
) -> None:
    async with make(4) as panel:
        with pytest.raises(ValueError, match="button"):
            await wrong(panel)


async def test_a_plain_reader_of_the_file_gets_eio_when_it_is_unplugged(make: Make) -> None:
    async with make(2, boot_ms=0) as panel:
        port = os.open(panel.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            heard: list[object] = []
            decoder = frames.Decoder()

            def has_heard() -> bool:
                with suppress(BlockingIOError):
                    heard.extend(decoder.feed(os.read(port, 100)))
                return bool(heard)

            await until(has_heard)
            assert isinstance(heard[0], Hello)
            assert panel.board.resets["EXTERNAL"] == 1
            panel.unplug()
            with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is asserted below
                os.write(port, b"x")
            assert caught.value.errno == errno.EIO
        finally:
            os.close(port)


async def test_presses_arrive_exactly_once_on_a_bad_line(make: Make) -> None:
    async with make(4, uid=9, seed=3) as panel, host_at(panel.path) as host:
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        panel.set_noise(0.01)
        for number in range(20):
            told = await panel.press(1 + number % 4, ms=20, wait=True)
            assert told is not None
            assert told.fate == "ACCEPTED"
        assert {event.number for event in host.events} == set(range(1, 21))
        with pytest.raises(ValueError, match="share"):
            panel.set_noise(1.5)


# ---------------------------------------------------------------- as processes of their own


def command(kind: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"tableturn_bridge.{kind}", "--buttons=3", *arguments]


def started(kind: str, folder: Path, stdin: int) -> subprocess.Popen[bytes]:
    arguments = (f"--link={folder / 'panel'}", f"--control={folder / 'control'}")
    process = subprocess.Popen(command(kind, *arguments), stdin=stdin, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{folder / 'panel'}\n".encode()
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing_behind(kind: str, number: int, tmp_path: Path) -> None:
    with started(kind, tmp_path, stdin=subprocess.DEVNULL) as process:
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
    assert not list(tmp_path.iterdir())


def test_it_ends_with_whoever_started_it(kind: str, tmp_path: Path) -> None:
    with started(kind, tmp_path, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    assert not list(tmp_path.iterdir())


def is_refused(arguments: list[str], sentence: str) -> None:
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in (1, 2)
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("--control=/no/such/control", "there is no folder /no/such"),
        ("--control={}", "is a folder"),
        ("--link={}/file", "is a file already"),
        ("--link={}/no/panel", "can't lead to the port"),
        ("--control={}/file", "is a file already"),
        ("--buttons=9", "2<=x<=6"),
        ("--noise=3", "0<=x<=1"),
    ],
)
def test_bad_arguments_are_a_sentence(
    kind: str, argument: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    is_refused(command(kind, argument.format(tmp_path)), sentence)


@pytest.mark.parametrize("kind", ["emulated"], indirect=True)
def test_a_program_that_is_none(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    is_refused(command(kind, f"--elf={tmp_path}/file"), "is no firmware")
