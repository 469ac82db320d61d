"""Bots that stand in for whoever wishes it, and people who come back."""

import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.facts import has_people
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    Confirmation,
    Occupant,
    StandInCause,
    Takeback,
    decode,
    encode,
)
from tests.tables.play import (
    ADMIN,
    BOTS,
    HOST,
    NOBODY,
    SERVICE,
    STRANGER,
    Person,
    TableOfTest,
    a_table,
    refused,
)


def kind(game: TableOfTest) -> ChangeKind:
    """What happened last."""
    return game.log[-1].kind


def cause(game: TableOfTest, seat: int) -> int:
    return game.table.seat(seat).stand_in_cause


# -- by wish -------------------------------------------------------------------------------


def test_a_bot_plays_on_for_whoever_wishes_it_until_they_are_back() -> None:
    game = a_table(seats=3, points="on")
    ann, bob, _ = game.people
    assert ann.lets_bot_play()
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.STAND_IN, 1)
    assert game.log[-1].lines == ("greedy plays on for Ann (red)",)
    assert [seat.stand_in for seat in bob.sees().seats] == ["greedy", "", ""]
    assert cause(game, 1) == StandInCause.WISH
    seat = game.table.seat(1)
    assert (seat.occupant, seat.token, seat.bot) == (Occupant.PERSON, ann.by.token, "")
    assert due_bots(game.table) == (1,)
    game.bot_of(1).plays("score 3 for seat 1")
    assert game.log[-1].bot
    assert game.asked == [bob]
    assert due_bots(game.table) == ()
    assert decode(encode(game.table)) == game.table
    assert ann.comes_back()
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.COME_BACK, 1)
    assert game.log[-1].lines == ("Ann (red) is back and plays on instead of the bot",)
    assert not any(seat.stand_in for seat in ann.sees().seats)
    bob.confirms()
    game.person(3).confirms()
    assert due_bots(game.table) == ()
    ann.confirms()
    assert not game.log[-1].bot


def test_only_the_seat_or_the_host_lets_a_bot_play_on() -> None:
    game = a_table(seats=3)
    for by, reason in (
        (game.person(2).by, "NOT_ALLOWED"),
        (STRANGER, "BAD_TOKEN"),
        (NOBODY, "BAD_TOKEN"),
        (BOTS, "BAD_TOKEN"),
        (SERVICE, "BAD_TOKEN"),
    ):
        with refused(reason):
            game.does(commands.StandIn(by=by, seat=1, bot="greedy"))
    for by in (HOST, ADMIN):
        assert game.does(commands.StandIn(by=by, seat=2, bot="greedy"))
        game.person(2).comes_back()


def test_a_bot_stands_in_for_people_who_are_in_a_running_game() -> None:
    game = a_table(seats=3, start_when_full=False)
    ann, bob, cleo = game.people
    with refused("NOT_STARTED"):
        ann.lets_bot_play()
    with refused("NOT_STARTED"):
        ann.comes_back()
    game.host_starts()
    with refused("BAD_FIELD", field="bot"):
        ann.lets_bot_play("")
    bob.leaves()
    with refused("BAD_FIELD", field="seat", says="nobody sits on seat 2"):
        game.does(commands.StandIn(by=HOST, seat=2, bot="greedy"))
    game.host_seats_bot(seat=2)
    with refused("BAD_FIELD", field="seat", says="a bot sits on seat 2"):
        game.does(commands.StandIn(by=HOST, seat=2, bot="greedy"))
    cleo.concedes()
    for asks in (cleo.lets_bot_play, cleo.comes_back):
        with refused("NOT_ASKED", says="has left the game"):
            asks()
    ann.acts("finish game", confirm=True)
    for asks in (ann.lets_bot_play, ann.comes_back):
        with refused("GAME_OVER"):
            asks()


def test_what_is_so_already_changes_nothing_and_another_bot_may_be_wished() -> None:
    game = a_table()
    ann, _ = game.people
    assert ann.comes_back() is None
    ann.lets_bot_play()
    assert ann.lets_bot_play() is None
    assert ann.lets_bot_play("random")
    assert game.table.seat(1).stand_in == "random"


