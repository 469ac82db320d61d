"""One panel, looked after for ever: found, opened, spoken with, lost, and found again.

Nothing that can happen to a port ends it. What reads and what sends the sign of life are one
task that waits for both, so that neither outlives the other (H2).
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from tableturn_bridge.errors import PanelHeldHere, PanelTrouble, VersionRefused
from tableturn_bridge.finding import Finder, Place
from tableturn_bridge.gestures import Gestures
from tableturn_bridge.holding import Hold
from tableturn_bridge.link import NOTHING_SHOWN, Failed, Happening, Link, Pressed
from tableturn_bridge.port import Port, open_port
from tableturn_bridge.protocol import Event, Hello, Pong, Result, State

SHORTEST_WAIT = 0.2
"""Seconds before the first new try after a panel was lost; doubled each time."""
LONGEST_WAIT = 5.0
"""Seconds between two tries at most."""


@dataclass(frozen=True)
class Ready:
    """The panel is there, and shows what was said last.

    `port` is its lasting name. `again` if it was reset while it was there: no `Lost` came
    before, and what it had kept of gestures is gone.
    """

    hello: Hello
    port: str
    again: bool = False


@dataclass(frozen=True)
class Lost:
    """The panel is not there, and why. Told again only when the cause changes."""

    error: PanelTrouble


Happened = Ready | Pressed | Lost
"""What a connection tells."""


@dataclass
class Stats:
    """What was counted since the connection began, over all openings of the port."""

    opened: int = 0
    """How often the port was opened."""
    ready: int = 0
    """How often the panel was there anew, resets included."""
    resets: int = 0
    """How often it was reset while it was there."""
    frames: int = 0
    """Good frames from the panel."""
    crc_errors: int = 0
    """Damaged frames from the panel. What it got damaged itself is in `pong`."""
    garbage: int = 0
    """Bytes from the port that were no frames."""
    gestures: int = 0
    """Gestures that were told."""
    answered: dict[Result, int] = field(default_factory=dict)
    """What became of them."""
    hello: Hello | None = None
    """What the panel said of itself last."""
    pong: Pong | None = None
    """How it was at its last answer."""

    @property
    def damaged(self) -> int:
        """Damaged frames on either side, as in `PanelReport.crc_errors`."""
        return self.crc_errors + (self.pong.crc_errors if self.pong else 0)


def milliseconds() -> int:
    """A clock that never goes back."""
    return time.monotonic_ns() // 1_000_000


def draw() -> int:
    """A random number from 1 to 2^32 - 1, for sessions and for panels without a number."""
    return secrets.randbelow(2**32 - 1) + 1


class PanelConnection:
    """One panel, found again whenever it was lost.

        async with PanelConnection(port, locks=folder) as panel:
            async for happened in panel.events():
                ...

    Every `Pressed` must be answered with `answer`, also after a `Lost`: it is told once only,
    and a panel that is back may still wait for it.

    Args:
        port: The port's path; None: the only one that looks like a panel's.
        locks: A folder of this machine's user, made if needed, with a lock for each panel.
        clock: Milliseconds; never goes back.
        sleep: Waits for so many seconds between two tries.
        uid: Draws a number for a panel that has none.
        session: Draws a session.
        finder: Finds the port, in place of the usual way.
    """

    def __init__(
        self,
        port: str | None,
        *,
        locks: Path,
        clock: Callable[[], int] = milliseconds,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        uid: Callable[[], int] = draw,
        session: Callable[[], int] = draw,
        finder: Finder | None = None,
    ) -> None:
        self.stats = Stats()
        self._finder = finder or Finder(port)
        self._hold = Hold(locks)
        self._clock = clock
        self._sleep = sleep
        self._draw_uid = uid
        self._draw_session = session
        self._gestures = Gestures()
        self._picture = NOTHING_SHOWN
        self._link: Link | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._told: deque[Happened] = deque()
        self._news = asyncio.Event()
        self._heard = asyncio.Event()
        self._lost_by: str | None = None

    # ---------------------------------------------------------------- for the bridge

    async def __aenter__(self) -> PanelConnection:
        self._task = asyncio.create_task(self._look_after(), name="panel connection")
        self._task.add_done_callback(lambda _: self._news.set())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()  # an error of this program: show it

    @property
    def is_ready(self) -> bool:
        """The panel is there and shows what was said last."""
        return self._link is not None and self._link.is_up

    async def heard(self) -> None:
        """Wait until the panel has said how it is (`stats.pong`) since it was there anew."""
        await self._heard.wait()

    async def events(self) -> AsyncGenerator[Happened, None]:
        """What happens, from the beginning; ends when the connection is closed. For one reader."""
        while True:
            while self._told:
                yield self._told.popleft()
            if self._task is not None and self._task.done():
                return
            self._news.clear()
            await self._news.wait()

    def show(self, picture: State) -> None:
        """Show this from now on, at once and whenever the panel comes back.

        Raises ValueError if a value doesn't fit its field.
        """
        picture.body()
        self._picture = picture
        if self._link is not None:
            self._link.show(picture, self._clock())
            self._wake.set()

    def answer(self, event: Event, result: Result) -> None:
        """Say what became of a gesture. If the panel is away, it is told when it asks again.

        Only the first answer counts; one for a panel that was reset meanwhile is dropped.
        """
        link = self._link
        noted = (
            link.answer(event, result, self._clock())
            if link
            else self._gestures.answer(event, result)
        )
        if noted:
            self.stats.answered[result] = self.stats.answered.get(result, 0) + 1
        self._wake.set()

    # ---------------------------------------------------------------- for ever

    async def _look_after(self) -> None:
        wait = SHORTEST_WAIT
        while True:
            ready = self.stats.ready
            trouble = await self._visit()
            self._tell_lost(trouble)
            if self.stats.ready > ready:
                wait = SHORTEST_WAIT
            if isinstance(trouble, VersionRefused | PanelHeldHere):
                wait = LONGEST_WAIT  # only a person can change that
            await self._sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def _visit(self) -> PanelTrouble:
        """Find the panel, open its port and speak with it; returns what ended that."""
        try:
            place, port = await self._open()
        except PanelTrouble as trouble:
            return trouble
        self.stats.opened += 1
        link = self._link = Link(
            port=place.name,
            session=self._draw_session,
            uid=self._draw_uid,
            gestures=self._gestures,
        )
        try:
            await self._speak(link, port)
        except PanelTrouble as trouble:
            return trouble
        finally:
            self._link = None
            self._heard.clear()
            port.close()
            self._hold.release()

    async def _open(self) -> tuple[Place, Port]:
        """In a thread, as a driver may be slow."""

        def find_and_open() -> tuple[Place, Port]:
            place = self._finder.find()
            return place, open_port(place.name, place.device)

        opening = asyncio.ensure_future(asyncio.to_thread(find_and_open))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            with contextlib.suppress(PanelTrouble):
                (await opening)[1].close()
            raise

    async def _speak(self, link: Link, port: Port) -> NoReturn:
        """Read and write until it fails; whatever ends this ends both."""
        arrived: list[bytes] = []

        def take_in(data: bytes) -> None:
            arrived.append(data)
            self._wake.set()

        port.start(take_in, lambda _: self._wake.set())
        before = replace(self.stats)
        link.show(self._picture, self._clock())
        link.opened(self._clock())
        while True:
            port.write(link.take())
            if port.gone is not None and not arrived:
                raise port.gone
            await self._wait_until(link.next_at)
            data = b"".join(arrived)
            arrived.clear()
            happened = link.received(data, self._clock()) if data else []
            self._count(link, before)
            for each in (*happened, *link.tick(self._clock())):
                self._tell(each, link)

    async def _wait_until(self, at: int | None) -> None:
        """Wait for this time, for bytes, or for something to be sent."""
        seconds = None if at is None else max(0, at - self._clock()) / 1000
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    # ---------------------------------------------------------------- telling

    def _tell(self, happening: Happening, link: Link) -> None:
        if isinstance(happening, Failed):
            raise happening.error
        if isinstance(happening, Pressed):
            self.stats.gestures += 1
            self._put(happening)
            return
        self._hold.take(happening.hello.uid)
        self.stats.ready += 1
        self.stats.hello = happening.hello
        self._lost_by = None
        self._put(Ready(happening.hello, link.port, happening.again))

    def _tell_lost(self, error: PanelTrouble) -> None:
        """Once for each cause: a bridge tries for hours while a panel is unplugged."""
        if error.cause != self._lost_by:
            self._lost_by = error.cause
            self._put(Lost(error))

    def _put(self, happened: Happened) -> None:
        self._told.append(happened)
        self._news.set()

    def _count(self, link: Link, before: Stats) -> None:
        counts = link.decoder.counts
        self.stats.frames = before.frames + counts.frames
        self.stats.crc_errors = before.crc_errors + counts.crc_errors
        self.stats.garbage = before.garbage + counts.garbage
        self.stats.resets = before.resets + link.counts.resets
        if link.pong is not None:
            self.stats.pong = link.pong
            self._heard.set()
