"""Point cards are claimed from a row, those at its left end with a coin (SR-14)."""

from __future__ import annotations

import msgspec

from tableturn_server.rules.actions import Action, ClaimCard
from tableturn_server.rules.choices import Choice
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import PointsPart
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step
from tableturn_server.rules.mechanics.merchants import Deck
from tableturn_server.rules.mechanics.points import (
    Coins,
    PointCard,
    PointRow,
    coins_view,
    dealt,
    point_card_view,
)
from tableturn_server.rules.mechanics.position import (
    Player,
    Position,
    Secrets,
    acted,
    begins,
    change,
    seated,
)
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import GameView, PlayerView, PointCardsView


class Orders(Mechanic):
    """The point cards of a game: a row on the table, and those that players claimed."""

    def __init__(self, printed: ComponentSet, row: int) -> None:
        """Bind the cards and the size of the row."""
        self.cards = tuple(
            PointCard(card.id, card.price, card.points) for card in printed.point_cards.items
        )
        self.numbers = {card.name: number for number, card in enumerate(self.cards)}
        self._size = row
        self.steps = {"claim_card": Step(self.to_claim, self.claim)}

    def shuffled(self, coins: Coins, source: Source) -> tuple[PointRow, Deck, Source]:
        """The row and the deck at the start, and the coins above them (SR-01, SR-02)."""
        deck, source = source.shuffled(range(len(self.cards)))
        row, deck, _ = dealt(PointRow(coins=coins), deck, self._size)
        return row, deck, source

    def to_claim(self, open: Position, seat: int) -> Choice | None:
        """A card of the row whose cubes the seat has (SR-14)."""
        if not begins(open, seat):
            return None
        hold = open.player(seat).hold
        cards = tuple(
            self.cards[card].name
            for card in open.points.cards
            if hold.covers(self.cards[card].cost)
        )
        return Choice(kind="claim_card", cards=cards, label="claim a point card") if cards else None

    def claim(self, open: Position, seat: int, action: ClaimCard) -> Position:
        """The card is paid and taken, with a coin from above its place (SR-14)."""
        number = self.numbers[action.card]
        place = open.points.cards.index(number)
        coin = open.points.coin(place)
        player = open.player(seat)
        player = change(
            player,
            claimed=(*player.claimed, number),
            hold=player.hold.minus(self.cards[number].cost),
            coins=player.coins if coin is None else player.coins.plus(coin),
        )
        return acted(change(seated(open, seat, player), points=open.points.without(place)))

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What is claimed, and with which coin."""
        if not isinstance(action, ClaimCard):
            return ""
        number = self.numbers[action.card]
        coin = open.points.coin(open.points.cards.index(number))
        words = f"claims {self.cards[number].words}"
        return words if coin is None else f"{words}, and a {coin.name.lower()} coin"

    def refilled(
        self, open: Position, hidden: Secrets
    ) -> tuple[Position, Secrets, tuple[str, ...]]:
        """The right end of the row is filled (SR-14); an empty deck leaves it short (SR-R4)."""
        if len(open.points.cards) >= self._size or not hidden.point_deck:
            return open, hidden, ()
        row, deck, new = dealt(open.points, hidden.point_deck, self._size)
        words = tuple(f"{self.cards[card].words}, is dealt" for card in new)
        return change(open, points=row), msgspec.structs.replace(hidden, point_deck=deck), words

    def points(self, player: Player) -> tuple[PointsPart, ...]:
        """Point cards and coins (SR-21)."""
        return (
            PointsPart("point cards", sum(self.cards[card].points for card in player.claimed)),
            PointsPart("coins", player.coins.points),
        )

    def on_table(self, view: GameView, open: Position) -> GameView:
        """The row, the deck, and the coins."""
        row = open.points
        cards = PointCardsView(
            row=tuple(point_card_view(self.cards[card]) for card in row.cards),
            deck=row.deck,
            to_be_dealt=min(self._size - len(row.cards), row.deck),
            coins=coins_view(row),
        )
        return change(view, point_cards=cards)

    def before_player(self, view: PlayerView, open: Position, own: bool) -> PlayerView:
        """Coins are open; of claimed cards others see the number only (SR-14)."""
        player = open.player(view.seat)
        cards = player.claimed if own else ()
        return change(
            view,
            claimed=len(player.claimed),
            claimed_cards=tuple(point_card_view(self.cards[card]) for card in cards),
            gold=player.coins.gold,
            silver=player.coins.silver,
        )
