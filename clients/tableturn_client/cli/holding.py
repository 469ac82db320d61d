"""Which token a command uses: the one given, or one that is held on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.credentials import Credential
from tableturn_client.errors import BadValue, NoCredentials, NotPermitted, Refused
from tableturn_client.handles import Seat, Table
from tableturn_client.messages import TableView
from tableturn_client.whose import Gone, gone


async def held_seats(
    session: Session, client: Client, table_id: str, seat: int | None = None
) -> tuple[Credential, ...]:
    """The seats held on this machine, or a given one.

    Raises NoCredentials where there are none, or UnknownTable.
    """
    held = session.credentials.seats(session.server, table_id)
    own = tuple(one for one in held if seat in (None, one.seat))
    if not own:
        await _check_there(session, client, table_id)
        if seat is not None:
            raise NoCredentials(f"seat {seat} at the table {table_id} is not held here")
        raise NoCredentials(
            f"no seat at the table {table_id} is held here; take one with "
            f"`{session.typed(f'join {table_id}')}`, or give its --token"
        )
    return own


async def living_seats(
    session: Session, client: Client, table_id: str, seat: int | None = None
) -> tuple[Credential, ...]:
    """The seats held here, or a given one, as far as the service still knows them.

    The others are forgotten. Raises NoCredentials where there are none, NotAllowed where there
    were some.
    """
    living, lost = [], []
    for one in await held_seats(session, client, table_id, seat):
        try:
            await client.seat(table_id, one.seat, token=one.token).view()
        except NotPermitted:
            lost.append(await lost_seat(session, client, one))
        else:
            living.append(one)
    if lost and not living:
        raise lost[0].error
    return tuple(living)


async def lost_seat(session: Session, client: Client, held: Credential) -> Gone:
    """A seat is not held here any more: forget its token, and find out what became of it."""
    session.credentials.drop(held)
    table = client.table(held.table, token=spectator_token(session, held.table))
    return await gone(table, held.seat)


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
    held = await held_seats(session, client, table_id, seat)
    first, view = await _seen(session, client, held[0])
    wanted = {turn.seat for turn in view.staged} if staged else asked(view)
    chosen = [one for one in held if one.seat in wanted] or list(held)
    if len(chosen) > 1 and wanted.intersection(one.seat for one in chosen):
        numbers = " or ".join(str(one.seat) for one in chosen)
        raise AmbiguousSeat(f"several seats held here may act now: say --seat {numbers}")
    if chosen[0] is held[0]:
        return first
    acting, _ = await _seen(session, client, chosen[0])
    return acting


async def _seen(session: Session, client: Client, held: Credential) -> tuple[Seat, TableView]:
    """A seat held here, and the table as it sees it. Raises NotAllowed if it is gone."""
    seat = client.seat(held.table, held.seat, token=held.token)
    try:
        return seat, await seat.view()
    except NotPermitted:
        raise (await lost_seat(session, client, held)).error from None


async def at_panel(session: Session, client: Client, table_id: str, seat: int) -> Seat | None:
    """A seat that was taken at a panel, with the token of somebody here who plays along.

    None for a seat that is held here, or has a device of its own.
    """
    held = session.credentials.seats(session.server, table_id)
    token = held[0].token if held else host_token(session, table_id)
    if not token or any(one.seat == seat for one in held):
        return None
    try:
        view = await client.table(table_id, token=token).view()
    except NotPermitted:  # it is not ours any more
        return None
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
    """The table with the eyes of somebody: a seat held here, the host, or a spectator.

    Whoever held a seat that is played from another device now looks on, and is told so.
    """
    if session.token:
        return client.seat(table_id, seat or 0, token=session.token)
    looking = client.table(table_id, token=spectator_token(session, table_id))
    held = session.credentials.seats(session.server, table_id)
    if spectator or not (held or seat):
        return looking
    if seat is not None:
        playing = await at_panel(session, client, table_id, seat)
        if playing is None:
            (own,) = await held_seats(session, client, table_id, seat)
            playing, _ = await _seen(session, client, own)
        return client.seat(table_id, seat, token=playing.token)
    views = {}
    for one in held:
        try:
            views[one.seat] = await client.seat(table_id, one.seat, token=one.token).view()
        except NotPermitted:
            lost = await lost_seat(session, client, one)
            if not lost.seen:
                raise lost.error from None
            session.remark(f"{lost.sentence}; you look on")
            continue
        if one.seat in asked(views[one.seat]):
            return client.seat(table_id, one.seat, token=one.token)
    first = next((one for one in held if one.seat in views), None)
    return looking if first is None else client.seat(table_id, first.seat, token=first.token)


async def hosting_table(session: Session, client: Client, table_id: str) -> Table:
    """The table with the host's token, or the admin's of a service on this machine.

    Where the host's duties have passed on to a seat that is held here, with that seat's. Raises
    NoCredentials where none is held, or UnknownTable.
    """
    if not session.token and (seat := await _seat_of_host(session, client, table_id)):
        return seat
    token = session.token or _host_token(session, table_id)
    if not token:
        await _check_there(session, client, table_id)
        raise NoCredentials(
            f"the host's token of the table {table_id} is not held here; "
            + (await _table_before(session, client, table_id) or "give it with --token")
        )
    return client.table(table_id, token=token)


async def _check_there(session: Session, client: Client, table_id: str) -> None:
    """Raise UnknownTable where there is no such table; what a spectator sees is not asked."""
    with suppress(NotPermitted):
        await client.table(table_id, token=spectator_token(session, table_id)).view()


async def _table_before(session: Session, client: Client, table_id: str) -> str:
    """What helps whoever holds the table of which this one is the rematch; else empty."""
    for before in session.credentials.tables(session.server):
        table = client.table(before, token=spectator_token(session, before))
        with suppress(Refused):
            if (await table.view()).next_table_id == table_id:
                return f"`{session.typed(f'rematch {before}')}` brings it here"
    return ""


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


def host_token(session: Session, table_id: str) -> str:
    """The host's token of a table, if it is held here; else empty."""
    host = session.credentials.host(session.server, table_id)
    return host.token if host is not None else ""


