"""The next table of the same people."""

import pytest
from msgspec.structs import replace

from tableturn_server.tables import commands, rematch, views
from tableturn_server.tables.facts import is_full
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.making import TABLE_ID
from tableturn_server.tables.rematch import RematchOrder, next_id, next_table, table_tag
from tableturn_server.tables.rights import is_host
from tableturn_server.tables.state import Occupant, Status, decode, encode
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    SEED,
    STRANGER,
    UID,
    Confirmation,
    PanelOfTest,
    Person,
    TableOfTest,
    a_table,
    digest,
    refused,
)

NEW_SEED = bytes(range(16, 32))


def a_finished_game() -> TableOfTest:
    """Red sat at the panel, Bob had a device, a bot played, Dan left and Eve conceded."""
    game = a_table(
        seats=5, taken=False, open_seed=True, start_when_full=True, watch=digest("watch")
    )
    panel = game.host_puts_panel(seats=(0, 3))
    panel.presses(1)
    bob, dan, eve = (Person(game, name) for name in ("Bob", "Dan", "Eve"))
    bob.takes_seat()
    game.host_sets_confirmation(2, Confirmation.DEVICE)
    game.host_seats_bot(confirmation=Confirmation.PANEL)
    dan.takes_seat()
    eve.takes_seat()
    dan.leaves()
    eve.concedes()
    panel.presses(1)
    bob.acts("finish game", confirm=True)
    return game


def test_everybody_sits_where_they_sat() -> None:
    game = a_finished_game()
    table, entry = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=5_000_000)
    old = game.table
    assert (table.status, table.revision, table.stamp) == (Status.OPEN, 1, 5_000_000)
    assert (entry.kind, entry.revision, entry.time) == (ChangeKind.CREATE, 1, 5_000_000)
    for now, before in zip(table.seats[:3], old.seats[:3], strict=True):
        for name in ("color", "name", "occupant", "token", "bot", "confirmation", "at_panel"):
            assert getattr(now, name) == getattr(before, name)
    assert [seat.occupant for seat in table.seats] == [
        Occupant.PERSON,
        Occupant.PERSON,
        Occupant.BOT,
        Occupant.NOBODY,
        Occupant.PERSON,
    ]
    assert table.seats[3].name == ""
    assert not any(seat.dropped for seat in table.seats)
    assert [(p.uid, p.token, p.seats) for p in table.panels] == [
        (p.uid, p.token, p.seats) for p in old.panels
    ]
    for name in ("game", "options", "seats", "host", "watch", "takeback", "title"):
        assert getattr(table.making, name) == getattr(old.making, name)
    assert decode(encode(table)) == table


def test_the_seed_is_a_new_and_secret_one() -> None:
    game = a_finished_game()
    table, _ = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=5_000_000)
    assert game.table.making.seed == SEED
    assert table.making.seed == NEW_SEED
    assert not views.view(table, None).open_seed
    assert views.view(table, None).seed == b""


def test_the_next_table_is_played_like_any_other() -> None:
    game = a_finished_game()
    table, entry = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=game.clock)
    assert not is_full(table)
    again = TableOfTest(table, [entry], clock=game.clock)
    with refused("NOT_STARTED"):
        again.does(commands.Start(by=ADMIN))
    Person(again, "Dan").takes_seat()  # the last one: the game starts
    assert is_full(again.table)
    assert again.table.status is Status.RUNNING
    assert again.asked_seats == (1,)
    change = again.does(
        commands.Press(
            by=commands.By(again.table.panels[0].token),
            uid=again.table.panels[0].uid,
            button=1,
            gesture=commands.Gesture.PRESS,
            expected_revision=again.table.revision,
        )
    )
    assert change is not None
    assert again.asked == [Person(again, "Bob")]


def test_buttons_count_from_the_first_revision_of_the_next_table_on() -> None:
    game = a_finished_game()
    assert game.table.panels[0].since > 1
    table, entry = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=game.clock)
    again = TableOfTest(table, [entry], clock=game.clock)
    panel = PanelOfTest(again, UID, table.panels[0].token)
    with refused("NOT_STARTED"):  # it is Dan's seat that is missing, and the press counts
        panel.holds(1, at=1)
    # A button that red gave itself is free when red leaves; that of the bot is the host's.
    again.does(commands.LeaveSeat(by=HOST, seat=1))
    again.does(commands.LeaveSeat(by=HOST, seat=3))
    assert panel.seats == (0, 3)
    with refused("STALE_REVISION", asked_at=2):
        panel.presses(1, at=1)
    assert panel.presses(1, at=2) == 1
    assert panel.presses(2, at=3) == 3


