"""The command line against the real service: what people type, and what scripts rely on."""

import contextlib
import io
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tableturn_client.cli import main as command_line
from tableturn_client.cli.exits import Exit
from tableturn_client.cli.session import Session
from tests.client.service import TABLETURN, Ran, Service, tableturn

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def server(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TABLETURN_SERVER", service.address)
    return service.address


_NUMBER = iter(range(10_000))


@pytest.fixture
def table() -> str:
    """A free table of Ann and Bob, both at this terminal; Ann begins."""
    table_id = f"cli-{os.getpid()}-{next(_NUMBER)}"
    made = ok("new", "free-table", "--id", table_id, "--seats", "2", "--start-when-full",
              "--option", "first_seat=1", "--option", "points=on")  # fmt: skip
    assert table_id in made
    ok("join", table_id, "Ann", "Bob")
    return table_id


def run(*arguments: str, stdin: str = "") -> Ran:
    """A command in this process, with its exit code and output."""
    code = 0

    def body() -> None:
        nonlocal code
        code = command_line.run(arguments)

    import click

    result = CliRunner().invoke(click.Command("x", callback=body), [], input=stdin)
    if result.exception is not None:
        raise result.exception
    return Ran(code, result.stdout, result.stderr)


def ok(*arguments: str) -> str:
    ran = run(*arguments)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def js(*arguments: str) -> Any:
    """The one JSON document of a command."""
    [line] = ok(*arguments, "--json").splitlines()
    return json.loads(line)


def refused(exit: Exit, *arguments: str) -> str:
    """The one line of a command that fails in this way."""
    ran = run(*arguments)
    assert ran.code == exit.value, ran
    [line] = ran.err.splitlines()
    assert line.startswith("tableturn: ")
    assert ran.out == ""
    told = run("--json", *arguments)
    [document] = told.err.splitlines()
    error = json.loads(document)["error"]
    assert (error["exit_code"], error["kind"]) == (exit.value, exit.kind)
    return line


# ---------------------------------------------------------------- an evening


def test_a_game_at_one_terminal(table: str) -> None:
    assert "Ann" in ok("show", table)
    assert "finish game" in ok("actions", table)
    ok("act", table, "score", "-5", "for", "seat", "2", "then", "score", "3", "for", "seat", "1")
    view = js("show", table)["table"]
    assert view["staged"][0]["texts"] == ["score -5 for seat 2", "score 3 for seat 1"]
    ok("undo", table)
    assert "Ann" in ok("confirm", table)
    assert js("show", table)["table"]["viewer"] == 2  # the seat that is asked
    ok("act", table, "score 2 for seat 2", "--confirm")
    assert js("show", table)["table"]["turns"] == 2
    assert "taken back" in ok("takeback", table)
    assert js("show", table)["table"]["turns"] == 1
    assert "seat 2" in ok("log", table)
    ok("pause", table)
    assert refused(Exit.NOT_NOW, "confirm", table)
    ok("resume", table)
    ok("act", table, "finish", "game", "--confirm")
    assert js("show", table)["table"]["status"] == "finished"


def test_what_actions_lists_can_be_typed(table: str) -> None:
    listed = js("actions", table)
    assert listed["prompt"]["seat"] == 1
    texts = [choice["texts"] for choice in listed["choices"] if choice["kind"] == "finish_game"]
    done = js("act", table, *texts[0][0].split(), "--expect", str(listed["revision"]))
    assert done["actions"] == ["finish game"]
    assert done["revision"] == listed["revision"] + 1


@pytest.mark.case("S7")
def test_a_script_may_repeat_a_command(table: str) -> None:
    revision = str(js("show", table)["table"]["revision"])
    command = ("confirm", table, "--seat", "1", "--expect", revision, "--request-id", "once")
    first, again = js(*command), js(*command)
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["revision"] == again["revision"]
    assert "--expect" in refused(Exit.USAGE, "confirm", table, "--request-id", "x")


@pytest.mark.case("S7")
def test_a_script_may_insist_on_what_it_has_seen(table: str) -> None:
    revision = str(js("show", table)["table"]["revision"])
    ok("confirm", table)
    ok("confirm", table)
    line = refused(Exit.STALE, "confirm", table, "--seat", "1", "--expect", revision)
    assert line


def test_export_and_import(table: str, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    admin = ("--admin-token-file", str(service.admin_file))
    assert refused(Exit.NOT_PERMITTED, "export", table, "-o", str(file))
    refused(Exit.USAGE, "export", table, "-o", str(tmp_path / "no" / "folder"), *admin)
    ok("export", table, "-o", str(file), *admin)
    assert file.stat().st_mode & 0o077 == 0
    ok("import", str(file), "--id", f"{table}-copy", *admin)
    original, copy = (js("show", name)["table"] for name in (table, f"{table}-copy"))
    assert original["log_hash"] == copy["log_hash"]
    file.write_bytes(file.read_bytes().replace(b"Ann", b"Eve", 1))
    refused(Exit.USAGE, "import", str(file), "--id", f"{table}-bad", *admin)
    assert ok("export", table, *admin).startswith("{")


def test_the_catalog(tmp_path: Path) -> None:
    assert "eastern-wonders" in ok("games")
    assert "points" in ok("rules", "free-table")
    clause = next(o["clause"] for o in js("rules", "eastern-wonders")["options"] if o["clause"])
    assert clause in ok("rules", "eastern-wonders", clause)
    assert ok("rules", "from-sand-to-sea", "ew-12") == ok("rules", "eastern-wonders", "EW-12")
    refused(Exit.NOT_FOUND, "rules", "chess")
    refused(Exit.NOT_FOUND, "rules", "free-table", "XX-1")
    assert ok("components") == ok("components", "list")
    assert "reconstructed" in ok("components", "show", "eastern-wonders")
    file = tmp_path / "set.json"
    ok("components", "show", "eastern-wonders", "-o", str(file))
    assert "holds" in ok("components", "check", str(file))
    file.write_text("{}")
    refused(Exit.USAGE, "components", "check", str(file))
    file.write_text('{"game": "eastern-wonders"}')
    refused(Exit.USAGE, "components", "check", str(file))
    refused(Exit.USAGE, "components", "check", "/no/such/file")


def with_components() -> list[str]:
    return [game["name"] for game in js("games")["games"] if game.get("component_set")]


def test_stand_ins_are_told_of_before_a_game_starts() -> None:
    sets = {one["name"]: one for one in js("components", "list")["component_sets"]}
    assert "eastern-wonders" in with_components()
    for game in with_components():
        left = [one["name"] for one in sets[game]["groups"] if one.get("reconstructed")]
        [line] = [line for line in ok("games").splitlines() if line.startswith(f"{game} ")]
        [listed] = [line for line in ok("components").splitlines() if line.startswith(f"{game} ")]
        made = js("new", game)
        assert made["reconstructed"] == left
        told = [line, listed, ok("components", "show", game), ok("new", game)]
        told.append(ok("show", made["table_id"]))
        assert {"reconstructed" in text for text in told} == {bool(left)}, game


def test_printed_values_are_filled_in_and_stay_with_the_table(tmp_path: Path) -> None:
    for game in with_components():
        file = tmp_path / f"{game}.json"
        out = ok("components", "template", game, "-o", str(file))
        assert f"components check {file}" in out
        made = json.loads(file.read_text())
        assert made == js("components", "template", game)["template"]
        assert made == json.loads(ok("components", "template", game))
        shipped = js("new", game)["table"]["component_set"]
        before = js("components", "check", str(file))["summary"]
        assert before["groups"] == js("components", "show", game)["summary"]["groups"]
        # Nothing is said of what nobody has looked at; what was looked at is no stand-in any more.
        left = [one["name"] for one in before["groups"] if one.get("reconstructed")]
        assert ("Still reconstructed: " in ok("components", "check", str(file))) == bool(left)
        for name in left[1:]:
            made[name]["confidence"] = "single-source"
        if left:
            made[left[0]]["items"] = made[left[0]]["items"][1:]
            made[left[0]]["confidence"] = "single-source"
        file.write_text(json.dumps(made))
        told = ok("components", "check", str(file)).splitlines()[-1]
        if left:
            assert re.fullmatch(rf"Still reconstructed: \d+ of \d+ {left[0]}\.", told)
        else:
            assert told == "Nothing in it is reconstructed."
        view = js("new", game, "--components", str(file))["table"]
        own = view["component_set"]
        assert (own["name"], own["custom"]) == (made["name"], True)
        assert own["sha256"] == js("components", "check", str(file))["summary"]["sha256"]
        assert own["sha256"] != shipped["sha256"]
        assert bool(own.get("reconstructed")) == bool(left)
        assert made["name"] in ok("show", view["table_id"])


def test_a_template_says_if_there_is_nothing_to_fill_in() -> None:
    refused(Exit.USAGE, "components", "template", "free-table")
    refused(Exit.NOT_FOUND, "components", "template", "chess")
    for game in with_components():
        sure = js("components", "show", game)["summary"]["groups"]
        verified = {one["confidence"] for one in sure} == {"verified"}
        told = js("components", "template", game)
        assert told["nothing_to_fill_in"] == verified
        assert len(js("components", "template", game, "--all")["template"]) == 5 + len(sure)


def test_new_tells_what_players_should_know() -> None:
    made = js("new", "eastern-wonders", "--seats", "2", "--seed", "00" * 16)
    assert made["reconstructed"]
    assert made["table"]["open_seed"]
    out = ok("new", "eastern-wonders", "--watch-token", "new")
    assert "reconstructed" in out
    assert "tableturn join" in out


def test_if_absent_gives_the_same_table() -> None:
    command = ("new", "free-table", "--id", f"absent-{os.getpid()}", "--seats", "2")
    assert js(*command)["table"]["revision"] == 1
    assert js(*command, "--if-absent")["table"]["revision"] == 1
    refused(Exit.NOT_NOW, *command[:-1], "3", "--if-absent")
    refused(Exit.USAGE, "new", "free-table", "--if-absent")
    ok("join", command[3], "Ann")  # the host's token is still the right one
    ok("leave", command[3])


def test_spectators_need_the_watch_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = js("new", "free-table", "--seats", "2", "--watch-token", "new")
    table = made["table_id"]
    assert ok("show", table)
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "stranger"))
    refused(Exit.NOT_PERMITTED, "show", table)
    assert ok("show", table, "--token", made["watch_token"])


