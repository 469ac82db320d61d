"""Spice Road: cards are played, acquired, taken back and claimed; the limit of the caravan."""

from __future__ import annotations

import pytest

from tableturn_server.rules.choices import Illegal
from tests.rules.cards import CardTable, play_spice_road

# -- one action a turn ---------------------------------------------------------------------


@pytest.mark.clause("SR-06")
def test_turns_go_clockwise_in_rounds() -> None:
    table = play_spice_road(seats=4, first_seat="3", turn="green")
    for name, round in (("green", 1), ("white", 1), ("red", 1), ("blue", 1), ("green", 2)):
        assert (table.asked, table.round) == ({name: "turn"}, round)
        seat = getattr(table, name)
        seat.plays("S2" if round == 1 else "S1")
        seat.confirms()


@pytest.mark.clause("SR-06")
def test_a_turn_without_an_action_cannot_be_confirmed() -> None:
    table = play_spice_road()
    assert table.red.choices == {"play_card", "acquire_card"}
    assert table.red.prompt is not None
    assert not table.red.prompt.confirm_skips
    with pytest.raises(Illegal, match="not to be confirmed yet"):
        table.red.confirms()
    assert table.asked == {"red": "turn"}


def everything() -> CardTable:
    """Red could do each of the four actions."""
    return play_spice_road(
        holds={"red": "YYRR"},
        hands={"red": "S1 M05"},
        played={"red": "S2"},
        row="M10 M11 M12",
        points="P01 P02 P03",
    )


@pytest.mark.clause("SR-06")
def test_all_four_actions_are_offered_and_after_one_there_is_no_other() -> None:
    table = everything()
    assert table.red.choices == {"play_card", "acquire_card", "rest", "claim_card"}
    table.red.plays("S1")
    assert table.red.choices == {"confirm"}
    table = everything()
    table.red.acquires("M11", paying="Y")
    assert table.red.choices == {"confirm"}
    table = everything()
    table.red.rests()
    assert table.red.choices == {"confirm"}
    table = everything()
    table.red.claims_card("P01")
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SR-06")
def test_only_the_seat_at_turn_acts() -> None:
    table = everything()
    assert table.blue.choices == set()
    with table.blue.refused("this seat is not asked"):
        table.blue.plays("S1")


# -- playing a card ------------------------------------------------------------------------


@pytest.mark.clause("SR-10", "SR-11")
def test_a_spice_card_lies_face_up_and_brings_its_cubes() -> None:
    table = play_spice_road(holds={"red": "YG"}, hands={"red": "S1 M07 M12"})
    table.red.plays("M07")
    assert (table.red.hand, table.red.played) == ("S1 M12", "M07")
    assert table.red.hold == "YYYRG"
    table.red.confirms()
    assert [card.card for card in table.red.seen_by(table.blue).played] == ["M07"]
    assert table.red.hold == "YYYRG"
    assert table.blue.hold == ""


@pytest.mark.clause("SR-10")
def test_only_cards_of_the_own_hand_are_played() -> None:
    table = play_spice_road(hands={"red": "S1", "blue": "M05"}, played={"red": "M07"})
    assert table.red.cards_to("play_card") == "S1"
    for card in ("M05", "M07", "M01"):  # of another hand, played already, in the row
        with table.red.refused("card must be one of S1, not"):
            table.red.plays(card)


@pytest.mark.clause("SR-11")
def test_upgrades_of_several_cubes() -> None:
    table = play_spice_road(holds={"red": "YYRG"}, hands={"red": "M09"})
    table.red.plays("M09")  # three upgrades
    table.red.upgrades("Y")
    table.red.upgrades("R")
    table.red.upgrades("G")
    assert table.red.choices == {"confirm"}
    with table.red.refused("upgrade is not possible now"):
        table.red.upgrades("Y")
    assert table.red.hold == "YRGB"


@pytest.mark.clause("SR-11")
def test_several_upgrades_of_one_cube() -> None:
    table = play_spice_road(holds={"red": "Y"}, hands={"red": "M09"})
    table.red.plays("M09")
    for letter in "YRG":
        table.red.upgrades(letter)
    table.red.confirms()
    assert table.red.hold == "B"


