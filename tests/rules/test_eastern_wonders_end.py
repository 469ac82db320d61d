"""Eastern Wonders: the last round, points and ranks; defaults and seats that leave."""

from __future__ import annotations

import pytest

from tableturn_server.rules.choices import Illegal
from tests.rules.play import play, set_out

THREE = ("YYYBB=11", "GGGG=12", "RRGB=12")


# -- the end -------------------------------------------------------------------------------


@pytest.mark.clause("EW-30")
def test_the_fourth_victory_tile_makes_it_the_last_round() -> None:
    table = play(
        boats={"red": "A1"},
        holds={"red": "BBBBB"},
        ports={"A1": "BBBBB=20"},
        claimed={"red": THREE},
    )
    table.red.claims()
    assert not table.see(1).last_round
    table.red.confirms()
    assert table.events[-1] == "seat 1 took the 4th victory tile: the last round"
    assert table.see().last_round
    table.blue.harvests()
    table.blue.confirms()
    assert table.ended == ""
    table.green.confirms()
    assert table.ended == "completed"
    assert table.asked == {}
    assert table.events == ["the game is over"]


@pytest.mark.clause("EW-30")
def test_the_last_player_of_the_round_ends_the_game_with_that_turn() -> None:
    table = play(
        boats={"green": "A1"},
        holds={"green": "BBBBB"},
        ports={"A1": "BBBBB=20"},
        claimed={"green": THREE},
        turn="green",
    )
    table.green.claims()
    table.green.confirms()
    assert table.outcome is not None
    for seat in (table.red, table.blue, table.green):
        assert seat.choices == set()


@pytest.mark.clause("EW-30")
def test_a_fifth_tile_in_the_last_round_changes_nothing() -> None:
    table = play(
        boats={"red": "A1", "blue": "E1"},
        holds={"red": "BBBBB", "blue": "GGGGG"},
        ports={"A1": "BBBBB=20", "E1": "GGGGG=15"},
        claimed={"red": THREE, "blue": ("YRGB=12", "RRBB=12", "BBBB=16")},
    )
    table.red.claims()
    table.red.confirms()
    table.blue.claims()
    table.blue.confirms()
    assert not any("last round" in event for event in table.events)
    table.green.confirms()
    assert table.outcome is not None


@pytest.mark.clause("EW-22", "EW-30")
def test_the_limit_is_checked_at_the_end_of_the_last_turn_too() -> None:
    table = play(
        boats={"blue": "C3", "green": "C4"},
        holds={"blue": "R" * 10, "green": "B"},
        max_rounds="1",
        turn="green",
    )
    table.green.moves("C3")
    table.green.pays(table.blue, "B")
    table.green.confirms()
    assert table.ended == ""
    assert table.asked == {"blue": "return_cubes"}
    table.blue.returns("R")
    table.blue.confirms()
    assert table.outcome is not None
    assert table.blue.points["cubes"] == 10


@pytest.mark.clause("EW-31")
def test_points() -> None:
    table = play(
        holds={"red": "YYYRGB"},
        built={"red": {"ginger": 5, "tea": 3, "cloves": 1}},
        bonuses={"red": ("vp", "upgrade", "harvest", "cargo", "move")},
        claimed={"red": ("YYYBB=11", "BBBBB=20")},
        cubes={"C3": "BBBB"},  # cubes on tiles count for nobody
        max_rounds="1",
        turn="green",
    )
    table.green.confirms()
    assert table.red.points == {
        "victory point tiles": 31,
        "outposts": 8 + 3 + 0,
        "bonus tiles": 6 + 2 + 1,
        "cubes": 3,
    }
    assert table.outcome is not None
    assert table.outcome.results[0].points == 54


@pytest.mark.clause("EW-32")
def test_most_points_wins_and_in_a_tie_the_latest_turn() -> None:
    table = play(holds={"red": "RR", "blue": "RR", "green": "R"}, max_rounds="1")
    table.all_pass()
    assert table.ranking == ["blue", "red", "green"]
    assert table.outcome is not None
    assert [result.rank for result in table.outcome.results] == [1, 2, 3]
    # Green is the last in turn order here, but the first player is blue.
    table = play(first_seat="2", turn="blue", max_rounds="1")
    table.all_pass()
    assert table.ranking == ["red", "green", "blue"]


def test_a_cap_of_rounds_ends_the_game() -> None:
    table = play(max_rounds="2")
    table.all_pass(rounds=2)
    assert table.ended == "round_cap"
    assert table.events == ["the game is over: 2 rounds were played"]


# -- defaults ------------------------------------------------------------------------------


