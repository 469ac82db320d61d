"""Exit codes, and the one line that tells of a failure.

| code | kind | what it means |
|---|---|---|
| 0 | | it was done |
| 2 | usage | the command, an action or a file can't be understood |
| 3 | not-found | no table, game, option or seat of this name |
| 4 | not-permitted | no token, an unknown one, or one that doesn't allow this |
| 5 | not-now | the table says no: an illegal action, a taken seat, a game that is over |
| 6 | stale | what the seat is asked has changed since the revision that was expected |
| 7 | unavailable | no server answers, or its store can't be reached or written |
| 8 | limit | too many calls, watches or tables |
| 9 | not-installed | a part of Tableturn isn't installed |
| 70 | fault | a fault of the service, of this program, or no Tableturn service |
| 130 | interrupted | Ctrl-C |
| 141 | broken-pipe | nobody reads the output any more |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tableturn_client import errors
from tableturn_client.drawing.words import clean

LONGEST = 500


SUMMARY = (
    "0 done, 2 usage, 3 not found, 4 no token or not allowed, 5 not possible now, 6 stale "
    "revision, 7 no answer or no store, 8 too many calls, 9 not installed, 70 fault, 130 Ctrl-C, "
    "141 nobody reads"
)


class Exit(Enum):
    """The kinds of failures, with their exit codes."""

    USAGE = 2
    NOT_FOUND = 3
    NOT_PERMITTED = 4
    NOT_NOW = 5
    STALE = 6
    UNAVAILABLE = 7
    LIMIT = 8
    NOT_INSTALLED = 9
    FAULT = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141

    @property
    def kind(self) -> str:
        """The word for it in JSON, such as `not-found`."""
        return self.name.lower().replace("_", "-")


_EXITS: Mapping[type[errors.TableturnError], Exit] = {
    errors.NoCredentials: Exit.NOT_PERMITTED,
    errors.NotSent: Exit.USAGE,
    errors.NoAnswer: Exit.UNAVAILABLE,
    errors.BadAnswer: Exit.FAULT,
    errors.NotFound: Exit.NOT_FOUND,
    errors.BadRequest: Exit.USAGE,
    errors.NotPermitted: Exit.NOT_PERMITTED,
    errors.NotNow: Exit.NOT_NOW,
    errors.StaleRevision: Exit.STALE,
    errors.LimitReached: Exit.LIMIT,
    errors.Unavailable: Exit.UNAVAILABLE,
    errors.TableturnError: Exit.FAULT,
}
"""The exit for each error: that of the nearest class above it."""


def exit_of(error: errors.TableturnError) -> Exit:
    """The exit for an error."""
    return next(_EXITS[kind] for kind in type(error).__mro__ if kind in _EXITS)


@dataclass(frozen=True)
class Failure:
    """A failure as it is told: on one line, or as one JSON object."""

    exit: Exit
    sentence: str
    reason: str = ""
    details: Mapping[str, object] | None = None

    @property
    def line(self) -> str:
        """The line for a person."""
        return f"tableturn: {clean(self.sentence, LONGEST)}"

    @property
    def document(self) -> str:
        """The line for a script."""
        told = {
            "kind": self.exit.kind,
            "exit_code": self.exit.value,
            "reason": self.reason or None,
            "sentence": self.sentence,
            **(self.details or {}),
        }
        return json.dumps({"error": told})


def failure_of(error: errors.TableturnError) -> Failure:
    """What is told of an error."""
    reason = ""
    details: dict[str, object] = {}
    if isinstance(error, errors.Refused):
        reason = error.reason
        refusal = error.refusal
        for name in ("revision", "index", "field", "asked_at", "place", "retry_after", "holder"):
            if (value := getattr(refusal, name)) is not None:
                details[name] = value
    elif isinstance(error, errors.NoAnswer) and error.request_id:
        details["request_id"] = error.request_id
    elif isinstance(error, errors.UnreadableText):
        details["index"] = error.index
    return Failure(exit_of(error), error.sentence, reason, details)
