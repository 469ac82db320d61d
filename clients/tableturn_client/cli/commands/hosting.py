"""Making tables and looking after them: `new`, `tables`, `start`, `pause`, `resume`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Sequence
from dataclasses import replace

import click

from tableturn_client.cli.command import (
    command,
    read_options,
    repeated_options,
    request_id_option,
    table_argument,
)
from tableturn_client.cli.commands.bots import seat_bots, seats_for
from tableturn_client.cli.commands.catalog import confidence, stand_ins
from tableturn_client.cli.files import read_file
from tableturn_client.cli.holding import hosting_table, trusted_table
from tableturn_client.cli.plain import plain, word
from tableturn_client.cli.session import Session, columns
from tableturn_client.client import Client, NewTable, Takeback
from tableturn_client.credentials import Credential, key
from tableturn_client.drawing.words import clean
from tableturn_client.errors import BadValue, Refused, Unavailable
from tableturn_client.handles import Done
from tableturn_client.messages import (
    ComponentGroup,
    Confidence,
    Occupant,
    TableStatus,
    TableSummary,
    TableView,
)
from tableturn_client.tokens import check_token, new_request_id, new_token

_LARGEST_SET = 256 * 1024
_TAKEBACK = {
    "host": Takeback.HOST,
    "all": Takeback.ALL,
    "all-agree": Takeback.ALL,
    "never": Takeback.NEVER,
}
_SEED = re.compile(r"[0-9a-fA-F]{32}")


@command(
    "new",
    examples="tableturn new eastern-wonders --seats 3\n"
    "tableturn new free-table --seats 4 --id friday --if-absent --start-when-full\n"
    "tableturn new eastern-wonders --bot greedy --bot greedy --play Ann",
)
@click.argument("game")
@click.option("--seats", type=click.IntRange(1, 1000), metavar="N", help="How many [the least].")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="BOT",
    help="Give a seat to a bot, the last ones to several. Without --seats there is one more seat.",
)
@click.option(
    "--play",
    "names",
    multiple=True,
    metavar="NAME",
    help="Sit down under this name and play at once; the game then starts when the table is full.",
)
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="See `rules GAME`.")
@click.option("--components", metavar="FILE", help="A component set of your own.")
@click.option("--id", "table_id", default="", metavar="ID", help="The table's id [one is made].")
@click.option("--if-absent", is_flag=True, help="With --id: a table of the same making is fine.")
@click.option("--title", default="", help="What the table is called.")
@click.option("--seed", metavar="HEX", help="A chosen seed, 32 digits; all see that it was chosen.")
@click.option(
    "--takeback",
    type=click.Choice(list(_TAKEBACK)),
    default="host",
    help="Who may take a confirmed turn back [host].",
)
@click.option(
    "--start-when-full/--no-start-when-full",
    default=None,
    help="Start as soon as every seat is taken [no; with --play yes].",
)
@click.option("--unlisted", is_flag=True, help="Leave it out of `tables`.")
@click.option(
    "--watch-token",
    metavar="TOKEN",
    help="Spectators need this token; `new` makes one. Else anybody may watch.",
)
@request_id_option
async def new_command(
    session: Session,
    game: str,
    seats: int | None,
    bots: tuple[str, ...],
    names: tuple[str, ...],
    options: tuple[str, ...],
    components: str | None,
    table_id: str,
    if_absent: bool,
    title: str,
    seed: str | None,
    takeback: str,
    start_when_full: bool | None,
    unlisted: bool,
    watch_token: str | None,
    request_id: str,
) -> None:
    """Make a table of a GAME. The host's token is kept on this machine."""
    if if_absent and not table_id:
        raise click.UsageError("--if-absent needs --id")
    if names and session.json:
        raise click.UsageError("--play is for a person: leave --json away")
    starts = bool(names) if start_when_full is None else start_when_full
    chosen = read_options(options)
    own_set = b"" if components is None else read_file(components, _LARGEST_SET)
    if components is not None and not own_set:
        raise BadValue(f"{components} is empty: it is no component set")
    watch = new_token() if watch_token == "new" else watch_token or ""
    if watch_token is not None:
        check_token(watch)
    async with session.client() as client:
        if bots or names:
            seats = await seats_for(client, game, bots, len(names), seats or 0)
        host, fresh = _host_credential(session, table_id, request_id)
        if fresh:
            session.credentials.put(host)
        try:
            new = await client.new_table(
                game,
                seats=seats or 0,
                options=chosen,
                table_id=table_id,
                if_absent=if_absent,
                components=own_set,
                takeback=_TAKEBACK[takeback],
                start_when_full=starts,
                unlisted=unlisted,
                title=title,
                seed=_read_seed(seed),
                host_token=host.token,
                watch_token=watch,
                request_id=request_id or host.pending or new_request_id(),
            )
        except (Refused, BadValue) as error:
            if fresh and not isinstance(error, Unavailable):
                session.credentials.drop(host)
            raise
        made = new.view.table_id
        session.credentials.settle(host, table=made)
        if watch:
            session.credentials.put(
                replace(host, table=made, scope="watch", token=watch, pending="")
            )
        if bots:
            await seat_bots(new.table, new.view, bots)
            new = replace(new, view=await new.table.view())
        unsure = await _unsure(client, new.view, own_set)
    _tell_new(session, new, watch, unsure, starts, names)
    if names:
        from tableturn_client.play.command import sit_and_play
        from tableturn_client.play.joining import Wish

        await sit_and_play(session, made, Wish(names))


