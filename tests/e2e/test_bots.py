"""Tables of bots at real services: they play by themselves, and outlive their service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tableturn.v1 import table_pb2
from tableturn.v1.table_pb2 import ChangeKind, TableStatus
from tests.e2e.calls import Connection, digest, new_id, new_token
from tests.e2e.processes import (
    Service,
    alive,
    command_lines,
    parent,
    running_valkey,
    serving,
    until,
)
from tests.e2e.tables import Table, gapless

pytestmark = pytest.mark.e2e
WORKER = "tableturn_server.bots.worker"


def workers_of(service: Service) -> list[int]:
    """The bot workers that a service has started."""
    return [
        pid
        for pid, words in command_lines().items()
        if WORKER in words and alive(pid) and parent(pid) == service.pid
    ]


def table_of_bots(
    connection: Connection, game: str, bots: tuple[str, ...], seed: bytes = b"", **options: str
) -> Table:
    """A table with bots on all seats, whose game begins when the last one sits down."""
    token = new_token()
    made = connection.tables.CreateTable(
        table_pb2.CreateTableRequest(
            request_id=new_id(),
            game=game,
            seats=len(bots),
            options={"first_seat": "1", **options},
            host_token_sha256=digest(token),
            start_when_full=True,
            seed=seed,
        )
    )
    table = Table(connection, made.table.table_id, token)
    for bot in bots:
        request = table_pb2.SeatBotRequest(table_id=table.table_id, request_id=new_id(), bot=bot)
        table.call("SeatBot", request)
    return table


def finished(table: Table, within: float = 60) -> table_pb2.TableView:
    """The table when its game is over."""

    def over() -> table_pb2.TableView | None:
        view = table.view()
        return view if view.status == TableStatus.TABLE_STATUS_FINISHED else None

    view: table_pb2.TableView = until(over, within, "the game ends")
    return view


def turns(table: Table) -> list[tuple[int, int]]:
    """The seat and number of each confirmed turn."""
    log = table.log()
    assert gapless(log)
    return [(e.seat, e.turn) for e in log if e.kind == ChangeKind.CHANGE_KIND_CONFIRM]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[list[Service]]:
    """Two services on one store."""
    with ExitStack() as stack:
        valkey = stack.enter_context(running_valkey())
        yield [stack.enter_context(serving(tmp_path / name, store=valkey.url)) for name in "ab"]


@pytest.mark.case("D5", "R2")
def test_one_of_two_services_is_killed_and_the_other_ends_all_games(pair: list[Service]) -> None:
    here, there = pair
    with Connection(here.address) as first, Connection(there.address) as second:
        tables = []
        for number in range(10):
            connection = (first, second)[number // 2 % 2]
            if number % 2:
                tables.append(table_of_bots(connection, "free-table", ("greedy",) * 3, rounds="60"))
            else:
                bots = ("greedy", "random", "greedy")
                tables.append(table_of_bots(connection, "eastern-wonders", bots, max_rounds="8"))
        tables = [table.through(second) for table in tables]
        workers = until(lambda: workers_of(here), why="bots think in a process of their own")
        until(lambda: any(len(turns(table)) > 3 for table in tables), why="the games go on")
        here.kill()
        until(lambda: not any(alive(pid) for pid in workers), why="its workers are gone")

        for number, table in enumerate(tables):
            finished(table)
            played = turns(table)
            assert [turn for _, turn in played] == list(range(1, len(played) + 1))
            if number % 2:
                assert [seat for seat, _ in played] == [1, 2, 3] * 60
            else:
                assert len(played) >= 3 + 8 * 3
        kept = workers_of(there)
        assert kept
    assert there.terminate() == 0
    assert not any(alive(pid) for pid in kept)


@pytest.mark.case("D5")
def test_a_service_without_workers_leaves_bots_to_others(tmp_path: Path) -> None:
    with ExitStack() as stack:
        valkey = stack.enter_context(running_valkey())
        idle = stack.enter_context(
            serving(tmp_path / "idle", "--bot-workers", "0", store=valkey.url)
        )
        connection = stack.enter_context(Connection(idle.address))
        table = table_of_bots(connection, "free-table", ("random",) * 2, rounds="3")
        assert turns(table) == []
        stack.enter_context(serving(tmp_path / "busy", store=valkey.url))
        finished(table)
        assert [seat for seat, _ in turns(table)] == [1, 2] * 3
        assert workers_of(idle) == []


@pytest.mark.case("D5")
def test_games_of_bots_go_on_after_everything_was_killed(tmp_path: Path) -> None:
    """Service, workers and Valkey: what was due is in the store."""
    with serving(tmp_path / "home") as service:
        connection = Connection(service.address)
        table = table_of_bots(connection, "free-table", ("greedy",) * 2, rounds="200")
        until(lambda: len(turns(table)) > 10, why="the game goes on")
        workers = workers_of(service)
        service.kill()
        service.kill_valkey()
        until(lambda: not any(alive(pid) for pid in workers), why="its workers are gone")
        connection.channel.close()
        service.start()
        with Connection(service.address) as again:
            finished(table.through(again))
            assert [seat for seat, _ in turns(table.through(again))] == [1, 2] * 200


def test_the_same_seed_and_bots_give_the_same_game(tmp_path: Path) -> None:
    with serving(tmp_path / "home", "--bot-workers", "2") as service:
        with Connection(service.address) as connection:
            bots = ("greedy", "random")
            seeds = (b"a seed of 16 byt", b"a seed of 16 byt", b"another one of 1")
            played = []
            for seed in seeds:
                table = table_of_bots(
                    connection, "eastern-wonders", bots, seed=seed, max_rounds="6"
                )
                finished(table)
                played.append([line for entry in table.log()[3:] for line in entry.lines])
        assert played[0] == played[1] != played[2]
