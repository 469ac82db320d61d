"""Point cards: the row on the table with the coins above it, and the coins of a player.

Gold lies above the first card, silver above the second; when the gold has run out
the silver lies above the first (SR-02, SR-14). Cards and decks are as for merchants.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tableturn_server.rules.mechanics.cubes import Cubes, view
from tableturn_server.rules.mechanics.merchants import Deck
from tableturn_server.rules.views import CoinKind, CoinPileView, PointCardView

COIN_POINTS = {CoinKind.GOLD: 3, CoinKind.SILVER: 1}
"""What a coin is worth (SR-21)."""


class PointCard(msgspec.Struct, frozen=True):
    """What is printed on a point card."""

    name: str
    cost: Cubes
    points: int

    @property
    def words(self) -> str:
        """The card in a sentence."""
        return f"the point card {self.name}, worth {self.points} ({self.cost.letters})"


class Coins(NamedTuple):
    """Gold and silver coins, of a player or above the row."""

    gold: int = 0
    silver: int = 0

    def of(self, kind: CoinKind) -> int:
        """How many of one kind."""
        return self.gold if kind == CoinKind.GOLD else self.silver

    def plus(self, kind: CoinKind, count: int = 1) -> Coins:
        """So many more of one kind."""
        if kind == CoinKind.GOLD:
            return Coins(self.gold + count, self.silver)
        return Coins(self.gold, self.silver + count)

    @property
    def points(self) -> int:
        """What they are worth (SR-21)."""
        return sum(worth * self.of(kind) for kind, worth in COIN_POINTS.items())


NO_COINS = Coins()


class PointRow(msgspec.Struct, frozen=True, array_like=True):
    """The point cards on the table, from the left, how high the deck is, and the coins."""

    cards: tuple[int, ...] = ()
    deck: int = 0
    coins: Coins = NO_COINS

    def coin(self, place: int) -> CoinKind | None:
        """The coin above a place of the row, from 0 (SR-02, SR-14, SR-R5)."""
        first = CoinKind.GOLD if self.coins.gold else CoinKind.SILVER
        kind = {0: first, 1: CoinKind.SILVER if first == CoinKind.GOLD else None}.get(place)
        return kind if kind is not None and self.coins.of(kind) else None

    def without(self, place: int) -> PointRow:
        """A card was claimed: its coin is gone, and the row slides left (SR-14)."""
        coin = self.coin(place)
        coins = self.coins if coin is None else self.coins.plus(coin, -1)
        return PointRow(self.cards[:place] + self.cards[place + 1 :], self.deck, coins)


NO_POINT_ROW = PointRow()


def dealt(row: PointRow, deck: Deck, size: int) -> tuple[PointRow, Deck, tuple[int, ...]]:
    """The row filled up from the deck as far as it goes, and the new cards (SR-14, SR-R4)."""
    count = max(0, size - len(row.cards))
    new, deck = deck[:count], deck[count:]
    return PointRow((*row.cards, *new), len(deck), row.coins), deck, new


def point_card_view(card: PointCard) -> PointCardView:
    """A point card as it stands in views."""
    return PointCardView(card=card.name, cost=view(card.cost), points=card.points)


def coins_view(row: PointRow) -> tuple[CoinPileView, ...]:
    """The coins above the row as all see them."""
    return tuple(
        CoinPileView(place=place + 1, kind=kind, left=row.coins.of(kind), points=COIN_POINTS[kind])
        for place in (0, 1)
        if (kind := row.coin(place)) is not None
    )
