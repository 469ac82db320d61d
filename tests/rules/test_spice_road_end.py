"""Spice Road: the last round, points and ranks; defaults and seats that leave."""

from __future__ import annotations

import pytest

from tableturn_server.rules.choices import Illegal
from tests.rules.cards import CardTable, play_spice_road, set_out_spice_road

CARDS = ("P01", "P02", "P03", "P04", "P05")
"""Claimed before, as far as they are needed."""
NEEDED = {2: 6, 3: 6, 4: 5, 5: 5}
"""The number of point cards that ends the game, by players."""
COLORS = ("red", "blue", "green", "white", "black")


def before_the_last(seats: int, *names: str, **more: object) -> CardTable:
    """These seats lack one point card, and could claim P36 or P29; the first of them is at turn."""
    cards = " ".join(CARDS[: NEEDED[seats] - 1])
    situation: dict[str, object] = {
        "holds": dict.fromkeys(names, "BBBBB"),
        "claimed": dict.fromkeys(names, cards),
        "points": "P30 P31 P36 P29",
        "turn": names[0],
        **more,
    }
    return play_spice_road(seats, **situation)  # type: ignore[arg-type]


def plays_on(table: CardTable, name: str) -> None:
    """A turn that changes nothing of the end."""
    assert table.asked == {name: "turn"}
    seat = getattr(table, name)
    seat.plays("S1")
    seat.confirms()


# -- the end -------------------------------------------------------------------------------


@pytest.mark.clause("SR-20")
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_last_card_makes_it_the_last_round(seats: int) -> None:
    table = before_the_last(seats, "red")
    table.red.claims_card("P36")
    assert not table.see(1).last_round
    table.red.confirms()
    assert table.see().last_round
    last_round = [event for event in table.events if "last round" in event]
    assert last_round == [f"seat 1 claimed the {NEEDED[seats]}th point card: the last round"]
    for name in COLORS[1:seats]:
        assert table.ended == ""
        plays_on(table, name)
    assert (table.ended, table.asked, table.round) == ("completed", {}, 1)
    assert table.events[-1] == "the game is over"


@pytest.mark.clause("SR-20")
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_one_card_less_is_not_the_end(seats: int) -> None:
    fewer = " ".join(CARDS[: NEEDED[seats] - 2])
    table = before_the_last(seats, "red", claimed={"red": fewer})
    table.red.claims_card("P36")
    table.red.confirms()
    assert not table.see().last_round
    for name in COLORS[1:seats]:
        plays_on(table, name)
    assert (table.ended, table.asked, table.round) == ("", {"red": "turn"}, 2)


@pytest.mark.clause("SR-20")
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_last_player_of_the_round_ends_the_game_with_that_turn(seats: int) -> None:
    table = before_the_last(seats, COLORS[seats - 1], round=7)
    last = table.seat(seats)
    last.claims_card("P36")
    last.confirms()
    assert (table.ended, table.asked, table.round) == ("completed", {}, 7)
    for seat in range(1, seats + 1):
        assert table.seat(seat).choices == set()


@pytest.mark.clause("SR-20")
def test_the_round_ends_before_the_first_player_whoever_that_is() -> None:
    table = before_the_last(3, "blue", first_seat="3")  # green, red, blue
    table.blue.claims_card("P36")
    table.blue.confirms()
    assert table.ended == "completed"
    table = before_the_last(3, "green", first_seat="3")
    table.green.claims_card("P36")
    table.green.confirms()
    plays_on(table, "red")
    plays_on(table, "blue")
    assert table.ended == "completed"


@pytest.mark.clause("SR-20")
def test_in_the_middle_of_a_round_only_those_behind_have_a_turn_left() -> None:
    table = before_the_last(4, "green")
    table.green.claims_card("P36")
    table.green.confirms()
    plays_on(table, "white")
    assert table.ended == "completed"


@pytest.mark.clause("SR-20")
def test_a_second_player_who_gets_there_in_the_last_round_changes_nothing() -> None:
    table = before_the_last(3, "red", "green")
    table.red.claims_card("P36")
    table.red.confirms()
    plays_on(table, "blue")
    table.green.claims_card("P29")
    table.green.confirms()
    assert not any("last round" in event for event in table.events)
    assert table.ended == "completed"


