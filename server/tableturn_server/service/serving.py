"""One service from its start to its end: data directory, store, port, tables, signals."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import click

from tableturn_server.service import announcing, logs
from tableturn_server.service.announcing import Ready
from tableturn_server.service.calls import LONGEST_TOKEN, SHORTEST_TOKEN
from tableturn_server.service.limits import Limits
from tableturn_server.service.openings import Opened, Opening, open_table
from tableturn_server.service.server import Service
from tableturn_server.store import Endpoint, Store, StoreError, measure_fsync, open_store
from tableturn_server.tables.refusals import Refused

ADMIN_FILE = "admin.token"


class Unable(Exception):
    """The service can't serve. The sentence says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked for on the command line and in the environment."""

    data: Path
    host: str
    port: int
    lan: bool = False
    store: str | None = field(default=None, repr=False)
    valkey: Path | None = None
    openings: tuple[Opening, ...] = ()
    as_json: bool = False
    log_level: str = "info"
    admin_token: str = field(default="", repr=False)
    until_eof: bool = False
    bot_workers: int = 1
    limits: Limits = field(default_factory=Limits)


def run(settings: Settings) -> None:
    """Serve until a signal comes. Raises Unable."""
    logs.set_up(settings.log_level)
    _check_port(settings.host, settings.port)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The faster event loop, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(settings: Settings) -> None:
    host = sha256(_admin_token(settings).encode()).digest()
    async with contextlib.AsyncExitStack() as stack:
        try:
            store = await stack.enter_async_context(
                open_store(
                    url=settings.store,
                    data=None if settings.store else settings.data,
                    binary=settings.valkey,
                )
            )
        except (StoreError, ValueError) as error:
            raise Unable(str(error)) from error
        with _signals(store) as ended, _input(ended, watched=settings.until_eof):
            service = Service(store, host, limits=settings.limits, bot_workers=settings.bot_workers)
            tables = await _open_tables(service, settings.openings, host)
            try:
                port = await service.start(settings.host, settings.port)
            except RuntimeError as error:
                raise Unable(
                    f"can't listen on port {settings.port} of {settings.host}; "
                    "choose another one with --port"
                ) from error
            ready = Ready(
                host=settings.host,
                port=port,
                lan=settings.lan,
                store=str(Endpoint.parse(store.url)),
                data=settings.data,
                embedded=store.embedded is not None,
                fsync_ms=await _fsync(store, settings.data),
                tables=tuple(tables),
                problems=tuple(problem.sentence for problem in store.problems),
            )
            _announce(ready, settings.as_json)
            _spare_the_collector()
            await ended.wait()
            logs.get().info("ending")
            await service.stop()


async def _open_tables(
    service: Service, openings: tuple[Opening, ...], host: bytes
) -> list[Opened]:
    """Make the tables ready that were asked for; the admin's token is their host's."""
    tables: list[Opened] = []
    for opening in openings:
        taken = {table.table_id for table in tables}
        try:
            tables.append(await open_table(service.keeper, opening, host, taken))
        except (Refused, StoreError) as error:
            raise Unable(f"no table of {opening.game}: {error.sentence}") from error
    return tables


def _announce(ready: Ready, as_json: bool) -> None:
    click.echo(announcing.as_json(ready) if as_json else announcing.for_people(ready))


def _spare_the_collector() -> None:
    """Keep the garbage collector from looking at what stays, and from looking too often.

    Tables are values without cycles: nearly everything is freed without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def _fsync(store: Store, data: Path) -> float | None:
    """What an accepted change waits for, in ms; unknown where it can't be measured."""
    if store.embedded is None:
        return None
    try:
        return round(await asyncio.to_thread(measure_fsync, data), 3)
    except OSError:  # a full disk: tables can be read, and changes when there is room again
        return None


# -- before anything is started ------------------------------------------------------------


def _check_port(host: str, port: int) -> None:
    """Raise Unable if the port can't be bound; gRPC would say it less clearly."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Unable(
                    f"port {port} is in use, perhaps by another tableturn serve; "
                    "stop that one, or choose a port with --port (0: any free one)"
                ) from error
            raise Unable(f"can't listen on {host}, port {port}: {error.strerror}") from error


def _admin_token(settings: Settings) -> str:
    """The admin's token, from the environment or the data directory; made at the first start."""
    token = settings.admin_token
    source = "TABLETURN_ADMIN_TOKEN"
    if not token:
        path = settings.data / ADMIN_FILE
        source = str(path)
        try:
            settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                _write_secret(path, secrets.token_urlsafe(32))
            token = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unable(
                f"the data directory {settings.data} can't be used: {error}; "
                "choose another one with --data"
            ) from error
    if not SHORTEST_TOKEN <= len(token.encode()) <= LONGEST_TOKEN:
        raise Unable(
            f"the admin's token in {source} must have {SHORTEST_TOKEN} to {LONGEST_TOKEN} "
            "characters"
        )
    return token


def _write_secret(path: Path, secret: str) -> None:
    """A new file that only its owner can read. Raises FileExistsError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(secret + "\n")


# -- the end -------------------------------------------------------------------------------


@contextlib.contextmanager
def _signals(store: Store) -> Iterator[asyncio.Event]:
    """An event that SIGTERM and SIGINT set; a second SIGINT leaves at once."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if ended.is_set():
            # Valkey has everything on the disk; it ends by itself.
            pid = store.embedded.pid if store.embedded is not None else None
            if pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            os._exit(130)
        ended.set()

    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield ended
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        loop.remove_signal_handler(signal.SIGINT)


@contextlib.contextmanager
def _input(ended: asyncio.Event, *, watched: bool) -> Iterator[None]:
    """Set the event when standard input is closed: whoever started this has gone."""
    if not watched:
        yield
        return

    def heard() -> None:
        try:
            data = os.read(0, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            loop.remove_reader(0)
            ended.set()

    loop = asyncio.get_running_loop()
    try:
        loop.add_reader(0, heard)
    except (OSError, ValueError) as error:
        raise Unable(
            "--until-eof needs a standard input that can be waited for, such as a pipe"
        ) from error
    try:
        yield
    finally:
        loop.remove_reader(0)
