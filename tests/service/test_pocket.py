"""A phone in a pocket for an hour: nothing is lost, the others play on, and the clock is right.

The phone's connections are cut, and it does nothing until it is taken out again: not even its own
clock goes on. The hour passes at the service in steps, each with the signs of life of a service
that runs; nobody waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, timedelta

import pytest

from tableturn.v1.clock_pb2 import AbsencePolicy, AbsenceSettings, ClockKind, ClockSettings
from tableturn.v1.company_pb2 import PresenceState
from tableturn.v1.table_pb2 import ChangeKind, LogEntry, TableView
from tableturn_client import Change, Client, Disconnected, Event, Reconnected, Snapshot, connect
from tableturn_client.handles import Seat
from tableturn_client.timekeeping import time_left
from tableturn_client.wire import Machine
from tests.e2e.processes import running_valkey
from tests.service.passing import TICK, World
from tests.service.support import Caller, pb, serving
from tests.store.support import eventually

pytestmark = pytest.mark.timeout(120)

HOUR = 3600.0
GRACE = 120
BANK = 2 * 3600
STEP = 10


class Line:
    """The air between a phone and the service: it can be cut."""

    def __init__(self) -> None:
        self.port = 0
        """Where the service is."""
        self._cut = False
        self._open: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[str]:
        """The address that the phone uses."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            await self.cut()

    async def cut(self) -> None:
        """Nothing goes through, and nobody is told."""
        self._cut = True
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    def mend(self) -> None:
        """What is begun from now on goes through."""
        self._cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        there: asyncio.StreamWriter | None = None
        try:
            if not self._cut:
                back, there = await asyncio.open_connection("127.0.0.1", self.port)
                async with asyncio.TaskGroup() as ways:
                    ways.create_task(_carry(reader, there))
                    ways.create_task(_carry(back, writer))
        except (OSError, asyncio.CancelledError, ExceptionGroup):
            pass
        finally:
            for end in (writer, there):
                if end is not None:
                    end.transport.abort()
            self._open.discard(task)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError


class Sleeper:
    """The machine of a phone, which sleeps in the pocket."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._slept = 0.0
        self._since = 0.0
        self._awake = asyncio.Event()
        self._awake.set()

    def falls_asleep(self) -> None:
        self._since = self._world.now
        self._awake.clear()

    def wakes(self) -> None:
        self._slept += self._world.now - self._since
        self._awake.set()

    def now(self) -> float:
        """Its clock that only goes on stands still while it sleeps."""
        awake = self._world.now if self._awake.is_set() else self._since
        return awake - self._slept

    async def sleep(self, seconds: float) -> None:
        """A pause of the client's: none of it is over before the phone is awake."""
        await self._awake.wait()
        await asyncio.sleep(min(seconds, 0.01))


@dataclass
class Phone:
    """Ann's phone: a client that follows the table, until it is put into a pocket."""

    machine: Sleeper
    line: Line
    client: Client
    seat: Seat
    heard: list[Event] = field(default_factory=list)

    async def follows(self) -> None:
        async with self.seat.watch() as watch:
            async for event in watch:
                self.heard.append(event)

    async def goes_into_the_pocket(self) -> None:
        self.machine.falls_asleep()
        await self.line.cut()
        await eventually(lambda: any(isinstance(one, Disconnected) for one in self.heard))

    def is_taken_out(self) -> None:
        self.line.mend()
        self.machine.wakes()

    @property
    def shows(self) -> TableView:
        """The table as the phone shows it."""
        view = self.seat.last_view
        assert view is not None
        return view

    def tells_left(self) -> timedelta:
        """What Ann has left, as the phone shows it."""
        left = time_left(self.shows, 1, self.client.time.time())
        assert left is not None
        return left