def _host_credential(session: Session, table_id: str, request_id: str) -> tuple[Credential, bool]:
    """The host's credential to use, and whether it is a new one.

    The same command again, after a lost answer or with --if-absent, sends the same token.
    """
    credentials, server = session.credentials, session.server
    kept = credentials.host(server, table_id) if table_id else None
    if kept is None and request_id:
        kept = credentials.pending(server, "host", pending=request_id)
    if kept is not None:
        return kept, False
    fresh = Credential(
        server=key(server),
        table=table_id,
        scope="host",
        token=new_token(),
        pending=request_id or new_request_id(),
    )
    return fresh, True


async def _unsure(client: Client, view: TableView, own_set: bytes) -> list[ComponentGroup]:
    """The groups of components with values that are stand-ins of ours."""
    if not view.component_set.reconstructed:
        return []
    if own_set:
        return stand_ins(await client.check_component_set(view.game, own_set))
    return stand_ins((await client.component_set(view.component_set.name)).summary)


def _tell_new(
    session: Session,
    new: NewTable,
    watch: str,
    unsure: Sequence[ComponentGroup],
    starts: bool,
    names: Sequence[str],
) -> None:
    view = new.view
    table_id = view.table_id
    free = sum(seat.occupant == Occupant.OCCUPANT_NOBODY for seat in view.seats)
    lines = [
        f"Table {table_id}: {clean(view.title) or view.game}, {len(view.seats)} seats"
        + (", open seed" if view.open_seed else "")
        + "."
    ]
    lines += [f"Note: {clean(warning, 300)}" for warning in new.warnings]
    if unsure:
        sure = confidence(Confidence.CONFIDENCE_RECONSTRUCTED)
        lines.append(
            f"Note: of the components, these are {sure} (stand-ins of ours, no printed values): "
            + ", ".join(
                f"{group.reconstructed} of {group.count} {clean(group.name).replace('_', ' ')}"
                for group in unsure
            )
        )
    if watch:
        lines.append("Spectators need the watch token; `--json` prints it.")
    bots = [seat for seat in view.seats if seat.occupant == Occupant.OCCUPANT_BOT]
    lines += [f"Seat {seat.seat}: {clean(seat.name)}, a bot ({clean(seat.bot)})." for seat in bots]
    if free > len(names):
        lines.append(f"Join with: {session.typed(f'join {table_id} NAME')}")
    if view.status == TableStatus.TABLE_STATUS_OPEN:
        start = session.typed(f"start {table_id}")
        lines.append("The game starts when every seat is taken." if starts else f"Then: {start}")
    session.tell(
        {
            "table_id": table_id,
            "replayed": new.replayed,
            "warnings": list(new.warnings),
            "reconstructed": [group.name for group in unsure],
            "watch_token": watch or None,
            "table": plain(view),
        },
        *lines,
    )


def _read_seed(text: str | None) -> bytes:
    if text is None:
        return b""
    if not _SEED.fullmatch(text):
        raise click.UsageError("a seed has 32 hexadecimal digits")
    return bytes.fromhex(text)


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
        done = await hosting_table(session, client, table_id).start(
            without_free_seats=with_those_here, request_id=request_id
        )
    _tell(session, done, "The game begins.")


@command("pause", examples="tableturn pause harbour", token=True)
@table_argument
@request_id_option
async def pause_command(session: Session, table_id: str, request_id: str) -> None:
    """Stop all turns until the game is resumed."""
    async with session.client() as client:
        done = await trusted_table(session, client, table_id).pause(request_id=request_id)
    _tell(session, done, "The game is paused.")


@command("resume", examples="tableturn resume harbour", token=True)
@table_argument
@request_id_option
async def resume_command(session: Session, table_id: str, request_id: str) -> None:
    """Let a paused game go on."""
    async with session.client() as client:
        done = await trusted_table(session, client, table_id).resume(request_id=request_id)
    _tell(session, done, "The game goes on.")


def _tell(session: Session, done: Done, line: str) -> None:
    session.tell({"revision": done.revision, "replayed": done.replayed}, line)
