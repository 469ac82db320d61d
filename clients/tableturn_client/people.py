"""What is done about time, and about people who come and go."""

from __future__ import annotations

from tableturn.v1 import table_pb2
from tableturn_client.clocks import duration
from tableturn_client.handle import Done, Handle, seat_number
from tableturn_client.tokens import new_request_id
from tableturn_client.values import request_of


class People(Handle):
    """Time that is added, bots that play on for somebody, votes, and the host's duties."""

    async def add_time(self, seconds: float, seat: int = 0, *, request_id: str = "") -> Done:
        """Give a seat more time, or all of them; needs the host's token or another seat's."""
        request = request_of(
            table_pb2.AddTimeRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
            time=duration(seconds),
        )
        answer = await self._wire.call(self._wire.tables.AddTime, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def let_bot_play(self, bot: str = "", seat: int = 0, *, request_id: str = "") -> Done:
        """Let a bot play on for a seat until its player comes back; the service's own choice."""
        request = request_of(
            table_pb2.StandInRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            bot=bot,
        )
        answer = await self._wire.call(self._wire.tables.StandIn, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def come_back(self, seat: int = 0, *, request_id: str = "") -> Done:
        """Play on instead of the bot; so does any action of the seat's."""
        request = request_of(
            table_pb2.ComeBackRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
        )
        answer = await self._wire.call(self._wire.tables.ComeBack, request, self.token)
        return Done(answer.revision, answer.replayed)

    async def vote_drop(
        self, target: int, *, withdraw: bool = False, seat: int = 0, request_id: str = ""
    ) -> Done:
        """Want another seat to leave the game for good, or want it no more.

        The answer's `waiting_for` are the seats that still have to want it.
        """
        request = request_of(
            table_pb2.VoteDropRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat) or self._seat,
            target=seat_number(target),
            withdraw=withdraw,
        )
        answer = await self._wire.call(self._wire.tables.VoteDrop, request, self.token)
        return Done(answer.revision, answer.replayed, waiting_for=tuple(answer.waiting_for))

    async def pass_host(self, seat: int, *, request_id: str = "") -> Done:
        """Hand the host's duties to a seat; this token may then do no more than others."""
        request = request_of(
            table_pb2.PassHostRequest,
            table_id=self.table_id,
            request_id=request_id or new_request_id(),
            seat=seat_number(seat),
        )
        answer = await self._wire.call(self._wire.tables.PassHost, request, self.token)
        return Done(answer.revision, answer.replayed)
