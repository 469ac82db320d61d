"""What is seen of a game: plain values of the same shape as `tableturn.v1` views.

The service turns them into messages field by field, so names and nesting are
those of `views.proto`; defaults are left out.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.mechanics.cubes import CubesView


class View(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all views have in common."""


class TileKind(IntEnum):
    """What a tile of the map is. The numbers are those of `tableturn.v1.TileKind`."""

    MARKET = 1
    PORT = 2
    SEA = 3


class FreeTablePhase(IntEnum):
    """Where a round of a free-table stands, numbered as in `tableturn.v1`."""

    ORDER = 1
    TURNS = 2
    TOGETHER = 3
    BETWEEN = 4


class OutpostRowView(View, frozen=True):
    """A row of outposts on a player's board."""

    symbol: str
    built: int = 0
    values: tuple[int, ...] = ()


class BonusTileView(View, frozen=True):
    """A bonus tile that a player owns."""

    kind: BonusKind
    points: int = 0


class BonusSupplyView(View, frozen=True):
    """One kind of bonus tile in the supply; `points` of the next one to be taken."""

    kind: BonusKind
    left: int = 0
    points: int = 0


class VictoryTileView(View, frozen=True):
    """A victory point tile."""

    cost: CubesView
    points: int = 0


class CardKind(IntEnum):
    """What a merchant card does. The numbers are those of `tableturn.v1.CardKind`."""

    SPICE = 1
    UPGRADE = 2
    TRADE = 3


class CoinKind(IntEnum):
    """What a coin is made of. The numbers are those of `tableturn.v1.CoinKind`."""

    GOLD = 1
    SILVER = 2


class CardView(View, frozen=True):
    """A merchant card; `cubes` lie on it in the row."""

    card: str
    kind: CardKind
    cost: CubesView | None = None
    gain: CubesView | None = None
    upgrades: int = 0
    cubes: CubesView | None = None


class MerchantsView(View, frozen=True):
    """The row of merchant cards from the left, and the size of its deck."""

    row: tuple[CardView, ...] = ()
    deck: int = 0
    to_be_dealt: int = 0
    wanted: str = ""


class PointCardView(View, frozen=True):
    """A point card."""

    card: str
    cost: CubesView
    points: int = 0


class CoinPileView(View, frozen=True):
    """A pile of coins above a place of the row of point cards, from 1."""

    place: int
    kind: CoinKind
    left: int = 0
    points: int = 0


class PointCardsView(View, frozen=True):
    """The row of point cards from the left, the size of its deck, and the coins above it."""

    row: tuple[PointCardView, ...] = ()
    deck: int = 0
    to_be_dealt: int = 0
    coins: tuple[CoinPileView, ...] = ()


class PlayerView(View, frozen=True):
    """What one seat owns."""

    seat: int
    dropped: bool = False
    hold: CubesView | None = None
    limit: int = 0
    boat: str = ""
    outposts: tuple[OutpostRowView, ...] = ()
    bonuses: tuple[BonusTileView, ...] = ()
    claimed: int = 0
    claimed_tiles: tuple[VictoryTileView, ...] = ()
    points: int | None = None
    claimed_cards: tuple[PointCardView, ...] = ()
    hand: tuple[CardView, ...] = ()
    hand_size: int = 0
    played: tuple[CardView, ...] = ()
    discard: tuple[CardView, ...] = ()
    discard_size: int = 0
    gold: int = 0
    silver: int = 0


class IslandTileView(View, frozen=True):
    """One tile of the map."""

    tile: str
    kind: TileKind
    q: int = 0
    r: int = 0
    symbol: str = ""
    cost: CubesView | None = None
    gain: CubesView | None = None
    outposts: tuple[int, ...] = ()
    boats: tuple[int, ...] = ()
    cubes: CubesView | None = None
    component: str = ""


class IslandsView(View, frozen=True):
    """The map."""

    tiles: tuple[IslandTileView, ...] = ()


class PortView(View, frozen=True):
    """One port."""

    tile: str
    victory_tile: VictoryTileView | None = None
    closed: bool = False
    to_be_drawn: bool = False


class HarbourView(View, frozen=True):
    """The ports and the size of the face-down pile."""

    ports: tuple[PortView, ...] = ()
    pile: int = 0


class FreeTableView(View, frozen=True):
    """The state of a free-table."""

    phase: FreeTablePhase
    passed: tuple[int, ...] = ()
    ready: tuple[int, ...] = ()
    rounds: int = 0
    named: tuple[int, ...] = ()


class GameView(View, frozen=True):
    """A game as one seat or a spectator sees it."""

    round: int = 0
    first_seat: int = 0
    turn_order: tuple[int, ...] = ()
    last_round: bool = False
    players: tuple[PlayerView, ...] = ()
    islands: IslandsView | None = None
    harbour: HarbourView | None = None
    bonuses: tuple[BonusSupplyView, ...] = ()
    piles: tuple[CubesView, ...] = ()
    merchants: MerchantsView | None = None
    point_cards: PointCardsView | None = None
    free_table: FreeTableView | None = None
