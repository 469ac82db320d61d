"""Greedy at a free table: it keeps out of the way of those who play with the real pieces.

It ends its turn, passes at some time or when it is alone in the round, says that it is ready,
and names the order clockwise. It scores nothing and never finishes the game: that is for people
to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from tableturn_server.bots.chance import dice
from tableturn_server.bots.sight import Sight
from tableturn_server.rules.actions import Action, NameNext, PassRound
from tableturn_server.rules.game import PromptKind

_ROUND = 4
"""How many turns it takes in a round, about, before it passes."""


def turns(sight: Sight) -> Iterator[tuple[Action, ...]]:
    """The one turn that it wants."""
    assert sight.prompt is not None
    if sight.prompt.kind is PromptKind.ORDER:
        yield _order(sight)
    elif any(choice.kind == "pass_round" for choice in sight.choices) and _has_had_enough(sight):
        yield (PassRound(),)
    yield ()


def _order(sight: Sight) -> tuple[Action, ...]:
    """All seats clockwise, from the one that began the round before; the last one follows."""
    left = next(choice.seats for choice in sight.choices if choice.kind == "name_next")
    first = sight.view.first_seat
    clockwise = sorted(left, key=lambda seat: (seat - first) % sight.seats)
    return tuple(NameNext(seat) for seat in clockwise[:-1])


def _has_had_enough(sight: Sight) -> bool:
    """All others have passed, or chance says so: bots alone would never end the round else."""
    table = sight.view.free_table
    assert table is not None
    alone = set(sight.view.turn_order) - set(table.passed) == {sight.seat}
    return alone or dice(sight)(_ROUND) == 0
