"""Making a table: `new`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from tableturn_client import errors
from tableturn_client.cli.command import command, request_id_option
from tableturn_client.cli.commands.bots import seat_bots, seats_for
from tableturn_client.cli.commands.catalog import confidence, stand_ins
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.cli.wishes import (
    Timing,
    WhatIsPlayed,
    WhoPlays,
    WhoSees,
    what_is_played,
    who_plays,
    who_sees,
)
from tableturn_client.cli.wishes import timing as timing_options
from tableturn_client.client import Client, NewTable
from tableturn_client.credentials import Credential, key
from tableturn_client.drawing.words import clean
from tableturn_client.handles import Table
from tableturn_client.messages import ComponentGroup, Confidence, Occupant, TableStatus, TableView
from tableturn_client.tokens import new_request_id, new_token


@command(
    "new",
    examples="tableturn new eastern-wonders --seats 3\n"
    "tableturn new free-table --seats 4 --id friday --if-absent --start-when-full\n"
    "tableturn new eastern-wonders --bot greedy --bot greedy --play Ann\n"
    'tableturn new spice-road --seats 3 --clock "15m + 10s" --time-up default\n'
    'tableturn new spice-road --seats 2 --clock "3 days" --private',
)
@click.argument("game")
@who_plays
@what_is_played
@timing_options
@who_sees
@request_id_option
async def new_command(
    session: Session,
    game: str,
    who: WhoPlays,
    what: WhatIsPlayed,
    timing: Timing,
    sees: WhoSees,
    request_id: str,
) -> None:
    """Make a table of a GAME. The host's token is kept on this machine."""
    if who.names and session.json:
        raise click.UsageError("--play is for a person: leave --json away")
    starts = bool(who.names) if what.start_when_full is None else what.start_when_full
    what = replace(what, start_when_full=starts)
    async with session.client() as client:
        if who.bots or who.names:
            seats = await seats_for(client, game, who.bots, len(who.names), who.seats or 0)
            who = replace(who, seats=seats)
        new = await _make(session, client, game, (who, what, timing, sees), request_id)
        code = await _join_code(new.table)
        unsure = await _unsure(client, new.view, what.components)
    _tell_new(session, new, sees.watch_token, code, unsure, starts, who.names)
    if who.names:
        from tableturn_client.play.command import sit_and_play
        from tableturn_client.play.joining import Wish

        await sit_and_play(session, new.view.table_id, Wish(who.names))


async def _make(
    session: Session,
    client: Client,
    game: str,
    wishes: tuple[WhoPlays, WhatIsPlayed, Timing, WhoSees],
    request_id: str,
) -> NewTable:
    """Make the table and seat its bots; the tokens are kept before they are sent."""
    who, what, timing, sees = wishes
    host, fresh = _host_credential(session, what.table_id, request_id)
    if fresh:
        session.credentials.put(host)
    try:
        new = await client.new_table(
            game,
            seats=who.seats or 0,
            options=what.options,
            table_id=what.table_id,
            if_absent=what.if_absent,
            components=what.components,
            takeback=what.takeback,
            start_when_full=bool(what.start_when_full),
            unlisted=sees.unlisted,
            title=what.title,
            seed=what.seed,
            host_token=host.token,
            watch_token=sees.watch_token,
            clock=timing.clock,
            absence=timing.absence,
            private=sees.private,
            spectator_delay=sees.spectator_delay,
            host_stays=sees.host_stays,
            request_id=request_id or host.pending or new_request_id(),
        )
    except (errors.Refused, errors.BadValue) as error:
        if fresh and not isinstance(error, errors.Unavailable):
            session.credentials.drop(host)
        raise
    made = new.view.table_id
    session.credentials.settle(host, table=made)
    if sees.watch_token:
        watcher = replace(host, table=made, scope="watch", token=sees.watch_token, pending="")
        session.credentials.put(watcher)
    if who.bots:
        await seat_bots(new.table, new.view, who.bots)
        new = replace(new, view=await new.table.view())
    return new


async def _join_code(table: Table) -> str:
    """The table's join code; none of a service that knows none, or when the game is over."""
    try:
        return await table.join_code()
    except (errors.NotSupported, errors.NotNow, errors.NotFound):
        return ""


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
    code: str,
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
        lines += _how_to_join(session, view, code)
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
            "join_code": code or None,
            "table": plain(view),
        },
        *lines,
    )


def _how_to_join(session: Session, view: TableView, code: str) -> list[str]:
    """How others sit down: by the id or the code; at a private table only by the code."""
    by_id = f"Join with: {session.typed(f'join {view.table_id} NAME')}"
    if not code:
        return [by_id]
    by_code = session.typed(f"join {code} NAME")
    if view.private:
        return [f"Private; others join with: {by_code}"]
    return [by_id, f"Or by the code: {by_code}"]
