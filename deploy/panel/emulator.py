"""Compiles the emulated board of `tableturn panel --simulate` and of the tests: `make emulator`."""

from __future__ import annotations

import sys

import click
from interrupts import interruptible

from tableturn_bridge.emulated import building


def main() -> None:
    """Compile it, and say where it is."""
    try:
        program = building.emulator()
    except building.NotBuilt as error:
        sys.exit(f"tableturn: {error}")
    name = program.relative_to(building.TREE)
    click.echo(f"{name} is up to date. Try: .venv/bin/tableturn panel --simulate")


if __name__ == "__main__":
    with interruptible():
        main()
