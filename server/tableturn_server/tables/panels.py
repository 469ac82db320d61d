"""Panels: put on the table, taken away, and which seats their buttons serve.

A seat that was taken at a panel is held by the panel's token. It stays with the panel when the
panel gets another token, and goes to another panel that is given a button for it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import panel_of, panel_serving
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.making import check_token
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_host,
    check_not_over,
    check_seat,
    is_host,
    unknown_token,
)
from tableturn_server.tables.state import Panel, Seat, Table

MOST_BUTTONS = 8
MOST_PANELS = 8
_MOST_UID = 2**32 - 1


def attach(table: Table, command: commands.AttachPanel, now: int) -> Change | None:
    """Put a panel on the table; one with the same number is replaced."""
    check_host(table, command.by, "put a panel on the table")
    check_not_over(table)
    panel = Panel(command.uid, command.token, command.seats)
    _check(table, panel)
    before = panel_of(table, panel.uid)
    if before == panel:
        return None
    others = tuple(p for p in table.panels if p.uid != panel.uid)
    if len(others) >= MOST_PANELS:
        raise Refused(Reason.LIMIT_REACHED, f"a table has at most {MOST_PANELS} panels")
    served = [n for n in panel.seats if n]
    where = f", for seats {', '.join(map(str, served))}" if served else ""
    what = "is put on the table" if before is None else "is set up anew"
    after = replace(
        table,
        revision=table.revision + 1,
        stamp=now,
        panels=(*others, panel) if before is None else _replaced(table.panels, panel),
        seats=_handed_over(table, before, panel),
    )
    return Change(after, _entry(after, f"panel {panel.uid} {what}{where}"))


def _check(table: Table, panel: Panel) -> None:
    """Raise Refused for a panel that can't be."""
    if not 1 <= panel.uid <= _MOST_UID:
        raise Refused(
            Reason.BAD_FIELD,
            f"a panel's number is from 1 to {_MOST_UID}, not {panel.uid}",
            field="panel_uid",
        )
    check_token(panel.token, "panel_token_sha256")
    if not 1 <= len(panel.seats) <= MOST_BUTTONS:
        raise Refused(
            Reason.BAD_FIELD,
            f"a panel has 1 to {MOST_BUTTONS} buttons, not {len(panel.seats)}",
            field="seats",
        )
    served = [n for n in panel.seats if n]
    for number in served:
        check_seat(table, number)
        if served.count(number) > 1:
            raise Refused(
                Reason.BAD_FIELD, f"seat {number} has one button only, not two", field="seats"
            )
        other = panel_serving(table, number)
        if other is not None and other.uid != panel.uid:
            raise Refused(
                Reason.SEAT_TAKEN, f"seat {number} has a button of panel {other.uid} already"
            )


def _replaced(panels: tuple[Panel, ...], panel: Panel) -> tuple[Panel, ...]:
    """The panels with another one in the place of that with the same number."""
    return tuple(panel if p.uid == panel.uid else p for p in panels)


def _handed_over(table: Table, before: Panel | None, panel: Panel) -> tuple[Seat, ...]:
    """The seats, with those that were taken at a panel held by the panel that has them now."""
    theirs = {p.token for p in table.panels if p.uid != panel.uid}

    def passes(number: int, seat: Seat) -> bool:
        if number in panel.seats:
            return True
        was_ours = before is not None and seat.token == before.token
        return was_ours and seat.token not in theirs

    return tuple(
        replace(seat, token=panel.token) if seat.at_panel and passes(number, seat) else seat
        for number, seat in enumerate(table.seats, 1)
    )


def detach(table: Table, command: commands.DetachPanel, now: int) -> Change:
    """Take a panel off the table. Seats that were taken at it wait for it, or for another."""
    panel = panel_of(table, command.uid)
    own = panel is not None and bool(command.by.token) and command.by.token == panel.token
    if not own and not is_host(table, command.by):
        raise unknown_token(table, command.by, "the host's token or that of the panel")
    if panel is None:
        raise unknown_panel(table, command.uid)
    check_not_over(table)
    after = replace(
        table,
        revision=table.revision + 1,
        stamp=now,
        panels=tuple(p for p in table.panels if p.uid != panel.uid),
    )
    return Change(after, _entry(after, f"panel {panel.uid} is taken off the table"))


def _entry(after: Table, line: str) -> LogEntry:
    return LogEntry(revision=after.revision, time=after.stamp, kind=ChangeKind.PANEL, lines=(line,))


def unknown_panel(table: Table, uid: int) -> Refused:
    """The refusal of a panel that is not on the table."""
    there = ", ".join(str(panel.uid) for panel in table.panels) or "none"
    return Refused(
        Reason.UNKNOWN_NAME,
        f"panel {uid} is not on this table; panels: {there}",
        field="panel_uid",
    )


def mapped(table: Table, panel: Panel, button: int, number: int) -> tuple[Panel, ...]:
    """The table's panels with a button of one serving a seat."""
    seats = (*panel.seats[: button - 1], number, *panel.seats[button:])
    return _replaced(table.panels, replace(panel, seats=seats))


def without(panels: tuple[Panel, ...], gone: Callable[[int], bool]) -> tuple[Panel, ...]:
    """The panels with no button for seats that are gone."""
    return tuple(
        replace(panel, seats=tuple(0 if gone(n) else n for n in panel.seats)) for panel in panels
    )
