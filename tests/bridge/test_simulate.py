"""`tableturn panel --simulate` as it is typed: the real firmware, and what stands in its way."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tableturn_bridge.emulated import building
from tableturn_client.cli.exits import Exit
from tests.bridge.evening import WITHIN
from tests.bridge.typed import Panel, children, refused, run
from tests.support import boards

pytestmark = pytest.mark.e2e


def test_a_game_at_the_real_firmware_on_an_emulated_board(home: Path) -> None:
    boards.firmware(2)
    boards.emulator()
    options = ("--buttons", "2", "--uid", "77", "--option", "rounds=1", "--option", "first_seat=1")
    with Panel(home, *options, kind="--simulate") as panel:
        found = panel.event("found")
        assert (found["buttons"], found["virtual"], found["panel_uid"]) == (2, False, 77)
        for button in (1, 2):
            panel.lamp(button, "FREE")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
        panel.lamp(2, "SEATED")
        assert panel.does("hold", button=1, wait=True)["fate"] == "ACCEPTED"
        for button in (1, 2):
            panel.lamp(button, "TURN")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
        while panel.event("turn")["status"] != "finished":
            pass
        assert panel.interrupted() == Exit.INTERRUPTED.value
        assert panel.errors == ""


def test_an_emulated_board_that_ends_by_itself_is_told(home: Path) -> None:
    boards.firmware(2)
    boards.emulator()
    with Panel(home, "--buttons", "2", kind="--simulate") as panel:
        panel.event("table")
        for child in children(panel.process.pid):
            os.kill(child, signal.SIGKILL)
        assert panel.ended() == Exit.FAULT.value
        error = json.loads(panel.errors)["error"]
        assert (error["kind"], error["sentence"]) == ("fault", "the emulator has ended")


def test_a_killed_bridge_leaves_no_folder_of_its_emulated_board(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards.firmware(2)
    boards.emulator()
    with TemporaryDirectory(prefix="tt ") as places:  # a blank in its name does no harm
        monkeypatch.setenv("TMPDIR", places)
        with Panel(home, "--buttons", "2", kind="--simulate") as panel:
            panel.event("table")
            assert len(list(Path(places).iterdir())) == 1
            panel.process.kill()
            panel.ended()
            end = time.monotonic() + WITHIN
            while any(Path(places).iterdir()):
                assert time.monotonic() < end
                time.sleep(0.01)


@pytest.mark.parametrize("kind", ["--simulate", "--virtual"])
def test_a_machine_without_room_for_a_panel_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    boards.firmware()
    boards.emulator()
    monkeypatch.setattr(tempfile, "tempdir", str(home / "nowhere"))
    assert "no place for the name of its port" in refused(Exit.FAULT, "panel", kind)
    long = home / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    if kind == "--simulate":
        sentence = refused(Exit.FAULT, "panel", kind)
        assert "the panel can't be started: the path of the control socket is too long" in sentence
    assert list(long.iterdir()) == []


def test_an_emulated_board_whose_program_crashes_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards.emulator()
    elf = boards.crashing(home)
    monkeypatch.setattr(building, "firmware", lambda *_, **__: elf)
    ran = run("panel", "--simulate", "--buttons", "2")
    assert ran.code not in (0, Exit.INTERRUPTED.value)
    assert "the board's program has crashed: opcode" in ran.err


def test_without_sources_or_compilers_nothing_is_simulated(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "AVR", building.Tools(("no-such-compiler",), (), ()))
    monkeypatch.setattr(building, "BUILT", home / "built")
    monkeypatch.setenv("AVR_CC", "no-such-compiler")
    sentence = refused(Exit.NOT_INSTALLED, "panel", "--simulate")
    assert "without no-such-compiler" in sentence
    assert "apt-get install" in sentence
    monkeypatch.setattr(building, "SOURCES", home / "nowhere")
    sentence = refused(Exit.NOT_INSTALLED, "panel", "--simulate")
    assert "get the project's sources" in sentence
    assert "--virtual" in sentence
