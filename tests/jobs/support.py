"""A small vocabulary for tests of jobs: services without a port, that take the turns of bots.

async with an_office(url) as office:
    table_id = await office.a_table("eastern-wonders", seats=2, max_rounds="3")
    table = await office.finished(table_id)
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tableturn_server.bots.pool import COMMAND, Pool
from tableturn_server.jobs import Presence, Runner
from tableturn_server.jobs.runner import LEASE_MS
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.outages import Outages
from tableturn_server.store import OutageStore, Store, keys, open_store
from tableturn_server.tables import commands, state
from tableturn_server.tables.log import LogEntry
from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.state import Confirmation, Status, Table, Takeback
from tests.store.support import eventually, new_id
from tests.tables.play import HOST, SEED

LIVES_MS = 2000
"""How far signs of life are apart."""
NO_CLOCK = state.Clock()
WAITS = state.Absence()


class Clock:
    """A clock that stands still until the test says how much time has passed."""

    def __init__(self) -> None:
        self.ms = int(time.time()) * 1000

    def __call__(self) -> float:
        return _seconds(self.ms)

    def passes(self, ms: int) -> None:
        self.ms += ms

    def skewed(self, ms: int) -> Callable[[], float]:
        """The clock of a machine that is ahead by so much, or behind."""
        return lambda: _seconds(self.ms + ms)


def _seconds(ms: int) -> float:
    """As `time.time` tells it: half a millisecond more, so that none is lost in rounding."""
    return (ms + 0.5) / 1000


class Hold:
    """Holds the first call of a coroutine function back, before it begins or when it is done."""

    def __init__(self, real: Callable[..., Awaitable[Any]], *, when_done: bool = False) -> None:
        self._real = real
        self._when_done = when_done
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, *args: Any, **named: Any) -> Any:
        found = await self._real(*args, **named) if self._when_done else None
        self.reached.set()
        await self.go_on.wait()
        return found if self._when_done else await self._real(*args, **named)


@dataclass
class Office:
    """Everything of a service that its bots need."""

    store: Store
    keeper: Keeper
    pool: Pool
    runner: Runner
    outages: Outages

    async def a_table(
        self,
        game: str = "eastern-wonders",
        *,
        seats: int = 2,
        bots: str = "random",
        people: int = 0,
        table_id: str = "",
        seed: bytes = SEED,
        confirmation: Confirmation = Confirmation.EITHER,
        start: bool = True,
        clock: state.Clock = NO_CLOCK,
        absence: state.Absence = WAITS,
        host_stays: bool = False,
        **options: str,
    ) -> str:
        """A new table with bots on its seats, and people on the last ones; its id."""
        wish = Wish(
            table_id=table_id or new_id(),
            game=game,
            seats=seats,
            options={"first_seat": "1", **options},
            host=HOST.token,
            start_when_full=start,
            takeback=Takeback.ALL_AGREE,
            clock=clock,
            absence=absence,
            host_stays=host_stays,
        )
        table, entry, _ = make(wish, drawn_seed=seed, now=self.keeper.now())
        await self.keeper.create(table, entry, None)
        for seat in range(1, seats + 1):
            command: commands.AnyCommand
            if seat <= seats - people:
                command = commands.SeatBot(by=HOST, seat=seat, bot=bots, confirmation=confirmation)
            else:
                command = commands.TakeSeat(
                    by=commands.By(),
                    seat=seat,
                    name=f"Person {seat}",
                    token=token_of(seat).token,
                    confirmation=confirmation,
                )
            await self.does(table.making.table_id, command)
        return table.making.table_id

    async def lives(self, clock: Clock, ms: int) -> None:
        """Time passes, and this service gives its signs of life all the while."""
        while ms > 0:
            step = min(ms, LIVES_MS)
            clock.passes(step)
            await self.outages.beat()
            ms -= step
        self.runner.wake()

    async def does(self, table_id: str, command: commands.AnyCommand) -> Table:
        """Carry a command out; the table after it."""
        deadline = asyncio.get_running_loop().time() + 10
        done = await self.keeper.carry_out(table_id, command, None, deadline)
        assert done.held is not None
        return done.held.table

    async def confirms(self, table_id: str, seat: int) -> None:
        """A person ends a turn with nothing done."""
        table = await self.table(table_id)
        await self.does(
            table_id,
            commands.Act(
                by=token_of(seat), seat=seat, expected_revision=table.revision, confirm=True
            ),
        )

    async def table(self, table_id: str) -> Table:
        return (await self.keeper.look(table_id)).table

    async def log(self, table_id: str) -> list[LogEntry]:
        """The whole log, without gaps."""
        found: list[LogEntry] = []
        while page := await self.keeper.log(table_id, len(found), 500):
            found += [told.entry for told in page]
        assert [entry.revision for entry in found] == list(range(1, len(found) + 1))
        return found

    async def kinds(self, table_id: str) -> list[str]:
        """What has happened since all sat down, in one word each."""
        kinds = [entry.kind.name for entry in await self.log(table_id)]
        return [kind for kind in kinds if kind not in ("CREATE", "TAKE_SEAT", "START")]

    async def has_happened(self, table_id: str, *kinds: str) -> None:
        """Sooner or later this is what has happened since all sat down."""

        async def seen() -> bool:
            return await self.kinds(table_id) == list(kinds)

        try:
            await eventually(seen)
        except AssertionError:
            assert await self.kinds(table_id) == list(kinds)

    async def turns(self, table_id: str) -> list[LogEntry]:
        """The turns, and seats that left: each number once, in order."""
        turns = [entry for entry in await self.log(table_id) if entry.turn]
        assert [entry.turn for entry in turns] == list(range(1, len(turns) + 1))
        return turns

    async def finished(self, table_id: str, within: float = 60) -> Table:
        """The table when its game is over."""

        async def over() -> bool:
            return (await self.table(table_id)).status is Status.FINISHED

        await eventually(over, within)
        return await self.table(table_id)

    async def has_taken(self, turns: int) -> None:
        """This service has taken so many turns of bots."""
        await eventually(lambda: self.runner.counts.turns >= turns, 30)

    async def idle(self) -> None:
        """Nothing is left to do now, and nobody is at it."""

        async def done() -> bool:
            for shard in range(keys.JOB_SHARDS):
                due, _, leases, _ = keys.jobs(shard)
                now = self.keeper.now()
                found = await self.store.connection.pipeline(
                    [("ZCOUNT", due, "-inf", now), ("HLEN", leases)]
                )
                if found != [0, 0]:
                    return False
            return not self.runner._tables

        await eventually(done, 30)

    async def due(self, table_id: str) -> int | None:
        """When the table's job is due, or claimed until; None if it has none."""
        score = await self.store.connection.call("ZSCORE", keys.jobs_of(table_id)[0], table_id)
        return None if score is None else int(score)

    async def is_due(self, table_id: str, ms: int) -> None:
        """Sooner or later the table's job is due at that time."""

        async def seen() -> bool:
            return await self.due(table_id) == ms

        await eventually(seen)


