"""Golden frames, and lines with something wrong on them."""

from __future__ import annotations

from typing import Any

from tableturn_bridge.frames import crc, enclose, encode
from tableturn_bridge.protocol import (
    Caps,
    Event,
    EventAck,
    Flags,
    Hello,
    HelloRequest,
    Kind,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    SetUid,
    State,
)


def fields_of(message: Message) -> dict[str, Any]:
    """A message's fields, as JSON has them."""
    return {
        name: list(value) if isinstance(value, tuple) else int(value)
        for name, value in vars(message).items()
    }


SMALL: dict[str, Message] = {
    "hello-request": HelloRequest(1, 1, 1),
    "state": State(1, 1, 1, 1, (0x11, 0x21, 0x31, 0x41, 0x51, 0x61), 1, 1),
    "ping": Ping(1),
    "event-ack": EventAck(1, Result.ACCEPTED, 1),
    "set-uid": SetUid(1),
    "hello": Hello(1, 1, 1, 1, 1, ResetCause.POWER_ON, 4, Caps.MASTER_BUTTON, 1),
    "pong": Pong(1, 1, 1, 1, 1, 1, 1, 1),
    "event": Event(1, 1, 1, Kind.PRESS, 1, 1, 1, 1, 1),
}
GAME: dict[str, Message] = {
    "hello-request": HelloRequest(1, 3, 0xDEADBEEF),
    "state": State(0x29B1, 57, 0b0010, 0b0010, (0x13, 0x22, 0x30, 0x40, 0, 0), Flags.TIME_LOW, 200),
    "ping": Ping(0x0A00),
    "event-ack": EventAck(300, Result.STALE, 0xDEADBEEF),
    "set-uid": SetUid(0xA1B2C3D4),
    "hello": Hello(1, 1, 0, 0xA1B2C3D4, 0, ResetCause.BROWN_OUT, 6, 0x0103, 0x00010000),
    "pong": Pong(0x0A00, 57, 3_600_000, 0xDEADBEEF, 12, 0, 3, 4),
    "event": Event(0xDEADBEEF, 300, 1, Kind.CHORD, 2, 0x29B1, 57, 1068, 3),
}
assert SMALL.keys() == GAME.keys()


def every_bit(message: Message, byte: int) -> Message:
    """A message of the same kind whose body is made of one byte."""
    other = type(message).of(bytes([byte]) * message.FORM.size)
    assert other is not None
    return other


def golden_frames() -> list[dict[str, Any]]:
    """Each message four times: with ones, as in a game, with nothing but zeros, and the largest."""
    found = []
    for name, small in SMALL.items():
        kinds = {
            "ones": (small, 1),
            "game": (GAME[name], 0x7F),
            "zeros": (every_bit(small, 0x00), 0),
            "largest": (every_bit(small, 0xFF), 255),
        }
        for words, (message, number) in kinds.items():
            content = bytes((message.CODE, number)) + message.body()
            content += crc(content).to_bytes(2, "little")
            found.append(
                {
                    "name": f"{name}-{words}",
                    "message": type(message).__name__,
                    "fields": fields_of(message),
                    "number": number,
                    "content": content.hex(),
                    "frame": encode(message, number).hex(),
                }
            )
    return found


def stream(name: str, why: str, data: bytes, *read: Message, **counts: int) -> dict[str, Any]:
    """Bytes, and what a reader makes of them."""
    nothing = dict.fromkeys(("frames", "crc_errors", "garbage", "unknown", "short"), 0)
    return {
        "name": name,
        "why": why,
        "bytes": data.hex(),
        "read": [{"message": type(each).__name__, "fields": fields_of(each)} for each in read],
        "counts": nothing | counts,
    }


def golden_streams() -> list[dict[str, Any]]:
    """Lines with something wrong on them. A good frame follows, to be read all the same."""
    good = Ping(0x1234)
    frame = encode(good, 9)
    state = GAME["state"]
    told = encode(state, 8)
    body = good.body()
    wrong = bytearray(told)
    wrong[-3] ^= 0x01
    one_zero = told + frame[1:]
    return [
        stream("two", "two frames", told + frame, state, good, frames=2),
        stream("shared-zero", "one zero ends a frame and begins the next", one_zero, state, good,
               frames=2),
        stream("zeros", "any number of zeros is no frame", bytes(5) + frame + bytes(5), good,
               frames=1),
        stream("no-end", "the last zero is missing: not yet a frame", frame + told[:-1], good,
               frames=1),
        stream("crc", "one bit of the CRC is wrong", bytes(wrong) + frame, good, frames=1,
               crc_errors=1),
        stream("cut", "a frame that ends too early, as by a reset", told[:12] + frame, good,
               frames=1, garbage=11),
        stream("tiny", "three bytes: too short for type, number and CRC",
               bytes.fromhex("0004030201") + frame, good, frames=1, garbage=4),
        stream("boot", "what a boot loader says, without a zero", b"\xf0\x0d boot\x14\x10" + frame,
               good, frames=1, garbage=9),
        stream("endless", "300 bytes without a zero", b"\x55" * 300 + frame, good, frames=1,
               garbage=300),
        stream("just-too-long", "a body of 33 bytes, all else correct",
               b"\0\x26" + b"\x77" * 37 + frame, good, frames=1, garbage=38),
        stream("longest", "a type of later versions with a body of 32 bytes",
               enclose(0x7E, 8, bytes(range(1, 33))) + frame, good, frames=2, unknown=1),
        stream("unknown", "a type of later versions", enclose(0x7E, 8, b"new") + frame, good,
               frames=2, unknown=1),
        stream("grown", "a body that has grown at its end: the known part is read",
               enclose(Ping.CODE, 8, body + b"\x01\x00\x02"), good, frames=1),
        stream("shrunk", "a body that is shorter than known: dropped",
               enclose(Ping.CODE, 8, body[:1]) + frame, good, frames=2, short=1),
        stream("empty", "no body at all: dropped", enclose(Ping.CODE, 8, b"") + frame, good,
               frames=2, short=1),
    ]  # fmt: skip
