"""A board on a bench in virtual time, whatever it is made of: the vocabulary of these tests.

    with on_the_bench("firmware") as bench:
        bench.plays()
        bench.press(1)
        assert bench.events() == [...]

All times are milliseconds since the bench was set up, and nothing happens but when a test lets time
pass. Buttons count from 0.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import replace

from tableturn_bridge import frames
from tableturn_bridge.patterns import STEP, STEPS, Pattern, lamp
from tableturn_bridge.protocol import (
    DEBOUNCE,
    STATE_EVERY,
    Color,
    Event,
    EventAck,
    HelloRequest,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    State,
)
from tableturn_bridge.virtual.lights import RUN
from tableturn_bridge.virtual.noise import Noise

SESSION = 77
UID = 9

red_to_move = State(
    tag=0x1234,
    revision=57,
    armed=0b0001,
    staged=0,
    lamps=(
        lamp(Pattern.TURN, Color.RED),
        lamp(Pattern.NEXT, Color.BLUE),
        lamp(Pattern.OFF, Color.GREEN),
        0,
        0,
        0,
    ),
    flags=0,
    brightness=255,
)
all_armed = replace(red_to_move, armed=0b111111)


class Bench(ABC):
    """A board, and a host that says what a test wants it to say."""

    slack: float
    """By how many milliseconds it may be later than the rules say: its frames take time."""

    def __init__(self, buttons: int) -> None:
        self.buttons = buttons
        self.now = 0.0
        self.sent: list[tuple[float, Message]] = []
        """What the board has sent, and when it had left it."""
        self.pressed_at: dict[tuple[int, int], float] = {}
        """When the press of each gesture counted, by what the board has sent: session, number."""
        self.transcript = bytearray()
        """All bytes that the board has ever sent."""
        self._decoder = frames.Decoder()
        self._number = 0
        self.picture: State | None = None
        self._arrived = bytearray()
        self._there: Noise | None = None
        self._back: Noise | None = None

    # ------------------------------------------------------------ what a board can do

    @abstractmethod
    def _run(self, time: float) -> None:
        """Let the time come; `_heard` is told all that the board sends."""

    @abstractmethod
    def _line(self, data: bytes) -> None:
        """Bytes go to the board now."""

    @abstractmethod
    def contact(self, button: int, closed: bool) -> None:
        """A contact closes or opens now."""

    @abstractmethod
    def bounce(self, button: int, closed: bool, edges: int = 80, every: float = 0.4) -> None:
        """A contact closes or opens, then bounces so often; it is at rest when this is over."""

    @abstractmethod
    def reset(self, cause: ResetCause) -> None:
        """The program starts anew."""

    @abstractmethod
    def hang(self) -> None:
        """The program hangs, until its watchdog starts it anew."""

    @abstractmethod
    def unplug(self) -> None:
        """The board has no power from now on."""

    @abstractmethod
    def plug(self) -> None:
        """The board gets power."""

    @abstractmethod
    def levels(self) -> tuple[int, ...]:
        """How bright the lamps are now, from 0 to 255."""

    def _heard(self, data: bytes, time: float) -> None:
        """The board has sent bytes; the last of them at this time."""
        self.transcript += data
        for message in self._decoder.feed(data):
            self.sent.append((time, message))
            if isinstance(message, Event):
                self.pressed_at.setdefault((message.session, message.number), time - message.age)
        self._arrived += data if self._back is None else self._back.through(data)

    # ------------------------------------------------------------ time

    def to(self, time: float) -> None:
        """Let the time come, and whatever is due until then happen."""
        if time > self.now:
            self._run(time)
            self.now = time

    def wait(self, ms: float) -> None:
        self.to(self.now + ms)

    def quietly(self, ms: float, picture: State | None = None) -> None:
        """Let time pass with a host that repeats its picture."""
        picture = picture or self.picture or red_to_move
        end = self.now + ms
        while self.now + STATE_EVERY < end:
            self.wait(STATE_EVERY)
            self.tell(picture)
        self.to(end)

    # ------------------------------------------------------------ the host

    def raw(self, data: bytes) -> None:
        """Bytes on the host's line."""
        arrived = data if self._there is None else self._there.through(data)
        if arrived:
            self._line(arrived)

    def take(self) -> bytes:
        """The bytes that have come to the host and that it has not read."""
        data = bytes(self._arrived)
        self._arrived.clear()
        return data

    def noise(self, share: float, seed: int = 0) -> None:
        """From now on so many bytes of both directions get lost or are wrong."""
        draw = random.Random(seed)
        self._there = Noise.harming(share, draw) if share else None
        self._back = Noise.harming(share, draw) if share else None

    def tell(self, message: Message) -> None:
        if isinstance(message, State):
            self.picture = message
        self.raw(frames.encode(message, self._number))
        self._number = (self._number + 1) & 0xFF

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
        self.messages()

    def pinged(self) -> Pong:
        """What it says of itself, which nothing else comes between."""
        self.messages()
        self.tell(Ping(300))
        self.wait(10)
        pongs = [message for message in self.messages() if isinstance(message, Pong)]
        assert [pong.token for pong in pongs] == [300]
        return pongs[0]

    # ------------------------------------------------------------ fingers

    def down(self, button: int) -> None:
        self.contact(button, True)

    def up(self, button: int) -> None:
        self.contact(button, False)

    def press(self, button: int, ms: float = 60) -> float:
        """Press it, let go, and wait until that is told; when the release counts as one."""
        self.down(button)
        self.wait(ms)
        self.up(button)
        counts = self.now + DEBOUNCE
        self.wait(DEBOUNCE + self.slack)
        return counts

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

    def are(self, times: list[float], due: list[float]) -> bool:
        """These times are those at which something was due."""
        pairs = zip(times, due, strict=True)
        return all(at - 1 <= time <= at + self.slack for time, at in pairs)

    def steps(self, count: int = 32) -> list[tuple[int, ...]]:
        """How bright each lamp is in so many steps of 64 ms, each looked at in its middle.

        It begins with the next two whole runs of a pattern, or with the next run for so few.
        """
        runs = RUN if count <= STEPS else 2 * RUN
        begin = self.started + runs * (int(self.now - self.started - 1) // runs + 1)
        self.quietly(begin - self.now + STEP / 2)
        seen = [self.levels()]
        while len(seen) < count:
            self.quietly(STEP)
            if len(seen) % 4 == 0 and self.picture is not None:
                self.tell(self.picture)
            seen.append(self.levels())
        return seen

    @property
    @abstractmethod
    def started(self) -> float:
        """When its program has started: the patterns of its lamps run from there on."""
