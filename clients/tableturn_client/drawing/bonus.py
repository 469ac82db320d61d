"""Bonus tiles: those in the supply, and those that lie beside a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing.look import Look

WORDS = ("move", "upgrade", "harvest", "cargo", "vp")
"""The kinds, by their number in `BonusKind` from 1."""
MEANINGS = {
    "move": "one more free step in each movement",
    "upgrade": "upgrade a cube when you build an outpost",
    "harvest": "one more red cube with each harvest",
    "cargo": "three more spaces in the hold",
    "vp": "victory points only",
}


def word(kind: int) -> str:
    """The word for a `BonusKind`."""
    return WORDS[kind - 1] if 1 <= kind <= len(WORDS) else f"kind {kind}"


def supply(tiles: Iterable[views_pb2.BonusSupplyView], look: Look) -> Text:
    """What is left: `move x4, upgrade x4 (2)`, points of the next one in brackets."""
    drawn = []
    for tile in tiles:
        part = Text(f"{word(tile.kind)}{look.signs.times}{tile.left}")
        if tile.points:
            part.append(f" (+{tile.points})")
        drawn.append(part)
    return Text("  ").join(drawn) if drawn else Text("none left", "dim")


def owned(tiles: Iterable[views_pb2.BonusTileView], look: Look) -> Text:
    """The tiles of a player: `move x2, vp 6`."""
    kept: Counter[str] = Counter()
    points: list[Text] = []
    for tile in tiles:
        if word(tile.kind) == "vp":
            points.append(Text(f"vp+{tile.points}"))
        else:
            kept[word(tile.kind)] += 1
    parts = [
        Text(name if count == 1 else f"{name}{look.signs.times}{count}")
        for name, count in kept.items()
    ]
    return Text(" ").join(parts + points)
