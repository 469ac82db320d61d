"""What all calls have in common that change a table: carried out once, logged, told in lines."""

from __future__ import annotations

from tableturn_server import bots
from tableturn_server.service.calls import Call
from tableturn_server.service.keeper import Done, Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.requests import Changing, remembered
from tableturn_server.service.rooms import Held
from tableturn_server.tables import commands
from tableturn_server.tables.making import check_table_id
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Confirmation


class Carrying:
    """A servicer whose calls change tables."""

    def __init__(self, keeper: Keeper, log: Log) -> None:
        self._keeper = keeper
        self._log = log

    async def _carry_out(
        self,
        name: str,
        request: Changing,
        command: commands.AnyCommand,
        call: Call,
        principal: str | None = None,
    ) -> Done:
        check_table_id(request.table_id)
        asked = remembered(request, name, call.principal if principal is None else principal)
        done = await self._keeper.carry_out(request.table_id, command, asked, call.deadline)
        self._log.info(
            "change",
            table=request.table_id,
            call=name,
            revision=done.revision,
            seat=done.seat,
            replayed=done.replayed,
        )
        return done

    async def _lines(self, table_id: str, done: Done) -> tuple[str, ...]:
        """What happened, for the seat that acted; from the log if it was answered before."""
        told = done.told
        if done.idle:
            return ()
        if told is None:
            found = await self._keeper.log(table_id, done.revision - 1, 1)
            if not found or found[0].revision != done.revision:
                return ()
            told = found[0]
        return told.entry.lines_for(done.seat)


def expected(revision: int) -> int:
    """The revision that a command expects. Raises Refused where there is none."""
    if not revision:
        raise Refused(
            Reason.BAD_FIELD,
            "expected_revision is missing: the revision of the table that the sender has seen",
            field="expected_revision",
        )
    return revision


def confirmation(number: int) -> Confirmation:
    """Who shall confirm; EITHER where nothing is said. Raises Refused."""
    try:
        return Confirmation(number or Confirmation.EITHER)
    except ValueError as error:
        raise Refused(
            Reason.BAD_FIELD, f"there is no way {number} to confirm", field="confirmation"
        ) from error


def check_bot(held: Held, by: commands.By, name: str) -> None:
    """Raise Refused unless a bot of this name plays the table's game."""
    names = bots.names(held.table.making.game)
    with held.resting(by):
        if name not in names:
            raise Refused(
                Reason.UNKNOWN_NAME,
                f"there is no bot {name[:40]!r} for this game; bots: {', '.join(names)}",
                field="bot",
            )