@pytest.mark.clause("SR-11")
@pytest.mark.parametrize("count", [0, 1])
def test_fewer_upgrades_than_allowed_or_none(count: int) -> None:
    table = play_spice_road(holds={"red": "YY"})
    table.red.plays("S2")
    for _ in range(count):
        table.red.upgrades("Y")
    assert table.red.choices == {"upgrade", "confirm"}
    table.red.confirms()
    assert table.red.hold == {0: "YY", 1: "YR"}[count]
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("SR-R1", "SR-11")
@pytest.mark.parametrize("hold", ["", "B", "BBB"])
def test_an_upgrade_with_nothing_to_upgrade_is_legal_and_takes_nothing(hold: str) -> None:
    table = play_spice_road(holds={"red": hold})
    table.red.plays("S2")
    assert table.red.choices == {"confirm"}
    for letter in "YRGB":
        with table.red.refused("upgrade is not possible now"):
            table.red.upgrades(letter)
    table.red.confirms()
    assert (table.red.hold, table.red.played) == (hold, "S2")


@pytest.mark.clause("SR-11")
def test_only_a_cube_that_is_held_and_not_brown_is_upgraded() -> None:
    table = play_spice_road(holds={"red": "RB"})
    table.red.plays("S2")
    for letter in "YGB":
        with table.red.refused("cube must be one of red, not"):
            table.red.upgrades(letter)
    table.red.upgrades("R")
    table.red.upgrades("G")
    assert table.red.hold == "BB"
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SR-11")
def test_a_trade_as_often_as_there_are_cubes() -> None:
    table = play_spice_road(holds={"red": "YYYYYR"}, hands={"red": "M10"})
    table.red.plays("M10")  # YY>G
    assert table.red.choices == {"trade"}
    for count in (0, 3):
        with table.red.refused(f"count must be from 1 to 2, not {count}"):
            table.red.trades(count)
    table.red.trades(2)
    assert table.red.choices == {"confirm"}
    table.red.confirms()
    assert (table.red.hold, table.red.played) == ("YRGG", "M10")


@pytest.mark.clause("SR-11")
def test_a_trade_may_stop_before_the_cubes_are_used_up() -> None:
    table = play_spice_road(holds={"red": "YYYYY"}, hands={"red": "M10"})
    table.red.plays("M10")
    table.red.trades(1)
    assert table.red.choices == {"confirm"}
    table.red.confirms()
    assert table.red.hold == "YYYG"


@pytest.mark.clause("SR-11")
def test_what_a_trade_takes_and_gives() -> None:
    table = play_spice_road(holds={"red": "YRRRRGG"}, hands={"red": "M33 M38"})
    table.red.plays("M33")  # RRR>YYGG
    table.red.trades(1)
    assert table.red.hold == "YYYRGGGG"
    table.red.confirms()
    table = play_spice_road(holds={"red": "GGGG"}, hands={"red": "M38"})
    table.red.plays("M38")  # GG>YYRB
    table.red.trades(2)
    assert table.red.hold == "YYYYRRBB"


@pytest.mark.clause("SR-R1")
def test_a_trade_card_that_cannot_be_traded_with_cannot_be_played() -> None:
    table = play_spice_road(holds={"red": "YYG"}, hands={"red": "S1 M16 M10 M17 M40"})
    assert table.red.cards_to("play_card") == "S1 M10 M17"
    with table.red.refused("card must be one of S1, M10, M17, not M16"):
        table.red.plays("M16")  # YR>B


@pytest.mark.clause("SR-R1")
def test_a_trade_card_needs_at_least_one_exchange() -> None:
    table = play_spice_road(holds={"red": "YY"}, hands={"red": "M10"})
    table.red.plays("M10")
    assert not table.red.may_confirm
    with pytest.raises(Illegal, match="still to be done: trade at least once"):
        table.red.confirms()
    table.red.trades(1)
    assert table.red.may_confirm


# -- acquiring a card ----------------------------------------------------------------------

ROW = "M10 M11 M12 M13 M14 M15"


@pytest.mark.clause("SR-12")
def test_the_leftmost_card_costs_nothing() -> None:
    table = play_spice_road(holds={"red": "YG"}, row=ROW, deck="M20 M21")
    table.red.acquires("M10")
    assert table.red.choices == {"confirm"}
    assert (table.red.hand, table.red.hold) == ("S1 S2 M10", "YG")
    assert table.cubes_on_cards == {}
    table.red.confirms()
    assert table.row == "M11 M12 M13 M14 M15 M20"


