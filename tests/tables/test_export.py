"""Exports: what is written is read again, and what was changed is refused with its place."""

import json
import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from tableturn_server.rules import catalog
from tableturn_server.tables import commands
from tableturn_server.tables.export import FORMAT, VERSION, export, read
from tableturn_server.tables.history import snapshot_turn
from tableturn_server.tables.log import ChangeKind, decode_entry, encode_entry
from tableturn_server.tables.state import Seat, Status, decode, encode
from tests.tables.play import (
    HOST,
    BotOfTest,
    Confirmation,
    Person,
    TableOfTest,
    a_table,
    eastern_wonders,
    refused,
)

NOW = 9_000_000_000

Json = Any


def exported(game: TableOfTest) -> bytes:
    return export(game.table, game.recorded())


def signed(whole: Json) -> bytes:
    """A document with the checksum that fits: whoever changes one can do that too."""
    whole.pop("sha256", None)
    whole["sha256"] = sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()
    return json.dumps(whole).encode()


@pytest.fixture(scope="module")
def played() -> TableOfTest:
    """A game of Eastern Wonders in the middle: takebacks, somebody gone, something staged."""
    chance = random.Random(4)
    game = eastern_wonders(seats=3)
    game.plays_on(45, chance)
    game.host_takes_back()
    game.host_takes_back()
    game.people[1].concedes()
    game.plays_on(3, chance)
    while not any(game.table.staged):
        person = game.asked[0]
        choice = next((c for c in person.sees().choices if c.kind == "harvest"), None)
        if choice is None:
            person.takes_a_turn(chance)
        else:
            person.acts("harvest")
    return game


@pytest.mark.parametrize("table_id", ["", "another-table"])
def test_a_table_goes_on_where_it_was_exported(played: TableOfTest, table_id: str) -> None:
    imported = read(exported(played), table_id=table_id, now=NOW)
    table, before = imported.table, played.table
    assert table.making.table_id == (table_id or "the-table")
    assert table.revision == before.revision + 1
    for name in ("open", "hidden", "seats", "staged", "asked_at", "turns", "log_hash", "status"):
        assert getattr(table, name) == getattr(before, name)
    assert [kept.entry for kept in imported.log[:-1]] == played.log
    assert imported.log[-1].entry.kind is ChangeKind.IMPORT
    assert decode(encode(table)) == table


def test_takebacks_go_on_too(played: TableOfTest) -> None:
    # Two turns ago nobody had left the game.
    imported = read(exported(played), table_id="", now=NOW)
    again = TableOfTest(
        imported.table,
        [kept.entry for kept in imported.log],
        dict(imported.snapshots),
        clock=NOW,
    )
    for game in (played, again):
        assert game.table.turns == played.table.turns
    for _ in range(2):
        again.host_takes_back()
    assert snapshot_turn(again.table.turns) in again.snapshots
    assert again.most_replayed <= 20


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", catalog.GAMES)
def test_whatever_was_played_can_be_read_again(name: str, seed: int) -> None:
    chance = random.Random(seed)
    game = a_table(name, seats=2 + seed % 3, taken=False, max_rounds="12")
    assert read(exported(game), table_id="", now=0).table.status is Status.OPEN
    for person in (game.person(n + 1) for n in range(len(game.table.seats))):
        person.takes_seat()
    for _ in range(30):
        read(exported(game), table_id="", now=NOW)
        if game.is_over():
            break
        what = chance.randrange(8)
        if what == 0 and game.table.turns and game.log[-1].kind is not ChangeKind.DROP:
            with_drop = any(entry.kind is ChangeKind.DROP for entry in game.log)
            if not with_drop:
                game.host_takes_back()
        elif what == 1 and len(game.table.seats) > 2 and not game.table.seat(1).dropped:
            game.person(1).concedes()
        else:
            game.plays_on(1, chance)


def test_white_space_and_order_do_not_matter(played: TableOfTest) -> None:
    whole = json.loads(exported(played))
    shuffled = dict(sorted(whole.items(), reverse=True))
    assert read(json.dumps(shuffled, indent=2).encode(), table_id="", now=NOW).table.open


def test_the_parts_of_a_document_have_names(played: TableOfTest) -> None:
    whole = json.loads(exported(played))
    assert (whole["format"], whole["version"]) == (FORMAT, VERSION)
    assert whole["making"]["game"] == "eastern-wonders"
    assert whole["state"]["seats"][0]["name"] == "Ann"
    assert whole["log"][0]["lines"] == ["a table of Century: Eastern Wonders for 3 is made"]


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (b"", "$"),
        (b"\xff\xfe", "$"),
        (b"[]", "format"),
        (b"{}", "format"),
        (b'{"format": "tableturn-table"}', "version"),
        (b'{"format": "tableturn-table", "version": 0}', "version"),
        (b'{"format": "tableturn-table", "version": 2}', "version"),
        (b'{"format": "tableturn-table", "version": "1"}', "version"),
        (b'{"format": "tableturn-table", "version": 1}', "sha256"),
        (b"[" * 100_000, "$"),
        (b" " * (16 << 20) + b"{}", "$"),
    ],
    ids=range(11),
)
def test_what_is_no_document(document: bytes, place: str) -> None:
    with refused("BAD_IMPORT", place=place):
        read(document, table_id="", now=NOW)


