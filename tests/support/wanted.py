"""What only some machines have: without it a test is skipped, except in CI."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test, for all to see. In CI a skipped test would look like a passed one: fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and CI skips nothing", pytrace=False)
    pytest.skip(reason)
