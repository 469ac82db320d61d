"""Eastern Wonders: sailing, paying owners, and cubes on tiles."""

from __future__ import annotations

import pytest

from tests.rules.play import play

SIX_AROUND_C3 = {"B2", "B3", "C2", "C4", "D2", "D3"}


@pytest.mark.clause("EW-10")
def test_turns_go_clockwise_in_rounds() -> None:
    table = play(seats=3, turn="green")
    assert table.asked == {"green": "turn"}
    with table.red.refused("this seat is not asked"):
        table.red.harvests()
    table.green.harvests()
    table.green.confirms()
    assert table.round == 2
    assert table.asked == {"red": "turn"}
    table.red.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("EW-10", "EW-R6")
def test_a_turn_may_do_nothing() -> None:
    table = play()
    prompt = table.red.prompt
    assert prompt is not None
    assert (prompt.can_confirm, prompt.confirm_skips) == (True, True)
    table.red.moves("B2")
    prompt = table.red.prompt
    assert prompt is not None
    assert (prompt.can_confirm, prompt.confirm_skips) == (True, False)
    table.red.undoes()
    table.red.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("EW-10")
def test_one_action_a_turn() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YYYY"}, tiles={"C3": "YYY>B"})
    table.red.harvests()
    assert table.red.choices == {"confirm"}
    table.red.undoes()
    table.red.builds_outpost(at="C3")
    assert table.red.choices == {"trade", "confirm"}
    table.red.trades(1)
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("EW-11", "EW-R1")
def test_the_first_step_is_free_and_leaves_nothing() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YR"})
    assert table.red.may_move_to() == SIX_AROUND_C3
    with table.red.refused("no cube is chosen here"):
        table.red.moves("B3", dropping="Y")
    table.red.moves("B3")
    assert table.red.hold == "YR"
    assert table.cubes_on("C3") == ""


@pytest.mark.clause("EW-11")
def test_further_steps_drop_a_cube_of_choice_on_the_tile_that_is_left() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YRG"})
    table.red.moves("C4", "C5", "C6", dropping="RY")
    assert (table.cubes_on("C3"), table.cubes_on("C4"), table.cubes_on("C5")) == ("", "R", "Y")
    assert table.cubes_on("C6") == ""
    assert table.red.hold == "G"


@pytest.mark.clause("EW-11")
def test_a_paid_step_needs_a_cube_that_is_held() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "R"})
    table.red.moves("C4")
    with table.red.refused("cube must be one of red, not nothing"):
        table.red.moves("C5")
    with table.red.refused("cube must be one of red, not yellow"):
        table.red.moves("C5", dropping="Y")
    table.red.moves("C5", dropping="R")
    assert table.red.may("move") is None
    assert "move" not in table.red.choices


@pytest.mark.clause("EW-11")
def test_only_adjacent_tiles() -> None:
    table = play(boats={"red": "C3"})
    with table.red.refused("tile must be one of B2, B3, C2, C4, D2, D3, not C5"):
        table.red.moves("C5")
    with table.red.refused("not Z9"):
        table.red.moves("Z9")


@pytest.mark.clause("EW-21", "EW-R1", "EW-R8")
def test_each_move_tile_makes_one_more_step_free() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "Y"}, bonuses={"red": ("move", "move")})
    table.red.moves("C4", "C5", "C6")
    assert table.red.hold == "Y"
    table.red.moves("C5", dropping="Y")
    assert table.cubes_on("C6") == "Y"


@pytest.mark.clause("EW-12")
def test_each_owner_of_a_boat_gets_a_cube_where_the_movement_ends() -> None:
    table = play(
        boats={"red": "C3", "blue": "C4", "green": "C4"}, holds={"red": "YRB", "blue": "G"}
    )
    table.red.moves("C4")
    assert not table.red.may_confirm
    assert "harvest" not in table.red.choices
    table.red.pays(table.blue, "R")
    with table.red.refused("move is not possible now; possible now: `pay COLOUR to seat"):
        table.red.moves("C5", dropping="Y")  # the first payment ended the movement
    with table.red.refused("seat must be one of 3, not 2"):
        table.red.pays(table.blue, "Y")
    table.red.pays(table.green, "B")
    assert table.red.hold == "Y"
    table.red.harvests()
    table.red.confirms()
    assert (table.red.hold, table.blue.hold, table.green.hold) == ("YYY", "RG", "B")


