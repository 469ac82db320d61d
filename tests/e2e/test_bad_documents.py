"""Damaged imports and component sets: refused with the place of the fault, and nothing is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

import grpc
import msgspec
import pytest

from tableturn.v1 import catalog_pb2, table_pb2
from tests.e2e.calls import (
    TIMEOUT,
    Code,
    Connection,
    bearer,
    check_sentence,
    digest,
    new_id,
    new_token,
    refusal_of,
    refused,
)
from tests.e2e.mutations import mutate, with_value
from tests.e2e.playing import pick
from tests.e2e.processes import Service
from tests.e2e.tables import Table, gapless, new_table

pytestmark = pytest.mark.e2e

# -- imports ---------------------------------------------------------------------------------


@dataclass
class Exports:
    """An export of a running game, and who reads it in."""

    connection: Connection
    admin: str
    document: bytes
    table: Table

    @property
    def whole(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.document)
        return parsed

    def read_in(self, document: bytes) -> Table:
        """Import a document under a new id."""
        table_id = f"import-{new_id()}"
        request = table_pb2.ImportTableRequest(
            document=document, table_id=table_id, request_id=new_id()
        )
        self.connection.tables.ImportTable(request, metadata=bearer(self.admin), timeout=TIMEOUT)
        return Table(self.connection, table_id, self.admin)

    def export(self, table_id: str) -> bytes:
        request = table_pb2.ExportTableRequest(table_id=table_id)
        answer = self.connection.tables.ExportTable(
            request, metadata=bearer(self.admin), timeout=TIMEOUT
        )
        return answer.document

    def count(self) -> int:
        """How many tables there are."""
        count, token = 0, ""
        while True:
            request = table_pb2.ListTablesRequest(page_size=100, page_token=token)
            page = self.connection.tables.ListTables(request, timeout=TIMEOUT)
            count += len(page.tables)
            token = page.next_page_token
            if not token:
                return count


@pytest.fixture(scope="module")
def exports(service: Service, connection: Connection) -> Exports:
    table = new_table(connection, "eastern-wonders")
    random = Random(7)
    while table.view().turns < 12:
        person = table.asked()
        asked = person.actions()
        if asked.prompt.can_confirm and (not asked.choices or random.random() < 0.5):
            person.confirm()
        else:
            request = table_pb2.ActRequest(
                table_id=table.table_id,
                request_id=new_id(),
                expected_revision=asked.revision,
                actions=[pick(random.choice(asked.choices), random)],
            )
            person.call("Act", request)
    made = Exports(connection, service.admin_token, b"", table)
    made.document = made.export(table.table_id)
    return made


def signed(whole: dict[str, Any]) -> bytes:
    """A document with a checksum that fits: as somebody makes it who knows how."""
    whole = {name: value for name, value in whole.items() if name != "sha256"}
    checksum = sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()
    return json.dumps({**whole, "sha256": checksum}).encode()


def test_an_import_is_what_was_exported(exports: Exports) -> None:
    imported = exports.read_in(exports.document)
    before, after = exports.table.view(), imported.view()
    assert after.game_view == before.game_view
    assert after.log_hash == before.log_hash
    assert imported.log()[:-1] == exports.table.log()
    assert gapless(imported.log())
    # White space and order don't matter, and nothing else is let through.
    exports.read_in(json.dumps(exports.whole, indent=2, sort_keys=True).encode())


def _without(name: str) -> Callable[[dict[str, Any]], bytes]:
    return lambda whole: json.dumps({k: v for k, v in whole.items() if k != name}).encode()


def _with(*path: str | int, value: Any) -> Callable[[dict[str, Any]], bytes]:
    return lambda whole: signed(with_value(whole, path, value))


def _text(whole: dict[str, Any]) -> bytes:
    return json.dumps(whole).encode()


DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], bytes], str]] = {
    "nothing": (lambda whole: b"", "$"),
    "no JSON": (lambda whole: b"tableturn", "$"),
    "null": (lambda whole: b"null", "format"),
    "a list": (lambda whole: b"[]", "format"),
    "a text": (lambda whole: b'"tableturn-table"', "format"),
    "another object": (lambda whole: b'{"hello": "world"}', "format"),
    "another format": (lambda whole: _text({**whole, "format": "chess"}), "format"),
    "the first half": (lambda whole: _text(whole)[: len(_text(whole)) // 2], "$"),
    "all but the last byte": (lambda whole: _text(whole)[:-1], "$"),
    "something after it": (lambda whole: _text(whole) + b"}", "$"),
    "twice": (lambda whole: _text(whole) * 2, "$"),
    "no UTF-8": (lambda whole: _text(whole).replace(b"Ann", b"A\xff\xfe"), "$"),
    "UTF-16": (lambda whole: json.dumps(whole).encode("utf-16"), "$"),
    "a zero byte": (lambda whole: b"\x00" + _text(whole), "$"),
    "100,000 brackets": (lambda whole: b"[" * 100_000, "$"),
    "100,000 objects": (lambda whole: b'{"x":' * 100_000 + b"1" + b"}" * 100_000, "$"),
    "a wrong checksum": (lambda whole: _text({**whole, "sha256": "0" * 64}), "sha256"),
    "no checksum": (_without("sha256"), "sha256"),
    "a checksum of null": (lambda whole: _text({**whole, "sha256": None}), "sha256"),
    "a checksum of a list": (lambda whole: _text({**whole, "sha256": []}), "sha256"),
    "a name changed": (lambda whole: _text(whole).replace(b'"Ann"', b'"Amy"'), "sha256"),
    "no version": (_without("version"), "version"),
    "version 2": (_with("version", value=2), "version"),
    "a version in words": (_with("version", value="one"), "version"),
    "no making": (_with("making", value=None), "making"),
    "no log": (_with("log", value=[]), "log"),
    "no state": (_with("state", value={}), "state"),
    "an unknown game": (_with("making", "game", value="chess"), "making.game"),
    "other rules": (_with("making", "rules_version", value=2), "making.rules_version"),
    "another seed": (_with("making", "seed", value="AAAAAAAAAAAAAAAAAAAAAA=="), ""),
    "a seed of one byte": (_with("making", "seed", value="AA=="), "making.seed"),
    "a host of one byte": (_with("making", "host", value="AA=="), "making.host"),
    "nine seats": (_with("making", "seats", value=9), "making.options"),
    "many seats": (_with("making", "seats", value=10**9), "making.options"),
    "other options": (_with("making", "options", value={"x": "y"}), "making.options"),
    "another map": (_with("making", "options", "map", value="random"), ""),
    "components of its own": (_with("making", "custom_set", value="AA=="), "making.custom_set"),
    "a revision too high": (_with("state", "revision", value=10**6), "log"),
    "revision 2**63": (_with("state", "revision", value=2**63), "state.revision"),
    "revision 10**400": (_with("state", "revision", value=10**400), ""),
    "revision 0": (_with("state", "revision", value=0), "state."),
    "revision -1": (_with("state", "revision", value=-1), "state."),
    "a broken revision": (_with("state", "revision", value=1.5), "state"),
    "turns too many": (_with("state", "turns", value=13), "log"),
    "many turns": (_with("state", "turns", value=10**9), "log"),
    "a time of 10**30": (_with("state", "stamp", value=10**30), "state"),
    "a birth of 10**30": (_with("making", "created", value=10**30), "making"),
    "a time of 2**63": (_with("state", "stamp", value=2**63), "state"),
    "a time in the year 100,000": (_with("state", "stamp", value=3 * 10**15), "state"),
    "a birth in the year 100,000": (_with("making", "created", value=3 * 10**15), "making"),
    "a birth before time": (_with("making", "created", value=-(10**17)), "making"),
    "the game over": (_with("state", "status", value=3), "state.status"),
    "no such status": (_with("state", "status", value=7), "state"),
    "asked in the future": (_with("state", "asked_at", 0, value=10**6), "state.asked_at"),
    "asked in the past": (_with("state", "asked_at", value=[]), "state.asked_at"),
    "turned in the future": (_with("state", "turned_at", value=10**6), "state.turned_at"),
    "another log hash": (_with("state", "log_hash", value="AAAA"), "state.log_hash"),
    "an unknown seat agrees": (_with("state", "takeback_asked", value=[9]), "state"),
    "a hold full of gold": (_with("state", "open", 3, 0, 0, 3, value=9), "state.open"),
    "another pile": (lambda w: signed(_reversed_pile(w)), "state.hidden"),
    "something staged that isn't legal": (
        _with("state", "staged", 0, value=[["trade", 99]]),
        "state.staged",
    ),
    "a seat too many": (lambda w: signed(_one_seat_more(w)), "state.seats"),
    "a name of 10,000": (_with("state", "seats", 0, "name", value="x" * 10_000), "state.seats[0]"),
    "a name with an escape": (_with("state", "seats", 0, "name", value="\x1b[31m"), "state.seats"),
    "a colour with an escape": (
        _with("state", "seats", 0, "color", value="\x1b[31m"),
        "state.seats",
    ),
    "a title with an escape": (_with("making", "title", value="\x1b[31m"), "making.title"),
    "a title of 10,000": (_with("making", "title", value="x" * 10_000), "making.title"),
    "a log line with an escape": (_with("log", 1, "lines", 0, value="\x1b[31m"), "log[1]"),
    "a change without id": (_with("log", 0, "change_id", value=""), "log[0].change_id"),
    "an entry of another revision": (_with("log", 3, "revision", value=3), "log[3].revision"),
    "an entry before its time": (_with("log", 3, "time", value=0), "log[3].time"),
    "an entry of a turn before the first": (_with("log", 1, "turn", value=-5), "log[1]"),
    "an entry of a turn of the far future": (_with("log", 1, "turn", value=2**40), "log[1]"),
    "an entry of seat -1": (_with("log", 1, "seat", value=-1), "log[1]"),
    "an entry of a ninth seat": (_with("log", 1, "seat", value=9), "log[1]"),
    "an entry at 10**30": (_with("log", 1, "time", value=10**30), "log[1]"),
    "seat 2**60 agrees": (_with("state", "takeback_asked", value=[2**60]), "state."),
    "an entry with a tile of no name": (
        lambda w: signed(_another_action(w, ["move", "\x1b"])), "log["),
    "an entry with fewer than no cubes": (
        lambda w: signed(_another_action(w, ["pick_up", [-1, 0, 0, 0]])), "log["),
    "four million cubes": (lambda w: signed(_another_take(w, 2**22)), "log["),
    "half a letter": (lambda whole: _text(whole).replace(b'"Ann"', b'"\\ud800"'), ""),
    "another turn": (lambda w: signed(_another_turn(w)), ""),
}  # fmt: skip


def _reversed_pile(whole: dict[str, Any]) -> dict[str, Any]:
    pile = whole["state"]["hidden"][0]
    return with_value(whole, ("state", "hidden", 0), [pile[1], pile[0], *pile[2:]])  # type: ignore[no-any-return]


def _one_seat_more(whole: dict[str, Any]) -> dict[str, Any]:
    seats = whole["state"]["seats"]
    return with_value(whole, ("state", "seats"), [*seats, seats[0]])  # type: ignore[no-any-return]


def _another_action(whole: dict[str, Any], action: list[Any]) -> dict[str, Any]:
    at = max(n for n, entry in enumerate(whole["log"]) if entry["actions"])
    return with_value(whole, ("log", at, "actions"), [action])  # type: ignore[no-any-return]


def _another_take(whole: dict[str, Any], count: int) -> dict[str, Any]:
    at = min(n for n, entry in enumerate(whole["log"]) if entry["played"])
    path = ("log", at, "played", 0)
    return with_value(whole, path, ["take_pile", [count, 0, 0, 0]])  # type: ignore[no-any-return]


def _another_turn(whole: dict[str, Any]) -> dict[str, Any]:
    at = max(n for n, entry in enumerate(whole["log"]) if entry["played"])
    return with_value(whole, ("log", at, "played"), [])  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_import_is_refused_with_the_place(exports: Exports, name: str) -> None:
    damage, place = DAMAGED[name]
    before = exports.count()
    with refused(Code.INVALID_ARGUMENT, "BAD_IMPORT") as found:
        exports.read_in(damage(exports.whole))
    told = found.refusal.metadata["place"]
    assert told.startswith(place), found.refusal
    assert told in found.refusal.sentence
    assert len(found.refusal.sentence) < 300
    assert exports.count() == before


def test_an_import_under_its_own_id_needs_one(exports: Exports) -> None:
    whole = with_value(exports.whole, ("making", "table_id"), "../../x")
    request = table_pb2.ImportTableRequest(document=signed(whole), request_id=new_id())
    with refused(Code.INVALID_ARGUMENT, "BAD_IMPORT", place="making.table_id"):
        exports.connection.tables.ImportTable(
            request, metadata=bearer(exports.admin), timeout=TIMEOUT
        )


def test_an_import_onto_a_table_that_is_there_is_refused(exports: Exports) -> None:
    before = exports.table.state()
    request = table_pb2.ImportTableRequest(document=exports.document, request_id=new_id())
    with refused(Code.ALREADY_EXISTS, "TABLE_EXISTS", revision=exports.table.revision):
        exports.connection.tables.ImportTable(
            request, metadata=bearer(exports.admin), timeout=TIMEOUT
        )
    assert exports.table.state() == before


def test_an_import_that_is_too_large_is_refused(exports: Exports) -> None:
    with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", "16777216", field="document"):
        exports.read_in(exports.document + b" " * (16 << 20))


def test_a_flipped_bit_anywhere_is_noticed(exports: Exports) -> None:
    random = Random(11)
    before = exports.count()
    for _ in range(120):
        changed = bytearray(exports.document)
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        with refused(Code.INVALID_ARGUMENT, "BAD_IMPORT"):
            exports.read_in(bytes(changed))
    assert exports.count() == before


def twist(exports: Exports, random: Random, count: int) -> None:
    """Documents with one thing changed, and a checksum that fits: refused, or still a table."""
    for _ in range(count):
        what, whole = mutate(exports.whole, random)
        try:
            table = exports.read_in(signed(whole))
        except grpc.RpcError as error:
            refusal = refusal_of(error)
            assert (refusal.code, refusal.reason) == (Code.INVALID_ARGUMENT, "BAD_IMPORT"), (
                what,
                refusal,
            )
            check_sentence(refusal.sentence)
            continue
        # Then it was a value that may be another one: the table is whole.
        assert gapless(table.log()), what
        assert table.view().status, what
        again = json.loads(exports.export(table.table_id))
        exports.read_in(signed(again))


def test_a_document_with_one_thing_changed_is_refused_or_a_table(
    service: Service, exports: Exports
) -> None:
    twist(exports, Random(5), 150)
    service.check_log()


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_night_of_changed_documents(service: Service, exports: Exports) -> None:
    twist(exports, Random(), 10_000)
    service.check_log()


# -- component sets --------------------------------------------------------------------------

GAME = "eastern-wonders"


@pytest.fixture(scope="module")
def shipped(connection: Connection) -> dict[str, Any]:
    request = catalog_pb2.GetComponentSetRequest(name=GAME)
    found = connection.catalog.GetComponentSet(request, timeout=TIMEOUT)
    whole: dict[str, Any] = json.loads(found.document)
    return {**whole, "name": "own"}


def check_set(connection: Connection, document: bytes) -> None:
    request = catalog_pb2.CheckComponentSetRequest(game=GAME, document=document)
    connection.catalog.CheckComponentSet(request, timeout=TIMEOUT)


def make_table(connection: Connection, document: bytes) -> Table:
    return new_table(connection, GAME, component_set=document)


def _own(**fields: Any) -> Callable[[dict[str, Any]], bytes]:
    """A set over the shipped one."""
    return lambda whole: json.dumps({"format": 1, "name": "own", **fields}).encode()


def _fewer(group: str) -> Callable[[dict[str, Any]], bytes]:
    """The whole set with one item of a group missing."""
    return lambda whole: json.dumps(
        {**whole, group: {**whole[group], "items": whole[group]["items"][1:]}}
    ).encode()


SETS: dict[str, tuple[Callable[[dict[str, Any]], bytes], str]] = {
    "nothing": (lambda whole: b"", ""),
    "no JSON": (lambda whole: b"{'format': 1}", ""),
    "half of it": (lambda whole: json.dumps(whole).encode()[:5000], ""),
    "a list": (lambda whole: b"[]", ""),
    "no UTF-8": (lambda whole: b'{"format": 1, "name": "\xff"}', ""),
    "deep nesting": (lambda whole: b'{"x":' * 50_000 + b"1" + b"}" * 50_000, ""),
    "many brackets": (lambda whole: b"[" * 200_000, ""),
    "a key twice": (lambda whole: b'{"format": 1, "format": 1}', ""),
    "not a number": (lambda whole: b'{"format": NaN}', ""),
    "a broken number": (lambda whole: b'{"format": 1.5}', ""),
    "a huge number": (lambda whole: b'{"format": ' + b"9" * 5000 + b"}", ""),
    "format 2": (_own(format=2), "format"),
    "another game": (_own(game="free-table"), "game"),
    "an unknown base": (_own(base="chess"), "base"),
    "the name of a shipped set": (lambda w: json.dumps(
        {**w, "name": GAME, "title": "Mine"}).encode(), "name"),
    "a name with an escape": (_own(name="\x1b[31m"), "name"),
    "a title of 10,000": (_own(title="x" * 10_000), "title"),
    "a market tile too few": (_fewer("market_tiles"), "market_tiles"),
    "a victory tile too few": (_fewer("victory_tiles"), "victory_tiles"),
    "a group that isn't known": (_own(dragons={"items": []}), "dragons"),
    "a group of another kind": (_own(market_tiles=[]), "market_tiles"),
    "an item of no kind": (_own(market_tiles={"items": [{"id": "x"}]}), "market_tiles"),
    "an item without id": (_own(market_tiles={"items": [{}]}), "market_tiles.items[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_a_component_set_that_does_not_hold_is_refused_with_the_place(
    exports: Exports, connection: Connection, shipped: dict[str, Any], name: str
) -> None:
    make, place = SETS[name]
    document = make(shipped)
    before = exports.count()
    # No set at all means the shipped one, when a table is made.
    for use in (check_set, make_table) if document else (check_set,):
        with refused(Code.INVALID_ARGUMENT, "BAD_COMPONENTS") as found:
            use(connection, document)
        assert found.refusal.metadata["place"].startswith(place or ""), found.refusal
        assert found.refusal.metadata["place"], found.refusal
    assert exports.count() == before


def test_a_component_set_of_ten_megabytes_is_refused(connection: Connection) -> None:
    document = json.dumps({"format": 1, "name": "own", "note": "x" * (10 << 20)}).encode()
    with refused(Code.INVALID_ARGUMENT, "BAD_COMPONENTS", "bytes"):
        check_set(connection, document)
    with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", "bytes", field="request"):
        make_table(connection, document)


def twist_sets(connection: Connection, whole: dict[str, Any], random: Random, count: int) -> None:
    for _ in range(count):
        what, changed = mutate(whole, random)
        document = json.dumps(changed).encode()
        try:
            check_set(connection, document)
        except grpc.RpcError as error:
            refusal = refusal_of(error)
            assert refusal.reason in ("BAD_COMPONENTS", "BAD_FIELD"), (what, refusal)
            assert refusal.code == Code.INVALID_ARGUMENT
            check_sentence(refusal.sentence)
        else:
            # What is said to hold is played with.
            table = make_table(connection, document)
            assert table.view().game_view.islands.tiles, what


def test_a_component_set_with_one_thing_changed_is_refused_or_playable(
    service: Service, connection: Connection, shipped: dict[str, Any]
) -> None:
    twist_sets(connection, shipped, Random(3), 100)
    service.check_log()


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_night_of_changed_component_sets(
    service: Service, connection: Connection, shipped: dict[str, Any]
) -> None:
    twist_sets(connection, shipped, Random(), 5_000)
    service.check_log()


def test_options_and_components_are_seen_by_all(connection: Connection) -> None:
    """A set of the maker's own is named as such, so that nobody is deceived by it."""
    document = json.dumps({"format": 1, "name": "own", "title": "My own"}).encode()
    info = make_table(connection, document).view().component_set
    assert (info.name, info.custom) == ("own", True)
    request = table_pb2.CreateTableRequest(
        request_id=new_id(),
        game=GAME,
        options={"map": "custom", "layout": "x" * 10_000},
        host_token_sha256=digest(new_token()),
    )
    with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", field="options"):
        connection.tables.CreateTable(request, timeout=TIMEOUT)
