"""The bridge's own host side, `tableturn_bridge.link.Link`, with a board on the bench.

What a host knows is in this object; a host that is restarted begins with a new one. How long the
service takes to answer is the test's business: it is told of each gesture once, and answers with
`answer`.
"""

from __future__ import annotations

import random

from tableturn_bridge.gestures import Gestures
from tableturn_bridge.link import Failed, Link, Pressed, Up
from tableturn_bridge.protocol import Event, Result, State

from .bench import Bench

LOOKS_EVERY = 5.0
"""Milliseconds between two looks at the line: about what a USB port takes."""


class Host:
    """A link to a board, in the bench's time."""

    def __init__(self, bench: Bench, draw: random.Random, picture: State) -> None:
        self.bench = bench
        self.draw = draw
        self.gestures = Gestures()
        self.pressed: list[tuple[float, Event]] = []
        """The gestures, each once, with the time at which it was heard."""
        self.ups: list[Up] = []
        self.failures = 0
        self._picture = picture
        self.open()

    def open(self) -> None:
        """Open the port, once more after it was lost; what waits there is of before."""
        self.bench.take()
        self.link = Link(
            port="the bench",
            session=lambda: self.draw.randrange(1, 1 << 32),
            uid=lambda: self.draw.randrange(1, 1 << 32),
            gestures=self.gestures,
        )
        self.link.show(self._picture, self.now)
        self.link.opened(self.now)
        self._write()

    @property
    def now(self) -> int:
        return int(self.bench.now)

    def show(self, picture: State) -> None:
        self._picture = picture
        self.link.show(picture, self.now)
        self._write()

    def answer(self, event: Event, result: Result) -> bool:
        told = self.link.answer(event, result, self.now)
        self._write()
        return told

    def look(self) -> None:
        """Hear what has come, do what is due, and write."""
        happened = self.link.received(self.bench.take(), self.now)
        due = self.link.next_at
        if due is not None and due <= self.now:
            happened += self.link.tick(self.now)
        for one in happened:
            match one:
                case Up():
                    self.ups.append(one)
                case Pressed(event=event):
                    self.pressed.append((self.bench.now, event))
                case Failed():
                    self.failures += 1
                    self.open()
        self._write()

    def run(self, ms: float) -> None:
        """Let time pass."""
        end = self.bench.now + ms
        while self.bench.now < end:
            self.bench.to(min(end, self.bench.now + LOOKS_EVERY))
            self.look()

    def until_up(self, patience: float = 20_000) -> None:
        """Let time pass until the panel is there."""
        end = self.bench.now + patience
        while not self.link.is_up:
            assert self.bench.now < end, "the panel is not found"
            self.run(LOOKS_EVERY)

    def _write(self) -> None:
        if data := self.link.take():
            self.bench.raw(data)
