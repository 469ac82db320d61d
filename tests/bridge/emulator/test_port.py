"""The port in real time: a terminal that programs open."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import serial

from tests.bridge.emulator.client import PATIENCE, Emulator

AT_DTR = b"m\x02"
"""What the trial program says after an external reset."""
BOOT_US = 50_000


@pytest.fixture
def link() -> Iterator[Path]:
    """A name for the port."""
    with tempfile.TemporaryDirectory(prefix="tt-port-") as name:
        yield Path(name) / "panel"


def restarted(board: Emulator) -> None:
    """The board was reset by DTR and has started.

    What it said may be lost: pyserial throws away what came while it opened the port.
    """
    board.until("opened")
    reset = board.until("reset", "external")
    assert board.until("start", "external").t - reset.t == BOOT_US
    assert board.until("tx").words == (AT_DTR.hex(),)


def echoed(port: serial.Serial, data: bytes) -> bool:
    """The trial program sends back what it gets."""
    port.write(data)
    return port.read_until(data).endswith(data)


def opened(path: str, baud: int = 115200) -> serial.Serial:
    """The port, as pyserial opens that of a board."""
    return serial.Serial(path, baud, timeout=PATIENCE, exclusive=True)


def test_opening_the_port_resets_the_board_and_bytes_go_both_ways(trial: Path) -> None:
    with Emulator(trial, virtual=False) as board:
        board.ask("watch line")
        with opened(board.port) as port:
            restarted(board)
            assert board.ask("state")["open"] == "1"
            assert echoed(port, bytes(range(0x80, 0x100)))
        board.until("closed")
        assert board.ask("state")["open"] == "0"


def test_each_opening_resets_again(trial: Path) -> None:
    with Emulator(trial, virtual=False) as board:
        board.ask("watch line")
        for _ in range(3):
            with opened(board.port):
                restarted(board)
            board.until("closed")
        assert "external:3" in board.ask("state")["resets"]


def test_without_dtr_opening_resets_nothing(trial: Path) -> None:
    with Emulator(trial, virtual=False, no_dtr=True) as board:
        board.ask("watch line")
        board.until("start", "power_on")
        with opened(board.port) as port:
            board.until("opened")
            assert echoed(port, b"x")
        assert "external:0" in board.ask("state")["resets"]


def test_the_port_has_a_name_that_goes_with_it(trial: Path, link: Path) -> None:
    with Emulator(trial, virtual=False, link=link) as board:
        assert board.port == board.ask("state")["port"] == str(link)
        assert link.is_symlink()
        board.end()
        assert not os.path.lexists(link)


def test_a_name_that_belongs_to_something_else_is_left_alone(trial: Path, link: Path) -> None:
    link.write_text("mine")
    with (
        pytest.raises(Exception, match="is a file already, and no link to a port"),
        Emulator(trial, virtual=False, link=link),
    ):
        pass
    assert link.read_text() == "mine"


def test_a_link_to_something_else_is_left_alone(trial: Path, link: Path) -> None:
    link.symlink_to("/dev/null")
    with (
        pytest.raises(Exception, match="leads to /dev/null, which is no panel's port"),
        Emulator(trial, virtual=False, link=link),
    ):
        pass
    assert os.readlink(link) == "/dev/null"


def test_the_name_of_a_panel_that_lives_is_left_alone(trial: Path, link: Path) -> None:
    with Emulator(trial, virtual=False, link=link) as board:
        before = os.readlink(link)
        with (
            pytest.raises(Exception, match="is the port of another panel"),
            Emulator(trial, virtual=False, link=link.parent / "." / link.name),
        ):
            pass
        with Emulator(trial, virtual=False) as other:
            other.ask("unplug")
            assert "is the port of another panel" in other.refused(f"plug {link}")
            assert os.readlink(link) == before
            board.end(signal.SIGKILL)
            assert os.readlink(link) == before, "it was left behind"
            assert other.ask(f"plug {link}")["port"] == str(link)


def test_a_name_may_have_spaces(trial: Path, link: Path) -> None:
    other = link.with_name("a \tpanel of  50%")
    with Emulator(trial, virtual=False, link=other) as board:
        assert unquote(board.ask("state")["port"]) == str(other)
        board.ask("unplug")
        assert unquote(board.ask(f"plug {other}")["port"]) == str(other)
        assert other.is_symlink()
    assert list(link.parent.iterdir()) == []


def test_a_name_is_one_line(trial: Path, link: Path) -> None:
    with (
        pytest.raises(Exception, match="the name of a port is one line"),
        Emulator(trial, virtual=False, link=link.with_name("two\nlines")),
    ):
        pass


def test_an_older_link_is_replaced_and_a_later_one_is_not_removed(trial: Path, link: Path) -> None:
    link.symlink_to("/dev/pts/99999")
    with Emulator(trial, virtual=False, link=link) as board:
        assert os.readlink(link) != "/dev/pts/99999"
        link.unlink()
        link.symlink_to("/dev/null")
        board.end()
    assert str(link.readlink()) == "/dev/null"


def test_unplugging_ends_the_programs_port_and_plugging_makes_a_new_one(
    trial: Path, link: Path
) -> None:
    with Emulator(trial, virtual=False, link=link) as board:
        board.ask("watch line")
        with opened(board.port) as port:
            restarted(board)
            board.ask("unplug")
            assert board.told("closed")
            assert board.told("off")
            assert not os.path.lexists(link)
            with pytest.raises(serial.SerialException):
                port.read(len(AT_DTR) + 1)
        other = link.with_name("other")
        assert board.ask(f"plug {other}")["port"] == str(other)
        with opened(str(other)):
            restarted(board)
        link.write_text("mine")
        board.ask("unplug")
        assert "is a file already" in board.refused(f"plug {link}")
        assert board.ask("state")["port"] == "-"
        assert board.ask("plug")["port"].startswith("/dev/pts/")


def test_a_program_with_the_wrong_speed_gets_garbage(trial: Path) -> None:
    with Emulator(trial, virtual=False, no_dtr=True) as board:
        board.ask("watch line")
        board.until("start")
        with opened(board.port, 57600) as port:
            board.until("opened")
            assert board.ask("state")["host_baud"] == "57600"
            port.write(b"x")
            garbage = board.until("rx")
            assert garbage.words[0] != b"x".hex()
        board.until("closed")
        with opened(board.port, 115200) as port:
            board.until("opened")
            port.write(b"x")
            assert board.until("rx").words[0] == b"x".hex()


def test_nothing_waits_for_a_program_that_comes_later(trial: Path) -> None:
    with Emulator(trial, virtual=False, no_dtr=True) as board:
        board.ask("watch line")
        board.until("tx")  # nobody has it open
        with opened(board.port) as port:
            board.until("opened")
            assert echoed(port, b"x")


def test_simulated_time_follows_the_clock(trial: Path) -> None:
    with Emulator(trial, virtual=False) as board:
        before = time.monotonic_ns() // 1000
        clock = board.ask("clock")
        after = time.monotonic_ns() // 1000
        assert before - 10_000 <= int(clock["mono"]) + int(clock["t"]) <= after


def test_a_process_that_was_stopped_leaves_that_time_out(trial: Path) -> None:
    with Emulator(trial, virtual=False) as board:
        first = board.ask("clock")
        board.process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        board.process.send_signal(signal.SIGCONT)
        second = board.ask("clock")
        assert int(second["mono"]) - int(first["mono"]) > 1_000_000
