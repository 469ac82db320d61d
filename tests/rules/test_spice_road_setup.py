"""Spice Road: what lies on the table at the start, and who sees what."""

from __future__ import annotations

from collections import Counter

import pytest

from tableturn_server.rules.game import BadOption
from tableturn_server.rules.mechanics.position import Position, Secrets
from tableturn_server.rules.views import CardKind
from tests.rules.cards import CardTable, play_spice_road, set_out_spice_road

SEEDS = [number.to_bytes(16, "big") for number in range(40)]
MERCHANTS = {f"M{number:02}" for number in range(1, 44)}
POINT_CARDS = {f"P{number:02}" for number in range(1, 37)}
CUBES = ("YYY", "YYYY", "YYYY", "YYYR", "YYYR")
"""What players begin with, by turn order."""


@pytest.mark.clause("SR-01")
def test_five_point_cards_lie_in_a_row_left_of_the_deck() -> None:
    firsts: Counter[str] = Counter()
    for seed in SEEDS:
        table = CardTable("spice-road", 3, seed=seed)
        row = table.point_row.split()
        items = table.game.setting.components.point_cards.items
        deck = [items[number].id for number in table.hidden.point_deck]
        assert len(row) == 5
        assert table.orders.deck == len(deck) == 31
        assert {*row, *deck} == POINT_CARDS
        firsts.update((row[0], deck[0]))
    assert len(firsts) > 20  # any card may come first


@pytest.mark.clause("SR-02")
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_two_gold_and_two_silver_coins_for_each_player(seats: int) -> None:
    table = set_out_spice_road(seats)
    assert table.coins == {1: f"{2 * seats} gold", 2: f"{2 * seats} silver"}
    for seat in range(1, seats + 1):
        assert table.seat(seat).coins == (0, 0)


@pytest.mark.clause("SR-03")
@pytest.mark.parametrize("seats", [2, 5])
def test_two_starting_cards_each(seats: int) -> None:
    table = set_out_spice_road(seats)
    for seat in range(1, seats + 1):
        spice, upgrade = table.seat(seat).seen.hand
        assert (spice.card, spice.kind) == ("S1", CardKind.SPICE)
        assert spice.gain is not None
        assert (spice.gain.yellow, spice.gain.red) == (2, 0)
        assert (upgrade.card, upgrade.kind, upgrade.upgrades) == ("S2", CardKind.UPGRADE, 2)
        assert table.seat(seat).played == ""


@pytest.mark.clause("SR-04")
def test_six_merchant_cards_lie_in_a_row_left_of_the_deck() -> None:
    firsts: Counter[str] = Counter()
    for seed in SEEDS:
        table = CardTable("spice-road", 3, seed=seed)
        row = table.row.split()
        items = table.game.setting.components.merchant_cards.items
        deck = [items[number].id for number in table.hidden.deck]
        assert len(row) == 6
        assert table.merchants.deck == len(deck) == 37
        assert {*row, *deck} == MERCHANTS
        assert table.cubes_on_cards == {}
        firsts.update((row[0], deck[0]))
    assert len(firsts) > 20


@pytest.mark.clause("SR-01", "SR-04")
def test_the_order_of_the_decks_is_in_the_hidden_half_alone() -> None:
    assert {"deck", "point_deck"} <= set(Secrets.__struct_fields__)
    table = set_out_spice_road()
    open = table.confirmed
    assert isinstance(open, Position)
    assert (open.row.deck, open.points.deck) == (37, 31)


@pytest.mark.clause("SR-05")
def test_the_first_player_is_drawn_or_chosen() -> None:
    firsts = {CardTable("spice-road", 5, seed=seed).see().first_seat for seed in SEEDS}
    assert firsts == {1, 2, 3, 4, 5}
    assert set_out_spice_road(5, first_seat="4").see().turn_order == (4, 5, 1, 2, 3)
    assert CardTable("spice-road", 5).events[0].endswith("is the first player")
    with pytest.raises(BadOption, match="random or 1 to 3, not '4'"):
        set_out_spice_road(3, first_seat="4")


@pytest.mark.clause("SR-05")
@pytest.mark.parametrize(
    ("seats", "first"), [(seats, first) for seats in range(2, 6) for first in range(1, seats + 1)]
)
def test_starting_cubes_by_turn_order(seats: int, first: int) -> None:
    table = set_out_spice_road(seats, first_seat=str(first))
    holds = [table.seat((first - 1 + place) % seats + 1).hold for place in range(seats)]
    assert holds == list(CUBES[:seats])


@pytest.mark.clause("SR-06", "SR-05")
def test_the_first_turn_is_that_of_the_first_player() -> None:
    table = set_out_spice_road(4, first_seat="3")
    assert table.asked == {"green": "turn"}
    assert table.round == 1


@pytest.mark.clause("SR-16")
def test_a_hand_is_shown_to_its_owner_only_and_its_size_to_all() -> None:
    table = play_spice_road(hands={"red": "S1 M12 M13"}, played={"red": "S2"})
    assert table.red.hand == "S1 M12 M13"
    for other in (table.blue, table.green, None):
        seen = table.red.seen_by(other)
        assert seen.hand == ()
        assert seen.hand_size == 3
        assert [card.card for card in seen.played] == ["S2"]


@pytest.mark.clause("SR-16")
def test_with_open_hands_all_see_them() -> None:
    table = play_spice_road(hands={"red": "S1 M12"}, open_hands="on")
    for other in (table.red, table.blue, None):
        seen = table.red.seen_by(other)
        assert [card.card for card in seen.hand] == ["S1", "M12"]
        assert seen.hand_size == 2


@pytest.mark.clause("SR-16")
def test_a_card_acquired_openly_is_hidden_in_the_hand() -> None:
    table = play_spice_road(row="M20 M21 M22")
    table.red.acquires("M20")
    table.red.confirms()
    assert table.red.hand == "S1 S2 M20"
    assert table.red.seen_by(table.blue).hand == ()
    assert table.red.seen_by(table.blue).hand_size == 3


def test_bad_seats_and_options_are_refused() -> None:
    with pytest.raises(BadOption, match="2 to 5 seats, not 6"):
        set_out_spice_road(6)
    with pytest.raises(BadOption, match="2 to 5 seats, not 1"):
        set_out_spice_road(1)
    with pytest.raises(BadOption, match="no option 'map'"):
        set_out_spice_road(map="random")
    with pytest.raises(BadOption, match="one of off, on, not 'yes'"):
        set_out_spice_road(open_hands="yes")
    with pytest.raises(BadOption, match="from 0 to 9999"):
        set_out_spice_road(max_rounds="many")
