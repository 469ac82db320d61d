"""A whole table as one document: what a backup or a move to another service needs.

The document is JSON with names, for people and programs:

    {"format": "tableturn-table", "version": 1,
     "making": {...}, "state": {...}, "log": [{...}, ...], "sha256": "..."}

`making` and `state` are what the store keeps, `log` has every accepted change, and `sha256`
covers the rest. It holds what is hidden, so it is never given to a player of a running game.
Bots travel with the table; panels are hardware and stay where they are, and so does a rematch.

Reading trusts nothing: the checksum is compared, everything is decoded strictly, and then the
game is played again from its seed, turn by turn; the position, the hidden half and the log hash
that come out must be those of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from tableturn_server.tables import clocks
from tableturn_server.tables.documents import (
    FORMAT,
    MOST_BYTES,
    SKEW,
    STAY,
    VERSION,
    Json,
    Recorded,
    at,
    bad,
    checksum,
    named,
    parsed,
    read_log,
    read_making,
    read_state,
)
from tableturn_server.tables.history import replay, standing
from tableturn_server.tables.import_checks import check_people, check_time
from tableturn_server.tables.log import ChangeKind, LogEntry, first_hash
from tableturn_server.tables.making import check_table_id
from tableturn_server.tables.state import SNAPSHOT_EVERY, Status, Table, game_of

__all__ = ["FORMAT", "MOST_BYTES", "VERSION", "Imported", "Recorded", "export", "read"]


class Imported(msgspec.Struct, frozen=True):
    """A table out of a document, its log, and snapshots for takebacks by their turns."""

    table: Table
    log: tuple[Recorded, ...]
    snapshots: tuple[tuple[int, Table], ...]


# -- writing -------------------------------------------------------------------------------


def export(table: Table, log: Sequence[Recorded]) -> bytes:
    """The table and all of its log as a document."""
    state = named(table)
    making = named(state.pop("making"))
    for name in ("clock", "absence"):
        making[name] = named(making[name])
    for name in STAY:
        del state[name]
    for name in ("seats", "clocks"):
        state[name] = [named(value) for value in state[name]]
    entries = [{"change_id": kept.change_id, **named(kept.entry)} for kept in log]
    whole: Json = {
        "format": FORMAT,
        "version": VERSION,
        "making": making,
        "state": state,
        "log": entries,
    }
    plain: Json = msgspec.to_builtins(whole)
    return msgspec.json.encode({**plain, "sha256": checksum(plain)})


# -- reading and playing it again ------------------------------------------------------------


def read(document: bytes, *, table_id: str, now: int) -> Imported:
    """The table of a document under its own id or another one, at one revision more.

    Raises Refused with BAD_IMPORT and the place of the fault.
    """
    whole = parsed(document)
    making = read_making(whole["making"])
    table = read_state(whole["state"], making)
    if not 0 <= making.created <= now + SKEW:
        raise bad("making.created", "the table was made in the past")
    if not making.created <= table.stamp <= now + SKEW:
        raise bad("state.stamp", "the table was changed in the past, after it was made")
    log = read_log(whole["log"], table)
    started, turns, played = _replayed(table, [kept.entry for kept in log])
    check_people(table)
    check_time(table)
    revision = table.revision + 1
    stamp = max(now, table.stamp)
    moved = msgspec.structs.replace(
        _excused(table, stamp),
        making=msgspec.structs.replace(making, table_id=table_id or making.table_id),
        revision=revision,
        stamp=stamp,
        bot_turns=played.bot_turns,
        drop_turn=played.drop_turn,
    )
    with at("making.table_id"):
        check_table_id(moved.making.table_id)
    entry = LogEntry(
        revision=revision,
        time=stamp,
        kind=ChangeKind.IMPORT,
        lines=(f"the table is imported as it was at revision {table.revision}",),
        clocks=clocks.moved(table.clocks, moved.clocks),
    )
    change_id = sha256(f"{log[-1].change_id} {moved.making.table_id}".encode()).hexdigest()[:16]
    snapshots = tuple(_snapshots(started, turns)) if started is not None else ()
    return Imported(moved, (*log, Recorded(change_id, entry)), snapshots)


def _excused(table: Table, now: int) -> Table:
    """The table with nobody charged for the time since its last change.

    A document doesn't tell when it was written, and nobody could play while it was one: whoever
    is asked has the time that was left at the last change, and so has a seat that was left until
    it counts as absent. Outages of this service before now are none of the table's.
    """
    away = now - table.stamp
    seats = (
        msgspec.structs.replace(seat, left_at=seat.left_at + away) if seat.left_at else seat
        for seat in table.seats
    )
    return msgspec.structs.replace(
        table,
        seats=tuple(seats),
        clocks=tuple(clocks.excused(clock, table.stamp, now) for clock in table.clocks),
        standing_since=table.standing_since + away if table.standing_since else 0,
        credited=now if table.clocks else 0,
    )


def _replayed(
    table: Table, entries: Sequence[LogEntry]
) -> tuple[Table | None, tuple[LogEntry, ...], Table]:
    """The table at its start (None before that), the turns that stand, and the table after them.

    The turns are played, and what comes out is compared.
    """
    if table.status is Status.OPEN:
        if table.open is not None or table.hidden is not None or table.turns:
            raise bad("state.status", "the game has not started, but has a position")
        return None, (), table
    with at("log"):
        try:
            turns = standing(entries, 0, table.turns)
        except KeyError as error:
            raise bad("log", f"turn {error} is missing") from error
    resolved = game_of(table).setup(table.making.seed)
    started = msgspec.structs.replace(
        table,
        revision=1,
        open=resolved.open,
        hidden=resolved.hidden,
        turns=0,
        log_hash=first_hash(table.making.game, table.making.seats),
        staged=((),) * len(table.seats),
    )
    played = started
    for turn in turns:
        with at(f"log[{turn.revision - 1}]"):
            played = replay(played, (turn,))
    for name in ("open", "hidden", "log_hash"):
        if getattr(played, name) != getattr(table, name):
            raise bad(
                f"state.{name}", "playing the log again from its seed leads to another position"
            )
    over = game_of(table).outcome(table.position) is not None
    if over is not (table.status is Status.FINISHED):
        raise bad("state.status", "the status doesn't fit the position")
    for number in range(1, len(table.seats) + 1):
        with at(f"state.staged[{number - 1}]"):
            _check_staged(table, number)
    return started, turns, played


def _check_staged(table: Table, number: int) -> None:
    """What a seat has staged is legal."""
    game = game_of(table)
    open_ = table.position
    for action in table.staged[number - 1]:
        open_ = game.stage(open_, number, action)


def _snapshots(started: Table, turns: Sequence[LogEntry]) -> Iterator[tuple[int, Table]]:
    """The snapshots that the store would have."""
    table = started
    yield 0, table
    for turn in turns:
        table = replay(table, (turn,))
        if table.turns % SNAPSHOT_EVERY == 0:
            yield table.turns, msgspec.structs.replace(table, revision=turn.revision)
