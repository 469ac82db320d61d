"""Islands: the map of hexagons, and the boats, outposts and cubes on its tiles.

A *layout* is the shape of a map, and never changes in a game. Its text names the
columns from west to east, divided by `/` or line ends. A column is the height at
which it begins, counted in half tiles from the north, and its places from north
to south: `m` a market slot, `p` a port, `.` nothing. The map of the first game:

    2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp

A tile's name is the letter of its column and its number from the north among the
tiles of the column, so this map has the ports A1, A4, E1 and E4. Inside the rules
a tile is its place in `Layout.names`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import TypeVar

import msgspec

from tableturn_server.rules.mechanics.cubes import NO_CUBES, Cubes, view
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import IslandsView, IslandTileView, TileKind

Item = TypeVar("Item")

Hex = tuple[int, int]
"""Axial coordinates (q, r): q grows to the east, r to the south."""

MARKET_SLOTS = 20
PORTS = 4
NOWHERE = -1
"""The place of a boat that is not on the map."""
PORT = -1
SEA = -2
"""What lies at a place that has no market tile."""

_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
_COLUMN = re.compile(r"(\d{1,2})\s+([mp.]+)")
_MAX_TEXT = 400


class BadLayout(ValueError):
    """The text is no layout that can be played on. The sentence says why."""


class Layout(msgspec.Struct, frozen=True):
    """The shape of a map. Places are numbered column by column, from the north."""

    text: str
    names: tuple[str, ...]
    hexes: tuple[Hex, ...]
    slots: tuple[int, ...]
    """The places of market and sea tiles."""
    ports: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]
    distances: tuple[tuple[int, ...], ...]
    """Steps from each place to each other."""
    index: dict[str, int]
    """The place of each name."""


# -- layouts -------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def read_layout(text: str) -> Layout:
    """The layout that a text describes. Raises BadLayout.

    Texts of the same shape give the same layout, whose `text` is the one to keep.
    """
    kinds = _read_columns(text)
    _check_counts(kinds)
    if layout_text(kinds) != text:
        return read_layout(layout_text(kinds))
    hexes = tuple(sorted(kinds, key=lambda place: (place[0], place[1])))
    at = {place: index for index, place in enumerate(hexes)}
    neighbours = tuple(tuple(sorted(at[n] for n in _around(place) if n in at)) for place in hexes)
    layout = Layout(
        text=text,
        names=_names(hexes),
        hexes=hexes,
        slots=tuple(at[place] for place in hexes if kinds[place] == "m"),
        ports=tuple(at[place] for place in hexes if kinds[place] == "p"),
        neighbours=neighbours,
        distances=tuple(_distances(start, neighbours) for start in range(len(hexes))),
        index={name: index for index, name in enumerate(_names(hexes))},
    )
    _check_connected(layout)
    return layout


def layout_warnings(layout: Layout) -> tuple[str, ...]:
    """What is unusual about a layout, in sentences; it can be played on all the same (EW-03)."""
    found = []
    slots = set(layout.slots)
    lonely = [
        layout.names[place]
        for place in layout.slots
        if len(slots.intersection(layout.neighbours[place])) < 2
    ]
    if lonely:
        found.append(f"each tile should touch at least two others: {', '.join(lonely)}")
    for one, other in combinations(layout.ports, 2):
        if layout.distances[one][other] < 2:
            pair = f"{layout.names[one]} and {layout.names[other]}"
            found.append(f"the ports should be spread out: {pair} touch")
    inner = [layout.names[place] for place in layout.ports if len(layout.neighbours[place]) == 6]
    if inner:
        found.append(f"ports should lie at the edge of the map: {', '.join(inner)}")
    return tuple(found)


def random_layout(source: Source) -> tuple[Layout, Source]:
    """A layout by chance in which each tile touches at least two others (EW-03)."""
    slots: set[Hex] = {(0, 0), (0, 1)}
    while len(slots) < MARKET_SLOTS:
        touching = sorted(
            place
            for place in {n for slot in slots for n in _around(slot)} - slots
            if _touched(place, slots) >= 2
        )
        place, source = source.choose(touching)
        slots.add(place)
    ports, source = _random_ports(slots, source)
    kinds = dict.fromkeys(slots, "m") | dict.fromkeys(ports, "p")
    return read_layout(layout_text(kinds)), source


def _random_ports(slots: set[Hex], source: Source) -> tuple[list[Hex], Source]:
    """Four spread-out places at the edge, each touching two tiles (EW-04)."""
    edge = sorted(place for place in _outside(slots) if _touched(place, slots) >= 2)
    first, source = source.choose(edge)
    ports = [first]
    while len(ports) < PORTS:
        far = max(min(_far(place, port) for port in ports) for place in edge)
        farthest = [place for place in edge if min(_far(place, port) for port in ports) == far]
        port, source = source.choose(farthest)
        ports.append(port)
    return ports, source


def layout_text(kinds: dict[Hex, str]) -> str:
    """The text of a layout, from its places and their letters."""
    west = min(q for q, _ in kinds)
    east = max(q for q, _ in kinds)
    shift = min(2 * r + q for q, r in kinds)
    columns = []
    for q in range(west, east + 1):
        rows = sorted(r for column, r in kinds if column == q)
        if not rows:
            raise BadLayout("the map is in two parts")
        letters = (kinds.get((q, r), ".") for r in range(rows[0], rows[-1] + 1))
        columns.append(f"{2 * rows[0] + q - shift} {''.join(letters)}")
    return " / ".join(columns)


def _read_columns(text: str) -> dict[Hex, str]:
    """The places that a text names, each with its letter."""
    if len(text) > _MAX_TEXT:
        raise BadLayout(f"the layout has {len(text)} letters; at most {_MAX_TEXT} are read")
    columns = [column.strip() for column in re.split(r"[/\n]", text) if column.strip()]
    if not 1 <= len(columns) <= 24:
        raise BadLayout("a layout has 1 to 24 columns, divided by /")
    kinds: dict[Hex, str] = {}
    parity = 0
    for number, column in enumerate(columns):
        letter = chr(ord("A") + number)
        found = _COLUMN.fullmatch(column)
        if found is None:
            raise BadLayout(
                f"column {letter}: a height and then m, p or . for each place, "
                f"such as `2 pmmp`, not {column[:30]!r}"
            )
        height = int(found[1])
        q = number - len(columns) // 2
        if number == 0:
            parity = (height - q) % 2
        if (height - q) % 2 != parity:
            word = "even" if height % 2 else "odd"
            raise BadLayout(f"column {letter}: must begin at an {word} height, not at {height}")
        for row, kind in enumerate(found[2]):
            if kind != ".":
                kinds[q, (height + parity - q) // 2 + row] = kind
        if not any(place[0] == q for place in kinds):
            raise BadLayout(f"column {letter}: has no tile")
    return kinds


def _check_counts(kinds: dict[Hex, str]) -> None:
    """20 market slots and 4 ports."""
    letters = list(kinds.values())
    if letters.count("m") != MARKET_SLOTS or letters.count("p") != PORTS:
        raise BadLayout(
            f"a map has {MARKET_SLOTS} market slots (m) and {PORTS} ports (p), "
            f"not {letters.count('m')} and {letters.count('p')}"
        )


def _check_connected(layout: Layout) -> None:
    """The market slots are connected without the ports; each port touches one."""
    slots = set(layout.slots)
    reached = {layout.slots[0]}
    todo = [layout.slots[0]]
    while todo:
        for place in slots.intersection(layout.neighbours[todo.pop()]) - reached:
            reached.add(place)
            todo.append(place)
    if reached != slots:
        names = ", ".join(layout.names[place] for place in sorted(slots - reached))
        raise BadLayout(f"not connected to the rest of the map: {names}")
    for port in layout.ports:
        if not slots.intersection(layout.neighbours[port]):
            raise BadLayout(f"the port {layout.names[port]} touches no market slot")


def _names(hexes: tuple[Hex, ...]) -> tuple[str, ...]:
    """A letter for the column from the west, a number from the north within it."""
    west = hexes[0][0]
    names: list[str] = []
    for index, (q, _) in enumerate(hexes):
        above = sum(1 for column, _ in hexes[:index] if column == q)
        names.append(f"{chr(ord('A') + q - west)}{above + 1}")
    return tuple(names)


def _around(place: Hex) -> list[Hex]:
    """The six places around one."""
    q, r = place
    return [(q + east, r + south) for east, south in _DIRECTIONS]


def _touched(place: Hex, slots: set[Hex]) -> int:
    """How many of the slots a place touches."""
    return len(slots.intersection(_around(place)))


def _far(one: Hex, other: Hex) -> int:
    """Steps between two places of the plane."""
    q, r = one[0] - other[0], one[1] - other[1]
    return max(abs(q), abs(r), abs(q + r))


def _outside(slots: set[Hex]) -> set[Hex]:
    """The empty places that touch the slots from outside, not those in a hole."""
    low = min(min(place) for place in slots) - 2
    high = max(max(place) for place in slots) + 2
    start = (low, low)
    seen = {start}
    todo = [start]
    while todo:
        for place in _around(todo.pop()):
            if place not in seen and place not in slots and low <= min(place) <= max(place) <= high:
                seen.add(place)
                todo.append(place)
    return {place for place in seen if _touched(place, slots)}


def _distances(start: int, neighbours: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Steps from one place to all; as many as there are places where no way leads."""
    steps = [len(neighbours)] * len(neighbours)
    steps[start] = 0
    todo = deque([start])
    while todo:
        place = todo.popleft()
        for beside in neighbours[place]:
            if steps[beside] == len(neighbours):
                steps[beside] = steps[place] + 1
                todo.append(beside)
    return tuple(steps)


