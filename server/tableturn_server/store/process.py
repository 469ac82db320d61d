"""A process that we watch: our child, or an orphan of a service that was killed before."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

_POLL = 0.1


class Process:
    """A server process by its pid; `child` is its Popen if we have started it."""

    def __init__(self, pid: int, child: subprocess.Popen[bytes] | None = None) -> None:
        self.pid = pid
        self._child = child

    @classmethod
    def spawn(cls, command: list[str], directory: Path) -> Process:
        """Start a child in a session of its own, so that a terminal's Ctrl-C is not for it."""
        child = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(child.pid, child)

    def alive(self) -> bool:
        """Whether the process runs; one that waits to be reaped does not."""
        if self._child is not None:
            return self._child.poll() is None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return sys.platform != "linux"
        return state not in "ZX"

    def how_it_ended(self) -> str:
        """Say how the process ended, as far as can be known."""
        code = self._child.returncode if self._child is not None else None
        if code is None:
            return "ended"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with status {code}"

    def kill(self, sig: signal.Signals) -> None:
        """Send a signal if the process still runs."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    async def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of the process; False if `timeout` seconds were not enough."""
        try:
            async with asyncio.timeout(timeout):
                await self._ended()
        except TimeoutError:
            return not self.alive()
        return True

    async def _ended(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            # Works for orphans too, which are no children of ours. Linux only.
            pidfd = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        except (AttributeError, OSError):
            while self.alive():  # noqa: ASYNC110 - nothing tells us of others' children
                await asyncio.sleep(_POLL)
            return
        ended = asyncio.Event()
        loop.add_reader(pidfd, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(pidfd)
            os.close(pidfd)
        self.alive()  # reaps a child


def is_server(pid: int, socket: Path) -> bool:
    """Whether this pid is a Valkey or Redis server on that socket, by its own title.

    A pid file may be older than the last boot: its number may belong to anybody by now.
    """
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        done = subprocess.run(
            ["ps", "-p", str(pid), "-o", "command="], capture_output=True, check=False
        )
        title = done.stdout
    return b"-server" in title and os.fsencode(socket) in title
