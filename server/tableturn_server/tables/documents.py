"""The parts of an exported document, each checked when it is read.

Nothing in a document is trusted: every part is decoded strictly, and what can't be is refused
with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import msgspec

from tableturn_server.rules import catalog
from tableturn_server.rules.actions import check_bounds
from tableturn_server.rules.choices import Illegal
from tableturn_server.rules.game import BadOption
from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.tables.log import ChangeKind, LogEntry, text
from tableturn_server.tables.making import (
    NAME_LENGTH,
    TITLE_LENGTH,
    can_be_seen,
    check_absence,
    check_clock,
    check_delay,
    check_token,
    clean_text,
)
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import (
    SEAT_COLORS,
    Absence,
    Clock,
    Confirmation,
    Making,
    Occupant,
    Seat,
    SeatClock,
    Table,
    component_set,
    state_type,
)

Json = dict[str, Any]

FORMAT = "tableturn-table"
VERSION = 1
MOST_BYTES = 16 << 20
_LONGEST_CHANGE_ID = 64
_LONGEST_TEXT = 1000
_MOST_NUMBER = 2**53
SKEW = 24 * 60 * 60 * 1000
"""Milliseconds that the clock of another service may be ahead."""
_DOCUMENTS = ("custom_set",)
"""Texts that may be long: they are checked by whoever reads them."""
STAY = ("panels", "next_table", "bot_turns", "drop_turn", "waits_at")
"""What of a state is not written: it belongs to the service, or follows from the log."""


def named(value: msgspec.Struct) -> Json:
    """A value's fields by name; the store keeps them by place."""
    return {name: getattr(value, name) for name in value.__struct_fields__}


_LATER: dict[str, Json] = {
    "making": {
        "left_out": 0,
        "clock": named(Clock()),
        "absence": named(Absence()),
        "private": False,
        "spectator_delay": 0,
        "host_stays": False,
        "rematch": False,
    },
    "state": {
        "paused_at": 0,
        "clocks": [],
        "standing_since": 0,
        "paused_time": 0,
        "between_time": 0,
        "credited": 0,
        "votes": [],
        "host_seat": 0,
        "host_gone": False,
        "idle_turns": 0,
    },
    "clock": {"again": False},
    "seat": {
        "since": 0,
        "bot": "",
        "confirmation": Confirmation.EITHER,
        "at_panel": False,
        "stand_in": "",
        "stand_in_cause": 0,
        "left_at": 0,
        "plays_since": 0,
    },
    "entry": {"bot": False, "clocks": [], "timed": False},
}
"""What documents of earlier versions don't say."""


class Recorded(msgspec.Struct, frozen=True):
    """A log entry with the id of its change."""

    change_id: str
    entry: LogEntry


def checksum(whole: Json) -> str:
    """The hash of a document without its checksum; white space and order don't matter."""
    return sha256(_json(whole)).hexdigest()


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def bad(place: str, sentence: str) -> Refused:
    """The refusal of a document, with the place of its fault."""
    return Refused(Reason.BAD_IMPORT, f"{place}: {sentence}", place=place)


@contextmanager
def at(place: str) -> Iterator[None]:
    """Say where in the document a fault is."""
    try:
        yield
    except Refused as refused:
        if refused.reason is Reason.BAD_IMPORT:
            raise
        raise bad(place, refused.sentence) from refused
    except (msgspec.ValidationError, BadOption, Illegal, ValueError) as error:
        raise bad(place, str(error)) from error
    except RecursionError as error:
        raise bad(place, "nested too deep") from error


def parsed(document: bytes) -> Json:
    """The document's parts, of the right format, unchanged since it was written."""
    if len(document) > MOST_BYTES:
        raise bad("$", f"a document has at most {MOST_BYTES} bytes, not {len(document)}")
    with at("$"):
        whole = msgspec.json.decode(document)
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise bad("format", f"this is no export of a table ({FORMAT})")
    version = whole.get("version")
    if type(version) is not int:
        raise bad("version", "the version of the format is missing, or no whole number")
    if version != VERSION:
        newer = version > VERSION
        cure = "a newer version of the service is needed" if newer else "no version reads it"
        raise bad("version", f"version {str(version)[:20]} of the format is not {VERSION}: {cure}")
    given = whole.pop("sha256", None)
    if given != checksum(whole):
        raise bad("sha256", "the document was changed after it was written, or is incomplete")
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
            raise bad(place, "the text is too long, or has characters that can't be seen")
    elif isinstance(found, int | float) and not -_MOST_NUMBER <= found <= _MOST_NUMBER:
        raise bad(place, "the number is out of range")


