"""The real parts as processes: the service with its Valkey, and the command line.

Every process is ended by its pid by whoever has started it, and nothing listens on anything but
the loopback address.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tableturn_server.store import find_binary

ROOT = Path(__file__).parents[2]
TABLETURN = Path(sys.executable).parent / "tableturn"
UNLIMITED = ("--rate", "0", "--peer-rate", "0", "--tables-per-minute", "0")
START = 30.0
END = 30.0


def until(look: Callable[[], Any], within: float = 20.0, why: str = "") -> Any:
    """Look again and again until what is seen is true; fail after `within` seconds."""
    deadline = time.monotonic() + within
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not within {within} s: {why or look}"
        time.sleep(0.01)
    return seen


def alive(pid: int) -> bool:
    """The process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def command_lines() -> dict[int, str]:
    """What `ps` shows: the command line of every process, by pid."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = words.decode(errors="replace")
    return found


def parent(pid: int) -> int:
    """Who has started a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _directory(pid: int) -> str:
    """The working directory of a process; that of a Valkey is where its data are."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def environment(**values: str) -> dict[str, str]:
    """Our environment, with nothing of the developer's tableturn in it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TABLETURN_", "XDG_"))}
    # Compiling everything anew for each of many commands would take a third of their time.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "PYTHONPYCACHEPREFIX": str(ROOT / ".pytest_cache" / "pyc"), **values}


# -- the service -----------------------------------------------------------------------------


@dataclass
class Service:
    """A `tableturn serve` with its data. It can be stopped, killed, and started again.

    `home` holds the data directory and the logs. With `store` it keeps its tables there instead
    of in a Valkey of its own.
    """

    home: Path
    options: tuple[str, ...] = ()
    store: str = ""
    data: Path = field(init=False)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    said: dict[str, Any] = field(default_factory=dict)
    """What it said when it was ready."""

    def __post_init__(self) -> None:
        self.data = self.home / "data"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def admin_token(self) -> str:
        return (self.data / "admin.token").read_text().strip()

    def start(self) -> None:
        """Start it, on the port that it had before, and return when it serves."""
        assert self.process is None
        command = [str(TABLETURN), "serve", "--json", "--log-level", "debug", *UNLIMITED]
        command += ["--data", str(self.data), "--port", str(self.port), *self.options]
        env = environment(TABLETURN_STORE=self.store) if self.store else environment()
        with (self.home / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, env=env
            )
        assert self.process.stdout is not None
        line = _first_line(self.process.stdout, START)
        assert line, f"it does not start: {self.log()[-2000:]}"
        self.said = json.loads(line)
        self.port = self.said["port"]

    def kill(self) -> None:
        """kill -9, as when the power fails. Its Valkey lives on."""
        assert self.process is not None
        self.process.kill()
        self._ended()

    def terminate(self) -> int:
        """SIGTERM, and wait for the end; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def restart(self) -> None:
        """End it as one should, and start it again."""
        assert self.terminate() == 0
        self.start()

    def _ended(self) -> int:
        assert self.process is not None
        try:
            code = self.process.wait(END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None
        return code

    def valkeys(self) -> list[int]:
        """The Valkey servers that run on these data; more than one would destroy them."""
        place = str(self.data.resolve() / "valkey")
        return [
            pid
            for pid, words in command_lines().items()
            if "-server" in words and _directory(pid) == place and alive(pid)
        ]

    @property
    def valkey_pid(self) -> int:
        """Its one Valkey."""
        (pid,) = self.valkeys()
        return pid

    def kill_valkey(self) -> int:
        """kill -9 of its Valkey; the pid that it had."""
        pid = self.valkey_pid
        os.kill(pid, signal.SIGKILL)
        return pid

    def log(self) -> str:
        """All that it has written to stderr."""
        path = self.home / "serve.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def check_log(self) -> None:
        """Every line is one JSON object, and none tells of a fault of the service."""
        for line in self.log().splitlines():
            told = json.loads(line)
            assert told["event"] != "failed", told
            assert "Traceback" not in line, told
            assert not {"exception", "exc_info"} & set(told), told

    def clean_up(self) -> None:
        """Leave nothing behind, whatever has happened."""
        if self.process is not None:
            try:
                self.terminate()
            finally:
                self._kill_leftovers()
        self._kill_leftovers()

    def _kill_leftovers(self) -> None:
        for pid in self.valkeys():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _first_line(stream: IO[bytes], within: float) -> bytes:
    """The first line of an output; empty if it ends or says nothing."""
    deadline = time.monotonic() + within
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return b""
        part = os.read(stream.fileno(), 65536)
        if not part:
            return b""
        line += part
    return line


@contextlib.contextmanager
def serving(home: Path, *options: str, store: str = "") -> Iterator[Service]:
    """A service that runs; afterwards its log is looked at."""
    home.mkdir(parents=True, exist_ok=True)
    service = Service(home, options, store)
    try:
        service.start()
        yield service
    finally:
        service.clean_up()
    service.check_log()


# -- a store that isn't the service's own ----------------------------------------------------


@dataclass
class Valkey:
    """A Valkey on a unix socket, which keeps what it acknowledges; for several services."""

    home: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.home / "s"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        command = [str(find_binary().path), "--port", "0", "--unixsocket", str(self.socket)]
        command += ["--dir", str(self.home), "--save", ""]
        command += ["--appendonly", "yes", "--appendfsync", "always"]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        until(self.socket.exists, why="the Valkey listens")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(END)
            self.process = None


@contextlib.contextmanager
def running_valkey() -> Iterator[Valkey]:
    """A Valkey that runs; its directory has a short name, as a socket needs."""
    valkey = Valkey(Path(tempfile.mkdtemp(prefix="tt-e2e-")))
    try:
        valkey.start()
        yield valkey
    finally:
        valkey.stop()
        shutil.rmtree(valkey.home, ignore_errors=True)


# -- the command line ------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """What a command wrote, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its output as one JSON document."""
        return json.loads(self.out)


@dataclass
class CommandLine:
    """`tableturn` as one person types it, with a store of tokens of its own."""

    home: Path
    server: str
    env: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return environment(
            TABLETURN_HOME=str(self.home),
            TABLETURN_SERVER=self.server,
            XDG_DATA_HOME=str(self.home / "nothing-here"),
            **self.env,
        )

    def __call__(self, *arguments: str, stdin: str = "") -> Ran:
        """Run a command to its end."""
        ran = subprocess.run(
            [str(TABLETURN), *arguments],
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment(),
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def json(self, *arguments: str) -> Any:
        """Run a command that succeeds; its output as JSON."""
        ran = self(*arguments, "--json")
        assert ran.code == 0, ran
        assert ran.err == "", ran
        return ran.document

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Begin a command that goes on by itself; its output is a pipe."""
        return subprocess.Popen(
            [str(TABLETURN), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=self.environment(),
        )

    def tokens(self) -> list[str]:
        """The secrets that it keeps."""
        path = self.home / "tokens.json"
        if not path.exists():
            return []
        return [kept["token"] for kept in json.loads(path.read_text())["tokens"]]