def test_seats(table: str) -> None:
    assert "2" in refused(Exit.USAGE, "leave", table)
    ok("leave", table, "--seat", "2")
    assert js("tables", "list", "--held")["tables"][-1]["seats"] == [{"seat": 1, "name": "Ann"}]
    refused(Exit.NOT_PERMITTED, "act", table, "finish game", "--seat", "2")
    ok("join", table, "Cleo")
    refused(Exit.NOT_NOW, "join", table, "Dan")
    refused(Exit.USAGE, "concede", table, "--seat", "1")
    ok("concede", table, "--seat", "1", "--yes")
    assert js("show", table)["table"]["outcome"]["reason"] == "last_seat"


def test_tables_are_listed(table: str) -> None:
    assert table in ok("tables")
    assert table in [one["table_id"] for one in js("tables", "list")["tables"]]


# ---------------------------------------------------------------- bots, panels, a rematch


def test_a_table_with_bots() -> None:
    refused(Exit.NOT_FOUND, "new", "eastern-wonders", "--bot", "deep-thought")
    refused(Exit.NOT_FOUND, "new", "chess", "--bot", "greedy")
    refused(Exit.USAGE, "new", "eastern-wonders", "--seats", "2", *["--bot", "random"] * 3)
    made = js("new", "eastern-wonders", "--bot", "random", "--bot", "greedy")
    seats = made["table"]["seats"]
    assert [seat["bot"] for seat in seats] == ["", "random", "greedy"]
    table_id = made["table_id"]
    out = ok("show", table_id)
    assert "(greedy bot)" in out
    assert "free" in out
    ok("leave", table_id, "--seat", "3")
    refused(Exit.NOT_FOUND, "bot", table_id, "deep-thought")
    done = js("bot", table_id, "random", "--seat", "3", "--name", "Zed", "--confirm", "panel")
    assert done["seat"] == 3
    seat = js("show", table_id)["table"]["seats"][2]
    assert (seat["name"], seat["bot"], seat["confirmation"]) == ("Zed", "random", "panel")
    refused(Exit.NOT_NOW, "bot", table_id, "random", "--seat", "2")
    assert "greedy" in ok("games")


