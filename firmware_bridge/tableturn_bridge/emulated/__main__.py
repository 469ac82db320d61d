"""An emulated board as a process of its own: `python -m tableturn_bridge.emulated --link PATH`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tableturn_bridge.emulated.building import NotBuilt
from tableturn_bridge.emulated.panel import EmulatedPanel
from tableturn_bridge.emulated.process import EmulatorError
from tableturn_bridge.virtual.running import common_options, run


@click.command()
@common_options
@click.option("--pixels", is_flag=True, help="With a coloured light for each button.")
@click.option("--no-dtr", is_flag=True, help="Opening its port doesn't reset it.")
@click.option(
    "--elf",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Another program than the firmware of the sources.",
)
def main(
    buttons: int,
    link: Path | None,
    control: Path | None,
    uid: int,
    noise: float,
    boot_ms: int,
    greeting: bool,
    seed: int,
    pixels: bool,
    no_dtr: bool,
    elf: Path | None,
) -> None:
    """Run the real firmware on an emulated board until it is interrupted.

    It tells the name of its port on the first line. If its input is a pipe, it ends with that.
    """
    panel = EmulatedPanel(
        buttons,
        uid=uid,
        link=link,
        boot_ms=boot_ms,
        greeting=greeting,
        opening_resets=not no_dtr,
        noise=noise,
        seed=seed,
        pixels=pixels,
        elf=elf,
        tell=_tell if sys.stderr is not None and sys.stderr.isatty() else None,
    )
    run(panel, control, NotBuilt, EmulatorError)


def _tell(line: str) -> None:
    """Say what takes a while."""
    click.echo(line, err=True)


if __name__ == "__main__":
    main(prog_name="python -m tableturn_bridge.emulated")
