"""What can go wrong between the service and its store, told apart by what the caller should do.

StoreError              the store answered, and the answer is an error (a bug or a wrong set-up)
|- StoreUnavailable     no usable answer now: try again with the same request id
|  `- StoreFull         nothing can be made durable now: somebody has to make room first
`- StoreRefused         wrong password, no permission, not a store we can use: set-up is wrong
"""

from __future__ import annotations


class StoreError(Exception):
    """The store answered with an error that no repetition will cure.

    `maybe_done` is true if the command may have been executed all the same, because it was sent
    and its answer never came. A caller that repeats it must do so under the same request id.
    """

    def __init__(self, sentence: str, *, maybe_done: bool = False) -> None:
        super().__init__(sentence)
        self.maybe_done = maybe_done

    @property
    def sentence(self) -> str:
        """The cause as a sentence for a person."""
        return str(self.args[0])


class StoreUnavailable(StoreError):
    """The store can't be used now: connection lost, loading, too slow, or a replica only."""


class StoreFull(StoreUnavailable):
    """The store can't make anything durable now: out of memory, disk full, write errors."""


class StoreRefused(StoreError):
    """The store doesn't let us in, or is of a kind that we can't use."""


class NoScript(StoreError):
    """The store doesn't know a script by its digest yet; `Script` sends the text then."""


_UNAVAILABLE = frozenset(
    ("LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "TRYAGAIN", "NOREPLICAS",
     "UNBLOCKED", "FAILOVER")
)  # fmt: skip
_REFUSED = frozenset(("NOAUTH", "WRONGPASS", "NOPERM", "NOPROTO"))


def error_from_reply(text: str) -> StoreError:
    """Return the typed error for an error reply such as `READONLY You can't write...`.

    This is the only place that reads the words of the store's errors.
    """
    code = text.partition(" ")[0]
    if code == "NOSCRIPT":
        return NoScript(text)
    # MISCONF covers "errors writing to the AOF" as well as failed RDB snapshots: both mean
    # that a write could not be persisted now.
    if code in ("OOM", "MISCONF"):
        return StoreFull(f"the store can't keep anything now: {text}")
    if code in _UNAVAILABLE:
        return StoreUnavailable(f"the store can't be used now: {text}")
    if code in _REFUSED:
        return StoreRefused(f"the store refuses: {text}")
    if "max number of clients reached" in text:
        return StoreUnavailable(f"the store can't be used now: {text}")
    return StoreError(text)
