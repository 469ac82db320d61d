"""Compiles the firmware of a panel and says how much of the chip it takes: `make firmware`."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click
from interrupts import interruptible

from tableturn_bridge.emulated import budgets, building
from tableturn_bridge.protocol import FEWEST_BUTTONS, MOST_BUTTONS

FLASH, RAM = budgets.FLASH, budgets.STATIC_RAM
"""Bytes that the program and its variables may take; a test holds the firmware to it."""


def sizes(elf: Path) -> tuple[int, int]:
    """The bytes of flash and of static RAM that a program takes."""
    listed = subprocess.run(
        ["avr-size", "-A", elf], check=True, capture_output=True, text=True
    ).stdout
    parts = {name: int(size) for name, size in re.findall(r"^\.(\w+)\s+(\d+)", listed, re.M)}
    flash = sum(parts.get(name, 0) for name in ("text", "data"))
    return flash, sum(parts.get(name, 0) for name in ("data", "bss", "noinit"))


def wanted(arguments: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The options that say which firmware is meant."""
    arguments.add_argument("--buttons", default="4", help="how many seats it has")
    arguments.add_argument("--pixels", default="", help="yes: with WS2812 pixels")
    return arguments


def read_buttons(text: str) -> int:
    """How many buttons are meant. Ends with a sentence for what is no number of them."""
    if text not in map(str, range(FEWEST_BUTTONS, MOST_BUTTONS + 1)):
        fail(f"BUTTONS is {FEWEST_BUTTONS} to {MOST_BUTTONS}, not {text}")
    return int(text)


def read_pixels(text: str) -> bool:
    """Whether there are pixels. Ends with a sentence for another word than yes and no."""
    if text not in ("", "no", "yes"):
        fail(f"PIXELS is yes or no, not {text}")
    return text == "yes"


def made(buttons: int, *, pixels: bool) -> Path:
    """The program, compiled if need be. Ends with a sentence where that fails."""
    try:
        return building.firmware(buttons, pixels=pixels)
    except building.NotBuilt as error:
        fail(str(error))


def fail(*lines: str) -> NoReturn:
    """End with these lines."""
    sys.exit("tableturn: " + "\n".join(lines))


def main() -> None:
    """Compile, and tell the sizes."""
    asked = wanted(argparse.ArgumentParser(description=__doc__)).parse_args()
    elf = made(read_buttons(asked.buttons), pixels=read_pixels(asked.pixels))
    flash, ram = sizes(elf)
    name = elf.with_suffix(".hex").relative_to(building.TREE)
    click.echo(f"{name}: {flash} of {FLASH} bytes of flash, {ram} of {RAM} bytes of RAM")
    if flash > FLASH or ram > RAM:
        fail("that is more than the firmware may take.")


if __name__ == "__main__":
    with interruptible():
        main()
