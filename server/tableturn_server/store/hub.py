"""The watch hub: who wants to know when a table has a new revision, in this process.

Messages of the store are wake-ups and may be lost. So the hub looks for itself: every few
seconds, and after each reconnect, it reads the revisions of all tables that are watched. A
watcher is told the newest revision only; what it missed it reads from the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from . import keys
from .endpoint import Endpoint
from .errors import StoreError
from .link import Reply
from .resp import Connection

log = logging.getLogger(__name__)

ASIDE = b"aside"
"""What is published instead of a revision when something beside the table is new."""
_BATCH = 500
_FIRST_RETRY = 0.1


class Signal(NamedTuple):
    """What a watcher is told: the newest known revision, and since when the store is away.

    `revision` is 0 if there is no such table, or none was read yet. `stale_since` (Unix
    seconds) is None while the store answers; else the revision may be an old one. `change_id`
    is the revision's change where it is known, else empty: a wake-up names the revision alone.
    `aside` grows when something beside the table is new, such as who is there.
    """

    revision: int
    stale_since: float | None
    change_id: str = ""
    aside: int = 0


class _Topic:
    """A table that is watched."""

    __slots__ = ("aside", "change_id", "changes", "known", "revision", "watchers")

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()
        self.revision = 0
        self.change_id = ""
        self.aside = 0
        self.known = False
        # Counts what was learnt from elsewhere, so that a slower reading does not undo it.
        self.changes = 0


class Watcher:
    """An async iterator of Signals of one table; a context manager that ends it.

    Leaving the context removes every trace at once, without waiting for anything (case G2). It
    keeps no queue: who is slow misses what was in between, and gets the newest.
    """

    def __init__(self, hub: WatchHub, table_id: str) -> None:
        self._hub = hub
        self.table_id = keys.check_table_id(table_id)
        self._told: Signal | None = None
        self._next: asyncio.Future[None] | None = None
        self._closed = False

    async def __aenter__(self) -> Watcher:
        # A hub that is closed has nothing to tell: the iteration ends at once.
        self._closed = not self._hub._add(self)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration; whoever waits in it gets StopAsyncIteration."""
        if not self._closed:
            self._closed = True
            self._hub._remove(self)
            self._wake()

    def __aiter__(self) -> Watcher:
        return self

    async def __anext__(self) -> Signal:
        while not self._closed:
            signal = self._hub._signal(self.table_id)
            if signal is not None and signal != self._told:
                self._told = signal
                return signal
            if self._next is not None:
                raise RuntimeError("a watcher has one reader")
            self._next = asyncio.get_running_loop().create_future()
            try:
                await self._next
            finally:
                self._next = None
        raise StopAsyncIteration

    def _wake(self) -> None:
        if self._next is not None and not self._next.done():
            self._next.set_result(None)


