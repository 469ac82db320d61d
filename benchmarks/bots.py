"""Games of bots: how long a bot thinks, by itself, and how many games a service with bots plays."""

from __future__ import annotations

import asyncio
import secrets
import statistics
import time
from hashlib import sha256

import grpc

from benchmarks import measure
from benchmarks.workload import bound
from tableturn.v1 import table_pb2, table_pb2_grpc
from tableturn_server.bots import Sight, bot_of, names, whole_turn
from tableturn_server.rules import catalog

GAMES = 4
"""Games of each kind that a bot plays by itself."""
TABLES = 6
"""Tables that the service plays at the same time."""
_ROUNDS = {name: {"max_rounds": "60"} for name in catalog.GAMES}
_ROUNDS["free-table"] = {"rounds": "10"}


def main() -> None:
    """Bots alone, and then through the real service."""
    rows: list[list[object]] = [
        ["game", "bot", "seats", "ms/turn", "p99 ms", "rounds", "points", "turns a game"]
    ]
    for name in catalog.GAMES:
        for bot in names(name):
            for seats in (2, 4):
                rows.append([name, bot, seats, *_alone(name, bot, seats)])
    measure.show(f"Bots, thinking in this process ({measure.machine()})", rows)
    served: list[list[object]] = [["game", "bot", "tables", "games/s", "turns/s"]]
    for name, bot in [(name, "greedy") for name in catalog.GAMES]:
        served.append([name, bot, TABLES, *asyncio.run(_served(name, bot))])
    measure.show("Tables of two bots at the real service, one worker", served)


def _alone(name: str, bot: str, seats: int) -> list[object]:
    """Whole games through the rules: thinking times, rounds, points of the winners, turns."""
    times: list[float] = []
    rounds: list[int] = []
    points: list[int] = []
    for number in range(GAMES):
        game = bound(name, seats, **_ROUNDS[name])
        position = game.setup(number.to_bytes(16, "big"))
        players = [bot_of(bot, name) for _ in range(seats)]
        log_hash = bytes(32)
        while prompts := game.prompts(position.open):
            seat = prompts[0].seat
            sight = Sight(game, position.open, seat, log_hash)
            begin = time.perf_counter()
            turn = whole_turn(players[seat - 1], sight)
            times.append(time.perf_counter() - begin)
            open_ = position.open
            for action in turn:
                open_ = game.stage(open_, seat, action)
            position = game.resolve(open_, position.hidden, seat)
            log_hash = sha256(log_hash + repr((seat, turn)).encode()).digest()
        outcome = game.outcome(position.open)
        assert outcome is not None
        rounds.append(game.view(position.open, None).round)
        points.append(outcome.results[0].points)
    times.sort()
    return [
        f"{statistics.mean(times) * 1000:.2f}",
        f"{times[len(times) * 99 // 100] * 1000:.1f}",
        statistics.median(rounds),
        statistics.median(points),
        len(times) // GAMES,
    ]


async def _served(name: str, bot: str) -> list[object]:
    """Tables that begin at once; games and turns in a second until the last one is over."""
    async with (
        measure.service("--tables-per-minute", "0") as (address, _, _),
        grpc.aio.insecure_channel(address) as channel,
    ):
        stub = table_pb2_grpc.TableServiceStub(channel)
        begin = time.perf_counter()
        turns = await asyncio.gather(*(_game(stub, name, bot) for _ in range(TABLES)))
        spent = time.perf_counter() - begin
    return [f"{TABLES / spent:.2f}", f"{sum(turns) / spent:.0f}"]


async def _game(stub: table_pb2_grpc.TableServiceAsyncStub, name: str, bot: str) -> int:
    """One table of two bots, watched to its end; how many turns that took."""
    token = secrets.token_hex(16)
    made = await stub.CreateTable(
        table_pb2.CreateTableRequest(
            request_id=secrets.token_hex(8),
            game=name,
            seats=2,
            options=_ROUNDS[name],
            host_token_sha256=sha256(token.encode()).digest(),
            start_when_full=True,
        )
    )
    table_id = made.table.table_id
    for _ in range(2):
        request = table_pb2.SeatBotRequest(
            table_id=table_id, request_id=secrets.token_hex(8), bot=bot
        )
        await stub.SeatBot(request, metadata=(("authorization", f"Bearer {token}"),))
    while True:
        answer = await stub.GetTable(table_pb2.GetTableRequest(table_id=table_id))
        if answer.table.status == table_pb2.TableStatus.TABLE_STATUS_FINISHED:
            return answer.table.turns
        await asyncio.sleep(0.1)


if __name__ == "__main__":
    main()
