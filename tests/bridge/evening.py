"""A vocabulary for panels at tables: a machine, panels on it, and what people do with them.

async with evening.panel(buttons=3) as panel:
    await panel.shows("FREE", "FREE", "FREE")
    assert await panel.press(1) is Fate.ACCEPTED
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tableturn_bridge.connection import PanelConnection
from tableturn_bridge.lease import Sleep
from tableturn_bridge.protocol import DEBOUNCE
from tableturn_bridge.sitting import Sitting, Wish
from tableturn_bridge.status import News
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.panel import LONG_MS, SHORT_MS, clock
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_bridge.working import Work
from tableturn_client import Client, Retry, Table, connect
from tableturn_client.address import read_address
from tableturn_client.credentials import Credentials
from tableturn_client.messages import LogEntry, TableView
from tableturn_server.service.server import Service as Served
from tableturn_server.store import LEASE_MS, keys, open_store
from tests.service.support import ADMIN, NO_LIMITS, digest

WITHIN = 20.0
"""Seconds in which anything must have happened."""
QUICK = Retry(total=5.0, attempt=2.0, first=0.02, most=0.1)


def pressed(board: VirtualPanel, hand: HandClock, button: int) -> None:
    """A short press of a button, while the panel's clock is stopped."""
    board.down(button)
    hand.passes(SHORT_MS)
    board.up(button)
    hand.passes(2 * DEBOUNCE)


async def until(so: Callable[[], bool], what: str = "it") -> None:
    """Look again and again until it is so."""
    end = time.monotonic() + WITHIN
    while not so():
        assert time.monotonic() < end, f"{what} is not so within {WITHIN} s"
        await asyncio.sleep(0.005)


class HandClock:
    """A panel's clock, which goes as all others do until the test stops it.

    What a panel does by itself is told by its clock: while that stands still nothing is given up
    and no sign passes, however slow the machine is.
    """

    def __init__(self) -> None:
        self._ahead = 0.0
        self._stopped: float | None = None

    def __call__(self) -> float:
        return clock() + self._ahead if self._stopped is None else self._stopped

    def stop(self) -> None:
        self._stopped = self()

    def passes(self, ms: float) -> None:
        """So much time passes while the clock is stopped."""
        assert self._stopped is not None
        self._stopped += ms

    def goes_on(self) -> None:
        assert self._stopped is not None
        self._ahead = self._stopped - clock()
        self._stopped = None


class Service:
    """A service in this process that can be stopped and started again at the same address."""

    def __init__(self, url: str, *, lease_ms: int = LEASE_MS) -> None:
        self.url = url
        self.lease_ms = lease_ms
        self.port = 0
        self._stack: contextlib.AsyncExitStack | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._stack = contextlib.AsyncExitStack()
        store = await self._stack.enter_async_context(open_store(url=self.url, watch_interval=0.3))
        service = Served(store, digest(ADMIN), limits=NO_LIMITS, lease_ms=self.lease_ms)
        self.port = await service.start("127.0.0.1", self.port)
        self._stack.push_async_callback(service.stop, 0.1)

    async def stop(self) -> None:
        if self._stack is not None:
            stack, self._stack = self._stack, None
            await stack.aclose()

    async def loses(self, table_id: str) -> None:
        """While it is stopped, a table is lost from its store."""
        async with open_store(url=self.url) as store:
            await store.connection.call("DEL", keys.table(table_id), keys.log(table_id))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()


class Machine:
    """A machine with its own tokens and its own name."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.credentials = Credentials(home / "tokens.json")


class Evening:
    """A service, and a machine with panels."""

    def __init__(self, address: str, home: Path) -> None:
        self.address = address
        self.server = read_address(address)
        self.machine = Machine(home)
        self.client: Client = connect(address, retry=QUICK)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.client.close()

    def another_machine(self, name: str) -> Machine:
        """One that has none of this one's tokens."""
        return Machine(self.machine.home.with_name(name))

    @contextlib.asynccontextmanager
    async def panel(
        self,
        *,
        buttons: int = 3,
        uid: int = 7,
        wish: Wish | None = None,
        patience: float = 10.0,
        sleep: Sleep = asyncio.sleep,
        now: Callable[[], float] = clock,
    ) -> AsyncIterator[AtPanel]:
        """A panel that is plugged in, with its bridge."""
        async with (
            VirtualPanel(buttons, uid=uid, boot_ms=0, now=now) as board,
            self.bridge(board, wish, patience=patience, sleep=sleep) as panel,
        ):
            yield panel

    @contextlib.asynccontextmanager
    async def bridge(
        self,
        board: VirtualPanel,
        wish: Wish | None = None,
        *,
        machine: Machine | None = None,
        name: str = "",
        patience: float = 10.0,
        sleep: Sleep = asyncio.sleep,
    ) -> AsyncIterator[AtPanel]:
        """A bridge for a panel, until it is interrupted."""
        at = machine or self.machine
        wish = wish or Wish()
        news: list[News] = []
        async with (
            connect(self.address, retry=QUICK) as client,
            PanelConnection(board.path, locks=at.home / "panels") as connection,
        ):
            work = Work(
                connection,
                client,
                Sitting(client, self.server, at.credentials, wish),
                machine=name or at.credentials.machine(),
                tell=news.append,
                patience=patience,
                sleep=sleep,
            )
            task = asyncio.create_task(work.run())
            panel = AtPanel(self, board, work, task, news)
            try:
                yield panel
                if task.done() and not panel.ends:
                    task.result()
            finally:
                task.cancel()
                await asyncio.wait([task])


