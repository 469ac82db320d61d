"""The two boards that a bench can have: the model, and the firmware's real program on a chip.

The model is that of the virtual panel. The chip is emulated, and its program is what is flashed
onto a board. What holds for both is tested on both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from tableturn_bridge.emulated import budgets
from tableturn_bridge.protocol import NO_BUTTON, Caps, ResetCause
from tableturn_bridge.virtual.board import Board, Make
from tests.bridge.emulator.client import Emulator
from tests.support import boards

from .bench import UID, Bench

Kind = Literal["virtual", "firmware"]
BOARDS: tuple[Kind, ...] = ("virtual", "firmware")
STACK = budgets.STACK
"""Bytes of stack that the firmware may use."""


class VirtualBench(Bench):
    """The model of a board, which does all at the very time at which it is due."""

    slack = 0

    def __init__(self, buttons: int = 4, uid: int = UID) -> None:
        super().__init__(buttons)
        self.board = Board(Make(buttons), uid)
        self._start(ResetCause.POWER_ON)

    def _collect(self, time: float) -> None:
        if data := self.board.take_output():
            self._heard(data, time)

    def _start(self, cause: ResetCause) -> None:
        self.board.power_on(cause, self.now)
        self._started = self.now
        self._collect(self.now)

    def _run(self, time: float) -> None:
        while (due := self.board.next_time()) is not None and due <= time:
            at = max(self.now, float(due))
            self.board.advance(at)
            self._collect(at)
        self.board.advance(time)
        self._collect(time)

    def _line(self, data: bytes) -> None:
        self.board.advance(self.now)
        self.board.received(data, self.now)
        self._collect(self.now)

    def contact(self, button: int, closed: bool) -> None:
        self.board.edge(button, closed, self.now)

    def bounce(self, button: int, closed: bool, edges: int = 80, every: float = 0.4) -> None:
        for edge in range(edges):
            self.contact(button, closed == (edge % 2 == 0))
            self.wait(every)
        self.contact(button, closed)

    def reset(self, cause: ResetCause) -> None:
        self._start(cause)

    def hang(self) -> None:
        self._start(ResetCause.WATCHDOG)  # a model doesn't hang: it only knows what follows

    def unplug(self) -> None:
        self.board.power_off(self.now)

    def plug(self) -> None:
        self._start(ResetCause.POWER_ON)

    def levels(self) -> tuple[int, ...]:
        return tuple(level for level, _ in self.board.lamps(self.now))

    @property
    def started(self) -> float:
        return self._started


class FirmwareBench(Bench):
    """The firmware's program on an emulated chip, at the speed of its line."""

    slack = 5
    """Of that 2.5 ms are the line's for the longest frame; the program looks each millisecond."""

    def __init__(self, emulator: Emulator, buttons: int = 4) -> None:
        super().__init__(buttons)
        self.emulator = emulator
        self.emulator.ask("watch line")
        self._started = 0.0
        self.started_by: list[str] = []
        """The causes of all starts so far."""
        self.light: list[tuple[float, int, int]] = []
        """Each change of a lamp since `watch`: when, which, and how bright it is from then on."""
        self.wait(20)  # until it has said hello

    def watch(self) -> None:
        """From now on, have all that the lamps do in `light`."""
        self.ask("watch all")
        self.wait(1)  # it begins by telling how they are now
        self.light.clear()

    def ask(self, command: str) -> dict[str, str]:
        answer = self.emulator.ask(command)
        self._collect()
        return answer

    def _collect(self) -> None:
        """Take over what the emulator has told."""
        for t, kind, words in self.emulator.events:
            time = t / 1000
            if kind == "tx":
                self._heard(bytes.fromhex(words[0]), time)
            elif kind == "lamp":
                self.light.append((time, int(words[0]), int(words[1])))
            elif kind == "start":
                self._started = time
                self.started_by.append(words[0])
            elif kind == "crash":
                raise AssertionError(f"the program has crashed: {words}")
        self.emulator.events.clear()

    def _run(self, time: float) -> None:
        self.ask(f"run {round((time - self.now) * 1000)}")

    def _line(self, data: bytes) -> None:
        self.ask(f"send {data.hex()}")

    def contact(self, button: int, closed: bool) -> None:
        self.ask(f"contact {_name(button)} {'closed' if closed else 'open'}")

    def bounce(self, button: int, closed: bool, edges: int = 80, every: float = 0.4) -> None:
        state = "closed" if closed else "open"
        self.ask(f"contact {_name(button)} {state} bounces={edges} every={round(every * 1000)}")
        self.wait(edges * every)

    def reset(self, cause: ResetCause) -> None:
        self.ask(f"reset {cause.name.lower()}")

    def hang(self) -> None:
        self.ask("hang")

    def unplug(self) -> None:
        self.ask("unplug")

    def plug(self) -> None:
        self.ask("plug")

    def levels(self) -> tuple[int, ...]:
        levels = self.ask("lamps")["levels"].split(",")
        return tuple(int(level) for level in levels)[: self.buttons]

    def state(self) -> dict[str, str]:
        """What the emulator knows of the chip."""
        return self.ask("state")

    @property
    def stack(self) -> int:
        """The most bytes of stack that the program has used so far."""
        return int(self.ask("stack")["used"])

    @property
    def started(self) -> float:
        return self._started


def _name(button: int) -> str:
    return "master" if button == NO_BUTTON else str(button)


@contextmanager
def on_the_bench(kind: Kind, buttons: int = 4, *, uid: int = UID) -> Iterator[Bench]:
    """A board that has just started and said hello."""
    if kind == "virtual":
        yield VirtualBench(buttons, uid)
    else:
        with the_firmware(buttons, uid=uid) as bench:
            yield bench


@contextmanager
def the_firmware(
    buttons: int = 4,
    *,
    uid: int = UID,
    pixels: bool = False,
    elf: Path | None = None,
    boot_ms: int = 0,
    greeting: bool = False,
) -> Iterator[FirmwareBench]:
    """The firmware on a chip that has just started; `uid` 0 for an empty EEPROM."""
    elf = elf or boards.firmware(buttons, pixels=pixels)
    with Emulator(elf, uid=uid or None, boot_ms=boot_ms, greeting=greeting) as emulator:
        yield FirmwareBench(emulator, buttons)


def caps_of(kind: Kind) -> int:
    """What a board of this kind says that it has."""
    return Caps.MASTER_BUTTON | (Caps.VIRTUAL if kind == "virtual" else 0)
