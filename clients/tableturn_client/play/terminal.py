"""Where a person reads and types: a screen that is redrawn in place, or plain lines.

On a terminal, prompt_toolkit keeps the input line below a screen that changes
while somebody types. Without one (pipes, scripts), everything is written line by
line, and lines of input that answer a question wait until one is asked.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import ANSI
from rich.console import Console, RenderableType
from rich.text import Text

from tableturn_client.drawing.look import Look

Wanted = Callable[[str], bool]
"""Tells whether a line of input can be dealt with now."""


class Interrupted(Exception):
    """The person pressed Ctrl-C."""


class Terminal(ABC):
    """Where a session shows and reads."""

    live: bool
    """The screen is redrawn in place; otherwise lines follow each other."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.asked: object = None
        """What is asked on the screen now."""
        self.began_with: object = None
        """What was asked when the line that was read last was begun."""

    def ask(self, question: object) -> None:
        """Another question is on the screen."""
        self.asked = question

    @property
    def look(self) -> Look:
        """The room there is now."""
        return Look.of(self.console)

    @abstractmethod
    async def read(self, wanted: Wanted) -> str | None:
        """The next line of input; None at its end. Raises Interrupted."""

    @abstractmethod
    async def show(self, drawn: RenderableType, *, clear: bool = False) -> None:
        """Write a drawing, on a cleared screen where that can be done."""

    def _print(self, drawn: RenderableType) -> None:
        """Write to the console; texts bring their own line ends."""
        self.console.print(drawn, soft_wrap=isinstance(drawn, Text), highlight=False)

    def wake(self) -> None:  # noqa: B027 - only plain lines wait for it
        """What is wanted may have changed."""

    def tick(self) -> None:  # noqa: B027 - plain lines stay as they were written
        """Time goes on: draw the line before the input anew."""


class LineTerminal(Terminal):
    """Plain lines in and out."""

    live = False

    def __init__(self, console: Console, source: TextIO | None = None) -> None:
        super().__init__(console)
        self._lines: deque[str] = deque()
        self._ended = False
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._source = source or sys.stdin
        # A thread of its own, because a file or a pipe can't be waited for in one way on every
        # system; a daemon, because nothing can end a read that waits.
        threading.Thread(target=self._pump, name="stdin", daemon=True).start()

    def _pump(self) -> None:
        """Read lines until the input ends."""
        try:
            for line in self._source:
                self._loop.call_soon_threadsafe(self._arrived, line)
            self._loop.call_soon_threadsafe(self._arrived, None)
        except (OSError, ValueError, RuntimeError):  # closed, or the loop has gone
            pass

    def _arrived(self, line: str | None) -> None:
        if line is None:
            self._ended = True
        else:
            self._lines.append(line.strip())
        self._changed.set()

    async def read(self, wanted: Wanted) -> str | None:
        """The next line, as soon as it is wanted."""
        while True:
            self._changed.clear()
            if self._lines and wanted(self._lines[0]):
                line = self._lines.popleft()
                await self.show(Text(f"> {line}", "dim"))
                return line
            if self._ended and not self._lines:
                return None
            await self._changed.wait()

    async def show(self, drawn: RenderableType, *, clear: bool = False) -> None:
        """Write a drawing; an empty text is nothing."""
        if not isinstance(drawn, Text) or drawn.plain:
            self._print(drawn)

    def wake(self) -> None:
        """What is wanted may have changed."""
        self._changed.set()


class ScreenTerminal(Terminal):
    """A screen that is redrawn in place, with an input line below."""

    live = True

    def __init__(
        self,
        console: Console,
        message: Callable[[], Text],
        toolbar: Callable[[], Text],
        resized: Callable[[], None],
    ) -> None:
        super().__init__(console)
        self._message = message
        self._toolbar = toolbar
        self._resized = resized
        self._size = console.size
        self._session: PromptSession[str] = PromptSession(
            message=lambda: self._ansi(self._message()),
            bottom_toolbar=self._bottom,
            reserve_space_for_menu=0,
            erase_when_done=True,
        )
        self._typing = False
        self._session.default_buffer.on_text_changed += self._typed

    def _typed(self, buffer: Buffer) -> None:
        """Remember what was asked when the first character came."""
        if buffer.text and not self._typing:
            self.began_with = self.asked
        self._typing = bool(buffer.text)

    @property
    def look(self) -> Look:
        """The room above the input line with the clocks over it, and the line at the bottom."""
        look = Look.of(self.console)
        taken = 2 + self._message().plain.count("\n")
        return Look(look.width, max(8, look.height - taken), look.signs)

    def _bottom(self) -> ANSI:
        """The line at the bottom; drawn again when the size has changed, which is noticed here."""
        if self.console.size != self._size:
            self._size = self.console.size
            self._resized()
        return self._ansi(self._toolbar())

    def _ansi(self, text: Text) -> ANSI:
        """A text for prompt_toolkit."""
        with self.console.capture() as captured:
            self.console.print(text, end="", soft_wrap=True, highlight=False)
        return ANSI(captured.get())

    async def read(self, wanted: Wanted) -> str | None:
        """The next line."""
        self._typing = False
        try:
            return (await self._session.prompt_async()).strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            raise Interrupted from None

    def tick(self) -> None:
        """Draw the input line and what stands over it anew; what is typed stays as it is.

        Only cells that have changed are written, and the cursor goes back to where it was.
        """
        if self._session.app.is_running:
            self._session.app.invalidate()

    async def show(self, drawn: RenderableType, *, clear: bool = False) -> None:
        """Write a text above the input line."""

        def write() -> None:
            if clear:
                self.console.file.write("\x1b[H\x1b[2J")
            self._print(drawn)
            self.console.file.flush()

        if self._session.app.is_running:
            await run_in_terminal(write)
        else:
            write()


def is_screen() -> bool:
    """Input and output are a terminal that can be redrawn in place."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return os.environ.get("TERM", "") not in ("", "dumb", "unknown")
