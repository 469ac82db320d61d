"""Opening the store: from what the user gave to something that keeps tables."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from .binary import find_binary
from .check import Problem, Severity, check_store
from .embedded import EmbeddedValkey
from .endpoint import Endpoint
from .errors import StoreRefused
from .hub import WatchHub
from .jobs import JobBoard
from .resp import Connection
from .tables import TableStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Store:
    """An open store. `url` is for further processes; `embedded` is None if it is external."""

    url: str
    connection: Connection
    tables: TableStore
    jobs: JobBoard
    hub: WatchHub
    embedded: EmbeddedValkey | None
    problems: list[Problem]


@asynccontextmanager
async def open_store(
    *,
    url: str | None = None,
    data: Path | None = None,
    binary: Path | None = None,
    timeout: float = 5.0,
    watch_interval: float = 3.0,
) -> AsyncIterator[Store]:
    """Open the store at `url`, or else an embedded one in the directory `data`.

    An external store is checked first: errors raise StoreRefused, warnings are in `problems`.
    `binary` is the program of an embedded store; without it one is looked for.
    """
    async with AsyncExitStack() as stack:
        embedded = None
        if url is None:
            if data is None:
                raise ValueError("a store needs a URL or a data directory")
            embedded = await stack.enter_async_context(EmbeddedValkey(data, find_binary(binary)))
            url = embedded.url
        endpoint = Endpoint.parse(url)
        explain = embedded.explain if embedded is not None else None
        connection = Connection(endpoint, timeout=timeout, explain=explain)
        stack.push_async_callback(connection.close)
        await connection.connect()
        problems = await check_store(connection)
        errors = [problem for problem in problems if problem.severity is Severity.ERROR]
        if errors:
            raise StoreRefused(" ".join(problem.sentence for problem in errors))
        for problem in problems:
            log.warning("%s", problem.sentence)
        tables = TableStore(connection)
        hub = WatchHub(endpoint, tables.revisions, interval=watch_interval)
        await stack.enter_async_context(hub)
        yield Store(url, connection, tables, JobBoard(connection), hub, embedded, problems)
