"""Tables that are made ready to be joined when the service starts."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass

from tableturn_server.rules import catalog
from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.rooms import Held
from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Occupant, Status, Takeback

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Opening:
    """What a table shall be. `seats` is 0 where any number will do."""

    game: str
    seats: int
    options: dict[str, str]
    takeback: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A table that can be joined, or goes on."""

    table_id: str
    title: str
    game: str
    seats: int
    free: int
    status: str
    warnings: tuple[str, ...] = ()


async def open_table(
    keeper: Keeper, opening: Opening, host: bytes, taken: Collection[str] = ()
) -> Opened:
    """The table of this kind that is not finished yet, or a new one of the host with this token.

    Its id is the game's name, so that a restart finds it again; a number follows where that
    table is over, was made otherwise, or is one of those `taken`. Raises Refused for what can't
    be made.
    """
    for number in range(1, _MOST):
        table_id = opening.game if number == 1 else f"{opening.game}-{number}"
        if table_id in taken:
            continue
        try:
            held = await keeper.look(table_id)
        except Refused as refused:
            if refused.reason is not Reason.UNKNOWN_TABLE:
                raise
            table, entry, warnings = make(
                _wish(opening, table_id, host),
                drawn_seed=secrets.token_bytes(SEED_BYTES),
                now=keeper.now(),
            )
            held, new, _ = await keeper.create(table, entry, None)
            if new:
                return _opened(held, warnings)
        if _fits(held, opening):
            return _opened(held)
    raise Refused(Reason.TABLE_EXISTS, f"there are too many tables of {opening.game}")


def _wish(opening: Opening, table_id: str, host: bytes) -> Wish:
    return Wish(
        table_id=table_id,
        game=opening.game,
        seats=opening.seats,
        options=opening.options,
        host=host,
        start_when_full=True,
        takeback=Takeback[opening.takeback.upper().replace("-", "_")],
    )


def _fits(held: Held, opening: Opening) -> bool:
    """The table is the one that is wanted, and not over."""
    making = held.table.making
    return (
        held.table.status is not Status.FINISHED
        and making.game == opening.game
        and opening.seats in (0, making.seats)
        and opening.options.items() <= making.options.items()
    )


def _opened(held: Held, warnings: tuple[str, ...] = ()) -> Opened:
    table = held.table
    making = table.making
    return Opened(
        table_id=making.table_id,
        title=catalog.GAMES[making.game].title,
        game=making.game,
        seats=making.seats,
        free=sum(s.occupant is Occupant.NOBODY and not s.dropped for s in table.seats),
        status=table.status.name.lower(),
        warnings=warnings,
    )
