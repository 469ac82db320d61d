"""A table with a panel, all of real processes: service, Valkey, bridge, and a board of a kind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import signal
import subprocess
import time
import tty
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from tableturn_bridge.virtual.remote import ControlError, PanelProcess
from tableturn_client import Client, connect
from tableturn_client.credentials import Credentials
from tableturn_client.errors import NoAnswer, Refused
from tableturn_client.messages import LogEntry, TableView
from tests.e2e.processes import TABLETURN, CommandLine, environment
from tests.support import boards

WITHIN = 30.0
ASKED = ["TURN", "STAGED"]


class Kind(StrEnum):
    """What stands for a board in a test."""

    VIRTUAL = "virtual"
    """A model of the firmware."""
    EMULATED = "emulated"
    """The real firmware, on an emulated chip."""


def panel_of(kind: Kind, folder: Path, *, buttons: int, **options: Any) -> PanelProcess:
    """A panel of a kind, with its port and its socket in a folder."""
    if kind == Kind.EMULATED:
        # Made here, where a machine without the tools skips the test and doesn't fail it.
        boards.firmware(buttons)
        boards.emulator()
        options["emulated"] = True
    return PanelProcess(folder, buttons=buttons, **options)


async def until(so: Callable[[], Any], what: str, within: float = WITHIN) -> Any:
    """Look again and again until it is so."""
    end = time.monotonic() + within
    while not (seen := so()):
        assert time.monotonic() < end, f"not within {within} s: {what}"
        await asyncio.sleep(0.01)
    return seen


@dataclass
class BridgeProcess:
    """A `tableturn panel --json`, with its output in `home`. It can be killed and started again.

    `machine` is the state directory of the machine that it runs on, which several may share; its
    own one if none is given. `before` are words before the command, such as those of `setpriv`.
    """

    home: Path
    server: str
    arguments: tuple[str, ...]
    machine: Path | None = None
    before: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    lives: int = 0
    _told: list[dict[str, Any]] = field(default_factory=list)
    _read: int = 0
    """So many bytes of its output are in there already."""

    @property
    def state(self) -> Path:
        return self.machine or self.home / "state"

    def start(self) -> None:
        assert self.process is None
        self.home.mkdir(parents=True, exist_ok=True)
        self.lives += 1
        out, err = (self.home / f"bridge.{end}" for end in ("out", "err"))
        with out.open("ab") as told, err.open("ab") as errors:
            self.process = subprocess.Popen(
                [*self._command, *self.arguments, "--json", "--server", self.server],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=errors,
                env=environment(TABLETURN_HOME=str(self.state)),
            )

    @property
    def _command(self) -> tuple[str, ...]:
        return (*self.before, str(TABLETURN), "panel")

    async def doctor(self, port: Path) -> dict[str, Any]:
        """The one finding of `tableturn panel doctor` on this machine about a port."""
        ran = await asyncio.to_thread(
            subprocess.run,
            [*self._command, "doctor", "--port", str(port), "--json"],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            env=environment(TABLETURN_HOME=str(self.state)),
        )
        assert ran.stderr == b""
        told = json.loads(ran.stdout)
        assert ran.returncode == (0 if told["works"] else 5)
        (finding,) = told["findings"]
        assert finding["ok"] == told["works"]
        return dict(finding)

    async def first(self, kind: str) -> dict[str, Any]:
        """The first thing of this kind that it tells, as soon as it does."""
        return dict((await until(lambda: self.told(kind), f"{kind} is told"))[0])

    async def failed(self) -> dict[str, Any]:
        """It ends by itself, and says why; the error, whose code it ends with."""
        assert self.process is not None
        code = await until(self._ended, "the bridge ends by itself")
        (line,) = self.errors().splitlines()
        error = json.loads(line)["error"]
        assert error["exit_code"] == code
        self.process = None
        return dict(error)

    def _ended(self) -> int | None:
        assert self.process is not None
        return self.process.poll()

    def kill(self) -> None:
        """kill -9, as when the power fails."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def end(self) -> int:
        """Ctrl-C; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.kill()
            self.process = None

    @contextlib.contextmanager
    def asleep(self) -> Any:
        """The machine hangs for a moment."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def told(self, kind: str = "") -> list[dict[str, Any]]:
        """What it told, over all its lives."""
        path = self.home / "bridge.out"
        if path.exists():
            with path.open("rb") as told:
                told.seek(self._read)
                lines = told.read()
            whole = lines[: lines.rfind(b"\n") + 1]
            self._read += len(whole)
            self._told += [json.loads(line) for line in whole.splitlines()]
        return [one for one in self._told if kind in ("", one["event"])]

    def errors(self) -> str:
        path = self.home / "bridge.err"
        return path.read_text() if path.exists() else ""

    def clean_up(self) -> None:
        if self.process is not None:
            self.kill()


@contextlib.asynccontextmanager
async def bridge(
    home: Path,
    server: str,
    port: Path,
    *arguments: str,
    machine: Path | None = None,
    before: tuple[str, ...] = (),
) -> AsyncIterator[BridgeProcess]:
    """A bridge that works a port, and has no fault of its own."""
    made = BridgeProcess(home, server, ("--port", str(port), *arguments), machine, before)
    made.start()
    try:
        yield made
    finally:
        made.clean_up()
    assert "Traceback" not in made.errors(), made.errors()


