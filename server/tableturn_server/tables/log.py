"""The log of a table: one entry for each accepted change, and the hash of its turns."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256

import msgspec

from tableturn import notation
from tableturn_server.rules.actions import Action


class ChangeKind(IntEnum):
    """What kind of change an entry tells of, numbered as `tableturn.v1.ChangeKind`."""

    CREATE = 1
    TAKE_SEAT = 2
    LEAVE_SEAT = 3
    START = 4
    STAGE = 5
    UNDO = 6
    CONFIRM = 7
    ASK_TAKEBACK = 8
    TAKEBACK = 9
    PAUSE = 10
    RESUME = 11
    DROP = 12
    IMPORT = 13
    PANEL = 14
    CONFIRMATION = 15
    REMATCH = 16
    ADD_TIME = 17
    TIME_OUT = 18
    STAND_IN = 19
    COME_BACK = 20
    VOTE_DROP = 21
    PASS_HOST = 22
    OUTAGE = 23
    RESEAT = 24


class LogEntry(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """One accepted change, as the store keeps it.

    `actions` are those of this change; `turn` is the number of the turn that it
    confirms (0 for others) and `played` all actions of that turn, so that the
    entries of turns alone replay a game. `lines` are for everybody, `private`
    lines for one seat each; `turned_up` are those of the lines that tell what had
    been hidden before. `bot` says that a bot took the turn that was confirmed, sitting there
    or standing in.
    `shown` are the actions as others than the seat may see them; empty if they may see all.
    `clocks` are the clocks that it changed: the seat, its deadline (0: none) and what was left,
    so that the log tells when time was up without anybody's clock (C1). `timed` says that the
    turn was ended because its time was up.
    `time` is in milliseconds since 1970, UTC.
    """

    revision: int
    time: int
    kind: ChangeKind
    seat: int = 0
    turn: int = 0
    actions: tuple[Action, ...] = ()
    played: tuple[Action, ...] = ()
    lines: tuple[str, ...] = ()
    turned_up: tuple[str, ...] = ()
    private: tuple[tuple[int, str], ...] = ()
    bot: bool = False
    shown: tuple[Action, ...] = ()
    clocks: tuple[tuple[int, int, int], ...] = ()
    timed: bool = False

    def actions_for(self, seat: int | None) -> tuple[Action, ...]:
        """The actions as a seat may see them, or a spectator (None)."""
        return self.shown if self.shown and seat != self.seat else self.actions

    def lines_for(self, seat: int | None) -> tuple[str, ...]:
        """What a seat may read of the entry, or a spectator (None)."""
        return self.lines + tuple(line for to, line in self.private if to == seat)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(LogEntry)


def encode_entry(entry: LogEntry) -> bytes:
    """The entry as the store keeps it."""
    return _encoder.encode(entry)


def decode_entry(data: bytes) -> LogEntry:
    """The entry that `encode_entry` wrote. Raises ValueError where it was not."""
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise ValueError(f"the log entry can't be read: {error}") from error


@lru_cache(maxsize=4096)
def text(action: Action) -> str:
    """The text form of an action, such as `move C3 dropping red`."""
    fields = {
        name: value
        for name in action.__struct_fields__
        if (value := getattr(action, name)) is not None
    }
    return notation.format(action.kind, fields)


def turn_line(seat: int, actions: Sequence[Action]) -> str:
    """A confirmed turn on one line, such as `seat 1: move C3; trade 2`."""
    return f"seat {seat}: " + ("; ".join(map(text, actions)) or "-")


def drop_line(seat: int) -> str:
    """A seat that left the game for good, on one line."""
    return f"seat {seat} is dropped"


def first_hash(game: str, seats: int) -> bytes:
    """The log hash of a game in which nobody has taken a turn."""
    return sha256(f"{game}, {seats} seats".encode()).digest()


def next_hash(before: bytes, line: str) -> bytes:
    """The log hash after one more confirmed turn (`turn_line`) or drop (`drop_line`)."""
    return sha256(before + line.encode()).digest()
