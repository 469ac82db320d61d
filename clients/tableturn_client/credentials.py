"""The tokens that are held on this machine.

One file, readable by its owner only: `$TABLETURN_HOME/tokens.json`, else
`$XDG_STATE_HOME/tableturn/tokens.json`, else `~/.local/state/tableturn/tokens.json`. It is
written as a whole and then moved into place, under a lock, so that commands that run at the
same time lose nothing and never read half a file.

A token is put down *before* it is sent, with the id of the request (`pending`). If the answer
is lost, the same command sends the same token with the same request id again, and gets the
seat that it had got.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from tableturn_client.address import Address
from tableturn_client.errors import NotSent

VERSION = 1

Scope = Literal["host", "seat", "watch", "panel"]

_MACHINE = re.compile(r"[0-9a-f]{16}")
_LONGEST_HOST = 30


class StoreUnusable(NotSent):
    """The file of tokens can't be read or written."""


@dataclass(frozen=True)
class Credential:
    """A token, and what it opens.

    `pending` is the id of the request that registers it, as long as no answer has come; `seat`
    may then be 0, and `table` empty. `uid` is the number of a panel.
    """

    server: str
    table: str
    scope: Scope
    token: str
    seat: int = 0
    name: str = ""
    pending: str = ""
    uid: int = 0


class _File(msgspec.Struct):
    tokens: list[Credential]
    version: int = VERSION


