"""Worker processes: started when they are needed, watched, replaced, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from tableturn_server.bots import pool as pools
from tableturn_server.bots.frames import LENGTH, Answer, Question, frame, question_of
from tableturn_server.bots.pool import Pool, WorkerFailed
from tableturn_server.bots.worker import Worker
from tableturn_server.rules.actions import TakePile
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.state import Occupant, Table, game_of
from tests.bots.support import bots_at, played_by_panels
from tests.e2e.processes import alive, until
from tests.rules.own_sets import own_file
from tests.store.support import eventually

TABLE = bots_at("eastern-wonders", 2, "greedy").table
SEAT = due_bots(TABLE)[0]


def python(code: str) -> tuple[str, ...]:
    """The worker with something wrong about it."""
    start = "import tableturn_server.bots.worker as worker, os, sys, time\n"
    return (sys.executable, "-P", "-c", start + textwrap.dedent(code) + "\nworker.main()\n")


HANGS = python("""
def hang(*_):
    if "HANGING" in os.environ:
        open(os.environ["HANGING"], "w").close()
    while True:
        pass
worker.whole_turn = hang
""")


@asynccontextmanager
async def workers(*command: str, number: int = 1, thinking: float = 10) -> AsyncIterator[Pool]:
    pool = Pool(number, thinking=thinking, command=command or pools.COMMAND)
    pids: set[int] = set()
    try:
        yield pool
        pids = set(pool.pids)
    finally:
        await pool.close()
    assert not pool.pids
    assert not any(alive(pid) for pid in pids)


def default(table: Table = TABLE, seat: int = SEAT) -> object:
    return game_of(table).default(table.position, seat)


async def test_a_worker_is_started_for_the_first_turn_and_kept() -> None:
    async with workers(number=2) as pool:
        assert not pool.pids
        turn = await pool.turn(TABLE, SEAT)
        assert isinstance(turn[0], TakePile)
        assert turn != default()
        (pid,) = pool.pids
        assert await pool.turn(TABLE, SEAT) == turn
        assert list(pool.pids) == [pid]
        # The other one only when there is work for two.
        await asyncio.gather(*(pool.turn(TABLE, SEAT) for _ in range(4)))
        assert len(pool.pids) == 2
        assert pool.failed == pool.defaults == 0


async def test_tables_with_sets_of_their_own_are_told_once() -> None:
    told: list[bool] = []
    document = own_file({})
    async with workers() as pool:
        table = replace(TABLE, making=replace(TABLE.making, custom_set=document))
        exchange = pools._Worker._exchange

        async def counted(self: pools._Worker, question: Question) -> Answer:
            told.append(bool(question.told))
            return await exchange(self, question)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pools._Worker, "_exchange", counted)
            for _ in range(2):
                for one in (TABLE, table):
                    assert await pool.turn(one, SEAT)
            # The worker may have forgotten; then it is told again.
            pool._workers[0]._told.add(b"something else")
            patch.setattr("tableturn_server.bots.pool._MOST_TOLD", 1)
            assert await pool.turn(TABLE, SEAT)
        assert told == [True, True, False, False, False]
        assert pool.failed == 0


def test_a_worker_that_has_forgotten_a_setting_says_so() -> None:
    question, setting = question_of(TABLE, SEAT)
    worker = Worker()
    assert worker.answer(frame(question)[LENGTH:]).unknown
    assert worker.answer(frame(replace(question, told=setting))[LENGTH:]).actions
    assert worker.answer(frame(question)[LENGTH:]).actions
    assert worker.answer(b"nonsense").fault


def test_a_worker_with_another_edition_of_a_component_set_plays_nothing() -> None:
    """Such as one that was left over from before an update: it would play another game."""
    making = replace(TABLE.making, set_sha256=bytes(32))
    question, setting = question_of(replace(TABLE, making=making), SEAT)
    answer = Worker().answer(frame(replace(question, told=setting))[LENGTH:])
    assert not answer.actions
    assert "another edition of the component set" in answer.fault


async def test_where_a_panel_confirms_the_turn_without_a_worker_is_more_than_nothing() -> None:
    table = played_by_panels(4)
    (seat,) = due_bots(table)
    assert default(table, seat) == ()
    async with workers("false") as pool:
        assert await pool.turn(table, seat) != ()
        assert pool.defaults == 1


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
async def test_one_that_dies_is_replaced_and_the_turn_is_asked_again(kill: signal.Signals) -> None:
    async with workers() as pool:
        turn = await pool.turn(TABLE, SEAT)
        (pid,) = pool.pids
        os.kill(pid, kill)
        assert await pool.turn(TABLE, SEAT) == turn
        assert pool.pids != (pid,)
        assert pool.defaults == 0


async def test_one_that_is_stopped_in_mid_turn_is_replaced() -> None:
    async with workers(thinking=4.0) as pool:
        turn = await pool.turn(TABLE, SEAT)
        (pid,) = pool.pids
        os.kill(pid, signal.SIGSTOP)
        assert await pool.turn(TABLE, SEAT) == turn
        assert pool.failed == 1
        assert not alive(pid)


FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "hangs": (HANGS, "took too long"),
    "fails": (
        python("def fail(*_): raise ValueError('no idea')\nworker.whole_turn = fail"),
        "ValueError: no idea",
    ),
    "leaves": (python("worker.whole_turn = lambda *_: os._exit(3)"), "has ended"),
    "answers something": (python("worker.frame = lambda m: b'\\0\\0\\0\\2ab'"), "nonsense"),
    "answers too much": (python("worker.frame = lambda m: b'\\xff' * 8"), "nonsense"),
    "answers another question": (
        python("ask = worker.Worker.answer\nworker.Worker.answer = lambda s, m: worker.Answer(7)"),
        "another question",
    ),
    "can not be started": (("/nowhere/python",), "No such file"),
    "is something else": (("cat",), "took too long"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_that_fails_twice_leaves_the_default(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, words = FAULTS[fault]
    if fault == "is something else":
        monkeypatch.setattr(pools, "STARTING", 0.3)
    async with workers(*command, thinking=0.3) as pool:
        assert await pool.turn(TABLE, SEAT) == default()
        assert pool.failed == 2
        assert pool.defaults == 1
        assert words in pool.fault


async def test_a_caller_that_gives_up_gets_nobody_elses_answer() -> None:
    """A turn is cancelled in the middle: the next one is asked of a fresh worker."""
    other = bots_at("free-table", 2, "greedy").table
    async with workers() as pool:
        turn = await pool.turn(TABLE, SEAT)
        for _ in range(5):
            task = asyncio.create_task(pool.turn(other, 1))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await pool.turn(TABLE, SEAT) == turn
        assert pool.failed == 0


async def test_people_never_wait_for_bots_among_themselves() -> None:
    other = 2 - SEAT // 2
    with_ann = replace(
        TABLE,
        seats=tuple(
            replace(seat, occupant=Occupant.PERSON) if number == other else seat
            for number, seat in enumerate(TABLE.seats, 1)
        ),
    )
    answered: list[str] = []

    async def turn(name: str, table: Table) -> None:
        await pool.turn(table, SEAT)
        answered.append(name)

    async with workers() as pool:
        asked = [asyncio.create_task(turn(f"bots {number}", TABLE)) for number in range(4)]
        await asyncio.sleep(0)  # all of them stand in the queue, and the first is being asked
        asked.append(asyncio.create_task(turn("Ann", with_ann)))
        await asyncio.gather(*asked)
    assert answered == ["bots 0", "Ann", "bots 1", "bots 2", "bots 3"]


async def test_who_gives_up_in_the_queue_keeps_no_worker() -> None:
    async with workers() as pool:
        first = asyncio.create_task(pool.turn(TABLE, SEAT))
        others = [asyncio.create_task(pool.turn(TABLE, SEAT)) for _ in range(3)]
        await asyncio.sleep(0)
        others[0].cancel()
        await first
        others[1].cancel()  # it may have been given the worker by now, and has not begun
        await asyncio.gather(*others, return_exceptions=True)
        assert others[2].result() == first.result() == await pool.turn(TABLE, SEAT)


async def test_whoever_waits_when_the_pool_is_closed_hears_so() -> None:
    pool = Pool(1, thinking=30, command=HANGS)
    tasks = [asyncio.create_task(pool.turn(TABLE, SEAT)) for _ in range(3)]
    await eventually(lambda: pool.pids)
    pids = pool.pids
    await pool.close()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(error, WorkerFailed) for error in found)
    await pool.close()  # again: nothing more happens
    assert not any(alive(pid) for pid in pids)


async def test_a_worker_knows_no_secret_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_ADMIN_TOKEN", "a secret of the admin's")
    monkeypatch.setenv("TABLETURN_STORE", "redis://:a-password@127.0.0.1:1")
    async with workers() as pool:
        await pool.turn(TABLE, SEAT)
        environment = Path(f"/proc/{pool.pids[0]}/environ").read_bytes()  # noqa: ASYNC240
        assert b"PATH=" in environment
        assert b"TABLETURN" not in environment


PARENT = """
import asyncio, os, sys
from tests.bots.test_pool import HANGS, SEAT, TABLE
from tableturn_server.bots.pool import COMMAND, Pool

async def main():
    pool = Pool(2, thinking=60)
    await asyncio.gather(pool.turn(TABLE, SEAT), pool.turn(TABLE, SEAT))
    stuck = Pool(1, thinking=60, command=HANGS)
    task = asyncio.create_task(stuck.turn(TABLE, SEAT))
    while not os.path.exists(os.environ["HANGING"]):  # its bot has begun to think
        await asyncio.sleep(0.01)
    print(*pool.pids, *stuck.pids, flush=True)
    await task

asyncio.run(main())
"""


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_service_is_killed_its_workers_end(kill: signal.Signals, tmp_path: Path) -> None:
    """Also the one whose bot never comes to an end."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
        env={**os.environ, "HANGING": str(tmp_path / "hanging")},
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 3
    assert all(alive(pid) for pid in pids)
    parent.send_signal(kill)
    parent.wait(10)
    parent.stdout.close()
    until(lambda: not any(alive(pid) for pid in pids), why="the workers are gone")
