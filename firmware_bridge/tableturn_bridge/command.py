"""The command `tableturn panel`: the bridge, and looking after panels."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tableturn_bridge.ending import ending_in_order
from tableturn_bridge.protocol import MOST_BUTTONS
from tableturn_client import Retry, connect
from tableturn_client.cli.command import (
    Command,
    Ended,
    command,
    read_options,
    request_id_option,
    table_argument,
)
from tableturn_client.cli.exits import Exit
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.cli.wishes import Timing
from tableturn_client.cli.wishes import timing as timing_options
from tableturn_client.client import Client
from tableturn_client.credentials import key
from tableturn_client.drawing.words import clean
from tableturn_client.errors import BadValue, NoCredentials
from tableturn_client.handles import Table
from tableturn_client.play.terminal import is_screen

if TYPE_CHECKING:
    from tableturn_bridge.sitting import Wish
    from tableturn_bridge.status import News, Tell
    from tableturn_bridge.virtual.pty import VirtualPanel

EXAMPLES = """
    tableturn panel --virtual
    tableturn panel --port /dev/ttyUSB0
    tableturn panel --table harbour --seats 2,1
    tableturn panel --game free-table --option passing=on --clock "15m + 10s"
    tableturn panel status harbour
    tableturn panel doctor
"""
MOST_UID = 2**32 - 1
ATTEMPT = 3.0
"""Seconds after which a service that doesn't answer is said to be away; it is tried for ever."""
LINES = 6
"""What happened last, below the drawn panel."""
_MODULES = ("cobs", "serial")


@contextmanager
def parts(name: str = "panel") -> Iterator[None]:
    """The parts that come with the extra `bridge`. Raises NotInstalled where they are missing.

    `name` is the command that needs them.
    """
    from tableturn_client.cli.main import NotInstalled

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _MODULES:
            raise
        raise NotInstalled(
            f"`tableturn {name}` needs a part that is not installed; "
            "install it with: pip install 'tableturn[bridge]'"
        ) from None


# ---------------------------------------------------------------- the bridge


@command("run", examples=EXAMPLES, token=True)
@click.option("--port", metavar="PORT", help="The panel's serial port [the one that is there].")
@click.option("--virtual", is_flag=True, help="A panel without a board, in this terminal.")
@click.option(
    "--buttons",
    type=click.IntRange(2, MOST_BUTTONS),
    metavar="N",
    help="How many buttons the virtual panel has [4].",
)
@click.option(
    "--uid",
    type=click.IntRange(1, MOST_UID),
    metavar="N",
    help="The virtual panel's number [always the same on a machine].",
)
@click.option(
    "--control",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A socket with which programs press the virtual panel's buttons.",
)
@click.option(
    "--table", "table_id", default="", metavar="ID", help="The table [the last, or a new one]."
)
@click.option(
    "--seats",
    metavar="N,N,...",
    help="The seat of each button, in order; 0 for one that is taken by pressing.",
)
@click.option("--new", "fresh", is_flag=True, help="A new table, even if the last game goes on.")
@click.option("--game", default="", metavar="GAME", help="The new table's game [free-table].")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="See `rules GAME`.")
@click.option(
    "--brightness",
    type=click.IntRange(1, 255),
    default=255,
    metavar="N",
    help="How bright the lamps are, 1 to 255 [255].",
)
@timing_options
async def run_command(
    session: Session,
    port: str | None,
    virtual: bool,
    buttons: int | None,
    uid: int | None,
    control: Path | None,
    table_id: str,
    seats: str | None,
    fresh: bool,
    game: str,
    options: tuple[str, ...],
    brightness: int,
    timing: Timing,
) -> None:
    """Work a panel of lamps and buttons until Ctrl-C."""
    if virtual and port is not None:
        raise click.UsageError("--port is for a board, --virtual is for none: choose one")
    if port == "":
        raise click.UsageError("--port is the name of a port, not empty")
    if not virtual and (buttons or uid or control):
        raise click.UsageError("--buttons, --uid and --control are for a --virtual panel")
    if table_id and (fresh or game or options):
        raise click.UsageError("--new, --game and --option are for a new table, without --table")
    if table_id and (timing.clock or timing.absence):
        raise click.UsageError("--clock and --absence are for a new table, without --table")
    with parts():
        import tableturn_bridge.connection  # noqa: F401 - fails here where parts are missing
        from tableturn_bridge.sitting import Wish

    wish = Wish(
        table_id=table_id,
        seats=read_seats(seats),
        game=game,
        options=read_options(options),
        token=session.token,
        fresh=fresh,
        clock=timing.clock,
        absence=timing.absence,
    )
    with ending_in_order():
        if virtual:
            await _work_virtually(session, buttons or 4, uid, control, wish, brightness)
        else:
            await _work(session, port, wish, _teller(session), brightness)


