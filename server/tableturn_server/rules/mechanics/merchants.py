"""Merchant cards: what is printed on them, the row on the table, and the cards of a player.

A card is known by its number, its place in the list of faces of the game. The size
of the deck is open, its order is hidden; the row is refilled when a turn is confirmed.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tableturn_server.rules.mechanics.cubes import NO_CUBES, Cubes, view
from tableturn_server.rules.mechanics.islands import replaced
from tableturn_server.rules.views import CardKind, CardView

NO_CARD = -1
Deck = tuple[int, ...]
"""A face-down deck, the next card first."""


class Card(msgspec.Struct, frozen=True):
    """What is printed on a merchant card (SR-11)."""

    name: str
    kind: CardKind
    cost: Cubes = NO_CUBES
    gain: Cubes = NO_CUBES
    upgrades: int = 0

    @property
    def words(self) -> str:
        """The card in a sentence, such as `M12 (YYY>B)`."""
        if self.kind == CardKind.UPGRADE:
            return f"{self.name} (upgrade {self.upgrades})"
        sign = ">" if self.kind == CardKind.TRADE else "+"
        return f"{self.name} ({self.cost.letters}{sign}{self.gain.letters})"


class Lying(NamedTuple):
    """A card of the row, and the cubes that lie on it."""

    card: int
    cubes: Cubes = NO_CUBES


class Row(msgspec.Struct, frozen=True, array_like=True):
    """The merchant cards on the table, from the left, and how high the deck is."""

    cards: tuple[Lying, ...] = ()
    deck: int = 0

    def place(self, card: int) -> int:
        """Where a card lies in the row, from 0."""
        return next(place for place, lying in enumerate(self.cards) if lying.card == card)

    def without(self, place: int) -> Row:
        """A card was taken: the row slides left, cubes staying on their cards (SR-12)."""
        return Row(self.cards[:place] + self.cards[place + 1 :], self.deck)

    def with_cubes(self, place: int, cubes: Cubes) -> Row:
        """More cubes lie on a card."""
        lying = self.cards[place]
        more = Lying(lying.card, lying.cubes.plus(cubes))
        return Row(replaced(self.cards, place, more), self.deck)


NO_ROW = Row()


class Cards(msgspec.Struct, frozen=True, array_like=True):
    """The merchant cards of a player."""

    hand: tuple[int, ...] = ()
    played: tuple[int, ...] = ()
    """Face up before the player (SR-10)."""
    discard: tuple[int, ...] = ()
    """Put away face down for steps of the boat (SS-12)."""

    def plus(self, card: int) -> Cards:
        """One more in the hand."""
        return Cards((*self.hand, card), self.played, self.discard)

    def after(self, card: int) -> Cards:
        """One of the hand was played (SR-10)."""
        return Cards(_less(self.hand, card), (*self.played, card), self.discard)

    def put_away(self, card: int) -> Cards:
        """One of the hand or the played ones lies on the discard pile (SS-12)."""
        return Cards(_less(self.hand, card), _less(self.played, card), (*self.discard, card))

    @property
    def taken_back(self) -> Cards:
        """All in the hand (SR-13, SS-16)."""
        return Cards(self.hand + self.played + self.discard)


NO_CARDS = Cards()


def _less(cards: tuple[int, ...], card: int) -> tuple[int, ...]:
    """The cards without one."""
    return tuple(one for one in cards if one != card)


def dealt(row: Row, deck: Deck, size: int) -> tuple[Row, Deck, tuple[int, ...]]:
    """The row filled up from the deck as far as it goes, and the new cards (SR-12, SR-R4)."""
    count = max(0, size - len(row.cards))
    new, deck = deck[:count], deck[count:]
    return Row((*row.cards, *map(Lying, new)), len(deck)), deck, new


def exchanges(hold: Cubes, cost: Cubes, gain: Cubes) -> int:
    """How many times a trade can be done, each paid from the cubes held at that moment.

    For trades of merchant cards (SR-11) and of market tiles (EW-17).
    """
    if not hold.covers(cost):
        return 0
    return min(
        (held - taken) // (taken - given) + 1
        for held, taken, given in zip(hold, cost, gain, strict=True)
        if taken > given
    )


def card_view(card: Card, cubes: Cubes = NO_CUBES) -> CardView:
    """A card as it stands in views."""
    return CardView(
        card=card.name,
        kind=card.kind,
        cost=view(card.cost) if card.cost.total else None,
        gain=view(card.gain) if card.gain.total else None,
        upgrades=card.upgrades,
        cubes=view(cubes) if cubes.total else None,
    )
