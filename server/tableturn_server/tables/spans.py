"""Spans of time, in milliseconds as everywhere at a table."""

from __future__ import annotations

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))


def in_time(span: int) -> str:
    """A span in a sentence, such as `1 h 5 min`: its two largest units."""
    words = []
    rest = span
    for unit, name in _UNITS:
        count, rest = divmod(rest, unit)
        if count:
            words.append(f"{count} {name}")
    if not words:
        return "less than 1 s" if span else "0 s"
    return " ".join(words[:2])
