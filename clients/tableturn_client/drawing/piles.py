"""The piles of starting cubes that are left to choose from."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from tableturn.v1 import actions_pb2
from tableturn_client.drawing import cubes


def piles(left: Iterable[actions_pb2.Cubes]) -> Text:
    """The piles on a line."""
    return Text("  ").join(cubes.bundle(pile) for pile in left)
