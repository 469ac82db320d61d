"""The harbour: the ports with their victory point tiles, the pile and Closed Port.

The ports and the size of the pile are open; the order of the pile is hidden. A
claimed tile leaves a hole, which `refilled` fills when the turn is confirmed.
"""

from __future__ import annotations

import msgspec

from tableturn_server.rules.mechanics.cubes import Cubes, view
from tableturn_server.rules.mechanics.islands import replaced
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import HarbourView, PortView, VictoryTileView

EMPTY = -1
"""No tile lies on the port: the pile has run out."""
TO_BE_DRAWN = -2
"""The tile was claimed in the staged turn."""
CLOSED = -3
"""The Closed Port tile, on a port or in the pile."""
_CLOSED_AMONG = 5
"""Closed Port is shuffled into the next so many tiles of the pile."""

Pile = tuple[int, ...]
"""The face-down pile, the next tile first: numbers of victory tiles, and CLOSED."""


class VictoryTile(msgspec.Struct, frozen=True):
    """What is printed on a victory point tile."""

    cost: Cubes
    points: int

    @property
    def words(self) -> str:
        """The tile in a sentence."""
        return f"a victory point tile worth {self.points} ({self.cost.letters})"


class Harbour(msgspec.Struct, frozen=True, array_like=True):
    """What lies on each port, in the order of `Layout.ports`, and how high the pile is."""

    tiles: tuple[int, ...]
    pile: int

    def tile(self, port: int) -> int | None:
        """The victory tile on a port, if there is one."""
        tile = self.tiles[port]
        return tile if tile >= 0 else None

    def claimed(self, port: int) -> Harbour:
        """The tile of a port was taken: a hole is left (EW-18)."""
        return msgspec.structs.replace(self, tiles=replaced(self.tiles, port, TO_BE_DRAWN))


NO_HARBOUR = Harbour((), 0)


class Drawn(msgspec.Struct, frozen=True):
    """A tile, or CLOSED, that came to lie on a port; EMPTY where the pile had run out."""

    port: int
    tile: int
    moved: bool = False
    """Closed Port was not drawn but came from another port."""


def harbour_set_up(tiles: int, ports: int, source: Source) -> tuple[Harbour, Pile, Source]:
    """One tile face up on each port, Closed Port among the next of the pile (EW-05)."""
    order, source = source.shuffled(range(tiles))
    first = ports + _CLOSED_AMONG
    top, source = source.shuffled((*order[ports:first], CLOSED))
    pile = (*top, *order[first:])
    return Harbour(tiles=order[:ports], pile=len(pile)), pile, source


def refilled(harbour: Harbour, pile: Pile) -> tuple[Harbour, Pile, tuple[Drawn, ...]]:
    """The holes filled from the pile; Closed Port moves first (EW-18, EW-19)."""
    tiles = harbour.tiles
    drawn: list[Drawn] = []
    while TO_BE_DRAWN in tiles:
        goal = hole = tiles.index(TO_BE_DRAWN)
        if CLOSED in tiles:
            goal = tiles.index(CLOSED)
            tiles = replaced(tiles, hole, CLOSED)
            drawn.append(Drawn(hole, CLOSED, moved=True))
        tile, pile = (pile[0], pile[1:]) if pile else (EMPTY, pile)
        tiles = replaced(tiles, goal, tile)
        drawn.append(Drawn(goal, tile))
    return Harbour(tiles=tiles, pile=len(pile)), pile, tuple(drawn)


def drawn_words(drawn: Drawn, ports: tuple[str, ...], faces: tuple[VictoryTile, ...]) -> str:
    """What was drawn, as a line for the log."""
    port = f"port {ports[drawn.port]}"
    if drawn.moved:
        return f"Closed Port moves to {port}"
    if drawn.tile == CLOSED:
        return f"Closed Port is drawn for {port}"
    if drawn.tile == EMPTY:
        return f"the pile of victory point tiles is empty: {port} stays empty"
    return f"{faces[drawn.tile].words} is drawn for {port}"


def victory_view(face: VictoryTile) -> VictoryTileView:
    """A victory point tile as it stands in views."""
    return VictoryTileView(cost=view(face.cost), points=face.points)


def harbour_view(
    harbour: Harbour, ports: tuple[str, ...], faces: tuple[VictoryTile, ...]
) -> HarbourView:
    """The harbour as all see it."""
    return HarbourView(
        ports=tuple(
            PortView(
                tile=name,
                victory_tile=victory_view(faces[tile]) if tile >= 0 else None,
                closed=tile == CLOSED,
                to_be_drawn=tile == TO_BE_DRAWN,
            )
            for name, tile in zip(ports, harbour.tiles, strict=True)
        ),
        pile=harbour.pile,
    )
