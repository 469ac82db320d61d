"""One connection to Redis or Valkey that all calls of a process share.

Calls are written one after another and answered in that order, so a queue of futures is all the
book-keeping there is. Three promises make it safe to build on:

- A cancelled call leaves its place in the queue; its reply is read and dropped, and never reaches
  the next caller (case D7).
- Nothing is ever sent twice. If the connection breaks, what was in flight fails with
  `StoreUnavailable` and `maybe_done`: only the caller knows whether it may be repeated.
- Every call ends: a reply that is late closes the connection, because nobody can know any more
  what the next bytes belong to.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import hiredis

from .endpoint import Endpoint
from .errors import NoScript, StoreError, StoreUnavailable
from .link import Link, Reply

log = logging.getLogger(__name__)

Argument: TypeAlias = str | bytes | int | float

_FIRST_BACKOFF = 0.02
_LONGEST_BACKOFF = 1.0


# The stubs of hiredis describe a command of one word only.
_pack = cast("Callable[[tuple[Argument, ...]], bytes]", hiredis.pack_command)


class Connection:
    """A shared connection that opens itself when it is needed and again after it was lost.

    `timeout` seconds is the limit of one call, waiting for a connection included. It is meant
    for a store that hangs: when it strikes, the connection is closed for all. A caller with less
    patience cancels its own call (`asyncio.timeout`), which costs nobody else anything.

    `patience` seconds is how long calls wait for a store that has just gone away, so that a
    restart goes unnoticed. Once it is away for longer, calls fail at once between attempts (D4).

    `explain` may know a better error than "connection lost", such as a full disk. `quiet` says
    nothing in the log about a lost connection.
    """

    def __init__(
        self,
        endpoint: Endpoint | str,
        *,
        name: str = "tableturn",
        timeout: float = 5.0,
        patience: float = 1.0,
        max_waiting: int = 10_000,
        on_push: Callable[[list[Reply]], None] | None = None,
        on_lost: Callable[[], None] | None = None,
        explain: Callable[[], StoreError | None] | None = None,
        quiet: bool = False,
    ) -> None:
        self.endpoint = Endpoint.parse(endpoint) if isinstance(endpoint, str) else endpoint
        self._name = name
        self._timeout = timeout
        self._patience = patience
        self._max_waiting = max_waiting
        self._on_push = on_push
        self._on_lost = on_lost
        self._explain = explain
        self._loss_level = logging.DEBUG if quiet else logging.WARNING
        self._link: Link | None = None
        self._opening: asyncio.Task[Link | StoreError] | None = None
        self._down_since: float | None = None
        self._backoff = _FIRST_BACKOFF
        self._retry_at = 0.0
        self._closed = False

    async def __aenter__(self) -> Connection:
        await self.connect()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def connected(self) -> bool:
        """Whether the connection is open now."""
        return self._link is not None

    @property
    def waiting(self) -> int:
        """How many calls wait for a reply, those that were cancelled included."""
        return len(self._link) if self._link is not None else 0

    async def connect(self) -> None:
        """Open the connection now; raises StoreUnavailable or StoreRefused."""
        await self._ready(asyncio.get_running_loop().time() + self._timeout)

    async def call(self, *args: Argument, timeout: float | None = None) -> Reply:
        """Send one command and return its reply; an error reply is raised."""
        deadline = asyncio.get_running_loop().time() + (timeout or self._timeout)
        data = _pack(args)
        link = self._link or await self._ready(deadline)
        self._check_room(link)
        reply = await link.submit(data, 1, deadline)
        if isinstance(reply, StoreError):
            raise self._judge(link, reply)
        return reply

    async def pipeline(
        self, commands: Sequence[Sequence[Argument]], *, timeout: float | None = None
    ) -> list[Reply]:
        """Send commands in one go and return their replies in order.

        An error reply is a StoreError in its place in the list; a lost connection is raised.
        Commands of other callers never come between.
        """
        if not commands:
            return []
        deadline = asyncio.get_running_loop().time() + (timeout or self._timeout)
        data = b"".join([_pack(tuple(command)) for command in commands])
        link = self._link or await self._ready(deadline)
        self._check_room(link)
        reply = await link.submit(data, len(commands), deadline)
        if isinstance(reply, StoreError) and (len(commands) > 1 or link.dead is not None):
            raise self._judge(link, reply)
        return reply if len(commands) > 1 else [reply]

    def send(self, *args: Argument) -> None:
        """Send a command if the connection is up, and drop its reply: for wake-ups only."""
        link = self._link
        if link is not None and len(link) < self._max_waiting:
            deadline = asyncio.get_running_loop().time() + self._timeout
            link.submit(_pack(args), 1, deadline)

    def send_unanswered(self, *args: Argument) -> None:
        """Send a command whose answer comes as a push message (SUBSCRIBE, UNSUBSCRIBE)."""
        if self._link is not None:
            self._link.write(_pack(args))

    async def close(self) -> None:
        """Close for good; whoever still waits gets StoreUnavailable."""
        self._closed = True
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            await asyncio.wait({opening})
        if self._link is not None:
            self._link.fail("the connection to the store was closed")

    def drop(self, sentence: str) -> None:
        """Close the socket, as if it had been lost; the next call opens a new one."""
        if self._link is not None:
            self._link.fail(sentence)

    def _check_room(self, link: Link) -> None:
        if len(link) >= self._max_waiting:
            raise StoreUnavailable("too many calls wait for the store")

    def _judge(self, link: Link, error: StoreError) -> StoreError:
        """Give the error to raise, and act on what it says about the connection."""
        if link.dead is not None:
            return self._explained(error)
        # The master moved while our socket stayed open: only a new look-up of the name finds
        # the new one, else READONLY would come for ever (D2).
        if "READONLY" in error.sentence:
            link.fail("the store has become a read-only replica")
        return error

    def _explained(self, error: StoreError) -> StoreError:
        better = self._explain() if self._explain is not None else None
        if better is None:
            return error
        better.maybe_done = error.maybe_done
        return better

    def _lost(self, link: Link) -> None:
        if link is not self._link:
            return
        self._link = None
        self._down_since = asyncio.get_running_loop().time()
        if not self._closed:
            log.log(self._loss_level, "%s: %s", self.endpoint, link.dead)
        if self._on_lost is not None:
            self._on_lost()

    async def _ready(self, deadline: float) -> Link:
        """Return an open link, or raise before `deadline` or the end of our patience."""
        loop = asyncio.get_running_loop()
        if self._link is not None:
            return self._link
        if self._closed:
            raise StoreUnavailable("the connection to the store was closed")
        if self._opening is None:
            if loop.time() < self._retry_at and self._is_down_for_long(loop.time()):
                raise self._explained(StoreUnavailable(f"the store {self.endpoint} is away"))
            self._opening = loop.create_task(self._open())
        opening = self._opening
        if self._is_down_for_long(loop.time()):
            # An address that swallows packets must not cost every caller its whole deadline.
            deadline = min(deadline, loop.time() + self._patience)
        # asyncio.wait leaves the task alone if this caller is cancelled: others share it.
        done, _ = await asyncio.wait({opening}, timeout=max(0.0, deadline - loop.time()))
        if not done or opening.cancelled():
            raise self._explained(
                StoreUnavailable(f"the store {self.endpoint} can't be reached in time")
            )
        result = opening.result()
        if isinstance(result, StoreError):
            # A fresh instance for each waiter: a shared one would collect their tracebacks.
            raise self._explained(type(result)(result.sentence))
        return result

    def _is_down_for_long(self, now: float) -> bool:
        return self._down_since is not None and now - self._down_since >= self._patience

    async def _open(self) -> Link | StoreError:
        """Try to connect until it works or our patience ends; never raises a StoreError."""
        loop = asyncio.get_running_loop()
        if self._down_since is None:
            self._down_since = loop.time()
        try:
            while True:
                try:
                    link = await self._attempt()
                except StoreUnavailable as error:
                    self._retry_at = loop.time() + self._backoff
                    if self._is_down_for_long(self._retry_at):
                        self._backoff = min(self._backoff * 2, _LONGEST_BACKOFF)
                        return error
                    await asyncio.sleep(self._backoff)
                    self._backoff = min(self._backoff * 2, _LONGEST_BACKOFF)
                except StoreError as error:
                    return error
                else:
                    self._link = link
                    self._down_since = None
                    self._backoff = _FIRST_BACKOFF
                    return link
        finally:
            self._opening = None

    async def _attempt(self) -> Link:
        """Open one socket and introduce ourselves."""
        loop = asyncio.get_running_loop()
        where = self.endpoint
        link = Link(loop, self._on_push, self._lost)
        try:
            async with asyncio.timeout(self._timeout):
                if where.path is not None:
                    await loop.create_unix_connection(lambda: link, where.path)
                else:
                    await loop.create_connection(
                        lambda: link, where.host, where.port, ssl=where.tls
                    )
                await self._introduce(link, loop.time() + self._timeout)
        except (OSError, TimeoutError) as error:
            link.fail("could not connect")
            why = str(error) or "no answer in time"
            raise StoreUnavailable(f"the store {where} can't be reached: {why}") from error
        except BaseException:
            link.fail("could not connect")
            raise
        if link.dead is not None:
            raise StoreUnavailable(link.dead)
        return link

    async def _introduce(self, link: Link, deadline: float) -> None:
        where = self.endpoint
        hello: list[Argument] = ["HELLO", "3"]
        if where.password is not None:
            hello += ["AUTH", where.username or "default", where.password]
        hello += ["SETNAME", self._name]
        # PING, because HELLO is answered while the data are still being loaded.
        commands: list[list[Argument]] = [hello, ["PING"]]
        if where.db:
            commands.insert(1, ["SELECT", where.db])
        for command in commands:
            reply = await link.submit(_pack(tuple(command)), 1, deadline)
            if isinstance(reply, StoreError):
                raise reply


class Script:
    """A Lua script, called by its digest; its text is sent when the store doesn't know it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    async def __call__(
        self, connection: Connection, keys: Sequence[str], args: Sequence[Argument]
    ) -> Reply:
        """Run the script once. NOSCRIPT means that it did not run, so the text may follow."""
        try:
            return await connection.call("EVALSHA", self._digest, len(keys), *keys, *args)
        except NoScript:
            return await connection.call("EVAL", self._text, len(keys), *keys, *args)
