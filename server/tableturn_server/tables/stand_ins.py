"""Bots that stand in: a bot plays on for whoever has a seat, until that person is back.

The seat stays the person's: its token, name and button are what they were. A bot that stands in
confirms its turns itself, also where a panel confirms those of the person, and it leaves nothing
staged: so whoever comes back begins with the next decision (C7).
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.tables import clocks
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import asked_seats, name_of, with_value, without_votes
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.making import clean_text
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import SeatClock, StandInCause, Table, TimeoutPolicy

BOT_NAME_LENGTH = 30


def standing_in(
    table: Table, number: int, bot: str, cause: StandInCause, now: int, line: str
) -> Change:
    """A bot plays on for a seat from now on; `line` says why.

    What is staged there is undone, and what was sent for the seat before comes too late (S11).
    The seat wants nobody to leave the game any more; what others want of it stays.
    """
    standing = replace(
        table.seat(number),
        stand_in=clean_text(bot, "bot", BOT_NAME_LENGTH),
        stand_in_cause=int(cause),
    )
    revision = table.revision + 1
    after = replace(
        table,
        revision=revision,
        stamp=now,
        seats=with_value(table.seats, number, standing),
        staged=with_value(table.staged, number, ()),
        asked_at=with_value(table.asked_at, number, revision),
        votes=without_votes(table, number, about_it=False),
    )
    entry = LogEntry(
        revision=revision, time=now, kind=ChangeKind.STAND_IN, seat=number, lines=(line,)
    )
    return Change(after, entry, number)


def coming_back(table: Table, number: int, now: int) -> Change:
    """Somebody plays on instead of the bot; what the bot still sends comes too late."""
    revision = table.revision + 1
    after = replace(
        returned(table, number, now),
        revision=revision,
        stamp=now,
        asked_at=with_value(table.asked_at, number, revision),
    )
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.COME_BACK,
        seat=number,
        lines=(back_line(table, number),),
    )
    return Change(after, entry, number)


def back_line(table: Table, number: int) -> str:
    """What the log says of somebody who is back."""
    return f"{name_of(table, number)} is back and plays on instead of the bot"


def returned(table: Table, number: int, now: int) -> Table:
    """The table at the same revision with the person of a seat playing instead of the bot.

    Nobody wants any more that the seat leaves the game. Raises Refused where the seat has to
    decide now and has no time for it.
    """
    if has_no_time(table, number, now):
        raise _no_time(table, number)
    playing = replace(table.seat(number), stand_in="", stand_in_cause=0, plays_since=now)
    return replace(
        table,
        seats=with_value(table.seats, number, playing),
        clocks=with_a_step(table, number, now),
        votes=without_votes(table, number),
    )


def has_no_time(table: Table, number: int, now: int) -> bool:
    """The seat would be out of time in the moment in which its player is back.

    It may have a step again, once in a turn (`with_a_step`); after that the bot takes the turn.
    """
    return _is_up(table, number, now) and not _may_have_a_step(table, number)


def _no_time(table: Table, number: int) -> Refused:
    who = name_of(table, number)
    again = bool(table.clocks[number - 1].again)
    return Refused(
        Reason.NOT_ALLOWED,
        f"{who} came back into this turn already and has no time left; come back when the bot has "
        "taken it, or others may add time"
        if again
        else f"{who} has no time left; others may add time",
    )


def _may_have_a_step(table: Table, number: int) -> bool:
    return table.making.clock.step > 0 and not table.clocks[number - 1].again


def _is_up(table: Table, number: int, now: int) -> bool:
    """A seat has to decide and has no time left; where its turn would go on, that is nothing."""
    settings = table.making.clock
    if not clocks.is_limited(settings) or settings.timeout is TimeoutPolicy.WARN:
        return False
    if number not in asked_seats(table) or clocks.is_between_rounds(table):
        return False
    return not clocks.left(clocks.stopped(table.clocks[number - 1], now))


def with_a_step(table: Table, number: int, now: int) -> tuple[SeatClock, ...]:
    """The clocks, with another step for whoever comes into a turn that has no time left.

    Once in a turn: or else nobody's time would ever be up who comes back quickly enough.
    """
    if not (_is_up(table, number, now) and _may_have_a_step(table, number)):
        return table.clocks
    settings = table.making.clock
    again = clocks.granted_again(settings, clocks.stopped(table.clocks[number - 1], now))
    return with_value(table.clocks, number, again)
