"""Handles: a table, and a seat at it. What they remember stands in `handle.py`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

from tableturn.v1 import panel_pb2, table_pb2
from tableturn.v1.actions_pb2 import Choice, Prompt
from tableturn.v1.panel_pb2 import PanelStatus
from tableturn.v1.table_pb2 import LogEntry
from tableturn_client.actions import AnyAction, to_actions
from tableturn_client.company import Company
from tableturn_client.events import ResumePoint
from tableturn_client.handle import Done, seat_number
from tableturn_client.people import People
from tableturn_client.seating import Seating
from tableturn_client.tokens import new_request_id, token_sha256
from tableturn_client.values import chosen, listed, request_of, whole
from tableturn_client.watching import SILENCE, Watch
from tableturn_client.wire import Wire


class RematchOrder(Enum):
    """Who sits where at the next table."""

    SAME = table_pb2.REMATCH_ORDER_SAME
    ROTATED = table_pb2.REMATCH_ORDER_ROTATED
    LOSER_FIRST = table_pb2.REMATCH_ORDER_LOSER_FIRST


@dataclass(frozen=True)
class Asked:
    """What a seat is asked (`prompt`, or None) and may do, besides confirming and undoing."""

    revision: int
    prompt: Prompt | None
    choices: tuple[Choice, ...]


class Table(Seating, People, Company):
    """A table, with a token (the host's, a watch token's or none) or as anybody."""

    # ------------------------------------------------------------ looking

    def watch(
        self,
        *,
        resume: ResumePoint | None = None,
        silence: float = SILENCE,
        company: bool = False,
    ) -> Watch:
        """Follow the table, from now or from a point on; see `Watch`.

        With `company`, it also tells who is there (`Presence`) and what is said (`Said`).
        """
        return Watch(
            self._wire,
            self.table_id,
            token=self.token,
            seat=self._seat,
            resume=resume,
            silence=silence,
            company=company,
            seen=self._told,
        )

    async def log(self, after: int = 0, *, page_size: int = 0) -> AsyncIterator[LogEntry]:
        """The entries of the table's log after a revision, as this token may see them."""
        while True:
            answer = await self.log_page(after, page_size=page_size)
            for entry in answer.entries:
                yield entry
            if not answer.more or not answer.entries:
                return
            after = answer.entries[-1].revision

    async def log_page(self, after: int = 0, *, page_size: int = 0) -> table_pb2.ListLogResponse:
        """One page of the log."""
        request = request_of(
            table_pb2.ListLogRequest,
            table_id=self.table_id,
            after_revision=after,
            page_size=page_size,
            seat=self._seat,
        )
        return await self._wire.call(self._wire.tables.ListLog, request, self.token)

    async def export(self) -> bytes:
        """The whole table as a document; needs the admin's token while the game runs."""
        request = request_of(table_pb2.ExportTableRequest, table_id=self.table_id)
        answer = await self._wire.call(self._wire.tables.ExportTable, request, self.token)
        return answer.document

    # ------------------------------------------------------------ the game

    async def start(self, *, without_free_seats: bool = False, request_id: str = "") -> Done:
        """Start the game; needs the host's token.

        `without_free_seats`: with those who are here. The free seats are taken away; bots and
        people at a panel move up for it, seats with a device behind a free one are refused.
        """
        request = request_of(
            table_pb2.StartGameRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            without_free_seats=without_free_seats,
        )
        answer = await self._wire.call(self._wire.tables.StartGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def pause(self, *, request_id: str = "") -> Done:
        """Stop all turns until the game is resumed."""
        request = request_of(
            table_pb2.PauseGameRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
        )
        answer = await self._wire.call(self._wire.tables.PauseGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def resume(self, *, request_id: str = "") -> Done:
        """Let a paused game go on."""
        request = request_of(
            table_pb2.ResumeGameRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
        )
        answer = await self._wire.call(self._wire.tables.ResumeGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def take_back(
        self, *, seat: int = 0, expected: int | None = None, request_id: str = ""
    ) -> Done:
        """Take the last confirmed turn back, or ask for it where all must agree."""
        request = request_of(
            table_pb2.TakeBackRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            expected_revision=self._expected(expected),
        )
        answer = await self._wire.call(self._wire.tables.TakeBack, request, self.token)
        waiting = tuple(answer.waiting_for)
        return self._went_on(Done(answer.revision, answer.replayed, waiting_for=waiting))

    async def rematch(
        self, *, order: RematchOrder = RematchOrder.SAME, request_id: str = ""
    ) -> Self:
        """The next table of the same people, after the end; everybody who asks gets the same.

        The handle that is returned is as this one, with the same token: the tokens of the old
        table open the new one. It has seen nothing yet. Whoever asks first decides the `order`,
        so a seat may have another number there.
        """
        return await self.moved_to((await self._rematch(order, request_id)).table_id)

    async def _rematch(self, order: RematchOrder, request_id: str) -> table_pb2.RematchResponse:
        request = request_of(
            table_pb2.RematchRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            order=chosen(order, RematchOrder, "the order"),
        )
        return await self._wire.call(self._wire.tables.Rematch, request, self.token)

    async def moved_to(self, table_id: str) -> Self:
        """This handle at the next table of the same people, on the seat of the same person."""
        return type(self)(self._wire, table_id, token=self.token, seat=self._seat)

    # ------------------------------------------------------------ panels

    async def attach_panel(
        self, uid: int, panel_token: str, seats: Sequence[int], *, request_id: str = ""
    ) -> Done:
        """Put a panel on the table, or change which seats its buttons serve.

        Needs the host's token. `seats` are those of the buttons, beginning with button 1; 0 for
        a button that has none yet.
        """
        request = request_of(
            panel_pb2.AttachPanelRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            panel_uid=panel_uid(uid),
            panel_token_sha256=token_sha256(panel_token),
            seats=[seat_number(seat) for seat in listed(seats, "the seats of the buttons")],
        )
        answer = await self._wire.call(self._wire.panels.AttachPanel, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def detach_panel(self, uid: int, *, request_id: str = "") -> Done:
        """Take a panel off the table; needs the host's token or the panel's."""
        request = request_of(
            panel_pb2.DetachPanelRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            panel_uid=panel_uid(uid),
        )
        answer = await self._wire.call(self._wire.panels.DetachPanel, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def panels(self) -> Sequence[PanelStatus]:
        """The panels on the table with their bridges; needs a token of the table."""
        request = request_of(panel_pb2.ListPanelsRequest, table_id=self.table_id)
        return (await self._wire.call(self._wire.panels.ListPanels, request, self.token)).panels


class Seat(Table):
    """A seat that this client holds: its number and its token."""

    def __init__(self, wire: Wire, table_id: str, number: int, *, token: str) -> None:
        super().__init__(wire, table_id, token=token, seat=number)

    @property
    def number(self) -> int:
        """The seat's number, from 1."""
        return self._seat

    async def moved_to(self, table_id: str) -> Self:
        """This handle at the next table of the same people, on the seat of the same person.

        Whoever has the name that nobody else has; else the seat that the token opens.
        """
        here = (await self._get(self.table_id, self._seat)).table
        there = (await self._get(table_id, 0)).table
        name = next((seat.name for seat in here.seats if seat.seat == self._seat), "")
        same = [seat.seat for seat in there.seats if name and seat.name == name]
        number = same[0] if len(same) == 1 else there.viewer
        return type(self)(self._wire, table_id, number or self._seat, token=self.token)

    async def actions(self) -> Asked:
        """What the seat is asked, and may do now."""
        request = request_of(table_pb2.ListActionsRequest, table_id=self.table_id, seat=self._seat)
        answer = await self._wire.call(self._wire.tables.ListActions, request, self.token)
        self.revision = answer.revision
        prompt = answer.prompt if answer.HasField("prompt") else None
        return Asked(answer.revision, prompt, tuple(answer.choices))

    async def act(
        self,
        *actions: AnyAction,
        confirm: bool = False,
        expected: int | None = None,
        request_id: str = "",
    ) -> Done:
        """Stage actions, all or none of them, and confirm the turn if asked to.

        An action is a message or a text such as `move C3`.
        """
        request = request_of(
            table_pb2.ActRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=self._seat,
            expected_revision=self._expected(expected),
            actions=to_actions(actions),
            confirm=confirm,
        )
        answer = await self._wire.call(self._wire.tables.Act, request, self.token)
        return self._went_on(Done(answer.revision, answer.replayed, tuple(answer.lines)))

    async def undo(
        self, *, all: bool = False, expected: int | None = None, request_id: str = ""
    ) -> Done:
        """Undo the last staged action, or all."""
        request = request_of(
            table_pb2.UndoRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=self._seat,
            expected_revision=self._expected(expected),
            all=all,
        )
        answer = await self._wire.call(self._wire.tables.Undo, request, self.token)
        return self._went_on(Done(answer.revision, answer.replayed))

    async def confirm(self, *, expected: int | None = None, request_id: str = "") -> Done:
        """Confirm what is staged; the next seat is asked."""
        request = request_of(
            table_pb2.ConfirmRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=self._seat,
            expected_revision=self._expected(expected),
        )
        answer = await self._wire.call(self._wire.tables.Confirm, request, self.token)
        return self._went_on(Done(answer.revision, answer.replayed, tuple(answer.lines)))

    async def leave(self, *, expected: int | None = None, request_id: str = "") -> Done:
        """Leave the seat."""
        return await self.leave_seat(expected=expected, request_id=request_id)


def panel_uid(uid: int) -> int:
    """A panel's number. Raises BadValue."""
    return whole(uid, 1, 2**32 - 1, "no panel's number")
