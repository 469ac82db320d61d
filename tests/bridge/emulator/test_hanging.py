"""A main program that stands still while its interrupts go on: `hang busy`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.emulator.client import Emulator
from tests.support import boards

WATCHDOG_US = 512_000
"""The watchdog's time of 500 ms: 65536 cycles of its 128 kHz."""
HALF = 127
LAMP = 2
"""The one that the trial program lights half of the time, by an interrupt."""


def level(board: Emulator) -> int:
    return int(board.ask("lamps")["levels"].split(",")[LAMP])


def blinking(board: Emulator) -> None:
    """The trial program with its interrupt."""
    board.run(ms=10)
    board.send(b"C")
    board.run(ms=10)
    board.ask("watch line")
    assert level(board) == pytest.approx(HALF, abs=2)


def test_interrupts_go_on_while_the_main_program_stands_still(trial: Path) -> None:
    with Emulator(trial) as board:
        blinking(board)
        board.ask("hang busy 20000")
        assert board.ask("state")["hung"] == "1"
        board.send(b"abcd")
        board.run(ms=19)
        assert board.sent() == b""
        assert level(board) == pytest.approx(HALF, abs=2)
        board.run(ms=10)
        assert board.sent() == b"abc"  # as long as nobody reads, the receiver holds three
        assert board.ask("state")["hung"] == "0"


def test_with_interrupts_off_they_do_not_go_on(trial: Path) -> None:
    with Emulator(trial) as board:
        blinking(board)
        board.ask("hang 20000")
        board.run(ms=10)
        assert level(board) in (0, 255)


def test_interrupts_alone_keep_no_watchdog_quiet(trial: Path) -> None:
    with Emulator(trial) as board:
        blinking(board)
        began = board.t
        board.ask("hang busy")
        board.run(ms=600)
        (bite,) = board.told("reset")
        assert bite.words == ("watchdog",)
        assert bite.t - began == pytest.approx(WATCHDOG_US, abs=200)
        assert board.ask("state")["hung"] == "0"
        assert board.sent() == b"m\x08"


def test_the_end_of_a_hang_that_a_reset_cut_off_does_no_harm_to_a_later_one(trial: Path) -> None:
    with Emulator(trial) as board:
        blinking(board)
        board.ask("hang busy 30000")
        board.ask("reset brown_out")
        board.run(ms=10)
        board.send(b"C")
        board.run(ms=10)
        board.ask("hang busy 40000")
        board.events.clear()
        board.send(b"x")
        board.run(ms=30)
        assert board.sent() == b""
        board.run(ms=20)
        assert board.sent() == b"x"


def test_it_begins_where_interrupts_are_on(trial: Path) -> None:
    """Before that the program runs on: it would stand still for good in what is only a moment."""
    with Emulator(trial) as board:
        board.run(ms=10)
        board.ask("watch line")
        board.ask("hang busy")  # the trial program has them off
        board.send(b"ab")
        board.run(ms=10)
        assert board.sent() == b"ab"
        board.send(b"Cxy")
        board.run(ms=10)
        assert board.sent() == b"ab"
        assert level(board) == pytest.approx(HALF, abs=2)


def test_the_program_goes_on_where_it_was() -> None:
    """The real firmware, which sleeps most of the time, stopped again and again."""
    with Emulator(boards.firmware(4)) as board:
        board.run(ms=50)
        for stop in range(200):
            board.ask(f"hang busy {1 + 37 * stop % 3000}")
            board.run(us=4000 + 13 * stop)
        state = board.ask("state")
        assert state["resets"] == "power_on:1,external:0,brown_out:0,watchdog:0"
        assert (state["crashed"], state["hung"]) == ("-", "0")
        assert int(board.ask("stack")["used"]) < 200


def test_both_ways_to_hang_exclude_each_other_and_a_reset_ends_them(trial: Path) -> None:
    with Emulator(trial) as board:
        blinking(board)
        for one, other in (("hang busy", "hang"), ("hang 1000", "hang busy 1000")):
            board.ask(one)
            assert board.refused(other) == "it hangs already, in the other way"
            board.ask(one)
            board.ask("reset brown_out")
            assert board.ask("state")["hung"] == "0"
        for words in ("hang busy x", "hang 1 2", "hang idle"):
            assert board.refused(words).startswith("say: hang")
