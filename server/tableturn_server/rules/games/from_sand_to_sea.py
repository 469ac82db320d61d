"""Century: From Sand to Sea, for 2 to 4 players: Spice Road's cards on Eastern Wonders' map.

The clauses SS-01 to SS-R9.
"""

from __future__ import annotations

from typing import ClassVar

from tableturn_server.rules import components
from tableturn_server.rules.actions import Action, BonusKind, Move, TakeCard
from tableturn_server.rules.century import LIMIT_CHECKED, Century
from tableturn_server.rules.choices import Choice
from tableturn_server.rules.game import FIRST_SEAT, MAX_ROUNDS, Option, Resolved, Setting
from tableturn_server.rules.mechanics import bonus
from tableturn_server.rules.mechanics.caravan import OPEN_HANDS, Caravan
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step
from tableturn_server.rules.mechanics.position import (
    NO_TURN,
    Phase,
    Player,
    Position,
    Secrets,
    change,
    may_go_on,
    seated,
)
from tableturn_server.rules.mechanics.rounds import Rounds
from tableturn_server.rules.mechanics.voyage import (
    LAYOUT,
    MAP,
    Reward,
    Voyage,
    check_map,
    map_warnings,
    rewarded,
    sailed,
)
from tableturn_server.rules.source import Source

MERCHANTS = 4
"""Merchant cards in the row (SS-01)."""
TILES_OUT = 2
"""The market tiles of each symbol that stay in the box (SS-02)."""
SEA_TILES = 4


class FromSandToSea(Century):
    """Play merchant cards or put them away for steps of the boat; build, trade, and claim tiles."""

    name: ClassVar[str] = "from-sand-to-sea"
    title: ClassVar[str] = "Century: From Sand to Sea"
    seats: ClassVar[range] = range(2, 5)
    rules_version: ClassVar[int] = 1
    component_set: ClassVar[str | None] = "from-sand-to-sea"
    options: ClassVar[tuple[Option, ...]] = (
        change(MAP, clause="SS-02"),
        change(LAYOUT, clause="SS-02"),
        change(LIMIT_CHECKED, clause="SS-17"),
        change(OPEN_HANDS, clause="SS-R7"),
        Option(
            name="pass",
            default="off",
            values=("off", "on"),
            summary="a turn in which nothing was done may be ended",
            clause="SS-R9",
        ),
        FIRST_SEAT,
        MAX_ROUNDS,
    )

    def composed(self, setting: Setting) -> tuple[Mechanic, ...]:
        """Merchant cards, a voyage, and the cards that pay for it."""
        printed = setting.components or components.shipped("from-sand-to-sea")
        self._may_pass = setting.options.get("pass", "off") == "on"  # SS-R9
        open_hands = setting.options.get("open_hands", "off") == "on"
        self.caravan = Caravan(printed, MERCHANTS, open_hands, self.stuck)
        self.voyage = Voyage(printed, setting, _reward)
        return self.caravan, self.voyage, Crew(self.caravan)

    def limit(self, player: Player) -> int:
        """The spaces of the cargo hold (SS-17)."""
        return self.voyage.limit(player)

    def ending(self, player: Player) -> str:
        """The 4th victory point tile (SS-20)."""
        return self.voyage.ending(player)

    def due(self, open: Position, seat: int) -> str:
        """A step or an action, unless the table allows to pass (SS-07, SS-R9)."""
        due = super().due(open, seat)
        if due or self._may_pass or open.phase != Phase.TURN:
            return due
        return "" if open.turn.did or open.turn.steps else "take an action or move"

    @classmethod
    def warnings(cls, setting: Setting) -> tuple[str, ...]:
        """What is unusual about an own map (SS-02, EW-03)."""
        return map_warnings(setting)

    def shown(self, action: Action) -> Action:
        """Which card is put away face down is its owner's to know (SS-12, SS-R7)."""
        if isinstance(action, Move) and action.card and not self.caravan.open_hands:
            return Move(action.tile)
        return action

    def check_options(self) -> None:
        """Those of all games, and the map's (SS-02)."""
        super().check_options()
        check_map(self.setting.options)

    def setup(self, seed: bytes) -> Resolved[Position, Secrets]:
        """The map with its sea tiles, the harbour, the row of cards (SS-01 to SS-06)."""
        islands, ports, pile, source = self.voyage.laid_out(Source(seed), TILES_OUT, SEA_TILES)
        row, deck, source = self.caravan.shuffled(source)
        order, source = self.order(source)
        position = Position(
            phase=Phase.START,
            rounds=Rounds(order=order, seat=order[-1]),  # SS-05
            turn=NO_TURN,
            players=(Player(cards=self.caravan.starting),) * self.setting.seats,
            islands=islands,
            harbour=ports,
            bonuses=self.voyage.bonuses,
            piles=self.voyage.piles,
            row=row,
        )
        secrets = Secrets(pile=pile, source=source, deck=deck)
        return Resolved(position, secrets, (f"seat {order[0]} is the first player",))


