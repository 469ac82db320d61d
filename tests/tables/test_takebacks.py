"""Takebacks: the last confirmed turn, by whom the table allows it, from a near snapshot."""

import random

import pytest
from msgspec.structs import replace

from tableturn_server.rules import catalog
from tableturn_server.tables import commands
from tableturn_server.tables.authority import decide, needs_history
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import SNAPSHOT_EVERY, Takeback
from tests.tables.play import (
    HOST,
    STRANGER,
    BotOfTest,
    Confirmation,
    Person,
    TableOfTest,
    a_table,
    refused,
)


def position(game: TableOfTest) -> tuple[object, ...]:
    table = game.table
    return table.open, table.hidden, table.turns, table.log_hash


def test_the_host_takes_the_last_turn_back() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    before = position(game)
    ann.acts("score 5 for seat 1", confirm=True)
    bob.acts("score 6 for seat 2")
    game.host_takes_back()
    assert position(game) == before
    assert game.asked == [ann]
    assert ann.staged == bob.staged == ()
    assert game.log[-1].kind is ChangeKind.TAKEBACK
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()


def test_nothing_that_was_sent_before_a_takeback_counts_after_it() -> None:
    game = a_table()
    ann, _ = game.people
    seen = game.table.revision
    ann.confirms()
    game.host_takes_back()
    for revision in (seen, seen + 1):
        with refused("STALE_REVISION"):
            ann.confirms(at=revision)
    ann.confirms()


def test_a_takeback_is_meant_for_the_turn_that_was_seen() -> None:
    game = a_table()
    ann, bob = game.people
    ann.confirms()
    seen = game.table.revision
    bob.confirms()
    with refused("STALE_REVISION"):
        game.host_takes_back(at=seen)
    with refused("STALE_REVISION"):
        game.host_takes_back(at=game.table.revision + 1)
    assert game.host_takes_back()


def test_what_can_not_be_taken_back_is_told_as_it_is() -> None:
    game = a_table(taken=False)
    bots = [game.host_seats_bot(), game.host_seats_bot()]
    with refused("NOTHING_TO_TAKE_BACK", says="no turn is confirmed now"):
        game.host_takes_back()
    for bot in bots:
        bot.plays()
    take_back = commands.TakeBack(by=HOST, expected_revision=game.table.revision)
    # The turns stand, but the store doesn't have them.
    with refused("NOTHING_TO_TAKE_BACK", says="not kept completely"):
        decide(game.table, take_back, game.clock, None)
    for turn in (2, 1):
        game.host_takes_back()
        assert game.log[-1].lines == (f"the host takes turn {turn} back",)
    with refused("NOTHING_TO_TAKE_BACK", says="no turn is confirmed now"):
        game.host_takes_back()


def test_a_takeback_that_is_sent_twice_takes_one_turn_back() -> None:
    game = a_table()
    ann, bob = game.people
    ann.confirms()
    bob.confirms()
    seen = game.table.revision
    assert game.host_takes_back(at=seen)
    with refused("STALE_REVISION"):
        game.host_takes_back(at=seen)
    assert game.table.turns == 1
    assert game.asked == [bob]


def test_who_may_take_back() -> None:
    game = a_table()
    ann, _ = game.people
    ann.confirms()
    with refused("NOT_ALLOWED"):
        ann.asks_to_take_back()
    with refused("BAD_TOKEN"):
        game.does(commands.TakeBack(by=STRANGER, expected_revision=game.table.revision))
    never = a_table(takeback=Takeback.NEVER)
    never.people[0].confirms()
    with refused("NOT_ALLOWED"):
        never.host_takes_back()


def test_all_seats_may_have_to_agree() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    before = position(game)
    ann.confirms()
    with refused("NOT_ALLOWED"):
        game.host_takes_back()
    assert cleo.asks_to_take_back() == (1, 2)
    assert cleo.asks_to_take_back() is None
    assert ann.asks_to_take_back() == (2,)
    assert game.table.takeback_asked == (1, 3)
    assert bob.asks_to_take_back() == ()
    assert position(game) == before
    assert not game.table.takeback_asked


def test_an_agreement_ends_with_the_next_turn() -> None:
    game = a_table(seats=2, takeback=Takeback.ALL_AGREE)
    ann, bob = game.people
    ann.confirms()
    assert ann.asks_to_take_back() == (2,)
    bob.confirms()
    assert game.table.takeback_asked == ()
    assert bob.asks_to_take_back() == (1,)


def test_who_has_left_need_not_agree() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    before = position(game)
    ann.confirms()
    assert ann.asks_to_take_back() == (2, 3)
    assert bob.asks_to_take_back() == (3,)
    cleo.leaves()
    # Nobody is left to agree: either of the two may say it again.
    assert bob.asks_to_take_back() == ()
    assert position(game) == before


