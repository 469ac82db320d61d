"""Whatever people and hosts do: the firmware does what the model does, in messages and in light.

The model's meaning is settled by the golden sequences. Here both live through the same evenings,
made up by chance: any buttons together, answers of any kind, pictures, silence, resets. Nothing is
done within some milliseconds of a limit, where a board on a line may be on the other side of it:
fingers move at multiples of `GRID`, and a host speaks in between.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from tableturn_bridge import frames
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import (
    LONG_PRESS,
    NO_BUTTON,
    Event,
    EventAck,
    Flags,
    Hello,
    HelloRequest,
    Message,
    Ping,
    Pong,
    Result,
    State,
    with_mark,
)

from .benches import Kind, on_the_bench
from .sequences import EVERY, TOLERANCE, Played, check_bytes, check_light, play

GRID = 40
SEEN_AT, SAYS_AT = 14, 26
"""When a host speaks after the grid: SEEN is sent again a second later, when nothing else is."""
CAUSES = ("WATCHDOG", "BROWN_OUT", "EXTERNAL", "POWER_ON")
BLIPS = 3
"""Moments in an evening at which two signs of a lamp change together."""


class Script:
    """An evening in the form of a golden sequence, drawn at random."""

    def __init__(self, seed: int, length: int, buttons: int) -> None:
        self.draw = random.Random(seed)
        self.buttons = buttons
        self.steps: list[dict[str, Any]] = []
        self.now = 0
        self.down: dict[int, int] = {}
        self.session = 0
        self.number = 0
        self.revision = 1
        self.heard = 0
        self._greet()
        while self.now < length:
            self._goes_on()
        self.until = self.now + 2 * GRID

    def _add(self, after: int, **step: Any) -> None:
        self.steps.append({"at": self.now + after, **step})

    def _host(self, after: int, message: Message) -> None:
        self._add(after, host="", frame=frames.encode(message, 0).hex())
        self.heard = self.now

    def _greet(self) -> None:
        self.now = 400 if not self.steps else self.now + 10 * GRID
        self.session += 1
        self._host(SAYS_AT, HelloRequest(1, 1, self.session))
        self.number = 0
        self.now += GRID
        self._picture()
        self.now += GRID

    def _picture(self) -> None:
        self.revision += self.draw.randrange(3)
        patterns = [self.draw.choice(list(Pattern)) for _ in range(6)]
        flags = self.draw.choice([0, 0, 0, Flags.SEATING, Flags.PAUSED])
        self._host(
            SAYS_AT,
            State(
                tag=self.draw.choice([7, 8]),
                revision=self.revision,
                armed=self.draw.choice([63, 63, self.draw.randrange(64)]),
                staged=0,
                lamps=tuple(lamp(pattern, self.draw.randrange(9)) for pattern in patterns),
                flags=with_mark(int(flags), self.draw.randrange(self.buttons + 1)),
                brightness=self.draw.choice([255, 255, 200, 64]),
            ),
        )

    def _goes_on(self) -> None:
        """One thing that happens; a host that is there is heard each second at least."""
        self.now += GRID * self.draw.choice([1, 1, 1, 2, 3, 5, 12])
        if self.now - self.heard > 1000:
            self.now = self.heard + 1000
            self._picture()
            return
        match self.draw.choices(
            ["finger", "answer", "picture", "ping", "garbage", "silence", "other", "reset"],
            [40, 14, 6, 4, 3, 1, 0.5, 0.7],
        )[0]:
            case "finger":
                self._finger()
            case "answer":
                self._answer()
            case "picture":
                self._picture()
            case "ping":
                self._host(SAYS_AT, Ping(self.draw.randrange(1 << 16)))
            case "garbage":
                good = frames.encode(Ping(1), 0)
                self._add(SAYS_AT, bytes=(good[:-2] + b"\x55\0").hex())
            case "silence":
                self.now = self.heard + 2000 + GRID * self.draw.randrange(3, 20)
                self._picture()
            case "other":
                self._host(SAYS_AT, HelloRequest(2, 3, 1))
                self.now += 5 * GRID
                self._host(SAYS_AT, HelloRequest(1, 1, 1))
                self.now += GRID
                self._picture()
            case "reset":
                self._add(0, start=self.draw.choice(CAUSES))
                self._greet()

    def _finger(self) -> None:
        """A button goes down or up, but never just as one that is held becomes a long press."""
        if any(abs(self.now - since - LONG_PRESS) < GRID for since in self.down.values()):
            return
        button = self.draw.choice([*range(self.buttons), *self.down, *self.down, NO_BUTTON])
        if button in self.down:
            del self.down[button]
            self._add(0, up=button)
        else:
            self.down[button] = self.now
            self._add(0, down=button)

    def _answer(self) -> None:
        self.number += self.draw.choice([0, 1, 1])
        number = max(1, self.number - self.draw.randrange(3))
        result = self.draw.choice([Result.SEEN, Result.SEEN, *list(Result)])
        session = self.session if self.draw.random() < 0.9 else self.session + 1
        at = SEEN_AT if result is Result.SEEN else SAYS_AT
        self._host(at, EventAck(number, result, session))

    @property
    def sequence(self) -> dict[str, Any]:
        return {"steps": self.steps, "until": self.until}


def lived(kind: Kind, script: Script) -> Played:
    with on_the_bench(kind, script.buttons) as bench:
        played = play(script.sequence, bench)
        check_bytes(bench)
        return played


def without_make(message: Message) -> Message:
    """What is the same on all boards."""
    return replace(message, caps=0, build=0) if isinstance(message, Hello) else message


def check_alike(played: Played, model: Played) -> None:
    """The same messages in the same order, at the same times but for some milliseconds."""
    said = [without_make(message) for _, message in played.sent]
    wanted = [without_make(message) for _, message in model.sent]
    for (at, _), one, other in zip(model.sent, said, wanted, strict=False):
        loose = one
        if isinstance(one, Event) and isinstance(other, Event):
            assert abs(one.age - other.age) <= TOLERANCE, (at, one, other)
            loose = replace(one, age=other.age)
        if isinstance(one, Pong) and isinstance(other, Pong):
            assert abs(one.uptime - other.uptime) <= TOLERANCE, (at, one, other)
            loose = replace(one, uptime=other.uptime)
        assert loose == other, (at, one, other)
    assert len(said) == len(wanted)
    times = [time for time, _ in played.sent]
    due = [time for time, _ in model.sent]
    # Several at once follow one another on the line.
    assert all(at <= time + 1 and time <= at + 20 for time, at in zip(times, due, strict=True))


SEEDS = range(10)
MORE = [pytest.param(seed, marks=pytest.mark.nightly) for seed in range(10, 110)]


@pytest.mark.parametrize("seed", [*SEEDS, *MORE])
def test_the_firmware_lives_through_any_evening_as_the_model_does(seed: int) -> None:
    script = Script(seed, 12_000, 2 + seed % 5)
    model, firmware = lived("virtual", script), lived("firmware", script)
    check_alike(firmware, model)
    assert check_light(firmware, model, BLIPS) > script.until // EVERY * script.buttons * 0.4
