"""A table that needs no screen: the real bridge, a virtual panel on its port, the real service."""

from __future__ import annotations

import asyncio

import pytest

from tableturn_bridge.lamps import tag_of
from tableturn_bridge.protocol import DEBOUNCE
from tableturn_bridge.sitting import Wish
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.lights import RUN
from tableturn_client import Clock, Confirmation, RematchOrder, Takeback, TimeUp
from tableturn_client.messages import ChangeKind, LogEntry, TableStatus
from tests.bridge.evening import Evening, HandClock, until

CONFIRM = ChangeKind.CHANGE_KIND_CONFIRM
SHORT = Wish(options={"rounds": "2", "first_seat": "1"})
OPEN = Wish(options={"first_seat": "1"})


def confirmed(entries: list[LogEntry]) -> list[int]:
    """Whose turns were confirmed, in order."""
    return [entry.seat for entry in entries if entry.kind == CONFIRM]


# ---------------------------------------------------------------- a game


@pytest.mark.case("R6")
async def test_a_whole_game_by_presses_only(evening: Evening) -> None:
    async with evening.panel(buttons=3, wish=SHORT) as panel:
        await panel.shows("FREE", "FREE", "FREE")
        await panel.begin()
        for _ in range(2):
            for button in (1, 2, 3):
                await panel.turn(button)
        await panel.shows("OFF", "OFF", "OFF")
        await panel.armed(1, 2, 3)
        assert confirmed(await panel.log()) == [1, 2, 3, 1, 2, 3]
        assert panel.view.status == TableStatus.TABLE_STATUS_FINISHED


async def test_at_a_table_that_nobody_made_otherwise_one_lamp_is_lit_and_then_the_next(
    evening: Evening,
) -> None:
    """Who begins is drawn: nothing but the lamps says whose turn it is."""
    async with evening.panel(buttons=3) as panel:
        await panel.sit_down_all()
        assert await panel.hold(3) is Fate.ACCEPTED
        pressed: list[int] = []
        for _ in range(4):
            await until(lambda: len(panel.lit()) == 1 and panel.lit() != pressed[-1:], "a lamp")
            (button,) = panel.lit()
            assert await panel.press(button) is Fate.ACCEPTED
            pressed.append(button)
        first = pressed[0]
        assert pressed == [first, first % 3 + 1, (first + 1) % 3 + 1, first]
        assert confirmed(await panel.log()) == pressed


@pytest.mark.parametrize("begins", ["1", "2", "3"])
async def test_whoever_is_drawn_begins_at_the_panel(evening: Evening, begins: str) -> None:
    async with evening.panel(buttons=3, wish=Wish(options={"first_seat": begins})) as panel:
        await panel.sit_down_all()
        assert await panel.hold(2) is Fate.ACCEPTED
        first = int(begins)
        for button in (first, first % 3 + 1):
            await panel.turn(button)
        assert confirmed(await panel.log()) == [first, first % 3 + 1]


@pytest.mark.parametrize("sits_first", [True, False])
async def test_somebody_sits_down_while_another_one_holds_to_begin(
    evening: Evening, sits_first: bool
) -> None:
    """Two buttons are down at the same time, and are two people: both sit."""
    async with evening.panel(buttons=3, wish=OPEN) as panel:
        await panel.shows("FREE", "FREE", "FREE")
        assert await panel.press(1) is Fate.ACCEPTED
        await panel.shows("SEATED")
        panel.board.down(1)
        await panel.shows("HELD_LONG")
        if sits_first:
            assert await panel.press(2) is Fate.ACCEPTED
            await panel.shows("", "SEATED")
            panel.board.up(1)
            await panel.shows("TURN", "NEXT", "OFF")
        else:
            panel.board.down(2)
            panel.board.up(1)
            fates = panel.board.board.fates
            await until(lambda: fates["REJECTED"] == 1, "one alone can't begin")
            panel.board.up(2)
            await panel.shows("", "SEATED")


async def test_seats_are_taken_in_the_order_of_the_presses(evening: Evening) -> None:
    async with evening.panel(buttons=3, wish=OPEN) as panel:
        await panel.shows("FREE", "FREE", "FREE")
        for button, color in ((3, "red"), (1, "blue"), (2, "green")):
            assert await panel.press(button) is Fate.ACCEPTED
            await panel.shows(*[""] * (button - 1), "SEATED")
            assert panel.board.lamps()[button - 1].color_word == color
        assert tuple(panel.view.panels[0].seats) == (2, 3, 1)
        assert [seat.name for seat in panel.view.seats] == ["Red", "Blue", "Green"]


