"""The bridge at one table: the table's changes to the lamps, the buttons' gestures to the table.

It keeps nothing that the game needs. The picture is made of the table's view alone; a gesture
carries what the panel showed when it was made, and has a request id that is the same however
often it is sent. So a bridge may be killed at any moment: the panel sends the gesture again, the
next bridge repeats the call, and the service answers as it did the first time (case H8).

What a player sees of a gesture: the lamp flickers while the answer is awaited; then the next
picture, or three flashes where it was refused, or two where what it was meant for had passed.
Each gets its final answer once, also where the bridge leaves its table meanwhile. Only a bridge
that is interrupted owes some: the panel keeps those for the next one.

Some pictures change by the clock alone: when a player's time gets low, or when the winner's lamp
has said so for long enough. The next one is sent at its moment, by the service's time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime
from typing import Protocol

from tableturn_bridge.gestures import Counts
from tableturn_bridge.lamps import alike, next_change, picture, seats_of, tag_of
from tableturn_bridge.lease import Held, Lease, Sleep
from tableturn_bridge.patterns import BRIGHTEST, Pattern
from tableturn_bridge.protocol import NO_BUTTON, Event, Result, State
from tableturn_bridge.status import (
    News,
    Tell,
    at_table,
    gesture_refused,
    gesture_told,
    service_lost,
    turn_of,
)
from tableturn_bridge.telling import Later, Timer, by_the_loop
from tableturn_bridge.timing import TimeTold
from tableturn_client import (
    Change,
    Disconnected,
    Fresh,
    Gesture,
    Panel,
    Pressed,
    Reconnected,
    Snapshot,
    Stale,
)
from tableturn_client.errors import (
    NoAnswer,
    PanelHeld,
    Refused,
    StaleRevision,
    TableturnError,
    Unavailable,
)
from tableturn_client.messages import PanelReport, TableView

PATIENCE = 10.0
"""Seconds after which a gesture without an answer is given up.

