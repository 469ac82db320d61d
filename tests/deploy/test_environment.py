"""`deploy/setup/environment` may be interrupted at any moment and run again.

A stand-in for Python writes down what is asked of it; nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.deploy.interrupting import PYTHON, Ran, interrupted, stand_in
from tests.meta.tree import ROOT

MADE, RENEWED = ["venv", "install", "install"], ["look", "install", "install"]


class Checkout:
    """A checkout that has nothing but what sets it up."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.seen = folder / "tree", folder / "seen"
        shutil.copytree(ROOT / "deploy/setup", self.tree / "deploy/setup")
        shutil.copy(ROOT / "pyproject.toml", self.tree)
        self.command: list[str | Path] = [self.tree / "deploy/setup/environment", "run"]
        stand_in(folder / "python", PYTHON)
        (folder / "interpreter").touch()
        self.variables = {**os.environ, "PYTHON": str(folder / "python"), "SEEN": str(self.seen)}

    def set_up(self, fault: str = "") -> Ran:
        self.seen.unlink(missing_ok=True)
        return subprocess.run(
            self.command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**self.variables, "FAULT": fault},
        )

    def did(self) -> list[str]:
        return self.seen.read_text().split() if self.seen.exists() else []

    def wants_other_packages(self) -> None:
        with (self.tree / "deploy/setup/locked/run.txt").open("a") as lock:
            lock.write("# others\n")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_it_is_made_once_and_renewed_when_other_packages_are_wanted(checkout: Checkout) -> None:
    assert checkout.set_up().returncode == 0
    assert checkout.did() == MADE
    assert checkout.set_up().returncode == 0
    assert checkout.did() == []
    checkout.wants_other_packages()
    assert checkout.set_up().returncode == 0
    assert checkout.did() == RENEWED


def test_an_environment_that_was_not_finished_is_made_again(checkout: Checkout) -> None:
    """Its Python runs, as after Ctrl-C while `venv` puts pip into it."""
    half = checkout.tree / ".venv/bin/python"
    half.parent.mkdir(parents=True)
    stand_in(half, "exit 0")
    assert checkout.set_up().returncode == 0
    assert checkout.did() == MADE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda one: one.name)
def test_what_was_interrupted_while_it_installs_is_made_again(
    checkout: Checkout, tmp_path: Path, number: signal.Signals
) -> None:
    at_work = tmp_path / "at-work"
    env = {**checkout.variables, "FAULT": "hang", "AT_WORK": str(at_work)}
    assert interrupted(checkout.command, number, at=at_work, env=env, group=True).returncode != 0
    assert checkout.set_up().returncode == 0
    assert checkout.did() == MADE


def test_without_a_network_what_is_there_stays(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.wants_other_packages()
    assert checkout.set_up(fault="offline").returncode != 0
    assert checkout.did() == ["look"]
    checkout.set_up()
    assert checkout.did() == RENEWED
