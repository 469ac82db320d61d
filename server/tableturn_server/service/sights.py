"""What a caller may see of a table: as it is, or as spectators see it, some time later.

Whoever watches without a seat could tell a friend at the table what they see there. So a table
may have a delay: in every call a plain spectator sees it as it was so long ago, in refusals too,
and also when it is over. The store keeps the states that are still to be seen; what was said of a
table while it was in one of them is in its log, up to its revision.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from msgspec.structs import replace

from tableturn_server.service.refusing import unknown_table
from tableturn_server.service.rooms import Held, Rooms, decoded, may_know
from tableturn_server.store import Past, TableStore
from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import decide
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Table, encode

MOST_KEPT = 1000
"""Tables of which the state is held that spectators see now."""

_SAID_TO_ANYBODY = frozenset((Reason.REQUEST_ID_REUSED, Reason.STORE_UNAVAILABLE))
"""Why a command is refused that would be refused for the same reason whatever the table is like."""


class Sight(NamedTuple):
    """A table as a caller may see it, and the caller with the rights that count there.

    `due` is when a spectator sees something newer at the earliest, in milliseconds since 1970;
    None where the table is shown as it is.
    """

    held: Held
    by: commands.By
    due: int | None = None


class _Kept(NamedTuple):
    """What spectators see of a table from one time to another; found when it was as `live`.

    `end` is None as long as nothing newer is known.
    """

    held: Held
    live: tuple[int, str]
    begin: int
    end: int | None


class Sights:
    """What the callers of one process may see of the tables of its rooms."""

    def __init__(self, rooms: Rooms, store: TableStore) -> None:
        self._rooms = rooms
        self._store = store
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def look(self, table_id: str, by: commands.By) -> Sight:
        """The table as it is in the store now, for this caller. Raises Refused."""
        return await self.of(await self._rooms.look(table_id), by)

    async def look_at_all(self, table_ids: Sequence[str], by: commands.By) -> list[Held | None]:
        """Many tables at once; None for one that the caller can't see."""
        found = await self._rooms.look_at_all(table_ids)
        return [None if held is None else await self._of_or_none(held, by) for held in found]

    async def _of_or_none(self, live: Held, by: commands.By) -> Held | None:
        try:
            return (await self.of(live, by)).held
        except Refused:
            return None

    async def of(self, live: Held, by: commands.By, *, invited: bool = False) -> Sight:
        """What a caller may see of a table that is as `live` now. Raises Refused.

        Whether somebody is a plain spectator is asked of the table as it is: whoever has got up
        has no right any more to what the seat saw. A rematch tells of the end of the game before
        it: until the delay is over there is no such table for spectators, but for those who were
        `invited` to it.
        """
        until = shown_until(live.table, by, self._rooms.now())
        if until is None:
            return Sight(live, by)
        by = views.as_spectator(live.table, by)
        making = live.table.making
        if making.rematch and until < making.created and not invited:
            raise unknown_table(making.table_id)
        kept = await self._at(live, until)
        return Sight(kept.held, by, None if kept.end is None else kept.end + making.spectator_delay)

    async def refusal(
        self, refused: Refused, table_id: str, command: commands.AnyCommand
    ) -> Refused:
        """What is said to the sender of a command that was refused on the table as it is.

        A refusal tells something of the table too. So a plain spectator is told what would be
        said at the table that spectators see.
        """
        live = self._rooms.held(table_id)
        if live is None and refused.reason is not Reason.UNKNOWN_TABLE:
            live = await self._rooms.look(table_id)
        if live is None:
            return refused
        if not may_know(live.table, command.by):
            refused.details.pop("revision", None)
        if shown_until(live.table, command.by, self._rooms.now()) is None:
            return refused
        if refused.reason not in _SAID_TO_ANYBODY:
            held, by, _ = await self.of(live, command.by)
            refused = _refused_then(held.table, replace(command, by=by))
        return await self.told(refused, live, command.by)

    async def told(self, refused: Refused, live: Held, by: commands.By) -> Refused:
        """A refusal with the revision of the table that the caller may see, if there is one."""
        held = await self._of_or_none(live, by) if may_know(live.table, by) else None
        if held is None:
            refused.details.pop("revision", None)
        else:
            refused.details["revision"] = str(held.revision)
        return refused

    async def _at(self, live: Held, until: int) -> _Kept:
        """The table as it was at a time. Raises Refused."""
        table_id = live.table.making.table_id
        kept = self._fitting(live, until)
        if kept is not None:
            return kept
        async with self._locks.setdefault(table_id, asyncio.Lock()):
            kept = self._fitting(live, until)  # others may have waited for the same
            if kept is None:
                kept = await self._read(live, until)
                self._kept[table_id] = kept
                self._kept.move_to_end(table_id)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        return kept

    def _fitting(self, live: Held, until: int) -> _Kept | None:
        kept = self._kept.get(live.table.making.table_id)
        if kept is None or kept.live != (live.revision, live.change_id):
            return None  # another last change may have come out of another history
        is_over = kept.end is not None and kept.end <= until
        return kept if kept.begin <= until and not is_over else None

    async def _read(self, live: Held, until: int) -> _Kept:
        table_id = live.table.making.table_id
        behind, key = live.table.making.spectator_delay, (live.revision, live.change_id)
        if live.table.stamp <= until:
            held = Held(*key, live.table, behind)
            return _Kept(held, key, live.table.stamp, None)
        then, after = await self._store.past(table_id, until)
        begin, end = 0, live.table.stamp if after is None else after.stamp
        if then is not None:
            begin = then.stamp
        elif after is not None and after.stored.revision == 1:
            then = after  # a table that is younger than the delay: as it was made
        else:
            raise _nothing_yet(end - until)
        known = self._kept.get(table_id)
        stored = then.stored
        if known is not None and known.held.is_at(stored.revision, stored.change_id):
            held = known.held
        else:
            held = decoded(table_id, stored, live.table, behind)
        return _Kept(held, key, begin, end)


def shown_until(table: Table, by: commands.By, now: int) -> int | None:
    """The last moment that a caller may know of at a table; None: may know everything.

    Ask it of the table as it is, for whatever else is told about a table, such as what was said
    there. In milliseconds since 1970.
    """
    delay = table.making.spectator_delay
    return now - delay if delay and views.is_plain_spectator(table, by) else None


def past_of(table: Table, before: int) -> Past | None:
    """How a state is kept for spectators; None where they see all at once.

    `before` is the stamp of the state before it. A component set of the maker's own is in the
    table already, and not kept again with each state.
    """
    making = table.making
    if not making.spectator_delay:
        return None
    blob = b""
    if making.custom_set:
        blob = encode(replace(table, making=replace(making, custom_set=b"")))
    return Past(table.stamp, before, making.spectator_delay, blob)


def _refused_then(then: Table, command: commands.AnyCommand) -> Refused:
    """Why the table that spectators see refuses a command of one of them."""
    try:
        decide(then, command, then.stamp)
    except Refused as refused:
        return refused
    # Nothing but sitting down is open to a spectator: somebody else was faster.
    return Refused(
        Reason.SEAT_TAKEN,
        "nobody can sit down there now; spectators see this table as it was some time ago",
    )


def _nothing_yet(wait: int) -> Refused:
    """The refusal to show a table that was read in, while all that is known of it is too new."""
    return Refused(
        Reason.NOT_ALLOWED,
        "spectators see this table later than others, and there is nothing yet that they may see",
        retry_after_ms=wait,
    )
