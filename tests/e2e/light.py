"""What the lamps of an emulated board really do: their light, as the emulator measures it.

Nothing here asks the firmware, and nothing knows what the bridge has sent. A pattern runs in
sixteen steps of 64 ms from the firmware's start, and a step is drawn as one character: `#` full
light, `+` dim, `.` dark, `?` something else.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

from tableturn_bridge.patterns import MARK, SHAPES, STEP, STEPS, Pattern
from tableturn_bridge.virtual.remote import PanelProcess
from tests.e2e.panels import WITHIN, until
from tests.e2e.processes import command_lines, parent

STEP_US = STEP * 1000
LOOK = 0.05
"""Seconds between two looks at the emulator's clock."""


def drawn(pattern: Pattern, *, marked: bool = False) -> str:
    """A run of a pattern that doesn't breathe, perhaps with the start player's mark on top."""
    shape = SHAPES[pattern]
    assert not shape.breathes
    steps = shape.steps ^ (MARK if marked else 0)
    lit = "+" if shape.dim or not shape.steps else "#"
    return "".join(lit if steps >> step & 1 else "." for step in range(STEPS))


def _drawn(level: int) -> str:
    """A level from 0 to 255 as a character; dim is a quarter of the full light."""
    if level <= 8:
        return "."
    if level >= 224:
        return "#"
    return "+" if 40 <= level <= 90 else "?"


class Light:
    """All lamps, from the moment at which it began to look. Buttons count from 1."""

    def __init__(self, buttons: int, writer: asyncio.StreamWriter) -> None:
        self.buttons = range(1, buttons + 1)
        self._writer = writer
        self.starts: list[tuple[int, str]] = []
        """When the firmware has started, and why."""
        self.resets: list[tuple[int, str]] = []
        """When the chip was reset, and why; its boot loader may have come before the firmware."""
        self._times: dict[int, list[int]] = defaultdict(lambda: [0])
        self._levels: dict[int, list[int]] = defaultdict(lambda: [0])
        self.now = 0
        """The emulator's time up to which all has been told."""

    def tell(self, command: str) -> None:
        """Tell the emulator to do something, such as `hang`."""
        self._writer.write(f"{command}\n".encode())

    def note(self, line: str) -> None:
        """A line of the emulator: an event, or what it was asked for."""
        kind, *words = line.removeprefix("! ").split()
        values = dict(word.split("=") for word in words if "=" in word)
        assert kind != "error", line
        if "t" not in values:
            return
        at = self.now = int(values["t"])
        if "levels" in values:
            for button, level in zip(self.buttons, values["levels"].split(","), strict=False):
                self._times[button].append(at)
                self._levels[button].append(int(level))
        if kind == "lamp":
            button = int(words[0]) + 1
            self._times[button].append(at)
            self._levels[button].append(int(words[1]))
        elif kind == "start":
            self.starts.append((at, words[0]))
        elif kind == "reset":
            self.resets.append((at, words[0]))

    def level(self, button: int, at: int) -> int:
        """How bright a lamp was, from 0 to 255."""
        return self._levels[button][bisect_right(self._times[button], at) - 1]

    def steps(self, button: int, since: int, count: int) -> str:
        """What a lamp did in so many steps from a time on."""
        return "".join(
            _drawn(self.level(button, since + number * STEP_US + STEP_US // 2))
            for number in range(count)
        )

    def run(self, button: int) -> str:
        """The last sixteen steps, each at its place in the run; empty before a start was seen."""
        if not self.starts:
            return ""
        start = self.starts[-1][0]
        last = (self.now - start) // STEP_US
        begin = max(0, last - STEPS)
        seen = self.steps(button, start + begin * STEP_US, last - begin)
        turned = begin % STEPS
        return seen[-turned:] + seen[:-turned] if turned and len(seen) == STEPS else seen

    async def shows(self, *runs: str) -> None:
        """Wait until each lamp has just run through what is drawn; one drawing is for all."""
        expected = list(runs) if runs[1:] else [*runs] * len(self.buttons)
        end = time.monotonic() + WITHIN
        while (seen := [self.run(button) for button in self.buttons]) != expected:
            assert time.monotonic() < end, f"{expected} is not shown; at last {seen}"
            await asyncio.sleep(0.01)

    async def started(self, before: int) -> tuple[int, str]:
        """Wait for a start of the firmware beyond so many, and for the whole lamp test."""
        await until(lambda: len(self.starts) > before, "the firmware starts")
        at, cause = self.starts[-1]
        await until(lambda: self.now > at + 6 * STEP_US, "the lamp test is over")
        return at, cause


def socket_of(panel: PanelProcess) -> Path:
    """Where the emulator of a panel listens, by the words with which the panel has started it."""
    assert panel.process is not None
    for pid, words in command_lines().items():
        _, there, rest = words.partition(" --control=")
        if there and parent(pid) == panel.process.pid:
            return Path(rest.split()[0])
    raise AssertionError(f"process {panel.process.pid} has started no emulator")


@contextlib.asynccontextmanager
async def watched(socket: Path, buttons: int) -> AsyncIterator[Light]:
    """Look at the lamps of the board whose emulator has this socket."""
    reader, writer = await asyncio.open_unix_connection(socket)
    light = Light(buttons, writer)

    async def listen() -> None:
        while line := await reader.readline():
            light.note(line.decode())

    async def look() -> None:
        while True:
            light.tell("clock")
            await asyncio.sleep(LOOK)

    for command in ("lamps", "watch all"):
        light.tell(command)
    tasks = [asyncio.create_task(listen()), asyncio.create_task(look())]
    try:
        yield light
        assert not tasks[0].done(), "the emulator has ended, or said what can't be read"
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        writer.close()
