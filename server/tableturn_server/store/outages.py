"""Times in which nobody served: what the store knows of them.

Every process gives a sign of life every few seconds. Whoever comes after too long a time without
any, because the service was off, its machine asleep or the store away, writes down that there
was an outage: once, since the same step takes its own sign down.

A store that is stopped for a while carries out afterwards what waits in its socket, and a process
may fall asleep between taking the time and sending it: such a sign would tell of a time in which
nobody could serve. So a sign is made in two steps. First the store is asked for its time; then,
with our own time as it is now, the sign says which answer it follows upon, and the store refuses
it if it took longer than `LATE_MS`. Whatever was waiting meanwhile has changed nothing, however
many processes there are, and whatever their clocks say.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

from . import keys
from .errors import StoreUnavailable
from .resp import Connection, Script

KEPT = 100
"""The last outages that are kept."""

LATE_MS = 1000
"""How long a sign may take to the store, by the store's time."""
_TRIES = 3

_BEAT = Script(files(__package__).joinpath("beat.lua").read_text("utf-8"))


class Outage(NamedTuple):
    """From the last sign of life before it to the first one after it; milliseconds since 1970."""

    begin: int
    end: int


class Beat(NamedTuple):
    """What a sign of life brought: the outages that are new to us, oldest first.

    `ended_one`: the last of them has ended with this very sign. `at` is the sign's own time.
    """

    outages: tuple[Outage, ...]
    ended_one: bool
    at: int


class OutageStore:
    """The signs of life of all processes. Every method may raise a StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def beat(self, clock: Callable[[], int], *, longest_ms: int, known_ms: int) -> Beat:
        """Give a sign of life, after `longest_ms` without any there was an outage.

        `clock` tells our time. Told are those outages that ended after `known_ms`. The first sign
        in a new store ends none.
        """
        for _ in range(_TRIES):
            of_store = await self._connection.call("TIME")
            now = clock()
            reply = await _BEAT(
                self._connection,
                [keys.ALIVE, keys.OUTAGES],
                [now, longest_ms, known_ms, KEPT, *of_store, LATE_MS],
            )
            if reply[0] != b"late":
                outages = tuple(Outage(*map(int, outage.split())) for outage in reply[1:])
                return Beat(outages, bool(reply[0]), now)
        raise StoreUnavailable("signs of life take too long to the store")
