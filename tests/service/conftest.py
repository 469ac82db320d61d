from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.service.support import Running, serving
from tests.store.support import Server, running_server


@pytest.fixture(scope="session")
def valkey() -> Iterator[Server]:
    """One real store for all tests that do no harm to it; each uses tables of its own."""
    with running_server() as running:
        yield running


@pytest.fixture
async def running(valkey: Server) -> AsyncIterator[Running]:
    """A service in this process."""
    async with serving(valkey.url) as service:
        yield service


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory with a short path: the store's socket lies in it."""
    with TemporaryDirectory(prefix="tt-") as directory:
        yield Path(directory) / "data"
