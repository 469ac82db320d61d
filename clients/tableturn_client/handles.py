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
from tableturn_client.errors import BadValue
from tableturn_client.events import ResumePoint
from tableturn_client.handle import Done, seat_number
from tableturn_client.people import People
from tableturn_client.tokens import new_request_id, new_token, token_sha256
from tableturn_client.watching import SILENCE, Watch
from tableturn_client.wire import Wire


class Confirmation(Enum):
    """Who confirms the turns of a seat."""

    DEVICE = table_pb2.CONFIRMATION_DEVICE
    PANEL = table_pb2.CONFIRMATION_PANEL
    EITHER = table_pb2.CONFIRMATION_EITHER


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


class Table(People, Company):
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
        request = table_pb2.ListLogRequest(
            table_id=self.table_id, after_revision=after, page_size=page_size, seat=self._seat
        )
        return await self._wire.call(self._wire.tables.ListLog, request, self.token)

    async def export(self) -> bytes:
        """The whole table as a document; needs the admin's token while the game runs."""
        request = table_pb2.ExportTableRequest(table_id=self.table_id)
        answer = await self._wire.call(self._wire.tables.ExportTable, request, self.token)
        return answer.document

    # ------------------------------------------------------------ seats

    async def take_seat(
        self,
        name: str,
        *,
        seat: int = 0,
        token: str = "",
        confirmation: Confirmation = Confirmation.EITHER,
        code: str = "",
        request_id: str = "",
    ) -> Seat:
        """Take a free seat, the first one or a given one, with a new token or a given one.

        A private table needs its join code. With a seat code, the seat that it is for moves to
        this token, and the token before is dead. The call carries no other token, so that the
        seat's own names who repeats it.
        """
        token = token or new_token()
        request = table_pb2.TakeSeatRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
            name=name,
            token_sha256=token_sha256(token),
            confirmation=confirmation.value,
            code=code,
        )
        answer = await self._wire.call(self._wire.tables.TakeSeat, request)
        taken = Seat(self._wire, self.table_id, answer.seat, token=token)
        taken._looked(answer.table)
        return taken

    def seat(self, number: int, token: str = "") -> Seat:
        """A seat that was taken before; its token is this handle's if none is given."""
        return Seat(self._wire, self.table_id, number, token=token or self.token)

    async def seat_bot(
        self,
        bot: str,
        *,
        seat: int = 0,
        name: str = "",
        confirmation: Confirmation = Confirmation.EITHER,
        request_id: str = "",
    ) -> Done:
        """Give a free seat to a bot of the service's, the first one or a given one.

        Needs the host's token. The answer names the seat. `confirmation` PANEL: the bot stages
        its turns, and a press of the seat's button confirms them.
        """
        request = table_pb2.SeatBotRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
            bot=bot,
            name=name,
            confirmation=confirmation.value,
        )
        answer = await self._wire.call(self._wire.tables.SeatBot, request, self.token)
        return Done(answer.revision, answer.replayed, seat=answer.seat)

    async def set_confirmation(
        self, who: Confirmation, seat: int = 0, *, request_id: str = ""
    ) -> Done:
        """Say who confirms the turns of a seat; needs its token or the host's."""
        request = table_pb2.SetConfirmationRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            confirmation=who.value,
        )
        answer = await self._wire.call(self._wire.tables.SetConfirmation, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def leave_seat(
        self, seat: int = 0, *, expected: int | None = None, request_id: str = ""
    ) -> Done:
        """Free a seat; the token loses it, and the game waits for somebody else.

        Refused with StaleRevision if somebody has sat down there or left since the table was
        looked at; 0 as `expected`, or a handle that has seen nothing, is for whoever sits there.
        """
        request = table_pb2.LeaveSeatRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            expected_revision=self._expected_if_seen(expected),
        )
        answer = await self._wire.call(self._wire.tables.LeaveSeat, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def concede(
        self, seat: int = 0, *, expected: int | None = None, request_id: str = ""
    ) -> Done:
        """Take a seat out of the game for good; `expected` as for `leave_seat`."""
        request = table_pb2.ConcedeRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            expected_revision=self._expected_if_seen(expected),
        )
        answer = await self._wire.call(self._wire.tables.Concede, request, self.token)
        return Done(answer.revision, answer.replayed)

    # ------------------------------------------------------------ the game

    async def start(self, *, without_free_seats: bool = False, request_id: str = "") -> Done:
        """Start the game; needs the host's token.

        `without_free_seats`: with those who are here. The free seats are taken away; bots and
        people at a panel move up for it, seats with a device behind a free one are refused.
        """
        request = table_pb2.StartGameRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            without_free_seats=without_free_seats,
        )
        answer = await self._wire.call(self._wire.tables.StartGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def pause(self, *, request_id: str = "") -> Done:
        """Stop all turns until the game is resumed."""
        request = table_pb2.PauseGameRequest(
            table_id=self.table_id, request_id=request_id or new_request_id()
        )
        answer = await self._wire.call(self._wire.tables.PauseGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def resume(self, *, request_id: str = "") -> Done:
        """Let a paused game go on."""
        request = table_pb2.ResumeGameRequest(
            table_id=self.table_id, request_id=request_id or new_request_id()
        )
        answer = await self._wire.call(self._wire.tables.ResumeGame, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def take_back(
        self, *, seat: int = 0, expected: int | None = None, request_id: str = ""
    ) -> Done:
        """Take the last confirmed turn back, or ask for it where all must agree."""
        request = table_pb2.TakeBackRequest(
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
        request = table_pb2.RematchRequest(
            table_id=self.table_id, request_id=request_id or new_request_id(), order=order.value
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
        request = panel_pb2.AttachPanelRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            panel_uid=panel_uid(uid),
            panel_token_sha256=token_sha256(panel_token),
            seats=[seat_number(seat) for seat in seats],
        )
        answer = await self._wire.call(self._wire.panels.AttachPanel, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def detach_panel(self, uid: int, *, request_id: str = "") -> Done:
        """Take a panel off the table; needs the host's token or the panel's."""
        request = panel_pb2.DetachPanelRequest(
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            panel_uid=panel_uid(uid),
        )
        answer = await self._wire.call(self._wire.panels.DetachPanel, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def panels(self) -> Sequence[PanelStatus]:
        """The panels on the table with their bridges; needs a token of the table."""
        request = panel_pb2.ListPanelsRequest(table_id=self.table_id)
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
        request = table_pb2.ListActionsRequest(table_id=self.table_id, seat=self._seat)
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
        request = table_pb2.ActRequest(
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
        request = table_pb2.UndoRequest(
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
        request = table_pb2.ConfirmRequest(
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
    if not 0 < uid < 2**32:
        raise BadValue(f"{uid} is no panel's number")
    return uid
