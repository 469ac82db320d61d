"""Greedy at Eastern Wonders: it plans a few of its own turns ahead, as if it were alone.

A plan is worth the points that it brings, the sooner the more, and what it leaves in the hold:
how near that is to what a port asks for. Of all plans it plays the first turn of the best.
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
    Harvest,
    Move,
    PayOwner,
    PickUp,
    PlaceBoat,
    TakeBonus,
    TakePile,
    Trade,
    Upgrade,
)
from tableturn_server.rules.game import PromptKind
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tableturn_server.rules.views import GameView

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
    upgraded,
    worth,
)
from .planning import Plan, firsts, search
from .sea import Boat, Own, Sea, asked_at, holding, read_boat, read_own, read_sea, wanted

DEPTH = 4
"""Own turns that a plan looks ahead."""
WIDTH = 12
"""Plans that are followed at each depth."""
_PACE = 0.9
"""What a point is worth a turn later."""
_PAID_STEPS = 2
"""More steps than this beyond the free ones are never paid for."""
_OUTPOST = 1.4
"""What an outpost is worth beyond its points: one can trade there from now on."""
_BONUS = {
    BonusKind.MOVE: 3.0,
    BonusKind.HARVEST: 2.0,
    BonusKind.CARGO: 2.0,
    BonusKind.UPGRADE: 1.5,
    BonusKind.VP: 0.0,
}
"""What a bonus tile is worth beyond its points."""
_CLAIM = 7.0
"""What a victory point tile is worth beyond its points: it brings the end nearer."""


class _Step(msgspec.Struct, frozen=True):
    """One turn in a plan: where to, what is given away and taken, and the one action there."""

    goal: int
    dropped: Counts = NOTHING
    paid: Counts = NOTHING
    picked: Counts = NOTHING
    build: Counts | None = None
    bonus: BonusKind | None = None
    upgrades: tuple[int, ...] = ()
    trade: int = 0
    claim: bool = False
    harvest: bool = False
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
            yield from _moves(sight)


def _starts(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The most valuable pile, and the place with the best plan (EW-08)."""
    offered = next(choice.piles for choice in sight.choices if choice.kind == "take_pile")
    take = TakePile(max(offered, key=worth))
    placing = sight.after(take)
    view = placing.view
    sea = read_sea(view, sight.seat)
    own = read_own(view.players[sight.seat - 1])
    hold = counts(view.players[sight.seat - 1].hold)
    built = tuple(0 for _ in own.values)
    best = max(
        sea.markets,
        key=lambda place: _search(sea, own, Boat(place, hold, 0, built), depth=2, width=4)[0].worth,
    )
    yield take, PlaceBoat(sea.names[best])


def _returns(sight: Sight) -> tuple[Action, ...]:
    """Cubes that the best port doesn't ask for, the lowest first (EW-22)."""
    due = next(choice.cubes for choice in sight.choices if choice.kind == "return_cubes")
    assert due is not None
    sea = read_sea(sight.view, sight.seat)
    hold = counts(sight.view.players[sight.seat - 1].hold)
    return returning(spare(hold, due.min, wanted(sea, hold, 0)))


