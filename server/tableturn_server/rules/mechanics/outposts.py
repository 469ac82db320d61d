"""Outposts: a player's board of rows, one a symbol, emptied from the left."""

from __future__ import annotations

import msgspec

from tableturn_server.rules.mechanics.islands import replaced
from tableturn_server.rules.views import OutpostRowView

Built = tuple[int, ...]
"""How many outposts were taken from each row of a board."""


class Board(msgspec.Struct, frozen=True):
    """What is printed on a player's board: symbols, and values from left to right."""

    symbols: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> int:
        """How many outposts a row has."""
        return len(self.values[0])

    def row(self, symbol: str) -> int:
        """The row of a symbol."""
        return self.symbols.index(symbol)


def taken(built: Built, row: int) -> Built:
    """The leftmost outpost of a row was taken (EW-15)."""
    return replaced(built, row, built[row] + 1)


def emptied(before: Built, after: Built) -> int | None:
    """The column, from 1, that became empty in all rows (EW-16)."""
    return min(after) if min(after) > min(before) else None


def uncovered(board: Board, built: Built) -> int:
    """The points that the taken outposts uncovered (EW-31)."""
    return sum(sum(values[:count]) for values, count in zip(board.values, built, strict=True))


def rows_view(board: Board, built: Built) -> tuple[OutpostRowView, ...]:
    """The rows as all see them."""
    return tuple(
        OutpostRowView(symbol=symbol, built=count, values=values)
        for symbol, count, values in zip(board.symbols, built, board.values, strict=True)
    )