async def test_holding_starts_with_those_who_are_here(evening: Evening) -> None:
    async with evening.panel(buttons=4, wish=OPEN) as panel:
        await panel.shows("FREE", "FREE", "FREE", "FREE")
        assert await panel.press(2) is Fate.ACCEPTED
        await panel.shows("FREE", "SEATED")
        assert await panel.press(2) is Fate.REJECTED, "whoever sits is not asked again"
        assert await panel.press(4) is Fate.ACCEPTED
        await panel.shows("FREE", "SEATED", "FREE", "SEATED")
        assert await panel.hold(4) is Fate.ACCEPTED
        await panel.shows("OFF", "TURN", "OFF", "NEXT")
        assert len(panel.view.seats) == 2


async def test_a_game_with_more_seats_than_buttons_gets_as_many_as_there_are_buttons(
    evening: Evening,
) -> None:
    async with evening.panel(buttons=6, wish=Wish(game="eastern-wonders")) as panel:
        await panel.at_table()
        assert len(panel.view.seats) == 4, "Eastern Wonders has no more"
        await panel.shows("FREE", "FREE", "FREE", "FREE", "FREE", "FREE")


# ---------------------------------------------------------------- whose press counts


async def test_a_press_by_a_seat_that_is_not_asked_makes_no_event(evening: Evening) -> None:
    async with evening.panel(buttons=3, wish=OPEN) as panel:
        await panel.begin()
        before = panel.view.revision
        assert await panel.press(2) is Fate.NOT_ARMED
        assert await panel.hold(3) is Fate.NOT_ARMED
        assert panel.board.board.events_sent == panel.work.counts.gestures == 4  # those to begin
        await panel.turn(1)
        await until(lambda: panel.view.revision > before)
        assert panel.view.revision == before + 1


@pytest.mark.case("S7")
async def test_a_double_press_counts_once(evening: Evening) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        sent = panel.board.board.events_sent
        await panel.board.press(1)
        await until(lambda: panel.board.board.events_sent > sent, "the first press")
        await panel.board.press(1)
        await panel.shows("NEXT", "TURN")
        fates = panel.board.board.fates
        await until(lambda: fates["STALE"] + fates["NOT_ARMED"] == 1, "one of them too late")
        assert fates["ACCEPTED"] == 4, "three to begin, one to end the turn"
        assert confirmed(await panel.log()) == [1]


async def test_where_all_are_asked_their_presses_are_not_held_up_by_each_other(
    evening: Evening,
) -> None:
    wish = Wish(options={"first_seat": "1", "together": "before"})
    async with evening.panel(buttons=3, wish=wish) as panel:
        await panel.begin()
        await panel.shows("TURN", "TURN", "TURN")
        await asyncio.gather(*(panel.board.press(button) for button in (3, 1, 2)))
        await panel.shows("TURN", "NEXT", "OFF")
        assert sorted(confirmed(await panel.log())) == [1, 2, 3]


async def test_who_has_confirmed_where_all_do_so_stays_lit_dimly(evening: Evening) -> None:
    wish = Wish(options={"first_seat": "1", "together": "before"})
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.begin()
        assert await panel.press(2) is Fate.ACCEPTED
        await panel.shows("TURN", "READY")
        assert await panel.press(2) is Fate.NOT_ARMED


# ---------------------------------------------------------------- the other gestures


async def test_the_master_button_pauses_and_lets_the_game_go_on(evening: Evening) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        assert await panel.master() is Fate.ACCEPTED
        await panel.shows("PAUSED", "PAUSED")
        assert await panel.press(1) is Fate.NOT_ARMED
        assert await panel.master() is Fate.ACCEPTED
        await panel.shows("TURN", "NEXT")


async def test_holding_a_button_and_pressing_another_takes_the_last_turn_back(
    evening: Evening,
) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        await panel.turn(1)
        await panel.shows("NEXT", "TURN")
        assert await panel.chord(1, 2) is Fate.ACCEPTED
        await panel.shows("TURN", "NEXT")
        assert await panel.chord(1, 2) is Fate.REJECTED, "there is nothing to take back"


async def test_a_long_press_passes_where_the_game_has_that(evening: Evening) -> None:
    wish = Wish(options={"first_seat": "1", "passing": "on"})
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.begin()
        assert await panel.hold(1) is Fate.ACCEPTED
        await panel.shows("OFF", "TURN")
        await panel.turn(2)
        await panel.shows("OFF", "TURN")


async def test_holding_the_master_button_begins_the_next_round(evening: Evening) -> None:
    wish = Wish(options={"first_seat": "1", "between": "on"})
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.begin()
        assert await panel.master_long() is Fate.REJECTED, "it is no time between rounds"
        await panel.turn(1)
        await panel.turn(2)
        await panel.shows("BETWEEN", "BETWEEN")
        assert await panel.master_long() is Fate.ACCEPTED
        await panel.shows("TURN", "NEXT")
        assert panel.view.game_view.round == 2


