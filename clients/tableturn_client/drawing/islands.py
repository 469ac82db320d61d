"""The map of islands: flat-top hexagons in columns, as large as the room allows.

Each tile shows its name, its symbol and trade, `#` outposts and `^` boats with
the numbers of their seats, and `+` the cubes that were dropped there. A port
shows the cost and the points of its victory point tile.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import cubes
from tableturn_client.drawing.harbour import port_face
from tableturn_client.drawing.hexes import Canvas, Grid, fill, outline
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, narrow

SYMBOLS = {"ginger": "yellow", "chili": "red", "tea": "green", "cloves": "color(137)"}
"""The colour of the text of a symbol; its word always stands there too."""
PORT = "bold cyan"
SEA = "blue"
HERE = "bold reverse"
GOAL = "bold underline green"
_LARGE = (15, 13)
"""Pitches of a large map, the best first. The narrowest trade needs 7 characters."""
_COMPACT = (15, 14)


@dataclass(frozen=True)
class Marks:
    """What is marked on a map: the tile of somebody's boat, and tiles to choose from."""

    here: str = ""
    goals: Collection[str] = ()


@dataclass(frozen=True)
class Islands:
    """The map of a table and what is needed to draw it."""

    view: views_pb2.IslandsView
    harbour: views_pb2.HarbourView
    seats: Seats
    marks: Marks = Marks()

    def grid(self, slope: int, pitch: int) -> Grid:
        """Where the tiles stand."""
        return Grid(((tile.q, tile.r) for tile in self.view.tiles), slope, pitch)


def draw(islands: Islands, look: Look, lines: int = 0) -> Text:
    """The map in the largest form that fits the look's width and so many lines (0: any)."""
    forms = [(2, pitch) for pitch in _LARGE] + [(1, pitch) for pitch in _COMPACT]
    for slope, pitch in forms:
        grid = islands.grid(slope, pitch)
        if grid.width <= look.width and (not lines or grid.height <= lines):
            return _on_canvas(islands, grid, look)
    grid = islands.grid(1, _COMPACT[-1])
    if grid.width <= look.width:  # too high, but a map all the same
        return _on_canvas(islands, grid, look)
    return as_list(islands, look)


def _on_canvas(islands: Islands, grid: Grid, look: Look) -> Text:
    """The map as hexagons."""
    canvas = Canvas(grid.width, grid.height)
    for tile in islands.view.tiles:
        outline(canvas, grid, (tile.q, tile.r), look.signs)
    face = _large if grid.slope > 1 else _compact
    for tile in islands.view.tiles:
        fill(canvas, grid, (tile.q, tile.r), face(islands, tile, grid, look))
    return canvas.text()


def _large(islands: Islands, tile: views_pb2.IslandTileView, grid: Grid, look: Look) -> list[Text]:
    """The four lines of a tile: name and symbol, trade, what stands on it, what lies on it."""
    head = Text(" ") + _name(islands, tile)
    if tile.kind == views_pb2.TILE_KIND_PORT:
        head.append(" port", PORT)
    elif tile.kind == views_pb2.TILE_KIND_SEA:
        head.append(" sea", SEA)
    else:
        head.append(" ").append(narrow(tile.symbol), SYMBOLS.get(tile.symbol, ""))
    face = Text("  ") + _face(islands, tile)
    on_it = Text("  ") + _standing(islands, tile, look)
    lying = _lying(tile, grid.room(3) - 1)
    if lying:
        lying = Text.assemble((look.signs.floor, "dim"), lying)
    return [head, face, on_it, lying]


def _compact(
    islands: Islands, tile: views_pb2.IslandTileView, grid: Grid, look: Look
) -> list[Text]:
    """The two lines of a tile: name and trade; what is on it, and the symbol's first letters."""
    head = Text(" ").join((_name(islands, tile), _face(islands, tile)))
    symbol = Text(narrow(tile.symbol)[:3], SYMBOLS.get(tile.symbol, ""))
    room = grid.room(1) - len(symbol.plain)
    on_it = _standing(islands, tile, look)
    lying = _lying(tile, room - len(on_it.plain) - 1)
    on_it = Text(look.signs.floor if len(on_it.plain) else "").join((on_it, lying))
    if len(on_it.plain) >= room:
        on_it = on_it[: room - 1]
    floor = look.signs.floor * (room - len(on_it.plain))
    return [head, Text.assemble(on_it, (floor, "dim"), symbol)]


