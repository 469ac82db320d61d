"""What comes of an accepted command."""

from __future__ import annotations

from typing import Any

import msgspec

from tableturn_server.tables.log import LogEntry
from tableturn_server.tables.state import Table


class Change(msgspec.Struct, frozen=True):
    """An accepted command: the table after it, its log entry, and the seat it was for.

    `snapshot` says that the table is to be kept as a snapshot for takebacks;
    `waiting_for` lists the seats that still have to agree to a takeback;
    `position` is the open position with what the seat has staged, where the
    change staged something. `undone` are the seats of the turns that a takeback undid,
    `withdrawn` those that had begun a turn by them, once for each.
    """

    table: Table
    entry: LogEntry
    seat: int = 0
    snapshot: bool = False
    waiting_for: tuple[int, ...] = ()
    position: Any = None
    undone: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()
