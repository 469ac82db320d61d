"""Decides what a command does to a table.

`decide(table, command, now)` is the one way for a table to change. It is pure:
it returns the table at the next revision with the entry for the log, or raises
`Refused`, and the table given stays as it was. A command that finds its wish
fulfilled already returns None.

Order of the checks for a seat's command: whose seat it is, whether the game
runs, whether the question is still the one that the sender saw
(`asked_at <= expected_revision <= revision`), whether the table is paused, and
at last whether the rules allow it. To leave or to concede, what counts instead of
the question is who sits there (`since`), and a pause doesn't matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from tableturn_server.rules.choices import Illegal
from tableturn_server.rules.game import Game, Prompt, Resolved
from tableturn_server.tables import commands
from tableturn_server.tables.history import History, replay
from tableturn_server.tables.log import (
    ChangeKind,
    LogEntry,
    drop_line,
    first_hash,
    next_hash,
    turn_line,
)
from tableturn_server.tables.making import NAME_LENGTH, check_token, clean_text
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import (
    SNAPSHOT_EVERY,
    Occupant,
    Seat,
    Status,
    Table,
    Takeback,
    game_of,
)


class Change(msgspec.Struct, frozen=True):
    """An accepted command: the table after it, its log entry, and the seat it was for.

    `snapshot` says that the table is to be kept as a snapshot for takebacks;
    `waiting_for` lists the seats that still have to agree to a takeback;
    `position` is the open position with what the seat has staged, where the
    change staged something.
    """

    table: Table
    entry: LogEntry
    seat: int = 0
    snapshot: bool = False
    waiting_for: tuple[int, ...] = ()
    position: Any = None


def decide(
    table: Table,
    command: commands.AnyCommand,
    now: int,
    history: History | None = None,
    positions: Mapping[int, Any] | None = None,
) -> Change | None:
    """The change that a command makes, or None if there is nothing to change.

    `now` is in milliseconds since 1970; the table's time never goes back.
    `history` is needed for `TakeBack` only. `positions` are the positions with
    what seats have staged, as far as the caller has kept them from the changes
    before; the others are staged again. Raises Refused.
    """
    now = max(now, table.stamp)
    match command:
        case commands.Act():
            return _act(table, command, now, positions or {})
        case commands.Undo():
            return _undo(table, command, now)
        case commands.TakeSeat():
            return _take_seat(table, command, now)
        case commands.LeaveSeat():
            return _leave_seat(table, command, now)
        case commands.Start():
            return _start(table, command, now)
        case commands.TakeBack():
            return _take_back(table, command, now, history)
        case commands.Pause():
            return _pause(table, command, now, paused=True)
        case commands.Resume():
            return _pause(table, command, now, paused=False)
        case commands.Concede():
            return _concede(table, command, now)


# Turns


def _act(table: Table, command: commands.Act, now: int, positions: Mapping[int, Any]) -> Change:
    """Stage actions, and confirm the turn if asked to: all of it, or nothing."""
    number = _own_seat(table, command.by, command.seat, _asked_seats)
    _check_running(table)
    _check_question(table, number, command.expected_revision)
    _check_not_paused(table)
    if not command.actions and not command.confirm:
        raise Refused(
            Reason.BAD_FIELD, "no action and no confirmation is asked for", field="actions"
        )
    game = game_of(table)
    asked = game.prompts(table.position)
    if all(prompt.seat != number for prompt in asked):
        raise Refused(Reason.NOT_ASKED, f"seat {number} is not asked anything now")
    open_ = positions.get(number)
    if open_ is None:
        open_ = staged_position(game, table, number)
    who = name_of(table, number)
    lines = []
    for index, action in enumerate(command.actions):
        try:
            after = game.stage(open_, number, action)
        except Illegal as error:
            raise Refused(Reason.ILLEGAL_ACTION, str(error), index=index) from error
        lines.append(f"{who} {game.describe(open_, number, action)}")
        open_ = after
    played = table.staged[number - 1] + command.actions
    if command.confirm:
        return _confirm(table, game, asked, open_, number, command.actions, played, lines, now)
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.STAGE,
        seat=number,
        actions=command.actions,
        lines=tuple(lines),
    )
    return Change(_staged(table, number, played, now), entry, number, position=open_)


def _confirm(
    table: Table,
    game: Game[Any, Any],
    asked: tuple[Prompt, ...],
    open_: Any,
    number: int,
    actions: tuple[Any, ...],
    played: tuple[Any, ...],
    lines: list[str],
    now: int,
) -> Change:
    """Confirm a seat's staged turn; what was hidden turns up.

    `asked` is what seats were asked at the last confirmed position.
    """
    try:
        resolved = game.resolve(open_, table.hidden, number)
    except Illegal as error:
        raise Refused(Reason.CANNOT_CONFIRM, str(error)) from error
    after = _resolved(table, game, asked, resolved, number, turn_line(number, played), now)
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.CONFIRM,
        seat=number,
        turn=after.turns,
        actions=actions,
        played=played,
        lines=(*lines, f"{name_of(table, number)} confirms", *resolved.events),
        turned_up=resolved.turned_up,
        private=resolved.private,
    )
    return Change(after, entry, number, snapshot=after.turns % SNAPSHOT_EVERY == 0)


def _undo(table: Table, command: commands.Undo, now: int) -> Change:
    """Undo the last staged action of a seat, or all."""
    number = _own_seat(table, command.by, command.seat, _staging_seats)
    _check_running(table)
    _check_question(table, number, command.expected_revision)
    _check_not_paused(table)
    staged = table.staged[number - 1]
    if not staged:
        raise Refused(Reason.NOTHING_TO_UNDO, f"seat {number} has nothing staged")
    kept = () if command.all else staged[:-1]
    undone = "all of this turn" if command.all else "the last action"
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.UNDO,
        seat=number,
        actions=staged[len(kept) :],
        lines=(f"{name_of(table, number)} undoes {undone}",),
    )
    return Change(_staged(table, number, kept, now), entry, number)


def _staged(table: Table, number: int, actions: tuple[Any, ...], now: int) -> Table:
    """The table with these actions staged by a seat; its question is a new one."""
    revision = table.revision + 1
    return replace(
        table,
        revision=revision,
        stamp=now,
        staged=_with(table.staged, number, actions),
        asked_at=_with(table.asked_at, number, revision),
    )


def _resolved(
    table: Table,
    game: Game[Any, Any],
    asked: tuple[Prompt, ...],
    resolved: Resolved[Any, Any],
    number: int,
    line: str,
    now: int,
) -> Table:
    """The table with a new confirmed position, reached by a turn or drop of a seat.

    Whoever is asked the same as before may go on where they are: their question doesn't change,
    and what they have staged stays if it is still legal.
    """
    revision = table.revision + 1
    before = {p.seat: p.kind for p in asked}
    after = {p.seat: p.kind for p in game.prompts(resolved.open)}
    asked_at, staged = list(table.asked_at), list(table.staged)
    for index in range(len(asked_at)):
        seat = index + 1
        same = seat != number and before.get(seat) == after.get(seat)
        if not same or (staged[index] and not _fits(game, resolved.open, seat, staged[index])):
            asked_at[index] = revision
            staged[index] = ()
    return replace(
        table,
        revision=revision,
        stamp=now,
        status=Status.FINISHED if game.outcome(resolved.open) else Status.RUNNING,
        asked_at=tuple(asked_at),
        staged=tuple(staged),
        turned_at=revision,
        turns=table.turns + 1,
        log_hash=next_hash(table.log_hash, line),
        takeback_asked=(),
        open=resolved.open,
        hidden=resolved.hidden,
    )


def _take_back(
    table: Table, command: commands.TakeBack, now: int, history: History | None
) -> Change | None:
    """Take the last confirmed turn back, or note that a seat agrees to it."""
    number = _takeback_seat(table, command)
    _check_running(table)
    if not table.turned_at <= command.expected_revision <= table.revision:
        raise _stale(table, table.turned_at)
    _check_not_paused(table)
    last = history.turns[-1] if history and history.turns else None
    if last is None:
        raise Refused(Reason.NOTHING_TO_TAKE_BACK, "no turn has been confirmed yet")
    if last.kind is ChangeKind.DROP:
        raise Refused(
            Reason.NOTHING_TO_TAKE_BACK, "a seat has left the game since; that can't be taken back"
        )
    asked = tuple(sorted({*table.takeback_asked, number})) if number else ()
    waiting = tuple(n for n in _playing(table) if n not in asked) if number else ()
    if waiting and number in table.takeback_asked:
        return None
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.ASK_TAKEBACK if waiting else ChangeKind.TAKEBACK,
        seat=number,
        lines=(f"{name_of(table, number) if number else 'the host'} takes the last turn back",),
    )
    if waiting:
        line = f"{name_of(table, number)} asks to take the last turn back"
        noted = replace(table, revision=table.revision + 1, stamp=now, takeback_asked=asked)
        return Change(noted, replace(entry, lines=(line,)), number, waiting_for=waiting)
    assert history is not None
    seen = tuple(f"it had been seen: {line}" for line in last.turned_up)
    return Change(
        _before_last(table, history, now), replace(entry, lines=entry.lines + seen), number
    )


def _before_last(table: Table, history: History, now: int) -> Table:
    """The table as it was before the last turn, at a new revision."""
    revision = table.revision + 1
    restored = replay(history.snapshot, history.turns[:-1])
    return replace(
        table,
        revision=revision,
        stamp=now,
        asked_at=(revision,) * len(table.seats),
        staged=((),) * len(table.seats),
        turned_at=revision,
        turns=restored.turns,
        log_hash=restored.log_hash,
        takeback_asked=(),
        open=restored.open,
        hidden=restored.hidden,
    )


# Seats, and the game as a whole


def _take_seat(table: Table, command: commands.TakeSeat, now: int) -> Change:
    """Give a free seat to a token; the game starts if that was the last one."""
    name = clean_text(command.name, "name", NAME_LENGTH)
    check_token(command.token, "token_sha256")
    if table.status is Status.FINISHED:
        raise Refused(Reason.GAME_OVER, "the game is over")
    free = [
        n
        for n, seat in enumerate(table.seats, 1)
        if seat.occupant is Occupant.NOBODY and not seat.dropped
    ]
    if command.seat > len(table.seats):
        raise _no_seat(table, command.seat)
    if command.seat and command.seat not in free:
        others = f"free seats: {', '.join(map(str, free))}" if free else "no seat is free"
        raise Refused(Reason.SEAT_TAKEN, f"seat {command.seat} is taken; {others}")
    if not free:
        raise Refused(Reason.TABLE_FULL, "every seat of this table is taken")
    number = command.seat or free[0]
    revision = table.revision + 1
    seat = replace(
        table.seat(number),
        name=name,
        occupant=Occupant.PERSON,
        token=command.token,
        since=revision,
    )
    after = replace(
        table,
        revision=revision,
        stamp=now,
        seats=_with(table.seats, number, seat),
        # Whoever sits down is asked anew: what was sent for the seat before doesn't count (S15).
        asked_at=_with(table.asked_at, number, revision),
    )
    entry = LogEntry(
        revision=revision,
        time=now,
        kind=ChangeKind.TAKE_SEAT,
        seat=number,
        lines=(f"{name} takes seat {number} ({seat.color})",),
    )
    full = all(s.occupant is not Occupant.NOBODY for s in after.seats)
    if after.status is Status.OPEN and full and after.making.start_when_full:
        started, events = _started(after)
        entry = replace(entry, lines=(*entry.lines, "the game starts", *events))
        return Change(started, entry, number, snapshot=True)
    return Change(after, entry, number)


def _leave_seat(table: Table, command: commands.LeaveSeat, now: int) -> Change:
    """Free a seat; its token loses it. What it has staged stays."""
    number = _seat_of_owner_or_host(table, command.by, command.seat)
    if table.status is Status.FINISHED:
        raise Refused(Reason.GAME_OVER, "the game is over")
    _check_occupant(table, number, command.expected_revision)
    seat = table.seat(number)
    if seat.occupant is Occupant.NOBODY:
        raise Refused(Reason.BAD_FIELD, f"nobody sits on seat {number}", field="seat")
    name = "" if table.status is Status.OPEN else seat.name
    revision = table.revision + 1
    free = Seat(seat.color, name, dropped=seat.dropped, since=revision)
    after = replace(
        table,
        revision=revision,
        stamp=now,
        seats=_with(table.seats, number, free),
        takeback_asked=tuple(n for n in table.takeback_asked if n != number),
    )
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.LEAVE_SEAT,
        seat=number,
        lines=(f"{seat.name} leaves seat {number} ({seat.color})",),
    )
    return Change(after, entry, number)


def _start(table: Table, command: commands.Start, now: int) -> Change:
    """Start the game."""
    _check_host(table, command.by, "start the game")
    if table.status is not Status.OPEN:
        raise Refused(Reason.ALREADY_STARTED, "the game has started already")
    free = [n for n, seat in enumerate(table.seats, 1) if seat.occupant is Occupant.NOBODY]
    if free:
        seats = ", ".join(map(str, free))
        raise Refused(
            Reason.NOT_STARTED, f"seats are still free: {seats}; they must be taken first"
        )
    started, events = _started(replace(table, revision=table.revision + 1, stamp=now))
    entry = LogEntry(
        revision=started.revision,
        time=now,
        kind=ChangeKind.START,
        lines=("the game starts", *events),
    )
    return Change(started, entry, snapshot=True)


def _started(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table with its game set up, at the revision it has, and what was turned up."""
    making = table.making
    resolved = game_of(table).setup(making.seed)
    started = replace(
        table,
        status=Status.RUNNING,
        asked_at=(table.revision,) * len(table.seats),
        turned_at=table.revision,
        log_hash=first_hash(making.game, making.seats),
        open=resolved.open,
        hidden=resolved.hidden,
    )
    return started, resolved.events


