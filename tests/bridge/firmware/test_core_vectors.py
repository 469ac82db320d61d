"""The golden vectors, kept by the C core on this machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableturn_bridge import frames
from tableturn_bridge.protocol import MESSAGES, Message, ResetCause, read
from tests.meta.tree import ROOT

from .host import CRC_ERROR, FRAME, GARBAGE, Decoder, HostBoard, library

VECTORS = ROOT / "firmware_bridge" / "vectors"
FRAMES = json.loads((VECTORS / "frames.json").read_text("utf-8"))
PANEL = json.loads((VECTORS / "panel.json").read_text("utf-8"))
KINDS = {kind.__name__: kind for kind in MESSAGES.values()}


def message_of(entry: dict[str, Any]) -> Message:
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in entry["fields"].items()
    }
    return KINDS[entry["message"]](**fields)


def encoded(code: int, number: int, body: bytes) -> bytes:
    frame = (frames.LONGEST_CODED + 2) * b"?"
    return frame[: library(4).frame_encode(frame, code, number, body, len(body))]


# ---------------------------------------------------------------- framing


def test_the_crc_is_the_published_one() -> None:
    assert library(4).crc16(b"123456789", 9) == 0x29B1


@pytest.mark.parametrize("entry", FRAMES["frames"], ids=lambda entry: entry["name"])
def test_the_core_writes_the_golden_frames(entry: dict[str, Any]) -> None:
    message = message_of(entry)
    assert encoded(message.CODE, entry["number"], message.body()).hex() == entry["frame"]


@pytest.mark.parametrize("entry", FRAMES["streams"], ids=lambda entry: entry["name"])
def test_the_core_reads_the_golden_streams(entry: dict[str, Any]) -> None:
    decoder = Decoder(library(4))
    found: list[Message] = []
    counts = {"frames": 0, "crc_errors": 0, "garbage": 0}
    piece = 0
    for byte in bytes.fromhex(entry["bytes"]):
        result, content = decoder.take(byte)
        if result == FRAME:
            counts["frames"] += 1
            message = read(content[0], content[2:])
            found += [] if message is None else [message]
        counts["crc_errors"] += result == CRC_ERROR
        counts["garbage"] += piece if result == GARBAGE else 0
        piece = piece + 1 if byte else 0
    assert found == [message_of(each) for each in entry["read"]]
    assert counts == {name: entry["counts"][name] for name in counts}


# ---------------------------------------------------------------- sequences


class Player:
    """Does what a sequence's host and people do, and collects what the panel sends."""

    def __init__(self, sequence: dict[str, Any]) -> None:
        self.sequence = sequence
        self.board = HostBoard(sequence["buttons"], sequence["uid"])
        self.sent: list[tuple[int, str, dict[str, Any]]] = []
        self._decoder = frames.Decoder()
        self._now = 0

    def play(self) -> None:
        for step in self.sequence["steps"]:
            self._run_to(int(step["at"]))
            self._do(step)
            self._collect()
        self._run_to(self.sequence["until"])

    def _run_to(self, at: int) -> None:
        while self._now < at:
            self._now += 1
            self.board.advance(self._now)
            self._collect()

    def _collect(self) -> None:
        for message in self._decoder.feed(self.board.take_output()):
            self.sent.append((self._now, type(message).__name__, dict(vars(message))))

    def _do(self, step: dict[str, Any]) -> None:
        at = step["at"]
        match step:
            case {"start": cause}:
                self.board.power_on(ResetCause[cause], at)
            case {"host": _, "frame": data} | {"bytes": data}:
                self.board.received(bytes.fromhex(data), at)
            case {"down": button}:
                self.board.edge(button, True, at)
            case {"up": button}:
                self.board.edge(button, False, at)
            case {"shows": signs}:
                assert list(self.board.signs()) == signs, f"at {at}"
                assert self.board.marked() == ([step["marked"]] if "marked" in step else [])


@pytest.mark.parametrize("sequence", PANEL["sequences"], ids=lambda sequence: sequence["name"])
def test_the_core_keeps_the_golden_sequences(sequence: dict[str, Any]) -> None:
    player = Player(sequence)
    player.play()
    expected = [step for step in sequence["steps"] if "panel" in step]
    assert [name for _, name, _ in player.sent] == [step["panel"] for step in expected]
    for (at, _, sent), step in zip(player.sent, expected, strict=True):
        assert abs(at - step["at"]) <= PANEL["tolerance"], (at, step)
        assert {name: sent[name] for name in step["fields"]} == step["fields"], step
