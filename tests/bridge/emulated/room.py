"""A model's board in virtual time, with somebody who listens to its line and looks at its lamps.

The model knows what it means; the listener has to find out. Each test compares the two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from tableturn_bridge import frames
from tableturn_bridge.emulated.eyes import Eyes, SeenLamp
from tableturn_bridge.emulated.observer import Observer
from tableturn_bridge.patterns import BRIGHTEST
from tableturn_bridge.protocol import (
    EventAck,
    Flags,
    HelloRequest,
    Message,
    ResetCause,
    Result,
    State,
    with_mark,
)
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.board import Board, Make
from tableturn_bridge.virtual.lights import Sign

SESSION = 77
UID = 9
WINDOW = 4
"""Milliseconds over which a level is measured."""
LOOK = 32
"""Milliseconds between two looks."""
BEFORE = 1000
"""The emulator's time at which the board begins."""

nothing = State(0x1234, 57, 0b1111, 0, (0, 0, 0, 0, 0, 0), 0, 255)


class Room:
    """A board, its host, and who listens. Time goes on by whole milliseconds."""

    def __init__(self, buttons: int = 4, uid: int = UID, lag: int = 2) -> None:
        self.board = Board(Make(buttons), uid)
        self.observer = Observer(buttons, uid)
        self.eyes = Eyes(self.observer)
        self.now = BEFORE
        self.levels: tuple[int, ...] | None = None
        """What the lamps really do, if that isn't what the program means."""
        self.deaf = False
        """What the board says doesn't come through, nor what becomes of it."""
        self.last = b""
        """What the board said last, whether that came through or not."""
        self._lag = lag
        self._number = 0
        self._started = self.now
        self._repeated = self.now
        self._light = [deque([0] * (WINDOW + lag)) for _ in range(buttons)]
        self._told = [0] * buttons
        self._meant = self.meant
        self.since = [self.now] * buttons
        """Since when each lamp means what it does."""

    # ------------------------------------------------------------ what happens

    def start(self, cause: ResetCause = ResetCause.POWER_ON) -> None:
        self.observer.starts(cause.name, self.now)
        self.board.power_on(cause, self.now)
        self._started = self.now
        self._listen()

    def stop(self) -> None:
        self.board.power_off(self.now)
        self.observer.stops(self.now)

    def _listen(self) -> None:
        data = self.board.take_output()
        self.last = data or self.last
        if data and not self.deaf:
            self.observer.said(data, self.now)

    def wait(self, ms: int) -> None:
        for _ in range(ms):
            self.now += 1
            self.board.advance(self.now)
            self._listen()
            self.observer.advance(self.now)
            self._note()
            self._shine()
            if self.now % LOOK == 0:
                self.eyes.look(self.now)

    def _note(self) -> None:
        before, self._meant = self._meant, self.meant
        for button, (old, new) in enumerate(zip(before, self._meant, strict=True)):
            if old != new:
                self.since[button] = self.now

    def _shine(self) -> None:
        """The light of each lamp, measured over the last milliseconds and told when it changes."""
        board, started = self.board.picture, self._started
        brightness = BRIGHTEST if board is None else board.brightness
        levels = self.levels or tuple(
            lights.light(sign, brightness, started, self.now) for sign in self._meant
        )
        for button, level in enumerate(levels):
            light = self._light[button]
            light.append(level)
            light.popleft()
            mean = sum(list(light)[:WINDOW]) // WINDOW
            told = self._told[button]
            if abs(mean - told) > 8 or (mean != told and mean in (0, 255)):
                self._told[button] = mean
                self.eyes.light(button, mean, self.now - 0.5)

    def tell(self, message: Message) -> None:
        self.raw(frames.encode(message, self._number & 0xFF))
        self._number += 1
        self._repeated = self.now

    def raw(self, data: bytes) -> None:
        self.board.received(data, self.now)
        self.observer.reached(data, self.now)
        self._listen()

    def greet(self) -> None:
        self.tell(HelloRequest(1, 1, SESSION))

    def ack(self, number: int, result: Result) -> None:
        self.tell(EventAck(number, result, self.board.session))

    def plays(self, picture: State) -> None:
        """It is started and greeted, shows a picture, and the lamp test is over."""
        self.start()
        self.greet()
        self.tell(picture)
        self.wait(300)

    def quietly(self, ms: int, picture: State) -> None:
        """Time passes with a host that repeats the picture."""
        end = self.now + ms
        while self._repeated + 500 <= end:
            self.wait(max(0, self._repeated + 500 - self.now))
            self.tell(picture)
        self.wait(end - self.now)

    def moves(self, button: int, closed: bool) -> None:
        self.board.edge(button, closed, self.now)
        self.observer.contact(button, closed, self.now)

    def press(self, button: int, ms: int = 60) -> None:
        self.moves(button, True)
        self.wait(ms)
        self.moves(button, False)
        self.wait(10)

    # ------------------------------------------------------------ what is so, and what is seen

    @property
    def meant(self) -> tuple[Sign, ...]:
        return self.board.shown(self.now)

    @property
    def claimed(self) -> tuple[Sign, ...]:
        return tuple(self.observer.claim(n).sign for n in range(self.board.make.buttons))

    def seen(self) -> list[SeenLamp]:
        self.eyes.look(self.now)
        return [self.eyes.lamp(button, 0.0) for button in range(self.board.make.buttons)]


def picture(*lamps: int, mark: int = 0, seating: bool = False, **fields: int) -> State:
    """A picture of these lamps."""
    filled: Sequence[int] = (*lamps, *(0,) * (6 - len(lamps)))
    flags = with_mark(Flags.SEATING if seating else 0, mark)
    return replace(nothing, lamps=tuple(filled), flags=flags, **fields)
