"""What one command works with: the service, the tokens, and where the output goes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tableturn_client.address import DEFAULT_SERVER, Address, read_address
from tableturn_client.client import Client, connect
from tableturn_client.credentials import Credentials
from tableturn_client.drawing.words import clean
from tableturn_client.errors import TableturnError
from tableturn_client.wire import Retry

if TYPE_CHECKING:
    from rich.console import Console

TIMEOUT = 10.0


@dataclass
class Session:
    """The settings that hold for one command, and its output."""

    server_text: str = DEFAULT_SERVER
    json: bool = False
    timeout: float = TIMEOUT
    token: str = ""
    credentials: Credentials = field(default_factory=Credentials.default)
    _waiting: bool = False

    @cached_property
    def server(self) -> Address:
        """The service's address. Raises BadAddress."""
        return read_address(self.server_text)

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A client for the service."""
        retry = Retry(total=self.timeout, attempt=min(self.timeout, Retry.attempt))
        async with connect(str(self.server), retry=retry, on_retry=self._on_retry) as client:
            try:
                yield client
            finally:
                self._clear()

    # ------------------------------------------------------------ output

    @cached_property
    def console(self) -> Console:
        """Where drawings go; without colours where they aren't wanted."""
        from rich.console import Console

        return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    def tell(self, document: object, *lines: str) -> None:
        """The result of a command: the JSON document, or the lines."""
        if self.json:
            self.write(to_json(document))
        else:
            for line in lines:
                for part in line.split("\n"):
                    self.write(part)

    def write(self, line: str) -> None:
        """One line of output, told at once, without anything that a terminal would obey."""
        sys.stdout.write("".join(c if c.isprintable() else "?" for c in line) + "\n")
        sys.stdout.flush()

    def remark(self, sentence: str) -> None:
        """Something to be known beside the result: on standard error, as failures are."""
        sys.stdout.flush()
        sys.stderr.write(f"tableturn: {clean(sentence, 200)}\n")
        sys.stderr.flush()

    def typed(self, command: str) -> str:
        """A command as it is typed to reach the same service."""
        known = {DEFAULT_SERVER, os.environ.get("TABLETURN_SERVER")}
        option = "" if self.server_text in known else f" --server {self.server}"
        return f"tableturn {command}{option}"

    # ------------------------------------------------------------ waiting

    def _on_retry(self, error: TableturnError) -> None:
        """Tell a person at a terminal, once, why nothing happens."""
        if sys.stderr.isatty() and not self._waiting:
            self._waiting = True
            sys.stderr.write(f"{clean(error.sentence, 70)} (trying again)")
            sys.stderr.flush()

    def _clear(self) -> None:
        if self._waiting:
            self._waiting = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def to_json(document: object) -> str:
    """A document on one line; what a terminal would obey is escaped, other characters stay."""
    text = json.dumps(document, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def columns(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Rows as aligned lines. Cells are cleaned of what a terminal would obey, and cut."""
    from rich.cells import cell_len

    cells = [[clean(cell, 60) for cell in row] for row in rows]
    widths = [
        max(cell_len(row[at]) if at < len(row) else 0 for row in cells)
        for at in range(max(map(len, cells), default=0))
    ]
    return [
        indent
        + "  ".join(
            cell + " " * (widths[at] - cell_len(cell)) for at, cell in enumerate(row)
        ).rstrip()
        for row in cells
    ]
