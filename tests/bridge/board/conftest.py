from collections.abc import Iterator

import pytest

from .bench import Bench
from .benches import BOARDS, FirmwareBench, Kind, on_the_bench, the_firmware


@pytest.fixture(params=BOARDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """What a test of both boards is made for: the model, or the real program on a chip."""
    chosen: Kind = request.param
    return chosen


@pytest.fixture
def bench(kind: Kind) -> Iterator[Bench]:
    """A board with four buttons that has just started."""
    with on_the_bench(kind) as bench:
        yield bench


@pytest.fixture
def chip() -> Iterator[FirmwareBench]:
    """The firmware for four buttons, just started."""
    with the_firmware() as bench:
        yield bench
