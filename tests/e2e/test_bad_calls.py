"""Calls that are refused: the status, the reason, the sentence; and nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from tableturn.v1 import actions_pb2, catalog_pb2, panel_pb2, panel_pb2_grpc, table_pb2
from tableturn.v1.actions_pb2 import Action
from tableturn.v1.errors_pb2 import ErrorReason
from tests.e2e.calls import (
    TIMEOUT,
    Code,
    Connection,
    action,
    bearer,
    check_sentence,
    digest,
    new_id,
    new_token,
    refusal_of,
    refused,
)
from tests.e2e.processes import Service
from tests.e2e.scene import Scene, make_scene
from tests.e2e.tables import Table

pytestmark = pytest.mark.e2e

TOKEN = digest(new_token())
NOW = -1
"""Stands for the table's revision."""
CODES = {
    "UNKNOWN_TABLE": Code.NOT_FOUND,
    "UNKNOWN_NAME": Code.NOT_FOUND,
    "TABLE_EXISTS": Code.ALREADY_EXISTS,
    "BAD_FIELD": Code.INVALID_ARGUMENT,
    "UNREADABLE_ACTION": Code.INVALID_ARGUMENT,
    "BAD_COMPONENTS": Code.INVALID_ARGUMENT,
    "BAD_IMPORT": Code.INVALID_ARGUMENT,
    "BAD_TOKEN": Code.UNAUTHENTICATED,
    "NOT_ALLOWED": Code.PERMISSION_DENIED,
    "STALE_REVISION": Code.ABORTED,
    **dict.fromkeys(
        (
            "SEAT_TAKEN", "TABLE_FULL", "NOT_STARTED", "ALREADY_STARTED", "GAME_OVER", "PAUSED",
            "NOT_ASKED", "ILLEGAL_ACTION", "CANNOT_CONFIRM", "NOTHING_TO_UNDO",
            "NOTHING_TO_TAKE_BACK", "PANEL_HELD", "GAME_RUNNING",
        ),
        Code.FAILED_PRECONDITION,
    ),
}  # fmt: skip
ELSEWHERE = {
    "LIMIT_REACHED", "STORE_UNAVAILABLE", "STORE_FULL", "SHUTTING_DOWN", "REQUEST_ID_REUSED",
    "PANEL_HELD",
}  # fmt: skip
"""Reasons that other tests are about."""


@dataclass
class Case:
    """A call of `who` at one of the scene's tables, why it is refused, and with which details."""

    label: str
    method: str
    at: str
    who: str
    fields: dict[str, Any]
    reason: str
    words: tuple[str, ...]
    details: dict[str, object]


CASES: list[Case] = []


def case(
    label: str,
    method: str,
    at: str,
    who: str,
    reason: str,
    /,
    *words: str,
    details: dict[str, object] | None = None,
    **fields: Any,
) -> None:
    CASES.append(Case(label, method, at, who, fields, reason, words, details or {}))


def field(name: str) -> dict[str, object]:
    return {"field": name}


# -- making tables

NEW: dict[str, Any] = {"game": "free-table", "seats": 2, "host_token_sha256": TOKEN, "table_id": ""}


def create(label: str, reason: str, /, *words: str, of: str = "", **fields: Any) -> None:
    case(
        label, "CreateTable", "running", "nobody", reason, *words,
        details=field(of) if of else None, **{**NEW, **fields},
    )  # fmt: skip


create("no game", "UNKNOWN_NAME", "there is no game", of="game", game="")
create("an unknown game", "UNKNOWN_NAME", "'chess'", "free-table", of="game", game="chess")
create("a game's name of 10,000", "UNKNOWN_NAME", of="game", game="x" * 10_000)
create("one seat", "BAD_FIELD", "2 to 8 seats, not 1", of="seats", seats=1)
create("nine seats", "BAD_FIELD", "not 9", of="seats", seats=9)
create("four thousand million seats", "BAD_FIELD", of="seats", seats=2**32 - 1)
create("an unknown option", "UNKNOWN_NAME", "no option 'colour'", of="options",
       options={"colour": "red"})  # fmt: skip
