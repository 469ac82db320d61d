"""Which token a command uses: the host's, a seat's, or one that is dead; and what it says."""

import json
from pathlib import Path

import pytest

from tableturn_client.cli.exits import Exit
from tests.client.service import Service
from tests.client.test_cli import js as told
from tests.client.test_cli import ok, run
from tests.client.test_cli_people import Elsewhere, fails, fresh, new

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def server(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TABLETURN_SERVER", service.address)
    return service.address


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    return Elsewhere(tmp_path / "elsewhere", monkeypatch)


# ---------------------------------------------------------------- a private table


def test_the_hosts_machine_seats_people_at_a_private_table_without_its_code(
    elsewhere: Elsewhere,
) -> None:
    table_id, _ = new("--private")
    assert "Bob has seat 2" in ok("join", table_id, "Ann", "Bob")
    with elsewhere:
        err = fails(Exit.NOT_PERMITTED, "join", table_id, "Cleo")
        assert "tableturn join CODE NAME" in err
    ran = run("play", table_id, "--name", "Cleo", stdin="")
    assert ran.code == 0
    assert [seat["name"] for seat in told("show", table_id)["table"]["seats"]] == [
        "Ann",
        "Bob",
        "Cleo",
    ]


# ---------------------------------------------------------------- a seat that moved


@pytest.mark.case("S15")
def test_after_a_seat_has_moved_its_old_device_is_told_and_looks_on(elsewhere: Elsewhere) -> None:
    table_id, _ = new(seats=2)
    ok("join", table_id, "Ann")
    with elsewhere:
        ok("join", table_id, "Bob")
    code = told("code", table_id, "--device")["code"]
    with elsewhere:
        assert "Ann has seat 1" in ok("join", code)
    for looks in (("show",), ("log",), ("watch", "--count", "1")):
        ran = run(looks[0], table_id, *looks[1:])
        assert ran.code == 0, looks
        # It is said once: then the dead token is forgotten.
        assert ("seat 1 is played from another device now" in ran.err) is (looks[0] == "show")
        assert ran.out
    assert told("tables", "list", "--held")["tables"][0]["seats"] == []


@pytest.mark.parametrize(
    "acts",
    [
        ("confirm",),
        ("say", "hello"),
        ("back",),
        ("time", "add", "30s"),
        ("standin",),
        ("actions", "--seat", "1"),
        ("show", "--seat", "1"),
    ],
)
def test_whoever_acts_for_a_seat_that_moved_is_told_so(
    acts: tuple[str, ...], elsewhere: Elsewhere
) -> None:
    with elsewhere:  # the host's token is there
        table_id, _ = new("--clock", "10m + 0s", seats=2)
        ok("join", table_id, "Bob", "--seat", "2")
    ok("join", table_id, "Ann")
    code = told("code", table_id, "--device")["code"]
    with elsewhere:
        ok("join", code)
    words = 2 if acts[0] == "time" else 1
    command = [*acts[:words], table_id, *acts[words:]]
    err = fails(Exit.NOT_PERMITTED, *command)
    assert "seat 1 is played from another device now" in err
    held = told("tables", "list", "--held")["tables"]
    assert [table for table in held if table["table_id"] == table_id] == []


def test_play_on_the_old_device_looks_on(elsewhere: Elsewhere) -> None:
    table_id, _ = new(seats=2)
    ok("join", table_id, "Ann")
    with elsewhere:
        ok("join", table_id, "Bob")
    code = told("code", table_id, "--device")["code"]
    with elsewhere:
        ok("join", code)
        ok("concede", table_id, "--seat", "1", "--yes")  # so that looking on comes to an end
    ran = run("play", table_id, stdin="")
    assert "seat 1 is played from another device now" in ran.err
    assert ran.code == 0


def test_a_seat_code_says_whose_name_it_keeps(elsewhere: Elsewhere) -> None:
    table_id, _ = new(seats=2)
    ok("join", table_id, "Ann")
    code = told("code", table_id, "--device")["code"]
    with elsewhere:
        ran = run("join", code, "Dan")
        assert (ran.code, "keeps its name: Ann" in ran.err) == (0, True)


# ---------------------------------------------------------------- host and seat on one machine


def test_the_host_alone_may_speak() -> None:
    table_id, _ = new()
    assert "hello" in ok("say", table_id, "hello")
    assert told("chat", table_id)["lines"][0]["seat"] == 0


def test_what_was_said_is_in_the_answer_to_a_switch() -> None:
    table_id, _ = new()
    ok("say", table_id, "hello")
    switched = told("chat", table_id, "on")
    assert [line["text"] for line in switched["lines"]] == ["hello"]
    assert "hello" not in ok("chat", table_id, "on")


def test_where_all_must_agree_a_takeback_is_asked_with_the_seats_token(
    elsewhere: Elsewhere,
) -> None:
    table_id, _ = new("--takeback", "all", seats=2)
    ok("join", table_id, "Ann")
    with elsewhere:
        ok("join", table_id, "Bob")
    ok("confirm", table_id)
    assert told("takeback", table_id)["waiting_for"] == [2]


@pytest.mark.parametrize(
    "command",
    [
        ("vote-drop", "TABLE", "2"),
        ("rematch", "TABLE"),
        ("time", "add", "TABLE", "30s"),
        ("say", "TABLE", "hello"),
        ("act", "TABLE", "pass"),
    ],
)
def test_where_a_seats_token_is_enough_nobody_is_sent_for_the_hosts(
    command: tuple[str, ...], elsewhere: Elsewhere
) -> None:
    table_id, _ = new("--clock", "10m + 0s")
    with elsewhere:
        typed = [table_id if word == "TABLE" else word for word in command]
        err = fails(Exit.NOT_PERMITTED, *typed)
        assert "tableturn join" in err
        assert "host" not in err
        unknown = ["no-such-table" if word == "TABLE" else word for word in command]
        fails(Exit.NOT_FOUND, *unknown)


def test_a_seat_that_is_named_and_not_held(elsewhere: Elsewhere) -> None:
    table_id, _ = new()
    with elsewhere:
        err = fails(Exit.NOT_PERMITTED, "vote-drop", table_id, "2", "--seat", "1")
        assert "seat 1" in err
        assert "host" not in err


def test_the_machine_of_the_host_is_led_from_a_rematch_to_its_token(elsewhere: Elsewhere) -> None:
    table_id, _ = new(seats=2)
    with elsewhere:
        ok("join", table_id, "Ann", "Bob")
        ok("concede", table_id, "--seat", "1", "--yes")
        nxt = told("rematch", table_id, "--order", "rotated")["table_id"]
        assert "made before" not in ok("rematch", table_id)
        assert "It was made before" in ok("rematch", table_id, "--order", "loser-first")
    err = fails(Exit.NOT_PERMITTED, "host", nxt, "1")
    assert f"tableturn rematch {table_id}" in err
    ok("rematch", table_id)
    ok("host", nxt, "1")


# ---------------------------------------------------------------- what is typed wrong


@pytest.mark.parametrize("typed", ["K7QM-4XR", "OIL0-1111", "K7QM4XRDD", "K7Q-4XRD"])
def test_a_code_that_was_heard_wrong(typed: str) -> None:
    for command in ("join", "play"):
        err = fails(Exit.NOT_FOUND, command, typed)
        assert f"there is no code {typed}" in err
        assert "none of 0 O 1 I L U" in err


def test_a_seat_that_is_no_number() -> None:
    table_id, _ = new("--clock", "10m + 0s")
    err = fails(Exit.USAGE, "time", "add", table_id, "5s", "x")
    assert "'x' is no whole number" in err
    assert "'x' is no whole number" in fails(Exit.USAGE, "confirm", table_id, "--seat", "x")
    assert "1<=x<=1000" in fails(Exit.USAGE, "confirm", table_id, "--seat", "0")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--grace", "30s"), "--grace needs --absence"),
        (("--absence", "bot", "--grace", "0s"), "leaves nobody the time"),
        (("--clock", "3 days", "--absence", "bot"), "by correspondence nobody is ever away"),
        (("--clock", "400 days"), "by correspondence a turn has 1 hour to 60 days"),
        (("--clock", "25h per turn"), "a turn gets at most 1 day"),
        (("--clock", "8 days + 1m"), "a bank has at most 7 days"),
        (("--spectator-delay", "400 days"), "at most 366 days"),
    ],
)
def test_wishes_that_make_no_sense(options: tuple[str, ...], words: str) -> None:
    ran = run("new", "free-table", *options)
    assert (ran.code, ran.out) == (Exit.USAGE.value, "")
    assert words in ran.err


