"""What a document says of time and people, checked when it is imported.

The parts are read already (`documents`), and the game has been played again, so that it is known
who is asked: a clock that runs beside that, or a bot that stands in for nobody, is refused with
its place.
"""

from __future__ import annotations

from itertools import pairwise

from tableturn_server.tables import clocks
from tableturn_server.tables.documents import at, bad
from tableturn_server.tables.facts import may_be_host, plays_in_person
from tableturn_server.tables.making import NAME_LENGTH, clean_text
from tableturn_server.tables.state import (
    ClockKind,
    Occupant,
    SeatClock,
    StandInCause,
    Status,
    Table,
)

_CAUSES = (0, *StandInCause)


def check_time(table: Table) -> None:
    """Refuse clocks and times that no table has; `table` has a position that is known to be its."""
    elapsed = table.stamp - table.making.created
    for name in ("paused_time", "between_time"):
        if not 0 <= getattr(table, name) <= elapsed:
            raise bad(f"state.{name}", "the time is longer than the table has existed, or negative")
    for name in ("standing_since", "credited"):
        if not _was(table, getattr(table, name)):
            raise bad(f"state.{name}", "it is no time since the table was made")
    running = table.status is Status.RUNNING
    if table.standing_since and not (running and (table.paused or clocks.is_between_rounds(table))):
        raise bad("state.standing_since", "the game is neither paused nor between two rounds")
    started = clocks.has_clock(table) and table.status is not Status.OPEN
    if len(table.clocks) != (len(table.seats) if started else 0):
        raise bad("state.clocks", "one for each seat is expected where a game has a clock")
    turns = clocks.turns_of(table)
    for index, clock in enumerate(table.clocks):
        _check_clock(table, clock, f"state.clocks[{index}]")
        _check_running(table, clock, index + 1, turns, f"state.clocks[{index}]")


def _was(table: Table, moment: int) -> bool:
    """A moment (0: none) is one at which the table was there."""
    return moment == 0 or table.making.created <= moment <= table.stamp


def _check_clock(table: Table, clock: SeatClock, place: str) -> None:
    """Refuse a clock that the table's settings never lead to."""
    settings = table.making.clock
    limited = clocks.is_limited(settings)
    most = {
        "bank": clocks.MOST_BANK if limited else 0,
        "delay": 0 if settings.kind is ClockKind.INCREMENT and not clock.again else settings.step,
        "start": settings.start,
        "used": table.stamp - table.making.created,
        "owed": clocks.MOST_BANK if settings.kind is ClockKind.INCREMENT else 0,
    }
    for name, longest in most.items():
        if not 0 <= getattr(clock, name) <= longest:
            raise bad(f"{place}.{name}", f"0 to {longest} milliseconds are expected")
    if not _was(table, clock.since):
        raise bad(f"{place}.since", "it is no time since the table was made")
    if clock.ran_out and not (limited and clocks.left(clock) == 0):
        raise bad(f"{place}.ran_out", "there is time left")
    if clock.again and not (limited and settings.step):
        raise bad(f"{place}.again", "no turn has a step")


def _check_running(
    table: Table, clock: SeatClock, number: int, turns: clocks.Asked, place: str
) -> None:
    """Refuse a clock that runs though its seat is not asked, or the other way round."""
    if bool(clock.since) is not (number in turns and not table.paused):
        raise bad(f"{place}.since", "a clock runs while its seat is asked, and no longer")
    if clock.deadline != clocks.deadline_of(table, number):
        raise bad(f"{place}.deadline", "it is not when the time that is left is up")
    if number not in turns and (clock.delay or clock.ran_out or clock.again):
        raise bad(f"{place}.delay", "it is not this seat's turn")


def check_people(table: Table) -> None:
    """Refuse bots that stand in, votes and a host's seat that can't be."""
    running = table.status is Status.RUNNING
    for index, seat in enumerate(table.seats):
        place = f"state.seats[{index}]"
        if seat.stand_in:
            with at(f"{place}.stand_in"):
                if clean_text(seat.stand_in, "stand_in", NAME_LENGTH) != seat.stand_in:
                    raise ValueError("the bot's name is not in its normal form")
                if not running or seat.bot or seat.dropped:
                    raise ValueError("a bot stands in for a person who is in a running game")
                if table.staged[index]:
                    raise ValueError("a bot that stands in leaves nothing staged")
        if seat.stand_in_cause not in _CAUSES or bool(seat.stand_in_cause) is not bool(
            seat.stand_in
        ):
            raise bad(f"{place}.stand_in_cause", "there is a cause just where a bot stands in")
        left = seat.occupant is Occupant.NOBODY and table.status is not Status.OPEN
        if not _was(table, seat.left_at) or (seat.left_at and not left):
            raise bad(f"{place}.left_at", "the seat was not left in the game at that time")
        if not _was(table, seat.plays_since):
            raise bad(f"{place}.plays_since", "nobody sat down there at that time")
    if not 0 <= table.host_seat <= len(table.seats):
        raise bad("state.host_seat", f"a seat from 0 to {len(table.seats)} is expected")
    if table.host_seat and not may_be_host(table.seat(table.host_seat)):
        raise bad("state.host_seat", "nobody sits there who could be host")
    if table.host_gone and not table.host_seat:
        raise bad("state.host_gone", "the host's duties have passed to nobody")
    _check_votes(table)


def _check_votes(table: Table) -> None:
    """Refuse votes of whoever has none, and about whoever is not in the game."""
    targets = [target for target, _ in table.votes]
    if not _is_ascending(targets) or (targets and table.status is not Status.RUNNING):
        raise bad("state.votes", "each seat once is expected, in a running game")
    for target, voters in table.votes:
        seats = (target, *voters)
        if not voters or not _is_ascending(voters) or target in voters:
            raise bad("state.votes", "a vote is one of other seats, each once")
        if not all(1 <= number <= len(table.seats) for number in seats):
            raise bad("state.votes", f"seats from 1 to {len(table.seats)} are expected")
        about = table.seat(target)
        if about.dropped or about.bot or not all(plays_in_person(table.seat(n)) for n in voters):
            raise bad("state.votes", "people who play vote about a person in the game")


def _is_ascending(numbers: list[int] | tuple[int, ...]) -> bool:
    """Each number is there once, in order."""
    return all(before < after for before, after in pairwise(numbers))
