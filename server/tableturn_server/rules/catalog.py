"""Every game there is, by name. The one place that lists them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import BadOption, Game, Setting
from tableturn_server.rules.games.eastern_wonders import EasternWonders
from tableturn_server.rules.games.free_table import FreeTable
from tableturn_server.rules.games.from_sand_to_sea import FromSandToSea
from tableturn_server.rules.games.spice_road import SpiceRoad

GAMES: dict[str, type[Game[Any, Any]]] = {
    game.name: game for game in (EasternWonders, FreeTable, FromSandToSea, SpiceRoad)
}


def complete_options(game: type[Game[Any, Any]], given: dict[str, str]) -> dict[str, str]:
    """All options of a game with a value each: what was given, else the default.

    Raises BadOption for an unknown name or a value that is not offered.
    """
    known = {option.name: option for option in game.options}
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            raise BadOption(
                f"{game.name} has no option {name!r}; its options: {', '.join(sorted(known))}"
            )
        if option.values and value not in option.values:
            raise BadOption(
                f"option {name} of {game.name} is one of {', '.join(option.values)}, not {value!r}"
            )
    return {name: given.get(name, option.default) for name, option in known.items()}


def bind(
    name: str, seats: int, options: dict[str, str], components: ComponentSet | None
) -> Game[Any, Any]:
    """The game of a table. Cached: games hold no state.

    Raises KeyError for an unknown game and BadOption for bad options or seats.
    """
    return _bind(name, seats, tuple(sorted(options.items())), components)


@lru_cache(maxsize=1024)
def _bind(
    name: str, seats: int, options: tuple[tuple[str, str], ...], components: ComponentSet | None
) -> Game[Any, Any]:
    game = GAMES[name]
    if seats not in game.seats:
        raise BadOption(
            f"{game.title} is for {game.seats.start} to {game.seats.stop - 1} seats, not {seats}"
        )
    return game(Setting(seats=seats, options=dict(options), components=components))
