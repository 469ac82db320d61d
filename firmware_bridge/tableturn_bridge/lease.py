"""Holding a panel at the service, so that no second bridge works it at the same time.

The service lends a panel to one bridge for a few seconds; the bridge asks again about every
second, and tells on that occasion how its panel is. Bridges of one machine have the same name,
so that one that was killed and started again has its panel at once; on the machine itself they
exclude each other by a lock (see `holding`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum

from tableturn_client import Panel
from tableturn_client.errors import (
    NoAnswer,
    NotPermitted,
    PanelHeld,
    Refused,
    ServiceFault,
    TableturnError,
    UnknownName,
)
from tableturn_client.messages import PanelReport

EVERY = 1.0
"""Seconds between two calls; the service lends a panel for four."""

LONGEST_NAME = 64

Sleep = Callable[[float], Awaitable[None]]


class Held(Enum):
    """Whose the panel is."""

    UNKNOWN = "unknown"
    """The service hasn't said yet."""
    OURS = "ours"
    OTHERS = "others"
    """Another bridge's."""
    OFF = "off"
    """Nobody's here: it isn't on the table, or the table doesn't know its token."""


def holder_name(machine: str, uid: int) -> str:
    """The name under which all bridges of a machine hold a panel: 8 to 64 printable signs."""
    name = f"{machine}:{uid}"
    # The end is what no other machine has.
    return "".join(sign if sign.isprintable() else "?" for sign in name)[-LONGEST_NAME:]


class Lease:
    """One panel at one table, as far as this bridge holds it.

    `changed` is called when it comes to hold the panel or no longer does, with a sentence if
    there is something to say about it.
    """

    def __init__(
        self,
        panel: Panel,
        report: Callable[[], PanelReport],
        changed: Callable[[Held, str], None],
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.state = Held.UNKNOWN
        self._panel = panel
        self._report = report
        self._changed = changed
        self._sleep = sleep
        self._known = asyncio.Event()
        self._let_go = False

    async def settled(self) -> Held:
        """Whose the panel is, once the service has said so."""
        await self._known.wait()
        return self.state

    async def keep(self) -> None:
        """Hold the panel until cancelled: again and again, also while somebody else has it."""
        while True:
            await self.renew()
            await self._sleep(EVERY)

    async def renew(self) -> Held:
        """Ask for the panel now. Without an answer nothing is known to have changed.

        One that was let go is not asked for again.
        """
        if self._let_go:
            return self.state
        try:
            await self._panel.hold(self._report())
        except PanelHeld as refusal:
            self._now(Held.OTHERS, refusal.sentence)
        except (NotPermitted, UnknownName) as refusal:
            self._now(Held.OFF, refusal.sentence)
        except (NoAnswer, Refused, ServiceFault):
            pass  # whoever follows the table sees that the service is away, and says so
        else:
            self._now(Held.OURS, "")
        return self.state

    async def release(self) -> None:
        """Let the panel go, if it is held; no matter whether the service hears it."""
        self._let_go = True
        if self.state is not Held.OURS:
            return
        self.state = Held.UNKNOWN
        try:
            async with asyncio.timeout(EVERY):
                await self._panel.release()
        except (TableturnError, TimeoutError):
            return  # the lease ends by itself

    def _now(self, state: Held, sentence: str) -> None:
        news = state is not self.state
        self.state = state
        self._known.set()
        if news:
            self._changed(state, sentence)
