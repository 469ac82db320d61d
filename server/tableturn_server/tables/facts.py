"""What is true of a table: who sits where, who is asked, what is staged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tableturn_server.rules.game import Game
from tableturn_server.tables.state import Confirmation, Occupant, Panel, Status, Table, game_of


def name_of(table: Table, number: int) -> str:
    """What a seat is called in sentences: its name and colour, or its number."""
    seat = table.seat(number)
    return f"{seat.name} ({seat.color})" if seat.name else f"seat {number} ({seat.color})"


def staged_position(game: Game[Any, Any], table: Table, number: int) -> Any:
    """The open position with what one seat has staged on top of the confirmed one."""
    open_ = table.position
    for action in table.staged[number - 1]:
        open_ = game.apply(open_, number, action)
    return open_


def asked_seats(table: Table) -> tuple[int, ...]:
    """The seats that are asked something now; none unless the game runs."""
    if table.status is not Status.RUNNING:
        return ()
    return tuple(p.seat for p in game_of(table).prompts(table.position))


def staging_seats(table: Table) -> tuple[int, ...]:
    """The seats that have something staged."""
    return tuple(n for n, actions in enumerate(table.staged, 1) if actions)


def confirmed_at_panel(table: Table, number: int) -> bool:
    """Only a press of its button confirms the turns of a seat."""
    return table.seat(number).confirmation is Confirmation.PANEL


def waits_for_button(table: Table, number: int) -> bool:
    """The bot of a seat has looked at what it is asked, and stages nothing before the press."""
    at = table.waits_at[number - 1] if table.waits_at else 0
    return bool(at) and at == table.asked_at[number - 1]


def has_people(table: Table) -> bool:
    """Somebody who is no bot is still in the game."""
    return any(seat.occupant is Occupant.PERSON and not seat.dropped for seat in table.seats)


def free_seats(table: Table) -> tuple[int, ...]:
    """The seats that somebody may take."""
    return tuple(
        n
        for n, seat in enumerate(table.seats, 1)
        if seat.occupant is Occupant.NOBODY and not seat.dropped
    )


def is_full(table: Table) -> bool:
    """Nobody is missing: a person or a bot sits on every seat."""
    return all(seat.occupant is not Occupant.NOBODY for seat in table.seats)


def waiting_for(table: Table) -> tuple[int, ...]:
    """The seats that still have to agree to a takeback that was asked for: bots always do."""
    return tuple(
        n
        for n, seat in enumerate(table.seats, 1)
        if seat.occupant is Occupant.PERSON and not seat.dropped and n not in table.takeback_asked
    )


def in_words(numbers: Sequence[int]) -> str:
    """Seats by their numbers in a sentence: `seat 4`, or `seats 3, 4`."""
    return f"seat{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def panel_of(table: Table, uid: int) -> Panel | None:
    """The panel with this number, if it is on the table."""
    return next((panel for panel in table.panels if panel.uid == uid), None)


def panel_serving(table: Table, number: int) -> Panel | None:
    """The panel of which a button serves this seat, if there is one."""
    return next((panel for panel in table.panels if number in panel.seats), None)


def with_value(values: tuple[Any, ...], number: int, value: Any) -> tuple[Any, ...]:
    """The tuple with the value of a seat, or of a button, replaced."""
    return (*values[: number - 1], value, *values[number:])
