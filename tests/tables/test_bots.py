"""Bots on seats: seated and sent away by the host, due when they are asked, taken back through."""

import random

import pytest

from tableturn_server.tables import commands, views
from tableturn_server.tables.due import due_at, due_bots
from tableturn_server.tables.facts import has_people
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import SNAPSHOT_EVERY, Occupant, Status, Takeback
from tests.tables.play import (
    ADMIN,
    BOTS,
    HOST,
    NOBODY,
    STRANGER,
    BotOfTest,
    Confirmation,
    Person,
    TableOfTest,
    a_table,
    eastern_wonders,
    refused,
)


def ann_and_bots(seats: int = 3, **wishes: object) -> tuple[TableOfTest, Person, list[BotOfTest]]:
    """Ann on the first seat, bots on the others; the game has started."""
    game = a_table(seats=seats, taken=False, **wishes)  # type: ignore[arg-type]
    ann = Person(game, "Ann")
    ann.takes_seat()
    return game, ann, [game.host_seats_bot() for _ in range(seats - 1)]


# -- seating them --------------------------------------------------------------------------


def test_the_host_gives_a_free_seat_to_a_bot() -> None:
    game = a_table(seats=4, taken=False)
    Person(game, "Ann").takes_seat()
    assert game.host_seats_bot("random").seat == 2
    assert game.host_seats_bot("greedy", seat=4, name=" Gustav ").seat == 4
    assert game.log[-1].kind is ChangeKind.TAKE_SEAT
    assert game.log[-1].lines == ("Gustav (bot: greedy) takes seat 4 (yellow)",)
    seen = views.view(game.table, None).seats
    assert [(s.name, s.bot, s.occupant) for s in seen] == [
        ("Ann", "", Occupant.PERSON),
        ("Random 2", "random", Occupant.BOT),
        ("", "", Occupant.NOBODY),
        ("Gustav", "greedy", Occupant.BOT),
    ]
    assert not game.table.seat(2).token
    with refused("SEAT_TAKEN"):
        game.host_seats_bot(seat=2)
    with refused("UNKNOWN_NAME", field="seat"):
        game.host_seats_bot(seat=5)


def test_a_bot_counts_when_the_last_seat_starts_the_game() -> None:
    game, ann, (bob,) = ann_and_bots(seats=2)
    assert game.table.status is Status.RUNNING
    assert "the game starts" in game.log[-1].lines
    with refused("TABLE_FULL"):
        game.host_seats_bot()
    ann.confirms()
    bob.plays()
    assert game.asked == [ann]


