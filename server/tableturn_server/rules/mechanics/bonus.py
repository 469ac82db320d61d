"""Bonus tiles: an open supply, a pile for each kind, taken from the top."""

from __future__ import annotations

from typing import NamedTuple

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.mechanics.islands import replaced
from tableturn_server.rules.views import BonusSupplyView, BonusTileView


class Owned(NamedTuple):
    """A bonus tile that a player owns, with its points."""

    kind: BonusKind
    points: int


Supply = tuple[tuple[int, ...], ...]
"""For each kind, in the order of `BonusKind`, the points of its tiles from the top."""


def available(supply: Supply) -> tuple[BonusKind, ...]:
    """The kinds of which there is a tile."""
    return tuple(kind for kind in BonusKind if supply[kind - 1])


def taken(supply: Supply, kind: BonusKind) -> tuple[Supply, Owned]:
    """The supply without the top tile of a kind, and that tile."""
    points, *rest = supply[kind - 1]
    return replaced(supply, kind - 1, tuple(rest)), Owned(kind, points)


def count(owned: tuple[Owned, ...], kind: BonusKind) -> int:
    """How many tiles of a kind a player has; their effects add up (EW-R8)."""
    return [tile.kind for tile in owned].count(kind)


def points(owned: tuple[Owned, ...]) -> int:
    """What a player's tiles are worth."""
    return sum(tile.points for tile in owned)


def supply_view(supply: Supply) -> tuple[BonusSupplyView, ...]:
    """The supply as all see it; a kind that the game does not use or that ran out is absent."""
    return tuple(
        BonusSupplyView(kind=kind, left=len(supply[kind - 1]), points=supply[kind - 1][0])
        for kind in available(supply)
    )


def owned_view(owned: tuple[Owned, ...]) -> tuple[BonusTileView, ...]:
    """A player's tiles as all see them."""
    return tuple(BonusTileView(kind=tile.kind, points=tile.points) for tile in owned)