def token_of(seat: int) -> commands.By:
    return commands.By(bytes((seat,)) * 32)


@contextlib.asynccontextmanager
async def an_office(
    url: str,
    *,
    starts: bool = True,
    poll: float = 0.2,
    command: Sequence[str] = COMMAND,
    thinking: float = 10.0,
    workers: int = 1,
    lease_ms: int = LEASE_MS,
    clock: Callable[[], float] = time.time,
    presence: Presence | None = None,
) -> AsyncIterator[Office]:
    """A service without a port, on a real store."""
    async with open_store(url=url) as store:

        async def hasten(now: int) -> None:
            await store.jobs.hasten(now)
            runner.wake()

        outages = Outages(OutageStore(store.connection), clock=clock, on_end=hasten)
        keeper = Keeper(store.tables, store.hub, jobs=store.jobs, outages=outages, clock=clock)
        pool = Pool(workers, thinking=thinking, command=command)
        runner = Runner(
            store.jobs,
            keeper,
            outages,
            pool,
            presence=presence,
            workers=workers,
            poll=poll,
            lease_ms=lease_ms,
        )
        office = Office(store, keeper, pool, runner, outages)
        await outages.beat()
        if starts:
            runner.start()
        try:
            yield office
        finally:
            await runner.stop()
            await pool.close()


def seats_in_turn(entries: list[LogEntry], seats: int) -> bool:
    """Seat after seat, round after round; for games in which all sit through every round."""
    ring = [entry.seat for entry in entries]
    first = ring[0] if ring else 1
    wanted = itertools.islice(itertools.cycle(range(1, seats + 1)), first - 1, None)
    return all(seat == want for seat, want in zip(ring, wanted, strict=False))


def new_seed() -> bytes:
    return secrets.token_bytes(16)