# -- what lies on the map ------------------------------------------------------------------


class Islands(msgspec.Struct, frozen=True, array_like=True):
    """What lies on each place of a layout, and where each seat's boat is."""

    layout: str
    tiles: tuple[int, ...]
    """The number of the market tile in the component set, or PORT or SEA."""
    boats: tuple[int, ...]
    """The place of each seat's boat, or NOWHERE."""
    outposts: tuple[tuple[int, ...], ...]
    """The seats that built at each place, in the order in which they did."""
    cubes: tuple[Cubes, ...]
    """The cubes dropped at each place."""

    @property
    def shape(self) -> Layout:
        """The layout."""
        return read_layout(self.layout)

    def boat(self, seat: int) -> int:
        """The place of a seat's boat, or NOWHERE."""
        return self.boats[seat - 1]

    def name(self, seat: int) -> str:
        """The name of the tile of a seat's boat; empty where there is none."""
        place = self.boats[seat - 1]
        return "" if place == NOWHERE else self.shape.names[place]

    def owners_at(self, place: int, seat: int) -> tuple[int, ...]:
        """The other seats with boats on a market tile, who are paid (EW-12); none elsewhere."""
        if self.tiles[place] < 0 or place not in self.boats:
            return ()
        return tuple(
            other for other, boat in enumerate(self.boats, 1) if boat == place and other != seat
        )

    def may_end(self, place: int, seat: int, left: Callable[[int], int]) -> bool:
        """A movement at a place can come to a legal end, there or further on (EW-R12).

        `left` tells how many cubes remain after so many further steps, to pay for the
        boats at the end; negative where the steps themselves can't be paid.
        """
        if len(self.owners_at(place, seat)) <= left(0):
            return True
        return any(
            len(self.owners_at(goal, seat)) <= left(steps)
            for goal, steps in enumerate(self.shape.distances[place])
        )

    def with_boat(self, seat: int, place: int) -> Islands:
        """A boat put on a place, or taken off the map with NOWHERE."""
        return msgspec.structs.replace(self, boats=replaced(self.boats, seat - 1, place))

    def with_cubes(self, place: int, cubes: Cubes) -> Islands:
        """Other cubes lie at a place."""
        return msgspec.structs.replace(self, cubes=replaced(self.cubes, place, cubes))

    def with_outpost(self, place: int, seat: int) -> Islands:
        """A seat built at a place."""
        built = (*self.outposts[place], seat)
        return msgspec.structs.replace(self, outposts=replaced(self.outposts, place, built))


