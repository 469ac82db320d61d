"""Seats: a number and a name, in the seat's colour, never by colour alone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing.words import clean, cut

NAME_COLUMNS = 16
_STYLES = {
    "red": "bold white on color(160)",
    "blue": "bold white on color(26)",
    "green": "bold white on color(28)",
    "yellow": "bold black on color(220)",
    "white": "bold black on color(255)",
    "black": "bold white on color(234)",
    "purple": "bold white on color(91)",
    "orange": "bold black on color(208)",
}
_UNKNOWN = "bold reverse"


class Seats:
    """The seats of a table, looked up by number; seats that are not known get a bare number."""

    def __init__(self, seats: Iterable[table_pb2.SeatView] = ()) -> None:
        self._seats = {seat.seat: seat for seat in seats}

    @classmethod
    def of(cls, view: table_pb2.TableView) -> Seats:
        """The seats of a table."""
        return cls(view.seats)

    def style(self, seat: int) -> str:
        """The style of the seat's colour."""
        found = self._seats.get(seat)
        return _STYLES.get(found.color, _UNKNOWN) if found else _UNKNOWN

    def color(self, seat: int) -> str:
        """The word for the seat's colour; empty if it is not known."""
        found = self._seats.get(seat)
        return clean(found.color, 12) if found else ""

    def name(self, seat: int, columns: int = NAME_COLUMNS) -> str:
        """The player's name, cut to so many columns; `seat 2` for nobody."""
        found = self._seats.get(seat)
        name = clean(found.name, columns) if found else ""
        return name or cut(f"seat {seat}", columns)

    def chip(self, seat: int) -> Text:
        """The seat's number on its colour."""
        return Text(str(seat), self.style(seat))

    def chips(self, seats: Iterable[int]) -> Text:
        """Several numbers, each on its colour."""
        return Text().join(self.chip(seat) for seat in seats)

    def label(self, seat: int, columns: int = NAME_COLUMNS) -> Text:
        """Number and name: `1 Anna`."""
        return Text.assemble(self.chip(seat), " ", (self.name(seat, columns), "bold"))

    def full(self, seat: int, columns: int = NAME_COLUMNS) -> Text:
        """Number, name and colour: `1 Anna (red)`."""
        drawn = self.label(seat, columns)
        color = self.color(seat)
        return drawn.append(f" ({color})") if color else drawn

    def plain(self, seat: int) -> str:
        """Number, name and colour as a plain text."""
        return self.full(seat).plain

    def listed(self, seats: Iterable[int], between: str = ", ") -> Text:
        """Several seats by number and name."""
        return Text(between).join(self.label(seat) for seat in seats)
