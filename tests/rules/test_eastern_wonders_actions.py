"""Eastern Wonders: outposts, trade, ports, harvest, bonus tiles and the cargo limit."""

from __future__ import annotations

import pytest

from tests.rules.own_sets import own_set
from tests.rules.play import play

ALMOST = {"ginger": 1, "chili": 1, "tea": 1}
"""A board whose first column is emptied by an outpost for cloves."""


# -- market --------------------------------------------------------------------------------


@pytest.mark.clause("EW-14", "EW-15", "EW-R6")
def test_the_first_outpost_is_free_and_the_trade_may_follow() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YYYY"}, tiles={"C3": "YYY>B"})
    assert table.red.may("trade") is None
    table.red.builds_outpost(at="C3")
    assert table.red.hold == "YYYY"
    assert table.tile("C3").outposts == (1,)
    assert table.red.built == {"cloves": 1}
    table.red.trades(1)
    table.red.confirms()
    assert table.red.hold == "YB"


@pytest.mark.clause("EW-14", "EW-R6")
def test_trade_only_with_an_own_outpost() -> None:
    table = play(
        boats={"red": "C3", "blue": "B5"},
        holds={"red": "YYY"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("blue",)},
    )
    with table.red.refused("trade is not possible now"):
        table.red.trades(1)
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYY"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("red",)},
    )
    table.red.trades(1)
    table.red.confirms()
    assert table.red.hold == "B"


@pytest.mark.clause("EW-R6", "EW-14")
def test_build_only_and_never_build_after_trading() -> None:
    table = play(boats={"red": "C3"}, tiles={"C3": "YYY>B"}, holds={"red": "YYY"})
    table.red.builds_outpost()
    table.red.confirms()
    assert table.red.hold == "YYY"
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYY"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("red",)},
    )
    table.red.trades(1)
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("EW-10", "EW-14")
def test_one_trade_a_turn_though_there_are_cubes_for_another() -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYYYYY"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("red",)},
    )
    table.red.trades(1)
    assert table.red.choices == {"confirm"}
    with table.red.refused("trade is not possible now"):
        table.red.trades(1)
    assert table.red.hold == "YYYB"


@pytest.mark.clause("EW-10", "EW-20")
def test_no_trade_after_a_harvest_at_an_own_outpost() -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": "Y"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("red",)},
    )
    table.red.harvests()  # now there are cubes for a trade
    assert table.red.choices == {"confirm"}
    with table.red.refused("trade is not possible now"):
        table.red.trades(1)


@pytest.mark.clause("EW-15")
@pytest.mark.parametrize(("there", "price"), [((), 0), (("blue",), 1), (("blue", "green"), 2)])
def test_a_cube_for_each_outpost_already_there(there: tuple[str, ...], price: int) -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YRGB"}, outposts={"C3": there})
    choice = table.red.may("build_outpost")
    assert choice is not None
    assert choice.cubes is not None
    assert (choice.cubes.min, choice.cubes.max) == (price, price)
    table.red.builds_outpost(paying="GB"[:price])
    assert table.red.hold == {0: "YRGB", 1: "YRB", 2: "YR"}[price]
    assert table.tile("C3").outposts[-1] == 1


@pytest.mark.clause("EW-15")
def test_two_cubes_for_each_outpost_with_two_players() -> None:
    table = play(seats=2, boats={"red": "C3"}, holds={"red": "YRG"}, outposts={"C3": ("blue",)})
    with table.red.refused("choose 2 out of YRG, not Y"):
        table.red.builds_outpost(paying="Y")
    table.red.builds_outpost(paying="YR")
    assert table.red.hold == "G"


@pytest.mark.clause("EW-15")
def test_no_second_own_outpost_and_none_that_cannot_be_paid() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YYYY"}, outposts={"C3": ("red",)})
    assert table.red.may("build_outpost") is None
    table = play(boats={"red": "C3"}, holds={"red": "Y"}, outposts={"C3": ("blue", "green")})
    assert table.red.may("build_outpost") is None
    with table.red.refused("build is not possible now"):
        table.red.builds_outpost(paying="Y")


@pytest.mark.clause("EW-15")
def test_the_leftmost_outpost_of_the_row_of_the_symbol() -> None:
    table = play(boats={"red": "C3"}, tiles={"C3": "tea"}, built={"red": {"tea": 2, "chili": 4}})
    table.red.builds_outpost()
    assert table.red.built == {"tea": 3, "chili": 4}


