"""Who is there and what goes on with them: clocks, absence, stand-ins, votes, the host."""

from __future__ import annotations

from rich.text import Text

from tableturn_client.drawing import clocks
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.moment import Moment
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, listed, many
from tableturn_client.messages import (
    Occupant,
    PresenceState,
    SeatView,
    TableStatus,
    TableView,
    WhoIsThere,
)

_NAMES = (12, 6, 0)
"""How much of the names is left where there is less and less room."""
_GAP = "   "


def lines(view: TableView, look: Look, moment: Moment, most: int = 0) -> Text:
    """The seats of which there is something to tell, beside each other; empty for none.

    In at most so many lines (0: any), for which names are cut, and then left out.
    """
    if view.status != TableStatus.TABLE_STATUS_RUNNING:
        return Text()
    drawn = Text()
    for columns in _NAMES:
        told = (_of_seat(view, seat, moment, columns, look) for seat in view.seats)
        drawn = _beside([part for part in told if part.plain], look.width)
        if not most or drawn.plain.count("\n") < most:
            return drawn
    return Text("\n").join(list(drawn.split("\n"))[:most])


def _of_seat(view: TableView, seat: SeatView, moment: Moment, columns: int, look: Look) -> Text:
    """What there is to tell of a seat: `greedy plays for 1 Anna 12:34, away 3 min`."""
    if seat.dropped:
        return Text()
    seats = Seats.of(view)
    clock = clocks.face(view, seat, moment)
    told = []
    if seat.occupant == Occupant.OCCUPANT_NOBODY:
        told.append("left")
    if gone := moment.away(seat.seat):
        told.append(f"away {clocks.span(moment.since(gone.since, view))}")
    if view.host_seat == seat.seat:
        told.append("host")
    if not (clock.plain or told or seat.stand_in):
        return Text()
    part = Text(f"{look.signs.turn} " if clock.plain and seat.clock.running else "", "bold green")
    if seat.stand_in:
        part.append(f"{clean(seat.stand_in, 12)} plays for ", "italic")
    part.append_text(seats.label(seat.seat, columns) if columns else seats.chip(seat.seat))
    if clock.plain:
        part.append(" ").append_text(clock)
    for number, words in enumerate(told):
        part.append(" " if not number and not clock.plain else ", ").append(words, "yellow")
    return part


def _beside(parts: list[Text], width: int) -> Text:
    """Parts beside each other, in as few lines as fit."""
    rows: list[Text] = []
    for part in parts:
        if rows and rows[-1].cell_len + len(_GAP) + part.cell_len <= width:
            rows[-1].append(_GAP).append_text(part)
        else:
            part.truncate(width)
            rows.append(part)
    return Text("\n").join(rows)


def votes(view: TableView, look: Look) -> Text:
    """Who shall leave the game, by whose wish, and who still has to want it; a line each."""
    seats = Seats.of(view)
    drawn = []
    for vote in view.drop_votes:
        line = Text.assemble(("to leave the game: ", "yellow"), seats.label(vote.seat, 12))
        line.append(", wished by ", "yellow").append_text(seats.chips(vote.voters))
        if vote.waiting_for:
            line.append(", still asked: ", "yellow").append_text(seats.chips(vote.waiting_for))
        line.truncate(look.width)
        drawn.append(line)
    return Text("\n").join(drawn)


def who_is_there(who: WhoIsThere) -> str:
    """Who is there, in a plain sentence: `here: seats 1, 2; away: seat 3; 2 look on`."""
    parts = []
    for word, state in (
        ("here", PresenceState.PRESENCE_STATE_HERE),
        ("away", PresenceState.PRESENCE_STATE_AWAY),
    ):
        found = [f"{one.seat}" for one in who.seats if one.state == state]
        if found:
            parts.append(f"{word}: {'seat' if len(found) == 1 else 'seats'} {listed(found)}")
    if who.spectators:
        parts.append(f"{many(who.spectators, 'looks', 'look')} on")
    return "; ".join(parts) or "nobody is seen here"