By then the lamp has shown for a while that something is wrong. A gesture that was carried out all
the same shows in the next picture; one that was not must not count any more when the service
comes back to a table where nobody expects it.
"""

LOOK_AGAIN = 10.0
"""Seconds after which it is looked again how long a picture still holds: the service's time is
known the better the more it has told, and timers stand still while the machine sleeps."""

GONE_ON = "the game goes on at another table"

AGAIN = 0.1
"""Seconds before a gesture is sent again, beyond the pauses of the client itself."""

_GESTURES = {gesture.value for gesture in Gesture}


class Board(Protocol):
    """The panel as the bridge sees it; `connection.PanelConnection` is one."""

    def show(self, state: State) -> None:
        """Show this picture from now on, also after a break of the connection."""

    def answer(self, event: Event, result: Result) -> None:
        """Say what became of a gesture; it has been told already that it was seen."""


class Bridge:
    """A panel with so many buttons at one table."""

    def __init__(
        self,
        panel: Panel,
        board: Board,
        buttons: int,
        *,
        tell: Tell,
        report: Callable[[], PanelReport] = PanelReport,
        counts: Counts | None = None,
        brightness: int = BRIGHTEST,
        patience: float = PATIENCE,
        sleep: Sleep = asyncio.sleep,
        later: Later = by_the_loop,
        time: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        self.panel = panel
        self.lease = Lease(panel, report, self._held, sleep=sleep)
        self.view: TableView | None = None
        self.counts = counts or Counts()
        self._board = board
        self._buttons = buttons
        self._tell = tell
        self._brightness = brightness
        self._patience = patience
        self._sleep = sleep
        self._later = later
        self._time = time
        self._time_told = TimeTold(tell)
        self._repaint: Timer | None = None
        self._tag = tag_of(panel.table_id)
        self._away = False
        self._said_lost = False
        self._said_turn: object = None
        self._next: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._presses: set[asyncio.Task[None]] = set()
        self._owed: dict[Event, None] = {}
        """Gestures without a final answer, in the order in which they came."""
        self._over = ""
        """Why no gesture is taken any more."""

    # ------------------------------------------------------------ its life

    async def run(self) -> str:
        """Work until the people go on at another table; its id. Cancel it to end earlier.

        Raises a refusal that no patience helps against, such as UnknownTable.
        """
        try:
            next_table = await self._work()
        except asyncio.CancelledError:
            # What the service has heard may have counted: the next bridge gets its answer (H8).
            self._over = "this bridge has ended"
            raise
        except TableturnError as error:
            self.end(error.sentence)
            raise
        except BaseException:
            self.end("this bridge has a fault; the lamps will show whether it counted")
            raise
        else:
            self.end(GONE_ON)
            return next_table
        finally:
            await self._let_go()

    async def _work(self) -> str:
        """Follow the table and hold the panel until there is a next table; its id."""
        try:
            async with asyncio.TaskGroup() as tasks:
                parts = [tasks.create_task(self._follow()), tasks.create_task(self.lease.keep())]
                # Waits for the gesture that led there, too: its answer is owed to the player.
                next_table = await self._next
                while self._presses:
                    await asyncio.wait(self._presses)
                for part in parts:
                    part.cancel()
            return next_table
        except* TableturnError as several:
            raise several.exceptions[0] from None

    def end(self, sentence: str) -> None:
        """Take no gesture from now on, and refuse those that have no answer yet."""
        self._over = sentence
        for press in self._presses:
            press.cancel()
        for event in list(self._owed):
            self._refuse(event, Result.REJECTED, "TABLE_LEFT", sentence)

    async def _let_go(self) -> None:
        """Let go of the panel, when nothing is on its way any more that would hold it again."""
        self._by_the_clock(None)
        presses = list(self._presses)
        for press in presses:
            press.cancel()
        await asyncio.gather(*presses, return_exceptions=True)
        await asyncio.shield(self.lease.release())

    # ------------------------------------------------------------ the table's changes

    async def _follow(self) -> None:
        """Follow the table; a service that isn't there at the beginning is waited for."""
        while True:
            try:
                async with aclosing(self.panel.watch()) as watch:
                    async for event in watch:
                        self._hear(event)
            except (NoAnswer, Unavailable) as error:
                self._lost(error)
                await self._sleep(1.0)

    def _hear(self, event: object) -> None:
        """What the watch tells."""
        match event:
            case Snapshot(view=view) | Change(view=view):
                self._went_on(view)
            case Disconnected(error=error):
                self._lost(error)
            case Stale():
                self._lost(None)
            case Reconnected() | Fresh():
                self._found()

    def _went_on(self, view: TableView | None) -> None:
        """The table as it is now; None where a later change follows at once."""
        if view is None:
            return
        first = self.view is None
        self.view = view
        self._found()
        if first:
            self._tell(at_table(view))
        turn = turn_of(view)
        if turn.document != self._said_turn:
            self._said_turn = turn.document
            self._tell(turn)
        self._time_told(view, self._service_time())
        if view.next_table_id:
            self._goes_on_at(view.next_table_id)

    def _goes_on_at(self, table_id: str) -> None:
        if table_id and not self._next.done():
            self._next.set_result(table_id)

    def _lost(self, error: TableturnError | None) -> None:
        """What the lamps said may be out of date: say so on all of them."""
        self._away = True
        self.show()
        if not self._said_lost:
            self._said_lost = True
            sentence = error.sentence if error else "the service can't reach its store"
            self._tell(service_lost(sentence))

    def _found(self) -> None:
        """The service is heard again: the last picture holds until the next one comes."""
        self._away = False
        self.show()
        if self._said_lost:
            self._said_lost = False
            self._tell(News("service_found", "the service is there again", {}))

    def _held(self, state: Held, sentence: str) -> None:
        """Whose the panel is has changed."""
        if sentence:
            self._tell(News("elsewhere", sentence, {"held": state.value, "sentence": sentence}))
        self.show()

    # ------------------------------------------------------------ the lamps

    def show(self) -> None:
        """Send the picture of what is known now.

        The last one stays until the table is known and whose the panel is: a second bridge must
        not arm a single button.
        """
        now = self._service_time()
        if self._away or (self.view is not None and self.lease.state is not Held.UNKNOWN):
            self._board.show(self.picture(now))
        change = next_change(self.view, now) if self.view is not None and now else None
        self._by_the_clock(None if change is None else min((change - now) / 1000, LOOK_AGAIN))

    def _service_time(self) -> int:
        """What time it is at the service, in milliseconds; 0 as long as it hasn't said so."""
        now = self._time()
        return 0 if now is None else int(now.timestamp() * 1000)

    def _by_the_clock(self, seconds: float | None) -> None:
        """Show what is known then after so many seconds; None: not by the clock alone."""
        if self._repaint is not None:
            self._repaint.cancel()
        self._repaint = None if seconds is None else self._later(seconds, self._time_passes)

    def _time_passes(self) -> None:
        """Show and tell what is so by now, though nothing happened."""
        self.show()
        if self.view is not None:
            self._time_told(self.view, self._service_time())

    def picture(self, now: int) -> State:
        """The picture of what is known, at a moment of the service's time."""
        view = self.view
        seats = None if view is None else seats_of(view, self.panel.uid)
        revision = 0 if view is None else view.revision
        if view is None or self._away:
            pattern = Pattern.SERVICE_LOST
        elif seats is None or self.lease.state in (Held.OTHERS, Held.OFF):
            pattern = Pattern.ELSEWHERE
        else:
            return picture(view, seats, self._buttons, self._brightness, now=now)
        return alike(pattern, self._buttons, self._tag, revision, self._brightness)

    # ------------------------------------------------------------ the gestures

    def pressed(self, event: Event) -> None:
        """A gesture has come. Several are worked on at the same time."""
        self.counts.gestures += 1
        self._owed[event] = None
        if event.tag != self._tag:
            # It was meant for a table that this panel has left.
            self._refuse(event, Result.STALE, "STALE", "it was meant for another table")
            return
        if over := self._over or (GONE_ON if self._next.done() else ""):
            self._refuse(event, Result.REJECTED, "TABLE_LEFT", over)
            return
        if event.kind not in _GESTURES:
            self._refuse(event, Result.REJECTED, "UNKNOWN", f"gesture {event.kind} is not known")
            return
        task = asyncio.create_task(self._carry_out(event))
        self._presses.add(task)
        task.add_done_callback(self._pressed)

    def _pressed(self, task: asyncio.Task[None]) -> None:
        """A gesture is done with. A fault of ours ends the bridge, so that it is seen."""
        self._presses.discard(task)
        if not task.cancelled() and (fault := task.exception()) and not self._next.done():
            self._next.set_exception(fault)

    async def _carry_out(self, event: Event) -> None:
        """Send a gesture, and give its final answer."""
        try:
            async with asyncio.timeout(self._patience):
                done = await self._send(event)
        except StaleRevision as refusal:
            self._refuse(event, Result.STALE, refusal.reason, refusal.sentence)
        except Refused as refusal:
            self._refuse(event, Result.REJECTED, refusal.reason, refusal.sentence)
        except TimeoutError:
            sentence = "no answer came; the lamps will show whether it counted"
            self._refuse(event, Result.REJECTED, "NO_ANSWER", sentence)
        except TableturnError as error:
            self._refuse(event, Result.REJECTED, "FAULT", error.sentence)
        else:
            if self._answer(event, Result.ACCEPTED):
                self._tell(gesture_told(event, done, self.view))
            self._goes_on_at(done.next_table_id)

    async def _send(self, event: Event) -> Pressed:
        """Send a gesture, repeated as it is until there is an answer."""
        await self.lease.settled()
        while True:
            try:
                return await self.panel.press(
                    _button(event.button),
                    Gesture(event.kind),
                    _button(event.second),
                    expected=event.revision,
                    request_id=request_id(self.panel.uid, event),
                )
            except PanelHeld:
                # The lease may have ended while the service was away: ask for it again first.
                if await self.lease.renew() is not Held.OURS:
                    raise
            except NoAnswer:
                await self._sleep(AGAIN)
            except Unavailable as refusal:
                if not refusal.repeatable:
                    raise
                await self._sleep(AGAIN)

    def _refuse(self, event: Event, result: Result, reason: str, sentence: str) -> None:
        if self._answer(event, result):
            self._tell(gesture_refused(event, reason, sentence))

    def _answer(self, event: Event, result: Result) -> bool:
        """Give the final answer; False if it has been given."""
        if event not in self._owed:
            return False
        del self._owed[event]
        self.counts.count(result)
        self._board.answer(event, result)
        return True


def request_id(uid: int, event: Event) -> str:
    """The name of a gesture towards the service: always the same for the same gesture."""
    return f"panel:{uid}:{event.session}:{event.tag}:{event.number}"


def _button(number: int) -> int:
    """A button as the service counts them: from 1, and 0 for the one that belongs to no seat."""
    return 0 if number == NO_BUTTON else number + 1
