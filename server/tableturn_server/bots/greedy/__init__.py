"""The bot `greedy`: for each game a list of the turns that it would like, the best first.

A game joins by a module with a function of the type `Turns`, and an entry in `bots.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tableturn_server.bots.sight import Sight
from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Illegal

Turn = tuple[Action, ...]
Turns = Callable[[Sight], Iterator[Turn]]
"""The turns that a game's module proposes, the best first, for a sight with nothing staged."""


class Greedy:
    """Plays the first turn on its game's list that the rules allow, else the default."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._begun: Sight | None = None
        self._turn: Turn = ()

    def choose(self, sight: Sight) -> Action | None:
        """The next action of the turn that was decided on when it began."""
        if sight.begin is not self._begun:
            self._turn = self._decide(sight.begin)
            self._begun = sight.begin
        step = len(sight.staged)
        if step >= len(self._turn) or sight.staged != self._turn[:step]:
            return None
        return self._turn[step]

    def _decide(self, sight: Sight) -> Turn:
        for turn in self._turns(sight):
            if _possible(sight, turn):
                return turn
        return sight.default()


def _possible(sight: Sight, turn: Turn) -> bool:
    """The turn can be staged and confirmed."""
    try:
        for action in turn:
            sight = sight.after(action)
    except Illegal:
        return False
    return sight.can_confirm
