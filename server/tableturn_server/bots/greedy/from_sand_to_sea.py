"""Greedy at From Sand to Sea: it plans a few of its own turns ahead, as if it were alone.

With its cards as in Spice Road, and with its boat as in Eastern Wonders: a plan is worth the
points that it brings, the sooner the more, and how near its cubes are to what a port asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tableturn_server.bots.sight import Sight
from tableturn_server.rules.actions import (
    Action,
    BonusKind,
    BuildOutpost,
    ClaimTile,
    Move,
    PayOwner,
    PlaceBoat,
    TakeBonus,
    TakeCard,
    TakePile,
    Trade,
)
from tableturn_server.rules.game import PromptKind
from tableturn_server.rules.mechanics.cubes import Cubes
from tableturn_server.rules.views import GameView

from . import caravan
from .bundles import (
    NOTHING,
    Counts,
    counts,
    covers,
    each,
    exchanges,
    minus,
    plus,
    returning,
    share,
    spare,
    traded,
    worth,
)
from .caravan import Cards, Deal
from .planning import Plan, firsts, search
from .sea import Boat, Market, Own, Sea, asked_at, holding, read_boat, read_own, read_sea, wanted

DEPTH = 4
"""Own turns that a plan looks ahead."""
WIDTH = 12
"""Plans that are followed at each depth."""
_PACE = 0.9
"""What a point is worth a turn later."""
_STEPS = 4
"""More cards than this are never put away in one turn."""
_OUTPOST = 1.0
"""What an outpost is worth beyond its points: one can trade there from now on."""
_CARD = 1.5
"""What a free merchant card is worth."""
_BONUS = {BonusKind.MOVE: 3.0, BonusKind.CARGO: 1.0, BonusKind.VP: 0.0}
"""What a bonus tile is worth beyond its points."""
_CLAIM = 7.0
"""What a victory point tile is worth beyond its points: it brings the end nearer."""


class _State(msgspec.Struct, frozen=True):
    """What planning changes. The boat's hold is the one that counts."""

    boat: Boat
    hand: int
    played: int

    @property
    def cards(self) -> caravan.Own:
        """What the seat has, for a turn with cards."""
        return caravan.Own(self.boat.hold, self.hand, self.played)


class _Step(msgspec.Struct, frozen=True):
    """One turn in a plan: with cards, or with the boat."""

    deal: Deal = Deal()
    goal: int = -1
    away: tuple[int, ...] = ()
    """The cards put away, one for each step that is not free."""
    paid: Counts = NOTHING
    build: Counts | None = None
    reward: int = -1
    """A free card's number; or none, and a bonus tile."""
    bonus: BonusKind | None = None
    trade: int = 0
    claim: bool = False
    returned: Counts = NOTHING


