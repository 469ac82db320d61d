"""An emulated board as tests hold it: the emulator's process, its control socket, its events.

    with Emulator(boards.firmware(4)) as board:
        board.ask("watch all")
        board.ask("contact 0 closed")
        board.run(ms=50)
        board.told("tx")  # what the firmware has sent since

All calls wait for their answer. In virtual time nothing happens between them; in real time
`until` waits for an event.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Self

from tests.support import boards

PATIENCE = 30.0
"""Seconds within which a process on a busy machine starts, answers or ends."""


class EmulatorError(Exception):
    """The emulator has refused a command, or is gone."""


class Told(NamedTuple):
    """An event: when (microseconds of simulated time), its kind, and what came between."""

    t: int
    kind: str
    words: tuple[str, ...]


class Emulator:
    """An emulator that runs a firmware.

    Options are those of its command line: `boot_ms=50`, `uid=7`, `noise="0.01"`, `greeting=True`.
    """

    def __init__(
        self,
        elf: Path,
        *,
        virtual: bool = True,
        program: Path | None = None,
        **options: str | int | float | bool | Path | None,
    ) -> None:
        self._elf = elf
        self._program = program
        self._options = {"virtual": virtual, **options}
        self.events: list[Told] = []
        """What the emulator has told since the start, or since `events` was cleared."""
        self.lines: list[str] = []
        """Every line that the emulator has said, to compare two runs."""
        self.port = ""
        """The name of the port, or `virtual`."""
        self._half_line = b""

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="tt-emulator-"))
        control = self._folder / "control"
        self.process = subprocess.Popen(
            [
                self._program or boards.emulator(),
                *("--elf", self._elf, "--control", control),
                *self._arguments(),
            ],
            stdin=subprocess.PIPE,  # its end ends the emulator, whatever becomes of the test
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.port = self.process.stdout.readline().decode().strip()
        if not self.port:
            said = self.process.communicate(timeout=PATIENCE)[1].decode()
            shutil.rmtree(self._folder)
            raise EmulatorError(f"ended with {self.process.returncode}: {said.strip()}")
        self._socket = self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def control(self) -> Path:
        """The control socket, for further connections."""
        return self._folder / "control"

    def connect(self) -> socket.socket:
        """A connection to the control socket, as it is."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(str(self.control))
        return connection

    def end(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """End the process; its exit code, and what it wrote to stderr."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            said = self.process.communicate(timeout=PATIENCE)[1].decode()
        except ValueError:  # it was asked for before
            said = ""
        finally:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, said

    def ask(self, command: str) -> dict[str, str]:
        """The values of the answer. Raises EmulatorError, with the emulator's sentence."""
        try:
            self._socket.sendall(command.encode() + b"\n")
        except OSError as error:
            raise EmulatorError(f"the emulator is gone: {error}") from error
        while True:
            verdict, _, rest = self._line(PATIENCE).partition(" ")
            if verdict == "ok":
                return dict(word.partition("=")[::2] for word in rest.split())
            if verdict == "error":
                raise EmulatorError(rest)

    def refused(self, command: str) -> str:
        """The sentence with which a command is refused."""
        try:
            answer = self.ask(command)
        except EmulatorError as error:
            return str(error)
        raise AssertionError(f"{command} was done: {answer}")

    def run(self, us: int = 0, *, ms: int = 0) -> int:
        """Let virtual time pass; what time it is afterwards, in microseconds."""
        return int(self.ask(f"run {us + ms * 1000}")["t"])

    def send(self, data: bytes) -> None:
        """Bytes from the host, in virtual time."""
        self.ask(f"send {data.hex()}")

    @property
    def t(self) -> int:
        """What time it is, in microseconds of simulated time."""
        return int(self.ask("clock")["t"])

    def told(self, kind: str) -> list[Told]:
        """The events of a kind since `events` was cleared."""
        return [event for event in self.events if event.kind == kind]

    def sent(self, kind: str = "tx") -> bytes:
        """The bytes that left the firmware's UART, or with `rx` arrived there."""
        return b"".join(bytes.fromhex(event.words[0]) for event in self.told(kind))

    def until(self, kind: str, *words: str, seconds: float = PATIENCE) -> Told:
        """In real time: wait for an event with these words that was not waited for before.

        It and all events before it are taken off `events`.
        """
        limit = time.monotonic() + seconds
        seen = 0
        while True:
            for index in range(seen, len(self.events)):
                event = self.events[index]
                if event.kind == kind and event.words[: len(words)] == words:
                    del self.events[: index + 1]
                    return event
            seen = len(self.events)
            left = limit - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no event {kind} {' '.join(words)}; there were {self.events}")
            try:
                self._line(left)
            except TimeoutError:
                continue

    def _line(self, seconds: float) -> str:
        """The next line, kept as an event if it is one."""
        self._socket.settimeout(seconds)
        while b"\n" not in self._half_line:
            try:
                data = self._socket.recv(65536)
            except ConnectionError as error:
                raise EmulatorError(f"the emulator is gone: {error}") from error
            if not data:
                raise EmulatorError("the emulator has ended")
            self._half_line += data
        line, _, self._half_line = self._half_line.partition(b"\n")
        text = line.decode()
        self.lines.append(text)
        if text.startswith("! "):
            kind, *words, when = text[2:].split()
            self.events.append(Told(int(when.removeprefix("t=")), kind, tuple(words)))
        return text

    def _arguments(self) -> list[str]:
        arguments = []
        for name, value in self._options.items():
            flag = "--" + name.replace("_", "-")
            if value is True:
                arguments.append(flag)
            elif value is not False and value is not None:
                arguments += [flag, str(value)]
        return arguments
