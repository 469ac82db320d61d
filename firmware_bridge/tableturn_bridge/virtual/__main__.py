"""A virtual panel as a process of its own: `python -m tableturn_bridge.virtual --link PATH`."""

from __future__ import annotations

from pathlib import Path

import click

from tableturn_bridge.protocol import VERSION
from tableturn_bridge.virtual.pty import GREETING, VirtualPanel
from tableturn_bridge.virtual.running import common_options, run


@click.command()
@common_options
@click.option("--protocol", type=click.IntRange(0, 255), default=VERSION, show_default=True)
def main(
    buttons: int,
    link: Path | None,
    control: Path | None,
    uid: int,
    protocol: int,
    noise: float,
    boot_ms: int,
    greeting: bool,
    seed: int,
) -> None:
    """Run a virtual panel until it is interrupted.

    It tells the name of its port on the first line. If its input is a pipe, it ends with that.
    """
    panel = VirtualPanel(
        buttons,
        uid=uid,
        link=link,
        boot_ms=boot_ms,
        greeting=GREETING if greeting else b"",
        noise=noise,
        seed=seed,
        protocol=protocol,
    )
    run(panel, control)


if __name__ == "__main__":
    main(prog_name="python -m tableturn_bridge.virtual")
