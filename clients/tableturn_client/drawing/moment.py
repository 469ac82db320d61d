"""What is known of a table beside its view: what time it is, and who is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from tableturn_client.messages import PresenceState, SeatPresence, TableView, WhoIsThere
from tableturn_client.timekeeping import shown_at


@dataclass(frozen=True)
class Moment:
    """The service's time (None: as of the view), and who is there."""

    now: datetime | None = None
    who: WhoIsThere | None = None

    def since(self, stamp: Timestamp, view: TableView) -> timedelta:
        """How long ago something was."""
        return max(timedelta(), self.of(view) - stamp.ToDatetime(UTC))

    def is_over(self, stamp: Timestamp, view: TableView) -> bool:
        """A moment has come."""
        return self.of(view) >= stamp.ToDatetime(UTC)

    def of(self, view: TableView) -> datetime:
        """The time for which a view is drawn: an old one is shown as it was then."""
        return shown_at(view, self.now)

    def away(self, seat: int) -> SeatPresence | None:
        """What is known of a seat of which nobody is there."""
        found = self.who.seats if self.who is not None else ()
        gone = (one for one in found if one.state == PresenceState.PRESENCE_STATE_AWAY)
        return next((one for one in gone if one.seat == seat), None)


AS_SEEN = Moment()
"""Nothing is known but the view."""
