"""Who is there: heard of watches alone, the same from every process, and gone when it dies."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from tableturn.v1 import clock_pb2
from tableturn_server.service.keeper import Done
from tableturn_server.service.presences import FORGOTTEN_MS, Presences
from tableturn_server.service.refusing import too_late
from tableturn_server.store import JobBoard, PresenceStore, StoreUnavailable, Watched
from tableturn_server.tables import commands
from tableturn_server.tables.commands import By
from tableturn_server.tables.state import StandInCause
from tests.service.company import AWAY, HERE, UNKNOWN, Listening, asks, sits_down
from tests.service.panels import a_panel
from tests.service.support import HOST, Caller, Running, digest, pb, serving
from tests.store.support import Server, eventually, running_server

pytestmark = pytest.mark.e2e

STARTS = count(1_790_000_000, 24 * 3600)
"""When each test begins: time goes on from one to the next, as a store expects of it."""
GRACE = 120


@pytest.fixture(scope="module")
def valkey() -> Iterator[Server]:
    """A store of this module's own: its clock is none of the others'."""
    with running_server() as running:
        yield running


@dataclass
class World:
    """Two services on one store, and the time, which stands unless somebody lets it pass."""

    one: Running
    two: Running
    began: float
    now: float

    @property
    def ms(self) -> int:
        return int(self.now * 1000)

    async def passes(self, seconds: float) -> None:
        """Time passes, and both services give their signs of life."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 4)
            for running in (self.one, self.two):
                await running.service.outages.beat()
                await running.service.presences.beat()

    async def is_heard(self, who: Listening, *states: int, spectators: int | None = None) -> None:
        """The watcher is told that this is so, after the next sign of life at the latest."""
        for running in (self.one, self.two):
            await running.service.presences.beat()
        await who.until(*states, spectators=spectators)

    async def state(self, who: Caller) -> list[tuple[int, float]]:
        """Who is there, for somebody who looks once: a state and since how many seconds."""
        answer = await who.call("GetTable", pb.GetTableRequest(table_id=who.table_id))
        assert answer.time.ToMilliseconds() == self.ms
        return [
            (
                one.state,
                self.now - one.since.ToMilliseconds() / 1000 if one.state else 0,
            )
            for one in answer.presence.seats
        ]

    async def stand_in(self, host: Caller, seat: int) -> None:
        """A bot plays on for somebody who has been away for too long."""
        await self.passes(GRACE)
        command = commands.GoAway(by=By(service=True), seat=seat, since=1, bot="greedy")
        await self.one.service.keeper.carry_out(host.table_id, command, None, float("inf"))
        assert (await host.looks()).seats[seat - 1].stand_in == "greedy"


@contextlib.asynccontextmanager
async def a_world(valkey: Server) -> AsyncIterator[World]:
    async with contextlib.AsyncExitStack() as stack:
        began = float(next(STARTS))
        found: list[World] = []

        def clock() -> float:
            return found[0].now if found else began

        one, two = [
            await stack.enter_async_context(serving(valkey.url, clock=clock, heartbeat=0.2))
            for _ in range(2)
        ]
        found.append(World(one, two, began, began))
        yield found[0]


@pytest.fixture
async def world(valkey: Server) -> AsyncIterator[World]:
    async with a_world(valkey) as found:
        yield found


def elsewhere(who: Caller, running: Running) -> Caller:
    """The same person, at another service."""
    return running.caller(who.token, who.table_id)


async def test_somebody_comes_and_leaves_and_both_services_tell_it(world: World) -> None:
    host, (ann, bob) = await world.one.a_game()
    assert await world.state(host) == [(UNKNOWN, 0), (UNKNOWN, 0)]
    near = await Listening(host).begins()
    far = await Listening(elsewhere(host, world.two)).begins()
    assert near.states() == far.states() == [UNKNOWN, UNKNOWN]
    watch = await Listening(ann).begins()
    for listening in (near, far, watch):
        await listening.until(HERE, UNKNOWN)
    await world.passes(60)
    assert await world.state(bob) == [(HERE, 60), (UNKNOWN, 0)]
    watch.ends()
    for listening in (near, far):
        found = await listening.until(AWAY, UNKNOWN)
        assert found.seats[0].since.ToMilliseconds() == world.ms
    await world.passes(30)
    assert await world.state(elsewhere(bob, world.two)) == [(AWAY, 30), (UNKNOWN, 0)]
    # It is no part of the game.
    assert (await host.looks()).revision == bob.seen
    near.ends()
    far.ends()


