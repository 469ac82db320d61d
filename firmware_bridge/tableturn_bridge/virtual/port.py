"""The port of a virtual panel: a pseudo terminal, and a name for it that lasts.

The panel has one end, a program that opens the name has the other. A pseudo terminal has no DTR
line; that somebody opens it is noticed instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import socket
import tty
from collections.abc import Callable
from pathlib import Path

LOOK_EVERY = 0.03
"""Seconds between looks whether somebody has opened the port; nothing else tells it."""
PIECE = 4096


class LinkTaken(Exception):
    """The name for the port belongs to something else."""


class Port:
    """A pseudo terminal, from being plugged in to being unplugged.

    Args:
        link: A name for it in the file system, made now and removed by `close`.
        opened: Called when a program has opened it.
        closed: Called when no program has it open any more.
        received: Called with the bytes that a program has written.
    """

    def __init__(
        self,
        link: Path | None,
        *,
        opened: Callable[[], None],
        closed: Callable[[], None],
        received: Callable[[bytes], None],
    ) -> None:
        self._opened = opened
        self._closed = closed
        self._received = received
        self._loop = asyncio.get_running_loop()
        self._look: asyncio.TimerHandle | None = None
        self.is_open = False
        """A program has it open."""
        self._ours, theirs = os.openpty()
        try:
            tty.setraw(theirs)
            self.terminal = os.ttyname(theirs)
            self._claim = None if link is None else _take(link, self.terminal)
            self._link = link
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._ours, False)
        self._wait_for_opening()

    @property
    def path(self) -> str:
        """What programs open."""
        return self.terminal if self._link is None else str(self._link)

    def _wait_for_opening(self) -> None:
        """Look again and again whether the other end is open."""
        self._look = None
        poll = select.poll()
        poll.register(self._ours, select.POLLIN)
        events = poll.poll(0)
        if events and events[0][1] & select.POLLHUP:
            self._look = self._loop.call_later(LOOK_EVERY, self._wait_for_opening)
            return
        self.is_open = True
        self._loop.add_reader(self._ours, self._read)
        self._opened()

    def _read(self) -> None:
        """Something has come, or the other end was closed."""
        try:
            data = os.read(self._ours, PIECE)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if data:
            self._received(data)
            return
        self._loop.remove_reader(self._ours)
        self.is_open = False
        self._closed()
        self._wait_for_opening()

    def write(self, data: bytes) -> None:
        """Send bytes. Those that nobody takes are lost, as on a cable."""
        if data and self.is_open:
            with contextlib.suppress(BlockingIOError):
                os.write(self._ours, data)

    def close(self) -> None:
        """Pull it out: who has it open gets an error, and its name is gone."""
        if self._look is not None:
            self._look.cancel()
        elif self.is_open:
            self._loop.remove_reader(self._ours)
        self.is_open = False
        if self._link is not None and leads_to(self._link, self.terminal):
            self._link.unlink()
        if self._claim is not None:
            self._claim.close()
        os.close(self._ours)


# ---------------------------------------------------------------- the name


def _take(link: Path, terminal: str) -> socket.socket:
    """Let a name lead to a terminal; it is this panel's until what is returned is closed.

    An older link to a terminal or to nowhere is replaced; all else is left alone, and so is the
    name of another panel that is plugged in. Raises LinkTaken if the name can't be used.
    """
    if link.exists() and not link.is_symlink():
        raise LinkTaken(f"{link} is a file already, and no link to a port: choose another name")
    older = target_of(link)
    if link.exists() and Path(older).parent != Path(terminal).parent:
        raise LinkTaken(f"{link} leads to {older}, which is no panel's port: choose another name")
    claim = socket.socket(socket.AF_UNIX)
    try:
        _claim(claim, link)
        _lead(link, terminal)
    except BaseException:
        claim.close()
        raise
    return claim


def _claim(claim: socket.socket, link: Path) -> None:
    """Say to other panels that the name is in use. Raises LinkTaken if it is.

    That can't be seen from a link: the terminal that it leads to may be somebody else's by now. So
    who has a name also has a socket that is called after it, in a space of names that only Linux
    has; the kernel takes it back however its owner ends. Emulated panels do the same.
    """
    try:
        folder = link.parent.stat()
    except OSError:  # the link will fail
        return
    text = os.fsencode(f"{folder.st_dev}:{folder.st_ino}:{link.name}")
    try:
        claim.bind(b"\0tableturn-panel-%016x" % _hash(text))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LinkTaken(f"{link} is the port of another panel: choose another name") from None


def _hash(text: bytes) -> int:
    """FNV-1a, of 64 bits."""
    total = 0xCBF29CE484222325
    for byte in text:
        total = (total ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return total


def _lead(link: Path, terminal: str) -> None:
    """Make the link. Raises LinkTaken if that isn't possible."""
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    try:
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(terminal)
        fresh.replace(link)
    except OSError as error:
        raise LinkTaken(f"{link} can't lead to the port: {error.strerror}") from error


def target_of(name: str | Path) -> str:
    """What a link leads to; empty if the name is no link."""
    try:
        return os.readlink(name)
    except OSError:
        return ""


def leads_to(name: str | Path, terminal: str) -> bool:
    """A name is still this terminal's, and not that of a later one."""
    return target_of(name) == terminal
