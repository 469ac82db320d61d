"""Clocks and times as they are typed: `90s per turn`, `15m + 10s`, `3 days`; `2m 30s`."""

from __future__ import annotations

import re
from collections.abc import Callable

from tableturn_client.clocks import DAY, HOUR, Clock
from tableturn_client.errors import BadValue

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