def test_a_table_that_counts_time_may_have_a_start_clock() -> None:
    table_id = fresh()
    ok("new", "free-table", "--id", table_id, "--clock", "count-up", "--start-clock", "5m")
    assert told("show", table_id)["table"]["clock"]["start"] == 300


# ---------------------------------------------------------------- what is shown


def test_what_was_agreed_stands_in_show_also_while_the_game_runs() -> None:
    table_id, _ = new("--clock", "15m + 10s", "--time-up", "drop", "--absence", "bot", seats=2)
    ok("join", table_id, "Ann", "Bob")
    out = ok("show", table_id)
    assert "Clock: 15:00 for the game, and 0:10 more with each turn; then the seat" in out
    assert "After 2 min, a bot plays on for who is away." in out


def test_time_show_tells_the_start_clock_apart_and_who_plays() -> None:
    table_id, _ = new("--clock", "10m + 0s", "--start-clock", "5m", seats=2)
    ok("join", table_id, "Ann", "Bob")
    ok("standin", table_id, "--seat", "2")
    out = ok("time", "show", table_id)
    assert "10:00 +" in out  # Ann's, and what is left of the start clock
    assert "plays on for them" in next(line for line in out.splitlines() if "seat 2" in line)
    seats = json.loads(ok("time", "show", table_id, "--json"))["seats"]
    assert 0 < seats[0]["start_left"] <= 300
    assert (seats[0]["stand_in"], bool(seats[1]["stand_in"])) == (None, True)
