"""Two tables with one public history and different hidden halves, or closed cards.

Everything that has been turned up is the same; what lies face down, the generator and the seed
differ. Whatever the service tells of the two must be the same, to the byte. So must what it tells
everybody but a player whose cards are others.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tableturn_server.rules.mechanics.position import seated
from tableturn_server.rules.source import Source
from tableturn_server.tables.state import Table

OTHER_SEED = bytes(reversed(range(16)))


def otherwise_hidden(table: Table) -> Table:
    """The same table with another seed, another generator, and all decks in another order."""
    assert table.hidden is not None
    hidden = other_half(table.hidden, heights(table.hidden))
    assert hidden != table.hidden
    return replace(table, hidden=hidden, making=replace(table.making, seed=OTHER_SEED))


def otherwise_held(table: Table, seat: int) -> Table:
    """The same table with other cards, as many, in all that is closed of a seat (SR-16)."""
    player = table.position.player(seat)
    cards = player.cards
    held = replace(cards, hand=_others(cards.hand), discard=_others(cards.discard))
    other = replace(player, cards=held, claimed=_others(player.claimed))
    return replace(table, open=seated(table.position, seat, other))


def _others(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """As many others of which every set has some."""
    return tuple((number + 1) % 20 for number in numbers)


def heights(hidden: Any) -> dict[str, int]:
    """How many tiles or cards are left in each pile and deck of a hidden half."""
    fields = ((name, getattr(hidden, name)) for name in hidden.__struct_fields__)
    return {name: len(value) for name, value in fields if type(value) is tuple}


def other_half(hidden: Any, left: dict[str, int]) -> Any:
    """Another hidden half: the last `left` of each pile are in another order."""
    changes: dict[str, Any] = {}
    if getattr(hidden, "source", None) is not None:
        changes["source"] = Source(OTHER_SEED, hidden.source.drawn + 7)
    for name, count in left.items():
        pile = getattr(hidden, name)
        drawn = len(pile) - count
        changes[name] = (*pile[:drawn], *reversed(pile[drawn:]))
    return replace(hidden, **changes)