def test_the_same_new_gives_no_second_bot() -> None:
    command = ("new", "free-table", "--id", f"bots-{os.getpid()}", "--seats", "3", "--if-absent")
    first = js(*command, "--bot", "random", "--bot", "random")
    again = js(*command, "--bot", "random", "--bot", "random")
    assert first["table"]["revision"] == again["table"]["revision"]
    refused(Exit.NOT_NOW, *command, "--bot", "greedy")  # somebody else sits there


def test_who_confirms(table: str) -> None:
    refused(Exit.USAGE, "confirms", table, "nobody")
    refused(Exit.USAGE, "confirms", table, "panel")  # of two seats
    ok("confirms", table, "panel", "--seat", "1")
    assert js("show", table)["table"]["seats"][0]["confirmation"] == "panel"
    assert "button" in refused(Exit.NOT_PERMITTED, "confirm", table, "--seat", "1")
    assert "confirmed at the panel: seat 1" in ok("show", table)
    ok("confirms", table, "either", "--seat", "1")
    ok("confirm", table, "--seat", "1")


def test_a_seat_at_a_panel_is_played_by_others_in_the_room(
    server: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tableturn_client import Gesture, new_token, sync
    from tableturn_client.credentials import Credentials

    table = js("new", "free-table", "--seats", "2", "--option", "first_seat=2",
               "--option", "points=on", "--start-when-full")["table_id"]  # fmt: skip
    ok("join", table, "Ann")
    with sync.connect(server) as client:
        host = Credentials(home / "tokens.json").host(Session(server_text=server).server, table)
        assert host is not None
        token = new_token()
        client.table(table, token=host.token).attach_panel(7, token, [0])
        panel = client.panel(table, 7, token=token, holder="kitchen-0001")
        panel.hold()
        panel.view()
        panel.press(1)
        shown = js("show", table, "--seat", "2")["table"]
        assert (shown["viewer"], shown["seats"][1]["from_panel"]) == (2, True)
        assert js("actions", table, "--seat", "2")["prompt"]["seat"] == 2
        ok("act", table, "score 5 for seat 2", "--seat", "2")
        assert "to press its button" in ok("show", table)
        assert "button" in refused(Exit.NOT_PERMITTED, "confirm", table, "--seat", "2")
        panel.view()
        assert panel.press(1, Gesture.PRESS).seat == 2
    assert js("show", table)["table"]["turns"] == 1
    refused(Exit.NOT_PERMITTED, "show", table, "--seat", "3")
    monkeypatch.setenv("TABLETURN_HOME", str(home / "stranger"))
    refused(Exit.NOT_PERMITTED, "act", table, "pass", "--seat", "2")


def test_a_start_with_those_who_are_here() -> None:
    table = js("new", "free-table", "--seats", "4")["table_id"]
    ok("join", table, "Ann", "Bob")
    refused(Exit.NOT_NOW, "start", table)
    ok("start", table, "--with-those-here")
    assert len(js("show", table)["table"]["seats"]) == 2


def test_a_rematch(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(Exit.NOT_NOW, "rematch", table)
    ok("act", table, "finish", "game", "--confirm")
    following = js("rematch", table)
    assert following["table"]["status"] == "running"
    assert js("rematch", table)["table_id"] == following["table_id"]
    assert f"rematch: {following['table_id']}" in ok("show", table)
    # The seats and the host's token are those of the old table.
    ok("confirm", following["table_id"])
    ok("pause", following["table_id"])
    assert js("tables", "list", "--held")["tables"][-1] == {
        "table_id": following["table_id"],
        "host": True,
        "seats": [{"seat": 1, "name": "Ann"}, {"seat": 2, "name": "Bob"}],
    }
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "stranger"))
    refused(Exit.NOT_PERMITTED, "rematch", table)


