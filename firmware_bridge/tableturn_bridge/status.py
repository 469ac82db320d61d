"""What is told of a panel at the terminal: one line for each thing that happens, or one document.

The lines are for people, the documents (`--json`) for programs; both say the same. Nothing that
decides anything is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tableturn_bridge.errors import PanelTrouble
from tableturn_bridge.protocol import NO_BUTTON, Caps, Event, Hello, Kind
from tableturn_bridge.reasons import Elsewhere
from tableturn_client import Pressed
from tableturn_client.cli.plain import word
from tableturn_client.cli.session import columns
from tableturn_client.drawing.words import clean, listed
from tableturn_client.messages import (
    Occupant,
    PanelStatus,
    SeatView,
    TableStatus,
    TableView,
)

LONGEST_LINE = 500


@dataclass(frozen=True)
class News:
    """Something that happened: its kind, a line for people, and what programs want to know."""

    kind: str
    line: str
    details: Mapping[str, object]

    @property
    def document(self) -> dict[str, object]:
        """The document for a program."""
        return {"event": self.kind, **self.details}


Tell = Callable[[News], None]


# ---------------------------------------------------------------- the panel itself


def found(hello: Hello, place: str) -> News:
    """A panel has said hello."""
    kind = "virtual panel" if hello.caps & Caps.VIRTUAL else "panel"
    return News(
        "found",
        f"{kind} {hello.uid} at {place}: firmware {hello.major}.{hello.minor}, "
        f"{hello.buttons} buttons",
        {
            "panel_uid": hello.uid,
            "place": place,
            "firmware": f"{hello.major}.{hello.minor}",
            "buttons": hello.buttons,
            "session": hello.session,
            "virtual": bool(hello.caps & Caps.VIRTUAL),
        },
    )


def lost(error: PanelTrouble) -> News:
    """The panel can't be reached; `cause` is the doctor's word for it."""
    return News(
        "lost",
        clean(error.sentence, LONGEST_LINE),
        {"cause": error.cause, "sentence": error.sentence},
    )


def service_lost(sentence: str) -> News:
    """The service can't be used for now. What a program should do about it is not for people."""
    problem, _, advice = sentence.partition("; ")
    asked = f" ({advice})" if advice.endswith("?") else ""
    return News(
        "service_lost",
        f"{clean(problem, LONGEST_LINE)}; trying again{clean(asked, LONGEST_LINE)}",
        {"sentence": sentence},
    )


def elsewhere(why: Elsewhere) -> News:
    """The panel is well, and can't be used at its table."""
    return News(
        "elsewhere",
        clean(why.sentence, LONGEST_LINE),
        {"cause": why.cause, "held": why.held, "sentence": why.sentence},
    )


def seatless(view: TableView) -> News:
    """Seats are given no more, and no button of the panel has one."""
    return News(
        "seatless",
        f"no button of this panel has a seat at the table {view.table_id}, so its lamps stay off. "
        "Start again with --seats, such as --seats 1,2, or without it for the seats in order.",
        {"table_id": view.table_id},
    )


# ---------------------------------------------------------------- the table


def at_table(view: TableView) -> News:
    """The panel works at a table."""
    status = word(TableStatus.DESCRIPTOR, view.status)
    return News(
        "table",
        f"at the table {view.table_id}: {clean(view.title) or view.game}, "
        f"{len(view.seats)} seats, {status}",
        {"table_id": view.table_id, "game": view.game, "status": status},
    )


def turn_of(view: TableView) -> News:
    """What the table waits for now."""
    asked = [prompt.seat for prompt in view.prompts]
    details: dict[str, object] = {
        "table_id": view.table_id,
        "status": word(TableStatus.DESCRIPTOR, view.status),
        "paused": view.paused,
        "turns": view.turns,
        "asked": asked,
    }
    if view.status == TableStatus.TABLE_STATUS_OPEN:
        free = sum(seat.occupant == Occupant.OCCUPANT_NOBODY for seat in view.seats)
        details["free_seats"] = free
        line = (
            f"{free} of {len(view.seats)} seats are free: press a button to sit down, "
            "hold it to begin with those who are here"
        )
    elif view.status == TableStatus.TABLE_STATUS_FINISHED:
        line = "the game is over; hold a button for a rematch"
    elif view.paused:
        line = "the game is paused"
    else:
        line = f"turn {view.turns + 1}: {listed([_asked(view, seat) for seat in asked])}"
    return News("turn", line, details)


