"""From Sand to Sea: what lies on the table at the start."""

from __future__ import annotations

from collections import Counter

import pytest

from tableturn_server.rules.game import BadOption
from tableturn_server.rules.views import TileKind
from tests.rules.cards import CardTable, play_sand_to_sea, set_out_sand_to_sea
from tests.rules.play import SEATS

SEEDS = [number.to_bytes(16, "big") for number in range(40)]
NAME = "from-sand-to-sea"
LINE = f"0 p{20 * 'm'}p / 3 p.......p"


def slots(table: CardTable) -> list[tuple[TileKind, str, str]]:
    """Kind, symbol and printed tile of each place."""
    islands = table.see().islands
    assert islands is not None
    return [(tile.kind, tile.symbol, tile.component) for tile in islands.tiles]


@pytest.mark.clause("SS-01")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_two_starting_cards_each_and_a_row_of_four(seats: int) -> None:
    rows = set()
    for seed in SEEDS:
        table = CardTable(NAME, seats, seed=seed)
        row = table.row.split()
        deck = [table.game.setting.components.merchant_cards.items[n].id for n in table.hidden.deck]
        assert len(row) == 4
        assert table.seat(1).merchants.deck == len(deck) == 39
        assert sorted([*row, *deck]) == [f"M{number:02}" for number in range(1, 44)]
        rows.add(table.row)
        assert {table.seat(n).hand for n in range(1, seats + 1)} == {"S1 S2"}
    assert len(rows) > 30


@pytest.mark.clause("SS-02", "EW-01")
def test_four_market_tiles_of_each_symbol_and_four_sea_tiles_fill_the_map() -> None:
    left_out: Counter[str] = Counter()
    seas: Counter[int] = Counter()
    for seed in SEEDS:
        table = CardTable(NAME, 3, seed=seed)
        found = slots(table)
        markets = [(symbol, tile) for kind, symbol, tile in found if kind == TileKind.MARKET]
        assert Counter(symbol for symbol, _ in markets) == dict.fromkeys(
            ("ginger", "chili", "tea", "cloves"), 4
        )
        assert len({tile for _, tile in markets}) == 16
        sea = [place for place, (kind, *_) in enumerate(found) if kind == TileKind.SEA]
        assert len(sea) == 4
        assert sum(kind == TileKind.PORT for kind, *_ in found) == 4
        seas.update(sea)
        printed = table.game.setting.components.market_tiles.items
        left_out.update({tile.id for tile in printed} - {tile for _, tile in markets})
    assert len(left_out) == 24  # any tile may stay in the box
    assert len(seas) == 20  # and the sea be anywhere but at a port


@pytest.mark.clause("SS-02", "EW-02", "EW-03", "EW-04")
def test_maps_are_those_of_eastern_wonders() -> None:
    first = set_out_sand_to_sea().see().islands
    assert first is not None
    ports = {tile.tile for tile in first.tiles if tile.kind == TileKind.PORT}
    assert ports == {"A1", "A4", "E1", "E4"}
    drawn = CardTable(NAME, 3, {"map": "random"}).see().islands
    assert drawn is not None
    assert {(t.q, t.r) for t in drawn.tiles} != {(t.q, t.r) for t in first.tiles}
    own = set_out_sand_to_sea(options={"map": "custom", "layout": LINE})
    assert [kind for kind, *_ in slots(own)].count(TileKind.SEA) == 4
    assert any("at least two others" in line for line in own.game.warnings(own.game.setting))
    with pytest.raises(BadOption, match="layout"):
        set_out_sand_to_sea(options={"map": "custom", "layout": "0 pm"})
    with pytest.raises(BadOption, match="map=custom"):
        set_out_sand_to_sea(options={"layout": "0 pm"})


@pytest.mark.clause("SS-03", "EW-05", "EW-06")
def test_victory_tiles_at_the_ports_and_three_kinds_of_bonus_tiles() -> None:
    table = set_out_sand_to_sea()
    see = table.see()
    assert see.harbour is not None
    assert see.harbour.pile == 23
    assert all(port.victory_tile for port in see.harbour.ports)
    assert [supply.kind.name for supply in see.bonuses] == ["MOVE", "CARGO", "VP"]
    assert see.bonuses[2].points == 6
    assert see.point_cards is None
    assert table.red.coins == (0, 0)


