"""Bots of the service's on seats: `bot`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tableturn_client.cli.command import Whole, command, request_id_option, table_argument
from tableturn_client.cli.commands.catalog import game_of, unknown
from tableturn_client.cli.holding import hosting_table
from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.drawing.words import clean, many
from tableturn_client.errors import BadValue
from tableturn_client.handles import Table
from tableturn_client.messages import Occupant, TableView
from tableturn_client.seating import Confirmation

CONFIRMATIONS = {
    "device": Confirmation.DEVICE,
    "panel": Confirmation.PANEL,
    "either": Confirmation.EITHER,
}


@command(
    "bot",
    examples="tableturn bot harbour greedy\ntableturn bot harbour random --seat 3 --confirm panel",
    token=True,
)
@table_argument
@click.argument("bot", metavar="BOT")
@click.option("--seat", type=Whole(1, 1000), metavar="N", help="Which seat [a free one].")
@click.option("--name", default="", metavar="NAME", help="What it is called [a name is made].")
@click.option(
    "--confirm",
    "confirms",
    type=click.Choice(list(CONFIRMATIONS)),
    default="either",
    help="panel: its turns wait for a press of the seat's button [it confirms by itself].",
)
@request_id_option
async def bot_command(
    session: Session,
    table_id: str,
    bot: str,
    seat: int | None,
    name: str,
    confirms: str,
    request_id: str,
) -> None:
    """Give a free seat to a BOT, such as greedy; `tableturn games` lists them.

    `tableturn leave TABLE --seat N` sends it away.
    """
    async with session.client() as client:
        done = await (await hosting_table(session, client, table_id)).seat_bot(
            bot,
            seat=seat or 0,
            name=name,
            confirmation=CONFIRMATIONS[confirms],
            request_id=request_id,
        )
    session.tell(
        {"seat": done.seat, "revision": done.revision, "replayed": done.replayed},
        f"The bot {clean(bot)} has seat {done.seat} at the table {table_id}.",
    )


async def seats_for(client: Client, game: str, bots: Sequence[str], people: int, seats: int) -> int:
    """How many seats a table with these bots and people has, who are known before it is made.

    As many as given, else room for one person at least. Raises UnknownName for a bot that can't
    play the game, BadValue for more of them all than there can be seats.
    """
    info = await game_of(client, game)
    for bot in bots:
        if bot not in info.bots:
            names = ", ".join(map(clean, info.bots)) or "none"
            raise unknown(f"no bot for {game} is called {bot}; there are: {names}")
    wanted = len(bots) + people
    count = seats or min(max(info.min_seats, wanted, len(bots) + 1), info.max_seats)
    if wanted > count:
        who = [many(len(bots), "bot")] if bots else []
        who += [many(people, "person", "people")] if people else []
        raise BadValue(f"{' and '.join(who)} can't sit on {many(count, 'seat')}")
    return count


async def seat_bots(table: Table, view: TableView, bots: Sequence[str]) -> None:
    """Give the last seats to bots; those that sit there already stay."""
    first = len(view.seats) - len(bots) + 1
    for number, bot in enumerate(bots, first):
        seat = view.seats[number - 1]
        if (seat.occupant, seat.bot) != (Occupant.OCCUPANT_BOT, bot):
            await table.seat_bot(bot, seat=number)
