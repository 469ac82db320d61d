"""What comes while a host asks who is there, and what it means when nobody says so."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_bridge import reasons
from tableturn_bridge.errors import LinkTrouble
from tableturn_bridge.protocol import Hello


@dataclass
class Asking:
    """What was seen since the asking began."""

    bytes: int = 0
    frames: int = 0
    refused: int = 0
    """How often a panel said that it speaks another version."""
    numbered: int = 0
    """How often a panel without a number was given one."""
    hello: Hello | None = None

    def why_unanswered(self, port: str, echoes: int) -> LinkTrouble:
        """The reason that fits what came; `echoes` are messages of a host among it."""
        if self.hello is not None:
            return reasons.forgetful(port)
        if echoes:
            return reasons.echo(port)
        if self.frames:
            return reasons.no_hello(port)
        if self.bytes:
            return reasons.garbage(port, self.bytes)
        return reasons.silent(port)
