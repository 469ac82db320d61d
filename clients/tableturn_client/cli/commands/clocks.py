"""Clocks of a table: `time add`, `time show`."""

from __future__ import annotations

import click

from tableturn_client.cli.command import (
    Whole,
    command,
    repeated_options,
    request_id_option,
    seat_option,
    table_argument,
)
from tableturn_client.cli.grouping import TimeType
from tableturn_client.cli.holding import looking_table, trusted_table
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session, columns
from tableturn_client.clock_text import typed_time
from tableturn_client.drawing import clocks
from tableturn_client.drawing.moment import Moment
from tableturn_client.messages import SeatView, TableView
from tableturn_client.timekeeping import start_left, time_left, time_used


@click.group("time", params=repeated_options())
def time_command() -> None:
    """Show the clocks of a table, and add time."""


@command(
    "add",
    examples="tableturn time add harbour 30s\ntableturn time add harbour 2m 3",
    token=True,
)
@table_argument
@click.argument("time", type=TimeType(), metavar="TIME")
@click.argument("seat", type=Whole(1, 1000), required=False, metavar="[SEAT]")
@request_id_option
async def add_command(
    session: Session, table_id: str, time: float, seat: int | None, request_id: str
) -> None:
    """Give a SEAT so much more TIME, or all of them. Nobody can give time to themselves."""
    async with session.client() as client:
        table = await trusted_table(session, client, table_id)
        done = await table.add_time(time, seat or 0, request_id=request_id)
    line = f"{typed_time(time)} more for {f'seat {seat}' if seat else 'all'}."
    session.tell({"revision": done.revision, "replayed": done.replayed}, line)


@command("show", examples="tableturn time show harbour --json", token=True)
@table_argument
@seat_option
async def show_command(session: Session, table_id: str, seat: int | None) -> None:
    """Show what was agreed about time, and what each seat has left now."""
    async with session.client() as client:
        view = await (await looking_table(session, client, table_id, seat, False)).view()
        now = Moment(client.time.time())
    rows = [
        (f"seat {one.seat}", one.name, clocks.face(view, one, now).plain, clocks.state(view, one))
        for one in view.seats
        if one.HasField("clock") and not one.dropped
    ]
    none = [] if view.HasField("clock") else ["There is no clock at this table."]
    standing = clocks.standing(view, now)
    session.tell(
        {
            "clock": plain(view.clock) if view.HasField("clock") else None,
            "paused": view.paused,
            "seats": [_document(view, one, now) for one in view.seats if one.HasField("clock")],
        },
        *(clocks.terms(view) or none),
        *columns(rows, "  "),
        *([standing.capitalize() + "."] if standing else []),
    )


time_command.add_command(add_command)
time_command.add_command(show_command)


def _document(view: TableView, seat: SeatView, now: Moment) -> dict[str, object]:
    """A seat's clock for a script, with what is left at this moment in seconds."""
    left = time_left(view, seat.seat, now.now)
    return {
        "seat": seat.seat,
        "left": None if left is None else round(left.total_seconds(), 3),
        "start_left": round(start_left(view, seat.seat, now.now).total_seconds(), 3),
        "stand_in": seat.stand_in or None,
        "used": round(time_used(view, seat.seat, now.now).total_seconds(), 3),
        "clock": plain(seat.clock),
    }
