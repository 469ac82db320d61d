"""Small tools of the benchmarks: CPU time, processes that print where they are, columns."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any


def cpu_seconds(pid: int) -> float:
    """The CPU time that all threads of a process have used so far (Linux)."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # a thread that has just ended
            continue
    return total / 1e9


@asynccontextmanager
async def process(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A child process whose first line of output can be read; ended at the end."""
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.terminate()
            await child.wait()


async def first_line(child: asyncio.subprocess.Process) -> str:
    """What a process prints when it is ready."""
    assert child.stdout is not None
    line = (await asyncio.wait_for(child.stdout.readline(), 30)).decode().strip()
    if not line:
        raise RuntimeError("the process ended before it was ready")
    return line


@asynccontextmanager
async def service(*flags: str) -> AsyncIterator[tuple[str, int, Path]]:
    """The real service with its embedded store in a directory of its own.

    Yields its address, its pid, and its data directory.
    """
    # A short path: the store's socket lies in it, and its length is limited.
    with tempfile.TemporaryDirectory(prefix="tt-bench-") as data:
        command = [sys.executable, "-m", "tableturn_server.service", "--data", data]
        command += ["--port", "0", "--json", "--log-level", "error", *flags]
        async with process(*command) as child:
            ready = json.loads(await first_line(child))
            yield ready["address"], child.pid, Path(data)


def median(values: Sequence[float]) -> float:
    """The middle of the values."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, such as 0.99."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def show(title: str, rows: Sequence[Sequence[Any]]) -> None:
    """Print rows of cells in columns under a title."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    print(f"\n{title}")
    for row in cells:
        line = "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print(f"  {line}".rstrip())


def machine() -> str:
    """The machine in a line: figures mean nothing without it."""
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}"
