"""What a bot is, and how a whole turn of it comes about."""

from __future__ import annotations

from typing import Protocol

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Illegal

from .chance import anything, dice
from .sight import Sight

MOST_STEPS = 64
"""Actions in a turn of a bot. No sensible turn of any game has as many."""


class Bot(Protocol):
    """A player that decides by what it sees. The same sight, the same choice."""

    def choose(self, sight: Sight) -> Action | None:
        """The next action of the turn, or None to confirm it."""


def whole_turn(bot: Bot, sight: Sight, must_act: bool = False) -> tuple[Action, ...]:
    """The actions of a bot's turn, after which it can be confirmed.

    `sight` is the seat's with nothing staged. A bot that comes to no end within MOST_STEPS,
    wants what is not possible, or confirms too early gets the default turn instead (DR-3).

    With `must_act` it never ends a turn with nothing done where something can be done: a panel
    confirms it, and a button that is pressed confirms only what was done.
    """
    now = _brought_to_an_end(bot, sight)
    if now is None or (must_act and now.skips):
        return least_turn(sight, must_act)
    return now.staged


def least_turn(sight: Sight, must_act: bool = False) -> tuple[Action, ...]:
    """The default turn (DR-3); with `must_act` anything, if the default does nothing."""
    now = sight
    for action in sight.default():
        now = now.after(action)
    if must_act and now.skips:
        return (_brought_to_an_end(_Acting(), sight) or now).staged
    return now.staged


class _Acting:
    """Does anything, until that can be confirmed and is more than nothing."""

    def choose(self, sight: Sight) -> Action | None:
        if sight.can_confirm and not sight.skips:
            return None
        return anything(sight, dice(sight))


def _brought_to_an_end(bot: Bot, sight: Sight) -> Sight | None:
    """The sight at the end of a turn; None if the bot finds none that can be confirmed."""
    now = sight
    try:
        for _ in range(MOST_STEPS):
            action = bot.choose(now)
            if action is None:
                break
            now = now.after(action)
    except Illegal:
        return None
    return now if now.can_confirm else None
