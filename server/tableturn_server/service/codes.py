"""Codes that people tell each other across a room, and those who guess at them.

A code has eight letters and digits out of thirty that aren't mistaken for each other: a guess is
right once in a million million tries or so. All the same an address may try only so many wrong
ones, at whichever process of the service.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import NamedTuple

from tableturn_server.service.keeper import Keeper
from tableturn_server.service.rooms import Held
from tableturn_server.store import CodeFor, CodeStore, Request, StoreError
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

    async def seat_code(self, table_id: str, seat: int, since: int) -> str:
        """A code with which a seat may be moved by whoever is told it."""
        return await self._store.seat_code(table_id, seat, since)

    async def resolve(self, typed: str, peer: str, table_id: str = "", *, by: commands.By) -> Found:
        """What a code is for, which somebody at an address has typed.

        Raises Refused with UNKNOWN_CODE if it is for nothing, or not for this table, and with
        LIMIT_REACHED after too many of those.
        """
        if not typed.strip():
            raise Refused(Reason.BAD_FIELD, "code is missing", field="code")
        wait = await self._store.try_one(peer)
        if wait:
            raise Refused(
                Reason.LIMIT_REACHED,
                f"too many wrong codes; try again in {-(-wait // 1000)} s",
                retry_after_ms=wait,
            )
        code = read(typed)
        what = await self._store.look_up(code) if code else None
        held = await self._held(what, by) if what else None
        if what is None or held is None or table_id not in ("", what.table_id):
            raise unknown_code()
        await self._store.was_right(peer)
        return Found(code, what, held)

    async def _held(self, what: CodeFor, by: commands.By) -> Held | None:
        """The table that a code is for, as long as the code counts there.

        A spectator who sees the table later isn't told by a join code that the game is over.
        """
        try:
            held = await self._keeper.look(what.table_id)
            if not what.seat:
                held = (await self._keeper.sights.of(held, by)).held
        except Refused as refused:
            if refused.reason is not Reason.UNKNOWN_TABLE:
                raise
            return None
        return held if _counts(held.table, what) else None

    @contextlib.asynccontextmanager
    async def used(self, found: Found, request: Request) -> AsyncIterator[None]:
        """Around the use of a seat's code: it is used once, and not used up by what is refused.

        Where it isn't known whether the seat was moved, the code is kept for the same request.
        """
        user = "".join(part.hex() for part in request.digests()) + request.principal
        if not await self._store.claim(found.code, user):
            raise unknown_code()
        try:
            yield
        except Refused as refused:
            if refused.reason is Reason.STALE_REVISION:  # somebody else sits there by now
                await self._store.use_up(found.code)
                raise unknown_code() from refused
            if refused.reason is not Reason.STORE_UNAVAILABLE:
                await self._store.release(found.code, user)
            raise
        # The seat is moved, whatever becomes of this: nobody else can claim the code.
        with contextlib.suppress(StoreError):
            await self._store.use_up(found.code)


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
