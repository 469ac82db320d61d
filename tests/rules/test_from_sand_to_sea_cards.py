"""From Sand to Sea: acquiring and playing cards, resting, passing."""

from __future__ import annotations

import pytest

from tableturn_server.rules.mechanics.merchants import Row
from tests.rules.cards import CardTable, play_sand_to_sea
from tests.rules.play import change

CARDS = ("play_card", "acquire_card", "rest")


@pytest.mark.clause("SS-07", "EW-10")
def test_turns_go_clockwise_in_rounds() -> None:
    table = play_sand_to_sea(turn="green")
    with table.red.refused("this seat is not asked"):
        table.red.plays("S1")
    table.green.plays("S1")
    table.green.confirms()
    assert table.asked == {"red": "turn"}
    assert table.round == 2


@pytest.mark.clause("SS-07")
def test_one_of_four_actions_a_turn() -> None:
    """Whatever was begun, nothing else can be."""
    table = play_sand_to_sea(
        boats={"red": "C3"},
        holds={"red": "YYYY"},
        tiles={"C3": "YYY>B"},
        outposts={"C3": ("red",)},
        played={"red": "M07"},
        row="M01 M02 M03 M04",
    )
    assert {*CARDS, "move", "trade"} == table.red.choices
    table.red.plays("S1")
    assert table.red.choices == {"confirm"}
    table.red.undoes()
    table.red.acquires("M01")
    assert table.red.choices == {"confirm"}
    table.red.undoes()
    table.red.rests()
    assert table.red.choices == {"confirm"}
    table.red.undoes()
    table.red.trades(1)
    assert table.red.choices == {"confirm"}
    table.red.undoes()
    table.red.sails("B3", away="M07")
    assert not table.red.choices & {*CARDS, "harvest"}


@pytest.mark.clause("SS-10", "SR-12", "SR-R2")
def test_acquiring_a_card_from_a_row_of_four() -> None:
    table = play_sand_to_sea(
        holds={"red": "YR"}, row="M01 M02 M03 M04", cubes={"M03": "BB"}, deck="M05 M06"
    )
    assert table.red.cards_to("acquire_card") == "M01 M02 M03"  # BB on M03 can't pay for M04
    with table.red.refused("card must be one of"):
        table.red.acquires("M04")
    table.red.acquires("M03", paying="RY")
    assert table.red.hold == "BB"
    assert table.red.hand == "S1 S2 M03"
    assert (table.row, table.cubes_on_cards) == ("M01 M02 M04", {"M01": "R", "M02": "Y"})
    assert table.merchants.to_be_dealt == 1
    table.red.confirms()
    assert table.row == "M01 M02 M04 M05"
    assert table.merchants.deck == 1
    assert "M05 (+RR) is dealt to the merchants" in table.events


@pytest.mark.clause("SS-R7", "SR-R4")
def test_an_exhausted_deck_leaves_a_short_row() -> None:
    table = play_sand_to_sea(seats=2, row="M01", deck="")
    table.red.acquires("M01")
    table.red.confirms()
    assert (table.row, table.merchants.to_be_dealt) == ("", 0)
    with table.blue.refused("acquire is not possible now"):
        table.blue.acquires("M02")


@pytest.mark.clause("SS-11", "SR-10", "SR-11", "SR-R1", "SS-R7")
def test_playing_cards() -> None:
    table = play_sand_to_sea(
        seats=2, holds={"red": "YYYY"}, hands={"red": "S1 S2 M11 M40"}, row="M01 M02 M03 M04"
    )
    assert table.red.cards_to("play_card") == "S1 S2 M11"  # GG>BB can't be done
    table.red.plays("M11")
    assert table.red.choices == {"trade"}
    table.red.trades(2)
    assert (table.red.hold, table.red.played, table.red.hand) == ("RRRR", "M11", "S1 S2 M40")
    table.red.confirms()
    table.blue.plays("S2")
    table.blue.confirms()  # nothing to upgrade: legal
    assert table.blue.hold == ""
    table.red.plays("S2")
    table.red.upgrades("R")
    table.red.upgrades("G")
    assert table.red.hold == "RRRB"
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SS-16")
def test_rest_takes_back_what_was_played_and_what_was_put_away() -> None:
    table = play_sand_to_sea(
        hands={"red": "M01"}, played={"red": "S1 M02"}, discards={"red": "S2 M03"}
    )
    table.red.rests()
    assert sorted(table.red.hand.split()) == ["M01", "M02", "M03", "S1", "S2"]
    assert (table.red.played, table.red.discard) == ("", "")
    table.red.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("SS-16")
def test_put_away_cards_alone_are_reason_to_rest() -> None:
    table = play_sand_to_sea(discards={"red": "M03"})
    table.red.rests()
    assert table.red.discard == ""


def stuck(table: CardTable) -> CardTable:
    """Nobody has a card, and there is none in the row."""
    table.confirmed = change(table.confirmed, row=Row((), 0))
    table.hidden = change(table.hidden, deck=())
    return table


@pytest.mark.clause("SS-R6", "SR-R3")
def test_rest_is_a_pass_only_where_nothing_else_can_be_done() -> None:
    bare = {"hands": {"red": ""}, "row": "", "deck": "", "boats": {"red": "C3"}}
    table = stuck(play_sand_to_sea(tiles={"C3": "sea"}, **bare))  # type: ignore[arg-type]
    assert table.red.choices == {"rest"}
    table.red.rests()
    table.red.confirms()
    assert table.asked == {"blue": "turn"}
    # Any one thing that can be done is enough to forbid it:
    table = stuck(play_sand_to_sea(tiles={"C3": "tea"}, **bare))  # type: ignore[arg-type]
    assert table.red.choices == {"build_outpost"}
    table = play_sand_to_sea(tiles={"C3": "sea"}, hands={"red": ""}, boats={"red": "C3"})
    assert table.red.choices == {"acquire_card"}
    table = play_sand_to_sea(tiles={"C3": "sea"}, boats={"red": "C3"})
    assert "rest" not in table.red.choices
    bonus = {"bonuses": {"red": ("move",)}}
    table = stuck(play_sand_to_sea(tiles={"C3": "sea"}, **bare, **bonus))  # type: ignore[arg-type]
    assert table.red.choices == {"move"}


@pytest.mark.clause("SS-R9", "SS-R1")
def test_a_turn_without_step_or_action_is_refused() -> None:
    table = play_sand_to_sea(played={"red": "M01"})
    prompt = table.red.prompt
    assert prompt is not None
    assert (prompt.can_confirm, prompt.label) == (False, "take an action or move")
    with table.red.refused("take an action or move"):
        table.red.confirms()
    table = play_sand_to_sea(played={"red": "M01"}, options={"pass": "on"})
    prompt = table.red.prompt
    assert prompt is not None
    assert (prompt.can_confirm, prompt.confirm_skips) == (True, True)
    table.red.confirms()
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("DR-2", "DR-3")
def test_the_default_is_a_rest_else_nothing_else_the_first_offer() -> None:
    table = play_sand_to_sea(hands={"red": "S1"}, discards={"red": "M01"})
    table.red.plays("S1")
    table.red.runs_out_of_time()
    assert table.red.hand == "S1 M01"
    may_pass = {"pass": "on"}
    for options, hold in ((may_pass, ""), ({}, "YY")):
        table = play_sand_to_sea(options=options)
        table.red.runs_out_of_time()
        assert table.red.hold == hold
        assert table.asked == {"blue": "turn"}
    table = play_sand_to_sea(played={"red": "M01"}, options=may_pass)
    table.red.runs_out_of_time()
    assert table.red.played == ""
