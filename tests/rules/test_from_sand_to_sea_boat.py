"""From Sand to Sea: steps paid with cards, sea tiles, markets, rewards of columns, ports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cards import CardTable, play_sand_to_sea

SIX_AROUND_C3 = {"B2", "B3", "C2", "C4", "D2", "D3"}
NEAR_C3 = {"C3": "YYY>B", "C4": "YY>RR", "D3": "ginger", "B3": "cloves"}


def at_c3(**more: Any) -> CardTable:
    """Red's boat at C3, and market tiles around it."""
    return play_sand_to_sea(**{"boats": {"red": "C3"}, "tiles": NEAR_C3, **more})


def about_to_empty(column: int, **more: Any) -> CardTable:
    """Red builds the last outpost of a column at C3 (YYY>B is chili or what it may be)."""
    table = at_c3()
    symbol = table.tile("C3").symbol
    rows = dict.fromkeys(("ginger", "chili", "tea", "cloves"), column)
    rows[symbol] = column - 1
    given = {"built": {"red": rows}, "row": "M01 M02 M03 M04", "deck": "M05 M06", **more}
    return at_c3(**given)


# -- steps ---------------------------------------------------------------------------------


@pytest.mark.clause("SS-12", "SS-R8")
def test_each_step_costs_a_card_the_first_too() -> None:
    table = at_c3(hands={"red": "S1 M07"}, played={"red": "S2"})
    assert table.red.may_move_to() == SIX_AROUND_C3
    assert table.red.cards_to("move") == "S1 M07 S2"
    with table.red.refused("card must be one of"):
        table.red.sails("C4")
    with table.red.refused("card must be one of"):
        table.red.sails("C4", away="M09")
    table.red.sails("C4", "C3", "D3", away="S2 M07 S1")
    assert table.red.boat == "D3"
    assert (table.red.hand, table.red.played, table.red.discard) == ("", "", "S2 M07 S1")
    assert table.red.may("move") is None
    table.red.confirms()
    assert table.red.discard == "S2 M07 S1"


@pytest.mark.clause("SS-12", "SS-R8")
def test_move_tiles_give_free_steps_also_without_a_card() -> None:
    table = at_c3(bonuses={"red": ("move", "move")}, hands={"red": "S1"})
    assert table.red.cards_to("move") == ""
    with table.red.refused("no card is chosen here"):
        table.red.sails("C4", away="S1")
    table.red.sails("C4")
    table.red.sails("C3")
    assert table.red.cards_to("move") == "S1"
    table.red.sails("C4", away="S1")
    assert table.red.may("move") is None
    table = at_c3(bonuses={"red": ("move",)}, hands={"red": ""})
    table.red.sails("C4")
    table.red.confirms()
    assert table.red.boat == "C4"
    assert table.red.discard == ""


@pytest.mark.clause("SS-17")
def test_no_harvest_and_no_cubes_are_dropped() -> None:
    table = at_c3(holds={"red": "YR"})
    assert "harvest" not in table.red.choices
    table.red.sails("C4", "D3", away="S1 S2")
    assert table.red.hold == "YR"
    assert not any(table.cubes_on(name) for name in ("C3", "C4", "D3"))
    assert "pick_up" not in table.red.choices


@pytest.mark.clause("SS-R1", "SS-R4", "SS-14")
def test_staying_pays_nobody_and_needs_the_tiles_action() -> None:
    table = at_c3(
        boats={"red": "C3", "blue": "C3"}, holds={"red": "YYYR"}, outposts={"C3": ("red",)}
    )
    assert not table.red.may_confirm
    table.red.trades(1)
    assert table.red.hold == "RB"
    assert table.red.discard == ""
    table.red.confirms()
    assert table.blue.hold == ""


@pytest.mark.clause("SS-14", "EW-R6")
def test_after_moving_the_action_is_optional() -> None:
    table = at_c3()
    table.red.sails("C4", away="S1")
    assert table.red.may_confirm
    table.red.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("SS-13", "EW-12")
def test_owners_of_boats_are_paid_where_the_movement_ends_on_a_market() -> None:
    table = at_c3(boats={"red": "C3", "blue": "C4", "green": "C4"}, holds={"red": "YRB"})
    table.red.sails("C4", away="S1")
    assert not table.red.may_confirm
    assert "build_outpost" not in table.red.choices
    table.red.pays(table.green, "B")
    assert table.red.may("move") is None
    table.red.pays(table.blue, "Y")
    assert (table.red.hold, table.blue.hold, table.green.hold) == ("R", "", "")
    table.red.confirms()
    assert (table.red.hold, table.blue.hold, table.green.hold) == ("R", "Y", "B")


