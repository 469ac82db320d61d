"""Words for merchant and point cards in tests, on top of those of `play`.

    table = play_spice_road(seats=3, holds={"red": "YYR"}, hands={"red": "S1 M12"})
    table.red.plays("M12")
    table.red.trades(1)
    table.red.confirms()

Cards are named as in the component set: merchants M01 to M43, starting cards S1
and S2, point cards P01 to P36. Rows, decks and hands are written as `M10 M12`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tableturn_server.rules.actions import (
    AcquireCard,
    ClaimCard,
    Move,
    PlayCard,
    PutCube,
    Rest,
    TakeCard,
)
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.mechanics.cubes import NO_CUBES, from_letters
from tableturn_server.rules.mechanics.merchants import Cards, Lying, Row
from tableturn_server.rules.mechanics.points import Coins, PointRow
from tableturn_server.rules.mechanics.position import Phase, Position, seated
from tableturn_server.rules.views import CardView, CoinKind, MerchantsView, PointCardsView
from tests.rules.play import SEATS, Seat, Table, change, color, from_counts, play


class CardTable(Table):
    """A table of a game with merchant cards."""

    def __getattr__(self, name: str) -> CardSeat:
        return self.seat(super().__getattr__(name).number)

    def seat(self, number: int) -> CardSeat:
        return CardSeat(self, number)

    def all_run_out_of_time(self, rounds: int = 1) -> None:
        """Every seat takes the default turn."""
        for _ in range(rounds * len(self.see().turn_order)):
            self.seat(self.prompts[0].seat).runs_out_of_time()

    # -- what is seen, with what the seat at turn has staged

    @property
    def merchants(self) -> MerchantsView:
        return self.seat(self.at_turn or 1).merchants

    @property
    def row(self) -> str:
        """The row of merchant cards, from the left."""
        return names(self.merchants.row)

    @property
    def cubes_on_cards(self) -> dict[str, str]:
        """The cubes on the cards of the row; cards without any are left out."""
        row = self.merchants.row
        return {card.card: from_counts(card.cubes).letters for card in row if card.cubes}

    @property
    def orders(self) -> PointCardsView:
        found = self.see(self.at_turn).point_cards
        assert found is not None
        return found

    @property
    def point_row(self) -> str:
        """The row of point cards, from the left."""
        return " ".join(card.card for card in self.orders.row)

    @property
    def coins(self) -> dict[int, str]:
        """The coins above the places of the row of point cards, such as `4 gold`."""
        return {pile.place: f"{pile.left} {pile.kind.name.lower()}" for pile in self.orders.coins}


class CardSeat(Seat):
    """A player with merchant cards."""

    # -- what is done

    def plays(self, card: str) -> None:
        self.does(PlayCard(card))

    def acquires(self, card: str, paying: str = "", onto: str = "") -> None:
        """Choose a card of the row, and put these cubes on the cards to its left.

        In the order of the row, or in that of `onto`. Fewer cubes leave the rest to be paid.
        """
        places = (onto or names(self.merchants.row)).split()
        self.does(AcquireCard(card))
        for letter, place in zip(paying, places, strict=False):
            self.puts(letter, place)

    def puts(self, letter: str, on: str) -> None:
        self.does(PutCube(color(letter), on))

    def takes_card(self, card: str) -> None:
        """One of the row, free of charge."""
        self.does(TakeCard(card))

    def claims_card(self, card: str) -> None:
        """A point card."""
        self.does(ClaimCard(card))

    def sails(self, *tiles: str, away: str = "") -> None:
        """Steps; `away` names the cards put away for the last ones, in order."""
        cards = away.split()
        free = len(tiles) - len(cards)
        for tile, card in zip(tiles, (*[None] * free, *cards), strict=True):
            self.does(Move(tile, card=card))

    def rests(self) -> None:
        self.does(Rest())

    # -- what may be done

    def cards_to(self, kind: str) -> str:
        """The cards that an action of this kind may name now."""
        choice = self.may(kind)
        return " ".join(choice.cards) if choice else ""

    # -- what is seen

    @property
    def merchants(self) -> MerchantsView:
        found = self.table.game.view(self.position, self.number).merchants
        assert found is not None
        return found

    @property
    def hand(self) -> str:
        return names(self.seen.hand)

    @property
    def played(self) -> str:
        return names(self.seen.played)

    @property
    def discard(self) -> str:
        return names(self.seen.discard)

    @property
    def point_cards(self) -> str:
        """The point cards that the seat claimed."""
        return " ".join(card.card for card in self.seen.claimed_cards)

    @property
    def coins(self) -> tuple[int, int]:
        """Gold and silver."""
        return self.seen.gold, self.seen.silver


def names(cards: tuple[CardView, ...]) -> str:
    return " ".join(card.card for card in cards)


# -- cards in any situation ----------------------------------------------------------------


def lay_merchants(
    table: Table,
    size: int,
    *,
    row: str | None = None,
    cubes: Mapping[str, str] | None = None,
    deck: str | None = None,
    hands: Mapping[str, str] | None = None,
    played: Mapping[str, str] | None = None,
    discards: Mapping[str, str] | None = None,
) -> None:
    """Merchant cards where a test wants them: hands and such by seat, `cubes` by card.

    A hand that isn't named is `S1 S2`. A row is filled up with the first cards of the set
    that lie nowhere else, and a deck that isn't named has the rest. With both named they
    are just so: a short row stays short.
    """
    printed: ComponentSet = table.game.setting.components
    merchants = [item.id for item in printed.merchant_cards.items]
    number = {card: place for place, card in enumerate(merchants)}
    number |= {item.id: len(number) + n for n, item in enumerate(printed.starting_cards.items)}
    open: Position = table.confirmed
    away: set[str] = set()
    for seat, name in enumerate(SEATS[: len(open.players)], 1):
        hand = (hands or {}).get(name, "S1 S2").split()
        own = (hand, _named(played, name), _named(discards, name))
        away.update(*own)
        cards = Cards(*(tuple(number[card] for card in pile) for pile in own))
        open = seated(open, seat, change(open.player(seat), cards=cards))
    lying, below = _rows(row, deck, [card for card in merchants if card not in away], size)
    on = {card: from_letters(letters) for card, letters in (cubes or {}).items()}
    assert set(on) <= set(lying)
    faces = tuple(Lying(number[card], on.get(card, NO_CUBES)) for card in lying)
    table.confirmed = change(open, row=Row(faces, len(below)))
    table.hidden = change(table.hidden, deck=tuple(number[card] for card in below))


def _named(piles: Mapping[str, str] | None, name: str) -> list[str]:
    return (piles or {}).get(name, "").split()


def _rows(
    row: str | None, deck: str | None, free: list[str], size: int
) -> tuple[list[str], list[str]]:
    """The cards of a row and of its deck, out of those that are free where it isn't said."""
    lying, below = (row or "").split(), (deck or "").split()
    left = [card for card in free if card not in (*lying, *below)]
    if row is None or deck is None:
        missing = size - len(lying)
        lying, left = lying + left[:missing], left[missing:]
    return lying, left if deck is None else below


