"""The next table of the same people: `rematch`."""

from __future__ import annotations

import click

from tableturn_client.cli.command import command, request_id_option, table_argument
from tableturn_client.cli.holding import trusted_table
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.drawing.words import listed
from tableturn_client.handles import RematchOrder
from tableturn_client.messages import TableStatus
from tableturn_client.next_table import carry_over

_ORDERS = {order.name.lower().replace("_", "-"): order for order in RematchOrder}


@command(
    "rematch",
    examples="tableturn rematch harbour\ntableturn rematch harbour --order loser-first",
    token=True,
)
@table_argument
@click.option(
    "--order",
    type=click.Choice(list(_ORDERS)),
    help="Who sits where: as before, everybody one further, or who came last first [same].",
)
@request_id_option
async def rematch_command(
    session: Session, table_id: str, order: str | None, request_id: str
) -> None:
    """Make the next table of the same people, when the game is over.

    Everybody who asks gets the same table, and the tokens of the old one open it. Whoever asks
    first decides who sits where.
    """
    async with session.client() as client:
        old = await trusted_table(session, client, table_id)
        before = (await old.view()).next_table_id if order else ""
        table = await old.rematch(order=_ORDERS[order or "same"], request_id=request_id)
        await carry_over(client, session.credentials, session.server, table_id, table.table_id)
        view = await table.view()
    begun = view.status == TableStatus.TABLE_STATUS_RUNNING
    held = session.credentials.seats(session.server, table.table_id)
    own = listed([f"seat {one.seat} ({one.name})" for one in held])
    session.tell(
        {
            "table_id": table.table_id,
            "seats": [{"seat": one.seat, "name": one.name} for one in held],
            "table": plain(view),
        },
        f"The next table is {table.table_id}"
        + ("; the game begins." if begun else "; somebody is missing."),
        *([f"Held here: {own}."] if own else []),
        *(["It was made before: who sits where was decided then."] if before else []),
        f"Play with: {session.typed(f'play {table.table_id}')}",
    )
