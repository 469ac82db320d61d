"""A watch goes on through breaks, tells no revision twice and passes over none silently."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from tableturn_client import (
    Change,
    Client,
    Disconnected,
    Event,
    Fresh,
    Presence,
    Reconnected,
    ResumePoint,
    Retry,
    Said,
    Snapshot,
    SnapshotReason,
    Stale,
    Watch,
    connect,
    errors,
)
from tests.client.fake import (
    Breaks,
    Ends,
    FakeService,
    Refuses,
    change,
    compacted,
    free_port,
    heartbeat,
    presence,
    said,
    snapshot,
    stale,
    unknown,
)

SHUTTING_DOWN = Refuses(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")


@asynccontextmanager
async def watching(client: Client, silence: float = 25.0) -> AsyncIterator[Watch]:
    async with client.table("t1").watch(silence=silence) as watch:
        yield watch


async def take(watch: Watch, number: int) -> list[Event]:
    """The next events, in a time in which they must have come."""
    async with asyncio.timeout(20):
        return [await anext(watch) for _ in range(number)]


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


async def test_begins_with_a_snapshot_and_goes_on_with_changes(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", snapshot(4), change(5), heartbeat(5), change(6), start_revision=0)
    async with watching(client) as watch:
        first, *changes = await take(watch, 3)
    assert isinstance(first, Snapshot)
    assert (first.revision, first.reason) == (4, SnapshotReason.BEGIN)
    assert [event.revision for event in changes if isinstance(event, Change)] == [5, 6]


@pytest.mark.case("R9", "R8", "S3")
@pytest.mark.parametrize(
    "end", [Breaks(), SHUTTING_DOWN, Ends(), Breaks(grpc.StatusCode.CANCELLED, "stopped")]
)
async def test_goes_on_after_a_break_from_where_it_was(
    fake: FakeService, client: Client, end: Breaks | Refuses | Ends
) -> None:
    fake.expect("WatchTable", snapshot(4), change(5), end)
    fake.expect("WatchTable", Breaks(), start_revision=5, start_change_id="c5")
    fake.expect("WatchTable", change(6), start_revision=5, start_change_id="c5")
    async with watching(client) as watch:
        events = await take(watch, 5)
    assert kinds(events) == ["Snapshot", "Change", "Disconnected", "Reconnected", "Change"]


@pytest.mark.case("R9")
async def test_silence_is_noticed_and_shown(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4))  # and then nothing
    fake.expect("WatchTable", heartbeat(4), start_revision=4)
    async with watching(client, silence=0.2) as watch:
        events = await take(watch, 3)
    assert kinds(events) == ["Snapshot", "Disconnected", "Reconnected"]
    assert isinstance(events[1], Disconnected)
    assert isinstance(events[1].error, errors.DeadlinePassed)


@pytest.mark.case("R9", "R5")
async def test_goes_on_after_the_service_was_started_again(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", snapshot(4))
    fake.expect("WatchTable", change(5), change(6), start_revision=4, start_change_id="c4")
    async with watching(client) as watch:
        await take(watch, 1)
        await fake.stop()
        assert kinds(await take(watch, 1)) == ["Disconnected"]
        assert not watch.connected
        await fake.start()
        assert kinds(await take(watch, 3)) == ["Reconnected", "Change", "Change"]
        assert watch.connected


async def test_tells_no_revision_twice(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), change(5), Breaks())
    fake.expect("WatchTable", snapshot(5), change(4), change(5), change(6), start_revision=5)
    async with watching(client) as watch:
        events = await take(watch, 5)
    assert kinds(events) == ["Snapshot", "Change", "Disconnected", "Reconnected", "Change"]
    assert watch.resume_point == ResumePoint(6, "c6")


async def test_what_is_missing_is_asked_for(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), change(7))
    fake.expect("WatchTable", change(5), change(6), change(7), start_revision=4)
    async with watching(client) as watch:
        events = await take(watch, 4)
    assert [e.revision for e in events if isinstance(e, Snapshot | Change)] == [4, 5, 6, 7]


async def test_where_it_stays_missing_the_whole_table_is_told(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", snapshot(4), change(7))
    fake.expect("WatchTable", change(7), start_revision=4)
    fake.expect("WatchTable", snapshot(7), change(8), start_revision=0)
    async with watching(client) as watch:
        events = await take(watch, 3)
    assert isinstance(events[1], Snapshot)
    assert events[1].reason is SnapshotReason.SKIPPED
    assert [e.revision for e in events if isinstance(e, Snapshot | Change)] == [4, 7, 8]


async def test_heartbeats_that_run_ahead_show_that_a_change_was_lost(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", snapshot(4), heartbeat(5), heartbeat(5))
    fake.expect("WatchTable", change(5), start_revision=4)
    async with watching(client) as watch:
        assert kinds(await take(watch, 2)) == ["Snapshot", "Change"]


async def test_a_heartbeat_may_overtake_a_change(fake: FakeService, client: Client) -> None:
    fake.expect(
        "WatchTable", snapshot(4), heartbeat(5), change(5), heartbeat(6), change(6), heartbeat(5)
    )
    async with watching(client) as watch:
        assert kinds(await take(watch, 3)) == ["Snapshot", "Change", "Change"]


@pytest.mark.case("R10", "R12")
async def test_says_that_the_history_is_compacted(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", compacted(90), snapshot(95), change(96), start_revision=3)
    resume = ResumePoint(3, "c3")
    async with client.table("t1").watch(resume=resume) as watch:
        first, second = await take(watch, 2)
    assert isinstance(first, Snapshot)
    assert first.reason is SnapshotReason.COMPACTED
    assert isinstance(second, Change)


async def test_a_fork_after_a_failover_is_told(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), change(5), Breaks())
    fake.expect("WatchTable", snapshot(5, "other"), change(6), start_change_id="c5")
    async with watching(client) as watch:
        events = await take(watch, 5)
    assert isinstance(events[3], Reconnected)
    assert isinstance(events[4], Snapshot)
    assert events[4].reason is SnapshotReason.FORKED


async def test_another_change_under_a_revision_already_told_is_a_fork(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", snapshot(4), change(5), change(5, "other"))
    fake.expect("WatchTable", snapshot(5, "other"), start_revision=0)
    async with watching(client) as watch:
        events = await take(watch, 3)
    assert kinds(events) == ["Snapshot", "Change", "Snapshot"]


async def test_events_of_a_later_version_are_signs_of_life(
    fake: FakeService, client: Client
) -> None:
    fake.expect("WatchTable", unknown(), snapshot(4), unknown(), change(5))
    async with watching(client) as watch:
        assert kinds(await take(watch, 2)) == ["Snapshot", "Change"]


async def test_company_is_told_to_whoever_asks_for_it(fake: FakeService, client: Client) -> None:
    told = (snapshot(4), presence([1], [2]), said(1, "hello"), presence([1, 2]), change(5))
    fake.expect("WatchTable", *told)
    table = client.table("t1")
    async with table.watch(company=True) as watch:
        events = await take(watch, 5)
    assert kinds(events) == ["Snapshot", "Presence", "Said", "Presence", "Change"]
    assert isinstance(events[2], Said)
    assert events[2].line.text == "hello"
    assert isinstance(events[3], Presence)
    assert table.last_presence == events[3].who
    assert watch.resume_point == ResumePoint(5, "c5")
    fake.expect("WatchTable", *told)
    async with watching(client) as plain:
        assert kinds(await take(plain, 2)) == ["Snapshot", "Change"]


async def test_company_is_no_sign_that_the_store_is_back(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), stale(), presence([1]), said(1, "hm"), heartbeat(4))
    async with client.table("t1").watch(company=True) as watch:
        events = await take(watch, 5)
    assert kinds(events) == ["Snapshot", "Stale", "Presence", "Said", "Fresh"]


@pytest.mark.case("D4")
async def test_stale_is_told_once_and_fresh_ends_it(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), stale(), stale(), heartbeat(4), stale(), change(5))
    async with watching(client) as watch:
        events = await take(watch, 6)
    assert kinds(events) == ["Snapshot", "Stale", "Fresh", "Stale", "Fresh", "Change"]
    assert isinstance(events[1], Stale)
    assert isinstance(events[2], Fresh)


async def test_a_refusal_ends_it(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", Refuses(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE"))
    async with watching(client) as watch:
        with pytest.raises(errors.UnknownTable):
            await anext(watch)


async def test_a_token_that_was_lost_in_between_ends_it(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4), Breaks())
    fake.expect("WatchTable", Refuses(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN"))
    async with watching(client) as watch:
        await take(watch, 2)
        with pytest.raises(errors.BadToken):
            await anext(watch)


async def test_a_limit_is_waited_for_when_all_come_back_at_once(
    fake: FakeService, client: Client
) -> None:
    limit = Refuses(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_REACHED", metadata={"retry_after_ms": "20"}
    )
    fake.expect("WatchTable", snapshot(4), Breaks())
    fake.expect("WatchTable", limit)
    fake.expect("WatchTable", change(5), start_revision=4)
    async with watching(client) as watch:
        events = await take(watch, 4)
    assert kinds(events) == ["Snapshot", "Disconnected", "Reconnected", "Change"]


async def test_a_service_that_never_answered_is_an_error() -> None:
    with free_port() as port:
        retry = Retry(total=0.2, attempt=0.1, first=0.01, most=0.02)
        async with (
            connect(f"127.0.0.1:{port}", retry=retry) as client,
            client.table("t1").watch() as watch,
        ):
            with pytest.raises(errors.CannotConnect):
                await anext(watch)


@pytest.mark.case("G6")
async def test_whoever_stops_waiting_may_come_back(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4))
    fake.expect("WatchTable", change(5), start_revision=4)
    async with watching(client) as watch:
        await take(watch, 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(watch), 0.05)
        assert kinds(await take(watch, 1)) == ["Change"]


@pytest.mark.case("G6", "G2")
async def test_closing_ends_the_stream_at_the_service(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4))
    async with watching(client) as watch:
        await take(watch, 1)
    async with asyncio.timeout(5):
        await fake.left.wait()
    with pytest.raises(StopAsyncIteration):
        await anext(watch)


@pytest.mark.case("G6")
async def test_a_watch_that_is_dropped_loses_no_task(fake: FakeService, client: Client) -> None:
    fake.expect("WatchTable", snapshot(4))
    async for event in client.table("t1").watch():
        assert isinstance(event, Snapshot)
        break
