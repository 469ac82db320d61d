"""Time that is up, and outages for which nobody is charged before that is said."""

from __future__ import annotations

import asyncio
from functools import partial

from tableturn_server import bots
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.outages import Outages
from tableturn_server.service.rooms import Held
from tableturn_server.store import Request
from tableturn_server.tables import commands
from tableturn_server.tables.clocks import deadlines

from .duty import DEADLINE, Due, Hands, Lease

_BY = commands.By(service=True)


class TimeOuts:
    """Says that a seat's time is up: once, and not before its deadline (C5)."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    async def next(self, held: Held, now: int) -> Due | None:
        """The earliest deadline of the table."""
        found = deadlines(held.table)
        if not found:
            return None
        at, seat = min((at, seat) for seat, at in found.items())
        return Due(at, partial(self._time_out, held, seat, at))

    async def _time_out(self, held: Held, seat: int, deadline: int, _: Lease) -> Held:
        bot = bots.stand_in(held.table.making.game)
        command = commands.TimeOut(by=_BY, seat=seat, deadline=deadline, bot=bot)
        # Another turn of the seat may have, or have had, a deadline in the same millisecond.
        rests_on = f"{held.revision}:{held.change_id}"
        request = Request(f"time:{seat}", f"{deadline}:{rests_on}", bot.encode())
        after, ours = await self._hands.carry_out(held, command, request)
        self._hands.counts.timeouts += ours
        return after


class Credits:
    """Charges nobody for an outage, so that the deadlines that are shown are right again.

    Any other change of the table would do it as well: this is for tables at which nobody acts.
    """

    def __init__(self, keeper: Keeper, outages: Outages) -> None:
        self._keeper = keeper
        self._outages = outages

    async def next(self, held: Held, now: int) -> Due | None:
        """What is to be put right at once."""
        outage = self._outages.of(held.table)
        return Due(outage.end, partial(self._excuse, held)) if outage is not None else None

    async def _excuse(self, held: Held, _: Lease) -> Held:
        deadline = asyncio.get_running_loop().time() + DEADLINE
        return await self._keeper.excused(held.table.making.table_id, held, deadline)
