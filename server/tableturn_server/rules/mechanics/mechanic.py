"""What a mechanic brings to a game: steps, and its part of every question a game answers.

A Century game is a list of mechanics (`rules.century`). Each knows the clauses of its
pieces, and nothing of the game around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Choice
from tableturn_server.rules.game import PointsPart
from tableturn_server.rules.mechanics.position import Player, Position, Secrets
from tableturn_server.rules.views import GameView, PlayerView

Ask = Callable[[Position, int], Choice | None]
"""What a seat may choose for one kind of action; None if it may not take it now."""
Do = Callable[[Position, int, Any], Position]
"""The position after an action that is known to be legal."""


class Step(NamedTuple):
    """One kind of action: what may be chosen, and what it does."""

    ask: Ask
    do: Do


class Mechanic:
    """A part of a game. Whatever it doesn't say stays as it is."""

    steps: dict[str, Step]

    def due(self, open: Position, seat: int) -> str:
        """What the seat must do before it may end its turn, in words; empty for nothing."""
        return ""

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What one of its actions does, as a readable line; empty for others."""
        return ""

    def refilled(
        self, open: Position, hidden: Secrets
    ) -> tuple[Position, Secrets, tuple[str, ...]]:
        """Holes filled when a turn is confirmed, and what was turned up, a line each."""
        return open, hidden, ()

    def left(self, open: Position, seat: int) -> Position:
        """A seat left the game: what becomes of its pieces (DR-4)."""
        return open

    def points(self, player: Player) -> tuple[PointsPart, ...]:
        """The parts of a player's points that it counts."""
        return ()

    def on_table(self, view: GameView, open: Position) -> GameView:
        """The view with what lies on the table."""
        return view

    def before_player(self, view: PlayerView, open: Position, own: bool) -> PlayerView:
        """The view of a player with what they have; closed values only with `own`."""
        return view


def either(one: Step, other: Step) -> Step:
    """A kind of action that two mechanics know, never at the same time."""

    def ask(open: Position, seat: int) -> Choice | None:
        return one.ask(open, seat) or other.ask(open, seat)

    def do(open: Position, seat: int, action: Any) -> Position:
        step = one if one.ask(open, seat) is not None else other
        return step.do(open, seat, action)

    return Step(ask, do)
