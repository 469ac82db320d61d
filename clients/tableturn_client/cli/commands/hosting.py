"""Looking after tables: `tables`, `start`, `pause`, `resume`."""

from __future__ import annotations

from collections.abc import AsyncIterable

import click

from tableturn_client.cli.command import (
    command,
    repeated_options,
    request_id_option,
    table_argument,
)
from tableturn_client.cli.holding import hosting_table, trusted_table
from tableturn_client.cli.plain import plain, word
from tableturn_client.cli.session import Session, columns
from tableturn_client.handle import Done
from tableturn_client.messages import TableStatus, TableSummary

# ---------------------------------------------------------------- tables


@click.group("tables", invoke_without_command=True, params=repeated_options())
@click.pass_context
def tables_command(context: click.Context) -> None:
    """List the tables of the service."""
    if context.invoked_subcommand is None:
        context.invoke(list_command, held=False)


@command("list", examples="tableturn tables list\ntableturn tables list --held")
@click.option("--held", is_flag=True, help="Those for which tokens are held on this machine.")
async def list_command(session: Session, held: bool) -> None:
    """List the tables that are listed, or those that one has something to do with."""
    if held:
        _tell_held(session)
        return
    async with session.client() as client:
        found = await _all(client.tables())
    found.sort(key=lambda table: table.table_id)
    rows = [("TABLE", "GAME", "STATUS", "SEATS FREE", "TITLE")]
    rows += [
        (
            table.table_id,
            table.game,
            word(TableStatus.DESCRIPTOR, table.status),
            f"{table.free_seats} of {table.seats}",
            table.title,
        )
        for table in found
    ]
    lines = columns(rows) if found else ["There are no listed tables."]
    session.tell({"tables": plain(found)}, *lines)


tables_command.add_command(list_command)


async def _all(tables: AsyncIterable[TableSummary]) -> list[TableSummary]:
    return [table async for table in tables]


def _tell_held(session: Session) -> None:
    """What is held on this machine, without the tokens; no service is asked."""
    rows: list[tuple[str, str, str]] = [("TABLE", "HELD", "NAMES")]
    told = []
    for table_id in session.credentials.tables(session.server):
        seats = session.credentials.seats(session.server, table_id)
        host = session.credentials.host(session.server, table_id) is not None
        held = ["host"] * host + [f"seat {seat.seat}" for seat in seats]
        rows.append((table_id, ", ".join(held), ", ".join(seat.name for seat in seats)))
        told.append(
            {
                "table_id": table_id,
                "host": host,
                "seats": [{"seat": seat.seat, "name": seat.name} for seat in seats],
            }
        )
    lines = columns(rows) if told else ["No tokens are held here for tables of this service."]
    session.tell({"tables": told}, *lines)


# ---------------------------------------------------------------- the game as a whole


@command(
    "start",
    examples="tableturn start harbour\ntableturn start harbour --with-those-here",
    token=True,
)
@table_argument
@click.option(
    "--with-those-here",
    is_flag=True,
    help="Take the free seats away. Bots and people at a panel move up; devices don't.",
)
@request_id_option
async def start_command(
    session: Session, table_id: str, with_those_here: bool, request_id: str
) -> None:
    """Start the game."""
    async with session.client() as client:
        done = await (await hosting_table(session, client, table_id)).start(
            without_free_seats=with_those_here, request_id=request_id
        )
    _tell(session, done, "The game begins.")


@command("pause", examples="tableturn pause harbour", token=True)
@table_argument
@request_id_option
async def pause_command(session: Session, table_id: str, request_id: str) -> None:
    """Stop all turns until the game is resumed."""
    async with session.client() as client:
        done = await (await trusted_table(session, client, table_id)).pause(request_id=request_id)
    _tell(session, done, "The game is paused.")


@command("resume", examples="tableturn resume harbour", token=True)
@table_argument
@request_id_option
async def resume_command(session: Session, table_id: str, request_id: str) -> None:
    """Let a paused game go on."""
    async with session.client() as client:
        done = await (await trusted_table(session, client, table_id)).resume(request_id=request_id)
    _tell(session, done, "The game goes on.")


def _tell(session: Session, done: Done, line: str) -> None:
    session.tell({"revision": done.revision, "replayed": done.replayed}, line)
