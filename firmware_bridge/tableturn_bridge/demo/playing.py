"""The game of a demo: who sits there, who presses, and what is told at the end."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tableturn_bridge.bridge import Bridge
from tableturn_bridge.connection import PanelConnection
from tableturn_bridge.link import Pressed
from tableturn_bridge.protocol import MOST_BUTTONS
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.panel import LONG_MS
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_client import Client, Confirmation, Table, Takeback, connect, new_token
from tableturn_client.events import Change, Snapshot
from tableturn_client.messages import GameInfo, Prompt, TableStatus, TableView

BOT = "greedy"
SEATS = 3
"""As many as play if nobody says otherwise and the game allows it."""
PRESS_MS = 30
"""For so long a finger is on a button."""
FOR_EVER = 86_400.0
"""Seconds. Whoever watches the table notices that it stands still."""
STILL = 60.0
"""Seconds without a change after which something is wrong."""
PANEL = 1
"""The panel's number."""
ROUNDS = {"free-table": ("rounds", "5")}
"""Games that never end by themselves, and the option that ends them."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What was asked for; 0 seats are the usual ones, no seed is a secret one."""

    game: str
    seats: int = 0
    seed: bytes | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Presses:
    """What was done with the buttons, and what became of it."""

    presses: int = 0
    confirmed: int = 0
    refused: int = 0


@dataclass(frozen=True)
class Report:
    """A finished game, and what the panel had to do with it."""

    view: TableView
    presses: Presses

    def document(self) -> dict[str, Any]:
        """The one JSON object of `tableturn demo --json`."""
        view = self.view
        return {
            "status": TableStatus.Name(view.status).removeprefix("TABLE_STATUS_").lower(),
            "game": view.game,
            "seats": [self._seat(result) for result in view.outcome.results],
            "rounds": view.game_view.round,
            "revision": view.revision,
            "log_hash": view.log_hash.hex(),
            "panel": vars(self.presses),
        }

    def _seat(self, result: Any) -> dict[str, Any]:
        seat = self.view.seats[result.seat - 1]
        return {
            "seat": result.seat,
            "name": seat.name,
            "rank": result.rank,
            "points": result.points,
            "parts": {part.part: part.points for part in result.parts},
        }

    def lines(self) -> tuple[str, ...]:
        """The same for people."""
        told = self.document()
        results = [
            f"  {seat['rank']}. {seat['name']}: {seat['points']} points"
            + "".join(f", {points} {part}" for part, points in seat["parts"].items() if points)
            for seat in told["seats"]
        ]
        panel = self.presses
        return (
            f"The game is over after {told['rounds']} rounds.",
            *results,
            f"The panel: {panel.presses} presses, {panel.confirmed} confirmed, "
            f"{panel.refused} refused.",
            f"log hash {told['log_hash']}",
        )


async def play(server: str, wish: Wish, say: Say | None) -> Report:
    """Play a game to its end. `say` is given each line of its log.

    Raises what the service refuses, such as an unknown game or option.
    """
    async with connect(server) as client, _panel_on_table(client, wish) as (table, hand):
        await table.start()
        view = await _to_the_end(table, say)
        await hand.at_rest()  # the last press has its answer, too
        return Report(view, hand.presses)


async def _to_the_end(table: Table, say: Say | None) -> TableView:
    """Follow the table until its game is over; what it looks like then."""
    view: TableView | None = None
    async with table.watch() as watch:
        while view is None or view.status != TableStatus.TABLE_STATUS_FINISHED:
            try:
                async with asyncio.timeout(STILL):
                    event = await anext(watch)
            except TimeoutError:
                raise click.ClickException(
                    f"the game stands still: nothing has happened for {STILL:g} seconds"
                ) from None
            if isinstance(event, Change) and say is not None:
                for line in event.entry.lines:
                    say(line)
            if isinstance(event, Snapshot | Change) and event.view is not None:
                view = event.view
    return view