@pytest.mark.clause("EW-12")
def test_passing_through_and_ports_cost_no_payment() -> None:
    table = play(boats={"red": "B3", "blue": "B2", "green": "A1"}, holds={"red": "Y"})
    table.red.moves("B2")
    assert table.red.choices == {"move", "pay_owner"}
    table.red.moves("A1", dropping="Y")
    assert table.red.may_confirm
    assert table.red.may("pay_owner") is None
    assert (table.blue.hold, table.green.hold) == ("", "")


@pytest.mark.clause("EW-12", "EW-R12")
def test_without_enough_cubes_for_all_owners_the_movement_may_not_end_there() -> None:
    table = play(boats={"red": "C3", "blue": "C4", "green": "C4"}, holds={"red": "Y"})
    table.red.moves("C4")
    # One cube for two boats: passage only.
    assert table.red.choices == {"move"}
    with table.red.refused("pay is not possible now; possible now: `move"):
        table.red.pays(table.blue, "Y")
    prompt = table.red.prompt
    assert prompt is not None
    assert prompt.label == "move on: the boats here can't be paid"
    table.red.moves("C5", dropping="Y")
    assert table.red.may_confirm


@pytest.mark.clause("EW-R12")
def test_a_step_from_which_no_legal_end_can_be_reached_is_not_offered() -> None:
    table = play(boats={"red": "C3", "blue": "C4", "green": "D3"}, holds={"red": ""})
    assert table.red.may_move_to() == SIX_AROUND_C3 - {"C4", "D3"}
    table = play(boats={"red": "C3", "blue": "C4", "green": "D3"}, holds={"red": "Y"})
    assert table.red.may_move_to() == SIX_AROUND_C3


@pytest.mark.clause("EW-R12")
def test_ability_to_pay_is_judged_by_the_cubes_left_on_arrival() -> None:
    # Two cubes and two boats; the step from C4 to C5 uses one up, so C5 is no end.
    table = play(
        seats=4,
        boats={"red": "C3", "blue": "C5", "green": "C5", "white": "D1"},
        holds={"red": "YY"},
    )
    table.red.moves("C4", "C5", dropping="Y")
    assert table.red.choices == {"move"}
    table.red.moves("C6", dropping="Y")
    assert table.red.may_confirm


@pytest.mark.clause("EW-R12")
def test_passage_through_a_row_of_boats() -> None:
    # From C1 everything around is taken; with one cube the boat passes one of them.
    table = play(
        seats=4,
        boats={"red": "C1", "blue": "B1", "green": "D1", "white": "C2"},
        holds={"red": ""},
    )
    assert table.red.may("move") is None
    assert table.red.may_confirm
    table = play(
        seats=4,
        boats={"red": "C1", "blue": "B1", "green": "D1", "white": "C2"},
        holds={"red": "R"},
    )
    table.red.moves("C2")
    assert table.red.choices == {"move", "pay_owner"}
    # With the last cube dropped, only tiles without boats are left.
    assert table.red.may_move_to() == {"B2", "C1", "C3", "D2"}


@pytest.mark.clause("EW-R12", "EW-21")
def test_free_steps_that_are_left_lead_on() -> None:
    table = play(
        boats={"red": "C1", "blue": "C2", "green": "C3"},
        holds={"red": ""},
        bonuses={"red": ("move",)},
    )
    table.red.moves("C2")
    assert table.red.choices == {"move"}
    assert "C3" not in table.red.may_move_to()
    table.red.moves("D1")
    assert table.red.may_confirm


