"""The sea as a bot plans on it: read off a view, made of small numbers.

Places are numbers in the order of the view's tiles.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.views import GameView, PlayerView, TileKind

from .bundles import NOTHING, Counts, counts, share

_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))


class Market(msgspec.Struct, frozen=True):
    """A market tile: its exchange, its row on the boards, and what an outpost costs here."""

    cost: Counts
    gain: Counts
    row: int
    price: int


class Port(msgspec.Struct, frozen=True):
    """A port with a victory point tile on it."""

    cost: Counts
    points: int


class Own(msgspec.Struct, frozen=True):
    """What a seat has that stays the same while it plans, or changes by building only."""

    limit: int
    free: int
    """Steps of a turn that cost nothing."""
    upgrades: int
    harvest: Counts
    values: tuple[tuple[int, ...], ...]
    """What each outpost of each row uncovers."""


class Boat(msgspec.Struct, frozen=True):
    """What planning changes: where the boat is, what is held, built and taken."""

    place: int
    hold: Counts
    outposts: int
    """The places with an own outpost, as bits."""
    built: tuple[int, ...]
    """Outposts taken from each row."""
    taken: int = 0
    """The places of ports whose tile was taken in the plan, as bits."""


class Sea(msgspec.Struct, frozen=True):
    """What the other seats leave as it is for the time of a plan."""

    names: tuple[str, ...]
    markets: dict[int, Market]
    ports: dict[int, Port]
    crowd: tuple[int, ...]
    """Boats of others at each place that would have to be paid."""
    lying: tuple[Counts, ...]
    shape: Shape
    bonuses: dict[BonusKind, int]
    """The bonus tiles left, with their points."""


class Shape(msgspec.Struct, frozen=True):
    """How far places are from each other, and the way."""

    distances: tuple[tuple[int, ...], ...]
    towards: tuple[tuple[int, ...], ...]
    """`towards[goal][place]`: the next place on the way."""

    def way(self, start: int, goal: int) -> tuple[int, ...]:
        """The places after `start` on a shortest way."""
        found = []
        while start != goal:
            start = self.towards[goal][start]
            found.append(start)
        return tuple(found)


def read_sea(view: GameView, seat: int) -> Sea:
    """The sea in a view, for one seat."""
    assert view.islands is not None
    assert view.harbour is not None
    tiles = view.islands.tiles
    rows = [row.symbol for row in view.players[seat - 1].outposts]
    price = 2 if len(view.players) == 2 else 1  # EW-15
    index = {tile.tile: place for place, tile in enumerate(tiles)}
    return Sea(
        names=tuple(index),
        markets={
            place: Market(
                counts(tile.cost),
                counts(tile.gain),
                rows.index(tile.symbol),
                price * sum(owner != seat for owner in tile.outposts),
            )
            for place, tile in enumerate(tiles)
            if tile.kind is TileKind.MARKET
        },
        ports={
            index[port.tile]: Port(counts(port.victory_tile.cost), port.victory_tile.points)
            for port in view.harbour.ports
            if port.victory_tile is not None
        },
        crowd=tuple(
            sum(boat != seat for boat in tile.boats) if tile.kind is TileKind.MARKET else 0
            for tile in tiles
        ),
        lying=tuple(counts(tile.cubes) for tile in tiles),
        shape=_shape(tuple((tile.q, tile.r) for tile in tiles)),
        bonuses={supply.kind: supply.points for supply in view.bonuses if supply.left},
    )


def read_own(player: PlayerView) -> Own:
    """What a player has on its board."""
    kinds = [tile.kind for tile in player.bonuses]
    return Own(
        limit=player.limit,
        free=1 + kinds.count(BonusKind.MOVE),
        upgrades=kinds.count(BonusKind.UPGRADE),
        harvest=(2, kinds.count(BonusKind.HARVEST), 0, 0),
        values=tuple(row.values for row in player.outposts),
    )


def read_boat(view: GameView, seat: int, sea: Sea) -> Boat:
    """Where a seat stands; its boat must be on the map."""
    assert view.islands is not None
    player = view.players[seat - 1]
    return Boat(
        place=sea.names.index(player.boat),
        hold=counts(player.hold),
        outposts=sum(
            1 << place for place, tile in enumerate(view.islands.tiles) if seat in tile.outposts
        ),
        built=tuple(row.built for row in player.outposts),
    )


def wanted(sea: Sea, hold: Counts, taken: int) -> Counts:
    """The price of the port that a hold is nearest to."""
    left = [port for place, port in sea.ports.items() if not taken >> place & 1]
    if not left:
        return NOTHING
    return max(left, key=lambda port: (share(hold, port.cost) * port.points, port.points)).cost


def asked_at(sea: Sea, boat: Boat, goal: int) -> Counts:
    """What is wanted of the cubes at a place."""
    if goal in sea.ports and not boat.taken >> goal & 1:
        return sea.ports[goal].cost
    market = sea.markets.get(goal)
    return market.cost if market is not None else wanted(sea, boat.hold, boat.taken)


def holding(boat: Boat, hold: Counts) -> Boat:
    """The boat with another hold."""
    return Boat(boat.place, hold, boat.outposts, boat.built, boat.taken)


@lru_cache(maxsize=64)
def _shape(hexes: tuple[tuple[int, int], ...]) -> Shape:
    at = {place: index for index, place in enumerate(hexes)}
    beside = [[at[n] for q, r in _AROUND if (n := (hq + q, hr + r)) in at] for hq, hr in hexes]
    distances, towards = [], []
    for goal in range(len(hexes)):
        steps, back = [99] * len(hexes), [goal] * len(hexes)
        steps[goal] = 0
        todo = [goal]
        for place in todo:
            for other in beside[place]:
                if steps[other] == 99:
                    steps[other], back[other] = steps[place] + 1, place
                    todo.append(other)
        distances.append(tuple(steps))
        towards.append(tuple(back))
    return Shape(tuple(distances), tuple(towards))