async def _work_virtually(
    session: Session,
    buttons: int,
    uid: int | None,
    control: Path | None,
    wish: Wish,
    brightness: int,
) -> None:
    """The bridge between a virtual panel of this process and the service."""
    from tableturn_bridge.virtual.pty import VirtualPanel

    number = uid or (zlib.crc32(session.credentials.machine().encode()) or 1)
    async with AsyncExitStack() as stack:
        # A name of its own, so that it is found again when its plug was pulled.
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tableturn-"))
        board = VirtualPanel(buttons, uid=number, link=Path(folder) / "panel")
        await stack.enter_async_context(board)
        if control is not None:
            await _listen(stack, board, control)
        if session.json or not is_screen():
            await _work(session, board.path, wish, _teller(session), brightness)
        else:
            await _work_on_screen(session, board, wish, brightness)


async def _work(
    session: Session, port: str | None, wish: Wish, tell: Tell, brightness: int
) -> None:
    """The bridge between a port and the service."""
    from tableturn_bridge.connection import PanelConnection
    from tableturn_bridge.sitting import Sitting
    from tableturn_bridge.working import Work

    credentials = session.credentials
    # Nothing is written about calls that are repeated: the lamps and the news say it.
    retry = Retry(total=min(session.timeout, ATTEMPT))
    async with (
        connect(str(session.server), retry=retry) as client,
        PanelConnection(port, locks=locks_of(session)) as connection,
    ):
        work = Work(
            connection,
            client,
            Sitting(client, session.server, credentials, wish),
            machine=credentials.machine(),
            tell=tell,
            brightness=brightness,
        )
        await work.run()


async def _work_on_screen(
    session: Session, board: VirtualPanel, wish: Wish, brightness: int
) -> None:
    """The bridge, with the panel drawn in the terminal and keys to press its buttons."""
    from tableturn_bridge.virtual.screen import show

    lines: deque[str] = deque(maxlen=LINES)

    def tell(news: News) -> None:
        lines.append(news.line)

    work = asyncio.create_task(_work(session, board.path, wish, tell, brightness))
    screen = asyncio.create_task(show(board, lambda: list(lines)))
    try:
        await asyncio.wait({work, screen}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (work, screen):
            if not task.done():
                task.cancel()
        await asyncio.wait({work, screen})
    if not work.cancelled():
        work.result()
    raise Ended(Exit.INTERRUPTED)


def locks_of(session: Session) -> Path:
    """The folder in which the bridges of this user lock their panels."""
    return session.credentials.path.parent / "panels"


def _teller(session: Session) -> Tell:
    """What happens, a line or a document each."""

    def tell(news: News) -> None:
        session.tell(news.document, news.line)

    return tell


async def _listen(stack: AsyncExitStack, panel: VirtualPanel, path: Path) -> None:
    """Let programs press the panel's buttons."""
    from tableturn_bridge.virtual.control import SocketTaken, listening

    try:
        await stack.enter_async_context(listening(panel, path))
    except SocketTaken as error:
        raise BadValue(str(error)) from None


def read_seats(text: str | None) -> tuple[int, ...] | None:
    """The seats of the buttons, as `2,1`. Raises click.UsageError."""
    if text is None:
        return None
    numbers = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 4 for part in numbers):
        raise click.UsageError(f"--seats is numbers of seats such as 2,1, not {clean(text)}")
    return tuple(map(int, numbers))


# ---------------------------------------------------------------- looking after panels


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


# ---------------------------------------------------------------- the group


class Panels(click.Group):
    """The group: without a command it is the bridge itself."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        Command.format_epilog(run_command, ctx, formatter)


def _begin(**options: Any) -> None:
    """Work a panel of lamps and buttons until Ctrl-C.

    Without --table the panel goes back to its last table while the game there goes on; else it
    makes a new one, where people sit down by pressing a button and begin by holding it.
    """
    if click.get_current_context().invoked_subcommand is None:
        assert run_command.callback is not None
        run_command.callback(**options)


panel = Panels(
    "panel",
    callback=_begin,
    params=list(run_command.params),
    help=_begin.__doc__,
    short_help="Connect a panel of lamps and buttons.",
    invoke_without_command=True,
    commands=[status_command, doctor_command, off_command],
)
