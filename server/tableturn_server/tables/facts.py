"""What is true of a table: who sits where, who is asked, what is staged."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from tableturn_server.rules.game import Game
from tableturn_server.tables.state import (
    ClockKind,
    Confirmation,
    Occupant,
    Panel,
    Seat,
    Status,
    Table,
    game_of,
)


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


def bot_of(seat: Seat) -> str:
    """The bot that plays for a seat: the one that sits there or stands in; empty for none."""
    return seat.bot or seat.stand_in


def away_since(seat: Seat, heard_last: int) -> int:
    """Since when nobody has been there for a seat whose devices were heard last at that time.

    Who sat down or came back later was there then, whatever is heard of a device.
    """
    return seat.left_at or max(heard_last, seat.plays_since)


def plays_in_person(seat: Seat) -> bool:
    """A person sits there, is in the game, and plays: no bot stands in."""
    return seat.occupant is Occupant.PERSON and not seat.dropped and not seat.stand_in


def confirmed_at_panel(table: Table, number: int) -> bool:
    """Only a press of its button confirms the turns of a seat. A bot that stands in does itself."""
    seat = table.seat(number)
    return seat.confirmation is Confirmation.PANEL and not seat.stand_in


def waits_for_button(table: Table, number: int) -> bool:
    """The bot of a seat has looked at what it is asked, and stages nothing before the press."""
    at = table.waits_at[number - 1] if table.waits_at else 0
    return bool(at) and at == table.asked_at[number - 1]


def has_people(table: Table) -> bool:
    """Somebody who is no bot still plays."""
    return any(map(plays_in_person, table.seats))


def is_deserted(table: Table, away: Container[int]) -> bool:
    """Nobody plays in person who isn't away."""
    return all(n in away for n, seat in enumerate(table.seats, 1) if plays_in_person(seat))


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
    """The seats that still have to agree to a takeback that was asked for.

    Bots always do, also those that stand in.
    """
    return tuple(
        n
        for n, seat in enumerate(table.seats, 1)
        if plays_in_person(seat) and n not in table.takeback_asked
    )


def voters_about(table: Table, target: int) -> tuple[int, ...]:
    """The seats that decide together whether a seat leaves the game: people who play themselves."""
    return tuple(
        n for n, seat in enumerate(table.seats, 1) if n != target and plays_in_person(seat)
    )


def still_to_vote(table: Table, target: int) -> tuple[int, ...]:
    """The seats that don't want yet that a seat leaves the game."""
    voted = dict(table.votes).get(target, ())
    return tuple(n for n in voters_about(table, target) if n not in voted)


def without_votes(
    table: Table, number: int, *, about_it: bool = True
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The table's votes without a seat's own, and without those about it (`about_it`)."""
    kept = (
        (target, tuple(n for n in voters if n != number))
        for target, voters in table.votes
        if not (about_it and target == number)
    )
    return tuple((target, voters) for target, voters in kept if voters)


def next_host(table: Table) -> int:
    """The seat to which the host's duties pass by themselves: the lowest of a person; 0 for none.

    Whoever plays comes before those whose bot stands in, and before those who have left the game.
    Nobody at a panel: a panel has no power but that of its buttons.
    """
    people = [n for n, seat in enumerate(table.seats, 1) if may_be_host(seat)]
    playing = [n for n in people if plays_in_person(table.seat(n))]
    return min(playing or people, default=0)


def has_deputy(table: Table) -> bool:
    """A seat has the host's duties beside the host's own token."""
    return table.host_seat > 0 and not table.host_gone


def may_be_host(seat: Seat) -> bool:
    """Somebody with a device of their own sits there."""
    return seat.occupant is Occupant.PERSON and not seat.at_panel


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


def is_by_correspondence(table: Table) -> bool:
    """A turn may take days: nobody is expected to be there."""
    return table.making.clock.kind is ClockKind.CORRESPONDENCE
