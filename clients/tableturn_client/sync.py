"""The same client for plain code, without `await`.

    from tableturn_client import sync

    with sync.connect("127.0.0.1:7430") as client:
        first = {"first_seat": "1"}
        new = client.new_table("free-table", seats=2, options=first, start_when_full=True)
        ann = new.table.take_seat("Ann")
        bob = new.table.take_seat("Bob")
        ann.view()
        ann.act(confirm=True)

Every verb is that of the async class, run in a loop in the background.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from tableturn_client import client as aio
from tableturn_client import handles, watching
from tableturn_client import panels as aio_panels
from tableturn_client.address import DEFAULT_SERVER
from tableturn_client.events import Event, ResumePoint
from tableturn_client.messages import TableView, WhoIsThere
from tableturn_client.portal import Portal, plain, plain_as, plain_each
from tableturn_client.timekeeping import Timekeeping
from tableturn_client.watching import SILENCE
from tableturn_client.wire import OnRetry, Retry


class Watch:
    """The events of a table: an iterator that ends when it is closed."""

    def __init__(self, portal: Portal, inner: watching.Watch) -> None:
        self.portal = portal
        self.inner = inner

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        async def following() -> Event | None:
            return await anext(self.inner, None)

        event = self.portal.run(following())
        if event is None:
            raise StopIteration
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    close = plain(watching.Watch.aclose)


def _seat(portal: Portal, inner: handles.Seat) -> Seat:
    return Seat(portal, inner)


def _table(portal: Portal, inner: handles.Table) -> Table:
    return Table(portal, inner)


def _panel(portal: Portal, inner: aio_panels.Panel) -> Panel:
    return Panel(portal, inner)


class Table:
    """See `tableturn_client.Table`."""

    def __init__(self, portal: Portal, inner: handles.Table) -> None:
        self.portal = portal
        self.inner = inner

    def __repr__(self) -> str:
        return repr(self.inner)

    @property
    def table_id(self) -> str:
        """The table's id."""
        return self.inner.table_id

    @property
    def token(self) -> str:
        """The token that the calls carry."""
        return self.inner.token

    @property
    def revision(self) -> int | None:
        """The revision that this handle has seen last."""
        return self.inner.revision

    @property
    def last_view(self) -> TableView | None:
        """The view that this handle has seen last."""
        return self.inner.last_view

    @property
    def time(self) -> Timekeeping:
        """What time it is at the service; see `tableturn_client.Timekeeping`."""
        return self.inner.time

    @property
    def last_presence(self) -> WhoIsThere | None:
        """Who was there when this handle was told last."""
        return self.inner.last_presence

    def watch(
        self,
        *,
        resume: ResumePoint | None = None,
        silence: float = SILENCE,
        company: bool = False,
    ) -> Watch:
        """Follow the table; see `tableturn_client.Watch`."""
        inner = self.inner.watch(resume=resume, silence=silence, company=company)
        return Watch(self.portal, inner)

    def seat(self, number: int, token: str = "") -> Seat:
        """A seat that was taken before."""
        return Seat(self.portal, self.inner.seat(number, token))

    view = plain(handles.Table.view)
    log = plain_each(handles.Table.log)
    log_page = plain(handles.Table.log_page)
    export = plain(handles.Table.export)
    take_seat = plain_as(_seat)(handles.Table.take_seat)
    leave_seat = plain(handles.Table.leave_seat)
    concede = plain(handles.Table.concede)
    seat_bot = plain(handles.Table.seat_bot)
    set_confirmation = plain(handles.Table.set_confirmation)
    start = plain(handles.Table.start)
    pause = plain(handles.Table.pause)
    resume = plain(handles.Table.resume)
    take_back = plain(handles.Table.take_back)
    add_time = plain(handles.Table.add_time)
    let_bot_play = plain(handles.Table.let_bot_play)
    come_back = plain(handles.Table.come_back)
    vote_drop = plain(handles.Table.vote_drop)
    pass_host = plain(handles.Table.pass_host)
    join_code = plain(handles.Table.join_code)
    seat_code = plain(handles.Table.seat_code)
    say = plain(handles.Table.say)
    chat = plain(handles.Table.chat)
    set_chat = plain(handles.Table.set_chat)
    rematch = plain_as(_table)(handles.Table.rematch)
    moved_to = plain_as(_table)(handles.Table.moved_to)
    attach_panel = plain(handles.Table.attach_panel)
    detach_panel = plain(handles.Table.detach_panel)
    panels = plain(handles.Table.panels)


