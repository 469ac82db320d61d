"""Calls are repeated while no answer comes, with the same request id; a refusal never is."""

import asyncio
from typing import Any

import grpc
import pytest

from tableturn.v1 import actions_pb2, catalog_pb2, table_pb2
from tableturn_client import Client, Machine, Retry, connect, errors, token_sha256
from tests.client.conftest import QUICK
from tests.client.fake import Breaks, FakeService, Hangs, Refuses, change, free_port, snapshot, view

Code = grpc.StatusCode
STORE_UNAVAILABLE = Refuses(Code.UNAVAILABLE, "STORE_UNAVAILABLE")
SHUTTING_DOWN = Refuses(Code.UNAVAILABLE, "SHUTTING_DOWN")


def ids(fake: FakeService, method: str) -> list[str]:
    return [request.request_id for request in fake.requests(method)]


@pytest.mark.case("S7", "S8")
@pytest.mark.parametrize("lost", [Breaks(), STORE_UNAVAILABLE, SHUTTING_DOWN])
async def test_a_change_without_an_answer_is_repeated_as_it_was(
    fake: FakeService, client: Client, lost: Breaks | Refuses
) -> None:
    for _ in range(3):
        fake.expect("Act", lost, expected_revision=7)
    fake.expect("Act", table_pb2.ActResponse(revision=8, replayed=True), expected_revision=7)
    done = await client.seat("t1", 1, token="secret-0123456789abcdef").act("harvest", expected=7)
    assert (done.revision, done.replayed) == (8, True)
    [first, *others] = fake.requests("Act")
    assert first.request_id
    assert others == [first] * 3
    assert {call.token for call in fake.calls} == {"secret-0123456789abcdef"}


@pytest.mark.case("S7")
async def test_a_deadline_that_has_passed_is_a_lost_answer(fake: FakeService) -> None:
    fake.expect("Confirm", Hangs())
    fake.expect("Confirm", table_pb2.ConfirmResponse(revision=8, replayed=True))
    retry = Retry(total=10, attempt=0.1, first=0.005, most=0.01)
    async with connect(fake.address, retry=retry) as client:
        await client.seat("t1", 1, token="x-0123456789abcdef").confirm(expected=7)
    first, second = ids(fake, "Confirm")
    assert first == second


@pytest.mark.case("S7")
async def test_two_commands_have_two_request_ids(fake: FakeService, client: Client) -> None:
    seat = client.seat("t1", 1, token="x-0123456789abcdef")
    for revision in (8, 9):
        fake.expect("Act", table_pb2.ActResponse(revision=revision))
        await seat.act("harvest", expected=7)
    first, second = ids(fake, "Act")
    assert first != second


@pytest.mark.parametrize(
    "refusal",
    [
        Refuses(Code.ABORTED, "STALE_REVISION"),
        Refuses(Code.FAILED_PRECONDITION, "ILLEGAL_ACTION"),
        Refuses(Code.RESOURCE_EXHAUSTED, "LIMIT_REACHED"),
        Refuses(Code.UNAVAILABLE, "STORE_FULL"),
        Refuses(Code.UNAVAILABLE, "SOMETHING_NEW"),
    ],
)
async def test_a_refusal_is_not_repeated(
    fake: FakeService, client: Client, refusal: Refuses
) -> None:
    fake.expect("Act", refusal)
    with pytest.raises(errors.Refused) as raised:
        await client.seat("t1", 1, token="x-0123456789abcdef").act("harvest", expected=7)
    assert raised.value.reason == refusal.reason


async def test_repeating_ends_with_the_time_and_tells_the_request_id() -> None:
    now = 0.0
    pauses: list[float] = []
    told: list[errors.TableturnError] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        pauses.append(seconds)

    machine = Machine(now=lambda: now, sleep=sleep, chance=lambda: 1.0)
    with free_port() as port:
        async with connect(f"127.0.0.1:{port}", machine=machine, on_retry=told.append) as client:
            with pytest.raises(errors.CannotConnect) as raised:
                await client.seat("t1", 1, token="x-0123456789abcdef").act(
                    "claim", expected=7, request_id="mine"
                )
    assert raised.value.request_id == "mine"
    assert f"127.0.0.1:{port}" in raised.value.sentence
    assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
    assert 27 < sum(pauses) <= 30
    assert len(told) == len(pauses)


async def test_a_call_may_be_given_up(fake: FakeService, client: Client) -> None:
    fake.expect("GetTable", Hangs())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.table("t1").view(), 0.1)


async def test_a_closed_client_sends_nothing(fake: FakeService) -> None:
    async with connect(fake.address) as client:
        fake.expect("ListGames", catalog_pb2.ListGamesResponse())
        await client.games()
    with pytest.raises(errors.NotSent):
        await client.games()


# ---------------------------------------------------------------- expected revisions


@pytest.mark.case("S2")
async def test_one_command_after_another_expects_the_answer_of_the_first(
    fake: FakeService, client: Client
) -> None:
    seat = client.seat("t1", 2, token="x-0123456789abcdef")
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(7)), seat=2)
    fake.expect("Act", table_pb2.ActResponse(revision=8), expected_revision=7, seat=2)
    fake.expect("Act", table_pb2.ActResponse(revision=9), expected_revision=8, confirm=True)
    await seat.view()
    await seat.act("move C3")
    await seat.act(confirm=True)
    assert seat.revision == 9


