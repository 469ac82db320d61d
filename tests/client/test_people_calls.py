"""What the SDK sends about time, people, codes and talk; and what it makes of the answers."""

from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from tableturn.v1 import clock_pb2, company_pb2, table_pb2
from tableturn_client import (
    Absence,
    ChatMode,
    Client,
    Clock,
    Code,
    CodeFor,
    IfAway,
    SeatCode,
    TimeUp,
    errors,
)
from tests.client.fake import Breaks, FakeService, Refuses, view

TOKEN = "token-of-a-seat-0123456789"
Status = grpc.StatusCode


async def test_a_table_with_everything_that_can_be_chosen(
    fake: FakeService, client: Client
) -> None:
    fake.expect("CreateTable", table_pb2.CreateTableResponse(table=view(1)))
    await client.new_table(
        "spice-road",
        clock=Clock.per_turn(90, time_up=TimeUp.DEFAULT),
        absence=Absence(IfAway.BOT, grace=60),
        private=True,
        spectator_delay=600,
        host_stays=True,
    )
    [request] = fake.requests("CreateTable")
    assert request.clock.kind == clock_pb2.CLOCK_KIND_PER_TURN
    assert request.clock.timeout == clock_pb2.TIMEOUT_POLICY_DEFAULT
    assert request.absence.policy == clock_pb2.ABSENCE_POLICY_BOT
    assert request.private
    assert request.spectator_delay.seconds == 600
    assert request.host_stays


async def test_a_table_without_says_nothing_of_it(fake: FakeService, client: Client) -> None:
    fake.expect("CreateTable", table_pb2.CreateTableResponse(table=view(1)))
    await client.new_table("spice-road")
    [request] = fake.requests("CreateTable")
    for name in ("clock", "absence", "spectator_delay"):
        assert not request.HasField(name)


_VERBS: tuple[tuple[str, tuple[Any, ...], dict[str, Any], Any, dict[str, Any]], ...] = (
    ("add_time", (30, 2), {}, table_pb2.AddTimeResponse, {"seat": 2}),
    ("add_time", (30,), {}, table_pb2.AddTimeResponse, {"seat": 0}),
    ("let_bot_play", ("greedy",), {}, table_pb2.StandInResponse, {"bot": "greedy", "seat": 1}),
    ("let_bot_play", (), {"seat": 3}, table_pb2.StandInResponse, {"bot": "", "seat": 3}),
    ("come_back", (), {}, table_pb2.ComeBackResponse, {"seat": 1}),
    ("vote_drop", (2,), {}, table_pb2.VoteDropResponse, {"target": 2, "withdraw": False}),
    (
        "vote_drop",
        (2,),
        {"withdraw": True},
        table_pb2.VoteDropResponse,
        {"target": 2, "seat": 1, "withdraw": True},
    ),
    ("pass_host", (2,), {}, table_pb2.PassHostResponse, {"seat": 2}),
)


@pytest.mark.case("S7")
@pytest.mark.parametrize(("verb", "arguments", "named", "answer", "fields"), _VERBS)
async def test_each_verb_is_done_once_also_if_the_answer_is_lost(
    fake: FakeService,
    client: Client,
    verb: str,
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    answer: Any,
    fields: dict[str, Any],
) -> None:
    method = answer.__name__.removesuffix("Response")
    fake.expect(method, Breaks(), table_id="t1", **fields)
    fake.expect(method, answer(revision=8, replayed=True), table_id="t1", **fields)
    seat = client.seat("t1", 1, token=TOKEN)
    done = await getattr(seat, verb)(*arguments, **named)
    assert (done.revision, done.replayed) == (8, True)
    first, second = fake.requests(method)
    assert first == second
    assert first.request_id
    assert seat.revision is None  # the answer shows nothing of what others did
    assert {call.token for call in fake.calls} == {TOKEN}


async def test_who_still_has_to_want_it(fake: FakeService, client: Client) -> None:
    fake.expect("VoteDrop", table_pb2.VoteDropResponse(revision=8, waiting_for=[3, 4]))
    done = await client.seat("t1", 1, token=TOKEN).vote_drop(2)
    assert done.waiting_for == (3, 4)


@pytest.mark.parametrize("seconds", [-1, float("nan")])
async def test_a_time_that_is_none_sends_nothing(client: Client, seconds: float) -> None:
    with pytest.raises(errors.BadValue):
        await client.table("t1").add_time(seconds)


# ---------------------------------------------------------------- codes