create("a value that an option has not", "BAD_FIELD", of="options", options={"points": "maybe"})
create("a huge option", "BAD_FIELD", of="options", options={"rounds": "9" * 10_000})
create("an option with a control character", "BAD_FIELD", of="options", options={"order": "\n"})
for table_id in ("ab", "UPPER", "-dash", "a" * 41, "two words", "../../etc", "caf\xe9", "x\x00y",
                 "a{b}c", "a" * 10_000):  # fmt: skip
    create(f"the id {table_id[:12]!a}", "BAD_FIELD", "3 to 40", of="table_id", table_id=table_id)
create("no host", "BAD_FIELD", of="host_token_sha256", host_token_sha256=b"")
create("half a host", "BAD_FIELD", "32 bytes, not 16", of="host_token_sha256",
       host_token_sha256=b"x" * 16)  # fmt: skip
create("half a watcher", "BAD_FIELD", of="watch_token_sha256", watch_token_sha256=b"x" * 16)
create("a long title", "BAD_FIELD", "at most 60", of="title", title="x" * 61)
create("a title of 10,000", "BAD_FIELD", "not 10000", of="title", title="x" * 10_000)
create("a title in two lines", "BAD_FIELD", "can't be seen", of="title", title="one\ntwo")
create("a short seed", "BAD_FIELD", "16 bytes, not 15", of="seed", seed=b"x" * 15)
create("a takeback of no kind", "BAD_FIELD", "policy 9", of="takeback", takeback=9)
create("components for no components", "BAD_COMPONENTS", component_set=b"{}")
create("no request id", "BAD_FIELD", of="request_id", request_id="")
create("a long request id", "BAD_FIELD", of="request_id", request_id="x" * 65)
create("an invisible request id", "BAD_FIELD", of="request_id", request_id="a\nb")
case("an id that is taken", "CreateTable", "running", "nobody", "TABLE_EXISTS", "already",
     **{**NEW, "table_id": None})  # fmt: skip
case("an id that is taken, if absent", "CreateTable", "running", "nobody", "TABLE_EXISTS",
     **{**NEW, "table_id": None, "if_absent": True, "seats": 3})  # fmt: skip

# -- sitting down and getting up


def sit(
    label: str, reason: str, /, *words: str, at: str = "lobby", of: str = "", **more: Any
) -> None:
    fields = {"name": "Eve", "token_sha256": TOKEN, **more}
    details = field(of) if of else {}
    case(label, "TakeSeat", at, "nobody", reason, *words, details=details, **fields)


sit(
    "a name of 10,000",
    "BAD_FIELD",
    "at most 40 characters, not 10000",
    of="name",
    name="x" * 10_000,
)
sit("a name of 41", "BAD_FIELD", of="name", name="x" * 41)
sit("no name", "BAD_FIELD", "name is missing", of="name", name="")
sit("a name of blanks", "BAD_FIELD", of="name", name="   ")
for unseen in ("A\nB", "A\x00", "\x1b[31mred", "\u202eevil", "\u200b", "a\u2028b", "\ufeff"):
    sit(f"the name {unseen!a}", "BAD_FIELD", "can't be seen", of="name", name=f"Eve{unseen}Eve")
sit("a seat that is taken", "SEAT_TAKEN", "seat 1 is taken", "free seats: 2", seat=1)
sit("a third seat of two", "UNKNOWN_NAME", "seats 1 to 2", of="seat", seat=3)
sit("the last seat of all", "UNKNOWN_NAME", of="seat", seat=2**32 - 1)
sit("any seat of a full table", "TABLE_FULL", at="full")
sit("a seat of a full table", "SEAT_TAKEN", "no seat is free", at="full", seat=2)
sit("a seat when it is over", "GAME_OVER", at="over")
sit("half a token", "BAD_FIELD", of="token_sha256", token_sha256=b"x" * 31)
sit("no request id for a seat", "BAD_FIELD", of="request_id", request_id="")

