"""Confirmed turns again: from the nearest snapshot, at most twenty of them.

The store keeps a snapshot of the table at the start of the game and after every
twentieth turn, and the log keeps every turn's actions. A takeback restores the
table before the last turn from these two; nothing else is kept for it, so its
cost doesn't grow with the game.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tableturn_server.tables.log import ChangeKind, LogEntry, drop_line, next_hash, turn_line
from tableturn_server.tables.state import SNAPSHOT_EVERY, Table, game_of


class History(msgspec.Struct, frozen=True):
    """What a takeback needs: a snapshot, and the turns after it, up to the last one.

    `turns` holds the entries of all turns after the snapshot that still stand,
    in order: those to be taken back are the last ones.
    """

    snapshot: Table
    turns: tuple[LogEntry, ...]


def turn_to_take_back(table: Table) -> int:
    """The turn that a takeback undoes, with all after it: the last one of anybody but a bot.

    Where only bots have played it is the last one; 0 if no turn stands.
    """
    return table.turns - table.bot_turns or table.turns


def drop_is_in_the_way(table: Table) -> bool:
    """A takeback would have to undo a drop, which is never undone.

    Told by the table alone: however long bots have played since, no turn is read for it.
    """
    return 0 < turn_to_take_back(table) <= table.drop_turn


def snapshot_turn(turns: int) -> int:
    """The turn whose snapshot a takeback of turn `turns` starts from (see `turn_to_take_back`)."""
    return max(turns - 1, 0) // SNAPSHOT_EVERY * SNAPSHOT_EVERY


def standing(entries: Iterable[LogEntry], after: int, turns: int) -> tuple[LogEntry, ...]:
    """The entries of the turns `after + 1 .. turns` that stand, in order.

    `entries` are log entries in order; a turn that was taken back and played
    again counts as it was played last.
    """
    last: dict[int, LogEntry] = {}
    for entry in entries:
        if entry.turn and entry.kind in (ChangeKind.CONFIRM, ChangeKind.DROP):
            last[entry.turn] = entry
    return tuple(last[turn] for turn in range(after + 1, turns + 1))


def replay(table: Table, turns: Iterable[LogEntry]) -> Table:
    """The table with these turns confirmed on top of it: the game part only.

    Seats, revision and times stay as they are in `table`.
    """
    game = game_of(table)
    open_, hidden = table.position, table.hidden
    log_hash, count, bot_turns = table.log_hash, table.turns, table.bot_turns
    drop_turn = table.drop_turn
    for entry in turns:
        if entry.kind is ChangeKind.DROP:
            resolved = game.drop(open_, hidden, entry.seat)
            line = drop_line(entry.seat)
            drop_turn = count + 1
        else:
            for action in entry.played:
                open_ = game.stage(open_, entry.seat, action)
            resolved = game.resolve(open_, hidden, entry.seat)
            line = turn_line(entry.seat, entry.played)
        open_, hidden = resolved.open, resolved.hidden
        log_hash = next_hash(log_hash, line)
        count += 1
        bot_turns = bot_turns + 1 if entry.bot else 0
    return msgspec.structs.replace(
        table,
        open=open_,
        hidden=hidden,
        log_hash=log_hash,
        turns=count,
        bot_turns=bot_turns,
        drop_turn=drop_turn,
    )
