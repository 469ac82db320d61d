"""The board of jobs: each is somebody's, none is lost, whoever dies and whatever comes between."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from tableturn_server.store import Claim, Connection, JobBoard, jobs, keys
from tests.store.support import Server, eventually, new_id, running_server

NOW = 1_700_000_000_000
LEASE = 5000


@pytest.fixture
async def boards() -> AsyncIterator[list[JobBoard]]:
    """Two boards of two processes, on a store of their own."""
    with running_server() as server:
        async with Connection(server.url) as here, Connection(server.url) as there:
            yield [JobBoard(here), JobBoard(there)]


@pytest.fixture
def board(boards: list[JobBoard]) -> JobBoard:
    return boards[0]


async def claim_one(board: JobBoard, now: int = NOW) -> Claim:
    (claim,) = await board.claim(now, LEASE, 10)
    return claim


async def test_a_job_is_claimed_when_it_is_due_and_gone_when_it_is_settled(board: JobBoard) -> None:
    await board.announce("a", NOW, NOW)
    assert await board.claim(NOW - 1, LEASE, 10) == []
    claim = await claim_one(board)
    assert (claim.table_id, claim.until) == ("a", NOW + LEASE)
    assert await board.claim(NOW + LEASE - 1, LEASE, 10) == []
    assert await board.settle(claim, None, NOW)
    assert await board.waiting() == 0
    assert await board.claim(NOW + 10 * LEASE, LEASE, 10) == []


async def test_a_job_can_be_put_off(board: JobBoard) -> None:
    await board.announce("a", NOW, NOW)
    assert await board.settle(await claim_one(board), NOW + 700, NOW)
    assert await board.claim(NOW + 699, LEASE, 10) == []
    assert (await claim_one(board, NOW + 700)).table_id == "a"


async def test_the_earliest_announcement_counts(board: JobBoard) -> None:
    for due in (NOW + 900, NOW + 300, NOW + 600):
        await board.announce("a", due, NOW)
    assert await board.claim(NOW + 299, LEASE, 10) == []
    assert (await claim_one(board, NOW + 300)).table_id == "a"


async def test_of_a_thousand_jobs_each_is_claimed_once(boards: list[JobBoard]) -> None:
    names = [new_id() for _ in range(1000)]
    for name in names:
        await boards[0].announce(name, NOW - random.randrange(1000), NOW)
    found: list[str] = []

    async def worker(board: JobBoard) -> None:
        while claims := await board.claim(NOW, LEASE, random.randint(1, 30)):
            found.extend(claim.table_id for claim in claims)

    await asyncio.gather(*(worker(board) for board in boards * 4))
    assert Counter(found) == Counter(names)


async def test_the_limit_holds_over_all_shards(board: JobBoard) -> None:
    for _ in range(200):
        await board.announce(new_id(), NOW, NOW)
    sizes = []
    while claims := await board.claim(NOW, LEASE, 17):
        sizes.append(len(claims))
    assert sizes == [17] * 11 + [13]


async def test_a_claim_whose_holder_died_is_claimed_again_after_the_lease(
    boards: list[JobBoard],
) -> None:
    here, there = boards
    await here.announce("a", NOW, NOW)
    lost = await claim_one(here)
    assert await there.claim(NOW + LEASE - 1, LEASE, 10) == []
    again = await claim_one(there, NOW + LEASE)
    # The first one wasn't dead, only slow. It may not touch what another holds by now.
    assert await here.settle(lost, NOW, NOW)
    assert await here.claim(NOW + LEASE + 1, LEASE, 10) == []
    assert await here.renew(lost, NOW + LEASE, LEASE) is None
    assert await there.settle(again, None, NOW + LEASE)
    assert await there.waiting() == 0


async def test_a_lease_is_renewed(boards: list[JobBoard]) -> None:
    here, there = boards
    await here.announce("a", NOW, NOW)
    claim = await here.renew(await claim_one(here), NOW + 4000, LEASE)
    assert claim is not None
    assert await there.claim(NOW + 8999, LEASE, 10) == []
    assert await here.settle(claim, None, NOW)
    assert await there.claim(NOW + 20_000, LEASE, 10) == []


@pytest.mark.parametrize("due", [None, NOW + 60_000])
async def test_what_is_announced_between_claim_and_settling_is_not_lost(
    boards: list[JobBoard], due: int | None
) -> None:
    here, there = boards
    await here.announce("a", NOW, NOW)
    claim = await claim_one(here)
    await there.announce("a", NOW + 10, NOW)
    # The holder will see it: nobody else does the same work meanwhile.
    assert await there.claim(NOW + 10, LEASE, 10) == []
    assert not await here.settle(claim, due, NOW + 20)
    again = await claim_one(there, NOW + 20)
    assert again.counter > claim.counter
    assert await there.settle(again, None, NOW + 20)
    assert await here.waiting() == 0


async def test_what_is_announced_while_a_dead_process_has_the_lease_comes_after_it(
    boards: list[JobBoard],
) -> None:
    here, there = boards
    await here.announce("a", NOW, NOW)
    await claim_one(here)
    await there.announce("a", NOW + 10, NOW)
    assert (await claim_one(there, NOW + LEASE)).table_id == "a"


async def test_a_counter_never_comes_back(board: JobBoard) -> None:
    """A slow holder's settling can't take a later job for its own."""
    await board.announce("a", NOW, NOW)
    slow = await claim_one(board)
    other = await claim_one(board, NOW + LEASE)
    assert await board.settle(other, None, NOW + LEASE)
    await board.announce("a", NOW + LEASE, NOW)
    assert not await board.settle(slow, None, NOW + LEASE)
    assert (await claim_one(board, NOW + LEASE)).counter > slow.counter


async def test_no_announcement_is_lost_in_a_crowd(boards: list[JobBoard]) -> None:
    """Writers announce what they have done; who claims takes all that is there by then.

    In the end everything was taken, though claiming, working and settling take their time.
    """
    tables = ["a", "b", "c"]
    done: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    clock = NOW

    async def writer(board: JobBoard) -> None:
        nonlocal clock
        for _ in range(60):
            table = random.choice(tables)
            clock += 1
            await board.announce(table, clock, clock)
            done[table] += 1  # "the commit", which comes after it
            await asyncio.sleep(random.uniform(0, 0.004))

    async def worker(board: JobBoard) -> None:
        nonlocal clock
        while True:
            clock += 1
            for claim in await board.claim(clock, LEASE, 2):
                seen[claim.table_id] = done[claim.table_id]
                await asyncio.sleep(random.uniform(0, 0.004))
                await board.settle(claim, None, clock)
            await asyncio.sleep(0.001)

    workers = [asyncio.create_task(worker(board)) for board in boards * 2]
    await asyncio.gather(*(writer(board) for board in boards * 2))
    try:
        await eventually(lambda: seen == done)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def test_ensure_makes_only_jobs_that_are_missing(board: JobBoard) -> None:
    assert await board.ensure("a", NOW, NOW)
    assert not await board.ensure("a", NOW - 50, NOW)
    assert await board.claim(NOW - 1, LEASE, 10) == []
    claim = await claim_one(board)
    assert not await board.ensure("a", NOW, NOW)
    assert await board.settle(claim, None, NOW)
    assert await board.ensure("a", NOW, NOW)


async def test_a_claim_says_when_the_job_was_announced_last(board: JobBoard) -> None:
    await board.announce("a", NOW, NOW - 700)
    board.announce_again("a", NOW, NOW - 300)
    claim = await claim_one(board)
    assert claim.announced == NOW - 300
    renewed = await board.renew(claim, NOW, 2 * LEASE)
    assert renewed is not None
    assert (renewed.counter, renewed.announced) == (claim.counter, NOW - 300)
    assert await board.settle(renewed, NOW + 50, NOW)
    assert (await claim_one(board, NOW + 50)).announced == NOW - 300
    assert await board.ensure("b", NOW, NOW - 100)
    assert (await claim_one(board)).announced == NOW - 100


async def test_a_job_that_was_announced_meanwhile_is_nobodys_when_it_is_settled(
    board: JobBoard,
) -> None:
    """Whoever announces it still sooner is not put off by a lease that is over."""
    await board.announce("a", NOW, NOW)
    claim = await claim_one(board)
    await board.announce("a", NOW + 10, NOW)
    assert not await board.settle(claim, None, NOW + 20)
    await board.announce("a", NOW + 5, NOW)
    assert (await claim_one(board, NOW + 5)).table_id == "a"


async def test_one_process_sweeps_at_a_time(boards: list[JobBoard]) -> None:
    here, there = boards
    assert await here.swept_at() == 0
    sweep = await here.begin_sweep(60_000)
    assert sweep is not None
    assert not await there.begin_sweep(60_000)
    assert await here.keep_sweep(sweep, 60_000)
    await here.end_sweep(sweep, NOW)
    assert await there.swept_at() == NOW
    slow = await there.begin_sweep(1)
    assert slow is not None
    other = await eventually(lambda: here.begin_sweep(60_000))  # that one has died
    # It had not, it was only slow. What another does by now is not its business.
    assert not await there.keep_sweep(slow, 60_000)
    await there.end_sweep(slow, NOW + 1)
    assert not await there.begin_sweep(60_000)
    assert other is not None
    assert await here.keep_sweep(other, 60_000)


async def test_a_sweep_is_kept_for_longer(boards: list[JobBoard]) -> None:
    here, _ = boards
    sweep = await here.begin_sweep(60_000)
    assert sweep is not None
    assert await here.keep_sweep(sweep, 3_600_000)
    assert await here._connection.call("PTTL", keys.SWEEP) > 60_000


async def test_an_announcement_comes_before_the_change_also_on_a_new_connection(
    server: Server,
) -> None:
    """While the connection is up nothing waits; when it is not, the announcement does."""
    name = new_id()
    async with Connection(server.url) as connection:
        board = JobBoard(connection)
        connection.drop("for the test")
        await board.announce(name, NOW, NOW)
        await board.announce(name, NOW, NOW)
        value = await connection.call("ZSCORE", keys.jobs_of(name)[0], name)
        assert int(value) == NOW
        told = await connection.call("HGET", keys.jobs_of(name)[1], name)
        last = await connection.call("GET", keys.jobs_of(name)[3])
        assert int(told.split()[0]) == int(last) >= 2


def test_jobs_lie_in_other_slots_than_tables_and_are_spread() -> None:
    shards = Counter(keys.jobs_of(new_id()) for _ in range(400))
    assert len(shards) == keys.JOB_SHARDS
    for names in shards:
        assert len({name[name.index("{") : name.index("}")] for name in names}) == 1
    with pytest.raises(ValueError, match="a table id has"):
        keys.jobs_of("a b")


async def test_all_jobs_can_be_hastened(board: JobBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fit into one step; those that are due already stay where they are."""
    monkeypatch.setattr(jobs, "_AT_ONCE", 7)
    for number in range(10):
        await board.announce(f"due-{number}", NOW - 5 - number, NOW)
    for number in range(100):
        await board.announce(f"later-{number}", NOW + 1 + number, NOW)
    await board.hasten(NOW)
    assert await board.next() == NOW - 14
    claims = await board.claim(NOW, LEASE, 500)
    assert len(claims) == 110


async def test_the_board_tells_when_the_next_job_is_due(board: JobBoard) -> None:
    assert await board.next() is None
    for number in range(20):
        await board.announce(f"table-{number}", NOW + 1000 - number, NOW)
    assert await board.next() == NOW + 981
    claim = await claim_one(board, NOW + 981)
    assert await board.next() == NOW + 982
    await board.settle(claim, NOW, NOW)
    assert await board.next() == NOW
