"""Standings: ranks at the end of a game."""

from __future__ import annotations

from typing import NamedTuple

from tableturn_server.rules.game import PointsPart, SeatResult


class Score(NamedTuple):
    """What ranks a seat: its points, and the number of the latest turn that it took."""

    seat: int
    parts: tuple[PointsPart, ...]
    latest_turn: int
    dropped: bool

    @property
    def points(self) -> int:
        """The points in all."""
        return sum(part.points for part in self.parts)


def ranked(scores: list[Score]) -> tuple[SeatResult, ...]:
    """Most points first; in a tie who took the latest turn (EW-32); dropped seats behind (DR-4)."""
    order = sorted(
        scores, key=lambda score: (score.dropped, -score.points, -score.latest_turn, -score.seat)
    )
    return tuple(
        SeatResult(
            seat=score.seat,
            rank=rank,
            points=score.points,
            parts=score.parts,
            dropped=score.dropped,
        )
        for rank, score in enumerate(order, 1)
    )