@pytest.mark.clause("SR-12")
def test_a_cube_of_choice_on_each_card_to_the_left() -> None:
    table = play_spice_road(holds={"red": "YYRGB"}, row=ROW, deck="M20 M21")
    table.red.acquires("M13", paying="BYG")
    assert (table.red.hand, table.red.hold) == ("S1 S2 M13", "YR")
    assert table.cubes_on_cards == {"M10": "B", "M11": "Y", "M12": "G"}
    assert table.row == "M10 M11 M12 M14 M15"  # the last place waits for the confirmation
    assert (table.merchants.to_be_dealt, table.merchants.deck) == (1, 2)
    table.red.confirms()
    assert table.row == "M10 M11 M12 M14 M15 M20"
    assert (table.merchants.to_be_dealt, table.merchants.deck) == (0, 1)
    assert table.cubes_on_cards == {"M10": "B", "M11": "Y", "M12": "G"}
    assert any("M20" in event for event in table.events)


@pytest.mark.clause("SR-12")
def test_the_cubes_are_put_down_in_any_order_one_on_each_card() -> None:
    table = play_spice_road(holds={"red": "YRG"}, row=ROW)
    table.red.acquires("M12")
    assert table.red.choices == {"put_cube"}
    assert table.red.cards_to("put_cube") == "M10 M11"
    table.red.puts("G", "M11")
    assert table.red.hand == "S1 S2"  # not taken yet
    for card in ("M11", "M12", "M13"):  # it has its cube, it is the wanted one, it is beyond
        with table.red.refused("card must be one of M10, not"):
            table.red.puts("Y", card)
    with table.red.refused("cube must be one of yellow, red, not green"):
        table.red.puts("G", "M10")
    with pytest.raises(Illegal, match="still to be done: put 1 cube on the cards to the left"):
        table.red.confirms()
    table.red.puts("R", "M10")
    assert table.cubes_on_cards == {"M10": "R", "M11": "G"}
    assert (table.red.hand, table.red.hold) == ("S1 S2 M12", "Y")
    assert table.red.choices == {"confirm"}


@pytest.mark.clause("SR-12")
def test_the_cubes_on_the_card_come_along() -> None:
    table = play_spice_road(
        holds={"red": "Y"}, row=ROW, cubes={"M10": "R", "M11": "GB", "M12": "YY"}, deck="M20"
    )
    table.red.acquires("M11", paying="Y")
    assert table.red.hold == "GB"
    table.red.confirms()
    assert table.red.hold == "GB"
    assert table.row == "M10 M12 M13 M14 M15 M20"
    assert table.cubes_on_cards == {"M10": "YR", "M12": "YY"}  # they stay on their cards


@pytest.mark.clause("SR-12")
def test_the_leftmost_card_brings_its_cubes_too() -> None:
    table = play_spice_road(row=ROW, cubes={"M10": "YB", "M11": "G"})
    table.red.acquires("M10")
    table.red.confirms()
    assert table.red.hold == "YB"
    assert table.cubes_on_cards == {"M11": "G"}
    table.blue.acquires("M11")
    table.blue.confirms()
    assert table.blue.hold == "G"


@pytest.mark.clause("SR-12")
@pytest.mark.parametrize(
    ("hold", "cards"),
    [("", "M10"), ("Y", "M10 M11"), ("BBB", "M10 M11 M12 M13"), ("YYYYYYY", ROW)],
)
def test_only_a_card_whose_price_can_be_paid_is_chosen(hold: str, cards: str) -> None:
    table = play_spice_road(holds={"red": hold}, row=ROW)
    assert table.red.cards_to("acquire_card") == cards
    if cards != ROW:
        with table.red.refused("card must be one of .*, not M15"):
            table.red.acquires("M15")


@pytest.mark.clause("SR-R2", "SR-12")
def test_the_cubes_on_the_wanted_card_cannot_pay_for_it() -> None:
    table = play_spice_road(holds={"red": "Y"}, row=ROW, cubes={"M12": "RRR", "M11": "GG"})
    assert table.red.cards_to("acquire_card") == "M10 M11"
    with table.red.refused("card must be one of M10, M11, not M12"):
        table.red.acquires("M12")
    table.red.acquires("M11")
    choice = table.red.may("put_cube")
    assert choice is not None
    assert [color.word for color in choice.colors] == ["yellow"]  # none of the green ones
    with table.red.refused("cube must be one of yellow, not green"):
        table.red.puts("G", "M10")
    table.red.puts("Y", "M10")
    assert table.red.hold == "GG"


