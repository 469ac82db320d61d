"""The handle of a panel: what a bridge sends, and that a gesture counts once."""

from typing import Any

import grpc
import pytest

from tableturn.v1 import panel_pb2, table_pb2
from tableturn_client import (
    Client,
    Confirmation,
    Gesture,
    Panel,
    Pressed,
    RematchOrder,
    Seat,
    Snapshot,
    errors,
    new_token,
    sync,
    token_sha256,
)
from tableturn_client.messages import PanelReport, TableStatus
from tests.client.fake import Breaks, FakeService, Refuses, snapshot, view
from tests.client.service import Service

TOKEN = "token-of-the-panel-0123456789"
HOLDER = "kitchen-0123456789abcdef"


@pytest.fixture
def panel(client: Client) -> Panel:
    return client.panel("t1", 4711, token=TOKEN, holder=HOLDER)


def pressed(revision: int, **fields: Any) -> panel_pb2.PressPanelResponse:
    return panel_pb2.PressPanelResponse(revision=revision, **fields)


@pytest.mark.case("S7")
async def test_a_gesture_without_an_answer_is_sent_again_as_it_was(
    fake: FakeService, panel: Panel
) -> None:
    lost = Refuses(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    for step in (Breaks(), lost, pressed(8, replayed=True, seat=2, lines=["Bob confirms"])):
        fake.expect("PressPanel", step, table_id="t1", panel_uid=4711, expected_revision=7)
    done = await panel.press(2, Gesture.LONG, expected=7, request_id="panel:4711:1:2:3")
    assert done == Pressed(8, True, ("Bob confirms",), seat=2)
    assert panel.revision == 8
    [first, *others] = fake.requests("PressPanel")
    assert (first.request_id, first.holder, first.button) == ("panel:4711:1:2:3", HOLDER, 2)
    assert first.gesture == panel_pb2.GESTURE_LONG
    assert others == [first] * 2
    assert {call.token for call in fake.calls} == {TOKEN}


async def test_a_gesture_expects_what_was_shown(fake: FakeService, panel: Panel) -> None:
    with pytest.raises(errors.NothingSeen):
        await panel.press(1)
    fake.expect("WatchTable", snapshot(5), table_id="t1", seat=0)
    async with panel.watch() as watch:
        assert isinstance(await anext(watch), Snapshot)
    fake.expect("PressPanel", pressed(6), expected_revision=5, second_button=3)
    await panel.press(1, Gesture.CHORD, 3)
    fake.expect(
        "PressPanel", pressed(6, next_table_id="t2"), expected_revision=6, gesture=2, button=1
    )
    assert (await panel.press(1, Gesture.LONG)).next_table_id == "t2"


@pytest.mark.parametrize("numbers", [(-1, 0), (9, 0), (1, 9), (1, -1)])
async def test_a_button_that_no_panel_has_is_not_sent(
    panel: Panel, numbers: tuple[int, int]
) -> None:
    with pytest.raises(errors.BadValue):
        await panel.press(numbers[0], Gesture.CHORD, numbers[1], expected=1)


@pytest.mark.parametrize("uid", [0, -1, 2**32])
async def test_a_number_that_no_panel_has(client: Client, uid: int) -> None:
    with pytest.raises(errors.BadValue):
        client.panel("t1", uid, token=TOKEN, holder=HOLDER)
    with pytest.raises(errors.BadValue):
        await client.table("t1", token=TOKEN).attach_panel(uid, TOKEN, [1])
    with pytest.raises(errors.BadValue):
        await client.table("t1", token=TOKEN).detach_panel(uid)


async def test_it_is_held_and_let_go(fake: FakeService, panel: Panel) -> None:
    answer = panel_pb2.HoldPanelResponse()
    answer.lease.FromMilliseconds(3500)
    report = PanelReport(place="kitchen:/dev/ttyUSB0", gestures=3)
    fake.expect("HoldPanel", answer, panel_uid=4711, holder=HOLDER, report=report)
    assert await panel.hold(report) == 3.5
    fake.expect("ReleasePanel", panel_pb2.ReleasePanelResponse(), panel_uid=4711, holder=HOLDER)
    await panel.release()
    fake.expect("DetachPanel", panel_pb2.DetachPanelResponse(revision=9), panel_uid=4711)
    assert (await panel.detach()).revision == 9


async def test_a_rematch_is_followed_with_the_same_token(fake: FakeService, panel: Panel) -> None:
    fake.expect("Rematch", table_pb2.RematchResponse(table_id="t2"), table_id="t1")
    following = await panel.rematch()
    assert isinstance(following, Panel)
    assert (following.table_id, following.uid, following.token, following.holder) == (
        "t2",
        4711,
        TOKEN,
        HOLDER,
    )
    assert following.revision is None
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(1)), table_id="t2", seat=0)
    await following.view()


def at(table_id: str, viewer: int, *names: str) -> table_pb2.GetTableResponse:
    """A table as a seat sees it, on which people of these names sit."""
    seats = [table_pb2.SeatView(seat=n, name=name) for n, name in enumerate(names, 1)]
    table = table_pb2.TableView(table_id=table_id, viewer=viewer, seats=seats)
    return table_pb2.GetTableResponse(table=table)


