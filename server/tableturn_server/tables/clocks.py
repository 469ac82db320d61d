"""Clocks: who is charged for which time, and when it is up.

`kept` looks at a table before and after a change, whatever the change was, and keeps the clocks:
that is the one place where a clock begins to run, stops, or is given time. A clock runs while its
seat is asked, unless the game is paused or between two rounds. Every seat that is asked has a
deadline of its own, from the moment when it was asked: what others do doesn't move it (C5). All
times are the table's (`stamp`), in milliseconds, and never a client's (C1, C4).

A turn brings its `step` once, however often it is interrupted: as time of its own (PER_TURN,
DELAY, CORRESPONDENCE), which is lost with the turn, or into the bank (INCREMENT). Time is used up
in the order start clock, delay, bank. Nobody waits for a bot: while one plays, time is counted
and nothing of it is used up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from tableturn_server.rules.game import PromptKind
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import bot_of
from tableturn_server.tables.history import replay
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.spans import DAY, MINUTE, SECOND
from tableturn_server.tables.state import (
    Clock,
    ClockKind,
    SeatClock,
    Status,
    Table,
    game_of,
)

MOST_BANK = 10 * 366 * DAY
"""No bank grows beyond ten years."""
LEAST_LOW = 5 * SECOND
MOST_LOW = MINUTE
"""Time is low from a tenth of what a turn may take on, within these bounds."""

_LIMITED = (
    ClockKind.PER_TURN,
    ClockKind.INCREMENT,
    ClockKind.DELAY,
    ClockKind.CORRESPONDENCE,
)

Asked = Mapping[int, PromptKind]
"""The seats that are asked, and what."""


# -- what is true of a table -----------------------------------------------------------------


def has_clock(table: Table) -> bool:
    """Time is counted at the table."""
    return table.making.clock.kind is not ClockKind.NONE


def is_counting(table: Table) -> bool:
    """The clock of a seat is running."""
    return any(clock.since for clock in table.clocks)


def is_limited(clock: Clock) -> bool:
    """Time can run out."""
    return clock.kind in _LIMITED


def is_between_rounds(table: Table) -> bool:
    """The game is between two rounds: the time is the table's, not a seat's."""
    return PromptKind.BETWEEN_ROUNDS in _asked(table).values()


def turns_of(table: Table) -> Asked:
    """The seats whose turn it is; their clocks run unless the game is paused."""
    asked = _asked(table)
    return {} if PromptKind.BETWEEN_ROUNDS in asked.values() else asked


def has_deadline(table: Table, number: int) -> bool:
    """A seat's time can run out: nobody waits for a bot."""
    return is_limited(table.making.clock) and not bot_of(table.seat(number))


def deadline_of(table: Table, number: int) -> int:
    """When the time of a seat whose clock runs as it does is up; 0 for never."""
    clock = table.clocks[number - 1]
    if not clock.since or clock.ran_out or not has_deadline(table, number):
        return 0
    return clock.since + left(clock)


def deadlines(table: Table) -> dict[int, int]:
    """When the time of which seats is up, as far as it can be."""
    return {n: clock.deadline for n, clock in enumerate(table.clocks, 1) if clock.deadline}


def left(clock: SeatClock) -> int:
    """What a seat has when its clock stands."""
    return clock.start + clock.delay + clock.bank


def low_at(table: Table, clock: SeatClock) -> int:
    """From when on a seat has little time left; 0 where it has no deadline."""
    if not clock.deadline:
        return 0
    settings = table.making.clock
    tenth = (settings.bank + settings.step) // 10
    most = tenth if settings.kind is ClockKind.CORRESPONDENCE else MOST_LOW
    return clock.deadline - min(max(tenth, LEAST_LOW), max(most, LEAST_LOW))


def _asked(table: Table) -> Asked:
    """What seats are asked at the last confirmed position."""
    if table.status is not Status.RUNNING:
        return {}
    return {prompt.seat: prompt.kind for prompt in game_of(table).prompts(table.position)}


# -- one clock -----------------------------------------------------------------------------


def set_up(settings: Clock) -> SeatClock:
    """A seat's clock at the start of the game."""
    return SeatClock(bank=settings.bank, start=settings.start)


def granted(settings: Clock, clock: SeatClock) -> SeatClock:
    """A standing clock with the step of a turn, less what was used of a step withdrawn before."""
    clock = replace(clock, delay=0, again=False)
    if settings.kind is not ClockKind.INCREMENT:
        return replace(clock, delay=settings.step)
    paid = min(clock.owed, settings.step)
    bank = min(clock.bank + settings.step - paid, MOST_BANK)
    return replace(clock, bank=bank, owed=clock.owed - paid)


def granted_again(settings: Clock, clock: SeatClock) -> SeatClock:
    """A standing clock with another step for the same turn, for whoever has no time left.

    Nothing of it is kept beyond the turn, not by an increment either: coming back is no way to
    more time.
    """
    return replace(clock, delay=settings.step, again=True)


def withdrawn(settings: Clock, clock: SeatClock) -> SeatClock:
    """A standing clock without the step of a turn that doesn't happen now.

    What was used of it stays used: it is owed, and taken off the next step.
    """
    clock = replace(clock, delay=0)
    if settings.kind is not ClockKind.INCREMENT:
        return clock
    taken = min(clock.bank, settings.step)
    return replace(clock, bank=clock.bank - taken, owed=clock.owed + settings.step - taken)


def more(clock: SeatClock, time: int) -> SeatClock:
    """The clock with more time in its bank; a turn whose time was up has time again."""
    deadline = clock.deadline + time if clock.deadline else 0
    return replace(clock, bank=clock.bank + time, deadline=deadline, ran_out=False)


