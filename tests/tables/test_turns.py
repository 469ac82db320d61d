"""Turns: staged step by step, undone, confirmed; and which question a command was meant for."""

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.log import ChangeKind
from tests.tables.play import HOST, NOBODY, STRANGER, a_table, action, eastern_wonders, refused


def test_a_turn_is_staged_step_by_step_and_then_confirmed() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    ann.acts("score 3 for seat 1")
    ann.acts("score 2 for seat 2", "score -1 for seat 1")
    assert len(ann.staged) == 3
    assert [player.points for player in views.view(game.table, None).game_view.players] == [2, 2]  # type: ignore[union-attr]
    assert game.asked == [ann]
    ann.confirms()
    assert list(ann.staged) == []
    assert game.asked == [bob]
    assert game.table.turns == 1
    entry = game.log[-1]
    assert (entry.kind, entry.turn, entry.actions) == (ChangeKind.CONFIRM, 1, ())
    assert len(entry.played) == 3


@pytest.mark.case("S2")
def test_actions_and_their_confirmation_may_be_one_command() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    before = game.table.revision
    assert ann.acts("score 3 for seat 1", confirm=True) == before + 1
    assert game.asked == [bob]
    assert game.log[-1].lines == (
        "Ann (red) scores 3 points for seat 1",
        "Ann (red) confirms",
    )


def test_a_command_is_done_as_a_whole_or_not_at_all() -> None:
    game = a_table(points="on")
    (ann, _), before = game.people, game.table
    with refused("ILLEGAL_ACTION", index=1):
        ann.acts("score 3 for seat 1", "score 9999 for seat 1", "pass", confirm=True)
    assert game.table is before


def test_what_a_confirmation_lacks_is_told() -> None:
    game = a_table(order="chosen", seats=3)
    ann = game.people[0]
    with refused("CANNOT_CONFIRM"):
        ann.confirms()
    with refused("CANNOT_CONFIRM"):
        ann.acts("next seat 2", confirm=True)
    assert ann.staged == ()
    ann.acts("next seat 2", "next seat 3", confirm=True)
    assert game.asked == [game.person(2)]


def test_the_last_step_or_all_steps_are_undone() -> None:
    game = a_table(points="on")
    ann = game.people[0]
    with refused("NOTHING_TO_UNDO"):
        ann.undoes()
    ann.acts("score 1 for seat 1", "score 2 for seat 1", "score 3 for seat 1")
    ann.undoes()
    assert ann.staged == (action("score 1 for seat 1"), action("score 2 for seat 1"))
    assert game.log[-1].actions == (action("score 3 for seat 1"),)
    ann.undoes(all=True)
    assert list(ann.staged) == []
    with refused("NOTHING_TO_UNDO"):
        ann.undoes()


@pytest.mark.case("S7", "S11")
def test_a_double_click_does_not_act_in_the_next_question() -> None:
    game = a_table(seats=2, passing="on", points="on")
    ann, bob = game.people
    seen = game.table.revision
    ann.confirms(at=seen)
    with refused("STALE_REVISION", asked_at=game.table.revision):
        ann.confirms(at=seen)
    bob.confirms()
    # It is Ann's turn again, and her first click comes once more, late.
    with refused("STALE_REVISION"):
        ann.confirms(at=seen)
    ann.confirms()


@pytest.mark.case("S7")
def test_points_between_rounds_are_booked_once_by_a_double_click() -> None:
    game = a_table(between="on", points="on")
    ann, bob = game.people
    for person in game.people:
        person.confirms()
    # In one command: what was sent comes once more.
    seen = game.table.revision
    ann.acts("score 5 for seat 1", confirm=True, at=seen)
    with refused("STALE_REVISION", asked_at=game.table.revision):
        ann.acts("score 5 for seat 1", confirm=True, at=seen)
    # Step by step: the second click would begin the next round.
    ann.acts("score 2 for seat 1")
    seen = game.table.revision
    ann.confirms(at=seen)
    assert ann.staged == ()
    with refused("STALE_REVISION", asked_at=game.table.revision):
        ann.confirms(at=seen)
    assert game.asked == [ann, bob]
    assert game.table.position.points == (7, 0)
    # Bob is asked what he was asked before: nothing of his is stale.
    bob.acts("score 1 for seat 2", confirm=True, at=seen)
    assert game.table.position.points == (7, 1)


@pytest.mark.case("S7")
def test_a_double_click_of_the_last_one_in_takes_one_turn() -> None:
    game = a_table(passing="on", points="on")
    ann, bob = game.people
    ann.confirms()
    bob.acts("pass", confirm=True)
    ann.acts("score 3 for seat 1")
    seen = game.table.revision
    ann.confirms(at=seen)
    assert game.asked == [ann]  # the same question, and yet the next turn
    assert ann.staged == ()
    for _ in range(2):
        with refused("STALE_REVISION", asked_at=game.table.revision):
            ann.confirms(at=seen)
    assert game.table.position.points == (3, 0)
    assert game.table.turns == 3


def test_while_the_game_is_paused_nothing_is_undone_and_nothing_to_choose() -> None:
    game = a_table(points="on")
    ann = game.people[0]
    ann.acts("score 3 for seat 1")
    choices = ann.sees().choices
    assert choices
    game.host_pauses()
    with refused("PAUSED"):
        ann.undoes()
    with refused("PAUSED"):
        ann.undoes(all=True)
    assert ann.staged == (action("score 3 for seat 1"),)
    assert ann.sees().choices == ()
    asked, listed = views.question(game.table, ann.seat)
    assert asked is not None
    assert listed == ()
    game.host_resumes()
    assert ann.sees().choices == choices
    ann.undoes()


