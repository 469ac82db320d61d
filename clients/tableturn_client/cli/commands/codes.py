"""Codes to join by, and to move a seat to another device: `code`."""

from __future__ import annotations

import click

from tableturn_client.cli.command import Whole, command, table_argument
from tableturn_client.cli.holding import hosting_table, seat_or_host, trusted_table
from tableturn_client.cli.plain import moment
from tableturn_client.cli.session import Session


@command(
    "code",
    examples="tableturn code harbour\ntableturn code harbour --renew\n"
    "tableturn code harbour --device\ntableturn code harbour --device --seat 2",
    token=True,
)
@table_argument
@click.option("--renew", is_flag=True, help="Make another one; the one before is of no use then.")
@click.option(
    "--device", "moves", is_flag=True, help="A code that moves a seat to another device, once."
)
@click.option("--seat", type=Whole(1, 1000), metavar="N", help="With --device: which one [yours].")
async def code_command(
    session: Session, table_id: str, renew: bool, moves: bool, seat: int | None
) -> None:
    """Show the code with which others join, or make one for another device of a seat."""
    if moves and renew:
        raise click.UsageError("a code for a seat is new each time: leave --renew away")
    if seat and not moves:
        raise click.UsageError("--seat is for --device: a table's join code is for all seats")
    async with session.client() as client:
        if moves:
            table = await seat_or_host(session, client, table_id, seat)
            made = await table.seat_code(seat or 0)
            session.tell(
                {"code": made.code, "seat": made.seat, "expire_time": moment(made.expires)},
                f"Seat {made.seat} moves to another device with: "
                f"{session.typed(f'join {made.code}')}",
                "It is good for ten minutes. The seat is held there then, and here no more.",
            )
            return
        find = hosting_table if renew else trusted_table
        code = await (await find(session, client, table_id)).join_code(renew=renew)
    session.tell({"code": code}, f"Others join with: {session.typed(f'join {code} NAME')}")
