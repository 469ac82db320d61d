"""The Python of docs/scripting.md runs as it stands there."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.client.service import Service

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).parents[2] / "docs" / "scripting.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_an_example_runs(number: int, service: Service) -> None:
    names: dict[str, Any] = {}
    exec(BLOCKS[number].replace("127.0.0.1:7430", service.address), names)
    if "left" in names:
        assert 0 < names["left"].total_seconds() <= 15 * 60 + 40
