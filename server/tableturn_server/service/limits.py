"""How much one caller may ask for: calls in a second, watches, new tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tableturn_server.tables.refusals import Reason, Refused

_MOST_BUCKETS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a service. A rate of 0 is no limit.

    A peer is an address of the network; behind one there may be many people, such as a web
    server's or a home's.
    """

    rate: float = 200
    """Calls in a second for each token; twice as many in one go."""
    peer_rate: float = 2000
    """Calls in a second for each peer."""
    watches: int = 100
    """Watches at the same time for each token."""
    peer_watches: int = 2000
    """Watches at the same time for each peer."""
    tables_per_minute: float = 60
    """New tables in a minute for each peer."""
    lines: int = 5
    """Lines of talk in ten seconds for each seat of a table; the store counts them."""


class Buckets:
    """Token buckets, one for each key: `rate` in a second, `burst` in one go."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, key: str, now: float) -> float:
        """Take one and return 0, or return the seconds until there is one again."""
        if not self._rate:
            return 0.0
        buckets = self._buckets
        found = buckets.get(key)
        if found is None:
            if len(buckets) >= _MOST_BUCKETS:
                self._forget_full(now)
            buckets[key] = (self._burst - 1, now)
            return 0.0
        left = min(self._burst, found[0] + (now - found[1]) * self._rate)
        if left < 1:
            buckets[key] = (left, now)
            return (1 - left) / self._rate
        buckets[key] = (left - 1, now)
        return 0.0

    def _forget_full(self, now: float) -> None:
        """Forget the buckets that are full again; all of them if that makes no room."""
        refill = self._burst / self._rate
        self._buckets = {k: v for k, v in self._buckets.items() if now - v[1] < refill}
        if len(self._buckets) >= _MOST_BUCKETS:
            self._buckets.clear()


class Gate:
    """Counts calls, watches and new tables against the limits. Raises Refused beyond them."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._clock = clock
        self._tokens = Buckets(limits.rate, limits.rate * 2)
        self._peers = Buckets(limits.peer_rate, limits.peer_rate * 2)
        per_second = limits.tables_per_minute / 60
        self._tables = Buckets(per_second, limits.tables_per_minute)
        self._watches: Counter[str] = Counter()

    def call(self, principal: str, peer: str) -> None:
        """One more call."""
        now = self._clock()
        wait = self._peers.wait(peer, now)
        if principal and not wait:
            wait = self._tokens.wait(principal, now)
        if wait:
            raise too_many("calls", wait)

    def new_table(self, peer: str) -> None:
        """One more table."""
        wait = self._tables.wait(peer, self._clock())
        if wait:
            raise too_many("new tables", wait)

    def watch(self, principal: str, peer: str) -> Callable[[], None]:
        """One more watch; call what is returned at its end."""
        keys = [(f"peer {peer}", self.limits.peer_watches)]
        if principal:
            keys.append((principal, self.limits.watches))
        for key, most in keys:
            if self._watches[key] >= most:
                raise Refused(
                    Reason.LIMIT_REACHED,
                    f"too many watches at the same time, {most} are allowed; end some first",
                    retry_after_ms=1000,
                )
        for key, _ in keys:
            self._watches[key] += 1

        def end() -> None:
            for key, _ in keys:
                self._watches[key] -= 1
                if not self._watches[key]:
                    del self._watches[key]

        return end


def too_many(what: str, wait: float) -> Refused:
    """The refusal of what was done too often; `wait` is in seconds."""
    return Refused(
        Reason.LIMIT_REACHED,
        f"too many {what}; try again in {max(wait, 0.1):.1f} s",
        retry_after_ms=max(1, round(wait * 1000)),
    )
