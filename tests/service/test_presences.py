"""Who is there: heard of watches alone, the same from every process, and gone when it dies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tableturn_server.service.presences import FORGOTTEN_MS
from tableturn_server.store import PresenceStore, Watched
from tests.service.company import AWAY, HERE, UNKNOWN, Listening, asks, sits_down
from tests.service.panels import a_panel
from tests.service.presence_world import STARTS, World, a_world, elsewhere
from tests.service.support import digest, pb, serving
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
