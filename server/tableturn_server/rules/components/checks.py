"""What a component set must hold before a game uses it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from tableturn_server.rules.actions import BonusKind
from tableturn_server.rules.components.errors import BadComponents
from tableturn_server.rules.components.sets import GROUPS, ComponentSet, MerchantCard, PointTile
from tableturn_server.rules.mechanics.cubes import LETTERS, Cubes, from_letters
from tableturn_server.rules.mechanics.islands import BadLayout, read_layout

Check = Callable[[ComponentSet], None]

SYMBOLS = ("ginger", "chili", "tea", "cloves")
MAX_CUBES = 12
"""The most cubes in one cost or gain: far above anything printed."""
MAX_POINTS = 99
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_CARD = re.compile(r"[A-Z]{1,2}[0-9]{1,3}")
"""The id of a card, which is typed in play."""
_UPGRADE = re.compile(r"upgrade [1-9]")


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
    checks = _GAMES[game]
    for name in GROUPS:
        if name in checks:
            checks[name](components)
        elif components.group(name).items:
            raise BadComponents(name, f"{game} has none: it has {', '.join(checks)}")


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


def _merchant_cards(count: int) -> Check:
    """So many cards, each with an effect."""

    def check(components: ComponentSet) -> None:
        cards = components.merchant_cards.items
        for index, card in enumerate(cards):
            _check_card(card, f"merchant_cards.items[{index}]")
        if len(cards) != count:
            raise BadComponents("merchant_cards.items", f"{count} cards, not {len(cards)}")

    return check


def _starting_cards(count: int, copies: int) -> Check:
    """So many cards that every player begins with, and copies of each for all players."""

    def check(components: ComponentSet) -> None:
        cards = components.starting_cards.items
        for index, card in enumerate(cards):
            path = f"starting_cards.items[{index}]"
            _check_card(card, path)
            if card.count != copies:
                raise BadComponents(f"{path}.count", f"{copies} copies, not {card.count}")
        if len(cards) != count:
            raise BadComponents("starting_cards.items", f"{count} cards, not {len(cards)}")

    return check


def _check_card(card: MerchantCard, path: str) -> None:
    """A merchant card can be named in play, and its effect reads as one of the three kinds."""
    _check_card_id(card.id, path)
    path = f"{path}.effect"
    if card.effect.startswith("+"):
        _cubes(card.effect.removeprefix("+"), path)
    elif ">" in card.effect:
        _check_trade(card.effect, path)
    elif not _UPGRADE.fullmatch(card.effect):
        raise BadComponents(
            path,
            "an effect is written as +YYR, as YYY>B, or from upgrade 1 to upgrade 9, "
            f"not {card.effect!r}",
        )


def _check_card_id(name: str, path: str) -> None:
    """Players type the ids of cards."""
    if not _CARD.fullmatch(name):
        raise BadComponents(
            f"{path}.id",
            f"a card has one or two capital letters and a number, such as M07, not {name!r}",
        )


def _point_cards(count: int) -> Check:
    """So many cards, each with a cost and points."""

    def check(components: ComponentSet) -> None:
        for index, card in enumerate(components.point_cards.items):
            _check_card_id(card.id, f"point_cards.items[{index}]")
        _check_prices(components.point_cards.items, count, "point_cards.items")

    return check


def _market_tiles(of_each: int) -> Check:
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


def _victory_tiles(count: int) -> Check:
    """So many tiles, each with a cost and points."""

    def check(components: ComponentSet) -> None:
        _check_prices(components.victory_tiles.items, count, "victory_tiles.items")

    return check


def _check_prices(items: Sequence[PointTile], count: int, path: str) -> None:
    """So many cards or tiles with a cost and points."""
    for index, item in enumerate(items):
        _cubes(item.cost, f"{path}[{index}].cost")
        _points(item.points, f"{path}[{index}].points")
    if len(items) != count:
        raise BadComponents(path, f"{count} pieces, not {len(items)}")


def _bonus_tiles(kinds: tuple[BonusKind, ...], *, least: int, most: int) -> Check:
    """From least to most tiles in all, some of each kind; the VP pile from the highest down."""
    words = tuple(kind.name.lower() for kind in kinds)

    def check(components: ComponentSet) -> None:
        items = components.bonus_tiles.items
        for index, tile in enumerate(items):
            path = f"bonus_tiles.items[{index}]"
            if tile.kind not in words:
                raise BadComponents(f"{path}.kind", f"one of {', '.join(words)}, not {tile.kind!r}")
            if not 1 <= tile.count <= most:
                raise BadComponents(f"{path}.count", f"from 1 to {most}, not {tile.count}")
            _points(tile.points, f"{path}.points")
        for word in words:
            if not any(tile.kind == word for tile in items):
                raise BadComponents("bonus_tiles.items", f"there is no tile of kind {word}")
        found = sum(tile.count for tile in items)
        if not least <= found <= most:
            count = f"{most}" if least == most else f"from {least} to {most}"
            raise BadComponents("bonus_tiles.items", f"{count} tiles in all, not {found}")
        pile = [tile.points for tile in items if tile.kind == "vp"]
        if any(above < below for above, below in pairwise(pile)):
            raise BadComponents("bonus_tiles.items", "the VP pile goes from the highest down")

    return check


def _player_board(columns: int) -> Check:
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


def _start_piles(count: int) -> Check:
    """So many piles of starting cubes."""

    def check(components: ComponentSet) -> None:
        for index, pile in enumerate(components.start_piles.items):
            _cubes(pile.cubes, f"start_piles.items[{index}].cubes")
        found = len(components.start_piles.items)
        if found != count:
            raise BadComponents("start_piles.items", f"{count} piles, not {found}")

    return check


def _maps(name: str) -> Check:
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


_GAMES: dict[str, dict[str, Check]] = {
    "spice-road": {
        "merchant_cards": _merchant_cards(43),  # SR-04
        "starting_cards": _starting_cards(2, copies=5),  # SR-03
        "point_cards": _point_cards(36),  # SR-01
        "start_piles": _start_piles(5),  # SR-05
    },
    "eastern-wonders": {
        "market_tiles": _market_tiles(6),  # EW-01
        "victory_tiles": _victory_tiles(26),  # EW-05
        "bonus_tiles": _bonus_tiles(tuple(BonusKind), least=20, most=20),  # EW-06
        "player_boards": _player_board(5),  # EW-07
        "start_piles": _start_piles(4),  # EW-08
        "maps": _maps("first-game"),  # EW-02
    },
    "from-sand-to-sea": {
        "merchant_cards": _merchant_cards(43),  # SS-01
        "starting_cards": _starting_cards(2, copies=5),  # SS-01
        "market_tiles": _market_tiles(6),  # SS-02
        "victory_tiles": _victory_tiles(26),  # SS-03
        # SS-03. Only the 20 of all kinds are known, not how many of them are left out here.
        "bonus_tiles": _bonus_tiles(
            (BonusKind.MOVE, BonusKind.CARGO, BonusKind.VP), least=3, most=18
        ),
        "player_boards": _player_board(4),  # SS-04
        "start_piles": _start_piles(4),  # SS-05
        "maps": _maps("first-game"),  # SS-02
    },
}
"""What each game asks of the groups of its set. It has no others."""