async def test_a_refusal_is_told_in_words(evening: Evening) -> None:
    async with evening.panel(buttons=2, wish=OPEN) as panel:
        await panel.begin()
        assert await panel.chord(1, 2) is Fate.REJECTED
        (told,) = panel.told("refused")
        assert told.details["reason"] == "NOTHING_TO_TAKE_BACK"
        assert told.details["gesture"] == "chord"
        assert told.line.startswith("button 1 ")


# ---------------------------------------------------------------- rematch


async def test_a_rematch_by_holding_after_the_end(evening: Evening) -> None:
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.begin()
        old = panel.table.table_id
        await panel.turn(1)
        await panel.turn(2)
        await panel.armed(1, 2)
        assert await panel.hold(2) is Fate.ACCEPTED
        await until(
            lambda: (
                panel.board.board.picture is not None
                and panel.board.board.picture.tag != tag_of(old)
            )
        )
        await panel.shows("TURN", "NEXT")
        assert panel.table.table_id != old
        await panel.turn(1)
        await panel.turn(2)
        credentials = evening.machine.credentials
        assert credentials.last_table(evening.server, 7) == panel.table.table_id
        assert credentials.host(evening.server, panel.table.table_id) is not None


@pytest.mark.case("H8")
async def test_a_press_for_the_table_before_the_rematch_is_stale(evening: Evening) -> None:
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    hand = HandClock()
    async with evening.panel(buttons=2, wish=wish, now=hand) as panel:
        await panel.begin()
        old = panel.table.table_id
        await panel.turn(1)
        await panel.turn(2)
        await panel.armed(1, 2)
        panel.board.down(1)  # this finger stays on the button while the table changes
        assert await panel.hold(2) is Fate.ACCEPTED
        await panel.shows("", "NEXT")
        assert panel.table.table_id != old
        hand.stop()  # so that the sign stays until it has been looked at
        panel.board.up(1)
        hand.passes(2 * DEBOUNCE)
        await panel.shows("STALE", "NEXT")
        await panel.says("it was meant for another table")
        hand.passes(RUN)
        hand.goes_on()
        await panel.shows("TURN", "NEXT")
        assert confirmed(await panel.log()) == []
        assert panel.board.board.fates["STALE"] == 1


async def test_the_bridge_goes_along_when_somebody_else_asks_for_the_rematch(
    evening: Evening,
) -> None:
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    async with evening.panel(buttons=2, wish=wish) as panel:
        await panel.begin()
        await panel.turn(1)
        await panel.turn(2)
        await panel.armed(1, 2)
        next_table = await panel.table.rematch()
        await panel.shows("TURN", "NEXT")
        assert panel.table.table_id == next_table.table_id
        await panel.turn(1)


async def test_in_another_order_each_button_goes_along_with_its_person(evening: Evening) -> None:
    """Who had the first seat gets the last one, and still has the same button."""
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    async with evening.panel(buttons=3, wish=wish) as panel:
        await panel.begin()
        for button in (1, 2, 3):
            await panel.turn(button)
        await panel.armed(1, 2, 3)
        old = panel.table.table_id
        await panel.table.rematch(order=RematchOrder.ROTATED)
        await until(lambda: panel.table.table_id != old)
        for button in (2, 3, 1):
            await panel.turn(button)
        assert list(panel.view.panels[0].seats) == [3, 1, 2]
        assert confirmed(await panel.log()) == [1, 2, 3]


# ---------------------------------------------------------------- time, and bots that stand in


async def test_low_time_is_shown_though_nothing_happens_at_the_table(evening: Evening) -> None:
    """From five seconds before the end of a turn of six; who is next has all the time again."""
    table_id = await hosted(evening, clock=Clock.per_turn(6, time_up=TimeUp.WARN))
    async with evening.panel(buttons=2, wish=Wish(table_id, seats=(0, 0))) as panel:
        await panel.begin()
        seen = False
        for button, lamps in ((1, ("LOW", "NEXT")), (2, ("NEXT", "LOW")), (1, ("LOW", "NEXT"))):
            revision = panel.view.revision
            await panel.shows(*lamps)
            # On a machine that is very busy the time may be up already, which is a change.
            seen = seen or panel.view.revision == revision
            await panel.press(button)
            if seen:
                break
        assert seen


