"""What the service says when it is ready: for people, or one line for programs."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import segno

from tableturn_server.service.command import DEFAULT_PORT
from tableturn_server.service.openings import Opened

_NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")


@dataclass(frozen=True, slots=True)
class Ready:
    """Where a service serves from what. `store` is without secrets."""

    host: str
    port: int
    lan: bool
    store: str
    data: Path
    embedded: bool
    fsync_ms: float | None
    tables: tuple[Opened, ...]
    problems: tuple[str, ...]

    @property
    def address(self) -> str:
        """Where clients find it: of the network, if it serves one."""
        host = lan_address() if self.host in ("0.0.0.0", "::") else self.host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def as_json(ready: Ready) -> str:
    """One line for programs."""
    return msgspec.json.encode(
        {
            "address": ready.address,
            "port": ready.port,
            "pid": os.getpid(),
            "store": ready.store,
            "data": str(ready.data),
            "fsync_ms": ready.fsync_ms,
            "tables": [
                {
                    "table_id": table.table_id,
                    "game": table.game,
                    "seats": table.seats,
                    "free_seats": table.free,
                    "status": table.status,
                }
                for table in ready.tables
            ],
        }
    ).decode()


def for_people(ready: Ready) -> str:
    """Where it listens, where the tables are, and how to join: as typed in another terminal."""
    lines = [f"Tableturn serves on {ready.address}. Ctrl-C ends it."]
    if ready.embedded and ready.fsync_ms is not None:
        lines.append(
            f"Tables are kept in {ready.data}; each change is on the disk before it is told "
            f"({ready.fsync_ms:.1f} ms for one fsync here)."
        )
    else:
        lines.append(f"Tables are kept in {ready.store}.")
    lines += ready.problems
    if ready.lan:
        lines += ["", *_of_network(ready)]
    for table in ready.tables:
        lines += ["", *_of_table(table, ready)]
    return "\n".join(lines)


def _of_network(ready: Ready) -> list[str]:
    code = io.StringIO()
    link = f"tableturn://{ready.address}"
    if ready.address.startswith("127."):
        return ["This machine has no address in a network: only this machine can reach it."]
    segno.make(link, micro=False).terminal(code, compact=True)
    return [
        f"On the local network: {link}",
        code.getvalue().rstrip("\n"),
        "Nothing is encrypted: everybody in this network can see the tables and join them, and",
        "could read along what players send. Use it at home, not in a network of strangers.",
    ]


def _of_table(table: Opened, ready: Ready) -> list[str]:
    seats = f"{table.free} of {table.seats} seats free" if table.free else "all seats taken"
    lines = [f"{table.title}, table {table.table_id} ({table.status}, {seats})."]
    lines += [f"  Note: {warning}" for warning in table.warnings]
    command = program()
    server = _server_option(ready)
    if table.free:
        lines.append(
            "Join it from another terminal:" if table.free == 1 else "Join it from other terminals:"
        )
        for name in _NAMES[: table.free]:
            lines.append("  " + _line(command, "play", table.table_id, "--name", name, *server))
        if ready.lan:
            lines.append("From another machine in this network, with Tableturn installed there:")
            there = ["--name", "NAME", "--server", ready.address]
            lines.append("  " + _line("tableturn", "play", table.table_id, *there))
    else:
        lines.append("Who sits there goes on with the first, others look on with the second:")
        lines.append("  " + _line(command, "play", table.table_id, *server))
        lines.append("  " + _line(command, "watch", table.table_id, *server))
        lines.append("Make another table:")
        lines.append("  " + _line(command, "new", table.game, "--start-when-full", *server))
    return lines


def _server_option(ready: Ready) -> list[str]:
    """The option that names this service, where it isn't the one that clients try first."""
    local = ready.host in ("127.0.0.1", "0.0.0.0", "localhost")
    if local and ready.port == DEFAULT_PORT and not os.environ.get("TABLETURN_SERVER"):
        return []
    return ["--server", f"127.0.0.1:{ready.port}" if local else ready.address]


def _line(*words: str) -> str:
    return shlex.join(words)


def program(argv: Sequence[str] = sys.argv) -> str:
    """How the command line is called in the shell that has called us."""
    called = Path(argv[0])
    if called.name == "tableturn" and not called.is_absolute() and called.exists():
        return argv[0]
    ours = called if called.name == "tableturn" else Path(sys.executable).parent / "tableturn"
    on_path = shutil.which("tableturn")
    if on_path and ours.exists() and Path(on_path).samefile(ours):
        return "tableturn"
    if not ours.exists():
        return "tableturn"
    try:
        return str(ours.relative_to(Path.cwd()))
    except ValueError:
        return str(ours)


def lan_address() -> str:
    """This machine's address in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
