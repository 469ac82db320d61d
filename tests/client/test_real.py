"""The SDK against the real service, which is killed and started again."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tableturn_client import (
    Change,
    Client,
    Disconnected,
    Reconnected,
    Seat,
    Snapshot,
    Table,
    connect,
    errors,
)
from tableturn_client.messages import TableStatus, TableView
from tests.client.service import Service, running_service

pytestmark = pytest.mark.e2e
BOT = Path(__file__).parents[2] / "docs" / "examples" / "bot.py"


@pytest.fixture
async def real(service: Service) -> AsyncIterator[Client]:
    async with connect(service.address) as client:
        yield client


async def free_table(client: Client, seats: int = 2, **options: str) -> tuple[Table, list[Seat]]:
    new = await client.new_table(
        "free-table", seats=seats, start_when_full=True, options={"first_seat": "1", **options}
    )
    names = ("Ann", "Bob", "Cleo", "Dan")[:seats]
    return new.table, [await new.table.take_seat(name) for name in names]


@pytest.mark.case("S4")
async def test_what_comes_with_the_seat_is_enough_to_play_from(real: Client) -> None:
    _, [ann, bob] = await free_table(real)
    assert bob.last_view is not None
    assert [prompt.seat for prompt in bob.last_view.prompts] == [1]
    await ann.actions()
    await ann.confirm()
    with pytest.raises(errors.StaleRevision):
        await bob.confirm()  # Bob was asked after what he has seen
    await bob.actions()
    await bob.confirm()


@pytest.mark.case("S7")
async def test_the_same_request_id_is_done_once(real: Client) -> None:
    _, [ann, _] = await free_table(real)
    await ann.view()
    seen = ann.revision
    first = await ann.confirm(request_id="double-click")
    again = await ann.confirm(request_id="double-click", expected=seen)
    assert again.revision == first.revision
    assert (first.replayed, again.replayed) == (False, True)
    with pytest.raises(errors.RequestIdReused):
        await ann.undo(request_id="double-click", expected=seen)


@pytest.mark.case("S7")
async def test_a_click_for_an_earlier_question_does_not_count_for_a_later_one(
    real: Client,
) -> None:
    _, [ann, bob] = await free_table(real)
    await ann.view()
    old = ann.revision
    await ann.confirm()
    await bob.view()
    await bob.confirm()
    with pytest.raises(errors.StaleRevision) as raised:
        await ann.confirm(expected=old)
    assert raised.value.asked_at == bob.revision


@pytest.mark.case("S3", "R5", "R9")
async def test_a_service_that_is_killed_in_the_middle_is_a_delay(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        async with connect(service.address) as client:
            table, [ann, bob] = await free_table(client)
            told: list[object] = []
            revisions: list[int] = []
            lately = asyncio.Event()

            async def follow() -> None:
                async with table.watch() as watch:
                    async for event in watch:
                        told.append(event)
                        if isinstance(event, Snapshot | Change):
                            revisions.append(event.revision)
                            lately.set()

            async def told_up_to(revision: int) -> None:
                async with asyncio.timeout(30):
                    while not revisions or revisions[-1] < revision:
                        lately.clear()
                        await lately.wait()

            async with asyncio.TaskGroup() as group:
                following = group.create_task(follow())
                for turn in range(6):
                    seat = (ann, bob)[turn % 2]
                    await seat.view()
                    if turn == 3:
                        await asyncio.to_thread(service.kill)
                        starting = group.create_task(asyncio.to_thread(service.start))
                        done = await seat.confirm()  # while nobody is there
                        await starting
                    else:
                        done = await seat.confirm()
                    await told_up_to(done.revision)
                following.cancel()
            kinds = [type(event) for event in told]
            assert Disconnected in kinds
            assert kinds.index(Reconnected) > kinds.index(Disconnected)
            assert revisions == list(range(revisions[0], revisions[0] + len(revisions)))
            assert (await table.view()).turns == 6


async def test_errors_of_the_real_service(real: Client) -> None:
    with pytest.raises(errors.UnknownTable):
        await real.table("no-such-table").view()
    with pytest.raises(errors.UnknownName):
        await real.new_table("chess")
    table, [ann, _] = await free_table(real)
    with pytest.raises(errors.TableFull):
        await table.take_seat("Eve")
    await ann.view()
    with pytest.raises(errors.IllegalAction) as raised:
        await ann.act("finish game", "pass")
    assert raised.value.index == 1
    stranger = real.seat(table.table_id, 1, token="x" * 32)
    with pytest.raises(errors.NotPermitted):
        await stranger.act("finish game", expected=ann.revision)
    with pytest.raises(errors.NotPermitted):
        await table.export()


async def over(client: Client, table_id: str) -> TableView:
    async with asyncio.timeout(60), client.table(table_id).watch() as watch:
        async for event in watch:
            view = event.view if isinstance(event, Snapshot | Change) else None
            if view is not None and view.status == TableStatus.TABLE_STATUS_FINISHED:
                return view
    raise AssertionError


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("free-table", {"max_rounds": "8", "points": "on", "order": "chosen", "between": "on"}),
        ("eastern-wonders", {"max_rounds": "12"}),
    ],
)
async def test_bots_of_thirty_lines_play_any_game(
    real: Client, service: Service, game: str, options: dict[str, str]
) -> None:
    assert len(BOT.read_text().splitlines()) < 40
    new = await real.new_table(game, seats=3, start_when_full=True, options=options)
    table_id = new.table.table_id
    bots = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(BOT), table_id, name, service.address
        )
        for name in ("Ada", "Bo", "Cy")
    ]
    try:
        await over(real, table_id)
        for bot in bots:
            assert await asyncio.wait_for(bot.wait(), 20) == 0
    finally:
        for bot in bots:
            if bot.returncode is None:
                bot.kill()
                await bot.wait()
