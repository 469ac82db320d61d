"""The command `tableturn panel`: the bridge, and looking after panels."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from tableturn_bridge.choosing import Choice, PanelBroken, board_options, without_board
from tableturn_bridge.ending import ending_in_order
from tableturn_bridge.parts import parts
from tableturn_bridge.patterns import BRIGHTEST, DIMMEST
from tableturn_bridge.upkeep import doctor_command, locks_of, off_command, status_command
from tableturn_client import Retry, connect
from tableturn_client.cli.command import Command, Ended, command, read_options
from tableturn_client.cli.exits import Exit
from tableturn_client.cli.session import Session
from tableturn_client.cli.wishes import Timing
from tableturn_client.cli.wishes import timing as timing_options
from tableturn_client.drawing.words import clean
from tableturn_client.play.terminal import is_screen

if TYPE_CHECKING:
    from tableturn_bridge.sitting import Wish
    from tableturn_bridge.status import News, Tell
    from tableturn_bridge.virtual.running import Startable

EXAMPLES = """
    tableturn panel --virtual
    tableturn panel --simulate
    tableturn panel --port /dev/ttyUSB0
    tableturn panel --table harbour --seats 2,1
    tableturn panel --game free-table --option passing=on --clock "15m + 10s"
    tableturn panel status harbour
    tableturn panel doctor
"""
ATTEMPT = 3.0
"""Seconds after which a service that doesn't answer is said to be away; it is tried for ever."""
LINES = 6
"""What happened last, below the drawn panel."""


# ---------------------------------------------------------------- the bridge


@command("run", examples=EXAMPLES, token=True)
@board_options
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
    type=click.IntRange(DIMMEST, BRIGHTEST),
    default=BRIGHTEST,
    metavar="N",
    help=f"How bright the lamps are, {DIMMEST} to {BRIGHTEST} [{BRIGHTEST}].",
)
@timing_options
async def run_command(
    session: Session,
    table_id: str,
    seats: str | None,
    fresh: bool,
    game: str,
    options: tuple[str, ...],
    brightness: int,
    choice: Choice,
    timing: Timing,
) -> None:
    """Work a panel of lamps and buttons until Ctrl-C."""
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
        if not choice.without_board:
            await _work(session, choice.port, wish, _teller(session), brightness)
            return
        async with without_board(choice, session) as panel:
            if session.json or not is_screen():
                work = _work(session, panel.path, wish, _teller(session), brightness)
                await _until_one_ends(work, _lasts(panel))
            else:
                await _work_on_screen(session, panel, wish, brightness)


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


async def _work_on_screen(session: Session, board: Startable, wish: Wish, brightness: int) -> None:
    """The bridge, with the panel drawn in the terminal and keys to press its buttons."""
    from tableturn_bridge.virtual.screen import show

    lines: deque[str] = deque(maxlen=LINES)

    def tell(news: News) -> None:
        lines.append(news.line)

    work = _work(session, board.path, wish, tell, brightness)
    await _until_one_ends(work, show(board, lambda: list(lines)), _lasts(board))
    raise Ended(Exit.INTERRUPTED)


async def _lasts(board: Startable) -> None:
    """As long as a panel of this process lasts. Raises PanelBroken when it has ended."""
    raise PanelBroken(await board.wait_ended())


async def _until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    """Do several things until one of them ends, and end the others. Raises what that one does."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
        await asyncio.wait(tasks)
        failed = [error for task in tasks if not task.cancelled() and (error := task.exception())]
    for error in failed:
        raise error


def _teller(session: Session) -> Tell:
    """What happens, a line or a document each."""

    def tell(news: News) -> None:
        session.tell(news.document, news.line)

    return tell


def read_seats(text: str | None) -> tuple[int, ...] | None:
    """The seats of the buttons, as `2,1`. Raises click.UsageError."""
    if text is None:
        return None
    numbers = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 4 for part in numbers):
        raise click.UsageError(f"--seats is numbers of seats such as 2,1, not {clean(text)}")
    return tuple(map(int, numbers))


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
