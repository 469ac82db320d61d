"""Bad calls of company: private tables, codes to join by and to move a seat by, and talk."""

from __future__ import annotations

from typing import Any

from tests.e2e.bad_calls import TOKEN, Cases
from tests.e2e.scene import CodeOf

CASES = Cases()
case = CASES.add

# -- a private table

for name in ("GetTable", "WatchTable", "ListLog", "ListChat"):
    for who in ("nobody", "stranger", "cleo"):
        case(f"{name} of a private table: {who}", name, "private", who, "BAD_TOKEN", "private")
    case(f"{name} of a private table's lobby", name, "invited", "nobody", "BAD_TOKEN", "private")
for name in ("GetTable", "WatchTable", "ListLog"):
    case(f"{name} of a private seat for nobody", name, "private", "nobody", "BAD_TOKEN", seat=1)
    for who in ("bob", "host", "admin", "panel"):
        case(f"{name} of another's private seat: {who}", name, "private", who, "NOT_ALLOWED",
             "seat 1", seat=1)  # fmt: skip
case("the talk behind a watch token", "ListChat", "guarded", "nobody", "BAD_TOKEN", "watch token")
case("the talk behind a wrong watch token", "ListChat", "guarded", "stranger", "BAD_TOKEN")

# -- sitting down with a code


def sit(label: str, reason: str, /, *words: str, at: str = "invited", who: str = "nobody",
        **more: Any) -> None:  # fmt: skip
    fields = {"name": "Eve", "token_sha256": TOKEN, **more}
    case(f"a seat with {label}", "TakeSeat", at, who, reason, *words, **fields)


for who in ("nobody", "stranger", "ann"):
    sit(f"no code: {who}", "NOT_ALLOWED", "join code", who=who)
    sit(f"no code, where one was left: {who}", "NOT_ALLOWED", "join code", at="private", who=who)
sit("no code but a panel's token", "NOT_ALLOWED", "join code", at="private", who="panel")
WRONG = {
    "a code that nobody has": "K7QM-4XRD",
    "half a code": "K7QM",
    "a code and a half": "K7QM-4XRD-K7QM",
    "letters that codes don't have": "K7QM-4XR0",
    "digits of another script": "K7QM-4XR\u0663",
    "a zero byte": "K7QM4XR\0",
    "an escape": "\x1b[31mK7QM",
    "a code of 10,000": "K7QM-4XRD" * 1_000,
    "a table's id": "a-table",
}
for label, code in WRONG.items():
    sit(label, "UNKNOWN_CODE", "ask for another", of="code", code=code)
    case(f"{label}, looked up", "ResolveCode", "invited", "nobody", "UNKNOWN_CODE",
         "ask for another", of="code", code=code)  # fmt: skip
for blank in ("", " ", "\t\n"):
    case(f"the code {blank!a}, looked up", "ResolveCode", "invited", "nobody", "BAD_FIELD",
         "missing", of="code", code=blank)  # fmt: skip
sit("a blank code", "BAD_FIELD", "missing", of="code", code=" ")
for spent, at in {
    "joins no more": "invited",
    "joins what is over": "over",
    "has moved seat 1": "moved",
    "moves who has left": "moved",
}.items():
    sit(f"a code that {spent}", "UNKNOWN_CODE", "not any more", at=at, of="code",
        code=CodeOf(spent))  # fmt: skip
    for who in ("nobody", "host"):
        case(f"a code that {spent}, looked up: {who}", "ResolveCode", at, who, "UNKNOWN_CODE",
             of="code", code=CodeOf(spent))  # fmt: skip
JOINS, MOVES = CodeOf("joins"), CodeOf("moves seat 1")
sit("the code of another table", "UNKNOWN_CODE", at="private", of="code", code=JOINS)
sit("the code of a seat elsewhere", "UNKNOWN_CODE", at="running", of="code", code=MOVES)
full = CodeOf("joins what is full")
sit("a code where none is free", "TABLE_FULL", at="full", code=full)
sit("a code where it is taken", "SEAT_TAKEN", "no seat is free", at="full", seat=2, code=full)
sit("a code, but a taken one", "SEAT_TAKEN", "free seats: 2", seat=1, code=JOINS)
sit("a code, but a third of two", "UNKNOWN_NAME", of="seat", seat=3, code=JOINS)
sit("a code, but no name", "BAD_FIELD", of="name", name="", code=JOINS)
sit("a code, but half a token", "BAD_FIELD", of="token_sha256", token_sha256=b"x", code=JOINS)
sit("a code, but no request id", "BAD_FIELD", of="request_id", request_id="", code=JOINS)
sit("a code, confirmed in no way", "BAD_FIELD", of="confirmation", confirmation=9, code=JOINS)
sit("the code of another seat", "BAD_FIELD", "for seat 1", at="full", of="seat", seat=2, code=MOVES)
sit("a seat's code, but no token", "BAD_FIELD", at="full", of="token_sha256", token_sha256=b"",
    code=MOVES)  # fmt: skip

# -- codes to be had

for name in ("GetJoinCode", "MakeSeatCode"):
    for at in ("lobby", "running", "paused", "over", "private"):
        case(f"{name} for nobody: {at}", name, at, "nobody", "BAD_TOKEN")
        case(f"{name} for a stranger: {at}", name, at, "stranger", "BAD_TOKEN")
    case(f"{name} for a watcher", name, "guarded", "watcher", "NOT_ALLOWED")
    case(f"{name} for a panel without seats", name, "private", "panel", "NOT_ALLOWED")
    case(f"{name} for somebody who has left", name, "private", "cleo", "BAD_TOKEN")
    case(f"{name} for a device that the seat had", name, "moved", "ann", "BAD_TOKEN")