def test_who_has_left_does_not_agree_for_whoever_sits_down_next() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    ann.confirms()
    assert ann.asks_to_take_back() == (2, 3)
    ann.leaves()
    assert game.table.takeback_asked == ()
    eve = Person(game, "Eve")
    assert eve.takes_seat() == 1
    assert bob.asks_to_take_back() == (1, 3)
    assert cleo.asks_to_take_back() == (1,)
    assert game.table.turns == 1
    assert eve.asks_to_take_back() == ()
    assert game.table.turns == 0


def test_a_seat_that_is_out_of_the_game_need_not_agree() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    cleo.concedes()  # and stays at the table
    before = position(game)
    ann.confirms()
    assert ann.asks_to_take_back() == (2,)
    assert bob.asks_to_take_back() == ()
    assert position(game) == before


def test_a_seat_that_left_the_game_does_not_come_back() -> None:
    game = a_table(seats=3)
    ann, _, cleo = game.people
    ann.confirms()
    cleo.concedes()
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()
    game.asked[0].confirms()
    game.host_takes_back()
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()


@pytest.mark.case("L5")
def test_no_turn_is_read_where_a_drop_rules_a_takeback_out() -> None:
    game = a_table(seats=4, taken=False)
    cleo, dan = (Person(game, name) for name in ("Cleo", "Dan"))
    cleo.takes_seat()
    dan.takes_seat()
    for _ in range(2):
        game.host_seats_bot()
    cleo.confirms()
    dan.confirms()
    game.host_takes_back()
    cleo.concedes()
    dan.concedes()
    drop = game.table.turns
    while game.table.turns < drop + 3 * SNAPSHOT_EVERY:
        BotOfTest(game, *game.asked_seats).plays()
    panel = game.host_puts_panel(seats=(3, 4))
    take = commands.TakeBack(by=HOST, expected_revision=game.table.revision)
    chord = panel.command(1, Gesture.CHORD, 2)
    game.host_sets_confirmation(3, Confirmation.PANEL)
    for command in (take, chord):
        assert not needs_history(game.table, command)
    with refused("NOTHING_TO_TAKE_BACK", says="a seat has left the game since"):
        game.host_takes_back()
    # A table of an earlier version says so too, when its turns have been read.
    game.table = replace(game.table, drop_turn=0)
    assert needs_history(game.table, take)
    with refused("NOTHING_TO_TAKE_BACK", says="a seat has left the game since"):
        game.host_takes_back()


def test_what_was_confirmed_after_a_drop_is_taken_back() -> None:
    game = a_table(seats=3)
    game.people[2].concedes()
    before = position(game)
    game.people[0].confirms()
    assert game.host_takes_back()
    assert position(game) == before
    assert game.table.drop_turn == 1


@pytest.mark.case("L3")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("eastern-wonders", "claim_tile"),
        ("from-sand-to-sea", "acquire_card"),
        ("from-sand-to-sea", "claim_tile"),
        ("spice-road", "acquire_card"),
        ("spice-road", "claim_card"),
    ],
)
def test_draws_keep_their_order_and_the_log_says_what_was_seen(name: str, kind: str) -> None:
    chance = random.Random(5)
    game = a_table(name)
    while not (game.log[-1].turned_up and kind in {one.kind for one in game.log[-1].played}):
        assert not game.is_over()
        game.plays_on(1, chance)
    drawn = game.log[-1]
    after = position(game)
    game.host_takes_back()
    assert [line for line in game.log[-1].lines if line.startswith("it had been seen: ")] == [
        f"it had been seen: {line}" for line in drawn.turned_up
    ]
    game.person(drawn.seat)._acts(drawn.played, True)
    assert position(game) == after
    assert game.log[-1].turned_up == drawn.turned_up


@pytest.mark.parametrize("name", catalog.GAMES)
def test_turn_after_turn_is_taken_back_to_the_start(name: str) -> None:
    chance = random.Random(7)
    game = a_table(name, seats=3)
    positions = [position(game)]
    for _ in range(2 * SNAPSHOT_EVERY + 3):
        game.plays_on(1, chance)
        if game.is_over():
            break
        positions.append(position(game))
    for before in reversed(positions[:-1]):
        game.host_takes_back()
        assert position(game) == before
    assert game.most_replayed <= SNAPSHOT_EVERY


def test_a_turn_that_is_played_again_counts_as_it_was_played_last() -> None:
    chance = random.Random(8)
    game = a_table(points="on", seats=2)
    for _ in range(60):
        game.plays_on(chance.randrange(1, 4), chance)
        for _ in range(min(game.table.turns, chance.randrange(3))):
            game.host_takes_back()
    expected = position(game)
    game.plays_on(1, chance)
    game.host_takes_back()
    assert position(game) == expected


@pytest.mark.case("L5")
def test_a_takeback_costs_the_same_after_two_thousand_actions() -> None:
    chance = random.Random(9)
    game = a_table(points="on", seats=4)
    while sum(len(entry.actions) for entry in game.log) < 2000:
        game.plays_on(1, chance)
    for _ in range(2 * SNAPSHOT_EVERY):
        game.host_takes_back()
    assert game.most_replayed <= SNAPSHOT_EVERY
