"""How a table shall be: its clock, and what happens to whoever is not there."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

from tableturn.v1 import table_pb2
from tableturn_server.service.durations import milliseconds
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    TimeoutPolicy,
)

Kind = TypeVar("Kind", bound=IntEnum)


def clock(request: table_pb2.CreateTableRequest) -> Clock:
    """The clock that is asked for. Raises Refused for what can't be read."""
    asked = request.clock
    return Clock(
        kind=_one_of(ClockKind, asked.kind, "clock.kind"),
        bank=milliseconds(asked.bank, "clock.bank"),
        step=milliseconds(asked.step, "clock.step"),
        timeout=_one_of(TimeoutPolicy, asked.timeout, "clock.timeout"),
        start=milliseconds(asked.start, "clock.start"),
    )


def absence(request: table_pb2.CreateTableRequest) -> Absence:
    """What shall happen to a seat whose player is not there. Raises Refused."""
    asked = request.absence
    return Absence(
        policy=_one_of(AbsencePolicy, asked.policy, "absence.policy"),
        grace=milliseconds(asked.grace, "absence.grace") or Absence().grace,
    )


def spectator_delay(request: table_pb2.CreateTableRequest) -> int:
    """How old what spectators see shall be, in milliseconds. Raises Refused."""
    return milliseconds(request.spectator_delay, "spectator_delay")


def _one_of(kinds: type[Kind], number: int, field: str) -> Kind:
    """The kind with a number; the first one where nothing is said."""
    try:
        return kinds(number or 1)
    except ValueError as error:
        known = ", ".join(kind.name for kind in kinds)
        raise Refused(
            Reason.BAD_FIELD, f"there is no {field} {number}; there are {known}", field=field
        ) from error