@pytest.mark.clause("SR-20")
def test_the_cards_of_different_players_do_not_add_up() -> None:
    half = {"red": "P01 P02 P03", "blue": "P04 P05 P06", "green": "P07 P08"}
    table = before_the_last(3, "red", claimed=half)
    table.red.claims_card("P36")
    table.red.confirms()
    assert not table.see().last_round


@pytest.mark.clause("SR-15", "SR-20")
def test_the_limit_is_checked_at_the_end_of_the_last_turn_too() -> None:
    table = play_spice_road(holds={"green": "R" * 10}, turn="green", max_rounds="1")
    table.green.plays("S1")
    assert table.green.choices == {"return_cubes"}
    with pytest.raises(Illegal, match="still to be done: return 2 cubes"):
        table.green.confirms()
    assert table.ended == ""
    table.green.returns("RR")
    table.green.confirms()
    assert table.ended == "round_cap"
    assert (table.green.hold, table.green.points["cubes"]) == ("YY" + "R" * 8, 8)


@pytest.mark.clause("SR-15", "SR-20")
def test_the_others_are_not_checked_at_the_end_of_the_last_turn() -> None:
    table = play_spice_road(holds={"red": "R" * 12}, turn="green", max_rounds="1")
    plays_on(table, "green")
    assert table.ended == "round_cap"
    assert table.red.points["cubes"] == 12


@pytest.mark.clause("SR-21")
def test_points() -> None:
    table = play_spice_road(
        holds={"red": "YYYRRGB", "green": ""},
        claimed={"red": "P01 P36", "blue": "P13"},  # 6 and 20, 12
        coins={"red": (2, 3), "blue": (0, 1)},
        cubes={"M01": "BBBB"},  # cubes on cards count for nobody
        turn="green",
        max_rounds="1",
    )
    plays_on(table, "green")
    assert table.red.points == {"point cards": 26, "coins": 2 * 3 + 3 * 1, "cubes": 4}
    assert table.blue.points == {"point cards": 12, "coins": 1, "cubes": 0}
    assert table.outcome is not None
    assert [result.points for result in table.outcome.results] == [39, 13, 0]
    assert table.ranking == ["red", "blue", "green"]


@pytest.mark.clause("SR-21")
def test_what_was_claimed_and_found_in_the_game_counts() -> None:
    table = before_the_last(
        4, "white", holds={"white": "BBBBBRY"}, points="P36 P30", gold=1, coins={"white": (0, 2)}
    )
    table.white.claims_card("P36")
    table.white.confirms()
    assert table.white.points == {"point cards": 6 + 7 + 8 + 8 + 20, "coins": 3 + 2, "cubes": 1}


@pytest.mark.clause("SR-21")
def test_most_points_wins_and_in_a_tie_the_latest_turn() -> None:
    table = play_spice_road(
        holds={"red": "RR", "blue": "RR", "green": "R"}, seats=3, max_rounds="1"
    )
    for name in COLORS[:3]:
        plays_on(table, name)
    assert table.ranking == ["blue", "red", "green"]
    assert table.outcome is not None
    assert [result.rank for result in table.outcome.results] == [1, 2, 3]
    # Red and blue have as much, but here the first player is blue: red's turn is the latest.
    table = play_spice_road(
        holds={"red": "RR", "blue": "RR", "green": "R"}, first_seat="2", turn="blue", max_rounds="1"
    )
    for name in ("blue", "green", "red"):
        plays_on(table, name)
    assert table.ranking == ["red", "blue", "green"]


@pytest.mark.clause("SR-21")
def test_a_coin_or_a_cube_breaks_no_tie() -> None:
    """All kinds of points are worth the same: only the latest turn decides."""
    table = play_spice_road(
        seats=2,
        coins={"red": (1, 0)},
        holds={"red": "RRR"},
        claimed={"blue": "P01"},
        max_rounds="1",
    )
    for name in COLORS[:2]:
        plays_on(table, name)
    assert table.ranking == ["blue", "red"]
    assert table.outcome is not None
    assert [result.points for result in table.outcome.results] == [6, 6]