def test_it_begins_the_turn_anew_and_what_was_sent_before_comes_too_late() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    ann.acts("score 5 for seat 1")
    seen = game.table.revision
    ann.lets_bot_play()
    assert game.table.staged == ((), ())
    with refused("STALE_REVISION", asked_at=game.table.revision):  # S11
        ann.confirms(at=seen)
    # Bob's question is still the one that he saw.
    assert game.table.asked_at[1] < seen
    game.bot_of(1).plays()
    seen = game.table.revision
    ann.lets_bot_play("random")  # nobody asks her anything now
    bob.confirms(at=seen)


def test_nobody_else_plays_for_the_seat_meanwhile() -> None:
    game = a_table(seats=3)
    game.person(1).lets_bot_play()
    revision = game.table.revision
    for by, reason in (
        (HOST, "NOT_ALLOWED"),
        (game.person(2).by, "NOT_ALLOWED"),
        (STRANGER, "BAD_TOKEN"),
        (SERVICE, "BAD_TOKEN"),
    ):
        for command in (
            commands.Act(by=by, seat=1, expected_revision=revision, confirm=True),
            commands.Undo(by=by, seat=1, expected_revision=revision),
        ):
            with refused(reason):
                game.does(command)
    with refused("BAD_TOKEN"):  # and no bot for a seat whose player is there
        game.bot_of(2).plays()
    with refused("NOT_ALLOWED", says="a bot plays on for Ann (red), who may come back"):
        game.does(commands.Act(by=HOST, seat=1, expected_revision=revision, confirm=True))


def test_it_takes_whole_turns() -> None:
    game = a_table(points="on")
    game.person(1).lets_bot_play()
    bot = game.bot_of(1)
    with refused("CANNOT_CONFIRM", says="takes whole turns"):
        bot.plays("score 2 for seat 1", confirm=False)
    with refused("CANNOT_CONFIRM"):
        bot.waits()


def test_the_seat_is_no_persons_turn_while_between_rounds() -> None:
    """A bot doesn't end the time between rounds; where nobody plays in person it waits."""
    game = a_table(between="on")
    ann, bob = game.people
    ann.confirms()
    bob.confirms()
    assert game.asked_seats == (1, 2)
    ann.lets_bot_play()
    assert due_bots(game.table) == ()
    bob.lets_bot_play()
    assert due_bots(game.table) == ()
    assert not has_people(game.table)


# -- back again ----------------------------------------------------------------------------


@pytest.mark.case("C7")
@pytest.mark.parametrize("named", [0, 1])
@pytest.mark.parametrize("confirm", [True, False])
def test_whoever_acts_is_back_in_the_same_change(confirm: bool, named: int) -> None:
    game = a_table(points="on")
    ann, bob = game.people
    ann.lets_bot_play()
    seen = game.table.revision
    ann.acts("score 5 for seat 1", confirm=confirm, seat=named)
    assert game.log[-1].kind is (ChangeKind.CONFIRM if confirm else ChangeKind.STAGE)
    assert game.log[-1].lines[0] == "Ann (red) is back and plays on instead of the bot"
    assert not game.log[-1].bot
    assert game.table.seat(1).stand_in == ""
    assert cause(game, 1) == 0
    with refused("BAD_TOKEN"):  # the bot was about to
        game.bot_of(1).plays(at=seen)
    assert game.table.bot_turns == 0
    if not confirm:
        ann.undoes()
        ann.confirms()
    assert game.asked == [bob]


@pytest.mark.case("C7")
def test_what_is_refused_brings_nobody_back() -> None:
    game = a_table(points="on")
    ann, _ = game.people
    ann.lets_bot_play()
    with refused("ILLEGAL_ACTION"):
        ann.acts("rest")
    with refused("NOTHING_TO_UNDO"):
        ann.undoes()
    assert game.table.seat(1).stand_in == "greedy"