NO_ISLANDS = Islands("", (), (), (), ())


class TileFace(msgspec.Struct, frozen=True):
    """What is printed on a market tile."""

    component: str
    symbol: str
    cost: Cubes
    gain: Cubes


def laid_out(layout: Layout, tiles: tuple[int, ...], seats: int) -> Islands:
    """A map at the start: the tiles fill the slots in order, the boats are off the map."""
    filled = [PORT] * len(layout.names)
    for place, tile in zip(layout.slots, tiles, strict=True):
        filled[place] = tile
    return Islands(
        layout=layout.text,
        tiles=tuple(filled),
        boats=(NOWHERE,) * seats,
        outposts=((),) * len(filled),
        cubes=(NO_CUBES,) * len(filled),
    )


def islands_view(islands: Islands, faces: tuple[TileFace, ...]) -> IslandsView:
    """The map as all see it."""
    return IslandsView(
        tuple(_tile_view(islands, faces, place) for place in range(len(islands.tiles)))
    )


def _tile_view(islands: Islands, faces: tuple[TileFace, ...], place: int) -> IslandTileView:
    """One tile of the map as all see it."""
    shape = islands.shape
    tile = islands.tiles[place]
    face = faces[tile] if tile >= 0 else None
    lying = islands.cubes[place]
    return IslandTileView(
        tile=shape.names[place],
        q=shape.hexes[place][0],
        r=shape.hexes[place][1],
        kind=TileKind.MARKET if face else TileKind.PORT if tile == PORT else TileKind.SEA,
        symbol=face.symbol if face else "",
        cost=view(face.cost) if face else None,
        gain=view(face.gain) if face else None,
        outposts=islands.outposts[place],
        boats=tuple(seat for seat, boat in enumerate(islands.boats, 1) if boat == place),
        cubes=view(lying) if lying.total else None,
        component=face.component if face else "",
    )


def replaced(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    """The tuple with another item at one place."""
    return (*items[:index], item, *items[index + 1 :])
