"""Which table a panel works at; and that being killed on the way there does no harm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tableturn.v1.table_pb2 import PanelView, SeatView, TableView
from tableturn_bridge.sitting import RECENTLY, Place, Sitting, UsedElsewhere, Wish, usual_seats
from tableturn_client import Absence, Client, Clock, IfAway, Table
from tableturn_client.credentials import Credentials
from tableturn_client.errors import BadField, UnknownName
from tests.bridge.evening import Evening

UID = 7
GAME = "free-table"


class Killed(BaseException):
    """The bridge is killed here."""


def sitting(evening: Evening, wish: Wish | None = None, now: float = 0.0) -> Sitting:
    credentials = evening.machine.credentials
    return Sitting(evening.client, evening.server, credentials, wish or Wish(), now=lambda: now)


async def sits(evening: Evening, wish: Wish | None = None, now: float = 0.0) -> Place:
    return await sitting(evening, wish, now).sit_down(UID, 2)


async def made(evening: Evening) -> list[str]:
    """The tables of which this machine has the host's token."""
    held = evening.machine.credentials.all()
    return [one.table for one in held if one.scope == "host" and not one.pending]


# ---------------------------------------------------------------- which table


async def test_a_table_with_a_clock_is_gone_back_to_and_left_for_another_clock(
    evening: Evening,
) -> None:
    clock, absence = Clock.increment(600, 5), Absence(IfAway.BOT)
    timed = await sits(evening, Wish(clock=clock, absence=absence))
    view = await evening.client.table(timed.table_id).view()
    assert (view.clock.bank.seconds, view.clock.step.seconds) == (600, 5)
    assert view.absence.policy == IfAway.BOT.value
    for wish in (Wish(), Wish(clock=clock), Wish(absence=absence), Wish(clock=clock, game=GAME)):
        assert await sits(evening, wish) == timed
    for wish in (Wish(clock=Clock.increment(600, 6)), Wish(absence=Absence(IfAway.BOT, 30))):
        other = await sits(evening, wish)
        assert other.table_id != timed.table_id
        assert await sits(evening, wish) == other


# ---------------------------------------------------------------- killed on the way

Step = tuple[type, str]
STEPS: list[Step] = [
    (Client, "games"),
    (Client, "new_table"),
    (Table, "attach_panel"),
]


@pytest.mark.parametrize(("owner", "method"), STEPS, ids=[step[1] for step in STEPS])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_bridge_that_is_killed_while_it_sits_down_makes_no_second_table(
    evening: Evening, monkeypatch: pytest.MonkeyPatch, owner: type, method: str, after: bool
) -> None:
    real: Callable[..., Awaitable[Any]] = getattr(owner, method)
    reached: list[str] = []

    async def killed(self: Any, *args: Any, **kwargs: Any) -> Any:
        if after:
            answer = await real(self, *args, **kwargs)
            reached.append(getattr(getattr(answer, "table", self), "table_id", ""))
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, method, killed)
        with pytest.raises(Killed):
            await sits(evening)
    place = await sits(evening)
    view = await evening.client.table(place.table_id).view()
    assert [panel.uid for panel in view.panels] == [UID]
    assert await made(evening) == [place.table_id]
    if after and method != "games":
        assert reached == [place.table_id]
    assert not [one for one in evening.machine.credentials.all() if one.pending]


