"""Seats: taken, left, taken again; names; the start of the game."""

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.state import Occupant, Status
from tests.tables.play import (
    HOST,
    NOBODY,
    SEED,
    STRANGER,
    Person,
    a_table,
    digest,
    refused,
)


def test_the_first_free_seat_or_a_chosen_one_is_taken() -> None:
    game = a_table(seats=4, taken=False)
    assert Person(game, "Ann").takes_seat() == 1
    assert Person(game, "Bob").takes_seat(3) == 3
    assert Person(game, "Cleo").takes_seat() == 2
    with refused("SEAT_TAKEN"):
        Person(game, "Dan").takes_seat(3)
    with refused("UNKNOWN_NAME"):
        Person(game, "Dan").takes_seat(5)


def test_the_last_seat_starts_the_game_where_that_is_wanted() -> None:
    game = a_table(seats=2, taken=False)
    Person(game, "Ann").takes_seat()
    assert game.table.status == Status.OPEN
    Person(game, "Bob").takes_seat()
    assert not game.is_over()
    assert [person.name for person in game.asked] == ["Ann"]
    assert "the game starts" in game.log[-1].lines
    with refused("TABLE_FULL"):
        Person(game, "Cleo").takes_seat()


def test_else_the_host_starts_it() -> None:
    game = a_table(seats=2, taken=False, start_when_full=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    with refused("NOT_STARTED"):
        game.does(commands.Start(by=HOST))
    Person(game, "Bob").takes_seat()
    assert game.table.status is Status.OPEN
    for by, reason in ((NOBODY, "BAD_TOKEN"), (STRANGER, "BAD_TOKEN"), (ann.by, "NOT_ALLOWED")):
        with refused(reason):
            game.does(commands.Start(by=by))
    game.does(commands.Start(by=HOST))
    with refused("ALREADY_STARTED"):
        game.does(commands.Start(by=HOST))


@pytest.mark.case("S15", "R4")
def test_a_seat_that_is_left_is_dead_to_its_old_token() -> None:
    game = a_table(seats=2, points="on")
    ann, bob = game.people
    ann.acts("score 7 for seat 1")
    seen = game.table.revision
    ann.leaves()
    eve = Person(game, "Eve")
    assert eve.takes_seat() == 1
    for call in (
        lambda: game.does(commands.Act(by=ann.by, expected_revision=seen, confirm=True)),
        lambda: game.does(commands.Undo(by=ann.by, expected_revision=seen)),
        lambda: game.does(commands.LeaveSeat(by=ann.by)),
        lambda: game.does(commands.Concede(by=ann.by)),
        lambda: game.does(commands.Pause(by=ann.by)),
        lambda: views.audience(game.table, ann.by, 1),
    ):
        with refused("BAD_TOKEN"):
            call()
    # Whoever sits down finds the seat as it was left.
    assert len(eve.staged) == 1
    eve.confirms()
    assert game.asked == [bob]


@pytest.mark.case("S15")
def test_what_was_sent_before_the_seat_was_left_does_not_count_afterwards() -> None:
    game = a_table(seats=2)
    ann, _ = game.people
    seen = game.table.revision
    ann.leaves()
    ann.takes_seat(1)
    with refused("STALE_REVISION"):
        ann.confirms(at=seen)
    ann.confirms()


def test_before_the_start_a_seat_is_left_with_its_name() -> None:
    game = a_table(seats=2, taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    ann.leaves()
    assert game.table.seat(1).name == ""
    assert game.table.seat(1).occupant is Occupant.NOBODY
    with refused("BAD_FIELD"):
        game.does(commands.LeaveSeat(by=HOST, seat=1))


def test_the_host_may_free_a_seat() -> None:
    game = a_table(seats=2)
    ann, bob = game.people
    game.does(commands.LeaveSeat(by=HOST, seat=ann.seat))
    with refused("BAD_TOKEN"):
        ann.confirms()
    with refused("NOT_ALLOWED"):
        game.does(commands.LeaveSeat(by=bob.by, seat=1))


def test_nobody_takes_a_seat_that_left_the_game() -> None:
    game = a_table(seats=3)
    cleo = game.people[2]
    cleo.concedes()
    cleo.leaves()
    with refused("SEAT_TAKEN"):
        Person(game, "Dan").takes_seat(3)
    with refused("TABLE_FULL"):
        Person(game, "Dan").takes_seat()


@pytest.mark.parametrize(
    "name", ["", "   ", "\t", "x" * 41, "a\nb", "a\u202eb", "\u200b", "\u200d", "\u0301", "a\u0000"]
)
def test_a_name_can_be_seen_and_fits(name: str) -> None:
    game = a_table(seats=2, taken=False)
    command = commands.TakeSeat(by=NOBODY, name=name, token=digest("a token"))
    with refused("BAD_FIELD", field="name"):
        game.does(command)


@pytest.mark.parametrize(
    ("name", "kept"),
    [(" Ann ", "Ann"), ("Zoe\u0308", "Zo\u00eb"), ("太郎", "太郎"), ("👩\u200d🚀", "👩\u200d🚀")],
)
def test_names_are_kept_as_they_are_seen(name: str, kept: str) -> None:
    game = a_table(seats=2, taken=False)
    game.does(commands.TakeSeat(by=NOBODY, name=name, token=digest("a token")))
    assert game.table.seat(1).name == kept


def test_a_token_is_registered_by_its_hash_only() -> None:
    game = a_table(seats=2, taken=False)
    with refused("BAD_FIELD", field="token_sha256"):
        game.does(commands.TakeSeat(by=NOBODY, name="Ann", token=b"a token itself"))


WISH = Wish(table_id="abc", game="free-table", options={}, host=HOST.token)


@pytest.mark.parametrize(
    ("wish", "reason", "field"),
    [
        ({"game": "chess"}, "UNKNOWN_NAME", "game"),
        ({"table_id": "ab"}, "BAD_FIELD", "table_id"),
        ({"table_id": "a" * 41}, "BAD_FIELD", "table_id"),
        ({"table_id": "Abc"}, "BAD_FIELD", "table_id"),
        ({"table_id": "a b c"}, "BAD_FIELD", "table_id"),
        ({"table_id": "abc\n"}, "BAD_FIELD", "table_id"),
        ({"seats": 1}, "BAD_FIELD", "seats"),
        ({"seats": 9}, "BAD_FIELD", "seats"),
        ({"options": {"order": "sideways"}}, "BAD_FIELD", "options"),
        ({"options": {"colour": "red"}}, "UNKNOWN_NAME", "options"),
        ({"options": {"rounds": "many"}}, "BAD_FIELD", "options"),
        ({"host": b""}, "BAD_FIELD", "host_token_sha256"),
        ({"watch": b"short"}, "BAD_FIELD", "watch_token_sha256"),
        ({"seed": b"short"}, "BAD_FIELD", "seed"),
        ({"title": "x" * 61}, "BAD_FIELD", "title"),
        ({"component_set": b"{}"}, "BAD_COMPONENTS", None),
        ({"game": "eastern-wonders", "component_set": b"no json"}, "BAD_COMPONENTS", None),
    ],
)
def test_a_table_that_can_not_be_made(
    wish: dict[str, object], reason: str, field: str | None
) -> None:
    given = Wish(**{**{n: getattr(WISH, n) for n in WISH.__struct_fields__}, **wish})
    with refused(reason, **({"field": field} if field else {})):
        make(given, drawn_seed=SEED, now=0)


def test_a_chosen_seed_is_marked_for_all_to_see() -> None:
    secret, chosen = a_table(), a_table(open_seed=True)
    assert not views.view(secret.table, None).open_seed
    assert views.view(secret.table, None).seed == b""
    assert views.view(chosen.table, None).open_seed
    assert views.view(chosen.table, None).seed == SEED
    assert views.view(secret.table, None).seed_hash == views.seed_hash(SEED)


def test_the_seed_is_told_at_the_end() -> None:
    game = a_table()
    game.people[0].acts("finish game", confirm=True)
    assert views.view(game.table, None).seed == SEED


def test_who_may_watch() -> None:
    watch = digest("the watch token")
    public, private = a_table(), a_table(watch=watch)
    ann = private.people[0]
    assert views.audience(public.table, NOBODY, 0) is None
    assert views.audience(public.table, STRANGER, 0) is None
    for by in (NOBODY, STRANGER):
        with refused("BAD_TOKEN"):
            views.audience(private.table, by, 0)
    for by in (HOST, commands.By(watch), commands.By(b"x" * 32, admin=True)):
        assert views.audience(private.table, by, 0) is None
        with refused("NOT_ALLOWED"):
            views.audience(private.table, by, 1)
    assert views.audience(private.table, ann.by, 0) == 1
    assert views.audience(private.table, ann.by, 1) == 1
    with refused("NOT_ALLOWED"):
        views.audience(private.table, ann.by, 2)
    with refused("UNKNOWN_NAME"):
        views.audience(private.table, ann.by, 3)
