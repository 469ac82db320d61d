"""Which table a panel works at, and how it comes to sit there.

A table that needs no screen: a panel without a table makes one of its own, with a seat for each
button; people sit down by pressing, begin by holding, and hold again after the end for a
rematch. A panel goes back to its last table as long as the game there goes on.

Everything may be cut off anywhere and is simply done again: tokens and request ids are put down
before they are sent, and what had been made is found again instead of being made twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from tableturn_bridge import reasons
from tableturn_bridge.lamps import seats_of
from tableturn_bridge.reasons import Elsewhere
from tableturn_client import Absence, Client, Clock, Table, new_request_id, new_token
from tableturn_client.address import Address
from tableturn_client.credentials import Credential, Credentials, key
from tableturn_client.errors import (
    BadValue,
    NoCredentials,
    NotNow,
    NotPermitted,
    Refusal,
    Refused,
    SeatTaken,
    Unavailable,
    UnknownTable,
)
from tableturn_client.messages import TableStatus, TableView
from tableturn_client.next_table import carry_over

DEFAULT_GAME = "free-table"

RECENTLY = 900.0
"""Seconds after its end in which a game still waits for a rematch.

A panel that is switched on later than that begins with an empty table.
"""

MOST_REMATCHES = 1000
"""How many tables are followed from one to the next."""


@dataclass(frozen=True)
class Wish:
    """What was asked for.

    `table_id`: this table, and no other; empty: the last one if it still goes on, else a new
    one. `seats` are those of the buttons, 0 for one that is given by pressing; None: the usual
    ones. `game` and `options` are for a new table; a last one that was made otherwise is left.
    So are `clock` and `absence`. `token` is the host's, if it isn't kept on this machine.
    `fresh`: a new table in any case.
    """

    table_id: str = ""
    seats: tuple[int, ...] | None = None
    game: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    fresh: bool = False
    clock: Clock | None = None
    absence: Absence | None = None


@dataclass(frozen=True)
class Place:
    """Where a panel works, and the token that it has there."""

    table_id: str
    token: str = field(repr=False)


class UsedElsewhere(NotNow):
    """The seats belong to another panel, or another bridge works this one. It may change."""

    def __init__(self, why: Elsewhere) -> None:
        super().__init__(Refusal("PANEL_HELD", why.problem))
        self.why = why


class Sitting:
    """Puts panels of this machine on tables of one service."""

    def __init__(
        self,
        client: Client,
        server: Address,
        credentials: Credentials,
        wish: Wish,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._server = server
        self._credentials = credentials
        self._wish = wish
        self._now = now
        self._fresh = wish.fresh

    async def sit_down(self, uid: int, buttons: int) -> Place:
        """The table for a panel, which is on it afterwards.

        Raises UsedElsewhere while another panel is in the way, NoCredentials where the host
        has to put the panel on the table, and what the service says.
        """
        if self._wish.table_id:
            return await self._join(await self._last_of(self._wish.table_id, uid), uid, buttons)
        for table_id in self._to_go_back_to(uid):
            place = await self._go_back(table_id, uid, buttons)
            if place is not None:
                return place
        place = await self._make(uid, buttons)
        self._fresh = False
        return place

    async def goes_on(self, uid: int, old: Place, table_id: str) -> Place:
        """The people play on at the next table, where all tokens are the same."""
        await self._carry_over(old.table_id, table_id)
        place = Place(table_id, old.token)
        self._keep(uid, place)
        return place

    async def _carry_over(self, table_id: str, to: str) -> None:
        """What is held here for a table is held for the next one too."""
        await carry_over(self._client, self._credentials, self._server, table_id, to)

    def _to_go_back_to(self, uid: int) -> Sequence[str]:
        """One of our own that was all but sat down at, and the last one."""
        begun = self._credentials.pending(self._server, "panel", uid=uid)
        tables = []
        if begun is not None and self._credentials.host(self._server, begun.table) is not None:
            tables.append(begun.table)
        if not self._fresh and (last := self._credentials.last_table(self._server, uid)):
            tables.append(last)
        return tables

    # ------------------------------------------------------------ a table that is there

    async def _last_of(self, table_id: str, uid: int) -> TableView:
        """The table, or the one at which its people are now."""
        for _ in range(MOST_REMATCHES):
            view = await self._look(table_id, uid)
            if not view.next_table_id or view.next_table_id == table_id:
                return view
            await self._carry_over(table_id, view.next_table_id)
            table_id = view.next_table_id
        raise BadValue(f"the table {table_id} was played again too often to be followed")

    async def _look(self, table_id: str, uid: int) -> TableView:
        """The table with whatever token is kept for it; an old one may have been forgotten."""
        held = (
            self._credentials.panel_of(self._server, table_id, uid),
            self._credentials.host(self._server, table_id),
            self._credentials.watcher(self._server, table_id),
        )
        tokens = [one.token for one in held if one is not None]
        tokens += [self._wish.token] if self._wish.token else []
        for token in tokens:
            try:
                return await self._client.table(table_id, token=token).view()
            except NotPermitted:
                continue
        return await self._client.table(table_id).view()

    async def _go_back(self, table_id: str, uid: int, buttons: int) -> Place | None:
        """The last table, if it is one to go back to."""
        try:
            view = await self._last_of(table_id, uid)
            if self._is_over(view) or not self._as_wished(view):
                return None
            return await self._join(view, uid, buttons)
        except (UnknownTable, NotPermitted, NoCredentials):
            return None

    def _is_over(self, view: TableView) -> bool:
        """The game has ended, and nobody waits for a rematch any more."""
        ended = view.status == TableStatus.TABLE_STATUS_FINISHED
        return ended and self._now() - view.update_time.seconds > RECENTLY

    def _as_wished(self, view: TableView) -> bool:
        """The table was made as it is asked for now."""
        wish = self._wish
        return (
            (not wish.game or wish.game == view.game)
            and all(view.options.get(name) == value for name, value in wish.options.items())
            and (wish.clock is None or _values(view.clock) == _values(wish.clock.message))
            and (
                wish.absence is None
                # A grace of zero is the usual one.
                or _values(view.absence) | _values(wish.absence.message) == _values(view.absence)
            )
        )

    async def _join(self, view: TableView, uid: int, buttons: int) -> Place:
        """Put the panel on a table, if it isn't there as it should be."""
        kept = self._credentials.panel_of(self._server, view.table_id, uid)
        on = seats_of(view, uid)
        host = self._host(view.table_id)
        # Without the host nothing better can be had than what is there.
        as_is = on if on is None or not host or can_play(view, on) else None
        if kept is not None and on is not None and (self._wish.seats or as_is) == on:
            self._credentials.put(kept)  # now it is the last one
            return Place(view.table_id, kept.token)
        if not host:
            raise NoCredentials(
                f"the panel {uid} is not on the table {view.table_id} with these seats, "
                "and only the host can put it there: say `tableturn panel` with --table "
                f"{view.table_id} and the host's --token once on this machine"
            )
        table = self._client.table(view.table_id, token=host)
        if on is not None and kept is None:
            await self._refuse_if_held(table, uid)
        seats = self._wish.seats or as_is or usual_seats(view, uid, buttons)
        place = await self._attach(table, uid, seats)
        self._keep(uid, place)
        return place

    def _host(self, table_id: str) -> str:
        if self._wish.token:
            return self._wish.token
        host = self._credentials.host(self._server, table_id)
        return host.token if host else ""

    async def _refuse_if_held(self, table: Table, uid: int) -> None:
        """The panel is on the table from elsewhere: don't take it from a bridge that works it."""
        for panel in await table.panels():
            if panel.panel_uid == uid and panel.held:
                raise UsedElsewhere(
                    reasons.held_elsewhere(
                        f"the panel {uid} is worked by another bridge "
                        f"({panel.report.place or 'no place given'})"
                    )
                )

    async def _attach(self, table: Table, uid: int, seats: Sequence[int]) -> Place:
        """Put the panel on the table with its token, which is put down before it is sent."""
        credentials, server, table_id = self._credentials, self._server, table.table_id
        kept = credentials.panel_of(server, table_id, uid)
        if kept is None:
            kept = credentials.pending(server, "panel", table=table_id, uid=uid)
        if kept is None:
            kept = Credential(
                server=key(server),
                table=table_id,
                scope="panel",
                token=new_token(),
                pending=new_request_id(),
                uid=uid,
            )
            credentials.put(kept)
        try:
            # Attaching what is attached already changes nothing, so each try has an id of its own.
            await table.attach_panel(uid, kept.token, seats)
        except SeatTaken as refusal:
            raise UsedElsewhere(reasons.seat_taken(refusal.sentence, table_id)) from None
        return Place(table_id, kept.token)

    def _keep(self, uid: int, place: Place) -> None:
        """Keep the panel's token, and that this is its last table."""
        self._credentials.put(
            Credential(
                server=key(self._server),
                table=place.table_id,
                scope="panel",
                token=place.token,
                uid=uid,
            )
        )

    # ------------------------------------------------------------ a new table

    async def _make(self, uid: int, buttons: int) -> Place:
        """A new table with a seat for each button; after a break, the one that was begun."""
        game = self._wish.game or DEFAULT_GAME
        wish = self._wish
        making = " ".join([game, *(f"{n}={v}" for n, v in sorted(wish.options.items()))])
        making += "".join(f" {settings}" for settings in (wish.clock, wish.absence) if settings)
        name = f"panel {uid} with {buttons} buttons: {making}"
        host = self._credentials.pending(self._server, "host", name=name)
        if host is None:
            host = Credential(
                server=key(self._server),
                table="",
                scope="host",
                token=new_token(),
                name=name,
                pending=new_request_id(),
            )
            self._credentials.put(host)
        try:
            new = await self._client.new_table(
                game,
                seats=await self._seats(game, buttons),
                options=wish.options,
                unlisted=True,
                clock=wish.clock,
                absence=wish.absence,
                host_token=host.token,
                request_id=host.pending,
            )
        except (Refused, BadValue) as error:
            if not isinstance(error, Unavailable):
                self._credentials.drop(host)
            raise
        # The table counts as made when the panel is on it: until then it is made again, which
        # makes no second one. Each of these writes takes the place of what was pending.
        place = await self._attach(new.table, uid, self._wish.seats or (0,) * buttons)
        self._credentials.put(replace(host, table=place.table_id, pending=""))
        self._keep(uid, place)
        return place

    async def _seats(self, game: str, buttons: int) -> int:
        """A seat for each button, as far as the game has so many."""
        for info in await self._client.games():
            if info.name == game:
                return max(info.min_seats, min(buttons, info.max_seats))
        return buttons  # the service says best that it doesn't know the game


def _values(settings: Message) -> dict[str, object]:
    """What a table was made with, or shall be; nothing and zero are the same."""
    return {
        field.name: value.ToMilliseconds() if isinstance(value, Duration) else value
        for field, value in settings.ListFields()
        if value != Duration()
    }


def can_play(view: TableView, seats: Sequence[int]) -> bool:
    """Buttons with these seats may come to play: one has a seat, or one may still be taken.

    A panel whose buttons waited for seats when the game began without it never gets one.
    """
    return any(seats) or view.status == TableStatus.TABLE_STATUS_OPEN


def usual_seats(view: TableView, uid: int, buttons: int) -> tuple[int, ...]:
    """The seats of the buttons in order, without those of other panels.

    While seats are taken, buttons beyond them may still get one by a press. Raises UsedElsewhere
    if other panels have all seats.
    """
    others = {seat for panel in view.panels if panel.uid != uid for seat in panel.seats}
    left = [seat.seat for seat in view.seats if seat.seat not in others]
    if not left:
        raise UsedElsewhere(reasons.no_seat_left(view.table_id))
    return tuple((left + [0] * buttons)[:buttons])
