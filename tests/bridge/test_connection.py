"""A panel that is looked after: plugged, unplugged, reset and broken, on real pseudo terminals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tableturn_bridge.connection import (
    LONGEST_WAIT,
    SHORTEST_WAIT,
    Happened,
    Lost,
    PanelConnection,
    Ready,
)
from tableturn_bridge.errors import (
    LocksUnusable,
    PanelGone,
    PanelHeldHere,
    PanelTrouble,
    PortMissing,
    VersionRefused,
)
from tableturn_bridge.holding import Hold
from tableturn_bridge.link import NOTHING_SHOWN, Pressed
from tableturn_bridge.protocol import EventAck, Result, State
from tests.bridge.fake import FakePanel, Plugged, press, until

PICTURE = State(0x1234, 57, 1, 1, (0x11, 0x23, 0, 0, 0, 0), 0, 255)


class Watcher:
    """Reads all that a connection tells."""

    def __init__(self, connection: PanelConnection) -> None:
        self.connection = connection
        self.told: list[Happened] = []

    async def read(self) -> None:
        async for happened in self.connection.events():
            self.told.append(happened)

    @property
    def ready(self) -> list[Ready]:
        return [each for each in self.told if isinstance(each, Ready)]

    @property
    def pressed(self) -> list[Pressed]:
        return [each for each in self.told if isinstance(each, Pressed)]

    @property
    def lost(self) -> list[PanelTrouble]:
        return [each.error for each in self.told if isinstance(each, Lost)]


async def briefly(seconds: float) -> None:
    """Waits for less than is asked, so that tests are quick."""
    await asyncio.sleep(min(seconds, 0.01))


@contextlib.asynccontextmanager
async def connected(
    folder: Path,
    port: str = "panel",
    sleep: Callable[[float], Awaitable[None]] = briefly,
) -> AsyncIterator[Watcher]:
    """A connection to what has this name in a folder."""
    async with PanelConnection(
        str(folder / port), locks=folder / "locks", sleep=sleep
    ) as connection:
        watcher = Watcher(connection)
        reading = asyncio.create_task(watcher.read())
        try:
            yield watcher
        finally:
            reading.cancel()
            await asyncio.wait([reading])


@contextlib.contextmanager
def plugged(folder: Path, panel: FakePanel, name: str = "panel") -> Iterator[Plugged]:
    board = Plugged(panel, folder / name)
    try:
        yield board
    finally:
        board.kill()


async def test_a_panel_is_found_shown_the_picture_and_heard(tmp_path: Path) -> None:
    panel = FakePanel()
    async with connected(tmp_path) as watcher:
        connection = watcher.connection
        with plugged(tmp_path, panel) as board:
            await until(lambda: panel.shown == NOTHING_SHOWN)
            assert connection.is_ready
            connection.show(PICTURE)
            await until(lambda: panel.shown == PICTURE)
            board.presses(press(1, session=panel.session))
            await until(lambda: len(watcher.pressed) == 1)
            connection.answer(watcher.pressed[0].event, Result.ACCEPTED)
            await until(lambda: len(panel.acks) >= 2)
            assert panel.acks[:2] == [
                EventAck(1, Result.SEEN, panel.session),
                EventAck(1, Result.ACCEPTED, panel.session),
            ]
            await until(lambda: connection.stats.pong is not None)
        assert watcher.ready[0].port == str(tmp_path / "panel")
        assert watcher.ready[0].hello.session == panel.session
        stats = connection.stats
        assert (stats.opened, stats.ready, stats.gestures) == (1, 1, 1)
        assert stats.answered == {Result.ACCEPTED: 1}
        assert stats.damaged == 3  # the fake panel says so of itself


async def test_a_panel_that_is_not_there_is_told_once_and_waited_for(tmp_path: Path) -> None:
    tries = 0

    async def counted(seconds: float) -> None:
        nonlocal tries
        tries += 1
        await briefly(seconds)

    async with connected(tmp_path, sleep=counted) as watcher:
        await until(lambda: tries >= 5)
        with plugged(tmp_path, FakePanel()):
            await until(lambda: len(watcher.ready) == 1)
        assert [type(error) for error in watcher.lost[:1]] == [PortMissing]
        assert isinstance(watcher.told[1], Ready)  # nothing else was told before it


@pytest.mark.case("H1", "H2")
async def test_the_port_breaks_fifty_times(tmp_path: Path) -> None:
    panel = FakePanel()
    async with connected(tmp_path) as watcher:
        watcher.connection.show(PICTURE)
        for again in range(1, 51):
            panel.session = 0
            panel.heard.clear()
            with plugged(tmp_path, panel) as board:
                await until(lambda: panel.shown == PICTURE)
                board.presses(press(again, session=panel.session))
                await until(lambda: len(watcher.pressed) == again)  # noqa: B023
            assert len(asyncio.all_tasks()) <= 3  # the test, the connection and its reader
        await until(lambda: not watcher.connection.is_ready)
        assert len(watcher.ready) == 50
        assert {type(error) for error in watcher.lost} <= {PanelGone, PortMissing}
        assert sum(isinstance(error, PanelGone) for error in watcher.lost) >= 49
        assert open_ports() == 0


def open_ports() -> int:
    """How many pseudo terminals this process has open."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            target = os.stat(f"/proc/self/fd/{name}")
            found += stat.S_ISCHR(target.st_mode) and os.major(target.st_rdev) in range(136, 144)
    return found


