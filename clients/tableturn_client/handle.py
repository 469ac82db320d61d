"""What all handles have in common: where the table is, the token, and what was seen of it.

A handle remembers the last state that it was shown (`revision`, `last_view`): by `view`, by
`actions`, by the events of its watch, and by the answers to its own `act`, `undo`, `confirm`
and `take_back`, which are accepted only if the caller had seen what they were about. A command
expects that revision, and is refused with StaleRevision if what the seat is asked has changed
since. It is never refreshed behind the caller's back: a click that was meant for an earlier
question does not count for a later one (case S7), and the answer to a pause, say, shows nothing
of what others did before it. Give `expected` to name another.
"""

from __future__ import annotations

from dataclasses import dataclass

from tableturn.v1 import table_pb2
from tableturn.v1.company_pb2 import Presence as WhoIsThere
from tableturn.v1.table_pb2 import TableView
from tableturn_client.errors import NothingSeen
from tableturn_client.events import Change, Event, Presence, Snapshot
from tableturn_client.timekeeping import Timekeeping
from tableturn_client.values import request_of, whole
from tableturn_client.wire import Wire

MAX_SEATS = 1000


@dataclass(frozen=True)
class Done:
    """A change was accepted and is stored.

    `replayed`: the answer was given before, to the same request id. `lines` say what
    happened, `waiting_for` are the seats that still have to agree to a takeback. `seat` is
    the one that it was for, where the answer says so.
    """

    revision: int
    replayed: bool = False
    lines: tuple[str, ...] = ()
    waiting_for: tuple[int, ...] = ()
    seat: int = 0


class Handle:
    """A table at a service, as whoever has the token; a seat's handle also has its number."""

    def __init__(self, wire: Wire, table_id: str, *, token: str = "", seat: int = 0) -> None:
        self._wire = wire
        self.table_id = table_id
        self.token = token
        self.revision: int | None = None
        self.last_view: TableView | None = None
        self.last_presence: WhoIsThere | None = None
        self._seat = seat_number(seat)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.table_id!r} at {self._wire.address}>"

    @property
    def time(self) -> Timekeeping:
        """What time it is at the service, as its messages have told: to show clocks by."""
        return self._wire.time

    async def view(self) -> TableView:
        """The table as this token may see it."""
        answer = await self._get(self.table_id, self._seat)
        self._looked(answer.table)
        self.last_presence = answer.presence if answer.HasField("presence") else None
        return answer.table

    async def _get(self, table_id: str, seat: int) -> table_pb2.GetTableResponse:
        """A table as this token sees it; the answer also tells what time it is."""
        request = request_of(table_pb2.GetTableRequest, table_id=table_id, seat=seat)
        sent = self._wire.machine.now()
        answer = await self._wire.call(self._wire.tables.GetTable, request, self.token)
        if answer.HasField("time"):
            self._wire.time.answered(answer.time, sent)
        return answer

    # ------------------------------------------------------------ what was seen

    def _expected(self, expected: int | None) -> int:
        if expected is not None:
            return whole(expected, 0, 2**63 - 1, "no revision")
        if self.revision is None:
            raise NothingSeen(
                f"nothing of the table {self.table_id} was looked at yet: call view() first, "
                "or give the revision that is expected"
            )
        return self.revision

    def _expected_if_seen(self, expected: int | None) -> int:
        """What a command expects that goes without: 0 where nothing was looked at yet."""
        return 0 if expected is None and self.revision is None else self._expected(expected)

    def _looked(self, view: TableView) -> None:
        """The caller asked for the state, and this is it."""
        self.revision = view.revision
        self.last_view = view

    def _told(self, event: Event) -> None:
        """A watch told something. An answer to a command may have come before it."""
        if isinstance(event, Snapshot):
            self._looked(event.view)
        elif isinstance(event, Change):
            self.revision = max(self.revision or 0, event.revision)
            if event.view is not None:
                self.last_view = event.view
        elif isinstance(event, Presence):
            self.last_presence = event.who

    def _went_on(self, done: Done) -> Done:
        """What the caller had seen was still so, and now it is as the answer says."""
        self.revision = max(self.revision or 0, done.revision)
        return done


def seat_number(seat: int) -> int:
    """A seat's number, or 0. Raises BadValue."""
    return whole(seat, 0, MAX_SEATS, "no seat's number")
