"""The client of one service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Self

from tableturn.v1 import catalog_pb2, clock_pb2, company_pb2, table_pb2
from tableturn.v1.catalog_pb2 import ComponentSetSummary, GameInfo, GetRulesResponse
from tableturn.v1.table_pb2 import TableSummary, TableView
from tableturn_client.address import DEFAULT_SERVER, read_address
from tableturn_client.clocks import Absence, Clock, some
from tableturn_client.company import Code, CodeFor
from tableturn_client.errors import BadValue
from tableturn_client.handles import Seat, Table
from tableturn_client.panels import Panel
from tableturn_client.timekeeping import Timekeeping
from tableturn_client.tokens import new_request_id, new_token, token_sha256
from tableturn_client.values import chosen, instance, request_of, shown, whole
from tableturn_client.wire import Machine, OnRetry, Retry, Wire


class Takeback(Enum):
    """Who may take a confirmed turn back."""

    HOST = table_pb2.TAKEBACK_POLICY_HOST
    ALL = table_pb2.TAKEBACK_POLICY_ALL_AGREE
    NEVER = table_pb2.TAKEBACK_POLICY_NEVER


@dataclass(frozen=True)
class NewTable:
    """A table that was made.

    `table` is a handle with the host's token. `warnings` is what the players should know
    before they start.
    """

    table: Table
    view: TableView
    warnings: tuple[str, ...] = ()
    replayed: bool = False


@dataclass(frozen=True)
class ComponentSet:
    """A shipped component set: in short, and as the whole JSON document."""

    summary: ComponentSetSummary
    document: bytes = field(repr=False)


class Client:
    """The client of one service. Made by `connect`; nothing is sent before the first call."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    @property
    def server(self) -> str:
        """The service's address."""
        return str(self._wire.address)

    @property
    def time(self) -> Timekeeping:
        """What time it is at the service, as its messages have told: to show clocks by."""
        return self._wire.time

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._wire.close()

    # ------------------------------------------------------------ the catalog

    async def games(self) -> Sequence[GameInfo]:
        """All games with their options."""
        request = catalog_pb2.ListGamesRequest()
        return (await self._wire.call(self._wire.catalog.ListGames, request)).games

    async def rules(self, game: str) -> GetRulesResponse:
        """The rules of a game as they are played there, clause by clause."""
        request = request_of(catalog_pb2.GetRulesRequest, game=game)
        return await self._wire.call(self._wire.catalog.GetRules, request)

    async def component_sets(self) -> Sequence[ComponentSetSummary]:
        """The shipped component sets."""
        request = catalog_pb2.ListComponentSetsRequest()
        return (await self._wire.call(self._wire.catalog.ListComponentSets, request)).sets

    async def component_set(self, name: str) -> ComponentSet:
        """One shipped component set with all its values and sources."""
        request = request_of(catalog_pb2.GetComponentSetRequest, name=name)
        answer = await self._wire.call(self._wire.catalog.GetComponentSet, request)
        return ComponentSet(answer.summary, answer.document)

    async def check_component_set(self, game: str, document: bytes) -> ComponentSetSummary:
        """Check a component set of one's own. Raises BadComponents, which names the place."""
        request = request_of(catalog_pb2.CheckComponentSetRequest, game=game, document=document)
        return (await self._wire.call(self._wire.catalog.CheckComponentSet, request)).summary

    # ------------------------------------------------------------ tables

    async def new_table(
        self,
        game: str,
        *,
        seats: int = 0,
        options: Mapping[str, str] | None = None,
        table_id: str = "",
        if_absent: bool = False,
        components: bytes = b"",
        takeback: Takeback = Takeback.HOST,
        start_when_full: bool = False,
        unlisted: bool = False,
        title: str = "",
        seed: bytes = b"",
        host_token: str = "",
        watch_token: str = "",
        clock: Clock | None = None,
        absence: Absence | None = None,
        private: bool = False,
        spectator_delay: float = 0.0,
        host_stays: bool = False,
        request_id: str = "",
    ) -> NewTable:
        """Make a table; without a `host_token` with a new one.

        With a `watch_token`, spectators need it. `seats` 0 are the least that the game allows.
        At a `private` table nobody sits down or looks on without a code or a token; spectators
        see everything `spectator_delay` seconds later. The host's duties pass on when the host
        has gone, unless `host_stays`.
        """
        host_token = host_token or new_token()
        request = request_of(
            table_pb2.CreateTableRequest,
            table_id=table_id,
            if_absent=if_absent,
            request_id=request_id or new_request_id(),
            game=game,
            seats=whole(seats, 0, 2**32 - 1, "no number of seats"),
            options=_texts(options),
            component_set=components,
            host_token_sha256=token_sha256(host_token),
            watch_token_sha256=token_sha256(watch_token) if watch_token else b"",
            unlisted=unlisted,
            start_when_full=start_when_full,
            takeback=chosen(takeback, Takeback, "who may take turns back"),
            seed=seed,
            title=title,
            clock=_clock(clock),
            absence=_absence(absence),
            private=private,
            spectator_delay=some(spectator_delay),
            host_stays=host_stays,
        )
        answer = await self._wire.call(self._wire.tables.CreateTable, request)
        return self._made(answer, host_token)

    def _made(self, answer: table_pb2.CreateTableResponse, host_token: str) -> NewTable:
        """The table that was made, with a handle for its host."""
        table = self.table(answer.table.table_id, token=host_token)
        table._looked(answer.table)
        return NewTable(table, answer.table, tuple(answer.warnings), answer.replayed)

    async def resolve_code(self, code: str) -> Code:
        """What a code is for: a join code, or one that moves a seat. Raises UnknownCode."""
        request = request_of(company_pb2.ResolveCodeRequest, code=code)
        answer = await self._wire.call(self._wire.company.ResolveCode, request)
        meaning = CodeFor(answer.kind)
        return Code(meaning, answer.table_id, answer.game, answer.title, answer.seat)

    async def join(
        self, code: str, name: str = "", *, token: str = "", request_id: str = ""
    ) -> Seat:
        """Take the seat that a code is for, or a free one of its table under a name."""
        table = self.table((await self.resolve_code(code)).table_id)
        return await table.take_seat(name, token=token, code=code, request_id=request_id)

    def table(self, table_id: str, *, token: str = "") -> Table:
        """A handle for a table, with the host's token, a watch token or none."""
        return Table(self._wire, table_id, token=token)

    def seat(self, table_id: str, number: int, *, token: str) -> Seat:
        """A handle for a seat that was taken before."""
        return Seat(self._wire, table_id, number, token=token)

    def panel(self, table_id: str, uid: int, *, token: str, holder: str) -> Panel:
        """A handle for a panel on a table, for its bridge; `holder` is the bridge's name."""
        return Panel(self._wire, table_id, uid, token=token, holder=holder)

    async def tables(self, *, page_size: int = 0) -> AsyncIterator[TableSummary]:
        """The listed tables, in no particular order."""
        page_token = ""
        while True:
            request = request_of(
                table_pb2.ListTablesRequest, page_size=page_size, page_token=page_token
            )
            answer = await self._wire.call(self._wire.tables.ListTables, request)
            for table in answer.tables:
                yield table
            page_token = answer.next_page_token
            if not page_token:
                return

    async def import_table(
        self, document: bytes, *, token: str, table_id: str = "", request_id: str = ""
    ) -> TableView:
        """Make a table out of an exported document; needs the admin's token."""
        request = request_of(
            table_pb2.ImportTableRequest,
            document=document,
            table_id=table_id,
            request_id=request_id or new_request_id(),
        )
        return (await self._wire.call(self._wire.tables.ImportTable, request, token)).table


