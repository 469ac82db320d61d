"""The board: power, resets by kind, the boot loader, the watchdog, memory, and crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.emulator.client import Emulator, EmulatorError, Told

FLAGS = {"power_on": 1, "external": 2, "brown_out": 4, "watchdog": 8}
"""The bits of MCUSR."""
BOOT_US = 50_000
WATCHDOG_US = 512_000
"""The watchdog's time of 500 ms: 65536 cycles of its 128 kHz."""
ERASED = 0xFF


def answer(board: Emulator, letters: bytes, ms: int = 20) -> bytes:
    """What the trial program says to some letters."""
    board.ask("watch line")
    board.events.clear()
    board.send(letters)
    board.run(ms=ms)
    return board.sent()


def kinds(board: Emulator) -> list[tuple[str, ...]]:
    """The resets and starts that were told."""
    return [
        (event.kind, *event.words) for event in board.events if event.kind in ("reset", "start")
    ]


def test_power_is_there_from_the_beginning_in_virtual_time(trial: Path) -> None:
    with Emulator(trial) as board:
        state = board.ask("state")
        assert (state["t"], state["powered"], state["booting"]) == ("0", "1", "0")
        assert state["resets"] == "power_on:1,external:0,brown_out:0,watchdog:0"
        assert state["port"] == board.port == "virtual"


@pytest.mark.parametrize("cause", FLAGS)
def test_the_firmware_sees_why_it_starts(trial: Path, cause: str) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        board.ask("watch all")
        board.ask(f"reset {cause}")
        board.run(ms=100)
        assert board.sent() == bytes((*b"m", FLAGS[cause]))
        assert kinds(board) == [("reset", cause), ("start", cause)]
        reset, start = board.told("reset")[0], board.told("start")[0]
        # The boot loader leaves the supply's and the watchdog's resets alone.
        boots = cause in ("power_on", "external")
        assert start.t - reset.t == (BOOT_US if boots else 0)


def test_the_boot_loader_swallows_what_the_host_says(trial: Path) -> None:
    with Emulator(trial, boot_ms=20) as board:
        board.run(ms=10)
        board.ask("watch line")
        board.ask("reset external")
        board.send(b"lost")
        board.run(ms=20)
        board.send(b"x")
        board.run(ms=10)
        assert board.sent("rx") == b"x"
        assert board.sent("tx") == b"m\x02x"
        assert board.ask("state")["rx"] == "1"


def test_the_boot_loader_says_something_if_it_is_asked_to(trial: Path) -> None:
    with Emulator(trial, greeting=True) as board:
        board.run(ms=10)
        board.ask("watch host")
        board.ask("reset external")
        board.run(ms=100)
        said = board.sent("host")
        assert said.endswith(b"m\x02")
        assert said.startswith(b"\x00\xf0\x0d boot")


def test_another_reset_begins_the_boot_loader_anew(trial: Path) -> None:
    with Emulator(trial) as board:
        board.ask("watch all")
        board.ask("reset external")
        board.run(ms=30)
        board.ask("reset external")
        board.run(ms=100)
        assert [event.t for event in board.told("start")] == [30_000 + BOOT_US]


def test_the_watchdog_bites_a_program_that_runs_in_a_circle(trial: Path) -> None:
    with Emulator(trial) as board:
        assert answer(board, b"K", ms=600) == b"m\x01m\x08"
        # The last kick was when the letter came.
        (bite,) = board.told("reset")
        assert bite.words == ("watchdog",)
        assert bite.t == pytest.approx(WATCHDOG_US, abs=200)


def test_hang_lets_the_real_watchdog_bite(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=100)
        board.ask("watch all")
        board.ask("hang")
        assert board.ask("state")["hung"] == "1"
        board.send(b"x")
        board.run(ms=500)
        assert kinds(board) == []
        assert board.sent("tx") == b""
        board.run(ms=100)
        assert kinds(board) == [("reset", "watchdog"), ("start", "watchdog")]
        assert board.ask("state")["hung"] == "0"
        assert board.sent("tx") == b"m\x08"
        assert answer(board, b"x") == b"x"


