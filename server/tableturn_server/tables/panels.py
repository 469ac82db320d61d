"""Panels: put on the table, taken away, and which seats their buttons serve.

A seat that was taken at a panel is held by the panel's token. It stays with the panel when the
panel gets another token, and goes to another panel that is given a button for it. When its panel
is taken off the table nobody holds it, until a panel is given a button for it.

After the end panels come and go as before it: those that are there play the rematch.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import in_words, panel_of, panel_serving, with_value
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.making import check_token
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_host,
    check_seat,
    is_host,
    unknown_token,
)
from tableturn_server.tables.state import SEAT_COLORS, Panel, Seat, Table

MOST_BUTTONS = len(SEAT_COLORS)
"""A button for each seat that a table can have. The panels of today have six at most (see
`tableturn_bridge.protocol`); a larger one needs nothing new here."""
MOST_PANELS = 8
_MOST_UID = 2**32 - 1


def attach(table: Table, command: commands.AttachPanel, now: int) -> Change | None:
    """Put a panel on the table; one with the same number is replaced."""
    check_host(table, command.by, "put a panel on the table")
    panel = Panel(command.uid, command.token, command.seats, since=table.revision + 1)
    _check(table, panel)
    before = panel_of(table, panel.uid)
    if before is not None and before.seats == panel.seats:
        # Each button means what it meant: no press becomes stale by another token.
        panel = replace(before, token=panel.token)
    if before == panel:
        return None
    others = tuple(p for p in table.panels if p.uid != panel.uid)
    if len(others) >= MOST_PANELS:
        raise Refused(Reason.LIMIT_REACHED, f"a table has at most {MOST_PANELS} panels")
    served = [n for n in panel.seats if n]
    where = f", for {in_words(served)}" if served else ""
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
    whose = _other_owner(table, panel.token)
    if whose:
        raise Refused(
            Reason.BAD_FIELD,
            f"this is {whose}; a panel has a token of its own",
            field="panel_token_sha256",
        )
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


def _other_owner(table: Table, token: bytes) -> str:
    """Whose token it is, if it is known here and no panel's: it would have more than its power."""
    if token == table.making.host:
        return "the host's token"
    if token == table.making.watch:
        return "the watch token"
    theirs = [n for n in table.seats_of(token) if not table.seat(n).at_panel]
    return f"the token of {in_words(theirs)}" if theirs else ""


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
    """Take a panel off the table. Seats that were taken at it wait for it, or for another.

    Until then nobody holds them: the panel's token has no power any more.
    """
    panel = panel_of(table, command.uid)
    own = panel is not None and bool(command.by.token) and command.by.token == panel.token
    if not own and not is_host(table, command.by):
        raise unknown_token(table, command.by, "the host's token or that of the panel")
    if panel is None:
        raise unknown_panel(table, command.uid)
    after = replace(
        table,
        revision=table.revision + 1,
        stamp=now,
        panels=tuple(p for p in table.panels if p.uid != panel.uid),
        seats=_let_go(table, panel),
    )
    return Change(after, _entry(after, f"panel {panel.uid} is taken off the table"))


def _let_go(table: Table, panel: Panel) -> tuple[Seat, ...]:
    """The seats, with those that were taken at a panel held by nobody when it is gone."""
    # Where one bridge works two panels with one token, the other one keeps what is its own.
    shared = any(p.token == panel.token for p in table.panels if p.uid != panel.uid)

    def loses(number: int, seat: Seat) -> bool:
        held = seat.at_panel and seat.token == panel.token
        return held and (not shared or number in panel.seats)

    return tuple(
        replace(seat, token=b"") if loses(number, seat) else seat
        for number, seat in enumerate(table.seats, 1)
    )


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


# -- buttons that people give themselves ---------------------------------------------------


def button_since(panel: Panel, button: int) -> int:
    """The revision since which a button (0: the one of no seat) serves what it serves."""
    moved = panel.moved_at[button - 1] if button and panel.moved_at else 0
    return max(panel.since, moved)


def mapped(table: Table, panel: Panel, button: int, number: int) -> tuple[Panel, ...]:
    """The table's panels with a button of one serving a seat from the next revision on."""
    return _replaced(table.panels, _moved(panel, button, number, table.revision + 1))


def freed(table: Table, number: int) -> tuple[Panel, ...]:
    """The table's panels when a seat is left that was taken at a panel.

    The button that got it by being pressed is without a seat from the next revision on; one that
    the host gave it keeps it.
    """
    panel = panel_serving(table, number)
    if panel is None or not panel.moved_at:
        return table.panels
    button = panel.seats.index(number) + 1
    if not panel.moved_at[button - 1]:
        return table.panels
    return _replaced(table.panels, _moved(panel, button, 0, table.revision + 1))


def _moved(panel: Panel, button: int, number: int, revision: int) -> Panel:
    """The panel with a button serving another seat, or none (0), since a revision."""
    moved_at = panel.moved_at or (0,) * len(panel.seats)
    return replace(
        panel,
        seats=with_value(panel.seats, button, number),
        moved_at=with_value(moved_at, button, revision),
    )


def at_next_table(panel: Panel, to: Mapping[int, int]) -> Panel:
    """The panel at the next table, whose revisions begin with 1.

    Its buttons serve the seats that those whom they served have there, as `to` says.
    """
    return replace(
        panel,
        seats=tuple(to.get(number, 0) for number in panel.seats),
        since=1,
        moved_at=tuple(min(at, 1) for at in panel.moved_at),
    )


def moved(panel: Panel, to: Mapping[int, int], revision: int) -> Panel:
    """The panel with its buttons serving other seats since a revision, as `to` says (0: none).

    Seats that `to` doesn't name keep their buttons.
    """
    for button, number in enumerate(panel.seats, 1):
        if number in to:
            panel = _moved(panel, button, to[number], revision)
    return panel