@pytest.mark.case("H1")
async def test_it_is_unplugged_and_plugged_in_under_another_name(tmp_path: Path) -> None:
    panel = FakePanel()
    async with connected(tmp_path) as watcher:
        with plugged(tmp_path, panel) as board:
            await until(lambda: len(watcher.ready) == 1)
            first = os.readlink(tmp_path / "panel")
            kept = os.open(first, os.O_RDWR | os.O_NOCTTY)  # so that its number isn't given again
            board.unplug()
            await until(lambda: any(isinstance(error, PortMissing) for error in watcher.lost))
        try:
            with plugged(tmp_path, panel):
                assert os.readlink(tmp_path / "panel") != first
                await until(lambda: len(watcher.ready) == 2)
        finally:
            os.close(kept)
        assert not watcher.ready[1].again


@pytest.mark.case("H4", "H6")
async def test_a_reset_is_no_loss(tmp_path: Path) -> None:
    panel = FakePanel()
    async with connected(tmp_path) as watcher:
        watcher.connection.show(PICTURE)
        with plugged(tmp_path, panel) as board:
            await until(lambda: panel.shown == PICTURE)
            first = panel.session
            panel.heard.clear()
            board.says(b"\xf0\x0dboot" + panel.reset())
            await until(lambda: panel.shown == PICTURE)
            await until(lambda: len(watcher.ready) == 2)
            assert watcher.ready[1].again
            assert panel.session != first
            assert watcher.connection.stats.resets == 1
            assert not any(isinstance(error, PanelGone) for error in watcher.lost)


async def test_an_answer_that_comes_while_the_panel_is_away_waits_for_it(tmp_path: Path) -> None:
    panel = FakePanel()
    async with connected(tmp_path) as watcher:
        with plugged(tmp_path, panel) as board:
            await until(lambda: len(watcher.ready) == 1)
            board.presses(press(1, session=panel.session))
            await until(lambda: len(watcher.pressed) == 1)
        await until(lambda: not watcher.connection.is_ready)
        watcher.connection.answer(watcher.pressed[0].event, Result.ACCEPTED)
        panel.heard.clear()
        with plugged(tmp_path, panel) as board:  # it has kept its session
            await until(lambda: len(watcher.ready) == 2)
            board.presses(press(1, session=panel.session, tries=1))
            await until(lambda: len(panel.acks) == 1)
        assert panel.acks == [EventAck(1, Result.ACCEPTED, panel.session)]
        assert len(watcher.pressed) == 1


@pytest.mark.case("H5")
async def test_a_panel_of_another_version_is_told_and_tried_again(tmp_path: Path) -> None:
    panel = FakePanel(protocol=9)
    async with connected(tmp_path) as watcher:
        with plugged(tmp_path, panel):
            await until(lambda: any(isinstance(each, VersionRefused) for each in watcher.lost))
            panel.protocol = 1  # somebody flashes it
            await until(lambda: len(watcher.ready) == 1)


async def test_a_second_bridge_of_this_machine_leaves_the_panel_alone(tmp_path: Path) -> None:
    one, two = FakePanel(uid=5), FakePanel(uid=5)
    with plugged(tmp_path, one, "one"), plugged(tmp_path, two, "two"):
        async with AsyncExitStack() as later:
            async with connected(tmp_path, "one") as first:
                await until(lambda: bool(first.ready))
                second = await later.enter_async_context(connected(tmp_path, "two"))
                await until(lambda: bool(second.lost))
                assert isinstance(second.lost[0], PanelHeldHere)
                assert f"process {os.getpid()}" in second.lost[0].problem
                assert not second.ready
                assert first.connection.is_ready
            await until(lambda: bool(second.ready))


def test_holding_is_for_one_panel_and_ends_when_it_is_let_go(tmp_path: Path) -> None:
    mine, other = Hold(tmp_path / "a" / "locks"), Hold(tmp_path / "a" / "locks")
    mine.take(5)
    mine.take(5)
    other.take(6)
    with pytest.raises(PanelHeldHere, match="panel 5 is served by another bridge"):
        other.take(5)
    mine.take(7)
    other.take(5)
    other.release()
    other.release()
    mine.take(5)
    mine.release()


def test_a_folder_for_locks_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(LocksUnusable, match="can't be used"):
        Hold(tmp_path / "file").take(5)


async def test_it_waits_longer_each_time_and_begins_anew_after_a_success(tmp_path: Path) -> None:
    waits: list[float] = []

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    panel = FakePanel()
    async with PanelConnection(
        str(tmp_path / "panel"), locks=tmp_path / "locks", sleep=noted
    ) as connection:
        await until(lambda: len(waits) >= 7)
        assert waits[:7] == [SHORTEST_WAIT, 0.4, 0.8, 1.6, 3.2, LONGEST_WAIT, LONGEST_WAIT]
        with plugged(tmp_path, panel):
            await until(lambda: connection.is_ready)
            before = len(waits)
        await until(lambda: len(waits) > before)
        assert waits[before] == SHORTEST_WAIT


async def test_a_picture_that_does_not_fit_is_refused_at_once(tmp_path: Path) -> None:
    async with connected(tmp_path) as watcher:
        with pytest.raises(ValueError, match="can't be sent"):
            watcher.connection.show(State(0, -1, 0, 0, (0,) * 6, 0, 0))


async def test_events_end_with_the_connection(tmp_path: Path) -> None:
    connection = PanelConnection(str(tmp_path / "panel"), locks=tmp_path, sleep=briefly)
    watcher = Watcher(connection)
    async with connection:
        reading = asyncio.create_task(watcher.read())
        await until(lambda: bool(watcher.lost))
    await asyncio.wait_for(reading, 30)
