"""What people at a table do beside the game: codes to join by, and talk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from tableturn.v1 import company_pb2
from tableturn.v1.company_pb2 import ChatLine
from tableturn_client.handle import Handle, seat_number
from tableturn_client.tokens import new_request_id
from tableturn_client.values import chosen, listed, request_of


class CodeFor(Enum):
    """What a code is for."""

    UNKNOWN = company_pb2.CODE_KIND_UNSPECIFIED
    JOINING = company_pb2.CODE_KIND_JOIN
    MOVING = company_pb2.CODE_KIND_SEAT

    @classmethod
    def _missing_(cls, value: object) -> CodeFor:
        return cls.UNKNOWN


@dataclass(frozen=True)
class Code:
    """What somebody's code is for: joining a table, or moving `seat` to another device."""

    meaning: CodeFor
    table_id: str
    game: str = ""
    title: str = ""
    seat: int = 0


@dataclass(frozen=True)
class SeatCode:
    """A code with which a seat moves to another device, once, until it expires."""

    code: str
    seat: int
    expires: datetime


class ChatMode(Enum):
    """Who may say something at a table."""

    SEATS = company_pb2.CHAT_MODE_SEATS
    OFF = company_pb2.CHAT_MODE_OFF


@dataclass(frozen=True)
class Chat:
    """What was said, oldest first; who may say something, and which seats may not.

    `mode` is None where the caller isn't told: spectators who see the table later aren't.
    """

    lines: tuple[ChatLine, ...]
    mode: ChatMode | None
    muted: tuple[int, ...] = ()


class Company(Handle):
    """Codes and talk at a table."""

    async def join_code(self, *, renew: bool = False) -> str:
        """The table's join code, such as `K7QM-4XRD`; `renew` makes another one, as the host."""
        request = request_of(company_pb2.GetJoinCodeRequest, table_id=self.table_id, renew=renew)
        return (await self._wire.call(self._wire.company.GetJoinCode, request, self.token)).code

    async def seat_code(self, seat: int = 0) -> SeatCode:
        """A code that moves a seat to another device; the token of this one is dead then."""
        request = request_of(
            company_pb2.MakeSeatCodeRequest,
            table_id=self.table_id,
            seat=seat_number(seat) or self._seat,
        )
        answer = await self._wire.call(self._wire.company.MakeSeatCode, request, self.token)
        return SeatCode(answer.code, answer.seat, answer.expire_time.ToDatetime(UTC))

    async def say(self, text: str, *, seat: int = 0, request_id: str = "") -> ChatLine:
        """Say something at the table, as one of the token's seats or as its host."""
        request = request_of(
            company_pb2.SendChatRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            text=text,
        )
        return (await self._wire.call(self._wire.company.SendChat, request, self.token)).line

    async def chat(self, after: int = 0) -> Chat:
        """What was said after the line of a number: of the last lines, which are kept."""
        request = request_of(
            company_pb2.ListChatRequest, table_id=self.table_id, after_number=after
        )
        answer = await self._wire.call(self._wire.company.ListChat, request, self.token)
        return Chat(tuple(answer.lines), _mode(answer.mode), tuple(answer.muted))

    async def set_chat(
        self,
        mode: ChatMode | None = None,
        *,
        mute: Sequence[int] = (),
        unmute: Sequence[int] = (),
    ) -> Chat:
        """Switch talking off or on, and mute seats; needs the host's token."""
        request = request_of(
            company_pb2.SetChatRequest,
            table_id=self.table_id,
            mode=company_pb2.CHAT_MODE_UNSPECIFIED
            if mode is None
            else chosen(mode, ChatMode, "the mode"),
            mute=[seat_number(seat) for seat in listed(mute, "muted seats")],
            unmute=[seat_number(seat) for seat in listed(unmute, "seats that may speak")],
        )
        answer = await self._wire.call(self._wire.company.SetChat, request, self.token)
        return Chat((), _mode(answer.mode), tuple(answer.muted))


def _mode(number: int) -> ChatMode | None:
    """The mode of a number; None for one that isn't told, or is of a later version."""
    return next((mode for mode in ChatMode if mode.value == number), None)