@pytest.mark.clause("EW-15")
def test_no_outposts_at_ports() -> None:
    table = play(boats={"red": "A1"}, holds={"red": "Y"})
    assert table.red.may("build_outpost") is None


@pytest.mark.clause("EW-16", "EW-06")
def test_an_emptied_column_gives_a_bonus_tile_which_must_be_taken() -> None:
    table = play(
        boats={"red": "C3"}, tiles={"C3": "cloves"}, holds={"red": "YYYYY"}, built={"red": ALMOST}
    )
    table.red.builds_outpost()
    assert table.red.choices == {"take_bonus"}
    prompt = table.red.prompt
    assert prompt is not None
    assert prompt.label == "take a bonus tile"
    table.red.takes_bonus("vp")
    assert table.red.bonuses == ["vp"]
    assert table.red.seen.bonuses[0].points == 6
    assert table.bonuses_left == {"move": 4, "upgrade": 4, "harvest": 4, "cargo": 4, "vp": 3}
    assert table.red.may("take_bonus") is None
    table.red.confirms()
    assert table.blue.seen_by(table.blue).bonuses == ()
    assert table.red.seen_by(table.blue).bonuses[0].points == 6  # it lies open


@pytest.mark.clause("EW-16")
def test_a_column_that_is_not_empty_gives_nothing() -> None:
    table = play(
        boats={"red": "C3"},
        tiles={"C3": "cloves"},
        built={"red": {"ginger": 1, "chili": 1, "cloves": 1}},
    )
    table.red.builds_outpost()
    assert "take_bonus" not in table.red.choices


@pytest.mark.clause("EW-06", "EW-16")
def test_the_vp_pile_is_taken_from_the_top() -> None:
    table = play(
        boats={"red": "C3"},
        tiles={"C3": "cloves"},
        built={"red": ALMOST},
        bonuses={"blue": ("vp", "vp", "vp")},
    )
    table.red.builds_outpost()
    table.red.takes_bonus("vp")
    assert table.red.seen.bonuses[0].points == 3
    assert "vp" not in table.bonuses_left


@pytest.mark.clause("EW-16")
def test_with_no_bonus_tile_left_there_is_nothing_to_take() -> None:
    every = dict.fromkeys(("move", "upgrade", "harvest", "cargo", "vp"), 4)
    table = play(
        boats={"red": "C3"},
        tiles={"C3": "cloves"},
        built={"red": ALMOST},
        bonuses={"blue": tuple(kind for kind, count in every.items() for _ in range(count))},
    )
    table.red.builds_outpost()
    assert table.red.may_confirm
    table.red.confirms()


@pytest.mark.clause("EW-17")
@pytest.mark.parametrize(
    ("trade", "hold", "most", "after"),
    [
        ("YYY>B", "YYYYYYY", 2, "YBB"),
        ("YR>B", "YYRRR", 2, "RBB"),
        ("R>YYY", "RR", 2, "YYYYYY"),
        ("GG>RRB", "GGGGG", 2, "RRRRGBB"),
        ("YYYY>GB", "YYYYYYYY", 2, "GGBB"),
    ],
)
def test_trade_as_often_as_the_cubes_allow(trade: str, hold: str, most: int, after: str) -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": hold},
        tiles={"C3": trade},
        outposts={"C3": ("red",)},
    )
    choice = table.red.may("trade")
    assert choice is not None
    assert choice.count is not None
    assert (choice.count.min, choice.count.max) == (1, most)
    with table.red.refused(f"count must be from 1 to {most}, not {most + 1}"):
        table.red.trades(most + 1)
    table.red.trades(most)
    assert table.red.hold == after


@pytest.mark.clause("EW-17")
def test_each_exchange_is_paid_from_the_cubes_held_at_that_moment() -> None:
    # The red cube that each exchange takes comes back from the one before.
    own = own_set({"market_tiles": {"items": [{"id": "EW-CL2", "trade": "YYR>RB"}]}})
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYYYYYR"},
        tiles={"C3": "YYR>RB"},
        outposts={"C3": ("red",)},
        own=own,
    )
    choice = table.red.may("trade")
    assert choice is not None
    assert choice.count is not None
    assert choice.count.max == 3
    table.red.trades(3)
    assert table.red.hold == "RBBB"


