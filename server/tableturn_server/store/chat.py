"""What was said at a table: the last lines with their numbers, and who may speak.

It lies beside the table and changes no revision. A line is said once, however often its request
is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files

import msgspec

from . import keys
from .errors import StoreError
from .link import Reply
from .records import Request
from .resp import Argument, Connection, Script

MOST_LINES = 200
"""Lines that are kept of each table."""
REMEMBERED_MS = 24 * 60 * 60 * 1000
"""For how long the last requests of each principal are remembered."""

_SAY = Script(files(__package__).joinpath("say.lua").read_text("utf-8"))
_SET = Script("""
-- Sets who may speak. KEYS: the settings
-- ARGV: 1 '1': nobody, '0': all, '': as it is; 2 how many seats are muted; those, then the others
if ARGV[1] ~= '' then redis.call('HSET', KEYS[1], 'off', ARGV[1]) end
for i = 3, #ARGV do
  if i < 3 + tonumber(ARGV[2]) then
    redis.call('HSET', KEYS[1], 'muted ' .. ARGV[i], '1')
  else
    redis.call('HDEL', KEYS[1], 'muted ' .. ARGV[i])
  end
end
return redis.call('HGETALL', KEYS[1])
""")


class _Said(msgspec.Struct, frozen=True, array_like=True):
    """A line without its number, as the store keeps it."""

    time_ms: int
    seat: int
    name: str
    text: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Said).decode


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was said, when, and by whom: a seat with the name that it had, or 0."""

    number: int
    time_ms: int
    seat: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """The line was said now, or by the same request before."""

    line: Line
    replayed: bool


@dataclass(frozen=True, slots=True)
class Silenced:
    """It was not said: nobody may speak, or this seat may not."""

    everybody: bool


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """It was not said: the request id was used for something else."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Who may speak, and the number of the last line."""

    off: bool = False
    muted: tuple[int, ...] = ()
    number: int = 0


class ChatStore:
    """What is said at tables. Every method may raise StoreUnavailable, StoreFull, StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def say(
        self,
        table_id: str,
        request: Request,
        *,
        now_ms: int,
        seat: int,
        name: str,
        text: str,
        never_muted: bool = False,
    ) -> Said | Silenced | OtherRequest:
        """Say something, once."""
        line = _encode(_Said(now_ms, seat, name, text))
        found = await self._say(table_id, request, "" if never_muted else str(seat), line)
        assert found is not None
        return found

    async def said(self, table_id: str, request: Request) -> Said | OtherRequest | None:
        """What this request has said before; None if it is new."""
        found = await self._say(table_id, request, "", b"")
        assert not isinstance(found, Silenced)
        return found

    async def _say(
        self, table_id: str, request: Request, seat: str, line: bytes
    ) -> Said | Silenced | OtherRequest | None:
        names = [
            keys.chat(table_id),
            keys.chat_settings(table_id),
            keys.said(table_id, request.principal),
        ]
        args: list[Argument] = [*request.digests(), seat, line, MOST_LINES, REMEMBERED_MS]
        reply = await _SAY(self._connection, names, args)
        match reply[0]:
            case b"said" | b"known":
                return Said(_line(int(reply[1]), reply[2]), reply[0] == b"known")
            case b"reused":
                return OtherRequest()
            case b"new":
                return None
            case b"off" | b"muted":
                return Silenced(everybody=reply[0] == b"off")
            case _:
                raise StoreError(f"the chat's script answered {reply[0]!r}")

    async def after(self, wanted: Sequence[tuple[str, int]]) -> list[list[Line]]:
        """The lines of each table after a number, oldest first, in one round trip."""
        replies = await self._connection.pipeline(
            [("XRANGE", keys.chat(table_id), f"({number}-0", "+") for table_id, number in wanted]
        )
        for reply in replies:
            if isinstance(reply, StoreError):
                raise reply
        return [[_line_of(entry) for entry in reply] for reply in replies]

    async def settings(self, table_id: str) -> Settings:
        """Who may speak."""
        return _settings(await self._connection.call("HGETALL", keys.chat_settings(table_id)))

    async def set(
        self,
        table_id: str,
        *,
        off: bool | None = None,
        mute: Collection[int] = (),
        unmute: Collection[int] = (),
    ) -> Settings:
        """Set who may speak; what isn't named stays as it is."""
        args: list[Argument] = ["" if off is None else str(int(off)), len(mute), *mute, *unmute]
        return _settings(await _SET(self._connection, [keys.chat_settings(table_id)], args))


def _line_of(entry: Reply) -> Line:
    identity, fields = entry
    return _line(int(identity.partition(b"-")[0]), fields[1])


def _line(number: int, blob: bytes) -> Line:
    said = _decode(blob)
    return Line(number, said.time_ms, said.seat, said.name, said.text)


def _settings(reply: Reply) -> Settings:
    """The settings; a script gives them as a list, a command as a map."""
    pairs = reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
    muted = [int(field.partition(b" ")[2]) for field in pairs if field.startswith(b"muted ")]
    return Settings(pairs.get(b"off") == b"1", tuple(sorted(muted)), int(pairs.get(b"number", 0)))
