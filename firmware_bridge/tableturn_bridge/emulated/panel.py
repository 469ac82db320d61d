"""The real firmware on an emulated board, with a port that programs open like any other.

    async with EmulatedPanel(buttons=4, uid=7, link="/tmp/panel") as panel:
        outcome = await panel.press(1, wait=True)

It is used as a `VirtualPanel` is. But nothing in it knows what the board means: fingers move the
contacts of the chip, lamps are the light at its pins, and everything else is heard on its line.
Buttons count from 1; 0 is the one that belongs to no seat. Times are milliseconds of the system's
monotonic clock; those of contacts and lights are exact, by the emulator's own time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from tableturn_bridge.emulated import building
from tableturn_bridge.emulated.eyes import SeenLamp
from tableturn_bridge.emulated.observer import Observer, word_of
from tableturn_bridge.emulated.process import (
    Emulator,
    EmulatorError,
    EmulatorGone,
    Fields,
    Happening,
    Line,
    Settings,
    read_answer,
)
from tableturn_bridge.emulated.senses import Senses
from tableturn_bridge.protocol import FEWEST_BUTTONS, MOST_BUTTONS, ResetCause
from tableturn_bridge.virtual.fingers import BOUNCE_MS, BOUNCES, Touches
from tableturn_bridge.virtual.panel import Lamp
from tableturn_bridge.virtual.port import LinkTaken, leads_to, target_of
from tableturn_bridge.virtual.pressing import Pressing
from tableturn_bridge.virtual.pty import BOOT_MS

LOOK_EVERY = 0.032
"""Seconds between two looks at the emulator's clock: half a step of a pattern."""


