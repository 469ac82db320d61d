"""How often `make flash` calls a boot loader, and what it never asks of one or of a port."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.bootloader import BootLoader, Command
from tests.meta.tree import ROOT
from tests.support.wanted import missing

Ran = subprocess.CompletedProcess[str]
FOLDER = ROOT / "deploy/panel"
UNANSWERED = "echo 'avrdude: stk500_recv(): programmer is not responding, not in sync' >&2\n"
HEX = ":0400000001020304F2\n:00000001FF\n"
FORBIDDEN = """
import os, runpy, sys
os.access = lambda path, mode, **_: False
sys.argv = ["flash.py", "--port", sys.argv[1]]
runpy.run_path("flash.py", run_name="__main__")
"""
"""Runs it as somebody who may not use the port; who runs the tests may be allowed everything."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A program of four bytes."""
    path = tmp_path / "small.hex"
    path.write_text(HEX)
    return path


def flash(*arguments: str | Path, path: Path | None = None) -> Ran:
    """Run it; with a folder of programs that come before all others."""
    programs = f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]
    return subprocess.run(
        [sys.executable, FOLDER / "flash.py", *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        env=os.environ | {"PATH": programs},
    )


def avrdude(folder: Path, unanswered: int, then: str) -> Path:
    """A folder with an avrdude that finds nobody so often, then does something else.

    In `calls` there is a line for each time that it was run.
    """
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "avrdude"
    calls = f"echo called >> '{folder / 'calls'}'\n"
    program.write_text(f"#!/bin/sh\n{calls}{UNANSWERED * unanswered}{then}\n")
    program.chmod(0o755)
    return programs


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())


def test_a_boot_loader_is_called_twice_at_each_speed_and_then_no_more(
    small: Path, tmp_path: Path
) -> None:
    """avrdude itself would call ten times."""
    programs = avrdude(tmp_path, 2, "exec sleep 100")
    with BootLoader() as board:
        ran = flash("--port", board.port, "--hex", small, path=programs)
    assert ran.returncode == 1
    assert f"no boot loader answers at {board.port}" in ran.stderr
    assert "at 115200 baud" in ran.stdout
    assert "at 57600 baud" in ran.stdout
    assert calls(tmp_path) == 2


def test_a_boot_loader_that_answers_at_the_second_call_is_written(
    small: Path, tmp_path: Path
) -> None:
    programs = avrdude(tmp_path, 1, "exit 0")
    with BootLoader() as board:
        ran = flash("--port", board.port, "--hex", small, path=programs)
    assert ran.returncode == 0, ran
    assert "small.hex is in the board" in ran.stdout
    assert calls(tmp_path) == 1


def test_a_port_that_one_may_not_use_is_said_with_its_group() -> None:
    with BootLoader() as board:
        ran = subprocess.run(
            [sys.executable, "-c", FORBIDDEN, board.port],
            check=False,
            cwd=FOLDER,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
        )
        group = Path(board.port).group()
    assert ran.returncode == 1
    assert f"tableturn: you may not use {board.port}. Join the group {group}" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert board.heard == []


def test_no_boot_loader_is_asked_to_erase_the_chip(small: Path) -> None:
    """It can't; it erases each page that it writes."""
    if shutil.which("avrdude") is None:
        missing("the system package avrdude is missing")
    with BootLoader() as board:
        ran = flash("--port", board.port, "--hex", small)
    assert ran.returncode == 0, ran
    assert bytes(board.flash[:4]) == bytes((1, 2, 3, 4))
    assert Command.WRITE_PAGE in board.heard
    assert board.mistakes == []
