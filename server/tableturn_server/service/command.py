"""The command `tableturn serve`."""

from __future__ import annotations

import os
from pathlib import Path

import click

DEFAULT_PORT = 7430
LEVELS = ("debug", "info", "warning", "error")


@click.command(short_help="Serve tables to this machine or to the local network.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the tables are kept. Default: your data directory for tableturn.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="The port to listen on; 0 takes any free one.",
)
@click.option("--host", default=None, help="The address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--lan",
    is_flag=True,
    help="Listen on the local network, and show its address as text and as a QR code. There is "
    "no encryption: whoever is in this network can see and join.",
)
@click.option(
    "--store",
    metavar="URL",
    envvar="TABLETURN_STORE",
    help="A Redis or Valkey to keep the tables in, instead of one of our own. A password in the "
    "URL is visible to others of this machine: put it into TABLETURN_STORE.",
)
@click.option(
    "--valkey",
    metavar="PATH",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The valkey-server or redis-server to run for the tables.",
)
@click.option(
    "--open",
    "games",
    metavar="GAME",
    multiple=True,
    help="Make a table of this game ready to be joined; may be given more than once.",
)
@click.option("--seats", type=click.IntRange(1, 8), help="How many seats the opened tables have.")
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the opened tables' game; may be given more than once.",
)
@click.option(
    "--takeback",
    type=click.Choice(("host", "all-agree", "never")),
    default="all-agree",
    show_default=True,
    help="Who may take a confirmed turn back at the opened tables.",
)
@click.option(
    "--until-eof",
    is_flag=True,
    help="End when standard input is closed too: so a program that starts the service and is "
    "killed leaves nothing behind.",
)
@click.option("--json", "as_json", is_flag=True, help="Say where it serves as one line of JSON.")
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="What to log."
)
@click.option(
    "--rate",
    type=click.FloatRange(0),
    default=200,
    show_default=True,
    help="Calls in a second for each token; 0 for no limit.",
)
@click.option(
    "--peer-rate",
    type=click.FloatRange(0),
    default=2000,
    show_default=True,
    help="Calls in a second for each network address; 0 for no limit.",
)
@click.option(
    "--tables-per-minute",
    type=click.FloatRange(0),
    default=60,
    show_default=True,
    help="New tables in a minute for each network address; 0 for no limit.",
)
@click.option(
    "--watches",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Watches at the same time for each token.",
)
@click.option(
    "--peer-watches",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Watches at the same time for each network address.",
)
@click.option(
    "--bot-workers",
    type=click.IntRange(0, 64),
    default=1,
    show_default=True,
    help="Processes that think for the bots at the tables; 0 leaves that to other services on the "
    "same store.",
)
def serve(
    data: Path | None,
    port: int,
    host: str | None,
    lan: bool,
    store: str | None,
    valkey: Path | None,
    games: tuple[str, ...],
    seats: int | None,
    options: tuple[str, ...],
    takeback: str,
    until_eof: bool,
    as_json: bool,
    log_level: str,
    rate: float,
    peer_rate: float,
    tables_per_minute: float,
    watches: int,
    peer_watches: int,
    bot_workers: int,
) -> None:
    """Serve tables to this machine or to the local network.

    The tables are kept in the data directory, by a Valkey that runs as long as this command.
    Ctrl-C ends it; nothing is lost.
    """
    if lan and host is not None:
        raise click.UsageError("--lan and --host exclude each other")
    if options and not games:
        raise click.UsageError("--option belongs to a table: name its game with --open")
    # gRPC writes its own lines about ports that are taken; ours is enough.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from tableturn_server.service.limits import Limits
    from tableturn_server.service.openings import Opening
    from tableturn_server.service.serving import Settings, Unable, run

    settings = Settings(
        data=(data or _data_home()).expanduser(),
        host=host or ("0.0.0.0" if lan else "127.0.0.1"),
        port=port,
        lan=lan,
        store=store,
        valkey=valkey,
        openings=tuple(
            Opening(game, seats or 0, _read_options(options), takeback) for game in games
        ),
        until_eof=until_eof,
        bot_workers=bot_workers,
        as_json=as_json,
        log_level=log_level,
        admin_token=os.environ.get("TABLETURN_ADMIN_TOKEN", ""),
        limits=Limits(
            rate=rate,
            peer_rate=peer_rate,
            tables_per_minute=tables_per_minute,
            watches=watches,
            peer_watches=peer_watches,
        ),
    )
    try:
        run(settings)
    except Unable as error:
        click.echo(f"tableturn: {error}", err=True)
        raise SystemExit(1) from error


def _read_options(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"an option is NAME=VALUE, not {text!r}")
        found[name] = value
    return found


def _data_home() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "tableturn"