@pytest.mark.case("C7")
def test_the_turn_of_the_bot_that_was_on_its_way_comes_too_late() -> None:
    game = a_table()
    ann, _ = game.people
    ann.lets_bot_play()
    seen = game.table.revision
    ann.comes_back()
    assert game.table.asked_at[0] == game.table.revision
    ann.lets_bot_play()
    with refused("STALE_REVISION"):
        game.bot_of(1).plays(at=seen)


def test_only_whoever_holds_the_seat_comes_back() -> None:
    game = a_table(seats=3)
    game.person(1).lets_bot_play()
    for by, reason in (
        (HOST, "NOT_ALLOWED"),
        (game.person(2).by, "NOT_ALLOWED"),
        (STRANGER, "BAD_TOKEN"),
        (BOTS, "BAD_TOKEN"),
    ):
        with refused(reason):
            game.does(commands.ComeBack(by=by, seat=1))


def test_of_two_seats_of_one_token_the_one_with_the_bot_is_meant() -> None:
    game = a_table(seats=3, taken=False)
    ann = Person(game, "Ann")
    for name in ("Ann", "Anna"):
        ann.takes_seat(name=name)
    Person(game, "Bob").takes_seat()
    game.does(commands.StandIn(by=ann.by, seat=2, bot="greedy"))
    change = ann.comes_back()
    assert change is not None
    assert change.seat == 2
    with refused("BAD_FIELD", field="seat"):
        ann.comes_back()


@pytest.mark.parametrize("paused", [True, False])
def test_people_come_and_go_in_a_pause_too(paused: bool) -> None:
    game = a_table()
    ann, _ = game.people
    if paused:
        game.host_pauses()
    ann.lets_bot_play()
    assert due_bots(game.table) == (() if paused else (1,))
    assert ann.comes_back()


def test_a_seat_that_is_left_or_dropped_has_no_bot_any_more() -> None:
    game = a_table(seats=4)
    ann, bob, cleo, _ = game.people
    for person in (ann, bob, cleo):
        person.lets_bot_play()
    ann.leaves()
    bob.concedes()
    game.does(commands.Concede(by=HOST, seat=3))
    assert not any(seat.stand_in or seat.stand_in_cause for seat in game.table.seats)
    assert game.asked_seats == (1,)  # it waits for somebody who takes it
    assert due_bots(game.table) == ()


def test_no_bot_plays_on_when_the_game_is_over() -> None:
    game = a_table(seats=3)
    ann, bob, cleo = game.people
    bob.lets_bot_play()
    cleo.votes(2)
    ann.acts("finish game", confirm=True)
    assert [s.stand_in for s in game.table.seats] == ["", "", ""]
    assert [s.stand_in_cause for s in game.table.seats] == [0, 0, 0]
    assert game.table.votes == ()


def test_the_last_one_wins_though_a_bot_played_for_them() -> None:
    game = a_table()
    ann, bob = game.people
    bob.lets_bot_play()
    ann.concedes()
    assert game.is_over()
    assert game.table.seat(2).stand_in == ""


# -- takebacks -----------------------------------------------------------------------------


def test_a_takeback_goes_through_the_turns_of_a_bot_that_stood_in() -> None:
    game = a_table(seats=3, points="on")
    ann, bob, cleo = game.people
    ann.acts("score 5 for seat 1", confirm=True)
    bob.lets_bot_play()
    game.bot_of(2).plays("score 1 for seat 2")
    assert game.table.bot_turns == 1
    game.host_takes_back()
    assert game.log[-1].lines == ("the host takes turns 1 to 2 back",)
    assert (game.asked, game.table.turns, game.table.bot_turns) == ([ann], 0, 0)
    # It still stands in; a turn that Bob takes himself is one of a person.
    assert game.table.seat(2).stand_in == "greedy"
    ann.confirms()
    bob.confirms()
    cleo.confirms()
    game.host_takes_back()
    assert game.asked == [cleo]
    game.host_takes_back()
    assert game.asked == [bob]


