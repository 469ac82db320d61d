"""Sitting down: at a private table, with a code, on a seat that moves here."""

from __future__ import annotations

from tableturn_client.client import Client
from tableturn_client.drawing.words import clean
from tableturn_client.errors import NotAllowed
from tableturn_client.handles import Seat
from tableturn_client.messages import SeatView


def own_view(taken: Seat) -> SeatView:
    """What the answer says of a seat that was taken."""
    assert taken.last_view is not None
    return next(one for one in taken.last_view.seats if one.seat == taken.number)


def keeps_its_name(taken: Seat) -> str:
    """A seat that moved to this device is that of the same person, whatever name was given."""
    name = clean(own_view(taken).name)
    return f"the code moves seat {taken.number}, which keeps its name: {name}"


async def sit_down(
    client: Client,
    table_id: str,
    name: str,
    *,
    seat: int,
    token: str,
    code: str,
    request_id: str,
    host: str,
) -> Seat:
    """Take a seat; at a private table without its code, with the host's token if it is known.

    That goes along only where it is needed, so that elsewhere the new token alone says who
    repeats the call after a lost answer.
    """
    try:
        return await client.table(table_id).take_seat(
            name, seat=seat, token=token, code=code, request_id=request_id
        )
    except NotAllowed as error:
        if code or "code" not in error.sentence:
            raise
        if not host:
            error.sentence = f"{error.sentence}: tableturn join CODE NAME"
            raise
    return await client.table(table_id, token=host).take_seat(
        name, seat=seat, token=token, request_id=request_id
    )