def test_a_hang_that_ends_in_time_is_only_a_delay(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=100)
        board.ask("watch all")
        board.ask("hang 20000")
        board.send(b"abcd")
        board.run(ms=19)
        assert board.sent() == b""
        board.run(ms=10)
        assert board.sent() == b"abc"
        assert board.ask("state")["overruns"] == "1"
        board.ask("hang 400000")  # the watchdog's time is half a second
        board.run(ms=1000)
        assert kinds(board) == []


def test_a_reset_ends_a_hang_and_its_end_does_no_harm_to_what_comes_later(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=100)
        board.ask("hang 20000")
        board.ask("reset brown_out")
        board.ask("hang 40000")
        board.ask("watch all")
        board.run(ms=30)
        assert board.sent() == b""
        board.run(ms=20)
        assert board.sent() == b"m\x04"


def test_without_power_nothing_happens_and_with_it_all_begins_anew(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        board.ask("watch all")
        board.ask("unplug")
        assert board.told("off") == [Told(10_000, "off", ())]
        board.send(b"nobody")
        board.run(ms=1000)
        state = board.ask("state")
        assert (state["powered"], state["port"], state["rx"]) == ("0", "-", "0")
        for command in ("unplug", "reset external", "hang"):
            assert board.refused(command)
        assert board.ask("plug")["port"] == "virtual"
        assert "already" in board.refused("plug")
        board.run(ms=100)
        assert board.sent() == b"m\x01"
        assert kinds(board) == [("reset", "power_on"), ("start", "power_on")]


def test_a_reset_in_the_middle_of_a_byte_does_not_silence_the_sender(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(us=30)  # the program says `m` just now
        board.ask("watch line")
        board.ask("reset brown_out")
        board.run(ms=10)
        assert board.sent() == b"m\x04"


# ---------------------------------------------------------------- memory


def test_writing_the_eeprom_takes_its_time_and_lasts_without_power(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        assert answer(board, b"E", ms=3) == b""
        board.run(ms=10)
        assert board.sent() == b"."
        board.ask("unplug")
        board.ask("plug")
        board.run(ms=100)
        assert answer(board, b"F") == bytes((1, 2))


def test_a_byte_that_loses_its_power_is_erased_and_those_before_it_are_kept(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        answer(board, b"E", ms=5)  # the second byte is being written
        board.ask("reset brown_out")
        board.run(ms=100)
        assert answer(board, b"F") == bytes((1, ERASED))


def test_an_external_reset_tears_nothing(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        answer(board, b"E", ms=5)
        board.ask("reset external")
        board.run(ms=100)
        assert answer(board, b"F") == bytes((1, 2))


def test_the_stack_is_measured_at_its_deepest(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        shallow = board.ask("stack")
        answer(board, b"H")
        deep = board.ask("stack")
        assert int(shallow["used"]) < 50
        assert 11 * 32 < int(deep["used"]) < 11 * 50
        assert int(deep["used"]) + int(deep["free"]) == int(shallow["used"]) + int(shallow["free"])
        board.ask("reset watchdog")
        board.run(ms=10)
        assert board.ask("stack") == deep


# ---------------------------------------------------------------- crashes


@pytest.mark.parametrize(
    ("letter", "word"),
    [(b"S", "asleep"), (b"I", "opcode"), (b"N", "address"), (b"O", "stack")],
    ids=["asleep", "opcode", "address", "stack"],
)
def test_a_crash_is_told_and_all_else_is_refused(trial: Path, letter: bytes, word: str) -> None:
    with Emulator(trial) as board:
        board.ask("watch lamps")
        board.run(ms=10)
        board.send(letter)
        with pytest.raises(EmulatorError, match=f"the firmware has crashed: {word} at t="):
            board.run(ms=100)
        (crash,) = board.told("crash")
        assert crash.words == (word,)
        assert 10_000 < crash.t < 15_000
        for command in ("run 1", "lamps", "contact 0 closed", "reset external", "stack", "send 00"):
            assert f"crashed: {word}" in board.refused(command)
        state = board.ask("state")
        assert (state["crashed"], state["t"]) == (word, "110000")
        assert board.process.poll() is None