@pytest.mark.clause("SR-R4")
def test_without_a_merchant_deck_the_row_gets_shorter() -> None:
    table = play_spice_road(row="M10 M11 M12", deck="M20")
    table.red.acquires("M10")
    table.red.confirms()
    assert table.row == "M11 M12 M20"
    table.blue.acquires("M11")
    assert table.merchants.to_be_dealt == 0
    table.blue.confirms()
    assert table.row == "M12 M20"
    assert not any("dealt" in event for event in table.events)


@pytest.mark.clause("SR-R4", "SR-12")
def test_nothing_is_acquired_from_an_empty_row() -> None:
    table = play_spice_road(holds={"red": "YYYY"}, row="M10", deck="")
    table.red.acquires("M10")
    table.red.confirms()
    assert table.row == ""
    assert table.blue.choices == {"play_card"}
    for card in ("M10", "M11"):
        with table.blue.refused("acquire is not possible now; possible now: `play CARD`"):
            table.blue.acquires(card)
    table.blue.plays("S1")
    table.blue.confirms()
    assert table.row == ""


# -- resting -------------------------------------------------------------------------------


@pytest.mark.clause("SR-13")
def test_a_rest_takes_all_played_cards_back() -> None:
    table = play_spice_road(
        hands={"red": "M12"}, played={"red": "S1 M05 S2", "blue": "M07"}, holds={"red": "YR"}
    )
    table.red.rests()
    assert set(table.red.hand.split()) == {"M12", "S1", "M05", "S2"}
    assert (table.red.played, table.red.hold) == ("", "YR")
    table.red.confirms()
    assert table.red.seen_by(table.blue).played == ()
    assert table.blue.played == "M07"  # that of others lies on


@pytest.mark.clause("SR-R3")
def test_a_rest_needs_a_played_card() -> None:
    table = play_spice_road(hands={"red": "S1 S2 M12"}, played={"blue": "S1"})
    assert table.red.choices == {"play_card", "acquire_card"}
    with table.red.refused("rest is not possible now"):
        table.red.rests()


@pytest.mark.clause("SR-R3")
def test_a_player_without_any_legal_action_may_pass() -> None:
    table = play_spice_road(
        hands={"red": "M16 M40"}, holds={"red": "YY"}, row="", deck="", points="P36"
    )
    assert table.red.choices == {"rest"}
    table.red.rests()
    table.red.confirms()
    assert (table.red.hand, table.red.hold) == ("M16 M40", "YY")
    assert table.asked == {"blue": "turn"}


@pytest.mark.clause("SR-R3")
@pytest.mark.parametrize(
    "but",
    [
        {"row": "M10"},
        {"hands": {"red": "M40 S2"}},
        {"holds": {"red": "GG"}},
        {"points": "P36 P01", "holds": {"red": "YYRR"}},
    ],
    ids=["a card to acquire", "a card to play", "a trade to do", "a point card to claim"],
)
def test_who_can_do_anything_else_may_not_pass(but: dict[str, object]) -> None:
    stuck: dict[str, object] = {
        "hands": {"red": "M40"},
        "holds": {"red": "YY"},
        "row": "",
        "deck": "",
        "points": "P36",
    }
    table = play_spice_road(**{**stuck, **but})  # type: ignore[arg-type]
    assert "rest" not in table.red.choices
    assert len(table.red.choices) == 1


# -- claiming a point card -----------------------------------------------------------------

POINTS = "P01 P02 P03 P04 P05"


@pytest.mark.clause("SR-14")
def test_a_point_card_is_paid_and_taken_face_down() -> None:
    table = play_spice_road(
        holds={"red": "YYYRRRG"}, points="P20 P30 P01 P31 P32", point_deck="P10 P11"
    )
    assert table.red.cards_to("claim_card") == "P01"
    table.red.claims_card("P01")  # YYRR, worth 6
    assert (table.red.hold, table.red.point_cards) == ("YRG", "P01")
    assert table.red.coins == (0, 0)
    assert table.point_row == "P20 P30 P31 P32"
    assert (table.orders.to_be_dealt, table.orders.deck) == (1, 2)
    table.red.confirms()
    assert table.point_row == "P20 P30 P31 P32 P10"
    assert (table.orders.to_be_dealt, table.orders.deck) == (0, 1)
    for other in (table.blue, table.green, None):
        seen = table.red.seen_by(other)
        assert (seen.claimed, seen.claimed_cards) == (1, ())
        assert seen.points is None
    assert table.red.point_cards == "P01"