def _host_token(session: Session, table_id: str) -> str:
    """The host's token, else the admin's: tables of `serve --open` belong to the admin."""
    if held := host_token(session, table_id):
        return held
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
    trusted = session.token or host_token(session, table_id)
    if trusted or (not held and _host_token(session, table_id)):
        return await hosting_table(session, client, table_id)
    own = (await living_seats(session, client, table_id))[0]
    return client.seat(table_id, own.seat, token=own.token)


async def seat_or_host(session: Session, client: Client, table_id: str, seat: int | None) -> Table:
    """The table with a seat's own token; for a seat that is named, else with the host's."""
    if session.token:
        return client.table(table_id, token=session.token)
    held = session.credentials.seats(session.server, table_id)
    others = seat is not None and all(one.seat != seat for one in held)
    if others and _host_token(session, table_id):
        return await hosting_table(session, client, table_id)
    return await own_seat(session, client, table_id, seat)


async def own_seat(session: Session, client: Client, table_id: str, seat: int | None) -> Seat:
    """A seat that is held here: the one that is named, or the only one."""
    own = await living_seats(session, client, table_id, seat)
    if len(own) > 1:
        numbers = ", ".join(str(one.seat) for one in own)
        raise AmbiguousSeat(f"several seats are held here ({numbers}): say which with --seat")
    return client.seat(table_id, own[0].seat, token=own[0].token)


async def speaking_table(
    session: Session, client: Client, table_id: str, seat: int | None
) -> Table:
    """The table with the token of whoever speaks: a seat's, else the host's."""
    host = host_token(session, table_id)
    seated = session.credentials.seats(session.server, table_id)
    if host and seat is None and not (seated or session.token):
        return client.table(table_id, token=host)
    return await seat_or_host(session, client, table_id, seat)


def spectator_token(session: Session, table_id: str) -> str:
    """The token for looking on: the host's or the watch token held here, or none."""
    credentials, server = session.credentials, session.server
    held = credentials.watcher(server, table_id) or credentials.host(server, table_id)
    return held.token if held else ""


def asked(view: TableView) -> set[int]:
    """The seats for which the table waits."""
    return {prompt.seat for prompt in view.prompts}
