"""Clocks and times as they are typed: `90s per turn`, `15m + 10s`, `3 days`; `2m 30s`."""

from __future__ import annotations

import re
from collections.abc import Callable

from google.protobuf.duration_pb2 import Duration

from tableturn_client.clocks import DAY, HOUR, Clock, ClockKind, IfAway, TimeUp
from tableturn_client.errors import BadValue
from tableturn_client.messages import ClockSettings, TableView

EXAMPLES = (
    '"none", "count-up", "90s per turn", "15m + 10s" (a bank, and so much more each turn), '
    '"15m delay 5s" (a bank, untouched for so long each turn), "30m in all", '
    '"3 days" (by correspondence)'
)

_UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "m": 60.0,
    "min": 60.0,
    "minute": 60.0,
    "h": HOUR,
    "hour": HOUR,
    "d": DAY,
    "day": DAY,
}
_UP = {up.value: up.name.lower() for up in TimeUp if up is not TimeUp.WARN}
_AWAY = {away.value: away.name.lower() for away in IfAway if away is not IfAway.WAIT}
_KINDS = frozenset(kind.value for kind in ClockKind)
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]+)\s*")
_DAYS = re.compile(r"\d\s*(d|day|days)$")


def read_time(text: str) -> float:
    """A time such as `90s`, `2m 30s`, `1.5 h` or `3 days` in seconds. Raises BadValue."""
    rest, seconds = text.strip().lower(), 0.0
    while rest:
        part = _PART.match(rest)
        unit = _UNITS.get(part[2]) or _UNITS.get(part[2].removesuffix("s")) if part else None
        if part is None or unit is None:
            raise _no_time(text)
        seconds += float(part[1]) * unit
        rest = rest[part.end() :]
    if not text.strip():
        raise _no_time(text)
    return seconds


def read_clock(text: str) -> Clock | None:
    """The clock that a text means; None for none. Raises BadValue, with examples."""
    clock = _read(text)
    if clock is None:
        return None
    if clock.kind is ClockKind.CORRESPONDENCE and not HOUR <= clock.step <= 60 * DAY:
        raise BadValue("by correspondence a turn has 1 hour to 60 days")
    if clock.kind is not ClockKind.CORRESPONDENCE and clock.step > DAY:
        raise BadValue('a turn gets at most 1 day; by correspondence, as in "3 days", up to 60')
    if clock.bank > 7 * DAY:
        raise BadValue("a bank has at most 7 days")
    return clock


def _read(text: str) -> Clock | None:
    """The clock that a text means, however long. Raises BadValue."""
    words = " ".join(text.lower().replace("+", " + ").replace("~", " delay ").split())
    if words in ("none", "no"):
        return None
    if words in ("count-up", "count up"):
        return Clock.count_up()
    try:
        for ending, made in _ENDINGS:
            if words.endswith(ending):
                return made(read_time(words.removesuffix(ending)))
        for between, joined in (("+", Clock.increment), ("delay", Clock.delay)):
            bank, found, step = words.partition(between)
            if found:
                return joined(read_time(bank), read_time(step))
        step_alone = read_time(words)
    except BadValue:
        raise BadValue(f"{text[:60]!r} is no clock; clocks are {EXAMPLES}") from None
    # Who gives days for a turn doesn't sit there waiting for it.
    return _by_correspondence(step_alone) if _DAYS.search(words) else Clock.per_turn(step_alone)


def new_options(view: TableView) -> list[str]:
    """What `new` is given to agree on the same again: clock, absence, and who may see it."""
    found = []
    if view.HasField("clock") and (words := _written(view.clock)):
        found.append(f'--clock "{words}"')
        if up := _UP.get(view.clock.timeout):
            found.append(f"--time-up {up}")
        if view.clock.start.ToTimedelta():
            found.append(f'--start-clock "{_time(view.clock.start)}"')
    if away := _AWAY.get(view.absence.policy):
        found.append(f"--absence {away}")
        if view.absence.grace.ToTimedelta():
            found.append(f'--grace "{_time(view.absence.grace)}"')
    if view.private:
        found.append("--private")
    if view.spectator_delay.ToTimedelta():
        found.append(f'--spectator-delay "{_time(view.spectator_delay)}"')
    return found


def _written(clock: ClockSettings) -> str:
    """A clock as it is typed; empty for none."""
    bank, step = _time(clock.bank), _time(clock.step)
    match ClockKind(clock.kind) if clock.kind in _KINDS else ClockKind.NONE:
        case ClockKind.COUNT_UP:
            return "count-up"
        case ClockKind.PER_TURN:
            return f"{step} per turn"
        case ClockKind.CORRESPONDENCE:
            return f"{step} by correspondence"
        case ClockKind.INCREMENT:
            return f"{bank} + {step}" if clock.step.ToTimedelta() else f"{bank} in all"
        case ClockKind.DELAY:
            return f"{bank} delay {step}"
    return ""


def _time(span: Duration) -> str:
    """A span as it is typed."""
    return typed_time(span.ToTimedelta().total_seconds())


def typed_time(seconds: float) -> str:
    """A time as it is typed.

    >>> typed_time(5400), typed_time(2 * DAY), typed_time(1.5)
    ('1h 30m', '2d', '1.5s')
    """
    rest, parts = round(seconds, 3), []
    for unit, length in (("d", DAY), ("h", HOUR), ("m", 60.0)):
        count, rest = divmod(rest, length)
        parts += [f"{count:.0f}{unit}"] if count else []
    return " ".join(parts + ([f"{rest:.6g}s"] if rest or not parts else []))


def _by_correspondence(step: float) -> Clock:
    return Clock.correspondence(hours=step / HOUR)


def _in_all(bank: float) -> Clock:
    return Clock.increment(bank, 0)


_ENDINGS: tuple[tuple[str, Callable[[float], Clock]], ...] = (
    (" per turn", Clock.per_turn),
    (" a turn", Clock.per_turn),
    (" in all", _in_all),
    (" by correspondence", _by_correspondence),
    (" correspondence", _by_correspondence),
)


def _no_time(text: str) -> BadValue:
    return BadValue(
        f'{text[:40]!r} is no time; times are such as "90s", "2m 30s", "1h" or "3 days"'
    )
