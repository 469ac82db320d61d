"""What the watches of a session have told: views, log lines, and how the connection is.

There is one watch for each seat held, so that each seat has its own view and
choices. The watch of the first one tells the log.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client import errors, events
from tableturn_client.drawing import log, talk
from tableturn_client.drawing.seats import Seats
from tableturn_client.handles import Seat, Table
from tableturn_client.messages import WhoIsThere
from tableturn_client.play.seated import Seated
from tableturn_client.whose import gone

LOST = "connection lost, trying again"
STALE = "the service can't reach its store; what you see may be out of date"
_KEPT = 200
"""Log lines that are kept for the screen."""
_RECALLED = 20
"""Log entries that a screen begins with."""
_MAPPED = (
    table_pb2.CHANGE_KIND_START,
    table_pb2.CHANGE_KIND_CONFIRM,
    table_pb2.CHANGE_KIND_TAKEBACK,
    table_pb2.CHANGE_KIND_DROP,
)
"""After these changes somebody who only watches is shown the map again, line by line."""


class Hearing:
    """What has been heard. `changed` is called after each event."""

    def __init__(self, seated: Seated, changed: Callable[[], None]) -> None:
        self._seated = seated
        self._changed = changed
        self._lost: set[int] = set()
        self._stale = False
        self.who: WhoIsThere | None = None
        """Who is there, as the watches have told last."""
        self.views: dict[int, table_pb2.TableView] = {}
        self.logs: dict[int, deque[Text]] = {}
        self.untold: deque[Text] = deque()
        """Lines that were not written yet where all is written line by line."""
        self.map_due = True
        """The map has changed since a spectator was shown it."""
        self.need = 0
        """The revision that a command of this session has made: nothing older is answered."""
        self.sending = False
        self.unanswered = False
        """A call got no answer, and is repeated."""
        self.leaving: set[int] = set()
        self.told_off: dict[int, str] = {}
        """Seats that the service has taken away, with what it said."""

    # ------------------------------------------------------------ what is known

    @property
    def main_view(self) -> table_pb2.TableView | None:
        """The table as the first seat sees it, or a spectator."""
        return self.views.get(self._seated.first)

    @property
    def paused(self) -> bool:
        """The game is paused."""
        return self.main_view is not None and self.main_view.paused

    @property
    def behind(self) -> bool:
        """There is nothing to see yet, or not all that was sent."""
        view = self.main_view
        return view is None or view.revision < self.need

    @property
    def asked(self) -> list[int]:
        """The seats held here that are asked, and for which no bot plays."""
        view = self.main_view
        if view is None or view.status != table_pb2.TABLE_STATUS_RUNNING:
            return []
        own = self._seated.seats.keys() - self.stood_in
        return [prompt.seat for prompt in view.prompts if prompt.seat in own]

    @property
    def stood_in(self) -> set[int]:
        """The seats for which a bot plays on."""
        view = self.main_view
        return {seat.seat for seat in view.seats if seat.stand_in} if view is not None else set()

    def asked_at(self, seat: int) -> int:
        """The revision at which what a seat is asked last changed; 0 if it isn't asked."""
        view = self.views.get(seat)
        prompts = view.prompts if view is not None else ()
        return next((p.asked_at for p in prompts if p.seat == seat), 0)

    def knows(self, seat: int) -> bool:
        """The seat's own view is as new as the first one's and as what was sent."""
        main, own = self.main_view, self.views.get(seat)
        return main is not None and own is not None and own.revision >= main.revision >= self.need

    def banner(self, active: int) -> str:
        """What is wrong with the connection; empty for nothing."""
        if self.sending and self.unanswered:
            return f"{LOST}; what you typed is sent as soon as it is back"
        if self._lost.intersection((self._seated.first, active)):
            return LOST
        return STALE if self._stale else ""

    # ------------------------------------------------------------ hearing

    async def recall(self) -> None:
        """The end of the log, so that a screen doesn't begin without what went before."""
        main = self._seated.main
        with suppress(errors.TableturnError):
            view = await main.view()
            page = await main.log_page(max(0, view.revision - _RECALLED))
            seen = [entry for entry in page.entries if entry.revision <= view.revision]
            told = [line for entry in seen for line in log.entry(entry, Seats.of(view))]
            for seat in (*self._seated.own, 0):
                self.logs[seat] = deque(told, _KEPT)

    async def follow(self, handle: Table) -> None:
        """Hear what one handle's watch tells, as long as it does."""
        seat = handle.number if isinstance(handle, Seat) else 0
        try:
            async with handle.watch(company=True) as watch:
                async for event in watch:
                    self._hear(seat, event)
        except errors.NotPermitted:
            if not seat:
                raise
            if seat in self._seated.seats and seat not in self.leaving:
                await self._lost_seat(seat)
            await asyncio.Event().wait()

    async def _lost_seat(self, seat: int) -> None:
        """The token of a seat is dead: go on with the others, else look on where one may."""
        lost = await gone(self._seated.table, seat)
        if len(self._seated.seats) == 1 and not lost.seen:
            self._seated.gone(seat)
            raise lost.error
        self.told_off[seat] = lost.sentence
        self._changed()
        if not self._seated.seats:
            self.need = 0  # a spectator may see it later
            await self.follow(self._seated.table)

    def _hear(self, seat: int, event: events.Event) -> None:
        """One event of a watch."""
        match event:
            case events.Snapshot(view, reason):
                if reason is events.SnapshotReason.FORKED:
                    self.need = 0
                    self._tell(
                        seat, [Text("The service lost its last changes; this is what stands.")]
                    )
                elif reason is not events.SnapshotReason.BEGIN:
                    self._tell(seat, [Text("(some changes were too quick to be told one by one)")])
                self.views[seat] = view
                self.map_due = True
            case events.Change(entry, view):
                known = view or self.views.get(seat)
                self._tell(seat, log.entry(entry, Seats.of(known) if known else Seats()))
                if view is not None:
                    self.views[seat] = view
                self.map_due = self.map_due or entry.kind in _MAPPED
            case events.Disconnected():
                self._lost.add(seat)
            case events.Reconnected():
                self._lost.discard(seat)
            case events.Stale():
                self._stale = True
            case events.Fresh():
                self._stale = False
            case events.Presence(who):
                self.who = who
            case events.Said(line):
                known = self.views.get(seat)
                self._tell(seat, [talk.line(line, Seats.of(known) if known else None)])
        self._changed()

    def _tell(self, seat: int, lines: list[Text]) -> None:
        """Keep lines for the screen; those of the first seat are also told one by one."""
        self.logs.setdefault(seat, deque(maxlen=_KEPT)).extend(lines)
        if seat == self._seated.first:
            self.untold.extend(lines)