@pytest.mark.clause("EW-R7")
def test_cubes_just_picked_up_may_pay_the_outpost() -> None:
    table = play(boats={"red": "C2"}, outposts={"C3": ("blue",)}, cubes={"C3": "R"})
    table.red.moves("C3")
    assert table.red.may("build_outpost") is None
    table.red.picks_up("R")
    table.red.builds_outpost(at="C3", paying="R")
    assert table.red.hold == ""


@pytest.mark.clause("EW-R7", "EW-21")
def test_upgrades_come_after_the_column_bonus_and_before_the_trade() -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYYY"},
        tiles={"C3": "YR>B"},
        built={"red": ALMOST},
        bonuses={"red": ("upgrade",)},
    )
    table.red.builds_outpost()
    assert table.red.choices == {"take_bonus"}
    table.red.takes_bonus("upgrade")
    assert table.red.choices == {"upgrade", "confirm"}
    table.red.upgrades("Y")
    assert table.red.hold == "YYYR"
    # The tile won by this very build does not count yet: one upgrade only.
    assert table.red.choices == {"trade", "confirm"}
    table.red.trades(1)
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("EW-21", "EW-R7", "EW-R8")
def test_one_upgrade_for_each_upgrade_tile_and_only_right_after_building() -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": "YYY"},
        tiles={"C3": "YYY>B"},
        bonuses={"red": ("upgrade", "upgrade")},
    )
    assert table.red.may("upgrade") is None
    table.red.builds_outpost()
    table.red.upgrades("Y")
    table.red.upgrades("R")  # the same cube again: one tile, one cube
    assert table.red.hold == "YYG"
    assert table.red.may("upgrade") is None
    table.red.undoes()
    table.red.undoes()
    table.red.trades(1)
    assert table.red.may("upgrade") is None  # too late


@pytest.mark.clause("EW-21")
def test_brown_cannot_be_upgraded_and_harvesting_gives_no_upgrade() -> None:
    table = play(
        boats={"red": "C3"},
        holds={"red": "B"},
        tiles={"C3": "YYY>B"},
        bonuses={"red": ("upgrade",)},
    )
    table.red.builds_outpost()
    assert table.red.may("upgrade") is None
    with table.red.refused("upgrade is not possible now"):
        table.red.upgrades("B")
    table = play(holds={"red": "Y"}, bonuses={"red": ("upgrade",)})
    table.red.harvests()
    assert table.red.may("upgrade") is None


@pytest.mark.clause("EW-R7", "EW-R8", "EW-21")
def test_a_new_cargo_tile_counts_at_once_and_cargo_tiles_add_up() -> None:
    table = play(
        boats={"red": "C3"},
        tiles={"C3": "cloves"},
        holds={"red": "R" * 16},
        built={"red": ALMOST},
        bonuses={"red": ("cargo",)},
    )
    assert table.red.limit == 13
    table.red.builds_outpost()
    table.red.takes_bonus("cargo")
    assert table.red.limit == 16
    table.red.confirms()
    assert table.red.hold == "R" * 16


# -- port ----------------------------------------------------------------------------------


@pytest.mark.clause("EW-18")
def test_a_victory_tile_is_paid_exactly_and_the_next_is_drawn() -> None:
    table = play(
        boats={"red": "B1"},
        holds={"red": "YYYYRBB"},
        ports={"A1": "YYYBB=11"},
        pile=("YYYRGB=14", "GGGG=12"),
    )
    table.red.moves("A1")
    table.red.claims(at="A1")
    assert table.red.hold == "YR"
    assert table.red.claimed == [11]
    assert table.on_port("A1") == "to be drawn"
    assert table.red.choices == {"confirm"}  # one tile a turn (EW-R9)
    table.red.confirms()
    assert table.on_port("A1") == "YYYRGB=14"
    assert table.events == ["a victory point tile worth 14 (YYYRGB) is drawn for port A1"]
    harbour = table.see().harbour
    assert harbour is not None
    assert harbour.pile == 1


@pytest.mark.clause("EW-18")
def test_a_claim_needs_the_cubes_and_a_boat_on_the_port() -> None:
    table = play(boats={"red": "B1"}, holds={"red": "YYYBB"}, ports={"A1": "YYYBB=11"})
    with table.red.refused("claim is not possible now"):
        table.red.claims()
    table = play(boats={"red": "A1"}, holds={"red": "YYYB"}, ports={"A1": "YYYBB=11"})
    with table.red.refused("possible now: `move TILE .*`, `harvest`, confirm"):
        table.red.claims()