@pytest.mark.case("C7")
async def test_a_press_brings_back_whoever_a_bot_plays_on_for(evening: Evening) -> None:
    """And does nothing else: the turn is still to be taken, or somebody else's as before."""
    table_id = await hosted(evening)
    async with evening.panel(buttons=2, wish=Wish(table_id, seats=(0, 0))) as panel:
        await panel.begin()
        kept = evening.machine.credentials.host(evening.server, table_id)
        assert kept is not None
        host = evening.client.table(table_id, token=kept.token)
        await host.let_bot_play(seat=1)
        await panel.shows("FREE", "TURN")
        assert confirmed(await panel.log()) == [1]
        assert await panel.press(1) is Fate.ACCEPTED
        await panel.shows("NEXT", "TURN")
        await panel.turn(2)
        await panel.turn(1)
        await panel.shows("NEXT", "TURN")
        assert confirmed(await panel.log()) == [1, 2, 1]


# ---------------------------------------------------------------- with devices and other tables


async def hosted(
    evening: Evening, seats: int = 2, *, clock: Clock | None = None, **options: str
) -> str:
    """A table of somebody on this machine, with the host's token kept here; its id."""
    from tableturn_client.credentials import Credential, key

    new = await evening.client.new_table(
        "free-table",
        seats=seats,
        options={"first_seat": "1", **options},
        takeback=Takeback.HOST,
        clock=clock,
    )
    evening.machine.credentials.put(
        Credential(key(evening.server), new.table.table_id, "host", new.table.token)
    )
    return new.table.table_id


@pytest.mark.parametrize(
    ("who", "fate"),
    [
        (Confirmation.DEVICE, Fate.NOT_ARMED),
        (Confirmation.PANEL, Fate.ACCEPTED),
        (Confirmation.EITHER, Fate.ACCEPTED),
    ],
)
async def test_who_confirms_is_the_seats_own_choice(
    evening: Evening, who: Confirmation, fate: Fate
) -> None:
    table_id = await hosted(evening)
    host = evening.machine.credentials.host(evening.server, table_id)
    assert host is not None
    table = evening.client.table(table_id, token=host.token)
    await table.take_seat("Ann", confirmation=who)
    await table.take_seat("Bob")
    await table.start()
    async with evening.panel(buttons=2, wish=Wish(table_id)) as panel:
        await panel.shows("TURN", "NEXT")
        assert await panel.press(1) is fate


async def test_what_a_device_has_staged_is_confirmed_by_a_press(evening: Evening) -> None:
    table_id = await hosted(evening, points="on")
    ann = await evening.client.table(table_id).take_seat("Ann", confirmation=Confirmation.PANEL)
    async with evening.panel(buttons=2, wish=Wish(table_id)) as panel:
        await panel.shows("SEATED", "FREE")
        assert await panel.press(2) is Fate.ACCEPTED
        await panel.shows("SEATED", "SEATED")
        assert await panel.hold(2) is Fate.ACCEPTED
        await panel.shows("TURN", "NEXT")
        await ann.view()
        await ann.act("score 3 for seat 2")
        await panel.shows("STAGED", "NEXT")
        assert await panel.chord(1, 2) is Fate.ACCEPTED, "what is staged is undone"
        await panel.shows("TURN", "NEXT")
        await ann.act("score 3 for seat 2", expected=panel.view.revision)
        await panel.shows("STAGED", "NEXT")
        assert await panel.press(1) is Fate.ACCEPTED
        await panel.shows("NEXT", "TURN")
        points = [player.points for player in panel.view.game_view.players]
        assert points == [0, 3]


async def test_the_buttons_may_serve_the_seats_in_any_order(evening: Evening) -> None:
    table_id = await hosted(evening)
    table = evening.client.table(table_id)
    for name in ("Ann", "Bob"):
        await table.take_seat(name)
    async with evening.panel(buttons=3, wish=Wish(table_id, seats=(2, 0, 1))) as panel:
        await panel.shows("SEATED", "OFF", "SEATED")
        assert await panel.hold(1) is Fate.ACCEPTED
        await panel.shows("NEXT", "OFF", "TURN")
        await panel.turn(3)
        await panel.shows("TURN", "OFF", "NEXT")


async def test_a_seat_that_was_taken_at_the_panel_can_be_played_by_the_host(
    evening: Evening,
) -> None:
    table_id = await hosted(evening, points="on")
    async with evening.panel(buttons=2, wish=Wish(table_id, seats=(0, 0))) as panel:
        await panel.begin()
        kept = evening.machine.credentials.host(evening.server, table_id)
        assert kept is not None
        seat = evening.client.seat(table_id, 1, token=kept.token)
        await seat.view()
        await seat.act("score 4 for seat 1")
        await panel.shows("STAGED", "NEXT")
        await panel.board.press(1)
        await panel.shows("NEXT", "TURN")
