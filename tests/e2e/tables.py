"""A small vocabulary: a table, the people at it, and what they do, over raw stubs.

table = new_table(connection, "free-table", seats=2)
ann, bob = table.sit("Ann", "Bob")
ann.act("score 5 for seat 2", confirm=True)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tableturn.v1 import table_pb2
from tableturn.v1.table_pb2 import LogEntry, TableView
from tests.e2e.calls import TIMEOUT, Connection, action, bearer, digest, insist, new_id, new_token

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
POINTS = {"points": "on", "first_seat": "1"}
"""A free table that keeps points, and at which seat 1 begins."""


@dataclass
class Table:
    """A table as somebody sees it with a token: the host's, a seat's, or none."""

    connection: Connection
    table_id: str
    token: str = ""
    seat: int = 0
    people: list[Table] = field(default_factory=list)

    def through(self, connection: Connection) -> Table:
        """The same, over another connection."""
        return Table(connection, self.table_id, self.token, self.seat)

    def call(self, method: str, request: Any, *, repeat: bool = False) -> Any:
        """Call a method of `TableService`; with `repeat` until there is an answer."""
        stub = getattr(self.connection.tables, method)
        if repeat:
            return insist(stub, request, self.token)
        return stub(request, metadata=bearer(self.token), timeout=TIMEOUT)

    # -- looking -----------------------------------------------------------------------------

    def view(self) -> TableView:
        request = table_pb2.GetTableRequest(table_id=self.table_id, seat=self.seat)
        answer: table_pb2.GetTableResponse = self.call("GetTable", request, repeat=True)
        return answer.table

    @property
    def revision(self) -> int:
        return self.view().revision

    def actions(self) -> table_pb2.ListActionsResponse:
        request = table_pb2.ListActionsRequest(table_id=self.table_id, seat=self.seat)
        answer: table_pb2.ListActionsResponse = self.call("ListActions", request, repeat=True)
        return answer

    def log(self, after: int = 0) -> list[LogEntry]:
        """The whole log after a revision, page by page."""
        entries: list[LogEntry] = []
        while True:
            request = table_pb2.ListLogRequest(
                table_id=self.table_id, after_revision=after, page_size=500, seat=self.seat
            )
            page: table_pb2.ListLogResponse = self.call("ListLog", request, repeat=True)
            entries += page.entries
            if not page.more:
                return entries
            after = entries[-1].revision

    def state(self) -> tuple[bytes, list[bytes]]:
        """All that can be seen, in bytes: to show that nothing has changed."""
        seen = self.view().SerializeToString(deterministic=True)
        return seen, [entry.SerializeToString(deterministic=True) for entry in self.log()]

    def watch(self, revision: int = 0, change_id: str = "", **settings: Any) -> Any:
        """The events of the table, until the call is cancelled."""
        request = table_pb2.WatchTableRequest(
            table_id=self.table_id,
            seat=self.seat,
            start_revision=revision,
            start_change_id=change_id,
        )
        return self.connection.tables.WatchTable(request, metadata=bearer(self.token), **settings)

    # -- changing ----------------------------------------------------------------------------

    def act(
        self,
        *texts: str,
        confirm: bool = False,
        expected: int | None = None,
        request_id: str = "",
        repeat: bool = False,
    ) -> table_pb2.ActResponse:
        request = table_pb2.ActRequest(
            table_id=self.table_id,
            request_id=request_id or new_id(),
            seat=self.seat,
            expected_revision=self.revision if expected is None else expected,
            actions=[action(text) for text in texts],
            confirm=confirm,
        )
        answer: table_pb2.ActResponse = self.call("Act", request, repeat=repeat)
        return answer

    def confirm(
        self, *, expected: int | None = None, request_id: str = "", repeat: bool = False
    ) -> table_pb2.ConfirmResponse:
        request = table_pb2.ConfirmRequest(
            table_id=self.table_id,
            request_id=request_id or new_id(),
            seat=self.seat,
            expected_revision=self.revision if expected is None else expected,
        )
        answer: table_pb2.ConfirmResponse = self.call("Confirm", request, repeat=repeat)
        return answer

    def undo(self, *, everything: bool = False, repeat: bool = False) -> table_pb2.UndoResponse:
        request = table_pb2.UndoRequest(
            table_id=self.table_id,
            request_id=new_id(),
            seat=self.seat,
            expected_revision=self.revision,
            all=everything,
        )
        answer: table_pb2.UndoResponse = self.call("Undo", request, repeat=repeat)
        return answer

    def take_back(self) -> table_pb2.TakeBackResponse:
        request = table_pb2.TakeBackRequest(
            table_id=self.table_id,
            request_id=new_id(),
            seat=self.seat,
            expected_revision=self.revision,
        )
        answer: table_pb2.TakeBackResponse = self.call("TakeBack", request)
        return answer

    def take_seat(self, name: str, seat: int = 0, token: str = "") -> Table:
        """Somebody sits down."""
        token = token or new_token()
        request = table_pb2.TakeSeatRequest(
            table_id=self.table_id,
            request_id=new_id(),
            seat=seat,
            name=name,
            token_sha256=digest(token),
        )
        answer: table_pb2.TakeSeatResponse = self.call("TakeSeat", request)
        return Table(self.connection, self.table_id, token, answer.seat)

    def sit(self, *names: str) -> list[Table]:
        """People sit down, one after another."""
        self.people += [self.take_seat(name) for name in names]
        return self.people

    def asked(self) -> Table:
        """Who of the people is asked first."""
        return self.people[self.view().prompts[0].seat - 1]


def new_table(
    connection: Connection,
    game: str = "free-table",
    *,
    seats: int = 2,
    options: Mapping[str, str] | None = None,
    table_id: str = "",
    sit: bool = True,
    **more: Any,
) -> Table:
    """A table whose game has begun, with people on all seats; the value is its host's."""
    token = new_token()
    request = table_pb2.CreateTableRequest(
        table_id=table_id,
        request_id=new_id(),
        game=game,
        seats=seats,
        options=dict(options if options is not None else POINTS if game == "free-table" else {}),
        host_token_sha256=digest(token),
        start_when_full=True,
        **more,
    )
    answer = connection.tables.CreateTable(request, timeout=TIMEOUT)
    table = Table(connection, answer.table.table_id, token)
    if sit:
        table.sit(*NAMES[:seats])
    return table


def gapless(entries: list[LogEntry]) -> bool:
    """One entry for each revision, from the first one on."""
    return [entry.revision for entry in entries] == list(range(1, len(entries) + 1))


def events(stream: Any, most: int) -> Iterator[table_pb2.WatchTableResponse]:
    """So many events of a watch, which is then ended."""
    try:
        for _, event in zip(range(most), stream, strict=False):
            yield event
    finally:
        stream.cancel()
