"""What a seat may do now: choices with bounds, and what they admit.

A choice is the only place where legality is decided: what a game lists is what
it accepts. `admits` tells whether an action lies within a choice, `pick` takes
one action out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from tableturn import notation
from tableturn_server.rules import actions
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.mechanics.cubes import NO_CUBES, Color, Cubes


class Illegal(Exception):
    """The action is readable, but not legal here. The sentence is for a person."""


class CubeBounds(msgspec.Struct, frozen=True):
    """Any bundle of `min` to `max` cubes in all that `available` covers."""

    min: int
    max: int
    available: Cubes

    def admits(self, cubes: Cubes) -> bool:
        """The bundle lies within the bounds."""
        return (
            min(cubes) >= 0 and self.min <= cubes.total <= self.max and self.available.covers(cubes)
        )


class Range(msgspec.Struct, frozen=True):
    """Whole numbers from `min` to `max`, both included."""

    min: int
    max: int


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of action that a seat may take now (`tableturn.v1.Choice`).

    Each list or bound that is set goes to the action's field of the same name
    in the singular. Every combination is legal.
    """

    kind: str
    tiles: tuple[str, ...] = ()
    colors: tuple[Color, ...] = ()
    cubes: CubeBounds | None = None
    count: Range | None = None
    seats: tuple[int, ...] = ()
    bonuses: tuple[BonusKind, ...] = ()
    piles: tuple[Cubes, ...] = ()
    points: Range | None = None
    cards: tuple[str, ...] = ()
    label: str = ""


_LISTS = {
    "tile": "tiles",
    "cube": "colors",
    "seat": "seats",
    "bonus": "bonuses",
    "pile": "piles",
    "card": "cards",
}
_CLASSES: dict[str, type[Any]] = {str(kind.__struct_config__.tag): kind for kind in Action.__args__}


@cache
def spelled(kind: str) -> str:
    """What a kind of action is called where it is typed, such as `pick up`."""
    return notation.forms(kind)[0].name


def usage(kind: str) -> str:
    """How a kind of action is typed, such as `move TILE [dropping COLOUR]`."""
    return f"`{notation.forms(kind)[0].usage}`"


def _word(value: object) -> str:
    """A value as it stands in a sentence."""
    if isinstance(value, Cubes):
        return value.letters or "no cube"
    if isinstance(value, Color | BonusKind):
        return value.name.lower()
    return str(value)


def check(choice: Choice, action: Action) -> None:
    """Raise Illegal, with a sentence that says what is allowed, unless admitted."""
    called = spelled(choice.kind)
    for name in action.__struct_fields__:
        value = getattr(action, name)
        if name in _LISTS:
            allowed = getattr(choice, _LISTS[name])
            if not allowed and value is None:
                continue
            if value not in allowed:
                if not allowed:
                    raise Illegal(f"{called}: no {name} is chosen here")
                given = "nothing" if value is None else _word(value)
                words = ", ".join(_word(item) for item in allowed)
                raise Illegal(f"{called}: {name} must be one of {words}, not {given}")
        elif name == "cubes":
            bounds = choice.cubes or CubeBounds(0, 0, NO_CUBES)
            if not bounds.admits(value):
                size = (
                    str(bounds.min) if bounds.min == bounds.max else f"{bounds.min} to {bounds.max}"
                )
                held = bounds.available.letters or "none"
                raise Illegal(f"{called}: choose {size} out of {held}, not {_word(value)}")
        else:
            limits = getattr(choice, name)
            if not limits.min <= value <= limits.max:
                span = f"from {limits.min} to {limits.max}"
                raise Illegal(f"{called}: {name} must be {span}, not {value}")


def pick(choice: Choice, below: Callable[[int], int]) -> Action:
    """One action out of a choice; `below(n)` picks a number in `0 .. n - 1`.

    With `lambda n: 0` this is the first offer, the smallest number and the
    cubes of the lowest value.
    """
    fields: dict[str, object] = {}
    kind = _CLASSES[choice.kind]
    for name in kind.__struct_fields__:
        if name in _LISTS:
            allowed = getattr(choice, _LISTS[name])
            if allowed:
                fields[name] = allowed[below(len(allowed))]
        elif name == "cubes":
            if choice.cubes is not None:
                fields[name] = _pick_cubes(choice.cubes, below)
        else:
            limits = getattr(choice, name)
            fields[name] = limits.min + below(limits.max - limits.min + 1)
    action: Action = kind(**fields)
    return action


def _pick_cubes(bounds: CubeBounds, below: Callable[[int], int]) -> Cubes:
    """A bundle within the bounds."""
    left = list(bounds.available)
    taken = [0, 0, 0, 0]
    for _ in range(bounds.min + below(min(bounds.max, sum(left)) - bounds.min + 1)):
        index = below(sum(left))
        color = next(i for i in range(4) if index < sum(left[: i + 1]))
        left[color] -= 1
        taken[color] += 1
    return Cubes(*taken)


__all__ = ["Choice", "CubeBounds", "Illegal", "Range", "actions", "check", "pick"]
