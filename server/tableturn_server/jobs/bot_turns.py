"""The turns of bots: of those that sit at a table, and of those that stand in for people."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

import msgspec

from tableturn_server.bots.pool import Pool, WorkerFailed, least_turn
from tableturn_server.rules.actions import Action
from tableturn_server.service.rooms import Held
from tableturn_server.store import Request
from tableturn_server.tables import commands
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.facts import confirmed_at_panel, has_people
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import Table

from .duty import ILLEGAL, Due, Hands, Lease

log = logging.getLogger(__name__)

THINKING = 1.0
"""Seconds after which the table's lease is renewed, again and again, while a bot thinks."""
ENDLESS = 5000
"""After so many turns a game of bots alone is taken for one that has no end, such as a free table
without a number of rounds."""
ENDLESS_PAUSE_MS = 10_000
"""How long its bots think from then on: it must not fill the disk while nobody looks."""

_BY = commands.By(bots=True)
_encode = msgspec.msgpack.Encoder().encode


class BotTurns:
    """Takes the turns of bots, each once."""

    def __init__(self, hands: Hands, pool: Pool) -> None:
        self._hands = hands
        self._pool = pool

    async def next(self, held: Held, now: int) -> Due | None:
        """The turn of the first bot that is asked: due at once, but in a game without an end."""
        table = held.table
        seats = due_bots(table)
        if not seats:
            return None
        at = table.stamp + ENDLESS_PAUSE_MS if _is_endless(table) else now
        return Due(at, partial(self._take_turn, held, seats[0]))

    async def _take_turn(self, held: Held, seat: int, lease: Lease) -> Held:
        """One turn of a bot; the table after it, whoever has taken it.

        Where a panel confirms it is staged only; or the bot says that it stages nothing.
        """
        table = held.table
        try:
            actions = await self._thought(table, seat, lease)
        except WorkerFailed:  # the service is ending
            return held
        confirm = not confirmed_at_panel(table, seat)
        done = await self._act(held, seat, actions, confirm)
        if done is None:
            self._hands.counts.illegal += 1
            log.warning(
                "a bot's turn at table %s is not legal; it takes the default",
                table.making.table_id,
            )
            actions = least_turn(table, seat)
            done = await self._act(held, seat, actions, confirm)
            if done is None:
                raise RuntimeError(f"seat {seat} has no legal turn")
        now = done.table
        if not confirm and now.staged[seat - 1] and not confirmed_at_panel(now, seat):
            # Since it was asked the host has said that no panel confirms: nobody else does it.
            return await self._act(done, seat, (), True) or done
        return done

    async def _thought(self, table: Table, seat: int, lease: Lease) -> tuple[Action, ...]:
        """What a bot wants to do. While it thinks, or waits for a worker, the lease is kept."""
        thinking = asyncio.get_running_loop().create_task(self._pool.turn(table, seat))
        try:
            while not (await asyncio.wait({thinking}, timeout=THINKING))[0]:
                # Should somebody else have the job by now, the turn is taken once all the same.
                await lease()
            return thinking.result()
        finally:
            if not thinking.done():
                thinking.cancel()
                await asyncio.wait({thinking})

    async def _act(
        self, held: Held, seat: int, actions: tuple[Action, ...], confirm: bool
    ) -> Held | None:
        """Stage and confirm a turn, once; the table after it, or None if it isn't legal."""
        command = commands.Act(
            by=_BY,
            seat=seat,
            expected_revision=held.revision,
            actions=actions,
            confirm=confirm,
        )
        # The seat is part of the id: bots that are asked at once don't share a request.
        request = Request(
            f"bot:{seat}", f"{held.revision}:{held.change_id}", _encode((actions, confirm))
        )
        try:
            after, ours = await self._hands.carry_out(held, command, request)
        except Refused as refused:
            if refused.reason in ILLEGAL:
                return None
            raise
        self._hands.counts.turns += ours
        return after


def _is_endless(table: Table) -> bool:
    """Bots play on and on among themselves."""
    return table.turns >= ENDLESS and not has_people(table)
