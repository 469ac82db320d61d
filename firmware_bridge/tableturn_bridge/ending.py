"""Ending in order, whoever asks for it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

from tableturn_client.cli.command import Ended
from tableturn_client.cli.exits import Exit

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ending_in_order() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a lost terminal end a command once it has let go of everything.

    For the body of a command; raises Ended with INTERRUPTED after one of these signals. What
    comes while it ends changes nothing: a second Ctrl-C can't leave half of it behind.
    """
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    assert task is not None
    asked = False

    def end() -> None:
        nonlocal asked
        if not asked:
            asked = True
            task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        yield
    except asyncio.CancelledError:
        if asked:
            raise Ended(Exit.INTERRUPTED) from None
        raise
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
