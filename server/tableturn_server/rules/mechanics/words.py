"""Numbers of things in sentences."""

from __future__ import annotations

from tableturn_server.rules.mechanics.cubes import Cubes


def cubes_words(count: int) -> str:
    """A number of cubes."""
    return "1 cube" if count == 1 else f"{count} cubes"


def times_words(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def seats_words(seats: tuple[int, ...]) -> str:
    """Some seats."""
    return "seat " + " and seat ".join(map(str, seats))


def paying_words(cubes: Cubes) -> str:
    """A price."""
    return f"paying {cubes.letters}" if cubes.total else "free of charge"
