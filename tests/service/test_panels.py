"""Panels over a real socket: who may press, who holds the panel, and what a press does once."""

import asyncio
import secrets
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import table_pb2
from tests.service.panels import (
    CHORD,
    LONG,
    MASTER,
    PRESS,
    UID,
    Bridge,
    a_bridge,
    a_panel,
    attach,
    detach,
    pp,
)
from tests.service.support import (
    ADMIN,
    HOST,
    Caller,
    Running,
    digest,
    outcome,
    refused,
    serving,
)
from tests.store.support import Server, eventually

pb = table_pb2
pytestmark = pytest.mark.e2e


def twin(bridge: Bridge, running: Running, **fields: Any) -> Bridge:
    """Another bridge of the same panel."""
    fields = {"holder": bridge.holder, "uid": bridge.uid, **fields}
    other = Bridge(running.channel, bridge.token, bridge.table_id, **fields)
    other.seen = bridge.seen
    return other


# -- on the table --------------------------------------------------------------------------


async def test_a_table_that_needs_no_screen(running: Running) -> None:
    host = await running.a_table(seats=4, start_when_full=False)
    panel = await a_panel(host, running, [0, 0, 0])
    taken = [await panel.presses(button) for button in (2, 1)]
    assert [answer.seat for answer in taken] == [1, 2]
    with refused("NOT_ASKED", "FAILED_PRECONDITION", revision=panel.seen):
        await panel.presses(1)
    await panel.presses(2, LONG)
    view = await panel.looks()
    assert (view.status, len(view.seats)) == (pb.TABLE_STATUS_RUNNING, 2)
    assert [(p.uid, list(p.seats)) for p in view.panels] == [(UID, [2, 1, 0])]
    assert all(seat.from_panel for seat in view.seats)
    # In a free table a long press ends a turn in which nothing was done.
    done = await panel.presses(2, LONG)
    assert (done.seat, done.next_table_id) == (1, "")
    assert done.lines[0].startswith("Red")
    assert [prompt.seat for prompt in (await panel.looks()).prompts] == [2]


async def test_attaching_again_changes_nothing_and_other_seats_do(running: Running) -> None:
    host, _ = await running.a_game(seats=3)
    panel = a_bridge(running, host.table_id)
    first = await attach(host, panel, [1, 2], "attach-once")
    again = await attach(host, panel, [1, 2], "attach-once")
    assert (first.replayed, again.replayed, again.revision) == (False, True, first.revision)
    assert (await attach(host, panel, [1, 2])).revision == first.revision
    assert (await attach(host, panel, [1])).revision == first.revision + 1
    second = a_bridge(running, host.table_id, uid=UID + 1)
    with refused("SEAT_TAKEN", "FAILED_PRECONDITION"):
        await attach(host, second, [1, 3])
    await attach(host, second, [2, 3])
    assert [p.panel_uid for p in await panel.lists()] == [UID, UID + 1]
    await detach(panel)
    assert [p.uid for p in (await host.looks()).panels] == [UID + 1]
    with refused("UNKNOWN_NAME"):
        await detach(host)