def _pause(
    table: Table, command: commands.Pause | commands.Resume, now: int, *, paused: bool
) -> Change | None:
    """Pause the game, or let it go on."""
    seats = [n for n in table.seats_of(command.by.token) if not table.seat(n).dropped]
    if not seats and not _is_host(table, command.by):
        raise _unknown_token(
            table, command.by, "the token of a seat that is in the game, or the host's"
        )
    _check_running(table)
    if table.paused is paused:
        return None
    who = name_of(table, seats[0]) if seats else "the host"
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.PAUSE if paused else ChangeKind.RESUME,
        seat=seats[0] if seats else 0,
        lines=(f"{who} {'pauses the game' if paused else 'lets the game go on'}",),
    )
    return Change(replace(table, revision=table.revision + 1, stamp=now, paused=paused), entry)


def _concede(table: Table, command: commands.Concede, now: int) -> Change:
    """Take a seat out of the game for good (DR-2, DR-4)."""
    number = _seat_of_owner_or_host(table, command.by, command.seat)
    _check_running(table)
    _check_occupant(table, number, command.expected_revision)
    seat = table.seat(number)
    if seat.dropped:
        raise Refused(Reason.NOT_ASKED, f"seat {number} has left the game already")
    game = game_of(table)
    resolved = game.drop(table.position, table.hidden, number)
    asked = game.prompts(table.position)
    after = _resolved(table, game, asked, resolved, number, drop_line(number), now)
    after = replace(after, seats=_with(after.seats, number, replace(seat, dropped=True)))
    entry = LogEntry(
        revision=after.revision,
        time=now,
        kind=ChangeKind.DROP,
        seat=number,
        turn=after.turns,
        lines=(f"{name_of(table, number)} leaves the game", *resolved.events),
        turned_up=resolved.turned_up,
        private=resolved.private,
    )
    return Change(after, entry, number, snapshot=after.turns % SNAPSHOT_EVERY == 0)


