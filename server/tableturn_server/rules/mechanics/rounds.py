"""Rounds: whose turn it is, and when the last round is over.

A seat that left is skipped and never moves the end: a round still ends after the
last of the remaining seats in the order of the start (DR-4).
"""

from __future__ import annotations

from collections.abc import Container

import msgspec


class Rounds(msgspec.Struct, frozen=True, array_like=True):
    """The turn order and where it stands."""

    order: tuple[int, ...]
    """All seats, clockwise from the first (EW-10)."""
    seat: int
    """Whose turn it is."""
    round: int = 0
    """From 1; 0 before the first round."""
    turns: int = 0
    """How many turns were taken in all."""
    last: bool = False
    """The end was triggered: this is the last round."""

    def playing(self, dropped: Container[int]) -> tuple[int, ...]:
        """The seats that are left, in turn order."""
        return tuple(seat for seat in self.order if seat not in dropped)

    def begun(self, dropped: Container[int]) -> Rounds:
        """The first round, at its first seat."""
        return msgspec.structs.replace(self, round=1, seat=self.playing(dropped)[0])

    def after(self, dropped: Container[int], cap: int) -> Rounds | None:
        """The next turn; None when the last round is over, or `cap` rounds were played.

        A cap of 0 is none.
        """
        place = self.order.index(self.seat)
        for seat in self.order[place + 1 :]:
            if seat not in dropped:
                return msgspec.structs.replace(self, seat=seat)
        if self.last or self.round == cap:
            return None
        return msgspec.structs.replace(self, seat=self.playing(dropped)[0], round=self.round + 1)


def turn_order(first: int, seats: int) -> tuple[int, ...]:
    """All seats, clockwise from the first."""
    return tuple((first - 1 + step) % seats + 1 for step in range(seats))
