"""What time it is at the service, to show clocks by; nothing is decided here, and nothing sent.

The service stamps its time into answers and into the messages of a watch. Each stamp says
something about how far its time is ahead of a clock of this machine that nobody can set (case
C2). The stamp of an answer lies between sending and receiving; that of a watch's message came
before it was received, and the one that came quickest says most. What the last minutes say is
put together. Where they contradict each other - the machine slept, during which its clock stood
still - the newer ones are right.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from tableturn.v1 import clock_pb2, table_pb2

LATELY = 120.0
"""Seconds for which a stamp counts."""
_MOST = 64

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class _Stamp:
    """When it was heard, and how far the service's time is ahead: at least, and at most."""

    heard: float
    least: float
    most: float


class Timekeeping:
    """The service's time, as far as it is known. `now` is a clock that only goes on."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._stamps: deque[_Stamp] = deque(maxlen=_MOST)

    def answered(self, stamp: Timestamp, sent: float) -> None:
        """An answer came just now to a call that was sent then."""
        heard, told = self._now(), _seconds(stamp)
        self._heard(_Stamp(heard, told - heard, told - sent))

    def told(self, stamp: Timestamp) -> None:
        """A message of a watch came just now."""
        heard = self._now()
        self._heard(_Stamp(heard, _seconds(stamp) - heard, math.inf))

    def time(self) -> datetime | None:
        """What time it is at the service; None as long as it has said nothing."""
        if not self._stamps:
            return None
        ahead, most = self._bounds()
        if most < math.inf:
            ahead = (ahead + most) / 2
        return _EPOCH + timedelta(seconds=self._now() + ahead)

    def _heard(self, stamp: _Stamp) -> None:
        self._stamps.append(stamp)
        while len(self._stamps) > 1 and self._stamps[0].heard < stamp.heard - LATELY:
            self._stamps.popleft()
        least, most = self._bounds()
        while least > most:
            self._stamps.popleft()
            least, most = self._bounds()

    def _bounds(self) -> tuple[float, float]:
        """How far the service's time is ahead: at least, and at most."""
        return max(s.least for s in self._stamps), min(s.most for s in self._stamps)


def moment(milliseconds: int) -> datetime:
    """A moment of the service's time, from its milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def time_left(
    view: table_pb2.TableView, seat: int, now: datetime | None = None
) -> timedelta | None:
    """What a seat has left, at a moment of the service's time, else as of the view.

    None where its clock never runs out, or has run out, or there is none. At zero the service
    has still the last word. A view that is shown late is one of then (`TableView.behind`).
    """
    clock = _clock(view, seat)
    if clock is None:
        return None
    if not clock.running:
        return clock.left.ToTimedelta() if clock.HasField("left") else None
    if not clock.HasField("deadline"):
        return None
    left = clock.deadline.ToDatetime(UTC) - shown_at(view, now)
    return max(timedelta(), left)


def time_used(view: table_pb2.TableView, seat: int, now: datetime | None = None) -> timedelta:
    """What a seat has thought in all, with the time that runs now."""
    clock = _clock(view, seat)
    if clock is None:
        return timedelta()
    used = clock.used.ToTimedelta()
    if clock.running and clock.HasField("running_since"):
        since = clock.running_since.ToDatetime(UTC)
        used += max(timedelta(), shown_at(view, now) - since)
    return used


def start_left(view: table_pb2.TableView, seat: int, now: datetime | None = None) -> timedelta:
    """What is left of a seat's start clock, which is part of what it has left in all."""
    clock = _clock(view, seat)
    if clock is None:
        return timedelta()
    left = clock.start_left.ToTimedelta()
    if clock.running and clock.HasField("running_since"):
        left -= max(timedelta(), shown_at(view, now) - clock.running_since.ToDatetime(UTC))
    return max(timedelta(), left)


def shown_at(view: table_pb2.TableView, now: datetime | None = None) -> datetime:
    """The time that a view shows at a moment of the service's: earlier for whoever sees it late.

    Without the service's time, that of the view's last change.
    """
    if now is None:
        return view.update_time.ToDatetime(UTC)
    return now - view.behind.ToTimedelta()


def _clock(view: table_pb2.TableView, number: int) -> clock_pb2.SeatClock | None:
    found = next((seat for seat in view.seats if seat.seat == number), None)
    return found.clock if found is not None and found.HasField("clock") else None


def _seconds(stamp: Timestamp) -> float:
    return stamp.seconds + stamp.nanos / 1e9