# ---------------------------------------------------------------- following


def lines_of(process: subprocess.Popen[bytes], number: int) -> list[str]:
    """The next lines of a process, which must come soon."""
    assert process.stdout is not None
    found: list[str] = []
    end = time.monotonic() + 20
    while len(found) < number:
        ready, _, _ = select.select([process.stdout], [], [], max(0, end - time.monotonic()))
        assert ready, found
        line = process.stdout.readline()
        assert line, found
        found.append(line.decode())
    return found


@pytest.fixture
def following() -> Iterator[Any]:
    running: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [TABLETURN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_watch_tells_events_until_ctrl_c(table: str, following: Any) -> None:
    process = following("watch", table, "--json")
    [first] = lines_of(process, 1)
    assert json.loads(first)["event"] == "snapshot"
    ok("confirm", table)
    [second] = lines_of(process, 1)
    assert json.loads(second)["entry"]["kind"] == "confirm"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, b"")


def test_log_follows(table: str, following: Any) -> None:
    process = following("log", table, "--follow", "--json")
    assert [json.loads(line)["revision"] for line in lines_of(process, 3)] == [1, 2, 3]
    ok("confirm", table)
    assert json.loads(lines_of(process, 1)[0])["revision"] == 4


def test_watch_ends_with_the_game(table: str, following: Any) -> None:
    process = following("watch", table, "--until-over", "--json")
    lines_of(process, 1)
    ok("act", table, "finish game", "--confirm")
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out.splitlines()[-1])["table"]["status"] == "finished"


