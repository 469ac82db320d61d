"""A panel for the tests of the host's side: it answers as it is told, on a pseudo terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tty
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tableturn_bridge.frames import Decoder, encode
from tableturn_bridge.protocol import (
    Event,
    EventAck,
    Hello,
    HelloRequest,
    Kind,
    Message,
    Ping,
    Pong,
    SetUid,
    State,
)

M = TypeVar("M", bound=Message)


def hello(*, protocol: int = 1, uid: int = 0xA1B2C3D4, session: int = 7, buttons: int = 4) -> Hello:
    return Hello(protocol, 1, 2, uid, session, 1, buttons, 1, 99)


def press(number: int, *, session: int = 7, button: int = 0, tries: int = 0) -> Event:
    return Event(session, number, button, Kind.PRESS, 0xFF, 0x1234, 57, 30, tries)


class FakePanel:
    """Keeps number and session as a panel does, and all that it heard. No times, no queue."""

    def __init__(self, *, uid: int = 0xA1B2C3D4, protocol: int = 1, buttons: int = 4) -> None:
        self.uid = uid
        self.protocol = protocol
        self.buttons = buttons
        self.session = 0
        self.mute = False
        self.heard: list[Message] = []
        self.decoder = Decoder()
        self._number = 0

    def frame(self, message: Message) -> bytes:
        self._number += 1
        return encode(message, self._number)

    def hello(self) -> bytes:
        return self.frame(
            hello(protocol=self.protocol, uid=self.uid, session=self.session, buttons=self.buttons)
        )

    def reset(self) -> bytes:
        """Lose the session, and say hello unasked."""
        self.session = 0
        return self.hello()

    def feed(self, data: bytes) -> bytes:
        answers = b""
        for message in self.decoder.feed(data):
            self.heard.append(message)
            if self.mute:
                continue
            if isinstance(message, HelloRequest):
                self.session = self.session or message.session
                answers += self.hello()
            elif isinstance(message, SetUid):
                self.uid = message.uid
            elif isinstance(message, Ping):
                pong = Pong(message.token, 0, 1000, self.session, 3, 2, 1, 0)
                answers += self.frame(pong)
        return answers

    def last(self, kind: type[M]) -> M | None:
        return next((each for each in reversed(self.heard) if isinstance(each, kind)), None)

    def all(self, kind: type[M]) -> list[M]:
        return [each for each in self.heard if isinstance(each, kind)]

    @property
    def shown(self) -> State | None:
        return self.last(State)

    @property
    def acks(self) -> list[EventAck]:
        return self.all(EventAck)


class Plugged:
    """A fake panel that is plugged in: a pseudo terminal with a link to it.

    `to_a_request` is what it says once to the first bytes that it hears, before its answer.
    """

    def __init__(self, panel: FakePanel, link: Path, *, to_a_request: bytes = b"") -> None:
        self.panel = panel
        self.link = link
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        link.unlink(missing_ok=True)
        link.symlink_to(os.ttyname(self.slave))
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self.master, self._readable)
        self._once = to_a_request

    def says(self, data: bytes) -> None:
        if data:
            os.write(self.master, data)

    def presses(self, event: Event) -> None:
        self.says(self.panel.frame(event))

    def unplug(self) -> None:
        self.kill()
        self.link.unlink(missing_ok=True)

    def kill(self) -> None:
        """Close the terminal under whoever has it open."""
        if self.master >= 0:
            self._loop.remove_reader(self.master)
            os.close(self.slave)
            os.close(self.master)
            self.master = self.slave = -1

    def _readable(self) -> None:
        with contextlib.suppress(BlockingIOError, InterruptedError):
            answer = self.panel.feed(os.read(self.master, 4096))
            once, self._once = self._once, b""
            self.says(once + answer)


async def until(condition: Callable[[], bool], patience: float = 30) -> None:
    """Wait until this holds; a test that waits for too long fails."""
    async with asyncio.timeout(patience):
        while not condition():  # noqa: ASYNC110 - there is nothing else to wait for
            await asyncio.sleep(0.005)
