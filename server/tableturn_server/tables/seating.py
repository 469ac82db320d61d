"""Seats: taken by a person or a bot, left, and the start of the game."""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.rules.game import BadOption
from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import (
    free_seats,
    in_words,
    is_full,
    name_of,
    next_host,
    with_value,
    without_votes,
)
from tableturn_server.tables.log import ChangeKind, LogEntry, first_hash
from tableturn_server.tables.making import NAME_LENGTH, check_token, clean_text
from tableturn_server.tables.moving import bot_name, moved_up
from tableturn_server.tables.panels import freed
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_host,
    check_may_remove,
    check_not_over,
    check_occupant,
    check_seat,
    is_host,
    panels_of_token,
    seat_of_owner_or_host,
)
from tableturn_server.tables.stand_ins import BOT_NAME_LENGTH, with_a_step
from tableturn_server.tables.state import (
    Confirmation,
    Occupant,
    Seat,
    Status,
    Table,
    game_of,
)

# -- sitting down --------------------------------------------------------------------------


def take_seat(table: Table, command: commands.TakeSeat, now: int) -> Change:
    """Give a free seat to a token; the game starts if that was the last one."""
    name = clean_text(command.name, "name", NAME_LENGTH)
    check_token(command.token, "token_sha256")
    check_not_over(table)
    if table.making.private and not command.invited and not is_host(table, command.by):
        raise Refused(Reason.NOT_ALLOWED, "this table is private: it needs its join code")
    number = _free_seat(table, command.seat)
    seat = replace(
        table.seat(number),
        name=name,
        occupant=Occupant.PERSON,
        token=command.token,
        confirmation=command.confirmation,
        at_panel=bool(panels_of_token(table, command.token)),
    )
    _check_can_confirm(seat, number)
    return seated(table, number, seat, name, now)


def seat_bot(table: Table, command: commands.SeatBot, now: int) -> Change:
    """Give a free seat to a bot. What had been staged there is undone: a bot begins anew."""
    check_host(table, command.by, "seat a bot")
    bot = clean_text(command.bot, "bot", BOT_NAME_LENGTH)
    name = clean_text(command.name, "name", NAME_LENGTH, empty=True)
    check_not_over(table)
    number = _free_seat(table, command.seat)
    seat = replace(
        table.seat(number),
        name=name or bot_name(bot, number),
        occupant=Occupant.BOT,
        bot=bot,
        confirmation=command.confirmation,
    )
    cleared = replace(table, staged=with_value(table.staged, number, ()))
    return seated(cleared, number, seat, f"{seat.name} (bot: {bot})", now)


def _free_seat(table: Table, wanted: int) -> int:
    """The free seat that is wanted, or the first one (0)."""
    free = free_seats(table)
    check_seat(table, wanted)
    if wanted and wanted not in free:
        others = f"free seats: {', '.join(map(str, free))}" if free else "no seat is free"
        raise Refused(Reason.SEAT_TAKEN, f"seat {wanted} is taken; {others}")
    if not free:
        raise Refused(Reason.TABLE_FULL, "every seat of this table is taken")
    return wanted or free[0]


def seated(table: Table, number: int, seat: Seat, who: str, now: int) -> Change:
    """Somebody sits on a seat from now on; the game starts if that is wanted when all do."""
    revision = table.revision + 1
    instead_of_a_bot = seat.occupant is Occupant.PERSON and bool(table.seat(number).stand_in)
    sitting = replace(
        seat, since=revision, stand_in="", stand_in_cause=0, left_at=0, plays_since=now
    )
    after = replace(
        table,
        revision=revision,
        stamp=now,
        seats=with_value(table.seats, number, sitting),
        votes=without_votes(table, number),
        clocks=with_a_step(table, number, now) if instead_of_a_bot else table.clocks,
        # Whoever sits down is asked anew: what was sent for the seat before doesn't count (S15).
        asked_at=with_value(table.asked_at, number, revision),
    )
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.TAKE_SEAT,
        seat=number,
        lines=(f"{who} takes seat {number} ({seat.color})",),
    )
    if after.status is Status.OPEN and is_full(after) and after.making.start_when_full:
        started, events = _started(after)
        entry = replace(entry, lines=(*entry.lines, "the game starts", *events))
        return Change(started, entry, number, snapshot=True)
    return Change(after, entry, number)


def _check_can_confirm(seat: Seat, number: int) -> None:
    """Raise Refused where nobody could confirm a seat's turns."""
    if seat.at_panel and seat.confirmation is Confirmation.DEVICE:
        raise Refused(
            Reason.NOT_ALLOWED,
            f"seat {number} is taken at a panel and has no device of its own to confirm on",
        )


def set_confirmation(table: Table, command: commands.SetConfirmation, now: int) -> Change | None:
    """Change who confirms a seat's turns.

    A bot takes the turn anew that it was about to take: what it has staged for the panel to
    confirm is undone, and what it still sends for the question before comes too late.
    """
    number = seat_of_owner_or_host(table, command.by, command.seat)
    check_not_over(table)
    seat = table.seat(number)
    if seat.occupant is Occupant.NOBODY:
        raise Refused(Reason.BAD_FIELD, f"nobody sits on seat {number}", field="seat")
    if seat.confirmation is command.confirmation:
        return None
    changed = replace(seat, confirmation=command.confirmation)
    _check_can_confirm(changed, number)
    revision = table.revision + 1
    after = replace(
        table, revision=revision, stamp=now, seats=with_value(table.seats, number, changed)
    )
    if seat.bot:
        after = replace(
            after,
            staged=with_value(table.staged, number, ()),
            asked_at=with_value(table.asked_at, number, revision),
        )
    how = _how_confirmed(changed)
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.CONFIRMATION,
        seat=number,
        lines=(f"from now on the turns of {name_of(table, number)} are confirmed {how}",),
    )
    return Change(after, entry, number)


