"""Light as it is measured, and pixels as they are read off their line."""

from __future__ import annotations

from pathlib import Path

from tests.bridge.emulator.client import Emulator


def levels(board: Emulator) -> list[int]:
    """How bright each lamp is, 0 to 255."""
    return [int(level) for level in board.ask("lamps")["levels"].split(",")]


def lit(board: Emulator, letter: bytes, ms: int) -> None:
    """Watch, and let the trial program do something with its lamps."""
    board.run(ms=10)
    board.ask("watch lamps")
    board.send(letter)
    board.run(ms=ms)


def test_a_lamp_that_is_lit_a_quarter_of_the_time(trial: Path) -> None:
    with Emulator(trial) as board:
        lit(board, b"L", 10)
        for _ in range(25):  # whatever moment of the four milliseconds it is
            board.run(us=1100)
            level = levels(board)
            assert abs(level[2] - 64) <= 1
            assert level[:2] + level[3:] == [0] * 5
        told = [int(event.words[1]) for event in board.told("lamp")]
        # It rises within the window, and at rest nothing is told.
        assert told == sorted(told)
        assert abs(told[-1] - 64) <= 8


def test_a_lamp_becomes_full_and_dark_within_the_window(trial: Path) -> None:
    with Emulator(trial) as board:
        lit(board, b"Q", 1)
        begun = board.t
        board.run(ms=5)
        assert levels(board) == [255] * 6
        full = [event for event in board.told("lamp") if event.words[1] == "255"]
        assert len(full) == 6
        assert all(3000 < event.t - begun < 4500 for event in full)
        board.events.clear()
        board.ask("reset brown_out")
        board.run(ms=5)
        assert levels(board) == [0] * 6
        assert sum(event.words[1] == "0" for event in board.told("lamp")) == 6


def test_the_share_slides_with_time(trial: Path) -> None:
    with Emulator(trial) as board:
        lit(board, b"Q", 5)
        board.ask("unplug")
        seen = []
        for _ in range(5):
            seen.append(levels(board)[0])
            board.run(ms=1)
        assert seen == [255, 191, 128, 64, 0]


def test_pixels_are_read_in_their_own_order_of_colours(trial: Path) -> None:
    with Emulator(trial) as board:
        assert board.ask("lamps")["pixels"] == "-"
        lit(board, b"P", 10)
        assert board.ask("lamps")["pixels"] == "112233,00ff80"
        assert [event.words for event in board.told("pixels")] == [("112233,00ff80",)]
        board.send(b"P")
        board.run(ms=10)
        assert len(board.told("pixels")) == 1  # the same colours again
        assert board.ask("state")["pixel_faults"] == "0"


def test_pulses_that_no_pixel_understands_are_counted(trial: Path) -> None:
    with Emulator(trial) as board:
        lit(board, b"G", 10)
        state = board.ask("state")
        # A pulse that is neither short nor long, and then a pixel of too few bits.
        assert state["pixel_faults"] == "2"
