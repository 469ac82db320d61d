"""The command `tableturn play`."""

from __future__ import annotations

import os
import sys

import click
from rich.console import Console

from tableturn_client.cli.codes import meant
from tableturn_client.cli.command import Whole, command, table_argument
from tableturn_client.cli.session import Session as Settings
from tableturn_client.client import Client, connect
from tableturn_client.drawing.look import Look
from tableturn_client.errors import TableturnError
from tableturn_client.next_table import carry_over
from tableturn_client.play import pages
from tableturn_client.play.joining import NothingToPlay, Wish, ask_name, come
from tableturn_client.play.seated import Seated
from tableturn_client.play.session import Session
from tableturn_client.play.terminal import LineTerminal, ScreenTerminal, Terminal, is_screen
from tableturn_client.wire import Retry

PATIENCE = 600.0
"""Seconds for which a command is repeated while a service restarts."""


@command(
    "play",
    examples="tableturn play harbour\n"
    "tableturn play harbour --name Ann\n"
    "tableturn play K7QM-4XRD --name Bob\n"
    "tableturn play harbour --name Ann --name Bob\n"
    "tableturn play harbour --watch",
    token=True,
)
@table_argument
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Sit down under this name; more than once for several people at this device.",
)
@click.option(
    "--seat",
    "seats",
    multiple=True,
    type=Whole(min=1, max=1000),
    metavar="N",
    help="Which seat; may be given more than once.",
)
@click.option("--hot-seat", is_flag=True, help="Ask for the names of all who play at this device.")
@click.option("--watch", is_flag=True, help="Look on without a seat.")
async def play(
    session: Settings,
    table_id: str,
    names: tuple[str, ...],
    seats: tuple[int, ...],
    hot_seat: bool,
    watch: bool,
) -> None:
    """Sit at a table: see it, and play it from here.

    Goes on with the seats that are held on this machine, or takes one. Type ? at the table for
    help. Without a terminal, lines of input are answers, and the end of input quits.
    """
    if watch and (names or seats or hot_seat):
        raise click.UsageError("--watch looks on without a seat: leave --name and --seat away")
    async with session.client() as client:
        table = await meant(session, client, table_id)
    wish = Wish(names, seats, hot_seat, watch, table.code, table.seat)
    await sit_and_play(session, table.table_id, wish)


async def sit_and_play(session: Settings, table_id: str, wish: Wish) -> None:
    """Play at a table, and at the next one of the same people if they want a rematch."""
    console = new_console()
    going_on: str | None = table_id
    while going_on:
        table_id = going_on
        going_on = await _play_at(session, table_id, wish, console)
        wish = Wish(watch=wish.watch)


async def _play_at(session: Settings, table_id: str, wish: Wish, console: Console) -> str | None:
    """Play at one table to its end; the table of the rematch, if one is wanted."""
    playing: list[Session] = []

    def retrying(error: TableturnError) -> None:
        for one in playing:
            one.retrying(error)

    retry = Retry(total=PATIENCE)
    async with (
        session.client() as first,
        connect(str(session.server), retry=retry, on_retry=retrying) as client,
    ):
        try:
            seated = await come(session, first, table_id, wish, ask_name)
        except NothingToPlay as over:
            console.print(pages.result(over.view, Look.of(console)))
            console.print(pages.next_table(over.view, str(session.server)))
            return None
        one = Session(_patient(seated, client), lambda one: _terminal(one, console))
        playing.append(one)
        await one.run()
        if one.over and seated.seats and is_screen() and _wants_rematch():
            table = await seated.trusted.rematch()
            await carry_over(client, session.credentials, session.server, table_id, table.table_id)
            return table.table_id
    return None


def _wants_rematch() -> bool:
    """Ask whether there shall be another game of the same people."""
    answer = ask_name("Rematch with the same people? [y/n] ")
    return (answer or "").lower() in ("y", "yes")


def _patient(seated: Seated, client: Client) -> Seated:
    """The same seats, at a client that doesn't give up while the service restarts."""
    table = seated.table

    return Seated(
        [client.seat(table.table_id, n, token=seat.token) for n, seat in seated.seats.items()],
        client.table(table.table_id, token=table.token),
        server=seated.server,
        forget=seated.forget,
        host=client.table(table.table_id, token=seated.host.token) if seated.host else None,
    )


def _terminal(session: Session, console: Console) -> Terminal:
    """A screen where there is one, else plain lines."""
    if is_screen():
        return ScreenTerminal(console, session.message, session.toolbar, session.resized)
    return LineTerminal(console)


def new_console() -> Console:
    """Where a session is drawn: 80 columns where nothing is known."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        console.width = 80
    return console
