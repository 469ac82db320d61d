"""What a component set is: cards, tiles and boards, with where each value comes from."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Generic, TypeVar

import msgspec

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.mechanics.cubes import NO_CUBES, Cubes, from_letters
from tableturn_server.rules.views import CardKind


class Confidence(Enum):
    """How sure a value is. Only a verified or single-source value is a printed one."""

    VERIFIED = "verified"
    """Two or more independent sources agree."""
    SINGLE_SOURCE = "single-source"
    """One source has it."""
    RECONSTRUCTED = "reconstructed"
    """A placeholder of ours: no public source gives the printed value."""


CONFIDENCES = tuple(Confidence)
"""From the surest to the least sure."""


class Item(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One component, such as a tile, and how sure its values are."""

    id: str
    confidence: Confidence
    sources: tuple[str, ...] = ()
    unsure: tuple[tuple[str, Confidence], ...] = ()
    """Fields that are less sure than the rest of the item."""
    alternative: str = ""
    """What a disputed value may be instead, in the form of that value."""
    note: str = ""

    @property
    def least(self) -> Confidence:
        """The confidence of the item's least sure value."""
        words = [self.confidence, *(word for _, word in self.unsure)]
        return max(words, key=CONFIDENCES.index)


class MarketTile(Item, frozen=True):
    """A market tile: its symbol, and its trade such as `YYY>B`."""

    symbol: str
    trade: str

    @property
    def cost(self) -> Cubes:
        """What one exchange takes."""
        return from_letters(self.trade.partition(">")[0])

    @property
    def gain(self) -> Cubes:
        """What one exchange gives."""
        return from_letters(self.trade.partition(">")[2])


class PointTile(Item, frozen=True):
    """A tile or card that is paid with cubes and worth points."""

    cost: str
    points: int

    @property
    def price(self) -> Cubes:
        """The cubes that it costs."""
        return from_letters(self.cost)


class MerchantCard(Item, frozen=True):
    """A merchant card: what it does, as `+YYR` (spice), `upgrade 2` or `YYY>B` (trade)."""

    effect: str

    @property
    def kind(self) -> CardKind:
        """What it does."""
        if self.effect.startswith("+"):
            return CardKind.SPICE
        return CardKind.TRADE if ">" in self.effect else CardKind.UPGRADE

    @property
    def cost(self) -> Cubes:
        """What one exchange of a trade takes."""
        return from_letters(self.effect.partition(">")[0]) if ">" in self.effect else NO_CUBES

    @property
    def gain(self) -> Cubes:
        """What a spice card, or one exchange of a trade, gives."""
        if self.kind == CardKind.UPGRADE:
            return NO_CUBES
        return from_letters(self.effect.partition(">")[2] or self.effect.removeprefix("+"))

    @property
    def upgrades(self) -> int:
        """How many single upgrades it allows."""
        return int(self.effect.split()[1]) if self.kind == CardKind.UPGRADE else 0


class StartingCard(MerchantCard, frozen=True):
    """A merchant card that players begin with, of which there are `count`."""

    count: int


class BonusTile(Item, frozen=True):
    """Bonus tiles of one kind and value; a pile is taken in the order of the items."""

    kind: str
    points: int
    count: int

    @property
    def bonus(self) -> BonusKind:
        """What it does."""
        return BonusKind[self.kind.upper()]


class OutpostRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a player's board: its symbol and the values from left to right."""

    symbol: str
    values: tuple[int, ...]


class PlayerBoard(Item, frozen=True):
    """A player's board: the rows of outposts and the spaces of the cargo hold."""

    rows: tuple[OutpostRow, ...]
    cargo: int


class StartPile(Item, frozen=True):
    """A pile of starting cubes, such as `YYR`."""

    cubes: str

    @property
    def pile(self) -> Cubes:
        """The cubes in it."""
        return from_letters(self.cubes)


class MapPattern(Item, frozen=True):
    """A pattern of the map, in the form that `mechanics.islands` reads."""

    layout: str


AnyItem = TypeVar("AnyItem", bound=Item)


class Group(msgspec.Struct, Generic[AnyItem], frozen=True, forbid_unknown_fields=True):
    """Components of one kind. Confidence and sources hold for items without their own."""

    items: tuple[AnyItem, ...]
    confidence: Confidence = Confidence.SINGLE_SOURCE
    sources: tuple[str, ...] = ()
    note: str = ""


class GroupSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A group in short, for the catalog (`tableturn.v1.ComponentGroup`)."""

    name: str
    count: int
    """How many components that are, copies counted."""
    confidence: Confidence
    """The confidence of the least sure value."""
    reconstructed: int = 0
    """How many of them have a value that is a stand-in of ours."""
    sources: tuple[str, ...] = ()
    """The sources of its items, a line each."""
    note: str = ""


class ComponentSet(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """The components of a game. Equal if their content is equal.

    A game that has no components of some kind has an empty group there.
    """

    format: int
    name: str
    game: str
    title: str
    base: str = "none"
    note: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    merchant_cards: Group[MerchantCard] = Group(())
    starting_cards: Group[StartingCard] = Group(())
    point_cards: Group[PointTile] = Group(())
    market_tiles: Group[MarketTile] = Group(())
    victory_tiles: Group[PointTile] = Group(())
    bonus_tiles: Group[BonusTile] = Group(())
    player_boards: Group[PlayerBoard] = Group(())
    start_piles: Group[StartPile] = Group(())
    maps: Group[MapPattern] = Group(())
    document: bytes = b""
    """The whole set as JSON in its canonical form, which `load` reads to an equal set.
    What a table keeps of a user's own set: the base may change, this doesn't."""
    sha256: bytes = b""
    """The hash of `document`. A table keeps name and hash."""

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComponentSet) and self.sha256 == other.sha256

    def __ne__(self, other: object) -> bool:
        return not self == other  # that of msgspec.Struct would compare by itself

    def group(self, name: str) -> Group[Item]:
        """A group by its name. Raises AttributeError for none."""
        found: Group[Item] = getattr(self, name)
        return found

    def summary(self) -> tuple[GroupSummary, ...]:
        """The groups that hold anything, in short: for the catalog."""
        return tuple(
            _summary(name, self.group(name), dict(self.sources))
            for name in GROUPS
            if self.group(name).items
        )

    @property
    def reconstructed(self) -> bool:
        """Some values are placeholders of ours: the players must be told."""
        return any(
            item.least == Confidence.RECONSTRUCTED
            for name in GROUPS
            for item in self.group(name).items
        )


GROUPS: dict[str, type[Item]] = {
    "merchant_cards": MerchantCard,
    "starting_cards": StartingCard,
    "point_cards": PointTile,
    "market_tiles": MarketTile,
    "victory_tiles": PointTile,
    "bonus_tiles": BonusTile,
    "player_boards": PlayerBoard,
    "start_piles": StartPile,
    "maps": MapPattern,
}
"""The groups there may be, in the order in which they are shown."""


def _summary(name: str, group: Group[Item], sources: dict[str, str]) -> GroupSummary:
    """One group in short."""
    named = [source for item in group.items for source in item.sources]
    return GroupSummary(
        name=name,
        count=_pieces(group.items),
        confidence=max((item.least for item in group.items), key=CONFIDENCES.index),
        reconstructed=_pieces(
            item for item in group.items if item.least == Confidence.RECONSTRUCTED
        ),
        sources=tuple(sources[source] for source in dict.fromkeys(named)),
        note=group.note,
    )


def _pieces(items: Iterable[Item]) -> int:
    """How many components that are, copies counted."""
    return sum(getattr(item, "count", 1) for item in items)
