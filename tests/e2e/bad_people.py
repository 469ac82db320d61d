"""Bad calls about time and people: more time, stand-ins, votes, the host's duties, a rematch."""

from __future__ import annotations

from typing import Any

from tests.e2e.bad_calls import Cases
from tests.e2e.bad_making import NO_SPANS, span

CASES = Cases()
case = CASES.add

# -- who may not, and when it can't be

ABOUT: dict[str, dict[str, Any]] = {
    "AddTime": {"time": span(s=60)},
    "StandIn": {},
    "ComeBack": {},
    "VoteDrop": {"target": 1},
}
"""What a seat may ask for itself or about another one."""
for name, fields in ABOUT.items():
    case(f"{name} for nobody", name, "crowd", "nobody", "BAD_TOKEN", **fields)
    case(f"{name} for a stranger", name, "crowd", "stranger", "BAD_TOKEN", **fields)
    case(f"{name} by somebody who has left", name, "crowd", "cleo", "BAD_TOKEN", **fields)
    case(f"{name} by a device that the seat had", name, "moved", "ann", "BAD_TOKEN", **fields)
    case(f"{name} for a watcher", name, "guarded", "watcher", "NOT_ALLOWED", **fields)
    case(f"{name} for a panel without seats", name, "private", "panel", "NOT_ALLOWED", **fields)
    case(f"{name} of a ninth seat", name, "crowd", "ann", "UNKNOWN_NAME", "seats 1 to 8",
         of="seat", seat=9, **fields)  # fmt: skip
    case(f"{name} of the last seat of all", name, "crowd", "ann", "UNKNOWN_NAME", of="seat",
         seat=2**32 - 1, **fields)  # fmt: skip
    seat = 1 if name == "AddTime" else 2
    case(f"{name} before the start", name, "full", "bob", "NOT_STARTED", seat=seat, **fields)
    case(f"{name} at the end", name, "over", "bob", "GAME_OVER", seat=seat, **fields)
for name in ("StandIn", "ComeBack", "VoteDrop"):
    case(f"{name} for another seat", name, "crowd", "ann", "NOT_ALLOWED", "seat 2", seat=2,
         **ABOUT[name])  # fmt: skip
    case(f"{name} for a panel's seat", name, "crowd", "ann", "NOT_ALLOWED", "seat 5", seat=5,
         **ABOUT[name])  # fmt: skip
    case(f"{name} for one of two seats", name, "crowd", "bob", "BAD_FIELD", "seats 2, 8; say",
         of="seat", **ABOUT[name])  # fmt: skip
for name in ("ComeBack", "VoteDrop"):
    case(f"{name} for a host without a seat", name, "crowd", "host", "NOT_ALLOWED", **ABOUT[name])
case("StandIn for a host without a seat", "StandIn", "crowd", "host", "BAD_FIELD", "name one",
     of="seat", **ABOUT["StandIn"])  # fmt: skip

# -- more time

case("time for oneself", "AddTime", "clocked", "ann", "NOT_ALLOWED", "to themselves", seat=1,
     time=span(s=60))  # fmt: skip
case("time for all, by a player", "AddTime", "clocked", "ann", "NOT_ALLOWED", "name a seat",
     time=span(s=60))  # fmt: skip
case("time by who has dropped out", "AddTime", "clocked", "cleo", "NOT_ALLOWED", "in the game",
     seat=1, time=span(s=60))  # fmt: skip
case("time for who has dropped out", "AddTime", "clocked", "ann", "NOT_ALLOWED", "left the game",
     seat=3, time=span(s=60))  # fmt: skip
case("time for a fourth seat", "AddTime", "clocked", "host", "UNKNOWN_NAME", "seats 1 to 3",
     of="seat", seat=4, time=span(s=60))  # fmt: skip
case("no time", "AddTime", "clocked", "host", "BAD_FIELD", "1 second to 7 days", of="time")
for time in (span(ms=1), span(ms=999), span(7, ms=1), span(366)):
    case(f"more time: {str(time).split()}", "AddTime", "clocked", "ann", "BAD_FIELD",
         "1 second to 7 days", of="time", seat=2, time=time)  # fmt: skip
for label, bad in NO_SPANS.items():
    case(f"more time: {label}", "AddTime", "clocked", "host", "BAD_FIELD", "span", of="time",
         time=bad)  # fmt: skip
for at in ("running", "paused", "counted"):
    case(f"time where none runs out: {at}", "AddTime", at, "host", "NO_CLOCK", "so none can",
         time=span(s=60))  # fmt: skip
    case(f"time by a player where none runs out: {at}", "AddTime", at, "ann", "NO_CLOCK", seat=2,
         time=span(s=60))  # fmt: skip

# -- stand-ins

for label, bot in {"no such name": "nobody", "a long name": "x" * 10_000, "a line": "a\nb"}.items():
    case(f"a stand-in of {label}", "StandIn", "running", "ann", "UNKNOWN_NAME", "bots: ", of="bot",
         bot=bot)  # fmt: skip
