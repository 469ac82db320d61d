"""Who of the people at a table is there, as far as their devices are heard.

Only a watch is a sign of somebody: who thinks for long is there all the same (R7), and who never
watched, such as a script, is neither there nor away.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import msgspec

from tableturn_server.tables.facts import is_by_correspondence, panel_serving
from tableturn_server.tables.rights import panels_of_token
from tableturn_server.tables.state import Confirmation, Occupant, Table

SILENCE_MS = 20_000
"""Who was not heard for so long is not there."""


class Heard(msgspec.Struct, frozen=True):
    """What was heard of the watches of one token; all times in milliseconds since 1970.

    `came` is since when it has been there, or was there last; `left` when its last watch ended as
    it should, 0 for never. `signs` are the last sign and the number of watches for each process
    that serves, or served, some of them.
    """

    came: int = 0
    left: int = 0
    signs: tuple[tuple[int, int], ...] = ()

    def fresh(self, now: int) -> tuple[tuple[int, int], ...]:
        """The signs that count."""
        return tuple(sign for sign in self.signs if now - sign[0] <= SILENCE_MS)

    @property
    def last(self) -> int:
        """When anything was heard last."""
        return max(self.came, self.left, *(at for at, _ in self.signs), 0)


class PresenceState(IntEnum):
    """Whether somebody is there. The numbers are those of `tableturn.v1.PresenceState`."""

    UNKNOWN = 0
    HERE = 1
    AWAY = 2


class SeatPresence(msgspec.Struct, frozen=True):
    """Whether anybody is there for a seat, and since when it is so; 0 where nothing is known."""

    seat: int
    state: PresenceState = PresenceState.UNKNOWN
    since: int = 0


class Presence(msgspec.Struct, frozen=True):
    """Who is there: for each seat on which a person sits, and how many watch without a seat."""

    seats: tuple[SeatPresence, ...] = ()
    spectators: int = 0


Records = Mapping[bytes, Heard]
"""What was heard at a table, by token (its SHA-256); empty for all who have no part in it."""


def presence(table: Table, records: Records, now: int) -> Presence:
    """Who is there."""
    return Presence(
        tuple(
            of_seat(table, records, number, now)
            for number, seat in enumerate(table.seats, 1)
            if seat.occupant is Occupant.PERSON
        ),
        sum(
            watches
            for token, heard in records.items()
            if not (table.seats_of(token) or panels_of_token(table, token))
            for _, watches in heard.fresh(now)
        ),
    )


def of_seat(table: Table, records: Records, number: int, now: int) -> SeatPresence:
    """Whether anybody is there for a seat."""
    found = [records[token] for token in devices_of(table, number) if token in records]
    state, since = _state(found, now)
    if state is PresenceState.AWAY and is_by_correspondence(table):
        return SeatPresence(number)  # people look in now and then: that is no being away
    return SeatPresence(number, state, since)


def of_host(table: Table, records: Records, now: int) -> SeatPresence:
    """Whether the host is there: whoever has the host's duties; seat 0 for the host's token."""
    if table.host_seat:
        return of_seat(table, records, table.host_seat, now)
    return of_own_host(table, records, now)


def of_own_host(table: Table, records: Records, now: int) -> SeatPresence:
    """Whether anybody is there with the host's own token, or on a seat of it, as seat 0.

    Nothing is known of a host who has handed the duties over.
    """
    if table.host_gone:
        return SeatPresence(0)
    token = table.making.host
    tokens = {token}.union(*(devices_of(table, n) for n in table.seats_of(token)))
    state, since = _state([records[token] for token in tokens if token in records], now)
    return SeatPresence(0, state, since)


def devices_of(table: Table, number: int) -> frozenset[bytes]:
    """The tokens that are heard for a seat: its own, and that of the panel that serves it.

    Not the panel's, if the seat confirms on a device of its own. A panel that has lost its serial
    link is there as long as its bridge watches.
    """
    seat = table.seat(number)
    panel = panel_serving(table, number)
    tokens = {seat.token}
    if panel is not None and seat.confirmation is not Confirmation.DEVICE:
        tokens.add(panel.token)
    return frozenset(tokens - {b""})


def heard_for(table: Table, token: bytes) -> tuple[int, ...]:
    """The seats of people for which a token is a device."""
    return tuple(
        number
        for number, seat in enumerate(table.seats, 1)
        if seat.occupant is Occupant.PERSON and token in devices_of(table, number)
    )


def takes_part(table: Table, token: bytes) -> bool:
    """It is remembered of a token that it was there: of a seat's, a panel's and the host's."""
    return bool(token) and bool(
        token == table.making.host or table.seats_of(token) or panels_of_token(table, token)
    )


def _state(found: list[Heard], now: int) -> tuple[PresenceState, int]:
    """What the records of several devices say together: one that is there is enough."""
    here = [heard.came for heard in found if heard.fresh(now)]
    if here:
        return PresenceState.HERE, min(here)
    gone = [max(heard.left, *(last for last, _ in heard.signs), 0) for heard in found]
    if any(gone):
        return PresenceState.AWAY, max(gone)
    return PresenceState.UNKNOWN, 0
