"""The bot `random`: it does anything that is legal."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import pick

from .sight import Sight

_ON_THE_TABLE = ("finish_game", "score_points")
"""What a person says of the pieces on the real table, which a bot does not see."""
_LONG = 24
"""After so many actions it confirms as soon as it can."""


def dice(sight: Sight) -> Callable[[int], int]:
    """Numbers from 0 to n - 1, out of what is seen when the turn begins, the seat and the step.

    Nothing else goes into them, so a game with bots can be played again.
    """
    seed = sight.begin.mark + bytes((sight.seat, len(sight.staged) % 256))
    drawn = 0

    def below(bound: int) -> int:
        nonlocal drawn
        word = blake2b(drawn.to_bytes(4, "big"), digest_size=8, key=seed)
        drawn += 1
        return int.from_bytes(word.digest(), "big") % bound

    return below


class Chance:
    """Takes any action out of what is offered, and ends its turn at some time."""

    def choose(self, sight: Sight) -> Action | None:
        """Any action; two times out of five the confirmation, where it is possible."""
        below = dice(sight)
        if sight.can_confirm and (len(sight.staged) >= _LONG or below(5) < 2):
            return None
        return anything(sight, below)


def anything(sight: Sight, below: Callable[[int], int]) -> Action | None:
    """Any action out of what is offered; None if there is none, or only what people may say."""
    choices = [choice for choice in sight.choices if choice.kind not in _ON_THE_TABLE]
    if not choices:
        return None
    return pick(choices[below(len(choices))], below)
