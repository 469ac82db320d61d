"""When something has to be done for a table, though nobody asks for it.

Turns of bots, time that is up, and people who are away for too long. Who is away is known to the
service alone: here is said when it has to look for that.
"""

from __future__ import annotations

from tableturn_server.rules.game import Prompt, PromptKind
from tableturn_server.tables.clocks import deadlines
from tableturn_server.tables.facts import (
    asked_seats,
    bot_of,
    confirmed_at_panel,
    has_deputy,
    has_people,
    is_by_correspondence,
    waits_for_button,
)
from tableturn_server.tables.state import (
    AbsencePolicy,
    Occupant,
    Seat,
    Status,
    Table,
    game_of,
)


def due_bots(table: Table) -> tuple[int, ...]:
    """The seats whose bots have to take or stage a turn now, in seat order.

    A bot has to while the game runs and isn't paused, if its seat is asked and has nothing
    staged. What it stages for a panel to confirm waits for the press, and so does a turn in which
    it stages nothing, once it has said so. A bot that stands in for a person confirms itself, and
    waits where nobody plays in person: whoever comes back finds the game as it was left. A
    pause between rounds is the people's: a bot ends it only where there are none.
    """
    if table.status is not Status.RUNNING or table.paused:
        return ()
    if not any(map(bot_of, table.seats)):
        return ()  # most tables: no need to ask the game
    game = game_of(table)
    asked = game.prompts(table.position)
    if any(p.kind is PromptKind.BETWEEN_ROUNDS and _is_person(table, p) for p in asked):
        return ()
    return tuple(p.seat for p in asked if _is_due(table, p))


def _is_person(table: Table, prompt: Prompt) -> bool:
    seat = table.seat(prompt.seat)
    return seat.occupant is Occupant.PERSON and not seat.stand_in


def _is_due(table: Table, prompt: Prompt) -> bool:
    seat = table.seat(prompt.seat)
    if not bot_of(seat) or seat.dropped or table.staged[prompt.seat - 1]:
        return False
    if seat.stand_in and not has_people(table):
        return False
    return not (confirmed_at_panel(table, prompt.seat) and waits_for_button(table, prompt.seat))


def due_at(table: Table) -> int | None:
    """When something has to be done for the table, in milliseconds; None for never."""
    if due_bots(table):
        return table.stamp
    missed = (missed_at(table, number) for number in may_be_missed(table))
    return min((*deadlines(table).values(), *missed), default=None)


# -- people who are away -------------------------------------------------------------------


def may_be_missed(table: Table) -> tuple[int, ...]:
    """The seats that are asked, and for which something is done if nobody is there to answer.

    Nobody is ever absent from a game by correspondence.
    """
    making = table.making
    if making.absence.policy is AbsencePolicy.WAIT or is_by_correspondence(table) or table.paused:
        return ()
    return tuple(n for n in asked_seats(table) if _may_be_missed(table.seat(n)))


def _may_be_missed(seat: Seat) -> bool:
    return not seat.dropped and not bot_of(seat)


def missed_at(table: Table, number: int) -> int:
    """When it has to be looked whether somebody is there for a seat that is asked.

    A seat that was left is missed as long after that as one whose player is away.
    """
    grace = table.making.absence.grace
    left_at = table.seat(number).left_at
    return max(table.stamp, left_at + grace) if left_at else table.stamp + grace


def host_may_change(table: Table) -> bool:
    """The host's duties pass to somebody else if the host is away for too long, and back (C8)."""
    if table.status is Status.FINISHED or table.making.host_stays:
        return False
    return not is_by_correspondence(table) and (has_people(table) or has_deputy(table))
