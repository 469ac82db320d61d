"""Which panel `tableturn panel` works: a board at a port, a model of one, or an emulated one."""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tableturn_bridge.protocol import FEWEST_BUTTONS, MOST_BUTTONS
from tableturn_client.cli.grouping import grouped
from tableturn_client.cli.session import Session
from tableturn_client.errors import BadValue, TableturnError

if TYPE_CHECKING:
    from tableturn_bridge.virtual.running import Startable

MOST_UID = 2**32 - 1
BUTTONS = 4
"""How many buttons a panel without a board has."""


class PanelBroken(TableturnError):
    """A panel of this process can't be started, or has ended by itself: nobody's mistake."""


@dataclass(frozen=True)
class Choice:
    """What was said about the panel. Raises click.UsageError if it doesn't go together."""

    port: str | None
    virtual: bool
    simulate: bool
    buttons: int | None
    uid: int | None
    control: Path | None

    def __post_init__(self) -> None:
        if (self.port is not None) + self.virtual + self.simulate > 1:
            raise click.UsageError(
                "--port is for a board, --virtual and --simulate are for none: choose one"
            )
        if self.port == "":
            raise click.UsageError("--port is the name of a port, not empty")
        if not self.without_board and (self.buttons or self.uid or self.control):
            raise click.UsageError(
                "--buttons, --uid and --control are for a panel without a board: --virtual or "
                "--simulate"
            )

    @property
    def without_board(self) -> bool:
        """The panel is one of this process."""
        return self.virtual or self.simulate


board_options = grouped(
    "choice",
    "",
    Choice,
    click.Option(["--port"], metavar="PORT", help="The panel's serial port [the one there is]."),
    click.Option(["--virtual"], is_flag=True, help="A panel without a board, in this terminal."),
    click.Option(
        ["--simulate"],
        is_flag=True,
        help="The same with the real firmware on an emulated board; in a checkout, with compilers.",
    ),
    click.Option(
        ["--buttons"],
        type=click.IntRange(FEWEST_BUTTONS, MOST_BUTTONS),
        metavar="N",
        help=f"How many buttons a panel without a board has [{BUTTONS}].",
    ),
    click.Option(
        ["--uid"],
        type=click.IntRange(1, MOST_UID),
        metavar="N",
        help="Its number [always the same on a machine].",
    ),
    click.Option(
        ["--control"],
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="A socket with which programs press its buttons.",
    ),
)
"""Options that say which panel is meant."""


@asynccontextmanager
async def without_board(choice: Choice, session: Session) -> AsyncIterator[Startable]:
    """A panel of this process, plugged in, with its socket if one is wanted.

    Raises NotInstalled if an emulated one can't be made here, BadValue for a bad socket,
    PanelBroken if this machine has no room for it.
    """
    uid = choice.uid or (zlib.crc32(session.credentials.machine().encode()) or 1)
    async with AsyncExitStack() as stack:
        # A name of its own, so that it is found again when its plug was pulled.
        folder = _folder(stack)
        kind = _emulated if choice.simulate else _virtual
        panel = kind(choice.buttons or BUTTONS, uid, folder, session)
        await _start(stack, panel)
        if choice.control is not None:
            await _listen(stack, panel, choice.control)
        yield panel


def _folder(stack: AsyncExitStack) -> Path:
    """A folder for the name of its port."""
    try:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tableturn-")))
    except OSError as error:
        raise PanelBroken(f"there is no place for the name of its port: {_words(error)}") from error


def _virtual(buttons: int, uid: int, folder: Path, session: Session) -> Startable:
    from tableturn_bridge.virtual.pty import VirtualPanel

    return VirtualPanel(buttons, uid=uid, link=folder / "panel")


def _emulated(buttons: int, uid: int, folder: Path, session: Session) -> Startable:
    from tableturn_bridge.emulated.panel import EmulatedPanel

    def tell(line: str) -> None:
        click.echo(line, err=True)

    watched = sys.stderr.isatty() and not session.json
    return EmulatedPanel(
        buttons,
        uid=uid,
        link=folder / "panel",
        folder=folder,
        tell=tell if watched else None,
    )


async def _start(stack: AsyncExitStack, panel: Startable) -> None:
    """Plug it in; an emulated one is compiled if it has to be."""
    from tableturn_bridge.emulated.building import NotBuilt
    from tableturn_bridge.emulated.process import EmulatorError
    from tableturn_bridge.virtual.port import LinkTaken
    from tableturn_client.cli.main import NotInstalled

    try:
        await stack.enter_async_context(panel)
    except NotBuilt as error:
        raise NotInstalled(
            f"{error.sentence} (`tableturn panel --virtual` needs none of it)"
        ) from None
    except (EmulatorError, LinkTaken, OSError) as error:
        raise PanelBroken(f"the panel can't be started: {_words(error)}") from error


def _words(error: Exception) -> str:
    """What an error says, without its number."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


async def _listen(stack: AsyncExitStack, panel: Startable, path: Path) -> None:
    """Let programs press the panel's buttons."""
    from tableturn_bridge.virtual.control import SocketTaken, listening

    try:
        await stack.enter_async_context(listening(panel, path))
    except SocketTaken as error:
        raise BadValue(str(error)) from None