case("to get up for nobody", "LeaveSeat", "lobby", "nobody", "BAD_TOKEN")
case("to get up as a stranger", "LeaveSeat", "lobby", "stranger", "BAD_TOKEN")
case("to make another get up", "LeaveSeat", "running", "bob", "NOT_ALLOWED", "seat 1", seat=1)
case("to free what is free", "LeaveSeat", "lobby", "host", "BAD_FIELD", "nobody sits",
     details=field("seat"), seat=2)  # fmt: skip
case("to leave a fifth seat", "LeaveSeat", "lobby", "host", "UNKNOWN_NAME", seat=5)
case("to leave when it is over", "LeaveSeat", "over", "ann", "GAME_OVER")
case("to concede for another", "Concede", "running", "bob", "NOT_ALLOWED", seat=1)
case("to concede before the start", "Concede", "full", "ann", "NOT_STARTED")
case("to concede twice", "Concede", "dropped", "ann", "NOT_ASKED", "left the game already")
case("to concede when it is over", "Concede", "over", "ann", "GAME_OVER")

# -- the game as a whole

case("to start as a player", "StartGame", "full", "ann", "NOT_ALLOWED", "host's token")
case("to start as nobody", "StartGame", "full", "nobody", "BAD_TOKEN")
case("to start with free seats", "StartGame", "lobby", "host", "NOT_STARTED", "2 is still free")
case("to start again", "StartGame", "running", "host", "ALREADY_STARTED")
case("to start what is over", "StartGame", "over", "host", "ALREADY_STARTED")
case("to pause as a stranger", "PauseGame", "running", "stranger", "BAD_TOKEN")
case("to pause what hasn't begun", "PauseGame", "lobby", "host", "NOT_STARTED")
case("to pause what is over", "PauseGame", "over", "host", "GAME_OVER")
case("to go on as nobody", "ResumeGame", "paused", "nobody", "BAD_TOKEN")

# -- turns


def act(
    label: str,
    reason: str,
    /,
    *texts: str,
    at: str = "running",
    who: str = "ann",
    details: dict[str, object] | None = None,
    words: tuple[str, ...] = (),
    **more: Any,
) -> None:
    fields = {
        "actions": [action(text) for text in texts],
        "expected_revision": NOW,
        "confirm": not texts,
        **more,
    }
    case(label, "Act", at, who, reason, *words, details=details, **fields)


act("before the start", "NOT_STARTED", "score 1 for seat 2", at="full")
act("when it is over", "GAME_OVER", "score 1 for seat 2", at="over")
act("in a pause", "PAUSED", "score 1 for seat 2", at="paused", words=("resume",))
act("without a token", "BAD_TOKEN", "score 1 for seat 2", who="nobody")
act("as a stranger", "BAD_TOKEN", "score 1 for seat 2", who="stranger")
act("as the host", "NOT_ALLOWED", "score 1 for seat 2", who="host")
act("as the admin", "BAD_TOKEN", "score 1 for seat 2", who="admin")
act("for another seat", "NOT_ALLOWED", "score 1 for seat 2", who="bob", seat=1)
act("for a ninth seat", "UNKNOWN_NAME", "score 1 for seat 2", seat=9, details=field("seat"))
act("out of turn", "NOT_ASKED", "score 1 for seat 2", who="bob", words=("seat 2",))
act("no revision", "BAD_FIELD", "score 1 for seat 2", expected_revision=0,
    details=field("expected_revision"))  # fmt: skip
act("an old revision", "STALE_REVISION", "score 1 for seat 2", at="staged", expected_revision=1)
act("the next revision", "STALE_REVISION", "score 1 for seat 2", expected_revision=NOW - 1)
act("the last revision of all", "STALE_REVISION", "score 1 for seat 2",
    expected_revision=2**64 - 1)  # fmt: skip
