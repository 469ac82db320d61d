"""Bad calls that would make a table."""

from __future__ import annotations

from typing import Any

from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2 as pb
from tableturn.v1.clock_pb2 import AbsenceSettings, ClockSettings
from tests.e2e.bad_calls import TOKEN, Cases
from tests.e2e.scene import CLOCK
from tests.e2e.tables import POINTS

CASES = Cases()
case = CASES.add
NEW: dict[str, Any] = {"game": "free-table", "seats": 2, "host_token_sha256": TOKEN, "table_id": ""}


def create(label: str, reason: str, /, *words: str, of: str = "", **fields: Any) -> None:
    fields = {**NEW, **fields}
    case(label, "CreateTable", "running", "nobody", reason, *words, of=of, **fields)


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

# -- spans of time


def span(days: int = 0, *, s: int = 0, ms: int = 0) -> Duration:
    """A span of so many days, seconds and milliseconds."""
    return Duration(seconds=days * 86_400 + s, nanos=ms * 1_000_000)


NO_SPANS = {
    "a second backwards": Duration(seconds=-1),
    "a nanosecond backwards": Duration(nanos=-1),
    "forwards and backwards": Duration(seconds=5, nanos=-1),
    "a second of nanoseconds": Duration(seconds=5, nanos=10**9),
    "the most nanoseconds": Duration(seconds=5, nanos=2**31 - 1),
    "ten thousand years": Duration(seconds=315_576_000_000),
    "2^62 seconds": Duration(seconds=2**62),
    "-2^62 seconds": Duration(seconds=-(2**62)),
    "the longest span": Duration(seconds=2**63 - 1, nanos=2**31 - 1),
}
"""What no table takes for a span of time, wherever it stands."""
spans: dict[str, Any]
for label, bad in NO_SPANS.items():
    create(f"a grace of {label}", "BAD_FIELD", "span", of="absence.grace",
           absence=AbsenceSettings(grace=bad))  # fmt: skip
    create(f"a delay of {label}", "BAD_FIELD", "span", of="spectator_delay",
           spectator_delay=bad)  # fmt: skip
    for part in ("bank", "step", "start"):
        spans = {part: bad}
        create(f"a {part} of {label}", "BAD_FIELD", "span", of=f"clock.{part}",
               clock=ClockSettings(kind=pb.CLOCK_KIND_DELAY, **spans))  # fmt: skip

# -- clocks

KINDS = {
    "no clock": pb.CLOCK_KIND_NONE,
    "counting up": pb.CLOCK_KIND_COUNT_UP,
    "per turn": pb.CLOCK_KIND_PER_TURN,
    "increment": pb.CLOCK_KIND_INCREMENT,
    "delay": pb.CLOCK_KIND_DELAY,
    "correspondence": pb.CLOCK_KIND_CORRESPONDENCE,
}


def clock(kind: str, of: str, *words: str, **parts: Any) -> None:
    """A clock of a kind, whose part `of` can't be as it is."""
    told = ", ".join(f"{name} {str(value).split()}" for name, value in parts.items())
    create(f"{kind} with {told or f'no {of}'}", "BAD_FIELD", *words, of=f"clock.{of}",
           clock=ClockSettings(kind=KINDS[kind], **parts))  # fmt: skip


for kind in ("no clock", "counting up"):
    clock(kind, "bank", "has no bank", bank=span(s=60))
    clock(kind, "step", "has no step", step=span(s=60))
    for policy in (pb.TIMEOUT_POLICY_DEFAULT, pb.TIMEOUT_POLICY_BOT, pb.TIMEOUT_POLICY_DROP):
        clock(kind, "timeout", "never runs out", timeout=policy)
clock("no clock", "start", "has no start", start=span(s=60))
for kind in ("per turn", "correspondence"):
    clock(kind, "bank", "has no bank", bank=span(s=60), step=span(s=7200))
    clock(kind, "step")
clock("per turn", "step", "1 s to 1 d", step=span(ms=999))
clock("per turn", "step", "1 s to 1 d", step=span(1, ms=1))
clock("correspondence", "step", "1 h to 60 d", step=span(s=3599, ms=999))
clock("correspondence", "step", "1 h to 60 d", step=span(60, ms=1))
for kind in ("increment", "delay"):
    clock(kind, "bank", "1 s to 7 d")
    clock(kind, "bank", "1 s to 7 d", bank=span(ms=999))
    clock(kind, "bank", "1 s to 7 d", bank=span(7, ms=1), step=span(s=5))
    clock(kind, "step", "0 s to 1 d", bank=span(1), step=span(1, ms=1))
    clock(kind, "start", "0 s to 1 d", bank=span(1), start=span(1, ms=1))
clock("counting up", "start", "0 s to 1 d", start=span(1, ms=1))
clock("per turn", "start", "0 s to 1 d", step=span(s=60), start=span(1, ms=1))
for number in (7, 99, -1, 2**31 - 1, -(2**31)):
    create(f"a clock of kind {number}", "BAD_FIELD", "PER_TURN", of="clock.kind",
           clock=ClockSettings(kind=number))  # type: ignore[arg-type]  # fmt: skip
for number in (5, -1, 2**31 - 1):
    clock("per turn", "timeout", "DROP", step=span(s=60), timeout=number)

# -- absence, and what spectators see

for number in (4, -1, 2**31 - 1):
    create(f"an absence of kind {number}", "BAD_FIELD", "WAIT", of="absence.policy",
           absence=AbsenceSettings(policy=number))  # type: ignore[arg-type]  # fmt: skip
for grace in (span(ms=1), span(s=4, ms=999), span(1, ms=1), span(366)):
    create(f"a grace of {str(grace).split()}", "BAD_FIELD", "5 s to 1 d", of="absence.grace",
           absence=AbsenceSettings(policy=pb.ABSENCE_POLICY_BOT, grace=grace))  # fmt: skip
for delay in (span(s=3600, ms=1), span(1)):
    create(f"a delay of {str(delay).split()}", "BAD_FIELD", "1 h", of="spectator_delay",
           spectator_delay=delay)  # fmt: skip

# -- a table that is there already, but otherwise

THERE: dict[str, Any] = {"table_id": None, "if_absent": True, "options": POINTS, "seats": 3}
OTHERWISE: dict[str, dict[str, Any]] = {
    "without a clock": {},
    "with another bank": {"clock": ClockSettings(kind=CLOCK.kind, bank=span(1), step=CLOCK.step)},
    "of which absence is another": {
        "clock": CLOCK,
        "absence": AbsenceSettings(policy=pb.ABSENCE_POLICY_DROP),
    },
    "that is private": {"clock": CLOCK, "private": True},
    "that is seen later": {"clock": CLOCK, "spectator_delay": span(s=60)},
}
for label, other in OTHERWISE.items():
    case(f"a table {label}, if absent", "CreateTable", "clocked", "nobody", "TABLE_EXISTS",
         "otherwise", **{**NEW, **THERE, **other})  # fmt: skip
