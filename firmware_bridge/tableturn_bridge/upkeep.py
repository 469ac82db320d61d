"""Looking after panels: `tableturn panel status`, `off` and `doctor`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from tableturn_bridge.choosing import MOST_UID
from tableturn_bridge.parts import parts
from tableturn_client.cli.command import Ended, command, request_id_option, table_argument
from tableturn_client.cli.exits import Exit
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.credentials import key
from tableturn_client.drawing.words import clean
from tableturn_client.errors import NoCredentials
from tableturn_client.handles import Table


def locks_of(session: Session) -> Path:
    """The folder in which the bridges of this user lock their panels."""
    return session.credentials.path.parent / "panels"


@command("status", examples="tableturn panel status\ntableturn panel status harbour", token=True)
@click.argument("table_id", metavar="[TABLE]", default="")
async def status_command(session: Session, table_id: str) -> None:
    """Show the panels of a table: their seats, bridges and counters.

    Without TABLE: the last one at which a panel of this machine worked.
    """
    from tableturn_bridge.status import panel_rows

    table_id = table_id or _last_table(session)
    async with session.client() as client:
        found = await _known(session, client, table_id).panels()
    session.tell({"table_id": table_id, "panels": plain(found)}, *panel_rows(table_id, found))


@command("off", examples="tableturn panel off harbour 305419896", token=True)
@table_argument
@click.argument("uid", type=click.IntRange(1, MOST_UID))
@request_id_option
async def off_command(session: Session, table_id: str, uid: int, request_id: str) -> None:
    """Take a panel off a table. Its number is shown by `status`."""
    credentials, server = session.credentials, session.server
    kept = credentials.panel_of(server, table_id, uid)
    host = credentials.host(server, table_id)
    token = session.token or next((one.token for one in (host, kept) if one is not None), "")
    if not token:
        raise NoCredentials(
            f"neither the host's token of the table {table_id} nor that of the panel {uid} is "
            "held here; give one with --token"
        )
    async with session.client() as client:
        done = await client.table(table_id, token=token).detach_panel(uid, request_id=request_id)
    if kept is not None:
        credentials.drop(kept)  # the panel doesn't go back there by itself
    session.tell(
        {"revision": done.revision, "replayed": done.replayed},
        f"The panel {uid} is off the table {table_id}.",
    )


@command("doctor", examples="tableturn panel doctor\ntableturn panel doctor --port /dev/ttyUSB0")
@click.option("--port", metavar="PORT", help="The port to look at [all that may be a panel's].")
async def doctor_command(session: Session, port: str | None) -> None:
    """Find out why a panel doesn't work, and what helps. Ends with 5 if none works."""
    with parts():
        from tableturn_bridge.doctor import diagnose

    def looking(name: str) -> None:
        if sys.stderr.isatty() and not session.json:
            click.echo(f"looking at {clean(name, 60)}, for up to 6 seconds ...", err=True)

    findings = await diagnose(port, locks=locks_of(session), looking=looking)
    lines = []
    for one in findings:
        lines.append(f"{'ok:' if one.ok else 'problem:'} {one.sentence}")
        lines += [f"  {one.cure}"] if one.cure else []
    works = any(one.ok for one in findings)
    document = {"works": works, "findings": [asdict(one) for one in findings]}
    session.tell(document, *lines)
    if not works:
        raise Ended(Exit.NOT_NOW)


def _last_table(session: Session) -> str:
    """The table at which a panel of this machine worked last. Raises NoCredentials."""
    server = key(session.server)
    held = [c for c in session.credentials.all() if (c.server, c.scope) == (server, "panel")]
    if not held:
        raise NoCredentials("no panel of this machine is on a table of this service: say which")
    return held[-1].table


def _known(session: Session, client: Client, table_id: str) -> Table:
    """The table with any token that is held here for it. Raises NoCredentials."""
    if session.token:
        return client.table(table_id, token=session.token)
    server = key(session.server)
    for held in session.credentials.all():
        if (held.server, held.table) == (server, table_id) and not held.pending:
            return client.table(table_id, token=held.token)
    raise NoCredentials(f"no token of the table {table_id} is held here; give one with --token")
