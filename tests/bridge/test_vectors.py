"""The golden vectors: right by themselves; kept by codec, virtual panel and firmware."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from tableturn_bridge.frames import Decoder, crc, encode
from tableturn_bridge.protocol import (
    MESSAGES,
    PANEL_TO_HOST,
    Hello,
    HelloRequest,
    Message,
    Ping,
    Pong,
    ResetCause,
    State,
)
from tests.bridge.board.benches import BOARDS, Kind, on_the_bench
from tests.bridge.board.sequences import (
    EVERY,
    FRAMES,
    PANEL,
    VECTORS,
    Played,
    check_bytes,
    check_light,
    check_sent,
    check_signs,
    play,
)

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


# ---------------------------------------------------------------- both boards


def named(sequence: dict[str, Any]) -> str:
    return str(sequence["name"])


def on_the_model(sequence: dict[str, Any]) -> Played:
    with on_the_bench("virtual", sequence["buttons"], uid=sequence["uid"]) as bench:
        played = play(sequence, bench)
        check_sent(sequence, played)
        check_bytes(bench)
        return played


@pytest.mark.parametrize("sequence", PANEL["sequences"], ids=named)
def test_the_virtual_panel_keeps_the_golden_sequences(sequence: dict[str, Any]) -> None:
    played = on_the_model(sequence)
    check_signs(played)
    assert len(played.signs) == sum("shows" in step for step in sequence["steps"])


@pytest.mark.parametrize("sequence", PANEL["sequences"], ids=named)
def test_the_firmware_keeps_the_golden_sequences(sequence: dict[str, Any]) -> None:
    """What its lamps say is told by their light, which is that of the virtual panel throughout."""
    model = on_the_model(sequence)
    with on_the_bench("firmware", sequence["buttons"], uid=sequence["uid"]) as bench:
        played = play(sequence, bench)
        check_sent(sequence, played)
        check_bytes(bench)
        looks = sequence["until"] // EVERY * sequence["buttons"]
        assert check_light(played, model) > looks * 0.6


@pytest.mark.parametrize("kind", BOARDS)
def test_panels_keep_the_golden_streams(kind: Kind) -> None:
    """Of each stream they read what our codec reads: they answer the pings, show the picture, and
    count the same damage."""
    for entry in FRAMES["streams"]:
        data = bytes.fromhex(entry["bytes"])
        with on_the_bench(kind) as bench:
            bench.greet()
            bench.wait(400)
            bench.messages()
            bench.raw(data)
            bench.wait(len(data) / 10 + 20)
            answered = [message for message in bench.messages() if isinstance(message, Pong)]
            pong = bench.pinged()
        decoder = Decoder()
        read = decoder.feed(data + encode(Ping(300), 0))
        pings = [message.token for message in read if isinstance(message, Ping)]
        pictures = [message.revision for message in read if isinstance(message, State)]
        assert [one.token for one in answered] + [300] == pings, entry["name"]
        assert pong.revision == (pictures[-1] if pictures else 0), entry["name"]
        assert pong.crc_errors == decoder.counts.crc_errors, entry["name"]


@pytest.mark.parametrize("kind", BOARDS)
def test_panels_read_the_golden_frames(kind: Kind) -> None:
    with on_the_bench(kind) as bench:
        for entry in FRAMES["frames"]:
            message = message_of(entry)
            if isinstance(message, PANEL_TO_HOST):
                continue
            if not isinstance(message, HelloRequest):
                bench.greet()
            bench.wait(20)
            bench.messages()
            bench.raw(bytes.fromhex(entry["frame"]))
            bench.wait(20)
            said = bench.messages()
            match message:
                case HelloRequest(proto_min=least, proto_max=most):
                    (hello,) = said
                    assert isinstance(hello, Hello)
                    assert (hello.protocol, least <= 1 <= most) == (1, bool(hello.session))
                case Ping(token=token):
                    (pong,) = said
                    assert isinstance(pong, Pong)
                    assert pong.token == token
                case State(revision=revision):
                    assert bench.pinged().revision == revision
            bench.reset(ResetCause.EXTERNAL)
            bench.wait(20)


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
