"""The servicer of those calls of TableService that are about time and people, not about turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tableturn.v1 import table_pb2
from tableturn_server import bots
from tableturn_server.service.calls import Call
from tableturn_server.service.carrying import Carrying, check_bot
from tableturn_server.service.durations import milliseconds
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.rooms import Held
from tableturn_server.tables import commands
from tableturn_server.tables.making import check_table_id

_pb = table_pb2

Away = Callable[[Held], Awaitable[frozenset[int]]]
"""Tells which seats of a table nobody is there for."""


class People(Carrying):
    """Time that is added, bots that stand in, votes, and the host's duties."""

    def __init__(self, keeper: Keeper, log: Log, away: Away) -> None:
        super().__init__(keeper, log)
        self._away = away

    async def add_time(self, request: _pb.AddTimeRequest, call: Call) -> Any:
        """Give a seat, or all, more time."""
        command = commands.AddTime(
            by=call.by, seat=request.seat, time=milliseconds(request.time, "time")
        )
        done = await self._carry_out("AddTime", request, command, call)
        return _pb.AddTimeResponse(revision=done.revision, replayed=done.replayed)

    async def stand_in(self, request: _pb.StandInRequest, call: Call) -> Any:
        """Let a bot play on for a person."""
        check_table_id(request.table_id)
        held, _, _ = await self._keeper.sights.look(request.table_id, call.by)
        bot = request.bot or bots.stand_in(held.table.making.game)
        check_bot(held, call.by, bot)
        command = commands.StandIn(by=call.by, seat=request.seat, bot=bot)
        done = await self._carry_out("StandIn", request, command, call)
        return _pb.StandInResponse(revision=done.revision, replayed=done.replayed)

    async def come_back(self, request: _pb.ComeBackRequest, call: Call) -> Any:
        """A person plays on instead of the bot."""
        command = commands.ComeBack(by=call.by, seat=request.seat)
        done = await self._carry_out("ComeBack", request, command, call)
        return _pb.ComeBackResponse(revision=done.revision, replayed=done.replayed)

    async def vote_drop(self, request: _pb.VoteDropRequest, call: Call) -> Any:
        """A seat wants another to leave the game."""
        check_table_id(request.table_id)
        held = await self._keeper.look(request.table_id)
        command = commands.VoteDrop(
            by=call.by,
            seat=request.seat,
            target=request.target,
            withdraw=request.withdraw,
            away=await self._away(held),
        )
        done = await self._carry_out("VoteDrop", request, command, call)
        return _pb.VoteDropResponse(
            revision=done.revision, replayed=done.replayed, waiting_for=done.waiting_for
        )

    async def pass_host(self, request: _pb.PassHostRequest, call: Call) -> Any:
        """Hand the host's duties to a seat."""
        command = commands.PassHost(by=call.by, seat=request.seat)
        done = await self._carry_out("PassHost", request, command, call)
        return _pb.PassHostResponse(revision=done.revision, replayed=done.replayed)
