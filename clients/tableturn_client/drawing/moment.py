"""What is known of a table beside its view: what time it is, who is there, how late one sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from tableturn_client.messages import PresenceState, SeatPresence, TableView, WhoIsThere


@dataclass(frozen=True)
class Moment:
    """The service's time (None: as of the view), who is there, and how late one sees it."""

    now: datetime | None = None
    who: WhoIsThere | None = None
    behind: timedelta = timedelta()

    def since(self, stamp: Timestamp, view: TableView) -> timedelta:
        """How long ago something was."""
        return max(timedelta(), self.of(view) - stamp.ToDatetime(UTC))

    def of(self, view: TableView) -> datetime:
        """The time for which a view is drawn: an old one is shown as it was then."""
        if self.now is None:
            return view.update_time.ToDatetime(UTC)
        return self.now - self.behind

    def away(self, seat: int) -> SeatPresence | None:
        """What is known of a seat of which nobody is there."""
        found = self.who.seats if self.who is not None else ()
        gone = (one for one in found if one.state == PresenceState.PRESENCE_STATE_AWAY)
        return next((one for one in gone if one.seat == seat), None)


AS_SEEN = Moment()
"""Nothing is known but the view."""
