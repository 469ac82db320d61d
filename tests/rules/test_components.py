"""Component sets: the shipped values against the facts, and sets of a user's own."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_server.rules import components
from tableturn_server.rules.components import BadComponents, ComponentSet, Confidence
from tableturn_server.rules.mechanics.islands import read_layout
from tests.rules.own_sets import own_file, own_set
from tests.rules.play import play

FACTS = [
    line
    for line in (Path(__file__).parent / "facts" / "eastern_wonders.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
SHIPPED = components.shipped("eastern-wonders")


# -- the shipped set -----------------------------------------------------------------------


def as_facts(found: ComponentSet) -> list[str]:
    """A set in the form of the facts."""
    lines = []
    for tile in found.market_tiles.items:
        disputed = f" or {tile.alternative}" if tile.alternative else ""
        lines.append(f"{tile.id} {tile.symbol} {tile.trade} {tile.least.value}{disputed}")
    for point in found.victory_tiles.items:
        lines.append(f"{point.id} {point.cost} {point.points} {point.least.value}")
    for bonus in found.bonus_tiles.items:
        words = f"{bonus.id} {bonus.kind} {bonus.points} x{bonus.count}"
        lines.append(f"{words} {bonus.least.value}")
    (board,) = found.player_boards.items
    for row in board.rows:
        values = " ".join(map(str, row.values))
        lines.append(f"{board.id} {row.symbol} {values} {board.least.value}")
    lines += [f"{pile.id} {pile.cubes} {pile.least.value}" for pile in found.start_piles.items]
    shape = read_layout(found.maps.items[0].layout)
    for place, name in enumerate(shape.names):
        q, r = shape.hexes[place]
        kind = "port" if place in shape.ports else "random"
        beside = " ".join(shape.names[other] for other in shape.neighbours[place])
        lines.append(f"map {name} {q} {r} {kind} {beside}")
    return lines


def test_the_shipped_values_are_the_facts_item_by_item() -> None:
    assert as_facts(SHIPPED) == FACTS


def test_every_value_has_sources_and_a_confidence() -> None:
    for group in SHIPPED.summary():
        assert group.sources
    for tile in (*SHIPPED.market_tiles.items, *SHIPPED.victory_tiles.items):
        assert tile.sources
        assert tile.confidence in Confidence
    (example,) = (tile for tile in SHIPPED.market_tiles.items if tile.id == "EW-CL5")
    assert example.confidence == Confidence.VERIFIED
    assert dict(example.unsure) == {"symbol": Confidence.SINGLE_SOURCE}


def test_the_summary_never_calls_a_stand_in_printed() -> None:
    sure = {group.name: (group.count, group.confidence.value) for group in SHIPPED.summary()}
    assert sure == {
        "market_tiles": (24, "single-source"),
        "victory_tiles": (26, "reconstructed"),
        "bonus_tiles": (20, "reconstructed"),
        "player_boards": (1, "single-source"),
        "start_piles": (4, "verified"),
        "maps": (1, "verified"),
    }
    assert SHIPPED.reconstructed


def test_shipped_names() -> None:
    assert "eastern-wonders" in components.shipped_names()
    assert components.shipped("eastern-wonders") is SHIPPED
    with pytest.raises(KeyError, match="there are: eastern-wonders"):
        components.shipped("western-wonders")


def test_a_set_is_a_value_with_a_hash() -> None:
    again = components.load(SHIPPED.document, "eastern-wonders")
    assert again == SHIPPED
    assert hash(again) == hash(SHIPPED)
    assert again.document == SHIPPED.document
    assert len(SHIPPED.sha256) == 32
    assert own_set({}) != SHIPPED


# -- a set of one's own --------------------------------------------------------------------


def test_items_change_by_id_and_the_rest_stays() -> None:
    own = own_set({"market_tiles": {"items": [{"id": "EW-GI2", "trade": "B>YYRR"}]}})
    changed = next(tile for tile in own.market_tiles.items if tile.id == "EW-GI2")
    assert (changed.symbol, changed.trade) == ("ginger", "B>YYRR")
    # The shipped claims don't cover the changed value.
    assert (changed.confidence, changed.sources) == (Confidence.SINGLE_SOURCE, ())
    assert changed.alternative == ""
    kept = [tile for tile in own.market_tiles.items if tile.id != "EW-GI2"]
    assert kept == [tile for tile in SHIPPED.market_tiles.items if tile.id != "EW-GI2"]
    assert own.victory_tiles == SHIPPED.victory_tiles
    assert own.title == SHIPPED.title
    assert own.name == "my-box"


def test_a_whole_group_can_be_replaced() -> None:
    tiles = [{"id": f"V{n}", "cost": "BBBB", "points": n} for n in range(26)]
    own = own_set(
        {
            "victory_tiles": {
                "replace": True,
                "confidence": "verified",
                "sources": ["box"],
                "items": tiles,
            }
        },
        sources={"box": "my own box"},
    )
    assert [tile.points for tile in own.victory_tiles.items] == list(range(26))
    assert {tile.least for tile in own.victory_tiles.items} == {Confidence.VERIFIED}
    assert own.victory_tiles.items[0].sources == ("box",)
    group = next(group for group in own.summary() if group.name == "victory_tiles")
    assert (group.confidence, group.sources) == (Confidence.VERIFIED, ("my own box",))


def test_the_document_of_a_set_stands_without_its_base() -> None:
    own = own_set({"market_tiles": {"items": [{"id": "EW-GI2", "trade": "B>YYRR"}]}})
    assert json.loads(own.document)["base"] == "none"
    assert components.load(own.document, "eastern-wonders") == own


def test_a_table_plays_with_it() -> None:
    own = own_set({"market_tiles": {"items": [{"id": "EW-GI2", "trade": "B>YYRR"}]}})
    table = play(
        boats={"red": "C3"},
        holds={"red": "B"},
        tiles={"C3": "B>YYRR"},
        outposts={"C3": ("red",)},
        own=own,
    )
    table.red.trades(1)
    assert table.red.hold == "YYRR"


def group(name: str, **item: Any) -> dict[str, Any]:
    return {name: {"items": [item]}}


@pytest.mark.parametrize(
    ("groups", "place", "words"),
    [
        (group("market_tiles", id="EW-GI1", trade="YYY"), "market_tiles.items[0].trade", "YYY>B"),
        (group("market_tiles", id="EW-GI1", trade="X>B"), "market_tiles.items[0].trade", "YRGB"),
        (group("market_tiles", id="EW-GI1", trade=">B"), "market_tiles.items[0].trade", "YRGB"),
        (group("market_tiles", id="EW-GI1", trade="Y>"), "market_tiles.items[0].trade", "YRGB"),
        (
            group("market_tiles", id="EW-GI1", trade="Y>YB"),
            "market_tiles.items[0].trade",
            "never end",
        ),
        (
            group("market_tiles", id="EW-GI1", trade="B>B"),
            "market_tiles.items[0].trade",
            "never end",
        ),
        (
            group("market_tiles", id="EW-GI1", trade="B>" + "Y" * 13),
            "market_tiles.items[0].trade",
            "at most 12 cubes",
        ),
        (
            group("market_tiles", id="EW-GI1", symbol="salt"),
            "market_tiles.items[0].symbol",
            "one of",
        ),
        (
            group("market_tiles", id="EW-GI1", symbol="tea"),
            "market_tiles.items",
            "6 tiles of ginger, not 5",
        ),
        (
            group("market_tiles", id="NEW", symbol="tea", trade="Y>R"),
            "market_tiles.items",
            "6 tiles of tea, not 7",
        ),
        (group("market_tiles", id="EW-GI1", colour="red"), "market_tiles.items[0]", "colour"),
        (group("market_tiles", trade="Y>R"), "market_tiles.items[0].id", "every item has an id"),
        (
            group("market_tiles", id="a b", symbol="tea", trade="Y>R"),
            "market_tiles.items[0].id",
            "an id",
        ),
        (group("victory_tiles", id="EW-V03", points="12"), "victory_tiles.items[0].points", "int"),
        (
            group("victory_tiles", id="EW-V03", points=-1),
            "victory_tiles.items[0].points",
            "0 to 99",
        ),
        (group("victory_tiles", id="EW-V03", cost=""), "victory_tiles.items[0].cost", "YRGB"),
        (
            group("victory_tiles", id="EW-V03", confidence="sure"),
            "victory_tiles.items[0].confidence",
            "sure",
        ),
        (
            group("victory_tiles", id="EW-V03", sources=["nobody"]),
            "victory_tiles.items[0].sources",
            "not among the sources",
        ),
        (
            group("victory_tiles", id="EW-V03", unsure={"colour": "verified"}),
            "victory_tiles.items[0].unsure",
            "no field 'colour'",
        ),
        (
            group("bonus_tiles", id="EW-B-MOVE", count=5),
            "bonus_tiles.items",
            "20 tiles in all, not 21",
        ),
        (
            group("bonus_tiles", id="EW-B-MOVE", kind="gold"),
            "bonus_tiles.items[0].kind",
            "one of move",
        ),
        (
            group("bonus_tiles", id="EW-B-MOVE", kind="vp"),
            "bonus_tiles.items",
            "no tile of kind move",
        ),
        (group("bonus_tiles", id="EW-B-VP3", points=7), "bonus_tiles.items", "highest down"),
        (group("start_piles", id="MORE", cubes="Y"), "start_piles.items", "4 piles, not 5"),
        (group("maps", id="first-game", layout="0 mm"), "maps.items[0].layout", "20 market slots"),
        (
            group("player_boards", id="EW-BOARD", rows=[{"symbol": "tea", "values": [0]}]),
            "player_boards.items[0].rows",
            "one row for each",
        ),
        (group("player_boards", id="EW-BOARD", cargo=0), "player_boards.items[0].cargo", "1 to 40"),
        ({"market_tiles": []}, "market_tiles", "an object with `items`"),
        ({"market_tiles": {"items": {}}}, "market_tiles.items", "a list"),
        ({"market_tiles": {"items": [1]}}, "market_tiles.items[0]", "an item is an object"),
        (
            {"market_tiles": {"replace": "yes", "items": []}},
            "market_tiles.replace",
            "true or false",
        ),
        ({"market_tiles": {"replace": True, "items": []}}, "market_tiles.items", "6 tiles"),
        ({"tiles": {"items": []}}, "tiles", "not known"),
        ({"format": 2}, "format", "must be 1"),
        ({"game": "chess"}, "game", "this set is for 'chess'"),
        ({"base": "chess"}, "base", "must be one of"),
        ({"base": ["none"]}, "base", "must be one of"),
        ({"name": "eastern-wonders", "note": "mine"}, "name", "the name of a shipped set"),
        ({"name": "no spaces"}, "name", "a name of up to 40"),
        ({"title": ""}, "title", "1 to 100"),
        ({"title": 5}, "title", "str"),
        ({"title": "bell \u0007"}, "title", "can't be printed"),
        ({"title": "half \ud800"}, "title", "can't be printed"),
        ({"note": "x" * 1001}, "note", "at most 1000 letters"),
        ({"sources": ["a"]}, "sources", ""),
    ],
)
def test_a_faulty_set_is_refused_with_the_place_of_the_fault(
    groups: dict[str, Any], place: str, words: str
) -> None:
    with pytest.raises(BadComponents) as caught:
        components.load(own_file(groups), "eastern-wonders")
    assert caught.value.place.startswith(place)
    assert words in str(caught.value)


def test_the_place_is_that_in_the_users_file() -> None:
    items = [{"id": "EW-CL1", "trade": "YYYYY>BB"}, {"id": "EW-CH1", "trade": "Y>YY"}]
    with pytest.raises(BadComponents, match=r"^market_tiles.items\[1\].trade: Y>YY gives back"):
        own_set({"market_tiles": {"items": items}})
    twice = [{"id": "EW-CL1"}, {"id": "EW-CL1"}]
    with pytest.raises(BadComponents, match=r"^market_tiles.items\[1\].id: 'EW-CL1' stands twice"):
        own_set({"market_tiles": {"items": twice}})
    with pytest.raises(BadComponents, match=r"'EW-V01' stands twice, first at victory_tiles"):
        own_set(
            {
                "start_piles": {
                    "replace": True,
                    "items": [{"id": name, "cubes": "Y"} for name in ("A", "B", "C", "EW-V01")],
                }
            }
        )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "line 1, column 1: not readable as JSON"),
        (b'{"format": 1,\n "name": }', "line 2, column 10"),
        (b'{"name": "a",\n\n "name": "b"}', "'name' stands twice"),
        (b"[]", "one JSON object"),
        (b'{"a":\n' + b"[" * 100_000, "line 2: nested deeper than 8 levels"),
        (b'{"a": "' + b"[" * 100 + b'"}', "format: must be 1"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1.5}', "only whole numbers"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too large"),
        (b'{\n"a": "\xff"}', "line 2: the file is not UTF-8"),
        (b"{" + b" " * 300_000 + b"}", "at most 262144 are read"),
    ],
)
def test_a_file_that_cannot_be_read(data: bytes, words: str) -> None:
    with pytest.raises(BadComponents, match=words.replace("(", r"\(")):
        components.load(data, "eastern-wonders")


def test_a_byte_order_mark_does_no_harm() -> None:
    assert components.load(b"\xef\xbb\xbf" + own_file({}), "eastern-wonders").name == "my-box"


def test_a_game_without_components_takes_none() -> None:
    with pytest.raises(BadComponents, match="played without components"):
        components.load(b'{"format": 1, "base": "none"}', "free-table")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=9)
    | st.sampled_from(["Y>R", "tea"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=12,
)
KEYS = [*SHIPPED.__struct_fields__, "items", "replace"]


@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        JSON
        | st.dictionaries(
            st.sampled_from(["items", "confidence", "sources", "note", "replace"]),
            JSON | st.lists(st.dictionaries(st.sampled_from(["id", "trade", "unsure"]), JSON)),
        ),
        max_size=5,
    )
)
def test_no_file_leads_to_anything_but_a_set_or_a_refusal(given_file: dict[str, Any]) -> None:
    data = json.dumps({"format": 1, "name": "x", **given_file}).encode()
    with suppress(BadComponents):
        found = components.load(data, "eastern-wonders")
        assert components.load(found.document, "eastern-wonders") == found


@given(st.binary(max_size=60))
def test_no_bytes_lead_to_anything_but_a_refusal(data: bytes) -> None:
    with pytest.raises(BadComponents):
        components.load(data, "eastern-wonders")