@pytest.mark.case("S7")
def test_a_staged_step_is_a_new_question() -> None:
    game = a_table(points="on")
    ann = game.people[0]
    seen = game.table.revision
    ann.acts("score 1 for seat 1", at=seen)
    with refused("STALE_REVISION"):
        ann.acts("score 1 for seat 1", at=seen)
    ann.undoes()
    with refused("STALE_REVISION"):
        ann.acts("score 1 for seat 1", at=seen + 1)
    ann.acts("score 1 for seat 1", at=seen + 2)


def test_a_revision_that_is_still_to_come_is_refused() -> None:
    game = a_table()
    ann = game.people[0]
    with refused("STALE_REVISION"):
        ann.confirms(at=game.table.revision + 1)
    with refused("STALE_REVISION"):
        ann.confirms(at=0)


@pytest.mark.case("S1")
def test_a_ready_press_of_another_seat_makes_no_press_stale() -> None:
    game = a_table(seats=4, together="before", points="on")
    ann, bob, cleo, dan = game.people
    seen = game.table.revision
    bob.acts("score 1 for seat 2", at=seen)
    ann.confirms(at=seen)
    cleo.confirms(at=seen)
    assert bob.staged == (action("score 1 for seat 2"),)
    dan.confirms(at=seen)
    assert game.asked == [bob]
    bob.confirms(at=seen + 1)
    assert game.asked == [ann]
    # All are asked something else now: what was sent for the phase before doesn't count.
    for person in (ann, bob, cleo, dan):
        with refused("STALE_REVISION" if person in (ann, bob) else "NOT_ASKED"):
            person.confirms(at=game.table.revision - 1)


@pytest.mark.case("S1")
def test_a_pause_or_a_name_makes_no_press_stale() -> None:
    game = a_table(seats=3)
    ann, bob, _ = game.people
    seen = game.table.revision
    game.host_pauses()
    with refused("PAUSED"):
        ann.confirms(at=seen)
    game.host_resumes()
    bob.leaves()
    bob.takes_seat(2, name="Bobby")
    ann.confirms(at=seen)


def test_only_who_is_asked_may_act() -> None:
    game = a_table()
    _, bob = game.people
    with refused("NOT_ASKED"):
        bob.confirms()
    with refused("NOT_ASKED"):
        bob.acts("pass")


def test_only_a_seats_own_token_acts_for_it() -> None:
    game = a_table()
    ann, bob = game.people
    for by, reason in ((NOBODY, "BAD_TOKEN"), (STRANGER, "BAD_TOKEN"), (HOST, "NOT_ALLOWED")):
        with refused(reason):
            game.does(commands.Act(by=by, expected_revision=game.table.revision, confirm=True))
    with refused("NOT_ALLOWED"):
        bob.acts(confirm=True, seat=1)
    with refused("UNKNOWN_NAME"):
        ann.acts(confirm=True, seat=3)


def test_a_token_with_two_seats_acts_for_the_one_that_is_asked() -> None:
    game = a_table(seats=3, taken=False)
    ann, bob, _ = (game.person(n) for n in (1, 2, 3))
    for seat in (1, 3):
        ann.takes_seat(seat)
    bob.takes_seat(2)
    ann.acts(confirm=True)
    bob.acts(confirm=True)
    ann.acts(confirm=True)
    assert game.table.turns == 3
    with refused("BAD_FIELD", field="seat"):
        game.does(commands.Concede(by=ann.by))


def test_before_the_start_and_after_the_end_nobody_acts() -> None:
    game = a_table(start_when_full=False)
    ann, _ = game.people
    with refused("NOT_STARTED"):
        ann.confirms()
    game.does(commands.Start(by=HOST))
    ann.acts("finish game", confirm=True)
    assert game.is_over()
    with refused("GAME_OVER"):
        ann.confirms()
    with refused("GAME_OVER"):
        ann.undoes()
    with refused("GAME_OVER"):
        ann.pauses()
    with refused("GAME_OVER"):
        game.host_takes_back()


def test_an_empty_command_is_refused() -> None:
    game = a_table()
    with refused("BAD_FIELD"):
        game.people[0].acts()


def test_who_is_in_the_game_may_pause_it() -> None:
    game = a_table(seats=3)
    ann, bob, cleo = game.people
    ann.pauses()
    assert game.does(commands.Pause(by=bob.by)) is None
    bob.resumes()
    assert game.does(commands.Resume(by=HOST)) is None
    cleo.concedes()
    with refused("NOT_ALLOWED"):
        game.does(commands.Pause(by=cleo.by))
    with refused("BAD_TOKEN"):
        game.does(commands.Pause(by=STRANGER))


def test_time_never_goes_back() -> None:
    game = a_table()
    ann, bob = game.people
    ann.confirms()
    stamp = game.table.stamp
    game.clock = 5
    bob.confirms()
    assert game.log[-1].time == game.table.stamp == stamp


@pytest.mark.case("S4")
def test_what_is_listed_is_accepted() -> None:
    game = eastern_wonders(seats=3)
    for _ in range(6):
        person = game.asked[0]
        choice = person.sees().choices[0]
        assert choice.kind == "take_pile"
        assert person.sees().prompts[0].asked_at == person.asked_at
        pile = choice.piles[0].letters
        tile = None
        person.acts(f"take pile {pile}")
        tile = person.sees().choices[0].tiles[0]
        person.acts(f"place boat {tile}", confirm=True)
        if not any(choice.kind == "take_pile" for choice in game.asked[0].sees().choices):
            break
    assert game.table.turns == 3