async def test_only_the_host_puts_panels_on_a_table(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = a_bridge(running, host.table_id)
    with refused("NOT_ALLOWED"):
        await attach(ann, panel, [1])
    with refused("BAD_TOKEN"):
        await attach(running.caller("", host.table_id), panel, [1])
    await attach(running.caller(ADMIN, host.table_id), panel, [1])
    with refused("NOT_ALLOWED"):
        await detach(ann)


async def test_a_panel_may_watch_where_spectators_need_a_token(running: Running) -> None:
    host, (ann, _) = await running.a_game(watch_token_sha256=digest("the watch token, for tests"))
    panel = a_bridge(running, host.table_id)
    with refused("BAD_TOKEN"):
        await panel.looks()
    await attach(host, panel, [1, 2])
    watch = panel.watches()
    event = await watch.read()
    assert (event.snapshot.table.viewer, len(event.snapshot.table.panels)) == (0, 1)
    assert (await watch.read()).HasField("presence")
    await ann.confirms(at=event.snapshot.table.revision)
    event = await watch.read()
    assert [prompt.seat for prompt in event.change.table.prompts] == [2]
    watch.cancel()


@pytest.mark.case("H8")
async def test_a_panel_is_set_up_anew_with_a_finger_on_a_button(running: Running) -> None:
    host, (ann, _) = await running.a_game(options={"first_seat": "1", "together": "before"})
    panel = await a_panel(host, running, [1, 2])
    seen = (await panel.looks()).revision
    moved = (await attach(host, panel, [2, 1])).revision
    for gesture in (PRESS, LONG):
        with refused("STALE_REVISION", "ABORTED", revision=moved, asked_at=moved):
            await panel.presses(1, gesture, at=seen)
    with refused("STALE_REVISION", asked_at=moved):
        await panel.presses(1, CHORD, second=2, at=seen)
    with refused("STALE_REVISION", asked_at=moved):
        await panel.presses(0, MASTER, at=seen)
    assert (await panel.presses(1, at=moved)).seat == 2
    assert [prompt.seat for prompt in (await ann.looks()).prompts] == [1]
    await ann.confirms()


async def test_a_seat_that_was_left_is_taken_by_its_button(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    seen = (await panel.looks()).revision
    await ann.changes("LeaveSeat")
    with refused("STALE_REVISION"):
        await panel.presses(1, at=seen)
    await panel.looks()
    sat_down = await panel.presses(1, request_id="panel:sits")
    assert (sat_down.seat, list(sat_down.lines)) == (1, ["Red (panel 4711) takes seat 1 (red)"])
    # The answer was lost, and the press comes once more: it ends no turn.
    again = await panel.presses(1, at=panel.seen - 1, request_id="panel:sits")
    assert (again.replayed, again.revision) == (True, sat_down.revision)
    assert (await panel.looks()).seats[0].from_panel
    assert (await panel.presses(1)).seat == 1
    await bob.looks()
    await bob.confirms()


# -- who holds it --------------------------------------------------------------------------


async def test_two_bridges_and_one_panel(running: Running) -> None:
    host, _ = await running.a_game()
    kitchen = await a_panel(host, running, [1, 2])
    attic = twin(kitchen, running, holder="attic-0002")
    with refused("PANEL_HELD", "FAILED_PRECONDITION", holder="kitchen-0001") as failure:
        await attic.holds()
    assert 0 < int(failure.details["retry_after_ms"]) <= 4000
    assert "kitchen-0001" in failure.sentence
    with refused("PANEL_HELD", holder="kitchen-0001"):
        await attic.presses(1)
    assert (await kitchen.holds()).lease.ToMilliseconds() == 4000
    await attic.releases()  # it holds nothing
    with refused("PANEL_HELD"):
        await attic.holds()
    await kitchen.releases()
    await attic.holds()
    with refused("PANEL_HELD", holder="attic-0002"):
        await kitchen.presses(1)
    await attic.presses(1, LONG)
    assert (await host.looks()).turns == 1


async def test_a_lease_that_ran_out_is_taken_by_another(valkey: Server) -> None:
    async with serving(valkey.url, lease_ms=50) as running:
        host, _ = await running.a_game()
        kitchen = await a_panel(host, running, [1, 2])
        attic = twin(kitchen, running, holder="attic-0002")

        async def holds() -> bool:
            return await outcome(attic.holds()) == "done"

        assert await outcome(attic.holds()) in ("PANEL_HELD", "done")
        await eventually(holds)

        async def is_free() -> bool:
            return not (await attic.lists())[0].held

        await eventually(is_free)
        # Nobody holds it: a press needs somebody who does.
        with refused("PANEL_HELD") as failure:
            await attic.presses(1)
        assert "holder" not in failure.details
        assert (await host.looks()).turns == 0


async def test_holding_changes_no_table_and_is_told(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = a_bridge(running, host.table_id)
    attached = (await attach(host, panel, [1, 2])).revision
    [status] = await panel.lists()
    assert (status.held, status.HasField("report")) == (False, False)
    await panel.holds(place="kitchen:/dev/ttyUSB0", firmware="1.0", buttons=2, gestures=7)
    for who in (panel, twin(panel, running)):
        [status] = await who.lists()
        assert (status.held, status.report.place) == (True, "kitchen:/dev/ttyUSB0")
        assert status.report.gestures == 7
        assert status.report_time.seconds > 0
    assert (await host.looks()).revision == attached
    seated = Bridge(running.channel, ann.token, host.table_id)
    assert (await seated.lists())[0].held
    with refused("BAD_TOKEN"):
        await Bridge(running.channel, "a token of nobody here", host.table_id).lists()


@pytest.mark.parametrize(
    "uptime",
    [
        Duration(seconds=2**63 - 1),
        Duration(seconds=-(2**63)),
        Duration(seconds=-1),
        Duration(seconds=2**32 + 1),
        Duration(seconds=1, nanos=1_000_000_000),
        Duration(nanos=-1),
    ],
)
async def test_a_report_that_nobody_could_read(running: Running, uptime: Duration) -> None:
    host, _ = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    await panel.holds(uptime=Duration(seconds=2**32, nanos=999_999_999))
    with refused("BAD_FIELD", field="report.uptime") as failure:
        await panel.holds(uptime=uptime)
    assert "report.uptime" in failure.sentence
    for holder in ("short", "x" * 65, "a tab\tinside"):
        with refused("BAD_FIELD", field="holder") as failure:
            await twin(panel, running, holder=holder).holds()
        assert failure.sentence.startswith("holder, ")
    [status] = await panel.lists()
    assert status.report.uptime.ToJsonString() == "4294967296.999999999s"


async def test_a_panel_that_was_taken_off_has_no_power_left(running: Running) -> None:
    host = await running.a_table(seats=2, start_when_full=True)
    panel = await a_panel(host, running, [0, 0])
    await panel.presses(1)
    await panel.presses(2)
    await panel.looks()
    await detach(host)
    for call in (panel.confirms(), panel.acts("finish game"), panel.changes("PauseGame")):
        with refused("BAD_TOKEN", "UNAUTHENTICATED"):
            await call
    with refused("BAD_FIELD", field="panel_token_sha256"):
        await attach(host, a_bridge(running, host.table_id, token=HOST), [1, 2])
    other = await a_panel(host, running, [1, 2], uid=UID + 1)
    await other.looks()
    assert (await other.presses(1)).seat == 1


async def test_only_an_attached_panel_is_held(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    stranger = a_bridge(running, host.table_id)
    for method in (stranger.holds, stranger.releases, lambda: stranger.presses(1)):
        with refused("BAD_TOKEN", "UNAUTHENTICATED"):
            await method()
    panel = await a_panel(host, running, [1, 2])
    with refused("UNKNOWN_NAME", field="panel_uid"):
        await twin(panel, running, uid=99).holds()
    for token in (ann.token, HOST):
        other = Bridge(running.channel, token, host.table_id)
        with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
            await other.holds()
    assert (await panel.lists())[0].held
    await detach(host)
    with refused("BAD_TOKEN"):
        await panel.holds()


# -- what a press does ---------------------------------------------------------------------


async def test_a_press_by_a_strangers_token(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    view = await panel.looks()
    for token, reason in (
        ("a token of nobody here", "BAD_TOKEN"),
        (ann.token, "NOT_ALLOWED"),
        (HOST, "NOT_ALLOWED"),
    ):
        for holder in (panel.holder, "attic-0002"):
            other = Bridge(running.channel, token, host.table_id, holder=holder)
            with refused(reason) as failure:
                await other.presses(1, LONG, at=view.revision)
            assert "holder" not in failure.details
    assert (await host.looks()).revision == view.revision


@pytest.mark.case("H8", "S7")
async def test_a_press_is_sent_again_after_its_answer_was_lost(running: Running) -> None:
    host, _ = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    view = await panel.looks()
    first = await panel.presses(1, LONG, at=view.revision, request_id="panel:4711:1:2:3")
    # The bridge was killed; the one that comes after it has another name.
    await panel.releases()
    after = twin(panel, running, holder="attic-0002")
    await after.holds()
    again = await after.presses(1, LONG, at=view.revision, request_id="panel:4711:1:2:3")
    assert (first.replayed, again.replayed) == (False, True)
    assert (again.revision, again.seat, list(again.lines)) == (
        first.revision,
        first.seat,
        list(first.lines),
    )
    assert (await host.looks()).turns == 1
    with refused("REQUEST_ID_REUSED"):
        await after.presses(2, LONG, at=view.revision, request_id="panel:4711:1:2:3")
    # A press for what was shown before counts for nothing later.
    with refused("STALE_REVISION", "ABORTED"):
        await after.presses(2, LONG, at=view.revision)
    assert (await host.looks()).turns == 1


@pytest.mark.case("S6")
async def test_exactly_one_of_many_presses_wins(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        host, _ = await one.a_game()
        panel = await a_panel(host, one, [1, 2])
        seen = (await panel.looks()).revision
        bridges = [panel, twin(panel, two)]

        found = await asyncio.gather(
            *(outcome(b.presses(1, LONG, at=seen)) for b in bridges for _ in range(8))
        )
        assert sorted(found) == ["STALE_REVISION"] * 15 + ["done"]
        assert (await host.looks()).turns == 1


async def test_one_press_sent_by_many_at_once_is_one_press(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        host, _ = await one.a_game()
        panel = await a_panel(host, one, [1, 2])
        seen = (await panel.looks()).revision
        bridges = [panel, twin(panel, two)] * 4
        found = await asyncio.gather(
            *(b.presses(1, LONG, at=seen, request_id="panel:1") for b in bridges)
        )
        assert len({answer.revision for answer in found}) == 1
        assert sorted(answer.replayed for answer in found) == [False] + [True] * 7
        assert (await host.looks()).turns == 1


async def test_a_seat_that_says_who_confirms(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    device, panel_only = pb.CONFIRMATION_DEVICE, pb.CONFIRMATION_PANEL
    await ann.changes("SetConfirmation", confirmation=device)
    with refused("NOT_ALLOWED"):
        await panel.presses(1, LONG, at=ann.seen)
    with refused("NOT_ALLOWED"):
        await bob.changes("SetConfirmation", seat=1, confirmation=panel_only)
    await host.changes("SetConfirmation", seat=1, confirmation=panel_only)
    view = await ann.looks()
    assert [seat.confirmation for seat in view.seats] == [panel_only, pb.CONFIRMATION_EITHER]
    with refused("NOT_ALLOWED"):
        await ann.confirms()
    assert (await panel.presses(1, LONG, at=view.revision)).seat == 1
    for wrong in (0, 9):
        with refused("BAD_FIELD", field="confirmation"):
            await ann.changes("SetConfirmation", confirmation=wrong)


async def test_who_confirms_may_be_said_when_a_seat_is_taken(running: Running) -> None:
    host = await running.a_table()
    ann = running.caller("the token of Ann, for tests", host.table_id)
    request = pb.TakeSeatRequest(
        table_id=host.table_id,
        request_id="sit",
        name="Ann",
        token_sha256=digest(ann.token),
        confirmation=pb.CONFIRMATION_PANEL,
    )
    taken = await ann.call("TakeSeat", request, metadata=())
    assert taken.table.seats[0].confirmation == pb.CONFIRMATION_PANEL


async def test_gestures_over_the_wire(running: Running) -> None:
    _, (ann, _), panel = await a_game_with_points(running)
    await ann.acts("score 3 for seat 1", "score 4 for seat 2")
    await panel.looks()
    assert (await panel.presses(1, CHORD, second=2)).seat == 1
    assert [list(turn.texts) for turn in (await ann.looks()).staged] == [["score 3 for seat 1"]]
    await panel.presses(0, MASTER)
    with refused("PAUSED"):
        await panel.presses(1)
    await panel.presses(0, MASTER)
    assert (await panel.presses(1)).seat == 1
    view = await panel.looks()
    assert [player.points for player in view.game_view.players] == [3, 0]
    # Nothing is staged now: a chord takes the turn back.
    await panel.presses(2, CHORD, second=1)
    assert (await panel.looks()).turns == 0


async def a_game_with_points(running: Running) -> tuple[Caller, list[Caller], Bridge]:
    host, people = await running.a_game(options={"points": "on", "first_seat": "1"})
    return host, people, await a_panel(host, running, [1, 2])


async def test_presses_of_any_kind_are_never_our_failure(running: Running) -> None:
    host, _ = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    view = await panel.looks()
    good: dict[str, Any] = {
        "table_id": host.table_id,
        "request_id": "r",
        "panel_uid": UID,
        "holder": panel.holder,
        "button": 1,
        "gesture": LONG,
        "expected_revision": view.revision,
    }
    for change, field in (
        ({"panel_uid": 0}, "panel_uid"),
        ({"holder": ""}, "holder"),
        ({"holder": "x" * 65}, "holder"),
        ({"holder": "new\nline"}, "holder"),
        ({"button": 3}, "button"),
        ({"button": 2**32 - 1}, "button"),
        ({"button": 0}, "button"),
        ({"gesture": 0}, "gesture"),
        ({"gesture": 77}, "gesture"),
        ({"gesture": MASTER}, "button"),
        ({"gesture": CHORD}, "second_button"),
        ({"gesture": CHORD, "second_button": 1}, "second_button"),
        ({"gesture": PRESS, "expected_revision": 0}, "expected_revision"),
        ({"request_id": ""}, "request_id"),
        ({"table_id": ""}, "table_id"),
    ):
        with refused("BAD_FIELD", "INVALID_ARGUMENT", field=field):
            await panel.asks("PressPanel", pp.PressPanelRequest(**{**good, **change}))
    with refused("BAD_FIELD", field="report"):
        await panel.holds(place="x" * 2000)
    for seats in ([], [0] * 9, [1, 1], [9]):
        with refused("UNKNOWN_NAME" if seats == [9] else "BAD_FIELD"):
            await attach(host, panel, seats)
    assert (await host.looks()).revision == view.revision


# -- bots on seats -------------------------------------------------------------------------


async def test_a_bot_is_seated_by_the_host(running: Running) -> None:
    host = await running.a_table("eastern-wonders", seats=4, start_when_full=False)
    with refused("UNKNOWN_NAME", "NOT_FOUND", field="bot") as failure:
        await host.changes("SeatBot", bot="deep-thought")
    assert "greedy" in failure.sentence
    request_id = secrets.token_hex(8)
    first = await host.changes("SeatBot", bot="greedy", request_id=request_id)
    again = await host.changes("SeatBot", bot="greedy", request_id=request_id)
    assert (first.seat, again.seat, again.replayed) == (1, 1, True)
    panel_only = pb.CONFIRMATION_PANEL
    last = await host.changes("SeatBot", bot="random", seat=4, name="R2", confirmation=panel_only)
    assert last.seat == 4
    with refused("SEAT_TAKEN"):
        await host.changes("SeatBot", bot="random", seat=4)
    view = await host.looks()
    told = [(seat.occupant, seat.bot, seat.confirmation) for seat in view.seats]
    assert told[0] == (pb.OCCUPANT_BOT, "greedy", pb.CONFIRMATION_EITHER)
    assert told[3] == (pb.OCCUPANT_BOT, "random", panel_only)
    assert view.seats[3].name == "R2"
    ann = running.caller("the token of Ann, for tests", host.table_id)
    await ann.takes_seat()
    assert ann.seat == 2
    with refused("NOT_ALLOWED"):
        await ann.changes("SeatBot", bot="greedy")
    await host.changes("LeaveSeat", seat=4)
    await host.changes("LeaveSeat", seat=1)
    with refused("NOT_STARTED"):
        await host.changes("StartGame")


async def test_starting_with_those_who_are_here(running: Running) -> None:
    host = await running.a_table(seats=4, start_when_full=False)
    people = [running.caller(f"the token of number {n}, for tests", host.table_id) for n in (1, 2)]
    for person in people:
        await person.takes_seat()
    with refused("NOT_STARTED"):
        await host.changes("StartGame")
    await host.changes("StartGame", without_free_seats=True)
    view = await host.looks()
    assert (view.status, len(view.seats)) == (pb.TABLE_STATUS_RUNNING, 2)


async def test_people_at_two_panels_start_with_those_who_are_here(running: Running) -> None:
    host = await running.a_table(seats=6, start_when_full=False)
    left = await a_panel(host, running, [1, 2, 3, 4])
    right = await a_panel(host, running, [5, 6], uid=UID + 1)
    for panel in (left, right):
        await panel.looks()
        for button in (1, 2):
            await panel.presses(button)
    await right.looks()
    started = await right.presses(1, LONG)
    assert started.seat == 3
    assert started.lines[0] == "White (white) moves to seat 3 (green)"
    view = await host.looks()
    assert [(p.uid, list(p.seats)) for p in view.panels] == [(UID, [1, 2, 0, 0]), (UID + 1, [3, 4])]
    assert [seat.name for seat in view.seats] == ["Red", "Blue", "Green", "Yellow"]
