"""Plays the golden sequences of `firmware_bridge/vectors/panel.json` on a board on the bench."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tableturn_bridge.frames import encode
from tableturn_bridge.protocol import Hello, Message, ResetCause
from tests.meta.tree import ROOT

from .bench import Bench
from .benches import VirtualBench
from .light import CLOSE

VECTORS = ROOT / "firmware_bridge" / "vectors"
PANEL = json.loads((VECTORS / "panel.json").read_text("utf-8"))
FRAMES = json.loads((VECTORS / "frames.json").read_text("utf-8"))
TOLERANCE: int = PANEL["tolerance"]
EVERY = 8
"""Milliseconds between two looks at the lamps of a board."""
MODEL_EVERY = 4
"""Milliseconds between two looks at the model's: a lamp may be lit for as short as a debounce."""
NEAR = 16
"""For so long before and after a look nothing may change, for the light to be compared."""


@dataclass
class Played:
    """What a board has done in a sequence."""

    sent: list[tuple[float, Message]] = field(default_factory=list)
    light: list[tuple[int, ...]] = field(default_factory=list)
    """How bright the lamps were, each `EVERY` milliseconds, or each `MODEL_EVERY`."""
    signs: list[tuple[dict[str, Any], tuple[str, ...], list[int]]] = field(default_factory=list)
    """Each step that says what the lamps show, what they said then, and which had the mark; only
    of the model, which knows what it means."""


def play(sequence: dict[str, Any], bench: Bench) -> Played:
    """Do what a sequence's host and people do, and watch the board."""
    played = Played()
    for step in sequence["steps"]:
        at = step["at"]
        _watch(bench, played, at)
        if "start" in step and at > 0:
            bench.reset(ResetCause[step["start"]])
        elif "host" in step:
            bench.raw(bytes.fromhex(step["frame"]))
        elif "bytes" in step:
            bench.raw(bytes.fromhex(step["bytes"]))
        elif "down" in step:
            bench.down(step["down"])
        elif "up" in step:
            bench.up(step["up"])
        elif "shows" in step and isinstance(bench, VirtualBench):
            shown = bench.board.shown(at)
            marked = [button for button, sign in enumerate(shown) if sign.marked]
            played.signs.append((step, tuple(sign.name for sign in shown), marked))
    _watch(bench, played, sequence["until"])
    played.sent = bench.sent
    return played


def _watch(bench: Bench, played: Played, until: float) -> None:
    """Let the time come, and look at the lamps meanwhile."""
    every = MODEL_EVERY if isinstance(bench, VirtualBench) else EVERY
    while (look := every * len(played.light)) <= until:
        bench.to(look)
        played.light.append(bench.levels())
    bench.to(until)


def check_sent(sequence: dict[str, Any], played: Played) -> None:
    """A board sends what the steps say, in this order, at these times, and nothing else."""
    expected = [step for step in sequence["steps"] if "panel" in step]
    sent = [(time, type(message).__name__, vars(message)) for time, message in played.sent]
    told = [(step["at"], step["panel"]) for step in expected]
    assert [name for _, name, _ in sent] == [name for _, name in told], (sent, told)
    for (time, name, fields), step in zip(sent, expected, strict=True):
        late = time - step["at"]
        early = 0 if name == Hello.__name__ else TOLERANCE
        assert -early <= late <= TOLERANCE or step["at"] == 0, (sequence["name"], time, step)
        for key, value in step["fields"].items():
            allowed = TOLERANCE if key == "age" else 0
            assert abs(fields[key] - value) <= allowed, (name, time, key, fields[key], value)


def check_bytes(bench: Bench) -> None:
    """All that a board sent is what our own codec makes of it; numbers begin anew with a start."""
    pieces = [piece for piece in bytes(bench.transcript).split(b"\0") if piece]
    number = 0
    for (_, message), piece in zip(bench.sent, pieces, strict=True):
        if isinstance(message, Hello) and piece != _coded(message, number):
            number = 0
        assert piece == _coded(message, number), message
        number = (number + 1) & 0xFF


def _coded(message: Message, number: int) -> bytes:
    """The frame without the zeros that enclose it."""
    return encode(message, number)[1:-1]


def check_signs(played: Played) -> None:
    """The model's lamps say what the steps say."""
    for step, names, marked in played.signs:
        assert list(names) == step["shows"], f"at {step['at']}"
        assert marked == ([step["marked"]] if "marked" in step else []), f"at {step['at']}"


def check_light(played: Played, model: Played, blips: int = 0) -> int:
    """The lamps are as bright as the model's at each moment; how many moments were compared.

    Left out are those near which the model's light changes: a lamp of a real board is some
    milliseconds late. Where two signs change at the same moment, it may be lit or dark for just
    these: so many `blips` are allowed, of one look each.
    """
    compared = 0
    wrong: list[tuple[int, int, int, int]] = []
    near = NEAR // MODEL_EVERY
    for look, seen in enumerate(played.light):
        at = look * EVERY // MODEL_EVERY
        around = model.light[max(0, at - near) : at + near + 1]
        for button, level in enumerate(seen):
            if len({levels[button] for levels in around}) > 1:
                continue
            compared += 1
            wanted = model.light[at][button]
            close = 0 if wanted in (0, 255) else CLOSE
            if abs(level - wanted) > close:
                wrong.append((look, button, level, wanted))
    assert len(wrong) <= blips, wrong
    places = {(look, button) for look, button, _, _ in wrong}
    assert not any((look + 1, button) in places for look, button in places), wrong
    return compared