def _asked(view: TableView, number: int) -> str:
    """A seat that is asked; who plays for it, and whether its clock runs."""
    seat = next((seat for seat in view.seats if seat.seat == number), SeatView(seat=number))
    told = named(view, number)
    if seat.stand_in:
        return f"{clean(seat.stand_in, 16)} plays for {told}"
    return f"{told}, its clock runs" if seat.clock.running else told


def named(view: TableView, number: int) -> str:
    """A seat with its colour and the name of who sits there."""
    seat = next((seat for seat in view.seats if seat.seat == number), SeatView(seat=number))
    words = [clean(word) for word in (seat.name, seat.color) if word]
    return f"seat {number}" + (f" ({', '.join(words)})" if words else "")


# ---------------------------------------------------------------- gestures


def gesture_told(event: Event, done: Pressed, view: TableView | None) -> News:
    """A gesture was carried out."""
    lines = [clean(line, LONGEST_LINE) for line in done.lines]
    who = f"{named(view, done.seat)}: " if done.seat and view is not None else ""
    return News(
        "pressed",
        f"{_button(event)}: {who}{'; '.join(lines) or 'done'}",
        {
            **_gesture(event),
            "seat": done.seat,
            "revision": done.revision,
            "replayed": done.replayed,
            "lines": list(done.lines),
            "next_table_id": done.next_table_id or None,
        },
    )


def gesture_refused(event: Event, reason: str, sentence: str) -> News:
    """A gesture was refused, or came too late."""
    return News(
        "refused",
        f"{_button(event)}: {clean(sentence, LONGEST_LINE)}",
        {**_gesture(event), "reason": reason, "sentence": sentence},
    )


_WORDS: dict[int, str] = {
    Kind.PRESS: "pressed",
    Kind.LONG: "held",
    Kind.CHORD: "held with another",
    Kind.MASTER: "pressed",
    Kind.MASTER_LONG: "held",
}

_NAMES: dict[int, str] = {kind: kind.name.lower() for kind in Kind}


def _button(event: Event) -> str:
    """Which button, and what was done with it."""
    which = "the master button" if event.button == NO_BUTTON else f"button {event.button + 1}"
    return f"{which} {_WORDS.get(event.kind, 'used in an unknown way')}"


def _gesture(event: Event) -> dict[str, object]:
    return {
        "button": 0 if event.button == NO_BUTTON else event.button + 1,
        "gesture": _NAMES.get(event.kind, str(event.kind)),
        "number": event.number,
        "expected_revision": event.revision,
    }


# ---------------------------------------------------------------- the panels of a table


def panel_rows(table_id: str, panels: Sequence[PanelStatus]) -> list[str]:
    """The panels of a table as lines."""
    if not panels:
        return [f"There are no panels on the table {clean(table_id)}."]
    rows = [("PANEL", "SEATS", "BRIDGE", "FIRMWARE", "GESTURES", "REFUSED", "DAMAGED FRAMES")]
    for one in panels:
        report = one.report
        bridge = clean(report.place) or "there" if one.held else "none"
        rows.append(
            (
                str(one.panel_uid),
                " ".join(str(seat) if seat else "-" for seat in one.seats),
                bridge,
                clean(report.firmware) or "-",
                f"{report.gestures}" if one.held else "-",
                f"{report.stale + report.rejected}" if one.held else "-",
                f"{report.crc_errors}" if one.held else "-",
            )
        )
    return [f"Panels on the table {clean(table_id)}:", *columns(rows)]