class EmulatedPanel(Pressing):
    """The real program of a panel, on an emulated chip in a process of its own.

    The firmware and the emulator are compiled first, if they have to be. Calls that change
    something wait until the emulator has done it, a millisecond or two.

    Args:
        buttons: Buttons for seats, 2 to 6.
        uid: The number in its memory; 0 for a board that has none yet.
        link: A name for its port in the file system.
        boot_ms: How long its boot loader takes after its port is opened.
        greeting: Its boot loader says something first.
        opening_resets: Opening its port resets it, as with most boards.
        noise: The share of all bytes, both ways, that get lost or are wrong; 0 to 1.
        seed: For the noise.
        pixels: It has a coloured light for each button besides its lamp.
        elf: Another program than the one of the sources.
        folder: Where the emulator's socket is made, which removes it when it ends. A folder of its
            own if it isn't said.
        tell: Is told, from another thread, what takes a while: that something is compiled.
    """

    def __init__(
        self,
        buttons: int = 4,
        *,
        uid: int = 0,
        link: str | Path | None = None,
        boot_ms: int = BOOT_MS,
        greeting: bool = False,
        opening_resets: bool = True,
        noise: float = 0,
        seed: int = 0,
        pixels: bool = False,
        elf: Path | None = None,
        folder: Path | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        if not FEWEST_BUTTONS <= buttons <= MOST_BUTTONS:
            raise ValueError(
                f"a panel has {FEWEST_BUTTONS} to {MOST_BUTTONS} buttons, not {buttons}"
            )
        _check_share(noise)
        self.buttons = buttons
        self._senses = Senses(buttons, uid)
        self._fingers = Touches(buttons)
        self._name = None if link is None else Path(link)
        self._boot_ms = boot_ms
        self._greeting = greeting
        self._opening_resets = opening_resets
        self._noise = noise
        self._seed = seed
        self._pixels = pixels
        self._elf = elf
        self._folder = folder
        self._tell_line = tell
        self._emulator: Emulator | None = None
        self._line: Line | None = None
        self._path = ""
        self._terminal = ""
        """What the name of its port leads to."""
        self._offset = 0.0
        """When the emulator's time was 0."""
        self._asked = False
        self._beat: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def board(self) -> Observer:
        """What is known of it by listening."""
        return self._senses.board

    @property
    def crashed(self) -> str:
        """How its program has come to an end, in a word of the emulator; empty while it runs."""
        return self._senses.crashed

    # ---------------------------------------------------------------- starting and ending

    async def __aenter__(self) -> Self:
        """Start it.

        Raises NotBuilt if the firmware or the emulator can't be compiled, LinkTaken if the name for
        the port can't be used, EmulatorError if the emulator doesn't start.
        """
        elf, program = await building.needed(
            self.buttons, pixels=self._pixels, elf=self._elf, tell=self._tell_line
        )
        settings = Settings(
            elf=elf,
            program=program,
            boot_ms=self._boot_ms,
            greeting=self._greeting,
            opening_resets=self._opening_resets,
            uid=self.board.uid,
            noise=self._noise,
            seed=self._seed,
            folder=self._folder,
        )
        self._emulator = await Emulator.started(settings)
        try:
            self._line = self._emulator.line(self._heard, self._lost)
            self.ask("watch all")
            # It has begun before anybody watched: begin anew, so that all of it is known.
            self.ask("unplug")
            self.plug()
            self._look_at_clock()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end()

    async def _end(self) -> None:
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None
        if self._line is not None:
            with contextlib.suppress(EmulatorError):
                self.unplug()
            self._line.close()
        if self._emulator is not None:
            await self._emulator.end()

    def _lost(self) -> None:
        """The emulator has ended, and all its lights with it."""
        self._senses.goes_dark()
        if self._path and self._terminal != self._path and leads_to(self._path, self._terminal):
            Path(self._path).unlink(missing_ok=True)  # it couldn't do that itself if it was killed
        self._path = ""
        self._changed.set()
        self._ended.set()

    async def wait_ended(self) -> str:
        """Wait until the emulator or the board's program has ended, which it should not.

        Returns what has ended, in words.
        """
        await self._ended.wait()
        return self._why_ended()

    def _why_ended(self) -> str:
        if self.crashed:
            return f"the board's program has crashed: {self.crashed}"
        return "the emulator has ended"

    def ask(self, line: str) -> Fields:
        """Ask the emulator something, in its own words. Raises EmulatorError."""
        if self._line is None:
            raise EmulatorGone("the emulator doesn't run")
        return self._line.ask(line)

    # ---------------------------------------------------------------- plugging

    def plug(self, link: str | Path | None = None) -> str:
        """Plug it in, perhaps under another name; returns the name of its port.

        Raises LinkTaken if the name can't be used. A panel that is plugged in stays so.
        """
        if not self._path:
            name = self._name if link is None else Path(link)
            try:
                told = self.ask("plug" if name is None else f"plug {name}")
            except EmulatorGone:
                raise
            except EmulatorError as error:
                raise LinkTaken(str(error)) from error
            self._path, self._name = told["port"], name
            self._terminal = target_of(self._path)
        return self._path

    def unplug(self) -> None:
        """Pull it out: it goes dark, and who has its port open gets an error."""
        if self._path:
            self.ask("unplug")
            self._path = ""

    @property
    def path(self) -> str:
        """The name of its port, for the one who opens it. Empty while it is unplugged."""
        return self._path

    @property
    def is_open(self) -> bool:
        """A program has its port open."""
        return self._senses.is_open

    def reset(self, cause: ResetCause = ResetCause.EXTERNAL) -> None:
        """It starts anew: by its watchdog, a dip of its supply, or its reset button.

        Raises ValueError for an unknown cause: a chip always knows.
        """
        if cause is ResetCause.UNKNOWN:
            raise ValueError("a chip always knows the cause of its reset")
        if self._path:
            self.ask(f"reset {cause.name.lower()}")

    def set_noise(self, share: float) -> None:
        """From now on, this share of all bytes gets lost or is wrong, both ways."""
        _check_share(share)
        self.ask(f"noise {share}")

    # ---------------------------------------------------------------- hearing

    def _heard(self, one: Happening) -> None:
        """Something has happened."""
        self._senses.take_in(one)
        if self._senses.crashed:
            self._ended.set()
        self._tell(one.at / 1000)

    def _tell(self, now: float) -> None:
        """Tell the fingers, and whoever waits, that something may have changed."""
        for outcome in self.board.take_outcomes():
            self._fingers.tell(outcome, now)
        self._changed.set()

    def _look_at_clock(self) -> None:
        """Look again and again how far the emulator is, and what has changed by that alone."""
        if self._line is None or not self._line.is_up:
            return
        if not self._asked:
            self._asked = True
            with contextlib.suppress(EmulatorGone):
                self._line.post("clock", self._clock_told)
        loop = asyncio.get_running_loop()
        self._beat = loop.call_later(LOOK_EVERY, self._look_at_clock)

    def _clock_told(self, answer: str) -> None:
        self._asked = False
        with contextlib.suppress(EmulatorError):  # it has crashed, and says so to who asks
            self._clock(read_answer(answer))

    def _clock(self, told: Fields) -> None:
        """The emulator has told its time: all that happened before is known."""
        self._offset = int(told["mono"]) / 1000
        self._senses.pass_time(int(told["t"]) / 1000)
        self._tell(self._senses.now)

    # ---------------------------------------------------------------- lamps

    def lamps(self) -> list[Lamp]:
        """What each lamp shows now, that of button 1 first; see `eyes` for how that is known."""
        return list(self.seen())

    def seen(self) -> list[SeenLamp]:
        """The same, with what their light alone says."""
        return self._senses.seen(self._offset)

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

        Without `measured`, a lamp says what the picture on the board's line says as soon as its
        light agrees: for `TURN`, as soon as it is lit fully. With it, what it says by its light
        alone, which takes a second to be certain; then `after` is for that.

        Raises TimeoutError after so many seconds, ValueError for a button without a lamp.
        """
        if not 1 <= button <= self.buttons:
            raise ValueError(f"button {button} has no lamp")
        async with asyncio.timeout(timeout):
            while True:
                self._changed.clear()
                lamp = self.seen()[button - 1]
                sign = lamp.measured if measured else lamp.sign
                since = lamp.measured_since if measured else lamp.since
                settled = measured or lamp.settled
                if settled and sign in signs and since >= after:
                    return lamp
                await self._next_change()

    async def _next_change(self) -> None:
        """Wait until something may have changed. Raises EmulatorGone when nothing will."""
        self._check_running()
        await self._changed.wait()

    def _check_running(self) -> None:
        """Raises EmulatorGone if nothing will happen any more."""
        if self._ended.is_set():
            raise EmulatorGone(self._why_ended())

    @property
    def revision(self) -> int:
        """The table's revision of the last picture that reached it; 0 before the first."""
        picture = self.board.picture_seen
        return 0 if picture is None else picture.revision

    def is_armed(self, button: int) -> bool:
        """A press of this button would be sent, by the picture that reached it."""
        picture = self.board.picture_seen
        return picture is not None and bool(picture.armed >> (button - 1) & 1)

    async def wait_revision(self, beyond: int, timeout: float) -> int:
        """Wait until a picture of a later revision than this reaches it. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while self.revision <= beyond:
                self._changed.clear()
                await self._next_change()
        return self.revision

    # ---------------------------------------------------------------- buttons

    def down(self, button: int) -> None:
        """Press a button down and keep it so. Raises ValueError if there is no such button."""
        self.ask(f"contact {word_of(self._fingers.index(button))} closed")

    def up(self, button: int) -> None:
        """Let go of a button."""
        self.ask(f"contact {word_of(self._fingers.index(button))} open")

    def _begin(self) -> float:
        self._clock(self.ask("clock"))
        return self._senses.now

    def _plan(
        self, button: int, closes: bool, at: float, bounce: bool = False
    ) -> tuple[float, float]:
        word = word_of(self._fingers.index(button))
        line = f"contact {word} {'closed' if closes else 'open'}"
        if bounce:
            line += f" bounces={BOUNCES} every={round(BOUNCE_MS * 1000)}"
        if not self._planned(line, at):  # then at once
            self.ask(line)
            at = self._senses.moved_at.get(word, self._senses.now)
        return at, at + BOUNCES * BOUNCE_MS if bounce else at

    def _planned(self, line: str, at: float) -> bool:
        """Have a contact moved at a time; False if that has passed already."""
        try:
            self.ask(f"{line} at={round(at * 1000)}")
        except EmulatorGone:
            raise
        except EmulatorError:
            return False
        return True

    async def _until(self, end: float) -> None:
        while self._senses.now < end:
            self._check_running()
            await asyncio.sleep(max(0.001, (end - self._senses.now) / 1000))
            self._clock(self.ask("clock"))

    def _told(self, at: float) -> float:
        return at + self._offset

    def _lamps_changed_at(self) -> float | None:
        return self._senses.lamps_changed_at()


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"noise is a share from 0 to 1, not {share}")
