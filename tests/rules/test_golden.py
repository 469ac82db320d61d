"""Golden games replay the same, here and in another process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.rules.golden import FOLDER, GAMES, record, replay


@pytest.mark.parametrize("name", GAMES)
def test_a_golden_game_replays(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert replay(text) == text


@pytest.mark.parametrize("name", GAMES)
def test_a_golden_game_replays_in_another_process(name: str) -> None:
    file = FOLDER / f"{name}.txt"
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.golden", str(file)],
        cwd=FOLDER.parents[1],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == file.read_text("utf-8")


def test_recording_writes_a_game_that_replays() -> None:
    text = record("eastern_wonders_2")
    assert replay(text) == text