class Credentials:
    """The store of tokens in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def default(cls) -> Credentials:
        """The store of this user."""
        return cls(home() / "tokens.json")

    # ------------------------------------------------------------ looking

    def all(self) -> tuple[Credential, ...]:
        """Every credential."""
        return tuple(self._read())

    def seats(self, server: Address, table: str) -> tuple[Credential, ...]:
        """The seats held at a table, by number."""
        held = [c for c in self._of(server, table, "seat") if c.seat]
        return tuple(sorted(held, key=lambda c: c.seat))

    def host(self, server: Address, table: str) -> Credential | None:
        """The host's token of a table."""
        return next(iter(self._of(server, table, "host")), None)

    def watcher(self, server: Address, table: str) -> Credential | None:
        """The watch token of a table."""
        return next(iter(self._of(server, table, "watch")), None)

    def panel_of(self, server: Address, table: str, uid: int) -> Credential | None:
        """The token of a panel at a table."""
        held = self._of(server, table, "panel")
        return next((c for c in held if c.uid == uid and not c.pending), None)

    def last_table(self, server: Address, uid: int) -> str:
        """The table for which a panel's token was put down last; empty for none."""
        held = [
            c.table
            for c in self._read()
            if (c.server, c.scope, c.uid) == (key(server), "panel", uid) and not c.pending
        ]
        return held[-1] if held else ""

    def pending(self, server: Address, scope: Scope, **fields: object) -> Credential | None:
        """A credential whose request has got no answer yet."""
        for credential in self._read():
            if (
                credential.pending
                and credential.scope == scope
                and credential.server == key(server)
                and all(getattr(credential, name) == value for name, value in fields.items())
            ):
                return credential
        return None

    def tables(self, server: Address) -> tuple[str, ...]:
        """The ids of the tables for which something is held."""
        of_server = (c.table for c in self._read() if c.server == key(server) and c.table)
        return tuple(dict.fromkeys(of_server))

    def _of(self, server: Address, table: str, scope: Scope) -> Iterator[Credential]:
        for credential in self._read():
            if (credential.server, credential.table, credential.scope) == (
                key(server),
                table,
                scope,
            ):
                yield credential

    # ------------------------------------------------------------ changing

    def put(self, credential: Credential) -> None:
        """Keep a credential; an older one for the same is replaced."""

        def same(other: Credential) -> bool:
            if other.token == credential.token and other.table in (credential.table, ""):
                return (other.scope, other.seat, other.uid) in (
                    (credential.scope, credential.seat, credential.uid),
                    (credential.scope, 0, credential.uid),
                )
            return not (credential.pending or other.pending) and _what(other) == _what(credential)

        self._change(lambda kept: [*(c for c in kept if not same(c)), credential])

    def settle(
        self, credential: Credential, *, table: str, seat: int = 0, name: str = ""
    ) -> Credential:
        """The request was answered: what it opens is known now."""
        name = name or credential.name
        settled = replace(credential, table=table, seat=seat, name=name, pending="")
        self._change(lambda kept: [c for c in kept if c != credential])
        self.put(settled)
        return settled

    def carry_over(self, server: Address, table: str, to: str, moved: Mapping[int, int]) -> None:
        """What opens a table opens its rematch too; `moved` says where each seat is there."""

        def carried(kept: list[Credential]) -> list[Credential]:
            there = {_what(c) for c in kept}
            copies = [
                replace(c, table=to, seat=moved.get(c.seat, 0))
                for c in kept
                if (c.server, c.table) == (key(server), table)
                and not c.pending
                and (c.scope != "seat" or c.seat in moved)
            ]
            return [*kept, *(c for c in copies if _what(c) not in there)]

        self._change(carried)

    def drop(self, credential: Credential) -> None:
        """Forget a credential."""
        self._change(lambda kept: [c for c in kept if c != credential])

    # ------------------------------------------------------------ this machine

    def machine(self) -> str:
        """A name that no other machine has, and that stays: the host's, and a random part.

        The random part is kept in a file of its own beside the tokens.
        """
        host = re.sub(r"[^A-Za-z0-9.-]", "", socket.gethostname())[:_LONGEST_HOST] or "machine"
        path = self.path.with_name("machine")
        try:
            kept = _read_machine(path)
            if not kept:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with self._locked():
                    kept = _read_machine(path)  # another process may have been faster
                    if not kept:
                        kept = secrets.token_hex(8)
                        self._write_whole(path, kept.encode())
        except OSError as error:
            raise StoreUnusable(
                f"the name of this machine in {path} can't be kept: {error.strerror}"
            ) from None
        return f"{host}-{kept}"

    # ------------------------------------------------------------ the file

    def _read(self) -> list[Credential]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreUnusable(
                f"the tokens in {self.path} can't be read: {error.strerror}"
            ) from None
        try:
            file = msgspec.json.decode(content, type=_File)
        except msgspec.MsgspecError as error:
            raise StoreUnusable(
                f"{self.path} is no file of tokens ({error}); move it away to begin a new one"
            ) from None
        if file.version != VERSION:
            raise StoreUnusable(
                f"{self.path} is of version {file.version}, which this version can't read"
            )
        return file.tokens

    def _change(self, change: Callable[[list[Credential]], list[Credential]]) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                kept = self._read()
                changed = change(kept)
                if changed != kept:
                    self._write(changed)
        except OSError as error:
            raise StoreUnusable(
                f"the tokens in {self.path} can't be written: {error.strerror}"
            ) from None

    def _write(self, tokens: list[Credential]) -> None:
        content = msgspec.json.format(msgspec.json.encode(_File(tokens)), indent=1)
        self._write_whole(self.path, content)

    def _write_whole(self, path: Path, content: bytes) -> None:
        """Write a file that only its owner can read, and move it into place."""
        handle, name = tempfile.mkstemp(prefix=".tokens-", dir=self.path.parent)  # mode 0600
        try:
            with open(handle, "wb") as file:
                file.write(content + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def home() -> Path:
    """The folder in which this user's tokens are."""
    if chosen := os.environ.get("TABLETURN_HOME"):
        return Path(chosen)
    if state := os.environ.get("XDG_STATE_HOME"):
        return Path(state) / "tableturn"
    try:
        return Path.home() / ".local" / "state" / "tableturn"
    except RuntimeError:
        raise StoreUnusable(
            "there is no home directory to keep tokens in; set TABLETURN_HOME"
        ) from None


def key(server: Address) -> str:
    """The name of a server in the store: the same for all names of this machine."""
    if server.loopback and not server.target.startswith("unix:"):
        _, _, port = server.target.rpartition(":")
        return f"localhost:{port}"
    return server.text


def _read_machine(path: Path) -> str:
    """The random part of this machine's name; empty if there is none, or a damaged one."""
    try:
        kept = path.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    return kept if _MACHINE.fullmatch(kept) else ""


def _what(credential: Credential) -> tuple[str, str, Scope, int, int]:
    """What a credential opens."""
    return (
        credential.server,
        credential.table,
        credential.scope,
        credential.seat,
        credential.uid,
    )