def _reward(open: Position, column: int) -> Reward:
    """A merchant card for the first column, that or a bonus tile for others (SS-15)."""
    tiles = column > 1 and bool(bonus.available(open.bonuses))
    return Reward(bonus=tiles, card=bool(open.row.cards))


class Crew(Mechanic):
    """Merchant cards at sea: put away for steps of the boat, and taken for emptied columns."""

    def __init__(self, caravan: Caravan) -> None:
        """Bind the cards."""
        self._caravan = caravan
        self.steps = {
            "move": Step(self.to_move, self.move),
            "take_card": Step(self.to_take_card, self.take_card),
        }

    def to_move(self, open: Position, seat: int) -> Choice | None:
        """One step to an adjacent tile from where a legal end can be reached (SS-12, SS-13)."""
        if not may_go_on(open, seat) or open.turn.ended:
            return None
        player = open.player(seat)
        cards = player.cards.hand + player.cards.played
        free = bonus.count(player.bonuses, BonusKind.MOVE) - open.turn.steps  # SS-R8
        further = max(free, 0) + len(cards) - 1
        if further < 0:
            return None
        held = player.hold.total
        islands = open.islands
        shape = islands.shape
        tiles = tuple(
            shape.names[place]
            for place in shape.neighbours[islands.boat(seat)]
            if islands.may_end(place, seat, lambda steps: held if steps <= further else -1)
        )
        if not tiles:
            return None
        if free > 0:
            return Choice(kind="move", tiles=tiles, label="move one step (free)")
        names = tuple(self._caravan.cards[card].name for card in cards)
        return Choice(
            kind="move", tiles=tiles, cards=names, label="move one step, putting a card away"
        )

    def move(self, open: Position, seat: int, action: Move) -> Position:
        """A step; one that is not free costs a card of the hand or a played one (SS-12)."""
        if action.card is not None:
            player = open.player(seat)
            cards = player.cards.put_away(self._caravan.numbers[action.card])
            open = seated(open, seat, change(player, cards=cards))
        return sailed(open, seat, action.tile, steps=1)

    def to_take_card(self, open: Position, seat: int) -> Choice | None:
        """Any card of the row, for an emptied column (SS-15)."""
        if not open.turn.card_due or not may_go_on(open, seat):
            return None
        cards = self._caravan.in_row(open)
        return Choice(kind="take_card", cards=cards, label="take a merchant card free of charge")

    def take_card(self, open: Position, seat: int, action: TakeCard) -> Position:
        """It comes with the cubes on it (SS-15, SS-R3)."""
        return rewarded(self._caravan.take(open, seat, self._caravan.numbers[action.card]))

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What one of its actions does."""
        match action:
            case Move(tile, None, None):
                return f"moves to {tile}"
            case Move(tile, None, str() as card):
                which = card if self._caravan.open_hands else "a card"
                return f"moves to {tile}, putting {which} away"
            case TakeCard(card):
                return f"takes {self._caravan.taken_words(open, card)} for an emptied column"
        return ""
