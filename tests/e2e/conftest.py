from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.calls import Connection
from tests.e2e.processes import CommandLine, Service, serving


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One real `tableturn serve` for all tests that do it no harm."""
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="session")
def connection(service: Service) -> Iterator[Connection]:
    with Connection(service.address) as opened:
        yield opened


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Service]:
    """A service of this test's own, which may be killed."""
    with serving(tmp_path / "own") as running:
        yield running


@pytest.fixture
def tableturn(tmp_path: Path, service: Service) -> CommandLine:
    """The command line of somebody new."""
    return CommandLine(tmp_path / "home", service.address)
