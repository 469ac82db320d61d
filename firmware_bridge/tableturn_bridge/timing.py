"""What is told at the terminal about time: whose is low, and whose is up. Each once, in words.

The lamps show it by how they flash; who reads the terminal, or can't see the lamps, reads it here.
"""

from __future__ import annotations

from tableturn_bridge.lamps import low_seats
from tableturn_bridge.status import News, Tell, named
from tableturn_client.drawing.clocks import shown
from tableturn_client.messages import SeatView, TableView
from tableturn_client.timekeeping import moment, time_left


class TimeTold:
    """Tells of seats whose time has become low, or is up."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._said: dict[int, str] = {}

    def __call__(self, view: TableView, now: int) -> None:
        """Tell what is new at a moment of the service's time, in milliseconds; 0: not known."""
        low = low_seats(view, now)
        said = {}
        for seat in view.seats:
            if seat.seat in low:
                said[seat.seat] = "up" if seat.clock.ran_out else "low"
                if self._said.get(seat.seat) != said[seat.seat]:
                    self._tell(_news(view, seat, said[seat.seat], now))
        self._said = said


def _news(view: TableView, seat: SeatView, state: str, now: int) -> News:
    """Little time is left for a seat, or none."""
    left = time_left(view, seat.seat, moment(now) if now else None)
    details: dict[str, object] = {
        "table_id": view.table_id,
        "seat": seat.seat,
        "state": state,
        "left": None if left is None else left.total_seconds(),
    }
    who = named(view, seat.seat)
    if state == "up":
        return News("time", f"time is up: {who}; the turn goes on", details)
    return News("time", f"time is low: {who}" + (f", {shown(left)} left" if left else ""), details)
