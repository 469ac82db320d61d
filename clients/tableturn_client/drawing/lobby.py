"""A table before its start: who has come, and how to join."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing import company
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean


def draw(view: table_pb2.TableView, look: Look, own: Collection[int] = ()) -> Text:
    """A line for each seat."""
    seats = Seats.of(view)
    lines = []
    for seat in view.seats:
        line = Text("  ").append_text(seats.chip(seat.seat)).append(f" {clean(seat.color, 8):<8}")
        if seat.occupant == table_pb2.OCCUPANT_NOBODY:
            line.append("free", "dim italic")
        else:
            line.append(clean(seat.name, 40), "bold")
            line.append(f" ({what})" if (what := company.sits(seat)) else "")
            line.append(" (you)" if seat.seat in own else "", "green")
            if who := company.confirms(seat):
                line.append(f", {who}", "dim")
        line.truncate(look.width)
        lines.append(line)
    return Text("\n").join(lines)


def options(view: table_pb2.TableView) -> str:
    """The options of the game, in a line."""
    return ", ".join(
        f"{clean(name, 30)} {clean(value, 30)}" for name, value in sorted(view.options.items())
    )
