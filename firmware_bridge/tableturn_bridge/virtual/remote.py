"""A panel without a board that runs in another process, for tests and benchmarks.

async with PanelProcess(folder, buttons=4) as panel:
    await panel.wait_lamp(1, ["TURN"])
    told = await panel.press(1, wait=True)

With `emulated=True` it is the real firmware on an emulated board, else a model of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tableturn_bridge.virtual.control import LONGEST_LINE

PATIENCE = 20.0
"""Seconds for a process to start or to end."""
COMPILING = 120.0
"""Seconds more for one that has to be compiled first."""


class ControlError(Exception):
    """The panel can't do what was asked; the sentence says why."""


class RemotePanel:
    """The control socket of a panel. Each call has a connection of its own."""

    def __init__(self, control: str | Path) -> None:
        self.control = Path(control)

    async def ask(self, do: str, **values: Any) -> dict[str, Any]:
        """Send a request and return its answer. Raises ControlError."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.control, limit=LONGEST_LINE)
        except OSError as error:
            raise ControlError(f"no panel listens at {self.control}") from error
        try:
            writer.write(json.dumps({"do": do} | values).encode() + b"\n")
            line = await reader.readline()
        except ConnectionError:
            line = b""
        finally:
            writer.close()
        if not line:
            raise ControlError("the panel has ended")
        answer: dict[str, Any] = json.loads(line)
        if not answer.pop("ok"):
            raise ControlError(answer["error"])
        return answer

    async def press(self, button: int, ms: float = 60, **more: Any) -> dict[str, Any]:
        """Press a button; with `wait=True`, until it is clear what became of it."""
        return await self.ask("press", button=button, ms=ms, **more)

    async def hold(self, button: int, **more: Any) -> dict[str, Any]:
        """Press a button for long."""
        return await self.ask("hold", button=button, **more)

    async def chord(self, button: int, second: int, **more: Any) -> dict[str, Any]:
        """Hold a button and press a second one."""
        return await self.ask("chord", button=button, second=second, **more)

    async def master(self, **more: Any) -> dict[str, Any]:
        """Press the button that belongs to no seat."""
        return await self.ask("master", **more)

    async def lamps(self) -> list[dict[str, Any]]:
        """What each lamp shows."""
        lamps: list[dict[str, Any]] = (await self.ask("lamps"))["lamps"]
        return lamps

    async def wait_lamp(
        self,
        button: int,
        signs: list[str],
        timeout: float = 10,
        after: float = 0,
        *,
        measured: bool = False,
    ) -> dict[str, Any]:
        """Wait until a lamp says one of these things, and began to do so after a time.

        With `measured`, until the light of an emulated board alone says it.
        """
        values = {"button": button, "signs": signs, "timeout": timeout, "after": after}
        return await self.ask("wait_lamp", measured=measured, **values)

    async def state(self) -> dict[str, Any]:
        """What it knows: port, session, revision, armed buttons."""
        return await self.ask("state")

    async def log(self) -> dict[str, Any]:
        """Counts of resets, gestures by what became of them, events and frames."""
        return await self.ask("log")

    async def reset(self, cause: str = "external") -> None:
        """Let it start anew."""
        await self.ask("reset", cause=cause)

    async def unplug(self) -> None:
        """Pull it out."""
        await self.ask("unplug")

    async def plug(self, link: str | Path | None = None) -> str:
        """Plug it in, perhaps under another name; returns the name of its port."""
        values = {} if link is None else {"link": str(link)}
        return str((await self.ask("plug", **values))["port"])

    async def noise(self, share: float) -> None:
        """From now on, this share of all bytes gets lost or is wrong."""
        await self.ask("noise", share=share)

    async def emulator(self, line: str) -> dict[str, str]:
        """Ask the emulator of an emulated board something, in its own words."""
        answer: dict[str, str] = (await self.ask("emulator", line=line))["answer"]
        return answer


class PanelProcess(RemotePanel):
    """A panel in a process that ends with this one.

    Args:
        folder: Where its port's name (`panel`) and its socket (`control`) are made.
        emulated: The real firmware on an emulated board, not a model of it.
        options: As on the command line, without the dashes: `buttons=4`, `boot_ms=0`; True for an
            option that stands alone: `greeting=True`.
    """

    def __init__(
        self, folder: Path, *, emulated: bool = False, **options: float | str | bool
    ) -> None:
        super().__init__(folder / "control")
        self.link = folder / "panel"
        self.process: Process | None = None
        self.emulated = emulated
        self._options = options

    async def __aenter__(self) -> Self:
        arguments = [f"--link={self.link}", f"--control={self.control}"]
        for key, value in self._options.items():
            option = f"--{key.replace('_', '-')}"
            if value is not False:
                arguments.append(option if value is True else f"{option}={value}")
        # Its input is never written to, but ends when this process does, however that is.
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            f"tableturn_bridge.{'emulated' if self.emulated else 'virtual'}",
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=None if self.emulated else DEVNULL,
        )
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE + (COMPILING if self.emulated else 0)):
                if not await self.process.stdout.readline():
                    raise ControlError("the panel didn't start")
        except BaseException:
            await self.end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.end()

    async def end(self) -> int:
        """End the process; returns its exit code."""
        process = self.process
        assert process is not None
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
        assert process.returncode is not None
        return process.returncode
