"""The emulator's process and its socket, with somebody at the other end who behaves badly."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tableturn_bridge.emulated import process
from tableturn_bridge.emulated.process import (
    Emulator,
    EmulatorError,
    EmulatorGone,
    Happening,
    Line,
    Settings,
    read_answer,
)
from tests.bridge.virtual.play import until


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


class Ear:
    """What a line tells."""

    def __init__(self) -> None:
        self.heard: list[Happening] = []
        self.lost = 0

    def line(self, connection: socket.socket) -> Line:
        return Line(connection, self.heard.append, self._lost)

    def _lost(self) -> None:
        self.lost += 1


def answering(theirs: socket.socket, answer: Callable[[bytes], bytes]) -> threading.Thread:
    """Somebody answers the next line, in pieces."""

    def run() -> None:
        asked = theirs.recv(1000)
        for byte in answer(asked):
            theirs.sendall(bytes([byte]))

    thread = threading.Thread(target=run)
    thread.start()
    return thread


async def test_what_an_answer_follows_has_been_told_before(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    ear = Ear()
    line = ear.line(ours)
    thread = answering(
        theirs, lambda asked: b"! off t=12\n! lamp 0 255 t=13\nok asked=" + asked + b"! off t=99\n"
    )
    assert line.ask("clock") == {"asked": "clock"}
    assert ear.heard[:2] == [Happening("off", (), 12), Happening("lamp", ("0", "255"), 13)]
    thread.join()
    await until(lambda: len(ear.heard) == 3)
    assert ear.heard[2].at == 99, "what comes later is told as it comes"
    line.close()


async def test_answers_belong_to_questions_in_their_order(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    line = Ear().line(ours)
    answers: list[str] = []
    line.post("a", answers.append)
    line.post("b", answers.append)
    theirs.sendall(b"ok n=1\nok n=2\nerror no board\n")
    with pytest.raises(EmulatorError, match="no board"):
        line.ask("c")
    assert answers == ["ok n=1", "ok n=2"]
    assert theirs.recv(100) == b"a\nb\nc\n"
    line.close()


async def test_an_emulator_that_ends_is_gone_for_good(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    ear = Ear()
    line = ear.line(ours)
    theirs.close()
    for _ in range(2):
        with pytest.raises(EmulatorGone, match="has ended"):
            line.ask("clock")
    assert ear.lost == 1
    assert not line.is_up


async def test_an_emulator_that_hangs_is_not_waited_for_for_ever(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "ANSWERS_WITHIN", 0.05)
    line = Ear().line(ends[0])
    with pytest.raises(EmulatorGone, match="doesn't answer"):
        line.ask("clock")
    line.close()


async def test_who_hangs_is_waited_for_once(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bridge that shares the loop goes on meanwhile; late answers are as good as others."""
    ours, theirs = ends
    line = Ear().line(ours)
    monkeypatch.setattr(process, "ANSWERS_WITHIN", 0.05)
    answers: list[str] = []
    line.post("a", answers.append)
    await asyncio.sleep(0.1)
    monkeypatch.setattr(process, "ANSWERS_WITHIN", 0.06)
    monkeypatch.setattr(line, "post", None)  # nothing more is asked
    with pytest.raises(EmulatorGone, match="doesn't answer"):
        line.ask("b")
    monkeypatch.undo()
    theirs.sendall(b"ok n=1\nok n=2\n")
    assert line.ask("b") == {"n": "2"}
    assert answers == ["ok n=1"]
    line.close()


@pytest.mark.parametrize("text", ["clock\nunplug", "plug /a\0b", "plug \ud800"])
async def test_what_is_asked_is_one_line_of_text(
    ends: tuple[socket.socket, socket.socket], text: str
) -> None:
    ours, theirs = ends
    line = Ear().line(ours)
    with pytest.raises(EmulatorError, match="what the emulator is asked is"):
        line.ask(text)
    line.post("plug /\udcff", lambda _: None)
    assert theirs.recv(100) == b"plug /\xff\n", "nothing else was sent"
    line.close()


@pytest.mark.parametrize("line", ["! lamp 0 255", "! lamp 0 255 t=", "!", "! t=5x"])
def test_a_happening_without_a_time_is_none(line: str) -> None:
    with pytest.raises(EmulatorError, match="can't be read"):
        Happening.read(line)


def test_answers() -> None:
    assert read_answer("ok") == {}
    assert read_answer("ok port=/a%20b%25 t=1") == {"port": "/a b%", "t": "1"}
    assert read_answer("ok t=5 levels=0,1") == {"t": "5", "levels": "0,1"}
    with pytest.raises(EmulatorError, match="there is no button 9"):
        read_answer("error there is no button 9")
    with pytest.raises(EmulatorError, match="can't be read"):
        read_answer("what?")


# ---------------------------------------------------------------- starting one


def program(path: Path, body: str) -> Settings:
    """A program that is taken for the emulator."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Settings(elf=path, program=path)


async def test_what_a_program_says_that_does_not_start(tmp_path: Path) -> None:
    settings = program(tmp_path / "it", "echo 'it is no ELF file' >&2; exit 2")
    with pytest.raises(EmulatorError, match="it is no ELF file"):
        await Emulator.started(settings)
    with pytest.raises(EmulatorError, match="didn't start"):
        await Emulator.started(program(tmp_path / "it", "exit 2"))


async def test_a_program_that_says_nothing_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STARTS_WITHIN", 0.3)
    monkeypatch.setattr(process, "ENDS_WITHIN", 0.3)
    settings = program(tmp_path / "it", f"echo $$ > {tmp_path}/pid; exec sleep 60")
    with pytest.raises(EmulatorGone, match="doesn't start"):
        await Emulator.started(settings)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_one_that_ends_is_not_told_to_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """asyncio would warn that somebody else has taken its exit code."""
    settings = program(tmp_path / "it", "echo ready; read nothing")
    emulator = await Emulator.started(settings)
    os.kill(emulator._process.pid, 9)
    await emulator.end()
    assert emulator._process.returncode == -9
    assert caplog.records == []


async def test_a_program_that_can_not_be_started_and_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmulatorError, match="can't be started"):
        await Emulator.started(Settings(elf=tmp_path, program=tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(EmulatorError, match="no place for its socket"):
        await Emulator.started(program(tmp_path / "it", "exit 2"))


def test_the_command_line(tmp_path: Path) -> None:
    settings = Settings(
        tmp_path / "elf", tmp_path / "program", tmp_path / "link", 50, True, False, 7, 0.01, 3
    )
    assert settings.arguments(tmp_path / "control") == [
        f"--elf={tmp_path}/elf",
        f"--control={tmp_path}/control",
        "--remove-folder",
        "--boot-ms=50",
        "--uid=7",
        "--noise=0.01",
        "--seed=3",
        f"--link={tmp_path}/link",
        "--greeting",
        "--no-dtr",
    ]