class AtPanel:
    """People at a panel."""

    def __init__(
        self,
        evening: Evening,
        board: VirtualPanel,
        work: Work,
        task: asyncio.Task[None],
        news: list[News],
    ) -> None:
        self.evening = evening
        self.board = board
        self.work = work
        self.task = task
        self.news = news
        self.ends = False

    async def ends_with(self, kind: type[Exception], words: str) -> None:
        """The bridge ends with an error of this kind that has these words."""
        self.ends = True
        await until(self.task.done, "the end")
        with pytest.raises(kind, match=words):
            self.task.result()

    # ------------------------------------------------------------ looking

    async def shows(self, *signs: str) -> None:
        """Wait until the lamps say this, that of button 1 first; an empty text: whatever."""

        def so() -> bool:
            if self.task.done():
                self.task.result()
            lamps = [lamp.sign for lamp in self.board.lamps()]
            return all(sign in ("", lamp) for sign, lamp in zip(signs, lamps, strict=False))

        try:
            await until(so)
        except AssertionError:
            lamps = [lamp.sign for lamp in self.board.lamps()]
            raise AssertionError(
                f"the lamps show {lamps}, not {list(signs)}; {self.said}"
            ) from None

    async def armed(self, *buttons: int) -> None:
        """Wait until just these buttons count."""
        await until(lambda: self.armed_now == list(buttons), f"armed {buttons}")

    @property
    def armed_now(self) -> list[int]:
        picture = self.board.board.picture
        return [n + 1 for n in range(6) if picture is not None and picture.armed >> n & 1]

    @property
    def said(self) -> list[str]:
        return [one.line for one in self.news]

    def told(self, kind: str) -> list[News]:
        return [one for one in self.news if one.kind == kind]

    async def says(self, words: str) -> None:
        """Wait until a line has these words."""
        try:
            await until(lambda: any(words in line for line in self.said))
        except AssertionError:
            raise AssertionError(f"{words!r} was not said: {self.said}") from None

    @property
    def table(self) -> Table:
        """The table at which the panel works now."""
        assert self.work.bridge is not None
        return self.work.bridge.panel

    @property
    def view(self) -> TableView:
        assert self.work.bridge is not None
        assert self.work.bridge.view is not None
        return self.work.bridge.view

    async def at_table(self) -> str:
        """Wait until the panel works at a table; its id."""
        await until(lambda: self.work.bridge is not None and self.work.bridge.view is not None)
        return self.table.table_id

    async def log(self) -> list[LogEntry]:
        return [entry async for entry in self.table.log()]

    # ------------------------------------------------------------ pressing

    async def press(self, button: int) -> Fate:
        pressed = await self.board.press(button, wait=True)
        assert pressed is not None
        return pressed.fate

    async def heard(self) -> None:
        """Wait until the panel has heard its bridge once more."""
        before = self.board.board.frames_read
        await until(lambda: self.board.board.frames_read > before, "a frame")

    async def found(self) -> None:
        """Wait until the bridge speaks with its panel."""
        await until(lambda: bool(self.told("found")), "the panel")

    async def hold(self, button: int) -> Fate:
        pressed = await self.board.hold(button, wait=True)
        assert pressed is not None
        return pressed.fate

    async def chord(self, first: int, second: int) -> Fate:
        pressed = await self.board.chord(first, second, wait=True)
        assert pressed is not None
        return pressed.fate

    async def master(self) -> Fate:
        pressed = await self.board.master(wait=True)
        assert pressed is not None
        return pressed.fate

    async def master_long(self) -> Fate:
        pressed = await self.board.master(LONG_MS, wait=True)
        assert pressed is not None
        return pressed.fate

    def lit(self) -> list[int]:
        """The buttons whose lamps say that it is their turn."""
        lamps = self.board.lamps()
        return [number for number, lamp in enumerate(lamps, 1) if lamp.sign == "TURN"]

    async def sit_down_all(self) -> None:
        """A press of each button takes a seat; holding one begins if the table waits for it."""
        for button in range(1, self.board.board.make.buttons + 1):
            await self.shows(*[""] * (button - 1), "FREE")
            assert await self.press(button) is Fate.ACCEPTED
            await self.shows(*[""] * (button - 1), "SEATED")

    async def begin(self) -> None:
        """Sit down and start."""
        await self.sit_down_all()
        assert await self.hold(1) is Fate.ACCEPTED
        await self.shows("TURN")

    async def turn(self, button: int) -> None:
        """Wait for the lamp, then end the turn."""
        await self.shows(*[""] * (button - 1), "TURN")
        assert await self.press(button) is Fate.ACCEPTED
