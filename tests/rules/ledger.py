"""The cubes in play, and what each action does to them, read from views alone.

Kept apart from the rules under test: an action's effect is what the rule book
says about what the players see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tableturn_server.rules.actions import (
    Action,
    BonusKind,
    BuildOutpost,
    ClaimCard,
    ClaimTile,
    Harvest,
    PlayCard,
    ReturnCubes,
    Trade,
    Upgrade,
)
from tableturn_server.rules.mechanics.cubes import CubesView
from tableturn_server.rules.views import CardKind, GameView

Counts = tuple[int, ...]
"""Cubes of each colour; negative where the supply got some back."""

NONE: Counts = (0, 0, 0, 0)
YELLOW: Counts = (1, 0, 0, 0)
RED: Counts = (0, 1, 0, 0)


def counts(seen: CubesView | None) -> Counts:
    return (seen.yellow, seen.red, seen.green, seen.brown) if seen else NONE


def add(*bundles: Counts) -> Counts:
    return tuple(map(sum, zip(*bundles, strict=True))) if bundles else NONE


def times(bundle: Counts, number: int) -> Counts:
    return tuple(count * number for count in bundle)


def minus(bundle: Counts) -> Counts:
    return times(bundle, -1)


def in_play(see: GameView) -> Counts:
    """The cubes in holds, on tiles and cards, and in starting piles: all but the supply."""
    lying = see.islands.tiles if see.islands else ()
    row = see.merchants.row if see.merchants else ()
    return add(
        NONE,
        *(counts(player.hold) for player in see.players),
        *(counts(tile.cubes) for tile in lying),
        *(counts(card.cubes) for card in row),
        *(counts(pile) for pile in see.piles),
    )


class Staged(NamedTuple):
    """How far the turn of the seat that acts has come."""

    actions: tuple[Action, ...] = ()
    answers: bool = False
    """The seat is asked to return cubes, and its answer waits for others (EW-R10)."""


def eastern_wonders(see: GameView, seat: int, action: Action, staged: Staged) -> Counts:
    """What an action brings into play, by EW-11 to EW-22.

    Moving (EW-11), paying owners (EW-12), picking up (EW-13) and the starting
    piles (EW-08) only shift cubes between holds, tiles and piles.
    """
    assert see.islands is not None
    assert see.harbour is not None
    me = see.players[seat - 1]
    here = next((tile for tile in see.islands.tiles if tile.tile == me.boat), None)
    match action:
        case BuildOutpost(paid):
            return minus(paid)
        case ReturnCubes(returned):
            return NONE if staged.answers else minus(returned)
        case Upgrade(color):
            return upgraded(color)
        case Trade(number):
            assert here is not None
            return times(add(counts(here.gain), minus(counts(here.cost))), number)
        case ClaimTile():
            port = next(port for port in see.harbour.ports if port.tile == me.boat)
            assert port.victory_tile is not None
            return minus(counts(port.victory_tile.cost))
        case Harvest():
            reds = sum(1 for tile in me.bonuses if tile.kind == BonusKind.HARVEST)
            return add(times(YELLOW, 2), times(RED, reds))
    return NONE


def spice_road(see: GameView, seat: int, action: Action, staged: Staged) -> Counts:
    """What an action brings into play, by SR-11 to SR-15.

    Acquiring a card only shifts cubes between holds and cards (SR-12).
    """
    me = see.players[seat - 1]
    match action:
        case PlayCard(name):
            card = next(card for card in me.hand if card.card == name)
            return counts(card.gain) if card.kind == CardKind.SPICE else NONE
        case Trade(number):
            card = me.played[-1]
            return times(add(counts(card.gain), minus(counts(card.cost))), number)
        case Upgrade(color):
            return upgraded(color)
        case ClaimCard(name):
            assert see.point_cards is not None
            claimed = next(card for card in see.point_cards.row if card.card == name)
            return minus(counts(claimed.cost))
        case ReturnCubes(returned):
            return minus(returned)
    return NONE


def from_sand_to_sea(see: GameView, seat: int, action: Action, staged: Staged) -> Counts:
    """A card's effect as in Spice Road, all else as in Eastern Wonders (SS-10 to SS-17)."""
    plays = any(isinstance(one, PlayCard) for one in (*staged.actions, action))
    return (spice_road if plays else eastern_wonders)(see, seat, action, staged)


def upgraded(color: int) -> Counts:
    """A cube went back to the supply, and one of the next colour came."""
    one = tuple(int(color == number) for number in range(1, 5))
    return add(minus(one), (0, *one[:3]))


def nothing(see: GameView, seat: int, action: Action, staged: Staged) -> Counts:
    """A game without cubes."""
    return NONE


LEDGERS: dict[str, Callable[[GameView, int, Action, Staged], Counts]] = {
    "eastern-wonders": eastern_wonders,
    "spice-road": spice_road,
    "from-sand-to-sea": from_sand_to_sea,
    "free-table": nothing,
}
"""For each game: what an action brings into play."""