@contextlib.asynccontextmanager
async def no_panel(
    answer: Callable[[bytes], bytes] = bytes, babble: bytes = b""
) -> AsyncIterator[Path]:
    """A port at whose other end is something else than a panel.

    `answer` makes its answer out of what it hears, `bytes` gives it back; `babble` is what it says
    again and again.
    """
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    tty.setraw(theirs)

    def say(data: bytes) -> None:
        with contextlib.suppress(BlockingIOError):  # nobody reads it
            os.write(ours, data)

    async def babbling() -> None:
        while True:
            say(babble)
            await asyncio.sleep(0.05)

    loop = asyncio.get_running_loop()
    loop.add_reader(ours, lambda: say(answer(os.read(ours, 4096))))
    task = asyncio.create_task(babbling()) if babble else None
    try:
        yield Path(os.ttyname(theirs))
    finally:
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        loop.remove_reader(ours)
        os.close(ours)
        os.close(theirs)


@dataclass
class Press:
    """A press, and what became of it; None if it never became a gesture."""

    button: int
    fate: str | None


@dataclass
class Evening:
    """An evening at a free-table of three, played by presses only."""

    server: str
    panel: PanelProcess
    bridge: BridgeProcess
    client: Client
    accepted: int = 0
    unknown: int = 0
    tables: list[str] = field(default_factory=list)

    @property
    def panel_token(self) -> str:
        """The token that the bridge keeps for its panel at the table."""
        return self._token("panel")

    @property
    def host_token(self) -> str:
        """The token of the table's host, which is the bridge's machine."""
        return self._token("host")

    def _token(self, scope: str) -> str:
        held = Credentials(self.bridge.state / "tokens.json").all()
        return next(one.token for one in held if (one.table, one.scope) == (self.tables[-1], scope))

    @property
    def tableturn(self) -> CommandLine:
        """The command line on the bridge's machine."""
        return CommandLine(self.bridge.state, self.server)

    async def view(self) -> TableView:
        """The table as the service has it."""
        end = time.monotonic() + WITHIN
        while True:
            try:
                return await self.client.table(self.tables[-1]).view()
            except (NoAnswer, Refused):
                assert time.monotonic() < end, "the service doesn't come back"

    async def sit_down(self, buttons: tuple[int, ...] = (1, 2, 3)) -> None:
        """Everybody presses a button, and the first one holds it: the game begins."""
        for button in buttons:
            await self.panel.wait_lamp(button, ["FREE"], WITHIN)
            assert (await self.panel.press(button, wait=True))["fate"] == "ACCEPTED"
            await self.panel.wait_lamp(button, ["SEATED"], WITHIN)
        self.tables = [self.bridge.told("table")[-1]["table_id"]]
        assert (await self.panel.hold(buttons[0], wait=True))["fate"] == "ACCEPTED"

    async def asked(self) -> int:
        """The button whose seat is asked, once its lamp says so too."""
        view = await self.view()
        (prompt,) = view.prompts
        (panel,) = view.panels
        button = list(panel.seats).index(prompt.seat) + 1
        lamp = await self.panel.wait_lamp(button, ASKED, WITHIN)
        assert lamp["sign"] in ASKED
        return button

    async def shows(self, view: TableView) -> None:
        """Wait until the panel shows the table as it is in this view, or later."""
        end = time.monotonic() + WITHIN
        while ((await self.panel.state())["revision"] or 0) < view.revision:
            assert time.monotonic() < end, f"the panel doesn't show revision {view.revision}"
            await asyncio.sleep(0.01)

    async def press(self, button: int, within: float = WITHIN) -> Press:
        """Press, and wait for what becomes of it; nothing, if the panel died under the finger."""
        try:
            fate = (await self.panel.press(button, 30, wait=True, timeout=within))["fate"]
        except ControlError:
            if within == WITHIN:
                raise
            return Press(button, None)
        self.accepted += fate == "ACCEPTED"
        # What the panel gave up, or got no answer to, may have been carried out all the same.
        self.unknown += fate in ("LOST", "REJECTED")
        return Press(button, fate)

    async def log(self, table_id: str) -> list[LogEntry]:
        return [entry async for entry in self.client.table(table_id).log()]


@contextlib.asynccontextmanager
async def evening(
    folder: Path,
    server: str,
    *options: str,
    kind: Kind = Kind.VIRTUAL,
    buttons: int = 3,
    boot_ms: int = 30,
    **more: Any,
) -> AsyncIterator[Evening]:
    """A panel that is plugged in, a bridge that works it, and nobody seated yet."""
    given = [word for option in options for word in ("--option", option)]
    async with (
        panel_of(kind, folder, buttons=buttons, boot_ms=boot_ms, **more) as panel,
        bridge(folder / "machine", server, panel.link, *given) as working,
        connect(server) as client,
    ):
        yield Evening(server, panel, working, client)
