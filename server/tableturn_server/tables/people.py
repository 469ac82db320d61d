"""People who come and go in a running game: stand-ins, votes, the host's duties, devices.

A seat is never stuck because of one person. A bot may stand in until the person is back
(`stand_ins`), the others may decide together that the seat leaves the game, and the host's duties
pass on.
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import (
    asked_seats,
    away_since,
    has_deputy,
    is_by_correspondence,
    may_be_host,
    name_of,
    plays_in_person,
    still_to_vote,
    with_value,
)
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.making import check_token
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    any_seat,
    check_host,
    check_running,
    check_seat,
    check_service,
    is_deputy,
    no_seat,
    own_seat,
    panels_of_token,
    seat_of_owner_or_host,
)
from tableturn_server.tables.stand_ins import coming_back, has_no_time, standing_in
from tableturn_server.tables.state import (
    AbsencePolicy,
    Occupant,
    StandInCause,
    Table,
)
from tableturn_server.tables.turns import dropping

__all__ = ["come_back", "go_away", "pass_host", "reseat", "stand_in", "standing_in", "vote_drop"]


# -- bots that stand in --------------------------------------------------------------------


def stand_in(table: Table, command: commands.StandIn, now: int) -> Change | None:
    """Let a bot play on for a person. Who wishes it comes back by an own wish only."""
    number = seat_of_owner_or_host(table, command.by, command.seat)
    check_running(table)
    seat = table.seat(number)
    _check_in_game(table, number)
    if seat.occupant is not Occupant.PERSON:
        raise _nobody(table, number)
    if (seat.stand_in, seat.stand_in_cause) == (command.bot, StandInCause.WISH):
        return None
    line = f"{command.bot} plays on for {name_of(table, number)}"
    return standing_in(table, number, command.bot, StandInCause.WISH, now, line)


def come_back(table: Table, command: commands.ComeBack, now: int) -> Change | None:
    """A person plays on instead of the bot.

    The service says so only of somebody who was away: a device of the seat was heard again.
    """
    if command.by.service:
        return _heard_again(table, command.seat, now)
    number = own_seat(table, command.by, command.seat, _stood_in_for)
    check_running(table)
    _check_in_game(table, number)
    if not table.seat(number).stand_in:
        return None
    return coming_back(table, number, now)


def _stood_in_for(table: Table) -> tuple[int, ...]:
    """The seats for which a bot stands in."""
    return tuple(n for n, seat in enumerate(table.seats, 1) if seat.stand_in)


def _heard_again(table: Table, number: int, now: int) -> Change | None:
    """Nothing happens for somebody who would have no time: they may come back by their own wish."""
    seat = table.seat(number)
    absent = seat.stand_in and seat.stand_in_cause == StandInCause.ABSENCE
    if not absent or seat.occupant is not Occupant.PERSON:
        return None
    if has_no_time(table, number, now):
        return None
    return coming_back(table, number, now)


def go_away(table: Table, command: commands.GoAway, now: int) -> Change | None:
    """A seat's player is away for longer than the grace: what the table's policy says is done.

    Only while the game waits for the seat; a seat that was left is away since then. In a game
    by correspondence nobody is ever away.
    """
    check_service(table, command.by)
    check_seat(table, command.seat)
    number, absence = command.seat, table.making.absence
    if not _is_waited_for(table, number):
        return None
    seat = table.seat(number)
    if seat.occupant is Occupant.NOBODY and not seat.left_at:
        return None
    if now - away_since(seat, command.since) < absence.grace:
        return None
    who = name_of(table, number)
    match absence.policy:
        case AbsencePolicy.BOT:
            line = f"{who} is away, and {command.bot} plays on"
            return standing_in(table, number, command.bot, StandInCause.ABSENCE, now, line)
        case AbsencePolicy.DROP:
            return dropping(table, number, now, f"{who} is away for too long and leaves the game")
        case _:
            return None


def _is_waited_for(table: Table, number: int) -> bool:
    """The game waits for a seat on which no bot plays."""
    seat = table.seat(number)
    return (
        not is_by_correspondence(table)
        and number in asked_seats(table)
        and not table.paused
        and seat.occupant is not Occupant.BOT
        and not seat.stand_in
    )


# -- votes ---------------------------------------------------------------------------------


def vote_drop(table: Table, command: commands.VoteDrop, now: int) -> Change | None:
    """A seat wants another to leave the game for good (DR-4), or doesn't want it any more.

    All have to want it who play in person and are there. Whoever wants it alone may have it only
    of a seat that nobody plays, so that of two nobody is thrown out by the other; several seats of
    one token are one. A wish that was not enough is enough later, if it is said again when others
    are gone.
    """
    number = own_seat(table, command.by, command.seat, any_seat)
    check_running(table)
    _check_votes(table, number)
    target = command.target
    _check_votable(table, number, target)
    voted = dict(table.votes).get(target, ())
    who, whom = name_of(table, number), name_of(table, target)
    if command.withdraw:
        if number not in voted:
            return None
        line = f"{who} does not want any more that {whom} leaves the game"
        return _noted(table, command, number, set(voted) - {number}, now, line)
    line = f"{who} wants {whom} to leave the game"
    wanted = _noted(table, command, number, {*voted, number}, now, line)
    waiting = wanted.waiting_for
    agreed = dict(wanted.table.votes)[target]
    if len({table.seat(n).token for n in (*agreed, *waiting)}) == 1:
        _check_nobody_plays(table, target, command.away)
    if not waiting:
        names = ", ".join(name_of(table, n) for n in agreed)
        return dropping(table, target, now, f"{whom} leaves the game: so want {names}")
    return None if number in voted else wanted


def _noted(
    table: Table, command: commands.VoteDrop, number: int, voters: set[int], now: int, line: str
) -> Change:
    """The table with those noted who want a seat to leave the game; nobody waits for the absent."""
    target = command.target
    others = tuple(vote for vote in table.votes if vote[0] != target)
    votes = (*others, (target, tuple(sorted(voters)))) if voters else others
    after = replace(table, revision=table.revision + 1, stamp=now, votes=tuple(sorted(votes)))
    entry = LogEntry(
        revision=after.revision, time=now, kind=ChangeKind.VOTE_DROP, seat=number, lines=(line,)
    )
    waiting = tuple(n for n in still_to_vote(after, target) if n not in command.away)
    return Change(after, entry, number, waiting_for=waiting)


def _check_votes(table: Table, number: int) -> None:
    """Raise Refused unless a seat has a say in who leaves the game."""
    seat = table.seat(number)
    if seat.dropped:
        raise Refused(Reason.NOT_ALLOWED, f"seat {number} has left the game")
    if not plays_in_person(seat):
        raise Refused(
            Reason.NOT_ALLOWED,
            f"a bot plays on for {name_of(table, number)}; come back first, and then say it",
        )


def _check_votable(table: Table, number: int, target: int) -> None:
    """Raise Refused unless others may want the seat to leave the game."""
    if not 1 <= target <= len(table.seats):
        raise no_seat(table, target, field="target")
    if target == number:
        raise Refused(
            Reason.BAD_FIELD,
            "this is about another seat; to leave yourself, concede",
            field="target",
        )
    _check_in_game(table, target)
    if table.seat(target).occupant is Occupant.BOT:
        raise Refused(Reason.NOT_ALLOWED, f"a bot sits on seat {target}: the host may send it away")


def _check_nobody_plays(table: Table, target: int, away: frozenset[int]) -> None:
    """Raise Refused unless the seat's player is gone, or out of time."""
    seat = table.seat(target)
    by_wish = seat.stand_in_cause == StandInCause.WISH
    out_of_time = bool(table.clocks) and table.clocks[target - 1].ran_out
    if seat.stand_in_cause == StandInCause.TIME or seat.occupant is Occupant.NOBODY:
        return
    if not by_wish and (target in away or out_of_time):
        return
    if by_wish:
        raise Refused(
            Reason.NOT_ALLOWED,
            f"nobody else decides with you, and a bot plays on for {name_of(table, target)}, "
            "who wishes it",
        )
    raise Refused(
        Reason.NOT_ALLOWED,
        f"nobody else decides with you, and {name_of(table, target)} is there and has time",
    )


