"""A player's caravan: merchant cards are acquired, played and taken back (SR-10 to SR-13)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tableturn_server.rules.actions import (
    AcquireCard,
    Action,
    PlayCard,
    PutCube,
    Rest,
    Trade,
)
from tableturn_server.rules.choices import Choice, Range
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import Option
from tableturn_server.rules.mechanics.cubes import one
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step
from tableturn_server.rules.mechanics.merchants import (
    NO_CARD,
    Card,
    Cards,
    Deck,
    Row,
    card_view,
    dealt,
    exchanges,
)
from tableturn_server.rules.mechanics.position import (
    Position,
    Secrets,
    acted,
    begins,
    change,
    given,
    may_go_on,
    paid,
    seated,
    traded,
)
from tableturn_server.rules.mechanics.words import cubes_words, times_words
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import CardKind, CardView, GameView, MerchantsView, PlayerView

OPEN_HANDS = Option(
    name="open_hands",
    default="off",
    values=("off", "on"),
    summary="show the cards in a player's hand to all, not to their owner only",
    clause="SR-16",
)


class Caravan(Mechanic):
    """The merchant cards of a game: a row on the table, and each player's own."""

    def __init__(
        self,
        printed: ComponentSet,
        row: int,
        open_hands: bool,
        stuck: Callable[[Position, int], bool],
    ) -> None:
        """Bind the cards and the size of the row.

        `stuck` tells whether a seat can take no action at all but to rest (SR-R3, SS-R6).
        """
        merchants, starting = printed.merchant_cards.items, printed.starting_cards.items
        self.cards = tuple(
            Card(card.id, card.kind, card.cost, card.gain, card.upgrades)
            for card in (*merchants, *starting)
        )
        self.numbers = {card.name: number for number, card in enumerate(self.cards)}
        self._deck = range(len(merchants))
        self._starting = tuple(range(len(merchants), len(self.cards)))
        self._size = row
        self.open_hands = open_hands
        self._stuck = stuck
        self.steps = {
            "play_card": Step(self.to_play, self.play),
            "trade": Step(self.to_trade, self.trade),
            "acquire_card": Step(self.to_acquire, self.acquire),
            "put_cube": Step(self.to_put, self.put),
            "rest": Step(self.to_rest, self.rest),
        }

    def shuffled(self, source: Source) -> tuple[Row, Deck, Source]:
        """The row and the deck at the start (SR-04, SS-01)."""
        deck, source = source.shuffled(self._deck)
        row, deck, _ = dealt(Row(), deck, self._size)
        return row, deck, source

    @property
    def starting(self) -> Cards:
        """What each player begins with (SR-03)."""
        return Cards(hand=self._starting)

    # -- playing a card

    def to_play(self, open: Position, seat: int) -> Choice | None:
        """A card of the hand; a trade must be possible (SR-10, SR-R1)."""
        if not begins(open, seat):
            return None
        player = open.player(seat)
        cards = tuple(
            self.cards[card].name
            for card in player.cards.hand
            if player.hold.covers(self.cards[card].cost)
        )
        return Choice(kind="play_card", cards=cards, label="play a card") if cards else None

    def play(self, open: Position, seat: int, action: PlayCard) -> Position:
        """The card lies face up; its cubes come at once (SR-10, SR-11)."""
        number = self.numbers[action.card]
        card = self.cards[number]
        player = open.player(seat)
        open = acted(
            seated(open, seat, change(player, cards=player.cards.after(number))), card.upgrades
        )
        if card.kind == CardKind.TRADE:
            return change(open, turn=change(open.turn, trading=number))
        return given(open, seat, card.gain)

    def to_trade(self, open: Position, seat: int) -> Choice | None:
        """The exchange of the card that was played (SR-11)."""
        if open.turn.trading == NO_CARD or not may_go_on(open, seat):
            return None
        card = self.cards[open.turn.trading]
        most = exchanges(open.player(seat).hold, card.cost, card.gain)
        words = f"trade {card.cost.letters} for {card.gain.letters}"
        return Choice(kind="trade", count=Range(1, most), label=words)

    def trade(self, open: Position, seat: int, action: Trade) -> Position:
        """The exchange, so many times (SR-11)."""
        card = self.cards[open.turn.trading]
        open = traded(open, seat, card.cost, card.gain, action.count)
        return change(open, turn=change(open.turn, trading=NO_CARD))

    # -- acquiring a card

    def to_acquire(self, open: Position, seat: int) -> Choice | None:
        """A card of the row that can be paid: a cube for each to its left (SR-12, SR-R2)."""
        if not begins(open, seat) or not open.row.cards:
            return None
        price = open.player(seat).hold.total
        cards = self.in_row(open)[: price + 1]
        return Choice(kind="acquire_card", cards=cards, label="acquire a card of the row")

    def acquire(self, open: Position, seat: int, action: AcquireCard) -> Position:
        """The leftmost comes at once; for others the cubes are put down first (SR-12)."""
        number = self.numbers[action.card]
        open = acted(open)
        if open.row.place(number) == 0:
            return self.take(open, seat, number)
        return change(open, turn=change(open.turn, wanted=number))

    def to_put(self, open: Position, seat: int) -> Choice | None:
        """A cube of choice onto a card to the left of the wanted one (SR-12)."""
        if open.turn.wanted == NO_CARD or not may_go_on(open, seat):
            return None
        names = self.in_row(open)
        cards = tuple(names[place] for place in self._unpaid(open))
        return Choice(
            kind="put_cube",
            colors=open.player(seat).hold.colors,
            cards=cards,
            label=f"put a cube on each card to the left of {self.cards[open.turn.wanted].name}",
        )

    def put(self, open: Position, seat: int, action: PutCube) -> Position:
        """The cube lies on the card; with the last one the wanted card is taken (SR-12)."""
        number = self.numbers[action.card]
        cube = one(action.cube)
        open = change(
            paid(open, seat, cube),
            row=open.row.with_cubes(open.row.place(number), cube),
            turn=change(open.turn, laid=(*open.turn.laid, number)),
        )
        if self._unpaid(open):
            return open
        wanted = open.turn.wanted
        return self.take(change(open, turn=change(open.turn, wanted=NO_CARD)), seat, wanted)

    def take(self, open: Position, seat: int, number: int) -> Position:
        """A card of the row comes into the hand, and the cubes on it into the hold (SR-12)."""
        place = open.row.place(number)
        player = open.player(seat)
        player = change(
            player,
            cards=player.cards.plus(number),
            hold=player.hold.plus(open.row.cards[place].cubes),
        )
        return change(seated(open, seat, player), row=open.row.without(place))

    def in_row(self, open: Position) -> tuple[str, ...]:
        """The names of the cards in the row, from the left."""
        return tuple(self.cards[lying.card].name for lying in open.row.cards)

    def _unpaid(self, open: Position) -> tuple[int, ...]:
        """The places to the left of the wanted card that have got no cube yet."""
        left = open.row.cards[: open.row.place(open.turn.wanted)]
        return tuple(n for n, lying in enumerate(left) if lying.card not in open.turn.laid)

    # -- resting

    def to_rest(self, open: Position, seat: int) -> Choice | None:
        """With cards to take back, or as a pass of who can do nothing else (SR-13, SR-R3)."""
        if not begins(open, seat):
            return None
        cards = open.player(seat).cards
        back = len(cards.played) + len(cards.discard)
        if back:
            words = "rest: take your card back" if back == 1 else f"rest: take {back} cards back"
            return Choice(kind="rest", label=words)
        return Choice(kind="rest", label="pass") if self._stuck(open, seat) else None

    def rest(self, open: Position, seat: int, action: Rest) -> Position:
        """All own cards come back into the hand (SR-13, SS-16)."""
        player = open.player(seat)
        return acted(seated(open, seat, change(player, cards=player.cards.taken_back)))

    # -- its part of the game's answers

    def due(self, open: Position, seat: int) -> str:
        """The cubes for a card, or the one exchange that a trade needs (SR-12, SR-R1)."""
        if open.turn.wanted != NO_CARD:
            return f"put {cubes_words(len(self._unpaid(open)))} on the cards to the left"
        return "trade at least once" if open.turn.trading != NO_CARD else ""

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What one of its actions does."""
        match action:
            case PlayCard(card):
                return f"plays {self.cards[self.numbers[card]].words}"
            case Trade(count) if open.turn.trading != NO_CARD:
                played = self.cards[open.turn.trading]
                words = f"trades {played.cost.letters} for {played.gain.letters}"
                return f"{words}, {times_words(count)}"
            case AcquireCard(card):
                place = open.row.place(self.numbers[card])
                if place:
                    words = self.cards[self.numbers[card]].words
                    return f"acquires {words} for {cubes_words(place)}"
                return f"acquires {self.taken_words(open, card)}"
            case PutCube(cube, card):
                words = f"puts a {cube.word} cube on {card}"
                if len(self._unpaid(open)) > 1:
                    return words
                wanted = self.cards[open.turn.wanted].name
                return f"{words} and takes {self.taken_words(open, wanted)}"
            case Rest():
                cards = open.player(seat).cards
                back = len(cards.played) + len(cards.discard)
                return f"rests, taking back {_cards(back)}" if back else "passes"
        return ""

    def taken_words(self, open: Position, name: str) -> str:
        """A card of the row with the cubes that come along with it, in words."""
        number = self.numbers[name]
        lying = open.row.cards[open.row.place(number)].cubes
        words = self.cards[number].words
        return f"{words} with {lying.letters} on it" if lying.total else words

    def refilled(
        self, open: Position, hidden: Secrets
    ) -> tuple[Position, Secrets, tuple[str, ...]]:
        """The right end of the row is filled (SR-12); an empty deck leaves it short (SR-R4)."""
        if len(open.row.cards) >= self._size or not hidden.deck:
            return open, hidden, ()
        row, deck, new = dealt(open.row, hidden.deck, self._size)
        words = tuple(f"{self.cards[card].words} is dealt to the merchants" for card in new)
        return change(open, row=row), msgspec.structs.replace(hidden, deck=deck), words

    def on_table(self, view: GameView, open: Position) -> GameView:
        """The row with the cubes on it, and the deck."""
        wanted = open.turn.wanted
        row = MerchantsView(
            row=tuple(card_view(self.cards[card], cubes) for card, cubes in open.row.cards),
            deck=open.row.deck,
            to_be_dealt=min(self._size - len(open.row.cards), open.row.deck),
            wanted="" if wanted == NO_CARD else self.cards[wanted].name,
        )
        return change(view, merchants=row)

    def before_player(self, view: PlayerView, open: Position, own: bool) -> PlayerView:
        """Played cards are open; hand and discard pile only their number (SR-16, SS-R7)."""
        cards = open.player(view.seat).cards
        own = own or self.open_hands
        return change(
            view,
            hand=self._seen(cards.hand) if own else (),
            hand_size=len(cards.hand),
            played=self._seen(cards.played),
            discard=self._seen(cards.discard) if own else (),
            discard_size=len(cards.discard),
        )

    def _seen(self, cards: tuple[int, ...]) -> tuple[CardView, ...]:
        return tuple(card_view(self.cards[card]) for card in cards)


def _cards(count: int) -> str:
    """A number of cards in a sentence."""
    return "1 card" if count == 1 else f"{count} cards"