def _how_confirmed(seat: Seat) -> str:
    """Who confirms a seat's turns, in words."""
    itself = "by the bot itself" if seat.bot else "by their own device"
    return {
        Confirmation.DEVICE: itself,
        Confirmation.PANEL: "at the panel",
        Confirmation.EITHER: f"{itself} or at the panel",
    }[seat.confirmation]


# -- getting up ----------------------------------------------------------------------------


def leave_seat(table: Table, command: commands.LeaveSeat, now: int) -> Change:
    """Free a seat; its token loses it. What it has staged stays. The host's duties pass on.

    Before the start, a button that got the seat by being pressed is free too; one that the host
    gave the seat stays with it.
    """
    number = seat_of_owner_or_host(table, command.by, command.seat)
    check_may_remove(table, command.by, number)
    check_not_over(table)
    check_occupant(table, number, command.expected_revision)
    seat = table.seat(number)
    if seat.occupant is Occupant.NOBODY:
        raise Refused(Reason.BAD_FIELD, f"nobody sits on seat {number}", field="seat")
    lobby = table.status is Status.OPEN
    revision = table.revision + 1
    free = Seat(
        seat.color,
        "" if lobby else seat.name,
        dropped=seat.dropped,
        since=revision,
        left_at=0 if lobby else now,
    )
    after = replace(
        table,
        revision=revision,
        stamp=now,
        seats=with_value(table.seats, number, free),
        takeback_asked=tuple(n for n in table.takeback_asked if n != number),
        votes=without_votes(table, number),
    )
    if seat.at_panel and lobby:
        after = replace(after, panels=freed(table, number))
    after, passed = _host_passed_on(table, after, number)
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.LEAVE_SEAT,
        seat=number,
        lines=(f"{seat.name} leaves seat {number} ({seat.color})", *passed),
    )
    return Change(after, entry, number)


def _host_passed_on(before: Table, after: Table, number: int) -> tuple[Table, tuple[str, ...]]:
    """The table with a host when a seat was left, and what the log says if it is another one (C8).

    The duties pass on where they had passed to the seat that was left, and besides where the
    host's own token held it. Nobody to take them, or a host who keeps them: they are with the
    host's own token again, so that a table is never without.
    """
    was_theirs = before.host_seat == number
    left_by_host = before.seat(number).token == before.making.host and not before.host_gone
    if not was_theirs and (before.host_seat or not left_by_host):
        return after, ()
    heir = 0 if before.making.host_stays else next_host(after)
    after = replace(after, host_seat=heir, host_gone=before.host_gone and heir > 0)
    if heir:
        beside = "" if after.host_gone else " as well"
        return after, (f"{name_of(after, heir)} has the host's duties{beside}",)
    return after, ("the host's own token has the host's duties",) if was_theirs else ()


# -- the start -----------------------------------------------------------------------------


def start(table: Table, command: commands.Start, now: int) -> Change:
    """Start the game."""
    check_host(table, command.by, "start the game")
    if table.status is not Status.OPEN:
        raise Refused(Reason.ALREADY_STARTED, "the game has started already")
    return starting(table, now, without_free_seats=command.without_free_seats)


def starting(table: Table, now: int, *, number: int = 0, without_free_seats: bool) -> Change:
    """The game starts, because the host or a seat (`number`) wants it."""
    free = free_seats(table)
    if not free:
        return _starting(table, number, ("the game starts",), now)
    if not without_free_seats:
        one = len(free) == 1
        raise Refused(
            Reason.NOT_STARTED,
            f"{in_words(free)} {'is' if one else 'are'} still free; "
            f"{'it' if one else 'they'} must be taken first",
        )
    closed_up, moves = moved_up(table)
    left = len(table.seats) - len(free)
    gone = in_words(range(left + 1, len(table.seats) + 1))
    lines = (*moves.lines, f"the game starts without {gone}")
    return _starting(_without_last_seats(closed_up, left), moves.to(number), lines, now)


def _starting(table: Table, number: int, lines: tuple[str, ...], now: int) -> Change:
    """The game starts with everybody on their seats, because a seat (0: the host) wants it."""
    started, events = _started(replace(table, revision=table.revision + 1, stamp=now))
    entry = LogEntry(
        revision=started.revision,
        time=now,
        kind=ChangeKind.START,
        seat=number,
        lines=(*lines, *events),
    )
    return Change(started, entry, number, snapshot=True)


def _without_last_seats(table: Table, left: int) -> Table:
    """The table with its first `left` seats. Raises Refused where it isn't playable then."""
    making = table.making
    reduced = replace(
        table,
        making=replace(making, seats=left, left_out=making.seats - left),
        seats=table.seats[:left],
        asked_at=table.asked_at[:left],
        staged=table.staged[:left],
    )
    try:
        game_of(reduced)
    except BadOption as error:
        raise Refused(
            Reason.NOT_STARTED, f"the game can't be played without the free seats: {error}"
        ) from error
    return reduced


def _started(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table with its game set up, at the revision it has, and what was turned up."""
    making = table.making
    resolved = game_of(table).setup(making.seed)
    started = replace(
        table,
        status=Status.RUNNING,
        asked_at=(table.revision,) * len(table.seats),
        turned_at=table.revision,
        paused_at=table.revision,
        log_hash=first_hash(making.game, making.seats),
        open=resolved.open,
        hidden=resolved.hidden,
    )
    return started, resolved.events
