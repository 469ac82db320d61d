"""Calling async code from plain code: a loop in a thread of its own, and verbs made plain."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from tableturn_client.errors import NotSent

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


class Portal:
    """A loop that runs in a background thread until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="tableturn", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs in the loop; Ctrl-C ends it."""
        if not self._thread.is_alive():
            work.close()
            raise NotSent("the client was closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


class Wrapper(Protocol):
    """A plain object around an async one."""

    @property
    def portal(self) -> Portal:
        """Where the async one lives."""
        ...

    @property
    def inner(self) -> Any:
        """The async one."""
        ...


class Plain(Generic[P, R]):
    """A verb of an async class as a method of its plain wrapper."""

    def __init__(self, verb: Callable[..., Any], run: Callable[[Portal, Any], R]) -> None:
        self._verb = verb
        self._run = run
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, wrapper: None, owner: type) -> Plain[P, R]: ...
    @overload
    def __get__(self, wrapper: Wrapper, owner: type) -> Callable[P, R]: ...
    def __get__(self, wrapper: Wrapper | None, owner: type) -> Plain[P, R] | Callable[P, R]:
        if wrapper is None:
            return self
        portal, inner = wrapper.portal, wrapper.inner

        @functools.wraps(self._verb)
        def method(*args: P.args, **kwargs: P.kwargs) -> R:
            return self._run(portal, self._verb(inner, *args, **kwargs))

        return method


def plain(verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Plain[P, T]:
    """A verb that waits for the result."""
    return Plain(verb, lambda portal, work: portal.run(work))


def plain_as(
    wrap: Callable[[Portal, T], R],
) -> Callable[[Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]], Plain[P, R]]:
    """A verb that waits for the result and wraps it."""

    def made(verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Plain[P, R]:
        return Plain(verb, lambda portal, work: wrap(portal, portal.run(work)))

    return made


def plain_each(verb: Callable[Concatenate[Any, P], AsyncIterator[T]]) -> Plain[P, Iterator[T]]:
    """A verb whose results come one after another."""
    return Plain(verb, each)


def each(portal: Portal, items: AsyncIterator[T]) -> Iterator[T]:
    """The items of an async iterator, which is closed when nobody wants more."""

    async def following() -> T:
        return await anext(items)

    try:
        while True:
            try:
                yield portal.run(following())
            except StopAsyncIteration:
                return
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            portal.run(close())