def _name(islands: Islands, tile: views_pb2.IslandTileView) -> Text:
    """The tile's name; marked where somebody's boat is, or where it may be chosen."""
    name = narrow(tile.tile)[:4] or "?"
    if tile.tile == islands.marks.here:
        return Text(name, HERE)
    if tile.tile in islands.marks.goals:
        return Text(f"*{name}", GOAL)
    return Text(name, "bold")


def _face(islands: Islands, tile: views_pb2.IslandTileView) -> Text:
    """What is printed on the tile, or lies on the port."""
    if tile.kind == views_pb2.TILE_KIND_SEA:
        return Text("~ ~ ~", SEA)
    if tile.kind == views_pb2.TILE_KIND_PORT:
        port = next((p for p in islands.harbour.ports if p.tile == tile.tile), None)
        return port_face(port) if port else Text()
    if tile.HasField("cost") or tile.HasField("gain"):
        return cubes.trade(tile.cost, tile.gain)
    return Text() if tile.kind == views_pb2.TILE_KIND_MARKET else Text("?")


def _standing(islands: Islands, tile: views_pb2.IslandTileView, look: Look) -> Text:
    """Outposts and boats with the numbers of their seats."""
    parts = []
    if tile.outposts:
        parts.append(Text(look.signs.outpost) + islands.seats.chips(tile.outposts))
    if tile.boats:
        parts.append(Text(look.signs.boat, "bold") + islands.seats.chips(tile.boats))
    return Text(" ").join(parts)


def _lying(tile: views_pb2.IslandTileView, room: int) -> Text:
    """The cubes that were dropped on the tile."""
    if not cubes.total(tile.cubes):
        return Text()
    lying = Text("+") + cubes.bundle(tile.cubes, min(cubes.FEW, max(0, room - 1)))
    return lying if len(lying.plain) <= room else Text(f"+{cubes.total(tile.cubes)}")


def as_list(islands: Islands, look: Look) -> Text:
    """The tiles as a list, a line for each column of the map, for narrow terminals."""
    columns: dict[int, list[views_pb2.IslandTileView]] = {}
    for tile in islands.view.tiles:
        columns.setdefault(tile.q, []).append(tile)
    lines = []
    for _, tiles in sorted(columns.items()):
        tiles.sort(key=lambda tile: tile.r)
        lines += _listed([describe(islands, tile, look) for tile in tiles], look)
    return Text("\n").join(lines)


def near(islands: Islands, look: Look) -> Text:
    """Part of the list: the tile of the marked boat, its neighbours, the tiles to choose from."""
    here = next((t for t in islands.view.tiles if t.tile == islands.marks.here), None)

    def is_near(tile: views_pb2.IslandTileView) -> bool:
        if here is None or tile.tile in islands.marks.goals:
            return tile.tile in islands.marks.goals
        q, r = tile.q - here.q, tile.r - here.r
        return max(abs(q), abs(r), abs(q + r)) <= 1

    cells = [describe(islands, tile, look) for tile in islands.view.tiles if is_near(tile)]
    return Text("\n").join(_listed([*cells, Text("...", "dim")], look)) if cells else Text()


def _listed(cells: Sequence[Text], look: Look) -> list[Text]:
    """Tiles one behind the other, in as few lines as fit."""
    lines = [Text()]
    for cell in cells:
        if lines[-1] and len(lines[-1].plain) + len(cell.plain) + 3 > look.width:
            lines.append(Text("  "))
        elif lines[-1]:
            lines[-1].append(" | ", "dim")
        lines[-1].append_text(cell)
    return lines


def describe(islands: Islands, tile: views_pb2.IslandTileView, look: Look) -> Text:
    """One tile on a line: `C2 YY>G ginger #12 ^1 +YR`."""
    parts = [_name(islands, tile), _face(islands, tile)]
    if tile.symbol:
        parts.append(Text(clean(tile.symbol, 10), SYMBOLS.get(tile.symbol, "")))
    parts += [_standing(islands, tile, look), _lying(tile, 12)]
    return Text(" ").join(part for part in parts if part.plain)
