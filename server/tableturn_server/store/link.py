"""One socket to Redis or Valkey, from its opening to its end: requests out, replies in order."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import hiredis

from .errors import StoreUnavailable, error_from_reply

log = logging.getLogger(__name__)

Reply: TypeAlias = Any
"""What RESP3 has: bytes, int, float, bool, None, list, dict, set; nested errors as values."""

_NOTHING = object()


class _Waiting:
    """A place in the queue: who waits for the next `want` replies, and until when."""

    __slots__ = ("deadline", "future", "replies", "want")

    def __init__(self, future: asyncio.Future[Reply], want: int, deadline: float) -> None:
        self.future = future
        self.want = want
        self.deadline = deadline
        self.replies: list[Reply] = []


class Link(asyncio.Protocol):
    """One socket from its opening to its end; it never comes back to life."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_push: Callable[[list[Reply]], None] | None,
        on_lost: Callable[[Link], None],
    ) -> None:
        self._loop = loop
        self._on_push = on_push
        self._on_lost = on_lost
        self._reader = hiredis.Reader(replyError=error_from_reply, notEnoughData=_NOTHING)
        self._queue: deque[_Waiting] = deque()
        self._unsent: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self.dead: str | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (asyncio calls it)."""
        self._transport = cast(asyncio.Transport, transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def submit(self, data: bytes, want: int, deadline: float) -> asyncio.Future[Reply]:
        """Queue `data` for sending; the future gets the reply, or a StoreError as its result.

        Errors are results and not exceptions, so that a dropped future never complains.
        """
        future: asyncio.Future[Reply] = self._loop.create_future()
        if self.dead is not None:
            future.set_result(StoreUnavailable(self.dead))
            return future
        self._queue.append(_Waiting(future, want, deadline))
        self.write(data)
        if self._timer is None or deadline < self._timer.when():
            self._arm(deadline)
        return future

    def write(self, data: bytes) -> None:
        """Queue bytes that get no reply of their own (SUBSCRIBE in RESP3)."""
        # With nothing on its way, latency counts: write now. Otherwise the reply has to wait for
        # others anyway, and all writes of one tick leave in one system call.
        if len(self._queue) <= 1 and not self._unsent and self._transport is not None:
            self._transport.write(data)
            return
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(data)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and self.dead is None and unsent:
            self._transport.write(unsent[0] if len(unsent) == 1 else b"".join(unsent))

    def data_received(self, data: bytes) -> None:
        """Hand out the replies in these bytes (asyncio calls it)."""
        reader, queue = self._reader, self._queue
        try:
            reader.feed(data)
            while (reply := reader.gets()) is not _NOTHING:
                if type(reply) is hiredis.PushNotification:
                    self._push(reply)
                elif not queue:
                    # Such as "no permission" for a SUBSCRIBE.
                    self.fail(f"the store said something unasked: {reply!s:.200}")
                    return
                else:
                    waiting = queue[0]
                    if waiting.want == 1:
                        queue.popleft()
                        if not waiting.future.done():
                            waiting.future.set_result(reply)
                        continue
                    waiting.replies.append(reply)
                    if len(waiting.replies) == waiting.want:
                        queue.popleft()
                        if not waiting.future.done():
                            waiting.future.set_result(waiting.replies)
        except hiredis.ProtocolError as error:
            self.fail(f"the store speaks no RESP: {error}")

    def _push(self, message: list[Reply]) -> None:
        if self._on_push is None:
            return
        try:
            self._on_push(message)
        except Exception:
            log.exception("a push message of the store could not be handled")

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._check_deadlines)

    def _check_deadlines(self) -> None:
        # One timer serves the whole queue: a timer for each call would cost more than the call.
        self._timer = None
        if not self._queue:
            return
        earliest = min(waiting.deadline for waiting in self._queue)
        if earliest <= self._loop.time():
            self.fail("the store did not answer in time")
        else:
            self._arm(earliest)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the link (asyncio calls it)."""
        self.fail("the connection to the store was lost" + (f": {exc}" if exc else ""))

    def fail(self, sentence: str) -> None:
        """End the link: whoever waits gets StoreUnavailable."""
        if self.dead is not None:
            return
        self.dead = sentence
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
        queue, self._queue = self._queue, deque()
        for waiting in queue:
            if not waiting.future.done():
                waiting.future.set_result(StoreUnavailable(sentence, maybe_done=True))
        self._on_lost(self)
