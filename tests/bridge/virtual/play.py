"""A board and its host in virtual time: the vocabulary of these tests.

bench = Bench()
bench.greet()
bench.shows(red_to_move)
bench.press(1)
assert bench.events() == [...]
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tableturn_bridge import frames
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import (
    Color,
    Event,
    EventAck,
    Hello,
    HelloRequest,
    Message,
    Ping,
    ResetCause,
    Result,
    State,
)
from tableturn_bridge.virtual.board import Board, Make
from tableturn_bridge.virtual.noise import Noise

SESSION = 77
RED = lamp(Pattern.TURN, Color.RED)
BLUE = lamp(Pattern.NEXT, Color.BLUE)
GREEN = lamp(Pattern.OFF, Color.GREEN)

red_to_move = State(
    tag=0x1234,
    revision=57,
    armed=0b0001,
    staged=0,
    lamps=(RED, BLUE, GREEN, 0, 0, 0),
    flags=0,
    brightness=255,
)
all_armed = replace(red_to_move, armed=0b1111)


class Bench:
    """A board on a bench: whatever it sends is kept with its time. Buttons count from 0."""

    def __init__(self, make: Make | None = None, *, uid: int = 9, start: bool = True) -> None:
        self.board = Board(make or Make(), uid)
        self.now = 0.0
        self.sent: list[tuple[float, Message]] = []
        self._decoder = frames.Decoder()
        self._number = 0
        if start:
            self.start()

    def start(self, cause: ResetCause = ResetCause.POWER_ON) -> None:
        self.board.power_on(cause, self.now)
        self._collect()

    def _collect(self) -> None:
        for message in self._decoder.feed(self.board.take_output()):
            self.sent.append((self.now, message))

    def to(self, time: float) -> None:
        """Let the time come, and whatever is due until then happen."""
        while (due := self.board.next_time()) is not None and due <= time:
            self.now = max(self.now, float(due))
            self.board.advance(self.now)
            self._collect()
        self.now = time
        self.board.advance(time)
        self._collect()

    def wait(self, ms: float) -> None:
        self.to(self.now + ms)

    def quietly(self, ms: float, picture: State = red_to_move) -> None:
        """Let time pass with a host that repeats the picture."""
        end = self.now + ms
        while self.now + 500 < end:
            self.wait(500)
            self.tell(picture)
        self.to(end)

    # ------------------------------------------------------------ the host

    def tell(self, message: Message) -> None:
        self.raw(frames.encode(message, self._number))
        self._number = (self._number + 1) & 0xFF

    def raw(self, data: bytes) -> None:
        self.to(self.now)
        self.board.received(data, self.now)
        self._collect()

    def greet(self, session: int = SESSION) -> None:
        self.tell(HelloRequest(1, 1, session))

    def shows(self, picture: State = red_to_move) -> None:
        self.tell(picture)

    def ack(self, number: int, result: Result, session: int = SESSION) -> None:
        self.tell(EventAck(number, result, session))

    def plays(self, picture: State = red_to_move) -> None:
        """Greeted, shown a picture, and the lamp test is over."""
        self.greet()
        self.shows(picture)
        self.wait(400)

    # ------------------------------------------------------------ fingers

    def down(self, button: int) -> None:
        self.to(self.now)
        self.board.edge(button, True, self.now)

    def up(self, button: int) -> None:
        self.to(self.now)
        self.board.edge(button, False, self.now)

    def press(self, button: int, ms: float = 60) -> None:
        """Press it, let go, and wait until the contact is read as open."""
        self.down(button)
        self.wait(ms)
        self.up(button)
        self.wait(8)

    def bounce(self, button: int, closes: bool) -> None:
        """80 bounces of 0.4 ms, then the contact is at rest."""
        for edge in range(80):
            self.board.edge(button, closes == (edge % 2 == 0), self.now)
            self.wait(0.4)
        self.board.edge(button, closes, self.now)

    # ------------------------------------------------------------ what is seen

    def messages(self) -> list[Message]:
        """What it sent since it was asked the last time."""
        messages = [message for _, message in self.sent]
        self.sent.clear()
        return messages

    def events(self) -> list[Event]:
        return [message for message in self.messages() if isinstance(message, Event)]

    def event_times(self) -> list[float]:
        return [time for time, message in self.sent if isinstance(message, Event)]

    def signs(self) -> tuple[str, ...]:
        return self.board.signs(self.now)

    def sign(self, button: int) -> str:
        return self.signs()[button]

    def fates(self) -> list[str]:
        return [outcome.fate.name for outcome in self.board.take_outcomes()]

    def watch(self, button: int, runs: int = 2) -> str:
        """How a lamp moves: one sign for each step, from dark to bright."""
        seen = ""
        for _ in range(16 * runs):
            level = self.board.lamps(self.now)[button][0]
            seen += ".-+#"[0 if not level else 1 if level < 70 else 2 if level < 200 else 3]
            self.wait(64)
        return seen


class Host:
    """A host that does the least that the protocol asks for, on a line that may be bad.

    It keeps what it was told, each event once, accepts it and shows the next revision.
    """

    def __init__(self, board: Board, noise: float = 0, seed: int = 0) -> None:
        self.board = board
        self.accepted: list[tuple[int, int]] = []
        """Session and number of each event, in the order in which they were new."""
        self.transcript = bytearray()
        self._there = Noise.harming(noise, random.Random(seed))
        self._back = Noise.harming(noise, random.Random(seed + 1))
        self._decoder = frames.Decoder()
        self._session = 0
        self._number = 0
        self._due = {"hello": 0, "state": 0, "ping": 500}
        self._proposals = 1000

    @property
    def picture(self) -> State:
        return replace(all_armed, revision=57 + len(self.accepted))

    def next_time(self) -> int:
        return min(self._due.values())

    def run(self, now: float) -> None:
        """Send what is due, and take what comes."""
        if not self._session and now >= self._due["hello"]:
            self._due["hello"] = int(now) + 250
            self._proposals += 1
            self._tell(HelloRequest(1, 1, self._proposals), now)
        elif self._session:
            self._due["hello"] = 1 << 60
        if now >= self._due["state"]:
            self._due["state"] = int(now) + 500
            self._tell(self.picture, now)
        if now >= self._due["ping"]:
            self._due["ping"] = int(now) + 1000
            self._tell(Ping(1), now)
        while data := self.board.take_output():
            self.transcript += data
            for message in self._decoder.feed(self._back.through(data)):
                self._hear(message, now)

    def _tell(self, message: Message, now: float) -> None:
        data = self._there.through(frames.encode(message, self._number))
        self._number = (self._number + 1) & 0xFF
        self.board.received(data, now)

    def _hear(self, message: Message, now: float) -> None:
        if isinstance(message, Hello):
            self._session = message.session
            self._due["hello"] = 0
        if isinstance(message, Event):
            if (message.session, message.number) not in self.accepted:
                self.accepted.append((message.session, message.number))
                self._tell(self.picture, now)
            self._tell(EventAck(message.number, Result.ACCEPTED, message.session), now)


def together(board: Board, host: Host, now: float, until: float) -> float:
    """Let board and host run, up to a time."""
    while True:
        times = [host.next_time()] + [time for time in (board.next_time(),) if time is not None]
        now = max(now, min(float(min(times)), until))
        board.advance(now)
        host.run(now)
        if now >= until:
            return now


# ---------------------------------------------------------------- in real time


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - what is looked at tells nobody when it changes
            await asyncio.sleep(0.005)


def exists(path: Path) -> bool:
    return os.path.lexists(path)
