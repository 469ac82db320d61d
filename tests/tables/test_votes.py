"""Seats that decide together that another one leaves the game for good (DR-4)."""

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Takeback,
    TimeoutPolicy,
    decode,
    encode,
)
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    SERVICE,
    STRANGER,
    Person,
    TableOfTest,
    a_table,
    refused,
)


def wishes(game: TableOfTest) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Who shall leave, who wants it, and who still has to: as everybody sees it."""
    return [(v.seat, v.voters, v.waiting_for) for v in views.view(game.table, None).drop_votes]


@pytest.mark.clause("DR-4")
@pytest.mark.case("C8")
def test_a_seat_leaves_when_all_others_want_it() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, dan = game.people
    assert ann.votes(4) == (2, 3)
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.VOTE_DROP, 1)
    assert game.log[-1].lines[0] == "Ann (red) wants Dan (yellow) to leave the game"
    assert cleo.votes(4) == (2,)
    assert wishes(game) == [(4, (1, 3), (2,))]
    assert decode(encode(game.table)) == game.table
    assert bob.votes(4) == ()
    assert game.log[-1].kind is ChangeKind.DROP
    assert game.log[-1].seat == 4
    why = "Dan (yellow) leaves the game: so want Ann (red), Bob (blue), Cleo (green)"
    assert why in game.log[-1].lines
    assert game.table.seat(4).dropped
    assert wishes(game) == []
    for _ in range(2):
        ann.confirms()
        bob.confirms()
        cleo.confirms()
    assert game.asked == [ann]
    with refused("NOT_ASKED"):
        dan.concedes()


def test_a_wish_is_taken_back() -> None:
    game = a_table(seats=4)
    ann, bob, _, _ = game.people
    ann.votes(4)
    bob.votes(4)
    assert ann.votes(4, withdraw=True) == (1, 3)
    assert game.log[-1].lines == (
        "Ann (red) does not want any more that Dan (yellow) leaves the game",
    )
    assert wishes(game) == [(4, (2,), (1, 3))]
    assert ann.votes(4, withdraw=True) is None
    assert bob.votes(4, withdraw=True) == (1, 2, 3)
    assert game.table.votes == ()


def test_who_wants_it_already_changes_nothing() -> None:
    game = a_table(seats=3)
    ann = game.person(1)
    assert ann.votes(3) == (2,)
    assert ann.votes(3) is None


def test_several_may_be_unwanted_at_once() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, _ = game.people
    ann.votes(4)
    cleo.votes(2)
    ann.votes(2)
    bob.votes(4)
    assert wishes(game) == [(2, (1, 3), (4,)), (4, (1, 2), (3,))]
    cleo.votes(4)
    # Dan has left the game, and his consent about Bob isn't needed any more.
    assert wishes(game) == [(2, (1, 3), ())]
    assert not game.table.seat(2).dropped
    cleo.votes(2)  # said again
    assert game.table.seat(2).dropped


@pytest.mark.parametrize(
    ("target", "reason", "field"),
    [(0, "UNKNOWN_NAME", "target"), (5, "UNKNOWN_NAME", "target"), (1, "BAD_FIELD", "target")],
)
def test_the_wish_is_about_another_seat(target: int, reason: str, field: str) -> None:
    game = a_table(seats=4)
    with refused(reason, field=field):
        game.person(1).votes(target)


def test_who_may_want_it_and_when() -> None:
    game = a_table(seats=3, start_when_full=False)
    ann, bob, cleo = game.people
    with refused("NOT_STARTED"):
        ann.votes(3)
    game.host_starts()
    for by, reason in (
        (HOST, "NOT_ALLOWED"),  # the host takes a seat out alone
        (ADMIN, "BAD_TOKEN"),
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
        (SERVICE, "BAD_TOKEN"),
    ):
        with refused(reason):
            game.does(commands.VoteDrop(by=by, target=3))
    ann.lets_bot_play()
    with refused("NOT_ALLOWED", says="come back first"):
        ann.votes(3)
    ann.comes_back()
    game.host_pauses()
    assert ann.votes(2) == (3,)
    bob.concedes()
    with refused("NOT_ALLOWED", says="has left the game"):
        bob.votes(3)
    with refused("NOT_ASKED"):
        ann.votes(2)
    cleo.concedes()
    with refused("GAME_OVER"):
        ann.votes(3)


def test_a_bot_is_sent_away_by_the_host() -> None:
    game = a_table(seats=3, taken=False)
    for name in ("Ann", "Bob"):
        Person(game, name).takes_seat()
    game.host_seats_bot()
    with refused("NOT_ALLOWED", says="the host may send it away"):
        game.person(1).votes(3)
    # Nor is it asked about anybody.
    with refused("NOT_ALLOWED", says="nobody else decides with you"):
        game.person(1).votes(2)


# -- nobody else ---------------------------------------------------------------------------


def test_of_two_nobody_throws_the_other_out_who_is_there() -> None:
    game = a_table()
    ann, _ = game.people
    with refused("NOT_ALLOWED", says="nobody else decides with you, and Bob (blue) is there"):
        ann.votes(2)
    assert game.table.votes == ()
    assert ann.votes(2, away=(2,)) == ()
    assert game.is_over()


@pytest.mark.parametrize("how", ["left", "a bot for its time", "out of time"])
def test_whoever_does_not_play_is_thrown_out_by_the_other(how: str) -> None:
    timeout = TimeoutPolicy.WARN if how == "out of time" else TimeoutPolicy.BOT
    clock = Clock(kind=ClockKind.PER_TURN, step=10_000, timeout=timeout)
    game = a_table(clock=clock)
    ann, bob = game.people
    ann.confirms()
    if how == "left":
        bob.leaves()
    else:
        game.clock = due = game.table.clocks[1].deadline
        with refused("NOT_ALLOWED"):
            ann.votes(2)
        assert game.does(commands.TimeOut(by=SERVICE, seat=2, deadline=due, bot="greedy"))
    assert ann.votes(2) == ()
    assert game.table.seat(2).dropped


@pytest.mark.parametrize("away", [(), (2,)])
def test_whoever_lets_a_bot_play_by_wish_is_not_thrown_out_by_the_other(
    away: tuple[int, ...],
) -> None:
    game = a_table()
    ann, bob = game.people
    bob.lets_bot_play()
    with refused("NOT_ALLOWED", says="a bot plays on for Bob (blue), who wishes it"):
        ann.votes(2, away=away)
    assert game.table.votes == ()


def test_a_bot_that_plays_for_somebody_absent_makes_them_no_more_absent() -> None:
    """Bob's device is heard again, and the bot is about to make room: he is there."""
    game = a_table(absence=Absence(policy=AbsencePolicy.BOT))
    ann, _ = game.people
    ann.confirms()
    assert game.says_away(2)
    with refused("NOT_ALLOWED", says="Bob (blue) is there"):
        ann.votes(2)
    assert ann.votes(2, away=(2,)) == ()


