"""Component sets of a user's own: what they change, how sure that is, and which are refused."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_server.rules import components
from tableturn_server.rules.components import BadComponents, ComponentSet, Confidence
from tableturn_server.rules.components.sets import GROUPS, Item, MarketTile, PointTile
from tests.rules.own_sets import own_file, own_set
from tests.rules.play import play

SHIPPED = components.shipped("eastern-wonders")


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


def tile(found: ComponentSet, name: str) -> PointTile:
    """A victory point tile by its id."""
    (one,) = (one for one in found.victory_tiles.items if one.id == name)
    return one


def certainty(item: Item) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """How sure an item is, and whose word that is."""
    unsure = {field: sure.value for field, sure in item.unsure}
    return item.confidence.value, item.sources, unsure


BOX = {"box": "my own box"}


@pytest.mark.parametrize(
    ("item", "sure"),
    [
        # Nothing is changed: what the base says holds.
        ({}, ("reconstructed", ("E3", "E11"), {})),
        ({"cost": "YYYBB", "points": 11}, ("reconstructed", ("E3", "E11"), {})),
        ({"points": 11, "note": "not looked at"}, ("reconstructed", ("E3", "E11"), {})),
        # What is changed, or stands in a changed line, is the user's word.
        ({"cost": "YYYB", "points": 11}, ("single-source", ("box",), {})),
        ({"cost": "YYYB", "points": 10}, ("single-source", ("box",), {})),
        ({"cost": "YYYB", "points": 11, "confidence": "verified"}, ("verified", ("box",), {})),
        ({"cost": "YYYB", "points": 11, "sources": []}, ("single-source", (), {})),
        # A stand-in that the file doesn't name stays one.
        ({"points": 10}, ("single-source", ("box",), {"cost": "reconstructed"})),
        # Who says how sure a line is has looked.
        ({"cost": "YYYBB", "points": 11, "sources": ["box"]}, ("single-source", ("box",), {})),
        ({"confidence": "single-source"}, ("single-source", ("box",), {})),
        ({"points": 10, "confidence": "single-source"}, ("single-source", ("box",), {})),
        (
            {"points": 10, "unsure": {"points": "reconstructed"}},
            ("single-source", ("box",), {"points": "reconstructed"}),
        ),
    ],
)
def test_how_sure_a_line_of_a_file_is(
    item: dict[str, Any], sure: tuple[str, tuple[str, ...], dict[str, str]]
) -> None:
    lines = {"sources": ["box"], "items": [{"id": "EW-V01", **item}]}
    own = own_set({"victory_tiles": lines}, sources=BOX)
    assert certainty(tile(own, "EW-V01")) == sure
    assert certainty(tile(own, "EW-V02")) == ("reconstructed", ("E3", "E11"), {})


def test_a_confidence_of_the_group_is_that_of_its_lines() -> None:
    lines = {"confidence": "single-source", "sources": ["box"], "items": [{"id": "EW-V01"}]}
    own = own_set({"victory_tiles": lines}, sources=BOX)
    assert certainty(tile(own, "EW-V01")) == ("single-source", ("box",), {})
    assert certainty(tile(own, "EW-V02")) == ("reconstructed", ("E3", "E11"), {})
    summary = next(group for group in own.summary() if group.name == "victory_tiles")
    assert (summary.reconstructed, summary.count) == (25, 26)
    assert summary.confidence == Confidence.RECONSTRUCTED


def test_doubts_within_a_piece_stay_until_that_value_is_named() -> None:
    def move(**values: Any) -> tuple[str, tuple[str, ...], dict[str, str]]:
        others = [{"id": "EW-B-CARGO", "count": 3}] if "count" in values else []
        items = [{"id": "EW-B-MOVE", **values}, *others]
        own = own_set({"bonus_tiles": {"items": items}})
        return certainty(own.bonus_tiles.items[0])

    assert (
        move()
        == move(kind="move")
        == ("verified", ("E2", "E4", "E12", "E13"), {"count": "reconstructed"})
    )
    assert move(points=1) == ("single-source", (), {"count": "reconstructed"})
    assert move(count=5) == ("single-source", (), {})


def test_a_disputed_value_stays_disputed_until_it_is_changed() -> None:
    def disputed(**values: str) -> MarketTile:
        own = own_set({"market_tiles": {"items": [{"id": "EW-GI2", **values}]}})
        return own.market_tiles.items[1]

    assert disputed(trade="B>YYYRR").alternative == "B>YYRR"
    assert disputed(trade="B>YYYRR").note == SHIPPED.market_tiles.items[1].note
    assert disputed(trade="B>YYRR").alternative == ""


def test_what_is_said_of_a_group_goes_with_the_last_of_its_values() -> None:
    tiles = [
        {"id": one.id, "cost": "BBBBB", "points": one.points}
        for one in SHIPPED.victory_tiles.items[:-1]
    ]
    most = own_set({"victory_tiles": {"items": tiles}})
    assert most.victory_tiles.note == SHIPPED.victory_tiles.note
    # The last one costs that already, so it has to be said of it.
    tiles.append({"id": "EW-V26", "confidence": "single-source"})
    every = own_set({"victory_tiles": {"items": tiles}})
    assert every.victory_tiles.note == ""
    (summary,) = (one for one in every.summary() if one.name == "victory_tiles")
    assert (summary.reconstructed, summary.confidence) == (0, Confidence.SINGLE_SOURCE)
    assert every.reconstructed  # bonus tiles


def test_a_file_without_changes_says_what_the_shipped_set_says() -> None:
    document = json.loads(SHIPPED.document)
    groups = {
        name: {
            "items": [
                {key: item[key] for key in item if key not in ("confidence", "sources", "unsure")}
                for item in document[name]["items"]
            ]
        }
        for name in GROUPS
        if name in document
    }
    own = own_set(groups)
    assert all(own.group(name) == SHIPPED.group(name) for name in GROUPS)
    assert own.summary() == SHIPPED.summary()


def test_remarks_are_read_past() -> None:
    remark: dict[str, Any] = {"//": ["what", {"ever": "\u0007"}]}
    line = {"id": "EW-V01", "points": 19, **remark}
    own = own_set({"victory_tiles": {"items": [line], **remark}, **remark})
    assert own == own_set({"victory_tiles": {"items": [{"id": "EW-V01", "points": 19}]}})
    assert b"//" not in own.document


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
        ({"market_tiles": {"from": "spice-road"}}, "market_tiles", "from"),
        ({"market_tiles": {"confidence": "sure"}}, "market_tiles", "sure"),
        (
            group("merchant_cards", id="M01", effect="+Y"),
            "merchant_cards",
            "eastern-wonders has none",
        ),
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


@pytest.mark.parametrize(
    ("groups", "place", "words"),
    [
        (group("merchant_cards", id="M01", effect=""), "items[0].effect", "written as +YYR"),
        (group("merchant_cards", id="M01", effect="YYR"), "items[0].effect", "written as +YYR"),
        (group("merchant_cards", id="M01", effect="+"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect="+X"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect="+Y>R"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect="+" + "Y" * 13), "items[0].effect", "at most 12"),
        (group("merchant_cards", id="M01", effect="upgrade"), "items[0].effect", "upgrade 9"),
        (group("merchant_cards", id="M01", effect="upgrade 0"), "items[0].effect", "upgrade 1"),
        (group("merchant_cards", id="M01", effect="upgrade 10"), "items[0].effect", "upgrade 9"),
        (group("merchant_cards", id="M01", effect="upgrade  2"), "items[0].effect", "upgrade 9"),
        (group("merchant_cards", id="M01", effect="Y>"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect=">Y"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect="Y>R>G"), "items[0].effect", "YRGB"),
        (group("merchant_cards", id="M01", effect="YR>YRG"), "items[0].effect", "never end"),
        (group("merchant_cards", id="M01", effect=3), "items[0].effect", "str"),
        (group("merchant_cards", id="M01", effect="+Y", count=2), "items[0]", "count"),
        (group("merchant_cards", id="M44", effect="+Y"), "items", "43 cards, not 44"),
        (group("merchant_cards", id="M44"), "items[0]", "effect"),
        (group("merchant_cards", id="m1", effect="+Y"), "items[0].id", "such as M07"),
        (group("merchant_cards", id="SR-M44", effect="+Y"), "items[0].id", "such as M07"),
        (group("merchant_cards", id="M1234", effect="+Y"), "items[0].id", "such as M07"),
        ({"merchant_cards": {"replace": True, "items": []}}, "items", "43 cards, not 0"),
        (group("starting_cards", id="S1", count=4), "items[0].count", "5 copies, not 4"),
        (group("starting_cards", id="S2", effect="upgrade two"), "items[0].effect", "written"),
        (group("starting_cards", id="S3", effect="+R", count=5), "items", "2 cards, not 3"),
        (group("starting_cards", id="START", effect="+R", count=5), "items[0].id", "such as M07"),
        (group("point_cards", id="P01", cost="YX"), "items[0].cost", "YRGB"),
        (group("point_cards", id="P01", points=100), "items[0].points", "0 to 99"),
        (group("point_cards", id="P37", cost="Y", points=1), "items", "36 pieces, not 37"),
        (group("point_cards", id="P-37", cost="Y", points=1), "items[0].id", "such as M07"),
        (group("point_cards", id="M01", cost="Y", points=1), "items[0].id", "stands twice"),
        (group("start_piles", id="SR-START6", cubes="Y"), "items", "5 piles, not 6"),
        (group("market_tiles", id="T1", symbol="tea", trade="Y>R"), "", "spice-road has none"),
    ],
)
def test_a_faulty_set_of_spice_road_is_refused(
    groups: dict[str, Any], place: str, words: str
) -> None:
    with pytest.raises(BadComponents) as caught:
        own_set(groups, game="spice-road")
    (name,) = groups
    assert caught.value.place == f"{name}.{place}".rstrip(".")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "place", "words"),
    [
        (
            group("bonus_tiles", id="EW-B-UPGRADE", kind="upgrade", points=2, count=4),
            "bonus_tiles.items[0].kind",
            "one of move, cargo, vp",
        ),
        (
            group("bonus_tiles", id="EW-B-MOVE", count=11),
            "bonus_tiles.items",
            "from 3 to 18 tiles in all, not 19",
        ),
        (
            group(
                "player_boards",
                id="SS-BOARD",
                rows=[
                    {"symbol": symbol, "values": [0, 1, 2, 2, 3]}
                    for symbol in ("cloves", "tea", "chili", "ginger")
                ],
            ),
            "player_boards.items[0].rows[0].values",
            "4 values, not 5",
        ),
        (group("point_cards", id="P01", cost="Y", points=1), "point_cards", "has none"),
        (group("market_tiles", id="EW-GI1", trade="Y>Y"), "market_tiles.items[0].trade", "end"),
        ({"maps": {"replace": True, "items": []}}, "maps.items", "no map 'first-game'"),
        ({"base": "spice-road"}, "base", "must be one of from-sand-to-sea, none"),
    ],
)
def test_a_faulty_set_of_from_sand_to_sea_is_refused(
    groups: dict[str, Any], place: str, words: str
) -> None:
    with pytest.raises(BadComponents) as caught:
        own_set(groups, game="from-sand-to-sea")
    assert caught.value.place == place
    assert words in str(caught.value)


def test_a_combined_game_takes_printed_values_of_its_parts_and_of_its_own() -> None:
    own = own_set(
        {
            "victory_tiles": {"items": [{"id": "EW-V01", "cost": "Y", "points": 1}]},
            "bonus_tiles": {"items": [{"id": "EW-B-MOVE", "count": 5}]},
            "merchant_cards": {"items": [{"id": "M01", "effect": "upgrade 9"}]},
        },
        game="from-sand-to-sea",
    )
    left = {one.name: one.reconstructed for one in own.summary() if one.reconstructed}
    assert left == {
        "victory_tiles": 25,
        "bonus_tiles": 8,
        "player_boards": 1,
        "start_piles": 4,
        "maps": 1,
    }
    assert own.merchant_cards.items[0].upgrades == 9
    assert own.reconstructed
    assert components.load(own.document, "from-sand-to-sea") == own


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
    for game in components.shipped_names():
        with suppress(BadComponents):
            found = components.load(data, game)
            assert components.load(found.document, game) == found


@given(st.binary(max_size=60))
def test_no_bytes_lead_to_anything_but_a_refusal(data: bytes) -> None:
    with pytest.raises(BadComponents):
        components.load(data, "eastern-wonders")


def test_the_example_of_the_docs_holds() -> None:
    page = Path(__file__).parents[2] / "docs" / "components.md"
    (example,) = re.findall(r"```json\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    own = components.load(example.encode(), "eastern-wonders")
    assert certainty(tile(own, "EW-V01")) == ("single-source", ("box",), {})
    assert certainty(tile(own, "EW-V02")) == ("single-source", ("box",), {})
    left = (f"{one.reconstructed} of {one.count} {one.name}" for one in own.summary())
    told = ", ".join(text for text in left if not text.startswith("0 "))
    assert f"`Still reconstructed: {told}.`" in page.read_text("utf-8")
