"""Writes the firmware into a board with avrdude: `make flash PORT=/dev/ttyUSB0`.

The boot loader of the board takes it, so no programmer is needed. Boards are shipped with one of
two: that of the Uno and of newer Nanos speaks at 115200 baud, that of older Nanos at 57600. Both
are tried unless one is named. The panel's number stays: it is in a memory that is not written.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click

from firmware import made, wanted
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
    bauds = read_bauds(asked.baud)
    check_port(asked.port)
    if shutil.which("avrdude") is None:
        fail("avrdude is missing. Debian: sudo apt-get install avrdude")
    file = asked.hex or made(asked.buttons, asked.pixels).with_suffix(".hex")
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
    if not path.is_char_device():
        fail(f"{port} is no serial port. {others}")
    if programs := holders(path):
        fail(f"{port} is used by {' and '.join(programs)}. End that first; a bridge, with Ctrl-C.")
    if not os.access(path, os.R_OK | os.W_OK):
        fail(
            f"you may not use {port}. Join the group {path.group()} with "
            f'`sudo usermod -aG {path.group()} "$USER"`, then log out and in again.'
        )


def write(port: str, baud: int, file: Path) -> bool:
    """Write the file and read it back; False if no boot loader answers at this speed."""
    click.echo(f"writing {file.name} to {port} at {baud} baud ...")
    # -D: the boot loader erases what it writes, and can't erase the rest.
    command = ["avrdude", "-p", "m328p", "-c", "arduino", "-P", port, "-b", str(baud), "-D", "-q"]
    avrdude = subprocess.Popen(
        [*command, "-U", f"flash:w:{file}:i"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert avrdude.stdout is not None
    said, unanswered = [], 0
    for line in avrdude.stdout:
        said.append(line.rstrip())
        unanswered += "not in sync" in line
        if unanswered == ATTEMPTS:
            avrdude.terminate()
            break
    written = avrdude.wait() == 0
    if not written and unanswered < ATTEMPTS:
        fail("avrdude could not write it:", *filter(None, said))
    return written


def fail(*lines: str) -> NoReturn:
    """End with these lines."""
    sys.exit("tableturn: " + "\n".join(lines))


if __name__ == "__main__":
    main()
