"""The tokens on this machine: private, whole, and not lost by commands at the same time."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tableturn_client.address import read_address
from tableturn_client.credentials import Credential, Credentials, StoreUnusable, home

HERE = read_address("localhost")
AWAY = read_address("192.168.0.5")
ANN = Credential("localhost:7430", "harbour", "seat", "secret-ann", seat=1, name="Ann")
BOB = replace(ANN, token="secret-bob", seat=2, name="Bob")
HOST = replace(ANN, scope="host", token="secret-host", seat=0, name="")


@pytest.fixture
def store(tmp_path: Path) -> Credentials:
    return Credentials(tmp_path / "state" / "tokens.json")


def test_what_is_put_is_found(store: Credentials) -> None:
    for credential in (BOB, ANN, HOST):
        store.put(credential)
    assert store.seats(HERE, "harbour") == (ANN, BOB)
    assert store.seats(AWAY, "harbour") == ()
    assert store.host(HERE, "harbour") == HOST
    assert store.watcher(HERE, "harbour") is None
    assert store.tables(HERE) == ("harbour",)
    store.drop(ANN)
    assert store.seats(HERE, "harbour") == (BOB,)


def test_only_its_owner_can_read_it(store: Credentials) -> None:
    mask = os.umask(0)
    try:
        store.put(ANN)
    finally:
        os.umask(mask)
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_seat_taken_anew_replaces_the_old_token(store: Credentials) -> None:
    store.put(ANN)
    store.put(replace(ANN, token="newer"))
    assert [one.token for one in store.seats(HERE, "harbour")] == ["newer"]


def test_one_token_may_hold_two_seats(store: Credentials) -> None:
    store.put(ANN)
    store.put(replace(ANN, seat=2))
    assert [one.seat for one in store.seats(HERE, "harbour")] == [1, 2]


@pytest.mark.case("S7")
def test_what_was_begun_can_be_gone_on_with(store: Credentials) -> None:
    begun = replace(ANN, seat=0, pending="request-1")
    store.put(begun)
    assert store.seats(HERE, "harbour") == ()
    assert store.pending(HERE, "seat", table="harbour", name="Ann") == begun
    store.settle(begun, table="harbour", seat=3)
    assert store.pending(HERE, "seat", table="harbour", name="Ann") is None
    assert store.seats(HERE, "harbour") == (replace(ANN, seat=3),)


def test_commands_at_the_same_time_lose_nothing(store: Credentials) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tableturn_client.credentials import Credential, Credentials\n"
        "store = Credentials(Path(sys.argv[1])); n = int(sys.argv[2])\n"
        "for i in range(10):\n"
        "    store.put(Credential('localhost:7430', f't{n}', 'seat', f'{n}-{i}', seat=i + 1))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(store.path), str(n)]) for n in range(6)
    ]
    assert [one.wait(timeout=60) for one in running] == [0] * 6
    assert len(store.all()) == 60
    assert sorted(path.name for path in store.path.parent.iterdir()) == [
        "tokens.json",
        "tokens.lock",
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tokens": 3}', '{"tokens":[],"version":9}'])
def test_a_file_that_is_none_is_left_alone(store: Credentials, content: str) -> None:
    store.path.parent.mkdir()
    store.path.write_text(content)
    for change in (lambda: store.put(ANN), store.all):
        with pytest.raises(StoreUnusable):
            change()
    assert store.path.read_text() == content


def test_fields_of_a_later_version_do_no_harm(store: Credentials) -> None:
    store.put(ANN)
    file = json.loads(store.path.read_text())
    file["tokens"][0]["color"] = "red"
    store.path.write_text(json.dumps(file))
    assert store.all() == (ANN,)


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "own"))
    assert home() == tmp_path / "own"
    monkeypatch.delenv("TABLETURN_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert home() == tmp_path / "state" / "tableturn"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".local" / "state" / "tableturn"


PANEL = replace(ANN, scope="panel", token="secret-panel", seat=0, name="", uid=4711)


def test_panels_and_their_last_table(store: Credentials) -> None:
    store.put(PANEL)
    store.put(replace(PANEL, uid=4712, token="other"))
    store.put(replace(PANEL, table="evening", token="newer"))
    assert store.panel_of(HERE, "harbour", 4711) == PANEL
    assert store.panel_of(HERE, "harbour", 1) is None
    assert store.panel_of(AWAY, "harbour", 4711) is None
    assert store.last_table(HERE, 4711) == "evening"
    assert store.last_table(HERE, 4712) == "harbour"
    assert store.last_table(HERE, 1) == store.last_table(AWAY, 4711) == ""
    store.put(PANEL)  # the bridge is back at the first table
    assert store.last_table(HERE, 4711) == "harbour"
    store.put(replace(PANEL, token="changed"))
    assert [c.token for c in store.all() if c.uid == 4711] == ["newer", "changed"]
    assert store.seats(HERE, "harbour") == ()


def test_what_opens_a_table_opens_its_rematch(store: Credentials) -> None:
    for credential in (ANN, BOB, HOST, PANEL):
        store.put(credential)
    store.put(replace(ANN, seat=0, token="unsure", pending="not-answered"))
    mine = replace(BOB, table="next", token="sat-down-again")
    store.put(mine)
    for _ in range(2):
        store.carry_over(HERE, "harbour", "next", {ANN.seat: ANN.seat, BOB.seat: BOB.seat})
    assert store.seats(HERE, "next") == (replace(ANN, table="next"), mine)
    assert store.host(HERE, "next") == replace(HOST, table="next")
    assert store.panel_of(HERE, "next", 4711) == replace(PANEL, table="next")
    assert store.last_table(HERE, 4711) == "next"
    assert len([c for c in store.all() if c.table == "next"]) == 4
    # The old table is still open too.
    assert store.seats(HERE, "harbour") == (ANN, BOB)


def test_seats_that_moved_are_held_under_their_new_numbers(store: Credentials) -> None:
    for credential in (ANN, BOB):
        store.put(credential)
    store.carry_over(HERE, "harbour", "next", {ANN.seat: 3})
    assert store.seats(HERE, "next") == (replace(ANN, table="next", seat=3),)  # Bob has left
    assert store.seats(HERE, "harbour") == (ANN, BOB)


def test_this_machine_has_a_name_that_stays(store: Credentials, tmp_path: Path) -> None:
    name = store.machine()
    assert 8 <= len(name) <= 50
    assert name.isprintable()
    assert store.machine() == Credentials(store.path).machine() == name
    assert Credentials(tmp_path / "other" / "tokens.json").machine() != name
    kept = store.path.with_name("machine")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert store.all() == ()
    kept.write_bytes(b"\xff\0")  # damaged: a new name is better than none
    assert store.machine() not in (name, "")
    assert store.machine() == store.machine()


def test_many_bridges_at_once_agree_on_the_name_of_their_machine(store: Credentials) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tableturn_client.credentials import Credentials\n"
        "print(Credentials(Path(sys.argv[1])).machine())\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    assert len({one.communicate(timeout=60)[0] for one in running}) == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable):
        Credentials(tmp_path / "file" / "tokens.json").put(ANN)
