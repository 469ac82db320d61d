"""Games to play through the service: acts that are known beforehand to be legal.

The rules run here, not in the measured server: with a chosen seed a table plays the same game
wherever it is, so a client only has to send what was found out.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tableturn_server.rules import catalog, components
from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import pick
from tableturn_server.rules.game import Game


@dataclass(frozen=True)
class Ply:
    """One call of Act: a seat's single action, or the confirmation of its turn."""

    seat: int
    action: Action | None
    confirm: bool


def bound(name: str, seats: int, **options: str) -> Game[Any, Any]:
    """A game with its shipped components; options that aren't given have their defaults."""
    kind = catalog.GAMES[name]
    chosen = components.shipped(kind.component_set) if kind.component_set else None
    return catalog.bind(name, seats, catalog.complete_options(kind, options), chosen)


def play(game: Game[Any, Any], seed: bytes, dice: random.Random, most: int) -> list[Ply]:
    """The plies of a random game, at most so many."""
    resolved = game.setup(seed)
    open_, hidden = resolved.open, resolved.hidden
    plies: list[Ply] = []
    while len(plies) < most and (prompts := game.prompts(open_)):
        seat = prompts[0].seat
        while len(plies) < most:
            prompt = next(p for p in game.prompts(open_) if p.seat == seat)
            listed = game.legal_actions(open_, seat)
            choices = tuple(choice for choice in listed if choice.kind != "finish_game")
            if prompt.can_confirm and (not choices or dice.random() < 0.3):
                resolved = game.resolve(open_, hidden, seat)
                open_, hidden = resolved.open, resolved.hidden
                plies.append(Ply(seat, None, confirm=True))
                break
            action = pick(_preferred(choices, dice), dice.randrange)
            open_ = game.stage(open_, seat, action)
            plies.append(Ply(seat, action, confirm=False))
    return plies


def _preferred(choices: tuple[Any, ...], dice: random.Random) -> Any:
    """A choice at random, but points where there are some to be had: games come to an end."""
    claims = [choice for choice in choices if choice.kind in ("claim_tile", "claim_card")]
    return claims[0] if claims else dice.choice(choices)