def test_another_version_of_the_format_is_named() -> None:
    with pytest.raises(Exception, match="version 2 of the format"):
        read(b'{"format": "tableturn-table", "version": 2}', table_id="", now=NOW)


def test_any_change_breaks_the_checksum(played: TableOfTest) -> None:
    document = exported(played)
    chance = random.Random(1)
    for _ in range(60):
        place = chance.randrange(len(document))
        changed = bytearray(document)
        changed[place] ^= 1 << chance.randrange(7)
        if bytes(changed) == document:
            continue
        with refused("BAD_IMPORT"):
            read(bytes(changed), table_id="", now=NOW)


def _set(*path: Any, to: Any) -> Callable[[Json], None]:
    def change(whole: Json) -> None:
        *way, last = path
        for step in way:
            whole = whole[step]
        whole[last] = to

    return change


def _call(function: Callable[[Json], object]) -> Callable[[Json], None]:
    def change(whole: Json) -> None:
        function(whole)

    return change


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_set("more", to=1), "$"),
        (_call(lambda w: w.pop("log")), "$"),
        (_set("making", to=[]), "making"),
        (_call(lambda w: w["making"].pop("seed")), "making"),
        (_set("making", "colour", to="red"), "making"),
        (_set("making", "game", to="chess"), "making.game"),
        (_set("making", "rules_version", to=99), "making.rules_version"),
        (_set("making", "options", "map", to="flat"), "making.options"),
        (_call(lambda w: w["making"]["options"].pop("map")), "making.options"),
        (_set("making", "seats", to=4), "state.seats"),
        (_set("making", "set_sha256", to="AAAA"), "making.set_sha256"),
        (_set("making", "set_name", to="other"), "making.set_name"),
        (_set("making", "seed", to="AAAAAAAAAAAAAAAAAAAAAA=="), "*"),
        (_set("making", "seed", to="AAAA"), "making.seed"),
        (_set("making", "host", to="AAAA"), "making.host"),
        (_set("making", "table_id", to="A table"), "making.table_id"),
        (_set("state", "revision", to=3), "*"),
        (_set("state", "revision", to="many"), "state"),
        (_set("state", "turns", to=7), "state.open"),
        (_set("state", "turns", to=10_000), "log"),
        (_set("state", "status", to=3), "state.status"),
        (_set("state", "status", to=1), "state.status"),
        (_set("state", "log_hash", to="AAAA"), "state.log_hash"),
        (_set("state", "asked_at", 0, to=10_000), "state.asked_at"),
        (_call(lambda w: w["state"]["asked_at"].append(1)), "state.asked_at"),
        (_set("state", "hidden", 0, 0, to=0), "state.hidden"),
        (_call(lambda w: w["state"]["hidden"].append(1)), "state.hidden"),
        (_call(lambda w: w["state"]["open"].append(1)), "state.open"),
        (_set("state", "seats", 0, "token", to="AAAA"), "state.seats[0].token"),
        (_set("state", "seats", 0, "occupant", to=9), "state.seats[0]"),
        (_set("state", "staged", to=[[["claim_tile"]], [], []]), "state.staged[0]"),
        (_call(lambda w: w["log"].pop()), "log"),
        (_call(lambda w: w["log"].insert(3, w["log"][3])), "log"),
        (_set("log", 5, "revision", to=9), "log[5].revision"),
        (_set("log", 5, "time", to=0), "log[5].time"),
        (_set("log", 5, "change_id", to=""), "log[5].change_id"),
        (_set("log", 5, "kind", to=99), "log[5]"),
        (_set("log", 5, "more", to=99), "log[5]"),
    ],
)
def test_a_changed_document_is_refused_with_the_place(
    played: TableOfTest, change: Callable[[Json], None], place: str
) -> None:
    whole = json.loads(exported(played))
    change(whole)
    with refused("BAD_IMPORT", **({} if place == "*" else {"place": place})):
        read(signed(whole), table_id="", now=NOW)


def test_another_turn_leads_to_another_position(played: TableOfTest) -> None:
    whole = json.loads(exported(played))
    turns = [n for n, entry in enumerate(whole["log"]) if entry["kind"] == ChangeKind.CONFIRM]
    last = next(n for n in reversed(turns) if whole["log"][n]["played"])
    whole["log"][last]["played"] = []
    with refused("BAD_IMPORT"):
        read(signed(whole), table_id="", now=NOW)
    whole = json.loads(exported(played))
    whole["log"][turns[4]]["played"] = [["claim_tile"]]
    with refused("BAD_IMPORT", place=f"log[{turns[4]}]"):
        read(signed(whole), table_id="", now=NOW)


def test_what_is_no_table_is_not_decoded() -> None:
    game = a_table()
    blob = encode(game.table)
    assert decode(blob) == game.table
    for bad in (b"", blob[:-1], b"chess\0" + blob, blob.replace(b"free-table\0", b"chess\0")):
        with pytest.raises(ValueError, match=r"read|know"):
            decode(bad)


