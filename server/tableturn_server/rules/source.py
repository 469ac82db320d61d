"""The source of chance at a table: a counter over a keyed hash.

A table's randomness is a value like the rest of its state: a 128-bit seed and
the number of words drawn from it so far. The words come from BLAKE2b and the
sampling is written out here, so a seed gives the same game on every version of
Python, for ever (`random.shuffle` promises no such thing).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

T = TypeVar("T")

SEED_BYTES = 16
_WORD_BITS = 64


class Source(msgspec.Struct, frozen=True, array_like=True):
    """Where a table's random numbers come from. Drawing gives a new source.

    `seed` is 16 bytes and hidden until the game is over; `drawn` counts the
    64-bit words taken so far.
    """

    seed: bytes
    drawn: int = 0

    def below(self, bound: int) -> tuple[int, Source]:
        """A uniform number in `0 .. bound - 1`, and the source after it.

        Rejection sampling: no value is more likely than another. Raises
        ValueError for a bound below 1.
        """
        if bound < 1:
            raise ValueError(f"the bound must be at least 1, not {bound}")
        limit = (1 << _WORD_BITS) - (1 << _WORD_BITS) % bound
        drawn = self.drawn
        while True:
            digest = blake2b(drawn.to_bytes(8, "big"), digest_size=8, key=self.seed)
            word = int.from_bytes(digest.digest(), "big")
            drawn += 1
            if word < limit:
                return word % bound, Source(self.seed, drawn)

    def choose(self, items: Sequence[T]) -> tuple[T, Source]:
        """One of the items, each as likely as the next."""
        index, source = self.below(len(items))
        return items[index], source

    def shuffled(self, items: Sequence[T]) -> tuple[tuple[T, ...], Source]:
        """The items in a random order (Fisher and Yates), all orders equally likely."""
        order = list(items)
        source = self
        for last in range(len(order) - 1, 0, -1):
            index, source = source.below(last + 1)
            order[last], order[index] = order[index], order[last]
        return tuple(order), source
