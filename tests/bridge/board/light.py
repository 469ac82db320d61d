"""From the light of a lamp to what it says: how bright it was in each step, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from tableturn_bridge.patterns import MARK, SHAPES, STEPS, Pattern, Shape

CLOSE = 8
"""A lamp has at least 32 levels of brightness: so far it may be from what it should be."""


def marked(shape: Shape) -> Shape:
    """The shape with the start player's mark: the opposite in two steps."""
    return Shape(shape.steps ^ MARK, shape.dim or not shape.steps, shape.breathes)


def expected(shape: Shape, brightness: int = 255, steps: int = 2 * STEPS) -> list[int]:
    """How bright a lamp is in each step, from the first one after the start on; rounded up."""
    full = -(-brightness // 4) if shape.dim else brightness
    levels = []
    for step in range(steps):
        level = full if shape.steps >> step % STEPS & 1 else 0
        if shape.breathes:
            at = step % (2 * STEPS)
            level = -(-level * (at + 1 if at < STEPS else 2 * STEPS - at) // STEPS)
        levels.append(level)
    return levels


def alike(seen: Sequence[int], wanted: Sequence[int]) -> bool:
    """Each step is as bright as it should be; dark and fully lit steps are exactly that."""
    return len(seen) == len(wanted) and all(
        one == other if other in (0, 255) else 0 < one < 255 and abs(one - other) <= CLOSE
        for one, other in zip(seen, wanted, strict=True)
    )


def patterns_of(seen: Sequence[int]) -> set[tuple[Pattern, bool]]:
    """Which patterns look like this at full brightness, without (False) or with the mark (True).

    What was seen begins with a first run of a pattern; breathing takes two.
    """
    found = set()
    for pattern, shape in SHAPES.items():
        for mark, shown in ((False, shape), (True, marked(shape))):
            if alike(seen, expected(shown, steps=len(seen))):
                found.add((pattern, mark))
    return found