@pytest.mark.case("S7")
async def test_a_refusal_refreshes_nothing_behind_the_callers_back(
    fake: FakeService, client: Client
) -> None:
    seat = client.seat("t1", 1, token="x-0123456789abcdef")
    refusal = Refuses(Code.ABORTED, "STALE_REVISION", metadata={"revision": "12", "asked_at": "11"})
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(7)))
    for _ in range(2):
        fake.expect("Act", refusal, expected_revision=7)
    await seat.view()
    for _ in range(2):
        with pytest.raises(errors.StaleRevision) as raised:
            await seat.act("harvest")
        assert (raised.value.revision, raised.value.asked_at) == (12, 11)
    fake.expect("ListActions", table_pb2.ListActionsResponse(revision=12))
    await seat.actions()
    assert seat.revision == 12


async def test_who_has_seen_nothing_expects_nothing(client: Client) -> None:
    with pytest.raises(errors.NothingSeen):
        await client.seat("t1", 1, token="x-0123456789abcdef").act("harvest")


async def test_what_a_watch_tells_is_seen_when_it_is_taken(
    fake: FakeService, client: Client
) -> None:
    seat = client.seat("t1", 1, token="x-0123456789abcdef")
    fake.expect("WatchTable", snapshot(7), change(8), change(9), change(10))
    fake.expect("Act", table_pb2.ActResponse(revision=10), expected_revision=8)
    async with seat.watch() as watch:
        await anext(watch)
        await anext(watch)
        await seat.act("harvest")
        assert seat.revision == 10
        await anext(watch)  # 9 comes late: the answer of the command was before it
        assert seat.revision == 10
        assert seat.last_view is not None
        assert seat.last_view.revision == 9


# ---------------------------------------------------------------- what is sent


async def test_tokens_are_sent_as_hashes_only(fake: FakeService, client: Client) -> None:
    fake.expect("CreateTable", table_pb2.CreateTableResponse(table=view(1), warnings=["mind"]))
    fake.expect("TakeSeat", table_pb2.TakeSeatResponse(seat=2, table=view(2)), name="Ann")
    new = await client.new_table("eastern-wonders", seats=2, options={"a": "b"})
    seat = await new.table.take_seat("Ann")
    create, take = (call.request for call in fake.calls)
    assert create.host_token_sha256 == token_sha256(new.table.token)
    assert take.token_sha256 == token_sha256(seat.token)
    assert len(seat.token) >= 32
    assert seat.token != new.table.token
    assert (seat.number, seat.revision, new.warnings) == (2, 2, ("mind",))
    for call in fake.calls:
        assert new.table.token.encode() not in call.request.SerializeToString()
        assert seat.token.encode() not in call.request.SerializeToString()


async def test_actions_are_texts_or_messages(fake: FakeService, client: Client) -> None:
    fake.expect("Act", table_pb2.ActResponse(revision=8))
    trade = actions_pb2.Action(trade=actions_pb2.Trade(count=2))
    await client.seat("t1", 1, token="x-0123456789abcdef").act(
        "Move c3 dropping R", trade, expected=7
    )
    [request] = fake.requests("Act")
    assert request.actions[0].move == actions_pb2.Move(tile="C3", cube=actions_pb2.CUBE_COLOR_RED)
    assert request.actions[1] == trade


async def test_an_unreadable_action_sends_nothing(client: Client) -> None:
    with pytest.raises(errors.UnreadableText) as raised:
        await client.seat("t1", 1, token="x-0123456789abcdef").act("harvest", "frob", expected=7)
    assert raised.value.index == 1


async def test_pages_follow_each_other(fake: FakeService, client: Client) -> None:
    def entries(*revisions: int, more: bool) -> table_pb2.ListLogResponse:
        found = [table_pb2.LogEntry(revision=revision) for revision in revisions]
        return table_pb2.ListLogResponse(entries=found, more=more)

    fake.expect("ListLog", entries(3, 4, more=True), after_revision=2)
    fake.expect("ListLog", entries(5, more=False), after_revision=4)
    log = [entry.revision async for entry in client.table("t1").log(2)]
    assert log == [3, 4, 5]
    one, two = (table_pb2.TableSummary(table_id=name) for name in ("a", "b"))
    fake.expect("ListTables", table_pb2.ListTablesResponse(tables=[one], next_page_token="p"))
    fake.expect("ListTables", table_pb2.ListTablesResponse(tables=[two]), page_token="p")
    assert [table.table_id async for table in client.tables()] == ["a", "b"]


# ---------------------------------------------------------------- every call


_DONE: dict[str, tuple[Any, dict[str, Any]]] = {
    "leave_seat": (table_pb2.LeaveSeatResponse, {"seat": 3, "expected": 4}),
    "concede": (table_pb2.ConcedeResponse, {"seat": 3, "expected": 4}),
    "start": (table_pb2.StartGameResponse, {}),
    "pause": (table_pb2.PauseGameResponse, {}),
    "resume": (table_pb2.ResumeGameResponse, {}),
    "take_back": (table_pb2.TakeBackResponse, {"expected": 4}),
}


@pytest.mark.parametrize("verb", _DONE)
async def test_each_verb_of_a_table(fake: FakeService, client: Client, verb: str) -> None:
    answer, arguments = _DONE[verb]
    method = answer.__name__.removesuffix("Response")
    fake.expect(method, answer(revision=5), table_id="t1")
    table = client.table("t1", token="host-0123456789abcdef")
    done = await getattr(table, verb)(**arguments)
    assert done.revision == 5
    assert ids(fake, method) != [""]
    assert fake.calls[0].token == "host-0123456789abcdef"


async def test_a_quick_retry_is_only_for_tests() -> None:
    assert Retry().total == 30
    assert QUICK.total < Retry().total
