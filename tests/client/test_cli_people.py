"""Commands about time, people, codes and talk, against the real service."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tableturn_client.cli.exits import Exit
from tests.client.service import Service, until
from tests.client.test_cli import js as told
from tests.client.test_cli import ok, run
from tests.client.test_play import Screen

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def server(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TABLETURN_SERVER", service.address)
    return service.address


_NUMBER = iter(range(10_000))


def fails(exit: Exit, *arguments: str) -> str:
    """What a command says that can't be done; one line, and nothing else."""
    ran = run(*arguments)
    assert (ran.code, ran.out) == (exit.value, ""), ran
    assert ran.err.count("\n") == 1
    return ran.err


def fresh() -> str:
    return f"people-{os.getpid()}-{next(_NUMBER)}"


def new(*options: str, seats: int = 3) -> tuple[str, str]:
    """A free table whose first seat begins; its id and its code."""
    table_id = fresh()
    made = told(
        "new", "free-table", "--id", table_id, "--seats", str(seats), "--start-when-full",
        "--option", "first_seat=1", *options,
    )  # fmt: skip
    assert isinstance(made["join_code"], str)
    return table_id, made["join_code"]


def seat_of(table_id: str, number: int, *options: str) -> Any:
    seats = told("show", table_id, *options)["table"]["seats"]
    return next(seat for seat in seats if seat["seat"] == number)


