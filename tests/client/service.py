"""The real service, as a process; and the command line, as a process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLETURN = str(Path(sys.executable).parent / "tableturn")


@dataclass
class Service:
    """A `tableturn serve` with its data; it can be killed and started again."""

    data: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        log = open(self.data / "serve.log", "ab")  # noqa: SIM115 - the process keeps it
        with log:
            self.process = subprocess.Popen(
                [
                    TABLETURN, "serve", "--json", "--port", str(self.port),
                    "--data", str(self.data / "tables"), "--log-level", "error",
                    "--rate", "0", "--peer-rate", "0", "--tables-per-minute", "0",
                ],
                stdout=subprocess.PIPE,
                stderr=log,
            )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.data / "serve.log").read_text()
        self.port = json.loads(line)["port"]

    def kill(self) -> None:
        """As when the power fails."""
        assert self.process is not None
        self.process.kill()
        self._end()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self._end()

    def _end(self) -> None:
        assert self.process is not None
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    @property
    def admin_file(self) -> Path:
        return self.data / "tables" / "admin.token"


@contextlib.contextmanager
def running_service(data: Path) -> Iterator[Service]:
    service = Service(data)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@dataclass(frozen=True)
class Ran:
    """What a command wrote, and how it ended."""

    code: int
    out: str
    err: str


def tableturn(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> Ran:
    """Run a command to its end."""
    ran = subprocess.run(
        [TABLETURN, *arguments],
        check=False,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def until(look: object, within: float = 20.0) -> None:
    """Look again and again until it is so."""
    assert callable(look)
    end = time.monotonic() + within
    while not look():
        assert time.monotonic() < end, f"not within {within} s"
        time.sleep(0.01)
