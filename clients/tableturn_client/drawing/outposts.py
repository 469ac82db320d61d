"""The own board: rows of outposts, and the values that they uncover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing.islands import SYMBOLS
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.words import clean, many


def uncovered(rows: Iterable[views_pb2.OutpostRowView]) -> int:
    """The points that lie open on a board."""
    return sum(sum(row.values[: row.built]) for row in rows)


def emptied(rows: Sequence[views_pb2.OutpostRowView]) -> int:
    """How many columns are empty."""
    return min((row.built for row in rows), default=0)


def board(rows: Sequence[views_pb2.OutpostRowView], look: Look) -> Text:
    """The rows: an uncovered value in brackets, one that is still under an outpost behind it.

    Two of five were built here:

        ginger  [0] [1]  #2  #2  #3
    """
    names = [clean(row.symbol, 10) or "?" for row in rows]
    room = max(map(cell_len, names), default=0)
    lines = []
    for row, name in zip(rows, names, strict=True):
        line = Text(name, SYMBOLS.get(row.symbol, "")).append(" " * (room - cell_len(name) + 1))
        for column, value in enumerate(row.values):
            if column < row.built:
                line.append(f" [{value}]", "bold")
            else:
                line.append(f" {look.signs.outpost}{value} ", "dim")
        lines.append(line)
    if rows:
        lines.append(Text(f"uncovered: {many(uncovered(rows), 'point')}"))
    return Text("\n").join(lines)


def short(rows: Sequence[views_pb2.OutpostRowView], look: Look) -> Text:
    """How many were built in each row, in the order of the rows: `#3 2 1 0`."""
    drawn = Text(look.signs.outpost)
    for number, row in enumerate(rows):
        drawn.append(" " if number else "").append(str(row.built), SYMBOLS.get(row.symbol, ""))
    return drawn