# -- Spice Road in any situation -----------------------------------------------------------


def set_out_spice_road(seats: int = 3, **options: str) -> CardTable:
    """Spice Road at the very start; red is the first player unless said otherwise."""
    return CardTable("spice-road", seats, {"first_seat": "1", **options})


def play_spice_road(
    seats: int = 3,
    *,
    holds: Mapping[str, str] | None = None,
    hands: Mapping[str, str] | None = None,
    played: Mapping[str, str] | None = None,
    row: str | None = None,
    cubes: Mapping[str, str] | None = None,
    deck: str | None = None,
    points: str | None = None,
    point_deck: str | None = None,
    gold: int | None = None,
    silver: int | None = None,
    claimed: Mapping[str, str] | None = None,
    coins: Mapping[str, tuple[int, int]] | None = None,
    turn: str = "red",
    round: int = 1,
    **options: str,
) -> CardTable:
    """Spice Road in the middle of a game, red being the first player.

    Cards as in `lay_merchants`; `points` is the row of point cards, filled in the same
    way, `gold` and `silver` are the coins above it, `claimed` and `coins` what players
    have. Holds that aren't named are empty.
    """
    table = set_out_spice_road(seats, **options)
    lay_merchants(table, 6, row=row, cubes=cubes, deck=deck, hands=hands, played=played)
    open: Position = table.confirmed
    orders = [item.id for item in table.game.setting.components.point_cards.items]
    away = {card for cards in (claimed or {}).values() for card in cards.split()}
    free = [card for card in orders if card not in away]
    lying, below = _rows(points, point_deck, free, 5)
    for seat, name in enumerate(SEATS[:seats], 1):
        player = change(
            open.player(seat),
            hold=from_letters((holds or {}).get(name, "")),
            claimed=tuple(map(orders.index, _named(claimed, name))),
            coins=Coins(*(coins or {}).get(name, ())),
        )
        open = seated(open, seat, player)
    above = Coins(
        open.points.coins.of(CoinKind.GOLD) if gold is None else gold,
        open.points.coins.of(CoinKind.SILVER) if silver is None else silver,
    )
    numbers = tuple(map(orders.index, lying))
    table.confirmed = change(
        open,
        phase=Phase.TURN,
        points=PointRow(numbers, len(below), above),
        rounds=change(open.rounds, seat=SEATS.index(turn) + 1, round=round),
    )
    table.hidden = change(table.hidden, point_deck=tuple(map(orders.index, below)))
    return table


# -- From Sand to Sea in any situation -----------------------------------------------------


def set_out_sand_to_sea(
    seats: int = 3, options: Mapping[str, str] | None = None, own: ComponentSet | None = None
) -> CardTable:
    """From Sand to Sea at the very start; red is the first player unless said otherwise."""
    return CardTable("from-sand-to-sea", seats, {"first_seat": "1", **(options or {})}, own=own)


def play_sand_to_sea(
    seats: int = 3,
    *,
    row: str | None = None,
    cubes: Mapping[str, str] | None = None,
    deck: str | None = None,
    hands: Mapping[str, str] | None = None,
    played: Mapping[str, str] | None = None,
    discards: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    **sea: Any,
) -> CardTable:
    """From Sand to Sea in the middle of a game, red being the first player.

    Cards as in `lay_merchants`, all else (`boats`, `holds`, `tiles` ...) as in `play.play`.
    """
    table = set_out_sand_to_sea(seats, options)
    play(seats, table=table, **sea)
    lay_merchants(
        table,
        4,
        row=row,
        cubes=cubes,
        deck=deck,
        hands=hands,
        played=played,
        discards=discards,
    )
    return table
