"""The clock of a table, and what happens when nobody is there: chosen when it is made.

    client.new_table("spice-road", seats=3, clock=Clock.increment(900, 10))
    client.new_table("spice-road", seats=3, clock=Clock.correspondence(days=2))

All times are in seconds. The service keeps the time; nothing here is ever sent again
(case C4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Self

from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2
from tableturn_client.errors import BadValue
from tableturn_client.values import chosen, number, shown

HOUR = 3_600.0
DAY = 24 * HOUR
_LONGEST = 366 * DAY


class ClockKind(Enum):
    """How a seat's time is counted."""

    NONE = clock_pb2.CLOCK_KIND_NONE
    COUNT_UP = clock_pb2.CLOCK_KIND_COUNT_UP
    PER_TURN = clock_pb2.CLOCK_KIND_PER_TURN
    INCREMENT = clock_pb2.CLOCK_KIND_INCREMENT
    DELAY = clock_pb2.CLOCK_KIND_DELAY
    CORRESPONDENCE = clock_pb2.CLOCK_KIND_CORRESPONDENCE


class TimeUp(Enum):
    """What happens when the time of a seat is up."""

    WARN = clock_pb2.TIMEOUT_POLICY_WARN
    DEFAULT = clock_pb2.TIMEOUT_POLICY_DEFAULT
    BOT = clock_pb2.TIMEOUT_POLICY_BOT
    DROP = clock_pb2.TIMEOUT_POLICY_DROP


class IfAway(Enum):
    """What happens to a seat that is asked and whose player is not there."""

    WAIT = clock_pb2.ABSENCE_POLICY_WAIT
    BOT = clock_pb2.ABSENCE_POLICY_BOT
    DROP = clock_pb2.ABSENCE_POLICY_DROP


@dataclass(frozen=True)
class Clock:
    """The clock of a table, the same for all seats; made by the methods that name its kinds.

    `start` is the start clock, for players who are late: each seat's own time stands still
    for so long at its first turn.
    """

    kind: ClockKind
    bank: float = 0.0
    step: float = 0.0
    time_up: TimeUp = TimeUp.WARN
    start: float = 0.0

    @classmethod
    def count_up(cls, *, start: float = 0.0) -> Self:
        """Time is counted and never runs out."""
        return cls(ClockKind.COUNT_UP, start=start)

    @classmethod
    def per_turn(cls, step: float, *, time_up: TimeUp = TimeUp.WARN, start: float = 0.0) -> Self:
        """So long for each turn; what is left of it is lost."""
        return cls(ClockKind.PER_TURN, step=step, time_up=time_up, start=start)

    @classmethod
    def increment(
        cls, bank: float, step: float, *, time_up: TimeUp = TimeUp.WARN, start: float = 0.0
    ) -> Self:
        """A bank for the whole game, to which each turn adds its step when it begins."""
        return cls(ClockKind.INCREMENT, bank, step, time_up, start)

    @classmethod
    def delay(
        cls, bank: float, step: float, *, time_up: TimeUp = TimeUp.WARN, start: float = 0.0
    ) -> Self:
        """A bank for the whole game, which is touched only after the step of each turn."""
        return cls(ClockKind.DELAY, bank, step, time_up, start)

    @classmethod
    def correspondence(
        cls,
        *,
        days: float = 0.0,
        hours: float = 0.0,
        time_up: TimeUp = TimeUp.WARN,
        start: float = 0.0,
    ) -> Self:
        """So long for each turn, for people who look in now and then."""
        step = number(days) * DAY + number(hours) * HOUR
        return cls(ClockKind.CORRESPONDENCE, step=step, time_up=time_up, start=start)

    @property
    def message(self) -> clock_pb2.ClockSettings:
        """The clock as it is sent. Raises BadValue."""
        return clock_pb2.ClockSettings(
            kind=chosen(self.kind, ClockKind, "the kind of a clock"),
            bank=some(self.bank),
            step=some(self.step),
            timeout=chosen(self.time_up, TimeUp, "what happens when time is up"),
            start=some(self.start),
        )


@dataclass(frozen=True)
class Absence:
    """What happens to a seat whose player is not there, after a grace; 0: two minutes."""

    if_away: IfAway = IfAway.WAIT
    grace: float = 0.0

    @property
    def message(self) -> clock_pb2.AbsenceSettings:
        """The settings as they are sent. Raises BadValue."""
        policy = chosen(self.if_away, IfAway, "what happens to who is away")
        return clock_pb2.AbsenceSettings(policy=policy, grace=some(self.grace))


def duration(seconds: float) -> Duration:
    """Seconds as they are sent. Raises BadValue for a time that is none."""
    if not (math.isfinite(number(seconds)) and 0 <= seconds <= _LONGEST):
        if seconds > _LONGEST:
            raise BadValue(f"a time is at most {_LONGEST // DAY:.0f} days")
        raise BadValue(f"{shown(seconds)} is no number of seconds that a clock could have")
    sent = Duration()
    sent.FromMilliseconds(round(seconds * 1000))
    return sent


def some(seconds: float) -> Duration | None:
    """Seconds as they are sent; none at all are not sent."""
    return duration(seconds) if number(seconds) else None