# What is true of a table


def name_of(table: Table, number: int) -> str:
    """What a seat is called in sentences: its name and colour, or its number."""
    seat = table.seat(number)
    return f"{seat.name} ({seat.color})" if seat.name else f"seat {number} ({seat.color})"


def staged_position(game: Game[Any, Any], table: Table, number: int) -> Any:
    """The open position with what one seat has staged on top of the confirmed one."""
    open_ = table.position
    for action in table.staged[number - 1]:
        open_ = game.apply(open_, number, action)
    return open_


def _fits(game: Game[Any, Any], open_: Any, number: int, actions: tuple[Any, ...]) -> bool:
    """What a seat has staged is still legal on a new confirmed position."""
    try:
        for action in actions:
            open_ = game.stage(open_, number, action)
    except Illegal:
        return False
    return True


def _playing(table: Table) -> tuple[int, ...]:
    """The seats with somebody on them who is still in the game."""
    return tuple(
        n
        for n, seat in enumerate(table.seats, 1)
        if seat.occupant is not Occupant.NOBODY and not seat.dropped
    )


def waiting_for(table: Table) -> tuple[int, ...]:
    """The seats that still have to agree to a takeback that was asked for."""
    return tuple(n for n in _playing(table) if n not in table.takeback_asked)


def acting_seat(table: Table, by: commands.By, wanted: int) -> int:
    """The seat that a token acts for: the one named, else the one that is asked.

    Raises Refused.
    """
    return _own_seat(table, by, wanted, _asked_seats)