def test_only_the_host_seats_bots() -> None:
    game = a_table(seats=3, taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    for by, reason in (
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
        (BOTS, "BAD_TOKEN"),
        (ann.by, "NOT_ALLOWED"),
    ):
        with refused(reason):
            game.does(commands.SeatBot(by=by, bot="greedy"))
    assert game.does(commands.SeatBot(by=ADMIN, bot="greedy"))


@pytest.mark.parametrize(
    ("bot", "name", "field"),
    [("", "", "bot"), ("x" * 31, "", "bot"), ("a\nb", "", "bot"), ("greedy", "x" * 41, "name")],
)
def test_a_bot_and_its_name_can_be_seen_and_fit(bot: str, name: str, field: str) -> None:
    game = a_table(taken=False)
    with refused("BAD_FIELD", field=field):
        game.host_seats_bot(bot, name=name)
    assert game.host_seats_bot("x" * 30).seat == 1


def test_a_bot_goes_on_for_somebody_who_left_and_begins_its_turn_anew() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    ann.acts("score 5 for seat 1")
    seen = game.table.revision
    ann.leaves()
    bot = game.host_seats_bot(seat=1)
    assert bot.staged == ()
    assert due_bots(game.table) == (1,)
    with refused("STALE_REVISION"):
        bot.plays(at=seen)
    bot.plays()
    assert game.asked == [bob]


def test_a_bot_is_sent_away_by_the_host_and_by_nobody_else() -> None:
    game, ann, (bot, _) = ann_and_bots()
    for by, reason in ((ann.by, "NOT_ALLOWED"), (STRANGER, "BAD_TOKEN"), (BOTS, "BAD_TOKEN")):
        with refused(reason):
            game.does(commands.LeaveSeat(by=by, seat=bot.seat))
    game.does(commands.LeaveSeat(by=HOST, seat=bot.seat))
    assert game.table.seat(bot.seat).bot == ""
    with refused("BAD_TOKEN"):
        bot.plays()
    assert Person(game, "Eve").takes_seat() == bot.seat


def test_after_the_end_no_bot_sits_down() -> None:
    game = a_table()
    game.people[0].acts("finish game", confirm=True)
    with refused("GAME_OVER"):
        game.host_seats_bot()


# -- playing -------------------------------------------------------------------------------


def test_nobody_else_plays_for_a_bot() -> None:
    game, ann, (bot, _) = ann_and_bots(points="on")
    ann.confirms()
    for by, reason in ((ann.by, "NOT_ALLOWED"), (HOST, "NOT_ALLOWED"), (STRANGER, "BAD_TOKEN")):
        with refused(reason):
            game.does(
                commands.Act(
                    by=by, seat=bot.seat, expected_revision=game.table.revision, confirm=True
                )
            )
        with refused(reason):
            views.audience(game.table, by, bot.seat)


def test_the_service_plays_for_bots_alone() -> None:
    game, ann, _ = ann_and_bots()
    revision = game.table.revision
    for command in (
        commands.Act(by=BOTS, seat=ann.seat, expected_revision=revision, confirm=True),
        commands.Act(by=BOTS, expected_revision=revision, confirm=True),
        commands.Pause(by=BOTS),
        commands.Concede(by=BOTS, seat=2),
        commands.Start(by=BOTS),
        commands.TakeBack(by=BOTS, expected_revision=revision),
        commands.SetConfirmation(by=BOTS, seat=2, confirmation=Confirmation.PANEL),
    ):
        with refused("BAD_TOKEN"):
            game.does(command)


def test_a_bot_is_due_while_it_is_asked() -> None:
    game, ann, bots = ann_and_bots()
    assert due_bots(game.table) == ()
    assert due_at(game.table) is None
    ann.confirms()
    assert due_bots(game.table) == (2,)
    assert due_at(game.table) == game.table.stamp
    game.host_pauses()
    assert due_bots(game.table) == ()
    game.host_resumes()
    bots[0].plays()
    assert due_bots(game.table) == (3,)
    game.does(commands.Concede(by=HOST, seat=3))
    assert due_bots(game.table) == ()


def test_bots_are_due_together_where_all_act_at_once() -> None:
    game, ann, (bob, cleo) = ann_and_bots(together="before")
    assert due_bots(game.table) == (2, 3)
    ann.confirms()
    cleo.plays()
    assert due_bots(game.table) == (2,)
    bob.plays()
    assert due_bots(game.table) == ()
    assert game.asked == [ann]


def test_a_pause_between_rounds_is_the_peoples() -> None:
    game, ann, bots = ann_and_bots(between="on")
    ann.confirms()
    for bot in bots:
        bot.plays()
    assert [prompt.seat for prompt in views.view(game.table, None).prompts] == [1, 2, 3]
    assert due_bots(game.table) == ()
    panel = game.host_puts_panel(seats=(2, 3))
    game.host_sets_confirmation(2, Confirmation.PANEL)
    with refused("CANNOT_CONFIRM", says="still has to decide"):
        panel.presses(1)  # nor does a press of a bot's button end it
    assert has_people(game.table)
    ann.concedes()
    assert not has_people(game.table)
    assert due_bots(game.table) == (2, 3)


def test_before_the_start_and_after_the_end_no_bot_is_due() -> None:
    game = a_table(taken=False, start_when_full=False)
    bot = game.host_seats_bot()
    game.host_seats_bot()
    assert due_at(game.table) is None
    game.host_starts()
    assert due_bots(game.table) == (1,)
    bot.plays("finish game")
    assert game.is_over()
    assert due_at(game.table) is None


def test_a_bot_that_has_staged_for_the_panel_waits() -> None:
    game = eastern_wonders(taken=False)
    bots = [game.host_seats_bot(confirmation=Confirmation.PANEL) for _ in range(2)]
    (seat,) = due_bots(game.table)
    bot = bots[seat - 1]
    pile = views.question(game.table, seat)[1][0].piles[0].letters
    with refused("NOT_ALLOWED"):
        bot.plays(f"take pile {pile}", "place boat C3")
    bot.plays(f"take pile {pile}", "place boat C3", confirm=False)
    assert due_bots(game.table) == ()
    # Another way to confirm: the bot takes its turn anew.
    game.host_sets_confirmation(seat, Confirmation.DEVICE)
    assert bot.staged == ()
    assert due_bots(game.table) == (seat,)
    bot.plays(f"take pile {pile}", "place boat C3")


def test_a_bot_says_that_it_stages_nothing_before_the_press() -> None:
    game = a_table(taken=False, points="on", order="chosen")
    bots = [game.host_seats_bot(confirmation=Confirmation.PANEL) for _ in range(2)]
    assert due_bots(game.table) == (1,)
    bots[0].plays("next seat 1", confirm=False)
    panel = game.host_puts_panel(seats=(1, 2))
    panel.presses(1)
    assert due_bots(game.table) == (1,)
    bots[0].waits()
    assert due_bots(game.table) == ()
    seen = views.view(game.table, None).seats
    assert [seat.bot_waits for seat in seen] == [True, False]
    assert game.log[-1].lines == ("Greedy 1 (red) stages nothing; its button ends the turn",)
    game.host_pauses()
    game.host_resumes()
    assert due_bots(game.table) == ()
    panel.presses(1)
    assert due_bots(game.table) == (2,)
    assert not any(seat.bot_waits for seat in views.view(game.table, None).seats)
    bots[1].waits()
    panel.presses(2)
    assert game.table.turns == 3


def test_a_bot_waits_for_this_turn_and_not_for_another() -> None:
    game = a_table(taken=False)
    bots = [game.host_seats_bot(confirmation=Confirmation.PANEL) for _ in range(2)]
    panel = game.host_puts_panel(seats=(1, 2))
    bots[0].waits()
    panel.presses(1)
    game.host_takes_back()
    assert due_bots(game.table) == (1,)
    bots[0].waits()
    game.host_sets_confirmation(1, Confirmation.EITHER)
    assert due_bots(game.table) == (1,)  # it may confirm by itself now
    game.host_sets_confirmation(1, Confirmation.PANEL)
    assert due_bots(game.table) == (1,)
    late = game.table.revision - 1
    with refused("STALE_REVISION"):
        bots[0].plays(confirm=False, at=late)


def test_nobody_else_leaves_a_turn_to_a_button_in_this_way() -> None:
    _, ann, (bob, _) = ann_and_bots()
    with refused("BAD_FIELD", says="no action and no confirmation"):
        ann.acts()
    ann.confirms()
    with refused("CANNOT_CONFIRM", says="more to do than to wait"):
        bob.waits()


# -- takebacks -----------------------------------------------------------------------------


def position(game: TableOfTest) -> tuple[object, ...]:
    table = game.table
    return table.open, table.hidden, table.turns, table.log_hash, table.bot_turns


def test_a_takeback_goes_through_the_turns_of_bots() -> None:
    game, ann, (bob, cleo) = ann_and_bots(points="on")
    before = position(game)
    ann.acts("score 5 for seat 1", confirm=True)
    bob.plays("score 1 for seat 2")
    cleo.plays()
    game.host_takes_back()
    assert position(game) == before
    assert game.asked == [ann]
    assert game.log[-1].lines == ("the host takes turns 1 to 3 back",)
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()


@pytest.mark.case("L3")
def test_all_that_had_been_seen_is_told_when_several_turns_go() -> None:
    chance = random.Random(4)
    game = eastern_wonders(taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat()
    bot = game.host_seats_bot()
    before = position(game)
    while game.log[-1].bot or not game.log[-1].turned_up:
        before = position(game)
        if bot.seat in game.asked_seats:
            bot.plays_by_chance(chance)
        else:
            ann.takes_a_turn(chance)
    drawn = game.log[-1].turned_up
    bot.plays_by_chance(chance)
    drawn += game.log[-1].turned_up
    game.host_takes_back()
    assert position(game) == before
    assert game.log[-1].lines[1:] == tuple(f"it had been seen: {line}" for line in drawn)


def test_where_bots_alone_played_the_last_turn_is_taken_back() -> None:
    game = a_table(taken=False)
    bob, cleo = game.host_seats_bot(), game.host_seats_bot()
    bob.plays()
    before = position(game)
    cleo.plays()
    game.host_takes_back()
    assert position(game) == before
    game.host_takes_back()
    assert game.table.turns == 0


def test_bots_agree_by_themselves() -> None:
    game = a_table(seats=3, taken=False, takeback=Takeback.ALL_AGREE)
    ann, bob = Person(game, "Ann"), Person(game, "Bob")
    ann.takes_seat()
    bob.takes_seat()
    bot = game.host_seats_bot()
    ann.confirms()
    bob.confirms()
    bot.plays()
    assert ann.asks_to_take_back() == (2,)
    assert game.log[-1].lines == ("Ann (red) asks to take turns 2 to 3 back",)
    assert bob.asks_to_take_back() == ()
    assert game.table.turns == 1


def test_a_seat_that_left_the_game_does_not_come_back_through_bots() -> None:
    game, ann, (bob, _) = ann_and_bots(seats=3)
    ann.confirms()
    game.does(commands.Concede(by=HOST, seat=3))
    bob.plays()
    with refused("NOTHING_TO_TAKE_BACK"):
        game.host_takes_back()
    ann.confirms()
    bob.plays()
    game.host_takes_back()
    assert game.asked == [ann]


def test_a_seat_that_a_bot_has_now_was_not_always_a_bots() -> None:
    game = a_table(seats=2)
    ann, bob = game.people
    ann.confirms()
    before = position(game)
    bob.confirms()
    bob.leaves()
    game.host_seats_bot()
    ann.leaves()
    game.host_seats_bot("random").plays()
    game.host_takes_back()
    assert position(game) == before


def test_however_many_turns_bots_took_few_are_played_again() -> None:
    chance = random.Random(2)
    game, ann, _ = ann_and_bots(passing="on")
    for _ in range(3):
        ann.confirms()
        for bot in (2, 3):
            BotOfTest(game, bot).plays()
    before = position(game)
    ann.acts("pass", confirm=True)
    for _ in range(2 * SNAPSHOT_EVERY + chance.randrange(5)):
        BotOfTest(game, *game.asked_seats).plays()
    game.host_takes_back()
    assert position(game) == before
    assert game.most_replayed <= SNAPSHOT_EVERY
    assert game.asked == [ann]