def stopped(clock: SeatClock, now: int) -> SeatClock:
    """The clock standing, charged for the time that it ran.

    Without a deadline nothing is used up but the start clock: the time of a turn that goes on
    though its time is up, of a bot, or of a clock that only counts.
    """
    if not clock.since:
        return clock
    of_start = min(clock.start, now - clock.since)
    own = now - clock.since - of_start
    of_delay = min(clock.delay, own) if clock.deadline else 0
    of_bank = min(clock.bank, own - of_delay) if clock.deadline else 0
    return replace(
        clock,
        start=clock.start - of_start,
        delay=clock.delay - of_delay,
        bank=clock.bank - of_bank,
        used=clock.used + own,
        since=0,
        deadline=0,
    )


def excused(clock: SeatClock, begin: int, end: int) -> SeatClock:
    """The clock without the charge for a time in which nobody could do anything."""
    if not clock.since:
        return clock
    lost = max(0, end - max(begin, clock.since))
    deadline = clock.deadline + lost if clock.deadline else 0
    return replace(clock, since=clock.since + lost, deadline=deadline)


# -- a change ------------------------------------------------------------------------------


def kept(before: Table, change: Change) -> Change:
    """The change with the clocks as they are after it, and its log entry with what it moved."""
    after = change.table
    turned = before.turned_at != after.turned_at
    if turned or before.paused is not after.paused:
        after = _standing(before, after)
    elif not after.clocks:
        return change  # what is staged at a table without a clock: nothing to be kept
    if not has_clock(after) or after.status is Status.OPEN:
        return change if after is change.table else replace(change, table=after)
    turns = turns_of(after)
    clocks = _clocks(change, after, turns, _begun(before, change, turns) if turned else ())
    entry = replace(change.entry, clocks=moved(before.clocks, clocks))
    return replace(change, table=replace(after, clocks=clocks), entry=entry)


def moved(
    before: tuple[SeatClock, ...], after: tuple[SeatClock, ...]
) -> tuple[tuple[int, int, int], ...]:
    """What the log tells of the clocks that a change moved: seats, deadlines, what was left."""
    return tuple(
        (number, clock.deadline, left(clock))
        for number, clock in enumerate(after, 1)
        if not before or clock != before[number - 1]
    )


def _standing(before: Table, after: Table) -> Table:
    """The table with how long it was paused or between rounds: that is nobody's time."""
    was = before.standing_since
    stands = after.status is Status.RUNNING and (after.paused or is_between_rounds(after))
    if not was and not stands:
        return after
    if was and stands and before.paused is after.paused:
        return after
    spent = after.stamp - was if was else 0
    return replace(
        after,
        standing_since=after.stamp if stands else 0,
        paused_time=after.paused_time + (spent if before.paused else 0),
        between_time=after.between_time + (0 if before.paused else spent),
    )


def _clocks(
    change: Change, after: Table, turns: Asked, begun: Collection[int]
) -> tuple[SeatClock, ...]:
    """Each seat's clock after a change, by which some seats have `begun` a turn."""
    settings, now, entry = after.making.clock, after.stamp, change.entry
    undone = (*change.withdrawn, *begun) if change.undone else ()
    clocks = []
    for number, clock in enumerate(after.clocks or (set_up(settings),) * len(after.seats), 1):
        runs = number in turns and not after.paused
        if not runs or number in begun or number in undone:
            clock = stopped(clock, now)
        for _ in range(undone.count(number)):
            clock = withdrawn(settings, clock)
        if number in begun:
            clock = replace(granted(settings, clock), ran_out=False)
        elif number not in turns and (clock.delay or clock.ran_out or clock.again):
            clock = replace(clock, delay=0, ran_out=False, again=False)
        if clock.start and entry.kind in _SIGNS and entry.seat == number:
            # It has shown up: from now on its own time runs.
            clock = replace(stopped(clock, now), start=0)
        clocks.append(_running(after, number, clock) if runs else clock)
    return tuple(clocks)


_SIGNS = (ChangeKind.STAGE, ChangeKind.UNDO, ChangeKind.CONFIRM)


def _running(table: Table, number: int, clock: SeatClock) -> SeatClock:
    """The clock running, with a deadline if it has one; from now on if that is new."""
    limited = has_deadline(table, number) and not clock.ran_out
    if clock.since and bool(clock.deadline) is limited:
        return clock
    now = table.stamp
    clock = stopped(clock, now)
    return replace(clock, since=now, deadline=now + left(clock) if limited else 0)


# -- turns -----------------------------------------------------------------------------------

_IN_A_TURN = (PromptKind.RETURN_CUBES,)
"""What a seat is asked after its own action is part of the same turn, and of its time."""


def _begun(before: Table, change: Change, turns: Asked) -> Collection[int]:
    """The seats that begin a turn with a change, or begin theirs again after a takeback."""
    if change.undone:
        return set(change.undone) & turns.keys()
    return turns_after(turns_of(before), turns, change.entry.seat)


def turns_after(before: Asked, after: Asked, seat: int) -> Collection[int]:
    """The seats that begin a turn after one of `seat`: those that go on where they were don't."""
    return {
        number
        for number, kind in after.items()
        if (kind not in _IN_A_TURN if number == seat else before.get(number) is not kind)
    }


def turns_begun(table: Table, turns: Iterable[LogEntry]) -> tuple[int, ...]:
    """The seats that began a turn while these were confirmed on top of a table, once for each."""
    found: list[int] = []
    for turn in turns:
        before, table = turns_of(table), replay(table, (turn,))
        found += turns_after(before, turns_of(table), turn.seat)
    return tuple(found)