@pytest.mark.clause("DR-3", "EW-08")
def test_the_default_start_is_the_first_pile_and_tile() -> None:
    table = set_out(2)
    table.blue.runs_out_of_time()
    assert (table.blue.hold, table.blue.boat) == ("YYYY", "A2")


@pytest.mark.clause("DR-3")
def test_staged_steps_of_a_seat_that_runs_out_of_time_are_undone() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "YR"})
    table.red.moves("C4")
    table.red.pays(table.blue, "Y")
    table.red.runs_out_of_time()
    assert (table.red.boat, table.red.hold, table.blue.hold) == ("C3", "YR", "")
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("DR-3", "EW-R10")
def test_the_default_gives_away_the_lowest_cubes() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "Y", "blue": "R" * 5 + "B" * 6})
    table.red.moves("C4")
    table.red.pays(table.blue, "Y")
    table.red.confirms()
    table.blue.runs_out_of_time()
    assert table.blue.hold == "R" * 4 + "B" * 6
    table = play(holds={"red": "YR" + "B" * 10}, limit_checked="own_turn")
    table.red.runs_out_of_time()
    assert table.red.hold == "B" * 10


# -- seats that leave ----------------------------------------------------------------------


@pytest.mark.clause("DR-4")
def test_a_dropped_seat_is_skipped_and_its_boat_is_paid_nothing() -> None:
    table = play(
        boats={"red": "C3", "blue": "C4"},
        holds={"red": "YY", "blue": "GG"},
        outposts={"C4": ("blue",)},
        cubes={"C5": "B"},
    )
    table.blue.leaves()
    assert table.events == ["seat 2 left the game"]
    assert (table.blue.boat, table.blue.hold, table.blue.seen.dropped) == ("", "GG", True)
    table.red.moves("C4")
    assert table.red.may("pay_owner") is None
    table.red.builds_outpost(paying="Y")  # the outpost stays and counts
    table.red.confirms()
    assert table.asked == {"green": "turn"}
    assert table.cubes_on("C5") == "B"
    assert table.see().turn_order == (1, 3)
    table.green.confirms()
    assert table.asked == {"red": "turn"}


@pytest.mark.clause("DR-4")
def test_the_seat_at_turn_leaves() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "Y"})
    table.red.moves("C4")
    table.red.leaves()
    assert table.asked == {"blue": "turn"}
    assert table.see().first_seat == 2
    table.blue.confirms()
    table.green.confirms()
    assert (table.asked, table.round) == ({"blue": "turn"}, 2)


@pytest.mark.clause("DR-4")
def test_what_others_staged_stays_staged() -> None:
    table = play(boats={"red": "C3", "green": "C5"}, holds={"red": "Y"})
    table.red.moves("C4")
    table.green.leaves()
    table.red.moves("C5", dropping="Y")
    assert table.red.may_confirm


@pytest.mark.clause("DR-4", "EW-08")
def test_a_seat_leaves_during_the_start() -> None:
    table = set_out(4)
    table.white.runs_out_of_time()
    table.green.takes_pile("RR")
    table.green.leaves()
    assert table.asked == {"blue": "start"}
    choice = table.blue.may("take_pile")
    assert choice is not None
    assert len(choice.piles) == 3  # the pile that green had staged is back
    table.red.leaves()  # not asked yet
    table.blue.runs_out_of_time()
    assert table.asked == {"blue": "turn"}
    assert table.see().turn_order == (2, 4)


@pytest.mark.clause("DR-4", "EW-R10")
def test_a_seat_leaves_while_it_is_asked_to_return_cubes() -> None:
    table = play(
        boats={"red": "C3", "blue": "C4", "green": "C4"},
        holds={"red": "RG", "blue": "Y" * 10, "green": "B" * 10},
    )
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "G")
    table.red.confirms()
    table.green.returns("G")
    table.green.confirms()
    table.blue.leaves()
    assert table.events == ["seat 2 left the game", "seat 3 returned G to the supply"]
    assert table.green.hold == "B" * 10
    assert table.blue.hold == "Y" * 10 + "R"
    assert table.asked == {"green": "turn"}


@pytest.mark.clause("DR-4", "EW-22")
def test_a_seat_that_left_over_its_limit_is_asked_for_no_cubes() -> None:
    table = play(
        boats={"red": "C3", "blue": "C4", "green": "C4"},
        holds={"red": "RG", "blue": "Y" * 10, "green": "B" * 10},
    )
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.pays(table.green, "G")
    table.red.confirms()
    table.blue.leaves()
    assert table.asked == {"green": "return_cubes"}
    table.green.returns("G")
    table.green.confirms()
    # Each turn's end looks at the limits again, and blue still has what is too much.
    assert table.blue.hold == "Y" * 10 + "R"
    for name, next_one in (("green", "red"), ("red", "green")):
        assert table.asked == {name: "turn"}
        getattr(table, name).confirms()
        assert table.asked == {next_one: "turn"}
    assert table.blue.hold == "Y" * 10 + "R"


