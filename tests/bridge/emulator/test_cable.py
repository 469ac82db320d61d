"""What a cable that is pulled, a reset in the middle of a byte, and harm by noise leave behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.emulator.client import Emulator

BYTE_US = 10 / 115200 * 1e6
ERASED = 0xFF
GREETING = b"\x00\xf0\x0d boot\x06\x1e\x14\xff"
LETTERS = bytes(range(0x80, 0x100))
"""Letters that the trial program sends back."""
PLAIN = bytes((*range(0x80, 0xC0), *range(0xE0, 0x100)))
"""Those that it still sends back when one of their bits has turned over."""

# ---------------------------------------------------------------- cables and resets


@pytest.mark.parametrize("us", [30, 80])
def test_of_a_byte_whose_cable_is_pulled_nothing_arrives(trial: Path, us: int) -> None:
    """Not even as a mark in time for those that come over the next cable."""
    with Emulator(trial, boot_ms=0) as board:
        board.run(ms=10)
        board.ask("watch line")
        board.send(b"abc")
        board.run(us=us)
        board.ask("unplug")
        board.ask("plug")
        board.send(b"xyz")
        board.run(ms=20)
        assert board.sent("rx") == b"xyz"
        (last,) = board.told("rx")
        assert last.t - 10_000 - us == pytest.approx(3 * BYTE_US, abs=1)
        assert board.ask("state")["rx"] == "3"


@pytest.mark.parametrize("us", [30, 60, 90, 120, 150, 180, 200, 230, 260])
def test_after_a_reset_at_any_moment_of_a_byte_the_sender_works(trial: Path, us: int) -> None:
    """With a byte in its shift register, another one in its buffer, or neither."""
    with Emulator(trial) as board:
        board.run(ms=10)
        for _ in range(3):
            board.ask("reset brown_out")
            board.run(us=us)
        board.ask("watch line")
        board.ask("reset watchdog")
        board.run(ms=10)
        assert board.sent() == b"m\x08"
        board.send(LETTERS)
        board.run(ms=30)
        assert board.sent() == b"m\x08" + LETTERS


def test_another_reset_cuts_off_what_the_boot_loader_says(trial: Path) -> None:
    with Emulator(trial, greeting=True) as board:
        board.run(ms=10)
        board.ask("watch host")
        board.ask("reset external")
        board.run(us=int(3.5 * BYTE_US))
        board.ask("reset external")
        board.run(ms=100)
        assert board.sent("host") == GREETING[:3] + GREETING + b"m\x02"


def test_without_power_a_boot_loader_says_no_more(trial: Path) -> None:
    with Emulator(trial, greeting=True) as board:
        board.run(ms=10)
        board.ask("watch host")
        board.ask("reset external")
        board.run(us=int(3.5 * BYTE_US))
        board.ask("unplug")
        board.run(ms=100)
        assert board.sent("host") == GREETING[:3]


def test_a_plug_that_is_pulled_tears_the_byte_that_is_being_written(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        board.send(b"E")
        board.run(ms=5)  # the second byte is being written
        board.ask("unplug")
        board.ask("plug")
        board.run(ms=100)
        board.ask("watch line")
        board.send(b"F")
        board.run(ms=10)
        assert board.sent() == bytes((1, ERASED))


def test_bytes_that_the_firmware_writes_into_the_eeprom_are_counted(trial: Path) -> None:
    with Emulator(trial, uid=7) as board:
        board.run(ms=10)
        assert board.ask("state")["eeprom_writes"] == "0"
        board.send(b"E")
        board.run(ms=10)
        assert board.ask("state")["eeprom_writes"] == "2"
        board.send(b"F")
        board.run(ms=10)
        assert board.ask("state")["eeprom_writes"] == "2"


# ---------------------------------------------------------------- the order of things


def test_what_is_planned_for_the_same_moment_happens_in_the_order_of_planning(
    trial: Path,
) -> None:
    with Emulator(trial) as board:
        board.ask("watch lamps")
        planned = []
        for turn in range(12):
            for button in ("3", "master", "1", "5", "0", "2", "4"):
                words = (button, "closed" if turn % 2 == 0 else "open")
                board.ask(f"contact {' '.join(words)} at=5000")
                planned.append(words)
        board.run(ms=10)
        told = board.told("contact")
        assert [event.words for event in told] == planned
        assert {event.t for event in told} == {5000}


# ---------------------------------------------------------------- noise


def flipped(sent: bytes, got: bytes) -> list[int]:
    """The bits of each byte that have turned."""
    return [one ^ other for one, other in zip(sent, got, strict=True)]


def harmed(trial: Path, *, one_by_one: bool) -> tuple[list[int], list[int]]:
    """The bits that have turned on the way there, and on the way back."""
    with Emulator(trial, seed=3) as board:
        board.run(ms=10)
        board.ask("watch line")
        board.ask("watch host")
        board.ask("noise flips=1 drops=0")
        for piece in [bytes([letter]) for letter in PLAIN] if one_by_one else [PLAIN]:
            board.send(piece)
            board.run(us=1000 + 100 * len(piece))
        board.run(ms=10)
        there = flipped(PLAIN, board.sent("rx"))
        return there, flipped(board.sent("tx"), board.sent("host"))


def test_each_bit_of_a_byte_turns_over_now_and_then(trial: Path) -> None:
    for bits in harmed(trial, one_by_one=False):
        assert set(bits) == {1 << bit for bit in range(8)}


def test_what_is_said_in_one_direction_changes_no_harm_in_the_other(trial: Path) -> None:
    at_once, one_by_one = harmed(trial, one_by_one=False), harmed(trial, one_by_one=True)
    assert at_once == one_by_one
    there, back = at_once
    assert there != back