def test_who_was_there_may_ask_for_it() -> None:
    game = a_finished_game()
    panel = commands.By(game.table.panels[0].token)
    ids = set()
    for by in (HOST, ADMIN, panel, Person(game, "Bob").by, Person(game, "Eve").by):
        ids.add(next_table(game.table, by, drawn_seed=NEW_SEED, now=0)[0].making.table_id)
    assert len(ids) == 1
    for by, reason in (
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
        (Person(game, "Dan").by, "BAD_TOKEN"),
        (commands.By(digest("watch")), "NOT_ALLOWED"),
    ):
        with refused(reason):
            next_table(game.table, by, drawn_seed=NEW_SEED, now=0)


def test_there_is_none_before_the_end() -> None:
    game = a_table(start_when_full=False)
    with refused("NOT_STARTED"):
        next_table(game.table, HOST, drawn_seed=NEW_SEED, now=0)
    game.host_starts()
    with refused("GAME_RUNNING"):
        next_table(game.table, HOST, drawn_seed=NEW_SEED, now=0)
    with refused("BAD_TOKEN"):
        next_table(game.table, STRANGER, drawn_seed=NEW_SEED, now=0)
    with refused("GAME_RUNNING"):
        game.does(commands.NoteRematch(by=ADMIN, next_table="another-table"))


def test_a_panel_takes_no_table_for_the_next_one() -> None:
    table = a_finished_game().table
    ids = {table.making.table_id}
    for _ in range(300):
        tag = table_tag(table.making.table_id)
        made, _ = next_table(table, HOST, drawn_seed=NEW_SEED, now=0)
        assert table_tag(made.making.table_id) != tag
        assert TABLE_ID.fullmatch(made.making.table_id)
        ids.add(made.making.table_id)
        table = replace(made, status=Status.FINISHED)
    assert len(ids) == 301


def test_an_id_with_the_same_tag_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    table = a_finished_game().table
    first = next_id(table)
    real = rematch.table_tag
    same = real(table.making.table_id)
    monkeypatch.setattr(rematch, "table_tag", lambda i: same if i == first else real(i))
    assert next_id(table) not in (first, table.making.table_id)


def test_its_id_follows_from_the_old_one_and_the_host() -> None:
    table = a_finished_game().table
    making = table.making
    others = [
        replace(table, making=replace(making, host=digest("another host"))),
        replace(table, making=replace(making, table_id="another-table")),
    ]
    assert len({next_id(table), *map(next_id, others)}) == 3
    assert next_id(replace(table, making=replace(making, seed=NEW_SEED))) == next_id(table)


def test_the_next_table_is_noted_once() -> None:
    game = a_finished_game()
    for by, reason in ((HOST, "NOT_ALLOWED"), (STRANGER, "BAD_TOKEN")):
        with refused(reason):
            game.does(commands.NoteRematch(by=by, next_table="another-table"))
    with refused("BAD_FIELD", field="table_id"):
        game.does(commands.NoteRematch(by=ADMIN, next_table="A table"))
    assert game.does(commands.NoteRematch(by=ADMIN, next_table="another-table"))
    assert game.log[-1].kind is ChangeKind.REMATCH
    assert views.view(game.table, None).next_table_id == "another-table"
    assert game.does(commands.NoteRematch(by=ADMIN, next_table="another-table")) is None
    assert game.does(commands.NoteRematch(by=ADMIN, next_table="a-third-table")) is None
    assert game.table.next_table == "another-table"
    assert decode(encode(game.table)) == game.table


@pytest.mark.parametrize("seats", [2, 8])
def test_it_has_the_seats_that_were_played_with(seats: int) -> None:
    game = a_table(seats=8, taken=False)
    for person in game.people_by_name[:seats]:
        person.takes_seat()
    if seats < 8:
        game.host_starts(without_free_seats=True)
    game.asked[0].acts("finish game", confirm=True)
    assert game.table.making.left_out == 8 - seats
    table, _ = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=0)
    assert table.making.seats == len(table.seats) == seats
    assert table.making.left_out == 0
    assert is_full(table)


# -- who sits where ------------------------------------------------------------------------


def next_after(game: TableOfTest, order: RematchOrder) -> TableOfTest:
    table, entry = next_table(game.table, HOST, drawn_seed=NEW_SEED, now=game.clock, order=order)
    assert decode(encode(table)) == table
    return TableOfTest(table, [entry], clock=game.clock)


def names(game: TableOfTest) -> list[str]:
    return [seat.name for seat in game.table.seats]


