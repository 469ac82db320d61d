"""Who speaks at a table: a person, on whatever seats they have, and whether they are muted."""

from __future__ import annotations

from tableturn_server.store import Person, Settings
from tableturn_server.tables.state import Occupant, Table


def person(table: Table, number: int) -> Person:
    """Who sits on a seat, or has sat there last."""
    seat = table.seat(number)
    return Person(number, seat.since, b"" if seat.at_panel else seat.token)


def same_person(table: Table, number: int) -> list[Person]:
    """Who sits on a seat, as they sit there and on each other seat that their token holds."""
    speaker = person(table, number)
    own = table.seats_of(speaker.token)
    return [person(table, other) for other in own] if own else [speaker]


def muted_seats(table: Table, settings: Settings) -> list[int]:
    """The seats whose people are muted."""
    return [
        number
        for number, seat in enumerate(table.seats, 1)
        if seat.occupant is Occupant.PERSON
        and any(map(settings.is_muted, same_person(table, number)))
    ]
