"""`tableturn play` as people and scripts meet it: with pipes, and at a terminal."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.service import TABLETURN, Ran, Service, running_service, tableturn, until

pytestmark = pytest.mark.e2e

PLAY = (TABLETURN, "play")
SEED = "31" * 16
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|\r")


def new_table(service: Service, game: str, table: str, *more: str) -> str:
    made = tableturn(
        "new", game, "--id", table, "--start-when-full", "--seed", SEED,
        "--server", service.address, *more,
    )  # fmt: skip
    assert made.code == 0, made.err
    return table


def start(service: Service, home: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*PLAY, *arguments, "--server", service.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TABLETURN_HOME": str(home)},
    )


def play(service: Service, stdin: str, *arguments: str) -> Ran:
    """A session with all of its input at once."""
    session = start(service, Path(os.environ["TABLETURN_HOME"]), *arguments)
    out, err = session.communicate(stdin, timeout=60)
    return Ran(session.returncode, out, err)


class Screen:
    """A session at a terminal of 80 by 24."""

    def __init__(
        self, service: Service, home: Path, *arguments: str, lines: int = 24, command: str = "play"
    ) -> None:
        self.written = ""
        self._seen = 0
        self._own, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
        self.process = subprocess.Popen(
            [TABLETURN, command, *arguments, "--server", service.address],
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
            env={
                **{k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")},
                "TABLETURN_HOME": str(home),
                "TERM": "xterm-256color",
                "PROMPT_TOOLKIT_NO_CPR": "1",
            },
        )
        os.close(child)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        raw = b""
        with contextlib.suppress(OSError):
            while data := os.read(self._own, 65536):
                raw += data
                self.written = ESCAPES.sub("", raw.decode("utf-8", "replace"))

    def expect(self, words: str, within: float = 30.0) -> str:
        """Wait until something new is on the screen; what came up to it."""
        try:
            until(lambda: words in self.written[self._seen :], within)
        except AssertionError:
            pytest.fail(f"{words!r} did not come:\n{self.written[self._seen :]}")
        end = self.written.index(words, self._seen) + len(words)
        passed, self._seen = self.written[self._seen : end], end
        return passed

    def type(self, line: str) -> None:
        os.write(self._own, f"{line}\r".encode())

    def ends(self) -> int:
        code = self.process.wait(timeout=30)
        self._reader.join(timeout=5)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=10)
        self._reader.join(timeout=5)
        os.close(self._own)


@pytest.fixture
def screens() -> Iterator[list[Screen]]:
    opened: list[Screen] = []
    yield opened
    for screen in opened:
        screen.close()


def fits(text: str, width: int = 80) -> bool:
    return all(len(line) <= width for line in text.splitlines())


# ---------------------------------------------------------------- with pipes


def test_two_piped_sessions_play_a_whole_game(service: Service, tmp_path: Path) -> None:
    table = new_table(service, "free-table", "two-pipes", "--option", "rounds=2",
                      "--option", "points=on", "--option", "first_seat=1")  # fmt: skip
    ann = start(service, tmp_path / "a", table, "--name", "Ann")
    assert ann.stdout is not None
    while "Others join with" not in ann.stdout.readline():
        pass
    bob = start(service, tmp_path / "b", table, "--name", "Bob")
    for session, answers in ((ann, "1 1 5\nc\nscore 2 for seat 1\nc\n"), (bob, "1\n2\n4\nc\nc\n")):
        assert session.stdin is not None
        session.stdin.write(answers)  # it stays open: they wait for each other to the end
        session.stdin.flush()
    done = {}
    for name, session in (("ann", ann), ("bob", bob)):
        assert session.stdout is not None
        out = session.stdout.read()
        _, err = session.communicate(timeout=60)
        assert (session.returncode, err) == (0, ""), name
        assert "The game is over. 1 Ann (red) wins." in out
        assert "Another game: tableturn new free-table --seats 2" in out
        assert fits(out)
        done[name] = out
    assert re.search(r"1 +1 Ann \(red\) +7", done["bob"])
    assert re.search(r"2 +2 Bob \(blue\) +4", done["ann"])


def test_a_hot_seat_opening_of_eastern_wonders(service: Service) -> None:
    table = new_table(service, "eastern-wonders", "hot-seat", "--option", "first_seat=1")
    answers = "\n".join(
        [
            "1 2", "1 C3", "u", "place boat C2", "c",  # Bob, with an undo
            "1", "YYYY", "1", "C4", "c",  # Ann, asked step by step
            "c", "n", "1 Z9", "2", "3", "harvest", "c",  # the first turn
            "b", "l", "?", "q",
        ]
    )  # fmt: skip
    ran = play(service, answers, table, "--name", "Ann", "--name", "Bob")
    assert (ran.code, ran.err) == (0, "")
    assert fits(ran.out)
    assert ">>> Now 2 Bob (blue): take the device." in ran.out
    assert ">>> Now 1 Ann (red): take the device." in ran.out
    assert "2 Bob (blue) undoes the last action" in ran.out
    assert "2 Bob (blue) places the boat on C2" in ran.out
    assert "Which pile?" in ran.out
    assert "Which tile?" in ran.out
    assert "End the turn without doing anything?" in ran.out
    assert "Nothing was done." in ran.out
    assert '"Z9" does not fit: choose' in ran.out
    assert "1 Ann (red) builds an outpost on C4" in ran.out
    assert "There is no choice 3" in ran.out
    assert '"harvest" is not possible now' in ran.out
    assert "What you can type" in ran.out
    assert "Your seats stay yours: 1 Ann (red), 2 Bob (blue)." in ran.out


def test_a_turn_is_typed_in_one_line_and_told_when_it_is_refused(service: Service) -> None:
    table = new_table(service, "eastern-wonders", "one-line", "--option", "first_seat=1")
    play(service, "take pile RR; place boat B2; c\n", table, "--name", "Ann", "--name", "Bob")
    ran = play(service, "take pile YG; place boat A1\ntake pile YG; place boat B3; c\n", table)
    assert ran.code == 0
    assert "Not possible: " in ran.out
    assert "1 Ann (red) places the boat on B3" in ran.out
    assert "YOUR TURN" in ran.out


@pytest.mark.parametrize("input_", ["", "\n\n"])
def test_the_end_of_the_input_quits_and_keeps_the_seat(service: Service, input_: str) -> None:
    table = new_table(service, "free-table", f"ends-{len(input_)}")
    ran = play(service, input_, table, "--name", "Ann")
    assert (ran.code, ran.err) == (0, "")
    assert f"tableturn play {table} --server {service.address}" in ran.out
    again = play(service, "", table)
    assert again.code == 0
    assert "Ann (you)" in again.out


def test_a_name_is_asked_for(service: Service) -> None:
    table = new_table(service, "free-table", "asks-name")
    ran = play(service, "Zoe\nq\n", table)
    assert ran.code == 0
    assert "Your name:" in ran.out
    assert "Zoe (you)" in ran.out


def test_without_a_name_nobody_sits_down(service: Service) -> None:
    table = new_table(service, "free-table", "no-name")
    ran = play(service, "", table)
    assert ran.code == 2
    assert "a name is needed" in ran.err


def test_a_full_table_can_be_watched(service: Service, tmp_path: Path) -> None:
    table = new_table(service, "free-table", "full", "--option", "rounds=1")
    looking = start(service, tmp_path / "c", table, "--watch")
    assert looking.stdout is not None
    while "Others join with" not in looking.stdout.readline():
        pass
    play(service, "c\nc\n", table, "--name", "Ann", "--name", "Bob")
    out, err = looking.communicate(timeout=60)
    assert (looking.returncode, err) == (0, "")
    assert "Bob takes seat 2" in out
    assert "The game is over." in out
    refused = start(service, tmp_path / "d", table, "--name", "Eve")
    assert "over" in refused.communicate("", timeout=60)[1]


def test_a_seat_is_left_to_somebody_else(service: Service) -> None:
    table = new_table(service, "free-table", "leaving")
    ran = play(service, "leave\nn\nleave\ny\n", table, "--name", "Ann")
    assert (ran.code, ran.err) == (0, "")
    assert "Nothing was done." in ran.out
    assert ran.out.endswith("Bye.\n")
    again = play(service, "", table, "--name", "Cy", "--name", "Di")
    assert "1 Cy" in again.out
    gone = play(service, "leave 1\ny\nl\n", table)
    assert (gone.code, gone.err) == (0, "")
    assert "Your seat stays yours: 2 Di (blue)." in gone.out


def test_a_table_that_is_not_there_is_one_line(service: Service) -> None:
    ran = play(service, "", "nowhere", "--name", "Ann")
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


# ---------------------------------------------------------------- at a terminal


def test_a_person_plays_at_a_terminal(
    service: Service, tmp_path: Path, screens: list[Screen]
) -> None:
    table = new_table(service, "eastern-wonders", "screen", "--option", "first_seat=1")
    ann = Screen(service, tmp_path / "a", table, "--name", "Ann")
    screens.append(ann)
    ann.expect("Others join with: tableturn play screen")
    bob = Screen(service, tmp_path / "b", table)
    screens.append(bob)
    bob.expect("Your name: ")
    bob.type("Bob")
    bob.expect("YOU ARE ASKED  2 Bob (blue)")
    bob.expect("1 take a pile of starting cubes")
    ann.expect("waiting for 2 Bob (blue)")
    bob.type("1 RR")
    bob.expect("20 tiles, on the map with a *")
    ann.expect("2 Bob (blue) takes the pile RR")
    bob.type("1 C3")
    bob.expect("c confirm")
    bob.type("c")
    ann.expect("YOU ARE ASKED  1 Ann (red)")
    ann.type("?")
    ann.expect("Enter: more")
    ann.type("")
    ann.expect("Enter: ")
    ann.type("1 YYYY")
    ann.expect("1 place the boat")
    ann.type("q")
    ann.expect("Your seat stays yours: 1 Ann (red)")
    assert ann.ends() == 0


def test_one_command_and_a_person_plays_against_bots(
    service: Service, tmp_path: Path, screens: list[Screen]
) -> None:
    ann = Screen(
        service, tmp_path / "a", "free-table", "--bot", "random", "--id", "against-bots",
        "--play", "Ann", "--option", "first_seat=1", command="new",
    )  # fmt: skip
    screens.append(ann)
    ann.expect("Seat 2: ")
    ann.expect("YOUR TURN  1 Ann (red)")
    ann.expect("bot on seat 2")
    ann.type("q")
    ann.expect("Your seat stays yours: 1 Ann (red)")
    assert ann.ends() == 0
    usage = tableturn("new", "free-table", "--play", "Ann", "--json", "--server", service.address)
    assert usage.code == 2
    before = tableturn("tables", "--json", "--server", service.address).out
    full = ("--bot", "random", "--bot", "random", "--play", "Ann", "--play", "Bob")
    for words, many in (("--seats", "3"), "3 seats"), (("--seats", "2"), "2 seats"):
        ran = tableturn("new", "free-table", *full, *words, "--server", service.address)
        assert f"2 bots and 2 people can't sit on {many}" in ran.err
        assert ran.code == 2
    assert tableturn("tables", "--json", "--server", service.address).out == before


def test_a_rematch_is_one_key_away(service: Service, tmp_path: Path, screens: list[Screen]) -> None:
    table = new_table(service, "free-table", "again", "--option", "first_seat=1")
    ann = Screen(service, tmp_path / "a", table, "--name", "Ann")
    screens.append(ann)
    ann.expect("Others join with")
    bob = Screen(service, tmp_path / "b", table, "--name", "Bob")
    screens.append(bob)
    bob.expect("waiting for 1 Ann (red)")
    ann.expect("YOUR TURN")
    ann.type("finish game")
    ann.expect("c confirm: finish the game")
    ann.type("c")
    for one in (ann, bob):
        one.expect("Rematch with the same people? [y/n]")
    ann.type("y")
    ann.expect("YOUR TURN  1 Ann (red)")
    bob.type("y")
    bob.expect("waiting for 1 Ann (red)")
    ann.type("finish game")
    ann.expect("c confirm: finish the game")
    ann.type("c")
    for one in (ann, bob):
        one.expect("Rematch with the same people? [y/n]")
        one.type("n")
        assert one.ends() == 0


def test_the_service_restarts_and_nothing_is_lost(tmp_path: Path, screens: list[Screen]) -> None:
    with running_service(tmp_path) as service:
        table = new_table(service, "free-table", "restart", "--option", "points=on")
        ann = Screen(service, tmp_path / "a", table, "--name", "Ann", "--name", "Bob")
        screens.append(ann)
        ann.expect("c confirm: end the turn")
        service.kill()
        ann.expect("connection lost, trying again")
        ann.type("score 7 for seat 2")
        ann.expect("what you typed is sent as soon as it is back")
        service.start()
        ann.expect("scores 7 points for seat 2")
        ann.expect("u undo the last step")
        ann.type("c")
        ann.expect("take the device")
        shown = ann.written[ann._seen :]
        ann.type("q")
        ann.expect("Your seats stay yours")
        assert ann.ends() == 0
        assert "Traceback" not in ann.written
        assert "connection lost" not in shown


def test_cards_are_covered_until_the_next_one_has_the_device(
    service: Service, tmp_path: Path, screens: list[Screen]
) -> None:
    """SR-16: two at one screen never see each other's hand."""
    table = new_table(service, "spice-road", "covered", "--option", "first_seat=1")
    both = Screen(service, tmp_path / "a", table, "--name", "Ann", "--name", "Bob")
    screens.append(both)
    both.expect("Enter: show the cards of 1 Ann")
    assert "+YY" not in both.written
    both.type("")
    both.expect("*S1 +YY")
    both.type("play s1")
    both.expect("u undo the last step")
    both.type("c")
    both.expect("Enter: show the cards of 2 Bob")
    both.type("")
    both.expect("*S1 +YY")
    both.type("q")
    assert both.ends() == 0


def test_a_piped_session_survives_a_restart(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        table = new_table(service, "free-table", "pipe-restart", "--option", "rounds=1")
        session = start(service, tmp_path / "a", table, "--name", "Ann", "--name", "Bob")
        assert session.stdout is not None
        assert session.stdin is not None
        while "c confirm: end the turn" not in session.stdout.readline():
            pass
        service.kill()
        while "connection lost, trying again" not in session.stdout.readline():
            pass
        service.start()
        out, err = session.communicate("c\nc\n", timeout=60)
        assert (session.returncode, err) == (0, "")
        assert "*** back ***" in out
        assert "The game is over." in out
