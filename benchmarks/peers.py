"""Bare gRPC servers to compare with: they do nothing but answer.

`python -m benchmarks.peers echo` answers each call with a fixed number of bytes;
`... evalsha` makes one EVALSHA first, which writes as many bytes as a commit does;
`... evalsha-redis-py` makes the same call through redis-py's asyncio client.
All three run on the same event loop as the service.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import grpc
import redis.asyncio

from tableturn_server.store import resp

METHOD = "/benchmark.Peer/Call"

# As much work for the store as a commit: compare a revision, write state, log and outcome.
SCRIPT = """
if redis.call('HGET', KEYS[1], 'rev') == 'never' then return {'conflict'} end
redis.call('XADD', KEYS[2], '*', 'e', ARGV[2])
redis.call('HSET', KEYS[1], 'rev', ARGV[3], 'blob', ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[4])
redis.call('LTRIM', KEYS[3], 0, 7)
return {'committed'}
"""
KEYS = ("{peer}:table", "{peer}:log", "{peer}:seen")


def _handler(call: Any) -> grpc.GenericRpcHandler:
    """Serves METHOD with raw bytes in and out."""
    return grpc.method_handlers_generic_handler(
        "benchmark.Peer", {"Call": grpc.unary_unary_rpc_method_handler(call)}
    )


async def serve(kind: str, answer: int, blob: int, entry: int, socket: str) -> None:
    """Serve until the parent ends this process; prints the port when ready."""
    reply = os.urandom(answer)
    args = [os.urandom(blob), os.urandom(entry), b"1", os.urandom(48)]

    async def echo(request: bytes, context: Any) -> bytes:
        return reply

    if kind == "echo":
        call = echo
    elif kind == "evalsha":
        connection = resp.Connection(f"unix://{socket}")
        sha = await connection.call("SCRIPT", "LOAD", SCRIPT)

        async def evalsha(request: bytes, context: Any) -> bytes:
            await connection.call("EVALSHA", sha, len(KEYS), *KEYS, *args)
            return reply

        call = evalsha
    else:
        client = redis.asyncio.Redis(unix_socket_path=socket)
        loaded = await client.script_load(SCRIPT)

        async def evalsha_redis_py(request: bytes, context: Any) -> bytes:
            await client.evalsha(loaded, len(KEYS), *KEYS, *args)
            return reply

        call = evalsha_redis_py

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_handler(call),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


def main() -> None:
    """Entry point of the peer's process: kind, answer, blob and entry size, store socket."""
    kind, answer, blob, entry, socket = sys.argv[1:]
    coroutine = serve(kind, int(answer), int(blob), int(entry), socket)
    try:
        import uvloop
    except ImportError:
        asyncio.run(coroutine)
    else:
        uvloop.run(coroutine)


if __name__ == "__main__":
    main()
