"""Codes that people tell each other: to join a table, or to move a seat to another device.

What a code is for stands under the code itself; which join code counts stands beside its table.
They lie in different slots, so that no script could change both: a code that is of no use any
more may be left over, and whoever looks it up is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

import msgspec

from . import keys
from .errors import StoreError
from .resp import Connection, Script

SEAT_CODE_MS = 10 * 60 * 1000
"""For how long a seat may be moved with a code."""
JOIN_CODE_MS = 90 * 24 * 60 * 60 * 1000
"""A join code is forgotten when so long nobody has asked for it."""
MOST_TRIES = 10
"""Wrong codes that an address may try."""
TRIES_MS = 10 * 60 * 1000
"""In so long."""
MOST_SEAT_CODES = 5
"""Codes that are given for a seat, in as long as one of them lasts."""
_MOST_DRAWS = 20
_USED = "used "

# A try is counted before the code is looked up, so that many at once are no way around.
_COUNT = Script("""
-- KEYS: how often something was done. ARGV: 1 how often it may be, 2 in how long
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then
  return redis.call('PTTL', KEYS[1])
end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
""")
_EXCUSE = Script("""
-- The code was right. KEYS: the tries of an address
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('DECR', KEYS[1]) <= 0 then
  redis.call('DEL', KEYS[1])
end
return 0
""")
# Who uses a code is remembered as long as the code, so that whoever has used it up is known.
_CLAIM = Script("""
-- KEYS: a code, who uses it. ARGV: 1 who wants to, 2 the same once it is used up
local left, user = redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2])
if left < 0 then return 0 end
if user == ARGV[2] then return 2 end
if user and user ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', math.max(left, 1))
return 1
""")
_USE_UP = Script("""
-- KEYS: a code, who uses it. ARGV: who has used it up
local left = redis.call('PTTL', KEYS[1])
if left >= 0 then redis.call('SET', KEYS[2], ARGV[1], 'PX', math.max(left, 1)) end
return 0
""")
_GIVE_BACK = Script("""
-- KEYS: a code, or who uses it. ARGV: the value that is taken away, if it is still that one
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
""")


class Claimed(IntEnum):
    """Whether a seat's code may be used."""

    NO = 0
    YES = 1
    BEFORE = 2
    """By this very request it has been already."""


class CodeFor(msgspec.Struct, frozen=True, array_like=True):
    """What a code is for: a table, or a seat (from 1) whose person has sat there since `since`.

    `by_host`: the host has made it for that person.
    """

    table_id: str
    seat: int = 0
    since: int = 0
    by_host: bool = False


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CodeFor).decode


