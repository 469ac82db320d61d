"""Who may do what at a table, and when.

A seat's own token acts for it. A bot's seat has none: only the service acts for it. A seat
that was taken at a panel has no device of its own: whoever plays at the table, and the host,
may stage and undo for it, but its turns are confirmed by its button.
"""

from __future__ import annotations

from collections.abc import Callable

from tableturn_server.tables import commands
from tableturn_server.tables.facts import asked_seats, bot_of, name_of, panel_serving
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Confirmation, Occupant, Panel, Status, Table, Takeback

Prefer = Callable[[Table], tuple[int, ...]]
"""Which of several seats a token means that doesn't say so."""


def any_seat(table: Table) -> tuple[int, ...]:
    """No seat is meant rather than another."""
    return ()


# -- tokens --------------------------------------------------------------------------------


def is_host(table: Table, by: commands.By) -> bool:
    """The sender has the host's powers: by the host's token, or by that of a seat that got them."""
    if by.admin:
        return True
    if not by.token:
        return False
    if by.token == table.making.host and not table.host_gone:
        return True
    return table.host_seat > 0 and by.token == table.seat(table.host_seat).token


def is_deputy(table: Table, by: commands.By) -> bool:
    """The sender has the host's duties only beside the host, who is away or has got up (C8).

    A deputy keeps the game going, and decides nothing over other people.
    """
    if by.admin or table.host_gone or by.token == table.making.host:
        return False
    return is_host(table, by)


def panels_of_token(table: Table, token: bytes) -> tuple[Panel, ...]:
    """The panels on the table that have this token."""
    return tuple(panel for panel in table.panels if token and panel.token == token)


def is_known(table: Table, token: bytes) -> bool:
    """The table knows a token, in whatever scope."""
    if not token:
        return False
    making = table.making
    return bool(
        token in (making.host, making.watch)
        or table.seats_of(token)
        or panels_of_token(table, token)
    )


def check_host(table: Table, by: commands.By, what: str) -> None:
    """Raise Refused unless the sender has the host's powers."""
    if not is_host(table, by):
        raise unknown_token(table, by, f"the host's token, to {what}")


def check_service(table: Table, by: commands.By) -> None:
    """Raise Refused unless the service itself sends this."""
    if not by.service:
        raise unknown_token(table, by, "the service itself")


def unknown_token(table: Table, by: commands.By, needed: str) -> Refused:
    """The refusal for a token that doesn't reach: unknown here, or of another scope."""
    if is_known(table, by.token):
        return Refused(Reason.NOT_ALLOWED, f"this token doesn't allow it; it needs {needed}")
    return Refused(Reason.BAD_TOKEN, f"it needs {needed}; this table doesn't know the one sent")


# -- seats ---------------------------------------------------------------------------------


def no_seat(table: Table, number: int, field: str = "seat") -> Refused:
    """The refusal of a seat that the table doesn't have."""
    return Refused(
        Reason.UNKNOWN_NAME,
        f"there is no seat {number}; this table has seats 1 to {len(table.seats)}",
        field=field,
    )


def check_seat(table: Table, number: int) -> None:
    """Raise Refused for a seat that the table doesn't have; 0 stands for none."""
    if number > len(table.seats):
        raise no_seat(table, number)


def plays_along(table: Table, by: commands.By, number: int) -> bool:
    """The sender may look, stage and undo for a seat that was taken at a panel."""
    at_panel = table.seat(number).at_panel
    return at_panel and (is_host(table, by) or bool(table.seats_of(by.token)))


def acting_seat(table: Table, by: commands.By, wanted: int) -> int:
    """The seat that a token acts for: the one named, else the one that is asked.

    Raises Refused.
    """
    return playing_seat(table, by, wanted, asked_seats)


def playing_seat(table: Table, by: commands.By, wanted: int, prefer: Prefer) -> int:
    """The seat for which the sender stages and undoes: an own one, a bot's, or one at a panel.

    Where a bot stands in, it and whoever holds the seat may; nobody plays along.
    """
    check_seat(table, wanted)
    if wanted:
        seat = table.seat(wanted)
        if by.bots and bot_of(seat):
            return wanted
        if seat.stand_in and is_known(table, by.token) and by.token != seat.token:
            raise Refused(
                Reason.NOT_ALLOWED,
                f"a bot plays on for {name_of(table, wanted)}, who may come back; nobody else does",
            )
        if plays_along(table, by, wanted):
            return wanted
        if seat.bot and is_known(table, by.token):
            raise Refused(Reason.NOT_ALLOWED, f"a bot plays for seat {wanted}, nobody else does")
    return own_seat(table, by, wanted, prefer)