# ---------------------------------------------------------------- what goes wrong


def test_kinds_of_failure_have_their_exit_codes(table: str) -> None:
    refused(Exit.USAGE, "frob")
    refused(Exit.USAGE, "act")
    refused(Exit.USAGE, "act", table, "frob")
    refused(Exit.USAGE, "act", table, "pass", "--frob")
    refused(Exit.USAGE, "new", "free-table", "--seed", "xyz")
    refused(Exit.USAGE, "new", "free-table", "--option", "points")
    refused(Exit.USAGE, "new", "free-table", "--option", "points=maybe")
    refused(Exit.USAGE, "games", "--server", "a b")
    refused(Exit.NOT_FOUND, "show", "no-such-table")
    refused(Exit.NOT_FOUND, "new", "chess")
    refused(Exit.NOT_FOUND, "act", "no-such-table", "pass")
    refused(Exit.NOT_PERMITTED, "confirm", table, "--token", "x" * 40)
    refused(Exit.NOT_NOW, "start", table)
    refused(Exit.NOT_NOW, "undo", table)
    line = refused(Exit.NOT_NOW, "act", table, "score 1 for seat 1", "next seat 2")
    assert "action 2, `next seat 2`" in line
    refused(Exit.UNAVAILABLE, "games", "--server", "127.0.0.1:1", "--timeout", "0.2")
    for seconds in ("nan", "inf", "0", "-1", "soon"):
        refused(Exit.USAGE, "games", "--timeout", seconds)


@pytest.mark.parametrize("name", ["x" * 10_000, "a\x1b]0;owned\x07b", "", "\u202ereversed", "a\nb"])
def test_names_that_do_harm_are_refused_or_cleaned(table: str, name: str) -> None:
    ok("leave", table, "--seat", "2")
    ran = run("join", table, name)
    assert ran.code in (0, Exit.USAGE.value)
    for text in (ran.out, ran.err, run("show", table).out, run("log", table).out):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert all(len(line) < 700 for line in text.splitlines())


def test_what_is_no_text(table: str) -> None:
    ok("leave", table, "--seat", "2")
    refused(Exit.USAGE, "join", table, os.fsdecode(b"\xff"))


@pytest.mark.parametrize("nasty", ["\x9b31m", "\u202e", "\x7f", "\x1b]0;x\x07"])
def test_what_a_terminal_would_obey_is_written_by_no_command(nasty: str) -> None:
    session = Session()
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        session.tell(None, f"a{nasty}b")
        session.json = True
        session.tell({"name": f"ä{nasty}"})
    line, document = written.getvalue().splitlines()
    assert line.isprintable()
    assert document.isprintable()
    assert json.loads(document) == {"name": f"ä{nasty}"}
    assert "ä" in document


