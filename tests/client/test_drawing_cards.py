"""Drawings of merchant cards and point cards: what each player must see, and must not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from rich.text import Text

from tableturn.v1 import actions_pb2, table_pb2, views_pb2
from tableturn_client.drawing import Eyes, Look, boards, draw, legend, merchants, point_cards
from tableturn_client.drawing import cubes as cube_drawing
from tests.client.test_drawing import CARDS, lines, table, widest, written

OWN = Eyes((2,), 2)
IN_PLAY = [name for name in CARDS if not name.endswith("result")]
Cubes = actions_pb2.Cubes


def screen(view: table_pb2.TableView, room: int = 0, width: int = 80, eyes: Eyes = OWN) -> str:
    return written(draw(view, Look(width, room or 60), eyes, room), width)


def player(view: table_pb2.TableView, seat: int = 2) -> views_pb2.PlayerView:
    return view.game_view.players[seat - 1]


def with_hand(name: str, size: int) -> table_pb2.TableView:
    """The table with a hand of so many different cards for seat 2."""
    view = table(name)
    cards = list(player(view).hand)
    del player(view).hand[:]
    for number in range(size):
        card = player(view).hand.add()
        card.CopyFrom(cards[number % len(cards)])
        card.card = f"M{number + 50}"
    player(view).hand_size = size
    return view


def words(line: str) -> str:
    return " ".join(line.split())


def faces(cards: Iterable[views_pb2.CardView]) -> list[str]:
    return [merchants.face(card).plain for card in cards]


# ---------------------------------------------------------------- one card


@pytest.mark.parametrize(
    ("card", "drawn"),
    [
        (
            views_pb2.CardView(
                card="M07", kind=views_pb2.CARD_KIND_SPICE, gain=Cubes(yellow=2, red=1)
            ),
            "M07 +YYR",
        ),
        (views_pb2.CardView(card="S2", kind=views_pb2.CARD_KIND_UPGRADE, upgrades=2), "S2 up 2"),
        (
            views_pb2.CardView(
                card="M13",
                kind=views_pb2.CARD_KIND_TRADE,
                cost=Cubes(yellow=3),
                gain=Cubes(brown=1),
            ),
            "M13 YYY>B",
        ),
        (views_pb2.CardView(card="M99", kind=99), "M99 ?"),  # type: ignore[arg-type]
        (views_pb2.CardView(kind=views_pb2.CARD_KIND_UPGRADE, upgrades=1), "? up 1"),
    ],
)
def test_a_card_says_what_it_does(card: views_pb2.CardView, drawn: str) -> None:
    assert merchants.face(card).plain == drawn


def test_a_cards_cubes_are_coloured_letters() -> None:
    card = views_pb2.CardView(card="M07", kind=views_pb2.CARD_KIND_SPICE, gain=Cubes(red=1))
    assert cube_drawing.STYLES["R"] in {str(span.style) for span in merchants.effect(card).spans}


# ---------------------------------------------------------------- the rows


def row_of(seen: views_pb2.MerchantsView, chosen: tuple[str, ...] = ()) -> list[str]:
    return merchants.row(seen, Look(), chosen).plain.splitlines()


def test_the_row_tells_prices_and_cubes_from_the_left() -> None:
    seen = views_pb2.MerchantsView(deck=30)
    for number in range(1, 7):
        seen.row.add(card=f"M0{number}", kind=views_pb2.CARD_KIND_UPGRADE, upgrades=number)
    seen.row[0].cubes.yellow = 2
    names, effects, lying = row_of(seen)
    prices = "M01 free M02 pay 1 M03 pay 2 M04 pay 3 M05 pay 4 M06 pay 5"
    assert words(names) == f"merchants {prices}"
    assert words(effects) == "deck 30 up 1 up 2 up 3 up 4 up 5 up 6"
    assert words(lying) == "cubes on +YY"
    del seen.row[0]
    assert len(row_of(seen)) == 2


def test_the_card_being_acquired_and_those_to_choose_are_marked() -> None:
    text = screen(table("spice_acquire"))
    wanted = table("spice_acquire").game_view.merchants.wanted
    assert f"[{wanted}]" in text
    put = next(c for c in table("spice_acquire").choices if c.kind == "put_cube")
    assert all(f"*{card}" in text for card in put.cards)


def test_a_card_to_pay_a_step_with_is_no_card_to_play() -> None:
    view = table("sea_turn")
    moves = next(choice for choice in view.choices if choice.kind == "move")
    plays = next(choice for choice in view.choices if choice.kind == "play_card")
    for_steps = set(moves.cards) - set(plays.cards)
    assert for_steps
    assert not any(f"*{card}" in screen(view) for card in for_steps)


def test_a_place_that_is_still_to_be_dealt_is_shown() -> None:
    seen = views_pb2.MerchantsView(to_be_dealt=1, deck=3)
    assert row_of(seen)[0].split() == ["merchants", "?"]
    assert row_of(seen)[1].split() == ["deck", "3", "dealt"]
    points = views_pb2.PointCardsView(to_be_dealt=1)
    assert "dealt" in point_cards.row(points, Look()).plain


def test_a_row_that_is_used_up_says_so() -> None:
    assert row_of(views_pb2.MerchantsView())[0].split() == ["merchants", "none", "left"]
    assert "none left" in point_cards.row(views_pb2.PointCardsView(), Look()).plain


def test_point_cards_tell_cost_points_and_coins() -> None:
    points = views_pb2.PointCardsView(deck=20)
    for number in (1, 2, 3):
        points.row.add(card=f"P0{number}", cost=Cubes(green=2, brown=number), points=10 + number)
    points.coins.add(place=1, kind=views_pb2.COIN_KIND_GOLD, left=4, points=3)
    points.coins.add(place=2, kind=views_pb2.COIN_KIND_SILVER, left=6, points=1)
    names, printed = point_cards.row(points, Look()).plain.splitlines()
    assert words(names) == "points P01 gold×4 P02 silver×6 P03"
    assert words(printed) == "deck 20 GGB=11 GGBB=12 GGBBB=13"


# ---------------------------------------------------------------- hands


@pytest.mark.parametrize("name", IN_PLAY)
@pytest.mark.parametrize("room", [0, 40, 20, 16, 12, 8, 4])
def test_the_own_hand_and_the_row_are_never_left_out(name: str, room: int) -> None:
    view = table(name)
    text = screen(view, room)
    for face in faces(player(view).hand):
        assert face in text
    for card in view.game_view.merchants.row:
        assert card.card in text
        assert merchants.effect(card).plain in text


@pytest.mark.parametrize("name", IN_PLAY)
@pytest.mark.parametrize("size", [0, 1, 6, 12])
def test_a_turn_fits_on_80_by_24(name: str, size: int) -> None:
    view = with_hand(name, size)
    text = screen(view, 20)
    assert lines(text) <= 20
    assert all(f"{seat.seat} {seat.name[:10]}" in text for seat in view.seats)
    for face in faces(player(view).hand):
        assert face in text


def test_a_long_hand_wraps_between_cards() -> None:
    view = with_hand("spice_turn", 30)
    text = screen(view, 0, 60)
    assert widest(text) <= 60
    assert all(face in text for face in faces(player(view).hand))


@pytest.mark.parametrize("name", IN_PLAY)
def test_hands_of_others_are_counted_but_not_drawn(name: str) -> None:
    view = table(name)
    assert not any(other.hand for other in view.game_view.players if other.seat != 2)
    text = screen(view)
    for other in view.game_view.players:
        played = len(other.played)
        assert f"hand {other.hand_size}+{played}" in text
        assert all(face in text for face in faces(other.played))
    assert "face down" in written(boards(view, Look(), 2), 80)


def test_a_spectator_sees_no_hand() -> None:
    view = table("spice_turn")
    view.viewer = 0
    del player(view).hand[:]
    del view.choices[:]
    text = screen(view, eyes=Eyes())
    assert "face down" not in text
    assert "merchants" in text
    assert "\nhand" not in text


@pytest.mark.parametrize("eyes", [Eyes((1, 2)), Eyes((1, 2), 1)])
@pytest.mark.parametrize("name", IN_PLAY)
def test_who_shares_a_screen_sees_no_hand_until_its_seat_is_asked(name: str, eyes: Eyes) -> None:
    view = table(name)
    for room, width in ((0, 80), (20, 80), (0, 120)):
        text = screen(view, room, width, eyes)
        assert "\nhand" not in text
        assert not any(card.card in text for card in player(view).hand if card.card[0] == "M")


@pytest.mark.parametrize("name", ["spice_result", "sea_result"])
def test_cards_count_no_longer_when_the_game_is_over(name: str) -> None:
    view = table(name)
    assert any(one.hand for one in view.game_view.players)
    assert not any(face in screen(view) for face in faces(player(view).hand))
    assert all(face in written(boards(view, Look(), 2), 80) for face in faces(player(view).hand))


def test_open_hands_are_drawn_where_there_is_room() -> None:
    view = table("spice_turn")
    player(view, 3).hand.add(card="M42", kind=views_pb2.CARD_KIND_UPGRADE, upgrades=7)
    assert "M42 up 7" in screen(view)
    assert "M42 up 7" in written(boards(view, Look(), 2), 80)


# ---------------------------------------------------------------- the map


def test_sea_tiles_are_drawn_and_explained() -> None:
    view = table("sea_turn")
    sea = [t.tile for t in view.game_view.islands.tiles if t.kind == views_pb2.TILE_KIND_SEA]
    assert len(sea) == 4
    large = screen(view)
    assert all(f"{tile} sea" in large for tile in sea)
    assert large.count("~ ~ ~") == 4
    assert all(f"{tile} ~ ~ ~" in screen(view, 30) for tile in sea)
    assert "~ ~ ~" in written(legend.draw(view, Look()), 80)


def test_the_tiles_within_reach_stay_longest() -> None:
    view = table("sea_turn")
    goals = [tile for choice in view.choices for tile in choice.tiles]
    text = screen(view, 14)
    assert lines(text) <= 14
    assert goals
    assert all(f"*{tile} " in text for tile in goals)
    assert "A1" not in text.replace("▲A1", "")


@pytest.mark.parametrize("name", IN_PLAY)
def test_more_room_never_shows_less(name: str) -> None:
    drawn = [lines(screen(table(name), room)) for room in (10, 14, 18, 24, 30, 50)]
    assert drawn == sorted(drawn)


# ---------------------------------------------------------------- a newer server


@pytest.mark.parametrize("name", CARDS)
def test_cards_of_a_newer_server_break_nothing(name: str) -> None:
    view = table(name)
    game = view.game_view
    game.merchants.row.add(card="\x1b[2J", kind=99)
    player(view).hand.add(card="X" * 90, kind=99)
    player(view).played.add()
    game.point_cards.row.add()
    game.point_cards.coins.add(place=9, kind=99, left=2)
    game.point_cards.coins.add(place=1, kind=99, left=2)
    for drawn in (draw(view, Look(), OWN), boards(view, Look(), 2), legend.draw(view, Look())):
        assert isinstance(drawn, Text)
        assert "\x1b" not in written(drawn, 80)
    assert "coin 99×2" in screen(view)
