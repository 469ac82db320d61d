"""The real firmware and its emulator, for tests; where they can't be made, the test is skipped.

And a program of another kind, that crashes.
"""

from __future__ import annotations

import subprocess
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


CRASHES = """
#include <avr/io.h>
int main(void) {
    UBRR0L = 16;
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0);
    loop_until_bit_is_set(UCSR0A, RXC0);
    __asm__ volatile(".word 0x9404"); /* no instruction */
}
"""


def crashing(folder: Path) -> Path:
    """The ELF file of a program that crashes at the first byte that reaches it."""
    if missed := building.AVR.missing():
        missing(f"there is no {', '.join(missed)}")
    elf = folder / "crashing.elf"
    compiler = ["avr-gcc", "-mmcu=atmega328p", "-Os", "-x", "c", "-", "-o", str(elf)]
    subprocess.run(compiler, check=True, input=CRASHES.encode())
    return elf
