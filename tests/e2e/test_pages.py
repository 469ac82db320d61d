"""The shell blocks of the pages run as they stand there, each page in order, as README's sessions.

They are run by `test_readme`'s shell, against `make run`. What a page can't know is put in: the
code of a table that was just made for the code that the pages show, and the test's own port.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT
from tests.e2e.test_readme import Command, Shell, sessions

pytestmark = pytest.mark.e2e

PAGES = ("scripting", "time", "people")
CODE = "K7QM-4XRD"
"""The code that all pages show."""
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
        if CODE in line:
            line = line.replace(CODE, self._code())
        if "examples/bot.py" in line:
            line = f"{line} Bot 127.0.0.1:{self.port}"
        super().run(Command(line, command.output))
        if made := _MADE.search(line):
            self.made = made[1]

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
