"""A whole table as one document: what a backup or a move to another service needs.

The document is JSON with names, for people and programs:

    {"format": "tableturn-table", "version": 1,
     "making": {...}, "state": {...}, "log": [{...}, ...], "sha256": "..."}

`making` and `state` are what the store keeps, `log` has every accepted change, and `sha256`
covers the rest. It holds what is hidden, so it is never given to a player of a running game.

Reading trusts nothing: the checksum is compared, everything is decoded strictly, and then the
game is played again from its seed, turn by turn; the position, the hidden half and the log hash
that come out must be those of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

from tableturn_server.rules import catalog
from tableturn_server.rules.actions import check_bounds
from tableturn_server.rules.choices import Illegal
from tableturn_server.rules.game import BadOption
from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.tables.history import replay, standing
from tableturn_server.tables.log import ChangeKind, LogEntry, first_hash, text
from tableturn_server.tables.making import (
    NAME_LENGTH,
    TITLE_LENGTH,
    can_be_seen,
    check_table_id,
    check_token,
    clean_text,
)
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import (
    SEAT_COLORS,
    SNAPSHOT_EVERY,
    Making,
    Seat,
    Status,
    Table,
    component_set,
    game_of,
    state_type,
)

FORMAT = "tableturn-table"
VERSION = 1
MOST_BYTES = 16 << 20
_LONGEST_CHANGE_ID = 64
_LONGEST_TEXT = 1000
_MOST_NUMBER = 2**53
_SKEW = 24 * 60 * 60 * 1000
"""Milliseconds that the clock of another service may be ahead."""
_DOCUMENTS = ("custom_set",)
"""Texts that may be long: they are checked by whoever reads them."""

T = TypeVar("T")
Json = dict[str, Any]


class Recorded(msgspec.Struct, frozen=True):
    """A log entry with the id of its change."""

    change_id: str
    entry: LogEntry


class Imported(msgspec.Struct, frozen=True):
    """A table out of a document, its log, and snapshots for takebacks by their turns."""

    table: Table
    log: tuple[Recorded, ...]
    snapshots: tuple[tuple[int, Table], ...]


# -- writing -------------------------------------------------------------------------------


def export(table: Table, log: Sequence[Recorded]) -> bytes:
    """The table and all of its log as a document."""
    state = _named(table)
    making = _named(state.pop("making"))
    state["seats"] = [_named(seat) for seat in table.seats]
    entries = [{"change_id": kept.change_id, **_named(kept.entry)} for kept in log]
    whole: Json = {
        "format": FORMAT,
        "version": VERSION,
        "making": making,
        "state": state,
        "log": entries,
    }
    plain: Json = msgspec.to_builtins(whole)
    return msgspec.json.encode({**plain, "sha256": _checksum(plain)})


def _named(value: msgspec.Struct) -> Json:
    """A value's fields by name; the store keeps them by place."""
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _checksum(whole: Json) -> str:
    """The hash of a document without its checksum; white space and order don't matter."""
    return sha256(_json(whole)).hexdigest()


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


# -- reading -------------------------------------------------------------------------------


def read(document: bytes, *, table_id: str, now: int) -> Imported:
    """The table of a document under its own id or another one, at one revision more.

    Raises Refused with BAD_IMPORT and the place of the fault.
    """
    whole = _parsed(document)
    making = _making(whole["making"])
    table = _state(whole["state"], making)
    if not 0 <= making.created <= now + _SKEW:
        raise _bad("making.created", "the table was made in the past")
    if not making.created <= table.stamp <= now + _SKEW:
        raise _bad("state.stamp", "the table was changed in the past, after it was made")
    log = _log(whole["log"], table)
    started, turns = _replayed(table, [kept.entry for kept in log])
    revision = table.revision + 1
    stamp = max(now, table.stamp)
    moved = msgspec.structs.replace(
        table,
        making=msgspec.structs.replace(making, table_id=table_id or making.table_id),
        revision=revision,
        stamp=stamp,
    )
    with _at("making.table_id"):
        check_table_id(moved.making.table_id)
    entry = LogEntry(
        revision=revision,
        time=stamp,
        kind=ChangeKind.IMPORT,
        lines=(f"the table is imported as it was at revision {table.revision}",),
    )
    change_id = sha256(f"{log[-1].change_id} {moved.making.table_id}".encode()).hexdigest()[:16]
    snapshots = tuple(_snapshots(started, turns)) if started is not None else ()
    return Imported(moved, (*log, Recorded(change_id, entry)), snapshots)


