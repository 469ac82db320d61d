"""`tableturn panel` as it is typed: a process of its own, with the real service."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tableturn_client.cli.exits import Exit
from tests.bridge.evening import WITHIN
from tests.bridge.typed import Panel, ok, refused, run
from tests.client.service import TABLETURN, tableturn
from tests.support import boards

pytestmark = pytest.mark.e2e


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


def test_a_socket_in_a_folder_that_is_not_there_is_told_without_numbers(home: Path) -> None:
    sentence = refused(Exit.USAGE, "panel", "--virtual", "--control", "/no/such/control")
    assert sentence.endswith("/no/such/control can't be a socket: there is no folder /no/such\n")


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
