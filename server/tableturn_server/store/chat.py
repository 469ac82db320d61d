"""What was said at a table: the last lines with their numbers, and who may speak.

It lies beside the table and changes no revision. A line is said once, however often its request
is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

import msgspec

from . import keys
from .errors import StoreError
from .link import Reply
from .records import Request, Reused
from .resp import Argument, Connection, Script

MOST_LINES = 200
"""Lines that are kept of each table, and more where spectators are still to hear them."""
MOST_UNHEARD = 2000
"""Lines that are kept where spectators hear later."""
WINDOW_MS = 10_000
"""In how long a seat may say only so many lines."""
MOST_MUTED = 100
"""People of a table who are remembered to be muted; the last ones who sat down."""
REMEMBERED_MS = 24 * 60 * 60 * 1000
"""For how long the last requests of each principal are remembered."""

_SAY = Script(files(__package__).joinpath("say.lua").read_text("utf-8"))
_MUTE = Script(files(__package__).joinpath("mute.lua").read_text("utf-8"))
_MOVE = Script("""
-- Somebody has another token from now on, who may be muted.
-- KEYS: the settings. ARGV: 1 the token, 2 how many are remembered; then for each seat the seat
-- and since when, and the token before
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 6) == 'muted ' then
    local is_muted, tokens = false, fields[i + 1]
    for j = 3, #ARGV, 2 do
      is_muted = is_muted or fields[i] == 'muted ' .. ARGV[j]
          or ARGV[j + 1] ~= '' and string.find(tokens, ARGV[j + 1], 1, true)
    end
    if is_muted and not string.find(tokens, ARGV[1], 1, true) then
      tokens = string.sub(ARGV[1] .. ' ' .. tokens, 1, ARGV[2] * (#ARGV[1] + 1))
      redis.call('HSET', KEYS[1], fields[i], tokens)
    end
  end
end
return 0
""")
_MOST_TOKENS = 16
"""Tokens of somebody muted that are remembered."""


class _Said(msgspec.Struct, frozen=True, array_like=True):
    """A line without its number, as the store keeps it."""

    time_ms: int
    seat: int
    name: str
    text: str


class Person(NamedTuple):
    """Somebody at a table: a seat, since which revision they sit there, their token's SHA-256.

    The token is empty for somebody who sits at a panel, which has one for all its people.
    """

    seat: int
    since: int
    token: bytes = b""

    @property
    def place(self) -> str:
        """The seat and since when: nobody else has sat there since."""
        return f"{self.seat} {self.since}"


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
    """It was not said: nobody may speak, or whoever sits there may not."""

    everybody: bool


@dataclass(frozen=True, slots=True)
class TooMuch:
    """It was not said: this seat has said too much in a row; after `wait_ms` it may say more."""

    wait_ms: int


@dataclass(frozen=True, slots=True)
class Settings:
    """Who may speak, and the number of the last line."""

    off: bool = False
    muted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The places of those who are muted, with the tokens that they have had there."""
    number: int = 0

    def is_muted(self, person: Person) -> bool:
        """Somebody is muted: there, or on another seat with the same token before."""
        token = person.token.hex()
        return person.place in self.muted or any(token in known for known in self.muted.values())


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
        people: Collection[Person] = (),
        most: int = 0,
        delay_ms: int = 0,
    ) -> Said | Silenced | TooMuch | Reused:
        """Say something, once.

        `people` are who the speaker is, for each of the seats they have; nobody for one who is
        never muted. A seat (0: the host) says at most `most` lines in ten seconds; 0 for no limit.
        Lines are kept for as long as spectators are still to hear them, after `delay_ms`.
        """
        line = _encode(_Said(now_ms, seat, name, text))
        names = [
            keys.chat(table_id),
            keys.chat_settings(table_id),
            keys.said(table_id, request.principal),
        ]
        args: list[Argument] = [*request.digests(), line, now_ms, seat, most, WINDOW_MS]
        args += [MOST_LINES, MOST_UNHEARD, delay_ms, REMEMBERED_MS, *_words(people)]
        reply = await _SAY(self._connection, names, args)
        match reply[0]:
            case b"said" | b"known":
                return Said(_line(int(reply[1]), reply[2]), reply[0] == b"known")
            case b"reused":
                return Reused()
            case b"wait":
                return TooMuch(int(reply[1]))
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
        mute: Collection[Person] = (),
        unmute: Collection[Person] = (),
    ) -> Settings:
        """Set who may speak; what isn't named stays as it is.

        A mute is of a person, wherever they sit with their token, and of nobody who comes later.
        """
        args: list[Argument] = ["" if off is None else str(int(off)), MOST_MUTED, len(mute)]
        args += [*_words(mute), *_words(unmute)]
        return _settings(await _MUTE(self._connection, [keys.chat_settings(table_id)], args))

    async def moves(self, table_id: str, before: Collection[Person], token: bytes) -> None:
        """Somebody goes on under another token; muted, if they were."""
        args: list[Argument] = [token.hex(), _MOST_TOKENS, *_words(before)]
        await _MOVE(self._connection, [keys.chat_settings(table_id)], args)


def _words(people: Collection[Person]) -> list[Argument]:
    """Each place, and the token there."""
    return [word for person in people for word in (person.place, person.token.hex())]


def _line_of(entry: Reply) -> Line:
    identity, fields = entry
    return _line(int(identity.partition(b"-")[0]), fields[1])


def _line(number: int, blob: bytes) -> Line:
    said = _decode(blob)
    return Line(number, said.time_ms, said.seat, said.name, said.text)


def _settings(reply: Reply) -> Settings:
    """The settings; a script gives them as a list, a command as a map."""
    pairs = reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
    muted = {
        name.removeprefix(b"muted ").decode(): frozenset(tokens.decode().split())
        for name, tokens in pairs.items()
        if name.startswith(b"muted ")
    }
    return Settings(pairs.get(b"off") == b"1", muted, int(pairs.get(b"number", 0)))
