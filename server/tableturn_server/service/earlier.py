"""The turns before the last one, out of the store: what a takeback needs."""

from __future__ import annotations

from tableturn_server.store import TableStore
from tableturn_server.tables.history import History, snapshot_turn, standing, turn_to_take_back
from tableturn_server.tables.log import LogEntry, decode_entry
from tableturn_server.tables.state import Status, Table, decode

_PAGE = 500


class GapError(Exception):
    """The store does not have the turns that a table rests on."""


async def history_of(store: TableStore, table_id: str, table: Table) -> History | None:
    """What a takeback needs, from the nearest snapshot on (L5).

    None if no turn stands. Raises GapError if the store does not have all of it: this
    table is an old one, because the store keeps what the newest one needs.
    """
    if table.status is not Status.RUNNING or not table.turns:
        return None
    found = await store.nearest_snapshot(table_id, snapshot_turn(turn_to_take_back(table)))
    if found is None:
        raise GapError
    snapshot = decode(found.blob)
    entries: list[LogEntry] = []
    after = snapshot.revision
    if after > table.revision:  # taken when a turn was played again
        raise GapError
    while after < table.revision:
        page = await store.log(table_id, after, _PAGE, table.revision)
        if not page:
            break
        after = page[-1].revision
        entries += [e for e in (decode_entry(record.entry) for record in page) if e.turn]
    try:
        return History(snapshot, standing(entries, snapshot.turns, table.turns))
    except KeyError as error:
        raise GapError from error
