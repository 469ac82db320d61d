"""What screens, sockets and tests need of a panel, whether it is a model or an emulated board.

Buttons count from 1, as people count them; 0 is the one that belongs to no seat. Times are
milliseconds of the system's monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from tableturn_bridge.protocol import LONG_PRESS, Color, ResetCause, State
from tableturn_bridge.virtual.board import Fate

SHORT_MS = 60
LONG_MS = LONG_PRESS + 200
CHORD_MS = 100
PATIENCE = 30.0
"""Seconds for which a press waits to see what becomes of it."""

UNCLEAR = "UNCLEAR"
"""What a lamp says whose light is that of no sign, or not long enough. A model's never does."""


def clock() -> float:
    """Now, in milliseconds."""
    return time.monotonic() * 1000


@dataclass(frozen=True)
class Lamp:
    """What a lamp shows: how bright it is now, its colour, what it says, and since when.

    `marked`: it has the start player's mark on top.
    """

    level: int
    color: int
    sign: str
    since: float
    marked: bool = False

    @property
    def color_word(self) -> str:
        """The colour; empty without one."""
        known = Color.__members__.values()
        return Color(self.color).name.lower() if self.color and self.color in known else ""

    @property
    def measured(self) -> str:
        """What it says by its light alone. A model shows what it means."""
        return self.sign

    @property
    def measured_since(self) -> float:
        """Since when its light says so."""
        return self.since


@dataclass(frozen=True)
class Pressed:
    """A gesture and what became of it, from the finger's side. All times are those of `clock`.

    `sent` says how often it was sent.
    """

    fate: Fate
    kind: str
    sent: int
    released_at: float
    """The contact was let go; debouncing comes after it."""
    acked_at: float
    """It was clear what became of it."""
    lamp_at: float | None
    """The picture of the lamps changed the last time, if it did so since the release."""


class Known(Protocol):
    """What is known of a board: read in a model, heard on the line of any other one."""

    @property
    def uid(self) -> int:
        """Its number, 0 until the host gives one."""

    @property
    def session(self) -> int:
        """The session that the host gave it; 0 after a reset."""

    @property
    def picture(self) -> State | None:
        """What the host wants to be shown; None while it isn't heard."""

    @property
    def waiting(self) -> int:
        """How many events wait for their answer."""

    @property
    def dropped(self) -> int:
        """How many gestures found no room in the queue since the start."""

    @property
    def frames_read(self) -> int:
        """How many good frames have come since the start."""

    @property
    def resets(self) -> Counter[str]:
        """How often it started, by cause."""

    @property
    def fates(self) -> Counter[str]:
        """What became of all gestures."""

    @property
    def events_sent(self) -> int:
        """Events sent, each repetition counted."""


class Panel(Protocol):
    """A panel with a port that programs open like that of a board."""

    @property
    def buttons(self) -> int:
        """How many buttons for seats it has."""

    @property
    def board(self) -> Known:
        """What is known of its board."""

    @property
    def path(self) -> str:
        """The name of its port, for the one who opens it. Empty while it is unplugged."""

    @property
    def is_open(self) -> bool:
        """A program has its port open."""

    def plug(self, link: str | Path | None = None) -> str:
        """Plug it in, perhaps under another name; returns the name of its port."""

    def unplug(self) -> None:
        """Pull it out."""

    def reset(self, cause: ResetCause = ResetCause.EXTERNAL) -> None:
        """Let it start anew."""

    def set_noise(self, share: float) -> None:
        """From now on, this share of all bytes gets lost or is wrong, both ways."""

    def lamps(self) -> list[Lamp]:
        """What each lamp shows now, that of button 1 first."""

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

        With `measured`, until its light alone says it. Raises TimeoutError after so many seconds.
        """

    @property
    def revision(self) -> int:
        """The table's revision that the lamps show; 0 before the first picture."""

    def is_armed(self, button: int) -> bool:
        """A press of this button would be sent, by the picture that the lamps show."""

    async def wait_revision(self, beyond: int, timeout: float) -> int:
        """Wait until the lamps show a later revision than this. Raises TimeoutError."""

    def down(self, button: int) -> None:
        """Press a button down and keep it so. Raises ValueError if there is no such button."""

    def up(self, button: int) -> None:
        """Let go of a button."""

    async def press(
        self,
        button: int,
        ms: float = SHORT_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """Press a button for so long. With `wait`, until it is clear what became of it."""

    async def hold(
        self,
        button: int,
        ms: float = LONG_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """A long press."""

    async def master(
        self,
        ms: float = SHORT_MS,
        *,
        bounce: bool = False,
        wait: bool = False,
        timeout: float = PATIENCE,
    ) -> Pressed | None:
        """Press the button that belongs to no seat."""

    async def chord(
        self, first: int, second: int, *, wait: bool = False, timeout: float = PATIENCE
    ) -> Pressed | None:
        """Hold a button, press a second one, and let go of both."""


@runtime_checkable
class Emulated(Protocol):
    """A panel that runs in an emulator."""

    def ask(self, line: str) -> Mapping[str, str]:
        """Ask the emulator something, in its own words. Raises ValueError with its sentence."""
