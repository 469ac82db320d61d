"""Frames: found after any garbage, in pieces of any size, and never taken for another message."""

from __future__ import annotations

import itertools
import random

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from tableturn_bridge.frames import LONGEST_CODED, Counts, Decoder, crc, enclose, encode
from tableturn_bridge.protocol import (
    MESSAGES,
    Event,
    Hello,
    Message,
    Ping,
    Pong,
    SetUid,
    State,
)

PICTURE = State(0x1234, 57, 0b000101, 0b000001, (0x11, 0x23, 0x35, 0x40, 0, 0), 0, 255)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any message with any values."""
    kind = draw(st.sampled_from(sorted(MESSAGES.values(), key=lambda kind: kind.CODE)))
    body = draw(st.binary(min_size=kind.FORM.size, max_size=kind.FORM.size))
    message = kind.of(body)
    assert message is not None
    return message


def fed(decoder: Decoder, data: bytes, cuts: list[int]) -> list[Message]:
    """What a decoder reads of data that comes in these pieces."""
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    found: list[Message] = []
    for start, end in itertools.pairwise(places):
        found += decoder.feed(data[start:end])
    return found


def test_a_frame_by_hand() -> None:
    # Type 03, number 05, body 34 12; no zero in it, so COBS only puts the length before it.
    content = bytes.fromhex("03053412")
    check = crc(content)
    assert 0 not in check.to_bytes(2, "little")
    assert encode(Ping(0x1234), 5) == b"\0\x07" + content + check.to_bytes(2, "little") + b"\0"


def test_the_crc_is_the_known_one() -> None:
    assert crc(b"123456789") == 0x29B1
    assert crc(b"") == 0xFFFF


@given(messages(), st.integers(0, 255))
def test_every_message_is_read_as_it_was_sent(message: Message, number: int) -> None:
    frame = encode(message, number)
    assert frame[0] == frame[-1] == 0
    assert 0 not in frame[1:-1]
    assert len(frame) - 2 <= LONGEST_CODED
    decoder = Decoder()
    assert decoder.feed(frame) == [message]
    assert decoder.counts == Counts(bytes=len(frame), frames=1)


@given(st.binary(max_size=200), messages(), st.lists(st.integers(0, 260)))
def test_a_frame_is_read_after_any_garbage(
    garbage: bytes, message: Message, cuts: list[int]
) -> None:
    found = fed(Decoder(), garbage + encode(message, 1), cuts)
    assert found[-1] == message


@given(st.lists(messages(), max_size=8), st.lists(st.integers(0, 400)))
def test_frames_may_be_split_anywhere(sent: list[Message], cuts: list[int]) -> None:
    decoder = Decoder()
    stream = b"".join(encode(message, number) for number, message in enumerate(sent))
    assert fed(decoder, stream, cuts) == sent
    assert decoder.counts == Counts(bytes=len(stream), frames=len(sent))


@given(messages(), st.data())
def test_flipped_bits_are_noticed(message: Message, data: st.DataObject) -> None:
    frame = encode(message, 1)
    # The CRC notices any one or two flipped bits and any burst of at most 16, if the zeros stay.
    bits = data.draw(
        st.lists(st.integers(8, 8 * len(frame) - 9), min_size=1, max_size=2, unique=True)
    )
    damaged = bytearray(frame)
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    for found in Decoder().feed(bytes(damaged)):
        assert_collides(damaged, found)


def assert_collides(damaged: bytearray, found: Message) -> None:
    """A message was read of damaged bytes: then one of its pieces has a correct CRC after all.

    A flip in a byte of COBS moves zeros about, which is more than two bits of the content.
    """
    right = []
    for piece in bytes(damaged).split(b"\0"):
        try:
            content = cobs.decode(piece)
        except cobs.DecodeError:
            continue
        if len(content) >= 4 and crc(content[:-2]) == int.from_bytes(content[-2:], "little"):
            right.append(content)
    assert any(content[2 : 2 + len(found.body())] == found.body() for content in right)


def test_of_many_damaged_frames_none_is_believed() -> None:
    drawn = random.Random(20)
    decoder = Decoder()
    believed = []
    for number in range(5_000):
        frame = bytearray(encode(PICTURE, number))
        bit = drawn.randrange(8, 8 * len(frame) - 8)
        frame[bit // 8] ^= 1 << bit % 8
        believed += decoder.feed(bytes(frame))
    assert believed == []
    assert decoder.counts.crc_errors + decoder.counts.garbage > 5_000
    assert decoder.feed(encode(PICTURE, 0)) == [PICTURE]


def test_endless_garbage_takes_no_memory() -> None:
    decoder = Decoder()
    for size in (*[1] * 100, *[100] * 1_000):
        assert decoder.feed(b"\xff" * size) == []
        assert len(decoder._piece) <= LONGEST_CODED
    assert decoder.feed(encode(PICTURE, 3)) == [PICTURE]
    assert decoder.counts.garbage == 100_100


@pytest.mark.parametrize(
    ("data", "counted"),
    [
        (b"\0\0\0\0", Counts(bytes=4)),
        (b"\0\x01\0", Counts(bytes=3, garbage=1)),
        (b"\0\x09abc\0", Counts(bytes=6, garbage=4)),
        (b"\0" + b"\x02a" * 19 + b"\0", Counts(bytes=40, garbage=38)),
        (b"\0" + cobs.encode(b"\x03\x00\x00\x00xy") + b"\0", Counts(bytes=9, crc_errors=1)),
        (enclose(0x7F, 1, b"new"), Counts(bytes=10, frames=1, unknown=1)),
        (enclose(Ping.CODE, 1, b"\x01"), Counts(bytes=8, frames=1, short=1)),
    ],
    ids=["nothing", "short", "no-cobs", "long", "crc", "unknown", "short-body"],
)
def test_what_is_no_message_is_counted_by_kind(data: bytes, counted: Counts) -> None:
    decoder = Decoder()
    assert decoder.feed(data) == []
    assert decoder.counts == counted


def test_a_body_that_has_grown_is_read_as_far_as_it_is_known() -> None:
    grown = enclose(Ping.CODE, 1, b"\x34\x12" + b"later" * 6)
    assert Decoder().feed(grown) == [Ping(0x1234)]


def test_a_lost_frame_leaves_a_gap() -> None:
    decoder = Decoder()
    for number in (254, 255, 0, 2):
        decoder.feed(encode(Ping(1), number))
    assert decoder.counts.gaps == 1


@pytest.mark.parametrize(
    "message",
    [
        Ping(-1),
        Ping(65_536),
        SetUid(2**32),
        State(0, 0, 0, 0, (0,) * 5, 0, 0),
        State(0, 0, 256, 0, (0,) * 6, 0, 0),
    ],
)
def test_a_value_that_does_not_fit_is_not_sent(message: Message) -> None:
    with pytest.raises(ValueError, match="can't be sent"):
        encode(message, 0)


def test_a_body_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="at most 32 bytes, not 33"):
        enclose(3, 0, bytes(33))


def test_bodies_have_the_sizes_of_the_protocol() -> None:
    sizes = {kind.__name__: kind.FORM.size for kind in MESSAGES.values()}
    assert sizes == {
        "HelloRequest": 6,
        "State": 16,
        "Ping": 2,
        "EventAck": 7,
        "SetUid": 4,
        "Hello": 19,
        "Pong": 21,
        "Event": 18,
    }
    assert {Hello.CODE, Pong.CODE, Event.CODE} == {code for code in MESSAGES if code & 0x80}
