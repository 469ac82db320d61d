"""Moving tables between services: `export` and `import`."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from tableturn_client.cli.command import command, request_id_option, table_argument
from tableturn_client.cli.files import read_file, write_file
from tableturn_client.cli.holding import admin_file, admin_token
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.errors import NoCredentials, NotPermitted

_LARGEST = 16 * 1024 * 1024

_admin_option = click.option(
    "--admin-token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the admin's token is [admin.token in the data directory of `tableturn serve`].",
)


@command("export", examples="tableturn export harbour -o harbour.json", token=True)
@table_argument
@click.option("-o", "--output", default="-", metavar="FILE", help="The file [standard output].")
@_admin_option
async def export_command(
    session: Session, table_id: str, output: str, admin_token_file: Path | None
) -> None:
    """Write the whole TABLE to a file, with all that is hidden in it.

    Needs the admin's token; for a finished game the host's is enough.
    """
    if session.json and output == "-":
        raise click.UsageError("with --json the document needs a file: -o FILE")
    host = session.credentials.host(session.server, table_id)
    tokens = [_admin(session, admin_token_file, needed=host is None)]
    if host and not session.token and admin_token_file is None:
        tokens.append(host.token)
    async with session.client() as client:
        document = await _export(client, table_id, [token for token in tokens if token])
    write_file(output, document, private=True)
    if output != "-":
        session.tell(
            {"table_id": table_id, "file": output, "bytes": len(document)},
            f"The table {table_id} is in {output} ({len(document)} bytes).",
        )


async def _export(client: Client, table_id: str, tokens: list[str]) -> bytes:
    """The document, with the first of the tokens that is enough."""
    for token in tokens[:-1]:
        with contextlib.suppress(NotPermitted):
            return await client.table(table_id, token=token).export()
    return await client.table(table_id, token=tokens[-1]).export()


@command("import", examples="tableturn import harbour.json --id harbour-2", token=True)
@click.argument("file", metavar="FILE")
@click.option("--id", "table_id", default="", metavar="ID", help="The id [the document's own].")
@_admin_option
@request_id_option
async def import_command(
    session: Session, file: str, table_id: str, admin_token_file: Path | None, request_id: str
) -> None:
    """Make a table out of an exported FILE. Needs the admin's token."""
    document = read_file(file, _LARGEST)
    token = _admin(session, admin_token_file, needed=True)
    async with session.client() as client:
        view = await client.import_table(
            document, token=token, table_id=table_id, request_id=request_id
        )
    session.tell(
        {"table_id": view.table_id, "revision": view.revision, "table": plain(view)},
        f"The table {view.table_id} is here, at revision {view.revision}.",
    )


def _admin(session: Session, file: Path | None, *, needed: bool) -> str:
    """The admin's token: given, in the file, or of a service on this machine."""
    if session.token:
        return session.token
    if file is not None:
        return admin_token(file)
    token = admin_token() if session.server.loopback else ""
    if needed and not token:
        raise NoCredentials(
            f"this needs the admin's token, and {admin_file()} can't be read: "
            "name the file with --admin-token-file"
        )
    return token
