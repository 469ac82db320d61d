"""The shipped component sets: their values against the facts, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tableturn_server.rules import components
from tableturn_server.rules.components import ComponentSet, Confidence
from tableturn_server.rules.components.sets import GroupSummary, MerchantCard
from tableturn_server.rules.mechanics.cubes import Cubes
from tableturn_server.rules.mechanics.islands import read_layout
from tableturn_server.rules.views import CardKind
from tests.rules.own_sets import own_set

EASTERN_WONDERS = components.shipped("eastern-wonders")
SPICE_ROAD = components.shipped("spice-road")
SAND_TO_SEA = components.shipped("from-sand-to-sea")
EVERY = pytest.mark.parametrize(
    "found", [EASTERN_WONDERS, SAND_TO_SEA, SPICE_ROAD], ids=components.shipped_names()
)


def facts(name: str) -> list[str]:
    """What was found, a line for each piece."""
    text = (Path(__file__).parent / "facts" / f"{name}.txt").read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


# -- piece by piece ------------------------------------------------------------------------


def eastern_wonders(found: ComponentSet) -> list[str]:
    """Eastern Wonders in the form of its facts."""
    lines = []
    for tile in found.market_tiles.items:
        disputed = f" or {tile.alternative}" if tile.alternative else ""
        lines.append(f"{tile.id} {tile.symbol} {tile.trade} {tile.least.value}{disputed}")
    for point in found.victory_tiles.items:
        lines.append(f"{point.id} {point.cost} {point.points} {point.least.value}")
    lines += bonus_tiles(found)
    lines += boards(found)
    lines += [f"{pile.id} {pile.cubes} {pile.least.value}" for pile in found.start_piles.items]
    lines += map_of_the_first_game(found)
    return lines


def spice_road(found: ComponentSet) -> list[str]:
    """Spice Road in the form of its facts."""
    lines = [f"{effect(card)} {card.least.value}" for card in found.merchant_cards.items]
    for card in found.starting_cards.items:
        lines.append(f"{effect(card)} x{card.count} {card.least.value}")
    for point in found.point_cards.items:
        lines.append(f"{point.id} {numbers(point.price)} {point.points} {point.least.value}")
    return [*lines, *piles(found)]


def sand_to_sea(found: ComponentSet) -> list[str]:
    """What From Sand to Sea has of its own, in the form of its facts."""
    (first,) = found.maps.items
    return [
        *bonus_tiles(found),
        *boards(found),
        *piles(found),
        f"{first.id} {first.least.value}",
        *map_of_the_first_game(found),
    ]


def effect(card: MerchantCard) -> str:
    kind = card.kind.name.lower()
    if card.kind == CardKind.UPGRADE:
        return f"{card.id} {kind} {card.upgrades}"
    if card.kind == CardKind.SPICE:
        return f"{card.id} {kind} {numbers(card.gain)}"
    return f"{card.id} {kind} {numbers(card.cost)} {numbers(card.gain)}"


def numbers(cubes: Cubes) -> str:
    return "-".join(map(str, cubes))


def piles(found: ComponentSet) -> Iterator[str]:
    for pile in found.start_piles.items:
        yield f"{pile.id} {numbers(pile.pile)} {pile.least.value}"


def bonus_tiles(found: ComponentSet) -> Iterator[str]:
    for bonus in found.bonus_tiles.items:
        yield f"{bonus.id} {bonus.kind} {bonus.points} x{bonus.count} {bonus.least.value}"


def boards(found: ComponentSet) -> Iterator[str]:
    (board,) = found.player_boards.items
    for row in board.rows:
        values = " ".join(map(str, row.values))
        yield f"{board.id} {row.symbol} {values} {board.least.value}"


def map_of_the_first_game(found: ComponentSet) -> Iterator[str]:
    shape = read_layout(found.maps.items[0].layout)
    for place, name in enumerate(shape.names):
        q, r = shape.hexes[place]
        kind = "port" if place in shape.ports else "random"
        beside = " ".join(shape.names[other] for other in shape.neighbours[place])
        yield f"map {name} {q} {r} {kind} {beside}"


def test_eastern_wonders_has_the_values_that_were_found() -> None:
    assert eastern_wonders(EASTERN_WONDERS) == facts("eastern_wonders")


def test_spice_road_has_the_values_that_were_found() -> None:
    assert spice_road(SPICE_ROAD) == facts("spice_road")


def test_from_sand_to_sea_has_the_values_that_were_found() -> None:
    assert sand_to_sea(SAND_TO_SEA) == facts("from_sand_to_sea")
    (board,) = SAND_TO_SEA.player_boards.items
    assert board.cargo == 10


def test_a_combined_game_has_the_pieces_of_its_parts_with_their_sources() -> None:
    for name, part in [
        ("merchant_cards", SPICE_ROAD),
        ("starting_cards", SPICE_ROAD),
        ("market_tiles", EASTERN_WONDERS),
        ("victory_tiles", EASTERN_WONDERS),
    ]:
        assert SAND_TO_SEA.group(name).items == part.group(name).items
        assert by_name(SAND_TO_SEA)[name] == by_name(part)[name]
    assert SAND_TO_SEA.point_cards.items == ()


def test_points_follow_from_the_cubes_of_a_card() -> None:
    """An independent check: yellow to brown is worth 1 to 4, a colour above two is 1 more."""
    for card in SPICE_ROAD.point_cards.items:
        value = sum(worth * count for worth, count in enumerate(card.price, 1))
        colours = sum(count > 0 for count in card.price)
        assert card.points == value + max(0, colours - 2)


def test_no_two_cards_are_the_same() -> None:
    assert len({effect(card).partition(" ")[2] for card in SPICE_ROAD.merchant_cards.items}) == 43
    assert len({card.cost for card in SPICE_ROAD.point_cards.items}) == 36


# -- what is said of them ------------------------------------------------------------------


def by_name(found: ComponentSet) -> dict[str, GroupSummary]:
    return {group.name: group for group in found.summary()}


@EVERY
def test_every_value_has_sources_and_a_confidence(found: ComponentSet) -> None:
    for group in found.summary():
        assert group.sources
        for item in found.group(group.name).items:
            assert item.sources
            assert item.confidence in Confidence


def test_a_value_may_be_less_sure_than_the_rest_of_its_piece() -> None:
    (example,) = (tile for tile in EASTERN_WONDERS.market_tiles.items if tile.id == "EW-CL5")
    assert example.confidence == Confidence.VERIFIED
    assert dict(example.unsure) == {"symbol": Confidence.SINGLE_SOURCE}


@pytest.mark.parametrize(
    ("found", "sure"),
    [
        (
            EASTERN_WONDERS,
            {
                "market_tiles": (24, "single-source", 0),
                "victory_tiles": (26, "reconstructed", 26),
                "bonus_tiles": (20, "reconstructed", 20),
                "player_boards": (1, "single-source", 0),
                "start_piles": (4, "verified", 0),
                "maps": (1, "verified", 0),
            },
        ),
        (
            SPICE_ROAD,
            {
                "merchant_cards": (43, "verified", 0),
                "starting_cards": (10, "verified", 0),
                "point_cards": (36, "verified", 0),
                "start_piles": (5, "verified", 0),
            },
        ),
        (
            SAND_TO_SEA,
            {
                "merchant_cards": (43, "verified", 0),
                "starting_cards": (10, "verified", 0),
                "market_tiles": (24, "single-source", 0),
                "victory_tiles": (26, "reconstructed", 26),
                "bonus_tiles": (12, "reconstructed", 12),
                "player_boards": (1, "reconstructed", 1),
                "start_piles": (4, "reconstructed", 4),
                "maps": (1, "reconstructed", 1),
            },
        ),
    ],
    ids=["eastern-wonders", "spice-road", "from-sand-to-sea"],
)
def test_the_summary_never_calls_a_stand_in_printed(
    found: ComponentSet, sure: dict[str, tuple[int, str, int]]
) -> None:
    assert sure == {
        group.name: (group.count, group.confidence.value, group.reconstructed)
        for group in found.summary()
    }
    assert found.reconstructed == any(count for _, _, count in sure.values())


def test_shipped_names() -> None:
    assert components.shipped_names() == ("eastern-wonders", "from-sand-to-sea", "spice-road")
    assert components.shipped("eastern-wonders") is EASTERN_WONDERS
    with pytest.raises(KeyError, match="there are: eastern-wonders"):
        components.shipped("western-wonders")


@EVERY
def test_a_set_is_a_value_with_a_hash(found: ComponentSet) -> None:
    again = components.load(found.document, found.game)
    assert again == found
    assert hash(again) == hash(found)
    assert again.document == found.document
    assert len(found.sha256) == 32
    assert own_set({}, game=found.game) != found


@EVERY
def test_a_set_is_complete_by_itself(found: ComponentSet) -> None:
    assert len(found.document) < 64 * 1024
    assert b'"from"' not in found.document
