from collections.abc import Iterator

import pytest

from tests.store.support import Server, running_server


@pytest.fixture
def valkey() -> Iterator[Server]:
    """A real store for one test: its jobs are nobody else's."""
    with running_server() as running:
        yield running
