"""A rematch: the next table of the same people.

Three steps, each of which may be done again: the next table is made under an id that follows
from the old one's, it is started if everybody is there, and the old table notes its id. A call
that was cut off anywhere is repeated, by anybody, and goes on where it was.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.refusing import reused, table_exists
from tableturn_server.service.rooms import Held
from tableturn_server.store import Request, Reused, TableStore
from tableturn_server.tables import commands
from tableturn_server.tables.facts import is_full
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rematch import RematchOrder, next_table
from tableturn_server.tables.state import Status


@dataclass(frozen=True, slots=True)
class Rematch:
    """The next table, the old one's revision, and whether it had been made before."""

    table_id: str
    revision: int
    again: bool


async def rematch(
    keeper: Keeper,
    store: TableStore,
    table_id: str,
    by: commands.By,
    request: Request | None,
    deadline: float,
    order: RematchOrder = RematchOrder.SAME,
) -> Rematch:
    """The next table after a finished one. Raises Refused, GAME_RUNNING before the end.

    `request` is remembered at the old table; a press brings none, because it is asked for
    before. `order` counts for whoever asks first.
    """
    old, by, _ = await keeper.sights.look(table_id, by)
    with old.resting(by):
        table, entry = next_table(
            old.table,
            by,
            drawn_seed=secrets.token_bytes(SEED_BYTES),
            now=keeper.now(),
            order=order,
        )
    if request is not None:
        based_on = (old.revision, old.change_id)
        if isinstance(await store.commit(table_id, based_on, request, None), Reused):
            raise reused(old.revision)
    if old.table.next_table:
        return Rematch(old.table.next_table, old.revision, again=True)
    found, new, _ = await keeper.create(table, entry, None)
    if found.table.making.host != old.table.making.host:
        raise table_exists(table.making.table_id, found.revision)
    await _start(keeper, found, deadline)
    # Only the service itself may note it: the caller's right was checked above.
    note = commands.NoteRematch(
        by=commands.By(by.token, admin=True), next_table=table.making.table_id
    )
    done = await keeper.carry_out(table_id, note, request, deadline)
    return Rematch(table.making.table_id, done.revision, again=not new)


async def _start(keeper: Keeper, found: Held, deadline: float) -> None:
    """Start the game, unless somebody has left, or it was done before."""
    table = found.table
    if table.status is not Status.OPEN or not is_full(table):
        return
    # The service itself starts it: the host's token may have the host's duties no more.
    start = commands.Start(by=commands.By(admin=True))
    try:
        await keeper.carry_out(table.making.table_id, start, None, deadline)
    except Refused as refused:
        # Others were faster: with the same, or by getting up.
        if refused.reason not in (Reason.ALREADY_STARTED, Reason.NOT_STARTED):
            raise


def rematch_order(number: int) -> RematchOrder:
    """Who shall sit where; the same where nothing is said. Raises Refused."""
    try:
        return RematchOrder(number or RematchOrder.SAME)
    except ValueError as error:
        raise Refused(
            Reason.BAD_FIELD, f"there is no order {number} of a rematch", field="order"
        ) from error
