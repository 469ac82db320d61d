"""Why a token doesn't open its seat any more: it was left, or is played from another device."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_client.errors import NotAllowed, Refusal, TableturnError
from tableturn_client.handles import Table
from tableturn_client.messages import Occupant


@dataclass(frozen=True)
class Gone:
    """What became of a seat, in a sentence; `seen`: one may look on without it."""

    seat: int
    sentence: str
    seen: bool

    @property
    def error(self) -> NotAllowed:
        """The refusal that this is."""
        return NotAllowed(Refusal("NOT_ALLOWED", self.sentence))


async def gone(table: Table, seat: int) -> Gone:
    """What became of a seat whose token is refused, as far as others may see it."""
    try:
        view = await table.view()
    except TableturnError:
        sentence = f"seat {seat} was left, or is played from another device now"
        return Gone(seat, sentence, seen=False)
    occupant = next((one.occupant for one in view.seats if one.seat == seat), None)
    if occupant == Occupant.OCCUPANT_NOBODY:
        return Gone(seat, f"seat {seat} was left, and is free", seen=True)
    return Gone(seat, f"seat {seat} is played from another device now", seen=True)