# -- bots, panels, and what earlier versions wrote ---------------------------------------------


@pytest.fixture(scope="module")
def with_bots() -> TableOfTest:
    """Red at a panel, a bot that the panel confirms, a device; one seat was taken away."""
    game = a_table(seats=4, taken=False, points="on", start_when_full=False)
    panel = game.host_puts_panel(seats=(0, 2))
    panel.presses(1)
    game.host_seats_bot(confirmation=Confirmation.PANEL)
    dan = Person(game, "Dan")
    dan.takes_seat(4)
    dan.leaves()
    dan.takes_seat(3)
    game.host_sets_confirmation(3, Confirmation.DEVICE)
    game.host_starts(without_free_seats=True)
    panel.presses(1)
    BotOfTest(game, 2).waits()
    panel.presses(2)
    return game


def test_bots_and_who_confirms_travel_and_panels_stay(with_bots: TableOfTest) -> None:
    game = with_bots
    document = exported(game)
    assert "panels" not in json.loads(document)["state"]
    table = read(document, table_id="", now=NOW).table
    assert table.seats == game.table.seats
    assert table.bot_turns == game.table.bot_turns == 1
    assert table.making == game.table.making
    assert table.making.left_out == 1
    assert table.paused_at == game.table.paused_at
    assert table.panels == ()
    assert table.next_table == ""
    again = TableOfTest(table, list(game.log), clock=NOW)
    # The panel there has no part here; it, or another one, is put on the table anew.
    assert again.host_puts_panel(8, seats=(1, 2)).seats == (1, 2)
    assert again.table.seat(1).token == again.table.panels[0].token


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_set("state", "panels", to=[]), "state"),
        (_set("state", "next_table", to="the-next"), "state"),
        (_set("making", "left_out", to=-1), "making.left_out"),
        (_set("making", "left_out", to=6), "making.left_out"),
        (_set("making", "left_out", to="1"), "making"),
        (_set("state", "paused_at", to=10_000), "state.paused_at"),
        (_set("state", "seats", 1, "bot", to=""), "state.seats[1].bot"),
        (_set("state", "seats", 2, "bot", to="greedy"), "state.seats[2].bot"),
        (_set("state", "seats", 1, "bot", to=" greedy"), "state.seats[1].bot"),
        (_set("state", "seats", 1, "token", to="A" * 43 + "="), "state.seats[1].bot"),
        (_set("state", "seats", 1, "at_panel", to=True), "state.seats[1].at_panel"),
        (_set("state", "seats", 1, "confirmation", to=4), "state.seats[1]"),
        (_set("log", -1, "seat", to=4), "log[11].seat"),
        (_set("log", 4, "seat", to=9), "log[4].seat"),
    ],
)
def test_a_changed_document_with_bots_is_refused_with_the_place(
    with_bots: TableOfTest, change: Callable[[Json], None], place: str
) -> None:
    whole = json.loads(exported(with_bots))
    change(whole)
    with refused("BAD_IMPORT", place=place):
        read(signed(whole), table_id="", now=NOW)


def test_a_document_of_an_earlier_version_is_read(played: TableOfTest) -> None:
    whole = json.loads(exported(played))
    del whole["state"]["paused_at"], whole["making"]["left_out"]
    for seat in whole["state"]["seats"]:
        for name in ("bot", "confirmation", "at_panel"):
            del seat[name]
    for entry in whole["log"]:
        del entry["bot"]
    table = read(signed(whole), table_id="", now=NOW).table
    assert table.seats == played.table.seats
    assert table.paused_at == 0


def test_a_table_that_an_earlier_version_stored_is_read(played: TableOfTest) -> None:
    name, _, body = encode(played.table).partition(b"\0")
    fields = msgspec.msgpack.decode(body)
    names = played.table.__struct_fields__
    seats = names.index("seats")
    older = fields[: names.index("panels")]
    del older[0][played.table.making.__struct_fields__.index("left_out") :]
    older[seats] = [seat[: Seat.__struct_fields__.index("bot")] for seat in older[seats]]
    table = decode(name + b"\0" + msgspec.msgpack.encode(older))
    sitting = tuple(msgspec.structs.replace(s, plays_since=0) for s in played.table.seats)
    assert table == msgspec.structs.replace(played.table, paused_at=0, drop_turn=0, seats=sitting)
    entry = msgspec.msgpack.decode(encode_entry(played.log[-1]))
    assert decode_entry(msgspec.msgpack.encode(entry[:-1])) == played.log[-1]
    again = TableOfTest(table, list(played.log), dict(played.snapshots), clock=NOW)
    again.asked[0].undoes(all=True)
    again.host_takes_back()
    assert again.table.turns == played.table.turns - 1


def test_the_host_of_a_finished_game() -> None:
    game = a_table(seats=2)
    game.people[0].acts("finish game", confirm=True)
    imported = read(exported(game), table_id="", now=NOW)
    assert imported.table.status is Status.FINISHED
    with refused("GAME_OVER"):
        TableOfTest(imported.table, []).does(commands.Pause(by=HOST))
