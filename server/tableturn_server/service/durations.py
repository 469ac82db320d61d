"""Spans of time in requests."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from tableturn_server.tables.refusals import Reason, Refused

LONGEST = 366 * 24 * 60 * 60
"""Seconds: nothing that is asked for is longer."""


def milliseconds(span: Duration, field: str) -> int:
    """A span in milliseconds, rounded up, so that what is said is never taken for nothing.

    Raises Refused for one that is none, or negative.
    """
    if not (0 <= span.seconds <= LONGEST and 0 <= span.nanos < 1_000_000_000):
        raise Refused(
            Reason.BAD_FIELD,
            f"{field} is no span of time that a table deals with: not negative, and at most a year",
            field=field,
        )
    return span.seconds * 1000 + -(-span.nanos // 1_000_000)
