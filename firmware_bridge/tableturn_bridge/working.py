"""A bridge at work: one panel, from table to table, through everything that may come between.

Three things go on side by side and don't wait for each other: the connection to the panel, which
is found again whenever it was lost; the table, which is followed whether the panel is there or
not; and the gestures.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Protocol

from tableturn_bridge import reasons, status
from tableturn_bridge.bridge import PATIENCE, Board, Bridge
from tableturn_bridge.connection import Happened, Lost, Ready, Stats
from tableturn_bridge.errors import NotASerialPort, PanelTrouble
from tableturn_bridge.gestures import Counts
from tableturn_bridge.lamps import alike, seats_of
from tableturn_bridge.lease import Held, Sleep, holder_name
from tableturn_bridge.link import Pressed
from tableturn_bridge.patterns import BRIGHTEST, Pattern
from tableturn_bridge.protocol import Event, Hello, Result
from tableturn_bridge.sitting import Place, Sitting, UsedElsewhere, can_play
from tableturn_bridge.status import News, Tell
from tableturn_bridge.telling import InOrder, Later, by_the_loop
from tableturn_client import Client
from tableturn_client.errors import NoAnswer, TableturnError, Unavailable, UnknownTable
from tableturn_client.messages import PanelReport

AGAIN = 1.0
"""Seconds between two tries to sit down at a table that can't be reached, or not yet."""

OTHER_PANEL = "another panel is there now"


class Connection(Board, Protocol):
    """What is needed of `connection.PanelConnection`."""

    stats: Stats

    def events(self) -> AsyncIterator[Happened]:
        """What happens at the panel."""


