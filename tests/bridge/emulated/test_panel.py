"""The real firmware on an emulated board in real time, used as a virtual panel is.

The board does what the firmware does; here it is shown that a panel of this kind can be used, and
tells what happens. Nothing here asserts how fast something is.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tableturn_bridge.emulated.panel import EmulatedPanel
from tableturn_bridge.emulated.process import EmulatorError, EmulatorGone, Happening
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import Hello, HelloRequest, ResetCause, Result, SetUid
from tableturn_bridge.virtual.control import carry_out, listening
from tableturn_bridge.virtual.port import LinkTaken
from tableturn_bridge.virtual.remote import RemotePanel
from tests.bridge.virtual.play import exists, until
from tests.bridge.virtual.test_pty import PortHost, host_at
from tests.support import boards

from .room import picture
from .test_senses import on_the_line

PATIENCE = 20


@asynccontextmanager
async def emulated(buttons: int = 4, **options: Any) -> AsyncIterator[EmulatedPanel]:
    """A panel, where it can be made."""
    elf = boards.firmware(buttons, pixels=options.get("pixels", False))
    boards.emulator()
    async with EmulatedPanel(buttons, elf=elf, **{"boot_ms": 0} | options) as panel:
        yield panel


@asynccontextmanager
async def at_work(**options: Any) -> AsyncIterator[tuple[EmulatedPanel, PortHost]]:
    """A panel with a host that greets it and shows a picture."""
    async with emulated(uid=9, **options) as panel, host_at(panel.path) as host:
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        yield panel, host


def has_reset(panel: EmulatedPanel, times: int) -> bool:
    return panel.board.resets["EXTERNAL"] == times


def emulator_time(panel: EmulatedPanel) -> int:
    return int(panel.ask("clock")["t"])


@pytest.mark.case("H4")
async def test_opening_its_port_resets_it_and_what_the_boot_loader_says_is_dropped() -> None:
    async with emulated(2, uid=9, greeting=True, boot_ms=30) as panel:
        await until(lambda: panel.board.resets == {"POWER_ON": 1})
        for opened in (1, 2):
            async with host_at(panel.path) as host:
                await until(partial(has_reset, panel, opened))
                await panel.wait_lamp(1, ["TURN"], PATIENCE)
                assert panel.board.resets["EXTERNAL"] == opened
                assert panel.is_open
                first = host.heard[0]
                assert isinstance(first, Hello)
                assert (first.session, first.reset_cause) == (0, ResetCause.EXTERNAL)
            await until(lambda: not panel.is_open)


async def test_gestures_arrive_once_each_and_tell_what_became_of_them() -> None:
    async with at_work() as (panel, host):
        for press in (
            panel.press(1, wait=True),
            panel.press(2, bounce=True, wait=True),
            panel.hold(3, wait=True),
            panel.chord(4, 1, wait=True),
            panel.master(wait=True),
        ):
            before = time.monotonic() * 1000
            told = await press
            assert told is not None
            assert told.fate == "ACCEPTED"
            assert told.sent >= 1
            assert before <= told.released_at <= told.acked_at <= time.monotonic() * 1000
        once = {event.number: event for event in host.events}.values()  # a slow host hears repeats
        kinds = [(event.kind, event.button, event.second) for event in once]
        assert kinds == [(1, 0, 255), (1, 1, 255), (2, 2, 255), (3, 3, 0), (4, 255, 255)]
        assert panel.board.fates == {"ACCEPTED": 5}
        host.result = Result.REJECTED
        told = await panel.press(1, wait=True)
        assert told is not None
        assert told.fate == "REJECTED"
        refused = await panel.wait_lamp(1, ["REFUSED"], PATIENCE)
        assert refused.color_word == "red"
        assert told.released_at <= refused.since
        assert (await panel.wait_lamp(1, ["REFUSED"], PATIENCE, measured=True)).sign == "REFUSED"
        host.picture = host.picture.__class__(**vars(host.picture) | {"armed": 0})
        await until(lambda: not panel.is_armed(1))
        told = await panel.press(1, wait=True)
        assert told is not None
        assert (told.fate, told.sent) == ("NOT_ARMED", 0)


async def test_lamps_by_their_light_and_by_what_was_heard() -> None:
    async with at_work() as (panel, _):
        for button, sign in ((1, "TURN"), (2, "NEXT"), (3, "OFF")):
            lamp = await panel.wait_lamp(button, [sign], PATIENCE, measured=True)
            assert lamp.sign == lamp.measured == sign
        levels = [lamp.level for lamp in panel.lamps()]
        assert levels[0] == 255
        assert 48 <= levels[1] <= 80, "dim is a quarter"
        assert levels[2] == 0
        began = await panel.wait_lamp(1, ["TURN"], PATIENCE)
        panel.down(1)
        held = await panel.wait_lamp(1, ["HELD_LONG"], PATIENCE)
        assert held.since >= began.since
        panel.up(1)
        assert (await panel.wait_lamp(1, ["TURN"], PATIENCE, held.since)).since > held.since
        assert await panel.wait_revision(57, PATIENCE) == panel.revision > 57
        with pytest.raises(TimeoutError):
            await panel.wait_lamp(3, ["TURN"], 0.1)


async def test_a_host_that_falls_silent_is_shown_by_light() -> None:
    async with emulated(2) as panel:
        async with host_at(panel.path):
            await panel.wait_lamp(1, ["TURN"], PATIENCE, measured=True)
        lost = await panel.wait_lamp(1, ["LINK_LOST"], PATIENCE, measured=True)
        assert lost.sign == "LINK_LOST"


async def test_coloured_lights_are_told() -> None:
    async with at_work(buttons=6, pixels=True) as (panel, _):

        def red() -> bool:
            pixel = panel.seen()[0].pixel
            return bool(pixel) and int(pixel[:2], 16) > 0 and int(pixel[2:4], 16) == 0

        await until(red)


@pytest.mark.case("H1")
async def test_unplugged_the_host_gets_an_error_and_the_name_is_gone(tmp_path: Path) -> None:
    link, other = tmp_path / "panel", tmp_path / "other"
    async with emulated(2, link=link, uid=0) as panel:
        assert panel.path == str(link)
        async with host_at(panel.path) as host:
            await panel.wait_lamp(1, ["TURN"], PATIENCE)
            host.write(SetUid(44))
            await until(lambda: panel.board.uid == 44)
            # It writes byte by byte; pulled in the middle of the last one, the number is lost.
            await until(lambda: panel.ask("state")["uid"] == "44")
            written = emulator_time(panel) + 20_000
            await until(lambda: emulator_time(panel) > written)
            panel.unplug()
            await until(lambda: host.error is not None)
        assert panel.path == ""
        assert not exists(link)
        assert not panel.is_open
        assert {lamp.sign for lamp in panel.lamps()} == {"DARK"}
        panel.reset(ResetCause.WATCHDOG)  # without power there is nothing to reset

        (tmp_path / "file").write_text("mine")
        with pytest.raises(LinkTaken):
            panel.plug(tmp_path / "file")
        assert panel.plug(other) == panel.plug() == str(other)
        assert not exists(link)
        async with host_at(str(other)) as host:
            await panel.wait_lamp(1, ["TURN"], PATIENCE)
            hellos = [one for one in host.heard if isinstance(one, Hello)]
            assert hellos[-1].uid == 44
        assert panel.board.resets["POWER_ON"] == 2
    assert not exists(other)


@pytest.mark.parametrize("cause", [ResetCause.WATCHDOG, ResetCause.BROWN_OUT, ResetCause.EXTERNAL])
async def test_resets_are_told_apart(cause: ResetCause) -> None:
    async with at_work() as (panel, host):
        before = panel.board.resets[cause.name]
        panel.reset(cause)
        await until(lambda: panel.board.resets[cause.name] == before + 1)
        await panel.wait_lamp(1, ["TURN"], PATIENCE)
        causes = [one.reset_cause for one in host.heard if isinstance(one, Hello)]
        assert causes[-1] == cause
        with pytest.raises(ValueError, match="cause"):
            panel.reset(ResetCause.UNKNOWN)


async def test_a_program_that_hangs_is_reset_by_its_watchdog() -> None:
    async with at_work() as (panel, _):
        panel.ask("hang")
        await until(lambda: panel.board.resets["WATCHDOG"] == 1)
        await panel.wait_lamp(1, ["TURN"], PATIENCE)


async def test_on_a_slow_machine_a_press_is_late_and_says_so() -> None:
    """What was planned for a moment that has passed happens at once, and is told as it was."""
    async with at_work() as (panel, host):
        panel._senses.now = 1.0  # nobody has heard of the emulator for a while
        assert (await panel.press(1, wait=True)) is not None
        clock = emulator_time(panel) / 1000
        panel._senses.now = 1.0
        began, at_rest = panel._plan(2, True, 2.0, bounce=True)
        assert clock <= began <= emulator_time(panel) / 1000
        assert at_rest == began + 32
        panel.up(2)
        await until(lambda: len(host.events) >= 1)


async def test_an_emulator_that_is_killed_is_gone(tmp_path: Path) -> None:
    async with emulated(2, link=tmp_path / "panel") as panel:
        assert panel._emulator is not None
        assert exists(tmp_path / "panel")
        os.kill(panel._emulator._process.pid, signal.SIGKILL)
        why = await asyncio.wait_for(panel.wait_ended(), PATIENCE)
        assert why == "the emulator has ended"
        assert panel.path == ""
        assert not exists(tmp_path / "panel")
        assert {lamp.sign for lamp in panel.lamps()} == {"DARK"}
        with pytest.raises(EmulatorGone):
            await panel.press(1)
        with pytest.raises(EmulatorGone):
            await panel.wait_lamp(1, ["TURN"], PATIENCE)


async def test_a_program_that_crashes_ends_the_panel(tmp_path: Path) -> None:
    boards.emulator()
    elf = boards.crashing(tmp_path)
    async with EmulatedPanel(2, elf=elf, boot_ms=0, opening_resets=False) as panel:
        port = os.open(panel.path, os.O_RDWR | os.O_NOCTTY)
        try:
            os.write(port, b"x")
            why = await asyncio.wait_for(panel.wait_ended(), PATIENCE)
        finally:
            os.close(port)
        assert why == "the board's program has crashed: opcode"
        assert panel.crashed == "opcode"
        with pytest.raises(EmulatorGone, match="crashed: opcode"):
            await panel.wait_lamp(1, ["TURN"], PATIENCE)


async def test_a_lamp_counts_only_when_its_light_had_time_to_follow() -> None:
    """A picture is there, and the lamp still says the last one: that is no answer."""
    panel = EmulatedPanel(2, uid=9)

    def hears(*lines: str) -> None:
        for line in lines:
            panel._heard(Happening.read(line))

    hello, asked = Hello(1, 1, 0, 9, 5, 1, 2, 1, 0), HelloRequest(1, 1, 5)
    hears(
        "! start power_on t=0",
        "! lamp 0 255 t=500",
        *on_the_line("rx", 1_000, asked),
        *on_the_line("tx", 2_000, hello),
        *on_the_line("rx", 3_000, picture(lamp(Pattern.TURN))),
        "! contact 1 open t=900000",
    )
    await panel.wait_lamp(1, ["TURN"], PATIENCE)
    hears(*on_the_line("rx", 905_000, picture(lamp(Pattern.OFF), revision=58)))
    seen = panel.seen()[0]
    assert (seen.sign, seen.settled) == ("TURN", False)
    for sign in ("TURN", "OFF"):
        with pytest.raises(TimeoutError):
            await panel.wait_lamp(1, [sign], 0.05)
    hears("! lamp 0 0 t=908000")
    assert (await panel.wait_lamp(1, ["OFF"], PATIENCE)).since == 908


async def test_a_name_may_have_spaces_and_no_line_breaks(tmp_path: Path) -> None:
    async with emulated(2, link=tmp_path / "a b", uid=9) as panel:
        assert panel.path == str(tmp_path / "a b")
        async with host_at(panel.path):
            await panel.wait_lamp(1, ["TURN"], PATIENCE)
        panel.unplug()
        answer = await carry_out(panel, b'{"do": "plug", "link": "/x\\nreset power_on"}')
        assert "one line" in answer["error"]
        answer = await carry_out(panel, b'{"do": "emulator", "line": "clock\\nclock"}')
        assert "one line" in answer["error"]
        assert panel.plug() == str(tmp_path / "a b")
        panel.ask("stack")


async def test_the_same_socket_as_that_of_a_model(tmp_path: Path) -> None:
    async with emulated(2, uid=9) as panel, listening(panel, tmp_path / "control"):
        remote = RemotePanel(tmp_path / "control")
        async with host_at(panel.path):
            await remote.wait_lamp(1, ["TURN"], PATIENCE)
            assert (await remote.press(1, wait=True))["fate"] == "ACCEPTED"
            lamp = await remote.wait_lamp(1, ["TURN"], PATIENCE, measured=True)
            assert lamp["measured"] == "TURN"
            lamp = (await remote.lamps())[0]
            assert (lamp["button"], lamp["sign"], lamp["measured"]) == (1, "TURN", "TURN")
            state = await remote.state()
            assert (state["armed"], state["uid"], state["open"]) == ([1, 2], 9, True)
            assert (await remote.log())["fates"] == {"ACCEPTED": 1}
            assert int((await remote.emulator("stack"))["used"]) > 0
            for line, words in (
                (b'{"do": "emulator", "line": "fly"}', ""),
                (b'{"do": "reset", "cause": "unknown"}', "cause"),
                (b'{"do": "noise", "share": 2}', "noise is a share"),
                (b'{"do": "press", "button": 3}', "has no button 3"),
            ):
                answer = await carry_out(panel, line)
                assert answer["ok"] is False
                assert words in answer["error"]


async def test_another_program_than_the_firmware_is_told(tmp_path: Path) -> None:
    boards.firmware(4)
    (tmp_path / "no.elf").write_text("no ELF file")
    with pytest.raises(EmulatorError):
        async with EmulatedPanel(4, elf=tmp_path / "no.elf"):
            pass
    for wrong in (partial(EmulatedPanel, 7), partial(EmulatedPanel, noise=2)):
        with pytest.raises(ValueError, match=r"panel has|noise is"):
            wrong()
