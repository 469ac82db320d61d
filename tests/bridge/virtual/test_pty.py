"""The virtual panel in real time, with a host that opens its port like that of a board.

Nothing here asserts how fast something is; times in virtual time are in the other files.
"""

import asyncio
import os
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import serial

from tableturn_bridge import frames
from tableturn_bridge.protocol import (
    Event,
    EventAck,
    Hello,
    Message,
    ResetCause,
    Result,
    SetUid,
    State,
)
from tableturn_bridge.protocol import HelloRequest as Request
from tableturn_bridge.virtual.port import LinkTaken
from tableturn_bridge.virtual.pty import GREETING, VirtualPanel

from .play import all_armed, exists, until

PATIENCE = 20


class PortHost:
    """A plain host on a plain port: greets, shows a picture, answers each event."""

    def __init__(self, path: str) -> None:
        self.port = serial.Serial(path, 115200, timeout=0)
        self.heard: list[Message] = []
        self.raw = b""
        self.result = Result.ACCEPTED
        self.picture: State = all_armed
        self.decoder = frames.Decoder()
        self.error: Exception | None = None

    def write(self, message: Message) -> None:
        self.port.write(frames.encode(message, 0))

    async def run(self) -> None:
        beats = 0
        try:
            while True:
                if beats % 20 == 0:
                    self.write(self.picture if self.is_up else Request(1, 1, 5))
                beats += 1
                data = self.port.read(1000)
                self.raw += data
                for message in self.decoder.feed(data):
                    self.hear(message)
                await asyncio.sleep(0.005)
        except (OSError, termios.error) as error:
            self.error = error

    def hear(self, message: Message) -> None:
        self.heard.append(message)
        if isinstance(message, Hello) and message.session:
            self.write(self.picture)
        if isinstance(message, Event):
            self.picture = replace(self.picture, revision=self.picture.revision + 1)
            self.write(EventAck(message.number, self.result, message.session))
            self.write(self.picture)

    @property
    def is_up(self) -> bool:
        hellos = [message for message in self.heard if isinstance(message, Hello)]
        return bool(hellos and hellos[-1].session)

    @property
    def events(self) -> list[Event]:
        return [message for message in self.heard if isinstance(message, Event)]


@asynccontextmanager
async def host_at(path: str) -> AsyncIterator[PortHost]:
    host = PortHost(path)
    task = asyncio.create_task(host.run())
    try:
        yield host
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        host.port.close()


def has_reset(panel: VirtualPanel, times: int) -> bool:
    return panel.board.resets["EXTERNAL"] == times


@pytest.mark.case("H4")
async def test_opening_its_port_resets_it_and_what_the_boot_loader_says_is_dropped() -> None:
    async with VirtualPanel(2, uid=9, greeting=GREETING) as panel:
        assert panel.board.resets == {"POWER_ON": 1}
        for opened in (1, 2):
            async with host_at(panel.path) as host:
                await until(partial(has_reset, panel, opened))
                await panel.wait_lamp(1, ["TURN"], PATIENCE)
                assert panel.board.resets["EXTERNAL"] == opened
                assert host.raw.startswith(GREETING)
                first = host.heard[0]
                assert isinstance(first, Hello)
                assert first.session == 0
            await until(lambda: not panel.is_open)


async def test_gestures_arrive_once_each_and_tell_what_became_of_them() -> None:
    async with VirtualPanel(4, uid=9) as panel, host_at(panel.path) as host:
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        for press in (
            panel.press(1, wait=True),
            panel.press(2, bounce=True, wait=True),
            panel.hold(3, wait=True),
            panel.chord(4, 1, wait=True),
            panel.master(wait=True),
        ):
            told = await press
            assert told is not None
            assert told.fate == "ACCEPTED"
            assert told.released_at <= told.acked_at
        kinds = [(event.kind, event.button, event.second) for event in host.events]
        assert kinds == [(1, 0, 255), (1, 1, 255), (2, 2, 255), (3, 3, 0), (4, 255, 255)]
        host.result = Result.REJECTED
        told = await panel.press(1, wait=True)
        assert told is not None
        assert told.fate == "REJECTED"
        assert panel.lamps()[0].sign == "REFUSED"
        assert panel.lamps()[0].color_word == "red"