def test_a_cap_of_rounds_ends_the_game() -> None:
    table = set_out_spice_road(max_rounds="2")
    table.all_run_out_of_time(rounds=2)
    assert table.ended == "round_cap"
    assert table.events == ["the game is over: 2 rounds were played"]


# -- defaults ------------------------------------------------------------------------------


@pytest.mark.clause("DR-2", "DR-3")
def test_staged_steps_of_a_seat_that_runs_out_of_time_are_undone() -> None:
    table = play_spice_road(
        holds={"red": "YR"}, played={"red": "M05"}, row="M10 M11 M12", cubes={"M12": "B"}
    )
    table.red.acquires("M12", paying="Y")
    table.red.runs_out_of_time()
    assert (table.red.hold, table.cubes_on_cards) == ("YR", {"M12": "B"})
    assert table.row.startswith("M10 M11 M12 ")
    assert (table.red.hand, table.red.played) == ("S1 S2 M05", "")  # it rested
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("DR-3")
@pytest.mark.parametrize(
    ("hand", "hold", "played", "left", "after"),
    [
        ("S1 S2", "R", "S1", "S2", "YYR"),
        ("S2 S1", "YR", "S2", "S1", "YR"),  # an upgrade card without any upgrade
        ("M16 M10 S1", "YYYY", "M10", "M16 S1", "YYG"),  # the first that can be; one exchange
        ("M40 M16", "YY", "", "M40 M16 M01", "YY"),  # none can be: the first card of the row
    ],
)
def test_who_has_nothing_to_take_back_plays_the_first_card_that_can_be_played(
    hand: str, hold: str, played: str, left: str, after: str
) -> None:
    table = play_spice_road(hands={"red": hand}, holds={"red": hold})
    table.red.runs_out_of_time()
    assert (table.red.played, table.red.hand, table.red.hold) == (played, left, after)
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("DR-3", "SR-R3")
def test_who_can_do_nothing_passes() -> None:
    table = play_spice_road(hands={"red": "M40"}, row="", deck="")
    table.red.runs_out_of_time()
    assert (table.red.hand, table.asked) == ("M40", {"blue": "turn"})


@pytest.mark.clause("DR-3", "SR-15")
def test_the_default_returns_the_lowest_cubes() -> None:
    table = play_spice_road(holds={"red": "YR" + "B" * 8}, hands={"red": "M08"})
    table.red.runs_out_of_time()  # plays +YYYY
    assert table.red.hold == "YR" + "B" * 8
    table = play_spice_road(holds={"red": "R" * 4 + "B" * 8}, played={"red": "M08"})
    table.red.runs_out_of_time()  # rests
    assert table.red.hold == "RR" + "B" * 8


# -- seats that leave ----------------------------------------------------------------------


@pytest.mark.clause("DR-4")
def test_a_dropped_seat_is_skipped_and_what_it_had_lies_where_it_is() -> None:
    table = play_spice_road(
        holds={"red": "Y", "blue": "GG"},
        hands={"blue": "S1 M30"},
        played={"blue": "S2"},
        row="M10 M11 M12",
    )
    table.red.acquires("M11", paying="Y")
    table.red.confirms()
    table.blue.leaves()
    assert table.events == ["seat 2 left the game"]
    assert (table.blue.hold, table.blue.seen.dropped) == ("GG", True)
    assert (table.blue.seen.hand_size, table.blue.played) == (2, "S2")
    assert table.blue.choices == set()
    assert table.see().turn_order == (1, 3)
    assert table.cubes_on_cards == {"M10": "Y"}
    table.green.acquires("M10")
    table.green.confirms()
    assert table.green.hold == "Y"
    assert (table.asked, table.round) == ({"red": "turn"}, 2)


@pytest.mark.clause("DR-4")
def test_cubes_that_a_dropped_seat_put_on_cards_lie_there() -> None:
    table = play_spice_road(holds={"red": "R"}, row="M10 M11 M12")
    table.red.acquires("M11", paying="R")
    table.red.confirms()
    table.red.leaves()
    assert table.cubes_on_cards == {"M10": "R"}
    table.blue.acquires("M10")
    table.blue.confirms()
    assert table.blue.hold == "R"