@dataclass
class Evening:
    """Three people at a free table with a clock: Ann with her phone, Bob and Cleo with scripts."""

    world: World
    phone: Phone
    bob: Caller
    cleo: Caller

    async def looks(self) -> TableView:
        return await self.bob.looks()

    async def is_away(self) -> bool:
        """Ann is shown away."""
        request = pb.GetTableRequest(table_id=self.bob.table_id)
        answer: pb.GetTableResponse = await self.bob.call("GetTable", request)
        state = next(seat.state for seat in answer.presence.seats if seat.seat == 1)
        assert state != PresenceState.PRESENCE_STATE_UNSPECIFIED
        return state == PresenceState.PRESENCE_STATE_AWAY

    async def asks(self, seat: int) -> None:
        """Wait until this seat is asked."""

        async def asked() -> bool:
            return [prompt.seat for prompt in (await self.looks()).prompts] == [seat]

        await eventually(asked)

    async def a_round_of_the_others(self) -> None:
        """Bob and Cleo think for a minute each, and take their turns."""
        for seat, person in ((2, self.bob), (3, self.cleo)):
            await self.asks(seat)
            await self.world.passes(60)
            await person.looks()
            await person.confirms()

    async def comes(self, kind: int) -> LogEntry:
        """Wait until the last thing that has happened is of this kind."""

        async def last() -> LogEntry:
            return (await self.bob.reads_log())[-1]

        async def came() -> bool:
            return (await last()).kind == kind

        await eventually(came)
        return await last()

    def used(self, view: TableView) -> float:
        """The seconds that Ann was charged."""
        return view.seats[0].clock.used.ToMilliseconds() / 1000

    async def check_the_phone(self) -> None:
        """It shows the table as it is, and Ann's clock as the service has it (C2)."""
        view = await self.looks()
        await eventually(lambda: self.phone.shows.revision == view.revision)
        clock = view.seats[0].clock
        left = clock.deadline.ToDatetime(UTC) - self.world.moment
        assert abs(self.phone.tells_left() - left) < timedelta(seconds=0.1)


Restart = Callable[[], Awaitable[None]]


@contextlib.asynccontextmanager
async def an_evening(policy: int) -> AsyncIterator[tuple[Evening, Restart]]:
    """The evening, and a way to restart the service and its store in the middle of it."""
    world, line = World(), Line()
    async with contextlib.AsyncExitStack() as stack:
        valkey = stack.enter_context(running_valkey())
        service = await stack.enter_async_context(contextlib.AsyncExitStack())

        async def start() -> None:
            world.running = await service.enter_async_context(
                serving(valkey.url, clock=lambda: world.now)
            )
            line.port = world.running.port

        async def restart() -> None:
            await service.aclose()
            valkey.stop()
            await asyncio.to_thread(valkey.start)
            await start()
            assert world.running is not None
            evening.bob, evening.cleo = (
                world.running.caller(person.token, person.table_id)
                for person in (evening.bob, evening.cleo)
            )

        await start()
        assert world.running is not None
        clock = ClockSettings(kind=ClockKind.CLOCK_KIND_INCREMENT)
        clock.bank.FromSeconds(BANK)
        clock.step.FromSeconds(STEP)
        absence = AbsenceSettings(policy=policy)  # type: ignore[arg-type]
        absence.grace.FromSeconds(GRACE)
        host = await world.running.a_table(
            seats=3, options={"first_seat": "2"}, clock=clock, absence=absence
        )
        address = await stack.enter_async_context(line.listen())
        sleeper = Sleeper(world)
        machine = Machine(now=sleeper.now, sleep=sleeper.sleep)
        client = await stack.enter_async_context(connect(address, machine=machine))
        seat = await client.table(host.table_id).take_seat("Ann")
        phone = Phone(sleeper, line, client, seat)
        others = [
            world.running.caller(f"the token of {name}", host.table_id) for name in ("Bob", "Cleo")
        ]
        for person in others:
            await person.takes_seat()
        evening = Evening(world, phone, *others)
        follows = asyncio.create_task(phone.follows())
        await eventually(lambda: bool(phone.heard))
        await seat.view()
        try:
            yield evening, restart
        finally:
            follows.cancel()
            await asyncio.wait([follows])


