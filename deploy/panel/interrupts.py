"""Ending by Ctrl-C, SIGTERM or a lost terminal with one sentence, and with nothing left running."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The exit code, as that of `tableturn`."""
PATIENCE = 2.0
"""Seconds that a program which was asked to end may take for it."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the body at the first signal; end with a sentence after it.

    What is in a `finally` is done undisturbed: a second Ctrl-C changes nothing.
    """
    # What is ignored from the start, as with nohup, stays so.
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in heeded:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heeded:
        signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        # The terminal may be gone.
        with contextlib.suppress(OSError):
            sys.stderr.write("tableturn: interrupted; run it again\n")
        sys.exit(INTERRUPTED)


@contextlib.contextmanager
def running(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A program whose words can be read, ended when the body is left.

    A body that goes well waits for it. Raises OSError if it can't be started.
    """
    program = None
    try:
        with _postponed():
            program = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        yield program
    finally:
        if program is not None:
            _end(program)


@contextlib.contextmanager
def _postponed() -> Iterator[None]:
    """A signal in the body is heeded after it: what has been started has its name by then."""
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda which, _: came.append(which))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for which in came[:1]:
        signal.raise_signal(which)


def _end(program: subprocess.Popen[str]) -> None:
    """Ask a program to end, and make it if it doesn't."""
    program.terminate()  # nothing, if it has ended
    try:
        program.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    if program.stdout is not None:
        program.stdout.close()