@pytest.mark.parametrize(
    ("viewer", "names", "number"),
    [
        (3, ("Ann", "Bob", "Cleo"), 3),  # as they sat
        (1, ("Cleo", "Ann", "Bob"), 1),  # moved
        (2, ("Cleo", "Ann", "Bob"), 1),  # played with the token of Ann, for she sits at a panel
        (2, ("Ann", "Dora", "Bob"), 2),  # is called otherwise by now: the token says where
        (1, ("Cleo", "Bob", "Cleo"), 1),  # the name is no help
        (0, ("Ann", "", "Bob"), 3),  # nobody knows
    ],
)
async def test_a_seat_follows_to_the_seat_of_the_same_person(
    fake: FakeService, client: Client, viewer: int, names: tuple[str, ...], number: int
) -> None:
    order = table_pb2.REMATCH_ORDER_LOSER_FIRST
    fake.expect("Rematch", table_pb2.RematchResponse(table_id="t2"), order=order)
    fake.expect("GetTable", at("t1", 3, "Ann", "Bob", "Cleo"), table_id="t1", seat=3)
    fake.expect("GetTable", at("t2", viewer, *names), table_id="t2", seat=0)
    seat = await client.seat("t1", 3, token=TOKEN).rematch(order=RematchOrder.LOSER_FIRST)
    assert isinstance(seat, Seat)
    assert (seat.table_id, seat.number, seat.token) == ("t2", number, TOKEN)
    assert seat.revision is None  # nothing of the new table counts as seen


async def test_what_the_host_says_of_seats(fake: FakeService, client: Client) -> None:
    host = client.table("t1", token=TOKEN)
    answer = table_pb2.SeatBotResponse(seat=3, revision=5, replayed=True)
    device, panel_only = table_pb2.CONFIRMATION_DEVICE, table_pb2.CONFIRMATION_PANEL
    fake.expect("SeatBot", answer, bot="greedy", seat=3, name="G", confirmation=panel_only)
    done = await host.seat_bot("greedy", seat=3, name="G", confirmation=Confirmation.PANEL)
    assert (done.seat, done.revision, done.replayed) == (3, 5, True)
    fake.expect("SetConfirmation", table_pb2.SetConfirmationResponse(), seat=2, confirmation=device)
    await host.set_confirmation(Confirmation.DEVICE, 2)
    fake.expect("SetConfirmation", table_pb2.SetConfirmationResponse(), seat=1)
    await client.seat("t1", 1, token=TOKEN).set_confirmation(Confirmation.PANEL)
    fake.expect("StartGame", table_pb2.StartGameResponse(), without_free_seats=True)
    await host.start(without_free_seats=True)
    seat = table_pb2.TakeSeatResponse(seat=1, table=view(2))
    fake.expect("TakeSeat", seat, confirmation=panel_only)
    await host.take_seat("Ann", confirmation=Confirmation.PANEL)
    fake.expect(
        "AttachPanel",
        panel_pb2.AttachPanelResponse(revision=6),
        panel_uid=4711,
        panel_token_sha256=token_sha256(TOKEN),
        seats=[2, 0, 1],
    )
    assert (await host.attach_panel(4711, TOKEN, [2, 0, 1])).revision == 6


# ---------------------------------------------------------------- against the real service


@pytest.mark.e2e
def test_an_evening_at_a_panel_without_await(service: Service) -> None:
    with sync.connect(service.address) as client:
        host = client.new_table("free-table", seats=4, options={"first_seat": "1"}).table
        token = new_token()
        host.attach_panel(4711, token, [0, 0])
        panel = client.panel(host.table_id, 4711, token=token, holder=HOLDER)
        assert panel.hold(PanelReport(place="here")) > 0
        panel.view()
        assert [panel.press(button).seat for button in (2, 1)] == [1, 2]
        panel.press(1, Gesture.LONG)
        seats = panel.view().seats
        assert [(seat.from_panel, seat.name) for seat in seats] == [(True, "Red"), (True, "Blue")]
        with pytest.raises(errors.StaleRevision):
            panel.press(2, Gesture.LONG, expected=1)
        assert panel.press(2, Gesture.LONG).seat == 1
        [told] = host.panels()
        assert (told.held, told.report.place, list(told.seats)) == (True, "here", [2, 1])
        with pytest.raises(errors.GameRunning):
            host.rematch()
        other = client.panel(host.table_id, 4711, token=token, holder="attic-0123456789")
        with pytest.raises(errors.PanelHeld) as raised:
            other.hold()
        assert raised.value.holder == HOLDER
        panel.release()
        other.hold()
        assert other.table_id == host.table_id
        # Whoever plays along stages for a seat that has no device; its button confirms.
        seat = host.seat(2)
        assert seat.view().viewer == 2
        seat.act("finish game")
        with pytest.raises(errors.NotAllowed):
            seat.confirm()
        other.view()
        assert other.press(1).seat == 2
        assert other.view().status == TableStatus.TABLE_STATUS_FINISHED
        following = other.press(1, Gesture.LONG).next_table_id
        assert host.rematch().table_id == following
        assert other.rematch().view().status == TableStatus.TABLE_STATUS_RUNNING