act("nothing at all", "BAD_FIELD", confirm=False, details=field("actions"))
act("an action of no kind", "UNREADABLE_ACTION", actions=[Action()], details={"index": 0})
act("a second action of no kind", "UNREADABLE_ACTION", details={"index": 1},
    actions=[action("score 1 for seat 2"), Action()])  # fmt: skip
act("an action of the future", "UNREADABLE_ACTION", details={"index": 0},
    actions=[Action.FromString(b"\xca\x0c\x02\x08\x01")])  # fmt: skip
act("an action of another game", "ILLEGAL_ACTION", "move C3", details={"index": 0})
act("a second action that isn't legal", "ILLEGAL_ACTION", "score 1 for seat 2",
    "score 1 for seat 3", details={"index": 1})  # fmt: skip
act("too many points", "ILLEGAL_ACTION", details={"index": 0},
    actions=[Action(score_points=actions_pb2.ScorePoints(seat=2, points=2**31 - 1))])  # fmt: skip
act("points for seat 0", "UNREADABLE_ACTION", details={"index": 0},
    actions=[Action(score_points=actions_pb2.ScorePoints(points=1))])  # fmt: skip
act("65 actions", "BAD_FIELD", *["score 1 for seat 2"] * 65, words=("64",),
    details=field("actions"))  # fmt: skip
act("1000 actions", "BAD_FIELD", *["score 1 for seat 2"] * 1000, details=field("actions"))
act("21 scores", "ILLEGAL_ACTION", *["score 1 for seat 2"] * 21, details={"index": 20})
act("too early a confirmation", "CANNOT_CONFIRM", at="islands", who="asked", words=("yet",))
act("no request id for an action", "BAD_FIELD", "score 1 for seat 2", request_id="",
    details=field("request_id"))  # fmt: skip
act("no tile", "UNREADABLE_ACTION", at="islands", who="asked", details={"index": 0},
    actions=[Action(place_boat=actions_pb2.PlaceBoat())])  # fmt: skip
act("a tile that isn't there", "ILLEGAL_ACTION", at="islands", who="asked", details={"index": 0},
    actions=[Action(place_boat=actions_pb2.PlaceBoat(tile="Z99"))])  # fmt: skip
for tile in ("C3 ", "C3\n", "\x1b[2J", "C" * 10_000, "\u0663"):
    act(f"the tile {tile[:8]!a}", "UNREADABLE_ACTION", at="islands", who="asked",
        details={"index": 0}, actions=[Action(move=actions_pb2.Move(tile=tile))])  # fmt: skip
act("a cube of no colour", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(upgrade=actions_pb2.Upgrade())])  # fmt: skip
act("a cube of a ninth colour", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(upgrade=actions_pb2.Upgrade(cube=9))])  # type: ignore[arg-type]  # fmt: skip
act("a bonus of no kind", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(take_bonus=actions_pb2.TakeBonus(bonus=77))])  # type: ignore[arg-type]  # fmt: skip
MANY = actions_pb2.Cubes(yellow=2**32 - 1)
act("four thousand million cubes", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(pick_up=actions_pb2.PickUp(cubes=MANY))])  # fmt: skip
act("no card", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(play_card=actions_pb2.PlayCard())])  # fmt: skip
for card in ("M12 ", "M\n", "M" * 17, "\u041c12", "../M12"):
    act(f"the card {card[:8]!a}", "UNREADABLE_ACTION", at="cards", who="asked",
        details={"index": 0},
        actions=[Action(acquire_card=actions_pb2.AcquireCard(card=card))])  # fmt: skip
for text in ("play M01", "acquire S1", "claim M12", "acquire P07", "put red on M12", "rest",
             "take card M12", "trade 1", "harvest"):  # fmt: skip
    act(f"what the cards don't allow: {text}", "ILLEGAL_ACTION", text, at="cards", who="asked",
        details={"index": 0})  # fmt: skip