def _moves(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The first turns of the best plans (EW-10)."""
    view = sight.view
    sea = read_sea(view, sight.seat)
    own = read_own(view.players[sight.seat - 1])
    boat = read_boat(view, sight.seat, sea)
    depth = 1 if view.last_round else DEPTH
    for step in firsts(_search(sea, own, boat, depth=depth, width=WIDTH)):
        yield _actions(view, sight.seat, sea, own, boat, step)


# -- planning ------------------------------------------------------------------------------


def _search(sea: Sea, own: Own, boat: Boat, *, depth: int, width: int) -> list[Plan[Boat, _Step]]:
    """The best plans, the best first."""
    return search(
        boat,
        lambda boat, first: _options(sea, own, boat, first=first),
        lambda boat: _promise(sea, own, boat, depth),
        depth=depth,
        width=width,
        pace=_PACE,
    )


def _options(sea: Sea, own: Own, boat: Boat, *, first: bool) -> Iterator[tuple[float, Boat, _Step]]:
    """What a turn may bring: points, the boat after it, and how."""
    steps = sea.shape.distances[boat.place]
    total = sum(boat.hold)
    for goal, far in enumerate(steps):
        dropped = max(0, far - own.free)
        owed = sea.crowd[goal] if first and far else 0
        if dropped > _PAID_STEPS or dropped + owed > total:
            continue
        keep = asked_at(sea, boat, goal)
        drop = spare(boat.hold, dropped, keep)
        hold = minus(boat.hold, drop)
        pay = spare(hold, owed, keep)
        hold = minus(hold, pay)
        lying = sea.lying[goal] if first and far else NOTHING
        hold = plus(hold, lying)
        start = _Step(goal, drop, pay, lying)
        for gained, after, step in _deeds(sea, own, boat, goal, hold, start):
            over = sum(after.hold) - own.limit
            if over > 0:
                back = spare(after.hold, over, wanted(sea, after.hold, after.taken))
                after = msgspec.structs.replace(after, hold=minus(after.hold, back))
                step = msgspec.structs.replace(step, returned=back)
            yield gained, after, step


def _deeds(
    sea: Sea, own: Own, boat: Boat, goal: int, hold: Counts, start: _Step
) -> Iterator[tuple[float, Boat, _Step]]:
    """The one action of a turn, where the movement has ended (EW-10)."""
    port = sea.ports.get(goal)
    if port is not None and not boat.taken >> goal & 1 and covers(hold, port.cost):
        yield (
            port.points + _CLAIM,
            Boat(
                goal,
                minus(hold, port.cost),
                boat.outposts,
                boat.built,
                boat.taken | 1 << goal,
            ),
            _with(start, claim=True),
        )
        return
    there = Boat(goal, hold, boat.outposts, boat.built, boat.taken)
    yield 0.0, holding(there, plus(hold, own.harvest)), _with(start, harvest=True)
    market = sea.markets.get(goal)
    if market is None:
        return
    gained = 0.0
    if not boat.outposts >> goal & 1:
        row = boat.built[market.row]
        if row >= len(own.values[market.row]) or market.price > sum(hold):
            return
        price = spare(hold, market.price, market.cost)
        built = (*boat.built[: market.row], row + 1, *boat.built[market.row + 1 :])
        gained = own.values[market.row][row] + _OUTPOST
        bonus = None
        if min(built) > min(boat.built) and sea.bonuses:
            bonus = max(sea.bonuses, key=lambda kind: _BONUS[kind] + sea.bonuses[kind])
            gained += _BONUS[bonus] + sea.bonuses[bonus]
        hold, better = upgraded(minus(hold, price), own.upgrades)
        there = Boat(goal, hold, boat.outposts | 1 << goal, built, boat.taken)
        start = _with(start, build=price, bonus=bonus, upgrades=better)
        yield gained, there, start
    most = exchanges(hold, market.cost, market.gain)
    for count in {most, (most + 1) // 2, 1} if most else ():
        after = traded(hold, market.cost, market.gain, count)
        yield gained, holding(there, after), _with(start, trade=count)


def _promise(sea: Sea, own: Own, boat: Boat, depth: int) -> float:
    """What a hold may bring: how much of a port's price it covers, and how far that port is."""
    hold = boat.hold
    if depth == 1:  # the last turn: cubes count as they are (EW-31)
        return float(hold[1] + hold[2] + hold[3])
    best = 0.0
    steps = sea.shape.distances[boat.place]
    for place, port in sea.ports.items():
        if boat.taken >> place & 1:
            continue
        part = share(hold, port.cost)
        near = (port.points + _CLAIM) * part * part * (1 - 0.06 * steps[place])
        best = max(best, near)
    return 0.7 * best + 0.12 * worth(hold)


_with = msgspec.structs.replace


# -- from a plan to a turn -----------------------------------------------------------------


def _actions(
    view: GameView, seat: int, sea: Sea, own: Own, boat: Boat, step: _Step
) -> tuple[Action, ...]:
    """The first turn of a plan as actions."""
    actions: list[Action] = []
    drops = each(step.dropped)
    way = sea.shape.way(boat.place, step.goal)
    for number, place in enumerate(way):
        cube = drops[number - own.free] if number >= own.free else None
        actions.append(Move(sea.names[place], cube))
    if way:
        assert view.islands is not None
        tile = view.islands.tiles[step.goal]
        owners = [owner for owner in tile.boats if owner != seat]
        actions += [PayOwner(o, c) for o, c in zip(owners, each(step.paid), strict=False)]
    if any(step.picked):
        actions.append(PickUp(Cubes(*step.picked)))
    if step.claim:
        actions.append(ClaimTile())
    if step.harvest:
        actions.append(Harvest())
    if step.build is not None:
        actions.append(BuildOutpost(Cubes(*step.build)))
        if step.bonus is not None:
            actions.append(TakeBonus(step.bonus))
        actions += [Upgrade(Color(color + 1)) for color in step.upgrades]
    if step.trade:
        actions.append(Trade(step.trade))
    return (*actions, *returning(step.returned))