case("a stand-in for who has dropped out", "StandIn", "crowd", "dan", "NOT_ASKED", "left the game")
case("a stand-in for a bot", "StandIn", "crowd", "host", "BAD_FIELD", "a bot sits", of="seat",
     seat=4)  # fmt: skip
case("a stand-in for nobody's seat", "StandIn", "crowd", "host", "BAD_FIELD", "nobody sits",
     of="seat", seat=3)  # fmt: skip
case("to come back for another, as the host", "ComeBack", "crowd", "host", "NOT_ALLOWED", "seat 7",
     seat=7)  # fmt: skip
case("to come back for another, as the admin", "ComeBack", "crowd", "admin", "BAD_TOKEN", seat=7)
case("to come back after one has dropped out", "ComeBack", "crowd", "dan", "NOT_ASKED",
     "left the game")  # fmt: skip

# -- votes


def vote(label: str, who: str, reason: str, target: int, /, *words: str, at: str = "crowd",
         **more: Any) -> None:  # fmt: skip
    case(f"a vote {label}", "VoteDrop", at, who, reason, *words, target=target, **more)


vote("about no seat", "ann", "UNKNOWN_NAME", 0, "seats 1 to 8", of="target")
vote("about a ninth seat", "ann", "UNKNOWN_NAME", 9, of="target")
vote("about the last seat of all", "ann", "UNKNOWN_NAME", 2**32 - 1, of="target")
vote("about oneself", "ann", "BAD_FIELD", 1, "concede", of="target")
vote("about oneself, taken back", "ann", "BAD_FIELD", 1, of="target", withdraw=True)
vote("about who has dropped out", "ann", "NOT_ASKED", 6, "already")
vote("about a bot", "ann", "NOT_ALLOWED", 4, "the host may send it away")
vote("of who has dropped out", "dan", "NOT_ALLOWED", 1, "seat 6 has left the game")
vote("of who lets a bot play", "eve", "NOT_ALLOWED", 1, "come back first")
vote("of one against one", "ann", "NOT_ALLOWED", 2, "nobody else decides with you", at="running")
vote("of one against one, in a pause", "bob", "NOT_ALLOWED", 1, "nobody else", at="paused")

# -- the host's duties

for label, who, reason in (
    ("nobody", "nobody", "BAD_TOKEN"),
    ("a stranger", "stranger", "BAD_TOKEN"),
    ("somebody who has left", "cleo", "BAD_TOKEN"),
    ("a player", "ann", "NOT_ALLOWED"),
    ("a panel", "panel", "NOT_ALLOWED"),
):
    case(f"to pass the host's duties as {label}", "PassHost", "crowd", who, reason, "host's token",
         seat=1)  # fmt: skip
case("to pass what one has no more", "PassHost", "passed", "host", "NOT_ALLOWED", seat=2)
for at in ("lobby", "running", "paused", "over"):
    case(f"to pass to no seat: {at}", "PassHost", at, "host", "UNKNOWN_NAME", "seats 1 to 2",
         of="seat")  # fmt: skip
    case(f"to pass to a third seat: {at}", "PassHost", at, "host", "UNKNOWN_NAME", of="seat",
         seat=3)  # fmt: skip
case("to pass to the last seat of all", "PassHost", "running", "host", "UNKNOWN_NAME", of="seat",
     seat=2**32 - 1)  # fmt: skip
case("to pass to a free seat", "PassHost", "lobby", "host", "BAD_FIELD", "nobody sits", of="seat",
     seat=2)  # fmt: skip
case("to pass to a seat that was left", "PassHost", "crowd", "host", "BAD_FIELD", "nobody sits",
     of="seat", seat=3)  # fmt: skip
case("to pass to a bot", "PassHost", "crowd", "host", "BAD_FIELD", "a bot sits", of="seat", seat=4)
case("to pass to a panel", "PassHost", "crowd", "host", "NOT_ALLOWED", "no device", seat=5)
for method in ("PauseGame", "SeatBot", "TakeBack"):
    case(f"{method} by who was host", method, "passed", "host", "NOT_ALLOWED", bot="random",
         expected_revision=1)  # fmt: skip

# -- a rematch

for order in (4, 99, -1, 2**31 - 1, -(2**31)):
    for at in ("over", "running", "lobby"):
        case(f"a rematch in the order {order}: {at}", "Rematch", at, "ann", "BAD_FIELD",
             "no order", of="order", order=order)  # fmt: skip
for order in (1, 2, 3):
    case(f"a rematch too early, in the order {order}", "Rematch", "running", "ann", "GAME_RUNNING",
         order=order)  # fmt: skip
    case(f"a rematch for a stranger, in the order {order}", "Rematch", "over", "stranger",
         "BAD_TOKEN", order=order)  # fmt: skip