def _asked_seats(table: Table) -> tuple[int, ...]:
    """The seats that are asked something now; none unless the game runs."""
    if table.status is not Status.RUNNING:
        return ()
    return tuple(p.seat for p in game_of(table).prompts(table.position))


def _staging_seats(table: Table) -> tuple[int, ...]:
    """The seats that have something staged."""
    return tuple(n for n, actions in enumerate(table.staged, 1) if actions)


def _with(values: tuple[Any, ...], number: int, value: Any) -> tuple[Any, ...]:
    """The tuple with a seat's value replaced."""
    return (*values[: number - 1], value, *values[number:])


# Who may, and when


def _is_host(table: Table, by: commands.By) -> bool:
    return by.admin or (bool(by.token) and by.token == table.making.host)


def _check_host(table: Table, by: commands.By, what: str) -> None:
    if not _is_host(table, by):
        raise _unknown_token(table, by, f"the host's token, to {what}")


def _unknown_token(table: Table, by: commands.By, needed: str) -> Refused:
    """The refusal for a token that doesn't reach: unknown here, or of another scope."""
    if by.token and (
        table.seats_of(by.token) or by.token in (table.making.host, table.making.watch)
    ):
        return Refused(Reason.NOT_ALLOWED, f"this token doesn't allow it; it needs {needed}")
    return Refused(Reason.BAD_TOKEN, f"it needs {needed}; this table doesn't know the one sent")