@pytest.mark.clause("SS-13", "EW-12", "EW-R12")
def test_who_cannot_pay_may_only_pass_through() -> None:
    both = {"red": "C3", "blue": "C4", "green": "C4"}
    table = at_c3(boats=both, holds={"red": "Y"}, hands={"red": "S1"})
    assert table.red.may_move_to() == SIX_AROUND_C3 - {"C4"}
    table = at_c3(boats=both, holds={"red": "Y"}, hands={"red": "S1"}, played={"red": "S2"})
    table.red.sails("C4", away="S1")
    assert table.red.choices == {"move"}
    assert table.red.prompt is not None
    assert "move on" in table.red.prompt.label
    table.red.sails("D3", away="S2")
    assert table.red.hold == "Y"  # nobody is paid in passing
    assert table.red.may_confirm
    free = at_c3(boats=both, hands={"red": "S1"}, bonuses={"red": ("move",)})
    assert "C4" in free.red.may_move_to()


@pytest.mark.clause("SS-R8", "EW-R12")
def test_every_free_step_that_is_left_counts_for_passing_through() -> None:
    given = {"boats": {"red": "C3", "blue": "C4", "green": "C4"}, "hands": {"red": ""}}
    table = at_c3(**given, bonuses={"red": ("move",)})
    assert table.red.may_move_to() == SIX_AROUND_C3 - {"C4"}
    table = at_c3(**given, bonuses={"red": ("move", "move")})
    table.red.sails("C4")
    assert table.red.choices == {"move"}
    table.red.sails("D3")
    assert table.red.choices == {"build_outpost", "confirm"}


@pytest.mark.clause("SS-R2", "SS-13")
def test_sea_tiles_are_entered_and_crossed_without_payment_or_action() -> None:
    table = at_c3(
        tiles={"C3": "tea", "C4": "sea"},
        boats={"red": "C3", "blue": "C4"},
        holds={"red": "YYYY"},
    )
    table.red.sails("C4", away="S1")
    assert table.red.choices == {"move", "confirm"}
    assert table.red.hold == "YYYY"
    table.red.sails("C3", away="S2")
    table.red.undoes()
    table.red.confirms()
    assert table.red.boat == "C4"


@pytest.mark.clause("SS-13", "EW-R3")
def test_nothing_is_paid_at_ports_and_coming_back_counts_as_ending() -> None:
    table = at_c3(
        boats={"red": "D5", "blue": "E4", "green": "D5"},
        holds={"red": "Y"},
        tiles={"D5": "tea"},
    )
    table.red.sails("E4", away="S1")
    assert "pay_owner" not in table.red.choices
    table.red.sails("D5", away="S2")
    assert table.red.choices == {"pay_owner"}


# -- markets -------------------------------------------------------------------------------


@pytest.mark.clause("SS-14", "EW-15")
@pytest.mark.parametrize(("seats", "price"), [(2, 2), (3, 1)])
def test_building_costs_cubes_for_the_outposts_that_are_there(seats: int, price: int) -> None:
    table = at_c3(seats=seats, holds={"red": "YYYR"}, outposts={"C3": ("blue",)})
    choice = table.red.may("build_outpost")
    assert choice is not None
    assert choice.cubes is not None
    assert (choice.cubes.min, choice.cubes.max) == (price, price)
    symbol = table.tile("C3").symbol
    table.red.builds_outpost(at="C3", paying="YYYR"[-price:])
    assert table.red.built == {symbol: 1}
    assert table.red.may("move") is None


@pytest.mark.clause("SS-14", "EW-14", "EW-17", "EW-R6")
def test_build_then_trade_or_one_of_them() -> None:
    table = at_c3(holds={"red": "YYYYYY"})
    assert "trade" not in table.red.choices
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"trade", "confirm"}
    table.red.trades(2)
    assert table.red.hold == "BB"
    table.red.confirms()


@pytest.mark.clause("SS-04", "EW-15")
def test_a_full_row_takes_no_more() -> None:
    symbol = at_c3().tile("C3").symbol
    table = at_c3(built={"red": {symbol: 4}})
    assert "build_outpost" not in table.red.choices
    table = at_c3(built={"red": {symbol: 3}})
    assert "build_outpost" in table.red.choices


# -- rewards of columns --------------------------------------------------------------------


@pytest.mark.clause("SS-15", "SS-R3")
def test_the_first_column_brings_a_merchant_card_and_nothing_else() -> None:
    table = about_to_empty(1, holds={"red": "YYY"}, cubes={"M03": "RG"})
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"take_card"}
    assert table.red.prompt is not None
    assert table.red.prompt.label == "take a merchant card"
    assert table.red.cards_to("take_card") == "M01 M02 M03 M04"
    table.red.takes_card("M03")
    assert table.red.hold == "YYYRG"  # nothing was paid, the cubes came along
    assert table.red.hand == "S1 S2 M03"
    assert table.row == "M01 M02 M04"
    table.red.trades(1)  # taken before the trade
    table.red.confirms()
    assert table.row == "M01 M02 M04 M05"
    assert table.bonuses_left == {"move": 4, "cargo": 4, "vp": 4}


