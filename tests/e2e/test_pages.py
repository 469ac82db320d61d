"""The shell blocks of the pages run as they stand there, each page in order, as README's sessions.

They are run by `test_readme`'s shell, against `make run`. What a page can't know is put in: the
code of a table that was just made for the code that the pages show, and the test's own port.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tableturn_bridge.virtual.remote import RemotePanel
from tests.e2e.processes import ROOT, until
from tests.e2e.test_readme import Command, Shell, sessions

pytestmark = pytest.mark.e2e

PAGES = ("scripting", "time", "people")
CODE = "K7QM-4XRD"
"""The code that all pages show."""
CONTROL = "/tmp/panel"
"""The socket that the pages show."""
_MADE = re.compile(r"tableturn new .*--id ([a-z0-9-]+)")


class Page(Shell):
    """A shell for one page, in a folder like that of the project."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("docs", "protos"):
            (self.place / name).symlink_to(ROOT / name)
        for name in ("python", "buf"):
            shim = self.place / ".venv" / "bin" / name
            shim.write_text(f'#!/bin/sh\nexec {Path(sys.executable).parent / name} "$@"\n')
            shim.chmod(0o755)
        self.env["BUF_CACHE_DIR"] = str(self.home / "buf")
        self.made = ""

    def run(self, command: Command) -> None:
        """Run a command, with what the page can't know."""
        line = command.line.replace("127.0.0.1:7430", f"127.0.0.1:{self.port}")
        if line.startswith("tableturn panel "):
            self._press(line)
            return
        if CODE in line:
            line = line.replace(CODE, self._code())
        if "examples/bot.py" in line:
            line = f"{line} Bot 127.0.0.1:{self.port}"
        super().run(Command(line, command.output))
        if made := _MADE.search(line):
            self.made = made[1]

    def _press(self, line: str) -> None:
        """Start a panel that listens at a socket, press a button through that, and end it."""
        control = self.home / "control"
        line = line.replace(CONTROL, str(control))
        panel = subprocess.Popen(
            shlex.split(line), stdout=subprocess.DEVNULL, cwd=self.place, env=self.env
        )
        try:
            until(control.exists, within=30, why="the panel listens")
            told = asyncio.run(self._sit_down(RemotePanel(control)))
            assert told["fate"] == "ACCEPTED"
            panel.send_signal(signal.SIGINT)
            assert panel.wait(20) == 130
        finally:
            panel.kill()
            panel.wait()

    async def _sit_down(self, panel: RemotePanel) -> dict[str, Any]:
        await panel.wait_lamp(1, ["FREE"], 30)
        return await panel.press(1, wait=True)

    def _code(self) -> str:
        """The code of the table that was made last."""
        told = subprocess.run(
            ["tableturn", "code", self.made, "--json"],
            check=True,
            capture_output=True,
            cwd=self.place,
            env=self.env,
        )
        return str(json.loads(told.stdout)["code"])


def commands(page: str) -> list[Command]:
    """The commands of all shell blocks of a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return sessions(f"<!-- session -->\n{text}\n<!-- /session -->")[0]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    found = commands(page)
    assert len(found) >= 2
    shell = Page(tmp_path / "page")
    try:
        shell.run(Command("make run"))
        for command in found:
            shell.run(command)
    finally:
        shell.close()
