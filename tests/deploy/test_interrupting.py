"""`make firmware`, `make emulator` and `make flash` end in order, and flashing says what failed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.bootloader import BootLoader
from tests.deploy.interrupting import Ran, interrupted, is_running, stand_in
from tests.meta.tree import ROOT

PANEL = ROOT / "deploy/panel"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
END_OF_FILE = ":00000001FF\n"


@pytest.fixture
def hex_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.hex"
    path.write_text(END_OF_FILE)
    return path


def flash(board: BootLoader, file: Path) -> list[str | Path]:
    return [sys.executable, PANEL / "flash.py", "--port", board.port, "--hex", file]


def first_in_path(folder: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def hangs(name: str, folder: Path, *, stubborn: bool = False) -> Path:
    """A program that doesn't end of itself; the file that will hold its number."""
    number = folder / "number"
    ignore = "trap '' TERM INT HUP; " if stubborn else ""
    stand_in(folder / name, f'{ignore}echo $$ > "{number}"; exec sleep 1000')
    return number


def check_ended_in_order(ran: Ran, number: Path) -> None:
    assert ran.returncode == 130, ran
    assert ran.stderr == "tableturn: interrupted; run it again\n"
    assert not is_running(int(number.read_text()))


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_flashing_that_is_interrupted_leaves_no_avrdude(
    tmp_path: Path, hex_file: Path, number: signal.Signals
) -> None:
    at = hangs("avrdude", tmp_path)
    with BootLoader() as board:
        ran = interrupted(flash(board, hex_file), number, at=at, env=first_in_path(tmp_path))
    check_ended_in_order(ran, at)


def test_an_avrdude_that_does_not_listen_is_ended_too(tmp_path: Path, hex_file: Path) -> None:
    at = hangs("avrdude", tmp_path, stubborn=True)
    with BootLoader() as board:
        ran = interrupted(
            flash(board, hex_file), signal.SIGTERM, at=at, env=first_in_path(tmp_path)
        )
    check_ended_in_order(ran, at)


@pytest.mark.parametrize("number", SIGNALS[:2], ids=lambda number: number.name)
@pytest.mark.parametrize("name", ["firmware", "emulator"])
def test_compiling_that_is_interrupted_leaves_no_make(
    tmp_path: Path, name: str, number: signal.Signals
) -> None:
    at = hangs("make", tmp_path)
    command: list[str | Path] = [sys.executable, PANEL / f"{name}.py"]
    ran = interrupted(command, number, at=at, env=first_in_path(tmp_path), group=True)
    check_ended_in_order(ran, at)


# ---------------------------------------------------------------- what flashing says


def flash_with(avrdude: str, folder: Path, file: Path) -> Ran:
    stand_in(folder / "avrdude", avrdude)
    with BootLoader() as board:
        return subprocess.run(
            flash(board, file),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=first_in_path(folder),
        )


@pytest.mark.parametrize(
    ("avrdude", "code"), [("exit 3", "3"), ("kill -9 $$", "-9")], ids=["exit", "killed"]
)
def test_an_avrdude_that_fails_without_a_word_is_said(
    tmp_path: Path, hex_file: Path, avrdude: str, code: str
) -> None:
    ran = flash_with(avrdude, tmp_path, hex_file)
    assert ran.returncode == 1
    assert f"it doesn't say why; its exit code is {code}." in ran.stderr


def test_what_avrdude_says_is_told(tmp_path: Path, hex_file: Path) -> None:
    ran = flash_with("echo; echo 'the cable is hot'; exit 1", tmp_path, hex_file)
    assert ran.returncode == 1
    assert ran.stderr == "tableturn: avrdude could not write it:\nthe cable is hot\n"


def test_an_avrdude_that_is_no_program_is_said(tmp_path: Path, hex_file: Path) -> None:
    (tmp_path / "avrdude").write_text("no program")
    (tmp_path / "avrdude").chmod(0o755)
    with BootLoader() as board:
        ran = subprocess.run(
            flash(board, hex_file),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={"PATH": str(tmp_path)},
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith("tableturn: avrdude can't be run: ")


@pytest.mark.parametrize("name", ["missing.hex", "."], ids=["missing", "folder"])
def test_a_file_that_can_not_be_read_is_said(tmp_path: Path, name: str) -> None:
    ran = flash_with("exit 0", tmp_path, tmp_path / name)
    assert ran.returncode == 1
    assert f"tableturn: there is no file {tmp_path / name} that can be read" in ran.stderr