def _only(found: Any, names: Sequence[str], place: str) -> Json:
    """An object with exactly these names."""
    if not isinstance(found, dict):
        raise bad(place, "an object is expected")
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown:
        what = f"{missing[0]} is missing" if missing else f"{unknown[0][:40]} is not known"
        raise bad(place, what)
    return found


def _typed(found: Any, kind: Any, struct: type[Any], place: str) -> Any:
    """An object as a struct, and nothing in it that the struct has no place for."""
    names = struct.__struct_fields__
    by_place = [_only(found, names, place)[name] for name in names]
    with at(place):
        value = msgspec.convert(by_place, kind)
        # A list with items too many would be cut: what is written again must be the same.
        again = msgspec.to_builtins(value)
        for name, before, after in zip(names, by_place, again, strict=True):
            if _json(before) != _json(after):
                raise bad(f"{place}.{name}", "it holds something that has no place there")
    return value


def read_making(found: Any) -> Making:
    """What the table was made with: a game that this version knows, with its components."""
    found = dict(_only(_with_later(found, "making"), Making.__struct_fields__, "making"))
    for name, struct in (("clock", Clock), ("absence", Absence)):
        value = _typed(found[name], struct, struct, f"making.{name}")
        found[name] = msgspec.to_builtins(value)
    making: Making = _typed(found, Making, Making, "making")
    kind = catalog.GAMES.get(making.game)
    if kind is None:
        raise bad("making.game", f"{making.game!r} is no game that this version knows")
    if making.rules_version != kind.rules_version:
        raise bad(
            "making.rules_version",
            f"it is played by version {making.rules_version} of the rules of {making.game}, "
            f"and this service knows version {kind.rules_version}",
        )
    with at("making.title"):
        if clean_text(making.title, "title", TITLE_LENGTH, empty=True) != making.title:
            raise ValueError("the title is not in its normal form")
    with at("making.host"):
        check_token(making.host, "host")
    if making.watch:
        with at("making.watch"):
            check_token(making.watch, "watch")
    if len(making.seed) != SEED_BYTES:
        raise bad("making.seed", f"a seed has {SEED_BYTES} bytes")
    if making.set_name != (kind.component_set or "") and not making.custom_set:
        raise bad("making.set_name", f"{making.game} is not played with {making.set_name!r}")
    with at("making.custom_set" if making.custom_set else "making.set_sha256"):
        chosen = component_set(making)
    if (chosen.sha256 if chosen else b"") != making.set_sha256:
        raise bad(
            "making.set_sha256",
            "the component set of this service has other values than the one it was played with",
        )
    with at("making.options"):
        if catalog.complete_options(kind, making.options) != making.options:
            raise bad("making.options", "an option is missing")
        catalog.bind(making.game, making.seats, making.options, chosen)
    if making.left_out < 0 or making.seats + making.left_out not in kind.seats:
        raise bad("making.left_out", f"{making.game} is not for so many seats")
    with at("making.clock"):
        check_clock(making.clock)
    with at("making.absence"):
        check_absence(making.absence)
    with at("making.spectator_delay"):
        check_delay(making.spectator_delay)
    if making.private and not making.unlisted:
        raise bad("making.private", "a private table is not listed")
    return making


def read_state(found: Any, making: Making) -> Table:
    """The table's state, complete and consistent in itself."""
    kind = state_type(making.game)
    fields = kind.__origin__.__struct_fields__
    names = [name for name in fields if name != "making" and name not in STAY]
    state = dict(_only(_with_later(found, "state"), names, "state"))
    for name, struct, what in (("seats", Seat, "seat"), ("clocks", SeatClock, "clock")):
        state[name] = _read_each(state[name], struct, what, f"state.{name}")
    state["making"] = msgspec.to_builtins(making)
    state.update(panels=[], next_table="", bot_turns=0, drop_turn=0, waits_at=[])
    whole = {name: state[name] for name in fields}
    table: Table = _typed(whole, kind, kind.__origin__, "state")
    for name in ("seats", "asked_at", "staged"):
        if len(getattr(table, name)) != making.seats:
            raise bad(f"state.{name}", f"{making.seats} seats are expected")
    if table.revision < 1 or not all(0 <= at <= table.revision for at in table.asked_at):
        raise bad("state.asked_at", "a revision is out of range")
    if table.turns < 0:
        raise bad("state.turns", "the number of turns is out of range")
    if not 0 <= table.idle_turns <= table.turns:
        raise bad("state.idle_turns", "the number of turns is out of range")
    for name in ("turned_at", "paused_at"):
        if not 0 <= getattr(table, name) <= table.revision:
            raise bad(f"state.{name}", "the revision is out of range")
    asked = table.takeback_asked
    if len(set(asked)) != len(asked) or not set(asked) <= set(range(1, making.seats + 1)):
        raise bad("state.takeback_asked", f"seats from 1 to {making.seats} are expected, each once")
    for number in range(making.seats):
        _check_seat(table, number)
    return table


