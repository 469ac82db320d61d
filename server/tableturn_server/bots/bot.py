"""What a bot is, and how a whole turn of it comes about."""

from __future__ import annotations

from typing import Protocol

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Illegal

from .sight import Sight

MOST_STEPS = 64
"""Actions in a turn of a bot. No sensible turn of any game has as many."""


class Bot(Protocol):
    """A player that decides by what it sees. The same sight, the same choice."""

    def choose(self, sight: Sight) -> Action | None:
        """The next action of the turn, or None to confirm it."""


def whole_turn(bot: Bot, sight: Sight) -> tuple[Action, ...]:
    """The actions of a bot's turn, after which it can be confirmed.

    `sight` is the seat's with nothing staged. A bot that comes to no end within MOST_STEPS,
    wants what is not possible, or confirms too early gets the default turn instead (DR-3).
    """
    now = sight
    try:
        for _ in range(MOST_STEPS):
            action = bot.choose(now)
            if action is None:
                break
            now = now.after(action)
    except Illegal:
        return sight.default()
    return now.staged if now.can_confirm else sight.default()
