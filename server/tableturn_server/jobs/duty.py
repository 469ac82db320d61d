"""A duty: one kind of thing that is due at tables, such as the turns of bots.

Whoever looks at a table asks each duty what it will have to do there next, and lets it do what
is due by now. That it is done once, however many processes look, is sure by the command itself:
it names what it rests on, and carries a request id made of that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

import msgspec

from tableturn_server.service.keeper import Keeper
from tableturn_server.service.rooms import Held
from tableturn_server.store import Request
from tableturn_server.tables import commands
from tableturn_server.tables.refusals import Reason, Refused

DEADLINE = 3.0
"""Seconds in which a command has to be carried out once it is known."""

ILLEGAL = (Reason.ILLEGAL_ACTION, Reason.CANNOT_CONFIRM)
_CHANGED = (
    Reason.BAD_TOKEN,  # the host has sent the bot away
    Reason.NOT_ALLOWED,  # a panel has to confirm by now
    Reason.STALE_REVISION,
    Reason.NOT_ASKED,
    Reason.NOT_STARTED,
    Reason.GAME_OVER,
    Reason.PAUSED,
    Reason.REQUEST_ID_REUSED,
)
"""If the table is not any more what the command rested on: look again."""

Lease = Callable[[], Awaitable[object]]
"""Keeps a table for longer, while something takes its time."""


class Due(NamedTuple):
    """What will have to be done at a table: when, and how. `do` returns the table after it.

    Without `do` there is nothing to do, but to look again then.
    """

    at: int
    do: Callable[[Lease], Awaitable[Held]] | None = None


class Duty(Protocol):
    """One kind of thing that is due at tables."""

    async def next(self, held: Held, now: int) -> Due | None:
        """What it will have to do at a table next; None for nothing, until the table changes."""
        ...


class Counts(msgspec.Struct):
    """What was done at tables so far, by this process."""

    turns: int = 0
    timeouts: int = 0
    absences: int = 0
    """Seats whose players had been away for too long, and hosts."""
    stale: int = 0
    """What somebody else had done already, or was asked no more."""
    illegal: int = 0
    failures: int = 0


class Hands:
    """Carries out, once, what is due."""

    def __init__(self, keeper: Keeper, counts: Counts) -> None:
        self._keeper = keeper
        self.counts = counts

    async def carry_out(
        self, held: Held, command: commands.AnyCommand, request: Request
    ) -> tuple[Held, bool]:
        """The table after a command, and whether it was this process that made the change.

        Raises Refused if the command would be refused again, for ever.
        """
        table_id = held.table.making.table_id
        deadline = asyncio.get_running_loop().time() + DEADLINE
        try:
            done = await self._keeper.carry_out(table_id, command, request, deadline)
        except Refused as refused:
            if refused.reason not in _CHANGED + ILLEGAL:
                raise
            fresh = await self._keeper.look(table_id)
            if (fresh.revision, fresh.change_id) == (held.revision, held.change_id):
                raise
            self.counts.stale += 1
            return fresh, False
        if done.told is None:  # somebody else has done this very thing, or it is done anyhow
            self.counts.stale += 1
            return done.held or await self._keeper.look(table_id), False
        assert done.held is not None
        return done.held, True
