"""Bots that stand in: for whoever wishes it, is away or has left; and people who come back."""

import random

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.facts import has_people
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Confirmation,
    Occupant,
    StandInCause,
    Takeback,
    TimeoutPolicy,
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

GRACE = 120_000
BOT = Absence(policy=AbsencePolicy.BOT, grace=GRACE)
DROP = Absence(policy=AbsencePolicy.DROP, grace=GRACE)


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


# -- away ----------------------------------------------------------------------------------


@pytest.mark.case("C7", "C8")
def test_a_bot_plays_on_after_the_grace_and_the_player_is_back_at_the_next_decision() -> None:
    game = a_table(absence=BOT, points="on")
    ann, bob = game.people
    assert game.says_away(1, away_for=GRACE - 1) is None
    assert game.says_away(1, away_for=GRACE)
    assert kind(game) is ChangeKind.STAND_IN
    assert game.log[-1].lines == ("Ann (red) is away, and greedy plays on",)
    assert cause(game, 1) == StandInCause.ABSENCE
    assert game.says_away(1) is None
    game.bot_of(1).plays("score 1 for seat 1")
    bob.confirms()
    assert game.hears(1)
    assert kind(game) is ChangeKind.COME_BACK
    assert game.hears(1) is None
    ann.acts("score 9 for seat 1", confirm=True)
    assert not game.log[-1].bot


@pytest.mark.case("C8")
def test_a_seat_leaves_the_game_after_the_grace_where_that_is_the_policy() -> None:
    game = a_table(seats=3, absence=DROP)
    bob = game.person(2)
    assert game.says_away(1, away_for=GRACE - 1) is None
    assert game.says_away(1)
    assert game.log[-1].kind is ChangeKind.DROP
    assert game.log[-1].lines[0] == "Ann (red) is away for too long and leaves the game"
    assert game.table.seat(1).dropped
    assert game.asked == [bob]
    assert game.says_away(1) is None


def test_the_table_waits_where_that_is_the_policy() -> None:
    game = a_table(absence=Absence(policy=AbsencePolicy.WAIT, grace=GRACE))
    assert game.says_away(1, away_for=10 * GRACE) is None


@pytest.mark.parametrize("policy", [BOT, DROP])
def test_nobody_is_away_for_whom_nobody_waits(policy: Absence) -> None:
    game = a_table(seats=3, absence=policy, start_when_full=False)
    assert game.says_away(1) is None  # before the start
    game.host_starts()
    assert game.says_away(2) is None  # not asked
    game.host_pauses()
    assert game.says_away(1) is None
    game.host_resumes()
    game.person(1).lets_bot_play()
    assert game.says_away(1) is None
    game.person(1).comes_back()
    game.person(1).leaves()
    game.host_seats_bot(seat=1)
    assert game.says_away(1) is None
    game.bot_of(1).plays()
    game.person(2).acts("finish game", confirm=True)
    assert game.says_away(3) is None
    for by in (HOST, ADMIN, NOBODY, BOTS):
        with refused("BAD_TOKEN" if by in (NOBODY, BOTS, ADMIN) else "NOT_ALLOWED"):
            game.does(commands.GoAway(by=by, seat=1, since=1, bot="greedy"))


def test_in_a_game_by_correspondence_nobody_is_ever_away() -> None:
    clock = Clock(kind=ClockKind.CORRESPONDENCE, step=86_400_000, timeout=TimeoutPolicy.WARN)
    game = a_table(absence=DROP, clock=clock)
    assert game.says_away(1, away_for=10 * GRACE) is None


@pytest.mark.case("C7")
def test_whoever_sat_down_or_came_back_since_was_there_whatever_is_heard() -> None:
    """By a call, say, with no device that follows the table."""
    game = a_table(absence=BOT)
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=1)
    game.person(1).comes_back()
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=1)


@pytest.mark.case("C7")
def test_a_seat_that_was_left_is_away_since_then_whatever_is_said() -> None:
    game = a_table(seats=3, absence=BOT)
    ann, bob, _ = game.people
    ann.leaves()
    assert game.table.seat(1).left_at == game.clock
    assert game.says_away(1, since=1) is None
    game.clock += GRACE
    assert game.says_away(1, since=game.clock)
    assert (game.table.seat(1).occupant, game.table.seat(1).stand_in) == (
        Occupant.NOBODY,
        "greedy",
    )
    assert due_bots(game.table) == (1,)
    game.bot_of(1).plays()
    assert game.asked == [bob]
    assert game.hears(1) is None  # no device is one of an empty seat
    # Whoever takes the seat plays it themselves.
    assert Person(game, "Eve").takes_seat(1) == 1
    seat = game.table.seat(1)
    assert (seat.stand_in, seat.stand_in_cause, seat.left_at) == ("", 0, 0)


def test_a_panel_or_a_bot_may_take_such_a_seat_too() -> None:
    for button in (True, False):
        game = a_table(absence=BOT)
        game.person(1).leaves()
        game.clock += GRACE
        assert game.says_away(1)
        if button:
            assert game.host_puts_panel(seats=(1, 0)).presses(1) == 1
        else:
            game.host_seats_bot(seat=1)
        seat = game.table.seat(1)
        assert (seat.stand_in, seat.stand_in_cause, seat.left_at) == ("", 0, 0)


