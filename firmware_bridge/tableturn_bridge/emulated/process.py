"""The emulator's process, and the socket through which it is asked and tells what happens.

One text line asks and one answers, in order; lines in between tell events. What an answer follows
has happened before it: whoever has asked for the time knows everything up to then.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import shutil
import socket
import tempfile
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

Fields = dict[str, str]
"""What an answer tells, by name."""

STARTS_WITHIN = 20.0
"""Seconds for the emulator to start."""
ENDS_WITHIN = 5.0
"""Seconds for the emulator to end with its input, then by a signal, before it is killed."""
ANSWERS_WITHIN = 5.0
"""Seconds for an answer; it takes a millisecond if the machine has time."""
PIECE = 65536


class EmulatorError(ValueError):
    """The emulator can't do what it was asked for; the sentence says why."""


class EmulatorGone(EmulatorError):
    """The emulator has ended or says nothing any more."""


@dataclass(frozen=True)
class Happening:
    """Something that the emulator tells: its kind, its words, and when, in microseconds."""

    kind: str
    words: tuple[str, ...]
    at: int

    @classmethod
    def read(cls, line: str) -> Happening:
        """Read a line such as `! lamp 0 255 t=1234`. Raises EmulatorError."""
        match line.split():
            case ["!", kind, *words, last] if last.startswith("t=") and last[2:].isdigit():
                return cls(kind, tuple(words), int(last[2:]))
        raise EmulatorError(f"the emulator tells something that can't be read: {line!r}")


def read_answer(line: str) -> Fields:
    """Read `ok KEY=VALUE ...`. Raises EmulatorError for `error SENTENCE` and anything else."""
    word, _, rest = line.partition(" ")
    if word == "ok":
        pairs = (one.partition("=") for one in rest.split())
        return {key: unquote(value, errors="surrogateescape") for key, _, value in pairs}
    if word == "error":
        raise EmulatorError(rest or "the emulator refuses it")
    raise EmulatorError(f"the emulator answers something that can't be read: {line!r}")


def _as_line(text: str) -> bytes:
    """A line as it is sent. Names of files in it needn't be texts. Raises EmulatorError."""
    if "\n" in text or "\0" in text:
        raise EmulatorError("what the emulator is asked is one line")
    try:
        return text.encode("utf-8", "surrogateescape") + b"\n"
    except UnicodeEncodeError as error:
        raise EmulatorError("what the emulator is asked is no text in UTF-8") from error


class Line:
    """The control socket.

    `ask` blocks until it is answered, which takes no longer than the emulator's next look at its
    socket. So a plug that was pulled is pulled when the call returns, and everything that happened
    before has been told to `heard`. `post` doesn't wait.

    Args:
        connection: To the emulator.
        heard: Is called with everything that happens, in order. It must not `ask`.
        lost: Is called once when the emulator has ended.
    """

    def __init__(
        self,
        connection: socket.socket,
        heard: Callable[[Happening], None],
        lost: Callable[[], None],
    ) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._heard = heard
        self._lost = lost
        self._rest = b""
        self._due: deque[tuple[float, Callable[[str], None]]] = deque()
        """Who gets the next answers, and since when each waits."""
        self._loop = asyncio.get_running_loop()
        self.is_up = True
        self._loop.add_reader(connection, self._read)

    def ask(self, line: str) -> Fields:
        """Ask, and wait for the answer; not once more for one that hangs. Raises EmulatorError."""
        self._check_answering()
        answers: list[str] = []
        self.post(line, answers.append)
        end = self._loop.time() + ANSWERS_WITHIN
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            while not answers and self.is_up:
                left = end - self._loop.time()
                if left <= 0:
                    raise EmulatorGone("the emulator doesn't answer")
                if selector.select(left):
                    self._read()
        if not answers:
            raise EmulatorGone("the emulator has ended")
        return read_answer(answers[0])

    def _check_answering(self) -> None:
        """Raises EmulatorGone if an answer is overdue."""
        if self._is_overdue():
            self._read()  # it may have come
            if self._is_overdue():
                raise EmulatorGone("the emulator doesn't answer")

    def _is_overdue(self) -> bool:
        return bool(self._due) and self._loop.time() - self._due[0][0] > ANSWERS_WITHIN

    def post(self, line: str, answered: Callable[[str], None]) -> None:
        """Ask; the answer's line is given to `answered`. Raises EmulatorError."""
        data = _as_line(line)
        if not self.is_up:
            raise EmulatorGone("the emulator has ended")
        try:
            self._connection.sendall(data)
        except OSError as error:
            self._end()
            raise EmulatorGone("the emulator has ended") from error
        self._due.append((self._loop.time(), answered))

    def _read(self) -> None:
        """Take what has come."""
        try:
            data = self._connection.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "surrogateescape")
            if text.startswith("!"):
                self._heard(Happening.read(text))
            elif self._due:
                _, answered = self._due.popleft()
                answered(text)

    def _end(self) -> None:
        if self.is_up:
            self.close()
            self._lost()

    def close(self) -> None:
        """Hang up."""
        if self.is_up:
            self.is_up = False
            self._loop.remove_reader(self._connection)
        self._connection.close()


