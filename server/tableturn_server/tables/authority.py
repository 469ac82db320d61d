"""Decides what a command does to a table.

`decide(table, command, now)` is the one way for a table to change. It is pure:
it returns the table at the next revision with the entry for the log, or raises
`Refused`, and the table given stays as it was. A command that finds its wish
fulfilled already returns None.

Order of the checks for a seat's command: whose seat it is, whether the game
runs, whether the question is still the one that the sender saw
(`asked_at <= expected_revision <= revision`), whether the table is paused, and
at last whether the rules allow it. To leave or to concede, what counts instead of
the question is who sits there (`since`), and a pause doesn't matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tableturn_server.tables import (
    clocks,
    commands,
    panels,
    people,
    presses,
    rematch,
    seating,
    signs,
    takebacks,
    timing,
    turns,
)
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import name_of, staged_position, waiting_for
from tableturn_server.tables.history import History, drop_is_in_the_way
from tableturn_server.tables.rights import acting_seat
from tableturn_server.tables.state import Table

__all__ = [
    "Change",
    "acting_seat",
    "decide",
    "name_of",
    "needs_history",
    "staged_position",
    "waiting_for",
]


def needs_history(table: Table, command: commands.AnyCommand) -> bool:
    """`decide` has to be given the turns before the last one: a turn may be taken back."""
    match command:
        case commands.TakeBack():
            return not drop_is_in_the_way(table)
        case commands.Press():
            return presses.takes_back(table, command) and not drop_is_in_the_way(table)
        case _:
            return False


def decide(
    table: Table,
    command: commands.AnyCommand,
    now: int,
    history: History | None = None,
    positions: Mapping[int, Any] | None = None,
) -> Change | None:
    """The change that a command makes, or None if there is nothing to change.

    `now` is in milliseconds since 1970; the table's time never goes back.
    `history` is looked at where `needs_history` says so. `positions` are the
    positions with what seats have staged, as far as the caller has kept them from
    the changes before; the others are staged again. Raises Refused.
    """
    now = max(now, table.stamp)
    change = _decide(table, command, now, history, positions)
    return None if change is None else clocks.kept(table, signs.noted(change, command))


def _decide(
    table: Table,
    command: commands.AnyCommand,
    now: int,
    history: History | None,
    positions: Mapping[int, Any] | None,
) -> Change | None:
    """The change without its clocks: those follow from any change in the same way."""
    match command:
        case commands.Act():
            return turns.act(table, command, now, positions or {})
        case commands.Undo():
            return turns.undo(table, command, now)
        case commands.Press():
            return presses.press(table, command, now, history, positions or {})
        case commands.TakeSeat():
            return seating.take_seat(table, command, now)
        case commands.SeatBot():
            return seating.seat_bot(table, command, now)
        case commands.SetConfirmation():
            return seating.set_confirmation(table, command, now)
        case commands.LeaveSeat():
            return seating.leave_seat(table, command, now)
        case commands.Start():
            return seating.start(table, command, now)
        case commands.TakeBack():
            return takebacks.take_back(table, command, now, history)
        case commands.Pause():
            return turns.pause(table, command, now, paused=True)
        case commands.Resume():
            return turns.pause(table, command, now, paused=False)
        case commands.Concede():
            return turns.concede(table, command, now)
        case commands.AttachPanel():
            return panels.attach(table, command, now)
        case commands.DetachPanel():
            return panels.detach(table, command, now)
        case commands.NoteRematch():
            return rematch.note(table, command, now)
        case commands.AddTime():
            return timing.add_time(table, command, now)
        case commands.TimeOut():
            return timing.time_out(table, command, now)
        case commands.Excuse():
            return timing.excuse(table, command, now)
        case commands.StandIn():
            return people.stand_in(table, command, now)
        case commands.ComeBack():
            return people.come_back(table, command, now)
        case commands.GoAway():
            return people.go_away(table, command, now)
        case commands.VoteDrop():
            return people.vote_drop(table, command, now)
        case commands.PassHost():
            return people.pass_host(table, command, now)
        case commands.Reseat():
            return people.reseat(table, command, now)