act("a card in small letters", "ILLEGAL_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(play_card=actions_pb2.PlayCard(card="s1"))])  # fmt: skip
RED = actions_pb2.CUBE_COLOR_RED
for kind in ("play_card", "claim_card", "take_card"):
    message = getattr(actions_pb2, kind.title().replace("_", ""))
    act(f"a long card: {kind}", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
        actions=[Action(**{kind: message(card="M" * 17)})])  # fmt: skip
act("a cube on no card", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(put_cube=actions_pb2.PutCube(cube=RED))])  # fmt: skip
act("a cube of no colour on a card", "UNREADABLE_ACTION", at="cards", who="asked",
    details={"index": 0}, actions=[Action(put_cube=actions_pb2.PutCube(card="M12"))])  # fmt: skip
act("a step with a card that can't be read", "UNREADABLE_ACTION", at="sand", who="asked",
    details={"index": 0}, actions=[Action(move=actions_pb2.Move(tile="C3", card="m 1"))]
)  # fmt: skip
for text in ("move C3 with M12", "claim P07", "acquire M99", "play S1", "take card M01"):
    act(f"what the start doesn't allow: {text}", "ILLEGAL_ACTION", text, at="sand", who="asked",
        details={"index": 0})  # fmt: skip
act("a turn without an action", "CANNOT_CONFIRM", at="cards", who="asked",
    words=("take an action",))  # fmt: skip
act("a pile that isn't there", "ILLEGAL_ACTION", "take pile BBBB", at="islands", who="asked")

case("to undo nothing", "Undo", "running", "ann", "NOTHING_TO_UNDO", expected_revision=NOW)
case("to undo for another", "Undo", "staged", "bob", "NOT_ALLOWED", seat=1, expected_revision=NOW)
case("to undo in a pause", "Undo", "paused", "ann", "PAUSED", expected_revision=NOW)
case("to undo without a revision", "Undo", "staged", "ann", "BAD_FIELD",
     details=field("expected_revision"))  # fmt: skip
case("to undo an old question", "Undo", "staged", "ann", "STALE_REVISION", expected_revision=1)
case("to confirm out of turn", "Confirm", "running", "bob", "NOT_ASKED", expected_revision=NOW)
case("to confirm for another", "Confirm", "staged", "bob", "NOT_ALLOWED", seat=1,
     expected_revision=NOW)  # fmt: skip
case("to confirm without a revision", "Confirm", "staged", "ann", "BAD_FIELD",
     details=field("expected_revision"))  # fmt: skip
case("to confirm too early", "Confirm", "islands", "asked", "CANNOT_CONFIRM",
     expected_revision=NOW)  # fmt: skip
case("to take back nothing", "TakeBack", "running", "host", "NOTHING_TO_TAKE_BACK",
     expected_revision=NOW)  # fmt: skip
case("to take back as a player", "TakeBack", "running", "ann", "NOT_ALLOWED",
     expected_revision=NOW)  # fmt: skip
case("to take back where it isn't done", "TakeBack", "never", "host", "NOT_ALLOWED",
     expected_revision=NOW)  # fmt: skip
case("to take back what is over", "TakeBack", "over", "host", "GAME_OVER", expected_revision=NOW)
case("to take back an old turn", "TakeBack", "running", "host", "STALE_REVISION",
     expected_revision=1)  # fmt: skip
case("to take back a drop", "TakeBack", "dropped", "host", "NOTHING_TO_TAKE_BACK",
     expected_revision=NOW)  # fmt: skip

# -- looking

for method in ("GetTable", "WatchTable", "ListLog"):
    case(f"{method} as seat 1 without a token", method, "running", "nobody", "BAD_TOKEN", seat=1)
    case(f"{method} as another's seat", method, "running", "bob", "NOT_ALLOWED", seat=1)
    case(f"{method} as the host in a seat", method, "running", "host", "NOT_ALLOWED", seat=1)
    case(f"{method} as the admin in a seat", method, "running", "admin", "NOT_ALLOWED", seat=1)
    case(f"{method} as seat 9", method, "running", "ann", "UNKNOWN_NAME", seat=9)
    case(f"{method} behind a watch token", method, "guarded", "nobody", "BAD_TOKEN", "watch token")
    case(f"{method} with a wrong watch token", method, "guarded", "stranger", "BAD_TOKEN")
    case(f"{method} with a watch token in a seat", method, "guarded", "watcher", "NOT_ALLOWED",
         seat=2)  # fmt: skip