# -- the host's duties ---------------------------------------------------------------------


def pass_host(table: Table, command: commands.PassHost, now: int) -> Change | None:
    """Hand the host's duties to a seat; the service does so beside a host who is away (C8).

    A deputy passes on no more than that: the host stays host, and has the duties alone again when
    the service says that the host is back.
    """
    number = command.seat
    if not command.by.service:
        check_host(table, command.by, "pass the host's duties on")
    elif not number:
        return _host_is_back(table, now)
    elif table.making.host_stays:
        return None
    if not 1 <= number <= len(table.seats):
        raise no_seat(table, number)
    seat = table.seat(number)
    if not may_be_host(seat):
        raise _cannot_be_host(table, number)
    beside_host = command.by.service or is_deputy(table, command.by)
    gone = table.host_gone or not beside_host
    if (number, gone) == (table.host_seat, table.host_gone):
        return None
    beside = "" if gone else " as well"
    line = f"{name_of(table, number)} has the host's duties{beside}"
    return _with_host(table, number, now, line, gone=gone)


def _host_is_back(table: Table, now: int) -> Change | None:
    """Nobody stands in for the host any more."""
    if not has_deputy(table):
        return None
    return _with_host(table, 0, now, "the host is back and has the duties alone", gone=False)


def _with_host(table: Table, number: int, now: int, line: str, *, gone: bool) -> Change:
    """The table with the host's duties at a seat (0: at none)."""
    after = replace(table, revision=table.revision + 1, stamp=now, host_seat=number, host_gone=gone)
    entry = LogEntry(
        revision=after.revision, time=now, kind=ChangeKind.PASS_HOST, seat=number, lines=(line,)
    )
    return Change(after, entry, number)


