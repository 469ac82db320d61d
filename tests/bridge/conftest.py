from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.bridge.evening import Evening
from tests.client.service import Service, running_service
from tests.service.support import Running, serving
from tests.store.support import Server, running_server


@pytest.fixture(scope="session")
def valkey() -> Iterator[Server]:
    """One real store for all tests that do no harm to it."""
    with running_server() as running:
        yield running


@pytest.fixture
async def running(valkey: Server) -> AsyncIterator[Running]:
    """A service in this process."""
    async with serving(valkey.url) as service:
        yield service


@pytest.fixture
async def evening(running: Running, tmp_path: Path) -> AsyncIterator[Evening]:
    """A machine with panels, and the service that they work with."""
    async with Evening(f"127.0.0.1:{running.port}", tmp_path / "home") as evening:
        yield evening


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with TemporaryDirectory(prefix="tt-") as data, running_service(Path(data)) as service:
        yield service


@pytest.fixture
def home(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TABLETURN_SERVER", service.address)
    monkeypatch.delenv("TABLETURN_TOKEN", raising=False)
    return tmp_path
