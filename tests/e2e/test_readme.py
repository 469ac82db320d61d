"""The sessions of README.md run as they stand there.

What lies between `<!-- session -->` and `<!-- /session -->` is one session, with all its blocks of
the languages `shell` and `console` in order. In a `shell` block each line is a command. In a
`console` block commands begin with `$ `, and what follows is what they must write: `...` stands
for anything within a line, a line `...` for any lines. Each command runs in a shell of its own, in
a directory with nothing but `.venv/bin/tableturn` in it, and with nobody's tokens; it must succeed.
A command that serves (`tableturn serve ...`, `make run`) goes on in the background until the
session is over; a session without one is played while `make run` runs. Ports are the test's own,
so the README can use the default.
"""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT, TABLETURN, environment, until
from tests.support.wanted import missing

pytestmark = pytest.mark.e2e

README = ROOT / "README.md"
_MARK = re.compile(r"<!--\s*/?session\s*-->")
_BLOCK = re.compile(r"^( *)```(sh|bash|shell|console)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
READY = "Ctrl-C ends it"


@dataclass
class Command:
    """A command, and the lines that it must write; None where nothing is said of them."""

    line: str
    output: list[str] | None = None

    @property
    def serves(self) -> bool:
        words = shlex.split(self.line, comments=True)[:2]
        return words == ["make", "run"] or (
            len(words) == 2 and Path(words[0]).name == "tableturn" and words[1] == "serve"
        )


def sessions(text: str) -> list[list[Command]]:
    """The sessions of a document."""
    parts = _MARK.split(text)
    return [
        [
            command
            for indent, language, content in _BLOCK.findall(part)
            for command in _commands(language, re.sub(f"^{indent}", "", content, flags=re.M))
        ]
        for part in parts[1::2]
    ]


def _commands(language: str, content: str) -> list[Command]:
    found: list[Command] = []
    content = content.replace("\\\n", " ")
    for line in content.splitlines():
        if language == "console":
            if line.startswith("$ "):
                found.append(Command(line[2:], []))
            elif found and found[-1].output is not None:
                found[-1].output.append(line.rstrip())
        elif line.strip() and not line.lstrip().startswith("#"):
            found.append(Command(line.strip()))
    for command in found:
        while command.output and not command.output[-1]:
            command.output.pop()
    return [
        command if command.output else Command(command.line)
        for command in found
        if command.line.strip()
    ]


def fits(wanted: list[str], written: str) -> bool:
    """What was written is what is wanted, but for what `...` stands for."""
    lines = ["(?:.*\n)*?" if line == "..." else f"{_pattern(line)}[ \t]*\n" for line in wanted]
    text = "".join(f"{line.rstrip()}\n" for line in written.strip("\n").splitlines())
    return re.fullmatch("".join(lines), text) is not None


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("..."))


@dataclass
class Shell:
    """Runs the commands of one session."""

    home: Path
    port: int = 0
    serving: list[subprocess.Popen[str]] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.place = self.home / "here"
        programs = self.place / ".venv" / "bin"
        programs.mkdir(parents=True)
        shim = programs / "tableturn"
        shim.write_text(
            "#!/bin/sh\n"
            f'[ "$1" = serve ] && shift && exec {TABLETURN} serve --port {self.port} "$@"\n'
            f'exec {TABLETURN} "$@"\n'
        )
        shim.chmod(0o755)
        self.env = environment(
            TABLETURN_HOME=str(self.home / "tokens"),
            TABLETURN_SERVER=f"127.0.0.1:{self.port}",
            XDG_DATA_HOME=str(self.home / "data"),
            HOME=str(self.place),
            COLUMNS="100",
        )
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"

    def run(self, command: Command) -> None:
        if command.serves:
            self._serve(command)
            return
        ran = subprocess.run(
            ["bash", "-e", "-c", command.line],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            cwd=self.place,
            env=self.env,
        )
        assert ran.returncode == 0, (command.line, ran)
        if command.output is not None:
            assert fits(command.output, ran.stdout), (command, ran.stdout)

    def _serve(self, command: Command) -> None:
        output = self.home / f"serve-{len(self.serving)}"
        with output.open("w") as file, output.with_suffix(".log").open("w") as log:
            self.serving.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {what_make_runs(command.line)}"],
                    stdout=file,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    cwd=self.place,
                    env=self.env,
                )
            )
        until(lambda: READY in output.read_text(), within=30, why="it serves")
        if command.output is not None:
            assert fits([*command.output, "..."], output.read_text()), output.read_text()

    def close(self) -> None:
        for process in self.serving:
            process.send_signal(signal.SIGINT)
        for process in self.serving:
            try:
                assert process.wait(20) == 0
            finally:
                process.kill()


def what_make_runs(line: str) -> str:
    """The command behind `make run`, when all is set up; another line as it is."""
    if not line.startswith("make run"):
        return line
    told = subprocess.run(
        ["make", "--dry-run", *shlex.split(line)[1:]],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    return told.stdout.splitlines()[-1]


def run(commands: list[Command], home: Path) -> None:
    """Run the commands of a session, one after another."""
    home.mkdir(parents=True)
    shell = Shell(home)
    try:
        if not any(command.serves for command in commands):
            shell.run(Command("make run"))
        for command in commands:
            shell.run(command)
    finally:
        shell.close()


def test_the_sessions_of_the_readme_run(tmp_path: Path) -> None:
    found = sessions(README.read_text("utf-8")) if README.exists() else []
    if not any(found):
        missing("README.md has no session between comments <!-- session -->")
    for number, commands in enumerate(found):
        run(commands, tmp_path / str(number))


SAMPLE = """
# A game

```sh
this is not run
```
<!-- session -->
In one terminal:

```console
$ tableturn serve --open eastern-wonders --seats 2
Tableturn serves on 127.0.0.1:.... Ctrl-C ends it.
```

In another one:

```sh
# Two people sit down.
tableturn join eastern-wonders Ann \\
    Bob > seats.txt
test -s seats.txt
```
   ```console
   $ tableturn log eastern-wonders | head -1
   ...1...table...Eastern Wonders...
   $ .venv/bin/tableturn tables
   TABLE            GAME ... STATUS ...
   ...
   ```
<!-- /session -->

```sh
nor this
```
"""


def test_sessions_are_found_and_run(tmp_path: Path) -> None:
    (commands,) = sessions(SAMPLE)
    assert [command.line for command in commands] == [
        "tableturn serve --open eastern-wonders --seats 2",
        "tableturn join eastern-wonders Ann      Bob > seats.txt",
        "test -s seats.txt",
        "tableturn log eastern-wonders | head -1",
        ".venv/bin/tableturn tables",
    ]
    run(commands, tmp_path / "session")


def test_a_session_that_does_not_run_is_noticed(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for command in (Command("tableturn dance"), Command("echo one", ["two"])):
        with pytest.raises(AssertionError, match=command.line):
            shell.run(command)
    shell.run(Command("echo one, two, three", ["one...three"]))
