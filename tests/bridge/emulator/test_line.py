"""The serial line: times, losses, speeds and noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.emulator.client import Emulator

BYTE_US = 10 / 115200 * 1e6
SAID_AT_START = b"m\x01"
"""What the trial program says after power-on: the flag of the reset's cause."""
DOR = 0x08
PLAIN = b"hello, panel: 0123456789"
"""Letters that the trial program sends back."""


def echo(board: Emulator, data: bytes, ms: int = 50) -> bytes:
    """What comes back of some bytes, as the firmware sends it."""
    board.events.clear()
    board.send(data)
    board.run(ms=ms)
    return board.sent("tx")


def started(board: Emulator, *watched: str) -> None:
    """Let the program start, then watch."""
    board.run(ms=10)
    for topic in watched or ("line",):
        board.ask(f"watch {topic}")


def test_a_byte_takes_ten_bits_on_its_way_and_as_many_back(trial: Path) -> None:
    with Emulator(trial) as board:
        board.ask("watch line")
        board.run(ms=10)
        assert board.sent() == SAID_AT_START
        assert echo(board, b"x") == b"x"
        there, back = board.events
        assert (there.kind, there.t - 10_000) == ("rx", int(BYTE_US))
        # The firmware is 2.1 % faster than the host, and answers within some instructions.
        assert back.kind == "tx"
        assert 0 < back.t - there.t - 85 < 5


def test_bytes_follow_each_other_without_a_gap(trial: Path) -> None:
    with Emulator(trial) as board:
        started(board)
        assert echo(board, PLAIN) == PLAIN
        (there,) = board.told("rx")
        assert there.t - 10_000 == pytest.approx(len(PLAIN) * BYTE_US, abs=1)
        assert board.ask("state")["overruns"] == "0"


def test_events_of_frames_come_when_their_last_zero_is_through(trial: Path) -> None:
    with Emulator(trial) as board:
        started(board)
        board.send(b"\0ab\0\0c\0d")
        board.run(us=int(7 * BYTE_US) + 1)
        assert [event.words for event in board.told("rx")] == [("00616200",), ("006300",)]
        board.run(ms=3)  # silence
        assert board.told("rx")[-1].words == ("64",)


def test_a_receiver_that_is_not_read_keeps_three_bytes_and_tells_of_the_loss_once(
    trial: Path,
) -> None:
    with Emulator(trial) as board:
        started(board)
        answer = echo(board, b"Dabcdef")
        # Flags and byte of each: those in the buffer, then the one in the shift register.
        assert answer == bytes((DOR, *b"a", 0, *b"b", 0, *b"c")) + b"."
        state = board.ask("state")
        assert (state["rx"], state["overruns"], state["overrun_flags"]) == ("7", "3", "1")
        assert board.sent("rx") == b"Dabc"


def test_three_bytes_are_no_overrun(trial: Path) -> None:
    with Emulator(trial) as board:
        started(board)
        assert echo(board, b"Dabc") == bytes((0, *b"a", 0, *b"b", 0, *b"c")) + b"."
        assert board.ask("state")["overruns"] == "0"


@pytest.mark.parametrize("baud", [113600, 115200, 121700])
def test_speeds_within_three_and_a_half_percent_do_no_harm(trial: Path, baud: int) -> None:
    with Emulator(trial, host_baud=baud) as board:
        started(board, "line", "host")
        assert echo(board, PLAIN) == PLAIN
        assert board.sent("host") == PLAIN


@pytest.mark.parametrize("baud", [9600, 57600, 112000, 122000, 230400])
def test_with_other_speeds_nothing_arrives_as_it_was(trial: Path, baud: int) -> None:
    with Emulator(trial) as board:
        started(board, "line", "host")
        board.ask(f"baud {baud}")
        answer = echo(board, PLAIN, ms=100)
        assert PLAIN not in board.sent("rx")
        assert not set(board.sent("rx")) & set(b"hlp")
        assert answer not in board.sent("host")
        board.ask("baud 0")  # right again
        assert echo(board, PLAIN) == board.sent("host") == PLAIN


def test_a_slow_host_makes_framing_errors(trial: Path) -> None:
    with Emulator(trial, host_baud=9600) as board:
        started(board)
        board.send(b"\0\0\0")
        board.run(ms=20)
        assert int(board.ask("state")["frame_errors"]) >= 3


def test_lost_bytes_do_not_arrive(trial: Path) -> None:
    with Emulator(trial, noise=0) as board:
        started(board)
        board.ask("noise flips=0 drops=1")
        assert echo(board, PLAIN) == b""
        assert board.sent("rx") == b""


def test_turned_bits_are_one_for_each_byte_and_both_ways(trial: Path) -> None:
    with Emulator(trial) as board:
        started(board, "line", "host")
        board.ask("noise flips=1 drops=0")
        board.send(b"xyz")
        board.run(ms=20)
        for sent, arrived in ((b"xyz", "rx"), (board.sent("tx"), "host")):
            got = board.sent(arrived)
            assert len(sent) == len(got) > 0
            assert all((a ^ b).bit_count() == 1 for a, b in zip(sent, got, strict=True))


def test_the_same_seed_does_the_same_harm(trial: Path) -> None:
    def harmed(seed: int) -> bytes:
        with Emulator(trial, noise=0.2, seed=seed) as board:
            started(board)
            board.send(bytes(range(0x80, 0x100)))
            board.run(ms=50)
            return board.sent("rx")

    first = harmed(1)
    assert harmed(1) == first
    assert harmed(2) != first
    assert 128 * 0.75 < len(first) < 128  # a tenth is lost


def test_what_the_host_sends_is_checked(trial: Path) -> None:
    with Emulator(trial) as board:
        for words in ("send", "send 0", "send 0g", "send 00 00", "baud 7", "baud x"):
            assert board.refused(words).startswith("say: ")
        assert "wait to be sent" in board.refused("send " + 65537 * "00")