class Work:
    """One panel's bridge, from its start to Ctrl-C.

    `machine` is this machine's name, as the service and other bridges are told it.
    """

    def __init__(
        self,
        connection: Connection,
        client: Client,
        sitting: Sitting,
        *,
        machine: str,
        tell: Tell,
        brightness: int = BRIGHTEST,
        patience: float = PATIENCE,
        sleep: Sleep = asyncio.sleep,
        later: Later = by_the_loop,
    ) -> None:
        self.counts = Counts()
        self.bridge: Bridge | None = None
        self._connection = connection
        self._client = client
        self._sitting = sitting
        self._machine = machine
        self._tell = InOrder(tell, later)
        self._brightness = brightness
        self._patience = patience
        self._sleep = sleep
        self._hello: Hello | None = None
        self._port = ""
        self._early: list[Event] = []
        self._said = ""

    async def run(self) -> None:
        """Work until cancelled.

        Raises what no patience helps against, such as UnknownTable, or NotASerialPort for a port
        that was never one.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._listen(tasks)
        except* TableturnError as several:
            error: BaseException = several
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            assert isinstance(error, TableturnError)
            self._refuse_early("NO_TABLE", error.sentence)
            raise error from None

    # ------------------------------------------------------------ the panel

    async def _listen(self, tasks: asyncio.TaskGroup) -> None:
        """What happens at the panel, for ever."""
        table: asyncio.Task[None] | None = None
        async for happened in self._connection.events():
            match happened:
                case Ready(hello=hello, port=port):
                    other = self._is_other(hello)
                    self._hello, self._port = hello, port
                    self._tell(status.found(hello, port))
                    if other:
                        if self.bridge is not None:
                            self.bridge.end(OTHER_PANEL)
                        if table is not None:
                            table.cancel()
                            await asyncio.wait([table])
                        self._refuse_early("OTHER_PANEL", OTHER_PANEL)
                        table = tasks.create_task(self._from_table_to_table(hello))
                case Pressed(event=event):
                    if self.bridge is None:
                        self._early.append(event)
                        tasks.create_task(self._give_up(event))
                    else:
                        self._asks(self.bridge, event)
                case Lost(error=NotASerialPort() as error) if self._hello is None:
                    raise error  # a file or a folder never becomes a panel
                case Lost(error=error):
                    self._tell(status.lost(reasons.known_here(error)))
        raise PanelTrouble("the connection to the panel has ended by itself", "Start again.")

    def _asks(self, bridge: Bridge, event: Event) -> None:
        """The table is asked what a gesture does."""
        self._tell.waits_for(event)
        bridge.pressed(event)

    async def _give_up(self, event: Event) -> None:
        """A gesture waits for a table no longer than it would for an answer."""
        await self._sleep(self._patience)
        if event in self._early:
            self._refuse(event, "NO_ANSWER", "there is no table to ask")

    def _refuse_early(self, reason: str, sentence: str) -> None:
        """No table will ever be asked for the gestures that wait for one."""
        for event in list(self._early):
            self._refuse(event, reason, sentence)

    def _refuse(self, event: Event, reason: str, sentence: str) -> None:
        """The final answer to a gesture that has waited for a table."""
        self._early.remove(event)
        self.counts.gestures += 1
        self.counts.count(Result.REJECTED)
        self._connection.answer(event, Result.REJECTED)
        self._tell(status.gesture_refused(event, reason, sentence))

    def _is_other(self, hello: Hello) -> bool:
        """Another panel is there than before, or the first one."""
        before = self._hello
        return before is None or (before.uid, before.buttons) != (hello.uid, hello.buttons)

    # ------------------------------------------------------------ the table

    async def _from_table_to_table(self, hello: Hello) -> None:
        """Sit down, work there, go on at the next table with the same people.

        Where the table is gone, sitting down again finds another one, or says that there is none.
        """
        place = await self._sit_down(hello)
        while True:
            try:
                next_table = await self._work_at(place, hello)
            except UnknownTable:
                self._tell(
                    News("gone", f"the table {place.table_id} is gone", {"table": place.table_id})
                )
                place = await self._sit_down(hello)
            else:
                place = await self._sitting.goes_on(hello.uid, place, next_table)

    async def _work_at(self, place: Place, hello: Hello) -> str:
        """Work at one table; the id of the next one."""
        panel = self._client.panel(
            place.table_id,
            hello.uid,
            token=place.token,
            holder=holder_name(self._machine, hello.uid),
        )
        self.bridge = bridge = Bridge(
            panel,
            self._connection,
            hello.buttons,
            tell=self._teller(place, hello.uid),
            report=self._report,
            counts=self.counts,
            brightness=self._brightness,
            patience=self._patience,
            sleep=self._sleep,
            time=self._client.time.time,
        )
        early, self._early = self._early, []
        for event in early:
            self._asks(bridge, event)
        try:
            return await bridge.run()
        finally:
            self.bridge = None
            self._tell.all()

    def _teller(self, place: Place, uid: int) -> Tell:
        """Tells what happens at a table, with what helps where this panel has no place there."""
        seatless = False

        def tell(news: News) -> None:
            nonlocal seatless
            if news.kind == "elsewhere":
                problem = str(news.details["sentence"])
                others = news.details["held"] == Held.OTHERS.value
                news = status.elsewhere(
                    reasons.held_elsewhere(problem)
                    if others
                    else reasons.off_table(problem, place.table_id, uid)
                )
            self._tell(news)
            view = self.bridge.view if self.bridge is not None else None
            seats = None if view is None else seats_of(view, uid)
            if view is None or seats is None or seatless or can_play(view, seats):
                return
            seatless = True
            self._tell(status.seatless(view))

        return tell

    async def _sit_down(self, hello: Hello) -> Place:
        """A place at a table, however long the service or another panel lets us wait."""
        while True:
            try:
                return await self._sitting.sit_down(hello.uid, hello.buttons)
            except (NoAnswer, Unavailable) as error:
                self._wait(Pattern.SERVICE_LOST, hello, error)
            except UsedElsewhere as error:
                self._wait(Pattern.ELSEWHERE, hello, error)
            await self._sleep(AGAIN)

    def _wait(self, pattern: Pattern, hello: Hello, error: TableturnError) -> None:
        """There is no place yet: show it, and say once why."""
        self._connection.show(alike(pattern, hello.buttons, brightness=self._brightness))
        if error.sentence == self._said:
            return
        self._said = error.sentence
        if isinstance(error, UsedElsewhere):
            self._tell(status.elsewhere(error.why))
        else:
            self._tell(status.service_lost(error.sentence))

    # ------------------------------------------------------------ the report

    def _report(self) -> PanelReport:
        """How the panel is, for people at the service."""
        stats, hello, counts = self._connection.stats, self._hello, self.counts
        report = PanelReport(
            place=f"{self._machine.rpartition('-')[0] or self._machine}:{self._port}"[:200],
            crc_errors=stats.damaged,
            gestures=counts.gestures,
            accepted=counts.accepted,
            stale=counts.stale,
            rejected=counts.rejected,
        )
        if hello is not None:
            report.firmware = f"{hello.major}.{hello.minor}"
            report.buttons = hello.buttons
        if stats.pong is not None:
            report.uptime.FromTimedelta(timedelta(milliseconds=stats.pong.uptime))
            report.overruns = stats.pong.overruns
            report.dropped = stats.pong.dropped
        return report
