"""The store: Redis or Valkey, embedded or external, with tables, their logs, and wake-ups.

    async with open_store(data=Path(".data")) as store:
        result = await store.tables.commit(table_id, based_on, request, write)

What is not named here is private to the package.
"""

from .binary import Binary, find_binary
from .chat import (
    ChatStore,
    Line,
    Person,
    Said,
    Settings,
    Silenced,
    TooMuch,
)
from .check import Problem, Severity, check_store
from .codes import Claimed, CodeFor, CodeStore
from .datadir import measure_fsync
from .embedded import EmbeddedValkey
from .endpoint import Endpoint
from .errors import StoreError, StoreFull, StoreRefused, StoreUnavailable
from .hub import Signal, Watcher, WatchHub
from .jobs import Claim, JobBoard
from .opening import Store, open_store
from .outages import Outage, OutageStore
from .panels import LEASE_MS, HeldBy, Lease, PanelStore
from .presence import PresenceStore, Records, Watched
from .records import (
    CommitResult,
    Committed,
    Conflict,
    CreateResult,
    Exists,
    Known,
    Listed,
    LogRecord,
    Missing,
    Page,
    Past,
    PastState,
    Request,
    Reused,
    Snapshot,
    Stored,
    Unchanged,
    Write,
)
from .resp import Connection, Script
from .tables import TableStore

__all__ = [
    "LEASE_MS",
    "Binary",
    "ChatStore",
    "Claim",
    "Claimed",
    "CodeFor",
    "CodeStore",
    "CommitResult",
    "Committed",
    "Conflict",
    "Connection",
    "CreateResult",
    "EmbeddedValkey",
    "Endpoint",
    "Exists",
    "HeldBy",
    "JobBoard",
    "Known",
    "Lease",
    "Line",
    "Listed",
    "LogRecord",
    "Missing",
    "Outage",
    "OutageStore",
    "Page",
    "PanelStore",
    "Past",
    "PastState",
    "Person",
    "PresenceStore",
    "Problem",
    "Records",
    "Request",
    "Reused",
    "Said",
    "Script",
    "Settings",
    "Severity",
    "Signal",
    "Silenced",
    "Snapshot",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreRefused",
    "StoreUnavailable",
    "Stored",
    "TableStore",
    "TooMuch",
    "Unchanged",
    "WatchHub",
    "Watched",
    "Watcher",
    "Write",
    "check_store",
    "find_binary",
    "measure_fsync",
    "open_store",
]
