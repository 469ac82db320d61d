"""Who plays beside people with devices of their own: bots, and panels on the table."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.words import clean, many


def sits(seat: table_pb2.SeatView) -> str:
    """How somebody sits there who has no device: `greedy bot`, `at the panel`; else empty."""
    if seat.occupant == table_pb2.OCCUPANT_BOT:
        return f"{clean(seat.bot, 16)} bot".strip()
    return "at the panel" if seat.from_panel else ""


def confirms(seat: table_pb2.SeatView) -> str:
    """Who confirms the seat's turns, where that is not whoever comes first."""
    if seat.confirmation == table_pb2.CONFIRMATION_PANEL:
        return "confirmed at the panel"
    person = seat.occupant == table_pb2.OCCUPANT_PERSON
    if seat.confirmation == table_pb2.CONFIRMATION_DEVICE and person:
        return "confirmed at its device"
    return ""


def waits_for_panel(view: table_pb2.TableView, number: int) -> bool:
    """A seat's turns wait for a press of its button."""
    return any(
        seat.from_panel or seat.confirmation == table_pb2.CONFIRMATION_PANEL
        for seat in view.seats
        if seat.seat == number
    )


def note(view: table_pb2.TableView, look: Look) -> Text:
    """Bots and panels of a table that has begun, on a line; empty for neither."""
    parts = []
    bots = [s.seat for s in view.seats if s.occupant == table_pb2.OCCUPANT_BOT]
    if bots:
        parts.append(_listed("bot on seat", bots))
    if view.panels:
        uids = ", ".join(f"{panel.uid}" for panel in view.panels)
        parts.append(
            f"{'panel' if len(view.panels) == 1 else many(len(view.panels), 'panel')} {uids}"
        )
    pressed = [s.seat for s in view.seats if waits_for_panel(view, s.seat)]
    if pressed:
        parts.append(_listed("confirmed at the panel: seat", pressed))
    line = Text(f" {look.signs.dot} ".join(parts), "dim")
    line.truncate(look.width)
    return line


def _listed(what: str, seats: list[int]) -> str:
    """Seats by number: `bots on seats 2, 3`."""
    many_ = len(seats) > 1
    words = what.replace("bot ", "bots ").replace("seat", "seats") if many_ else what
    return f"{words} {', '.join(map(str, seats))}"
