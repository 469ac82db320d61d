"""The command line when something is wrong: one line on stderr, the documented exit code, and
nothing has changed."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.calls import Connection, check_sentence
from tests.e2e.processes import CommandLine, Ran, Service
from tests.e2e.scene import Scene, make_scene

pytestmark = pytest.mark.e2e

USAGE, NOT_FOUND, NOT_PERMITTED, NOT_NOW, STALE, UNAVAILABLE, FAULT = 2, 3, 4, 5, 6, 7, 70


@pytest.fixture(scope="module")
def scene(service: Service, connection: Connection) -> Scene:
    return make_scene(service, connection)


@dataclass
class Case:
    """A command line, in which TABLE stands for a table's id; who types it; and how it ends.

    `files` are there under their names while it runs, as FILE:name in the command.
    """

    line: list[str]
    code: int
    words: tuple[str, ...] = ()
    at: str = "running"
    who: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(word[:24] for word in self.line) + (f" ({self.at})" if self.who else "")


def case(code: int, *line: str, words: tuple[str, ...] = (), at: str = "running", who: str = "",
         **files: bytes) -> Case:  # fmt: skip
    return Case(list(line), code, words, at, who, files)


HALF = b'{"format": "tableturn-table", "version": 1, "making": {'
WRONG_SHAPE = b'{"format": "tableturn-table", "version": 1, "sha256": 5}'
CASES = [
    # No such thing.
    case(NOT_FOUND, "show", "no-such-table", words=("no-such-table",)),
    case(NOT_FOUND, "join", "no-such-table", "Eve"),
    case(NOT_FOUND, "new", "chess", words=("free-table",)),
    case(NOT_FOUND, "new", "eastern-wonders", "--option", "dragons=yes", words=("dragons",)),
    case(NOT_FOUND, "join", "TABLE", "Eve", "--seat", "9", at="lobby"),
    # Without the right.
    case(NOT_PERMITTED, "act", "TABLE", "pass", words=("tableturn join",)),
    case(NOT_PERMITTED, "act", "TABLE", "score 1 for seat 2", "--seat", "1", who="bob"),
    case(USAGE, "confirm", "TABLE", "--token", "short", words=("16 to 256",)),
    case(NOT_PERMITTED, "export", "TABLE", who="host", words=("hidden",)),
    case(NOT_PERMITTED, "show", "TABLE", at="guarded", words=("watch token",)),
    # Not now.
    case(NOT_NOW, "join", "TABLE", "Eve", "--seat", "1", at="lobby", words=("free seats: 2",)),
    case(NOT_NOW, "act", "TABLE", "move C3", who="ann"),
    case(NOT_NOW, "act", "TABLE", "score 1 for seat 2", "then", "score 1 for seat 7", who="ann",
         words=("action 2",)),
    case(NOT_NOW, "act", "TABLE", "score 1 for seat 2", at="over", who="ann", words=("over",)),
    case(NOT_NOW, "act", "TABLE", "play M01", at="cards", who="ann", words=("S1, S2",)),
    case(NOT_NOW, "act", "TABLE", "acquire S1", at="cards", who="ann", words=("card",)),
    case(NOT_NOW, "new", "free-table", "--id", "TABLE", words=("already",)),
    # Too late, or too early.
    case(STALE, "confirm", "TABLE", "--expect", "1", at="staged", who="ann", words=("look again",)),
    case(STALE, "act", "TABLE", "score 1 for seat 2", "--expect", "1000000", who="ann"),
    # What can't be understood.
    case(USAGE, "act", "TABLE", "fly to the moon", who="ann"),
    case(USAGE, "act", "TABLE", "play", "M" * 17, at="cards", who="ann"),
    case(USAGE, "act", "TABLE", *["score 1 for seat 2"] * 1000, who="ann", words=("64",)),
    case(USAGE, "act", "TABLE", "pass", "--request-id", "x", who="ann", words=("--expect",)),
    case(USAGE, "join", "TABLE", "x" * 10_000, at="lobby", words=("at most 40",)),
    case(USAGE, "join", "TABLE", "\x1b[31mEve", at="lobby"),
    case(USAGE, "show", "../../etc/passwd"),
    case(USAGE, "new", "free-table", "--option", "points=maybe", words=("points",)),
    case(USAGE, "dance"),
    case(USAGE, "show", "TABLE", "--server", "nowhere:at:all"),
    # Files.
    case(USAGE, "import", "FILE:half", who="admin", words=("$",), half=HALF),
    case(USAGE, "import", "FILE:other", who="admin", words=("no export",), other=b'{"x": 1}'),
    case(USAGE, "import", "FILE:shape", who="admin", words=("sha256",), shape=WRONG_SHAPE),
    case(USAGE, "import", "FILE:large", who="admin", words=("16",), large=b" " * (17 << 20)),
    case(USAGE, "components", "check", "FILE:broken", broken=b"{'format': 1}"),
    case(USAGE, "components", "check", "FILE:large", words=("bytes",),
         large=b'{"format": 1, "game": "eastern-wonders", "note": "' + b"x" * (10 << 20) + b'"}'),
    case(USAGE, "components", "check", "FILE:deep", "--game", "eastern-wonders",
         deep=b'{"x":' * 100_000 + b"1" + b"}" * 100_000),
    case(USAGE, "components", "check", "FILE:few", words=("market_tiles",),
         few=b'{"format": 1, "game": "eastern-wonders", "name": "own", "market_tiles":'
         b' {"replace": true, "items": []}}'),
    case(USAGE, "new", "eastern-wonders", "--components", "FILE:broken", broken=b"{"),
    case(USAGE, "new", "eastern-wonders", "--components", "FILE:large", large=b" " * (10 << 20)),
]  # fmt: skip

MORE = [
    case(NOT_FOUND, "components", "show", "chess"),
    case(NOT_FOUND, "components", "template", "chess"),
    case(USAGE, "components", "template", "free-table", words=("without components",)),
    case(USAGE, "components", "template", "eastern-wonders", "-o", "/no/such/folder/file"),
    case(NOT_PERMITTED, "act", "TABLE", "pass", who="stranger"),
    case(NOT_PERMITTED, "start", "TABLE", at="full"),
    case(NOT_PERMITTED, "import", "FILE:it", it=b"{}"),
    case(USAGE, "act", "TABLE", "\x1b[31m", who="ann"),
    case(USAGE, "new", "free-table", "--id", "Not An Id"),
    case(USAGE, "import", "no-such-file", who="admin"),
    case(NOT_NOW, "undo", "TABLE", who="ann"),
    case(NOT_NOW, "join", "TABLE", "Eve", at="over", words=("over",)),
    case(NOT_FOUND, "log", "no-such-table"),
    case(NOT_FOUND, "watch", "no-such-table"),
    case(NOT_FOUND, "rules", "chess"),
    case(NOT_FOUND, "show", "TABLE", "--seat", "9", who="ann"),
    case(NOT_FOUND, "act", "no-such-table", "pass", who="ann"),
    case(NOT_PERMITTED, "start", "TABLE", at="full", who="ann"),
    case(NOT_PERMITTED, "import", "FILE:it", who="host", it=b"{}"),
    case(NOT_PERMITTED, "export", "TABLE", words=("admin",)),
    case(NOT_PERMITTED, "takeback", "TABLE", at="never", who="host"),
    case(NOT_NOW, "join", "TABLE", "Eve", at="full"),
    case(NOT_NOW, "act", "TABLE", "score 1 for seat 2", at="paused", who="ann"),
    case(NOT_NOW, "act", "TABLE", "score 1 for seat 2", at="full", who="ann"),
    case(NOT_NOW, "confirm", "TABLE", who="bob"),
    case(NOT_NOW, "act", "TABLE", "claim P99", at="cards", who="ann"),
    case(NOT_NOW, "act", "TABLE", "put red on M12", at="cards", who="ann"),
    case(NOT_NOW, "act", "TABLE", "rest", at="cards", who="ann"),
    case(NOT_NOW, "act", "TABLE", "harvest", at="cards", who="ann"),
    case(NOT_NOW, "confirm", "TABLE", at="cards", who="ann", words=("take an action",)),
    case(NOT_NOW, "act", "TABLE", "acquire M99", at="sand", who="ann"),
    case(NOT_NOW, "takeback", "TABLE", who="host"),
    case(NOT_NOW, "start", "TABLE", who="host"),
    case(NOT_NOW, "start", "TABLE", at="lobby", who="host"),
    case(STALE, "undo", "TABLE", "--expect", str(2**63 - 1), at="staged", who="ann"),
    case(USAGE, "act", "TABLE", "score many for seat 2", who="ann"),
    case(USAGE, "act", "TABLE", "x" * 10_000, who="ann"),
    case(USAGE, "act", "TABLE", "play", at="cards", who="ann"),
    case(USAGE, "act", "TABLE", "acquire \u041c12", at="cards", who="ann"),
    case(USAGE, "act", "TABLE", "acquire M\u0661\u0662", at="cards", who="ann"),
    case(USAGE, "act", "TABLE", "acquire ../M12", at="cards", who="ann"),
    case(USAGE, "act", "TABLE", "put pink on M12", at="cards", who="ann"),
    case(USAGE, "act", "TABLE"),
    case(USAGE, "act", "TABLE", "pass", "--expect", "soon", who="ann"),
    case(USAGE, "join", "TABLE", "E\nve", at="lobby"),
    case(USAGE, "join", "TABLE", "\u202eevE", at="lobby"),
    case(USAGE, "join", "TABLE", " ", at="lobby"),
    case(USAGE, "join", "TABLE", "Eve", "--seat", "0", at="lobby"),
    case(USAGE, "new", "free-table", "--option", "points"),
    case(USAGE, "new", "free-table", "--seed", "xyz"),
    case(USAGE, "new", "free-table", "--seats", "9"),
    case(USAGE, "new", "free-table", "--title", "x" * 61),
    case(USAGE, "show", "TABLE", "--loudly"),
    case(USAGE, "show"),
    case(USAGE, "import", "/", who="admin"),
    case(USAGE, "import", "FILE:empty", who="admin", empty=b""),
    case(USAGE, "import", "FILE:it", "--admin-token-file", "no-such-file", it=b"{}"),
    case(USAGE, "components", "check", "FILE:none", none=b""),
]  # fmt: skip
"""Much like the ones above; each command takes a third of a second."""


def run(told: Case, scene: Scene, tableturn: CommandLine, tmp_path: Path, *more: str) -> Ran:
    """Type the command of a case."""
    table = scene.tables[told.at]
    line = []
    for word in told.line:
        if word == "TABLE":
            word = table.table_id
        elif word.startswith("FILE:"):
            path = tmp_path / word.removeprefix("FILE:")
            path.write_bytes(told.files[path.name])
            word = str(path)
        line.append(word)
    if told.who:
        line += ["--token", scene.token(told.who, table)]
    return tableturn(*line, *more)


@pytest.mark.parametrize(
    "told", [*CASES, *(pytest.param(one, marks=pytest.mark.nightly) for one in MORE)], ids=str
)
def test_what_is_wrong_is_said_on_one_line(
    scene: Scene, tableturn: CommandLine, tmp_path: Path, told: Case
) -> None:
    table = scene.tables[told.at]
    before = scene.state(table)
    ran = run(told, scene, tableturn, tmp_path)
    assert ran.code == told.code, ran
    assert ran.out == "", ran
    assert ran.err.startswith("tableturn: "), ran
    assert ran.err.count("\n") == 1, ran
    sentence = ran.err.removeprefix("tableturn: ").removesuffix("\n")
    check_sentence(sentence)
    for words in told.words:
        assert words in sentence, ran
    assert scene.state(table) == before
    assert not [token for token in tableturn.tokens() if token in ran.err]


JSON_CASES = [
    (CASES[0], "not-found", "UNKNOWN_TABLE"),
    (case(NOT_PERMITTED, "act", "TABLE", "pass", who="stranger"), "not-permitted", "BAD_TOKEN"),
    (case(NOT_NOW, "act", "TABLE", "move C3", who="ann"), "not-now", "ILLEGAL_ACTION"),
    (case(STALE, "confirm", "TABLE", "--expect", "1", at="staged", who="ann"), "stale",
     "STALE_REVISION"),
    (case(USAGE, "act", "TABLE", "fly", who="ann"), "usage", None),
    (case(USAGE, "import", "FILE:half", who="admin", half=HALF), "usage", "BAD_IMPORT"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "kind", "reason"), JSON_CASES, ids=str)
def test_what_is_wrong_can_be_read_by_programs(
    scene: Scene,
    tableturn: CommandLine,
    tmp_path: Path,
    told: Case,
    kind: str,
    reason: str | None,
) -> None:
    ran = run(told, scene, tableturn, tmp_path, "--json")
    assert ran.code == told.code
    assert ran.out == ""
    error = json.loads(ran.err)["error"]
    assert (error["kind"], error["exit_code"], error["reason"]) == (kind, told.code, reason)
    check_sentence(error["sentence"])
    if reason == "STALE_REVISION":
        view = scene.tables[told.at].view()
        assert error["revision"] == error["asked_at"] == view.revision
    if reason == "ILLEGAL_ACTION":
        assert error["index"] == 0
    if reason == "BAD_IMPORT":
        assert error["place"] == "$"


# -- where no Tableturn is -------------------------------------------------------------------


@pytest.fixture
def web_server() -> Iterator[str]:
    """Something else that listens: it answers everything with an old kind of HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        end = threading.Event()

        def serve() -> None:
            while not end.is_set():
                try:
                    peer, _ = listener.accept()
                except TimeoutError:
                    continue
                with peer:
                    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            end.set()
            serving.join()


def test_where_nobody_answers(tableturn: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ran = tableturn("games", "--server", f"127.0.0.1:{port}", "--timeout", "2")
    assert (ran.code, ran.out) == (UNAVAILABLE, "")
    assert ran.err.startswith("tableturn: no server answers at 127.0.0.1:")
    assert "tableturn serve" in ran.err
    assert ran.err.count("\n") == 1


def test_where_somebody_else_answers(tableturn: CommandLine, web_server: str) -> None:
    ran = tableturn("games", "--server", web_server, "--timeout", "2")
    assert (ran.code, ran.out) == (FAULT, "")
    assert "is not a Tableturn service" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"tokens": [{"server": 1}]}', b"\xff"])
def test_a_store_of_tokens_that_is_damaged(
    scene: Scene, tableturn: CommandLine, content: bytes
) -> None:
    tableturn.home.mkdir()
    path = tableturn.home / "tokens.json"
    path.write_bytes(content)
    ran = tableturn("act", scene.tables["running"].table_id, "pass")
    assert (ran.code, ran.out) == (USAGE, "")
    assert str(path) in ran.err
    assert ran.err.count("\n") == 1
    assert path.read_bytes() == content
