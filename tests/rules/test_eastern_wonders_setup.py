"""Eastern Wonders: what lies on the table at the start, and how it begins."""

from __future__ import annotations

from collections import Counter

import pytest

from tableturn_server.rules import catalog, components
from tableturn_server.rules.game import BadOption, Setting
from tableturn_server.rules.games.eastern_wonders import EasternWonders
from tableturn_server.rules.mechanics.harbour import CLOSED
from tableturn_server.rules.mechanics.islands import read_layout
from tableturn_server.rules.mechanics.position import Position, Secrets
from tableturn_server.rules.views import TileKind
from tests.rules.play import Table, set_out

SEEDS = [number.to_bytes(16, "big") for number in range(40)]
LONG = "0 mmmmmmmmmm / 1 mmmmmmmmmm / 0 pp......pp"
"""A map of one's own: two long columns, the ports beside them."""


def layout_of(table: Table) -> list[tuple[str, TileKind, str]]:
    islands = table.see().islands
    assert islands is not None
    return [(tile.tile, tile.kind, tile.symbol) for tile in islands.tiles]


@pytest.mark.clause("EW-01")
def test_one_tile_of_each_symbol_stays_in_the_box() -> None:
    left_out: Counter[str] = Counter()
    for seed in SEEDS:
        islands = Table("eastern-wonders", 3, seed=seed).see().islands
        assert islands is not None
        tiles = [tile for tile in islands.tiles if tile.kind == TileKind.MARKET]
        assert Counter(tile.symbol for tile in tiles) == dict.fromkeys(
            ("ginger", "chili", "tea", "cloves"), 5
        )
        assert len({tile.component for tile in tiles}) == 20
        every = {item.id for item in components.shipped("eastern-wonders").market_tiles.items}
        left_out.update(every - {tile.component for tile in tiles})
    assert len(left_out) > 20  # any of the 24 may be left out


@pytest.mark.clause("EW-02", "EW-04")
def test_the_first_game_map() -> None:
    table = set_out()
    names = [name for name, _, _ in layout_of(table)]
    assert names == [
        *("A1", "A2", "A3", "A4"),
        *("B1", "B2", "B3", "B4", "B5"),
        *("C1", "C2", "C3", "C4", "C5", "C6"),
        *("D1", "D2", "D3", "D4", "D5"),
        *("E1", "E2", "E3", "E4"),
    ]
    ports = [name for name, kind, _ in layout_of(table) if kind == TileKind.PORT]
    assert ports == ["A1", "A4", "E1", "E4"]


@pytest.mark.clause("EW-02")
@pytest.mark.parametrize(
    ("tile", "beside"),
    [
        ("A1", {"A2", "B1", "B2"}),
        ("A4", {"A3", "B4", "B5"}),
        ("C1", {"B1", "C2", "D1"}),
        ("C3", {"B2", "B3", "C2", "C4", "D2", "D3"}),
        ("E4", {"D4", "D5", "E3"}),
        ("E2", {"D2", "D3", "E1", "E3"}),
    ],
)
def test_what_touches_on_the_first_game_map(tile: str, beside: set[str]) -> None:
    shape = set_out().confirmed.islands.shape
    assert {shape.names[n] for n in shape.neighbours[shape.index[tile]]} == beside


@pytest.mark.clause("EW-02")
def test_the_slots_are_filled_at_random() -> None:
    fillings = {tuple(layout_of(Table("eastern-wonders", 3, seed=seed))) for seed in SEEDS}
    assert len(fillings) == len(SEEDS)


@pytest.mark.clause("EW-03", "EW-04")
def test_a_map_of_ones_own() -> None:
    table = set_out(map="custom", layout=LONG)
    kinds = Counter(kind for _, kind, _ in layout_of(table))
    assert kinds == {TileKind.MARKET: 20, TileKind.PORT: 4}
    ports = [name for name, kind, _ in layout_of(table) if kind == TileKind.PORT]
    assert ports == ["C1", "C2", "C3", "C4"]