case("actions for nobody", "ListActions", "running", "nobody", "BAD_TOKEN")
case("actions for the host", "ListActions", "running", "host", "NOT_ALLOWED")
case("actions of another", "ListActions", "running", "bob", "NOT_ALLOWED", seat=1)
case("a page of nowhere", "ListTables", "running", "nobody", "BAD_FIELD",
     details=field("page_token"), page_token="nowhere")  # fmt: skip

# -- whole tables

case("an export for nobody", "ExportTable", "running", "nobody", "BAD_TOKEN")
case("an export for a stranger", "ExportTable", "running", "stranger", "BAD_TOKEN")
case("an export for a player", "ExportTable", "running", "ann", "NOT_ALLOWED", "admin's token")
case("an export for the host", "ExportTable", "running", "host", "NOT_ALLOWED", "hidden")
case("an export for a watcher", "ExportTable", "guarded", "watcher", "NOT_ALLOWED")
case("an export for a player at the end", "ExportTable", "over", "ann", "NOT_ALLOWED")
case("an import for nobody", "ImportTable", "running", "nobody", "BAD_TOKEN", document=b"{}")
case("an import for the host", "ImportTable", "running", "host", "NOT_ALLOWED", document=b"{}")
case("an import under a bad id", "ImportTable", "running", "admin", "BAD_FIELD",
     details=field("table_id"), table_id="Not An Id", document=b"{}")  # fmt: skip
case("an import without a request id", "ImportTable", "running", "admin", "BAD_FIELD",
     details=field("request_id"), request_id="", document=b"{}")  # fmt: skip
case("an import of nothing", "ImportTable", "running", "admin", "BAD_IMPORT", table_id="")

# -- bots, who confirms, the next table

case("no bot", "SeatBot", "lobby", "host", "UNKNOWN_NAME", "bots: ", details=field("bot"))
case("a bot of no such name", "SeatBot", "lobby", "host", "UNKNOWN_NAME", details=field("bot"),
     bot="x" * 10_000)  # fmt: skip
case("a bot by a player", "SeatBot", "lobby", "ann", "NOT_ALLOWED", "host's", bot="random")
case("a bot on no seat", "SeatBot", "lobby", "host", "UNKNOWN_NAME", details=field("seat"),
     bot="random", seat=3)  # fmt: skip
case("a bot on a taken seat", "SeatBot", "lobby", "host", "SEAT_TAKEN", bot="random", seat=1)
case("a bot at a full table", "SeatBot", "full", "host", "TABLE_FULL", bot="random")
case("a bot at the end", "SeatBot", "over", "host", "GAME_OVER", bot="random")
case("a bot with a bad name", "SeatBot", "lobby", "host", "BAD_FIELD", details=field("name"),
     bot="random", name="x" * 41)  # fmt: skip
case("a bot that confirms in no way", "SeatBot", "lobby", "host", "BAD_FIELD",
     details=field("confirmation"), bot="random", confirmation=9)  # fmt: skip
case("nobody confirms", "SetConfirmation", "running", "ann", "BAD_FIELD",
     details=field("confirmation"))  # fmt: skip