async def test_a_table_and_a_seat_have_codes(fake: FakeService, client: Client) -> None:
    seat = client.seat("t1", 2, token=TOKEN)
    fake.expect("GetJoinCode", company_pb2.GetJoinCodeResponse(code="K7QM-4XRD"), renew=False)
    fake.expect("GetJoinCode", company_pb2.GetJoinCodeResponse(code="AAAA-BBBB"), renew=True)
    made = company_pb2.MakeSeatCodeResponse(code="CCCC-DDDD", seat=2)
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    made.expire_time.FromDatetime(noon)
    fake.expect("MakeSeatCode", made, seat=2)
    assert await seat.join_code() == "K7QM-4XRD"
    assert await seat.join_code(renew=True) == "AAAA-BBBB"
    assert await seat.seat_code() == SeatCode("CCCC-DDDD", 2, noon)


async def test_what_a_code_is_for(fake: FakeService, client: Client) -> None:
    answer = company_pb2.ResolveCodeResponse
    moves = answer(kind=company_pb2.CODE_KIND_SEAT, table_id="t1", game="g", title="T", seat=2)
    fake.expect("ResolveCode", moves, code="k7qm4xrd")
    assert await client.resolve_code("k7qm4xrd") == Code(CodeFor.MOVING, "t1", "g", "T", 2)
    fake.expect("ResolveCode", answer(kind=99, table_id="t1"))  # type: ignore[arg-type]
    assert (await client.resolve_code("x")).meaning is CodeFor.UNKNOWN
    fake.expect("ResolveCode", Refuses(Status.NOT_FOUND, "UNKNOWN_CODE"))
    with pytest.raises(errors.UnknownCode):
        await client.resolve_code("AAAA-BBBB")


async def test_joining_by_a_code_alone(fake: FakeService, client: Client) -> None:
    found = company_pb2.ResolveCodeResponse(kind=company_pb2.CODE_KIND_JOIN, table_id="t1")
    taken = table_pb2.TakeSeatResponse(seat=2, table=view(3))
    fake.expect("ResolveCode", found, code="K7QM-4XRD")
    fake.expect("TakeSeat", taken, table_id="t1", name="Bob", code="K7QM-4XRD")
    seat = await client.join("K7QM-4XRD", "Bob")
    assert (seat.table_id, seat.number, seat.revision) == ("t1", 2, 3)


# ---------------------------------------------------------------- talk


async def test_talk(fake: FakeService, client: Client) -> None:
    seat = client.seat("t1", 2, token=TOKEN)
    line = company_pb2.ChatLine(number=1, seat=2, name="Bob", text="hello")
    fake.expect("SendChat", Breaks(), seat=2, text="hello")
    fake.expect("SendChat", company_pb2.SendChatResponse(line=line, replayed=True))
    assert await seat.say("hello") == line
    first, second = fake.requests("SendChat")
    assert first == second
    off = company_pb2.CHAT_MODE_OFF
    listed = company_pb2.ListChatResponse(lines=[line], mode=off, muted=[3])
    fake.expect("ListChat", listed, after_number=0)
    chat = await seat.chat()
    assert (chat.lines, chat.mode, chat.muted) == ((line,), ChatMode.OFF, (3,))
    fake.expect("ListChat", company_pb2.ListChatResponse())  # a spectator isn't told
    assert (await seat.chat()).mode is None
    answer = company_pb2.SetChatResponse(mode=off, muted=[1])
    fake.expect("SetChat", answer, mode=off, mute=[1], unmute=[3])
    chat = await seat.set_chat(ChatMode.OFF, mute=[1], unmute=[3])
    assert (chat.mode, chat.muted) == (ChatMode.OFF, (1,))
    fake.expect("SetChat", answer, mode=company_pb2.CHAT_MODE_UNSPECIFIED)
    await seat.set_chat(mute=[1])


@pytest.mark.parametrize(
    ("reason", "code", "kind", "above"),
    [
        ("NO_CLOCK", Status.FAILED_PRECONDITION, errors.NoClock, errors.NotNow),
        ("UNKNOWN_CODE", Status.NOT_FOUND, errors.UnknownCode, errors.NotFound),
    ],
)
async def test_what_can_go_wrong_has_a_name(
    fake: FakeService,
    client: Client,
    reason: str,
    code: grpc.StatusCode,
    kind: type[errors.Refused],
    above: type[errors.Refused],
) -> None:
    fake.expect("AddTime", Refuses(code, reason))
    with pytest.raises(kind) as raised:
        await client.table("t1").add_time(5)
    assert isinstance(raised.value, above)


async def test_who_is_there_comes_with_a_view(fake: FakeService, client: Client) -> None:
    here = company_pb2.SeatPresence(seat=1, state=company_pb2.PRESENCE_STATE_HERE)
    who = company_pb2.Presence(seats=[here], spectators=2)
    table = client.table("t1")
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(1), presence=who))
    await table.view()
    assert table.last_presence == who