def _texts(options: Mapping[str, str] | None) -> dict[str, str]:
    """The options of a game by their names."""
    if options is not None and not isinstance(options, Mapping):
        raise BadValue(f"options are texts by their names, not {shown(options)}")
    return dict(options or {})


def _clock(clock: Clock | None) -> clock_pb2.ClockSettings | None:
    """A clock as it is sent."""
    return None if clock is None else instance(clock, Clock, "a clock is a Clock").message


def _absence(absence: Absence | None) -> clock_pb2.AbsenceSettings | None:
    """What happens to who is away, as it is sent."""
    return None if absence is None else instance(absence, Absence, "it is an Absence").message


def connect(
    server: str = DEFAULT_SERVER,
    *,
    retry: Retry | None = None,
    machine: Machine | None = None,
    on_retry: OnRetry | None = None,
    root_certificates: bytes | None = None,
) -> Client:
    """A client for the service at an address such as `127.0.0.1:7430`.

    Use it as `async with connect(server) as client`. `https://HOST` encrypts the connection;
    `root_certificates` (PEM) are then trusted instead of the usual ones. `retry` sets how long
    calls without an answer are repeated, `on_retry` is told of each repetition.
    """
    if root_certificates is not None:
        instance(root_certificates, bytes, "certificates are the bytes of a PEM file")
    wire = Wire(
        read_address(server),
        instance(retry or Retry(), Retry, "how calls are repeated is a Retry"),
        machine or Machine(),
        on_retry,
        root_certificates,
    )
    return Client(wire)
