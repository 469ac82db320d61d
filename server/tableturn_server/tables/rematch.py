"""The next table of the same people.

Making it takes three steps, each of which may be repeated: make `next_table`, start it if
nobody is missing (`is_full`), and note its id at the table that is over (`NoteRematch`). Its id
follows from the old one, so whoever asks, and however often, there is one next table.
"""

from __future__ import annotations

import base64
import binascii
from enum import IntEnum
from hashlib import blake2b

from msgspec.structs import replace

from tableturn_server.rules import catalog
from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import may_be_host
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.making import check_table_id, new_table
from tableturn_server.tables.moving import seat_moved
from tableturn_server.tables.panels import at_next_table
from tableturn_server.tables.rights import check_over, is_host, panels_of_token, unknown_token
from tableturn_server.tables.state import Occupant, Seat, Table, game_of

_ID_BYTES = 10


class RematchOrder(IntEnum):
    """Who sits where at the next table, numbered as `tableturn.v1.RematchOrder`."""

    SAME = 1
    ROTATED = 2
    LOSER_FIRST = 3


def next_table(
    table: Table,
    by: commands.By,
    *,
    drawn_seed: bytes,
    now: int,
    order: RematchOrder = RematchOrder.SAME,
) -> tuple[Table, LogEntry]:
    """The next table at its first revision, and its log entry.

    It has the same game, options, components, seats, bots, panels and tokens, and a new secret
    seed; a seat that was left is free. Who sits where follows from `order`; buttons and the
    host's duties go with their people, colours with the seats. The table that is over stays as
    it is. If its `next_table` is set, that table has been made already, in whatever order was
    asked for first. `now` is in milliseconds since 1970.
    Raises Refused with BAD_TOKEN, NOT_ALLOWED, NOT_STARTED or GAME_RUNNING.
    """
    check_rematch(table, by)
    kind = catalog.GAMES[table.making.game]
    making = replace(
        table.making,
        table_id=next_id(table),
        rules_version=kind.rules_version,
        seed=drawn_seed,
        open_seed=False,
        created=now,
        left_out=0,
        rematch=True,
    )
    count = len(table.seats)
    to = _places(table, order)
    seats = {new: _again(table, old, new) for old, new in to.items()}
    host_seat = to.get(table.host_seat, 0)
    if host_seat and not may_be_host(seats[host_seat]):
        host_seat = 0
    made = replace(
        new_table(
            making,
            tuple(seats[number] for number in range(1, count + 1)),
            tuple(at_next_table(panel, to) for panel in table.panels),
        ),
        host_seat=host_seat,
        host_gone=table.host_gone and host_seat > 0,
    )
    line = f"the next table of {kind.title} after {table.making.table_id}, for {count}, is made"
    return made, LogEntry(revision=1, time=now, kind=ChangeKind.CREATE, lines=(line,))


def _places(table: Table, order: RematchOrder) -> dict[int, int]:
    """The seats of the next table by those of the one that is over."""
    seats = list(range(1, len(table.seats) + 1))
    match order:
        case RematchOrder.ROTATED:
            seats = [*seats[1:], seats[0]]
        case RematchOrder.LOSER_FIRST:
            outcome = game_of(table).outcome(table.position)
            assert outcome is not None
            ranks = {result.seat: result.rank for result in outcome.results}
            seats.sort(key=lambda number: -ranks[number])  # ties stay in the order of the seats
    return {old: new for new, old in enumerate(seats, 1)}


def _again(table: Table, old: int, new: int) -> Seat:
    """Who sat on a seat sits there again or on another, also who conceded.

    A seat that was left is free. At the end of a game no bot stands in for anybody any more.
    """
    seat, color = table.seat(old), table.seat(new).color
    if seat.occupant is Occupant.NOBODY:
        return Seat(color)
    return seat_moved(replace(seat, dropped=False), old, new, color, 1)


def check_rematch(table: Table, by: commands.By) -> None:
    """Raise Refused unless the game is over and the sender is one of those who were there."""
    if not (is_host(table, by) or table.seats_of(by.token) or panels_of_token(table, by.token)):
        raise unknown_token(table, by, "the token of a seat or of a panel, or the host's")
    check_over(table)


def next_id(table: Table) -> str:
    """The id of the next table: nobody can guess it who doesn't know the host's token.

    A panel tells tables apart by a short tag of their id: the next one has another tag.
    """
    old = table.making.table_id
    for attempt in range(1 << 8):
        digest = blake2b(
            f"{old} {attempt}".encode(), key=table.making.host, digest_size=_ID_BYTES
        ).digest()
        found = base64.b32encode(digest).decode().lower()
        if table_tag(found) != table_tag(old):
            return found
    raise AssertionError("no id with another tag")  # pragma: no cover


def table_tag(table_id: str) -> int:
    """What a panel knows of a table's id: 16 bits."""
    return binascii.crc_hqx(table_id.encode(), 0xFFFF)


def note(table: Table, command: commands.NoteRematch, now: int) -> Change | None:
    """Note the next table's id; what is noted stays."""
    if not command.by.admin:
        raise unknown_token(table, command.by, "the admin's token")
    check_rematch(table, command.by)
    check_table_id(command.next_table)
    if table.next_table:
        return None
    after = replace(table, revision=table.revision + 1, stamp=now, next_table=command.next_table)
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.REMATCH,
        lines=(f"the next table is {command.next_table}",),
    )
    return Change(after, entry)
