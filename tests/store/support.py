"""A small vocabulary for tests of the store: a real server, a proxy that misbehaves, waiting."""

import asyncio
import contextlib
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from tableturn_server.store import Binary, Endpoint, Past, Request, Snapshot, Write, find_binary

T = TypeVar("T")


@overload
async def eventually(look: Callable[[], Awaitable[T]], within: float = 10.0) -> T: ...
@overload
async def eventually(look: Callable[[], T], within: float = 10.0) -> T: ...
async def eventually(look: Callable[[], Any], within: float = 10.0) -> Any:
    """Look again and again until what is seen is true; fail after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        seen = look()
        found = await seen if isinstance(seen, Awaitable) else seen
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {within} s"
        await asyncio.sleep(0.01)


def new_id() -> str:
    return uuid.uuid4().hex[:12]


def change(n: int, *, snapshot: Snapshot | None = None, past: Past | None = None) -> Write:
    return Write(
        blob=b"state\0\xff%d" % n,
        entry=b"entry\r\n\0%d" % n,
        outcome=b"outcome \0%d" % n,
        change_id=f"change-{n}",
        snapshot=snapshot,
        past=past,
    )


def at(n: int) -> tuple[int, str]:
    """What a decision rests on that was made on `change(n)`, as revision `n`."""
    return n, f"change-{n}"


def ask(n: int, *, by: str = "ann", body: bytes = b"body") -> Request:
    return Request(by, f"request-{n}", body + b"%d" % n)


def binary() -> Binary:
    """The program of the tests; STORE_BINARY names another one."""
    given = os.environ.get("STORE_BINARY")
    return find_binary(Path(given) if given else None)


@dataclass
class Server:
    """A real server, started for tests only and ended by its pid."""

    url: str
    socket: Path
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def running_server(*options: str) -> Iterator[Server]:
    directory = Path(tempfile.mkdtemp(prefix="tt-store-"))
    socket = directory / "s.sock"
    command: list[str] = [str(binary().path), "--port", "0", "--unixsocket", str(socket)]
    command += ["--dir", str(directory), "--appendonly", "yes", "--appendfsync", "always"]
    command += ["--save", "", *options]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while not socket.exists():
            assert process.poll() is None, (directory / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield Server(f"unix://{socket}", socket, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        shutil.rmtree(directory, ignore_errors=True)


class Proxy:
    """Stands between a client and a server; it can swallow replies, hang, or hang up."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.swallow = False
        """Replies are dropped, and the connection is closed at the first one."""
        self.hang = False
        """Replies are dropped, and the connection stays."""
        self.accepted = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listen(
        self, tls: ssl.SSLContext | None = None, path: str | None = None
    ) -> AsyncIterator[int]:
        """Listen on a unix socket, or else on a free TCP port, which is the value."""
        if path is not None:
            server: asyncio.Server = await asyncio.start_unix_server(self._serve, path)
        else:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        try:
            yield 0 if path is not None else server.sockets[0].getsockname()[1]
        finally:
            server.close()
            if path is not None:
                Path(path).unlink(missing_ok=True)  # noqa: ASYNC240
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pipe(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        there, to_server = await asyncio.open_unix_connection(self.target)

        async def forward() -> None:
            while data := await reader.read(65536):
                to_server.write(data)
                await to_server.drain()

        async def backward() -> None:
            while data := await there.read(65536):
                if self.swallow:
                    return
                if not self.hang:
                    writer.write(data)
                    await writer.drain()

        tasks = [asyncio.create_task(forward()), asyncio.create_task(backward())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (writer, to_server):
                stream.transport.abort()
                with contextlib.suppress(OSError):
                    await stream.wait_closed()


def endpoint_of(server: Server) -> Endpoint:
    return Endpoint.parse(server.url)
