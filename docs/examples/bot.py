"""A bot that takes any legal action in any game: `python bot.py TABLE [NAME] [HOST:PORT]`."""

import asyncio
import contextlib
import random
import sys

from tableturn_client import Seat, connect, errors, pick
from tableturn_client.messages import TableStatus, TableView

BEST = ("claim_tile", "trade", "build_outpost", "pick_up", "upgrade")  # where there is one


async def step(seat: Seat, view: TableView) -> None:
    """Do one thing that the seat is asked: an action, or the confirmation of the turn."""
    for prompt in view.prompts:
        if prompt.seat == seat.number:
            wanted = [choice for choice in view.choices if choice.kind in BEST] or view.choices
            if prompt.can_confirm and (not wanted or random.random() < 0.1):
                await seat.confirm()
            else:
                await seat.act(pick(random.choice(wanted), random.Random()))


async def play(table_id: str, name: str = "Bot", server: str = "127.0.0.1:7430") -> None:
    """Take a seat, and answer whenever it is asked, until the game is over."""
    async with connect(server) as client:
        seat = await client.table(table_id).take_seat(name)
        async with seat.watch() as events:
            async for event in events:
                if view := getattr(event, "view", None):
                    if view.status == TableStatus.TABLE_STATUS_FINISHED:
                        break
                    with contextlib.suppress(errors.StaleRevision, errors.NotNow):
                        await step(seat, view)  # refused: what is asked has changed meanwhile


asyncio.run(play(*sys.argv[1:] or sys.exit(__doc__)))
