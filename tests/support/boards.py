"""The real firmware and its emulator, for tests; where they can't be made, the test is skipped."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tableturn_bridge.emulated import building
from tests.support.wanted import missing


@cache
def firmware(buttons: int = 4, *, pixels: bool = False) -> Path:
    """The ELF file of a firmware."""
    try:
        return building.firmware(buttons, pixels=pixels)
    except building.NoTools as error:
        missing(str(error))


@cache
def emulator() -> Path:
    """The emulator's program."""
    try:
        return building.emulator()
    except building.NoTools as error:
        missing(str(error))
