"""Which bridge holds which panel of a table: leases, which end by themselves.

A lease is no part of the table and changes no revision. It keeps two bridges from showing one
panel at the same time; that no press counts twice is the table's own matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from . import keys
from .errors import StoreError
from .link import Reply
from .resp import Argument, Connection, Script

LEASE_MS = 4000
"""For how long a panel is held without a further word."""

_HERE = files(__package__)
_HOLD = Script(_HERE.joinpath("hold.lua").read_text("utf-8"))
_RELEASE = Script(_HERE.joinpath("release.lua").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a panel, what it told last, and when (Unix time in milliseconds).

    `left_ms` is how long the lease lasts if nothing more is heard.
    """

    holder: str
    report: bytes
    told_ms: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Another one holds the panel, for so many milliseconds at least."""

    holder: str
    left_ms: int


class PanelStore:
    """The leases of panels. Every method may raise StoreUnavailable, StoreFull, StoreError."""

    def __init__(self, connection: Connection, *, lease_ms: int = LEASE_MS) -> None:
        self._connection = connection
        self.lease_ms = lease_ms

    async def hold(
        self, table_id: str, uid: int, holder: str, report: bytes, *, now_ms: int
    ) -> HeldBy | None:
        """Hold a panel, or hold it for longer; who holds it instead, if another one does."""
        args: list[Argument] = [holder, report, now_ms, self.lease_ms]
        reply = await _HOLD(self._connection, [keys.panel(table_id, uid)], args)
        if reply[0] == b"held":
            return HeldBy(reply[1].decode(), max(0, int(reply[2])))
        return None

    async def release(self, table_id: str, uid: int, holder: str) -> bool:
        """Let a panel go; whether this one held it."""
        return bool(await _RELEASE(self._connection, [keys.panel(table_id, uid)], [holder]))

    async def holder(self, table_id: str, uid: int) -> Lease | None:
        """Who holds a panel; None for nobody."""
        return (await self.all(table_id, [uid]))[uid]

    async def all(self, table_id: str, uids: Sequence[int]) -> dict[int, Lease | None]:
        """Who holds which of these panels, in one round trip."""
        names = [keys.panel(table_id, uid) for uid in uids]
        replies = await self._connection.pipeline(
            [
                command
                for name in names
                for command in (("HMGET", name, "holder", "report", "time"), ("PTTL", name))
            ]
        )
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply
        pairs = zip(replies[::2], replies[1::2], strict=True)
        return {uid: _lease(*pair) for uid, pair in zip(uids, pairs, strict=True)}


def _lease(fields: Reply, left: Reply) -> Lease | None:
    holder, report, told = fields
    if holder is None:
        return None
    return Lease(holder.decode(), report, int(told), max(0, int(left)))
