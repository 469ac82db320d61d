"""Many watchers in a process of their own, which may die at any moment.

    python -m tests.e2e.watchers ADDRESS TABLE COUNT

Each has a connection of its own. When all have been told the table's state it says how many they
are and how many were refused, and then reads nothing more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc

from tableturn.v1 import table_pb2, table_pb2_grpc
from tests.e2e.calls import OPTIONS, refusal_of
from tests.e2e.processes import ROOT, environment


async def main(address: str, table_id: str, count: int) -> None:
    channels = [grpc.aio.insecure_channel(address, options=OPTIONS) for _ in range(count)]
    request = table_pb2.WatchTableRequest(table_id=table_id)
    calls = [table_pb2_grpc.TableServiceStub(c).WatchTable(request) for c in channels]

    async def first(call: Any) -> str:
        try:
            event = await anext(aiter(call))
        except grpc.aio.AioRpcError as error:
            return refusal_of(error).reason
        return str(event.WhichOneof("event"))

    told = await asyncio.gather(*map(first, calls))
    print(json.dumps(told), flush=True)
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), end.set)
    await end.wait()


@contextlib.contextmanager
def watching(
    address: str, table_id: str, count: int
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The process of so many watchers, and what each was told first."""
    command = [sys.executable, "-m", "tests.e2e.watchers", address, table_id, str(count)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
