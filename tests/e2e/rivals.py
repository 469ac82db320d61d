"""Many clients that want the same at the same time, each over a connection of its own.

python -m tests.e2e.rivals CONFIG     says `ready`, waits for a line, then all call at once
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import grpc

from tableturn.v1 import table_pb2
from tests.e2e.calls import TIMEOUT, Connection, bearer, new_id, refusal_of
from tests.e2e.processes import ROOT, environment


@dataclass(frozen=True)
class Wish:
    """What each of them wants: to confirm the turn of a seat that expects this revision."""

    addresses: list[str]
    """Each client connects to one of them in turn."""
    table_id: str
    token: str
    seat: int
    expected: int
    count: int


@dataclass(frozen=True)
class Outcome:
    """What one of them was told: a revision, or why not."""

    revision: int = 0
    code: str = ""
    reason: str = ""
    metadata: dict[str, str] | None = None
    sentence: str = ""


class Rivals:
    """Clients of one process, connected and ready."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        targets = (wish.addresses[n % len(wish.addresses)] for n in range(wish.count))
        self._connections = [Connection(address) for address in targets]
        for connection in self._connections:
            connection.ready()

    def go(self) -> list[Outcome]:
        """All at once."""
        start = threading.Barrier(len(self._connections))

        def call(connection: Connection) -> Outcome:
            request = table_pb2.ConfirmRequest(
                table_id=self._wish.table_id,
                request_id=new_id(),
                seat=self._wish.seat,
                expected_revision=self._wish.expected,
            )
            start.wait(TIMEOUT)
            try:
                answer = connection.tables.Confirm(
                    request, metadata=bearer(self._wish.token), timeout=TIMEOUT
                )
            except grpc.RpcError as error:
                refusal = refusal_of(error)
                return Outcome(
                    code=refusal.code.name,
                    reason=refusal.reason,
                    metadata=refusal.metadata,
                    sentence=refusal.sentence,
                )
            return Outcome(revision=answer.revision)

        with ThreadPoolExecutor(len(self._connections)) as pool:
            return list(pool.map(call, self._connections))

    def close(self) -> None:
        for connection in self._connections:
            connection.channel.close()


@contextlib.contextmanager
def processes(wishes: Sequence[Wish]) -> Iterator[list[subprocess.Popen[str]]]:
    """A process with rivals for each of these wishes, all of them connected."""
    started: list[subprocess.Popen[str]] = []
    try:
        for wish in wishes:
            command = [sys.executable, "-m", "tests.e2e.rivals", json.dumps(asdict(wish))]
            started.append(
                subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def outcomes(process: subprocess.Popen[str]) -> list[Outcome]:
    """What the rivals of a process were told."""
    assert process.stdout is not None
    told: list[dict[str, Any]] = json.loads(process.stdout.readline())
    return [Outcome(**one) for one in told]


def release(process: subprocess.Popen[str]) -> None:
    """Let the rivals of a process go."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def main() -> None:
    rivals = Rivals(Wish(**json.loads(sys.argv[1])))
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps([asdict(outcome) for outcome in rivals.go()]), flush=True)
    rivals.close()


if __name__ == "__main__":
    main()
