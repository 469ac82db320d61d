"""Tables with clocks and people who come and go, to be drawn in tests."""

from datetime import UTC, datetime, timedelta

from tableturn.v1 import clock_pb2, company_pb2, table_pb2
from tableturn_client.drawing.moment import Moment
from tests.client.test_drawing import table

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """So long after the table was seen."""
    return NOON + timedelta(seconds=seconds)


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def timed(name: str = "middle", *, runs: int = 2) -> table_pb2.TableView:
    """A table where each seat has a quarter of an hour and ten seconds more with each turn.

    The clock of one seat runs, and has 42 seconds left; little time is from 30 seconds on.
    """
    view = table(name)
    view.update_time.FromDatetime(NOON)
    view.clock.kind = clock_pb2.CLOCK_KIND_INCREMENT
    view.clock.bank.FromTimedelta(minutes(15))
    view.clock.step.FromTimedelta(timedelta(seconds=10))
    for seat in view.seats:
        clock = seat.clock
        clock.used.FromTimedelta(minutes(seat.seat))
        if seat.seat == runs:
            clock.running = True
            clock.running_since.FromDatetime(after(-8))
            clock.deadline.FromDatetime(after(42))
            clock.low_time.FromDatetime(after(12))
        else:
            clock.left.FromTimedelta(minutes(11) + timedelta(seconds=34))
    return view


def away(*seats: int, since: float = -180) -> company_pb2.Presence:
    """Nobody is there for these seats, since so many seconds after the table was seen."""
    who = company_pb2.Presence(spectators=2)
    for seat in (1, 2, 3, 4):
        gone = seat in seats
        here, left = company_pb2.PRESENCE_STATE_HERE, company_pb2.PRESENCE_STATE_AWAY
        who.seats.add(seat=seat, state=left if gone else here)
        who.seats[-1].since.FromDatetime(after(since))
    return who


def at(seconds: float, who: company_pb2.Presence | None = None) -> Moment:
    """The moment so long after the table was seen."""
    return Moment(after(seconds), who)
