"""The virtual panel as a process of its own, and the socket that presses its buttons."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tableturn_bridge.virtual.control import COMMANDS, SocketTaken, carry_out, listening
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_bridge.virtual.remote import ControlError, PanelProcess, RemotePanel
from tableturn_bridge.virtual.running import _starts

from .play import exists
from .test_pty import host_at


def nothing_in(folder: Path) -> bool:
    return not list(folder.iterdir())


async def test_a_host_and_a_finger_in_other_processes(tmp_path: Path) -> None:
    async with PanelProcess(tmp_path, buttons=3, uid=9) as panel:
        async with host_at(str(panel.link)) as host:
            await panel.wait_lamp(1, ["TURN"])
            before = time.monotonic() * 1000
            told = await panel.press(1, bounce=True, wait=True)
            after = time.monotonic() * 1000
            assert (told["fate"], told["kind"]) == ("ACCEPTED", "PRESS")
            assert before <= told["released_at"] <= told["acked_at"] <= after
            again = await panel.wait_lamp(1, ["TURN"], after=told["released_at"])
            assert told["released_at"] <= again["since"] <= after
            assert (await panel.hold(2, wait=True))["kind"] == "LONG"
            assert (await panel.chord(2, 1, wait=True))["kind"] == "CHORD"
            assert (await panel.master(wait=True))["kind"] == "MASTER"
            kinds = {event.number: event.kind for event in host.events}  # some came again
            assert kinds == {1: 1, 2: 2, 3: 3, 4: 4}
            state = await panel.state()
            assert state["armed"] == [1, 2, 3]
            assert (state["session"], state["uid"]) == (5, 9)
            assert state["revision"] >= 61
            assert state["open"]

            await panel.reset("watchdog")
            await panel.wait_lamp(1, ["TURN"])
            await panel.noise(0.5)
            await panel.noise(0)
            log = await panel.log()
            assert log["resets"] == {"POWER_ON": 1, "EXTERNAL": 1, "WATCHDOG": 1}
            assert log["fates"] == {"ACCEPTED": 4}

        await panel.unplug()
        assert not exists(panel.link)
        assert {lamp["sign"] for lamp in await panel.lamps()} == {"DARK"}
        assert await panel.plug(tmp_path / "other") == str(tmp_path / "other")
    assert panel.process is not None
    assert panel.process.returncode == 0
    assert nothing_in(tmp_path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"", "a JSON object"),
        (b"{", "a JSON object"),
        (b"[1]", "a JSON object"),
        (b"\xff\xfe", "a JSON object"),
        (b"{}", "do must be one of press, hold"),
        (b'{"do": 3}', "do must be a text"),
        (b'{"do": "fly"}', "do must be one of"),
        (b'{"do": "press"}', "button must be a number"),
        (b'{"do": "press", "button": 9}', "has no button 9"),
        (b'{"do": "press", "button": true}', "button must be a number"),
        (b'{"do": "press", "button": 1.5}', "button must be a whole number"),
        (b'{"do": "press", "button": 1, "ms": -1}', "ms must be a number"),
        (b'{"do": "press", "button": 1, "ms": NaN}', "ms must be a number"),
        (b'{"do": "press", "button": 1, "ms": 60001}', "ms must be at most 60000, not 60001"),
        (b'{"do": "hold", "button": 1, "ms": 1e9}', "ms must be at most 60000"),
        (b'{"do": "master", "ms": 60000.5}', "ms must be at most 60000"),
        (b'{"do": "press", "button": 0}', '{"do": "master"} presses the master button'),
        (b'{"do": "hold", "button": 0}', "buttons count from 1"),
        (b'{"do": "press", "button": 1, "bounce": "yes"}', "bounce must be true or false"),
        (b'{"do": "press", "button": 1, "ms": 1, "wait": true, "timeout": 0.05}', "in time"),
        (b'{"do": "chord", "button": 1, "second": 1}', "two different buttons"),
        (b'{"do": "reset", "cause": "boredom"}', "cause must be one of"),
        (b'{"do": "noise", "share": 2}', "noise is a share"),
        (b'{"do": "wait_lamp", "button": 1, "signs": "TURN"}', "signs must be a list"),
        (b'{"do": "wait_lamp", "button": 1, "signs": ["TURN"], "timeout": 0.05}', "in time"),
        (b'{"do": "wait_lamp", "button": 7, "signs": ["TURN"]}', "has no lamp"),
        (b'{"do": "wait_lamp", "button": 1, "signs": [], "measured": 1}', "measured must be true"),
        (b'{"do": "emulator", "line": "clock"}', "this panel is a model"),
        (b"[" * 60_000, "a JSON object"),
        (b'{"do": "fly", "more": ' + b"[" * 50_000, "a JSON object"),
    ],
)
async def test_a_request_that_can_not_be_carried_out(line: bytes, sentence: str) -> None:
    async with VirtualPanel(2) as panel:
        answer = await carry_out(panel, line)
        assert answer["ok"] is False
        assert sentence in answer["error"]


async def test_a_name_that_can_not_be_used_is_said_and_the_old_one_stays(tmp_path: Path) -> None:
    async with VirtualPanel(2, link=tmp_path / "panel") as panel:
        panel.unplug()
        answer = await carry_out(panel, b'{"do": "plug", "link": "/no/such/folder"}')
        assert "can't lead to the port" in answer["error"]
        assert panel.plug() == str(tmp_path / "panel")


async def test_every_command_is_known_to_the_client() -> None:
    calls = {name for name in vars(RemotePanel) if not name.startswith("_")}
    assert set(COMMANDS) - {"down", "up"} <= calls


async def test_connections_are_served_side_by_side(tmp_path: Path) -> None:
    async with VirtualPanel(2) as panel, listening(panel, tmp_path / "control"):
        remote = RemotePanel(tmp_path / "control")
        waiting = asyncio.create_task(remote.wait_lamp(1, ["DARK"]))
        await remote.unplug()
        assert (await waiting)["sign"] == "DARK"
        reader, writer = await asyncio.open_unix_connection(tmp_path / "control")
        writer.write(b'{"do": "state"}\n{"do": "x"}\n{"do": "log"}\n')
        answers: list[dict[str, Any]] = [json.loads(await reader.readline()) for _ in range(3)]
        assert [answer["ok"] for answer in answers] == [True, False, True]
        writer.write(b"x" * 100_000 + b"\n")
        assert "at most" in json.loads(await reader.readline())["error"]
        assert await reader.read() == b""
        writer.close()
        # Somebody who waits when the panel ends doesn't keep it.
        last = asyncio.create_task(remote.wait_lamp(1, ["TURN"]))
        await remote.state()
    with pytest.raises(ControlError, match="has ended"):
        await last
    with pytest.raises(ControlError, match="no panel listens"):
        await remote.state()


async def test_a_socket_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "control"
    async with VirtualPanel(2) as panel:
        path.write_text("mine")
        with pytest.raises(SocketTaken, match="is a file already"):
            async with listening(panel, path):
                pass
        assert path.read_text() == "mine"
        path.unlink()
        async with listening(panel, path):
            with pytest.raises(SocketTaken, match="another panel"):
                async with listening(panel, path):
                    pass
            await RemotePanel(path).state()
        for bad, why in (
            (tmp_path / ("x" * 200), "can't be a socket"),
            (tmp_path / "no" / "control", f"there is no folder {tmp_path}/no$"),
            (tmp_path, "is a folder"),
        ):
            with pytest.raises(SocketTaken, match=why):
                async with listening(panel, bad):
                    pass


async def test_a_socket_that_was_left_behind_is_taken_over(tmp_path: Path) -> None:
    first = PanelProcess(tmp_path)
    async with first:
        assert first.process is not None
        first.process.kill()
        await first.process.wait()
        assert first.control.exists()
    async with PanelProcess(tmp_path) as second:
        await second.state()
    assert nothing_in(tmp_path)


async def test_a_panel_that_takes_its_time_to_start_can_be_ended_meanwhile() -> None:
    ended, stopped = asyncio.Event(), asyncio.Event()

    async def start(seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            stopped.set()
            raise

    assert await _starts(start(0), ended)
    asyncio.get_running_loop().call_soon(ended.set)
    assert not await _starts(start(600), ended)
    assert stopped.is_set()
