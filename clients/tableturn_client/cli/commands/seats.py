"""Seats: `join`, `leave`, `concede`, `confirms`."""

from __future__ import annotations

import getpass
import sys

import click

from tableturn_client.cli.codes import Meant, meant
from tableturn_client.cli.command import (
    Whole,
    command,
    request_id_option,
    seat_option,
    table_argument,
)
from tableturn_client.cli.commands.bots import CONFIRMATIONS
from tableturn_client.cli.holding import host_token, seat_or_host
from tableturn_client.cli.joined import keeps_its_name, own_view, sit_down
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.credentials import Credential, key
from tableturn_client.drawing.words import clean
from tableturn_client.errors import BadValue, Refused, Unavailable
from tableturn_client.handle import Done
from tableturn_client.handles import Seat, Table
from tableturn_client.tokens import new_request_id, new_token

LONGEST_NAME = 40

expect_option = click.option(
    "--expect",
    type=Whole(min=0, max=2**63 - 1),
    metavar="REVISION",
    help="Refuse if somebody has sat down there or left since this revision.",
)


@command(
    "join",
    examples="tableturn join harbour Ann\ntableturn join K7QM-4XRD Bob\n"
    "tableturn join harbour Ann Bob\ntableturn join harbour --seat 3 Cleo",
    token=True,
)
@table_argument
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--name", "more", multiple=True, metavar="NAME", help="As the argument NAME.")
@click.option("--seat", type=Whole(1, 1000), metavar="N", help="Which seat [a free one].")
@request_id_option
async def join_command(
    session: Session,
    table_id: str,
    names: tuple[str, ...],
    more: tuple[str, ...],
    seat: int | None,
    request_id: str,
) -> None:
    """Take a seat as NAME, or a seat for each of several names at this terminal.

    TABLE is its id, or a code that somebody has told you: the table's, or one that moves a seat
    to this device. The tokens of the seats are kept on this machine, and later commands find
    them.
    """
    people = [*names, *more] or [default_name()]
    if len(people) > 1 and (seat or request_id or session.token):
        raise click.UsageError("--seat, --request-id and --token are for one name")
    seats = []
    async with session.client() as client:
        table = await meant(session, client, table_id)
        for name in people if not table.seat else [""]:
            taken = await take_seat(session, client, table, name, seat or 0, request_id)
            seats.append(taken)
            if not session.json:
                session.write(_has(taken))
        if table.seat and (names or more):
            session.remark(keeps_its_name(seats[0]))
    if session.json:
        told = [{"seat": one.number, "table": plain(one.last_view)} for one in seats]
        session.tell({"table_id": table.table_id, "seats": told})
    else:
        session.write(f"Play with: {session.typed(f'play {table.table_id}')}")


def _has(taken: Seat) -> str:
    """Who has which seat now, in a sentence."""
    own = own_view(taken)
    color = f" ({clean(own.color)})" if own.color else ""
    return f"{clean(own.name)} has seat {taken.number}{color} at the table {taken.table_id}."


async def take_seat(
    session: Session, client: Client, table: Meant, name: str, seat: int, request_id: str = ""
) -> Seat:
    """Take a seat, and keep its token; after a lost answer, what was begun is gone on with."""
    credentials, server = session.credentials, session.server
    kept = credentials.pending(server, "seat", table=table.table_id, name=name)
    if kept is not None and (request_id not in ("", kept.pending) or seat not in (0, kept.seat)):
        kept = None
    if kept is None:
        kept = Credential(
            server=key(server),
            table=table.table_id,
            scope="seat",
            token=session.token or new_token(),
            seat=seat,
            name=name,
            pending=request_id or new_request_id(),
        )
        credentials.put(kept)
    try:
        taken = await sit_down(
            client,
            table.table_id,
            name,
            seat=kept.seat,
            token=kept.token,
            code=table.code,
            request_id=kept.pending,
            host=host_token(session, table.table_id),
        )
    except BadValue:
        credentials.drop(kept)
        raise
    except Refused as error:
        if not isinstance(error, Unavailable):
            credentials.drop(kept)
        raise
    credentials.settle(kept, table=table.table_id, seat=taken.number, name=own_view(taken).name)
    return taken


@command("leave", examples="tableturn leave harbour\ntableturn leave harbour --seat 2", token=True)
@table_argument
@seat_option
@expect_option
@request_id_option
async def leave_command(
    session: Session, table_id: str, seat: int | None, expect: int | None, request_id: str
) -> None:
    """Leave a seat; the game waits until somebody takes it. The host may free any seat."""
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        done = await table.leave_seat(seat or 0, expected=expect, request_id=request_id)
    _forget(session, table_id, table)
    _tell(session, done, f"Seat {_number(table, seat)} is free.")


@command("concede", examples="tableturn concede harbour --yes", token=True)
@table_argument
@seat_option
@click.option("--yes", is_flag=True, help="Don't ask.")
@expect_option
@request_id_option
async def concede_command(
    session: Session,
    table_id: str,
    seat: int | None,
    yes: bool,
    expect: int | None,
    request_id: str,
) -> None:
    """Take a seat out of the game for good. The host may do it for somebody who is gone."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("this is for good: without a terminal it needs --yes")
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        if not yes:
            await _ask_to_concede(table, seat)
            # What is typed again with the same id must be the same command.
            expect = 0 if request_id and expect is None else expect
        done = await table.concede(seat or 0, expected=expect, request_id=request_id)
    _tell(session, done, f"Seat {_number(table, seat)} is out of the game.")


@command(
    "confirms",
    examples="tableturn confirms harbour panel\ntableturn confirms harbour either --seat 2",
    token=True,
)
@table_argument
@click.argument("who", type=click.Choice(list(CONFIRMATIONS)), metavar="WHO")
@click.option("--seat", type=Whole(1, 1000), metavar="N", help="Which seat [yours].")
@request_id_option
async def confirms_command(
    session: Session, table_id: str, who: str, seat: int | None, request_id: str
) -> None:
    """Say WHO confirms the turns of a seat: its own device, a panel, or either."""
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        done = await table.set_confirmation(CONFIRMATIONS[who], seat or 0, request_id=request_id)
    told = {"device": "its device", "panel": "a panel", "either": "its device or a panel"}[who]
    _tell(session, done, f"Seat {_number(table, seat)}: {told} confirms its turns.")


async def _ask_to_concede(table: Table, seat: int | None) -> None:
    """Ask whether that seat is meant, with who sits there now. Raises click.UsageError."""
    view = await table.view()
    number = seat or (table.number if isinstance(table, Seat) else view.viewer)
    name = next((clean(s.name) for s in view.seats if s.seat == number), "")
    who = f"{_number(table, seat)} ({name})" if name else _number(table, seat)
    if not click.confirm(f"Take seat {who} out of the game for good?", err=True):
        raise click.UsageError("nothing was done; --yes doesn't ask")


def default_name() -> str:
    """The name of this machine's user."""
    try:
        return getpass.getuser()[:LONGEST_NAME]
    except (OSError, KeyError):
        return "Player"


def _number(table: Table, seat: int | None) -> str:
    if seat:
        return str(seat)
    return str(table.number) if isinstance(table, Seat) and table.number else "of the token"


def _forget(session: Session, table_id: str, table: Table) -> None:
    """A seat that was left is nobody's here any more."""
    for held in session.credentials.seats(session.server, table_id):
        if held.token == table.token and isinstance(table, Seat) and held.seat == table.number:
            session.credentials.drop(held)


def _tell(session: Session, done: Done, line: str) -> None:
    session.tell({"revision": done.revision, "replayed": done.replayed}, line)
