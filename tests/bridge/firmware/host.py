"""The C core of the firmware on this machine: a board like the model's, worked the same way."""

from __future__ import annotations

import ctypes
import shutil
from ctypes import POINTER, byref, c_uint8, c_uint16, c_uint32
from functools import cache
from pathlib import Path

from tableturn_bridge.emulated import building
from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import NO_BUTTON, ResetCause
from tableturn_bridge.virtual import lights
from tests.meta.tree import ROOT
from tests.support.wanted import missing

SOURCES = ROOT / "firmware_bridge" / "firmware"
LINE_SIZE = 65536
"""Bytes that the line of the library's board keeps."""

NAMES = [
    *(pattern.name for pattern in Pattern),
    lights.TEST.name,
    "HELD_LONG",
    "HELD_CHORD",
    "REFUSED",
    "STALE",
    "NOT_ARMED",
    "NO_ANSWER",
]
"""Names of signs by their numbers: the patterns, then `enum sign_name` of lights.h."""

NOTHING, FRAME, CRC_ERROR, GARBAGE = range(4)
"""`enum framing` of framing.h."""


def need(*tools: str) -> None:
    """Skip the test where one of these programs is missing."""
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        missing(f"{', '.join(absent)} not found")


@cache
def made(name: str, buttons: int, sources: Path | None = None, built: Path | None = None) -> Path:
    """A file that the firmware's Makefile makes with this machine's compiler."""
    try:
        return building.made(
            "firmware", name, building.HOST, f"BUTTONS={buttons}", sources=sources, built=built
        )
    except building.NoTools as error:
        missing(str(error))


class Content(ctypes.Structure):
    """`struct content` of framing.h."""

    _fields_ = [
        ("code", c_uint8),
        ("number", c_uint8),
        ("length", c_uint8),
        ("body", POINTER(c_uint8)),
    ]


class UidWrite(ctypes.Structure):
    """`struct uid_write` of uid_record.h."""

    _fields_ = [("place", c_uint8), ("byte", c_uint8)]


@cache
def library(buttons: int) -> ctypes.CDLL:
    """The core for so many buttons."""
    core = ctypes.CDLL(str(made(f"panel-{buttons}-host.so", buttons)))
    for name, result in {
        "crc16": c_uint16,
        "frame_encode": c_uint8,
        "decoder_take": ctypes.c_int,
        "uid_record_read": c_uint32,
        "uid_record_write": UidWrite,
        "host_buttons": c_uint8,
        "host_size": c_uint32,
        "host_fetch": c_uint32,
        "host_uid": c_uint32,
    }.items():
        getattr(core, name).restype = result
    for name in ("host_power", "host_set_uptime", "host_set_room"):
        getattr(core, name).argtypes = [c_uint32]
    core.uid_record_write.argtypes = [c_uint32, c_uint8]
    return core


class Decoder:
    """The decoder of the C core."""

    def __init__(self, core: ctypes.CDLL) -> None:
        self._core = core
        self._state = (c_uint8 * 64)()  # at least as large as `struct decoder`

    def take(self, byte: int) -> tuple[int, bytes]:
        """What a byte has completed, and the type, number and body of a frame."""
        content = Content()
        result = self._core.decoder_take(self._state, c_uint8(byte), byref(content))
        if result != FRAME:
            return result, b""
        body = bytes(content.body[place] for place in range(content.length))
        return result, bytes((content.code, content.number)) + body


class HostBoard:
    """The C core with the interface of `tableturn_bridge.virtual.board.Board`.

    There is one in a process for each number of buttons: the library has one panel. All times are
    milliseconds, as in the model.
    """

    def __init__(self, buttons: int, uid: int = 0) -> None:
        self.buttons = buttons
        self.core = library(buttons)
        self.core.host_power(uid)
        self._closed = 0
        self._now = 0
        self._on = False
        self._buffer = (c_uint8 * LINE_SIZE)()

    @property
    def uid(self) -> int:
        return int(self.core.host_uid())

    def power_on(self, cause: ResetCause, now: float) -> None:
        self.advance(now)
        self._on = True
        self._now = int(now)
        self.core.host_start(c_uint8(cause), c_uint8(self._closed))

    def received(self, data: bytes, now: float) -> None:
        self.advance(now)
        self.core.host_take(data, c_uint32(len(data)))

    def edge(self, button: int, pressed: bool, now: float) -> None:
        self.advance(now)
        bit = 1 << (self.buttons if button == NO_BUTTON else button)
        self._closed = self._closed | bit if pressed else self._closed & ~bit

    def advance(self, now: float) -> None:
        while self._on and self._now < int(now):
            self._now += 1
            self.core.host_pass(c_uint8(self._closed))

    def take_output(self) -> bytes:
        length = self.core.host_fetch(self._buffer)
        return ctypes.string_at(self._buffer, length)

    def _shown(self) -> list[tuple[int, ...]]:
        """For each lamp the sign's number, whether it is marked, how bright it is, its colour."""
        self.core.host_lamps(self._buffer)
        told = self._buffer[: 4 * self.buttons]
        return [tuple(told[at : at + 4]) for at in range(0, len(told), 4)]

    def signs(self) -> tuple[str, ...]:
        return tuple(NAMES[name] for name, *_ in self._shown())

    def marked(self) -> list[int]:
        return [button for button, (_, marked, *_) in enumerate(self._shown()) if marked]

    def lamps(self) -> tuple[tuple[int, int], ...]:
        """For each button how bright its lamp is, and in which colour."""
        return tuple((level, color) for _, _, level, color in self._shown())
