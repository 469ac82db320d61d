"""The C core does what the model does: the same bytes, the same light, in the same millisecond.

Both are played the same random evenings. The model is what the golden vectors, the bridge and the
documents speak of; so whatever the core does otherwise is its fault.
"""

from __future__ import annotations

import random

import pytest

from tableturn_bridge.frames import Decoder, enclose, encode
from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import (
    NO_BUTTON,
    Caps,
    Event,
    EventAck,
    Hello,
    HelloRequest,
    Kind,
    Message,
    Ping,
    ResetCause,
    SetUid,
    State,
)
from tableturn_bridge.virtual.board import Board, Make

from .host import NAMES, HostBoard

STEPS = 120
"""Things that happen in one evening."""


class Twins:
    """The model and the core, side by side. Each millisecond they are held against each other."""

    def __init__(self, buttons: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.buttons = buttons
        uid = self.random.choice([0, 0xA1B2C3D4])
        self.core = HostBoard(buttons, uid)
        self.now = 0
        self.core.power_on(ResetCause.POWER_ON, 0)
        (hello,) = Decoder().feed(self.core.take_output())
        assert isinstance(hello, Hello)
        self.model = Board(Make(buttons, caps=Caps.MASTER_BUTTON, build=hello.build), uid)
        self.model.power_on(ResetCause.POWER_ON, 0)
        self.model.take_output()
        self.down: set[int] = set()
        self.kinds: set[int] = set()
        self.numbers: list[int] = []
        self.signs: set[str] = set()
        self.dropped = 0
        self.sent_frames = 0
        self._decoder = Decoder()

    # ------------------------------------------------------------ both of them

    def compare(self) -> None:
        bytes_of_core, bytes_of_model = self.core.take_output(), self.model.take_output()
        assert bytes_of_core == bytes_of_model, (
            self.now,
            Decoder().feed(bytes_of_core),
            Decoder().feed(bytes_of_model),
        )
        for message in self._decoder.feed(bytes_of_core):
            if isinstance(message, Event):
                self.kinds.add(message.kind)
                self.numbers.append(message.number)
        shown = self.model.shown(self.now)
        self.signs.update(sign.name for sign in shown)
        assert self.core.signs() == tuple(sign.name for sign in shown), self.now
        assert self.core.marked() == [at for at, sign in enumerate(shown) if sign.marked]
        assert self.core.lamps() == self.model.lamps(self.now), (self.now, shown)
        assert self.core.uid == self.model.uid

    def wait(self, ms: int) -> None:
        for _ in range(ms):
            self.now += 1
            self.core.advance(self.now)
            self.model.advance(self.now)
            self.compare()

    def carry(self, data: bytes) -> None:
        self.core.received(data, self.now)
        self.model.received(data, self.now)
        self.compare()

    def host(self, message: Message) -> None:
        self.carry(encode(message, self.sent_frames))
        self.sent_frames += 1

    def edge(self, button: int, pressed: bool) -> None:
        self.core.edge(button, pressed, self.now)
        self.model.edge(button, pressed, self.now)
        (self.down.add if pressed else self.down.discard)(button)

    def reset(self) -> None:
        cause = self.random.choice(list(ResetCause))
        self.core.power_on(cause, self.now)
        self.model.power_on(cause, self.now)
        self.compare()

    # ------------------------------------------------------------ what may happen

    @property
    def session(self) -> int:
        return self.model.session if self.random.random() < 0.9 else self.random.getrandbits(32)

    def picture(self) -> State:
        draw = self.random
        lamps = [draw.randrange(9) << 4 | draw.choice(list(Pattern)) for _ in range(6)]
        return State(
            tag=draw.choice([1, 2, 0xFFFF]),
            revision=draw.randrange(5),
            armed=draw.choice([0xFF, 0xFF, draw.getrandbits(8)]),
            staged=draw.getrandbits(8),
            lamps=tuple(lamps),
            flags=draw.choice([0, 0, 8]) | draw.getrandbits(3) | draw.randrange(8) << 4,
            brightness=draw.choice([255, draw.randrange(256)]),
        )

    def message(self) -> Message:
        draw = self.random
        number = draw.choice([*self.numbers[-6:], draw.getrandbits(16)])
        return draw.choices(
            [
                self.picture(),
                HelloRequest(*draw.choice([(1, 1), (1, 1), (0, 9), (2, 3), (0, 0)]), 0x5E55104E),
                Ping(draw.getrandbits(16)),
                EventAck(number, draw.randrange(6), self.session),
                SetUid(draw.choice([0, 7])),
            ],
            [6, 2, 2, 6, 1],
        )[0]

    def damaged(self) -> bytes:
        draw = self.random
        frame = bytearray(encode(self.message(), 0))
        for _ in range(draw.randint(1, 2)):
            at = draw.randrange(len(frame))
            frame[at : at + 1] = draw.choice([b"", bytes([frame[at] ^ 1 << draw.randrange(8)])])
        return bytes(frame)

    def noise(self) -> bytes:
        draw = self.random
        return draw.choice(
            [
                draw.randbytes(draw.randint(1, 60)),
                enclose(draw.getrandbits(8), 0, draw.randbytes(draw.randint(0, 32))),
                enclose(draw.randint(1, 5), 0, draw.randbytes(draw.randint(0, 32))),
            ]
        )

    def finger(self) -> None:
        button = self.random.choice([*range(self.buttons), NO_BUTTON])
        pressed = button not in self.down
        for _ in range(self.random.choice([0, 0, 6])):  # bounces
            self.edge(button, self.random.random() < 0.5)
            self.wait(self.random.randint(0, 3))
        self.edge(button, pressed)

    def happen(self) -> None:
        """One of all these things."""
        draw = self.random
        match draw.choices(
            ["message", "finger", "wait", "damaged", "noise", "silence", "reset"],
            [30, 40, 20, 3, 3, 1, 1],
        )[0]:
            case "message":
                self.host(self.message())
            case "finger":
                self.finger()
                self.wait(draw.randint(0, 60))
            case "wait":
                self.wait(draw.choice([1, 10, 100, 300, 850]))
            case "damaged":
                self.carry(self.damaged())
            case "noise":
                self.carry(self.noise())
            case "silence":
                self.wait(2100)
            case "reset":
                self.reset()

    def play(self) -> None:
        for _ in range(STEPS):
            if self.model.picture is None and self.random.random() < 0.2:
                self.host(HelloRequest(1, 1, 0x5E55104E))
                self.host(self.picture())
            self.happen()
            self.dropped = max(self.dropped, self.model.dropped)


def test_the_core_plays_like_the_model() -> None:
    kinds: set[int] = set()
    signs: set[str] = set()
    dropped = 0
    for seed in range(12):
        twins = Twins(2 + seed % 5, seed)
        twins.play()
        kinds |= twins.kinds
        signs |= twins.signs
        dropped += twins.dropped
    # The evenings were worth playing.
    assert kinds == set(Kind)
    assert signs == set(NAMES)
    assert dropped > 0


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1700))
def test_the_core_plays_like_the_model_for_long(seed: int) -> None:
    Twins(2 + seed % 5, seed).play()
