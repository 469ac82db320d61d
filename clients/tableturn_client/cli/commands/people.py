"""Who plays and who looks after the table: `standin`, `back`, `vote-drop`, `host`."""

from __future__ import annotations

import click

from tableturn_client.cli.command import Whole, command, request_id_option, table_argument
from tableturn_client.cli.holding import hosting_table, seat_or_host
from tableturn_client.cli.session import Session
from tableturn_client.drawing.words import clean, listed
from tableturn_client.handle import Done

_own_seat = click.option("--seat", type=Whole(1, 1000), metavar="N", help="Which seat [yours].")


@command(
    "standin",
    examples="tableturn standin harbour\ntableturn standin harbour greedy --seat 2",
    token=True,
)
@table_argument
@click.argument("bot", required=False, default="", metavar="[BOT]")
@_own_seat
@request_id_option
async def standin_command(
    session: Session, table_id: str, bot: str, seat: int | None, request_id: str
) -> None:
    """Let a BOT play on for you until you come back: with `back`, or by playing."""
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        done = await table.let_bot_play(bot, seat or 0, request_id=request_id)
    back = session.typed(f"back {table_id}")
    _tell(session, done, f"{clean(bot) or 'A bot'} plays on until you are back: {back}")


@command("back", examples="tableturn back harbour", token=True)
@table_argument
@_own_seat
@request_id_option
async def back_command(session: Session, table_id: str, seat: int | None, request_id: str) -> None:
    """Play on yourself instead of the bot."""
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        done = await table.come_back(seat or 0, request_id=request_id)
    _tell(session, done, "You play on.")


@command(
    "vote-drop",
    examples="tableturn vote-drop harbour 2\ntableturn vote-drop harbour 2 --withdraw",
    token=True,
)
@table_argument
@click.argument("target", type=Whole(1, 1000), metavar="SEAT")
@click.option("--withdraw", is_flag=True, help="Want it no more.")
@_own_seat
@request_id_option
async def vote_drop_command(
    session: Session,
    table_id: str,
    target: int,
    withdraw: bool,
    seat: int | None,
    request_id: str,
) -> None:
    """Want another SEAT to leave the game for good: it does when all who are there want it."""
    async with session.client() as client:
        table = await seat_or_host(session, client, table_id, seat)
        done = await table.vote_drop(
            target, withdraw=withdraw, seat=seat or 0, request_id=request_id
        )
    waiting = listed([f"seat {number}" for number in done.waiting_for])
    if withdraw:
        line = f"You want seat {target} to stay."
    elif waiting:
        line = f"Still asked whether seat {target} shall leave: {waiting}."
    else:
        line = f"Seat {target} is out of the game."
    session.tell(
        {
            "revision": done.revision,
            "replayed": done.replayed,
            "waiting_for": list(done.waiting_for),
        },
        line,
    )


@command("host", examples="tableturn host harbour 2", token=True)
@table_argument
@click.argument("seat", type=Whole(1, 1000), metavar="SEAT")
@request_id_option
async def host_command(session: Session, table_id: str, seat: int, request_id: str) -> None:
    """Hand the host's duties to a SEAT; yours end with it."""
    async with session.client() as client:
        table = await hosting_table(session, client, table_id)
        done = await table.pass_host(seat, request_id=request_id)
    _tell(session, done, f"Seat {seat} is the host now.")


def _tell(session: Session, done: Done, line: str) -> None:
    session.tell({"revision": done.revision, "replayed": done.replayed}, line)
