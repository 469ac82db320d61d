"""What is held on this machine for a table, carried over to the next one of the same people."""

from __future__ import annotations

from tableturn_client.address import Address
from tableturn_client.client import Client
from tableturn_client.credentials import Credentials
from tableturn_client.errors import NoAnswer, Refused


async def carry_over(
    client: Client, credentials: Credentials, server: Address, table_id: str, to: str
) -> None:
    """Keep the tokens for the next table too: a seat's for the seat that it opens there.

    A seat that was left in the meantime is held no more.
    """
    moved: dict[int, int] = {}
    for held in credentials.seats(server, table_id):
        old = client.seat(table_id, held.seat, token=held.token)
        try:
            moved[held.seat] = (await old.moved_to(to)).number
        except Refused:
            continue
        except NoAnswer:  # most sit where they sat
            moved[held.seat] = held.seat
    credentials.carry_over(server, table_id, to, moved)
