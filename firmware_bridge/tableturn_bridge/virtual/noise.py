"""A bad line: bytes get lost, and bits turn over."""

from __future__ import annotations

import random


class Noise:
    """One direction of a line.

    Args:
        flips: How probable it is, for each byte, that one of its bits turns over; 0 to 1.
        drops: How probable it is, for each byte, that it gets lost; 0 to 1.
        random: Decides. The same generator in the same state does the same harm.
    """

    def __init__(self, flips: float, drops: float, random: random.Random) -> None:
        for share in (flips, drops):
            _check(share)
        self.flips = flips
        self.drops = drops
        self._random = random

    @classmethod
    def harming(cls, share: float, random: random.Random) -> Noise:
        """Noise that harms this share of all bytes: half of them get lost, half are wrong."""
        _check(share)
        return cls(share / 2, share / 2, random)

    def through(self, data: bytes) -> bytes:
        """What arrives of some bytes."""
        if not self.flips and not self.drops:
            return data
        arrived = bytearray()
        for byte in data:
            if self._random.random() < self.drops:
                continue
            if self._random.random() < self.flips:
                byte ^= 1 << self._random.randrange(8)
            arrived.append(byte)
        return bytes(arrived)


def _check(share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"noise is a share from 0 to 1, not {share}")
