"""`make flash` with the real avrdude, against the model of a boot loader."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.deploy.bootloader import BootLoader, Command
from tests.meta.tree import ROOT
from tests.support.boards import firmware
from tests.support.wanted import missing

Ran = subprocess.CompletedProcess[str]
FLASH = ROOT / "deploy/panel/flash.py"


@pytest.fixture
def avrdude() -> None:
    if shutil.which("avrdude") is None:
        missing("the system package avrdude is missing")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A program of 300 bytes: two pages and a part of one."""
    program = bytes(number * 7 % 251 for number in range(300))
    path = tmp_path / "small.hex"
    path.write_text(intel_hex(program))
    return path


def intel_hex(program: bytes) -> str:
    lines = []
    for at in range(0, len(program), 16):
        data = program[at : at + 16]
        lines.append(bytes((len(data), *at.to_bytes(2, "big"), 0)) + data)
    lines.append(bytes((0, 0, 0, 1)))
    return "".join(f":{(line + bytes((-sum(line) & 0xFF,))).hex().upper()}\n" for line in lines)


def program_of(path: Path) -> bytes:
    """The bytes of a hex file that begins at 0 and has no gaps."""
    program = bytearray()
    for line in path.read_text().split():
        record = bytes.fromhex(line.removeprefix(":"))
        assert sum(record) & 0xFF == 0
        if record[3] == 0:
            assert int.from_bytes(record[1:3], "big") == len(program)
            program += record[4:-1]
    return bytes(program)


def flash(*arguments: str, env: Mapping[str, str] | None = None) -> Ran:
    return subprocess.run(
        [sys.executable, FLASH, *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        env=env,
    )


def in_flash(board: BootLoader, program: bytes) -> bool:
    """The board's flash holds the program, and nothing behind it."""
    rest = set(board.flash[len(program) :])
    return bytes(board.flash[: len(program)]) == program and rest == {0xFF}


@pytest.mark.usefixtures("avrdude")
def test_what_arrives_in_the_flash_is_the_firmware() -> None:
    """By the command that people type."""
    hex_file = firmware(3).with_suffix(".hex")
    with BootLoader() as board:
        ran = subprocess.run(
            ["make", "flash", f"PORT={board.port}", "BUTTONS=3"],
            check=False,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    assert ran.returncode == 0, ran
    assert "panel-3.hex is in the board" in ran.stdout
    assert in_flash(board, program_of(hex_file))
    assert board.mistakes == []
    assert board.heard[-1] is Command.LEAVE


@pytest.mark.usefixtures("avrdude")
@pytest.mark.parametrize("baud", [115200, 57600])
def test_a_boot_loader_of_either_speed_is_written(small: Path, baud: int) -> None:
    with BootLoader(baud) as board:
        ran = flash("--port", board.port, "--baud", str(baud), "--hex", str(small))
    assert ran.returncode == 0, ran
    assert in_flash(board, program_of(small))


@pytest.mark.usefixtures("avrdude")
def test_the_speed_of_an_older_nano_is_found(small: Path) -> None:
    with BootLoader(57600) as board:
        ran = flash("--port", board.port, "--hex", str(small))
    assert ran.returncode == 0, ran
    assert "at 115200 baud" in ran.stdout
    assert "at 57600 baud" in ran.stdout
    assert in_flash(board, program_of(small))


@pytest.mark.usefixtures("avrdude")
def test_a_byte_that_was_not_kept_is_noticed(small: Path) -> None:
    with BootLoader(worn=17) as board:
        ran = flash("--port", board.port, "--hex", str(small))
    assert ran.returncode == 1
    assert "avrdude could not write it" in ran.stderr
    assert "is in the board" not in ran.stdout


@pytest.mark.usefixtures("avrdude")
def test_another_chip_is_said_and_not_written(small: Path) -> None:
    with BootLoader(signature=bytes((0x1E, 0x95, 0x16))) as board:
        ran = flash("--port", board.port, "--hex", str(small))
    assert ran.returncode == 1
    assert "the chip is no ATmega328P, but has the signature 1e9516 (m328pb)" in ran.stderr
    assert "avrdude" not in ran.stderr
    assert set(board.flash) == {0xFF}


@pytest.mark.nightly
@pytest.mark.usefixtures("avrdude")
def test_a_board_that_does_not_answer_is_said(small: Path) -> None:
    with BootLoader(57600) as board:
        ran = flash("--port", board.port, "--baud", "115200", "--hex", str(small))
    assert ran.returncode == 1
    assert f"no boot loader answers at {board.port}" in ran.stderr
    assert set(board.flash) == {0xFF}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "say where the board is: make flash PORT=/dev/ttyUSB0"),
        (["--port", "/dev/no-such-port"], "there is no port /dev/no-such-port"),
        (["--port", str(FLASH)], f"{FLASH} is no serial port"),
        (["--port", "/dev/null"], "/dev/null is no serial port"),
        (["--port", "/dev/null", "--baud", "fast"], "BAUD is 115200, or 57600"),
        (["--buttons", "9"], "BUTTONS is 2 to 6, not 9"),
        (["--buttons", "four"], "BUTTONS is 2 to 6, not four"),
        (["--pixels", "true"], "PIXELS is yes or no, not true"),
    ],
    ids=["none", "missing", "file", "null", "baud", "nine", "word", "pixels"],
)
def test_a_port_that_can_not_be_is_said(arguments: list[str], sentence: str) -> None:
    ran = flash(*arguments)
    assert ran.returncode == 1
    assert f"tableturn: {sentence}" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_port_that_a_program_uses_is_left_alone(small: Path) -> None:
    with BootLoader() as board:
        used = os.open(board.port, os.O_RDWR | os.O_NOCTTY)
        try:
            ran = flash("--port", board.port, "--hex", str(small))
        finally:
            os.close(used)
    assert ran.returncode == 1
    assert f"{board.port} is used by" in ran.stderr
    assert f"process {os.getpid()}" in ran.stderr
    assert board.heard == []


def test_without_avrdude_its_package_is_named(small: Path, tmp_path: Path) -> None:
    with BootLoader() as board:
        ran = flash("--port", board.port, "--hex", str(small), env={"PATH": str(tmp_path)})
    assert ran.returncode == 1
    assert "avrdude is missing. Debian: sudo apt-get install avrdude" in ran.stderr


def test_a_firmware_that_is_not_there_is_said() -> None:
    ran = subprocess.run(
        ["make", "firmware", "BUTTONS=7"],
        check=False,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode != 0
    assert ran.stderr.splitlines()[0] == "tableturn: BUTTONS is 2 to 6, not 7"


def test_the_firmware_says_how_much_of_the_chip_it_takes() -> None:
    firmware(2)
    ran = subprocess.run(
        ["make", "firmware", "BUTTONS=2", "PIXELS=no"],
        check=True,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    told = re.fullmatch(
        r"build/firmware/panel-2\.hex: (\d+) of 8192 bytes of flash, (\d+) of 700 bytes of RAM\n",
        ran.stdout,
    )
    assert told, ran
    program = program_of(ROOT / "build/firmware/panel-2.hex")
    assert int(told[1]) == len(program)
