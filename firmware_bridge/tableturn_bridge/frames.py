"""How messages travel: each in a frame that is found again after any garbage.

    00 | COBS( type u8, number u8, body of at most 32 bytes, CRC-16 u16 ) | 00

COBS leaves no zero between the two that enclose a frame, so whoever reads begins anew at each
zero: a boot loader's greeting or half a frame costs at most the frame that it touches. The zero
in front ends what stood on the line before. The CRC is CCITT's from 0xFFFF over everything before
it, little endian: 0x29B1 for "123456789". The number counts the frames of one direction; it only
serves to notice lost ones.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from dataclasses import dataclass

from cobs import cobs

from tableturn_bridge import protocol
from tableturn_bridge.protocol import LONGEST_BODY, Message

SHORTEST_CONTENT = 4
"""Bytes of a frame without a body, before COBS: type, number and CRC."""
LONGEST_CONTENT = SHORTEST_CONTENT + LONGEST_BODY
LONGEST_CODED = LONGEST_CONTENT + 1
"""Bytes between the zeros at most: COBS adds one to so few."""


def crc(content: bytes) -> int:
    """The CRC-16 of a frame's content."""
    return crc_hqx(content, 0xFFFF)


def enclose(code: int, number: int, body: bytes) -> bytes:
    """A frame of a type's code, a number (taken modulo 256) and a body.

    Raises ValueError for a body that is too long or a code that is no byte.
    """
    if len(body) > LONGEST_BODY:
        raise ValueError(f"a body has at most {LONGEST_BODY} bytes, not {len(body)}")
    content = bytes((code, number & 0xFF)) + body
    coded: bytes = cobs.encode(content + struct.pack("<H", crc(content)))
    return b"\0" + coded + b"\0"


def encode(message: Message, seq: int) -> bytes:
    """The frame of a message. Raises ValueError if a value doesn't fit its field."""
    return enclose(message.CODE, seq, message.body())


@dataclass
class Counts:
    """What a decoder has seen so far."""

    bytes: int = 0
    """All bytes, good or bad."""
    frames: int = 0
    """Whole frames with a correct CRC, also those of unknown types or with short bodies."""
    crc_errors: int = 0
    """Pieces of a frame's length whose CRC is wrong."""
    garbage: int = 0
    """Bytes in pieces that can't be frames: too short, too long, or no COBS."""
    unknown: int = 0
    """Frames of types that this version doesn't know."""
    short: int = 0
    """Frames whose body is shorter than this version knows it."""
    gaps: int = 0
    """How often a frame's number didn't follow the last one's: frames were lost before it."""


class Decoder:
    """Finds messages in a stream of bytes that comes in pieces of any size.

    It keeps at most one frame's length of bytes, whatever comes.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self._piece = bytearray()
        self._too_long = False
        self._number: int | None = None

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete with these bytes, in their order."""
        self.counts.bytes += len(data)
        messages: list[Message] = []
        first, *others = data.split(b"\0")
        self._collect(first)
        for part in others:
            message = self._end()
            if message is not None:
                messages.append(message)
            self._collect(part)
        return messages

    def _collect(self, part: bytes) -> None:
        """Keep bytes of the current piece, or only count them once it is too long."""
        if not self._too_long and len(self._piece) + len(part) > LONGEST_CODED:
            self._too_long = True
            self.counts.garbage += len(self._piece)
            self._piece.clear()
        if self._too_long:
            self.counts.garbage += len(part)
        else:
            self._piece += part

    def _end(self) -> Message | None:
        """A zero: read the piece before it, and begin a new one."""
        piece = bytes(self._piece)
        self._piece.clear()
        self._too_long = False
        if not piece:
            return None
        content = _uncover(piece)
        if content is None:
            self.counts.garbage += len(piece)
            return None
        return self._read(content)

    def _read(self, content: bytes) -> Message | None:
        covered, (given,) = content[:-2], struct.unpack("<H", content[-2:])
        if crc(covered) != given:
            self.counts.crc_errors += 1
            return None
        self.counts.frames += 1
        code, number, body = covered[0], covered[1], covered[2:]
        if self._number is not None and number != (self._number + 1) & 0xFF:
            self.counts.gaps += 1
        self._number = number
        if code not in protocol.MESSAGES:
            self.counts.unknown += 1
            return None
        message = protocol.read(code, body)
        if message is None:
            self.counts.short += 1
        return message


def _uncover(piece: bytes) -> bytes | None:
    """The content of what stood between two zeros; None if it can't be a frame."""
    try:
        content: bytes = cobs.decode(piece)
    except cobs.DecodeError:
        return None
    return content if SHORTEST_CONTENT <= len(content) <= LONGEST_CONTENT else None
