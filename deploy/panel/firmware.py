"""Compiles the firmware of a panel and says how much of the chip it takes: `make firmware`."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import click

from tableturn_bridge.emulated import building
from tableturn_bridge.protocol import FEWEST_BUTTONS, MOST_BUTTONS

FLASH, RAM = 8192, 700
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
    numbers = range(FEWEST_BUTTONS, MOST_BUTTONS + 1)
    arguments.add_argument("--buttons", type=int, choices=numbers, default=4)
    arguments.add_argument("--pixels", choices=("", "yes"), default="")
    return arguments


def made(buttons: int, pixels: str) -> Path:
    """The program, compiled if need be. Ends with a sentence where that fails."""
    try:
        return building.firmware(buttons, pixels=pixels == "yes")
    except building.NotBuilt as error:
        sys.exit(f"tableturn: {error}")


def main() -> None:
    """Compile, and tell the sizes."""
    asked = wanted(argparse.ArgumentParser(description=__doc__)).parse_args()
    elf = made(asked.buttons, asked.pixels)
    flash, ram = sizes(elf)
    name = elf.with_suffix(".hex").relative_to(building.TREE)
    click.echo(f"{name}: {flash} of {FLASH} bytes of flash, {ram} of {RAM} bytes of RAM")
    if flash > FLASH or ram > RAM:
        sys.exit("tableturn: that is more than the firmware may take.")


if __name__ == "__main__":
    main()