def own_seat(table: Table, by: commands.By, wanted: int, prefer: Prefer) -> int:
    """The seat that a token holds: the one named, or the only one that fits."""
    check_seat(table, wanted)
    own = table.seats_of(by.token)
    if not own or (wanted and wanted not in own):
        raise unknown_token(
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


def seat_of_owner_or_host(table: Table, by: commands.By, wanted: int) -> int:
    """The seat that its owner or the host deals with."""
    check_seat(table, wanted)
    if is_host(table, by):
        if wanted:
            return wanted
        if not table.seats_of(by.token):
            raise Refused(
                Reason.BAD_FIELD, "the host's token holds no seat; name one", field="seat"
            )
    return own_seat(table, by, wanted, any_seat)


def check_may_remove(table: Table, by: commands.By, number: int) -> None:
    """Raise Refused for a deputy who would take a seat away from another person."""
    theirs = table.seat(number).token != by.token
    if theirs and table.seat(number).occupant is Occupant.PERSON and is_deputy(table, by):
        raise Refused(
            Reason.NOT_ALLOWED,
            f"only the host takes the seat of {name_of(table, number)} away, not a deputy; "
            "the others may vote",
        )


def takeback_seat(table: Table, command: commands.TakeBack) -> int:
    """The seat that agrees to a takeback; 0 for a host who needs no agreement."""
    policy = table.making.takeback
    if policy is Takeback.NEVER:
        raise Refused(Reason.NOT_ALLOWED, "at this table no confirmed turn is taken back")
    if policy is Takeback.HOST:
        check_host(table, command.by, "take a confirmed turn back")
        if is_deputy(table, command.by):
            raise Refused(
                Reason.NOT_ALLOWED, "only the host takes a confirmed turn back, not a deputy"
            )
        return 0
    number = own_seat(table, command.by, command.seat, any_seat)
    if table.seat(number).dropped:
        raise Refused(Reason.NOT_ALLOWED, f"seat {number} has left the game")
    return number


# -- confirmations -------------------------------------------------------------------------


def check_confirms_itself(table: Table, by: commands.By, number: int) -> None:
    """Raise Refused unless the sender, who may stage for a seat, may confirm its turn too."""
    seat = table.seat(number)
    if by.bots and seat.stand_in:
        return
    panel = panel_serving(table, number)
    if seat.confirmation is Confirmation.PANEL:
        where = f"of panel {panel.uid}" if panel else "of a panel"
        cure = (
            "press it"
            if panel
            else "none at this table serves it: the seat or the host may set who confirms"
        )
        raise Refused(
            Reason.NOT_ALLOWED,
            f"the turns of {name_of(table, number)} are confirmed by a button {where}; {cure}",
        )
    if seat.bot or number in table.seats_of(by.token):
        return
    button = "its button confirms" if panel else "a panel that the host puts there confirms"
    raise Refused(
        Reason.NOT_ALLOWED,
        f"{name_of(table, number)} sits at a panel: you may stage for it, and {button}",
    )


def check_panel_confirms(table: Table, number: int) -> None:
    """Raise Refused if a seat is no business of a panel's."""
    if table.seat(number).confirmation is Confirmation.DEVICE:
        raise Refused(
            Reason.NOT_ALLOWED,
            f"{name_of(table, number)} confirms on a device of its own, not at the panel; "
            "the seat or the host may set who confirms",
        )


# -- the moment ----------------------------------------------------------------------------


def check_running(table: Table) -> None:
    """Raise Refused unless the game runs."""
    if table.status is Status.OPEN:
        raise Refused(Reason.NOT_STARTED, "the game has not started yet")
    check_not_over(table)


def check_not_over(table: Table) -> None:
    """Raise Refused if the game is over."""
    if table.status is Status.FINISHED:
        raise Refused(Reason.GAME_OVER, "the game is over")


def check_over(table: Table) -> None:
    """Raise Refused unless the game is over, so that a rematch may follow."""
    if table.status is Status.OPEN:
        raise Refused(
            Reason.NOT_STARTED, "the game has not started yet; a rematch follows when it is over"
        )
    if table.status is Status.RUNNING:
        raise Refused(
            Reason.GAME_RUNNING, "the game is still running; a rematch follows when it is over"
        )


def check_not_paused(table: Table) -> None:
    """Raise Refused while the game is paused."""
    if table.paused:
        raise Refused(Reason.PAUSED, "the game is paused; resume it first")


def check_question(table: Table, number: int, expected: int) -> None:
    """Refuse a command that was meant for another question than the seat is asked now."""
    check_since(table, table.asked_at[number - 1], expected)


def check_since(table: Table, since: int, expected: int) -> None:
    """Refuse a command whose sender had not seen yet what is asked since a revision."""
    if not since <= expected <= table.revision:
        raise stale(table, since)


def check_occupant(table: Table, number: int, expected: int) -> None:
    """Refuse a command that was meant for somebody else than who sits there now; 0: for anybody."""
    since = table.seat(number).since
    if expected and not since <= expected <= table.revision:
        raise Refused(
            Reason.STALE_REVISION,
            f"the table is at revision {table.revision}, and who sits on seat {number} changed "
            f"at {since}; look again and decide anew",
            asked_at=since,
        )


def stale(table: Table, asked_at: int) -> Refused:
    """The refusal of a command that was meant for what was asked before."""
    return Refused(
        Reason.STALE_REVISION,
        f"the table is at revision {table.revision}, and what is asked changed at {asked_at}; "
        "look again and decide anew",
        asked_at=asked_at,
    )
