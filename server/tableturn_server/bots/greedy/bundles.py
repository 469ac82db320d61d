"""Bundles of cubes as bots plan with them: tuples of four counts, which are quick."""

from __future__ import annotations

from tableturn_server.rules.actions import ReturnCubes
from tableturn_server.rules.mechanics.cubes import Color, Cubes, CubesView

Counts = tuple[int, int, int, int]
NOTHING: Counts = (0, 0, 0, 0)


def counts(cubes: CubesView | None) -> Counts:
    """A bundle of a view."""
    return (cubes.yellow, cubes.red, cubes.green, cubes.brown) if cubes else NOTHING


def plus(one: Counts, other: Counts) -> Counts:
    """Both bundles together."""
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])


def minus(one: Counts, other: Counts) -> Counts:
    """What is left; the other bundle must be contained."""
    return (one[0] - other[0], one[1] - other[1], one[2] - other[2], one[3] - other[3])


def covers(one: Counts, other: Counts) -> bool:
    """The other bundle is contained."""
    return one[0] >= other[0] and one[1] >= other[1] and one[2] >= other[2] and one[3] >= other[3]


def spare(hold: Counts, number: int, keep: Counts) -> Counts:
    """So many cubes to give away: those beyond `keep` first, and the lowest first."""
    given = [0, 0, 0, 0]
    for kept in (keep, NOTHING):
        for color in range(4):
            more = min(number, hold[color] - given[color] - kept[color])
            if more > 0:
                given[color] += more
                number -= more
    return (given[0], given[1], given[2], given[3])


def exchanges(hold: Counts, cost: Counts, gain: Counts) -> int:
    """How many times a trade can be done (EW-17, SR-11)."""
    if not covers(hold, cost):
        return 0
    return min(
        (hold[c] - cost[c]) // (cost[c] - gain[c]) + 1 for c in range(4) if cost[c] > gain[c]
    )


def traded(hold: Counts, cost: Counts, gain: Counts, count: int) -> Counts:
    """What is held after so many exchanges."""
    return (
        hold[0] + count * (gain[0] - cost[0]),
        hold[1] + count * (gain[1] - cost[1]),
        hold[2] + count * (gain[2] - cost[2]),
        hold[3] + count * (gain[3] - cost[3]),
    )


def worth(cubes: Counts) -> int:
    """What cubes are worth by their colours."""
    return cubes[0] + 2 * cubes[1] + 3 * cubes[2] + 4 * cubes[3]


def share(hold: Counts, cost: Counts) -> float:
    """How much of a price is in a hold, by worth."""
    have = (
        min(hold[0], cost[0])
        + 2 * min(hold[1], cost[1])
        + 3 * min(hold[2], cost[2])
        + 4 * min(hold[3], cost[3])
    )
    return have / worth(cost)


def upgraded(hold: Counts, most: int) -> tuple[Counts, tuple[int, ...]]:
    """The lowest cubes made one better each (EW-21), and the colours that they had."""
    cubes, colors = list(hold), []
    for _ in range(most):
        color = next((c for c in range(3) if cubes[c]), None)
        if color is None:
            break
        cubes[color] -= 1
        cubes[color + 1] += 1
        colors.append(color)
    return (cubes[0], cubes[1], cubes[2], cubes[3]), tuple(colors)


def each(cubes: Counts) -> list[Color]:
    """The cubes of a bundle, one by one."""
    return [Color(color + 1) for color, count in enumerate(cubes) for _ in range(count)]


def returning(cubes: Counts) -> tuple[ReturnCubes, ...]:
    """The action that returns cubes to the supply; none for none."""
    return (ReturnCubes(Cubes(*cubes)),) if any(cubes) else ()