@pytest.mark.clause("EW-13")
def test_cubes_where_the_movement_ended_may_be_taken() -> None:
    table = play(boats={"red": "C3"}, holds={"red": ""}, cubes={"C4": "YRRB"})
    table.red.moves("C4")
    with table.red.refused("pick up: choose 1 to 4 out of"):
        table.red.picks_up("G")
    table.red.picks_up("RB")
    assert (table.red.hold, table.cubes_on("C4")) == ("RB", "YR")
    assert table.red.may("move") is None  # the movement is over
    table.red.picks_up("Y")
    assert table.cubes_on("C4") == "R"


@pytest.mark.clause("EW-13")
def test_no_cubes_in_passing_and_none_after_the_action() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "Y"}, cubes={"C4": "R", "C5": "G"})
    table.red.moves("C4", "C5", dropping="Y")
    choice = table.red.may("pick_up")
    assert choice is not None
    assert choice.cubes is not None
    assert choice.cubes.available.letters == "G"
    table.red.harvests()
    assert table.red.may("pick_up") is None


@pytest.mark.clause("EW-13", "EW-12")
def test_cubes_on_the_tile_cannot_make_the_payments() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": ""}, cubes={"C4": "YYY"})
    assert "C4" not in table.red.may_move_to()
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "B"}, cubes={"C4": "YYY"})
    table.red.moves("C4")
    assert table.red.may("pick_up") is None
    table.red.pays(table.blue, "B")
    table.red.picks_up("YYY")
    assert table.red.hold == "YYY"


@pytest.mark.clause("EW-R2")
def test_without_a_step_nothing_is_paid_and_nothing_is_picked_up() -> None:
    table = play(boats={"red": "C3", "blue": "C3"}, holds={"red": "R"}, cubes={"C3": "Y"})
    assert table.red.may("pay_owner") is None
    assert table.red.may("pick_up") is None
    table.red.harvests()
    table.red.confirms()
    assert (table.blue.hold, table.cubes_on("C3")) == ("", "Y")


@pytest.mark.clause("EW-R2")
def test_the_option_to_pick_up_without_moving() -> None:
    table = play(boats={"red": "C3", "blue": "C3"}, cubes={"C3": "YG"}, stay_picks_up="on")
    table.red.picks_up("G")
    assert table.red.may("move") is None
    assert table.red.may("pay_owner") is None
    table.red.harvests()
    table.red.confirms()
    assert table.red.hold == "YYG"


@pytest.mark.clause("EW-R3")
def test_coming_back_to_the_start_tile_counts_as_ending_there() -> None:
    table = play(boats={"red": "C3", "blue": "C3"}, holds={"red": "YR"}, cubes={"C3": "B"})
    table.red.moves("C4", "C3", dropping="Y")
    table.red.pays(table.blue, "R")
    table.red.picks_up("B")
    table.red.confirms()
    assert (table.red.hold, table.blue.hold, table.red.boat) == ("B", "R", "C3")


@pytest.mark.clause("EW-R4")
def test_cubes_dropped_in_this_movement_may_be_taken_up_where_it_ends() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YRG"})
    table.red.moves("C4", "C5", "C4", dropping="YR")
    assert table.cubes_on("C4") == "Y"
    table.red.picks_up("Y")
    assert (table.red.hold, table.cubes_on("C5")) == ("YG", "R")


@pytest.mark.clause("EW-R5")
def test_cubes_dropped_on_ports_stay_there_and_can_be_taken() -> None:
    table = play(boats={"red": "B1", "blue": "A2"}, holds={"red": "G"})
    table.red.moves("A1", "B2", dropping="G")
    table.red.confirms()
    assert table.cubes_on("A1") == "G"
    table.blue.moves("A1")
    table.blue.picks_up("G")
    assert table.blue.hold == "G"


def test_undoing_is_replaying_all_but_the_last() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "YR"})
    table.red.moves("C4")
    before = table.red.position
    table.red.moves("C5", dropping="Y")
    table.red.undoes()
    assert table.red.position == before