for who in ("ann", "host"):
    case(f"a join code at the end: {who}", "GetJoinCode", "over", who, "GAME_OVER")
case("another join code at the end", "GetJoinCode", "over", "host", "GAME_OVER", renew=True)
for at in ("full", "running", "paused", "invited"):
    case(f"another join code for a player: {at}", "GetJoinCode", at, "ann", "NOT_ALLOWED",
         "host's token", renew=True)  # fmt: skip
case("another join code for nobody", "GetJoinCode", "invited", "nobody", "BAD_TOKEN", renew=True)
case("another join code for who was host", "GetJoinCode", "passed", "host", "NOT_ALLOWED",
     renew=True)  # fmt: skip
for at in ("lobby", "running", "paused", "over"):
    case(f"a code for a third seat: {at}", "MakeSeatCode", at, "host", "UNKNOWN_NAME",
         "seats 1 to 2", of="seat", seat=3)  # fmt: skip
for at in ("full", "running", "paused", "over"):
    case(f"a code for another's seat: {at}", "MakeSeatCode", at, "bob", "NOT_ALLOWED", "seat 1",
         seat=1)  # fmt: skip
case("a code for a free seat", "MakeSeatCode", "lobby", "host", "BAD_FIELD", "no person",
     of="seat", seat=2)  # fmt: skip
case("a code for a seat that was left", "MakeSeatCode", "crowd", "host", "BAD_FIELD", of="seat",
     seat=3)  # fmt: skip
case("a code for a bot", "MakeSeatCode", "crowd", "host", "BAD_FIELD", of="seat", seat=4)
case("a code for one of two seats", "MakeSeatCode", "crowd", "bob", "BAD_FIELD", "say which one",
     of="seat")  # fmt: skip
case("a code for a seat of the host", "MakeSeatCode", "running", "host", "BAD_FIELD", of="seat")

# -- talk


def say(label: str, reason: str, /, *words: str, at: str = "running", who: str = "ann",
        text: str = "hello", **more: Any) -> None:  # fmt: skip
    case(f"to say {label}", "SendChat", at, who, reason, *words, text=text, **more)


say("nothing", "BAD_FIELD", "missing", of="text", text="")
say("blanks", "BAD_FIELD", of="text", text="   ")
say("301 characters", "BAD_FIELD", "at most 300", of="text", text="x" * 301)
say("10,000 characters", "BAD_FIELD", "not 10000", of="text", text="x" * 10_000)
for unseen in ("A\nB", "A\x00", "\x1b[31mred", "\u202eevil", "\u200b", "a\u2028b", "\ufeff"):
    say(f"{unseen!a}", "BAD_FIELD", "can't be seen", of="text", text=f"so{unseen}so")
say("something without a request id", "BAD_FIELD", of="request_id", request_id="")
for at in ("lobby", "running", "paused", "over", "private"):
    say(f"something as nobody: {at}", "BAD_TOKEN", at=at, who="nobody")
    say(f"something as a stranger: {at}", "BAD_TOKEN", at=at, who="stranger")
say("something as a watcher", "NOT_ALLOWED", at="guarded", who="watcher")
say("something as a panel without seats", "NOT_ALLOWED", at="private", who="panel")
say("something after one has left", "BAD_TOKEN", at="private", who="cleo")
say("something as another", "NOT_ALLOWED", "seat 1", who="bob", seat=1)
say("something as a player whom the host plays", "NOT_ALLOWED", "seat 1", who="host", seat=1)
say("something as a ninth seat", "UNKNOWN_NAME", of="seat", seat=9)
say("something where the chat is off", "NOT_ALLOWED", "the host may switch it on", at="silent")
say("something when one is muted", "NOT_ALLOWED", "muted seat 2", at="muted", who="bob")


def chat(label: str, reason: str, /, *words: str, at: str = "running", who: str = "host",
         **more: Any) -> None:  # fmt: skip
    case(f"the chat set {label}", "SetChat", at, who, reason, *words, **more)


for at in ("lobby", "running", "paused", "over", "private", "silent"):
    chat(f"by nobody: {at}", "BAD_TOKEN", at=at, who="nobody", mode=2)
    chat(f"by a stranger: {at}", "BAD_TOKEN", at=at, who="stranger", mode=1)
    chat(f"by a player: {at}", "NOT_ALLOWED", "host's token", at=at, who="ann", mode=1)
chat("by who is muted", "NOT_ALLOWED", at="muted", who="bob", unmute=[2])
chat("by who was host", "NOT_ALLOWED", at="passed", mode=2)
chat("by a watcher", "NOT_ALLOWED", at="guarded", who="watcher", mode=2)
chat("by a panel", "NOT_ALLOWED", at="private", who="panel", mode=2)
for mode in (3, 99, -1, 2**31 - 1):
    chat(f"to the mode {mode}", "BAD_FIELD", of="mode", mode=mode)
for seat in (0, 3, 2**32 - 1):
    chat(f"to mute seat {seat}", "UNKNOWN_NAME", "seats 1 to 2", of="mute", mode=2,
         mute=[1, seat])  # fmt: skip
    chat(f"to unmute seat {seat}", "UNKNOWN_NAME", "seats 1 to 2", of="unmute", mode=2,
         unmute=[1, seat])  # fmt: skip
chat("to mute and not to", "BAD_FIELD", "at once", of="unmute", mode=2, mute=[1, 2], unmute=[2])
