"""From Sand to Sea: the end, points, and seats that leave."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cards import CardTable, play_sand_to_sea, set_out_sand_to_sea
from tests.rules.play import SEATS

THREE = ("YYYBB=11", "YYGGG=11", "YRGB=12")


def about_to_end(seat: str = "red", **more: Any) -> CardTable:
    """A seat with three tiles lies at a port that it can pay."""
    claimed = {seat: THREE, **more.pop("claimed", {})}
    holds = {seat: "GGGG", **more.pop("holds", {})}
    given = {"boats": {seat: "E4"}, "ports": {"E4": "GGGG=12"}, "turn": seat, **more}
    return play_sand_to_sea(claimed=claimed, holds=holds, **given)


@pytest.mark.clause("SS-20", "EW-30")
def test_the_fourth_tile_finishes_the_round() -> None:
    table = about_to_end("red")
    table.red.claims(at="E4")
    table.red.confirms()
    assert "seat 1 took the 4th victory tile: the last round" in table.events
    assert table.see().last_round
    for seat in (table.blue, table.green):
        assert not table.ended
        seat.plays("S1")
        seat.confirms()
    assert table.ended == "completed"
    assert table.round == 1


@pytest.mark.clause("SS-20", "EW-30")
def test_nobody_has_another_turn_when_the_last_player_triggers_the_end() -> None:
    table = about_to_end("green")
    table.green.claims(at="E4")
    table.green.confirms()
    assert table.ended == "completed"
    assert table.prompts == ()


@pytest.mark.clause("SS-20")
def test_three_tiles_end_nothing() -> None:
    table = about_to_end("green", claimed={"green": THREE[:2]})
    table.green.claims(at="E4")
    table.green.confirms()
    assert not table.ended
    assert not table.see().last_round


@pytest.mark.clause("SS-20", "EW-31", "SS-R5", "SS-04")
def test_points_are_tiles_boards_bonus_tiles_and_cubes_but_not_cards() -> None:
    table = about_to_end(
        "green",
        holds={"green": "YYRBGGGG"},
        built={"green": {"tea": 4, "chili": 3}},
        bonuses={"green": ("vp", "vp", "move", "cargo")},
        hands={"green": "S1 S2 M01 M02 M03"},
        discards={"green": "M04"},
    )
    table.green.claims(at="E4")
    table.green.confirms()
    assert table.green.points == {
        "victory point tiles": 11 + 11 + 12 + 12,
        "outposts": (0 + 1 + 2 + 3) + (0 + 1 + 2),
        "bonus tiles": 6 + 5,
        "cubes": 2,
    }


@pytest.mark.clause("SS-20", "EW-32")
def test_a_tie_goes_to_the_latest_turn() -> None:
    table = about_to_end(
        "red",
        claimed={"red": THREE[:2], "blue": THREE[:2], "green": THREE},
        holds={"red": "RR", "blue": "RR", "green": "GGGG"},
        boats={"green": "E4"},
        turn="red",
    )
    table.red.plays("S2")
    table.red.confirms()
    table.blue.plays("S2")
    table.blue.confirms()
    table.green.claims(at="E4")
    table.green.confirms()
    results = {SEATS[r.seat - 1]: r.points for r in table.outcome.results}  # type: ignore[union-attr]
    assert results["red"] == results["blue"]
    assert table.ranking == ["green", "blue", "red"]


@pytest.mark.clause("SS-20", "SS-17")
def test_the_limit_holds_at_the_last_turn_too() -> None:
    table = about_to_end("green", holds={"green": "Y" * 10 + "GGGGR"})
    table.green.claims(at="E4")
    assert not table.green.may_confirm
    table.green.returns("Y")
    table.green.confirms()
    assert table.green.points["cubes"] == 1


@pytest.mark.clause("SS-20", "SS-17", "EW-22")
def test_who_was_paid_in_the_last_turn_is_held_to_the_limit() -> None:
    table = about_to_end(
        "red",
        boats={"red": "E4", "blue": "C4", "green": "C3"},
        tiles={"C3": "tea", "C4": "ginger"},
        holds={"blue": "Y" * 10, "green": "R"},
    )
    table.red.claims(at="E4")
    table.red.confirms()
    table.blue.plays("S2")
    table.blue.confirms()
    table.green.sails("C4", away="S1")
    table.green.pays(table.blue, "R")
    table.green.confirms()
    assert table.asked == {"blue": "return_cubes"}
    table.blue.returns("R")
    table.blue.confirms()
    assert table.ended == "completed"
    assert table.blue.points["cubes"] == 0


@pytest.mark.clause("SS-20", "EW-18")
def test_all_is_open_when_the_game_is_over() -> None:
    table = about_to_end("green")
    table.green.claims(at="E4")
    table.green.confirms()
    seen = table.green.seen_by(None)
    assert len(seen.claimed_tiles) == 4
    assert [card.card for card in seen.hand] == ["S1", "S2"]


@pytest.mark.clause("DR-2", "DR-4", "EW-R10")
def test_a_confirmed_return_of_a_seat_that_leaves_stands() -> None:
    table = play_sand_to_sea(
        seats=4,
        boats={"red": "C3", "blue": "C4", "green": "C4"},
        tiles={"C3": "tea", "C4": "tea"},
        holds={"red": "RR", "blue": "Y" * 10, "green": "Y" * 10},
    )
    table.red.sails("C4", away="S1")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "R")
    table.red.confirms()
    table.blue.returns("R")
    table.blue.confirms()
    table.blue.leaves()
    assert table.asked == {"green": "return_cubes"}
    table.green.returns("R")
    table.green.confirms()
    assert (table.blue.hold, table.green.hold) == ("Y" * 10, "Y" * 10)


@pytest.mark.clause("DR-4", "SS-15")
def test_a_seat_that_leaves_takes_its_boat_and_leaves_its_outposts() -> None:
    table = play_sand_to_sea(
        boats={"red": "C3", "blue": "C4"},
        tiles={"C3": "YYY>B", "C4": "tea"},
        outposts={"C4": ("blue",)},
        hands={"blue": "S1 M20"},
        holds={"red": "Y"},
        row="M01 M02 M03 M04",
        cubes={"M02": "R"},
    )
    table.blue.leaves()
    assert table.blue.boat == ""
    assert table.tile("C4").outposts == (2,)
    assert table.cubes_on_cards == {"M02": "R"}
    table.red.sails("C4", away="S1")
    assert "pay_owner" not in table.red.choices
    choice = table.red.may("build_outpost")
    assert choice is not None
    assert choice.cubes is not None
    assert choice.cubes.min == 1  # EW-15
    table.red.confirms()
    assert table.asked == {"green": "turn"}
    table.green.leaves()
    assert table.ended == "last_seat"
    assert table.ranking[0] == "red"


@pytest.mark.clause("DR-4", "EW-08")
def test_a_seat_that_leaves_while_boats_are_placed_is_passed_over() -> None:
    table = set_out_sand_to_sea(options={"first_seat": "1"})
    assert table.asked == {"green": "start"}
    table.green.leaves()
    assert table.asked == {"blue": "start"}
    table.blue.runs_out_of_time()
    table.red.runs_out_of_time()
    assert table.asked == {"red": "turn"}


@pytest.mark.clause("DR-2", "DR-4")
def test_what_a_seat_staged_is_undone_when_it_leaves() -> None:
    table = play_sand_to_sea(
        boats={"red": "C3"}, tiles={"C3": "tea"}, holds={"red": "YR"}, row="M01 M02 M03"
    )
    before = table.row
    table.red.acquires("M02", paying="Y")
    table.red.leaves()
    assert (table.row, table.cubes_on_cards) == (before, {})
    assert (table.red.hold, table.red.hand) == ("YR", "S1 S2")
    assert table.asked == {"blue": "turn"}
    table.blue.plays("S1")
    table.blue.confirms()
    assert table.asked == {"green": "turn"}
    table.green.plays("S1")
    table.green.confirms()
    assert table.asked == {"blue": "turn"}
    assert table.round == 2


@pytest.mark.clause("DR-4", "EW-R10", "SS-17")
def test_a_seat_that_leaves_is_asked_for_no_cubes() -> None:
    holds = {"red": "RR", "blue": "Y" * 10, "green": "Y" * 10}
    table = play_sand_to_sea(
        boats={"red": "C3", "blue": "C4", "green": "C4"},
        tiles={"C3": "tea", "C4": "ginger"},
        holds=holds,
    )
    table.red.sails("C4", away="S1")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "R")
    table.red.confirms()
    table.green.returns("R")
    table.green.confirms()
    table.blue.leaves()
    assert table.green.hold == "Y" * 10  # the last answer that was waited for
    assert table.asked == {"green": "turn"}
    table.green.plays("S2")
    table.green.confirms()
    assert table.asked == {"red": "turn"}
    assert table.blue.hold == "Y" * 10 + "R"


@pytest.mark.clause("DR-4", "SS-20")
def test_the_last_round_ends_with_the_last_seat_that_is_left() -> None:
    rows = dict.fromkeys(("ginger", "chili", "tea", "cloves"), 4)
    table = about_to_end(
        "red",
        holds={"green": "B" * 10},
        built={"green": rows},
        bonuses={"green": ("vp",) * 4},
    )
    table.red.claims(at="E4")
    table.red.confirms()
    table.green.leaves()
    assert table.asked == {"blue": "turn"}
    table.blue.plays("S1")
    table.blue.confirms()
    assert table.ended == "completed"
    assert sum(table.green.points.values()) > sum(table.red.points.values())
    assert table.ranking == ["red", "blue", "green"]  # who left is behind all others
    table = about_to_end("red")
    table.red.claims(at="E4")
    table.red.confirms()
    table.blue.plays("S1")
    table.blue.confirms()
    table.green.leaves()
    assert table.ended == "completed"
