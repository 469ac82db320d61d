"""One bridge for each panel on a machine: a lock on a file that is named after its number.

The system lets go of the lock when its holder ends, in whatever way. So a bridge that is started
again after it was killed needs not wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from tableturn_bridge.errors import LocksUnusable, PanelHeldHere


class Hold:
    """The panel that this bridge holds, if any."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._uid: int | None = None
        self._fd: int | None = None

    def take(self, uid: int) -> None:
        """Hold this panel, and no other any more.

        Raises:
            PanelHeldHere: Another bridge on this machine does.
            LocksUnusable: The folder can't be used.
        """
        if self._uid == uid:
            return
        self.release()
        path = self._folder / f"panel-{uid}.lock"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(self._folder, error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(fd, 0)
            os.write(fd, str(os.getpid()).encode())
        except OSError as error:
            holder = _read(fd)
            os.close(fd)
            if isinstance(error, BlockingIOError):
                raise _held(uid, holder) from error
            raise _unusable(self._folder, error) from error
        self._uid, self._fd = uid, fd

    def release(self) -> None:
        """Let the panel go."""
        if self._fd is not None:
            os.close(self._fd)
        self._uid = self._fd = None


def _read(fd: int) -> str:
    with contextlib.suppress(OSError):
        return os.pread(fd, 20, 0).decode("ascii", "replace").strip()
    return ""


def _held(uid: int, holder: str) -> PanelHeldHere:
    process = f" (process {holder})" if holder.isdigit() else ""
    return PanelHeldHere(
        f"panel {uid} is served by another bridge on this machine{process}",
        "Stop that one. If these are two panels with the same number, flash one of them anew.",
    )


def _unusable(folder: Path, error: OSError) -> LocksUnusable:
    return LocksUnusable(f"{folder} can't be used ({error.strerror})", "Let this user write there.")