@pytest.mark.clause("EW-18")
def test_the_value_of_a_taken_tile_is_private_until_the_end() -> None:
    table = play(claimed={"red": ("YYYBB=11", "GGGG=12")}, max_rounds="1", turn="green")
    assert table.red.claimed == [11, 12]
    for viewer in (table.blue, None):
        seen = table.red.seen_by(viewer)
        assert (seen.claimed, seen.claimed_tiles) == (2, ())
    table.green.confirms()
    assert table.outcome is not None
    assert [tile.points for tile in table.red.seen_by(None).claimed_tiles] == [11, 12]


@pytest.mark.clause("EW-18")
def test_staging_a_claim_shows_nothing_of_the_pile() -> None:
    views = []
    for pile in (("YYYRGB=14", "GGGG=12"), ("closed", "BBBB=16")):
        table = play(
            boats={"red": "A1"}, holds={"red": "YYYBB"}, ports={"A1": "YYYBB=11"}, pile=pile
        )
        table.red.claims()
        views.append((table.see(1), table.see(2), table.red.choices, table.red.prompt))
    assert views[0] == views[1]


@pytest.mark.clause("EW-R9", "EW-18")
def test_an_empty_pile_leaves_the_port_empty() -> None:
    table = play(boats={"red": "A1"}, holds={"red": "YYYBB"}, ports={"A1": "YYYBB=11"}, pile=())
    table.red.claims()
    table.red.confirms()
    assert table.on_port("A1") == "empty"
    assert table.events == ["the pile of victory point tiles is empty: port A1 stays empty"]
    table.blue.confirms()
    table.green.confirms()
    assert table.red.may("claim_tile") is None


@pytest.mark.clause("EW-19")
def test_closed_port_is_drawn_and_moves_at_the_next_claim_elsewhere() -> None:
    table = play(
        boats={"red": "A1", "blue": "E1"},
        holds={"red": "YYYBB", "blue": "GGGGG"},
        ports={"A1": "YYYBB=11", "E1": "GGGGG=15"},
        pile=("closed", "BBBB=16", "YRGB=12"),
    )
    table.red.claims()
    table.red.confirms()
    assert table.on_port("A1") == "closed"
    assert table.events == ["Closed Port is drawn for port A1"]
    table.blue.claims(at="E1")
    assert table.on_port("E1") == "to be drawn"
    table.blue.confirms()
    assert (table.on_port("E1"), table.on_port("A1")) == ("closed", "BBBB=16")
    assert table.events == [
        "Closed Port moves to port E1",
        "a victory point tile worth 16 (BBBB) is drawn for port A1",
    ]


@pytest.mark.clause("EW-19")
def test_nothing_is_claimed_at_a_closed_port() -> None:
    table = play(boats={"red": "A1"}, holds={"red": "YYYBBGGGGG"}, ports={"A1": "closed"})
    assert table.red.may("claim_tile") is None
    table.red.harvests()  # all else is allowed there


@pytest.mark.clause("EW-19")
def test_with_an_empty_pile_closed_port_still_moves() -> None:
    table = play(
        boats={"red": "E1"},
        holds={"red": "GGGGG"},
        ports={"A1": "closed", "E1": "GGGGG=15"},
        pile=(),
    )
    table.red.claims()
    table.red.confirms()
    assert (table.on_port("A1"), table.on_port("E1")) == ("empty", "closed")


# -- harvest and limit ---------------------------------------------------------------------


@pytest.mark.clause("EW-20")
@pytest.mark.parametrize("tile", ["C3", "A1"])
def test_two_yellow_cubes_on_any_tile(tile: str) -> None:
    table = play(boats={"red": tile}, ports={"A1": "BBBBB=20"})
    table.red.harvests()
    table.red.confirms()
    assert table.red.hold == "YY"


@pytest.mark.clause("EW-21", "EW-R8")
def test_harvest_tiles_add_a_red_cube_each() -> None:
    table = play(bonuses={"red": ("harvest", "harvest")})
    table.red.harvests()
    assert table.red.hold == "YYRR"


