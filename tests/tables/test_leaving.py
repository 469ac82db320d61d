"""Whom a command to leave or to concede is meant for, and what still goes on in a pause."""

import json
import random
from hashlib import sha256

import msgspec
import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.export import export, read
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import Absence, AbsencePolicy, Takeback, decode, encode
from tests.tables.play import HOST, Person, TableOfTest, a_table, eastern_wonders, refused

NOW = 2_000_000_000

Meant = type[commands.LeaveSeat] | type[commands.Concede]
BOTH = pytest.mark.parametrize("meant", [commands.LeaveSeat, commands.Concede])


def eve_takes_anns_seat(game: TableOfTest) -> None:
    game.people[0].leaves()
    Person(game, "Eve").takes_seat(1)


@BOTH
def test_what_was_meant_for_somebody_who_is_gone_does_not_hit_who_came(meant: Meant) -> None:
    game = a_table(seats=3)
    seen = game.table.revision
    eve_takes_anns_seat(game)
    sat_down = game.table.revision
    game.people[1].pauses()
    for revision in (seen, sat_down - 1):
        with refused("STALE_REVISION", asked_at=sat_down):
            game.does(meant(by=HOST, seat=1, expected_revision=revision))
    with refused("STALE_REVISION"):
        game.does(meant(by=HOST, seat=1, expected_revision=game.table.revision + 1))
    assert game.does(meant(by=HOST, seat=1, expected_revision=sat_down))


@BOTH
def test_a_seat_that_was_left_since_is_another_one_too(meant: Meant) -> None:
    game = a_table(seats=3)
    seen = game.table.revision
    game.people[0].leaves()
    with refused("STALE_REVISION", asked_at=game.table.revision):
        game.does(meant(by=HOST, seat=1, expected_revision=seen))


@BOTH
def test_what_others_do_does_not_matter(meant: Meant) -> None:
    game = a_table(seats=3)
    ann, bob, cleo = game.people
    seen = game.table.revision
    ann.confirms()
    bob.confirms()
    cleo.leaves()
    assert game.does(meant(by=HOST, seat=1, expected_revision=seen))


@BOTH
def test_without_a_revision_whoever_sits_there_is_meant(meant: Meant) -> None:
    game = a_table(seats=3)
    eve_takes_anns_seat(game)
    assert game.does(meant(by=HOST, seat=1))


def test_since_when_is_kept_and_exported() -> None:
    game = a_table(seats=3)
    eve_takes_anns_seat(game)
    sat_down = game.table.revision
    assert [seat.since for seat in game.table.seats] == [sat_down, 3, 4]
    assert decode(encode(game.table)) == game.table
    document = export(game.table, game.recorded())
    assert read(document, table_id="", now=NOW).table.seats == game.table.seats
    with refused("BAD_IMPORT", place="state.seats[0].since"):
        read(_with_since(document, game.table.revision + 1), table_id="", now=NOW)


def test_a_document_that_does_not_say_since_when_is_read() -> None:
    game = a_table()
    document = export(game.table, game.recorded())
    table = read(_with_since(document, None), table_id="", now=NOW).table
    assert [seat.since for seat in table.seats] == [0, 3]


def _with_since(document: bytes, since: int | None) -> bytes:
    """The document with another value for the first seat, or none."""
    whole = json.loads(document)
    del whole["sha256"], whole["state"]["seats"][0]["since"]
    if since is not None:
        whole["state"]["seats"][0]["since"] = since
    whole["sha256"] = sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()
    return json.dumps(whole).encode()


def test_since_when_a_seat_is_empty_and_who_plays_on_are_kept_and_exported() -> None:
    game = a_table(seats=5, absence=Absence(policy=AbsencePolicy.BOT, grace=60_000))
    ann, bob, cleo, _, _ = game.people
    game.host_passes_to(3)
    bob.lets_bot_play()
    ann.leaves()
    left_at = game.clock
    cleo.votes(4)
    game.clock += 60_000
    assert game.says_away(1)
    assert [seat.left_at for seat in game.table.seats] == [left_at, 0, 0, 0, 0]
    assert [seat.stand_in for seat in game.table.seats] == ["greedy", "greedy", "", "", ""]
    assert decode(encode(game.table)) == game.table
    document = export(game.table, game.recorded())
    read_again = read(document, table_id="", now=game.clock).table
    for name in ("seats", "votes", "host_seat", "host_gone"):
        assert getattr(read_again, name) == getattr(game.table, name)


def test_a_document_in_which_a_bot_that_stands_in_would_wait_for_ever_is_refused() -> None:
    game = a_table(points="on")
    game.people[0].acts("score 5 for seat 1")
    standing = msgspec.structs.replace(game.table.seat(1), stand_in="greedy", stand_in_cause=1)
    table = msgspec.structs.replace(game.table, seats=(standing, game.table.seat(2)))
    with refused("BAD_IMPORT", place="state.seats[0].stand_in"):
        read(export(table, game.recorded()), table_id="", now=NOW)


# -- in a pause, and for those who are gone -----------------------------------------------


def test_in_a_pause_somebody_may_concede_but_nothing_is_taken_back() -> None:
    game = a_table(seats=3)
    ann, bob, _ = game.people
    ann.confirms()
    game.host_pauses()
    with refused("PAUSED"):
        game.host_takes_back()
    bob.concedes()
    game.host_resumes()
    game.asked[0].confirms()
    assert game.host_takes_back()


def test_a_seat_that_left_the_game_has_no_say_in_takebacks() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    cleo.concedes()
    ann.confirms()
    with refused("NOT_ALLOWED"):
        cleo.asks_to_take_back()
    assert ann.asks_to_take_back() == (2,)
    assert bob.asks_to_take_back() == ()


# -- what had been seen -------------------------------------------------------------------


def test_a_takeback_says_of_nothing_that_it_had_been_seen_if_nothing_was_hidden() -> None:
    game = a_table()
    for person in game.people:
        person.confirms()
    assert "round 1 is over" in " ".join(game.log[-1].lines)
    game.host_takes_back()
    assert not [line for line in game.log[-1].lines if "had been seen" in line]


def test_only_tiles_that_were_drawn_had_been_hidden() -> None:
    chance = random.Random(5)
    game = eastern_wonders()
    while not game.is_over():
        game.plays_on(1, chance)
    turned_up = [entry for entry in game.log if entry.turned_up]
    assert len(turned_up) > 4
    assert any("last round" in line for entry in turned_up for line in entry.lines)
    for entry in turned_up:
        assert entry.kind is ChangeKind.CONFIRM
        assert any(action.kind.startswith("claim") for action in entry.played)
        assert set(entry.turned_up) <= set(entry.lines)
        for line in entry.turned_up:
            assert "game is over" not in line
            assert "last round" not in line
