"""What a component set must hold before a game uses it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.components.errors import BadComponents
from tableturn_server.rules.components.sets import GROUPS, ComponentSet
from tableturn_server.rules.mechanics.cubes import LETTERS, Cubes, from_letters
from tableturn_server.rules.mechanics.islands import BadLayout, read_layout

SYMBOLS = ("ginger", "chili", "tea", "cloves")
MAX_CUBES = 12
"""The most cubes in one cost or gain: far above anything printed."""
MAX_POINTS = 99
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def games_with_components() -> tuple[str, ...]:
    """The games that are played with a component set."""
    return tuple(_GAMES)


def check_set(components: ComponentSet, game: str) -> None:
    """Raise BadComponents, with the place of the fault, unless the game can use the set."""
    if components.game != game:
        raise BadComponents("game", f"this set is for {components.game!r}, not for {game!r}")
    if not _ID.fullmatch(components.name):
        raise BadComponents("name", "a name of up to 40 letters, digits, dots and dashes")
    if not 1 <= len(components.title) <= 100:
        raise BadComponents("title", "a title of 1 to 100 letters")
    _check_ids(components)
    for check in _GAMES[game]:
        check(components)


def _check_ids(components: ComponentSet) -> None:
    """Ids are readable and stand once; sources named by items are listed."""
    known = {source for source, _ in components.sources}
    seen: dict[str, str] = {}
    for name in GROUPS:
        group = components.group(name)
        _check_sources(group.sources, known, f"{name}.sources")
        for index, item in enumerate(group.items):
            path = f"{name}.items[{index}]"
            if not _ID.fullmatch(item.id):
                raise BadComponents(
                    f"{path}.id", "an id of up to 40 letters, digits, dots and dashes"
                )
            if item.id in seen:
                raise BadComponents(
                    f"{path}.id", f"{item.id!r} stands twice, first at {seen[item.id]}"
                )
            seen[item.id] = path
            _check_sources(item.sources, known, f"{path}.sources")
            for field, _ in item.unsure:
                if field not in item.__struct_fields__:
                    raise BadComponents(f"{path}.unsure", f"there is no field {field!r}")


def _check_sources(sources: tuple[str, ...], known: set[str], path: str) -> None:
    """The sources are listed at the head of the file."""
    for source in sources:
        if source not in known:
            raise BadComponents(path, f"{source!r} is not among the sources of the set")


# -- the checks of each group --------------------------------------------------------------


def _cubes(letters: str, path: str) -> Cubes:
    """Cubes as letters, at least one."""
    if not letters or set(letters) - set(LETTERS):
        raise BadComponents(
            path, f"cubes are written with the letters {LETTERS}, such as YYR, not {letters!r}"
        )
    if len(letters) > MAX_CUBES:
        raise BadComponents(path, f"at most {MAX_CUBES} cubes, not {len(letters)}")
    return from_letters(letters)


def _points(value: int, path: str) -> None:
    """Points of one piece."""
    if not 0 <= value <= MAX_POINTS:
        raise BadComponents(path, f"from 0 to {MAX_POINTS} points, not {value}")


def _market_tiles(of_each: int) -> Callable[[ComponentSet], None]:
    """So many tiles of each symbol, whose trades end."""

    def check(components: ComponentSet) -> None:
        counts = dict.fromkeys(SYMBOLS, 0)
        for index, tile in enumerate(components.market_tiles.items):
            path = f"market_tiles.items[{index}]"
            if tile.symbol not in counts:
                raise BadComponents(
                    f"{path}.symbol", f"one of {', '.join(SYMBOLS)}, not {tile.symbol!r}"
                )
            counts[tile.symbol] += 1
            _check_trade(tile.trade, f"{path}.trade")
            if tile.alternative:
                _check_trade(tile.alternative, f"{path}.alternative")
        for symbol, count in counts.items():
            if count != of_each:
                raise BadComponents(
                    "market_tiles.items", f"{of_each} tiles of {symbol}, not {count}"
                )

    return check


def _check_trade(trade: str, path: str) -> None:
    """A trade reads as `YYY>B` and uses something up, so that it can't go on for ever."""
    left, arrow, right = trade.partition(">")
    if not arrow:
        raise BadComponents(path, f"a trade is written as YYY>B, not {trade!r}")
    cost = _cubes(left, path)
    gain = _cubes(right, path)
    if gain.covers(cost):
        raise BadComponents(path, f"{trade} gives back all that it takes and would never end")


