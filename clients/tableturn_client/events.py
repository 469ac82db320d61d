"""What a watch tells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from tableturn.v1 import company_pb2
from tableturn.v1.table_pb2 import LogEntry, TableView
from tableturn_client.errors import TableturnError


@dataclass(frozen=True)
class ResumePoint:
    """A point in a table's history, from which a watch goes on."""

    revision: int
    change_id: str


class SnapshotReason(Enum):
    """Why a watch tells the whole table instead of the changes that led to it."""

    BEGIN = "begin"
    """The watch begins."""
    COMPACTED = "compacted"
    """The changes since the last event are not kept any more."""
    SKIPPED = "skipped"
    """Changes were left out, because this client or the network was too slow."""
    FORKED = "forked"
    """The service lost changes that it had told, in a failover. Forget them."""


@dataclass(frozen=True)
class Snapshot:
    """The whole table. Forget what was known before."""

    view: TableView
    reason: SnapshotReason = SnapshotReason.BEGIN

    @property
    def revision(self) -> int:
        """The revision that the view shows."""
        return self.view.revision

    @property
    def point(self) -> ResumePoint:
        """Where a later watch can go on."""
        return ResumePoint(self.view.revision, self.view.change_id)


@dataclass(frozen=True)
class Change:
    """The next change. `view` is None where a later change follows at once."""

    entry: LogEntry
    view: TableView | None = None

    @property
    def revision(self) -> int:
        """The revision that the change made."""
        return self.entry.revision

    @property
    def point(self) -> ResumePoint:
        """Where a later watch can go on."""
        return ResumePoint(self.entry.revision, self.entry.change_id)


@dataclass(frozen=True)
class Stale:
    """The service can't reach its store: what was told last may be out of date."""

    since: datetime


@dataclass(frozen=True)
class Fresh:
    """What was told last is up to date again."""


@dataclass(frozen=True)
class Disconnected:
    """Nothing comes from the service: show it. The watch tries to go on by itself."""

    error: TableturnError


@dataclass(frozen=True)
class Reconnected:
    """The service is heard again. What was missed follows."""


@dataclass(frozen=True)
class Presence:
    """Who is there now. Only of a watch with `company`."""

    who: company_pb2.Presence


@dataclass(frozen=True)
class Said:
    """Somebody has said something. Only of a watch with `company`."""

    line: company_pb2.ChatLine


Event = Snapshot | Change | Stale | Fresh | Disconnected | Reconnected | Presence | Said