@dataclass(frozen=True)
class Settings:
    """How an emulated board is started; see `EmulatedPanel`."""

    elf: Path
    program: Path
    link: Path | None = None
    boot_ms: int = 0
    greeting: bool = False
    opening_resets: bool = True
    uid: int = 0
    noise: float = 0.0
    seed: int = 0
    folder: Path | None = None
    """Where its socket is made; a folder of its own if it isn't said. It goes with the emulator."""

    def arguments(self, control: Path) -> list[str]:
        """The emulator's command line."""
        line = [f"--elf={self.elf}", f"--control={control}", "--remove-folder"]
        line += [f"--boot-ms={self.boot_ms}"]
        line += [f"--uid={self.uid}", f"--noise={self.noise}", f"--seed={self.seed}"]
        line += [] if self.link is None else [f"--link={self.link}"]
        line += ["--greeting"] if self.greeting else []
        return line + ([] if self.opening_resets else ["--no-dtr"])


class Emulator:
    """An emulator that runs, with a folder for its socket.

    It removes both when it ends, so that nothing is left when this process is killed.
    """

    def __init__(self, process: Process, folder: Path) -> None:
        self._process = process
        self._folder = folder

    @classmethod
    async def started(cls, settings: Settings) -> Emulator:
        """Start one. Raises EmulatorError, with what it said, if it doesn't start."""
        try:
            folder = settings.folder or Path(tempfile.mkdtemp(prefix="tableturn-"))
        except OSError as error:
            raise EmulatorError(f"there is no place for its socket: {error}") from error
        try:
            # Its input is never written to, but ends when this process does, however that is.
            # A Ctrl-C is for this process: in its group, the emulator would be gone before us.
            process = await asyncio.create_subprocess_exec(
                settings.program,
                *settings.arguments(folder / "control"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            _remove(folder)
            raise EmulatorError(f"the emulator can't be started: {error}") from error
        except BaseException:
            _remove(folder)
            raise
        emulator = cls(process, folder)
        try:
            await emulator._ready()
        except BaseException:
            await emulator.end()
            raise
        return emulator

    async def _ready(self) -> None:
        """Wait for the line that says that it is ready."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        try:
            async with asyncio.timeout(STARTS_WITHIN):
                if await self._process.stdout.readline():
                    return
                said = (await self._process.stderr.read()).decode("utf-8", "replace").split("\n")
        except TimeoutError:
            raise EmulatorGone("the emulator doesn't start") from None
        raise EmulatorGone(next((line for line in said if line), "the emulator didn't start"))

    def line(self, heard: Callable[[Happening], None], lost: Callable[[], None]) -> Line:
        """A connection to it."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self._folder / "control"))
        return Line(connection, heard, lost)

    async def end(self) -> None:
        """End it, and wait until it has ended."""
        process = self._process
        assert process.stdin is not None
        process.stdin.close()
        # A signal to one that has just ended would take its exit code from who waits for it.
        if not await self._has_ended(ENDS_WITHIN):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            if not await self._has_ended(ENDS_WITHIN):
                process.kill()
                await process.communicate()
        _remove(self._folder)

    async def _has_ended(self, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                await self._process.communicate()
        except TimeoutError:
            return False
        return True


def _remove(folder: Path) -> None:
    """Remove the emulator's folder, if it hasn't done that itself."""
    shutil.rmtree(folder, ignore_errors=True)