case("who confirms for another", "SetConfirmation", "running", "ann", "NOT_ALLOWED", seat=2,
     confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("who confirms on no seat", "SetConfirmation", "running", "host", "UNKNOWN_NAME", seat=3,
     details=field("seat"), confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("who confirms at the end", "SetConfirmation", "over", "ann", "GAME_OVER",
     confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("a rematch before the end", "Rematch", "running", "ann", "GAME_RUNNING")
case("a rematch before the start", "Rematch", "lobby", "host", "NOT_STARTED")
case("a rematch for nobody", "Rematch", "over", "nobody", "BAD_TOKEN")
case("a rematch for a stranger", "Rematch", "over", "stranger", "BAD_TOKEN")
case("a rematch without a request id", "Rematch", "over", "ann", "BAD_FIELD",
     details=field("request_id"), request_id="")  # fmt: skip

# -- every method of a table that isn't there

METHODS = table_pb2.DESCRIPTOR.services_by_name["TableService"].methods
for described in METHODS:
    if "table_id" not in described.input_type.fields_by_name or described.name in (
        "CreateTable",
        "ImportTable",
    ):
        continue
    needed: dict[str, Any] = {
        name: value
        for name, value in {
            "expected_revision": 1, "confirm": True, "name": "Eve", "token_sha256": TOKEN,
            "bot": "random", "confirmation": table_pb2.CONFIRMATION_EITHER,
        }.items()
        if name in described.input_type.fields_by_name
    }  # fmt: skip
    case(f"{described.name} at an unknown table", described.name, "running", "ann",
         "UNKNOWN_TABLE", "no-such-table", table_id="no-such-table", **needed)  # fmt: skip
    case(f"{described.name} at no table", described.name, "running", "ann", "BAD_FIELD",
         details=field("table_id"), table_id="", **needed)  # fmt: skip
    case(f"{described.name} at a table with a long name", described.name, "running", "ann",
         "BAD_FIELD", details=field("table_id"), table_id="x" * 10_000, **needed)  # fmt: skip


@pytest.fixture(scope="module")
def scene(service: Service, connection: Connection) -> Scene:
    return make_scene(service, connection)


def request_of(told: Case, table: Table) -> Any:
    """The request of a case, with what every request of its method has."""
    kind: Any = getattr(table_pb2, f"{told.method}Request")
    fields = {"table_id": table.table_id, "request_id": new_id()} | told.fields
    if fields["table_id"] is None:
        fields["table_id"] = table.table_id
    known = kind.DESCRIPTOR.fields_by_name
    fields = {name: value for name, value in fields.items() if name in known}
    expected = fields.get("expected_revision")
    if expected is not None and expected < 0:
        # NOW is the current revision, one less than that the next one.
        fields["expected_revision"] = table.revision + NOW - expected
    return kind(**fields)


@pytest.mark.parametrize("told", CASES, ids=lambda told: told.label)
def test_a_bad_call_is_refused_and_changes_nothing(scene: Scene, told: Case) -> None:
    table = scene.tables[told.at]
    who = told.who
    if who == "asked":
        who = ("ann", "bob")[table.view().prompts[0].seat - 1]
    token = scene.token(who, table)
    request = request_of(told, table)
    before = scene.state(table)
    stub = getattr(scene.connection.tables, told.method)
    with refused(CODES[told.reason], told.reason, *told.words, **told.details) as found:
        answer = stub(request, metadata=bearer(token), timeout=TIMEOUT)
        if told.method == "WatchTable":
            next(answer)
    assert scene.state(table) == before
    revision = found.refusal.metadata.get("revision")
    if revision is not None:
        assert revision == str(len(before[1]))
    elif told.reason not in ("BAD_FIELD", "UNREADABLE_ACTION", "UNKNOWN_TABLE"):
        # "where there is a table"
        assert told.method in ("CreateTable", "ImportTable", "ListTables")


def test_every_reason_is_told_by_a_case() -> None:
    told = {told.reason for told in CASES} | ELSEWHERE | {"UNSPECIFIED"}
    assert {f"ERROR_REASON_{reason}" for reason in told} == set(ErrorReason.keys())


# -- what is no field of a request


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "Bearer TOKEN"),
        ("Bearer", "Bearer TOKEN"),
        ("Basic QWxhZGRpbjpvcGVu", "Bearer TOKEN"),
        ("Bearer " + "x" * 15, "16 to 256 characters, not 15"),
        ("Bearer " + "x" * 257, "not 257"),
        ("Bearer " + "x" * 7_000, "not 7000"),
        ("token" * 10, "Bearer TOKEN"),
    ],
)
def test_an_authorization_that_is_none_is_refused(scene: Scene, header: str, words: str) -> None:
    request = table_pb2.GetTableRequest(table_id=scene.tables["running"].table_id)
    with refused(Code.UNAUTHENTICATED, "BAD_TOKEN", words):
        scene.connection.tables.GetTable(
            request, metadata=(("authorization", header),), timeout=TIMEOUT
        )


