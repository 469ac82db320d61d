"""Fingers on the buttons of a panel: what they will do, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from tableturn_bridge.protocol import NO_BUTTON
from tableturn_bridge.virtual.board import Board, Outcome

MASTER = 0
"""The button that belongs to no seat, where buttons count from 1."""
BOUNCES = 80
BOUNCE_MS = 0.4


@dataclass(eq=False)
class Finger:
    """Somebody presses a button, and waits to see what becomes of it. All times are the board's."""

    began: float
    released_at: float = 0.0
    outcome: Outcome | None = None
    acked_at: float = 0.0
    told: asyncio.Event = field(default_factory=asyncio.Event)


class Touches:
    """The fingers that are on the buttons of a panel.

    Buttons count from 1; `MASTER` is the one that belongs to no seat.
    """

    def __init__(self, buttons: int) -> None:
        self._buttons = buttons
        self._down: dict[int, list[Finger]] = {}

    def index(self, button: int) -> int:
        """The protocol's number of a button. Raises ValueError if the panel has no such button."""
        if not 0 <= button <= self._buttons:
            raise ValueError(f"a panel with {self._buttons} buttons has no button {button}")
        return NO_BUTTON if button == MASTER else button - 1

    @contextmanager
    def finger(self, button: int, now: float) -> Iterator[Finger]:
        """A finger on a button, which hears what becomes of it."""
        finger = Finger(now)
        fingers = self._down.setdefault(self.index(button), [])
        fingers.append(finger)
        try:
            yield finger
        finally:
            fingers.remove(finger)

    def tell(self, outcome: Outcome, now: float) -> None:
        """Tell the finger that made a gesture: of those on its button, the last that fits."""
        fingers = self._down.get(outcome.gesture.button, [])
        # The board counts in whole milliseconds, so that it may seem to be a little early.
        begun = [one for one in fingers if one.began - 1 <= outcome.gesture.pressed_at]
        if begun and begun[-1].outcome is None:
            begun[-1].outcome = outcome
            begun[-1].acked_at = now
            begun[-1].told.set()


class Fingers(Touches):
    """What the contacts of a board will do, in the order of time.

    All of it is planned ahead, so that a machine that is late changes no press: the board is told
    the times that were meant.
    """

    def __init__(self, board: Board) -> None:
        super().__init__(board.make.buttons)
        self._board = board
        self._moves: list[tuple[float, int, int, bool]] = []
        self._planned = count()

    def plan(self, button: int, closes: bool, at: float, bounce: bool = False) -> float:
        """Let a contact close or open at a time, perhaps bouncing; returns when it is at rest.

        Raises ValueError if the panel has no such button.
        """
        edges = BOUNCES if bounce else 0
        for edge in range(edges + 1):
            moves = closes if edge % 2 == 0 else not closes
            move = (at + edge * BOUNCE_MS, next(self._planned), self.index(button), moves)
            heappush(self._moves, move)
        return at + edges * BOUNCE_MS

    def move(self, now: float) -> None:
        """Let contacts do what was planned up to now, each at its own time."""
        while self._moves and self._moves[0][0] <= now:
            at, _, button, closes = heappop(self._moves)
            self._board.edge(button, closes, at)

    def next_time(self) -> float | None:
        """When the next contact moves."""
        return self._moves[0][0] if self._moves else None