class Elsewhere:
    """Another machine: what is held there is not held here."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = str(folder)
        self._patch = monkeypatch

    def __enter__(self) -> None:
        self._here = os.environ["TABLETURN_HOME"]
        self._patch.setenv("TABLETURN_HOME", self._folder)

    def __exit__(self, *_: object) -> None:
        self._patch.setenv("TABLETURN_HOME", self._here)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    return Elsewhere(tmp_path / "elsewhere", monkeypatch)


# ---------------------------------------------------------------- making a table


@pytest.mark.parametrize(
    ("clock", "sent"),
    [
        ("90s per turn", {"kind": "per_turn", "bank": 0, "step": 90}),
        ("15m + 10s", {"kind": "increment", "bank": 900, "step": 10}),
        ("15m delay 5s", {"kind": "delay", "bank": 900, "step": 5}),
        ("3 days", {"kind": "correspondence", "bank": 0, "step": 259_200}),
        ("count-up", {"kind": "count_up", "bank": 0, "step": 0}),
    ],
)
def test_a_clock_as_it_is_typed(clock: str, sent: dict[str, Any]) -> None:
    table_id, _ = new("--clock", clock)
    has = told("show", table_id)["table"]["clock"]
    assert {name: has[name] for name in sent} == sent


def test_everything_that_can_be_chosen_about_time_and_people() -> None:
    table_id, _ = new(
        "--clock", "2m", "--time-up", "bot", "--start-clock", "5m", "--absence", "drop",
        "--grace", "30s", "--private", "--spectator-delay", "10m", "--host-stays",
    )  # fmt: skip
    view = told("show", table_id)["table"]
    assert (view["clock"]["timeout"], view["clock"]["start"]) == ("bot", 300)
    assert view["absence"] == {"policy": "drop", "grace": 30}
    assert (view["private"], view["spectator_delay"]) == (True, 600)
    out = ok("show", table_id)
    assert "Clock: 2:00 for each turn; then a bot plays on." in out
    assert "Private: others join with the code only." in out


def test_the_help_of_new_is_in_sections() -> None:
    out = ok("new", "--help")
    sections = ["Who plays:", "What is played:", "Time, and who is away:", "Who may see it:"]
    assert [out.index(title) for title in sections] == sorted(out.index(t) for t in sections)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--clock", "fast"), '"15m + 10s"'),
        (("--clock", "15"), '"90s per turn"'),
        (("--grace", "soon"), '"2m 30s"'),
        (("--time-up", "bot"), "need a --clock"),
        (("--clock", "count-up", "--time-up", "bot"), "is never up"),
        (("--clock", "none", "--start-clock", "1m"), "need a --clock"),
    ],
)
def test_what_makes_no_sense_is_told_with_examples(options: tuple[str, ...], words: str) -> None:
    err = fails(Exit.USAGE, "new", "free-table", *options)
    assert words in err


# ---------------------------------------------------------------- codes


def test_new_says_how_others_join() -> None:
    out = ok("new", "free-table", "--seats", "2")
    assert "Join with: tableturn join" in out
    assert "Or by the code: tableturn join" in out
    private = ok("new", "free-table", "--seats", "2", "--private")
    assert "Private; others join with: tableturn join" in private
    assert "\nJoin with:" not in private


@pytest.mark.parametrize("typed", [str.upper, str.lower, lambda code: code.replace("-", "")])
def test_joining_by_a_code(typed: Any, elsewhere: Elsewhere) -> None:
    table_id, code = new("--private")
    with elsewhere:
        assert told("join", typed(code), "Bob")["table_id"] == table_id
        assert "Bob" in ok("show", table_id)
        fails(Exit.NOT_PERMITTED, "show", table_id, "--spectator")
    assert seat_of(table_id, 1)["name"] == "Bob"


def test_nobody_sits_down_at_a_private_table_without_the_code(elsewhere: Elsewhere) -> None:
    table_id, code = new("--private")
    with elsewhere:
        fails(Exit.NOT_PERMITTED, "join", table_id, "Bob")
    renewed = told("code", table_id, "--renew")["code"]
    assert renewed != code
    with elsewhere:
        assert "for nothing" in fails(Exit.NOT_FOUND, "join", code, "Bob")
        ok("join", renewed, "Bob")


def test_a_table_whose_id_could_be_a_code_is_that_table(elsewhere: Elsewhere) -> None:
    table_id = "game-2222"
    ok("new", "free-table", "--id", table_id, "--seats", "2", "--if-absent")
    with elsewhere:
        ok("join", table_id, "Ann")
    assert seat_of(table_id, 1)["name"] == "Ann"
    fails(Exit.NOT_FOUND, "join", "game-9999", "Ann")


@pytest.mark.case("S15")
def test_a_seat_moves_to_another_device(elsewhere: Elsewhere) -> None:
    table_id, _ = new(seats=2)
    ok("join", table_id, "Ann", "Bob")
    code = told("code", table_id, "--device", "--seat", "1")["code"]
    with elsewhere:
        out = ok("join", code)
        assert f"Ann has seat 1 (red) at the table {table_id}." in out
        ok("confirm", table_id)  # Ann's turn, from there
        assert "for nothing" in fails(Exit.NOT_FOUND, "join", code)
    fails(Exit.NOT_PERMITTED, "undo", table_id, "--seat", "1")


def test_options_of_code_that_exclude_each_other() -> None:
    fails(Exit.USAGE, "code", "harbour", "--device", "--renew")
    fails(Exit.USAGE, "code", "harbour", "--seat", "2")


# ---------------------------------------------------------------- time and people


def test_more_time() -> None:
    table_id, _ = new("--clock", "10m + 0s")
    ok("join", table_id, "Ann", "Bob", "Cleo")
    assert "30s more for seat 2" in ok("time", "add", table_id, "30s", "2")
    clocks = told("time", "show", table_id)
    assert [seat["left"] for seat in clocks["seats"][1:]] == [630, 600]
    assert clocks["seats"][0]["clock"]["running"]
    assert 0 < clocks["seats"][0]["left"] <= 600
    out = ok("time", "show", table_id)
    assert "Clock: 10:00 for the game." in out
    assert "Bob" in out
    assert "10:30" in out
    ok("time", "add", table_id, "1m")
    assert told("time", "show", table_id)["seats"][2]["left"] == 660
    plain_, _ = new()
    ok("join", plain_, "Ann", "Bob", "Cleo")
    assert "no time runs out" in fails(Exit.NOT_NOW, "time", "add", plain_, "30s")
    assert "There is no clock at this table." in ok("time", "show", plain_)


def test_a_bot_plays_on_until_somebody_is_back() -> None:
    table_id = fresh()
    ok("new", "spice-road", "--id", table_id, "--seats", "2", "--start-when-full")
    ok("join", table_id, "Ann", "Bob")
    assert f"tableturn back {table_id}" in ok("standin", table_id, "random", "--seat", "1")
    assert seat_of(table_id, 1)["stand_in"] == "random"
    ok("back", table_id, "--seat", "1")
    assert seat_of(table_id, 1)["stand_in"] == ""
    fails(Exit.NOT_FOUND, "standin", table_id, "nobody", "--seat", "1")
    fails(Exit.USAGE, "back", table_id)  # of two seats held here, neither is meant


def test_a_vote() -> None:
    table_id, _ = new()
    ok("join", table_id, "Ann", "Bob", "Cleo")
    assert "seat 3" in ok("vote-drop", table_id, "2", "--seat", "1")
    assert "seat 2 to stay" in ok("vote-drop", table_id, "2", "--seat", "1", "--withdraw")
    assert told("show", table_id)["table"]["drop_votes"] == []
    told_ = told("vote-drop", table_id, "2", "--seat", "1")
    assert told_["waiting_for"] == [3]
    assert "Seat 2 is out of the game." in ok("vote-drop", table_id, "2", "--seat", "3")
    assert seat_of(table_id, 2)["dropped"]


@pytest.mark.case("C8")
def test_the_hosts_duties_are_handed_on(elsewhere: Elsewhere) -> None:
    table_id, code = new(seats=2)
    with elsewhere:
        ok("join", code, "Ann")
        fails(Exit.NOT_PERMITTED, "start", table_id)
    ok("join", table_id, "Bob")
    ok("host", table_id, "1")
    assert told("show", table_id)["table"]["host_seat"] == 1
    fails(Exit.NOT_PERMITTED, "mute", table_id, "1")  # the token of the host before
    with elsewhere:  # the seat's token is the host's now, and is found by itself
        assert told("mute", table_id, "2")["muted"] == [2]
        ok("host", table_id, "2")
    assert told("unmute", table_id, "2")["muted"] == []


# ---------------------------------------------------------------- talk


def test_talk() -> None:
    table_id, _ = new(seats=2)
    assert ok("chat", table_id) == "Nothing was said.\n"
    ok("join", table_id, "Ann", "Bob")
    assert ok("say", table_id, "hello", "all", "--seat", "1") == "1 Ann: hello all\n"
    ok("say", table_id, "hi", "--seat", "2", "--request-id", "one")
    ok("say", table_id, "hi", "--seat", "2", "--request-id", "one")  # once
    chat = told("chat", table_id)
    assert [(line["seat"], line["text"]) for line in chat["lines"]] == [(1, "hello all"), (2, "hi")]
    assert (chat["mode"], chat["muted"]) == ("seats", [])
    assert ok("chat", table_id, "--after", "1") == "2 Bob: hi\n"
    assert ok("mute", table_id, "2") == "Muted: seat 2.\n"
    assert "muted" in fails(Exit.NOT_PERMITTED, "say", table_id, "hm", "--seat", "2")
    assert ok("unmute", table_id, "2") == "Nobody is muted.\n"
    assert ok("chat", table_id, "off") == "Talking is off.\n"
    assert "off" in fails(Exit.NOT_PERMITTED, "say", table_id, "hm", "--seat", "2")
    assert ok("chat", table_id, "on") == "Talking is on.\n"


# ---------------------------------------------------------------- again


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("same", ["Ann", "Bob", "Cleo"]),
        ("rotated", ["Bob", "Cleo", "Ann"]),
    ],
)
def test_after_a_rematch_the_tokens_open_the_seats_of_their_people(
    order: str, names: list[str]
) -> None:
    table_id, _ = new()
    ok("join", table_id, "Ann", "Bob", "Cleo")
    ok("act", table_id, "finish game", "--confirm")
    again = told("rematch", table_id, "--order", order)
    assert [one["name"] for one in again["seats"]] == names
    next_table = again["table_id"]
    for number, name in enumerate(names, 1):
        seen = told("show", next_table, "--seat", str(number))["table"]
        assert (seen["viewer"], seen["seats"][number - 1]["name"]) == (number, name)
    # Whoever asks later learns the same, and nothing is held twice.
    later = told("rematch", table_id, "--order", "same")
    assert later["seats"] == again["seats"]


# ---------------------------------------------------------------- a screen


@pytest.fixture
def screens(service: Service, home: Path) -> Iterator[Any]:
    running = []

    def at(*arguments: str) -> Screen:
        screen = Screen(service, home, *arguments)
        running.append(screen)
        return screen

    yield at
    for screen in running:
        screen.close()


@pytest.mark.case("C2")
def test_on_a_screen_the_clock_ticks_and_what_is_typed_stays(screens: Any) -> None:
    table_id, _ = new("--clock", "10m + 0s", seats=2)
    ok("join", table_id, "Ann", "Bob")
    ann = screens(table_id)
    ann.expect("YOUR TURN")
    ann.expect("▶ 1 Ann ")
    os.write(ann._own, b"say half a sen")
    ann.expect("say half a sen")
    typed = len(ann.written)
    until(lambda: len(re.findall(r"\d", ann.written[typed:])) >= 3)  # the clock goes on
    ann.type("tence")
    ann.expect("1 Ann: half a sentence")
    ann.type("q")
    assert ann.ends() == 0


def test_people_talk_and_let_a_bot_play_from_a_screen(screens: Any) -> None:
    table_id = fresh()
    ok("new", "spice-road", "--id", table_id, "--seats", "2", "--start-when-full", "--clock", "5m")
    ok("join", table_id, "Ann", "Bob")
    screen = screens(table_id, "--seat", "1")
    screen.expect("Spice Road")
    screen.type("say hello")
    screen.expect("1 Ann: hello")
    screen.type("let bot play")
    screen.expect("type back to play on")
    screen.type("back")
    screen.expect("is back and plays on")
    screen.type("q")
    assert screen.ends() == 0


def test_playing_at_a_private_table_by_its_code(screens: Any, elsewhere: Elsewhere) -> None:
    table_id, code = new("--private", seats=3)
    ann = screens(code, "--name", "Ann")
    ann.expect(f"Others join with: tableturn play {code}")
    with elsewhere:
        assert told("join", code.lower(), "Bob")["table_id"] == table_id
    ann.expect("Bob takes seat 2")
    ann.type("q")
    assert ann.ends() == 0
    again = screens(code)  # the seat is held here, and taken again
    again.expect("Ann (you)")
    again.type("q")
    assert again.ends() == 0


def test_json_of_a_watch_with_company(service: Service) -> None:
    table_id, _ = new(seats=2)
    ok("join", table_id, "Ann", "Bob")
    out = run("watch", table_id, "--seat", "1", "--company", "--json", "--count", "2").out
    first, second = (json.loads(line) for line in out.splitlines())
    assert [first["event"], second["event"]] == ["snapshot", "presence"]
    states = {seat["seat"]: seat["state"] for seat in second["presence"]["seats"]}
    assert states[1] == "here"