def test_nobody_waits_for_the_consent_of_somebody_for_whom_a_bot_plays() -> None:
    game = a_table(seats=3, takeback=Takeback.ALL_AGREE)
    ann, bob, cleo = game.people
    ann.confirms()
    bob.confirms()
    cleo.lets_bot_play()
    assert ann.asks_to_take_back() == (2,)
    assert bob.asks_to_take_back() == ()
    assert game.asked == [bob]


# -- at a panel ----------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [True, False])
def test_a_press_of_the_button_is_coming_back_and_nothing_else(hold: bool) -> None:
    game = a_table(points="on")
    panel = game.host_puts_panel(seats=(1, 2))
    ann, bob = game.people
    ann.lets_bot_play()
    turns, seen = game.table.turns, game.table.revision
    assert (panel.holds if hold else panel.presses)(1) == 1
    assert kind(game) is ChangeKind.COME_BACK
    assert (game.asked, game.table.turns) == ([ann], turns)
    with refused("STALE_REVISION"):  # the same press again isn't a confirmation
        panel.holds(1, at=seen)
    assert panel.holds(1) == 1
    assert game.asked == [bob]
    # Nobody has to be asked for it.
    ann.lets_bot_play()
    assert panel.presses(1) == 1
    assert game.table.seat(1).stand_in == ""


def test_a_press_from_before_the_bot_stood_in_is_not_coming_back() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    game.person(1).confirms()
    seen = game.table.revision
    game.person(1).lets_bot_play()
    with refused("STALE_REVISION", asked_at=game.table.revision):
        panel.presses(1, at=seen)
    seen = game.table.revision
    assert panel.presses(1, at=seen) == 1
    with refused("STALE_REVISION", asked_at=game.table.revision):
        panel.presses(1, at=seen)


def test_other_gestures_say_how_to_come_back() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    game.person(1).lets_bot_play()
    with refused("NOT_ALLOWED", says="press the button to play yourself"):
        panel.chords(1, 2)
    game.host_sets_confirmation(1, Confirmation.DEVICE)
    with refused("NOT_ALLOWED", says="on a device of its own"):
        panel.presses(1)
    game.host_pauses()
    with refused("PAUSED"):
        panel.presses(1)


def test_it_confirms_itself_where_a_panel_confirms_the_turns_of_the_person() -> None:
    game = a_table(points="on")
    game.host_puts_panel(seats=(1, 2))
    ann, bob = game.people
    game.host_sets_confirmation(1, Confirmation.PANEL)
    ann.lets_bot_play()
    assert due_bots(game.table) == (1,)
    with refused("NOT_ALLOWED", says="confirmed by a button"):
        ann.acts("score 5 for seat 1", confirm=True)
    assert game.table.seat(1).stand_in
    with refused("CANNOT_CONFIRM"):
        game.bot_of(1).waits()
    game.bot_of(1).plays("score 1 for seat 1")
    assert game.asked == [bob]


def test_somebody_at_a_panel_may_be_played_for_and_nobody_plays_along_then() -> None:
    game = a_table(taken=False, points="on")
    panel = game.host_puts_panel(seats=(1, 0))
    panel.presses(1)
    bob = Person(game, "Bob")
    bob.takes_seat()
    bob.acts("score 2 for seat 1", seat=1)
    assert game.does(commands.StandIn(by=HOST, seat=1, bot="greedy"))
    assert game.table.staged == ((), ())
    with refused("NOT_ALLOWED", says="a bot plays on for Red (red)"):
        bob.acts("score 2 for seat 1", seat=1)
    panel.presses(1)
    bob.acts("score 2 for seat 1", seat=1)
    panel.presses(1)
    assert game.asked == [bob]


def test_the_master_button_begins_no_round_for_somebody_who_is_played_for() -> None:
    game = a_table(between="on")
    panel = game.host_puts_panel(seats=(1, 2))
    ann, bob = game.people
    ann.confirms()
    bob.confirms()
    ann.lets_bot_play()
    assert panel.holds_master() == 2
    assert not game.log[-1].bot
