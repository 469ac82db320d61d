"""What the store takes and gives: plain values, without any I/O."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks, and under which id: the same pair is never carried out twice at one table.

    `body_hash` is a digest (any length) of what was asked; another one under the same id means
    that a client has used an id twice (case S8).
    """

    principal: str
    request_id: str
    body_hash: bytes

    def digests(self) -> tuple[bytes, bytes]:
        """16 bytes each for the id and the body: bounded, whatever a client sends."""
        return (
            blake2b(self.request_id.encode(), digest_size=16).digest(),
            blake2b(self.body_hash, digest_size=16).digest(),
        )


@dataclass(frozen=True, slots=True)
class Stored:
    """A table as the store has it: its revision, that change's random id, its state's bytes."""

    revision: int
    change_id: str
    blob: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a table's state at a turn, from which takebacks are replayed."""

    turn: int
    blob: bytes


@dataclass(frozen=True, slots=True)
class Past:
    """How a new state is kept for spectators who see everything later; times in milliseconds.

    `stamp` is the state's time and `before` that of the state before it. `delay` is how much
    later spectators see it. `blob` is the state's bytes where they are not those of the table.
    """

    stamp: int
    before: int
    delay: int
    blob: bytes = b""


@dataclass(frozen=True, slots=True)
class PastState:
    """A state that is kept for spectators, and when the table was in it first."""

    stamp: int
    stored: Stored


@dataclass(frozen=True, slots=True)
class Write:
    """One accepted change: the new state, its one log entry, the outcome to tell on a replay."""

    blob: bytes
    entry: bytes
    outcome: bytes
    change_id: str
    snapshot: Snapshot | None = None
    past: Past | None = None


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One entry of a table's log: the revision that it made, that change's id, its bytes."""

    revision: int
    change_id: str
    entry: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the index. The table may not exist (yet): its creation may have failed."""

    table_id: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Page:
    """Tables of the index, newest first; `cursor` continues, or is empty at the end."""

    tables: list[Listed]
    cursor: str


@dataclass(frozen=True, slots=True)
class Committed:
    """The change is durable and made this revision."""

    revision: int


@dataclass(frozen=True, slots=True)
class Known:
    """This very request was carried out before: its revision then, and its outcome."""

    revision: int
    outcome: bytes


@dataclass(frozen=True, slots=True)
class Reused:
    """The request id belongs to a request with another body; nothing was done."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The table has another last change than the decision was based on; here is the fresh state."""

    stored: Stored


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such table."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing was to be written, and the decision rests on the current revision."""

    revision: int


@dataclass(frozen=True, slots=True)
class Exists:
    """A table of this id is there already; nothing was done."""

    stored: Stored


CommitResult: TypeAlias = Committed | Known | Reused | Conflict | Missing | Unchanged
CreateResult: TypeAlias = Committed | Known | Reused | Exists