def _no_seat(table: Table, number: int) -> Refused:
    return Refused(
        Reason.UNKNOWN_NAME,
        f"there is no seat {number}; this table has seats 1 to {len(table.seats)}",
        field="seat",
    )


def _own_seat(table: Table, by: commands.By, wanted: int, prefer: Any) -> int:
    """The seat that a token acts for: the one named, or the only one that fits."""
    if wanted > len(table.seats):
        raise _no_seat(table, wanted)
    own = table.seats_of(by.token)
    if not own or (wanted and wanted not in own):
        raise _unknown_token(
            table, by, f"the token of seat {wanted}" if wanted else "a seat's token"
        )
    if wanted:
        return wanted
    if len(own) > 1:
        own = tuple(n for n in prefer(table) if n in own) or own
    if len(own) > 1:
        raise Refused(
            Reason.BAD_FIELD,
            f"this token holds seats {', '.join(map(str, own))}; say which one",
            field="seat",
        )
    return own[0]


def _seat_of_owner_or_host(table: Table, by: commands.By, wanted: int) -> int:
    """The seat that its owner or the host deals with."""
    if wanted > len(table.seats):
        raise _no_seat(table, wanted)
    if wanted and _is_host(table, by):
        return wanted
    return _own_seat(table, by, wanted, lambda _: ())


def _takeback_seat(table: Table, command: commands.TakeBack) -> int:
    """The seat that agrees to a takeback; 0 for a host who needs no agreement."""
    policy = table.making.takeback
    if policy is Takeback.NEVER:
        raise Refused(Reason.NOT_ALLOWED, "at this table no confirmed turn is taken back")
    if policy is Takeback.HOST:
        _check_host(table, command.by, "take a confirmed turn back")
        return 0
    number = _own_seat(table, command.by, command.seat, lambda _: ())
    if table.seat(number).dropped:
        raise Refused(Reason.NOT_ALLOWED, f"seat {number} has left the game")
    return number


def _check_running(table: Table) -> None:
    if table.status is Status.OPEN:
        raise Refused(Reason.NOT_STARTED, "the game has not started yet")
    if table.status is Status.FINISHED:
        raise Refused(Reason.GAME_OVER, "the game is over")


def _check_not_paused(table: Table) -> None:
    if table.paused:
        raise Refused(Reason.PAUSED, "the game is paused; resume it first")


def _check_question(table: Table, number: int, expected: int) -> None:
    """Refuse a command that was meant for another question than the seat is asked now."""
    asked_at = table.asked_at[number - 1]
    if not asked_at <= expected <= table.revision:
        raise _stale(table, asked_at)


def _check_occupant(table: Table, number: int, expected: int) -> None:
    """Refuse a command that was meant for somebody else than who sits there now; 0: for anybody."""
    since = table.seat(number).since
    if expected and not since <= expected <= table.revision:
        raise Refused(
            Reason.STALE_REVISION,
            f"the table is at revision {table.revision}, and who sits on seat {number} changed "
            f"at {since}; look again and decide anew",
            asked_at=since,
        )


def _stale(table: Table, asked_at: int) -> Refused:
    return Refused(
        Reason.STALE_REVISION,
        f"the table is at revision {table.revision}, and what is asked changed at {asked_at}; "
        "look again and decide anew",
        asked_at=asked_at,
    )
