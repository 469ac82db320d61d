"""Every bot there is, by game. A new game needs no entry for `random`, and one for `greedy`."""

from __future__ import annotations

from collections.abc import Callable

from tableturn_server.rules.catalog import GAMES

from .bot import Bot
from .chance import Chance
from .greedy import (
    Greedy,
    Turns,
    eastern_wonders,
    free_table,
    from_sand_to_sea,
    spice_road,
)

GREEDY: dict[str, Turns] = {
    "eastern-wonders": eastern_wonders.turns,
    "free-table": free_table.turns,
    "from-sand-to-sea": from_sand_to_sea.turns,
    "spice-road": spice_road.turns,
}
"""How `greedy` plays each game that it knows."""


def names(game: str) -> tuple[str, ...]:
    """The bots that can play a game; empty for a game that there is not."""
    return tuple(_bots(game))


def stand_in(game: str) -> str:
    """The bot that plays on for a person, where nobody has said which."""
    return "greedy" if game in GREEDY else "random"


def bot_of(name: str, game: str) -> Bot:
    """A bot by its name. Raises KeyError if none of this name plays the game."""
    return _bots(game)[name]()


def _bots(game: str) -> dict[str, Callable[[], Bot]]:
    if game not in GAMES:
        return {}
    found: dict[str, Callable[[], Bot]] = {"random": Chance}
    if game in GREEDY:
        found["greedy"] = lambda: Greedy(GREEDY[game])
    return found
