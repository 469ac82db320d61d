"""`deploy/pi/program` makes the services' environment, whatever ended it before.

A stand-in for Python writes down what is asked of it; nothing is downloaded.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.deploy.interrupting import PYTHON, Ran, interrupted, stand_in
from tests.meta.tree import ROOT

PROGRAM = ROOT / "deploy/pi/program"
HOME = "/home" + "/pi"
FOR_ALL = "/usr/bin/python3.11"
MADE, RENEWED = ["venv", "install", "install"], ["look", "install", "install"]


class Machine:
    """A folder with two interpreters, where the program is made."""

    def __init__(self, folder: Path) -> None:
        self.home, self.link = folder / "opt", folder / "bin/tableturn"
        self.seen = folder / "seen"
        self.folder = folder
        self.interpreter("first", FOR_ALL)

    def interpreter(self, name: str, runs: str) -> Path:
        """An interpreter that says that it is `runs`."""
        (self.folder / name).mkdir()
        path = self.folder / name / "python"
        stand_in(path, PYTHON)
        (path.parent / "interpreter").write_text(f"{runs}\n")
        return path

    def environment(self, python: str, fault: str) -> dict[str, str]:
        path = self.folder / python / "python" if python else ""
        return {**os.environ, "PYTHON": str(path), "SEEN": str(self.seen), "FAULT": fault}

    def make(self, python: str = "first", fault: str = "") -> Ran:
        """Make it; by no interpreter in particular if `python` is empty."""
        self.seen.unlink(missing_ok=True)
        return subprocess.run(
            [PROGRAM, self.home, self.link],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment(python, fault),
        )

    def did(self) -> list[str]:
        return self.seen.read_text().split() if self.seen.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_is_made_once_and_then_renewed(machine: Machine) -> None:
    assert machine.make().returncode == 0
    assert machine.did() == MADE
    assert machine.link.readlink() == machine.home / "bin/tableturn"
    assert machine.make().returncode == 0
    assert machine.did() == RENEWED


def test_an_environment_that_was_not_finished_is_made_again(machine: Machine) -> None:
    """Its Python runs, as after Ctrl-C while `venv` puts pip into it."""
    half = machine.home / "bin/python"
    half.parent.mkdir(parents=True)
    stand_in(half, "exit 0")
    assert machine.make().returncode == 0
    assert machine.did() == MADE


def test_what_was_interrupted_while_it_installs_is_made_again(machine: Machine) -> None:
    machine.make()
    at_work = machine.folder / "at-work"
    env = {**machine.environment("first", "hang"), "AT_WORK": str(at_work)}
    command = [PROGRAM, machine.home, machine.link]
    ran = interrupted(command, signal.SIGINT, at=at_work, env=env, group=True)
    assert ran.returncode == 130
    assert "tableturn: interrupted; run it again" in ran.stderr
    assert machine.make().returncode == 0
    assert machine.did() == MADE


def test_what_failed_half_way_is_made_again(machine: Machine) -> None:
    assert machine.make(fault="broken").returncode != 0
    assert not machine.link.is_symlink()
    assert machine.make().returncode == 0
    assert machine.did() == MADE


def test_without_a_network_what_is_there_stays(machine: Machine) -> None:
    machine.make()
    assert machine.make(fault="offline").returncode != 0
    assert machine.did() == ["look"]
    machine.make()
    assert machine.did() == RENEWED


def test_an_environment_whose_python_is_now_another_is_made_again(machine: Machine) -> None:
    """A newer release of the system has a newer Python, which doesn't see the packages."""
    machine.make()
    (machine.home / "bin/no-pip").touch()
    assert machine.make().returncode == 0
    assert machine.did() == MADE


@pytest.mark.parametrize("python", ["second", ""], ids=["named", "not-named"])
def test_another_interpreter_has_to_be_named(machine: Machine, python: str) -> None:
    machine.make()
    machine.interpreter("second", "/opt/python/bin/python3.13")
    ran = machine.make(python)
    assert ran.returncode == 0
    assert machine.did() == (MADE if python else RENEWED)
    assert ("/opt/python/bin/python3.13" in ran.stderr) == bool(python)


@pytest.mark.parametrize(
    "runs",
    [
        f"{HOME}/.pyenv/versions/3.12.1/bin/python3.12",
        "/root/.pyenv/versions/3.12.1",
        "/run/user/1000/python3",
        "/tmp/python3",
        f"/usr/bin/python3\n{HOME}/python3",
    ],
    ids=["home", "root", "run", "tmp", "by-way-of-home"],
)
def test_a_python_that_the_services_do_not_see_is_refused(machine: Machine, runs: str) -> None:
    machine.make()
    machine.interpreter("hidden", runs)
    ran = machine.make("hidden")
    assert ran.returncode == 1
    assert runs.splitlines()[-1] in ran.stderr
    assert "make install-pi PYTHON=/usr/bin/python3" in ran.stderr
    assert machine.did() == []
    assert (machine.home / "bin/python").exists()


@pytest.mark.parametrize("kind", ["file", "link", "dead"])
def test_a_command_of_somebody_else_stays(machine: Machine, kind: str) -> None:
    machine.link.parent.mkdir()
    if kind == "file":
        machine.link.write_text("mine")
    else:
        machine.link.symlink_to(PROGRAM if kind == "link" else "/no/such/program")
    before = machine.link.lstat()
    ran = machine.make()
    assert ran.returncode == 0
    assert f"{machine.link} is not ours, and stays as it is" in ran.stderr
    assert machine.link.lstat() == before
