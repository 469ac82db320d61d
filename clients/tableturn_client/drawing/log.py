"""Log entries as lines."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean

_LONGEST = 300
_PLAIN = " confirms"
"""What is said of every turn."""
_STYLES = {
    table_pb2.CHANGE_KIND_UNDO: "dim",
    table_pb2.CHANGE_KIND_TAKEBACK: "bold yellow",
    table_pb2.CHANGE_KIND_PAUSE: "bold yellow",
    table_pb2.CHANGE_KIND_RESUME: "bold yellow",
    table_pb2.CHANGE_KIND_DROP: "bold red",
    table_pb2.CHANGE_KIND_TIME_OUT: "bold red",
    table_pb2.CHANGE_KIND_ADD_TIME: "yellow",
    table_pb2.CHANGE_KIND_STAND_IN: "bold yellow",
    table_pb2.CHANGE_KIND_COME_BACK: "bold yellow",
    table_pb2.CHANGE_KIND_VOTE_DROP: "yellow",
    table_pb2.CHANGE_KIND_PASS_HOST: "yellow",
    table_pb2.CHANGE_KIND_OUTAGE: "dim",
    table_pb2.CHANGE_KIND_RESEAT: "yellow",
}


def entry(told: table_pb2.LogEntry, seats: Seats) -> list[Text]:
    """The lines of an entry, each with the number of the seat that acted."""
    style = _STYLES.get(told.kind, "")
    lines = [clean(line, _LONGEST) for line in told.lines]
    texts = [line for line in lines if line] or [clean(text, _LONGEST) for text in told.texts]
    drawn = []
    for text in texts:
        if text:
            own = told.seat and text.startswith(seats.name(told.seat, 80))
            plain = "dim" if text.endswith(_PLAIN) else style
            drawn.append(Text.assemble(seats.chip(told.seat) if own else " ", " ", (text, plain)))
    return drawn


def entries(told: Iterable[table_pb2.LogEntry], seats: Seats) -> Text:
    """Entries with their revisions, one below the other."""
    lines = []
    for one in told:
        for line in entry(one, seats):
            lines.append(Text(f"{one.revision:>5}  ", "dim") + line)
    return Text("\n").join(lines)
