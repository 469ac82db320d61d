"""Planning ahead, as if a seat were alone: the best few ways are followed from turn to turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")
Step = TypeVar("Step")

_PROPOSED = 4
"""First turns that are proposed, for the case that the best is not possible."""


class Plan(NamedTuple, Generic[State, Step]):
    """Turns that lead to a state: what they are worth, the points on the way, the first one."""

    worth: float
    points: float
    state: State
    first: Step | None = None


def search(
    start: State,
    options: Callable[[State, bool], Iterable[tuple[float, State, Step]]],
    promise: Callable[[State], float],
    *,
    depth: int,
    width: int,
    pace: float,
) -> list[Plan[State, Step]]:
    """The best plans of `depth` turns, the best first.

    `options` tells what a turn may bring (points, the state after it, how), and whether it is
    the first of the plan; `promise` what a state may still bring. A turn later all of it is worth
    `pace` as much. After each turn the best `width` plans go on.
    """
    kept: list[Plan[State, Step]] = [Plan(0.0, 0.0, start)]
    for turn in range(depth):
        later = pace**turn
        best: dict[State, Plan[State, Step]] = {}
        for plan in kept:
            for gained, after, step in options(plan.state, turn == 0):
                points = plan.points + gained * later
                worth = points + promise(after) * later
                known = best.get(after)
                if known is None or worth > known.worth:
                    best[after] = Plan(worth, points, after, plan.first or step)
        kept = sorted(best.values(), key=lambda plan: -plan.worth)[:width] or kept
    return kept


def firsts(plans: Iterable[Plan[State, Step]]) -> Iterator[Step]:
    """The first turns of the best plans, each once."""
    found: list[Step] = []
    for plan in plans:
        if plan.first is not None and plan.first not in found:
            found.append(plan.first)
            yield plan.first
            if len(found) == _PROPOSED:
                return
