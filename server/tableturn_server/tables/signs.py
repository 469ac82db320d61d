"""Signs of people: whoever does something is there, whatever is heard of a device.

`noted` looks at every change in the same way: who did it was there then (`Seat.plays_since`), and
the game isn't one any more that nobody plays (`TableState.idle_turns`).
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import panel_of
from tableturn_server.tables.state import Occupant, Table


def noted(change: Change, command: commands.AnyCommand) -> Change:
    """The change with what it says of whoever made it: bots and the service are nobody."""
    if not (command.by.token or command.by.admin):
        return change
    after = change.table
    here = _here(after, command, change.seat)
    seats = tuple(
        replace(seat, plays_since=after.stamp) if n in here else seat
        for n, seat in enumerate(after.seats, 1)
    )
    return replace(change, table=replace(after, seats=seats, idle_turns=0))


def _here(table: Table, command: commands.AnyCommand, number: int) -> tuple[int, ...]:
    """The seats whose people did something: those of the token, or the one of the button."""
    if isinstance(command, commands.Press):
        panel = panel_of(table, command.uid)
        served = panel.seats[command.button - 1] if panel and command.button else 0
        return (served,) if served and served == number else ()
    return tuple(
        n
        for n in table.seats_of(command.by.token)
        if table.seat(n).occupant is Occupant.PERSON and not table.seat(n).at_panel
    )
