"""Greedy at Spice Road: it plans a few of its own turns ahead, as if it were alone.

A plan is worth the points that it brings, the sooner the more, and what it leaves: how near
the cubes are to the price of a point card, and the cards in the hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tableturn_server.bots.sight import Sight
from tableturn_server.rules.actions import Action, ClaimCard
from tableturn_server.rules.mechanics.points import COIN_POINTS
from tableturn_server.rules.views import GameView

from .bundles import NOTHING, Counts, counts, covers, minus, returning, share, spare, worth
from .caravan import Cards, Deal, Own, actions, deals, read_cards, value
from .planning import firsts, search

DEPTH = 5
"""Own turns that a plan looks ahead."""
WIDTH = 20
"""Plans that are followed at each depth."""
_PACE = 0.88
"""What a point is worth a turn later."""
_CLAIM = 4.0
"""What a point card is worth beyond its points: it brings the end nearer."""


class _Goal(msgspec.Struct, frozen=True):
    """A point card of the row, with the coin above it."""

    name: str
    cost: Counts
    points: int


class _Step(msgspec.Struct, frozen=True):
    """One turn in a plan."""

    deal: Deal = Deal()
    claim: int = -1
    returned: Counts = NOTHING


class _State(msgspec.Struct, frozen=True):
    """What planning changes; `claimed` are goals as bits."""

    own: Own
    claimed: int = 0


def turns(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The turns that it would like, the best first."""
    view = sight.view
    player = view.players[sight.seat - 1]
    cards, own = read_cards(view, player)
    goals = _goals(view)
    depth = 1 if view.last_round else DEPTH
    plans = search(
        _State(own),
        lambda state, first: _options(cards, goals, state, player.limit, first=first),
        lambda state: _promise(cards, goals, state, depth),
        depth=depth,
        width=WIDTH,
        pace=_PACE,
    )
    for step in firsts(plans):
        claim = (ClaimCard(goals[step.claim].name),) if step.claim >= 0 else ()
        yield (*claim, *actions(cards, step.deal), *returning(step.returned))


def _goals(view: GameView) -> tuple[_Goal, ...]:
    """The point cards of the row, each with the coin that comes along (SR-14)."""
    row = view.point_cards
    assert row is not None
    coins = {pile.place: COIN_POINTS[pile.kind] for pile in row.coins}
    return tuple(
        _Goal(card.card, counts(card.cost), card.points + coins.get(place, 0))
        for place, card in enumerate(row.row, 1)
    )


def _options(
    cards: Cards, goals: tuple[_Goal, ...], state: _State, limit: int, *, first: bool
) -> Iterator[tuple[float, _State, _Step]]:
    """What a turn may bring: points, the state after it, and how."""
    own = state.own
    for number, goal in enumerate(goals):
        if not state.claimed >> number & 1 and covers(own.hold, goal.cost):
            after = Own(minus(own.hold, goal.cost), own.hand, own.played)
            claimed = _State(after, state.claimed | 1 << number)
            yield goal.points + _CLAIM, claimed, _Step(claim=number)
    keep = _wanted(goals, state)
    for after, deal in deals(cards, own, keep, first=first):
        over = sum(after.hold) - limit
        back = NOTHING
        if over > 0:
            back = spare(after.hold, over, keep)
            after = Own(minus(after.hold, back), after.hand, after.played)
        yield 0.0, _State(after, state.claimed), _Step(deal, returned=back)


def _promise(cards: Cards, goals: tuple[_Goal, ...], state: _State, depth: int) -> float:
    """What a state may bring: how much of a point card's price it covers, and its cards."""
    hold = state.own.hold
    if depth == 1:  # the last turn: cubes count as they are (SR-21)
        return float(hold[1] + hold[2] + hold[3])
    best = 0.0
    for number, goal in enumerate(goals):
        if not state.claimed >> number & 1:
            part = share(hold, goal.cost)
            best = max(best, (goal.points + _CLAIM) * part * part)
    cubes = 0.12 * worth(hold)
    return 0.7 * best + cubes + value(cards, state.own)


def _wanted(goals: tuple[_Goal, ...], state: _State) -> Counts:
    """The price of the point card that a hold is nearest to."""
    hold = state.own.hold
    left = [goal for number, goal in enumerate(goals) if not state.claimed >> number & 1]
    if not left:
        return NOTHING
    return max(left, key=lambda goal: (share(hold, goal.cost) * goal.points, goal.points)).cost
