"""Century: Spice Road, for 2 to 5 players. The clauses SR-01 to SR-R5."""

from __future__ import annotations

from typing import ClassVar

from tableturn_server.rules import components
from tableturn_server.rules.century import Century
from tableturn_server.rules.game import FIRST_SEAT, MAX_ROUNDS, Option, Resolved, Setting
from tableturn_server.rules.mechanics.caravan import OPEN_HANDS, Caravan
from tableturn_server.rules.mechanics.mechanic import Mechanic
from tableturn_server.rules.mechanics.orders import Orders
from tableturn_server.rules.mechanics.points import Coins
from tableturn_server.rules.mechanics.position import (
    NO_TURN,
    Phase,
    Player,
    Position,
    Secrets,
)
from tableturn_server.rules.mechanics.rounds import Rounds
from tableturn_server.rules.source import Source

MERCHANTS = 6
"""Merchant cards in the row (SR-04)."""
POINT_CARDS = 5
"""Point cards in the row (SR-01)."""
COINS_EACH = 2
"""Coins of gold, and of silver, for each player (SR-02)."""
LIMIT = 10
"""Cubes in a caravan at the end of a turn (SR-15)."""
CARDS_TO_END = {2: 6, 3: 6, 4: 5, 5: 5}
"""For each number of players: who claims so many point cards triggers the end (SR-20)."""


class SpiceRoad(Century):
    """Acquire and play merchant cards, and claim point cards with the cubes that they bring."""

    name: ClassVar[str] = "spice-road"
    title: ClassVar[str] = "Century: Spice Road"
    seats: ClassVar[range] = range(2, 6)
    rules_version: ClassVar[int] = 1
    component_set: ClassVar[str | None] = "spice-road"
    options: ClassVar[tuple[Option, ...]] = (OPEN_HANDS, FIRST_SEAT, MAX_ROUNDS)

    def composed(self, setting: Setting) -> tuple[Mechanic, ...]:
        """Merchant cards and point cards."""
        printed = setting.components or components.shipped("spice-road")
        open_hands = setting.options.get("open_hands", "off") == "on"
        self._start = tuple(pile.pile for pile in printed.start_piles.items)  # SR-05
        self.caravan = Caravan(printed, MERCHANTS, open_hands, self.stuck)
        self.orders = Orders(printed, POINT_CARDS)
        return self.caravan, self.orders

    def limit(self, player: Player) -> int:
        """The spaces of the caravan (SR-15)."""
        return LIMIT

    def all_checked(self) -> bool:
        """Only the player at turn can have more than the limit (SR-15)."""
        return False

    def ending(self, player: Player) -> str:
        """The 5th point card, or the 6th with 2 or 3 players (SR-20)."""
        count = CARDS_TO_END[self.setting.seats]
        return f"claimed the {count}th point card" if len(player.claimed) >= count else ""

    def due(self, open: Position, seat: int) -> str:
        """A turn is exactly one action (SR-06)."""
        return super().due(open, seat) or ("" if open.turn.did else "take an action")

    def setup(self, seed: bytes) -> Resolved[Position, Secrets]:
        """Two rows, and the first player, by chance (SR-01 to SR-05)."""
        seats = self.setting.seats
        coins = Coins(gold=COINS_EACH * seats, silver=COINS_EACH * seats)  # SR-02
        points, point_deck, source = self.orders.shuffled(coins, Source(seed))
        row, deck, source = self.caravan.shuffled(source)
        order, source = self.order(source)
        position = Position(
            phase=Phase.TURN,
            rounds=Rounds(order=order, seat=order[0], round=1),
            turn=NO_TURN,
            players=tuple(
                Player(hold=self._start[order.index(seat)], cards=self.caravan.starting)
                for seat in range(1, seats + 1)
            ),
            row=row,
            points=points,
        )
        secrets = Secrets(pile=(), source=source, deck=deck, point_deck=point_deck)
        return Resolved(position, secrets, (f"seat {order[0]} is the first player",))
