"""How time passes at a service in this process: as fast as it can give its signs of life."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.service.support import Running

TICK = 4.0
"""Seconds of a step of time: below the silence that would be an outage."""


class World:
    """The time, and how it passes for those who are awake."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0
        self.running: Running | None = None

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    async def passes(self, seconds: float) -> None:
        """Time passes, and the service gives its signs of life."""
        assert self.running is not None
        service = self.running.service
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + TICK)
            await service.outages.beat()
            await service.presences.beat()
        service.runner.wake()
