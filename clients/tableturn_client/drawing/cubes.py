"""Cubes: coloured letters Y, R, G and B, never the colour alone."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import actions_pb2
from tableturn_client.drawing.look import Look

COLORS = ("yellow", "red", "green", "brown")
"""The colours of cubes in ascending order, by their number in `CubeColor` from 1."""
LETTERS = "YRGB"
STYLES = {
    "Y": "bold black on color(220)",
    "R": "bold white on color(160)",
    "G": "bold white on color(28)",
    "B": "bold white on color(94)",
}
"""Foreground and background are both given, so that they read on light and dark terminals."""
FEW = 8
"""A bundle of more cubes is drawn with counts."""


def counts(cubes: actions_pb2.Cubes) -> tuple[int, int, int, int]:
    """How many yellow, red, green and brown cubes."""
    return (cubes.yellow, cubes.red, cubes.green, cubes.brown)


def total(cubes: actions_pb2.Cubes) -> int:
    """How many cubes in all."""
    return sum(counts(cubes))


def letters(cubes: actions_pb2.Cubes, few: int = FEW) -> str:
    """The bundle as letters, `YYR`; one of more than `few` cubes with counts, `7Y2R`."""
    pairs = [(letter, count) for letter, count in zip(LETTERS, counts(cubes), strict=True) if count]
    if sum(count for _, count in pairs) <= few:
        return "".join(letter * count for letter, count in pairs)
    return "".join(f"{count}{letter}" for letter, count in pairs)


def colored(text: str) -> Text:
    """Letters of cubes, each in its colour; other characters as they are."""
    drawn = Text()
    for char in text:
        drawn.append(char, STYLES.get(char, ""))
    return drawn


def bundle(cubes: actions_pb2.Cubes, few: int = FEW) -> Text:
    """The bundle in colour."""
    return colored(letters(cubes, few))


def trade(cost: actions_pb2.Cubes, gain: actions_pb2.Cubes) -> Text:
    """An exchange: `YY>G`."""
    return Text().join((bundle(cost), Text(">", "bold"), bundle(gain)))


def hold(cubes: actions_pb2.Cubes, limit: int, look: Look) -> Text:
    """The cargo hold: what is in it, its free spaces, and how full it is."""
    held = total(cubes)
    drawn = bundle(cubes, max(FEW, limit + 3))
    free = max(0, limit - held)
    drawn.append(look.signs.dot * free, "dim")
    drawn.append(f" {held}/{limit}" if limit else f" {held}")
    if limit and held > limit:
        drawn.append(" OVER", "bold red")
    return drawn


def color_word(color: int) -> str:
    """The word for a `CubeColor`."""
    return COLORS[color - 1] if 1 <= color <= len(COLORS) else f"colour {color}"
