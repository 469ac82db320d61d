"""Cubes: four colours in ascending order of value, and bundles of them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import msgspec


class Color(IntEnum):
    """A colour of cubes. The numbers are those of `tableturn.v1.CubeColor`."""

    YELLOW = 1
    RED = 2
    GREEN = 3
    BROWN = 4

    @property
    def word(self) -> str:
        """The colour's name in texts, such as `red`."""
        return self.name.lower()


COLORS = tuple(Color)
LETTERS = "YRGB"


class Cubes(NamedTuple):
    """A bundle of cubes: how many of each colour, none below zero."""

    yellow: int = 0
    red: int = 0
    green: int = 0
    brown: int = 0

    @property
    def total(self) -> int:
        """How many cubes in all."""
        return self[0] + self[1] + self[2] + self[3]

    @property
    def letters(self) -> str:
        """The bundle as letters in ascending order, such as `YYR`; empty for none."""
        return "".join(letter * count for letter, count in zip(LETTERS, self, strict=True))

    @property
    def colors(self) -> tuple[Color, ...]:
        """The colours of which there is at least one, in ascending order."""
        return tuple(color for color in COLORS if self[color - 1])

    def of(self, color: Color) -> int:
        """How many of one colour."""
        return self[color - 1]

    def plus(self, other: Cubes) -> Cubes:
        """Both bundles together."""
        return Cubes(self[0] + other[0], self[1] + other[1], self[2] + other[2], self[3] + other[3])

    def minus(self, other: Cubes) -> Cubes:
        """What is left. Raises ValueError if the other bundle is not contained."""
        if not self.covers(other):
            raise ValueError(f"{other.letters} is not contained in {self.letters or 'nothing'}")
        return Cubes(self[0] - other[0], self[1] - other[1], self[2] - other[2], self[3] - other[3])

    def times(self, count: int) -> Cubes:
        """The bundle taken `count` times."""
        return Cubes(self[0] * count, self[1] * count, self[2] * count, self[3] * count)

    def covers(self, other: Cubes) -> bool:
        """The other bundle is contained in this one."""
        return (
            self[0] >= other[0]
            and self[1] >= other[1]
            and self[2] >= other[2]
            and self[3] >= other[3]
        )

    def lowest(self, count: int) -> Cubes:
        """The `count` cubes of the lowest value (DR-3: what a default gives away)."""
        taken = []
        for held in self:
            taken.append(min(held, count))
            count -= taken[-1]
        return Cubes(*taken)


NO_CUBES = Cubes()


def one(color: Color) -> Cubes:
    """A bundle of a single cube."""
    counts = [0, 0, 0, 0]
    counts[color - 1] = 1
    return Cubes(*counts)


def from_letters(letters: str) -> Cubes:
    """The bundle written as letters, such as `YYR`. Raises ValueError for others."""
    unknown = set(letters) - set(LETTERS)
    if unknown:
        raise ValueError(f"{letters!r}: cubes are written with the letters {LETTERS}")
    return Cubes(*(letters.count(letter) for letter in LETTERS))


class CubesView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bundle as it stands in views (`tableturn.v1.Cubes`)."""

    yellow: int = 0
    red: int = 0
    green: int = 0
    brown: int = 0


def view(cubes: Cubes) -> CubesView:
    """The bundle as it stands in views."""
    return CubesView(*cubes)