async def test_a_press_that_is_no_gesture_ends_with_the_patience() -> None:
    async with VirtualPanel(2) as panel:
        with pytest.raises(TimeoutError):
            await panel.press(1, ms=2, wait=True, timeout=0.1)


@pytest.mark.case("H1")
async def test_unplugged_the_host_gets_an_error_and_the_name_is_gone(tmp_path: Path) -> None:
    link, other = tmp_path / "panel", tmp_path / "other"
    async with VirtualPanel(2, link=link, uid=0) as panel:
        async with host_at(panel.path) as host:
            await panel.wait_lamp(1, ["TURN"], PATIENCE)
            host.write(SetUid(44))
            await until(lambda: panel.board.uid == 44)
            panel.unplug()
            await until(lambda: host.error is not None)
        assert panel.path == ""
        assert not exists(link)
        assert {lamp.sign for lamp in panel.lamps()} == {"DARK"}

        assert panel.plug(other) == str(other)
        assert not exists(link)
        async with host_at(str(other)) as host:
            await panel.wait_lamp(1, ["TURN"], PATIENCE)
            hello = host.heard[-1] if isinstance(host.heard[-1], Hello) else host.heard[0]
            assert isinstance(hello, Hello)
            assert hello.uid == 44
    assert not exists(other)


async def test_a_reset_by_the_watchdog_needs_no_opening() -> None:
    async with VirtualPanel(2, uid=9) as panel, host_at(panel.path) as host:
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        panel.reset(ResetCause.WATCHDOG)
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        assert [one.reset_cause for one in host.heard if isinstance(one, Hello)][-1] == 4


async def test_a_name_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(LinkTaken, match="is a file already"):
        async with VirtualPanel(2, link=file):
            pass
    assert file.read_text() == "mine"
    with pytest.raises(LinkTaken, match="can't lead to the port"):
        async with VirtualPanel(2, link=tmp_path / "no" / "folder"):
            pass


async def test_a_name_that_leads_to_a_port_of_before_is_taken_over(tmp_path: Path) -> None:
    link = tmp_path / "panel"
    link.symlink_to("/dev/pts/99999")
    async with VirtualPanel(2, link=link):
        assert os.readlink(link) != "/dev/pts/99999"
    assert not exists(link)


async def test_a_name_that_leads_somewhere_else_is_left_alone(tmp_path: Path) -> None:
    link = tmp_path / "panel"
    link.symlink_to("/dev/null")
    with pytest.raises(LinkTaken, match="leads to /dev/null, which is no panel's port"):
        async with VirtualPanel(2, link=link):
            pass
    assert os.readlink(link) == "/dev/null"


async def test_the_name_of_a_panel_that_is_plugged_in_is_left_alone(tmp_path: Path) -> None:
    link = tmp_path / "panel"
    async with VirtualPanel(2, link=link) as panel:
        before = os.readlink(link)
        with pytest.raises(LinkTaken, match="is the port of another panel"):
            async with VirtualPanel(2, link=link):
                pass
        assert os.readlink(link) == before
        panel.unplug()
        async with VirtualPanel(2, link=link) as second:
            with pytest.raises(LinkTaken, match="is the port of another panel"):
                panel.plug()
            assert second.path == str(link)
        assert panel.plug() == str(link)


async def test_it_sleeps_until_there_is_something_to_do() -> None:
    """Nothing is due on a panel that nobody has open, once its lamps were tested."""
    async with VirtualPanel(2) as panel:
        await panel.wait_lamp(1, ["LINK_LOST"], PATIENCE)
        assert panel.board.next_time() is None