def _bad(place: str, sentence: str) -> Refused:
    return Refused(Reason.BAD_IMPORT, f"{place}: {sentence}", place=place)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where in the document a fault is."""
    try:
        yield
    except Refused as refused:
        if refused.reason is Reason.BAD_IMPORT:
            raise
        raise _bad(place, refused.sentence) from refused
    except (msgspec.ValidationError, BadOption, Illegal, ValueError) as error:
        raise _bad(place, str(error)) from error
    except RecursionError as error:
        raise _bad(place, "nested too deep") from error


def _parsed(document: bytes) -> Json:
    """The document's parts, of the right format, unchanged since it was written."""
    if len(document) > MOST_BYTES:
        raise _bad("$", f"a document has at most {MOST_BYTES} bytes, not {len(document)}")
    with _at("$"):
        whole = msgspec.json.decode(document)
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise _bad("format", f"this is no export of a table ({FORMAT})")
    version = whole.get("version")
    if type(version) is not int:
        raise _bad("version", "the version of the format is missing, or no whole number")
    if version != VERSION:
        newer = version > VERSION
        cure = "a newer version of the service is needed" if newer else "no version reads it"
        raise _bad("version", f"version {str(version)[:20]} of the format is not {VERSION}: {cure}")
    given = whole.pop("sha256", None)
    if given != _checksum(whole):
        raise _bad("sha256", "the document was changed after it was written, or is incomplete")
    _only(whole, ("format", "version", "making", "state", "log"), "$")
    for name in ("making", "state", "log"):
        _check_values(whole[name], name)
    return whole


def _check_values(found: Any, place: str) -> None:
    """Refuse numbers and texts that no table has, wherever they stand."""
    if isinstance(found, dict):
        for name, value in found.items():
            _check_values(name, place)
            if name not in _DOCUMENTS:
                _check_values(value, f"{place}.{name}")
    elif isinstance(found, list):
        for index, value in enumerate(found):
            _check_values(value, f"{place}[{index}]")
    elif isinstance(found, str):
        if len(found) > _LONGEST_TEXT or not can_be_seen(found):
            raise _bad(place, "the text is too long, or has characters that can't be seen")
    elif isinstance(found, int | float) and not -_MOST_NUMBER <= found <= _MOST_NUMBER:
        raise _bad(place, "the number is out of range")


def _only(found: Any, names: Sequence[str], place: str) -> Json:
    """An object with exactly these names."""
    if not isinstance(found, dict):
        raise _bad(place, "an object is expected")
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown:
        what = f"{missing[0]} is missing" if missing else f"{unknown[0][:40]} is not known"
        raise _bad(place, what)
    return found


def _typed(found: Any, kind: Any, struct: type[Any], place: str) -> Any:
    """An object as a struct, and nothing in it that the struct has no place for."""
    names = struct.__struct_fields__
    by_place = [_only(found, names, place)[name] for name in names]
    with _at(place):
        value = msgspec.convert(by_place, kind)
        # A list with items too many would be cut: what is written again must be the same.
        again = msgspec.to_builtins(value)
        for name, before, after in zip(names, by_place, again, strict=True):
            if _json(before) != _json(after):
                raise _bad(f"{place}.{name}", "it holds something that has no place there")
    return value


def _making(found: Any) -> Making:
    """What the table was made with: a game that this version knows, with its components."""
    making: Making = _typed(found, Making, Making, "making")
    kind = catalog.GAMES.get(making.game)
    if kind is None:
        raise _bad("making.game", f"{making.game!r} is no game that this version knows")
    if making.rules_version != kind.rules_version:
        raise _bad(
            "making.rules_version",
            f"it is played by version {making.rules_version} of the rules of {making.game}, "
            f"and this service knows version {kind.rules_version}",
        )
    with _at("making.title"):
        if clean_text(making.title, "title", TITLE_LENGTH, empty=True) != making.title:
            raise ValueError("the title is not in its normal form")
    with _at("making.host"):
        check_token(making.host, "host")
    if making.watch:
        with _at("making.watch"):
            check_token(making.watch, "watch")
    if len(making.seed) != SEED_BYTES:
        raise _bad("making.seed", f"a seed has {SEED_BYTES} bytes")
    if making.set_name != (kind.component_set or "") and not making.custom_set:
        raise _bad("making.set_name", f"{making.game} is not played with {making.set_name!r}")
    with _at("making.custom_set" if making.custom_set else "making.set_sha256"):
        chosen = component_set(making)
    if (chosen.sha256 if chosen else b"") != making.set_sha256:
        raise _bad(
            "making.set_sha256",
            "the component set of this service has other values than the one it was played with",
        )
    with _at("making.options"):
        if catalog.complete_options(kind, making.options) != making.options:
            raise _bad("making.options", "an option is missing")
        catalog.bind(making.game, making.seats, making.options, chosen)
    return making


