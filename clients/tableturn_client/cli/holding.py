"""Which token a command uses: the one given, or one that is held on this machine."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.credentials import Credential
from tableturn_client.errors import BadValue, NoCredentials, NotPermitted
from tableturn_client.handles import Seat, Table
from tableturn_client.messages import TableView


def held_seats(session: Session, table_id: str) -> tuple[Credential, ...]:
    """The seats held on this machine. Raises NoCredentials where there are none."""
    held = session.credentials.seats(session.server, table_id)
    if not held:
        raise NoCredentials(
            f"no seat at the table {table_id} is held here; take one with "
            f"`tableturn join {table_id}`, or give its --token"
        )
    return held


async def acting_seat(
    session: Session, client: Client, table_id: str, seat: int | None, *, staged: bool = False
) -> Seat:
    """The seat that acts: a given one, the only one, or the one that is asked.

    With `staged`, the one that has something to undo. The handle has seen the table.
    """
    if session.token:
        acting = client.seat(table_id, seat or 0, token=session.token)
        await acting.view()
        return acting
    if seat is not None and (playing := await at_panel(session, client, table_id, seat)):
        return playing
    held = held_seats(session, table_id)
    if seat is not None:
        held = tuple(one for one in held if one.seat == seat)
        if not held:
            raise NoCredentials(f"seat {seat} at the table {table_id} is not held here")
    first = client.seat(table_id, held[0].seat, token=held[0].token)
    view = await first.view()
    wanted = {turn.seat for turn in view.staged} if staged else asked(view)
    chosen = [one for one in held if one.seat in wanted] or list(held)
    if len(chosen) > 1 and wanted.intersection(one.seat for one in chosen):
        numbers = " or ".join(str(one.seat) for one in chosen)
        raise AmbiguousSeat(f"several seats held here may act now: say --seat {numbers}")
    if chosen[0] is held[0]:
        return first
    acting = client.seat(table_id, chosen[0].seat, token=chosen[0].token)
    await acting.view()
    return acting


async def at_panel(session: Session, client: Client, table_id: str, seat: int) -> Seat | None:
    """A seat that was taken at a panel, with the token of somebody here who plays along.

    None for a seat that is held here, or has a device of its own.
    """
    held = session.credentials.seats(session.server, table_id)
    host = session.credentials.host(session.server, table_id)
    token = held[0].token if held else host.token if host else ""
    if not token or any(one.seat == seat for one in held):
        return None
    view = await client.table(table_id, token=token).view()
    if not any(one.seat == seat and one.from_panel for one in view.seats):
        return None
    playing = client.seat(table_id, seat, token=token)
    await playing.view()
    return playing


class AmbiguousSeat(BadValue):
    """Several seats that are held here could be meant."""


async def looking_table(
    session: Session, client: Client, table_id: str, seat: int | None, spectator: bool
) -> Table:
    """The table with the eyes of somebody: a seat held here, the host, or a spectator."""
    held = session.credentials.seats(session.server, table_id)
    if session.token:
        return client.seat(table_id, seat or 0, token=session.token)
    if spectator or not (held or seat):
        return client.table(table_id, token=spectator_token(session, table_id))
    if seat is not None and (playing := await at_panel(session, client, table_id, seat)):
        return playing
    if seat is not None or len(held) == 1:
        own = next((one for one in held if seat in (None, one.seat)), None)
        if own is None:
            raise NoCredentials(f"seat {seat} at the table {table_id} is not held here")
        return client.seat(table_id, own.seat, token=own.token)
    first = client.seat(table_id, held[0].seat, token=held[0].token)
    wanted = asked(await first.view())
    own = next((one for one in held if one.seat in wanted), held[0])
    return client.seat(table_id, own.seat, token=own.token)


async def hosting_table(session: Session, client: Client, table_id: str) -> Table:
    """The table with the host's token, or the admin's of a service on this machine.

    Where the host's duties have passed on to a seat that is held here, with that seat's. Raises
    NoCredentials where none is held.
    """
    if not session.token and (seat := await _seat_of_host(session, client, table_id)):
        return seat
    token = session.token or _host_token(session, table_id)
    if not token:
        raise NoCredentials(
            f"the host's token of the table {table_id} is not held here; give it with --token"
        )
    return client.table(table_id, token=token)


async def _seat_of_host(session: Session, client: Client, table_id: str) -> Seat | None:
    """The seat held here to which the host's duties have passed on."""
    held = {one.seat: one for one in session.credentials.seats(session.server, table_id)}
    if not held:
        return None
    first = next(iter(held.values()))
    try:
        view = await client.seat(table_id, first.seat, token=first.token).view()
    except NotPermitted:  # it is not ours any more
        return None
    host = held.get(view.host_seat)
    return client.seat(table_id, host.seat, token=host.token) if host else None


def _host_token(session: Session, table_id: str) -> str:
    """The host's token, else the admin's: tables of `serve --open` belong to the admin."""
    host = session.credentials.host(session.server, table_id)
    if host is not None:
        return host.token
    # The admin's token goes to no other machine unless somebody says so.
    return admin_token() if session.server.loopback else ""


def admin_file() -> Path:
    """Where a service on this machine keeps the admin's token.

    In the data directory of `make run` when called from there, else in the default one.
    """
    here = Path(".data/admin.token")
    if here.is_file():
        return here
    base = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "share") / "tableturn/admin.token"
    except RuntimeError:
        return Path("admin.token")


def admin_token(file: Path | None = None) -> str:
    """The admin's token out of a file, the environment, or `admin_file`."""
    if file is None and (given := os.environ.get("TABLETURN_ADMIN_TOKEN")):
        return given
    try:
        return (file or admin_file()).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        if file is None:
            return ""
        raise BadValue(f"the admin's token in {file} can't be read: {error}") from None


async def trusted_table(session: Session, client: Client, table_id: str) -> Table:
    """The table with the host's token or that of any seat held here."""
    held = session.credentials.seats(session.server, table_id)
    if held and not session.token and not session.credentials.host(session.server, table_id):
        return client.seat(table_id, held[0].seat, token=held[0].token)
    return await hosting_table(session, client, table_id)


async def seat_or_host(session: Session, client: Client, table_id: str, seat: int | None) -> Table:
    """The table with a seat's own token, else with the host's, for leaving a seat."""
    held = session.credentials.seats(session.server, table_id)
    if session.token:
        return client.table(table_id, token=session.token)
    own = [one for one in held if seat in (None, one.seat)]
    if len(own) > 1:
        numbers = ", ".join(str(one.seat) for one in own)
        raise AmbiguousSeat(f"several seats are held here ({numbers}): say which with --seat")
    if own:
        return client.seat(table_id, own[0].seat, token=own[0].token)
    if seat is None:
        held_seats(session, table_id)  # raises
    return await hosting_table(session, client, table_id)


def spectator_token(session: Session, table_id: str) -> str:
    """The token for looking on: the host's or the watch token held here, or none."""
    credentials, server = session.credentials, session.server
    held = credentials.watcher(server, table_id) or credentials.host(server, table_id)
    return held.token if held else ""


def behind(session: Session, table: Table, view: TableView) -> timedelta:
    """How late this token sees the table: spectators may, the host and the admin never do."""
    host = session.credentials.host(session.server, table.table_id)
    trusted = {host.token if host else "", admin_token() if session.server.loopback else ""} - {""}
    if view.viewer or table.token in trusted or not view.HasField("spectator_delay"):
        return timedelta()
    return view.spectator_delay.ToTimedelta()


def asked(view: TableView) -> set[int]:
    """The seats for which the table waits."""
    return {prompt.seat for prompt in view.prompts}