@pytest.mark.parametrize("write", range(4))
async def test_no_token_is_lost_whichever_write_the_kill_comes_before(
    evening: Evening, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    real = Credentials._change
    left = [write]

    def killed(self: Credentials, change: Any) -> None:
        if not left[0]:
            raise Killed
        left[0] -= 1
        real(self, change)

    with monkeypatch.context() as patched:
        patched.setattr(Credentials, "_change", killed)
        with pytest.raises(Killed):
            await sits(evening)
    place = await sits(evening)
    assert await made(evening) == [place.table_id]
    assert not [one for one in evening.machine.credentials.all() if one.pending]
    panel = evening.client.panel(place.table_id, UID, token=place.token, holder="a bridge")
    assert await panel.hold() > 0


# ---------------------------------------------------------------- back to the last table


async def test_a_panel_goes_back_to_its_last_table(evening: Evening) -> None:
    first = await sits(evening)
    assert await sits(evening) == first
    assert await sits(evening, Wish(game="free-table")) == first
    assert await sits(evening, Wish(options={"order": "fixed"})) == first


@pytest.mark.parametrize(
    "wish",
    [Wish(fresh=True), Wish(game="eastern-wonders"), Wish(options={"passing": "on"})],
    ids=["new", "another game", "another option"],
)
async def test_a_panel_leaves_its_last_table_for_one_that_is_made_otherwise(
    evening: Evening, wish: Wish
) -> None:
    first = await sits(evening)
    second = await sits(evening, wish)
    assert second.table_id != first.table_id
    view = await evening.client.table(second.table_id).view()
    assert view.game == (wish.game or "free-table")
    assert all(view.options[name] == value for name, value in wish.options.items())


async def test_new_is_for_the_first_table_only(evening: Evening) -> None:
    """A bridge that sits down again, as after a panel was changed, makes no further one."""
    at = sitting(evening, Wish(fresh=True))
    first = await at.sit_down(UID, 2)
    assert await at.sit_down(UID, 2) == first


async def test_a_game_that_ended_long_ago_is_not_gone_back_to(evening: Evening) -> None:
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    first = await sits(evening, wish)
    host = evening.machine.credentials.host(evening.server, first.table_id)
    assert host is not None
    table = evening.client.table(first.table_id, token=host.token)
    seats = [await table.take_seat(name) for name in ("Ann", "Bob")]
    await table.start()
    for seat in seats:
        await seat.view()
        await seat.confirm()
    ended = (await table.view()).update_time.seconds
    assert await sits(evening, now=ended + RECENTLY / 2) == first
    later = await sits(evening, now=ended + 2 * RECENTLY)
    assert later.table_id != first.table_id


async def test_a_panel_finds_its_people_at_the_table_of_their_rematch(evening: Evening) -> None:
    wish = Wish(options={"rounds": "1", "first_seat": "1"})
    first = await sits(evening, wish)
    host = evening.machine.credentials.host(evening.server, first.table_id)
    assert host is not None
    table = evening.client.table(first.table_id, token=host.token)
    seats = [await table.take_seat(name) for name in ("Ann", "Bob")]
    await table.start()
    for seat in seats:
        await seat.view()
        await seat.confirm()
    again = await table.rematch()
    place = await sits(evening, now=1e12)
    assert (place.table_id, place.token) == (again.table_id, first.token)
    assert (await sits(evening, Wish(first.table_id))).table_id == again.table_id


async def test_a_panel_whose_last_table_is_gone_makes_a_new_one(
    evening: Evening, tmp_path: Path
) -> None:
    credentials = evening.machine.credentials
    old = Place("a-table-of-old", "a-token-from-long-ago")
    await sitting(evening).goes_on(UID, old, "gone-by-now")
    assert credentials.last_table(evening.server, UID) == "gone-by-now"
    place = await sits(evening)
    assert place.table_id not in ("a-table-of-old", "gone-by-now")


async def test_a_panel_is_not_taken_from_a_bridge_that_works_it(evening: Evening) -> None:
    """The host sits at another machine, which has no token of the panel's own."""
    place = await sits(evening)
    kept = evening.machine.credentials.host(evening.server, place.table_id)
    assert kept is not None
    there = evening.client.panel(place.table_id, UID, token=place.token, holder="a bridge there")
    await there.hold()
    credentials = evening.another_machine("the-hosts").credentials
    wish = Wish(place.table_id, token=kept.token)
    at = Sitting(evening.client, evening.server, credentials, wish)
    with pytest.raises(UsedElsewhere, match=f"panel {UID} is worked by another bridge") as told:
        await at.sit_down(UID, 2)
    assert (told.value.why.held, told.value.why.cause) == ("others", "held")
    assert "End that bridge" in told.value.why.sentence
    assert await there.hold() > 0, "its token is still the one that counts"
    await there.release()
    here = await at.sit_down(UID, 2)
    assert (here.table_id, here.token != place.token) == (place.table_id, True)


# ---------------------------------------------------------------- buttons without any seat


async def seated_at_devices(evening: Evening) -> tuple[Place, Table]:
    """A panel whose buttons wait for seats, at a table where devices took them all and began."""
    place = await sits(evening, Wish(options={"first_seat": "1"}))
    host = evening.machine.credentials.host(evening.server, place.table_id)
    assert host is not None
    table = evening.client.table(place.table_id, token=host.token)
    for name in ("Ann", "Bob"):
        await table.take_seat(name)
    assert await seats_now(table) == (0, 0)
    await table.start()
    return place, table


async def seats_now(table: Table) -> tuple[int, ...]:
    (panel,) = (await table.view()).panels
    return tuple(panel.seats)


@pytest.mark.parametrize("named", [True, False])
async def test_buttons_that_never_got_a_seat_serve_the_usual_ones_in_the_game(
    evening: Evening, named: bool
) -> None:
    place, table = await seated_at_devices(evening)
    wish = Wish(place.table_id if named else "")
    assert await sits(evening, wish) == place
    assert await seats_now(table) == (1, 2)
    assert await sits(evening, Wish(place.table_id, seats=(0, 0))) == place
    assert await seats_now(table) == (0, 0), "who asks for none gets none"


async def test_buttons_without_a_seat_stay_so_before_the_game_and_where_the_host_is_away(
    evening: Evening, tmp_path: Path
) -> None:
    place = await sits(evening)
    assert await sits(evening) == place
    table = evening.client.table(place.table_id)
    assert await seats_now(table) == (0, 0), "people sit down by pressing"

    place, table = await seated_at_devices(evening)
    kept = evening.machine.credentials.panel_of(evening.server, place.table_id, UID)
    assert kept is not None
    guest = evening.another_machine("a-guests").credentials
    guest.put(kept)
    at = Sitting(evening.client, evening.server, guest, Wish(place.table_id))
    assert await at.sit_down(UID, 2) == place
    assert await seats_now(table) == (0, 0)


# ---------------------------------------------------------------- what can't be


async def test_a_game_that_does_not_exist_is_refused_and_nothing_is_left_behind(
    evening: Evening,
) -> None:
    with pytest.raises(UnknownName, match="chess"):
        await sits(evening, Wish(game="chess"))
    assert evening.machine.credentials.all() == ()


async def test_a_button_for_a_seat_that_does_not_exist_is_refused(evening: Evening) -> None:
    place = await sits(evening)
    with pytest.raises((BadField, UnknownName), match="seat 9"):
        await sits(evening, Wish(place.table_id, seats=(9, 1)))


# ---------------------------------------------------------------- the seats of the buttons


def a_view(seats: int, **panels: tuple[int, ...]) -> TableView:
    return TableView(
        seats=[SeatView(seat=number + 1) for number in range(seats)],
        panels=[PanelView(uid=int(uid[1:]), seats=served) for uid, served in panels.items()],
    )


@pytest.mark.parametrize(
    ("view", "buttons", "seats"),
    [
        (a_view(4), 4, (1, 2, 3, 4)),
        (a_view(4), 2, (1, 2)),
        (a_view(2), 4, (1, 2, 0, 0)),
        (a_view(4, p8=(2, 1)), 2, (3, 4)),
        (a_view(4, p8=(1, 3), p9=(0, 2)), 3, (4, 0, 0)),
        (a_view(2, p7=(2, 1)), 2, (1, 2)),
    ],
)
def test_buttons_serve_the_seats_in_order_that_no_other_panel_serves(
    view: TableView, buttons: int, seats: tuple[int, ...]
) -> None:
    assert usual_seats(view, UID, buttons) == seats


def test_a_panel_without_a_seat_left_is_used_elsewhere() -> None:
    with pytest.raises(UsedElsewhere, match="every seat") as told:
        usual_seats(a_view(2, p8=(2, 1)), UID, 2)
    assert (told.value.why.held, told.value.why.cause) == ("off", "no-seat-left")
    assert "tableturn panel off" in told.value.why.sentence


async def test_a_seat_of_another_panel_is_told_with_what_helps(evening: Evening) -> None:
    place = await sits(evening, Wish(seats=(1, 2)))
    at = sitting(evening, Wish(place.table_id, seats=(2, 0)))
    with pytest.raises(UsedElsewhere, match=f"seat 2 has a button of panel {UID} already") as told:
        await at.sit_down(UID + 1, 2)
    assert (told.value.why.held, told.value.why.cause) == ("off", "seat-taken")
    assert f"tableturn panel off {place.table_id} NUMBER" in told.value.why.sentence
