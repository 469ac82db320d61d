"""When somebody has to do something for a table, though nobody asks for it: a bot's turn."""

from __future__ import annotations

from tableturn_server.rules.game import Prompt, PromptKind
from tableturn_server.tables.facts import confirmed_at_panel, waits_for_button
from tableturn_server.tables.state import Occupant, Status, Table, game_of


def due_bots(table: Table) -> tuple[int, ...]:
    """The seats whose bots have to take or stage a turn now, in seat order.

    A bot has to while the game runs and isn't paused, if its seat is asked and has nothing
    staged. What it stages for a panel to confirm waits for the press, and so does a turn in which
    it stages nothing, once it has said so. A pause between rounds is the people's: a bot ends it
    only where there are none.
    """
    if table.status is not Status.RUNNING or table.paused:
        return ()
    if all(seat.occupant is not Occupant.BOT for seat in table.seats):
        return ()  # most tables: no need to ask the game
    game = game_of(table)
    asked = game.prompts(table.position)
    if any(p.kind is PromptKind.BETWEEN_ROUNDS and _is_person(table, p) for p in asked):
        return ()
    return tuple(p.seat for p in asked if _is_due(table, p))


def _is_person(table: Table, prompt: Prompt) -> bool:
    return table.seat(prompt.seat).occupant is Occupant.PERSON


def _is_due(table: Table, prompt: Prompt) -> bool:
    seat = table.seat(prompt.seat)
    if seat.occupant is not Occupant.BOT or seat.dropped or table.staged[prompt.seat - 1]:
        return False
    return not (confirmed_at_panel(table, prompt.seat) and waits_for_button(table, prompt.seat))


def due_at(table: Table) -> int | None:
    """Since when something has to be done for the table, in milliseconds; None for nothing."""
    return table.stamp if due_bots(table) else None
