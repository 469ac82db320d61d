"""The data directory of an embedded store: one owner, one socket, one set of files.

DATA/lock            who uses the directory (its pid), held with flock
DATA/valkey/         the append-only file
DATA/valkey.sock     the unix socket, or elsewhere if that path would be too long
DATA/valkey.pid      the server's process, written by the server
DATA/valkey.log      what the server says
DATA/written-by      the newest server that has written the data
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import statistics
import tempfile
import time
from pathlib import Path

from .binary import Binary
from .errors import StoreRefused

LONGEST_SOCKET_PATH = 99
"""Bytes; the kernel's limit is 107 (Linux) or 103 (macOS), and the server needs a margin."""

_LOG_LIMIT = 8 << 20


class DataDir:
    """The paths in a data directory, and the lock on it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.data = self.root / "valkey"
        self.pid_file = self.root / "valkey.pid"
        self.log_file = self.root / "valkey.log"
        self._written_by = self.root / "written-by"
        self._lock: int | None = None
        self.socket = self.root / "valkey.sock"

    def acquire(self) -> None:
        """Make the directory and take its lock; StoreRefused names the process that has it."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.data.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreRefused(f"the data directory {self.root} can't be used: {error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(lock)
            raise StoreRefused(
                f"the data directory {self.root} is used by another server (pid {holder});"
                " stop that one, or choose another directory"
            ) from error
        self._lock = lock
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            self.socket = self._short_socket()
            self._rotate_log()
        except OSError as error:
            self.release()
            raise StoreRefused(
                f"the data directory {self.root} can't be written: {error.strerror};"
                " make room there, or choose another directory"
            ) from error

    def release(self) -> None:
        """Give the lock back. The file stays: removing it would let two servers lock two files."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def free_bytes(self) -> int:
        """Return how much an ordinary user may still write to the disk of the data."""
        disk = os.statvfs(self.data)
        return disk.f_bavail * disk.f_frsize

    def pid(self) -> int | None:
        """Return the process in the pid file, whether it lives or not."""
        try:
            return int(self.pid_file.read_text())
        except (OSError, ValueError):
            return None

    def log_since(self, offset: int) -> str:
        """Return what the server has said since its log was `offset` bytes long (64 kB at most)."""
        try:
            with self.log_file.open("rb") as file:
                file.seek(max(offset, self.log_size() - 65_536))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def log_size(self) -> int:
        """Return the length of the server's log in bytes."""
        try:
            return self.log_file.stat().st_size
        except OSError:
            return 0

    def written_by(self) -> str:
        """Return the newest server that has written the data, or ''."""
        try:
            return self._written_by.read_text().strip()
        except OSError:
            return ""

    def note_writer(self, binary: Binary) -> None:
        """Remember which server writes the data, for the message if an older one can't read it."""
        with contextlib.suppress(OSError):  # a full disk: the note is only a help
            self._written_by.write_text(f"{binary}\n")

    def _short_socket(self) -> Path:
        """Return a path for the socket that fits into a socket address, the same every time."""
        socket = self.root / "valkey.sock"
        if len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH:
            return socket
        name = f"tableturn-{os.getuid()}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]}"
        tried = []
        for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
            if not base:
                continue
            directory = Path(base) / name
            if len(os.fsencode(directory / "valkey.sock")) > LONGEST_SOCKET_PATH:
                continue
            try:
                directory.mkdir(mode=0o700, exist_ok=True)
                state = directory.lstat()
            except OSError as error:
                tried.append(str(error))
                continue
            # The temporary directory belongs to everybody: somebody else may have been first.
            if state.st_uid == os.getuid() and state.st_mode & 0o170777 == 0o040700:
                return directory / "valkey.sock"
            tried.append(f"{directory} is not a directory of ours with mode 0700")
        raise StoreRefused(
            f"the path {socket} is too long for a socket, and no shorter place was found"
            f" ({'; '.join(tried) or 'no temporary directory'}): choose a shorter data directory"
        )

    def _rotate_log(self) -> None:
        if self.log_size() > _LOG_LIMIT:
            self.log_file.replace(self.log_file.with_suffix(".log.1"))


def measure_fsync(directory: Path, *, times: int = 15) -> float:
    """Return the median time in ms of a small append with fsync in this directory.

    It is what an accepted change waits for. Blocking: a slow SD card needs 20 ms each time.
    """
    figures = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(times):
            begin = time.perf_counter()
            file.write(b"x" * 1024)
            os.fsync(file.fileno())
            figures.append((time.perf_counter() - begin) * 1000)
    return statistics.median(figures)
