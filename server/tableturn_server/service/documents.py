"""The servicer of exports and imports: whole tables as documents."""

from __future__ import annotations

import asyncio

from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.requests import remembered
from tableturn_server.tables.commands import By
from tableturn_server.tables.export import MOST_BYTES, Recorded, export, read
from tableturn_server.tables.making import check_table_id
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import is_host
from tableturn_server.tables.state import Status, Table

_LOG_PAGE = 500


class Documents:
    """ExportTable and ImportTable."""

    def __init__(self, keeper: Keeper, log: Log) -> None:
        self._keeper = keeper
        self._log = log

    async def export_table(
        self, request: table_pb2.ExportTableRequest, call: Call
    ) -> table_pb2.ExportTableResponse:
        """The whole table, with what is hidden: for the admin; for the host when it is over."""
        check_table_id(request.table_id)
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        with held.resting(by):
            _check_may_export(held.table, by)
        kept: list[Recorded] = []
        while len(kept) < held.revision:
            page = await self._keeper.log(request.table_id, len(kept), _LOG_PAGE)
            if not page or page[0].revision != len(kept) + 1:
                raise Refused(
                    Reason.NOT_ALLOWED,
                    "the table's log is not complete any more; it can't be exported",
                    revision=held.revision,
                )
            kept += [Recorded(told.change_id, told.entry) for told in page]
        # A long game takes a while: not on the loop.
        document = await asyncio.to_thread(export, held.table, kept[: held.revision])
        self._log.info("exported", table=request.table_id, revision=held.revision)
        return table_pb2.ExportTableResponse(document=document)

    async def import_table(self, request: table_pb2.ImportTableRequest, call: Call) -> bytes:
        """A table out of a document, played again from its seed."""
        if not call.by.admin:
            reason = Reason.NOT_ALLOWED if call.by.token else Reason.BAD_TOKEN
            raise Refused(reason, "it needs the admin's token, to read a table in")
        if request.table_id:
            check_table_id(request.table_id)
        if len(request.document) > MOST_BYTES:
            raise Refused(
                Reason.BAD_FIELD,
                f"a document has at most {MOST_BYTES} bytes, not {len(request.document)}",
                field="document",
            )
        asked = remembered(request, "ImportTable", call.principal)
        imported = await asyncio.to_thread(
            read, request.document, table_id=request.table_id, now=self._keeper.now()
        )
        held, replayed = await self._keeper.restore(imported, asked)
        table_id = imported.table.making.table_id
        self._log.info("imported", table=table_id, revision=held.revision, replayed=replayed)
        response = table_pb2.ImportTableResponse(replayed=replayed)
        return response.SerializeToString() + convert.nested(1, held.view(None))


def _check_may_export(table: Table, by: By) -> None:
    """The admin always, the host when the game is over; nobody else ever."""
    if by.admin:
        return
    if not by.token or not (
        by.token in (table.making.host, table.making.watch) or table.seats_of(by.token)
    ):
        raise Refused(Reason.BAD_TOKEN, "it needs the admin's token, or the host's at the end")
    if not is_host(table, by):
        raise Refused(Reason.NOT_ALLOWED, "it needs the admin's token, or the host's at the end")
    if table.status is not Status.FINISHED:
        raise Refused(
            Reason.NOT_ALLOWED,
            "an export holds what is hidden: while the game runs only the admin gets one, whose "
            "token is in admin.token in the data directory of the service",
        )