@contextlib.asynccontextmanager
async def _panel_on_table(client: Client, wish: Wish) -> AsyncIterator[tuple[Table, Hand]]:
    """A table full of bots with a panel on it, whose bridge works and whose buttons are pressed."""
    seats = _seats(wish, await client.games())
    made = await client.new_table(
        wish.game,
        seats=seats,
        options=_options(wish),
        seed=wish.seed or b"",
        takeback=Takeback.NEVER,
        unlisted=True,
        title="demo",
    )
    table, token = made.table, new_token()
    for seat in range(1, seats + 1):
        await table.seat_bot(BOT, seat=seat, confirmation=Confirmation.PANEL)
    await table.attach_panel(PANEL, token, tuple(range(1, seats + 1)))
    panel = client.panel(table.table_id, PANEL, token=token, holder="demo-bridge")
    with tempfile.TemporaryDirectory(prefix="tableturn-") as folder:
        link = Path(folder) / "panel"
        async with (
            VirtualPanel(max(seats, 2), uid=PANEL, link=link) as board,
            PanelConnection(str(link), locks=Path(folder)) as connection,
        ):
            bridge = Bridge(panel, connection, seats, tell=lambda news: None)
            hand = Hand(board, bridge)
            tasks = [
                asyncio.create_task(work)
                for work in (
                    bridge.run(),
                    _relay(connection, bridge),
                    hand.press_when_asked(),
                )
            ]
            try:
                yield table, hand
            finally:
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error


async def _relay(connection: PanelConnection, bridge: Bridge) -> None:
    """Bring what is pressed to the bridge."""
    async for happened in connection.events():
        if isinstance(happened, Pressed):
            bridge.pressed(happened.event)


class Hand:
    """Presses the button of every seat that is asked, once its lamp says that it counts.

    Where several are asked at once it waits for all of them, and presses one after another in the
    order of the seats: so the same game has the same log.
    """

    def __init__(self, board: VirtualPanel, bridge: Bridge) -> None:
        self.presses = Presses()
        self._board = board
        self._bridge = bridge
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    async def at_rest(self) -> None:
        """Wait until the last press has its answer."""
        await self._at_rest.wait()

    async def press_when_asked(self) -> None:
        """Confirm turn after turn, for ever."""
        while True:
            shown = self._board.revision
            asked = self._asked()
            armed = asked and all(self._board.is_armed(prompt.seat) for prompt in asked)
            if not armed or await self._press(asked[0]):
                await self._board.wait_revision(shown, FOR_EVER)

    def _asked(self) -> list[Prompt]:
        """Who is asked in the picture that the lamps show; nobody while another one is coming."""
        view = self._bridge.view
        if view is None or view.revision != self._board.revision:
            return []
        return list(view.prompts)

    async def _press(self, prompt: Prompt) -> bool:
        """Press a button once, or hold it where that is needed; whether the turn was confirmed."""
        self._at_rest.clear()
        self.presses.presses += 1
        try:
            ms = LONG_MS if prompt.confirm_skips else PRESS_MS
            pressed = await self._board.press(prompt.seat, ms, wait=True)
        finally:
            self._at_rest.set()
        accepted = pressed is not None and pressed.fate is Fate.ACCEPTED
        if accepted:
            self.presses.confirmed += 1
        else:
            self.presses.refused += 1
        return accepted


def _seats(wish: Wish, games: Any) -> int:
    """How many play. Raises click.UsageError for more than the panel has buttons."""
    info: GameInfo | None = next((game for game in games if game.name == wish.game), None)
    if wish.seats or info is None:  # the service refuses what it doesn't know
        return wish.seats
    return max(info.min_seats, min(SEATS, info.max_seats, MOST_BUTTONS))


def _options(wish: Wish) -> dict[str, str]:
    """The options, with an end for games that have none."""
    options = dict(wish.options)
    if wish.game in ROUNDS and "rounds" not in options and "max_rounds" not in options:
        name, value = ROUNDS[wish.game]
        options[name] = value
    return options
