"""The servicer of those calls of TableService by which seats are taken, left and given to bots."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.carrying import Carrying, check_bot, confirmation
from tableturn_server.service.codes import Codes
from tableturn_server.service.keeper import Done, Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.requests import remembered
from tableturn_server.service.speakers import same_person
from tableturn_server.store import ChatStore, Request
from tableturn_server.tables import commands, making
from tableturn_server.tables.making import check_table_id
from tableturn_server.tables.refusals import Reason, Refused

_pb = table_pb2


class Seats(Carrying):
    """Seats: taken, with a code or without, left, given to a bot, and who confirms for them."""

    def __init__(self, keeper: Keeper, log: Log, codes: Codes, chat: ChatStore) -> None:
        super().__init__(keeper, log)
        self._codes = codes
        self._chat = chat

    async def take_seat(self, request: _pb.TakeSeatRequest, call: Call) -> Any:
        """Take a seat; the answer is enough to play from (S4)."""
        making.check_token(request.token_sha256, "token_sha256")
        command = commands.TakeSeat(
            by=call.by,
            seat=request.seat,
            name=request.name,
            token=request.token_sha256,
            confirmation=confirmation(request.confirmation),
        )
        principal = call.principal or request.token_sha256.hex()
        if request.code:
            done = await self._take_with_code(request, command, call, principal)
        else:
            done = await self._carry_out("TakeSeat", request, command, call, principal)
        held = done.held
        if held is None:
            # Given again: the table as it is now, to whoever still sits there.
            held = await self._keeper.look(request.table_id)
            if done.seat not in held.table.seats_of(request.token_sha256):
                refused = Refused(
                    Reason.NOT_ALLOWED,
                    f"seat {done.seat} was taken by this request, and has been left since",
                )
                raise await self._keeper.sights.told(refused, held, call.by)
        response = _pb.TakeSeatResponse(seat=done.seat, replayed=done.replayed)
        return response.SerializeToString() + convert.nested(2, held.view(done.seat))

    async def _take_with_code(
        self, request: _pb.TakeSeatRequest, command: commands.TakeSeat, call: Call, principal: str
    ) -> Done:
        """Sit down where one was invited to, or move a seat to another device; once."""
        check_table_id(request.table_id)
        asked = remembered(request, "TakeSeat", principal)
        assert asked is not None  # the principal is that of the new token at least
        done = await self._keeper.answered(request.table_id, asked, call.by)
        if done is not None:  # the code may be of no use any more
            return done
        try:
            return await self._invited(request, command, call, asked)
        except Refused as refused:
            if refused.reason is not Reason.UNKNOWN_CODE:
                raise
            # It was sent several times at once, and carried out meanwhile.
            done = await self._keeper.answered(request.table_id, asked, call.by)
            if done is None:
                raise
            await self._codes.was_right(call.peer)
            return done

    async def _invited(
        self, request: _pb.TakeSeatRequest, command: commands.TakeSeat, call: Call, asked: Request
    ) -> Done:
        found = await self._codes.resolve(
            request.code, call.peer, request.table_id, by=call.by, asked=asked
        )
        principal = asked.principal
        seat = found.what.seat
        if not seat:
            command = replace(command, invited=True)
            return await self._carry_out("TakeSeat", request, command, call, principal)
        if request.seat not in (0, seat):
            refused = Refused(
                Reason.BAD_FIELD,
                f"this code is for seat {seat}, not for seat {request.seat}",
                field="seat",
            )
            raise await self._keeper.sights.told(refused, found.held, call.by)
        reseat = commands.Reseat(
            by=commands.By(service=True),
            seat=seat,
            token=request.token_sha256,
            since=found.what.since,
            by_host=found.what.by_host,
        )
        async with self._codes.used(found, asked) as is_again:
            if is_again:  # it may have changed nothing, and others may have moved the seat since
                return Done(found.held.revision, seat, replayed=True)
            # Whoever is muted stays so. First, since the caller may leave at any moment.
            before = same_person(found.held.table, seat)
            await self._chat.moves(request.table_id, before, request.token_sha256)
            done = await self._carry_out("TakeSeat", request, reseat, call, principal)
        return replace(done, seat=seat)

    async def leave_seat(self, request: _pb.LeaveSeatRequest, call: Call) -> Any:
        """Leave a seat."""
        command = commands.LeaveSeat(
            by=call.by, seat=request.seat, expected_revision=request.expected_revision
        )
        done = await self._carry_out("LeaveSeat", request, command, call)
        return _pb.LeaveSeatResponse(revision=done.revision, replayed=done.replayed)

    async def seat_bot(self, request: _pb.SeatBotRequest, call: Call) -> Any:
        """Give a free seat to a bot."""
        check_table_id(request.table_id)
        held, _, _ = await self._keeper.sights.look(request.table_id, call.by)
        check_bot(held, call.by, request.bot)
        command = commands.SeatBot(
            by=call.by,
            seat=request.seat,
            bot=request.bot,
            name=request.name,
            confirmation=confirmation(request.confirmation),
        )
        done = await self._carry_out("SeatBot", request, command, call)
        return _pb.SeatBotResponse(seat=done.seat, revision=done.revision, replayed=done.replayed)

    async def set_confirmation(self, request: _pb.SetConfirmationRequest, call: Call) -> Any:
        """Say who confirms the turns of a seat."""
        if not request.confirmation:
            raise Refused(
                Reason.BAD_FIELD, "it doesn't say who shall confirm", field="confirmation"
            )
        command = commands.SetConfirmation(
            by=call.by, seat=request.seat, confirmation=confirmation(request.confirmation)
        )
        done = await self._carry_out("SetConfirmation", request, command, call)
        return _pb.SetConfirmationResponse(revision=done.revision, replayed=done.replayed)
