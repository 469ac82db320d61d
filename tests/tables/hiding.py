"""Two tables with one public history and different hidden halves.

Everything that has been turned up is the same; what lies face down, the generator and the seed
differ. Whatever the service tells of the two must be the same, to the byte.
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.rules.source import Source
from tableturn_server.tables.state import Table

OTHER_SEED = bytes(reversed(range(16)))


def otherwise_hidden(table: Table) -> Table:
    """The same table with another seed, another generator, and the pile in another order."""
    hidden = table.hidden
    assert hidden is not None
    if getattr(hidden, "source", None) is not None:
        hidden = replace(hidden, source=Source(OTHER_SEED, hidden.source.drawn + 7))
    if hasattr(hidden, "pile"):
        assert len(hidden.pile) > 1
        hidden = replace(hidden, pile=tuple(reversed(hidden.pile)))
    assert hidden != table.hidden
    return replace(table, hidden=hidden, making=replace(table.making, seed=OTHER_SEED))
