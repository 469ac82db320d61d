"""A seat that leaves the game: the others go on in their order, and the end is told."""

import random

import pytest

from tableturn_server.rules.game import EndReason
from tableturn_server.tables import commands, views
from tableturn_server.tables.log import ChangeKind
from tests.tables.play import HOST, a_table, action, eastern_wonders, refused


@pytest.mark.case("L10")
@pytest.mark.parametrize("leaver", [1, 2, 3, 4])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_the_order_is_the_old_one_without_the_seat(leaver: int, turns: int) -> None:
    game = a_table(seats=4)
    for _ in range(turns):
        game.asked[0].confirms()
    game.person(leaver).concedes()
    order = []
    for _ in range(6):
        order.append(game.asked[0].seat)
        game.asked[0].confirms()
    left = [seat for seat in (1, 2, 3, 4) if seat != leaver]
    # The turn of the seat that is asked stays, or goes to the next one after the leaver.
    first = next(seat for seat in (*range(turns + 1, 5), *range(1, 5)) if seat in left)
    start = left.index(first)
    assert order == [left[(start + n) % 3] for n in range(6)]


@pytest.mark.case("L10")
def test_two_may_leave_in_one_round() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, dan = game.people
    ann.confirms()
    bob.concedes()
    cleo.concedes()
    assert game.asked == [dan]
    dan.confirms()
    assert game.asked == [ann]
    dan.concedes()
    assert game.is_over()
    outcome = views.view(game.table, None).outcome
    assert outcome is not None
    assert outcome.reason is EndReason.LAST_SEAT
    assert outcome.results[0].seat == 1
    with refused("GAME_OVER"):
        ann.concedes()


@pytest.mark.case("L10")
@pytest.mark.parametrize("seed", range(12))
def test_whoever_leaves_and_whenever_the_game_goes_on_to_its_end(seed: int) -> None:
    chance = random.Random(seed)
    game = eastern_wonders(seats=4, max_rounds="30", seed=bytes([seed] * 16))
    leavers = chance.sample((1, 2, 3, 4), 3)
    for seat in leavers:
        game.plays_on(chance.randrange(8), chance)
        if game.is_over():
            break
        game.person(seat).concedes()
        assert game.log[-1].kind is ChangeKind.DROP
        assert seat not in [person.seat for person in game.asked]
    assert game.is_over()
    outcome = views.view(game.table, None).outcome
    assert outcome is not None
    assert sorted(result.rank for result in outcome.results) == [1, 2, 3, 4]


def test_what_the_others_have_staged_stays() -> None:
    game = a_table(seats=3, points="on")
    ann, bob, _ = game.people
    ann.acts("score 4 for seat 1")
    seen = game.table.revision
    bob.concedes()
    assert ann.staged == (action("score 4 for seat 1"),)
    ann.confirms(at=seen)


def test_what_is_not_possible_any_more_is_unstaged_and_asked_anew() -> None:
    game = a_table(seats=3, points="on")
    ann, bob, _ = game.people
    ann.acts("score 4 for seat 2")
    seen = game.table.revision
    bob.concedes()
    assert ann.staged == ()
    with refused("STALE_REVISION"):
        ann.confirms(at=seen)


@pytest.mark.clause("DR-2", "DR-4")
def test_what_was_staged_is_undone_when_the_seat_leaves_the_game() -> None:
    game = eastern_wonders(seats=3, first_seat="1")
    for pile, tile in (("YYYY", "C4"), ("YYR", "C4"), ("RR", "C3")):  # in reverse turn order
        game.asked[0].acts(f"take pile {pile}", f"place boat {tile}", confirm=True)
    ann, bob, _ = game.people
    before = game.table.position
    ann.acts("move C4", "pay red to seat 2", "pay red to seat 3", "harvest")
    ann.concedes()
    # Nobody was paid and nothing was harvested; the turn is over without an action.
    after = game.table.position
    assert [player.hold.letters for player in after.players] == ["RR", "YYR", "YYYY"]
    assert after.islands.boats[1:] == before.islands.boats[1:]
    assert ann.staged == game.log[-1].played == ()
    assert game.asked == [bob]
    assert bob.sees().game_view == views.view(game.table, None).game_view


@pytest.mark.clause("DR-2", "DR-4")
def test_a_pile_that_was_staged_goes_back_when_the_seat_leaves_the_game() -> None:
    game = eastern_wonders(seats=3, first_seat="1")
    _, bob, cleo = game.people
    cleo.acts("take pile RR", "place boat C3")
    cleo.concedes()
    assert game.asked == [bob]
    piles = bob.sees().choices[0].piles
    assert "RR" in [pile.letters for pile in piles]
    assert len(piles) == 4


@pytest.mark.clause("DR-1")
@pytest.mark.parametrize("back", [True, False])
def test_a_seat_without_a_player_waits_until_it_is_taken_or_dropped(back: bool) -> None:
    game = a_table(seats=3, points="on")
    ann, bob, _ = game.people
    ann.acts("score 4 for seat 1")
    ann.leaves()
    # The table waits for the seat: its turn is neither skipped nor undone.
    assert [prompt.seat for prompt in bob.sees().prompts] == [1]
    with refused("NOT_ASKED"):
        bob.confirms()
    if back:
        assert ann.takes_seat(1) == 1
        assert ann.staged == (action("score 4 for seat 1"),)
        ann.confirms()
        assert game.table.position.points == (4, 0, 0)
        assert not game.table.seat(1).dropped
    else:
        game.does(commands.Concede(by=HOST, seat=1))
        assert game.table.seat(1).dropped
        assert game.table.position.points == (0, 0, 0)
        with refused("SEAT_TAKEN"):
            ann.takes_seat(1)
    assert game.asked == [bob]


def test_the_host_takes_somebody_out_who_is_gone() -> None:
    game = a_table(seats=3)
    ann, bob, _ = game.people
    with refused("NOT_ALLOWED"):
        game.does(commands.Concede(by=ann.by, seat=2))
    game.does(commands.Concede(by=HOST, seat=bob.seat))
    assert game.table.seat(2).dropped
    with refused("NOT_ASKED"):
        bob.concedes()
