"""A panel without a board as a process of its own, until somebody ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, Self

import click

from tableturn_bridge.protocol import MOST_BUTTONS
from tableturn_bridge.virtual.control import SocketTaken, listening
from tableturn_bridge.virtual.panel import Panel
from tableturn_bridge.virtual.port import LinkTaken
from tableturn_bridge.virtual.pty import BOOT_MS

Command = Callable[..., Any]

_PATH = click.Path(path_type=Path)
_OPTIONS = (
    click.option("--buttons", type=click.IntRange(2, MOST_BUTTONS), default=4, show_default=True),
    click.option("--link", type=_PATH, help="A name for the port in the file system."),
    click.option("--control", type=_PATH, help="A socket to press its buttons with."),
    click.option("--uid", type=click.IntRange(0, 2**32 - 1), default=0, help="The panel's number."),
    click.option(
        "--noise",
        type=click.FloatRange(0, 1),
        default=0.0,
        help="The share of all bytes that get lost or are wrong.",
    ),
    click.option("--boot-ms", type=click.IntRange(0, 60_000), default=BOOT_MS, show_default=True),
    click.option("--greeting", is_flag=True, help="Its boot loader says something first."),
    click.option("--seed", type=int, default=0, help="For the noise."),
)


def common_options(command: Command) -> Command:
    """The options of every panel that runs by itself."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Startable(Panel, Protocol):
    """A panel that is plugged in while its context lasts."""

    async def __aenter__(self) -> Self:
        """Plug it in."""

    async def __aexit__(self, *exc: Any) -> None:
        """Pull it out."""

    async def wait_ended(self) -> str:
        """Wait until it has ended by itself; most never do. Returns what has ended, in words."""


def run(panel: Startable, control: Path | None, *errors: type[Exception]) -> None:
    """Run a panel until it is interrupted, or its input ends.

    It tells the name of its port on the first line. Errors of these kinds, and names that can't be
    used, end the command with their sentence.
    """
    told: tuple[type[Exception], ...] = (LinkTaken, SocketTaken, *errors)
    try:
        asyncio.run(_run(panel, control))
    except told as error:
        raise click.ClickException(str(error)) from error


async def _run(panel: Startable, control: Path | None) -> None:
    """Run a panel until somebody ends it."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    async with AsyncExitStack() as stack:
        if not await _starts(stack.enter_async_context(panel), ended):
            return
        if control is not None:
            await stack.enter_async_context(listening(panel, control))
        _end_with_input(ended)
        if sys.stdout is not None:  # somebody may have closed it
            sys.stdout.write(f"{panel.path}\n")
            sys.stdout.flush()
        asked = asyncio.create_task(ended.wait())
        failed = asyncio.create_task(panel.wait_ended())
        await asyncio.wait({asked, failed}, return_when=asyncio.FIRST_COMPLETED)
        broken = failed.result() if failed.done() else ""
        for task in (asked, failed):
            task.cancel()
        await asyncio.wait({asked, failed})
    if broken:
        raise click.ClickException(broken)


async def _starts(starting: Coroutine[Any, Any, Any], ended: asyncio.Event) -> bool:
    """Start something that may take a while; False if it was ended before."""
    asked = asyncio.create_task(ended.wait())
    task = asyncio.create_task(starting)
    await asyncio.wait({asked, task}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if task.done():
        await task
        return True
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return False


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