async def test_another_process_is_woken_at_once(valkey: Server) -> None:
    """Nothing else tells it: it gives no signs of life, and its watchers need none for long."""
    moment = float(next(STARTS))
    async with (
        serving(valkey.url, clock=lambda: moment) as one,
        serving(valkey.url, clock=lambda: moment, heartbeat=60) as two,
    ):
        await two.service.presences.stop()
        host, (ann, _) = await one.a_game()
        listening = await Listening(elsewhere(host, two)).begins()
        watch = await Listening(ann).begins()
        await listening.until(HERE, UNKNOWN)
        watch.ends()
        await listening.until(AWAY, UNKNOWN)
        listening.ends()


async def test_it_is_told_once_and_not_again_and_again(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    watch = await Listening(ann).begins()
    listening = await Listening(host).begins()
    await listening.until(HERE, UNKNOWN)
    told = listening.presences
    await world.passes(40)
    await ann.confirms(at=(await host.looks()).revision)
    while await listening.read() != "change":
        pass
    assert listening.presences == told
    watch.ends()
    listening.ends()


@pytest.mark.case("R7")
async def test_a_thinking_player_is_never_gone(world: World) -> None:
    host, (ann, bob) = await world.one.a_game()
    watches = [await Listening(who).begins() for who in (ann, elsewhere(bob, world.two))]
    await world.passes(30 * 60)
    assert await world.state(host) == [(HERE, 1800), (HERE, 1800)]
    held = await world.one.service.keeper.look(host.table_id)
    assert await world.two.service.presences.absent(held, world.ms) == ()
    for watch in watches:
        watch.ends()


async def test_a_script_that_never_watches_is_neither_here_nor_away(world: World) -> None:
    host, (ann, bob) = await world.one.a_game()
    for who, other in ((ann, bob), (bob, ann)):
        await who.confirms(at=max(ann.seen, other.seen, bob.seen))
    await world.passes(600)
    assert await world.state(host) == [(UNKNOWN, 0), (UNKNOWN, 0)]
    held = await world.one.service.keeper.look(host.table_id)
    assert await world.one.service.presences.away(held) == frozenset()


@pytest.mark.case("R1", "R4")
async def test_reconnecting_anywhere_any_number_of_times_changes_nothing(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    listening = await Listening(host).begins()
    watch = await Listening(ann).begins()
    await listening.until(HERE, UNKNOWN)
    for n in range(8):
        await world.passes(4)
        before = watch
        watch = await Listening(elsewhere(ann, (world.two, world.one)[n % 2])).begins()
        assert watch.states() == [HERE, UNKNOWN]
        before.ends()
    await eventually(lambda: len(world.one.service.watches) == 2)
    await world.is_heard(watch, HERE, UNKNOWN)
    assert await world.state(host) == [(HERE, 32), (UNKNOWN, 0)]
    assert (await host.looks()).revision == ann.seen
    watch.ends()
    await listening.until(AWAY, UNKNOWN)
    listening.ends()


async def test_two_devices_of_one_seat(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    listening = await Listening(host).begins()
    phone = await Listening(ann).begins()
    tablet = await Listening(elsewhere(ann, world.two)).begins()
    laptop = await Listening(ann).begins()
    phone.ends()
    tablet.ends()
    await eventually(lambda: len(world.one.service.watches) == 2)
    await world.is_heard(laptop, HERE, UNKNOWN)
    assert await world.state(host) == [(HERE, 0), (UNKNOWN, 0)]
    laptop.ends()
    await listening.until(AWAY, UNKNOWN)
    listening.ends()


async def test_a_process_that_was_killed_is_not_believed_for_long(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    killed = PresenceStore(world.one.store.connection)
    await killed.note(Watched(host.table_id, digest(ann.token), 1), "killed", world.ms)
    listening = await Listening(elsewhere(host, world.two)).begins()
    assert listening.states() == [HERE, UNKNOWN]
    await world.passes(20)
    assert await world.state(host) == [(HERE, 20), (UNKNOWN, 0)]
    await world.passes(4)
    # Nobody has said so: it is seen, and told.
    found = await listening.until(AWAY, UNKNOWN)
    assert found.seats[0].since.ToMilliseconds() == int(world.began * 1000)
    # And she comes back to another one.
    watch = await Listening(elsewhere(ann, world.two)).begins()
    await listening.until(HERE, UNKNOWN)
    watch.ends()
    listening.ends()


async def test_a_service_that_ends_takes_its_watchers_with_it(valkey: Server) -> None:
    moment = float(next(STARTS))
    async with serving(valkey.url, clock=lambda: moment) as two:
        async with serving(valkey.url, clock=lambda: moment) as one:
            host, (ann, _) = await one.a_game()
            await Listening(ann).begins()
            listening = await Listening(elsewhere(host, two)).begins()
            await listening.until(HERE, UNKNOWN)
        await listening.until(AWAY, UNKNOWN)
        listening.ends()


async def test_a_panel_is_there_for_the_seats_of_its_buttons(world: World) -> None:
    host, people = await world.one.a_game(seats=3)
    panel = await a_panel(host, world.one, [1, 2])
    await people[1].changes("SetConfirmation", seat=2, confirmation=pb.CONFIRMATION_DEVICE)
    listening = await Listening(host).begins()
    bridge = await Listening(panel).begins()
    # Seat 2 confirms on a device of its own, and seat 3 has no button.
    await listening.until(HERE, UNKNOWN, UNKNOWN)
    await world.passes(20 * 60)
    assert [state for state, _ in await world.state(host)] == [HERE, UNKNOWN, UNKNOWN]
    await people[1].changes("SetConfirmation", seat=2, confirmation=pb.CONFIRMATION_EITHER)
    await listening.until(HERE, HERE, UNKNOWN)
    # A phone that goes leaves the seat to the panel; then the panel goes.
    phone = await Listening(people[0]).begins()
    phone.ends()
    await eventually(lambda: len(world.one.service.watches) == 2)
    await world.is_heard(bridge, HERE, HERE, UNKNOWN)
    bridge.ends()
    await listening.until(AWAY, AWAY, UNKNOWN)
    listening.ends()


async def test_who_takes_a_seat_while_watching_is_there_from_then_on(world: World) -> None:
    host = await world.one.a_table()
    listening = await Listening(host).begins()
    ann = world.one.caller("the token of Ann, for tests", host.table_id)
    watch = await Listening(ann).begins()
    await world.is_heard(listening, spectators=2)
    await ann.takes_seat()
    await listening.until(HERE)
    await world.is_heard(listening, HERE, spectators=1)
    await ann.changes("LeaveSeat")
    await world.is_heard(listening, spectators=2)
    watch.ends()
    listening.ends()


async def test_devices_without_a_part_are_forgotten(world: World) -> None:
    """Not at once: a process may not know yet who has sat down."""
    host, (ann, _) = await world.one.a_game()
    store = PresenceStore(world.one.store.connection)
    tokens = []
    for n in range(4):
        tokens.append(digest(ann.token))
        watch = await Listening(ann).begins()
        watch.ends()
        await eventually(lambda: not len(world.one.service.watches))
        code = (await asks(ann, "MakeSeatCode")).code
        ann = world.one.caller(f"the token of her phone {n}", host.table_id)
        await sits_down(ann, code)
    watch = await Listening(elsewhere(ann, world.two)).begins()
    (found,) = await store.look([host.table_id])
    assert found.keys() - {b""} == {*tokens, digest(ann.token)}
    await world.passes(FORGOTTEN_MS // 1000 + 8)
    (found,) = await store.look([host.table_id])
    assert found.keys() - {b""} == {digest(ann.token)}
    assert await world.state(host) == [(HERE, FORGOTTEN_MS // 1000 + 8), (UNKNOWN, 0)]
    watch.ends()


async def test_spectators_are_counted_over_all_services(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    listening = await Listening(ann).begins()
    services = (world.one, world.two)
    watches = [
        await Listening(services[n % 2].caller("", host.table_id)).begins() for n in range(5)
    ]
    watches.append(await Listening(host).begins())
    await world.is_heard(listening, HERE, UNKNOWN, spectators=6)
    for watch in watches[:4]:
        watch.ends()
    await eventually(lambda: sum(len(one.service.watches) for one in services) == 3)
    await world.is_heard(listening, HERE, UNKNOWN, spectators=2)
    watches[4].ends()
    watches[5].ends()
    listening.ends()


# -- what follows from it ------------------------------------------------------------------


@pytest.mark.case("C7")
async def test_away_is_who_has_been_so_for_longer_than_the_grace(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    presences = world.two.service.presences
    watch = await Listening(ann).begins()
    watch.ends()
    held = await world.two.service.keeper.look(host.table_id)

    async def is_absent() -> bool:
        return await presences.absent(held, world.ms) == ((1, world.ms),)

    await eventually(is_absent)
    began = world.ms
    assert await presences.away(held) == frozenset()
    await world.passes(GRACE - 4)
    assert await presences.away(held) == frozenset()
    await world.passes(8)
    assert await presences.absent(held, world.ms) == ((1, began),)
    assert await presences.away(held) == frozenset({1})


async def test_an_outage_is_nobody_s_absence(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    watch = await Listening(ann).begins()
    watch.ends()
    await eventually(lambda: not len(world.one.service.watches))
    await world.passes(GRACE - 8)
    world.now += 600  # nobody serves
    held = await world.one.service.keeper.look(host.table_id)
    assert await world.one.service.presences.away(held) == frozenset()
    await world.passes(GRACE + 4)
    assert await world.one.service.presences.away(held) == frozenset({1})


async def test_between_two_looks_at_a_correspondence_game_nobody_is_absent(world: World) -> None:
    clock = clock_pb2.ClockSettings(kind=clock_pb2.CLOCK_KIND_CORRESPONDENCE)
    clock.step.FromSeconds(24 * 3600)
    host, (ann, _) = await world.one.a_game(clock=clock)
    watch = await Listening(ann).begins()
    watch.ends()
    listening = await Listening(host).begins()
    await listening.until(UNKNOWN, UNKNOWN)
    listening.ends()
    await world.passes(2 * GRACE)
    held = await world.one.service.keeper.look(host.table_id)
    presences = world.one.service.presences
    assert await presences.absent(held, world.ms) == ()
    assert await presences.host_away(held, world.ms) is None


@pytest.mark.case("C8")
async def test_the_host_is_there_or_away_or_was_never_heard(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    presences, keeper = world.one.service.presences, world.one.service.keeper
    held = await keeper.look(host.table_id)
    assert await presences.host_away(held, world.ms) is None
    watch = await Listening(host).begins()
    assert await presences.host_away(held, world.ms) is None
    watch.ends()
    await eventually(lambda: not len(world.one.service.watches))

    async def is_away() -> bool:
        return await presences.host_away(held, world.ms) == world.ms

    await eventually(is_away)
    # The duties pass to Ann, who was never heard; then she is, and then she isn't.
    await host.changes("PassHost", seat=1)
    held = await keeper.look(host.table_id)
    assert await presences.host_away(held, world.ms) is None
    watch = await Listening(ann).begins()
    watch.ends()
    await eventually(is_away)


@pytest.mark.case("C8")
async def test_a_host_is_back_whose_duties_somebody_has_meanwhile(world: World) -> None:
    """A host who only makes calls is not known to be there, and nobody loses the duties by it."""
    host, _ = await world.one.a_game()
    presences, keeper = world.one.service.presences, world.one.service.keeper
    held = await keeper.look(host.table_id)
    (await Listening(host).begins()).ends()
    await eventually(lambda: not len(world.one.service.watches))
    command = commands.PassHost(by=By(service=True), seat=1)
    await keeper.carry_out(host.table_id, command, None, float("inf"))
    assert await presences.host_back(held, world.ms) is None
    held = await keeper.look(host.table_id)
    assert await presences.host_back(held, world.ms) is None
    board = Announced()
    looking = apart(world.one, board)
    await looking.at(held)
    await world.passes(10)
    watch = await Listening(host).begins()
    assert await presences.host_back(held, world.ms) == world.ms
    await looking.at(held)
    assert board.due[-1] == (host.table_id, world.ms)
    watch.ends()


@pytest.mark.case("C7")
async def test_whoever_acts_on_another_device_is_not_away(world: World) -> None:
    """The phone is in a pocket, and a script plays."""
    host, (ann, _) = await world.one.a_game()
    (await Listening(ann).begins()).ends()
    await eventually(lambda: not len(world.one.service.watches))
    await world.passes(GRACE + 4)
    presences, keeper = world.one.service.presences, world.one.service.keeper
    assert await presences.away(await keeper.look(host.table_id)) == frozenset({1})
    await ann.confirms()
    held = await keeper.look(host.table_id)
    assert await presences.away(held) == frozenset()
    await world.passes(GRACE - 1)
    assert await presences.away(held) == frozenset()
    await world.passes(4)
    assert await presences.away(held) == frozenset({1})


@pytest.mark.case("C8")
async def test_a_host_who_acts_on_another_device_is_not_away(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    await host.changes("PassHost", seat=1)
    (await Listening(ann).begins()).ends()
    await eventually(lambda: not len(world.one.service.watches))
    await world.passes(GRACE)
    await ann.looks()
    await ann.confirms()
    held = await world.one.service.keeper.look(host.table_id)
    assert await world.one.service.presences.host_away(held, world.ms) == world.ms


@pytest.mark.case("C7")
async def test_nobody_is_looked_for_where_nobody_is_there_until_somebody_is(world: World) -> None:
    policy = absence(clock_pb2.ABSENCE_POLICY_BOT)
    host, (ann, bob) = await world.one.a_game(absence=policy)
    held = await world.one.service.keeper.look(host.table_id)
    left = world.ms
    for who in (ann, bob):
        (await Listening(who).begins()).ends()
    await eventually(lambda: not len(world.one.service.watches))
    await world.passes(30)
    board = Announced()
    looking = apart(world.one, board)
    await looking.at(held)
    assert board.due == []
    watch = await Listening(bob).begins()
    await looking.at(held)
    assert board.due == [(host.table_id, left + GRACE * 1000)]
    watch.ends()


@pytest.mark.case("C7", "R1")
async def test_a_phone_comes_back_and_the_bot_makes_room(world: World) -> None:
    host, (ann, bob) = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    await world.stand_in(host, 1)
    # Bob's watch is no sign of Ann.
    other = await Listening(bob).begins()
    assert (await host.looks()).seats[0].stand_in
    watches = [await Listening(elsewhere(ann, world.two)).begins() for _ in range(3)]
    view = await host.looks()
    assert not view.seats[0].stand_in
    kinds = [entry.kind for entry in await host.reads_log()]
    assert kinds.count(pb.CHANGE_KIND_COME_BACK) == 1
    for watch in (other, *watches):
        watch.ends()


async def test_who_is_there_already_is_back_at_once(world: World) -> None:
    """The bot was let in at the moment in which the phone connected again."""
    host, (ann, _) = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    watch = await Listening(ann).begins()
    await world.passes(GRACE)
    await world.one.service.keeper.carry_out(
        host.table_id,
        commands.GoAway(by=By(service=True), seat=1, since=1, bot="greedy"),
        None,
        float("inf"),
    )

    async def is_back() -> bool:
        return not (await host.looks()).seats[0].stand_in

    await eventually(is_back)
    kinds = [entry.kind for entry in await host.reads_log()]
    assert kinds[-2:] == [pb.CHANGE_KIND_STAND_IN, pb.CHANGE_KIND_COME_BACK]
    watch.ends()


async def test_a_panel_that_comes_back_brings_its_seats_back(world: World) -> None:
    host, _ = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    panel = await a_panel(host, world.one, [1, 2])
    await world.stand_in(host, 1)
    bridge = await Listening(panel).begins()
    assert not (await host.looks()).seats[0].stand_in
    bridge.ends()


@pytest.mark.case("C8")
async def test_a_vote_does_not_wait_for_who_is_away(world: World) -> None:
    host, (ann, bob, _, dan) = await world.one.a_game(seats=4)
    watch = await Listening(dan).begins()
    watch.ends()
    await world.passes(GRACE + 30)
    first = await ann.changes("VoteDrop", target=3)
    assert list(first.waiting_for) == [2]
    second = await bob.changes("VoteDrop", target=3)
    assert list(second.waiting_for) == []
    assert [seat.dropped for seat in (await host.looks()).seats] == [False, False, True, False]


async def test_by_correspondence_nobody_is_away(world: World) -> None:
    clock = clock_pb2.ClockSettings(kind=clock_pb2.CLOCK_KIND_CORRESPONDENCE)
    clock.step.FromSeconds(3 * 86_400)
    host, (ann, _) = await world.one.a_game(clock=clock)
    watch = await Listening(ann).begins()
    assert (await world.state(host))[0][0] == HERE
    watch.ends()
    await world.passes(3 * GRACE)
    assert (await world.state(host))[0][0] == UNKNOWN


class Refusing(JobBoard):
    """A board that can't be reached once."""

    def __init__(self) -> None:
        self.due: list[int] = []
        self.is_away = True

    async def announce(self, table_id: str, due_ms: int, now_ms: int) -> None:
        if self.is_away:
            self.is_away = False
            raise StoreUnavailable("the store is away")
        self.due.append(due_ms)


async def test_what_could_not_be_announced_is_announced_again(world: World) -> None:
    board = Refusing()
    presences = world.one.service.presences
    presences._jobs = board  # the service has made its own
    _, (ann, bob) = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    looks = await Listening(bob).begins()
    watch = await Listening(ann).begins()
    watch.ends()

    async def is_known() -> bool:
        await presences.beat()
        return bool(board.due)

    await eventually(is_known)
    looks.ends()


async def test_a_bot_that_was_wished_for_stays(world: World) -> None:
    host, (ann, _) = await world.one.a_game()
    await ann.changes("StandIn", bot="greedy")
    watch = await Listening(ann).begins()
    await ann.looks()
    held = await world.one.service.keeper.look(host.table_id)
    assert held.table.seat(1).stand_in_cause == StandInCause.WISH
    watch.ends()


class Announced(JobBoard):
    """A board that notes what is announced on it."""

    def __init__(self) -> None:
        self.due: list[tuple[str, int]] = []

    async def announce(self, table_id: str, due_ms: int, now_ms: int) -> None:
        self.due.append((table_id, due_ms))


def absence(policy: clock_pb2.AbsencePolicy.ValueType) -> clock_pb2.AbsenceSettings:
    settings = clock_pb2.AbsenceSettings(policy=policy)
    settings.grace.FromSeconds(GRACE)
    return settings


def apart(running: Running, board: JobBoard) -> Presences:
    """A process with a board of its own."""
    store, service = running.store, running.service
    return Presences(
        service.keeper, store.tables, PresenceStore(store.connection), board, store.hub
    )


@pytest.mark.parametrize(
    ("policy", "token", "host_stays", "is_announced"),
    [
        (clock_pb2.ABSENCE_POLICY_BOT, "seat", False, True),
        (clock_pb2.ABSENCE_POLICY_DROP, "seat", False, True),
        (clock_pb2.ABSENCE_POLICY_WAIT, "seat", False, False),
        (clock_pb2.ABSENCE_POLICY_WAIT, HOST, False, True),
        (clock_pb2.ABSENCE_POLICY_WAIT, HOST, True, False),
    ],
)
async def test_who_leaves_is_looked_for_when_the_grace_is_over(
    world: World,
    policy: clock_pb2.AbsencePolicy.ValueType,
    token: str,
    host_stays: bool,
    is_announced: bool,
) -> None:
    host, (ann, _) = await world.one.a_game(absence=absence(policy), host_stays=host_stays)
    board = Announced()
    presences = apart(world.one, board)
    held = await world.one.service.keeper.look(host.table_id)
    who = digest(ann.token if token == "seat" else token)
    await presences.comes(held, who)
    assert board.due == []
    left = world.ms
    presences.goes(host.table_id, who)
    await presences.stop()
    expected = [(host.table_id, left + GRACE * 1000)] if is_announced else []
    assert board.due == expected
    # Whoever looks later, at whatever process, says the same; and says it once.
    world.now += 10
    other = Announced()
    looks = apart(world.two, other)
    for _ in range(3):
        await looks.at(held)
    assert other.due == expected


async def test_a_kill_is_found_by_whoever_looks(world: World) -> None:
    host, (ann, _) = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    held = await world.one.service.keeper.look(host.table_id)
    killed = PresenceStore(world.one.store.connection)
    await killed.note(Watched(host.table_id, digest(ann.token), 1), "killed", world.ms)
    board = Announced()
    presences = apart(world.one, board)
    await presences.comes(held, b"")
    await presences.beat()
    assert board.due == []
    world.now += 21
    await presences.beat()
    assert board.due == [(host.table_id, int((world.began + GRACE) * 1000))]
    presences.goes(host.table_id, b"")
    await presences.stop()


@pytest.mark.case("C7", "S6")
async def test_the_store_is_away_when_a_phone_comes_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same watch says so again, until it is done; a refusal is not asked for again."""
    host, (ann, _) = await world.one.a_game(absence=absence(clock_pb2.ABSENCE_POLICY_BOT))
    await world.stand_in(host, 1)
    keeper = world.two.service.keeper
    carry_out, tries = keeper.carry_out, 0

    async def away(*args: Any) -> Done:
        nonlocal tries
        tries += 1
        match tries:
            case 1:
                raise StoreUnavailable("the store is away")
            case 2:
                raise too_late(1)
        return await carry_out(*args)

    monkeypatch.setattr(keeper, "carry_out", away)
    watch = await Listening(elsewhere(ann, world.two)).begins()

    async def is_back() -> bool:
        return not (await host.looks()).seats[0].stand_in

    await eventually(is_back)
    assert tries == 3
    watch.ends()
