"""A session at the command line, as the documents show it: with people at one table and afar."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tableturn_server.rules.catalog import GAMES
from tests.e2e.calls import Connection
from tests.e2e.processes import CommandLine, Ran, Service, command_lines, until
from tests.e2e.tables import new_table

pytestmark = pytest.mark.e2e


class Recorder(CommandLine):
    """A command line that keeps all that it was told."""

    heard: list[str]

    def __call__(self, *arguments: str, stdin: str = "") -> Ran:
        ran = super().__call__(*arguments, stdin=stdin)
        self.heard += [ran.out, ran.err]
        return ran

    def said(self, *arguments: str) -> str:
        """What a command that succeeds says to a person."""
        ran = self(*arguments)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran.out


def recorder(home: Path, server: str) -> Recorder:
    made = Recorder(home, server)
    made.heard = []
    return made


def test_a_game_from_the_first_command_to_the_last(own: Service, tmp_path: Path) -> None:
    host, afar = (recorder(tmp_path / name, own.address) for name in ("host", "afar"))
    secrets = [own.admin_token]

    assert {game["name"] for game in host.json("games")["games"]} == set(GAMES)
    made = host.json(
        "new", "free-table", "--seats", "2", "--id", "friday", "--option", "points=on",
        "--option", "first_seat=1", "--start-when-full", "--title", "Friday night",
    )  # fmt: skip
    assert made["table_id"] == "friday"
    assert made["table"]["status"] == "open"
    assert "Ann has seat 1 (red)" in host.said("join", "friday", "Ann")
    (bob,) = afar.json("join", "friday", "Bob")["seats"]
    assert (bob["seat"], bob["table"]["status"]) == (2, "running")
    tables = host.json("tables", "list")["tables"]
    assert [(table["table_id"], table["free_seats"]) for table in tables] == [("friday", 0)]
    held = host.json("tables", "list", "--held")["tables"]
    assert held == [{"table_id": "friday", "host": True, "seats": [{"seat": 1, "name": "Ann"}]}]

    watch = afar.begin("watch", "friday", "--json", "--until-over")
    assert watch.stdout is not None
    try:
        first = json.loads(watch.stdout.readline())
        assert (first["event"], first["table"]["viewer"]) == ("snapshot", 2)

        assert "Ann" in host.said("show", "friday")
        asked = host.json("actions", "friday")
        assert (asked["seat"], asked["prompt"]["kind"]) == (1, "turn")
        listed = {choice["kind"]: choice for choice in asked["choices"]}
        assert listed["finish_game"]["texts"] == ["finish game"]
        acted = host.json("act", "friday", "score", "5", "for", "seat", "2")
        assert acted["actions"] == ["score 5 for seat 2"]
        assert acted["revision"] == asked["revision"] + 1
        host.said("act", "friday", "score -2 for seat 1", "score 3 for seat 1")
        undone = host.json("undo", "friday")
        assert undone["revision"] == asked["revision"] + 3
        host.said("undo", "friday", "--all")
        once = ("act", "friday", "score 4 for seat 1", "--confirm", "--expect",
                str(asked["revision"] + 4), "--request-id", "once")  # fmt: skip
        done = host.json(*once)
        assert not done["replayed"]
        assert host.json(*once) == {**done, "replayed": True}
        assert afar.json("confirm", "friday")["seat"] == 2
        taken = host.json("takeback", "friday")
        assert taken["revision"] == done["revision"] + 2

        host.said("pause", "friday")
        host.said("resume", "friday")
        document = tmp_path / "friday.json"
        admin = ("--admin-token-file", str(own.data / "admin.token"))
        assert host("export", "friday", "-o", str(document)).code == 4
        assert not document.exists()
        told = host.json("export", "friday", "-o", str(document), *admin)
        assert told["bytes"] == document.stat().st_size
        assert stat.S_IMODE(document.stat().st_mode) == 0o600
        imported = host.json("import", str(document), "--id", "saturday", *admin)
        assert (imported["table_id"], imported["revision"]) == ("saturday", taken["revision"] + 3)

        afar.said("act", "friday", "score 9 for seat 2", "then", "finish game", "--confirm")
        log = host.json("log", "friday")["entries"]
        assert [entry["revision"] for entry in log] == list(range(1, len(log) + 1))
        assert "Bob" in host.said("log", "friday", "--after", str(len(log) - 1))
        events = [json.loads(line) for line in watch.stdout]
        assert [event["entry"]["revision"] for event in events] == [
            entry["revision"] for entry in log if entry["revision"] > first["table"]["revision"]
        ]
        assert events[-1]["table"]["status"] == "finished"
        assert watch.wait(10) == 0
    finally:
        watch.kill()
        watch.communicate()

    result = host.json("show", "friday")["table"]["outcome"]["results"]
    assert [(seat["seat"], seat["points"]) for seat in result] == [(2, 9), (1, 4)]
    # The seed is public now, and so is the whole document to the host.
    shown = host.json("show", "friday", "--spectator")["table"]
    assert len(shown["seed"]) == 32
    assert json.loads(host("export", "friday").out)["format"] == "tableturn-table"

    secrets += host.tokens() + afar.tokens()
    assert len(secrets) == 4
    everything = [own.log(), *host.heard, *afar.heard]
    for secret in secrets:
        assert not any(secret in text for text in everything)
    for home in (host.home, afar.home):
        assert stat.S_IMODE((home / "tokens.json").stat().st_mode) == 0o600


def test_cards_are_played_by_their_names(own: Service, tmp_path: Path) -> None:
    """Spice Road at the command line: what is typed is read from the row that `show` tells."""
    ann, bob = (recorder(tmp_path / name, own.address) for name in ("ann", "bob"))
    ann.json("new", "spice-road", "--id", "caravan", "--seats", "2", "--start-when-full",
             "--option", "first_seat=1")  # fmt: skip
    ann.json("join", "caravan", "Ann")
    bob.json("join", "caravan", "Bob")
    row = _row(ann)
    assert len(row) == 6
    paying = [f"put yellow on {card}" for card in row[:2]]
    acted = ann.json("act", "caravan", f"acquire {row[2]}", "then", " then ".join(paying))
    assert acted["actions"] == [f"acquire {row[2]}", *paying]
    ann.json("confirm", "caravan")
    assert _row(ann)[:5] == [*row[:2], *row[3:]]
    bob.json("act", "caravan", "play s1", "--confirm")
    assert _hand(ann, "caravan") == ({"S1", "S2", row[2]}, 1)
    assert _hand(bob, "caravan") == ({"S2"}, 3)
    lines = "\n".join(line for entry in ann.json("log", "caravan")["entries"]
                      for line in entry["lines"])  # fmt: skip
    for said in (f"acquires {row[2]}", "is dealt to the merchants", "plays S1"):
        assert said in lines
    shown = ann.said("show", "caravan")
    assert row[2] in shown
    assert row[2] not in bob.said("show", "caravan")


def _row(who: Recorder) -> list[str]:
    """The cards of the row of merchants."""
    view = who.json("show", "caravan")["table"]["game_view"]
    return [card["card"] for card in view["merchants"]["row"]]


def _hand(who: Recorder, table: str) -> tuple[set[str], int]:
    """The cards that are seen of all hands, and how many the other player holds."""
    view = who.json("show", table)["table"]
    players = view["game_view"]["players"]
    seen = {card["card"] for player in players for card in player["hand"]}
    return seen, sum(p["hand_size"] for p in players if p["seat"] != view["viewer"])


def test_components_are_shown_changed_and_checked(tableturn: CommandLine, tmp_path: Path) -> None:
    sets = tableturn.json("components", "list")["component_sets"]
    names = [one["name"] for one in sets]
    assert names == ["eastern-wonders", "from-sand-to-sea", "spice-road"]
    file = tmp_path / "own.json"
    tableturn.json("components", "show", "eastern-wonders", "-o", str(file))
    whole = json.loads(file.read_text())
    whole["name"] = "my-own"
    whole["victory_tiles"]["items"][0]["points"] = 19
    file.write_text(json.dumps(whole))
    checked = tableturn.json("components", "check", str(file))
    assert checked["summary"]["name"] == "my-own"
    made = tableturn.json("new", "eastern-wonders", "--components", str(file), "--seats", "2")
    assert made["table"]["component_set"]["custom"] is True


@pytest.mark.parametrize("group", ["tables", "components"])
def test_groups_take_the_options_of_all_commands(tableturn: CommandLine, group: str) -> None:
    assert tableturn.json(group) == tableturn.json(group, "list")


@pytest.fixture
def watching(tableturn: CommandLine, connection: Connection) -> Iterator[subprocess.Popen[str]]:
    """A command that follows a table, and has said something."""
    table = new_table(connection)
    process = tableturn.begin("watch", table.table_id, "--json")
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "snapshot"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_a_watch_quietly(watching: subprocess.Popen[str]) -> None:
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=10)
    assert (watching.returncode, out, err) == (130, "", "")


def test_a_reader_that_goes_away_ends_a_watch_quietly(
    tableturn: CommandLine, connection: Connection
) -> None:
    table = new_table(connection)
    process = tableturn.begin("log", table.table_id, "--follow")
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(3):
            process.stdout.readline()
        process.stdout.close()
        table.people[0].confirm()
        assert process.wait(10) == 141
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_a_watch_goes_on_over_a_restart(own: Service, tmp_path: Path) -> None:
    tableturn = CommandLine(tmp_path / "home", own.address)
    with Connection(own.address) as connection:
        table = new_table(connection)
        watch = tableturn.begin("watch", table.table_id, "--json")
        try:
            assert watch.stdout is not None
            told = [json.loads(watch.stdout.readline())]
            own.kill()
            own.start()
            answer = table.people[0].confirm(repeat=True)
            while told[-1]["event"] != "change":
                told.append(json.loads(watch.stdout.readline()))
        finally:
            watch.kill()
            watch.communicate()
    assert [event["event"] for event in told] == [
        "snapshot", "disconnected", "reconnected", "change",
    ]  # fmt: skip
    assert told[-1]["entry"]["revision"] == answer.revision


def test_no_token_is_seen_by_others_of_the_machine(own: Service, tmp_path: Path) -> None:
    """What `ps` shows of all commands, and the files of the data directory."""
    host = CommandLine(tmp_path / "home", own.address)
    host.json("new", "free-table", "--id", "harbour", "--start-when-full", "--unlisted")
    host.json("join", "harbour", "Ann", "Bob")
    assert host.json("tables", "list")["tables"] == []
    secrets = [own.admin_token, *host.tokens()]
    assert len(secrets) == 4
    watch = host.begin("watch", "harbour")
    try:
        until(lambda: watch.pid in command_lines())
        shown = command_lines()
        assert {own.pid, own.valkey_pid, watch.pid} <= set(shown)
        assert not [line for line in shown.values() for secret in secrets if secret in line]
    finally:
        watch.kill()
        watch.communicate()
    assert own.terminate() == 0
    for path in own.data.rglob("*"):
        if path.is_file() and path.name != "admin.token":
            content = path.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in content], path
    assert stat.S_IMODE((own.data / "admin.token").stat().st_mode) == 0o600
    assert stat.S_IMODE(own.data.stat().st_mode) == 0o700
    assert os.listdir(host.home)


def test_the_same_command_twice_makes_one_table(tableturn: CommandLine) -> None:
    """A command that was ended before the answer came is typed again."""
    line = ("new", "free-table", "--id", "twice-over", "--request-id", "new-1")
    first, again = tableturn.json(*line), tableturn.json(*line)
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["table"] == again["table"]
    assert tableturn.json("new", "free-table", "--id", "twice-over", "--if-absent")["table_id"]
