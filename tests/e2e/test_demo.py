"""`tableturn demo`: the same game each time, and nothing left behind however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.e2e.processes import TABLETURN, alive, command_lines, environment, until

pytestmark = pytest.mark.e2e

SPICE_ROAD = ("--game", "spice-road", "--seats")
SAND_TO_SEA = ("--game", "from-sand-to-sea", "--seats")


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A demo that makes its temporary folders in this one."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [str(TABLETURN), "demo", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TMPDIR=str(folder)),
    )


def left_behind(folder: Path) -> list[str]:
    """Processes that were started for a demo and still run: service, Valkey, bots."""
    found = []
    for pid, words in command_lines().items():
        try:
            where = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"TMPDIR={folder}".encode() in where.split(b"\0") and alive(pid):
            found.append(words)
    return found


@pytest.fixture
def folder() -> Path:
    """A short name: the Valkey's socket is somewhere below."""
    return Path(tempfile.mkdtemp(prefix="tt-"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--game", "eastern-wonders", "--seed", "7"),
        ("--game", "eastern-wonders", "--seats", "2", "--seed", "1"),
        *((*SPICE_ROAD, str(n), "--seed", str(n)) for n in (2, 5)),
        *((*SAND_TO_SEA, str(n), "--seed", str(n)) for n in (2, 4)),
        *(
            pytest.param((*game, str(n), "--seed", str(n)), marks=pytest.mark.nightly)
            for game, n in ((SPICE_ROAD, 3), (SPICE_ROAD, 4), (SAND_TO_SEA, 3))
        ),
        ("--game", "free-table", "--seats", "6", "--seed", "0"),
        (
            *("--game", "free-table", "--seed", "3", "--option", "rounds=2"),
            *("--option", "passing=on", "--option", "between=on", "--option", "together=before"),
        ),
    ],
)
def test_it_is_the_same_game_each_time(folder: Path, arguments: tuple[str, ...]) -> None:
    told = []
    for number in range(2):
        ran = start(folder / str(number), *arguments, "--json")
        out, err = ran.communicate(timeout=100)
        assert ran.returncode == 0, err
        assert not err
        told.append(json.loads(out))
        assert not left_behind(folder / str(number))
        assert not list((folder / str(number)).glob("tableturn-*"))
    first, second = told
    assert first == second
    assert first["status"] == "finished"
    panel = first["panel"]
    assert panel["presses"] == panel["confirmed"] > first["rounds"]
    assert panel["refused"] == 0
    assert len(first["log_hash"]) == 64
    for seat in first["seats"]:
        assert not seat["parts"] or seat["points"] == sum(seat["parts"].values())
    assert [seat["rank"] for seat in first["seats"]] == sorted(s["rank"] for s in first["seats"])


def test_another_seed_is_another_game(folder: Path) -> None:
    hashes = set()
    for seed in (7, 8):
        ran = start(folder / str(seed), "--seats", "2", "--seed", str(seed), "--json")
        out, err = ran.communicate(timeout=100)
        assert ran.returncode == 0, err
        hashes.add(json.loads(out)["log_hash"])
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130), (signal.SIGKILL, -9)],
)
@pytest.mark.parametrize("lines", [0, 5])
def test_nothing_is_left_behind(folder: Path, number: int, code: int, lines: int) -> None:
    """Interrupted while it starts (nothing written yet), and in the middle of the game."""
    ran = start(folder, "--seed", "7")
    assert ran.stdout is not None
    if lines:
        for _ in range(lines):
            assert ran.stdout.readline()
    else:
        until(lambda: len(left_behind(folder)) > 1, why="the service is being started")
    os.kill(ran.pid, number)
    _, err = ran.communicate(timeout=60)
    assert ran.returncode == code
    assert "Traceback" not in err
    until(lambda: not left_behind(folder), why="everything has ended")
    if code != -9:
        assert not list(folder.glob("tableturn-*"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--game", "chess"), "there is no game 'chess'"),
        (("--seats", "6"), "is for 2 to 4 seats, not 6"),
        (("--seats", "7"), "is not in the range"),
        (("--option", "nonsense"), "an option is NAME=VALUE"),
        (("--option", "no=thing"), "has no option 'no'"),
        (("--seed", "-1"), "is not in the range"),
        (("--server", "127.0.0.1:1"), "No such option"),
        (("--game", "free-table", "--seats", "1"), "is for 2 to 8 seats, not 1"),
    ],
)
def test_what_can_not_be_played(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    ran = start(folder, *arguments)
    out, err = ran.communicate(timeout=60)
    assert says in err
    assert ran.returncode in (2, 3)
    assert not out
    assert len(err.strip().splitlines()) == 1
    assert not left_behind(folder)
