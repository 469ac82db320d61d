"""Seats: who takes them, leaves them, and confirms their turns."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tableturn.v1 import table_pb2
from tableturn_client.handle import Done, Handle, seat_number
from tableturn_client.tokens import new_request_id, new_token, token_sha256
from tableturn_client.values import chosen, request_of

if TYPE_CHECKING:
    from tableturn_client.handles import Seat


class Confirmation(Enum):
    """Who confirms the turns of a seat."""

    DEVICE = table_pb2.CONFIRMATION_DEVICE
    PANEL = table_pb2.CONFIRMATION_PANEL
    EITHER = table_pb2.CONFIRMATION_EITHER


class Seating(Handle):
    """Taking seats, giving them to bots, and leaving them."""

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

        A private table needs its join code, unless this handle has the host's token. With a seat
        code, the seat that it is for moves to the new token, and the one before is dead.
        """
        token = token or new_token()
        request = request_of(
            table_pb2.TakeSeatRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
            name=name,
            token_sha256=token_sha256(token),
            confirmation=chosen(confirmation, Confirmation, "who confirms"),
            code=code,
        )
        answer = await self._wire.call(self._wire.tables.TakeSeat, request, self.token)
        taken = self.seat(answer.seat, token)
        taken._looked(answer.table)
        return taken

    def seat(self, number: int, token: str = "") -> Seat:
        """A seat that was taken before; its token is this handle's if none is given."""
        from tableturn_client.handles import Seat  # which is a table, and has seats itself

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
        request = request_of(
            table_pb2.SeatBotRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
            bot=bot,
            name=name,
            confirmation=chosen(confirmation, Confirmation, "who confirms"),
        )
        answer = await self._wire.call(self._wire.tables.SeatBot, request, self.token)
        return Done(answer.revision, answer.replayed, seat=answer.seat)

    async def set_confirmation(
        self, who: Confirmation, seat: int = 0, *, request_id: str = ""
    ) -> Done:
        """Say who confirms the turns of a seat; needs its token or the host's."""
        request = request_of(
            table_pb2.SetConfirmationRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            confirmation=chosen(who, Confirmation, "who confirms"),
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
        request = request_of(
            table_pb2.LeaveSeatRequest,
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
        request = request_of(
            table_pb2.ConcedeRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            expected_revision=self._expected_if_seen(expected),
        )
        answer = await self._wire.call(self._wire.tables.Concede, request, self.token)
        return Done(answer.revision, answer.replayed)
