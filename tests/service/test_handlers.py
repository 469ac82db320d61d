"""What must hold for every handler, whoever writes the next one."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import tableturn_server.service
from tableturn_server.service.catalog import CatalogService
from tableturn_server.service.documents import Documents
from tableturn_server.service.tables import TableService
from tableturn_server.service.watching import Watches
from tests.service.support import Running

SOURCES = sorted(Path(tableturn_server.service.__file__).parent.glob("*.py"))


@pytest.mark.case("G5")
@pytest.mark.parametrize("servicer", [TableService, CatalogService, Documents], ids=str)
def test_every_handler_is_a_coroutine_function(servicer: type[Any]) -> None:
    handlers = [value for name, value in vars(servicer).items() if not name.startswith("_")]
    assert handlers
    for handler in handlers:
        assert inspect.iscoroutinefunction(handler), handler
    assert inspect.iscoroutinefunction(Watches.follow)


@pytest.mark.case("G5")
async def test_nothing_that_grpc_calls_is_a_plain_function(running: Running) -> None:
    for handler in running.service.handlers:
        function = handler.unary_unary or handler.unary_stream
        assert inspect.iscoroutinefunction(function)
        assert handler.request_deserializer is None


@pytest.mark.case("G5")
def test_no_handler_waits_without_await() -> None:
    """No call in the service that stops the event loop."""
    blocking = {("time", "sleep"), ("subprocess", "run"), ("os", "system"), ("requests", "get")}
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                name = owner.id if isinstance(owner, ast.Name) else ""
                assert (name, node.func.attr) not in blocking, f"{source.name}:{node.lineno}"