def test_nobody_was_there_before_the_start() -> None:
    game = a_table(seats=3, taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    ann.leaves()
    assert game.table.seat(1).left_at == 0


def test_a_device_that_is_heard_brings_back_only_whoever_was_away() -> None:
    game = a_table(absence=BOT)
    ann, _ = game.people
    assert game.hears(1) is None
    ann.lets_bot_play()
    assert game.hears(1) is None
    ann.comes_back()
    assert game.says_away(1)
    assert ann.lets_bot_play()  # she says so herself now
    assert game.hears(1) is None
    assert cause(game, 1) == StandInCause.WISH


# -- with a clock --------------------------------------------------------------------------


def out_of_time(clock: Clock, *, leaves: bool = False) -> tuple[TableOfTest, Person]:
    """Ann is asked, and her time is up."""
    game = a_table(clock=clock, points="on", absence=BOT)
    ann = game.person(1)
    if leaves:
        ann.leaves()
    due = deadline(game, 1)
    game.clock = due
    assert game.does(commands.TimeOut(by=SERVICE, seat=1, deadline=due, bot="greedy"))
    game.clock += 60_000
    return game, ann


def deadline(game: TableOfTest, seat: int) -> int:
    return game.table.clocks[seat - 1].deadline


@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("kind", [ClockKind.PER_TURN, ClockKind.DELAY, ClockKind.INCREMENT])
def test_whoever_is_back_without_time_has_a_step_for_the_turn(kind: ClockKind, acts: bool) -> None:
    bank = 0 if kind is ClockKind.PER_TURN else 1_000
    clock = Clock(kind=kind, bank=bank, step=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    assert cause(game, 1) == StandInCause.TIME
    assert deadline(game, 1) == 0
    assert game.hears(1) is None  # a device that is heard doesn't make up for the time
    if acts:
        ann.acts("score 1 for seat 1")
    else:
        ann.comes_back()
    assert deadline(game, 1) == game.clock + 30_000


def test_whoever_has_time_left_goes_on_with_it() -> None:
    game = a_table(clock=Clock(kind=ClockKind.DELAY, step=30_000, bank=600_000), absence=BOT)
    due = deadline(game, 1)
    assert game.says_away(1)
    game.clock += 600_000  # a bot's time is nobody's
    game.hears(1)
    assert deadline(game, 1) == due + 601_000


def test_without_a_step_whoever_has_no_time_stays_away_until_others_add_some() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    for asks in (ann.comes_back, lambda: ann.acts("score 1 for seat 1")):
        with refused("NOT_ALLOWED", says="no time left; others may add time"):
            asks()
    assert game.table.seat(1).stand_in
    game.does(commands.AddTime(by=game.person(2).by, seat=1, time=5_000))
    assert ann.comes_back()
    assert deadline(game, 1) == game.clock + 5_000


def test_whoever_is_not_asked_needs_no_time_to_be_back() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock)
    game.bot_of(1).plays()
    assert ann.comes_back()


def test_who_was_away_and_has_no_time_is_not_brought_back_by_a_device() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.DEFAULT)
    game, _ = out_of_time(clock)  # the default was taken
    game.person(2).confirms()
    assert game.says_away(1)
    assert game.hears(1) is None
    assert game.table.seat(1).stand_in


def test_where_a_turn_goes_on_nobody_is_kept_away() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=30_000, timeout=TimeoutPolicy.WARN)
    _, ann = out_of_time(clock)
    ann.lets_bot_play()
    assert ann.comes_back()


def test_between_rounds_nobody_needs_time_to_be_back() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=1_500, timeout=TimeoutPolicy.DEFAULT)
    game = a_table(clock=clock, between="on")
    ann, bob = game.people
    due = deadline(game, 1)
    game.clock = due
    game.does(commands.TimeOut(by=SERVICE, seat=1, deadline=due))
    bob.confirms()
    assert game.asked_seats == (1, 2)
    ann.lets_bot_play()
    assert ann.comes_back()


@pytest.mark.parametrize("step", [30_000, 0])
def test_whoever_takes_a_seat_in_its_turn_has_a_step_for_it(step: int) -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=1_000, step=step, timeout=TimeoutPolicy.BOT)
    game, ann = out_of_time(clock, leaves=True)
    assert (game.table.seat(1).occupant, cause(game, 1)) == (Occupant.NOBODY, StandInCause.TIME)
    ann.takes_seat(1)
    assert game.table.seat(1).stand_in == ""
    assert deadline(game, 1) == game.clock + step


def test_bots_that_stand_in_play_a_whole_game() -> None:
    chance = random.Random(3)
    game = a_table("eastern-wonders", seats=3, max_rounds="4")
    for person in game.people[:2]:
        person.lets_bot_play("random")
    while not game.is_over():
        if due := due_bots(game.table):
            game.bot_of(due[0]).plays_by_chance(chance)
        else:
            game.person(3).takes_a_turn(chance)
    turns = [entry for entry in game.log if entry.kind is ChangeKind.CONFIRM]
    assert all(entry.bot is (entry.seat != 3) for entry in turns)
    assert views.view(game.table, None).outcome