class WatchHub:
    """All watchers of a process, behind one subscriber connection.

    `revisions` reads many tables at once (`TableStore.revisions`), `interval` is the time in
    seconds between two readings, `clock` the Unix time for `stale_since`.
    """

    def __init__(
        self,
        endpoint: Endpoint | str,
        revisions: Callable[[Sequence[str]], Awaitable[list[tuple[int, str] | None]]],
        *,
        interval: float = 3.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._revisions = revisions
        self._interval = interval
        self._clock = clock
        self._topics: dict[str, _Topic] = {}
        self._unread: set[str] = set()
        self._stale_since: float | None = None
        self._closed = False
        self._work = asyncio.Event()
        self._lost = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._connection = Connection(
            endpoint,
            name="tableturn-hub",
            on_push=self._on_push,
            on_lost=self._on_lost,
        )

    async def __aenter__(self) -> WatchHub:
        self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def start(self) -> None:
        """Begin to listen and to read; needs a running loop."""
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._listen(), name="hub-listen"),
            loop.create_task(self._read(), name="hub-read"),
        ]

    async def close(self) -> None:
        """End all watchers and tasks."""
        self._closed = True
        for topic in list(self._topics.values()):
            for watcher in list(topic.watchers):
                watcher.close()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connection.close()

    @property
    def watchers(self) -> int:
        """How many watchers there are."""
        return sum(len(topic.watchers) for topic in self._topics.values())

    @property
    def tables(self) -> int:
        """How many tables are watched."""
        return len(self._topics)

    @property
    def stale_since(self) -> float | None:
        """Since when the store is away (Unix seconds), or None while it answers."""
        return self._stale_since

    def watch(self, table_id: str) -> Watcher:
        """Watch a table: `async with hub.watch(id) as signals: async for signal in signals`.

        The first signal comes as soon as the revision was read after the subscription began,
        so that no change falls between (case S14).
        """
        return Watcher(self, table_id)

    def notify(self, table_id: str, revision: int, change_id: str = "") -> None:
        """Tell watchers of this process at once; call it after a commit was answered."""
        topic = self._topics.get(table_id)
        if topic is None:
            return
        topic.changes += 1
        if revision >= topic.revision or not topic.known:
            self._learn(topic, revision, change_id)

    def notify_aside(self, table_id: str) -> None:
        """Tell watchers of this process at once that something beside the table is new."""
        topic = self._topics.get(table_id)
        if topic is not None:
            topic.aside += 1
            self._wake(topic)

    # -- for watchers ----------------------------------------------------------------------

    def _add(self, watcher: Watcher) -> bool:
        if self._closed:
            return False
        topic = self._topics.get(watcher.table_id)
        if topic is None:
            topic = self._topics[watcher.table_id] = _Topic()
            # The store's confirmation makes us read once more, see _on_push.
            self._connection.send_unanswered("SUBSCRIBE", keys.wake(watcher.table_id))
            self._want([watcher.table_id])
        topic.watchers.add(watcher)
        return True

    def _remove(self, watcher: Watcher) -> None:
        topic = self._topics.get(watcher.table_id)
        if topic is None:
            return
        topic.watchers.discard(watcher)
        if not topic.watchers:
            del self._topics[watcher.table_id]
            self._unread.discard(watcher.table_id)
            self._connection.send_unanswered("UNSUBSCRIBE", keys.wake(watcher.table_id))

    def _signal(self, table_id: str) -> Signal | None:
        topic = self._topics.get(table_id)
        if topic is None or not (topic.known or self._stale_since is not None):
            return None
        return Signal(topic.revision, self._stale_since, topic.change_id, topic.aside)

    # -- what the store says ---------------------------------------------------------------

    def _on_push(self, message: list[Reply]) -> None:
        kind, channel = message[0], message[1]
        if kind not in (b"message", b"subscribe") or channel is None:
            return
        table_id = keys.id_of(channel.decode())
        if table_id not in self._topics:
            return
        if kind == b"subscribe":
            self._want([table_id])
        elif message[2].isdigit():
            self.notify(table_id, int(message[2]))
        elif message[2] == ASIDE:
            self.notify_aside(table_id)
        else:
            self._want([table_id])

    def _on_lost(self) -> None:
        # Either the store is away, or messages are being missed: look at once.
        self._lost.set()
        self._want(self._topics)

    async def _listen(self) -> None:
        """Keep the subscriber connection open, and subscribed to what is watched."""
        pause = _FIRST_RETRY
        while True:
            self._lost.clear()
            try:
                await self._connection.connect()
                channels = [keys.wake(table_id) for table_id in self._topics]
                for start in range(0, len(channels), _BATCH):
                    part = channels[start : start + _BATCH]
                    self._connection.send_unanswered("SUBSCRIBE", *part)
                while self._connection.connected:
                    try:
                        async with asyncio.timeout(self._interval):
                            await self._lost.wait()
                    except TimeoutError:
                        # A dead peer keeps a quiet connection open for ever: ask.
                        await self._connection.call("PING")
                        pause = _FIRST_RETRY
            except StoreError as error:
                log.info("the hub can't listen: %s", error)
                self._connection.drop("the hub starts again")
            await asyncio.sleep(pause)
            pause = min(pause * 2, self._interval)

    # -- reading ---------------------------------------------------------------------------

    def _want(self, table_ids: Sequence[str] | dict[str, _Topic]) -> None:
        self._unread.update(table_ids)
        self._work.set()

    async def _read(self) -> None:
        """Read revisions: those wanted at once, all of them every interval."""
        retry = _FIRST_RETRY
        while True:
            wait = self._interval if self._stale_since is None else retry
            try:
                async with asyncio.timeout(wait):
                    await self._work.wait()
            except TimeoutError:
                self._unread.update(self._topics)
            self._work.clear()
            if not self._unread and self._stale_since is None:
                continue
            try:
                await self._read_unread()
            except StoreError as error:
                self._become_stale(error)
                # Not at once again, even if somebody has woken us meanwhile.
                await asyncio.sleep(retry)
                retry = min(retry * 2, self._interval)
            except Exception:
                log.exception("the hub could not read revisions")
                await asyncio.sleep(self._interval)
            else:
                retry = _FIRST_RETRY
                self._become_fresh()

    async def _read_unread(self) -> None:
        while self._unread:
            batch = list(self._unread)[:_BATCH]
            # Taken off the list before the reading: who wants them meanwhile wants them anew.
            self._unread.difference_update(batch)
            before = {
                table_id: (topic, topic.changes)
                for table_id in batch
                if (topic := self._topics.get(table_id)) is not None
            }
            try:
                found = await self._revisions(list(before)) if before else []
            except BaseException:
                self._unread.update(batch)
                raise
            for (table_id, (topic, changes)), known in zip(before.items(), found, strict=True):
                if self._topics.get(table_id) is not topic:
                    continue
                revision, change_id = known if known is not None else (0, "")
                # A lower revision is told too, and another change of the same one (a fork after
                # a failover), unless it was read before somebody told us of a newer one.
                if revision > topic.revision or topic.changes == changes:
                    self._learn(topic, revision, change_id)

    def _learn(self, topic: _Topic, revision: int, change_id: str) -> None:
        if topic.known and topic.revision == revision and change_id in ("", topic.change_id):
            return
        topic.known = True
        topic.revision, topic.change_id = revision, change_id
        self._wake(topic)

    def _wake(self, topic: _Topic) -> None:
        for watcher in topic.watchers:
            watcher._wake()

    def _become_stale(self, error: StoreError) -> None:
        if self._stale_since is None:
            self._stale_since = self._clock()
            log.warning("watchers are told that the store is away: %s", error)
            self._wake_all()

    def _become_fresh(self) -> None:
        if self._stale_since is not None:
            self._stale_since = None
            log.warning("the store answers again")
            self._wake_all()

    def _wake_all(self) -> None:
        for topic in self._topics.values():
            self._wake(topic)