@pytest.mark.case("R9", "C2", "C7")
@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
async def test_a_bot_plays_on_for_a_phone_in_a_pocket_and_hands_back(is_restarted: bool) -> None:
    async with an_evening(AbsencePolicy.ABSENCE_POLICY_BOT) as (evening, restart):
        world, phone = evening.world, evening.phone
        await phone.goes_into_the_pocket()
        await eventually(evening.is_away)
        began = world.now
        # A turn is a lost connection that harms nobody: the grace is not over yet.
        for seat, person in ((2, evening.bob), (3, evening.cleo)):
            await evening.asks(seat)
            await person.looks()
            await person.confirms()
        await world.passes(GRACE - 10)
        assert not (await evening.looks()).seats[0].stand_in
        await evening.asks(1)
        await world.passes(12)
        # Then a bot takes Ann's turn, and each one that follows.
        while world.now < began + HOUR / 2:
            await evening.a_round_of_the_others()
        if is_restarted:
            await restart()
        while world.now < began + HOUR:
            await evening.a_round_of_the_others()
        view = await evening.looks()
        assert view.seats[0].stand_in
        assert view.seats[0].name == "Ann"
        # She was charged until the bot came, and not for what it did.
        assert GRACE - 10 <= evening.used(view) <= GRACE + TICK
        charged = evening.used(view)
        await evening.asks(2)

        before = len(phone.heard)
        phone.is_taken_out()
        # Whether the missed changes come or the whole table: what the phone shows is true.
        await eventually(lambda: len(phone.heard) > before + 1)
        assert isinstance(phone.heard[before], Reconnected)
        assert isinstance(phone.heard[before + 1], Snapshot | Change)
        back = await evening.comes(ChangeKind.CHANGE_KIND_COME_BACK)
        assert back.seat == 1
        await eventually(lambda: phone.shows.revision == back.revision)
        assert not phone.shows.seats[0].stand_in
        assert not await evening.is_away()

        # And she acts at the next decision, as if nothing had been.
        await evening.a_round_of_the_others()
        await evening.asks(1)
        await world.passes(20)
        await evening.check_the_phone()
        await phone.seat.confirm()
        await evening.asks(2)
        assert evening.used(await evening.looks()) == pytest.approx(charged + 20, abs=0.01)


@pytest.mark.case("R9", "R10", "C2")
@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
async def test_the_table_waits_for_a_phone_in_a_pocket(is_restarted: bool) -> None:
    """Where the table waits, nobody plays for her: her clock goes on, and nobody else's."""
    away = 30.0
    async with an_evening(AbsencePolicy.ABSENCE_POLICY_WAIT) as (evening, restart):
        world, phone = evening.world, evening.phone
        await phone.goes_into_the_pocket()
        for seat, person in ((2, evening.bob), (3, evening.cleo)):
            await evening.asks(seat)
            await person.looks()
            await person.confirms()
        await evening.asks(1)
        await world.passes(HOUR / 2)
        if is_restarted:
            world.now += away  # nobody serves for so long, and nobody is charged for it
            await restart()
        await world.passes(HOUR / 2)
        view = await evening.looks()
        assert [prompt.seat for prompt in view.prompts] == [1]
        assert not view.seats[0].stand_in

        before = len(phone.heard)
        phone.is_taken_out()
        await eventually(lambda: phone.shows.revision == view.revision)
        assert isinstance(phone.heard[before], Reconnected)
        await evening.check_the_phone()
        await phone.seat.confirm()
        await evening.asks(2)
        view = await evening.looks()
        assert evening.used(view) == pytest.approx(HOUR, abs=TICK + 0.01)
        assert view.seats[0].clock.left.ToMilliseconds() / 1000 == pytest.approx(
            BANK + STEP - HOUR, abs=TICK + 0.01
        )
        outages = [
            entry async for entry in phone.seat.log() if entry.kind == ChangeKind.CHANGE_KIND_OUTAGE
        ]
        assert bool(outages) is is_restarted