@pytest.mark.clause("DR-2", "DR-4")
def test_what_the_seat_at_turn_had_staged_is_undone_when_it_leaves() -> None:
    table = play_spice_road(holds={"red": "YY"}, row="M10 M11 M12")
    table.red.acquires("M12", paying="Y")
    table.red.leaves()
    assert (table.red.hold, table.cubes_on_cards) == ("YY", {})
    assert table.row.startswith("M10 M11 M12 ")
    assert table.asked == {"blue": "turn"}
    assert table.see().first_seat == 2
    plays_on(table, "blue")
    plays_on(table, "green")
    assert (table.asked, table.round) == ({"blue": "turn"}, 2)


@pytest.mark.clause("DR-4")
def test_what_others_staged_stays_staged() -> None:
    table = play_spice_road(holds={"red": "Y"}, row="M10 M11")
    table.red.acquires("M11")
    table.green.leaves()
    table.red.puts("Y", "M10")
    assert table.red.may_confirm


@pytest.mark.clause("DR-4", "SR-20")
@pytest.mark.parametrize("leaver", ["red", "green"])
def test_a_dropped_seat_never_moves_the_end(leaver: str) -> None:
    """Blue triggers; the round still ends after the last seat left in the order of the start."""
    table = before_the_last(4, "blue")
    table.blue.claims_card("P36")
    table.blue.confirms()
    getattr(table, leaver).leaves()
    if leaver == "red":
        plays_on(table, "green")
    plays_on(table, "white")
    assert table.ended == "completed"


@pytest.mark.clause("DR-4", "SR-20")
def test_the_number_of_point_cards_and_of_coins_stays_that_of_the_start() -> None:
    table = before_the_last(4, "red", gold=8, silver=8)
    table.white.leaves()
    assert table.coins == {1: "8 gold", 2: "8 silver"}
    table.red.claims_card("P36")  # the fifth; three who began together would need six
    table.red.confirms()
    assert table.see().last_round


@pytest.mark.clause("DR-4", "SR-20")
def test_point_cards_of_a_seat_that_left_trigger_nothing() -> None:
    table = before_the_last(4, "white", claimed={"white": " ".join(CARDS[:4])})
    table.white.leaves()
    for name in ("red", "blue", "green", "red"):
        assert not table.see().last_round
        seat = getattr(table, name)
        seat.runs_out_of_time()
    assert table.ended == ""


@pytest.mark.clause("DR-4", "SR-20")
def test_the_last_seat_of_the_last_round_leaves() -> None:
    table = before_the_last(3, "blue")
    table.blue.claims_card("P36")
    table.blue.confirms()
    table.green.leaves()
    assert table.ended == "completed"


@pytest.mark.clause("DR-4", "SR-20")
def test_the_end_stays_triggered_when_who_triggered_it_leaves() -> None:
    table = before_the_last(4, "red")
    table.red.claims_card("P36")
    table.red.confirms()
    table.red.leaves()
    for name in ("blue", "green", "white"):
        assert table.ended == ""
        plays_on(table, name)
    assert table.ended == "completed"
    assert table.ranking == ["white", "green", "blue", "red"]


@pytest.mark.clause("DR-4")
def test_a_dropped_seat_keeps_its_points_and_ranks_behind_all_that_finished() -> None:
    table = play_spice_road(
        holds={"red": "BBB", "blue": "B"},
        claimed={"red": "P36"},
        coins={"red": (1, 1)},
        max_rounds="1",
    )
    table.red.leaves()
    plays_on(table, "blue")
    plays_on(table, "green")
    assert table.ranking == ["blue", "green", "red"]
    assert table.outcome is not None
    last = table.outcome.results[-1]
    assert (last.points, last.dropped, last.rank) == (27, True, 3)


@pytest.mark.clause("DR-4")
def test_the_last_seat_left_wins_and_with_none_the_game_is_abandoned() -> None:
    table = play_spice_road(holds={"red": "B", "blue": "BB"})
    table.blue.leaves()
    table.red.leaves()
    assert table.ended == "last_seat"
    assert table.events[-1] == "seat 3 is the last one left and wins"
    assert table.ranking == ["green", "blue", "red"]
    table.green.leaves()
    assert table.ended == "abandoned"
    assert table.asked == {}
