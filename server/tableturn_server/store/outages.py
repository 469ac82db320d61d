"""Times in which nobody served: what the store knows of them.

Every process gives a sign of life every few seconds. Whoever comes after too long a time without
any, because the service was off, its machine asleep or the store away, writes down that there
was an outage: once, since the same step takes its own sign down.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from . import keys
from .resp import Connection, Script

KEPT = 100
"""The last outages that are kept."""

_BEAT = Script(files(__package__).joinpath("beat.lua").read_text("utf-8"))


class Outage(NamedTuple):
    """From the last sign of life before it to the first one after it; milliseconds since 1970."""

    begin: int
    end: int


class Beat(NamedTuple):
    """What a sign of life brought: the outages that are new to us, oldest first.

    `ended_one`: the last of them has ended with this very sign.
    """

    outages: tuple[Outage, ...]
    ended_one: bool


class OutageStore:
    """The signs of life of all processes. Every method may raise a StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def beat(self, now_ms: int, *, longest_ms: int, known_ms: int) -> Beat:
        """Give a sign of life, after `longest_ms` without any there was an outage.

        Told are those outages that ended after `known_ms`. The first sign in a new store ends none.
        """
        reply = await _BEAT(
            self._connection, [keys.ALIVE, keys.OUTAGES], [now_ms, longest_ms, known_ms, KEPT]
        )
        outages = tuple(Outage(*map(int, outage.split())) for outage in reply[1:])
        return Beat(outages, bool(reply[0]))