@pytest.mark.clause("SS-15")
@pytest.mark.parametrize("column", [2, 3, 4])
def test_other_columns_bring_a_bonus_tile_or_a_merchant_card(column: int) -> None:
    table = about_to_empty(column, holds={"red": "YYY"})
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"take_card", "take_bonus"}
    assert table.red.prompt is not None
    assert table.red.prompt.label == "take a bonus tile or a merchant card"
    table.red.takes_bonus("cargo")
    assert table.red.choices == {"trade", "confirm"}
    assert table.red.limit == 13
    table.red.undoes()
    table.red.takes_card("M04")
    assert table.red.choices == {"trade", "confirm"}
    assert table.red.bonuses == []


@pytest.mark.clause("SS-15")
def test_the_reward_is_of_the_kind_that_is_left_or_falls_away() -> None:
    gone = {"row": "", "deck": ""}
    tiles = {"blue": ("move",) * 4 + ("cargo",) * 4, "green": ("vp",) * 4}
    table = about_to_empty(1, **gone)
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"confirm"}
    table = about_to_empty(2, **gone)
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"take_bonus"}
    table = about_to_empty(2, bonuses=tiles)
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"take_card"}
    table = about_to_empty(3, bonuses=tiles, **gone)
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SS-15", "SS-17")
def test_cubes_of_a_free_card_count_for_the_limit_and_a_cargo_tile_counts_at_once() -> None:
    table = about_to_empty(1, holds={"red": "YYYYYYYYY"}, cubes={"M01": "BBB"})
    table.red.builds_outpost(at="C3")
    assert not table.red.may("return_cubes")
    table.red.takes_card("M01")
    assert not table.red.may_confirm
    table.red.returns("YY")
    assert table.red.choices == {"confirm"}
    table = about_to_empty(2, holds={"red": "YYYYYYYYYYYY"})
    table.red.builds_outpost(at="C3")
    table.red.takes_bonus("cargo")
    assert table.red.may_confirm  # 12 of 13


@pytest.mark.clause("SS-15", "SS-17", "SS-R9")
def test_cubes_are_returned_last_not_before_an_action_or_a_reward() -> None:
    table = about_to_empty(2, holds={"red": "Y" * 12}, options={"limit_checked": "own_turn"})
    assert "return_cubes" not in table.red.choices
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"take_bonus", "take_card"}
    table.red.takes_card("M01")
    assert table.red.choices == {"trade", "return_cubes"}
    table.red.returns("YY")
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SS-17", "EW-22", "EW-R8")
def test_cargo_tiles_add_three_spaces_each() -> None:
    table = play_sand_to_sea(
        hands={"red": "S1"}, holds={"red": "R" * 14}, bonuses={"red": ("cargo", "cargo")}
    )
    assert table.red.limit == 16
    table.red.plays("S1")
    assert table.red.may_confirm
    table = play_sand_to_sea(hands={"red": "M08"}, holds={"red": "R" * 9})
    table.red.plays("M08")
    assert table.red.choices == {"return_cubes"}
    table.red.returns("YYR")
    table.red.confirms()
    assert table.red.hold == "Y" * 2 + "R" * 8


@pytest.mark.clause("SS-17", "EW-22", "EW-R10", "EW-R11", "SS-R7")
def test_the_limit_holds_for_every_seat_at_the_end_of_any_turn() -> None:
    both = {"red": "C3", "blue": "C4", "green": "C4"}
    holds = {"red": "RR", "blue": "Y" * 10, "green": "Y" * 10}
    table = at_c3(boats=both, holds=holds)
    table.red.sails("C4", away="S1")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "R")
    table.red.confirms()
    assert table.asked == {"blue": "return_cubes", "green": "return_cubes"}
    table.green.returns("R")
    table.green.confirms()
    assert table.green.hold == "Y" * 10 + "R"  # together, when the last has answered
    table.blue.returns("Y")
    table.blue.confirms()
    assert (table.blue.hold, table.green.hold) == ("Y" * 9 + "R", "Y" * 10)
    assert table.asked == {"blue": "turn"}
    table = at_c3(boats=both, holds=holds, options={"limit_checked": "own_turn"})
    table.red.sails("C4", away="S1")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "R")
    table.red.confirms()
    assert table.asked == {"blue": "turn"}
    assert table.blue.choices >= {"play_card", "acquire_card"}
    table.blue.plays("S2")
    assert table.blue.choices == {"upgrade", "return_cubes"}


# -- ports ---------------------------------------------------------------------------------


@pytest.mark.clause("SS-14", "EW-18", "EW-19")
def test_a_port_gives_its_tile_for_its_cubes() -> None:
    table = play_sand_to_sea(
        boats={"red": "D5"},
        tiles={"D5": "tea"},
        holds={"red": "YYYBB"},
        ports={"E4": "YYYBB=11"},
        pile=("GGGG=12", "closed"),
    )
    table.red.sails("E4", away="S2")
    assert table.red.choices == {"move", "claim_tile", "confirm"}
    table.red.claims(at="E4")
    assert table.red.choices == {"confirm"}
    assert table.on_port("E4") == "to be drawn"
    assert table.red.claimed == [11]
    assert table.red.seen_by(table.blue).claimed_tiles == ()
    table.red.confirms()
    assert table.on_port("E4") == "GGGG=12"
