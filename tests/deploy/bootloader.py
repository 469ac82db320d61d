"""The boot loader of a board, as far as avrdude talks with it: STK500v1 on a pseudo terminal.

It speaks at one speed and doesn't understand any other. It keeps what is written to its flash, page
by page, and its own part of the flash can't be written, as with Optiboot.
"""

from __future__ import annotations

import contextlib
import os
import pty
import select
import termios
import threading
import tty
from collections.abc import Iterator
from enum import IntEnum

IN_SYNC, OK = 0x14, 0x10
END_OF_COMMAND = 0x20
SIGNATURE = bytes((0x1E, 0x95, 0x0F))
CHIP_ERASE = bytes((0xAC, 0x80))
"""How an instruction for the chip begins that erases all of it."""
FLASH, BOOT_SECTION, PAGE = 32768, 32768 - 512, 128
_SPEEDS = {115200: termios.B115200, 57600: termios.B57600}


class Command(IntEnum):
    """What the programmer may ask."""

    GET_SYNC = 0x30
    GET_PARAMETER = 0x41
    SET_DEVICE = 0x42
    SET_DEVICE_EXT = 0x45
    ENTER = 0x50
    LEAVE = 0x51
    LOAD_ADDRESS = 0x55
    UNIVERSAL = 0x56
    WRITE_PAGE = 0x64
    READ_PAGE = 0x74
    READ_SIGNATURE = 0x75


ARGUMENTS = dict.fromkeys(Command, 0) | {
    Command.GET_PARAMETER: 1,
    Command.SET_DEVICE: 20,
    Command.SET_DEVICE_EXT: 5,
    Command.LOAD_ADDRESS: 2,
    Command.UNIVERSAL: 4,
    Command.WRITE_PAGE: 3,
    Command.READ_PAGE: 3,
}
"""How many bytes follow a command before its end; with `WRITE_PAGE`, before the page's own."""


class BootLoader:
    """A board that waits for a program. Use it with `with`.

    `baud` is its speed. `worn` is the address of a byte of its flash that keeps nothing.
    `signature` is that of its chip.
    """

    def __init__(
        self, baud: int = 115200, *, worn: int | None = None, signature: bytes = SIGNATURE
    ) -> None:
        self.baud = baud
        self.flash = bytearray(b"\xff" * FLASH)
        self.mistakes: list[str] = []
        """What it was asked to write and would not."""
        self.heard: list[Command] = []
        """The commands that came, in order."""
        self._worn = worn
        self._signature = signature
        self._address = 0
        self._ending = threading.Event()
        self._master, slave = pty.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        os.close(slave)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> BootLoader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        os.close(self._master)

    def _run(self) -> None:
        while not self._ending.is_set():
            waiting = bytearray()  # each opening of the port resets the board
            with contextlib.suppress(OSError):
                for part in self._bytes():
                    waiting += part
                    while self._carry_out(waiting):
                        pass
            self._ending.wait(0.01)

    def _bytes(self) -> Iterator[bytes]:
        """What comes, until the port is closed. Raises OSError then."""
        while not self._ending.is_set():
            if select.select([self._master], [], [], 0.02)[0]:
                data = os.read(self._master, 4096)
                if termios.tcgetattr(self._master)[4] == _SPEEDS[self.baud]:
                    yield data

    def _carry_out(self, waiting: bytearray) -> bool:
        """Do the first command that has come whole; whether there was one."""
        while waiting and waiting[0] not in ARGUMENTS:
            del waiting[0]
        if not waiting:
            return False
        command = Command(waiting[0])
        count = 1 + ARGUMENTS[command]
        if command is Command.WRITE_PAGE and len(waiting) >= count:
            count += waiting[1] << 8 | waiting[2]
        if len(waiting) <= count:
            return False
        arguments, end = bytes(waiting[1:count]), waiting[count]
        del waiting[: count + 1]
        if end == END_OF_COMMAND:
            self.heard.append(command)
            os.write(self._master, bytes((IN_SYNC, *self._answer(command, arguments), OK)))
        return True

    def _answer(self, command: Command, arguments: bytes) -> bytes:
        match command:
            case Command.GET_PARAMETER:
                return b"\3"
            case Command.UNIVERSAL:  # such as a fuse, which no boot loader can reach
                if arguments.startswith(CHIP_ERASE):
                    self.mistakes.append("erasing the chip")
                return b"\0"
            case Command.READ_SIGNATURE:
                return self._signature
            case Command.LOAD_ADDRESS:  # in words
                self._address = 2 * int.from_bytes(arguments, "little")
            case Command.WRITE_PAGE:
                self._write(arguments[2:3], arguments[3:])
            case Command.READ_PAGE:
                size = int.from_bytes(arguments[:2], "big")
                return bytes(self.flash[self._address : self._address + size])
        return b""

    def _write(self, memory: bytes, data: bytes) -> None:
        if memory != b"F" or len(data) > PAGE:
            self.mistakes.append(f"{len(data)} bytes for the memory {memory!r}")
        elif self._address + len(data) > BOOT_SECTION:
            self.mistakes.append(f"{len(data)} bytes at {self._address}, the boot loader's own")
        else:
            self.flash[self._address : self._address + len(data)] = data
            if self._worn is not None:
                self.flash[self._worn] = 0x5A
