"""A table with a panel, all of real processes: service, Valkey, bridge, virtual panel."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tableturn_bridge.virtual.remote import ControlError, PanelProcess, RemotePanel
from tableturn_client import Client, connect
from tableturn_client.credentials import Credentials
from tableturn_client.errors import NoAnswer, Refused
from tableturn_client.messages import LogEntry, TableView
from tests.e2e.processes import TABLETURN, environment

WITHIN = 30.0
ASKED = ["TURN", "STAGED"]


async def until(so: Callable[[], Any], what: str, within: float = WITHIN) -> Any:
    """Look again and again until it is so."""
    end = time.monotonic() + within
    while not (seen := so()):
        assert time.monotonic() < end, f"not within {within} s: {what}"
        await asyncio.sleep(0.01)
    return seen


@dataclass
class BridgeProcess:
    """A `tableturn panel --json` on one machine (`home`). It can be killed and started again."""

    home: Path
    server: str
    arguments: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    lives: int = 0

    def start(self) -> None:
        assert self.process is None
        self.home.mkdir(parents=True, exist_ok=True)
        self.lives += 1
        out, err = (self.home / f"bridge.{end}" for end in ("out", "err"))
        with out.open("ab") as told, err.open("ab") as errors:
            self.process = subprocess.Popen(
                [str(TABLETURN), "panel", *self.arguments, "--json", "--server", self.server],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=errors,
                env=environment(TABLETURN_HOME=str(self.home / "state")),
            )

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
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines if line.endswith("}")]
        return [one for one in found if kind in ("", one["event"])]

    def errors(self) -> str:
        path = self.home / "bridge.err"
        return path.read_text() if path.exists() else ""

    def clean_up(self) -> None:
        if self.process is not None:
            self.kill()


@dataclass
class Press:
    """A press, and what became of it; None if it never became a gesture."""

    button: int
    fate: str | None


@dataclass
class Evening:
    """An evening at a free-table of three, played by presses only."""

    server: str
    panel: RemotePanel
    bridge: BridgeProcess
    client: Client
    accepted: int = 0
    unknown: int = 0
    tables: list[str] = field(default_factory=list)

    @property
    def panel_token(self) -> str:
        """The token that the bridge keeps for its panel at the table."""
        held = Credentials(self.bridge.home / "state" / "tokens.json").all()
        return next(
            one.token for one in held if (one.table, one.scope) == (self.tables[-1], "panel")
        )

    async def view(self) -> TableView:
        """The table as the service has it."""
        end = time.monotonic() + WITHIN
        while True:
            try:
                return await self.client.table(self.tables[-1]).view()
            except (NoAnswer, Refused):
                assert time.monotonic() < end, "the service doesn't come back"

    async def sit_down(self) -> None:
        """Everybody presses a button, and the first one holds it: the game begins."""
        for button in (1, 2, 3):
            await self.panel.wait_lamp(button, ["FREE"], WITHIN)
            assert (await self.panel.press(button, wait=True))["fate"] == "ACCEPTED"
            await self.panel.wait_lamp(button, ["SEATED"], WITHIN)
        self.tables = [self.bridge.told("table")[-1]["table_id"]]
        assert (await self.panel.hold(1, wait=True))["fate"] == "ACCEPTED"

    async def asked(self) -> int:
        """The button whose seat is asked, once its lamp says so too."""
        view = await self.view()
        (prompt,) = view.prompts
        lamp = await self.panel.wait_lamp(prompt.seat, ASKED, WITHIN)
        assert lamp["sign"] in ASKED
        return prompt.seat

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
    folder: Path, server: str, *options: str, noise: float = 0.0, seed: int = 0
) -> Any:
    """A panel that is plugged in, a bridge that works it, and nobody seated yet."""
    given = [word for option in options for word in ("--option", option)]
    async with PanelProcess(folder, buttons=3, boot_ms=30, seed=seed, noise=noise) as panel:
        bridge = BridgeProcess(folder / "machine", server, ("--port", str(panel.link), *given))
        bridge.start()
        try:
            async with connect(server) as client:
                yield Evening(server, panel, bridge, client)
        finally:
            bridge.clean_up()
    assert "Traceback" not in bridge.errors(), bridge.errors()