def test_everybody_moves_up_by_one() -> None:
    game = next_after(a_finished_game(), RematchOrder.ROTATED)
    # A name that follows from the seat follows from the new one.
    assert names(game) == ["Bob", "Greedy 2", "", "Eve", "White"]
    assert [seat.color for seat in game.table.seats] == ["red", "blue", "green", "yellow", "white"]
    assert [seat.occupant for seat in game.table.seats] == [
        Occupant.PERSON,
        Occupant.BOT,
        Occupant.NOBODY,
        Occupant.PERSON,
        Occupant.PERSON,
    ]
    # Tokens, bots, and what was said of confirmations go with their people.
    assert [Person(game, name).seat for name in ("Bob", "Eve")] == [1, 4]
    assert game.table.seat(1).confirmation is Confirmation.DEVICE
    assert (game.table.seat(2).bot, game.table.seat(2).confirmation) == (
        "greedy",
        Confirmation.PANEL,
    )
    assert game.table.seat(5).at_panel
    assert not any(seat.dropped for seat in game.table.seats)
    # So do buttons: red's is the one of the last seat now, the bot's that of the second.
    assert game.table.panels[0].seats == (5, 2)
    assert {seat.since for seat in game.table.seats} == {0, 1}
    # The last one is there, and the game begins; whoever has red begins it.
    Person(game, "Dan").takes_seat()
    assert game.asked_seats == (1,)
    panel = PanelOfTest(game, UID, game.table.panels[0].token)
    Person(game, "Bob").confirms()
    game.bot_of(2).waits()
    assert panel.presses(2) == 2


def test_a_rotation_comes_round() -> None:
    game = a_table(seats=3)
    for name in ("Ann", "Bob", "Cleo"):  # in turn they have the first seat
        Person(game, name).acts("finish game", confirm=True)
        game = next_after(game, RematchOrder.ROTATED)
        assert game.does(commands.Start(by=HOST))
    assert names(game) == ["Ann", "Bob", "Cleo"]


def test_who_came_last_sits_first() -> None:
    game = a_table(seats=5, points="on")
    for person, points in zip(game.people, (5, 9, 0, 9, 7), strict=True):
        text = f"score {points} for seat {person.seat}"
        person.acts(*([text] if points else []), confirm=True)
    game.person(5).concedes()  # behind all others, whatever the points
    game.asked[0].acts("finish game", confirm=True)
    again = next_after(game, RematchOrder.LOSER_FIRST)
    # Bob and Dan have as many points: they stay in the order of their seats.
    assert names(again) == ["Eve", "Cleo", "Ann", "Bob", "Dan"]


def test_of_two_who_conceded_the_lower_seat_is_first_if_they_tie() -> None:
    game = a_table(seats=4)
    game.person(3).concedes()
    game.person(2).concedes()
    game.asked[0].acts("finish game", confirm=True)
    results = views.view(game.table, None).outcome
    assert results is not None
    ranks = {result.seat: result.rank for result in results.results}
    expected = sorted(range(1, 5), key=lambda seat: (-ranks[seat], seat))
    again = next_after(game, RematchOrder.LOSER_FIRST)
    assert [Person(again, ("Ann", "Bob", "Cleo", "Dan")[s - 1]).seat for s in expected] == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize("order", list(RematchOrder))
def test_everybody_is_there_once_and_with_their_button(order: RematchOrder) -> None:
    old = a_finished_game()
    game = next_after(old, order)

    def people(which: TableOfTest) -> dict[int, bytes]:
        """Which button belongs to whom."""
        panel = which.table.panels[0]
        return {
            button: which.table.seat(number).token + which.table.seat(number).bot.encode()
            for button, number in enumerate(panel.seats, 1)
        }

    assert people(game) == people(old)
    tokens = sorted(seat.token for seat in game.table.seats)
    assert tokens == sorted(seat.token for seat in old.table.seats)


@pytest.mark.parametrize("order", list(RematchOrder))
def test_no_bot_plays_on_for_anybody_at_the_next_table(order: RematchOrder) -> None:
    game = a_table(seats=3)
    game.person(2).lets_bot_play()
    game.person(3).votes(2)
    game.asked[0].acts("finish game", confirm=True)
    again = next_after(game, order)
    assert not any(seat.stand_in or seat.stand_in_cause for seat in again.table.seats)
    assert again.table.votes == ()
    assert (again.table.clocks, again.table.paused_time, again.table.credited) == ((), 0, 0)


def test_the_hosts_duties_go_with_the_person() -> None:
    game = a_table(seats=3)
    game.host_passes_to(1)
    game.asked[0].acts("finish game", confirm=True)
    with refused("NOT_ALLOWED"):
        next_table(game.table, HOST, drawn_seed=NEW_SEED, now=0)
    table, entry = next_table(
        game.table, Person(game, "Ann").by, drawn_seed=NEW_SEED, now=0, order=RematchOrder.ROTATED
    )
    again = TableOfTest(table, [entry], clock=game.clock)
    assert again.table.host_seat == 3
    assert is_host(again.table, Person(again, "Ann").by)
    assert not is_host(again.table, HOST)
    assert not is_host(again.table, Person(again, "Bob").by)
    # The id is the same, whoever is host.
    assert next_id(game.table) == table.making.table_id
