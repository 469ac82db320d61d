"""The next table of the same people: `rematch`."""

from __future__ import annotations

from tableturn_client.cli.command import command, request_id_option, table_argument
from tableturn_client.cli.holding import trusted_table
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.messages import TableStatus


@command("rematch", examples="tableturn rematch harbour", token=True)
@table_argument
@request_id_option
async def rematch_command(session: Session, table_id: str, request_id: str) -> None:
    """Make the next table of the same people, when the game is over.

    Everybody who asks gets the same table, and the tokens of the old one open it.
    """
    async with session.client() as client:
        table = await trusted_table(session, client, table_id).rematch(request_id=request_id)
        session.credentials.carry_over(session.server, table_id, table.table_id)
        view = await table.view()
    begun = view.status == TableStatus.TABLE_STATUS_RUNNING
    session.tell(
        {"table_id": table.table_id, "table": plain(view)},
        f"The next table is {table.table_id}"
        + ("; the game begins." if begun else "; somebody is missing."),
        f"Play with: {session.typed(f'play {table.table_id}')}",
    )