def test_a_request_is_not_larger_than_it_must_be(scene: Scene) -> None:
    table = scene.tables["running"]
    before = scene.state(table)
    ann = table.people[0]
    large = table_pb2.ActRequest(
        table_id=table.table_id,
        request_id=new_id(),
        expected_revision=table.revision,
        actions=[action("score 1 for seat 2")] * 200_000,
    )
    with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", "at most", field="request"):
        ann.call("Act", large)
    # Beyond what any request may have gRPC itself refuses to read on.
    larger = table_pb2.ImportTableRequest(document=b"x" * (21 << 20), request_id=new_id())
    with pytest.raises(grpc.RpcError) as raised:
        ann.call("ImportTable", larger)
    assert refusal_of(raised.value).code == Code.RESOURCE_EXHAUSTED
    assert scene.state(table) == before


@pytest.mark.parametrize(
    ("call", "reason", "words"),
    [
        (lambda c: c.GetComponentSet(catalog_pb2.GetComponentSetRequest()), "UNKNOWN_NAME",
         "sets:"),
        (lambda c: c.GetComponentSet(catalog_pb2.GetComponentSetRequest(name="x" * 10_000)),
         "UNKNOWN_NAME", "there is no component set"),
        (lambda c: c.CheckComponentSet(catalog_pb2.CheckComponentSetRequest()), "UNKNOWN_NAME",
         "games:"),
        (lambda c: c.CheckComponentSet(catalog_pb2.CheckComponentSetRequest(game="free-table")),
         "BAD_COMPONENTS", ""),
    ],
)  # fmt: skip
def test_the_catalog_refuses(
    connection: Connection, call: Callable[[Any], Any], reason: str, words: str
) -> None:
    with refused(CODES[reason], reason, words):
        call(connection.catalog)


def test_methods_that_are_not_there(connection: Connection) -> None:
    for path in ("/tableturn.v1.TableService/Cheat", "/tableturn.v2.TableService/Act", "/x/y"):
        call: Any = connection.channel.unary_unary(path)  # bytes as they are
        with pytest.raises(grpc.RpcError) as raised:
            call(b"", timeout=TIMEOUT)
        assert refusal_of(raised.value).code == Code.UNIMPLEMENTED


@pytest.mark.parametrize("service_name", ["TableService", "CatalogService", "PanelService"])
def test_empty_requests(scene: Scene, service_name: str) -> None:
    """An empty request of each method is refused as bad, or answered where it may be empty."""
    connection = scene.connection
    module, stubs = {
        "TableService": (table_pb2, connection.tables),
        "CatalogService": (catalog_pb2, connection.catalog),
        "PanelService": (panel_pb2, panel_pb2_grpc.PanelServiceStub(connection.channel)),
    }[service_name]
    may_be_empty = {"ListTables", "ListGames", "ListComponentSets"}
    for method in module.DESCRIPTOR.services_by_name[service_name].methods:
        request = getattr(module, method.input_type.name)()
        stub = getattr(stubs, method.name)
        try:
            answer = stub(request, timeout=TIMEOUT)
            if method.name == "WatchTable":
                next(answer)
        except grpc.RpcError as error:
            refusal = refusal_of(error)
            assert method.name not in may_be_empty
            assert refusal.reason in ("BAD_FIELD", "UNKNOWN_NAME", "BAD_TOKEN"), refusal
            check_sentence(refusal.sentence)
        else:
            assert method.name in may_be_empty
