"""What follows when somebody is away, as far as the service sees to it: nothing in the grace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tableturn.v1 import clock_pb2
from tableturn_server.service.keeper import Done
from tableturn_server.service.presences import Presences
from tableturn_server.service.refusing import too_late
from tableturn_server.store import JobBoard, PresenceStore, StoreUnavailable, Watched
from tableturn_server.tables import commands
from tableturn_server.tables.commands import By
from tableturn_server.tables.state import StandInCause
from tests.service.company import HERE, UNKNOWN, Listening
from tests.service.panels import a_panel
from tests.service.presence_world import GRACE, World, a_world, elsewhere
from tests.service.support import HOST, Running, digest, pb
from tests.store.support import Server, eventually, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def valkey() -> Iterator[Server]:
    """A store of this module's own: its clock is none of the others'."""
    with running_server() as running:
        yield running


@pytest.fixture
async def world(valkey: Server) -> AsyncIterator[World]:
    async with a_world(valkey) as found:
        yield found


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