@pytest.mark.clause("SS-04")
def test_four_rows_of_four_outposts() -> None:
    rows = set_out_sand_to_sea().red.seen.outposts
    assert {row.symbol for row in rows} == {"ginger", "chili", "tea", "cloves"}
    assert [len(row.values) for row in rows] == [4, 4, 4, 4]


@pytest.mark.clause("SS-05", "SS-06", "EW-08")
def test_piles_and_boats_are_chosen_in_reverse_turn_order() -> None:
    table = set_out_sand_to_sea(options={"first_seat": "2"})
    assert table.asked == {"red": "start"}
    table.red.takes_pile("YG")
    with table.red.refused("take pile"):
        table.red.takes_pile("RR")
    table.red.places_boat("C3" if "C3" in table.red.may("place_boat").tiles else "C4")  # type: ignore[union-attr]
    table.red.confirms()
    assert table.asked == {"green": "start"}
    with table.green.refused("pile must be one of"):
        table.green.takes_pile("YG")
    for seat in (table.green, table.blue):
        seat.runs_out_of_time()
    assert table.asked == {"blue": "turn"}
    assert table.round == 1
    assert table.see().piles == ()
    assert table.blue.boat
    assert table.blue.hold


@pytest.mark.clause("SS-05", "SS-R2")
def test_boats_start_on_market_tiles_shared_or_not() -> None:
    for seed in SEEDS[:10]:
        table = CardTable(NAME, 2, {"first_seat": "1"}, seed=seed)
        islands = table.see().islands
        assert islands is not None
        markets = {tile.tile for tile in islands.tiles if tile.kind == TileKind.MARKET}
        table.blue.takes_pile("YYYY")
        offered = table.blue.may("place_boat")
        assert offered is not None
        assert set(offered.tiles) == markets
        assert len(markets) == 16
        sea = next(tile.tile for tile in islands.tiles if tile.kind == TileKind.SEA)
        with table.blue.refused("tile must be one of"):
            table.blue.places_boat(sea)
        there = offered.tiles[0]
        table.blue.places_boat(there)
        table.blue.confirms()
        table.red.takes_pile("RR")
        table.red.places_boat(there)
        table.red.confirms()
        assert table.red.hold == "RR"  # nothing is paid


@pytest.mark.clause("SS-06", "EW-07")
def test_the_first_player_is_drawn_or_chosen() -> None:
    firsts = {CardTable(NAME, 4, seed=seed).see().first_seat for seed in SEEDS}
    assert firsts == {1, 2, 3, 4}
    assert CardTable(NAME, 4, {"first_seat": "3"}).see().turn_order == (3, 4, 1, 2)


@pytest.mark.clause("SS-R7", "SR-16")
def test_hands_and_discard_piles_are_shown_to_their_owner_only() -> None:
    closed = {"hands": {"red": "S1 M05"}, "played": {"red": "S2"}, "discards": {"red": "M07 M08"}}
    table = play_sand_to_sea(**closed)  # type: ignore[arg-type]
    own, other, nobody = (table.red.seen_by(who) for who in (table.red, table.blue, None))
    assert [card.card for card in own.hand] == ["S1", "M05"]
    assert [card.card for card in own.discard] == ["M07", "M08"]
    for seen in (other, nobody):
        assert (seen.hand, seen.discard) == ((), ())
        assert (seen.hand_size, seen.discard_size) == (2, 2)
        assert [card.card for card in seen.played] == ["S2"]
    table = play_sand_to_sea(**closed, options={"open_hands": "on"})  # type: ignore[arg-type]
    seen = table.red.seen_by(table.blue)
    assert [card.card for card in seen.hand] == ["S1", "M05"]
    assert [card.card for card in seen.discard] == ["M07", "M08"]


def test_it_is_for_two_to_four() -> None:
    for seats in (1, 5):
        with pytest.raises(BadOption, match="2 to 4"):
            CardTable(NAME, seats)
    assert len(SEATS) > 4
