"""Codes that people tell each other across a room, and those who guess at them.

A code has eight letters and digits out of thirty that aren't mistaken for each other: a guess is
right once in a million million tries or so. All the same an address may try only so many wrong
ones, at whichever process of the service.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator
from ipaddress import IPv6Address, IPv6Network
from typing import NamedTuple
from urllib.parse import unquote

from tableturn_server.service.keeper import Keeper
from tableturn_server.service.limits import too_many
from tableturn_server.service.rooms import Held
from tableturn_server.store import Claimed, CodeFor, CodeStore, Request, StoreError
from tableturn_server.tables import commands
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Occupant, Status, Table

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No 0 and O, no 1, I and L, no U, which is taken for V."""
LENGTH = 8
_MOST_TYPED = 64


class Found(NamedTuple):
    """A code that counts, and what it is for."""

    code: str
    what: CodeFor
    held: Held


class Codes:
    """The codes of all tables."""

    def __init__(self, keeper: Keeper, store: CodeStore) -> None:
        self._keeper = keeper
        self._store = store

    async def join_code(self, table_id: str, *, renew: bool) -> str:
        """The table's join code, or another one."""
        return await self._store.join_code(table_id, renew=renew)

    async def seat_code(self, what: CodeFor) -> str:
        """A code with which a seat may be moved by whoever is told it.

        Raises Refused with LIMIT_REACHED where too many were made.
        """
        wait = await self._store.seat_codes(what.table_id, what.seat)
        if wait:
            raise too_many(f"codes for seat {what.seat}", wait / 1000)
        return await self._store.seat_code(what)

    async def resolve(
        self,
        typed: str,
        peer: str,
        table_id: str = "",
        *,
        by: commands.By,
        asked: Request | None = None,
    ) -> Found:
        """What a code is for, which somebody at an address has typed.

        A seat's code that is used up is still for the seat if it was by the request that asks.
        Raises Refused with UNKNOWN_CODE if it is for nothing, or not for this table, and with
        LIMIT_REACHED after too many of those.
        """
        if not typed.strip():
            raise Refused(Reason.BAD_FIELD, "code is missing", field="code")
        wait = await self._store.try_one(network_of(peer))
        if wait:
            raise too_many("wrong codes", wait / 1000)
        code = read(typed)
        user = _user_of(asked) if asked else ""
        what = await self._store.look_up(code, user) if code else None
        held = await self._held(what, by) if what else None
        if what is None or held is None or table_id not in ("", what.table_id):
            raise unknown_code()
        await self.was_right(peer)
        return Found(code, what, held)

    async def was_right(self, peer: str) -> None:
        """The last code from an address was no wrong try."""
        await self._store.was_right(network_of(peer))

    async def _held(self, what: CodeFor, by: commands.By) -> Held | None:
        """The table that a code is for, as long as the code counts there.

        A spectator who sees the table later isn't told by a join code that the game is over.
        """
        try:
            held = await self._keeper.look(what.table_id)
            if not what.seat:
                held = (await self._keeper.sights.of(held, by, invited=True)).held
        except Refused as refused:
            if refused.reason is not Reason.UNKNOWN_TABLE:
                raise
            return None
        return held if _counts(held.table, what) else None

    @contextlib.asynccontextmanager
    async def used(self, found: Found, request: Request) -> AsyncIterator[bool]:
        """Around the use of a seat's code: it is used once, and not used up by what is refused.

        Yields whether this very request has used it up before. Where it isn't known whether the
        seat was moved, the code is kept for the same request.
        """
        user = _user_of(request)
        claimed = await self._store.claim(found.code, user)
        if not claimed:
            raise unknown_code()
        try:
            yield claimed is Claimed.BEFORE
        except Refused as refused:
            if refused.reason is Reason.STALE_REVISION:  # somebody else sits there by now
                await self._store.use_up(found.code, user)
                raise unknown_code() from refused
            if refused.reason is not Reason.STORE_UNAVAILABLE:
                await self._store.release(found.code, user)
            raise
        # The seat is moved, whatever becomes of this: nobody else can claim the code.
        with contextlib.suppress(StoreError):
            await self._store.use_up(found.code, user)


def _user_of(request: Request) -> str:
    """Who uses a code: one request of somebody, however often it is sent."""
    return "".join(part.hex() for part in request.digests()) + request.principal


def network_of(peer: str) -> str:
    """From where wrong codes are counted together: an address.

    Of IPv6 it is the network of 64 bits, of which a single home has all addresses.
    """
    kind, _, rest = peer.partition(":")
    if kind != "ipv6":
        return peer
    try:
        address = IPv6Address(unquote(rest).strip("[]").partition("%")[0])
    except ValueError:
        return peer
    if address.ipv4_mapped is not None:
        return f"ipv4:{address.ipv4_mapped}"
    return f"ipv6:{IPv6Network((address, 64), strict=False)}"


def draw() -> str:
    """A code that nobody can guess."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def shown(code: str) -> str:
    """A code as people read it: `K7QM-4XRD`."""
    return f"{code[:4]}-{code[4:]}"


def read(typed: str) -> str:
    """A code as it was typed, without what doesn't matter; empty for what can't be one."""
    if len(typed) > _MOST_TYPED:
        return ""
    code = "".join(typed.split()).translate(_DASHES).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else ""


_DASHES = dict.fromkeys(map(ord, "-\u2010\u2011\u2012\u2013\u2014\u2212"))


def unknown_code() -> Refused:
    """The refusal of a code that is for nothing."""
    return Refused(
        Reason.UNKNOWN_CODE,
        "this code is for nothing, or not any more; ask for another one",
        field="code",
    )


def _counts(table: Table, what: CodeFor) -> bool:
    """A code is still of use at its table: a join code ends with the game."""
    if not what.seat:
        return table.status is not Status.FINISHED
    seat = table.seat(what.seat) if what.seat <= len(table.seats) else None
    return seat is not None and seat.occupant is Occupant.PERSON and seat.since == what.since