@pytest.mark.clause("SR-14")
def test_the_values_are_shown_to_all_at_the_end() -> None:
    table = play_spice_road(claimed={"red": "P01 P36"}, turn="green", max_rounds="1")
    assert table.red.seen_by(table.blue).claimed_cards == ()
    table.green.plays("S1")
    table.green.confirms()
    for other in (table.red, table.blue, None):
        cards = table.red.seen_by(other).claimed_cards
        assert [(card.card, card.points) for card in cards] == [("P01", 6), ("P36", 20)]


@pytest.mark.clause("SR-14")
def test_only_a_card_whose_cubes_are_held_is_claimed() -> None:
    table = play_spice_road(holds={"red": "YYRRR"}, points=POINTS)
    assert table.red.cards_to("claim_card") == "P01 P03"
    for card in ("P02", "P05", "P06"):  # YYYRR, RRRR; one that isn't in the row
        with table.red.refused(f"card must be one of P01, P03, not {card}"):
            table.red.claims_card(card)


@pytest.mark.clause("SR-14")
@pytest.mark.parametrize(
    ("card", "coins", "left"),
    [
        ("P01", (1, 0), {1: "5 gold", 2: "6 silver"}),
        ("P02", (0, 1), {1: "6 gold", 2: "5 silver"}),
        ("P03", (0, 0), {1: "6 gold", 2: "6 silver"}),
        ("P05", (0, 0), {1: "6 gold", 2: "6 silver"}),
    ],
)
def test_a_coin_from_above_the_place_before_the_row_slides(
    card: str, coins: tuple[int, int], left: dict[int, str]
) -> None:
    table = play_spice_road(holds={"red": "YYYRRRR"}, points=POINTS)
    table.red.claims_card(card)
    assert (table.red.coins, table.coins) == (coins, left)
    table.red.confirms()
    assert (table.red.coins, table.coins) == (coins, left)
    seen = table.red.seen_by(None)
    assert (seen.gold, seen.silver) == coins  # coins are open


@pytest.mark.clause("SR-14")
def test_the_coins_stay_above_their_places_when_the_row_slides() -> None:
    table = play_spice_road(holds={"red": "YYRR", "blue": "YYYRR", "green": "YYRRR"}, points=POINTS)
    table.red.claims_card("P01")
    table.red.confirms()
    table.blue.claims_card("P02")  # second before, first now
    table.blue.confirms()
    assert (table.red.coins, table.blue.coins) == ((1, 0), (1, 0))
    assert table.coins == {1: "4 gold", 2: "6 silver"}


@pytest.mark.clause("SR-14")
def test_after_the_last_gold_the_silver_moves_to_the_first_place_at_once() -> None:
    table = play_spice_road(
        holds={"red": "YYRR", "blue": "YYYRR", "green": "YYGG"}, points=POINTS, gold=1, silver=3
    )
    assert table.coins == {1: "1 gold", 2: "3 silver"}
    table.red.claims_card("P01")
    assert table.coins == {1: "3 silver"}
    table.red.confirms()
    assert table.coins == {1: "3 silver"}
    table.blue.claims_card("P02")
    assert table.blue.coins == (0, 1)
    table.blue.confirms()
    assert table.point_row.startswith("P03 P04")
    table.green.claims_card("P04")  # nothing lies above the second place now
    assert table.green.coins == (0, 0)
    assert table.coins == {1: "2 silver"}


@pytest.mark.clause("SR-14")
def test_silver_from_the_second_place_leaves_the_gold_where_it_is() -> None:
    table = play_spice_road(holds={"red": "YYYRR"}, points=POINTS, gold=1, silver=1)
    table.red.claims_card("P02")
    assert table.red.coins == (0, 1)
    assert table.coins == {1: "1 gold"}


@pytest.mark.clause("SR-R5")
def test_an_exhausted_silver_pile_gives_nothing() -> None:
    table = play_spice_road(holds={"red": "YYYRR", "blue": "YYRR"}, points=POINTS, gold=2, silver=0)
    table.red.claims_card("P02")
    assert table.red.coins == (0, 0)
    table.red.confirms()
    assert table.coins == {1: "2 gold"}
    table.blue.claims_card("P01")
    assert table.blue.coins == (1, 0)


@pytest.mark.clause("SR-R5", "SR-14")
@pytest.mark.parametrize("card", ["P01", "P02"])
def test_without_gold_and_silver_neither_place_gives_a_coin(card: str) -> None:
    table = play_spice_road(holds={"red": "YYYRR"}, points=POINTS, gold=0, silver=0)
    table.red.claims_card(card)
    table.red.confirms()
    assert table.red.coins == (0, 0)
    assert table.coins == {}


