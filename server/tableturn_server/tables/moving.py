"""Moving up: who has no device closes the gaps when a game starts without its free seats.

A seat's number stands on the device of whoever holds the seat, so those stay where they are. Who
sat down at a panel, and a bot, moves up into the free seats before them; their order among
themselves stays, and a button goes with the seat that it served.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from tableturn_server.tables.facts import free_seats, in_words, name_of
from tableturn_server.tables.panels import moved
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Occupant, Seat, Table


class Moves(msgspec.Struct, frozen=True):
    """Who moved: the new seats by the old ones, and what the log says."""

    seats: Mapping[int, int]
    lines: tuple[str, ...]

    def to(self, number: int) -> int:
        """The seat of whoever sat on a seat before."""
        return self.seats.get(number, number)


def moved_up(table: Table) -> tuple[Table, Moves]:
    """The table with its free seats behind all others, and who moved for it.

    The table is at its revision still; what moves counts from the next one on. Raises Refused
    where somebody with a device of their own sits behind a gap that nobody fills.
    """
    free = free_seats(table)
    left = len(table.seats) - len(free)
    taken = [n for n in range(1, len(table.seats) + 1) if n not in free]
    stay = [n for n in taken if not _may_move(table.seat(n))]
    behind = [n for n in stay if n > left]
    if behind:
        raise Refused(
            Reason.NOT_STARTED,
            f"only the last seats can be left out, and free: {in_words(free)}; whoever holds "
            f"{in_words(behind)} on a device of their own must take one of the first {left} seats",
        )
    moving = [n for n in taken if n not in stay]
    places = [n for n in range(1, left + 1) if n not in stay]
    to = {old: new for old, new in zip(moving, places, strict=True) if old != new}
    revision = table.revision + 1
    seats = list(table.seats)
    for number in free:
        seats[number - 1] = Seat(table.seat(number).color)
    for old, new in to.items():
        seats[old - 1] = Seat(table.seat(old).color)
        seats[new - 1] = seat_moved(table.seat(old), old, new, table.seat(new).color, revision)
    buttons = {**dict.fromkeys(free, 0), **to}
    after = replace(
        table,
        seats=tuple(seats),
        panels=tuple(moved(panel, buttons, revision) for panel in table.panels),
    )
    lines = tuple(
        f"{name_of(table, old)} moves to seat {new} ({table.seat(new).color})"
        for old, new in to.items()
    )
    return after, Moves(to, lines)


def _may_move(seat: Seat) -> bool:
    """Whoever sits there has no device that knows the seat by its number."""
    return seat.at_panel or seat.occupant is Occupant.BOT


def seat_moved(seat: Seat, old: int, new: int, color: str, revision: int) -> Seat:
    """Whoever sat on a seat on another one; a name that followed from the seat follows again."""
    name = seat.name
    if seat.bot and name == bot_name(seat.bot, old):
        name = bot_name(seat.bot, new)
    elif seat.at_panel and name == panel_name(seat.color):
        name = panel_name(color)
    return replace(seat, color=color, name=name, since=revision)


def bot_name(bot: str, number: int) -> str:
    """What a bot is called on a seat, if nothing is said."""
    return f"{bot[0].upper()}{bot[1:]} {number}"


def panel_name(color: str) -> str:
    """What somebody is called who sits down at a panel."""
    return color.capitalize()
