"""Whole games of Spice Road by a quick greedy player: the rules alone, on one core.

    python -m benchmarks spice-road             games and plies per second
    python -m benchmarks.spice_road --profile   and where the time goes

The player looks one turn ahead: it claims the dearest point card that it can pay, else it takes
the turn after which its cubes are worth most. It asks for all legal choices, stages every step
with its check, and confirms: the one way through the rules that tables use.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time

from benchmarks import measure
from benchmarks.workload import bound
from tableturn_server.bots.greedy.bundles import (
    NOTHING,
    Counts,
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
from tableturn_server.rules.actions import (
    AcquireCard,
    Action,
    ClaimCard,
    PlayCard,
    PutCube,
    Rest,
    Trade,
    Upgrade,
)
from tableturn_server.rules.games.spice_road import LIMIT, SpiceRoad
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tableturn_server.rules.mechanics.merchants import Card
from tableturn_server.rules.mechanics.position import Position
from tableturn_server.rules.views import CardKind

SECONDS = 8.0
ENOUGH = 8
"""With fewer cards the player rather acquires one than to gain LITTLE."""
LITTLE = 3.0
PEER = 197
"""Games per second that are known of the best public engine in pure Python: two players, greedy.

Not measured here: another machine, another and simpler player, no lists of choices with their
bounds, and it ends at once where the rules finish the round.
"""


def main() -> None:
    """Games in each number of seats."""
    rows: list[list[object]] = [
        ["seats", "games/s", "turns/s", "us/turn", "turns a game", "winner"]
    ]
    for seats in SpiceRoad.seats:
        game = bound("spice-road", seats)
        assert isinstance(game, SpiceRoad)
        games = plies = points = 0
        begin = time.process_time()
        while (spent := time.process_time() - begin) < SECONDS / len(SpiceRoad.seats):
            turns, won = play(game, games.to_bytes(16, "big"))
            games, plies, points = games + 1, plies + turns, points + won
        rows.append(
            [
                seats,
                f"{games / spent:.1f}",
                f"{plies / spent:.0f}",
                f"{spent / plies * 1e6:.0f}",
                plies // games,
                f"{points / games:.0f}",
            ]
        )
    measure.show(f"Spice Road, a quick greedy player, full rules ({measure.machine()})", rows)
    print(f"  Known of the best public engine in pure Python: {PEER} games/s with two players, on")
    print("  another machine, by a simpler player, without choices with bounds and a last round.")


def profile() -> None:
    """Where the time of two hundred games of two players goes."""
    game = bound("spice-road", 2)
    assert isinstance(game, SpiceRoad)
    with cProfile.Profile() as found:
        for number in range(200):
            play(game, number.to_bytes(16, "big"))
    pstats.Stats(found).sort_stats("tottime").print_stats(25)


def play(game: SpiceRoad, seed: bytes) -> tuple[int, int]:
    """The turns of one game, and the points of its winner."""
    position = game.setup(seed)
    turns = 0
    while True:
        open = position.open
        outcome = game.outcome(open)
        if outcome is not None:
            return turns, outcome.results[0].points
        seat = open.rounds.seat
        for action in _turn(game, open, seat):
            open = game.stage(open, seat, action)
        hold = open.player(seat).hold
        if hold.total > LIMIT:
            (back,) = returning(_over(hold, _goal(game, open, hold)))
            open = game.stage(open, seat, back)
        position = game.resolve(open, position.hidden, seat)
        turns += 1


def _turn(game: SpiceRoad, open: Position, seat: int) -> tuple[Action, ...]:
    """The best single turn out of what is legal."""
    choices = {choice.kind: choice for choice in game.legal_actions(open, seat)}
    orders, cards = game.orders, game.caravan.cards
    if "claim_card" in choices:
        names = choices["claim_card"].cards
        return (ClaimCard(max(names, key=lambda name: orders.cards[orders.numbers[name]].points)),)
    hold = open.player(seat).hold
    goal = _goal(game, open, hold)
    turn: tuple[Action, ...] = ()
    now = best = _worth(hold, goal)
    for name in choices["play_card"].cards if "play_card" in choices else ():
        after, steps = _played(cards[game.caravan.numbers[name]], hold)
        kept = minus(after, _over(after, goal)) if sum(after) > LIMIT else after
        found = _worth(kept, goal)
        if found > best:
            best, turn = found, (PlayCard(name), *steps)
    offered = choices["acquire_card"].cards if "acquire_card" in choices else ()
    own = open.player(seat).cards
    if offered and best < now + LITTLE and len(own.hand) + len(own.played) < ENOUGH:
        return _acquired(open, hold, offered)
    if turn:
        return turn
    return (Rest(),) if own.played or not offered else _acquired(open, hold, offered)


def _played(card: Card, hold: Counts) -> tuple[Counts, tuple[Action, ...]]:
    """What is held after a card was played as far as it goes, and the steps that follow."""
    if card.kind is CardKind.SPICE:
        return plus(hold, card.gain), ()
    if card.kind is CardKind.TRADE:
        count = exchanges(hold, card.cost, card.gain)
        return traded(hold, card.cost, card.gain, count), (Trade(count),)
    after, colors = upgraded(hold, card.upgrades)
    return after, tuple(Upgrade(Color(color + 1)) for color in colors)


def _acquired(open: Position, hold: Cubes, offered: tuple[str, ...]) -> tuple[Action, ...]:
    """The card of the row with the most cubes on it for its price."""
    row = open.row.cards
    place = max(range(len(offered)), key=lambda n: (row[n].cubes.total - n, -n))
    puts = zip(each(hold.lowest(place)), offered, strict=False)
    return (AcquireCard(offered[place]), *(PutCube(cube, name) for cube, name in puts))


def _goal(game: SpiceRoad, open: Position, hold: Counts) -> Counts:
    """The price that the cubes come nearest to."""
    prices = (game.orders.cards[card].cost for card in open.points.cards)
    return max(prices, key=lambda price: share(hold, price), default=NOTHING)


def _worth(hold: Counts, goal: Counts) -> float:
    """What cubes are worth: those that the goal asks for the most."""
    return 0.2 * worth(hold) + (30 * share(hold, goal) if any(goal) else 0)


def _over(hold: Counts, goal: Counts) -> Counts:
    """What is returned to the supply: cubes that the goal doesn't ask for."""
    return spare(hold, sum(hold) - LIMIT, goal)


if __name__ == "__main__":
    if "--profile" in sys.argv[1:]:
        profile()
    else:
        main()