@pytest.mark.clause("EW-22")
def test_over_the_limit_at_the_end_of_the_own_turn() -> None:
    table = play(holds={"red": "YYYYYRRRR"})
    table.red.harvests()
    assert table.red.choices == {"return_cubes"}
    prompt = table.red.prompt
    assert prompt is not None
    assert prompt.label == "return 1 cube"
    with table.red.refused("choose 1 out of .*, not YR"):
        table.red.returns("YR")
    table.red.returns("R")
    assert table.red.choices == {"confirm"}  # it closed the turn
    table.red.confirms()
    assert table.red.hold == "YYYYYYYRRR"


@pytest.mark.clause("EW-22")
def test_returning_closes_the_turn() -> None:
    # Above the limit from before (own_turn): returning at once leaves no action.
    table = play(holds={"red": "Y" * 11}, limit_checked="own_turn")
    assert {"return_cubes", "harvest", "move"} <= table.red.choices
    assert not table.red.may_confirm
    table.red.returns("Y")
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("EW-22", "EW-R10")
def test_a_paid_owner_above_the_limit_returns_cubes_before_the_next_turn() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "R", "blue": "Y" * 10})
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.confirms()
    assert table.asked == {"blue": "return_cubes"}
    assert table.blue.choices == {"return_cubes"}
    with table.green.refused("this seat is not asked"):
        table.green.harvests()
    table.blue.returns("Y")
    assert table.blue.may_confirm
    table.blue.confirms()
    assert table.events == ["seat 2 returned Y to the supply"]
    assert table.blue.hold == "Y" * 9 + "R"
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("EW-R10")
@pytest.mark.parametrize("order", [("blue", "green"), ("green", "blue")])
def test_discards_are_answered_in_any_order_and_applied_together(order: tuple[str, str]) -> None:
    table = play(
        boats={"red": "C3", "blue": "C4", "green": "C4"},
        holds={"red": "RG", "blue": "Y" * 10, "green": "B" * 10},
    )
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "G")
    table.red.confirms()
    assert table.asked == {"blue": "return_cubes", "green": "return_cubes"}
    answers = {"blue": "R", "green": "B"}
    early, late = getattr(table, order[0]), getattr(table, order[1])
    late.returns(answers[order[1]])  # staged, while the other one confirms
    early.returns(answers[order[0]])
    early.confirms()
    assert table.asked == {order[1]: "return_cubes"}
    assert table.events == []
    assert (table.blue.hold, table.green.hold) == ("Y" * 10 + "R", "G" + "B" * 10)  # not applied
    with early.refused("this seat is not asked"):
        early.returns("Y")
    late.undoes()
    late.returns(answers[order[1]])
    late.confirms()
    assert table.events == ["seat 2 returned R to the supply", "seat 3 returned B to the supply"]
    assert (table.blue.hold, table.green.hold) == ("Y" * 10, "G" + "B" * 9)
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("EW-R10")
def test_discards_are_applied_in_turn_order_whoever_is_the_first_player() -> None:
    table = play(
        seats=4,
        boats={"green": "C3", "red": "C4", "white": "C4"},
        holds={"green": "RG", "red": "Y" * 10, "white": "B" * 10},
        first_seat="3",
        turn="green",
    )
    assert table.see().turn_order == (3, 4, 1, 2)
    table.green.moves("C4")
    table.green.pays(table.red, "R")
    table.green.pays(table.white, "G")
    table.green.confirms()
    assert list(table.asked) == ["red", "white"]  # in seat order
    for seat, letter in ((table.red, "R"), (table.white, "B")):
        seat.returns(letter)
        seat.confirms()
    assert table.events == ["seat 4 returned B to the supply", "seat 1 returned R to the supply"]
    assert table.asked == {"white": "turn"}


@pytest.mark.clause("EW-R11")
def test_with_own_turn_the_others_are_not_checked() -> None:
    table = play(
        boats={"red": "C3", "blue": "C4"},
        holds={"red": "R", "blue": "Y" * 10},
        limit_checked="own_turn",
    )
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.confirms()
    assert table.asked == {"blue": "turn"}
    assert "confirm" not in table.blue.choices
    table.blue.moves("C5", "C6", dropping="Y")  # spent in time
    assert "confirm" in table.blue.choices
    assert table.blue.hold == "Y" * 9 + "R"


@pytest.mark.clause("EW-22")
def test_a_cargo_tile_adds_three_spaces() -> None:
    table = play(holds={"red": "R" * 11}, bonuses={"red": ("cargo",)})
    assert table.red.limit == 13
    table.red.harvests()
    table.red.confirms()
    assert table.red.hold == "YY" + "R" * 11
