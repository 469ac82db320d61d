"""What a committed action costs the service, beside bare servers in the same run.

Three servers run side by side: the real service, a bare grpc.aio echo, and an echo that makes one
EVALSHA of a commit's size. Rounds alternate between them, so that a slow minute of the machine
hits all of them alike. CPU is that of the server's process, by the kernel's own account; the
store's and the caller's are not counted.

Limit: the service's CPU per committed action is at most 1.6 of echo + EVALSHA.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from benchmarks import measure, parts
from benchmarks.peers import METHOD
from benchmarks.workload import Ply, bound, play
from tableturn.v1 import actions_pb2, table_pb2, table_pb2_grpc
from tableturn_server.service import convert

LIMIT = 1.6
ROUNDS = 12
CALLS = 300
CALLERS = 16
GAME, SEATS = "eastern-wonders", 3

# Else all channels of a process to one address share a connection.
OWN_CONNECTION = (("grpc.use_local_subchannel_pool", 1),)

Call = Callable[[], Awaitable[None]]


class Caller:
    """Plays known games through the service, one Act a call, over its own connection."""

    def __init__(self, address: str, seed: int) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=OWN_CONNECTION)
        self._stub = table_pb2_grpc.TableServiceStub(self._channel)
        self._dice = random.Random(seed)
        self._plies: list[Ply] = []
        self._token = secrets.token_urlsafe(32)
        self._id = ""
        self._revision = 0
        self.request_size = self.answer_size = 0

    async def prepare(self) -> None:
        """Make a table and take its seats; the game is worked out here, in this process."""
        seed = self._dice.randbytes(16)
        self._plies = play(bound(GAME, SEATS), seed, self._dice, most=100_000)[::-1]
        self._id = f"bench-{secrets.token_hex(6)}"
        digest = hashlib.sha256(self._token.encode()).digest()
        await self._stub.CreateTable(
            table_pb2.CreateTableRequest(
                table_id=self._id,
                request_id=secrets.token_hex(8),
                game=GAME,
                seats=SEATS,
                host_token_sha256=digest,
                start_when_full=True,
                seed=seed,
            )
        )
        for seat in range(1, SEATS + 1):
            taken = await self._stub.TakeSeat(
                table_pb2.TakeSeatRequest(
                    table_id=self._id,
                    request_id=secrets.token_hex(8),
                    seat=seat,
                    name=f"Seat {seat}",
                    token_sha256=digest,
                )
            )
            self._revision = taken.table.revision

    async def act(self) -> None:
        """One committed action."""
        ply = self._plies.pop()
        actions: list[actions_pb2.Action] = []
        if ply.action is not None:
            actions.append(convert.action(ply.action))
        request = table_pb2.ActRequest(
            table_id=self._id,
            request_id=secrets.token_hex(8),
            seat=ply.seat,
            expected_revision=self._revision,
            actions=actions,
            confirm=ply.confirm,
        )
        metadata = (("authorization", f"Bearer {self._token}"),)
        answer = await self._stub.Act(request, metadata=metadata)
        self._revision = answer.revision
        self.request_size, self.answer_size = request.ByteSize(), answer.ByteSize()

    async def ready(self, calls: int) -> None:
        """See to it that so many acts are left in the game at hand."""
        while len(self._plies) < calls:
            await self.prepare()

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()


def peer_call(address: str, size: int, token: str) -> tuple[grpc.aio.Channel, Call]:
    """A bare call with as many bytes as an Act has, and as much metadata."""
    channel = grpc.aio.insecure_channel(address, options=OWN_CONNECTION)
    method = channel.unary_unary(METHOD)
    body = secrets.token_bytes(size)
    metadata = (("authorization", f"Bearer {token}"),)

    async def call() -> None:
        await method(body, metadata=metadata)

    return channel, call


@dataclass
class Contender:
    """One of the servers that are compared."""

    name: str
    pid: int
    calls: list[Call]
    cpu: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)

    async def round(self, count: int) -> None:
        """So many calls, shared among the callers; notes CPU per call and each latency."""
        before = measure.cpu_seconds(self.pid)

        async def worker(call: Call) -> None:
            for _ in range(count // len(self.calls)):
                begin = time.perf_counter()
                await call()
                self.latency.append(time.perf_counter() - begin)

        await asyncio.gather(*(worker(call) for call in self.calls))
        done = count // len(self.calls) * len(self.calls)
        self.cpu.append((measure.cpu_seconds(self.pid) - before) / done)


async def compare(callers: int) -> None:
    """Measure with so many callers at once."""
    async with AsyncExitStack() as stack:
        address, pid, data = await stack.enter_async_context(
            measure.service("--rate", "0", "--peer-rate", "0", "--tables-per-minute", "0")
        )
        players = [Caller(address, seed) for seed in range(callers)]
        for player in players:
            stack.push_async_callback(player.close)
            await player.ready(20)
        await players[0].act()
        contenders = [Contender("service: Act", pid, [player.act for player in players])]
        blob, entry = parts.sizes()
        for kind, title in (
            ("echo", "bare echo"),
            ("evalsha", "echo + EVALSHA"),
            ("evalsha-redis-py", "echo + EVALSHA by redis-py"),
        ):
            arguments = [kind, str(players[0].answer_size), str(blob), str(entry)]
            child = await stack.enter_async_context(
                measure.process(
                    sys.executable, "-m", "benchmarks.peers", *arguments, str(socket_of(data))
                )
            )
            port = await measure.first_line(child)
            calls = []
            for _ in range(callers):
                channel, call = peer_call(
                    f"127.0.0.1:{port}", players[0].request_size, secrets.token_urlsafe(32)
                )
                stack.push_async_callback(channel.close)
                calls.append(call)
            contenders.append(Contender(title, child.pid, calls))
        for turn in range(ROUNDS + 1):
            for contender in contenders:
                if contender is contenders[0]:
                    for player in players:
                        await player.ready(CALLS // callers + 1)
                await contender.round(CALLS)
                if turn == 0:  # warm-up
                    contender.cpu.clear()
                    contender.latency.clear()
        report(callers, contenders)


def socket_of(data: Path) -> Path:
    """The socket of the service's embedded store: the peers use the same store."""
    return data / "valkey.sock"


