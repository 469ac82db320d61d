"""The servicer of CompanyService: codes to join by, and talk."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from tableturn.v1 import company_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.codes import Codes, shown
from tableturn_server.service.company_events import message_of
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.limits import Limits, too_many
from tableturn_server.service.logs import Log
from tableturn_server.service.presences import Presences
from tableturn_server.service.refusing import reused
from tableturn_server.service.requests import remembered
from tableturn_server.service.rooms import Held
from tableturn_server.service.sights import shown_until
from tableturn_server.service.speakers import muted_seats, person, same_person
from tableturn_server.store import (
    ChatStore,
    CodeFor,
    Reused,
    Settings,
    Silenced,
    TableStore,
    TooMuch,
    WatchHub,
)
from tableturn_server.store.chat import MOST_LINES
from tableturn_server.store.codes import SEAT_CODE_MS
from tableturn_server.tables import commands
from tableturn_server.tables.facts import name_of
from tableturn_server.tables.making import check_table_id, clean_text
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_host,
    check_may_remove,
    check_not_over,
    check_seat,
    is_host,
    no_seat,
    seat_of_owner_or_host,
    unknown_token,
)
from tableturn_server.tables.state import Occupant, Table

_pb = company_pb2
TEXT_LENGTH = 300
"""Characters of what is said in one go."""


class CompanyService:
    """All of CompanyService."""

    def __init__(
        self,
        keeper: Keeper,
        tables: TableStore,
        codes: Codes,
        chat: ChatStore,
        hub: WatchHub,
        presences: Presences,
        limits: Limits,
        log: Log,
    ) -> None:
        self._keeper = keeper
        self._tables = tables
        self._codes = codes
        self._chat = chat
        self._hub = hub
        self._presences = presences
        self._limits = limits
        self._log = log

    # -- codes -----------------------------------------------------------------------------

    async def get_join_code(self, request: _pb.GetJoinCodeRequest, call: Call) -> Any:
        """The code with which people join a table."""
        held, by = await self._look(request.table_id, call)
        with held.resting(by):
            if request.renew:
                check_host(held.table, by, "make another join code")
            elif not _belongs_here(held.table, by):
                raise unknown_token(held.table, by, "a seat's token or the host's")
            check_not_over(held.table)
        code = await self._codes.join_code(request.table_id, renew=request.renew)
        if request.renew:
            self._log.info("new join code", table=request.table_id)
        return _pb.GetJoinCodeResponse(code=shown(code))

    async def make_seat_code(self, request: _pb.MakeSeatCodeRequest, call: Call) -> Any:
        """A code with which a seat moves to another device."""
        held, by = await self._look(request.table_id, call)
        with held.resting(by):
            number = seat_of_owner_or_host(held.table, by, request.seat)
            check_may_remove(held.table, by, number)
            seat = held.table.seat(number)
            if seat.occupant is not Occupant.PERSON:
                raise Refused(
                    Reason.BAD_FIELD,
                    f"no person sits on seat {number}, so there is nobody to move",
                    field="seat",
                )
            by_host = number not in held.table.seats_of(by.token)
            if by_host and not seat.at_panel and await self._presences.is_here(held, number):
                raise Refused(
                    Reason.NOT_ALLOWED,
                    f"{name_of(held.table, number)} is there, and makes the code themselves; "
                    "the host does it for somebody whose device is gone",
                )
        end = self._keeper.now() + SEAT_CODE_MS
        what = CodeFor(request.table_id, number, seat.since, by_host)
        code = await self._codes.seat_code(what)
        self._log.info("seat code", table=request.table_id, seat=number)
        return _pb.MakeSeatCodeResponse(
            code=shown(code), seat=number, expire_time=convert.timestamp(end)
        )

    async def resolve_code(self, request: _pb.ResolveCodeRequest, call: Call) -> Any:
        """What a code is for."""
        found = await self._codes.resolve(request.code, call.peer, by=call.by)
        making = found.held.table.making
        return _pb.ResolveCodeResponse(
            kind=_pb.CODE_KIND_SEAT if found.what.seat else _pb.CODE_KIND_JOIN,
            table_id=making.table_id,
            game=making.game,
            title=making.title,
            seat=found.what.seat,
        )

    # -- talk ------------------------------------------------------------------------------

    async def send_chat(self, request: _pb.SendChatRequest, call: Call) -> Any:
        """Say something."""
        check_table_id(request.table_id)
        asked = remembered(request, "SendChat", call.principal)
        text = clean_text(request.text, "text", TEXT_LENGTH)
        held, by = await self._look(request.table_id, call)
        table = held.table
        with held.resting(by):
            number = _speaker(table, by, request.seat)
        assert asked is not None  # whoever may speak has a token
        said = await self._chat.say(
            request.table_id,
            asked,
            now_ms=self._keeper.now(),
            seat=number,
            name=table.seat(number).name if number else "",
            text=text,
            people=() if is_host(table, call.by) else same_person(table, number),
            most=self._limits.lines,
            delay_ms=table.making.spectator_delay,
        )
        if isinstance(said, TooMuch):
            raise too_many("lines in a row", said.wait_ms / 1000)
        if isinstance(said, Reused):
            raise reused(held.revision)
        if isinstance(said, Silenced):
            raise _silenced(said, number, held)
        if not said.replayed:
            self._hub.notify_aside(request.table_id)
            self._tables.publish_aside(request.table_id)
        return _pb.SendChatResponse(line=message_of(said.line), replayed=said.replayed)

    async def list_chat(self, request: _pb.ListChatRequest, call: Call) -> Any:
        """What was said, as far as the caller may know of it yet."""
        held, by = await self._look(request.table_id, call)
        held.audience(by, 0)
        settings = await self._chat.settings(request.table_id)
        (lines,) = await self._chat.after([(request.table_id, request.after_number)])
        until = shown_until(held.table, by, self._keeper.now())
        if until is not None:
            lines = list(takewhile(lambda line: line.time_ms <= until, lines))
        if not request.after_number:  # more are kept where spectators are still to hear them
            lines = lines[-MOST_LINES:]
        answer = _pb.ListChatResponse(lines=map(message_of, lines))
        if until is None:  # nor may spectators of the past know who may speak now
            answer.mode = _mode(settings)
            answer.muted.extend(muted_seats(held.table, settings))
        return answer

    async def set_chat(self, request: _pb.SetChatRequest, call: Call) -> Any:
        """Switch the chat off or on, and mute seats."""
        held, by = await self._look(request.table_id, call)
        with held.resting(by):
            check_host(held.table, by, "set the chat")
            if request.mode not in _OFF:
                raise Refused(
                    Reason.BAD_FIELD, f"there is no chat mode {request.mode}", field="mode"
                )
            for field, numbers in (("mute", request.mute), ("unmute", request.unmute)):
                for number in numbers:
                    if not 1 <= number <= len(held.table.seats):
                        raise no_seat(held.table, number, field)
            for number in request.mute:
                if held.table.seat(number).occupant is not Occupant.PERSON:
                    raise Refused(
                        Reason.BAD_FIELD,
                        f"no person sits on seat {number}, and so there is nobody to mute",
                        field="mute",
                    )
            both = sorted(set(request.mute) & set(request.unmute))
            if both:
                raise Refused(
                    Reason.BAD_FIELD,
                    f"seat {both[0]} can't be muted and speak again at once",
                    field="unmute",
                )
        settings = await self._chat.set(
            request.table_id,
            off=_OFF[request.mode],
            mute=[person(held.table, number) for number in sorted(set(request.mute))],
            unmute=[
                one
                for number in sorted(set(request.unmute))
                for one in same_person(held.table, number)
            ],
        )
        muted = muted_seats(held.table, settings)
        self._log.info("chat", table=request.table_id, off=settings.off, muted=muted)
        return _pb.SetChatResponse(mode=_mode(settings), muted=muted)

    async def _look(self, table_id: str, call: Call) -> tuple[Held, commands.By]:
        """The table as the caller may see it, and the caller with the rights that count there."""
        check_table_id(table_id)
        held, by, _ = await self._keeper.sights.look(table_id, call.by)
        return held, by


_OFF: dict[int, bool | None] = {
    _pb.CHAT_MODE_UNSPECIFIED: None,
    _pb.CHAT_MODE_SEATS: False,
    _pb.CHAT_MODE_OFF: True,
}


def _mode(settings: Settings) -> _pb.ChatMode.ValueType:
    return _pb.CHAT_MODE_OFF if settings.off else _pb.CHAT_MODE_SEATS


def _belongs_here(table: Table, by: commands.By) -> bool:
    """The caller holds a seat, or is the host."""
    return is_host(table, by) or bool(table.seats_of(by.token))


def _speaker(table: Table, by: commands.By, wanted: int) -> int:
    """The seat that speaks; 0 for a host without a seat. Raises Refused.

    Whoever has dropped out of the game still sits there and may talk.
    """
    check_seat(table, wanted)
    own = table.seats_of(by.token)
    if wanted in own:
        return wanted
    if wanted or not _belongs_here(table, by):
        raise unknown_token(
            table, by, f"the token of seat {wanted}" if wanted else "a seat's token"
        )
    return own[0] if own else 0


def _silenced(said: Silenced, number: int, held: Held) -> Refused:
    sentence = (
        "the chat of this table is off; the host may switch it on"
        if said.everybody
        else f"the host has muted seat {number}"
    )
    return Refused(Reason.NOT_ALLOWED, sentence, revision=held.revision)
