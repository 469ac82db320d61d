"""A service of its own for a demo: the real one, in a folder that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import click

START = 30.0
"""Seconds in which the service has to be ready."""
END = 15.0
"""Seconds in which it has to end."""

_TABLETURN = "from tableturn_client.cli.main import main; main()"
_NO_LIMITS = ("--rate", "0", "--peer-rate", "0", "--tables-per-minute", "0")


@contextlib.asynccontextmanager
async def temporary_service() -> AsyncIterator[str]:
    """Run `tableturn serve` with an embedded Valkey; its address.

    It ends when its standard input is closed: at the end here, and by itself should this program
    be killed. Raises click.ClickException with the service's own words if it does not start.
    """
    # The folder is short: a Unix socket's path has less than 100 bytes.
    with tempfile.TemporaryDirectory(prefix="tableturn-", ignore_cleanup_errors=True) as name:
        errors = Path(name) / "serve.log"
        with errors.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _TABLETURN, "serve", "--json", "--until-eof"),
                *("--port", "0", "--data", str(Path(name) / "data"), "--log-level", "warning"),
                *_NO_LIMITS,
                stdin=PIPE,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C is ours: the game is ended in order
            )
        try:
            yield await _address(process, errors)
        finally:
            await asyncio.shield(_end(process))


async def _address(process: Process, errors: Path) -> str:
    """Where the service listens, once it does."""
    assert process.stdout is not None
    line = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START):
            line = await process.stdout.readline()
    if not line:
        raise click.ClickException(f"the service did not start: {_last_words(errors)}")
    return str(json.loads(line)["address"])


def _last_words(log: Path) -> str:
    """The last line that the service wrote."""
    said = log.read_text("utf-8", "replace").strip().splitlines()
    return said[-1].removeprefix("tableturn: ") if said else f"no word in {START:g} seconds"


async def _end(process: Process) -> None:
    """End the service, with force if nothing else helps."""
    assert process.stdin is not None
    process.stdin.close()
    for end in (None, process.terminate, process.kill):
        if end is not None:
            with contextlib.suppress(ProcessLookupError):
                end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END):
                await process.wait()
                return