def report(callers: int, contenders: list[Contender]) -> None:
    """Print CPU, the ratios round by round, and latencies."""
    ours = contenders[0]
    rows: list[list[object]] = [["", "CPU us/call", "service is", "min..max", "p50 ms", "p99 ms"]]
    for contender in contenders:
        ratios = [a / b for a, b in zip(ours.cpu, contender.cpu, strict=True)]
        rows.append(
            [
                contender.name,
                f"{measure.median(contender.cpu) * 1e6:.0f}",
                f"{measure.median(ratios):.2f} x",
                f"{min(ratios):.2f}..{max(ratios):.2f}",
                f"{measure.percentile(contender.latency, 0.5) * 1e3:.2f}",
                f"{measure.percentile(contender.latency, 0.99) * 1e3:.2f}",
            ]
        )
    title = f"{callers} caller(s), {ROUNDS} rounds of {CALLS} calls ({measure.machine()})"
    measure.show(title, rows)
    against = next(c for c in contenders if c.name == "echo + EVALSHA")
    ratio = measure.median([a / b for a, b in zip(ours.cpu, against.cpu, strict=True)])
    verdict = "within" if ratio <= LIMIT else "ABOVE"
    print(f"  {ratio:.2f} of echo + EVALSHA: {verdict} the limit of {LIMIT}")


def main() -> None:
    """Measure with one caller and with sixteen, then what the service's part is made of."""
    for callers in (1, CALLERS):
        asyncio.run(compare(callers))
    parts.main()


if __name__ == "__main__":
    main()