def _read_each(found: Any, struct: type[Any], what: str, place: str) -> Any:
    """A list of objects, one for each seat."""
    if not isinstance(found, list):
        raise bad(place, "a list is expected")
    later = [_with_later(item, what) for item in found]
    each = [_typed(item, struct, struct, f"{place}[{n}]") for n, item in enumerate(later)]
    return msgspec.to_builtins(each)


def _with_later(found: Any, what: str) -> Any:
    """An object with the names that documents of earlier versions don't have."""
    return {**_LATER[what], **found} if isinstance(found, dict) else found


def _check_seat(table: Table, number: int) -> None:
    """Refuse a seat that no table has; `number` counts from 0, as in the document."""
    seat, place = table.seats[number], f"state.seats[{number}]"
    for name in ("name", "bot"):
        with at(f"{place}.{name}"):
            value = getattr(seat, name)
            if value and clean_text(value, name, NAME_LENGTH) != value:
                raise ValueError(f"the {name} is not in its normal form")
    if not 0 <= seat.since <= table.revision:
        raise bad(f"{place}.since", "the revision is out of range")
    if seat.color != SEAT_COLORS[number]:
        raise bad(f"{place}.color", f"{SEAT_COLORS[number]} is expected")
    if bool(seat.bot) is not (seat.occupant is Occupant.BOT) or (seat.bot and seat.token):
        raise bad(f"{place}.bot", "a bot has a name, and nobody else's token")
    if seat.at_panel and seat.occupant is not Occupant.PERSON:
        raise bad(f"{place}.at_panel", "only a person sits at a panel")
    if seat.token:
        with at(f"{place}.token"):
            check_token(seat.token, "token")
    for action in table.staged[number]:
        with at(f"state.staged[{number}]"):
            check_bounds(action)


def read_log(found: Any, table: Table) -> tuple[Recorded, ...]:
    """The log: an entry for each revision, in order."""
    if not isinstance(found, list) or len(found) != table.revision:
        raise bad("log", f"{table.revision} entries are expected, one for each revision")
    log = []
    latest = table.making.created
    for index, item in enumerate(found):
        place = f"log[{index}]"
        names = ("change_id", *LogEntry.__struct_fields__)
        fields = dict(_only(_with_later(item, "entry"), names, place))
        change_id = fields.pop("change_id")
        if not isinstance(change_id, str) or not 1 <= len(change_id) <= _LONGEST_CHANGE_ID:
            raise bad(f"{place}.change_id", "a short text is expected")
        entry: LogEntry = _typed(fields, LogEntry, LogEntry, place)
        if entry.revision != index + 1:
            raise bad(f"{place}.revision", f"revision {index + 1} is expected")
        if not latest <= entry.time <= table.stamp:
            raise bad(f"{place}.time", "the times of entries never go back")
        latest = entry.time
        _check_entry(entry, table, place)
        log.append(Recorded(change_id, entry))
    return tuple(log)


def _check_entry(entry: LogEntry, table: Table, place: str) -> None:
    """Refuse seats, turns and actions that can't be."""
    seats = [entry.seat, *(seat for seat, _ in entry.private)]
    # Before the start there may have been more seats than the game was played with.
    lobby = entry.kind in (ChangeKind.TAKE_SEAT, ChangeKind.LEAVE_SEAT, ChangeKind.CONFIRMATION)
    most = len(SEAT_COLORS) if lobby else table.making.seats
    if not all(0 <= seat <= most for seat in seats):
        raise bad(f"{place}.seat", f"a seat from 0 to {most} is expected")
    if not 0 <= entry.turn <= entry.revision:
        raise bad(f"{place}.turn", "the number of the turn is out of range")
    moved = [number for number, _, _ in entry.clocks]
    if len(set(moved)) != len(moved) or not all(1 <= n <= table.making.seats for n in moved):
        raise bad(f"{place}.clocks", "clocks of the table's seats are expected, each once")
    if any(deadline < 0 or left < 0 for _, deadline, left in entry.clocks):
        raise bad(f"{place}.clocks", "no time is negative")
    if entry.timed and (entry.bot or entry.kind is not ChangeKind.CONFIRM):
        raise bad(f"{place}.timed", "no turn of a person was ended there")
    for action in (*entry.actions, *entry.played, *entry.shown):
        with at(place):
            check_bounds(action)
            text(action)
