"""The golden vectors: right by themselves, and kept by the codec and by the virtual panel."""

from __future__ import annotations

import importlib.util
import json
from types import ModuleType
from typing import Any

import pytest

from tableturn_bridge.frames import Decoder, crc, encode
from tableturn_bridge.protocol import MESSAGES, Message, ResetCause
from tableturn_bridge.virtual.board import Board, Make
from tests.meta.tree import ROOT

VECTORS = ROOT / "firmware_bridge" / "vectors"
FRAMES = json.loads((VECTORS / "frames.json").read_text("utf-8"))
PANEL = json.loads((VECTORS / "panel.json").read_text("utf-8"))
KINDS = {kind.__name__: kind for kind in MESSAGES.values()}

# Wide enough to read them by eye: the sizes of all fields, apart from the code that packs them.
SIZES = {
    "HelloRequest": {"proto_min": 1, "proto_max": 1, "session": 4},
    "State": {"tag": 2, "revision": 4, "armed": 1, "staged": 1, "lamps": 6, "flags": 1,
              "brightness": 1},
    "Ping": {"token": 2},
    "EventAck": {"number": 2, "result": 1, "session": 4},
    "SetUid": {"uid": 4},
    "Hello": {"protocol": 1, "major": 1, "minor": 1, "uid": 4, "session": 4, "reset_cause": 1,
              "buttons": 1, "caps": 2, "build": 4},
    "Pong": {"token": 2, "revision": 4, "uptime": 4, "session": 4, "crc_errors": 2,
             "overruns": 2, "dropped": 2, "queue": 1},
    "Event": {"session": 4, "number": 2, "button": 1, "kind": 1, "second": 1, "tag": 2,
              "revision": 4, "age": 2, "tries": 1},
}  # fmt: skip


def message_of(entry: dict[str, Any]) -> Message:
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in entry["fields"].items()
    }
    return KINDS[entry["message"]](**fields)


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_vectors", VECTORS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- facts that we did not make


def crc_by_hand(data: bytes) -> int:
    """CRC-16 with the polynomial 0x1021 from 0xFFFF, bit by bit as in the textbooks."""
    register = 0xFFFF
    for byte in data:
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1) ^ (0x1021 if register & 0x8000 else 0)
            register &= 0xFFFF
    return register


def cobs_by_hand(data: bytes) -> bytes:
    """Before each run without a zero stands how far it is to the next zero (runs below 254)."""
    return b"".join(bytes([len(run) + 1]) + run for run in data.split(b"\0"))


def test_the_helpers_of_this_test_know_the_published_examples() -> None:
    assert crc_by_hand(b"123456789") == 0x29B1
    assert crc(b"123456789") == 0x29B1
    # The examples of Cheshire and Baker's paper, as far as they are this short.
    assert cobs_by_hand(b"\0") == b"\x01\x01"
    assert cobs_by_hand(b"\0\0") == b"\x01\x01\x01"
    assert cobs_by_hand(bytes.fromhex("11220033")) == bytes.fromhex("0311220233")
    assert cobs_by_hand(bytes.fromhex("11223344")) == bytes.fromhex("0511223344")
    assert cobs_by_hand(bytes.fromhex("11000000")) == bytes.fromhex("0211010101")


@pytest.mark.parametrize("entry", FRAMES["frames"], ids=lambda entry: entry["name"])
def test_a_golden_frame_is_right_by_hand(entry: dict[str, Any]) -> None:
    sizes = SIZES[entry["message"]]
    assert list(entry["fields"]) == list(sizes)
    packed = bytes([FRAMES["types"][entry["message"]], entry["number"]])
    for name, size in sizes.items():
        value = entry["fields"][name]
        packed += bytes(value) if isinstance(value, list) else value.to_bytes(size, "little")
    packed += crc_by_hand(packed).to_bytes(2, "little")
    assert packed.hex() == entry["content"]
    assert entry["frame"] == (b"\0" + cobs_by_hand(packed) + b"\0").hex()


def test_two_golden_frames_written_out() -> None:
    """So that the file is held against something that no program of ours has written."""
    by_name = {entry["name"]: entry for entry in FRAMES["frames"]}
    assert by_name["ping-game"]["content"][:8] == "037f000a"  # type 3, number 7f, token 0x0a00
    assert by_name["set-uid-game"]["content"][:12] == "057fd4c3b2a1"
    assert FRAMES["types"] == {
        "HelloRequest": 1, "State": 2, "Ping": 3, "EventAck": 4, "SetUid": 5,
        "Hello": 0x81, "Pong": 0x83, "Event": 0x84,
    }  # fmt: skip


