"""Writes the firmware into a board with avrdude: `make flash PORT=/dev/ttyUSB0`.

The boot loader of the board takes it, so no programmer is needed. Boards are shipped with one of
two: that of the Uno and of newer Nanos speaks at 115200 baud, that of older Nanos at 57600. Both
are tried unless one is named. The panel's number stays: it is in a memory that is not written.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path

import click
from interrupts import interruptible, running

from firmware import fail, made, read_buttons, read_pixels, wanted
from tableturn_bridge.finding import candidates
from tableturn_bridge.port import holders

BAUDS = (115200, 57600)
ATTEMPTS = 2
"""How often a boot loader is called, five seconds each; avrdude itself would do so ten times."""


def main() -> None:
    """Look whether it can work, then write and compare."""
    parser = wanted(argparse.ArgumentParser(description="Write the firmware into a board."))
    parser.add_argument("--port", default="", help="where the board is, such as /dev/ttyUSB0")
    parser.add_argument("--baud", default="", help="the boot loader's speed")
    parser.add_argument("--hex", type=Path, help="another file than the firmware")
    asked = parser.parse_args()
    buttons, pixels = read_buttons(asked.buttons), read_pixels(asked.pixels)
    bauds = read_bauds(asked.baud)
    if asked.hex and not (asked.hex.is_file() and os.access(asked.hex, os.R_OK)):
        fail(f"there is no file {asked.hex} that can be read")
    check_port(asked.port)
    if shutil.which("avrdude") is None:
        fail("avrdude is missing. Debian: sudo apt-get install avrdude")
    file = asked.hex or made(buttons, pixels=pixels).with_suffix(".hex")
    for baud in bauds:
        if write(asked.port, baud, file):
            click.echo(f"{file.name} is in the board, and was read back.")
            click.echo("Look at it with: .venv/bin/tableturn panel doctor")
            return
    fail(
        f"no boot loader answers at {asked.port}. It must be an Arduino Uno or Nano with an "
        "ATmega328P. If it is one, press its reset button when the line with the speed appears; a "
        "chip without a boot loader needs a programmer."
    )


def read_bauds(text: str) -> tuple[int, ...]:
    """The speeds to try."""
    if not text:
        return BAUDS
    if not (text.isascii() and text.isdigit()):
        fail(f"BAUD is 115200, or 57600 for an older Nano, not {text}")
    return (int(text),)


def check_port(port: str) -> None:
    """End with a sentence if the port can't be written to."""
    here = [f"{one.device} ({one.words.partition(': ')[2]})" for one in candidates()]
    others = f"Here are: {', '.join(here)}." if here else "Plug the board in: none is seen."
    if not port:
        fail(f"say where the board is: make flash PORT=/dev/ttyUSB0. {others}")
    path = Path(port)
    if not path.exists():
        fail(f"there is no port {port}. {others}")
    if not is_terminal(path):
        fail(f"{port} is no serial port. {others}")
    if programs := holders(path):
        fail(f"{port} is used by {' and '.join(programs)}. End that first; a bridge, with Ctrl-C.")
    if not os.access(path, os.R_OK | os.W_OK):
        fail(
            f"you may not use {port}. Join the group {path.group()} with "
            f'`sudo usermod -aG {path.group()} "$USER"`, then log out and in again.'
        )


def is_terminal(path: Path) -> bool:
    """It may be a serial port; that holds too for what can't be looked at."""
    if not path.is_char_device():
        return False
    try:
        device = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return True
    try:
        return os.isatty(device)
    finally:
        os.close(device)


def write(port: str, baud: int, file: Path) -> bool:
    """Write the file and read it back; False if no boot loader answers at this speed."""
    click.echo(f"writing {file.name} to {port} at {baud} baud ...")
    # -D: the boot loader erases what it writes, and can't erase the rest.
    command = ["avrdude", "-p", "m328p", "-c", "arduino", "-P", port, "-b", str(baud), "-D", "-q"]
    said, unanswered = [], 0
    try:
        with running([*command, "-U", f"flash:w:{file}:i"]) as avrdude:
            assert avrdude.stdout is not None
            for line in avrdude.stdout:
                said.append(line.rstrip())
                unanswered += "not in sync" in line
                if unanswered == ATTEMPTS:
                    return False
            code = avrdude.wait()
    except OSError as error:
        fail(f"avrdude can't be run: {error.strerror}")
    if code != 0:
        check_chip(said)
        why = "\n".join(filter(None, said)) or f"it doesn't say why; its exit code is {code}."
        fail("avrdude could not write it:", why)
    return True


def check_chip(said: list[str]) -> None:
    """End with a sentence if avrdude has found another chip: it compares the signature."""
    text = "\n".join(said)
    # Newer versions write it small.
    if not re.search("expected signature", text, re.IGNORECASE):
        return
    told = re.search(r"signature = 0x(\w{6})(?: \(probably (\w+)\))?", text, re.IGNORECASE)
    code, name = told.groups("") if told else ("", "")
    which = f", but has the signature {code}{f' ({name})' if name else ''}" if code else ""
    fail(
        f"the chip is no ATmega328P{which}. Nothing was written. Some copies of the boards have "
        "an ATmega328PB or an LGT8F328P, for which the firmware isn't made."
    )


if __name__ == "__main__":
    with interruptible():
        main()
