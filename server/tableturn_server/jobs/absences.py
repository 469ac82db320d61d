"""People who have been away for longer than the table waits for them, and hosts."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from tableturn_server import bots
from tableturn_server.service.outages import Outages
from tableturn_server.service.rooms import Held
from tableturn_server.store import Request
from tableturn_server.tables import commands
from tableturn_server.tables.due import host_may_change, may_be_missed, missed_at
from tableturn_server.tables.facts import away_since, is_deserted, may_be_host, plays_in_person
from tableturn_server.tables.state import AbsencePolicy, Table

from .duty import Due, Hands, Lease

LOOK_MS = 5000
"""How often a table is looked at while somebody is away who isn't asked yet."""

_BY = commands.By(service=True)

Away = dict[int, int]
"""Seats whose players are away, with since when."""


class Presence(Protocol):
    """Tells who is there. Whoever was never heard of is not away."""

    async def absent(self, held: Held, now: int) -> tuple[tuple[int, int], ...]:
        """The seats whose players are away, each with since when."""
        ...

    async def host_away(self, held: Held, now: int) -> int | None:
        """Since when nobody is there who has the host's duties; None if somebody is."""
        ...

    async def host_back(self, held: Held, now: int) -> int | None:
        """Since when the host is there, though a seat has the duties as well; else None."""
        ...


class Absences:
    """Does what the table's policy says about seats that nobody plays for (C7, C8)."""

    def __init__(self, hands: Hands, presence: Presence, outages: Outages) -> None:
        self._hands = hands
        self._presence = presence
        self._outages = outages

    async def next(self, held: Held, now: int) -> Due | None:
        """What somebody's absence leads to first, or when to look for one again."""
        table = held.table
        missed, passes = may_be_missed(table), host_may_change(table)
        if not missed and not passes:
            return None
        away = {
            seat: self._reckoned(since) for seat, since in await self._presence.absent(held, now)
        }
        waits = table.making.absence.policy is AbsencePolicy.BOT and is_deserted(table, away)
        if waits and missed:
            # No bot plays on where everybody is away, such as two with phones in their pockets.
            found = [Due(now + max(table.making.absence.grace, LOOK_MS))]
        else:
            found = [self._missed(held, seat, away, now) for seat in missed]
        if passes:
            found += await self._of_host(held, away, now)
        if missed and not waits and any(plays_in_person(table.seat(seat)) for seat in away):
            found.append(Due(now + LOOK_MS))  # it may be asked next
        return min(found, key=lambda due: due.at, default=None)

    def _reckoned(self, since: int) -> int:
        """Nobody could be there in an outage: after it everybody has the whole grace again."""
        return max(since, self._outages.last_end)

    # -- seats -----------------------------------------------------------------------------

    def _missed(self, held: Held, seat: int, away: Away, now: int) -> Due:
        """What is done for a seat that is asked, and when."""
        table = held.table
        on_seat = table.seat(seat)
        if seat not in away and not on_seat.left_at:
            # It is there: look again, however long its turn takes.
            return Due(max(missed_at(table, seat), now + table.making.absence.grace))
        since = self._reckoned(away_since(on_seat, away.get(seat, 0)))
        return Due(since + table.making.absence.grace, partial(self._go_away, held, seat, since))

    async def _go_away(self, held: Held, seat: int, since: int, _: Lease) -> Held:
        table = held.table
        bot = bots.stand_in(table.making.game)
        command = commands.GoAway(by=_BY, seat=seat, since=since, bot=bot)
        # Whoever came back and is away again, or still, is asked anew.
        request = Request(f"away:{seat}", f"{table.asked_at[seat - 1]}:{since}", bot.encode())
        after, ours = await self._hands.carry_out(held, command, request)
        self._hands.counts.absences += ours
        return after

    # -- the host --------------------------------------------------------------------------

    async def _of_host(self, held: Held, away: Away, now: int) -> list[Due]:
        """What follows from whether the host is there."""
        since = await self._presence.host_back(held, now)
        if since is not None:
            return [Due(since, partial(self._pass_host, held, 0, since))]
        since = await self._presence.host_away(held, now)
        return [] if since is None else [self._host_missed(held, self._reckoned(since), away, now)]

    def _host_missed(self, held: Held, since: int, away: Away, now: int) -> Due:
        """The duties pass to the first who is there; if nobody is, look again."""
        grace = held.table.making.absence.grace
        heir = _heir(held.table, away)
        if not heir:
            return Due(now + max(grace, LOOK_MS))
        return Due(since + grace, partial(self._pass_host, held, heir, since))

    async def _pass_host(self, held: Held, heir: int, since: int, _: Lease) -> Held:
        command = commands.PassHost(by=_BY, seat=heir)
        rests_on = f"{held.revision}:{held.change_id}"
        request = Request("host", f"{since}:{rests_on}", str(heir).encode())
        after, ours = await self._hands.carry_out(held, command, request)
        self._hands.counts.absences += ours
        return after


def _heir(table: Table, away: Away) -> int:
    """The lowest seat whose person plays, and is there; 0 for none."""
    for number, seat in enumerate(table.seats, 1):
        if may_be_host(seat) and plays_in_person(seat) and number not in away:
            return number
    return 0
