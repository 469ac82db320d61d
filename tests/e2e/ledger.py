"""What a player was told that it had done, compared with what the table's log says."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from tableturn.v1.actions_pb2 import Action
from tableturn.v1.table_pb2 import ChangeKind, LogEntry

KINDS = {
    "act": ChangeKind.CHANGE_KIND_STAGE,
    "act and confirm": ChangeKind.CHANGE_KIND_CONFIRM,
    "confirm": ChangeKind.CHANGE_KIND_CONFIRM,
    "undo": ChangeKind.CHANGE_KIND_UNDO,
}


@dataclass(frozen=True)
class Done:
    """One request that was acknowledged: the revision that it was told, and what it had asked."""

    table_id: str
    seat: int
    request_id: str
    did: str
    revision: int
    replayed: bool
    actions: list[str] = field(default_factory=list)
    """Each action as hexadecimal digits of its bytes."""


@dataclass(frozen=True)
class Told:
    """A point of a table's history that a player's watch told of."""

    table_id: str
    seat: int
    revision: int
    change_id: str


@dataclass(frozen=True)
class Fault:
    """Something that must never be."""

    table_id: str
    seat: int
    what: str


Line = Done | Told | Fault
_LINES: dict[str, type[Line]] = {kind.__name__: kind for kind in (Done, Told, Fault)}


def write(file: IO[str], line: Line) -> None:
    """Note something at once, so that it outlives whoever notes it."""
    file.write(json.dumps({"line": type(line).__name__, **asdict(line)}) + "\n")
    file.flush()


def read(path: Path) -> list[Line]:
    """All that was noted."""
    found: list[Line] = []
    for text in path.read_text().splitlines():
        fields = json.loads(text)
        found.append(_LINES[fields.pop("line")](**fields))
    return found


def check(lines: Iterable[Line], logs: dict[str, Sequence[LogEntry]], players: set[int]) -> int:
    """Compare ledgers with the logs of their tables; return how many changes there were.

    Each acknowledged request is in the log exactly once, at the revision that was told, with its
    seat and actions; whatever the players have done is acknowledged; and what was told to a
    watcher is still so.
    """
    done: dict[str, dict[int, Done]] = defaultdict(dict)
    for line in lines:
        match line:
            case Fault():
                raise AssertionError(line)
            case Told():
                entry = logs[line.table_id][line.revision - 1]
                assert (entry.revision, entry.change_id) == (line.revision, line.change_id), line
            case Done():
                twice = done[line.table_id].setdefault(line.revision, line)
                assert twice is line, (twice, line)
    count = 0
    for table_id, entries in logs.items():
        assert [e.revision for e in entries] == list(range(1, len(entries) + 1)), table_id
        assert len({e.change_id for e in entries}) == len(entries)
        for entry in entries:
            if entry.kind in KINDS.values() and entry.seat in players:
                told = done[table_id].pop(entry.revision, None)
                assert told is not None, f"nobody was told of {table_id} {entry}"
                _compare(told, entry)
                count += 1
        assert not done[table_id], f"acknowledged, and not in the log: {done[table_id]}"
    return count


def _compare(told: Done, entry: LogEntry) -> None:
    assert entry.seat == told.seat, (told, entry)
    assert entry.kind == KINDS[told.did], (told, entry)
    if told.did != "undo":
        actions = [action.SerializeToString(deterministic=True).hex() for action in entry.actions]
        assert actions == [_as_others_see(action) for action in told.actions], (told, entry)


def _as_others_see(encoded: str) -> str:
    """An action as a spectator's log has it: which card is put away is the owner's (SS-R7)."""
    action = Action.FromString(bytes.fromhex(encoded))
    if action.HasField("move"):
        action.move.card = ""
    return action.SerializeToString(deterministic=True).hex()