@pytest.mark.clause("SR-R5")
def test_the_last_silver_coin() -> None:
    table = play_spice_road(holds={"red": "YYRR", "blue": "YYYRR"}, points=POINTS, gold=0, silver=1)
    table.red.claims_card("P01")
    table.red.confirms()
    assert (table.red.coins, table.coins) == ((0, 1), {})
    table.blue.claims_card("P02")
    table.blue.confirms()
    assert (table.blue.coins, table.coins) == ((0, 0), {})


@pytest.mark.clause("SR-R4", "SR-14")
def test_without_a_deck_of_point_cards_the_row_gets_shorter() -> None:
    table = play_spice_road(
        holds={"red": "YYRR", "blue": "YYYRR"}, points="P01 P02", point_deck="", gold=1
    )
    table.red.claims_card("P01")
    assert table.orders.to_be_dealt == 0
    table.red.confirms()
    assert table.point_row == "P02"
    table.blue.claims_card("P02")
    assert table.blue.coins == (0, 1)  # the silver lies above the first place now
    table.blue.confirms()
    assert table.point_row == ""
    with table.green.refused("claim is not possible now"):
        table.green.claims_card("P02")


# -- the limit of the caravan --------------------------------------------------------------


@pytest.mark.clause("SR-15")
def test_above_ten_cubes_of_choice_go_back_at_the_end_of_the_turn() -> None:
    table = play_spice_road(holds={"red": "YYYYYRRGGB"})
    assert table.red.limit == 10
    table.red.plays("S1")
    assert table.red.hold == "YYYYYYYRRGGB"  # twelve, for now
    assert table.red.choices == {"return_cubes"}
    with pytest.raises(Illegal, match="still to be done: return 2 cubes"):
        table.red.confirms()
    for letters in ("Y", "YYY", "BB"):
        with table.red.refused("choose 2 out of YYYYYYYRRGGB, not"):
            table.red.returns(letters)
    table.red.returns("YB")
    assert table.red.choices == {"confirm"}
    table.red.confirms()
    assert table.red.hold == "YYYYYYRRGG"


@pytest.mark.clause("SR-15")
def test_ten_cubes_are_not_too_many() -> None:
    table = play_spice_road(holds={"red": "Y" * 8})
    table.red.plays("S1")
    assert table.red.choices == {"confirm"}
    table.red.confirms()
    assert table.red.hold == "Y" * 10


@pytest.mark.clause("SR-15")
def test_more_than_ten_are_allowed_during_the_turn() -> None:
    table = play_spice_road(holds={"red": "G" * 5 + "Y" * 5}, hands={"red": "M19"})
    table.red.plays("M19")  # G>YYYYR
    table.red.trades(5)
    assert table.red.hold == "Y" * 25 + "R" * 5
    table.red.returns("Y" * 20)
    table.red.confirms()
    assert table.red.hold == "YYYYYRRRRR"


@pytest.mark.clause("SR-15", "SR-12")
def test_cubes_that_come_with_a_card_count_for_the_limit() -> None:
    table = play_spice_road(holds={"red": "Y" * 10}, row=ROW, cubes={"M11": "RRR"})
    table.red.acquires("M11", paying="Y")
    assert table.red.choices == {"return_cubes"}
    table.red.returns("YY")
    table.red.confirms()
    assert table.red.hold == "Y" * 7 + "RRR"


@pytest.mark.clause("SR-15", "SR-11")
def test_upgrades_are_done_before_cubes_are_returned() -> None:
    table = play_spice_road(holds={"red": "Y" * 11})
    table.red.plays("S2")
    table.red.upgrades("Y")
    assert table.red.choices == {"upgrade", "return_cubes"}
    table.red.returns("Y")
    assert table.red.choices == {"confirm"}  # nothing follows
    with table.red.refused("upgrade is not possible now"):
        table.red.upgrades("Y")


@pytest.mark.clause("SR-15")
def test_only_the_player_whose_turn_ends_is_checked() -> None:
    table = play_spice_road(holds={"blue": "Y" * 12})
    table.red.plays("S1")
    table.red.confirms()
    assert table.asked == {"blue": "turn"}
    assert table.blue.hold == "Y" * 12
    table.blue.plays("S2")
    table.blue.returns("YY")
    table.blue.confirms()
    assert table.asked == {"green": "turn"}
