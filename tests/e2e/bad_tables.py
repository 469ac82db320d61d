"""Bad calls about a table: sitting down, the game as a whole, looking, bots, whole tables."""

from __future__ import annotations

from typing import Any

from tableturn.v1 import table_pb2
from tests.e2e.bad_calls import TOKEN, Cases

CASES = Cases()
case = CASES.add

# -- sitting down and getting up


def sit(
    label: str, reason: str, /, *words: str, at: str = "lobby", of: str = "", **more: Any
) -> None:
    fields = {"name": "Eve", "token_sha256": TOKEN, **more}
    case(label, "TakeSeat", at, "nobody", reason, *words, of=of, **fields)


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
     of="seat", seat=2)  # fmt: skip
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
     of="page_token", page_token="nowhere")  # fmt: skip

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
     of="table_id", table_id="Not An Id", document=b"{}")  # fmt: skip
case("an import without a request id", "ImportTable", "running", "admin", "BAD_FIELD",
     of="request_id", request_id="", document=b"{}")  # fmt: skip
case("an import of nothing", "ImportTable", "running", "admin", "BAD_IMPORT", table_id="")

# -- bots, who confirms, the next table

case("no bot", "SeatBot", "lobby", "host", "UNKNOWN_NAME", "bots: ", of="bot")
case("a bot of no such name", "SeatBot", "lobby", "host", "UNKNOWN_NAME", of="bot",
     bot="x" * 10_000)  # fmt: skip
case("a bot by a player", "SeatBot", "lobby", "ann", "NOT_ALLOWED", "host's", bot="random")
case("a bot on no seat", "SeatBot", "lobby", "host", "UNKNOWN_NAME", of="seat",
     bot="random", seat=3)  # fmt: skip
case("a bot on a taken seat", "SeatBot", "lobby", "host", "SEAT_TAKEN", bot="random", seat=1)
case("a bot at a full table", "SeatBot", "full", "host", "TABLE_FULL", bot="random")
case("a bot at the end", "SeatBot", "over", "host", "GAME_OVER", bot="random")
case("a bot with a bad name", "SeatBot", "lobby", "host", "BAD_FIELD", of="name",
     bot="random", name="x" * 41)  # fmt: skip
case("a bot that confirms in no way", "SeatBot", "lobby", "host", "BAD_FIELD",
     of="confirmation", bot="random", confirmation=9)  # fmt: skip
case("nobody confirms", "SetConfirmation", "running", "ann", "BAD_FIELD",
     of="confirmation")  # fmt: skip
case("who confirms for another", "SetConfirmation", "running", "ann", "NOT_ALLOWED", seat=2,
     confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("who confirms on no seat", "SetConfirmation", "running", "host", "UNKNOWN_NAME", seat=3,
     of="seat", confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("who confirms at the end", "SetConfirmation", "over", "ann", "GAME_OVER",
     confirmation=table_pb2.CONFIRMATION_PANEL)  # fmt: skip
case("a rematch before the end", "Rematch", "running", "ann", "GAME_RUNNING")
case("a rematch before the start", "Rematch", "lobby", "host", "NOT_STARTED")
case("a rematch for nobody", "Rematch", "over", "nobody", "BAD_TOKEN")
case("a rematch for a stranger", "Rematch", "over", "stranger", "BAD_TOKEN")
case("a rematch without a request id", "Rematch", "over", "ann", "BAD_FIELD",
     of="request_id", request_id="")  # fmt: skip