def turns(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The turns that it would like, the best first."""
    assert sight.prompt is not None
    match sight.prompt.kind:
        case PromptKind.START:
            yield from _starts(sight)
        case PromptKind.RETURN_CUBES:
            yield _returns(sight)
        case _:
            yield from _turns(sight)


def _starts(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The most valuable pile, and a place in the middle of the markets (SS-05)."""
    offered = next(choice.piles for choice in sight.choices if choice.kind == "take_pile")
    take = TakePile(max(offered, key=worth))
    sea = read_sea(sight.view, sight.seat)
    distances = sea.shape.distances
    best = min(sea.markets, key=lambda place: sum(distances[place][goal] for goal in sea.markets))
    yield take, PlaceBoat(sea.names[best])


def _returns(sight: Sight) -> tuple[Action, ...]:
    """Cubes that the best port doesn't ask for, the lowest first (SS-17)."""
    due = next(choice.cubes for choice in sight.choices if choice.kind == "return_cubes")
    assert due is not None
    sea = read_sea(sight.view, sight.seat)
    hold = counts(sight.view.players[sight.seat - 1].hold)
    return returning(spare(hold, due.min, wanted(sea, hold, 0)))


def _turns(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The first turns of the best plans (SS-07)."""
    view = sight.view
    player = view.players[sight.seat - 1]
    planner = _Planner(view, sight.seat)
    start = _State(
        read_boat(view, sight.seat, planner.sea), planner.start.hand, planner.start.played
    )
    for step in firsts(planner.search(start, 1 if view.last_round else DEPTH)):
        yield planner.actions(view, player.seat, start, step)


# -- planning ------------------------------------------------------------------------------


class _Planner:
    """What stays as it is for the time of a plan."""

    def __init__(self, view: GameView, seat: int) -> None:
        player = view.players[seat - 1]
        self.sea: Sea = read_sea(view, seat)
        self.own: Own = read_own(player)
        self.cards: Cards
        self.start: caravan.Own
        self.cards, self.start = caravan.read_cards(view, player)
        self.face_up = (1 << len(player.hand) + len(player.played)) - 1
        """The cards that lie on no discard pile when the plan begins."""
        self.free = self.own.free - 1  # the first step costs too (SS-12)

    def search(self, start: _State, depth: int) -> list[Plan[_State, _Step]]:
        """The best plans, the best first."""
        return search(
            start,
            self._options,
            lambda state: self._promise(state, depth),
            depth=depth,
            width=WIDTH,
            pace=_PACE,
        )

    def _options(self, state: _State, first: bool) -> Iterator[tuple[float, _State, _Step]]:
        """What a turn may bring: points, the state after it, and how."""
        boat = state.boat
        keep = wanted(self.sea, boat.hold, boat.taken)
        for own, deal in caravan.deals(self.cards, state.cards, keep, first=first):
            after = _State(holding(boat, own.hold), own.hand, own.played)
            yield self._limited(0.0, after, _Step(deal), keep)
        for goal, far in enumerate(self.sea.shape.distances[boat.place]):
            if goal not in self.sea.markets and goal not in self.sea.ports:
                continue
            away = self._put_away(state, max(0, far - self.free), first=first)
            owed = self.sea.crowd[goal] if first and far else 0
            if away is None or owed > sum(boat.hold):
                continue
            pay = spare(boat.hold, owed, asked_at(self.sea, boat, goal))
            gone = sum(1 << card for card in away)
            there = Boat(goal, minus(boat.hold, pay), boat.outposts, boat.built, boat.taken)
            moved = _State(there, state.hand & ~gone, state.played | gone)
            for gained, after, step in self._deeds(moved, _Step(Deal(), goal, away, pay)):
                yield self._limited(gained, after, step, keep)

    def _put_away(self, state: _State, count: int, *, first: bool) -> tuple[int, ...] | None:
        """The cards that pay for steps: those played, then those of least use in the hand.

        After the first turn of a plan nobody knows any more which played cards are face up.
        """
        if count > _STEPS:
            return None
        played = state.played & (self.face_up if first else 0)
        cards = [*_bits(played), *reversed(_bits(state.hand))]
        return tuple(cards[:count]) if len(cards) >= count else None

    def _limited(
        self, gained: float, after: _State, step: _Step, keep: Counts
    ) -> tuple[float, _State, _Step]:
        """What is over the limit goes back (SS-17)."""
        limit = self.own.limit + (3 if step.bonus is BonusKind.CARGO else 0)
        over = sum(after.boat.hold) - limit
        if over <= 0:
            return gained, after, step
        back = spare(after.boat.hold, over, keep)
        boat = holding(after.boat, minus(after.boat.hold, back))
        return gained, _State(boat, after.hand, after.played), _with(step, returned=back)

    def _deeds(self, state: _State, start: _Step) -> Iterator[tuple[float, _State, _Step]]:
        """What can be done where the boat is (SS-14)."""
        boat = state.boat
        port = self.sea.ports.get(boat.place)
        if port is not None:
            if not boat.taken >> boat.place & 1 and covers(boat.hold, port.cost):
                taken = boat.taken | 1 << boat.place
                left = minus(boat.hold, port.cost)
                after = Boat(boat.place, left, boat.outposts, boat.built, taken)
                gained = port.points + _CLAIM
                yield gained, _with(state, boat=after), _with(start, claim=True)
            return
        market = self.sea.markets[boat.place]
        gained = 0.0
        if not boat.outposts >> boat.place & 1:
            row = boat.built[market.row]
            if row >= len(self.own.values[market.row]) or market.price > sum(boat.hold):
                return
            gained, state, start = self._built(state, start, market)
            boat = state.boat
            yield gained, state, start
        most = exchanges(boat.hold, market.cost, market.gain)
        for count in sorted({most, (most + 1) // 2, 1} if most else ()):
            hold = traded(boat.hold, market.cost, market.gain, count)
            yield gained, _with(state, boat=holding(boat, hold)), _with(start, trade=count)

    def _built(self, state: _State, start: _Step, market: Market) -> tuple[float, _State, _Step]:
        """An outpost, with the reward of a column if it is the last one there (SS-15)."""
        boat = state.boat
        row = boat.built[market.row]
        price = spare(boat.hold, market.price, market.cost)
        built = (*boat.built[: market.row], row + 1, *boat.built[market.row + 1 :])
        hold = minus(boat.hold, price)
        gained = self.own.values[market.row][row] + _OUTPOST
        step = _with(start, build=price)
        hand = state.hand
        if min(built) > min(boat.built):
            tiles = self.sea.bonuses if min(built) > 1 else {}
            bonus = max(tiles, key=lambda kind: _BONUS[kind] + tiles[kind], default=None)
            worth_of_tile = _BONUS[bonus] + tiles[bonus] if bonus else 0.0
            free = [card for card in self.cards.row if not (hand | state.played) >> card & 1]
            if bonus is not None and (worth_of_tile > _CARD or not free):
                gained += worth_of_tile
                step = _with(step, bonus=bonus)
            elif free:
                card = max(free, key=lambda card: worth(self.cards.faces[card].lying))
                gained += _CARD
                hold = plus(hold, self.cards.faces[card].lying)
                hand |= 1 << card
                step = _with(step, reward=card)
        there = Boat(boat.place, hold, boat.outposts | 1 << boat.place, built, boat.taken)
        return gained, _State(there, hand, state.played), step

    def _promise(self, state: _State, depth: int) -> float:
        """What a state may bring: how near a port's price is, and the cards."""
        boat = state.boat
        hold = boat.hold
        if depth == 1:  # the last turn: cubes count as they are (EW-31)
            return float(hold[1] + hold[2] + hold[3])
        best = 0.0
        steps = self.sea.shape.distances[boat.place]
        for place, port in self.sea.ports.items():
            if not boat.taken >> place & 1:
                part = share(hold, port.cost)
                near = (port.points + _CLAIM) * part * part * (1 - 0.05 * steps[place])
                best = max(best, near)
        cubes = 0.12 * worth(hold)
        return 0.7 * best + cubes + caravan.value(self.cards, state.cards)

    # -- from a plan to a turn

    def actions(self, view: GameView, seat: int, start: _State, step: _Step) -> tuple[Action, ...]:
        """The first turn of a plan as actions."""
        if step.goal < 0:
            return (*caravan.actions(self.cards, step.deal), *returning(step.returned))
        found: list[Action] = []
        way = self.sea.shape.way(start.boat.place, step.goal)
        free = len(way) - len(step.away)
        names = [None] * free + [self.cards.faces[card].name for card in step.away]
        for place, name in zip(way, names, strict=True):
            found.append(Move(self.sea.names[place], card=name))
        if way:
            assert view.islands is not None
            owners = [owner for owner in view.islands.tiles[step.goal].boats if owner != seat]
            found += [PayOwner(o, c) for o, c in zip(owners, each(step.paid), strict=False)]
        if step.claim:
            found.append(ClaimTile())
        if step.build is not None:
            found.append(BuildOutpost(Cubes(*step.build)))
            if step.bonus is not None:
                found.append(TakeBonus(step.bonus))
            if step.reward >= 0:
                found.append(TakeCard(self.cards.faces[step.reward].name))
        if step.trade:
            found.append(Trade(step.trade))
        return (*found, *returning(step.returned))


def _bits(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


_with = msgspec.structs.replace
