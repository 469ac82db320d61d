"""A small vocabulary for tests of clocks: a table at which a second is a second.

game = timed(ClockKind.DELAY, bank=60, step=10)
ann, bob = game.people
game.passes(15)
ann.confirms()
assert game.left(1) == 55

Nothing takes time but `passes`. All spans are in seconds, and moments in seconds since the start.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tableturn_server.tables import clocks, commands, views
from tableturn_server.tables.authority import Change
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.state import Clock, ClockKind, SeatClock, TimeoutPolicy
from tests.tables.play import NAMES, SERVICE, By, Person, TableOfTest, a_table

START = 1_000_000
EVERY_LIMITED = (
    ClockKind.PER_TURN,
    ClockKind.INCREMENT,
    ClockKind.DELAY,
    ClockKind.CORRESPONDENCE,
)


@dataclass
class TimedTable(TableOfTest):
    """A table with a clock; time passes only when a test says so."""

    tick: int = 0

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return (self.clock - START) / 1000

    def passes(self, seconds: float) -> None:
        """So much time goes by, and nobody does anything."""
        self.clock += int(seconds * 1000)

    def clock_of(self, seat: int) -> SeatClock:
        return self.table.clocks[seat - 1]

    def runs(self, seat: int) -> bool:
        return bool(self.clock_of(seat).since)

    @property
    def running(self) -> list[int]:
        """The seats whose clocks run."""
        return [n for n in range(1, len(self.table.seats) + 1) if self.runs(n)]

    def deadline(self, seat: int) -> float | None:
        """When a seat's time is up."""
        at = self.clock_of(seat).deadline
        return (at - START) / 1000 if at else None

    def left(self, seat: int) -> float:
        """What a seat has left, as of now if its clock runs."""
        return clocks.left(clocks.stopped(self.clock_of(seat), self.clock)) / 1000

    def bank(self, seat: int) -> float:
        return clocks.stopped(self.clock_of(seat), self.clock).bank / 1000

    def used(self, seat: int) -> float:
        """What a seat has thought in all."""
        return clocks.stopped(self.clock_of(seat), self.clock).used / 1000

    def sees(self, seat: int) -> views.ClockView:
        return views.clocks(self.table)[seat - 1]

    def time_is_up(
        self, seat: int, *, deadline: float | None = None, bot: str = "greedy"
    ) -> Change | None:
        """The service finds that a seat's time is up, at the deadline that it knows."""
        at = self.deadline(seat) if deadline is None else deadline
        return self.does(
            commands.TimeOut(by=SERVICE, seat=seat, deadline=int(START + (at or 0) * 1000), bot=bot)
        )

    def runs_out(self, seat: int) -> Change | None:
        """A seat does nothing until its time is up."""
        at = self.deadline(seat)
        assert at is not None
        self.passes(max(0, at - self.now))
        return self.time_is_up(seat)

    def gives(self, by: By, seconds: float, *, seat: int = 0) -> Change | None:
        return self.does(commands.AddTime(by=by, seat=seat, time=int(seconds * 1000)))

    def is_excused(self, begin: float, end: float) -> Change | None:
        """The service was away from one moment to another."""
        at = [int(START + moment * 1000) for moment in (begin, end)]
        return self.does(commands.Excuse(by=SERVICE, begin=at[0], end=at[1]))

    def last(self, kind: ChangeKind) -> str:
        """The first line of the last change, which is of this kind."""
        assert self.log[-1].kind is kind
        return self.log[-1].lines[0]


def a_clock(
    kind: ClockKind,
    *,
    bank: float = 0,
    step: float = 0,
    start: float = 0,
    timeout: TimeoutPolicy = TimeoutPolicy.WARN,
) -> Clock:
    """The settings of a clock, in seconds."""
    spans = [int(span * 1000) for span in (bank, step, start)]
    return Clock(kind=kind, bank=spans[0], step=spans[1], start=spans[2], timeout=timeout)


def timed(
    kind: ClockKind,
    *,
    game: str = "free-table",
    seats: int = 2,
    bank: float = 0,
    step: float = 0,
    start: float = 0,
    timeout: TimeoutPolicy = TimeoutPolicy.WARN,
    taken: bool = True,
    **wishes: object,
) -> TimedTable:
    """A table with a clock, the game just started."""
    clock = a_clock(kind, bank=bank, step=step, start=start, timeout=timeout)
    made = a_table(game, seats=seats, taken=False, clock=clock, **wishes)  # type: ignore[arg-type]
    at = TimedTable(made.table, made.log, clock=START)
    if taken:
        for name in NAMES[:seats]:
            Person(at, name).takes_seat()
    return at


def any_clock(chance: random.Random) -> Clock:
    """Mostly one, and so little time that it runs out."""
    kind = chance.choice([k for k in ClockKind if k is not ClockKind.CORRESPONDENCE])
    limited = kind not in (ClockKind.NONE, ClockKind.COUNT_UP)
    return Clock(
        kind=kind,
        bank=20_000 if kind in (ClockKind.INCREMENT, ClockKind.DELAY) else 0,
        step=5_000 if limited else 0,
        start=chance.choice((0, 3_000)) if kind is not ClockKind.NONE else 0,
        timeout=chance.choice(list(TimeoutPolicy)) if limited else TimeoutPolicy.WARN,
    )