@pytest.mark.clause("DR-4", "EW-R10")
def test_the_seat_whose_turn_it_was_leaves_while_others_return_cubes() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "R", "blue": "Y" * 10})
    table.red.moves("C4")
    table.red.pays(table.blue, "R")
    table.red.confirms()
    table.red.leaves()
    assert table.asked == {"blue": "return_cubes"}
    table.blue.returns("Y")
    table.blue.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("DR-4", "EW-30")
@pytest.mark.parametrize("leaver", ["red", "green"])
def test_a_dropped_seat_never_moves_the_end(leaver: str) -> None:
    """Blue triggers; the round still ends after the last seat left in the order of the start."""
    table = play(
        seats=4,
        boats={"blue": "A1"},
        holds={"blue": "BBBBB"},
        ports={"A1": "BBBBB=20"},
        claimed={"blue": THREE},
        turn="blue",
    )
    table.blue.claims()
    table.blue.confirms()
    getattr(table, leaver).leaves()
    if leaver == "red":
        assert table.asked == {"green": "turn"}
        table.green.confirms()
    assert table.asked == {"white": "turn"}
    table.white.confirms()
    assert table.ended == "completed"


@pytest.mark.clause("DR-4", "EW-30")
def test_the_last_seat_of_the_last_round_leaves() -> None:
    table = play(
        boats={"blue": "A1"},
        holds={"blue": "BBBBB"},
        ports={"A1": "BBBBB=20"},
        claimed={"blue": THREE},
        turn="blue",
    )
    table.blue.claims()
    table.blue.confirms()
    table.green.leaves()
    assert table.ended == "completed"


@pytest.mark.clause("DR-4", "EW-30")
def test_the_end_stays_triggered_when_who_triggered_it_leaves() -> None:
    table = play(
        seats=4,
        boats={"red": "A1"},
        holds={"red": "BBBBB"},
        ports={"A1": "BBBBB=20"},
        claimed={"red": THREE},
    )
    table.red.claims()
    table.red.confirms()
    table.red.leaves()
    for seat in (table.blue, table.green, table.white):
        assert table.ended == ""
        seat.confirms()
    assert table.ranking == ["white", "green", "blue", "red"]


@pytest.mark.clause("DR-4")
def test_a_dropped_seat_keeps_its_points_and_ranks_behind_all_that_finished() -> None:
    table = play(holds={"red": "BBB", "blue": "B"}, claimed={"red": THREE}, max_rounds="1")
    table.red.leaves()
    table.blue.confirms()
    table.green.confirms()
    assert table.ranking == ["blue", "green", "red"]
    assert table.outcome is not None
    last = table.outcome.results[-1]
    assert (last.points, last.dropped, last.rank) == (38, True, 3)


@pytest.mark.clause("DR-4")
def test_the_last_seat_left_wins_and_with_none_the_game_is_abandoned() -> None:
    table = play(holds={"red": "B", "blue": "BB"})
    table.blue.leaves()
    table.red.leaves()
    assert table.ended == "last_seat"
    assert table.events[-1] == "seat 3 is the last one left and wins"
    assert table.ranking == ["green", "blue", "red"]
    table.green.leaves()
    assert table.ended == "abandoned"
    assert table.asked == {}


@pytest.mark.clause("DR-4")
def test_nobody_leaves_twice_or_after_the_end() -> None:
    table = play(max_rounds="1", turn="green")
    table.red.leaves()
    with pytest.raises(Illegal, match="has left already"):
        table.red.leaves()
    table.green.confirms()
    with pytest.raises(Illegal, match="the game is over"):
        table.blue.leaves()


@pytest.mark.clause("DR-4", "EW-15")
def test_prices_stay_those_of_the_number_of_players_at_the_start() -> None:
    table = play(boats={"red": "C3"}, holds={"red": "Y"}, outposts={"C3": ("blue",)})
    table.blue.leaves()
    table.red.builds_outpost(paying="Y")
    assert table.red.hold == ""


# -- words ---------------------------------------------------------------------------------


def test_a_confirmation_that_is_not_possible_says_what_is_missing() -> None:
    table = play(boats={"red": "C3", "blue": "C4"}, holds={"red": "YY"})
    table.red.moves("C4")
    with pytest.raises(Illegal, match="still to be done: pay seat 2"):
        table.red.confirms()
    with pytest.raises(Illegal, match="nothing is asked of this seat"):
        table.blue.confirms()
