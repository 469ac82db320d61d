"""A virtual panel as a process of its own: `python -m tableturn_bridge.virtual --link PATH`."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import click

from tableturn_bridge.protocol import MOST_BUTTONS, VERSION
from tableturn_bridge.virtual.control import SocketTaken, listening
from tableturn_bridge.virtual.port import LinkTaken
from tableturn_bridge.virtual.pty import BOOT_MS, GREETING, VirtualPanel

PATH = click.Path(path_type=Path)


@click.command()
@click.option("--buttons", type=click.IntRange(2, MOST_BUTTONS), default=4, show_default=True)
@click.option("--link", type=PATH, help="A name for the port in the file system.")
@click.option("--control", type=PATH, help="A socket to press its buttons with.")
@click.option("--uid", type=click.IntRange(0, 2**32 - 1), default=0, help="The panel's number.")
@click.option("--protocol", type=click.IntRange(0, 255), default=VERSION, show_default=True)
@click.option(
    "--noise",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="The share of all bytes that get lost or are wrong.",
)
@click.option("--boot-ms", type=click.IntRange(0, 60_000), default=BOOT_MS, show_default=True)
@click.option("--greeting", is_flag=True, help="Its boot loader says something first.")
@click.option("--seed", type=int, default=0, help="For the noise.")
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
    try:
        asyncio.run(_run(panel, control))
    except (LinkTaken, SocketTaken) as error:
        raise click.ClickException(str(error)) from error


async def _run(panel: VirtualPanel, control: Path | None) -> None:
    """Run a panel until somebody ends it."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(panel)
        if control is not None:
            await stack.enter_async_context(listening(panel, control))
        _end_with_input(ended)
        sys.stdout.write(f"{panel.path}\n")
        sys.stdout.flush()
        await ended.wait()


def _end_with_input(ended: asyncio.Event) -> None:
    """End when the process that holds the other end of the input does."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # there is none
        return
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return
    loop = asyncio.get_running_loop()

    def read() -> None:
        if not os.read(0, 1024):
            loop.remove_reader(0)
            ended.set()

    loop.add_reader(0, read)


if __name__ == "__main__":
    main(prog_name="python -m tableturn_bridge.virtual")