@pytest.mark.case("C8")
def test_nobody_waits_for_those_who_are_away() -> None:
    game = a_table(seats=4)
    ann, bob, _, _ = game.people
    assert ann.votes(4, away=(3,)) == (2,)
    assert bob.votes(4, away=(3,)) == ()
    assert game.table.seat(4).dropped


def test_that_others_are_away_makes_nobody_decide_alone() -> None:
    """Bob's device is off for a moment: Ann may not throw out Cleo, who is there."""
    game = a_table(seats=3)
    ann = game.person(1)
    with refused("NOT_ALLOWED", says="Cleo (green) is there"):
        ann.votes(3, away=(2,))
    assert ann.votes(2, away=(2,)) == (3,)
    assert ann.votes(3, away=(2, 3)) == ()


def test_several_seats_of_one_token_are_one() -> None:
    game = a_table(seats=3, taken=False)
    ann = Person(game, "Ann")
    for name in ("Ann", "Anna"):
        ann.takes_seat(name=name)
    Person(game, "Cleo").takes_seat()

    def wants(seat: int, away: frozenset[int] = frozenset()) -> None:
        vote = commands.VoteDrop(by=ann.by, seat=seat, target=3, away=away)
        assert game.does(vote)

    with refused("NOT_ALLOWED", says="nobody else decides with you"):
        wants(1)
    wants(1, frozenset({3}))
    wants(2, frozenset({3}))
    assert game.table.seat(3).dropped


def test_a_wish_that_was_not_enough_is_enough_when_others_are_gone() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, _ = game.people
    ann.votes(4)
    bob.votes(4)
    cleo.lets_bot_play()
    assert not game.table.seat(4).dropped  # nothing happens by itself
    assert wishes(game) == [(4, (1, 2), ())]
    assert ann.votes(4) == ()
    assert game.table.seat(4).dropped


def test_a_wish_counts_though_its_seat_is_away_now() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, _ = game.people
    ann.votes(4)
    bob.votes(4)
    assert cleo.votes(4, away=(1, 2)) == ()


# -- what becomes of wishes ----------------------------------------------------------------


@pytest.mark.parametrize("how", ["leaves", "concedes", "lets a bot play"])
def test_the_wishes_of_whoever_goes_count_no_more(how: str) -> None:
    game = a_table(seats=4)
    ann, bob, _, _ = game.people
    ann.votes(4)
    bob.votes(4)
    ann.votes(3)
    if how == "leaves":
        ann.leaves()
    elif how == "concedes":
        ann.concedes()
    else:
        ann.lets_bot_play()
    assert game.table.votes == ((4, (2,)),)


@pytest.mark.parametrize("how", ["comes back", "acts", "another", "a bot", "a panel"])
def test_nobody_wants_any_more_that_whoever_is_there_now_leaves(how: str) -> None:
    game = a_table(seats=4)
    ann = game.person(1)
    if how in ("comes back", "acts"):
        ann.lets_bot_play()
    else:
        ann.leaves()
    game.person(2).votes(1)
    assert wishes(game) == [(1, (2,), (3, 4))]
    match how:
        case "comes back":
            ann.comes_back()
        case "acts":
            ann.confirms()
        case "another":
            Person(game, "Zoe").takes_seat()
        case "a bot":
            game.host_seats_bot()
        case _:
            game.host_puts_panel(seats=(1,)).presses(1)
    assert wishes(game) == []


def test_a_bot_that_plays_on_makes_nobody_wanted() -> None:
    game = a_table(seats=4)
    game.person(2).votes(1)
    game.person(1).lets_bot_play()
    assert wishes(game) == [(1, (2,), (3, 4))]


def test_whoever_leaves_the_seat_takes_the_wish_about_it_along() -> None:
    game = a_table(seats=4)
    game.person(2).votes(1)
    game.person(1).leaves()
    assert game.table.votes == ()


def test_a_drop_by_vote_is_not_taken_back() -> None:
    game = a_table(seats=3, takeback=Takeback.HOST)
    ann, bob, _ = game.people
    ann.votes(3)
    bob.votes(3)
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()