class Seat(Table):
    """See `tableturn_client.Seat`."""

    def __init__(self, portal: Portal, inner: handles.Seat) -> None:
        super().__init__(portal, inner)
        self._number = inner.number

    @property
    def number(self) -> int:
        """The seat's number, from 1."""
        return self._number

    actions = plain(handles.Seat.actions)
    act = plain(handles.Seat.act)
    undo = plain(handles.Seat.undo)
    confirm = plain(handles.Seat.confirm)
    leave = plain(handles.Seat.leave)
    rematch = plain_as(_seat)(handles.Seat.rematch)
    moved_to = plain_as(_seat)(handles.Seat.moved_to)


class Panel(Table):
    """See `tableturn_client.Panel`."""

    def __init__(self, portal: Portal, inner: aio_panels.Panel) -> None:
        super().__init__(portal, inner)
        self.uid = inner.uid
        self.holder = inner.holder

    hold = plain(aio_panels.Panel.hold)
    release = plain(aio_panels.Panel.release)
    press = plain(aio_panels.Panel.press)
    detach = plain(aio_panels.Panel.detach)
    rematch = plain_as(_panel)(aio_panels.Panel.rematch)
    moved_to = plain_as(_panel)(aio_panels.Panel.moved_to)


@dataclass(frozen=True)
class NewTable:
    """See `tableturn_client.NewTable`."""

    table: Table
    view: TableView
    warnings: tuple[str, ...] = ()
    replayed: bool = False


def _new_table(portal: Portal, new: aio.NewTable) -> NewTable:
    return NewTable(Table(portal, new.table), new.view, new.warnings, new.replayed)


class Client:
    """See `tableturn_client.Client`. Closing it also ends its thread."""

    def __init__(self, portal: Portal, inner: aio.Client) -> None:
        self.portal = portal
        self.inner = inner

    @property
    def server(self) -> str:
        """The service's address."""
        return self.inner.server

    @property
    def time(self) -> Timekeeping:
        """What time it is at the service; see `tableturn_client.Timekeeping`."""
        return self.inner.time

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and end the thread."""
        try:
            self.portal.run(self.inner.close())
        finally:
            self.portal.close()

    def table(self, table_id: str, *, token: str = "") -> Table:
        """A handle for a table."""
        return Table(self.portal, self.inner.table(table_id, token=token))

    def seat(self, table_id: str, number: int, *, token: str) -> Seat:
        """A handle for a seat that was taken before."""
        return Seat(self.portal, self.inner.seat(table_id, number, token=token))

    def panel(self, table_id: str, uid: int, *, token: str, holder: str) -> Panel:
        """A handle for a panel on a table."""
        inner = self.inner.panel(table_id, uid, token=token, holder=holder)
        return Panel(self.portal, inner)

    games = plain(aio.Client.games)
    rules = plain(aio.Client.rules)
    component_sets = plain(aio.Client.component_sets)
    component_set = plain(aio.Client.component_set)
    check_component_set = plain(aio.Client.check_component_set)
    new_table = plain_as(_new_table)(aio.Client.new_table)
    tables = plain_each(aio.Client.tables)
    import_table = plain(aio.Client.import_table)
    resolve_code = plain(aio.Client.resolve_code)
    join = plain_as(_seat)(aio.Client.join)


def connect(
    server: str = DEFAULT_SERVER,
    *,
    retry: Retry | None = None,
    on_retry: OnRetry | None = None,
    root_certificates: bytes | None = None,
) -> Client:
    """A client for the service at an address; see `tableturn_client.connect`."""
    inner = aio.connect(server, retry=retry, on_retry=on_retry, root_certificates=root_certificates)
    return Client(Portal(), inner)
