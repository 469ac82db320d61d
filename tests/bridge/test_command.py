"""`tableturn panel` as it is typed: a process of its own, with the real service."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tableturn_bridge.emulated import building
from tableturn_client.cli import main as command_line
from tableturn_client.cli.exits import Exit
from tests.bridge.evening import WITHIN
from tests.client.service import TABLETURN, Ran, Service, running_service, tableturn
from tests.support import boards

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with TemporaryDirectory(prefix="tt-") as data, running_service(Path(data)) as service:
        yield service


@pytest.fixture
def home(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TABLETURN_SERVER", service.address)
    monkeypatch.delenv("TABLETURN_TOKEN", raising=False)
    return tmp_path


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


# ---------------------------------------------------------------- the bridge


def test_a_game_at_a_virtual_panel(home: Path) -> None:
    with Panel(home, "--buttons", "2", "--option", "rounds=1", "--option", "first_seat=1") as panel:
        found = panel.event("found")
        assert (found["buttons"], found["virtual"]) == (2, True)
        table_id = panel.event("table")["table_id"]
        for button in (1, 2):
            panel.lamp(button, "FREE")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
            assert panel.event("pressed")["seat"] == button
        assert panel.does("hold", button=1, wait=True)["fate"] == "ACCEPTED"
        for button in (1, 2):
            panel.lamp(button, "TURN")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
        while panel.event("turn")["status"] != "finished":
            pass
        status = json.loads(ok("panel", "status", "--json"))
        assert status["table_id"] == table_id
        (one,) = status["panels"]
        assert (one["panel_uid"], one["seats"], one["held"]) == (found["panel_uid"], [1, 2], True)
        assert one["report"]["place"]
        assert panel.interrupted() == Exit.INTERRUPTED.value
        assert panel.errors == ""
    status = json.loads(ok("panel", "status", table_id, "--json"))
    assert status["panels"][0]["held"] is False, "it was let go"


def test_a_game_at_the_real_firmware_on_an_emulated_board(home: Path) -> None:
    boards.firmware(2)
    boards.emulator()
    options = ("--buttons", "2", "--uid", "77", "--option", "rounds=1", "--option", "first_seat=1")
    with Panel(home, *options, kind="--simulate") as panel:
        found = panel.event("found")
        assert (found["buttons"], found["virtual"], found["panel_uid"]) == (2, False, 77)
        for button in (1, 2):
            panel.lamp(button, "FREE")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
        panel.lamp(2, "SEATED")
        assert panel.does("hold", button=1, wait=True)["fate"] == "ACCEPTED"
        for button in (1, 2):
            panel.lamp(button, "TURN")
            assert panel.does("press", button=button, wait=True)["fate"] == "ACCEPTED"
        while panel.event("turn")["status"] != "finished":
            pass
        assert panel.interrupted() == Exit.INTERRUPTED.value
        assert panel.errors == ""


def test_an_emulated_board_that_ends_by_itself_is_told(home: Path) -> None:
    boards.firmware(2)
    boards.emulator()
    with Panel(home, "--buttons", "2", kind="--simulate") as panel:
        panel.event("table")
        for child in children(panel.process.pid):
            os.kill(child, signal.SIGKILL)
        assert panel.ended() == Exit.FAULT.value
        error = json.loads(panel.errors)["error"]
        assert (error["kind"], error["sentence"]) == ("fault", "the emulator has ended")


def test_a_killed_bridge_leaves_no_folder_of_its_emulated_board(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards.firmware(2)
    boards.emulator()
    with TemporaryDirectory(prefix="tt ") as places:  # a blank in its name does no harm
        monkeypatch.setenv("TMPDIR", places)
        with Panel(home, "--buttons", "2", kind="--simulate") as panel:
            panel.event("table")
            assert len(list(Path(places).iterdir())) == 1
            panel.process.kill()
            panel.ended()
            end = time.monotonic() + WITHIN
            while any(Path(places).iterdir()):
                assert time.monotonic() < end
                time.sleep(0.01)


@pytest.mark.parametrize("kind", ["--simulate", "--virtual"])
def test_a_machine_without_room_for_a_panel_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    boards.firmware()
    boards.emulator()
    monkeypatch.setattr(tempfile, "tempdir", str(home / "nowhere"))
    assert "no place for the name of its port" in refused(Exit.FAULT, "panel", kind)
    long = home / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    if kind == "--simulate":
        sentence = refused(Exit.FAULT, "panel", kind)
        assert "the panel can't be started: the path of the control socket is too long" in sentence
    assert list(long.iterdir()) == []


def test_a_socket_in_a_folder_that_is_not_there_is_told_without_numbers(home: Path) -> None:
    sentence = refused(Exit.USAGE, "panel", "--virtual", "--control", "/no/such/control")
    assert sentence.endswith("/no/such/control can't be a socket: there is no folder /no/such\n")


def test_an_emulated_board_whose_program_crashes_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards.emulator()
    elf = boards.crashing(home)
    monkeypatch.setattr(building, "firmware", lambda *_, **__: elf)
    ran = run("panel", "--simulate", "--buttons", "2")
    assert ran.code not in (0, Exit.INTERRUPTED.value)
    assert "the board's program has crashed: opcode" in ran.err


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task")
    return [int(one) for task in tasks.iterdir() for one in (task / "children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_bridge_that_is_told_to_end_lets_its_panel_go(home: Path, number: signal.Signals) -> None:
    """As with Ctrl-C: nobody has to wait until its lease has ended by itself."""
    with Panel(home, "--buttons", "2") as panel:
        table_id = panel.event("table")["table_id"]
        panel.lamp(1, "FREE")
        assert panel.does("press", button=1, wait=True)["fate"] == "ACCEPTED"
        (one,) = json.loads(ok("panel", "status", table_id, "--json"))["panels"]
        assert one["held"] is True
        panel.process.send_signal(number)
        assert panel.ended() == Exit.INTERRUPTED.value == 130
        (one,) = json.loads(ok("panel", "status", table_id, "--json"))["panels"]
        assert one["held"] is False
        assert panel.errors == ""


def test_without_json_there_are_plain_lines(home: Path) -> None:
    with Panel(home, as_json=False) as panel:
        panel.line("virtual panel", "4 buttons")
        panel.line("at the table", "free-table", "open")
        panel.line("4 of 4 seats are free: press a button to sit down")
        panel.lamp(3, "FREE")
        panel.does("press", button=3, wait=True)
        panel.line("button 3 pressed", "takes seat 1 (red)")
        panel.lamp(3, "SEATED")
        assert panel.does("press", button=3, wait=True)["fate"] == "REJECTED"
        panel.line("button 3 pressed", "already sits")
        panel.lamp(1, "FREE")
        panel.does("press", button=1, wait=True)
        panel.line("button 1 pressed", "takes seat 2")
        panel.lamp(3, "SEATED")
        panel.does("hold", button=3, wait=True)
        assert not [line for line in panel.lines if line.startswith("turn ")]
        panel.line("button 3 held")
        panel.line("turn 1: ")
        assert not [line for line in panel.lines[:-2] if line.startswith("turn ")]
        panel.does("unplug")
        panel.line("is gone")
        panel.does("plug")
        panel.line("virtual panel", "4 buttons")
        assert panel.interrupted() == Exit.INTERRUPTED.value
        assert panel.errors == ""


@pytest.mark.case("H8")
def test_a_bridge_that_was_killed_goes_on_where_it_was(home: Path) -> None:
    with Panel(home, "--buttons", "2") as panel:
        table_id = panel.event("table")["table_id"]
        panel.lamp(1, "FREE")
        assert panel.does("press", button=1, wait=True)["fate"] == "ACCEPTED"
        panel.process.kill()
        panel.ended()
    with Panel(home, "--buttons", "2") as panel:
        assert panel.event("table")["table_id"] == table_id
        panel.lamp(1, "SEATED")
        panel.lamp(2, "FREE")
        assert panel.does("press", button=2, wait=True)["fate"] == "ACCEPTED"


def test_a_panel_is_put_on_a_table_of_this_machine_and_taken_off_again(home: Path) -> None:
    ok("new", "free-table", "--id", "harbour", "--seats", "2")
    ok("join", "harbour", "Ann")
    with Panel(home, "--table", "harbour", "--seats", "2,1", "--buttons", "2", "--uid", "77") as on:
        on.event("table")
        on.lamp(1, "FREE")
        on.lamp(2, "SEATED")
        lines = ok("panel", "status", "harbour").splitlines()
        assert lines[0] == "Panels on the table harbour:"
        assert lines[1].split()[:3] == ["PANEL", "SEATS", "BRIDGE"]
        assert lines[2].split()[:3] == ["77", "2", "1"]
        assert ok("panel", "status").splitlines()[0] == lines[0], "which one is the last is said"
        assert "off the table" in ok("panel", "off", "harbour", "77")
        on.lamp(1, "ELSEWHERE")
        told = on.event("elsewhere")
        assert (told["held"], told["cause"]) == ("off", "off")
        assert "tableturn panel --table harbour" in told["sentence"]
    assert "no panels on the table harbour" in ok("panel", "status", "harbour")
    assert "panel 77" in refused(Exit.NOT_FOUND, "panel", "off", "harbour", "77")


def test_a_service_that_is_away_is_waited_for(home: Path) -> None:
    with Panel(home, "--server", "127.0.0.1:9", "--timeout", "0.2") as panel:
        assert "127.0.0.1:9" in panel.event("service_lost")["sentence"]
        assert panel.process.poll() is None
        assert panel.interrupted() == Exit.INTERRUPTED.value


# ---------------------------------------------------------------- what can't be


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--virtual", "--port", "/dev/ttyUSB0"), "choose one"),
        (("--simulate", "--port", "/dev/ttyUSB0"), "choose one"),
        (("--simulate", "--virtual"), "choose one"),
        (("--port", ""), "not empty"),
        (("--port", "/dev/null"), "/dev/null is no serial port. Name the panel's port"),
        (("--port", "/dev"), "/dev is no serial port. Name the panel's port"),
        (("--port", "/etc/passwd"), "/etc/passwd is no serial port. Name the panel's port"),
        (("--buttons", "3"), "--virtual"),
        (("--control", "x"), "--simulate"),
        (("--virtual", "--buttons", "9"), "--buttons"),
        (("--virtual", "--table", "x", "--game", "free-table"), "without --table"),
        (("--virtual", "--seats", "1,two"), "--seats"),
        (("--virtual", "--seats", ""), "--seats"),
        (("--virtual", "--option", "rounds"), "NAME=VALUE"),
        (("--virtual", "--brightness", "95"), "--brightness"),
        (("dance",), "dance"),
        (("off", "harbour", "0"), "UID"),
        (("off", "harbour"), "UID"),
    ],
)
def test_what_cannot_be_understood_is_told_in_a_line(
    home: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(Exit.USAGE, "panel", *arguments)


def ends(home: Path, exit: Exit, *arguments: str) -> str:
    """The words with which a bridge ends by itself."""
    with Panel(home, *arguments, as_json=False) as panel:
        assert panel.ended() == exit.value
        errors = panel.errors
        assert len(errors.splitlines()) == 1
        return errors


def test_a_bridge_that_has_no_place_ends_with_words_and_the_usual_exit_codes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no-such" in ends(home, Exit.NOT_FOUND, "--table", "no-such")
    assert "chess" in ends(home, Exit.NOT_FOUND, "--game", "chess")
    assert "rounds" in ends(home, Exit.USAGE, "--option", "rounds=many")
    ok("new", "free-table", "--id", "somebody-elses", "--seats", "2")
    monkeypatch.setenv("TABLETURN_HOME", str(home / "another"))
    sentence = ends(home, Exit.NOT_PERMITTED, "--table", "somebody-elses")
    assert "--token" in sentence


def test_commands_for_panels_need_a_token(home: Path) -> None:
    assert "say which" in refused(Exit.NOT_PERMITTED, "panel", "status")
    assert "held here" in refused(Exit.NOT_PERMITTED, "panel", "status", "harbour")
    assert "held here" in refused(Exit.NOT_PERMITTED, "panel", "off", "harbour", "7")


def test_the_doctor_names_the_cause_and_the_cure(home: Path) -> None:
    ran = run("panel", "doctor", "--port", "/dev/no-such-port")
    assert ran.code == Exit.NOT_NOW.value
    assert ran.err == ""
    assert ran.out.startswith("problem: ")
    assert len(ran.out.splitlines()) == 2
    ran = run("panel", "doctor", "--port", "/dev/no-such-port", "--json")
    document = json.loads(ran.out)
    assert document["works"] is False
    assert document["findings"][0]["cause"] == "missing"


def test_the_doctor_says_at_a_terminal_what_it_looks_at(home: Path) -> None:
    """It may look for seconds at a port that says nothing."""
    import pty

    ours, theirs = pty.openpty()
    command = [TABLETURN, "panel", "doctor", "--port", "/dev/no-such-port"]
    try:
        for more, said in (([], b"looking at /dev/no-such-port"), (["--json"], b"")):
            ran = subprocess.run(
                [*command, *more], stdout=subprocess.PIPE, stderr=theirs, check=False
            )
            assert ran.returncode == Exit.NOT_NOW.value
            assert b"looking" not in ran.stdout
            os.write(theirs, b"the end")
            heard = b""
            while b"the end" not in heard:
                heard += os.read(ours, 4096)
            assert heard.startswith(said or b"the end")
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_help_has_examples(home: Path) -> None:
    text = ok("panel", "--help")
    for words in (
        "--virtual",
        "--simulate",
        "status",
        "doctor",
        "off",
        "Examples:",
        "  tableturn panel --virtual",
    ):
        assert words in text


def test_missing_parts_are_named_with_what_installs_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = home / "without"
    (without / "serial").mkdir(parents=True)
    (without / "serial" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'serial'\", name='serial')"
    )
    monkeypatch.setenv("PYTHONPATH", str(without))
    for arguments in (("--virtual",), ("doctor",)):
        ran = tableturn("panel", *arguments)
        assert (ran.code, ran.out) == (Exit.NOT_INSTALLED.value, "")
        assert ran.err.endswith("pip install 'tableturn[bridge]'\n")
    assert tableturn("panel", "--help").code == 0


def test_without_sources_or_compilers_nothing_is_simulated(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "AVR", building.Tools(("no-such-compiler",), (), ()))
    monkeypatch.setattr(building, "BUILT", home / "built")
    monkeypatch.setenv("AVR_CC", "no-such-compiler")
    sentence = refused(Exit.NOT_INSTALLED, "panel", "--simulate")
    assert "without no-such-compiler" in sentence
    assert "apt-get install" in sentence
    monkeypatch.setattr(building, "SOURCES", home / "nowhere")
    sentence = refused(Exit.NOT_INSTALLED, "panel", "--simulate")
    assert "get the project's sources" in sentence
    assert "--virtual" in sentence


# ---------------------------------------------------------------- on a terminal


@pytest.mark.parametrize("kind", ["--virtual", "--simulate"])
def test_on_a_terminal_the_panel_is_drawn_and_keys_press_its_buttons(home: Path, kind: str) -> None:
    """Through a pseudo terminal: sit down with the keys, and end it with Ctrl-C."""
    import pty

    if kind == "--simulate":
        boards.firmware(2)
        boards.emulator()
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        os.environ["TERM"] = "xterm-256color"
        os.execv(TABLETURN, [TABLETURN, "panel", kind, "--buttons", "2"])
    seen = bytearray()

    def until(words: bytes) -> None:
        end = time.monotonic() + WITHIN
        while words not in seen:
            assert time.monotonic() < end, seen.decode(errors="replace")
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    seen.extend(os.read(terminal, 65536))
                except OSError:
                    break
        assert words in seen, seen.decode(errors="replace")

    try:
        until(b"press to play here")
        os.write(terminal, b"2")
        until(b"takes seat 1")
        until(b"hold to start")
        os.write(terminal, b"\x03")
        end = time.monotonic() + WITHIN
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                break
            assert time.monotonic() < end
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    seen.extend(os.read(terminal, 65536))
                except OSError:
                    time.sleep(0.05)
        assert os.waitstatus_to_exitcode(status) == Exit.INTERRUPTED.value
        assert b"Traceback" not in seen
    finally:
        os.close(terminal)
