"""Who watches a table, as all processes together have heard: beside the table, not a part of it.

Each process notes for itself how many watches it serves at a table for a token, and says again
every few seconds that it is so. A process that ends well takes its notes away; those of one that
was killed become old. All times are the caller's, in milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from tableturn_server.tables.presence import SILENCE_MS, Heard

from . import keys
from .errors import StoreError
from .link import Reply
from .resp import Argument, Connection, Script

KEPT_MS = 90 * 24 * 60 * 60 * 1000
"""It is forgotten who was there, when so long nobody has come or left."""

_HERE = Script(files(__package__).joinpath("here.lua").read_text("utf-8"))
_FORGET = Script("""
-- Forgets tokens of which nothing was heard for a while.
-- KEYS: the table's presence. ARGV: 1 since when, then the tokens
local wanted, gone, late = {}, {}, tonumber(ARGV[1])
for i = 2, #ARGV do wanted[ARGV[i]] = true end
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local token = string.match(fields[i], '^%x+')
  if wanted[token] then
    for time in string.gmatch(fields[i + 1], '%d+') do
      if tonumber(time) >= late then wanted[token] = nil end
    end
    gone[#gone + 1] = {token, fields[i]}
  end
end
for _, one in ipairs(gone) do
  if wanted[one[1]] then redis.call('HDEL', KEYS[1], one[2]) end
end
return 0
""")

Records = dict[bytes, Heard]
"""What was heard, by the SHA-256 of the token; empty for all who have no part in the table."""


class Watched(NamedTuple):
    """How many watches of a token a process serves at a table."""

    table_id: str
    token: bytes
    watches: int


class PresenceStore:
    """Notes who is there. Every method may raise StoreUnavailable, StoreFull, StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def note(self, watched: Watched, process: str, now_ms: int) -> Records:
        """Somebody has come or left; what was heard at the table, with this."""
        names = [keys.here(watched.table_id)]
        args: list[Argument] = [watched.token.hex(), process, watched.watches, now_ms]
        return _records(await _HERE(self._connection, names, [*args, SILENCE_MS, KEPT_MS]))

    async def beat(self, watched: Iterable[Watched], process: str, now_ms: int) -> None:
        """All these watches are still there, in one round trip."""
        replies = await self._connection.pipeline(
            [
                ("HSET", keys.here(table_id), f"{token.hex()} {process}", f"{now_ms} {watches}")
                for table_id, token, watches in watched
            ]
        )
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply

    async def look(self, table_ids: Sequence[str]) -> list[Records]:
        """What was heard at each of these tables, in one round trip."""
        replies = await self._connection.pipeline(
            [("HGETALL", keys.here(table_id)) for table_id in table_ids]
        )
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply
        return [_records(reply) for reply in replies]

    async def forget(self, table_id: str, tokens: Iterable[bytes], before_ms: int) -> None:
        """Some tokens have no part in the table any more: forget what was not heard lately."""
        digits = [token.hex() for token in tokens]
        await _FORGET(self._connection, [keys.here(table_id)], [before_ms, *digits])


def _records(reply: Reply) -> Records:
    """What a hash says; a script gives it as a list, a command as a map."""
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
    stays: dict[bytes, tuple[int, int]] = {}
    signs: dict[bytes, list[tuple[int, int]]] = {}
    for field, value in pairs:
        digits, process, _ = field.partition(b" ")
        token = bytes.fromhex(digits.decode())
        first, _, second = value.partition(b" ")
        if process:
            signs.setdefault(token, []).append((int(first), int(second)))
        else:
            stays[token] = int(first), int(second)
    return {
        token: Heard(*stays.get(token, (0, 0)), tuple(sorted(signs.get(token, ()))))
        for token in stays.keys() | signs.keys()
    }