@dataclass(frozen=True, slots=True)
class CodeStore:
    """The codes of all tables. `draw` makes up a code that nobody can guess.

    Every method may raise StoreUnavailable, StoreFull, StoreError.
    """

    connection: Connection
    draw: Callable[[], str]

    async def join_code(self, table_id: str, *, renew: bool = False) -> str:
        """The table's join code: the one that it has, or another one."""
        place = keys.join_code(table_id)
        found = await self.connection.call("GET", place)
        if found is not None and not renew:
            code = str(found.decode())
            if await self._kept(code, table_id):
                return code
        fresh = await self._given(CodeFor(table_id), JOIN_CODE_MS)
        if found is not None:  # renewed, or somebody else's by now: from now on this one counts
            await self.connection.call("SET", place, fresh, "PX", JOIN_CODE_MS)
            await self._take_away(found.decode(), CodeFor(table_id))
            return fresh
        # Two that ask for the first one at once get the same.
        other = await self.connection.call("SET", place, fresh, "NX", "GET", "PX", JOIN_CODE_MS)
        if other is None:
            return fresh
        await self._take_away(fresh, CodeFor(table_id))
        return str(other.decode())

    async def _kept(self, code: str, table_id: str) -> bool:
        """Keep a join code for longer; False if it is not this table's any more."""
        if await self._found(code) != CodeFor(table_id):
            return False
        for reply in await self.connection.pipeline(
            [
                ("PEXPIRE", keys.code(code), JOIN_CODE_MS),
                ("PEXPIRE", keys.join_code(table_id), JOIN_CODE_MS),
            ]
        ):
            if isinstance(reply, StoreError):
                raise reply
        return True

    async def seat_code(self, what: CodeFor) -> str:
        """A new code for a seat, for a while. The one before is of no use any more."""
        fresh = await self._given(what, SEAT_CODE_MS)
        place = keys.seat_code(what.table_id, what.seat)
        before = await self.connection.call("SET", place, fresh, "GET", "PX", SEAT_CODE_MS)
        if before is not None:
            await self.connection.call("DEL", keys.code(before.decode()))
        return fresh

    async def seat_codes(self, table_id: str, seat: int) -> int:
        """Count a code that is asked for a seat.

        0, or for how many milliseconds none is given any more.
        """
        place = keys.seat_codes(table_id, seat)
        return await self._count(place, MOST_SEAT_CODES, SEAT_CODE_MS)

    async def look_up(self, code: str, user: str = "") -> CodeFor | None:
        """What a code is for; None for one that nobody has, or that counts no more.

        A seat's code that is used up counts for nobody but its user.
        """
        value, used = await self.connection.call("MGET", keys.code(code), keys.code_user(code))
        if value is None:
            return None
        found = _decode(value)
        if found.seat:
            is_free = used is None or not used.startswith(_USED.encode())
            return found if is_free or used == f"{_USED}{user}".encode() else None
        counts = await self.connection.call("GET", keys.join_code(found.table_id))
        return found if counts == code.encode() else None

    async def claim(self, code: str, user: str) -> Claimed:
        """Be the one who uses a seat's code; again and again, until it is released or used up.

        NO if there is no such code any more, or another one uses it: it is for one alone.
        """
        names = [keys.code(code), keys.code_user(code)]
        return Claimed(await _CLAIM(self.connection, names, [user, f"{_USED}{user}"]))

    async def release(self, code: str, user: str) -> None:
        """The code was not used after all: somebody else may."""
        await _GIVE_BACK(self.connection, [keys.code_user(code)], [user])

    async def use_up(self, code: str, user: str) -> None:
        """A seat's code was used, and is of no use to anybody else any more."""
        names = [keys.code(code), keys.code_user(code)]
        await _USE_UP(self.connection, names, [f"{_USED}{user}"])

    async def _found(self, code: str) -> CodeFor | None:
        value = await self.connection.call("GET", keys.code(code))
        return None if value is None else _decode(value)

    async def _given(self, what: CodeFor, kept_ms: int) -> str:
        """A code that nobody else has."""
        for _ in range(_MOST_DRAWS):
            code = self.draw()
            if await self.connection.call(
                "SET", keys.code(code), _encode(what), "NX", "PX", kept_ms
            ):
                return code
        raise StoreError("no code is free")

    async def _take_away(self, code: str, what: CodeFor) -> None:
        await _GIVE_BACK(self.connection, [keys.code(code)], [_encode(what)])

    # -- those who guess -------------------------------------------------------------------

    async def try_one(self, address: str) -> int:
        """Count a try of an address before it is told anything.

        0, or for how many milliseconds it may try no more.
        """
        return await self._count(_tries(address), MOST_TRIES, TRIES_MS)

    async def _count(self, place: str, most: int, within_ms: int) -> int:
        return max(0, int(await _COUNT(self.connection, [place], [most, within_ms])))

    async def was_right(self, address: str) -> None:
        """The code of the last try was a right one: it doesn't count."""
        await _EXCUSE(self.connection, [_tries(address)], [])


def _tries(address: str) -> str:
    return keys.tries(blake2b(address.encode(), digest_size=12).hexdigest())
