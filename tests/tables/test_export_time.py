"""Exports with clocks and people who come and go, and what earlier versions wrote."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tableturn_server.tables import commands
from tableturn_server.tables.due import due_at
from tableturn_server.tables.export import export, read
from tableturn_server.tables.log import ChangeKind, decode_entry
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Table,
    TimeoutPolicy,
    decode,
    encode,
)
from tests.tables.play import HOST, NAMES, Person, TableOfTest, refused
from tests.tables.test_export import _call, _set, signed
from tests.tables.timed import START, TimedTable, timed

EARLIER = Path(__file__).parent / "earlier"
LATER = START + 7 * 24 * 3600 * 1000
Json = Any


def exported(game: TableOfTest) -> Json:
    return json.loads(export(game.table, game.recorded()))


def again(whole: Json, now: int = LATER) -> TimedTable:
    """The table of a document, a week later."""
    imported = read(signed(whole), table_id="", now=now)
    log = [kept.entry for kept in imported.log]
    return TimedTable(imported.table, log, dict(imported.snapshots), clock=now)


def busy() -> TimedTable:
    """Red thinks, and has been given time; for blue a bot stands in; nobody sits on green.

    White and black want yellow to leave; white is host.
    """
    game = timed(
        ClockKind.INCREMENT,
        seats=6,
        bank=60,
        step=10,
        start=5,
        timeout=TimeoutPolicy.DEFAULT,
        absence=Absence(policy=AbsencePolicy.DROP, grace=60_000),
        points="on",
        together="before",
    )
    game.passes(2)
    game.gives(HOST, 30, seat=1)
    game.person(2).lets_bot_play()
    game.person(3).leaves()
    game.host_pauses()
    game.passes(6)
    game.host_resumes()
    game.person(5).votes(4)
    game.person(6).votes(4)
    game.host_passes_to(5)
    game.passes(10)
    game.person(1).acts("score 4 for seat 1")
    game.passes(100)
    return game


def test_an_imported_table_charges_nobody_for_the_time_that_it_was_a_document() -> None:
    game = busy()
    before = game.table
    moved = again(exported(game))
    shift = LATER - before.stamp
    for old, new in zip(before.clocks, moved.table.clocks, strict=True):
        since = old.since + shift if old.since else 0
        deadline = old.deadline + shift if old.deadline else 0
        assert new == replace(old, since=since, deadline=deadline)
    assert moved.log[-1].kind is ChangeKind.IMPORT
    assert {seat for seat, _, _ in moved.log[-1].clocks} == {1, 2, 3, 4, 5, 6}
    assert moved.table.clocks[0].deadline - LATER == moved.left(1) * 1000
    moved.passes(4)
    moved.person(1).confirms()
    assert moved.used(1) == game.clock_of(1).used / 1000 + 4
    # An outage of this service while the table was a document is none of its own.
    assert moved.does(commands.Excuse(by=commands.By(service=True), begin=START, end=LATER)) is None


def test_a_seat_that_was_left_is_not_absent_for_the_time_that_it_was_a_document() -> None:
    game = busy()
    moved = again(exported(game))
    waited = game.table.stamp - game.table.seat(3).left_at
    assert moved.table.stamp - moved.table.seat(3).left_at == waited
    due = due_at(moved.table)
    assert due is None or due >= LATER


def test_a_pause_does_not_last_for_the_time_that_it_was_a_document() -> None:
    game = busy()
    game.person(5).pauses()
    game.passes(30)
    moved = again(exported(game))
    moved.passes(7)
    moved.person(5).resumes()
    assert moved.table.paused_time == game.table.paused_time + 7000


def test_stand_ins_votes_and_the_host_travel() -> None:
    game = busy()
    table, before = again(exported(game)).table, game.table
    assert table.making == before.making
    assert table.seat(2) == before.seat(2)
    for name in ("votes", "host_seat", "host_gone", "paused_time", "between_time"):
        assert getattr(table, name) == getattr(before, name) is not None
    assert table.votes == ((4, (5, 6)),)
    assert (table.host_seat, table.seat(2).stand_in) == (5, "greedy")


def test_settings_and_clocks_have_names() -> None:
    whole = exported(busy())
    clock = {"kind": 4, "bank": 60_000, "step": 10_000, "timeout": 2, "start": 5_000}
    assert whole["making"]["clock"] == clock
    assert whole["making"]["absence"] == {"policy": 3, "grace": 60_000}
    assert whole["state"]["clocks"][0]["bank"] == 93_000


def _clock(name: str, to: Any, seat: int = 1) -> Callable[[Json], None]:
    return _set("state", "clocks", seat - 1, name, to=to)


def _seat(name: str, to: Any, seat: int) -> Callable[[Json], None]:
    return _set("state", "seats", seat - 1, name, to=to)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_set("making", "clock", to=[4, 1, 1, 1, 1]), "making.clock"),
        (_set("making", "clock", "kind", to=7), "making.clock"),
        (_set("making", "clock", "kind", to=3), "making.clock"),
        (_set("making", "clock", "bank", to=0), "making.clock"),
        (_set("making", "clock", "step", to=-1), "making.clock"),
        (_set("making", "clock", "start", to=10**9), "making.clock"),
        (_set("making", "clock", "more", to=1), "making.clock"),
        (_set("making", "absence", "grace", to=0), "making.absence"),
        (_set("making", "absence", "policy", to=9), "making.absence"),
        (_call(lambda w: w["making"]["absence"].pop("grace")), "making.absence"),
        (_set("making", "private", to=True), "making.private"),
        (_set("making", "private", to=1), "making"),
        (_set("making", "spectator_delay", to=-1), "making.spectator_delay"),
        (_set("making", "spectator_delay", to=3_600_001), "making.spectator_delay"),
        (_set("making", "host_stays", to="no"), "making"),
        (_set("state", "clocks", to=[]), "state.clocks"),
        (_set("state", "clocks", to={}), "state.clocks"),
        (_call(lambda w: w["state"]["clocks"].pop()), "state.clocks"),
        (_clock("bank", -1), "state.clocks[0].bank"),
        (_clock("bank", 10**12), "state.clocks[0].bank"),
        (_clock("bank", 1), "state.clocks[0].deadline"),
        (_clock("delay", 1), "state.clocks[0].delay"),
        (_clock("start", 5_001), "state.clocks[0].start"),
        (_clock("used", 10**9), "state.clocks[0].used"),
        (_clock("used", -1), "state.clocks[0].used"),
        (_clock("owed", -1), "state.clocks[0].owed"),
        (_clock("since", 0), "state.clocks[0].since"),
        (_clock("since", START - 1), "state.clocks[0].since"),
        (_clock("since", LATER), "state.clocks[0].since"),
        (_clock("deadline", 0), "state.clocks[0].deadline"),
        (_clock("deadline", LATER, seat=2), "state.clocks[1].deadline"),
        (_clock("ran_out", True), "state.clocks[0].ran_out"),
        (_clock("more", True), "state.clocks[0]"),
        (_set("state", "standing_since", to=START), "state.standing_since"),
        (_set("state", "standing_since", to=-1), "state.standing_since"),
        (_set("state", "paused_time", to=-1), "state.paused_time"),
        (_set("state", "between_time", to=10**9), "state.between_time"),
        (_set("state", "credited", to=LATER), "state.credited"),
        (_set("state", "votes", to=[[4, []]]), "state.votes"),
        (_set("state", "votes", to=[[4, [4]]]), "state.votes"),
        (_set("state", "votes", to=[[4, [6, 5]]]), "state.votes"),
        (_set("state", "votes", to=[[4, [5]], [4, [6]]]), "state.votes"),
        (_set("state", "votes", to=[[7, [5]]]), "state.votes"),
        (_set("state", "votes", to=[[4, [0]]]), "state.votes"),
        (_set("state", "votes", to=[[4, [2]]]), "state.votes"),
        (_set("state", "votes", to=[[4, [3]]]), "state.votes"),
        (_set("state", "host_seat", to=7), "state.host_seat"),
        (_set("state", "host_seat", to=-1), "state.host_seat"),
        (_set("state", "host_seat", to=3), "state.host_seat"),
        (_set("state", "host_gone", to=0), "state"),
        (_set("state", "host_seat", to=0), "state.host_gone"),
        (_set("state", "idle_turns", to=-1), "state.idle_turns"),
        (_set("state", "idle_turns", to=1000), "state.idle_turns"),
        (_set("log", 0, "timed", to=True), "log[0].timed"),
        (_seat("stand_in", " x", 2), "state.seats[1].stand_in"),
        (_seat("stand_in", "", 2), "state.seats[1].stand_in_cause"),
        (_seat("stand_in_cause", 0, 2), "state.seats[1].stand_in_cause"),
        (_seat("stand_in_cause", 4, 2), "state.seats[1].stand_in_cause"),
        (_seat("left_at", LATER, 3), "state.seats[2].left_at"),
        (_seat("left_at", START, 4), "state.seats[3].left_at"),
        (_set("log", -1, "clocks", to=[[7, 0, 0]]), "log[15].clocks"),
        (_set("log", -1, "clocks", to=[[1, 0, 0], [1, 0, 0]]), "log[15].clocks"),
        (_set("log", -1, "clocks", to=[[1, -1, 0]]), "log[15].clocks"),
        (_set("log", -1, "clocks", to=[[1, 0]]), "log[15]"),
    ],
)
def test_time_and_people_that_can_not_be_are_refused_with_the_place(
    change: Callable[[Json], None], place: str
) -> None:
    whole = exported(busy())
    change(whole)
    with refused("BAD_IMPORT", place=place):
        read(signed(whole), table_id="", now=LATER)


def test_before_the_start_and_without_a_clock_there_are_none() -> None:
    lobby = timed(ClockKind.PER_TURN, step=30, taken=False)
    Person(lobby, NAMES[0]).takes_seat()
    clock = exported(busy())["state"]["clocks"][0]
    for game in (lobby, timed(ClockKind.NONE)):
        whole = exported(game)
        assert again(whole).table.clocks == ()
        whole["state"]["clocks"] = [clock, clock]
        with refused("BAD_IMPORT", place="state.clocks"):
            read(signed(whole), table_id="", now=LATER)


@pytest.mark.parametrize(("name", "to"), [("ran_out", True), ("delay", 5), ("again", True)])
def test_whoever_is_not_asked_has_no_time_of_a_turn(name: str, to: object) -> None:
    whole = exported(timed(ClockKind.PER_TURN, step=30))
    whole["state"]["clocks"][1][name] = to
    with refused("BAD_IMPORT", place="state.clocks[1].delay"):
        read(signed(whole), table_id="", now=LATER)


def test_a_second_step_is_one_of_a_turn_with_a_step() -> None:
    game = timed(ClockKind.INCREMENT, bank=1, step=30, timeout=TimeoutPolicy.BOT)
    game.runs_out(1)
    game.person(1).comes_back()
    whole = exported(game)
    assert whole["state"]["clocks"][0]["again"]
    assert again(whole).table.clocks[0].again
    whole["state"]["clocks"][0]["again"] = False
    with refused("BAD_IMPORT", place="state.clocks[0].delay"):
        read(signed(whole), table_id="", now=LATER)
    whole = exported(timed(ClockKind.COUNT_UP))
    whole["state"]["clocks"][0]["again"] = True
    with refused("BAD_IMPORT", place="state.clocks[0].again"):
        read(signed(whole), table_id="", now=LATER)


def test_a_document_that_knows_nothing_of_second_steps_is_read() -> None:
    whole = exported(timed(ClockKind.PER_TURN, step=30))
    for clock in whole["state"]["clocks"]:
        del clock["again"]
    del whole["state"]["idle_turns"]
    for entry in whole["log"]:
        del entry["timed"]
    assert not any(clock.again for clock in again(whole).table.clocks)


# -- what the version before wrote -------------------------------------------------------------


def earlier_table() -> Table:
    return decode(base64.b85decode((EARLIER / "table.b85").read_text().strip()))


def test_a_table_that_the_version_before_stored_is_read_and_played_on() -> None:
    table = earlier_table()
    assert (table.making.clock, table.making.absence) == (Clock(), Absence())
    assert not any((table.making.private, table.making.host_stays, table.making.spectator_delay))
    assert (table.clocks, table.votes, table.host_seat, table.credited) == ((), (), 0, 0)
    assert {(seat.stand_in, seat.stand_in_cause, seat.left_at) for seat in table.seats} == {
        ("", 0, 0)
    }
    assert decode(encode(table)) == table
    game = TableOfTest(table, [], clock=table.stamp)
    ann, bob = game.people
    ann.resumes()  # since when it was paused, nobody wrote down
    assert (game.table.paused_time, game.table.standing_since) == (0, 0)
    bob.confirms()
    assert game.table.position.points == (3, 5)
    assert game.asked == [ann]


def test_an_entry_that_the_version_before_stored_is_read() -> None:
    entry = decode_entry(base64.b85decode((EARLIER / "entry.b85").read_text().strip()))
    assert (entry.kind, entry.clocks) == (ChangeKind.CONFIRM, ())
    assert entry.lines[-1] == "Ann (red) confirms"


def test_a_document_that_the_version_before_wrote_is_read() -> None:
    document = (EARLIER / "document.json").read_bytes()
    table = read(document, table_id="", now=LATER).table
    before = earlier_table()
    for name in ("making", "seats", "open", "hidden", "staged", "turns", "log_hash", "paused"):
        assert getattr(table, name) == getattr(before, name)
    whole = exported(TableOfTest(before, []))
    assert set(whole["state"]) > set(json.loads(document)["state"])
