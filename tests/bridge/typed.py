"""`tableturn panel` as it is typed, and fingers on the buttons of the panel that it works."""

from __future__ import annotations

import json
import queue
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from tableturn_client.cli import main as command_line
from tableturn_client.cli.exits import Exit
from tests.bridge.evening import WITHIN
from tests.client.service import TABLETURN, Ran


class Panel:
    """A `tableturn panel` without a board that runs, and fingers on its buttons."""

    def __init__(
        self, home: Path, *arguments: str, kind: str = "--virtual", as_json: bool = True
    ) -> None:
        self.socket = home / "buttons"
        json_option = ("--json",) if as_json else ()
        self.process = subprocess.Popen(
            [TABLETURN, "panel", kind, "--control", str(self.socket), *json_option,
             *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self._told: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._told.put(line.rstrip("\n"))

    def line(self, *words: str) -> str:
        """Wait for a line with these words."""
        while True:
            try:
                line = self._told.get(timeout=WITHIN)
            except queue.Empty:
                raise AssertionError(f"{words} never came: {self.lines}") from None
            self.lines.append(line)
            if all(word in line for word in words):
                return line

    def event(self, kind: str) -> dict[str, Any]:
        """Wait for a document of this kind."""
        found: dict[str, Any] = json.loads(self.line(f'"event": "{kind}"'))
        return found

    def does(self, what: str, **values: Any) -> dict[str, Any]:
        """Something that a finger does."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(WITHIN)
            connection.connect(str(self.socket))
            connection.sendall(json.dumps({"do": what, **values}).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                answer += connection.recv(4096)
        told: dict[str, Any] = json.loads(answer)
        assert told["ok"], told
        return told

    def lamp(self, button: int, sign: str) -> None:
        """Wait until a lamp says this."""
        self.does("wait_lamp", button=button, signs=[sign], timeout=WITHIN)

    def interrupted(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(WITHIN)
        self._reader.join()
        return code

    @property
    def errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read()

    def __enter__(self) -> Panel:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.ended()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def run(*arguments: str) -> Ran:
    """A command in this process, with its exit code and output."""
    code = 0

    def body() -> None:
        nonlocal code
        code = command_line.run(arguments)

    result = CliRunner().invoke(click.Command("x", callback=body), [])
    if result.exception is not None:
        raise result.exception
    return Ran(code, result.stdout, result.stderr)


def refused(exit: Exit, *arguments: str) -> str:
    """The one line of a command that fails in this way."""
    ran = run(*arguments)
    assert (ran.code, ran.out) == (exit.value, ""), ran
    assert ran.err.startswith("tableturn: ")
    assert len(ran.err.splitlines()) == 1
    return ran.err


def ok(*arguments: str) -> str:
    ran = run(*arguments)
    assert (ran.code, ran.err) == (0, ""), ran
    return ran.out


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task")
    return [int(one) for task in tasks.iterdir() for one in (task / "children").read_text().split()]
