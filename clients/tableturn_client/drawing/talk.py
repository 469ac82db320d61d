"""What people say at a table."""

from __future__ import annotations

from rich.text import Text

from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean
from tableturn_client.messages import ChatLine

_LONGEST = 300


def line(said: ChatLine, seats: Seats | None = None) -> Text:
    """One line, with who said it: `2 Ben: hello`."""
    seats = seats or Seats()
    name = clean(said.name, 40)
    if not said.seat:
        who = Text(name if name and name != "host" else "the host", "bold")
    else:
        who = Text.assemble(seats.chip(said.seat), " ", (name or f"seat {said.seat}", "bold"))
    return who.append(": ").append(clean(said.text, _LONGEST), "not bold italic")
