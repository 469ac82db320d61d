"""What a handle takes for seen by its caller, and what its commands expect."""

from typing import Any

import pytest

from tableturn.v1 import table_pb2
from tableturn_client import Client, connect, errors
from tests.client.fake import FakeService, change, snapshot, view
from tests.client.service import Service

TOKEN = "x-0123456789abcdef"

_BLIND: dict[str, Any] = {
    "pause": table_pb2.PauseGameResponse,
    "resume": table_pb2.ResumeGameResponse,
    "start": table_pb2.StartGameResponse,
    "leave_seat": table_pb2.LeaveSeatResponse,
    "concede": table_pb2.ConcedeResponse,
}
_SEEING: dict[str, Any] = {
    "act": table_pb2.ActResponse,
    "undo": table_pb2.UndoResponse,
    "confirm": table_pb2.ConfirmResponse,
    "take_back": table_pb2.TakeBackResponse,
}


def method(answer: Any) -> str:
    return str(answer.__name__).removesuffix("Response")


@pytest.mark.case("S7")
@pytest.mark.parametrize("verb", _BLIND)
async def test_an_answer_that_shows_nothing_moves_nothing(
    fake: FakeService, client: Client, verb: str
) -> None:
    seat = client.seat("t1", 1, token=TOKEN)
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(7)))
    fake.expect(method(_BLIND[verb]), _BLIND[verb](revision=12))
    fake.expect("Confirm", table_pb2.ConfirmResponse(revision=13), expected_revision=7)
    await seat.view()
    assert (await getattr(seat, verb)()).revision == 12
    assert seat.revision == 7
    await seat.confirm()


@pytest.mark.parametrize("verb", _BLIND)
async def test_who_has_seen_nothing_has_still_seen_nothing(
    fake: FakeService, client: Client, verb: str
) -> None:
    seat = client.seat("t1", 1, token=TOKEN)
    fake.expect(method(_BLIND[verb]), _BLIND[verb](revision=12))
    await getattr(seat, verb)()
    with pytest.raises(errors.NothingSeen):
        await seat.confirm()


@pytest.mark.parametrize("verb", _SEEING)
async def test_an_answer_to_what_was_expected_moves_on(
    fake: FakeService, client: Client, verb: str
) -> None:
    seat = client.seat("t1", 1, token=TOKEN)
    fake.expect(method(_SEEING[verb]), _SEEING[verb](revision=12), expected_revision=7)
    arguments = ["harvest"] if verb == "act" else []
    await getattr(seat, verb)(*arguments, expected=7)
    assert seat.revision == 12


@pytest.mark.parametrize("verb", ["leave_seat", "concede"])
async def test_leaving_and_conceding_expect_what_was_seen(
    fake: FakeService, client: Client, verb: str
) -> None:
    answer = _BLIND[verb]
    name = method(answer)
    table = client.table("t1", token=TOKEN)
    fake.expect(name, answer(revision=5), expected_revision=0, seat=1)
    await getattr(table, verb)(1)  # nothing was seen
    fake.expect("WatchTable", snapshot(7), change(8))
    async with table.watch() as watch:
        await anext(watch)
        await anext(watch)
    fake.expect(name, answer(revision=9), expected_revision=8, seat=2)
    await getattr(table, verb)(2)
    fake.expect(name, answer(revision=10), expected_revision=3, seat=2)
    await getattr(table, verb)(2, expected=3)
    fake.expect(name, answer(revision=11), expected_revision=0, seat=2)
    await getattr(table, verb)(2, expected=0)
    with pytest.raises(errors.BadValue):
        await getattr(table, verb)(2, expected=-1)


async def test_a_seat_expects_it_of_itself(fake: FakeService, client: Client) -> None:
    fake.expect("TakeSeat", table_pb2.TakeSeatResponse(seat=2, table=view(4)))
    fake.expect("LeaveSeat", table_pb2.LeaveSeatResponse(revision=9), expected_revision=4, seat=2)
    seat = await client.table("t1").take_seat("Ann")
    await seat.leave()


# ---------------------------------------------------------------- the real service


@pytest.mark.e2e
@pytest.mark.case("S7")
async def test_a_pause_does_not_show_a_round_that_was_played(service: Service) -> None:
    async with connect(service.address) as client:
        new = await client.new_table(
            "free-table", seats=2, start_when_full=True, options={"first_seat": "1"}
        )
        ann, bob = [await new.table.take_seat(name) for name in ("Ann", "Bob")]
        await ann.view()
        elsewhere = client.seat(new.table.table_id, 1, token=ann.token)
        for seat in (elsewhere, bob):
            await seat.view()
            await seat.confirm()
        await ann.pause()
        await ann.resume()
        with pytest.raises(errors.StaleRevision):
            await ann.confirm()


@pytest.mark.e2e
async def test_what_the_host_meant_for_ann_does_not_drop_eve(service: Service) -> None:
    async with connect(service.address) as client:
        new = await client.new_table(
            "free-table", seats=3, start_when_full=True, options={"first_seat": "1"}
        )
        ann, _, _ = [await new.table.take_seat(name) for name in ("Ann", "Bob", "Cleo")]
        host = new.table
        await host.view()
        await ann.leave()
        await host.take_seat("Eve", seat=1)
        for verb in (host.leave_seat, host.concede):
            with pytest.raises(errors.StaleRevision):
                await verb(1)
        await host.view()
        await host.concede(1)
