r"""A canvas of flat-top hexagons in columns, drawn with characters.

A hexagon is `2 * slope` lines high. With a slope of 2 and a pitch of 13:

       ___________
      / C2 ginger \
     /  YY>G       \
     \  #12 ^1     /
      \_+YR_______/

and with a slope of 1 the two inner lines are left away. Neighbours share their
edges, so a column begins `pitch` characters after the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from tableturn_client.drawing.look import Signs
from tableturn_client.drawing.words import narrow

Hex = tuple[int, int]
"""Axial coordinates (q, r): q grows to the east, r to the south."""


class Grid:
    """Where each hexagon of a map stands on a canvas."""

    def __init__(self, places: Iterable[Hex], slope: int, pitch: int) -> None:
        self.places = sorted(set(places))
        self.slope = slope
        self.pitch = pitch
        self._west = min((q for q, _ in self.places), default=0)
        self._north = min((2 * r + q for q, r in self.places), default=0)
        east = max((q for q, _ in self.places), default=0)
        south = max((2 * r + q for q, r in self.places), default=0)
        self.width = (east - self._west + 1) * pitch + slope
        self.height = (south - self._north + 2) * slope + 1

    @property
    def lines(self) -> int:
        """How many lines a hexagon has."""
        return 2 * self.slope

    def corner(self, place: Hex) -> tuple[int, int]:
        """Column and line of a hexagon's first line, without its roof."""
        q, r = place
        return (q - self._west) * self.pitch, (2 * r + q - self._north) * self.slope + 1

    def inset(self, line: int) -> int:
        """How far the left edge stands in on a line of a hexagon."""
        return self.slope - 1 - line if line < self.slope else line - self.slope

    def room(self, line: int) -> int:
        """How many characters fit between the edges on a line of a hexagon."""
        return self.pitch + self.slope - 2 - 2 * self.inset(line)


def narrowest(slope: int, pitch: int) -> int:
    """How many characters fit on every line of a hexagon."""
    return pitch - slope if slope > 1 else pitch - 1


class Canvas:
    """Characters with styles."""

    def __init__(self, width: int, height: int) -> None:
        self._cells = [[(" ", "")] * width for _ in range(height)]

    def put(self, x: int, y: int, char: str, style: str = "", *, under: bool = False) -> None:
        """Write one character; `under` leaves alone what stands there already."""
        inside = 0 <= y < len(self._cells) and 0 <= x < len(self._cells[y])
        if inside and (not under or self._cells[y][x][0] == " "):
            self._cells[y][x] = (char, style)

    def write(self, x: int, y: int, text: Text) -> None:
        """Write a text, with its styles."""
        styles = [str(text.style)] * len(text.plain)
        for span in text.spans:
            for index in range(span.start, min(span.end, len(styles))):
                styles[index] = f"{styles[index]} {span.style}".strip()
        for offset, (char, style) in enumerate(zip(text.plain, styles, strict=True)):
            if char != " " or style:
                self.put(x + offset, y, " " if char == " " else narrow(char) or "?", style)

    def text(self) -> Text:
        """All of it, a line for each line, without blanks at the ends."""
        lines = []
        for row in self._cells:
            line = Text(no_wrap=True)
            for char, style in row:
                line.append(char, style)
            line.rstrip()
            lines.append(line)
        return Text("\n", no_wrap=True).join(lines)


def outline(canvas: Canvas, grid: Grid, place: Hex, signs: Signs, style: str = "dim") -> None:
    """Draw the edges of a hexagon."""
    x, y = grid.corner(place)
    roof = range(x + grid.slope, x + grid.pitch)
    for column in roof:
        canvas.put(column, y - 1, signs.floor, style, under=True)
        canvas.put(column, y + grid.lines - 1, signs.floor, style, under=True)
    for line in range(grid.lines):
        upper = line < grid.slope
        inset = grid.inset(line)
        right = x + grid.pitch + grid.slope - 1 - inset
        canvas.put(x + inset, y + line, signs.rising if upper else signs.falling, style)
        canvas.put(right, y + line, signs.falling if upper else signs.rising, style)


def fill(canvas: Canvas, grid: Grid, place: Hex, lines: Sequence[Text]) -> None:
    """Write the lines of a hexagon between its edges; what doesn't fit is cut."""
    x, y = grid.corner(place)
    for number, line in enumerate(lines[: grid.lines]):
        room = grid.room(number)
        canvas.write(x + grid.inset(number) + 1, y + number, line[:room] if room > 0 else Text())