# ---------------------------------------------------------------- our codec


def test_the_files_are_what_the_script_writes() -> None:
    module = maker()
    for name, document in module.documents().items():
        assert (VECTORS / name).read_text("utf-8") == module.text_of(document), (
            f"run python firmware_bridge/vectors/make.py: {name} is not what it writes"
        )


@pytest.mark.parametrize("entry", FRAMES["frames"], ids=lambda entry: entry["name"])
def test_the_codec_keeps_the_golden_frames(entry: dict[str, Any]) -> None:
    message = message_of(entry)
    frame = bytes.fromhex(entry["frame"])
    assert encode(message, entry["number"]) == frame
    assert Decoder().feed(frame) == [message]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("entry", FRAMES["streams"], ids=lambda entry: entry["name"])
def test_the_codec_keeps_the_golden_streams(entry: dict[str, Any], size: int) -> None:
    decoder = Decoder()
    data = bytes.fromhex(entry["bytes"])
    read: list[Message] = []
    for start in range(0, len(data), size):
        read += decoder.feed(data[start : start + size])
    assert read == [message_of(each) for each in entry["read"]]
    assert {name: getattr(decoder.counts, name) for name in entry["counts"]} == entry["counts"]


# ---------------------------------------------------------------- the virtual panel


class Sent:
    """What a panel has sent, and when."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, str, dict[str, Any]]] = []
        self._decoder = Decoder()

    def collect(self, board: Board, now: float) -> None:
        for message in self._decoder.feed(board.take_output()):
            self.frames.append((now, type(message).__name__, dict(vars(message))))


def run_to(board: Board, sent: Sent, at: float) -> None:
    """Let the panel do what is due before this time, each thing at its own."""
    while (due := board.next_time()) is not None and due <= at:
        board.advance(due)
        sent.collect(board, due)
    board.advance(at)
    sent.collect(board, at)


def play(sequence: dict[str, Any]) -> list[tuple[float, str, dict[str, Any]]]:
    """Do what a sequence's host and people do; check the lamps; return what the panel sends."""
    board = Board(Make(sequence["buttons"]), sequence["uid"])
    sent = Sent()
    for step in sequence["steps"]:
        at = step["at"]
        run_to(board, sent, at)
        if "start" in step:
            board.power_on(ResetCause[step["start"]], at)
        elif "host" in step:
            board.received(bytes.fromhex(step["frame"]), at)
        elif "bytes" in step:
            board.received(bytes.fromhex(step["bytes"]), at)
        elif "down" in step:
            board.edge(step["down"], True, at)
        elif "up" in step:
            board.edge(step["up"], False, at)
        elif "shows" in step:
            assert list(board.signs(at)) == step["shows"], f"at {at}"
            marked = [button for button, sign in enumerate(board.shown(at)) if sign.marked]
            assert marked == ([step["marked"]] if "marked" in step else []), f"at {at}"
        sent.collect(board, at)
    run_to(board, sent, sequence["until"])
    return sent.frames


@pytest.mark.parametrize("sequence", PANEL["sequences"], ids=lambda sequence: sequence["name"])
def test_the_virtual_panel_keeps_the_golden_sequences(sequence: dict[str, Any]) -> None:
    tolerance = PANEL["tolerance"]
    expected = [step for step in sequence["steps"] if "panel" in step]
    sent = play(sequence)
    told = [(step["at"], step["panel"]) for step in expected]
    assert [name for _, name, _ in sent] == [name for _, name in told], (sent, told)
    for (at, name, fields), step in zip(sent, expected, strict=True):
        assert abs(at - step["at"]) <= tolerance, (sequence["name"], at, step)
        for field, value in step["fields"].items():
            allowed = tolerance if field == "age" else 0
            assert abs(fields[field] - value) <= allowed, (name, at, field, fields[field], value)


def test_the_steps_of_all_sequences_are_in_order_and_their_frames_are_right() -> None:
    names = [sequence["name"] for sequence in PANEL["sequences"]]
    assert len(set(names)) == len(names)
    for sequence in PANEL["sequences"]:
        times = [step["at"] for step in sequence["steps"]]
        assert times == sorted(times)
        assert times[-1] <= sequence["until"]
        for step in sequence["steps"]:
            if "host" in step:
                message = message_of({"message": step["host"], "fields": step["fields"]})
                assert Decoder().feed(bytes.fromhex(step["frame"])) == [message]
