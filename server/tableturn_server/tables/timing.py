"""Time as commands deal with it: added, run out, and not charged for an outage."""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.tables import clocks, commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import name_of, with_value
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_running,
    check_seat,
    check_service,
    is_host,
    no_seat,
    unknown_token,
)
from tableturn_server.tables.spans import DAY, SECOND, in_time
from tableturn_server.tables.stand_ins import standing_in
from tableturn_server.tables.state import SeatClock, StandInCause, Table, TimeoutPolicy
from tableturn_server.tables.turns import default_turn, dropping, halted

LEAST_ADDED = SECOND
MOST_ADDED = 7 * DAY

# -- more time -------------------------------------------------------------------------------


def add_time(table: Table, command: commands.AddTime, now: int) -> Change:
    """Give a seat, or all, more time: the host, or somebody else who plays."""
    check_seat(table, command.seat)
    who = _giver(table, command)
    check_running(table)
    if not clocks.is_limited(table.making.clock):
        raise Refused(Reason.NO_CLOCK, "no time runs out at this table, so none can be added")
    if not LEAST_ADDED <= command.time <= MOST_ADDED:
        raise Refused(
            Reason.BAD_FIELD, "the time that is added is 1 second to 7 days", field="time"
        )
    numbers = _receivers(table, command.seat)
    if any(table.clocks[n - 1].bank + command.time > clocks.MOST_BANK for n in numbers):
        raise Refused(Reason.BAD_FIELD, "a seat has ten years at most", field="time")
    to = name_of(table, command.seat) if command.seat else "all"
    return _timed(
        table,
        [
            clocks.more(clock, command.time) if n in numbers else clock
            for n, clock in enumerate(table.clocks, 1)
        ],
        LogEntry(
            revision=table.revision + 1,
            time=now,
            kind=ChangeKind.ADD_TIME,
            seat=command.seat,
            lines=(f"{who} gives {to} {in_time(command.time)} more",),
        ),
    )


def _giver(table: Table, command: commands.AddTime) -> str:
    """Who gives time, in words. Raises Refused: nobody gives it to themselves."""
    own = [n for n in table.seats_of(command.by.token) if not table.seat(n).dropped]
    if command.seat in table.seats_of(command.by.token):
        raise Refused(Reason.NOT_ALLOWED, "nobody gives time to themselves; others may")
    if is_host(table, command.by):
        return "the host"
    if not own:
        raise unknown_token(
            table, command.by, "the token of another seat that is in the game, or the host's"
        )
    if not command.seat:
        raise Refused(Reason.NOT_ALLOWED, "only the host gives time to all; name a seat")
    return name_of(table, own[0])


def _receivers(table: Table, wanted: int) -> tuple[int, ...]:
    """The seats that get time: the one named, or all in the game."""
    if not wanted:
        return tuple(n for n, seat in enumerate(table.seats, 1) if not seat.dropped)
    if table.seat(wanted).dropped:
        raise Refused(Reason.NOT_ALLOWED, f"{name_of(table, wanted)} has left the game")
    return (wanted,)


# -- time that is up -------------------------------------------------------------------------


def time_out(table: Table, command: commands.TimeOut, now: int) -> Change | None:
    """A seat's time is up: what the table's policy says is done, once.

    None where that is not so any more: the seat has confirmed, was given time, the game paused.
    """
    check_service(table, command.by)
    number = command.seat
    if not 0 < number <= len(table.seats):
        raise no_seat(table, number)
    due = clocks.deadlines(table).get(number)
    if due != command.deadline or now < due:
        return None
    up = f"the time of {name_of(table, number)} is up"
    match table.making.clock.timeout:
        case TimeoutPolicy.DEFAULT:
            return _least(table, number, now, up)
        case TimeoutPolicy.BOT:
            line = f"{up}: a bot plays on ({command.bot})"
            return standing_in(table, number, command.bot, StandInCause.TIME, now, line)
        case TimeoutPolicy.DROP:
            return dropping(table, number, now, f"{up}: the seat leaves the game")
        case TimeoutPolicy.WARN:
            return _warned(table, number, now, f"{up}; the turn goes on")


def _least(table: Table, number: int, now: int, up: str) -> Change:
    """The least is done for a seat; or the game is paused where nobody has played for a round.

    A game that is left with its clocks running would go on with itself for ever.
    """
    if table.idle_turns >= sum(not seat.dropped for seat in table.seats):
        line = "nobody has done anything for a whole round; the game is paused"
        return halted(table, line, 0, now, paused=True)
    change = default_turn(table, number, now, up)
    counted = replace(change.table, idle_turns=table.idle_turns + 1)
    return replace(change, table=counted, entry=replace(change.entry, timed=True))


def _warned(table: Table, number: int, now: int, line: str) -> Change:
    """All know that a seat's time is up, and its turn goes on."""
    ran_out = replace(table.clocks[number - 1], ran_out=True)
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.TIME_OUT,
        seat=number,
        lines=(line,),
    )
    return _timed(table, with_value(table.clocks, number, ran_out), entry)


# -- time that nobody had --------------------------------------------------------------------


def excuse(table: Table, command: commands.Excuse, now: int) -> Change | None:
    """Nobody is charged for an outage, once; None where no clock ran then.

    The table's time is not before the outage's end, whoever's clock that was.
    """
    check_service(table, command.by)
    if command.end <= table.credited:
        return None
    begin = max(command.begin, table.credited)
    excused = [clocks.excused(clock, begin, command.end) for clock in table.clocks]
    numbers = [n for n, clock in enumerate(table.clocks, 1) if clock != excused[n - 1]]
    if not numbers:
        return None
    away = in_time(command.end - command.begin)
    entry = LogEntry(
        revision=table.revision + 1,
        time=max(now, command.end),
        kind=ChangeKind.OUTAGE,
        lines=(f"the service was away for {away}; nobody is charged for it",),
    )
    return _timed(replace(table, credited=command.end), excused, entry)


# -- what these have in common ---------------------------------------------------------------


def _timed(table: Table, kept: tuple[SeatClock, ...] | list[SeatClock], entry: LogEntry) -> Change:
    """The change of a table's clocks that an entry tells of; what is asked stays the same."""
    after = replace(table, revision=entry.revision, stamp=entry.time, clocks=tuple(kept))
    return Change(after, entry, entry.seat)
