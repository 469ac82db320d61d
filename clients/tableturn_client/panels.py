"""A panel at a table, as its bridge sees it.

A bridge holds its panel, follows the table, and sends what was done with the buttons. What a
gesture means is decided by the service, on the table's own state.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

from tableturn.v1 import panel_pb2
from tableturn.v1.panel_pb2 import PanelReport
from tableturn_client.handle import Done
from tableturn_client.handles import Table, panel_uid
from tableturn_client.tokens import new_request_id
from tableturn_client.values import chosen, request_of, whole
from tableturn_client.wire import Wire

MOST_BUTTONS = 8


class Gesture(Enum):
    """What was done with a button. All of it is decided when the button is let go."""

    PRESS = panel_pb2.GESTURE_PRESS
    LONG = panel_pb2.GESTURE_LONG
    CHORD = panel_pb2.GESTURE_CHORD
    MASTER = panel_pb2.GESTURE_MASTER
    MASTER_LONG = panel_pb2.GESTURE_MASTER_LONG


@dataclass(frozen=True)
class Pressed(Done):
    """A gesture was carried out.

    `seat` is the one that it counted for, 0 for none; `next_table_id` the rematch's table.
    """

    next_table_id: str = ""


class Panel(Table):
    """A panel on a table, with its own token.

    `holder` is the bridge's own name: the same after it was started again on the same machine,
    another one on any other. What a `Table` can do with a panel's token, this can.
    """

    def __init__(self, wire: Wire, table_id: str, uid: int, *, token: str, holder: str) -> None:
        super().__init__(wire, table_id, token=token)
        self.uid = panel_uid(uid)
        self.holder = holder

    async def moved_to(self, table_id: str) -> Self:
        """This panel at the next table of the same people."""
        return type(self)(self._wire, table_id, self.uid, token=self.token, holder=self.holder)

    async def hold(self, report: PanelReport | None = None) -> float:
        """Hold the panel for this bridge; return for how many seconds. Call it again in time.

        Raises PanelHeld while another bridge holds it.
        """
        request = request_of(
            panel_pb2.HoldPanelRequest,
            table_id=self.table_id,
            panel_uid=self.uid,
            holder=self.holder,
            report=report,
        )
        answer = await self._wire.call(self._wire.panels.HoldPanel, request, self.token)
        return answer.lease.ToTimedelta().total_seconds()

    async def release(self) -> None:
        """Let the panel go, so that another bridge can hold it at once."""
        request = request_of(
            panel_pb2.ReleasePanelRequest,
            table_id=self.table_id,
            panel_uid=self.uid,
            holder=self.holder,
        )
        await self._wire.call(self._wire.panels.ReleasePanel, request, self.token)

    async def press(
        self,
        button: int,
        gesture: Gesture = Gesture.PRESS,
        second: int = 0,
        *,
        expected: int | None = None,
        request_id: str = "",
    ) -> Pressed:
        """Carry out what was done with a button, from 1; 0 is the one that belongs to no seat.

        `expected` is the revision that the panel showed when it was done, by default what this
        handle has seen; `second` the other button of a chord. The same gesture must always be
        sent with the same `request_id`: it then counts once, also if the answer was lost.
        """
        for number in (button, second):
            whole(number, 0, MOST_BUTTONS, "no button's number")
        request = request_of(
            panel_pb2.PressPanelRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            panel_uid=self.uid,
            holder=self.holder,
            button=button,
            gesture=chosen(gesture, Gesture, "a gesture"),
            second_button=second,
            expected_revision=self._expected(expected),
        )
        answer = await self._wire.call(self._wire.panels.PressPanel, request, self.token)
        pressed = Pressed(
            answer.revision,
            answer.replayed,
            tuple(answer.lines),
            seat=answer.seat,
            next_table_id=answer.next_table_id,
        )
        self._went_on(pressed)
        return pressed

    async def detach(self, *, request_id: str = "") -> Done:
        """Take the panel off the table."""
        return await self.detach_panel(self.uid, request_id=request_id)
