"""The control socket, the command line, and the end."""

from __future__ import annotations

import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridge.emulator.client import PATIENCE, Emulator
from tests.support import boards


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a name that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="tt-control-") as name:
        yield Path(name)


def refused(*arguments: str | Path) -> str:
    """What is said to arguments that make no sense."""
    ran = subprocess.run(
        [boards.emulator(), *arguments],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    (sentence,) = ran.stderr.splitlines()
    return sentence


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "--elf FILE is missing"),
        (("--elf", "x"), "--control PATH is missing"),
        (("--what",), "there is no option --what"),
        (("--seed",), "--seed"),
        (("board",), "nothing is known of board"),
        (("--boot-ms", "soon"), "--boot-ms must be a number from 0 to 60000, not soon"),
        (("--uid", "4294967296"), "--uid must be a number from 0 to 4294967295"),
        (("--noise", "1.5"), "--noise must be a share from 0 to 1, not 1.5"),
        (("--noise", "nan"), "--noise must be a share"),
        (("--elf", "x", "--control", ""), "--control must be a path, not empty"),
        (("--elf", "x", "--link", ""), "--link must be a path, not empty"),
        (("--elf", "x", "--control", "y", "--host-baud", "9"), "--host-baud must be at least 300"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(arguments: tuple[str, ...], part: str) -> None:
    assert part in refused(*arguments)


def test_files_that_are_no_firmware(folder: Path) -> None:
    text = folder / "text"
    text.write_text("no firmware")
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    for elf in (folder / "missing", text, folder, fifo, Path("/dev/null"), Path(sys.executable)):
        assert refused("--elf", elf, "--control", folder / "c") == f"{elf} is no firmware"
    assert not (folder / "c").exists()


def test_damaged_files_do_no_harm(trial: Path, folder: Path) -> None:
    """simavr alone would die of some of them."""
    good, damaged = trial.read_bytes(), folder / "elf"
    sections = int.from_bytes(good[32:36], "little")
    chance = random.Random(7)
    refusals = 0
    for number in range(60):
        data = bytearray(good)
        for _ in range(1 + number % 8):
            begin, end = ((0, 52 + 3 * 32), (sections, len(data)))[number % 2]
            data[chance.randrange(begin, end)] = chance.randrange(256)
        damaged.write_bytes(data[: chance.randrange(len(data))] if number % 3 == 0 else data)
        ran = subprocess.run(
            [boards.emulator(), "--elf", damaged, "--control", folder / "c", "--virtual"],
            check=False,
            input=b"",
            capture_output=True,
            timeout=PATIENCE,
        )
        assert ran.returncode in (0, 2)
        refusals += ran.returncode == 2
    assert 20 < refusals < 60


def test_the_sockets_folder_goes_too_if_that_is_wanted(trial: Path, folder: Path) -> None:
    inner = folder / "inner"
    command: list[str | Path] = [boards.emulator(), "--elf", trial, "--virtual"]
    for others in (True, False):
        inner.mkdir(exist_ok=True)
        if others:
            (inner / "other").write_text("mine")
        else:
            (inner / "other").unlink()
        ran = subprocess.run(
            [*command, "--control", inner / "control", "--remove-folder"],
            check=True,
            input=b"",
            capture_output=True,
            timeout=PATIENCE,
        )
        assert ran.stdout == b"virtual\n"
        assert inner.exists() == others


def test_a_socket_that_is_in_use_is_left_alone(trial: Path, folder: Path) -> None:
    with Emulator(trial) as board:
        said = refused("--elf", trial, "--virtual", "--control", board.control)
        assert "can't be the control socket" in said
        assert board.run(ms=1) == 1000
    for taken in ("file", "missing/control"):
        (folder / "file").write_text("mine")
        assert "can't be the control socket" in refused(
            *("--elf", trial, "--virtual", "--control", folder / taken)
        )
    assert (folder / "file").read_text() == "mine"
    assert "too long" in refused("--elf", trial, "--control", folder / ("x" * 200))


def test_a_socket_that_a_killed_emulator_left_behind_is_used_again(
    trial: Path, folder: Path
) -> None:
    control = folder / "control"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(control))
    assert control.is_socket()
    command: list[str | Path] = [boards.emulator(), "--elf", trial, "--virtual"]
    with subprocess.Popen(
        [*command, "--control", control], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"virtual\n"
        process.communicate(timeout=PATIENCE)  # its standard input ends
        assert process.returncode == 0
    assert not control.exists()


def test_only_this_user_may_ask(trial: Path) -> None:
    with Emulator(trial) as board:
        assert stat.S_IMODE(board.control.stat().st_mode) == 0o600


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_in_order(trial: Path, by: signal.Signals) -> None:
    with Emulator(trial) as board:
        assert board.end(by) == (0, "")
        assert not board.control.exists()


def test_it_ends_in_the_middle_of_a_long_run(trial: Path) -> None:
    with Emulator(trial) as board, board.connect() as other:
        other.sendall(b"run 300000000000\n")
        # It can't serve anybody now; that it runs is seen by its use of the processor.
        while cpu_ticks(board.process.pid) < 5:
            time.sleep(0.01)
        assert board.end() == (0, "")
        assert not board.control.exists()


def cpu_ticks(pid: int) -> int:
    """Hundredths of a second that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize(
    "words",
    ["run", "run -1", "run 1 2", "run 99999999999999999999", "reset", "reset hard", "watch",
     "watch tv", "noise", "noise 2", "noise flips=0.1 drops=x", "noise drops=1", "lamps now",
     "hang on", "clock 1"],
)  # fmt: skip
def test_commands_that_make_no_sense_are_told_how_to_be_said(trial: Path, words: str) -> None:
    with Emulator(trial) as board:
        assert board.refused(words).startswith("say: " + words.partition(" ")[0])
        assert board.t == 0


def test_unknown_commands_are_refused(trial: Path) -> None:
    with Emulator(trial) as board:
        assert board.refused("jump") == "there is no such command: jump"
        assert board.refused("") == "there is no such command: (nothing)"
        assert board.refused("jump " * 50).startswith("there is no such command")


def test_what_only_makes_sense_in_real_time_or_virtual_time(trial: Path) -> None:
    with Emulator(trial, virtual=False) as board:
        assert "real time" in board.refused("run 1")
        assert "through the port" in board.refused("send 00")


def test_several_commands_in_one_piece_are_answered_in_order(trial: Path) -> None:
    with Emulator(trial) as board, board.connect() as other:
        other.sendall(b"run 5\nclock\nnonsense\nru")
        other.sendall(b"n 5\n")
        said = b""
        while said.count(b"\n") < 4:
            said += other.recv(4096)
        assert said.splitlines() == [
            b"ok t=5",
            b"ok t=5 mono=0",
            b"error there is no such command: nonsense",
            b"ok t=10",
        ]


def test_events_go_to_those_who_watch_and_before_the_answer(trial: Path) -> None:
    with Emulator(trial) as board, board.connect() as other:
        board.ask("watch lamps")
        board.ask("contact 0 closed at=10")
        other.sendall(b"run 20\n")
        assert other.recv(4096) == b"ok t=20\n"
        assert board.told("contact") == []  # not read yet
        board.ask("clock")
        assert [event.t for event in board.told("contact")] == [10]


def test_many_connections_come_and_go(trial: Path) -> None:
    with Emulator(trial) as board:
        for _ in range(3):
            others = [board.connect() for _ in range(20)]
            for other in others:
                other.close()
        with board.connect() as other:
            other.sendall(b"clock\n")
            assert other.recv(4096) == b"ok t=0 mono=0\n"


def test_who_watches_and_does_not_read_stops_nobody(trial: Path) -> None:
    with Emulator(trial) as board, board.connect() as other:
        other.sendall(b"watch all\n")
        assert other.recv(4096).startswith(b"ok")
        for i in range(100):
            board.ask(f"contact 0 closed at={board.t + 1} bounces=1000 every=1")
            board.ask(f"contact 0 open at={board.t + 1100 + i} bounces=1000 every=1")
            board.run(ms=3)
        assert os.path.exists(f"/proc/{board.process.pid}")
