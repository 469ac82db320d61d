"""Takebacks: the last confirmed turn is undone, by the host or when all agree.

Where bots play along, what is taken back is the last turn that somebody else confirmed, with
the turns of bots after it: to take back a bot's turn alone would change nothing. Where only
bots have played, their last turn is taken back. A turn that a bot took while it stood in for
somebody is a bot's; it stands in still after it was taken back.
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.tables import clocks, commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.facts import name_of, waiting_for
from tableturn_server.tables.history import (
    History,
    drop_is_in_the_way,
    replay,
    turn_to_take_back,
)
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_not_paused,
    check_running,
    check_since,
    takeback_seat,
)
from tableturn_server.tables.state import Table


def take_back(
    table: Table, command: commands.TakeBack, now: int, history: History | None
) -> Change | None:
    """Take the last confirmed turn back, or note that a seat agrees to it."""
    number = takeback_seat(table, command)
    check_running(table)
    check_since(table, table.turned_at, command.expected_revision)
    check_not_paused(table)
    who = name_of(table, number) if number else "the host"
    return taking_back(table, number, who, now, history)


def taking_back(
    table: Table, number: int, who: str, now: int, history: History | None, *, agreed: bool = False
) -> Change | None:
    """The last turn is taken back, or a seat's wish for it noted while others must agree.

    `number` is the seat that agrees, 0 for whoever needs no agreement; so does a seat where all
    have `agreed` beforehand. None if the seat's wish is noted already.
    """
    gone = _taken_back(table, history)
    if (agreed or not number) and any(turn.timed for turn in gone):
        raise Refused(
            Reason.NOTHING_TO_TAKE_BACK,
            "time was up for that turn: where not all have to agree it isn't taken back",
        )
    asked: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    if number and not agreed:
        asked = tuple(sorted({*table.takeback_asked, number}))
        waiting = waiting_for(replace(table, takeback_asked=asked))
    if waiting and number in table.takeback_asked:
        return None
    entry = LogEntry(
        revision=table.revision + 1,
        time=now,
        kind=ChangeKind.ASK_TAKEBACK if waiting else ChangeKind.TAKEBACK,
        seat=number,
        lines=(f"{who} takes {_what(gone)} back",),
    )
    if waiting:
        line = f"{who} asks to take {_what(gone)} back"
        noted = replace(table, revision=table.revision + 1, stamp=now, takeback_asked=asked)
        return Change(noted, replace(entry, lines=(line,)), number, waiting_for=waiting)
    assert history is not None
    seen = tuple(f"it had been seen: {line}" for turn in gone for line in turn.turned_up)
    before = _before(table, history, gone[0].turn, now)
    return Change(
        before,
        replace(entry, lines=entry.lines + seen),
        number,
        undone=tuple(turn.seat for turn in gone),
        withdrawn=clocks.turns_begun(before, gone) if clocks.has_clock(table) else (),
    )


def _taken_back(table: Table, history: History | None) -> tuple[LogEntry, ...]:
    """The turns that a takeback undoes: one, or one with those of bots after it."""
    if drop_is_in_the_way(table):
        raise _after_a_drop()
    if not table.turns:
        raise Refused(Reason.NOTHING_TO_TAKE_BACK, "no turn is confirmed now")
    first = turn_to_take_back(table) - 1 - (history.snapshot.turns if history else table.turns)
    if history is None or first < 0:
        raise Refused(
            Reason.NOTHING_TO_TAKE_BACK, "the earlier turns of this table are not kept completely"
        )
    gone = history.turns[first:]
    # A table of an earlier version doesn't say which turn was a drop.
    if any(turn.kind is ChangeKind.DROP for turn in gone):
        raise _after_a_drop()
    return gone


def _after_a_drop() -> Refused:
    return Refused(
        Reason.NOTHING_TO_TAKE_BACK, "a seat has left the game since; that can't be taken back"
    )


def _what(gone: tuple[LogEntry, ...]) -> str:
    """The turns that are taken back, by their numbers."""
    if len(gone) == 1:
        return f"turn {gone[0].turn}"
    return f"turns {gone[0].turn} to {gone[-1].turn}"


def _before(table: Table, history: History, turn: int, now: int) -> Table:
    """The table as it was before a turn, at a new revision."""
    revision = table.revision + 1
    restored = replay(history.snapshot, history.turns[: turn - 1 - history.snapshot.turns])
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
        bot_turns=restored.bot_turns,
    )
