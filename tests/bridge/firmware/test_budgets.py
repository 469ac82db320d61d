"""The firmware for the chip: every choice of buttons and pixels compiles, and is small enough."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tableturn_bridge.emulated.budgets import FLASH, STACK, STATIC_RAM
from tableturn_bridge.frames import encode
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import HelloRequest, Ping, SetUid, State
from tests.bridge.emulator.client import Emulator
from tests.support import boards

from .host import SOURCES, need


def sections(elf: Path) -> dict[str, int]:
    """The sizes of an ELF file's sections, as avr-size tells them."""
    need("avr-size")
    told = subprocess.run(["avr-size", "-A", elf], check=True, capture_output=True, text=True)
    lines = [line.split() for line in told.stdout.splitlines()]
    return {line[0]: int(line[1]) for line in lines if len(line) == 3 and line[1].isdigit()}


@pytest.mark.parametrize("pixels", [False, True], ids=["plain", "pixels"])
@pytest.mark.parametrize("buttons", range(2, 7))
def test_every_choice_is_within_its_budget(buttons: int, pixels: bool) -> None:
    sizes = sections(boards.firmware(buttons, pixels=pixels))
    data = sizes.get(".data", 0)
    ram = data + sizes.get(".bss", 0) + sizes.get(".noinit", 0)
    assert 0 < sizes[".text"] + data <= FLASH
    assert 0 < ram <= STATIC_RAM


def test_a_hex_file_is_beside_the_elf_file() -> None:
    elf = boards.firmware(4)
    hexadecimal = elf.with_suffix(".hex").read_text("ascii").splitlines()
    written = sum(int(line[1:3], 16) for line in hexadecimal if line[7:9] == "00")
    sizes = sections(elf)
    assert written == sizes[".text"] + sizes.get(".data", 0)


def test_the_same_sources_make_the_same_program(tmp_path: Path) -> None:
    """Also in another folder: nothing of when and where it was made is in it."""
    elf = boards.firmware(4)
    again = tmp_path / "panel-4.elf"
    subprocess.run(["make", "--silent", "-C", SOURCES, f"BUILD={tmp_path}", again], check=True)
    assert again.with_suffix(".hex").read_bytes() == elf.with_suffix(".hex").read_bytes()


@pytest.mark.parametrize("pixels", [False, True], ids=["plain", "pixels"])
def test_the_stack_is_within_its_budget(pixels: bool) -> None:
    """At the fullest board, with both directions of the line full and all buttons going."""
    patterns = (Pattern.PAUSED, Pattern.BETWEEN, Pattern.LOW, Pattern.NEXT, Pattern.FREE)
    lamps = tuple(lamp(each, color) for color, each in enumerate((*patterns, Pattern.TURN), 1))
    messages = [State(1, 57, 0b111111, 0, lamps, 0x10, 100), Ping(1), SetUid(7), Ping(2)]
    with Emulator(boards.firmware(6, pixels=pixels)) as board:
        board.ask("run 300000")
        board.ask("send " + encode(HelloRequest(1, 1, 0x5E55104E), 0).hex())
        for turn in range(40):
            button = turn % 6
            for message in messages:
                board.ask("send " + encode(message, turn).hex())
            board.ask(
                f"contact {button} {'closed' if turn % 12 < 6 else 'open'} bounces=6 every=300"
            )
            board.ask("run 40000")
        used = int(board.ask("stack")["used"])
        assert board.ask("state")["overruns"] == "0"
    assert 50 < used <= STACK
