"""A virtual panel in real time, on a port that programs open like that of a board.

    async with VirtualPanel(buttons=4, uid=7, link="/tmp/panel") as panel:
        outcome = await panel.press(1, wait=True)

Buttons count from 1 here, as people count them; 0 is the one that belongs to no seat. Times are
milliseconds of the system's monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from tableturn_bridge.protocol import VERSION, ResetCause, State
from tableturn_bridge.virtual.board import Board, Make
from tableturn_bridge.virtual.fingers import Fingers
from tableturn_bridge.virtual.lights import Sign
from tableturn_bridge.virtual.noise import Noise
from tableturn_bridge.virtual.panel import Lamp, clock
from tableturn_bridge.virtual.port import Port
from tableturn_bridge.virtual.pressing import Pressing

BOOT_MS = 50
"""A virtual panel boots so long after its port was opened. A real one takes 800 to 3000 ms."""
GREETING = b"\x00\xf0\x0d boot\x06\x1e\x14\xff"
"""Something that a boot loader might say."""


class VirtualPanel(Pressing):
    """A board that runs by itself on a pseudo terminal.

    Args:
        buttons: Buttons for seats, 2 to 6.
        uid: The number that it has; 0 for a board that has none yet.
        link: A name for its port in the file system.
        boot_ms: How long it takes to boot after its port is opened.
        greeting: What its boot loader says when it begins to boot.
        opening_resets: Opening its port resets it, as with most boards.
        noise: The share of all bytes, both ways, that get lost or are wrong; 0 to 1.
        seed: For the noise.
        protocol: The version of the protocol that it speaks.
        firmware: Its program's version.
        now: Its clock, in milliseconds; one that stands still or is moved by hand, for tests.
    """

    def __init__(
        self,
        buttons: int = 4,
        *,
        uid: int = 0,
        link: str | Path | None = None,
        boot_ms: int = BOOT_MS,
        greeting: bytes = b"",
        opening_resets: bool = True,
        noise: float = 0,
        seed: int = 0,
        protocol: int = VERSION,
        firmware: tuple[int, int] = (1, 0),
        now: Callable[[], float] = clock,
    ) -> None:
        major, minor = firmware
        self.board = Board(Make(buttons, protocol, major, minor), uid)
        self._now = now
        self._name = None if link is None else Path(link)
        self._boot_ms = boot_ms
        self._greeting = greeting
        self._opening_resets = opening_resets
        self._random = random.Random(seed)
        self.set_noise(noise)
        self._port: Port | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._boot: asyncio.TimerHandle | None = None
        self._signs: tuple[Sign, ...] = ()
        self._since: list[float] = []
        self._picture: State | None = None
        self._lamps_at = 0.0
        self._changed = asyncio.Event()
        self._fingers: Fingers = Fingers(self.board)

    @property
    def buttons(self) -> int:
        """How many buttons for seats it has."""
        return self.board.make.buttons

    # ---------------------------------------------------------------- plugging

    async def __aenter__(self) -> Self:
        self.plug()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unplug()

    async def wait_ended(self) -> str:
        """Wait until it has ended by itself: for ever."""
        await asyncio.get_running_loop().create_future()
        return "it has ended"  # pragma: no cover - it doesn't

    def plug(self, link: str | Path | None = None) -> str:
        """Plug it in, perhaps under another name; returns the name of its port.

        Raises LinkTaken if the name can't be used. A panel that is plugged in stays so.
        """
        if self._port is None:
            name = self._name if link is None else Path(link)
            self._port = Port(
                name, opened=self._opened, closed=self._settle, received=self._received
            )
            self._name = name
            self.board.power_on(ResetCause.POWER_ON, self._now())
            self._settle()
        return self._port.path

    def unplug(self) -> None:
        """Pull it out: it goes dark, and who has its port open gets an error."""
        if self._port is not None:
            self._port.close()
            self._port = None
        self._stop_boot()
        self.board.power_off(self._now())
        self._settle()

    @property
    def path(self) -> str:
        """The name of its port, for the one who opens it. Empty while it is unplugged."""
        return "" if self._port is None else self._port.path

    @property
    def is_open(self) -> bool:
        """A program has its port open."""
        return self._port is not None and self._port.is_open

    def reset(self, cause: ResetCause = ResetCause.EXTERNAL) -> None:
        """It starts anew: by its watchdog, a dip of its supply, or its reset button."""
        if self._port is None:
            return
        if cause in (ResetCause.WATCHDOG, ResetCause.BROWN_OUT):
            self._start(cause)  # boot loaders leave these two alone
        else:
            self._begin_boot(cause)

    def set_noise(self, share: float) -> None:
        """From now on, this share of all bytes gets lost or is wrong, both ways."""
        self._noise = Noise.harming(share, self._random)

    # ---------------------------------------------------------------- running

    def _opened(self) -> None:
        if self._opening_resets:
            self._begin_boot(ResetCause.EXTERNAL)

    def _begin_boot(self, cause: ResetCause) -> None:
        """The boot loader runs first: it says something, and takes what comes for itself."""
        self._stop_boot()
        self.board.power_off(self._now())
        if self._port is not None:
            self._port.write(self._greeting)
        if self._boot_ms:
            loop = asyncio.get_running_loop()
            self._boot = loop.call_later(self._boot_ms / 1000, self._start, cause)
            self._settle()
        else:
            self._start(cause)

    def _start(self, cause: ResetCause) -> None:
        self._stop_boot()
        self.board.power_on(cause, self._now())
        self._settle()

    def _stop_boot(self) -> None:
        if self._boot is not None:
            self._boot.cancel()
            self._boot = None

    def _received(self, data: bytes) -> None:
        """A board that boots takes nothing of it: it has no power yet."""
        now = self._now()
        self._fingers.move(now)
        self.board.received(self._noise.through(data), now)
        self._settle()

    def _settle(self) -> None:
        """After anything has happened: send, note what has changed, and sleep until the next."""
        now = self._now()
        board = self.board
        self._fingers.move(now)
        board.advance(now)
        output = board.take_output()
        if self._port is not None:
            self._port.write(self._noise.through(output))
        self._note_lamps(now)
        for outcome in board.take_outcomes():
            self._fingers.tell(outcome, now)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        times = [
            time for time in (board.next_time(), self._fingers.next_time()) if time is not None
        ]
        if times:
            pause = max(0.0, min(times) - self._now()) / 1000
            self._timer = asyncio.get_running_loop().call_later(pause, self._settle)

    def _note_lamps(self, now: float) -> None:
        """Note which lamps say something else than before."""
        board = self.board
        signs = board.shown(now)
        before = self._signs or (None,) * len(signs)
        if signs != self._signs:
            since = self._since or [now] * len(signs)
            self._since = [
                then if old == new else now
                for then, old, new in zip(since, before, signs, strict=True)
            ]
            self._signs = signs
            self._changed.set()
        picture = board.picture
        if picture is not None:
            if self._picture is None or picture.lamps != self._picture.lamps:
                self._lamps_at = now
            if self._picture != picture:
                self._changed.set()
            self._picture = picture

    # ---------------------------------------------------------------- lamps

    def lamps(self) -> list[Lamp]:
        """What each lamp shows now, that of button 1 first."""
        now = self._now()
        shown = zip(self.board.lamps(now), self.board.shown(now), self._since, strict=True)
        return [
            Lamp(level, color, sign.name, since, sign.marked)
            for (level, color), sign, since in shown
        ]

    async def wait_lamp(
        self,
        button: int,
        signs: Collection[str],
        timeout: float,
        after: float = 0,
        *,
        measured: bool = False,
    ) -> Lamp:
        """Wait until a lamp says one of these things, and began to do so after a time.

        A model shows what it means: `measured` makes no difference. Raises TimeoutError after so
        many seconds, ValueError for a button without a lamp.
        """
        if not 1 <= button <= self.buttons:
            raise ValueError(f"button {button} has no lamp")
        async with asyncio.timeout(timeout):
            while True:
                self._changed.clear()
                lamp = self.lamps()[button - 1]
                if lamp.sign in signs and lamp.since >= after:
                    return lamp
                await self._changed.wait()

    @property
    def revision(self) -> int:
        """The table's revision that the lamps show; 0 before the first picture."""
        return 0 if self._picture is None else self._picture.revision

    def is_armed(self, button: int) -> bool:
        """A press of this button would be sent, by the picture that the lamps show."""
        return self._picture is not None and bool(self._picture.armed >> (button - 1) & 1)

    async def wait_revision(self, beyond: int, timeout: float) -> int:
        """Wait until the lamps show a later revision than this. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while self.revision <= beyond:
                self._changed.clear()
                await self._changed.wait()
        return self.revision

    # ---------------------------------------------------------------- buttons

    def down(self, button: int) -> None:
        """Press a button down and keep it so. Raises ValueError if there is no such button."""
        self._fingers.plan(button, True, self._now())
        self._settle()

    def up(self, button: int) -> None:
        """Let go of a button."""
        self._fingers.plan(button, False, self._now())
        self._settle()

    def _begin(self) -> float:
        return self._now()

    def _plan(
        self, button: int, closes: bool, at: float, bounce: bool = False
    ) -> tuple[float, float]:
        return at, self._fingers.plan(button, closes, at, bounce)

    async def _until(self, end: float) -> None:
        self._settle()
        await asyncio.sleep(max(0.0, end - self._now()) / 1000)
        self._settle()

    def _told(self, at: float) -> float:
        return at

    def _lamps_changed_at(self) -> float | None:
        return self._lamps_at