def _state(found: Any, making: Making) -> Table:
    """The table's state, complete and consistent in itself."""
    kind = state_type(making.game)
    names = [name for name in kind.__origin__.__struct_fields__ if name != "making"]
    state = dict(_only(found, names, "state"))
    if not isinstance(state["seats"], list):
        raise _bad("state.seats", "a list is expected")
    # Documents of earlier versions don't say since when.
    named = [{"since": 0, **s} if isinstance(s, dict) else s for s in state["seats"]]
    seats = [_typed(s, Seat, Seat, f"state.seats[{n}]") for n, s in enumerate(named)]
    state["seats"] = msgspec.to_builtins(seats)
    state["making"] = msgspec.to_builtins(making)
    whole = {name: state[name] for name in kind.__origin__.__struct_fields__}
    table: Table = _typed(whole, kind, kind.__origin__, "state")
    for name in ("seats", "asked_at", "staged"):
        if len(getattr(table, name)) != making.seats:
            raise _bad(f"state.{name}", f"{making.seats} seats are expected")
    if table.revision < 1 or not all(0 <= at <= table.revision for at in table.asked_at):
        raise _bad("state.asked_at", "a revision is out of range")
    if table.turns < 0:
        raise _bad("state.turns", "the number of turns is out of range")
    if not 0 <= table.turned_at <= table.revision:
        raise _bad("state.turned_at", "the revision is out of range")
    asked = table.takeback_asked
    if len(set(asked)) != len(asked) or not set(asked) <= set(range(1, making.seats + 1)):
        raise _bad(
            "state.takeback_asked", f"seats from 1 to {making.seats} are expected, each once"
        )
    for number, seat in enumerate(table.seats):
        with _at(f"state.seats[{number}].name"):
            if seat.name and clean_text(seat.name, "name", NAME_LENGTH) != seat.name:
                raise ValueError("the name is not in its normal form")
        if not 0 <= seat.since <= table.revision:
            raise _bad(f"state.seats[{number}].since", "the revision is out of range")
        if seat.color != SEAT_COLORS[number]:
            raise _bad(f"state.seats[{number}].color", f"{SEAT_COLORS[number]} is expected")
        for action in table.staged[number]:
            with _at(f"state.staged[{number}]"):
                check_bounds(action)
        if seat.token:
            with _at(f"state.seats[{number}].token"):
                check_token(seat.token, "token")
    return table


def _log(found: Any, table: Table) -> tuple[Recorded, ...]:
    """The log: an entry for each revision, in order."""
    if not isinstance(found, list) or len(found) != table.revision:
        raise _bad("log", f"{table.revision} entries are expected, one for each revision")
    log = []
    latest = table.making.created
    for index, item in enumerate(found):
        place = f"log[{index}]"
        fields = dict(_only(item, ("change_id", *LogEntry.__struct_fields__), place))
        change_id = fields.pop("change_id")
        if not isinstance(change_id, str) or not 1 <= len(change_id) <= _LONGEST_CHANGE_ID:
            raise _bad(f"{place}.change_id", "a short text is expected")
        entry: LogEntry = _typed(fields, LogEntry, LogEntry, place)
        if entry.revision != index + 1:
            raise _bad(f"{place}.revision", f"revision {index + 1} is expected")
        if not latest <= entry.time <= table.stamp:
            raise _bad(f"{place}.time", "the times of entries never go back")
        latest = entry.time
        _check_entry(entry, table, place)
        log.append(Recorded(change_id, entry))
    return tuple(log)


def _check_entry(entry: LogEntry, table: Table, place: str) -> None:
    """Refuse seats, turns and actions that can't be."""
    seats = [entry.seat, *(seat for seat, _ in entry.private)]
    if not all(0 <= seat <= table.making.seats for seat in seats):
        raise _bad(f"{place}.seat", f"a seat from 0 to {table.making.seats} is expected")
    if not 0 <= entry.turn <= entry.revision:
        raise _bad(f"{place}.turn", "the number of the turn is out of range")
    for action in (*entry.actions, *entry.played):
        with _at(place):
            check_bounds(action)
            text(action)


# -- playing it again ----------------------------------------------------------------------


def _replayed(
    table: Table, entries: Sequence[LogEntry]
) -> tuple[Table | None, tuple[LogEntry, ...]]:
    """The table at its start (None before that) and the turns that stand, played and compared."""
    if table.status is Status.OPEN:
        if table.open is not None or table.hidden is not None or table.turns:
            raise _bad("state.status", "the game has not started, but has a position")
        return None, ()
    with _at("log"):
        try:
            turns = standing(entries, 0, table.turns)
        except KeyError as error:
            raise _bad("log", f"turn {error} is missing") from error
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
        with _at(f"log[{turn.revision - 1}]"):
            played = replay(played, (turn,))
    for name in ("open", "hidden", "log_hash"):
        if getattr(played, name) != getattr(table, name):
            raise _bad(
                f"state.{name}", "playing the log again from its seed leads to another position"
            )
    over = game_of(table).outcome(table.position) is not None
    if over is not (table.status is Status.FINISHED):
        raise _bad("state.status", "the status doesn't fit the position")
    for number in range(1, len(table.seats) + 1):
        with _at(f"state.staged[{number - 1}]"):
            _check_staged(table, number)
    return started, turns


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
