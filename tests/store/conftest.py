from collections.abc import AsyncIterator, Iterator

import pytest

from tableturn_server.store import Connection, TableStore
from tests.store.support import Server, new_id, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One real server for all tests that do no harm to it; each uses tables of its own."""
    with running_server() as running:
        yield running


@pytest.fixture
async def connection(server: Server) -> AsyncIterator[Connection]:
    async with Connection(server.url) as open_connection:
        yield open_connection


@pytest.fixture
def tables(connection: Connection) -> TableStore:
    return TableStore(connection)


@pytest.fixture
def table_id() -> str:
    return new_id()
