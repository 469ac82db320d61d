"""What watchers are told beside the game: who is there, and what is said.

All watches of a table in a process share what was read; each remembers what it was told.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterator
from itertools import takewhile

from tableturn.v1 import company_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.presences import Presences, Seen, token_of
from tableturn_server.service.rooms import Held
from tableturn_server.service.sights import shown_until
from tableturn_server.store import ChatStore, Line, Signal, StoreError
from tableturn_server.store.chat import MOST_LINES, MOST_UNHEARD
from tableturn_server.tables import commands
from tableturn_server.tables.presence import heard_for
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import StandInCause, Table

log = logging.getLogger(__name__)

_DEADLINE = 3.0
"""Seconds in which somebody who is back is let play on."""
_BY = commands.By(service=True)


class _Room:
    """What is read beside a table that is watched here."""

    __slots__ = ("again_at", "lines", "lock", "number", "read", "watches")

    def __init__(self, most: int) -> None:
        self.watches = 0
        self.number: int | None = None
        """Of the last line that was read; None before the first look."""
        self.lines: deque[tuple[Line, bytes]] = deque(maxlen=most)
        self.read = -1
        """Up to which signal everything was read."""
        self.again_at = 0.0
        """When it is read again without one, in the loop's time: signals may be lost."""
        self.lock = asyncio.Lock()


class Asides:
    """What all watches of a process are told beside the game.

    Wake-ups may be lost: after `interval` seconds it is looked without one.
    """

    def __init__(
        self, keeper: Keeper, presences: Presences, chat: ChatStore, *, interval: float
    ) -> None:
        self.keeper = keeper
        self.presences = presences
        self._chat = chat
        self._interval = interval
        self._rooms: dict[str, _Room] = {}

    def enter(self, table: Table) -> _Room:
        """One more watch of a table."""
        table_id = table.making.table_id
        room = self._rooms.get(table_id)
        if room is None:
            most = MOST_UNHEARD if table.making.spectator_delay else MOST_LINES
            room = self._rooms[table_id] = _Room(most)
        room.watches += 1
        return room

    def leave(self, table_id: str) -> None:
        """One less."""
        room = self._rooms[table_id]
        room.watches -= 1
        if not room.watches:
            del self._rooms[table_id]

    async def refresh(self, table_id: str, room: _Room, upto: int) -> None:
        """Read what is new, once for all who have heard the same signal. Raises StoreError."""
        now = asyncio.get_running_loop().time()
        if room.read >= upto and now < room.again_at:
            return
        async with room.lock:
            if room.read >= upto and now < room.again_at:  # others have waited for the same
                return
            room.again_at = now + self._interval
            await self.presences.read([table_id])
            await self._read_chat(table_id, room)
            room.read = max(upto, room.read)

    async def _read_chat(self, table_id: str, room: _Room) -> None:
        if room.number is None:
            room.number = (await self._chat.settings(table_id)).number
        (lines,) = await self._chat.after([(table_id, room.number)])
        for line in lines:
            if line.number > room.number:
                room.lines.append((line, convert.nested(8, message_of(line).SerializeToString())))
                room.number = line.number

    async def look(self, table: Table, room: _Room) -> None:
        """Read what is there when a watch begins. Raises StoreError."""
        async with room.lock:
            if room.number is None and table.making.spectator_delay:
                room.number = 0  # spectators are still to hear what was said before
            await self._read_chat(table.making.table_id, room)


class Aside:
    """What one watch is told beside the game."""

    def __init__(self, asides: Asides, call: Call, held: Held) -> None:
        self._asides = asides
        self._by = call.by
        self._table_id = held.table.making.table_id
        self._room = asides.enter(held.table)
        self._token: bytes | None = None
        """Under which it is noted; None before it is."""
        self._seen: Seen | None = None
        self._told: bytes | None = None
        self._number = 0
        self._called_back: set[int] = set()

    async def begin(self, held: Held) -> Iterator[bytes]:
        """The watch has begun: somebody is there. A store that is away does it no harm."""
        await self._is_at(held)
        with contextlib.suppress(StoreError):
            await self._asides.look(held.table, self._room)
        until = self._until(held)
        if until is None:
            self._number = self._room.number or 0
        else:
            self._number = max((line.number for line, _ in self._heard(until)), default=0)
        return self._news()

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, *exc: object) -> None:
        self._asides.leave(self._table_id)
        if self._token is not None:
            self._asides.presences.goes(self._table_id, self._token)

    async def hear(self, signal: Signal | None) -> Iterator[bytes]:
        """Look what is new after a signal, or after a time without any."""
        held = self._asides.keeper.held(self._table_id)
        if held is not None:
            self._asides.presences.is_at(held)
            await self._is_at(held)
        upto = -1 if signal is None else signal.aside
        with contextlib.suppress(StoreError):  # the next beat tells of it
            await self._asides.refresh(self._table_id, self._room, upto)
        return self._news()

    def _news(self) -> Iterator[bytes]:
        """The events that are new. Who sees the table later hears later, and not who is there."""
        seen = self._seen
        if seen is None:
            return
        until = self._until(seen.held)
        if until is None and seen.data != self._told:
            self._told = seen.data
            yield convert.nested(7, seen.data)
        if self._number < (self._room.number or 0):
            for line, event in self._heard(until):
                if line.number > self._number:
                    self._number = line.number
                    yield event

    def _until(self, held: Held) -> int | None:
        return shown_until(held.table, self._by, self._asides.keeper.now())

    def _heard(self, until: int | None) -> Iterator[tuple[Line, bytes]]:
        """The lines that were said up to a time, in their order."""
        lines = tuple(self._room.lines)
        return takewhile(lambda one: until is None or one[0].time_ms <= until, lines)

    async def _is_at(self, held: Held) -> None:
        """Note the watch under its token, which may have won or lost a part in the table."""
        table = held.table
        token = token_of(table, self._by.token)
        if token != self._token:
            before, self._token = self._token, token
            try:
                self._seen = await self._asides.presences.comes(held, token)
            finally:  # also if the caller leaves just then: nobody is there twice, or for ever
                if before is not None:
                    self._asides.presences.goes(self._table_id, before)
        for seat in heard_for(table, token) if token else ():
            if table.seat(seat).stand_in_cause != StandInCause.ABSENCE:
                self._called_back.discard(seat)
            elif seat not in self._called_back and await self._comes_back(seat):
                self._called_back.add(seat)

    async def _comes_back(self, seat: int) -> bool:
        """Somebody is heard again for whom a bot plays, because nobody was there.

        Says whether that is decided; if the store is away it has to be tried again.
        """
        command = commands.ComeBack(by=_BY, seat=seat)
        deadline = asyncio.get_running_loop().time() + _DEADLINE
        try:
            await self._asides.keeper.carry_out(self._table_id, command, None, deadline)
        except (Refused, StoreError) as error:  # it may still say so itself
            log.info("table %s: seat %d is not back: %s", self._table_id, seat, error.sentence)
            return isinstance(error, Refused) and error.reason is not Reason.STORE_UNAVAILABLE
        return True


def message_of(line: Line) -> company_pb2.ChatLine:
    """The message of something that was said."""
    return company_pb2.ChatLine(
        number=line.number,
        time=convert.timestamp(line.time_ms),
        seat=line.seat,
        name=line.name,
        text=line.text,
    )
