"""A table before its start: who has come, and how to join."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing import clocks, company
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, folded


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
    told = [*clocks.terms(view), *_who_may(view)]
    lines += [Text(folded(f"  {sentence}", look.width - 1, "  "), "dim") for sentence in told]
    return Text("\n").join(lines)


def _who_may(view: table_pb2.TableView) -> list[str]:
    """Who may sit down and look on, where that is not everybody at once."""
    told = ["Private: others join with the code only."] if view.private else []
    if delay := view.spectator_delay.ToTimedelta():
        told.append(f"Spectators see it {clocks.span(delay)} later.")
    return told


def options(view: table_pb2.TableView) -> str:
    """The options of the game, in a line."""
    return ", ".join(
        f"{clean(name, 30)} {clean(value, 30)}" for name, value in sorted(view.options.items())
    )