@pytest.mark.clause("EW-03")
@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("", "1 to 24 columns"),
        ("2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmm", "not 20 and 3"),
        ("2 pmmp / 1 mmmmm / 0 mmmxmm / 1 mmmmm / 2 pmmp", "column C: a height and then m, p or ."),
        ("2 pmmp / 2 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp", "column B: must begin at an odd height"),
        ("0 mmmmmmmmmm / 41 mmmmmmmmmm / 0 pp......pp", "not connected to the rest of the map"),
        ("0 mmmmmmmmmm....pp / 1 mmmmmmmmmm / 0 pp", "touches no market slot"),
        ("0 ... / 1 mmmmm", "column A: has no tile"),
        ("0 " + "m" * 500, "at most 400 are read"),
    ],
)
def test_a_map_that_cannot_be_played_on(layout: str, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        set_out(map="custom", layout=layout)


@pytest.mark.clause("EW-03")
def test_a_layout_is_only_for_a_map_of_ones_own() -> None:
    with pytest.raises(BadOption, match="only used with map=custom"):
        set_out(layout=LONG)


@pytest.mark.clause("EW-03", "EW-04")
def test_a_map_with_a_lonely_tile_is_played_with_a_warning() -> None:
    def warnings(layout: str) -> tuple[str, ...]:
        options = {"map": "custom", "layout": layout}
        return EasternWonders.warnings(Setting(seats=3, options=options))

    # The market tiles at the ends of the column, A1 and A20, touch one other market tile each.
    straight = "0 mmmmmmmmmmmmmmmmmmmm / 1 p.p.....p.........p"
    (lonely,) = warnings(straight)
    assert lonely == "each tile should touch at least two others: A1, A20"
    assert "the ports should be spread out: C1 and C2 touch" in warnings(LONG)
    assert warnings("2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp") == ()
    assert EasternWonders.warnings(Setting(seats=3, options={"map": "random"})) == ()


@pytest.mark.clause("EW-03", "EW-04")
def test_random_maps_are_valid_and_come_from_the_seed() -> None:
    shapes = set()
    for seed in SEEDS:
        table = Table("eastern-wonders", 2, {"map": "random"}, seed)
        again = Table("eastern-wonders", 2, {"map": "random"}, seed)
        assert table.confirmed == again.confirmed
        shape = table.confirmed.islands.shape
        shapes.add(shape.text)
        options = {"map": "custom", "layout": shape.text}
        assert EasternWonders.warnings(Setting(seats=2, options=options)) == ()
        assert read_layout(shape.text) is read_layout(shape.text)
        for one in shape.ports:
            assert len(shape.neighbours[one]) >= 2
            assert all(shape.distances[one][other] >= 3 for other in shape.ports if other != one)
    assert len(shapes) == len(SEEDS)


@pytest.mark.clause("EW-05")
def test_victory_tiles_and_closed_port() -> None:
    at: Counter[int] = Counter()
    for seed in SEEDS * 5:
        game = catalog.bind("eastern-wonders", 4, {}, components.shipped("eastern-wonders"))
        position = game.setup(bytes(reversed(seed)))
        open, hidden = position.open, position.hidden
        assert isinstance(open, Position)
        assert isinstance(hidden, Secrets)
        assert sorted((*open.harbour.tiles, *hidden.pile)) == [CLOSED, *range(26)]
        assert len(open.harbour.tiles) == 4
        assert open.harbour.pile == len(hidden.pile) == 23
        at[hidden.pile.index(CLOSED)] += 1
    assert set(at) == {0, 1, 2, 3, 4, 5}


@pytest.mark.clause("EW-05")
def test_the_order_of_the_pile_is_in_no_view() -> None:
    table = set_out()
    harbour = table.see().harbour
    assert harbour is not None
    assert harbour.pile == 23
    assert sum(port.victory_tile is not None for port in harbour.ports) == 4
    hidden = set(Secrets.__struct_fields__)
    assert hidden == {"pile", "source", "deck", "point_deck"}
    assert not hidden & set(Position.__struct_fields__)


@pytest.mark.clause("EW-06")
def test_the_bonus_tiles() -> None:
    supply = {s.kind.name.lower(): (s.left, s.points) for s in set_out().see().bonuses}
    assert supply == {
        "move": (4, 0),
        "upgrade": (4, 2),
        "harvest": (4, 1),
        "cargo": (4, 0),
        "vp": (4, 6),
    }


@pytest.mark.clause("EW-07")
def test_boards_and_boats() -> None:
    for player in set_out(4).see().players:
        assert {row.symbol for row in player.outposts} == {"ginger", "chili", "tea", "cloves"}
        assert [row.values for row in player.outposts] == [(0, 1, 2, 2, 3)] * 4
        assert (player.boat, player.limit) == ("", 10)


@pytest.mark.clause("EW-07")
def test_the_first_player_is_drawn_or_chosen() -> None:
    firsts = {Table("eastern-wonders", 4, seed=seed).see().first_seat for seed in SEEDS}
    assert firsts == {1, 2, 3, 4}
    assert set_out(4, first_seat="3").see().turn_order == (3, 4, 1, 2)
    assert Table("eastern-wonders", 4).events[0].endswith("is the first player")
    with pytest.raises(BadOption, match="random or 1 to 3, not '4'"):
        set_out(3, first_seat="4")


@pytest.mark.clause("EW-08", "EW-10")
def test_piles_and_boats_in_reverse_turn_order() -> None:
    table = set_out(3, first_seat="2")  # blue, green, red
    assert table.asked == {"red": "start"}
    assert table.red.choices == {"take_pile"}
    table.red.takes_pile("RR")
    assert table.red.choices == {"place_boat"}
    table.red.places_boat("C3")
    assert table.red.choices == {"confirm"}
    table.red.confirms()
    assert table.asked == {"green": "start"}
    with table.green.refused("pile must be one of YYYY, YYR, YG, not RR"):
        table.green.takes_pile("RR")
    table.green.takes_pile("YG")
    table.green.places_boat("C3")  # shared, and nothing is paid
    table.green.confirms()
    assert (table.red.hold, table.green.hold) == ("RR", "YG")
    table.blue.takes_pile("YYYY")
    table.blue.places_boat("B2")
    assert len(table.see(2).piles) == 1
    table.blue.confirms()
    assert table.see().piles == ()  # the unused pile went back
    assert table.asked == {"blue": "turn"}
    assert table.round == 1


@pytest.mark.clause("EW-08")
def test_a_boat_begins_on_any_market_tile_but_no_port() -> None:
    table = set_out(2)
    table.blue.takes_pile("YYR")
    choice = table.blue.may("place_boat")
    assert choice is not None
    assert len(choice.tiles) == 20
    with table.blue.refused("tile must be one of"):
        table.blue.places_boat("A1")


@pytest.mark.clause("EW-08")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_four_piles_are_offered_at_every_player_count(seats: int) -> None:
    table = set_out(seats)
    choice = table.seat(seats).may("take_pile")
    assert choice is not None
    assert [pile.letters for pile in choice.piles] == ["YYYY", "YYR", "RR", "YG"]


@pytest.mark.parametrize("rounds", ["-1", "ten", "1.5", "²", "99999"])
def test_a_cap_of_rounds_is_a_number(rounds: str) -> None:
    with pytest.raises(BadOption, match="from 0 to 9999"):
        set_out(max_rounds=rounds)


def test_bad_seats_and_options_are_refused() -> None:
    with pytest.raises(BadOption, match="2 to 4 seats, not 5"):
        set_out(5)
    with pytest.raises(BadOption, match="no option 'mpa'"):
        set_out(mpa="random")
    with pytest.raises(BadOption, match="first-game, random, custom"):
        set_out(map="round")
