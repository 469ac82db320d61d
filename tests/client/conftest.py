from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tableturn_client import Client, Retry, connect
from tests.client.fake import FakeService
from tests.client.service import Service, running_service

QUICK = Retry(total=10.0, attempt=5.0, first=0.005, most=0.02)
"""Repeats at once: nobody waits in a test."""


@pytest.fixture
async def fake() -> AsyncIterator[FakeService]:
    service = FakeService()
    await service.start()
    yield service
    await service.stop()
    service.assert_done()


@pytest.fixture
async def client(fake: FakeService) -> AsyncIterator[Client]:
    async with connect(fake.address, retry=QUICK) as client:
        yield client


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One real `tableturn serve` for all tests that do it no harm."""
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of tokens of each test's own; nothing of the developer's is read or written."""
    for name in ("TABLETURN_SERVER", "TABLETURN_TOKEN", "TABLETURN_ADMIN_TOKEN", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "home"
