"""Merchant cards as a bot plans with them: read off a view, known by numbers and bits.

The cards that matter in a plan are the seat's own and those of the row as it lies now;
what comes from the deck is nobody's business.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tableturn_server.rules.actions import (
    AcquireCard,
    Action,
    PlayCard,
    PutCube,
    Rest,
    Trade,
    Upgrade,
)
from tableturn_server.rules.mechanics.cubes import Color
from tableturn_server.rules.views import CardKind, CardView, GameView, PlayerView

from .bundles import (
    NOTHING,
    Counts,
    counts,
    each,
    exchanges,
    minus,
    plus,
    spare,
    traded,
    upgraded,
)

_REACH = 4
"""Cards of the row, from the left, that are thought of."""


class Face(msgspec.Struct, frozen=True):
    """What a card does, and the cubes that lie on it."""

    name: str
    kind: CardKind
    cost: Counts
    gain: Counts
    upgrades: int
    lying: Counts


class Own(msgspec.Struct, frozen=True):
    """A seat's cards as bits, and what it holds."""

    hold: Counts
    hand: int
    played: int
    """What a rest brings back: played cards, and those put away."""


class Cards(msgspec.Struct, frozen=True):
    """The cards of a plan: the seat's own first, then those of the row."""

    faces: tuple[Face, ...]
    row: tuple[int, ...]
    """The numbers of the cards in the row, from the left."""


class Deal(msgspec.Struct, frozen=True):
    """What is done with cards in one turn."""

    play: int = -1
    count: int = 0
    """Exchanges of a trade."""
    upgrades: tuple[int, ...] = ()
    """The colours of upgraded cubes, from 0, in order."""
    acquire: int = -1
    paid: Counts = NOTHING
    rest: bool = False


def read_cards(view: GameView, player: PlayerView) -> tuple[Cards, Own]:
    """The cards in a view, for the seat that sees its hand."""
    assert view.merchants is not None
    piles = (player.hand, player.played, player.discard, view.merchants.row)
    faces = tuple(_face(card) for pile in piles for card in pile)
    hand = len(player.hand)
    own = hand + len(player.played) + len(player.discard)
    row = tuple(range(own, len(faces)))
    bits = (1 << hand) - 1
    return Cards(faces, row), Own(counts(player.hold), bits, ((1 << own) - 1) & ~bits)


def _face(card: CardView) -> Face:
    return Face(
        name=card.card,
        kind=card.kind,
        cost=counts(card.cost),
        gain=counts(card.gain),
        upgrades=card.upgrades,
        lying=counts(card.cubes),
    )


def deals(cards: Cards, own: Own, keep: Counts, *, first: bool) -> Iterator[tuple[Own, Deal]]:
    """What may be done with cards in a turn, and what the seat has after it (SR-10 to SR-13).

    `keep` are the cubes that are wanted. Cards are acquired in the `first` turn of a plan
    only, since the row changes.
    """
    for number, face in enumerate(cards.faces):
        if own.hand >> number & 1:
            hand, played = own.hand ^ 1 << number, own.played | 1 << number
            for hold, deal in _played(number, face, own.hold, keep):
                yield Own(hold, hand, played), deal
    if own.played:
        yield Own(own.hold, own.hand | own.played, 0), Deal(rest=True)
    if first:
        for price, number in enumerate(cards.row[:_REACH]):
            if price <= sum(own.hold):
                paid = spare(own.hold, price, keep)
                hold = plus(minus(own.hold, paid), cards.faces[number].lying)
                after = Own(hold, own.hand | 1 << number, own.played)
                yield after, Deal(acquire=number, paid=paid)


def _played(number: int, face: Face, hold: Counts, keep: Counts) -> Iterator[tuple[Counts, Deal]]:
    """The ways to play a card (SR-11)."""
    if face.kind is CardKind.SPICE:
        yield plus(hold, face.gain), Deal(play=number)
    elif face.kind is CardKind.TRADE:
        most = exchanges(hold, face.cost, face.gain)
        for count in sorted({most, (most + 1) // 2, 1} if most else ()):
            after = traded(hold, face.cost, face.gain, count)
            yield after, Deal(play=number, count=count)
    else:
        ways = {upgraded(hold, face.upgrades), _towards(hold, keep, face.upgrades)}
        for after, colors in sorted(ways):
            if colors:
                yield after, Deal(play=number, upgrades=colors)


def _towards(hold: Counts, keep: Counts, most: int) -> tuple[Counts, tuple[int, ...]]:
    """Cubes made better that are not wanted as they are, one of them as far as it goes."""
    cubes = list(hold)
    colors: list[int] = []
    while len(colors) < most:
        extra = [c for c in range(3) if cubes[c] > keep[c]]
        short = [c for c in range(1, 4) if cubes[c] < keep[c]]
        color = next((c for c in reversed(extra) if any(c < s for s in short)), None)
        if color is None:
            break
        cubes[color] -= 1
        cubes[color + 1] += 1
        colors.append(color)
    return (cubes[0], cubes[1], cubes[2], cubes[3]), tuple(colors)


def value(cards: Cards, own: Own) -> float:
    """What the cards of a seat are worth to have: more of them, and in the hand."""
    owned, hand = own.hand | own.played, own.hand
    return 1.2 * min(owned.bit_count(), 6) + 0.1 * hand.bit_count()


def actions(cards: Cards, deal: Deal) -> tuple[Action, ...]:
    """What is done with cards, as actions."""
    if deal.rest:
        return (Rest(),)
    if deal.acquire >= 0:
        to_the_left = cards.row[: cards.row.index(deal.acquire)]
        puts = zip(each(deal.paid), to_the_left, strict=True)
        wanted = AcquireCard(cards.faces[deal.acquire].name)
        return (wanted, *(PutCube(cube, cards.faces[card].name) for cube, card in puts))
    if deal.play < 0:
        return ()
    upgrades = tuple(Upgrade(Color(color + 1)) for color in deal.upgrades)
    trade = (Trade(deal.count),) if deal.count else ()
    return (PlayCard(cards.faces[deal.play].name), *upgrades, *trade)
