"""Coming to a table: the seats held on this machine, and taking others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client import errors
from tableturn_client.cli.holding import at_panel, host_token, lost_seat, spectator_token
from tableturn_client.cli.joined import keeps_its_name, sit_down
from tableturn_client.cli.session import Session as Settings
from tableturn_client.client import Client
from tableturn_client.credentials import Credential, key
from tableturn_client.drawing import lobby, status
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.words import clean
from tableturn_client.handles import Seat, Table
from tableturn_client.play.seated import Seated
from tableturn_client.tokens import new_request_id, new_token
from tableturn_client.whose import Gone

AskName = Callable[[str], str | None]
"""Asks a person for a name; None or empty for no more."""


@dataclass(frozen=True)
class Wish:
    """Who wants to play: names to sit down with, seats by number, or only to look on."""

    names: tuple[str, ...] = ()
    seats: tuple[int, ...] = ()
    hot_seat: bool = False
    watch: bool = False
    code: str = ""
    """The code by which the table was named."""
    moves: int = 0
    """The seat that the code moves to this device."""


async def come(
    settings: Settings, client: Client, table_id: str, wish: Wish, ask: AskName
) -> Seated:
    """Sit down as it was wished: on the seats held here, and on others that are free."""
    table = client.table(table_id, token=spectator_token(settings, table_id))
    coming = _Coming(settings, client, table, ask, wish.code)
    if settings.token:
        seats = await coming.with_token(wish)
    elif wish.watch:
        await table.view()  # a table that can't be seen is told before the screen is cleared
        seats = []
    else:
        seats = await coming.seats(wish)
    host = settings.credentials.host(settings.server, table_id)
    return Seated(
        seats,
        client.table(table_id, token=settings.token) if settings.token and not seats else table,
        server=str(settings.server),
        forget=coming.forget,
        host=client.table(table_id, token=host.token) if host else None,
    )


class _Coming:
    """Finds and takes seats at one table."""

    def __init__(
        self, settings: Settings, client: Client, table: Table, ask: AskName, code: str
    ) -> None:
        self._settings = settings
        self._client = client
        self._table = table
        self._ask = ask
        self._code = code
        self._lost: Gone | None = None
        """What became of a seat that was held here, and isn't any more."""

    @property
    def _held(self) -> tuple[Credential, ...]:
        return self._settings.credentials.seats(self._settings.server, self._table.table_id)

    async def with_token(self, wish: Wish) -> list[Seat]:
        """The seats of a token that was given."""
        token, numbers = self._settings.token, wish.seats or (0,)
        found = []
        for number in numbers:
            view = await self._client.seat(self._table.table_id, number, token=token).view()
            if view.viewer:
                found.append(self._client.seat(self._table.table_id, view.viewer, token=token))
        return found

    async def seats(self, wish: Wish) -> list[Seat]:
        """The seats held here, as far as they are wished for, and those that are taken now."""
        if wish.moves:
            moved = await self._take("")
            if wish.names:
                self._settings.remark(keeps_its_name(moved))
            return [moved]
        held = await self._still_held()
        if wish.names:
            return await self._by_names(wish, held)
        chosen = [seat for seat in held if not wish.seats or seat.number in wish.seats]
        for number in wish.seats:
            if number not in [seat.number for seat in held]:
                table_id = self._table.table_id
                seat = await at_panel(self._settings, self._client, table_id, number)
                if seat is None:
                    name = self._named(f"Your name for seat {number}: ")
                    seat = await self._take(name, number)
                chosen.append(seat)
        if wish.hot_seat:
            chosen += await self._all_who_come()
        elif not chosen:
            first = await self._first()
            chosen += [first] if first is not None else []
        return chosen

    async def _first(self) -> Seat | None:
        """Nobody here has a seat yet: take one, look on instead, or say why there is none."""
        if self._code:  # the table may be private, and not be looked at from outside
            return await self._take(self._named("Your name: "))
        if self._lost and not self._lost.seen:
            raise self._lost.error
        view = await self._table.view()
        if self._lost and not _free(view):
            return None  # and looks on
        if view.status == table_pb2.TABLE_STATUS_FINISHED:
            raise NothingToPlay(view)
        if not _free(view):
            raise errors.BadValue(
                f"every seat at {view.table_id} is taken, and none of them is held here; "
                f"look on with `tableturn play {view.table_id} --watch`"
            )
        show_table(self._settings.console, view)
        return await self._take(self._named("Your name: "))

    async def _by_names(self, wish: Wish, held: list[Seat]) -> list[Seat]:
        """A seat for each name: the one that has it already, or one that is free."""
        by_name = {c.name: c.seat for c in self._held}
        chosen = []
        for place, name in enumerate(wish.names):
            number = wish.seats[place] if place < len(wish.seats) else 0
            own = by_name.get(name)
            seat = next((s for s in held if s.number == own and number in (0, own)), None)
            chosen.append(seat or await self._take(name, number))
        return chosen

    async def _all_who_come(self) -> list[Seat]:
        """Names one after another, until there are no more or the table is full."""
        taken: list[Seat] = []
        while True:
            view = await self._table.view()
            if not _free(view):
                return taken
            show_table(self._settings.console, view)
            more = "no more" if taken or self._held else "nobody"
            name = self._ask(f"Name of a player at this device (Enter: {more}): ")
            if not name:
                if not taken and not self._held:
                    raise errors.BadValue("nobody sits down: a name is needed")
                return taken
            taken.append(await self._take(name))

    def _named(self, question: str) -> str:
        """A name that is asked for."""
        name = self._ask(question)
        if not name:
            raise errors.BadValue("a name is needed to sit down: give one with --name")
        return name

    async def _still_held(self) -> list[Seat]:
        """The seats held here that the service still knows; the others are forgotten."""
        found = []
        for credential in self._held:
            seat = self._client.seat(self._table.table_id, credential.seat, token=credential.token)
            try:
                await seat.view()
            except errors.NotPermitted:
                lost = await lost_seat(self._settings, self._client, credential)
                self._settings.remark(lost.sentence)
                self._lost = lost
            else:
                found.append(seat)
        return found

    async def _take(self, name: str, number: int = 0) -> Seat:
        """Take a seat. Its token is kept before it is sent, so that a lost answer loses nothing."""
        store, server = self._settings.credentials, self._settings.server
        table_id = self._table.table_id
        pending = store.pending(server, "seat", table=table_id, name=name)
        for _ in range(2):
            if pending is None:
                pending = Credential(
                    key(server), table_id, "seat", new_token(), name=name, pending=new_request_id()
                )
                store.put(pending)
            try:
                seat = await sit_down(
                    self._client,
                    table_id,
                    name,
                    seat=number,
                    token=pending.token,
                    code=self._code,
                    request_id=pending.pending,
                    host=host_token(self._settings, table_id),
                )
            except errors.RequestIdReused:  # that was for another seat
                store.drop(pending)
                pending = None
            except errors.Refused:
                store.drop(pending)
                raise
            else:
                found = seat.last_view.seats if seat.last_view is not None else ()
                own = next((s.name for s in found if s.seat == seat.number), name)
                store.settle(pending, table=table_id, seat=seat.number, name=own)
                return seat
        raise errors.BadValue("the seat could not be taken; try again")

    def forget(self, number: int) -> None:
        """A seat is not held here any more."""
        for credential in self._held:
            if credential.seat == number:
                self._settings.credentials.drop(credential)


class NothingToPlay(Exception):
    """The game is over already, and nobody here had a seat."""

    def __init__(self, view: table_pb2.TableView) -> None:
        super().__init__(view.table_id)
        self.view = view


def _free(view: table_pb2.TableView) -> list[int]:
    """The seats that can be taken."""
    if view.status == table_pb2.TABLE_STATUS_FINISHED:
        return []
    nobody = table_pb2.OCCUPANT_NOBODY
    return [seat.seat for seat in view.seats if seat.occupant == nobody and not seat.dropped]


def show_table(console: Console, view: table_pb2.TableView) -> None:
    """Who sits at the table, for somebody who is about to sit down."""
    look = Look.of(console)
    console.print(status.head(view, look))
    console.print(lobby.draw(view, look))


def ask_name(question: str) -> str | None:
    """Ask at the terminal, or read a line of the input."""
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        sys.stdout.write("\n")
    return clean(line) or None


def told(seats: Sequence[Seat]) -> Text:
    """Which seats are played from here."""
    return Text(", ".join(str(seat.number) for seat in seats))