def _cannot_be_host(table: Table, number: int) -> Refused:
    """The refusal of a seat whose player can't do what the host does."""
    if table.seat(number).at_panel:
        return Refused(
            Reason.NOT_ALLOWED,
            f"{name_of(table, number)} sits at a panel and has no device to be host on",
        )
    return _nobody(table, number)


# -- devices -------------------------------------------------------------------------------


def reseat(table: Table, command: commands.Reseat, now: int) -> Change | None:
    """Move a seat to another device; the token before loses it (S15).

    What is staged stays, and so does the seat's button. The host's duties go with a seat to which
    they have passed; those of the host's own token stay where it is.
    """
    check_service(table, command.by)
    number = command.seat
    if not 1 <= number <= len(table.seats):
        raise no_seat(table, number)
    check_token(command.token, "token_sha256")
    seat = table.seat(number)
    if seat.since != command.since:
        raise Refused(
            Reason.STALE_REVISION,
            f"somebody else has seat {number} since revision {seat.since}; this code is of no use",
            asked_at=seat.since,
        )
    if seat.occupant is not Occupant.PERSON:
        raise _nobody(table, number)
    if panels_of_token(table, command.token):
        raise Refused(
            Reason.BAD_FIELD,
            "this is a panel's token; a seat moves to a device",
            field="token_sha256",
        )
    if seat.token == command.token:
        return None
    moved = replace(seat, token=command.token, at_panel=False)
    after = replace(
        table,
        revision=table.revision + 1,
        stamp=now,
        seats=with_value(table.seats, number, moved),
    )
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.RESEAT,
        seat=number,
        lines=(
            f"{name_of(table, number)} plays on another device from now on"
            + (", with a code that the host made" if command.by_host else ""),
        ),
    )
    return Change(after, entry, number)


# -- refusals ------------------------------------------------------------------------------


def _check_in_game(table: Table, number: int) -> None:
    """Raise Refused for a seat that has left the game for good."""
    if table.seat(number).dropped:
        raise Refused(Reason.NOT_ASKED, f"seat {number} has left the game already")


def _nobody(table: Table, number: int) -> Refused:
    """The refusal of a seat on which no person sits."""
    is_bot = table.seat(number).occupant is Occupant.BOT
    who = f"a bot sits on seat {number}, no person" if is_bot else f"nobody sits on seat {number}"
    return Refused(Reason.BAD_FIELD, f"{who}; choose another one", field="seat")
