"""Spectators who follow a table with a delay, also when a store loses something or is killed."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import (
    catalog_pb2,
    table_pb2,
)
from tableturn_server.store import keys
from tableturn_server.tables import state
from tests.service.asking import STRANGER, Asking
from tests.service.spectating import DELAY, MARKER, WATCH, Clock, World, lines_of, says, they_play
from tests.service.support import (
    ADMIN,
    HOST,
    Caller,
    digest,
    new_id,
    refused,
    serve,
    served,
    serving,
)
from tests.service.test_forks import Backup
from tests.service.test_watching import Watching
from tests.store.support import Server

pb = table_pb2

pytestmark = pytest.mark.e2e


@pytest.fixture
async def world(valkey: Server) -> AsyncIterator[World]:
    clock = Clock()
    async with serving(valkey.url, clock=clock, heartbeat=0.02) as running:
        call = running.store.connection.call
        for key in await call("KEYS", keys.tries("*")):  # codes of tables that are over
            await call("DEL", key)
        yield World(running, clock)


async def test_each_change_is_told_when_it_is_old_enough(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    watching = Watching(world.spectator(host))
    assert await watching.next() == "snapshot"
    made = []
    for n in range(4):
        who = (ann, bob)[n % 2]
        who.seen = (await host.looks()).revision
        await who.acts(f"score {n + 1} for seat 2", confirm=True)
        made.append(who.seen)
        await world.passes(10)
    assert set(watching.kinds) <= {"snapshot", "heartbeat"}
    await world.passes(DELAY - 40)
    for revision in made:
        await watching.until(revision)
        assert watching.revision == revision
        for _ in range(3):  # and no further
            assert await watching.next() == "heartbeat"
        await world.passes(10)
    assert "snapshot" not in watching.kinds[1:]
    assert [entry.revision for entry in watching.entries] == made
    watching.ends()


async def test_what_is_said_is_told_when_it_is_old_enough(world: World) -> None:
    host, (ann, _) = await world.a_game()
    watching = [Watching(world.spectator(host)), Watching(ann)]
    for watcher in watching:
        await watcher.next()
    while await watching[1].next() != "heartbeat":  # what is said from now on is told
        pass
    await says(ann, MARKER)
    while await watching[1].next() != "chat":
        pass
    late = Watching(world.spectator(host))
    await late.next()
    await world.passes(DELAY - 1)
    for watcher in (watching[0], late):
        for _ in range(5):
            assert await watcher.next() == "heartbeat"
    await world.passes(1)
    for watcher in (watching[0], late):
        while await watcher.next() != "chat":
            pass
    for watcher in (*watching, late):
        watcher.ends()


async def test_what_was_said_while_nobody_watched_is_told_when_it_is_old_enough(
    world: World,
) -> None:
    host, (ann, _) = await world.a_game()
    await says(ann, MARKER)
    late = Watching(world.spectator(host))
    await late.next()
    for _ in range(5):
        assert await late.next() == "heartbeat"
    await world.passes(DELAY)
    while await late.next() != "chat":
        pass
    late.ends()


async def test_spectators_who_join_at_different_times_see_the_same(world: World) -> None:
    host, (ann, _bob) = await world.a_game()
    early = Watching(world.spectator(host))
    await early.next()
    await ann.acts("score 7 for seat 2", confirm=True)
    late = Watching(world.spectator(host, STRANGER))
    await late.next()
    assert late.table == early.table
    await world.passes(30)
    later = Watching(world.spectator(host))
    await later.next()
    assert later.table == early.table
    await world.passes(30)
    for watcher in (early, late, later):
        await watcher.until(ann.seen)
        assert watcher.table == early.table
        assert [entry.revision for entry in watcher.entries] == [ann.seen]
        watcher.ends()


async def test_a_delayed_watch_goes_on_where_another_one_ended(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    first = Watching(world.spectator(host))
    await first.next()
    first.ends()
    for who in (ann, bob):
        who.seen = (await host.looks()).revision
        await who.acts("score 7 for seat 2", confirm=True)
        await world.passes(30)
    again = Watching(world.spectator(host), start=first.revision, change_id=first.change_id)
    await again.until(ann.seen)
    assert (again.revision, again.kinds[0]) == (ann.seen, "change")
    # A resume token of the future, guessed or overheard, is worth nothing.
    live = await host.looks()
    ahead = Watching(world.spectator(host), start=live.revision, change_id=live.change_id)
    assert await ahead.next() == "snapshot"
    assert ahead.revision == ann.seen
    await world.passes(30)
    for watcher in (again, ahead):
        await watcher.until(bob.seen)
        assert "snapshot" not in watcher.kinds[1:]
        watcher.ends()


async def test_signs_of_life_come_while_others_play_on(world: World) -> None:
    """A watcher to whom nothing of it may be told yet hears something all the same."""
    host, (ann, bob) = await world.a_game()
    watching = Watching(world.spectator(host))
    await watching.next()
    for n in range(10):
        who = (ann, bob)[n % 2]
        who.seen = (await host.looks()).revision
        await who.confirms()
        assert await watching.next() == "heartbeat"
    watching.ends()


@pytest.mark.parametrize("token", ["", WATCH])
@pytest.mark.case("R10", "R12")
async def test_a_delayed_watch_says_that_the_history_is_compacted(world: World, token: str) -> None:
    watch = digest(token) if token else b""
    host, (ann, bob) = await world.a_game(watch_token_sha256=watch)
    old = (await host.looks()).revision
    for who in (ann, bob):
        who.seen = (await host.looks()).revision
        await who.confirms()
    call = world.running.store.connection.call
    await call("XTRIM", f"tt:{{{host.table_id}}}:log", "MAXLEN", 1)
    watching = Watching(world.spectator(host, token), start=1, change_id="0123456789abcdef")
    event = await watching.stream.read()
    # What is kept begins with what they may not know of yet.
    assert event.compacted.compacted_revision == old
    assert await watching.next() == "snapshot"
    assert watching.revision == old
    world.running.service.keeper.forget(host.table_id)  # a process that remembers nothing
    await world.passes(DELAY)
    await watching.until(bob.seen)  # at a gap the whole table comes
    assert watching.kinds.count("snapshot") == 2
    watching.ends()


# -- stores that lose something, and other processes -------------------------------------------


async def test_another_process_shows_the_same(valkey: Server) -> None:
    clock = Clock()
    async with (
        serving(valkey.url, clock=clock, heartbeat=0.02) as one,
        serving(valkey.url, clock=clock, heartbeat=0.02) as two,
    ):
        world = World(one, clock)
        host, (ann, bob) = await world.a_game()
        there = Watching(Asking(two.channel, "", host.table_id))
        await there.next()
        before = await Asking(two.channel, "", host.table_id).everything("")
        await they_play(world, host, [ann, bob])
        assert await Asking(two.channel, "", host.table_id).everything("") == before
        await one.service.stop(0.0)
        await World(two, clock).passes(DELAY)
        await there.until((await Asking(two.channel, ADMIN, host.table_id).looks()).revision)
        assert "snapshot" not in there.kinds[1:]
        there.ends()


@pytest.mark.case("S3", "R1")
async def test_a_delayed_watch_goes_on_elsewhere_when_its_service_is_killed(
    valkey: Server, data: Path
) -> None:
    """Real processes and their real time: nothing comes early, and nothing is left out."""
    delay = 2
    with served(data.with_name("two"), "--store", valkey.url) as two:
        one = serve(data, "--store", valkey.url)
        host, ann, bob, spectator = (
            Caller(grpc.aio.insecure_channel(one.address), token, new_id())
            for token in (HOST, "the token of Ann, for tests", "the token of Bob, for tests", "")
        )
        ann.table_id = bob.table_id = spectator.table_id = host.table_id
        wish: dict[str, Any] = {"options": {"first_seat": "1"}, "start_when_full": True}
        await host.changes(
            "CreateTable",
            game="free-table",
            seats=2,
            host_token_sha256=digest(HOST),
            spectator_delay=Duration(seconds=delay),
            **wish,
        )
        for who in (ann, bob):
            await who.takes_seat()
        first = Watching(spectator)
        await first.next()
        assert first.revision == 1
        ann.seen = bob.seen
        for who, other in ((ann, bob), (bob, ann)):
            await who.confirms()
            other.seen = who.seen
        one.process.kill()
        one.process.wait()
        with contextlib.suppress(grpc.aio.AioRpcError):
            while True:
                await first.next()
        elsewhere = Caller(grpc.aio.insecure_channel(two.address), "", host.table_id)
        again = Watching(elsewhere, start=first.revision, change_id=first.change_id)
        while again.revision < bob.seen:
            if await again.next() == "change":
                age = time.time() - again.entries[-1].time.ToMilliseconds() / 1000
                assert age >= delay
        told = [entry.revision for entry in first.entries + again.entries]
        assert told == list(range(2, bob.seen + 1))
        assert "snapshot" not in again.kinds
        again.ends()
        for caller in (host, ann, bob, spectator, elsewhere):
            await caller.channel.close()
        assert one.process.stdout is not None
        one.process.stdout.close()


async def test_changes_that_the_store_has_lost_are_never_shown(world: World) -> None:
    host, (ann, _) = await world.a_game()
    spectator = world.spectator(host)
    watching = Watching(spectator)
    await watching.next()
    seen = (await host.looks()).revision
    backup = Backup(world.running, host.table_id)
    backup._keys.append(f"tt:{{{host.table_id}}}:past")
    await host.changes("PauseGame")  # so that there is a past
    await backup.take()
    await world.passes(10)
    await ann.changes("ResumeGame")
    await backup.put_back()
    await world.passes(10)
    await host.changes("PassHost", seat=2)
    await world.passes(DELAY)
    await watching.until(seen + 2)
    assert (watching.table.paused, watching.table.host_seat) == (True, 2)
    kinds = [pb.CHANGE_KIND_PAUSE, pb.CHANGE_KIND_PASS_HOST]
    assert [entry.kind for entry in watching.entries] == kinds
    assert (await spectator.looks()).change_id == watching.change_id
    watching.ends()


async def test_what_was_shown_is_not_shown_again_when_the_store_has_lost_it(world: World) -> None:
    host, _ = await world.a_game()
    spectator = world.spectator(host)
    backup = Backup(world.running, host.table_id)
    backup._keys.append(f"tt:{{{host.table_id}}}:past")
    await backup.take()
    seen = await spectator.looks()
    await host.changes("PauseGame")
    await world.passes(50)
    await host.changes("ResumeGame")
    await world.passes(20)
    assert (await spectator.looks()).paused
    await backup.put_back()
    await host.changes("PassHost", seat=2)
    await world.passes(5)
    assert await spectator.looks() == seen


async def test_a_table_whose_past_is_lost_shows_nothing_rather_than_too_much(
    world: World,
) -> None:
    host, (ann, _) = await world.a_game()
    await ann.acts("score 7 for seat 2", confirm=True)
    await world.running.store.connection.call("DEL", f"tt:{{{host.table_id}}}:past")
    spectator = world.spectator(host)
    with refused("NOT_ALLOWED") as failure:
        await spectator.looks()
    assert int(failure.details["retry_after_ms"]) == DELAY * 1000
    assert "revision" not in failure.details
    assert host.table_id not in [line.table_id for line in await lines_of(spectator)]
    await world.passes(DELAY)
    assert (await spectator.looks()).revision == ann.seen


async def test_an_imported_table_is_as_old_as_what_was_exported(world: World) -> None:
    host, (ann, _) = await world.a_game()
    await ann.acts("score 7 for seat 2", confirm=True)
    admin = world.running.caller(ADMIN, host.table_id)
    exported = await admin.call("ExportTable", pb.ExportTableRequest(table_id=host.table_id))
    await world.passes(20)
    copy = world.running.caller(ADMIN, f"t{secrets.token_hex(6)}")
    await copy.changes("ImportTable", document=exported.document)
    spectator = world.spectator(copy)
    with refused("NOT_ALLOWED"):
        await spectator.looks()
    await world.passes(DELAY - 20)
    assert (await spectator.looks()).revision == (await copy.looks()).revision


async def test_own_components_are_not_kept_again_with_each_state(world: World) -> None:
    request = catalog_pb2.GetComponentSetRequest(name="eastern-wonders")
    shipped = await world.running.caller().catalog.GetComponentSet(request)
    document = json.loads(shipped.document)
    document["name"] = "my-own"
    own = json.dumps(document).encode()
    host, people = await world.running.a_game(
        "eastern-wonders", component_set=own, spectator_delay=Duration(seconds=DELAY)
    )
    await host.changes("PauseGame")
    store = world.running.store
    states = await store.connection.call("XRANGE", f"tt:{{{host.table_id}}}:past", "-", "+")
    assert len(states) == 1 + len(people) + 1
    stored = await store.tables.load(host.table_id)
    assert stored is not None
    own_set = state.decode(stored.blob).making.custom_set
    assert max(len(fields[1]) for _, fields in states) < len(own_set)
    spectator = world.spectator(host)
    young = await spectator.looks()
    assert (young.revision, young.component_set.custom) == (1, True)
    await world.passes(DELAY)
    assert (await spectator.looks()).paused