def _victory_tiles(count: int) -> Callable[[ComponentSet], None]:
    """So many tiles, each with a cost and points."""

    def check(components: ComponentSet) -> None:
        for index, tile in enumerate(components.victory_tiles.items):
            _cubes(tile.cost, f"victory_tiles.items[{index}].cost")
            _points(tile.points, f"victory_tiles.items[{index}].points")
        found = len(components.victory_tiles.items)
        if found != count:
            raise BadComponents("victory_tiles.items", f"{count} tiles, not {found}")

    return check


def _bonus_tiles(count: int, kinds: tuple[BonusKind, ...]) -> Callable[[ComponentSet], None]:
    """So many tiles in all, some of each kind; the VP pile from the highest down."""
    words = tuple(kind.name.lower() for kind in kinds)

    def check(components: ComponentSet) -> None:
        items = components.bonus_tiles.items
        for index, tile in enumerate(items):
            path = f"bonus_tiles.items[{index}]"
            if tile.kind not in words:
                raise BadComponents(f"{path}.kind", f"one of {', '.join(words)}, not {tile.kind!r}")
            if not 1 <= tile.count <= count:
                raise BadComponents(f"{path}.count", f"from 1 to {count}, not {tile.count}")
            _points(tile.points, f"{path}.points")
        for word in words:
            if not any(tile.kind == word for tile in items):
                raise BadComponents("bonus_tiles.items", f"there is no tile of kind {word}")
        found = sum(tile.count for tile in items)
        if found != count:
            raise BadComponents("bonus_tiles.items", f"{count} tiles in all, not {found}")
        pile = [tile.points for tile in items if tile.kind == "vp"]
        if any(above < below for above, below in pairwise(pile)):
            raise BadComponents("bonus_tiles.items", "the VP pile goes from the highest down")

    return check


def _player_board(columns: int) -> Callable[[ComponentSet], None]:
    """One board: a row of so many outposts for each symbol."""

    def check(components: ComponentSet) -> None:
        boards = components.player_boards.items
        if len(boards) != 1:
            raise BadComponents("player_boards.items", f"one board, not {len(boards)}")
        path = "player_boards.items[0]"
        symbols = sorted(row.symbol for row in boards[0].rows)
        if symbols != sorted(SYMBOLS):
            raise BadComponents(f"{path}.rows", f"one row for each of {', '.join(SYMBOLS)}")
        for index, row in enumerate(boards[0].rows):
            if len(row.values) != columns:
                raise BadComponents(
                    f"{path}.rows[{index}].values", f"{columns} values, not {len(row.values)}"
                )
            for value in row.values:
                _points(value, f"{path}.rows[{index}].values")
        if not 1 <= boards[0].cargo <= 40:
            raise BadComponents(f"{path}.cargo", f"from 1 to 40 spaces, not {boards[0].cargo}")

    return check


def _start_piles(count: int) -> Callable[[ComponentSet], None]:
    """So many piles of starting cubes."""

    def check(components: ComponentSet) -> None:
        for index, pile in enumerate(components.start_piles.items):
            _cubes(pile.cubes, f"start_piles.items[{index}].cubes")
        found = len(components.start_piles.items)
        if found != count:
            raise BadComponents("start_piles.items", f"{count} piles, not {found}")

    return check


def _maps(name: str) -> Callable[[ComponentSet], None]:
    """The map patterns are layouts, and the one that the game begins with is there."""

    def check(components: ComponentSet) -> None:
        for index, pattern in enumerate(components.maps.items):
            try:
                read_layout(pattern.layout)
            except BadLayout as error:
                raise BadComponents(f"maps.items[{index}].layout", str(error)) from None
        if not any(pattern.id == name for pattern in components.maps.items):
            raise BadComponents("maps.items", f"there is no map {name!r}")

    return check


_GAMES: dict[str, tuple[Callable[[ComponentSet], None], ...]] = {
    "eastern-wonders": (
        _market_tiles(6),  # EW-01
        _victory_tiles(26),  # EW-05
        _bonus_tiles(20, tuple(BonusKind)),  # EW-06
        _player_board(5),  # EW-07
        _start_piles(4),  # EW-08
        _maps("first-game"),  # EW-02
    ),
}
"""What each game asks of its set."""