def test_hints_name_the_server_where_it_is_not_the_usual_one(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--server" not in ok("new", "free-table")
    monkeypatch.delenv("TABLETURN_SERVER")
    assert f"--server {server}" in ok("new", "free-table", "--server", server)


def test_json_before_and_after_the_name_is_the_same(table: str) -> None:
    assert ok("--json", "show", table) == ok("show", table, "--json") == ok("show", "--json", table)


def test_a_token_can_be_given(table: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = json.loads((home / "tokens.json").read_text())["tokens"]
    ann = next(one["token"] for one in tokens if one["name"] == "Ann" and one["table"] == table)
    monkeypatch.setenv("TABLETURN_HOME", str(home / "empty"))
    refused(Exit.NOT_PERMITTED, "confirm", table)
    assert js("actions", table, "--token", ann)["prompt"]["seat"] == 1
    monkeypatch.setenv("TABLETURN_TOKEN", ann)
    ok("confirm", table)


@pytest.mark.case("S7")
def test_a_seat_whose_answer_was_lost_is_taken_by_the_same_command(table: str, home: Path) -> None:
    """The command was killed between the service's answer and the note of it."""
    ok("leave", table, "--seat", "2")
    from tableturn_client import sync
    from tableturn_client.credentials import Credential, Credentials

    store = Credentials(home / "tokens.json")
    begun = Credential(
        f"localhost:{os.environ['TABLETURN_SERVER'].rpartition(':')[2]}", table, "seat",
        "t" * 32, name="Cleo", pending="lost",
    )  # fmt: skip
    store.put(begun)
    with sync.connect(os.environ["TABLETURN_SERVER"]) as client:
        client.table(table).take_seat("Cleo", token=begun.token, request_id="lost")
    assert js("join", table, "Cleo")["seats"][0]["seat"] == 2
    ok("confirm", table)
    ok("confirm", table)


def test_nobody_reads(table: str) -> None:
    for command in (f"log {table}", "games", "--help", f"watch {table}", f"show {table} --json"):
        ran = subprocess.run(
            ["bash", "-c", f"{TABLETURN} {command} | true; exit ${{PIPESTATUS[0]}}"],
            capture_output=True,
            timeout=30,
            check=False,
            env={**os.environ},
        )
        assert ran.stderr == b""
        assert ran.returncode in (0, 1, 141)
        if command.startswith("watch"):
            break


def test_no_colours_without_a_terminal_or_where_they_are_not_wanted(table: str) -> None:
    assert "\x1b" not in tableturn("show", table).out
    plain, coloured = (on_terminal("show", table, env=env) for env in ({"NO_COLOR": "1"}, {}))
    colour = re.compile(rb"\x1b\[(\d+;)*[349][0-7]")
    assert not colour.search(plain)
    assert colour.search(coloured)


def on_terminal(*arguments: str, env: dict[str, str]) -> bytes:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [TABLETURN, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **env},
    )
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        found += part
    os.close(ours)
    assert process.wait(timeout=20) == 0
    return found


# ---------------------------------------------------------------- help


def commands() -> list[str]:
    parts = [f"components {name}" for name in ("list", "show", "check", "template")]
    parts += ["time add", "time show"]
    return [*command_line._MODULES, *parts]


@pytest.mark.parametrize("name", commands())
def test_each_command_has_a_help_with_an_example(name: str) -> None:
    out = ok(*name.split(), "--help")
    assert "Usage: tableturn" in out
    if name not in ("components", "tables", "time"):
        assert "Example" in out
        assert f"  tableturn {name}" in out or f"(tableturn {name}" in out


def test_the_list_of_commands_is_complete() -> None:
    out = ok("--help")
    for name in [*command_line._MODULES, "serve"]:
        assert f"\n  {name} " in out
    assert ok() == out


def test_a_command_of_a_part_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "serve"
        module = "tableturn_server.service.command"

        def load(self) -> object:
            raise ModuleNotFoundError("No module named 'redis'", name="redis")

    monkeypatch.setattr(command_line, "_others", lambda: {"serve": Entry()})
    line = refused(Exit.NOT_INSTALLED, "serve")
    assert "pip install 'tableturn[server]'" in line


def test_a_fault_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Session, *arguments: object) -> None:
        raise RuntimeError("oh\nno")

    monkeypatch.setattr(Session, "tell", broken)
    assert "RuntimeError" in refused(Exit.FAULT, "games")


def test_completion() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_TABLETURN_COMPLETE" in ok("completion", shell)
    env = {"_TABLETURN_COMPLETE": "bash_complete", "COMP_WORDS": "tableturn ta", "COMP_CWORD": "1"}
    assert "tables" in tableturn(env=env).out


def test_a_closed_standard_output_is_no_fault() -> None:
    start = "from tableturn_client.cli.main import main; main()"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(start)} --help >&-"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
