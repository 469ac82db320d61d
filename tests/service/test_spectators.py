"""Spectators of a table with a delay: in no call do they learn anything newer than it.

The time is the test's own, and nobody waits for it. What a plain spectator is told is compared
byte for byte with what was told before something happened: if nothing of it is to be seen yet,
both are the same.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import (
    company_pb2,
    panel_pb2,
    panel_pb2_grpc,
    table_pb2,
)
from tableturn_server.store import keys
from tableturn_server.tables import commands
from tableturn_server.tables.refusals import Refused
from tests.service.asking import HOLDER, PANEL, STRANGER
from tests.service.company import resolve, sits_down
from tests.service.panels import Bridge
from tests.service.spectating import (
    DELAY,
    MARKER,
    PANEL_TOKEN,
    WATCH,
    Clock,
    World,
    company,
    join_code,
    lines_of,
    says,
    they_play,
)
from tests.service.support import (
    ADMIN,
    HOST,
    Caller,
    digest,
    refused,
    serving,
)
from tests.service.test_watching import Watching
from tests.store.support import Server, eventually

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


# -- every call --------------------------------------------------------------------------------

Happening = Callable[[World, Caller, list[Caller]], Awaitable[None]]


async def a_panel_comes(world: World, host: Caller, people: list[Caller]) -> None:
    await attach(host)
    await bridge_of(world, host).holds(firmware=MARKER)


def bridge_of(world: World, host: Caller) -> Bridge:
    return Bridge(world.running.channel, PANEL_TOKEN, host.table_id, holder=HOLDER, uid=PANEL)


async def attach(host: Caller) -> None:
    fields: dict[str, Any] = {
        "table_id": host.table_id,
        "request_id": "a panel",
        "panel_uid": PANEL,
        "panel_token_sha256": digest(PANEL_TOKEN),
        "seats": [1],
    }
    stub: Any = panel_pb2_grpc.PanelServiceStub(host.channel)
    await stub.AttachPanel(panel_pb2.AttachPanelRequest(**fields), metadata=host.metadata)


async def somebody_else_sits_down(world: World, host: Caller, people: list[Caller]) -> None:
    await people[1].changes("LeaveSeat")
    other = world.running.caller("the token of somebody else", host.table_id)
    await other.takes_seat(name=MARKER)


async def the_host_passes_on(world: World, host: Caller, people: list[Caller]) -> None:
    await host.changes("PassHost", seat=2)
    request = company_pb2.SetChatRequest(table_id=host.table_id, mute=[1])
    await company(people[1]).SetChat(request, metadata=people[1].metadata)


async def it_ends(world: World, host: Caller, people: list[Caller]) -> None:
    await people[0].changes("Concede")
    await says(host, f"{MARKER} has won")


async def it_ends_and_goes_on(world: World, host: Caller, people: list[Caller]) -> None:
    await it_ends(world, host, people)
    await host.changes("Rematch")


HAPPENINGS = (
    they_play,
    a_panel_comes,
    somebody_else_sits_down,
    the_host_passes_on,
    it_ends,
    it_ends_and_goes_on,
)


@pytest.mark.parametrize("token", ["", STRANGER, WATCH])
@pytest.mark.parametrize("happens", HAPPENINGS)
async def test_no_call_tells_a_spectator_anything_newer(
    world: World, happens: Happening, token: str
) -> None:
    watch = digest(WATCH) if token == WATCH else b""
    host, people = await world.a_game(watch_token_sha256=watch)
    code = await join_code(host)
    spectator = world.spectator(host, token)
    before = await spectator.everything(code)
    revision = (await host.looks()).revision
    await happens(world, host, people)
    assert (await host.looks()).revision > revision

    assert await spectator.everything(code) == before
    await world.passes(DELAY - 0.001)
    assert await spectator.everything(code) == before
    # And then it is told, in most of those calls.
    await world.passes(0.001)
    after = await spectator.everything(code)
    assert {asked for asked in after if after[asked] != before[asked]}
    seen = await spectator.looks()
    assert seen.behind.seconds == DELAY  # clocks are reckoned by that
    live = await Caller(host.channel, ADMIN, host.table_id).looks()
    assert not live.HasField("behind")
    seen.ClearField("behind")
    assert seen == live
    if token == WATCH or happens is not a_panel_comes:
        assert seen.revision > revision


@pytest.mark.parametrize("token", [STRANGER, WATCH])
async def test_nor_who_is_there_now(world: World, token: str) -> None:
    """Bridges that hold a panel and people who watch change nothing at the table itself."""
    watch = digest(WATCH) if token == WATCH else b""
    host, (ann, _) = await world.a_game(watch_token_sha256=watch)
    await attach(host)
    await world.passes(DELAY)
    spectator = world.spectator(host, token)
    code = await join_code(host)
    before = await spectator.everything(code)
    await bridge_of(world, host).holds(firmware=MARKER)
    watching = Watching(ann)
    await watching.next()

    async def ann_is_there() -> bool:
        table = await host.call("GetTable", pb.GetTableRequest(table_id=host.table_id))
        return bool(table.presence.seats[0].state == company_pb2.PRESENCE_STATE_HERE)

    await eventually(ann_is_there)
    assert await spectator.everything(code) == before
    watching.ends()


async def test_whoever_has_a_part_in_the_table_sees_it_as_it_is(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    await a_panel_comes(world, host, [ann, bob])
    await ann.acts("score 7 for seat 2", confirm=True)
    for token in (HOST, ADMIN, ann.token, bob.token, PANEL_TOKEN):
        who = world.running.caller(token, host.table_id)
        assert (await who.looks()).revision == ann.seen
        assert len(await who.reads_log()) == ann.seen
    assert (await world.spectator(host).looks()).revision < ann.seen
    assert len(await world.spectator(host).reads_log()) < ann.seen


async def test_a_marker_turns_up_when_it_is_old_enough(world: World) -> None:
    """The marker is in bytes that the comparison above would find it in."""
    host, people = await world.a_game()
    await somebody_else_sits_down(world, host, people)
    await says(people[0], f"hello {MARKER}")
    code = await join_code(host)
    spectator = world.spectator(host)
    told = await spectator.everything(code)
    assert not [asked for asked, answer in told.items() if MARKER.encode() in answer]
    await world.passes(DELAY)
    told = await spectator.everything(code)
    seen = {asked.split()[0] for asked, answer in told.items() if MARKER.encode() in answer}
    assert seen >= {"GetTable", "WatchTable", "ListLog", "ListChat", "CreateTable"}


# -- young tables ------------------------------------------------------------------------------


async def test_a_young_table_is_shown_as_it_was_made(world: World) -> None:
    host = await world.a_table(start_when_full=False)
    spectator = world.spectator(host)
    first = await spectator.looks()
    assert (first.revision, first.seats[0].name) == (1, "")
    ann = world.running.caller("the token of Ann, for tests", host.table_id)
    await ann.takes_seat(name=MARKER)
    await world.passes(10)
    await host.changes("SeatBot", seat=2, bot="greedy")
    assert (await spectator.looks()) == first
    (line,) = [one for one in await lines_of(spectator) if one.table_id == host.table_id]
    assert (line.revision, line.free_seats) == (1, 2)
    await world.passes(DELAY - 10)
    seen = await spectator.looks()
    assert (seen.revision, seen.seats[0].name, seen.seats[1].bot) == (2, MARKER, "")
    await world.passes(10)
    assert (await spectator.looks()).seats[1].bot == "greedy"


async def test_a_rematch_is_there_for_spectators_when_they_see_the_end(world: World) -> None:
    """That there is one tells that the game is over, and its seats may tell who has lost."""
    host, people = await world.a_game()
    code = await join_code(host)
    await it_ends(world, host, people)
    found = await host.changes("Rematch", order=pb.REMATCH_ORDER_LOSER_FIRST)
    spectator = world.spectator(host)
    spectator.table_id = found.table_id
    none = world.spectator(host)
    none.table_id = "b" * len(found.table_id)
    wish = pb.CreateTableRequest(
        table_id=found.table_id,
        request_id="another table",
        game="free-table",
        seats=3,
        host_token_sha256=digest(STRANGER),
    )

    async def is_hidden() -> None:
        told, wanted = [
            {
                asked.replace(who.table_id, "ID"): answer.replace(who.table_id.encode(), b"ID")
                for asked, answer in (await who.everything(code, but=["CreateTable"])).items()
                if " code:" not in asked  # whoever has a code for it was told of it
            }
            for who in (spectator, none)
        ]
        assert told == wanted
        with refused("TABLE_EXISTS") as taken:  # that can't be hidden, but how far it is
            await spectator.call("CreateTable", wish)
        assert "revision" not in taken.details
        listed = await lines_of(spectator)
        assert found.table_id not in [line.table_id for line in listed]

    await is_hidden()
    await world.passes(DELAY - 0.001)
    await is_hidden()
    await world.passes(0.001)
    assert (await spectator.looks()).table_id == found.table_id
    assert found.table_id in [line.table_id for line in await lines_of(spectator)]


async def test_who_was_invited_to_a_rematch_sits_down_at_once(world: World) -> None:
    host, people = await world.a_game()
    await people[1].changes("LeaveSeat")
    await people[0].acts("finish game", at=(await people[0].looks()).revision, confirm=True)
    host.table_id = (await host.changes("Rematch")).table_id
    code = await join_code(host)
    zed = world.running.caller("the token of Zed, for tests", host.table_id)
    with refused("UNKNOWN_TABLE"):
        await zed.looks()
    assert (await resolve(zed, code)).table_id == host.table_id
    assert (await sits_down(zed, code, name="Zed")).seat == 2
    assert (await zed.looks()).viewer == 2


async def test_who_asks_for_a_table_that_is_there_sees_no_more(world: World) -> None:
    """`if_absent`, and a refusal of an id that is taken."""
    host, (ann, _) = await world.a_game()
    seen = (await world.spectator(host).looks()).revision
    await ann.acts("score 7 for seat 2", confirm=True)
    wish: dict[str, Any] = {
        "game": "free-table",
        "seats": 2,
        "options": {"points": "on", "first_seat": "1"},
        "host_token_sha256": digest(HOST),
        "spectator_delay": Duration(seconds=DELAY),
    }
    for caller, revision in ((world.spectator(host), seen), (host, ann.seen)):
        answer = await caller.changes("CreateTable", if_absent=True, **wish)
        assert answer.table.revision == revision
        with refused("TABLE_EXISTS", revision=revision):
            await caller.changes("CreateTable", **wish)


async def test_a_repeated_creation_shows_no_more(world: World) -> None:
    fields: dict[str, Any] = {
        "game": "free-table",
        "seats": 2,
        "host_token_sha256": digest(HOST),
        "spectator_delay": Duration(seconds=DELAY),
        "table_id": f"t{secrets.token_hex(6)}",
        "request_id": "the table",
    }
    nobody = world.running.caller()
    made = await nobody.call("CreateTable", pb.CreateTableRequest(**fields))
    ann = world.running.caller("the token of Ann, for tests", fields["table_id"])
    await ann.takes_seat(name=MARKER)
    again = await nobody.call("CreateTable", pb.CreateTableRequest(**fields))
    assert (again.replayed, again.table) == (True, made.table)


# -- people who come and go --------------------------------------------------------------------


async def test_whoever_sits_down_sees_it_as_it_is_and_not_after_getting_up(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    bob_left = world.running.caller(bob.token, host.table_id)
    await ann.acts("score 7 for seat 2", confirm=True)
    await bob.changes("LeaveSeat")
    live = (await host.looks()).revision
    # He held the seat at the time that is shown now, and is a spectator all the same (S15).
    seen = await bob_left.looks()
    assert (seen.revision, seen.viewer, len(seen.choices)) == (live - 2, 0, 0)
    assert not any(entry.revision > seen.revision for entry in await bob_left.reads_log())
    with refused("BAD_TOKEN", revision=seen.revision):
        await bob_left.looks(seat=2)
    with refused("BAD_TOKEN", revision=seen.revision):
        await bob_left.may(seat=2)
    with refused("BAD_TOKEN", revision=seen.revision):
        await bob_left.changes("PauseGame")
    again = await bob_left.takes_seat(2, name="Bob")
    assert again.table.revision == live + 1
    assert (await bob_left.looks()).revision == live + 1


async def test_a_watch_goes_back_in_time_when_its_watcher_gets_up(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    watching = Watching(world.running.caller(bob.token, host.table_id))
    await watching.next()
    old = watching.revision
    await ann.acts("score 7 for seat 2", confirm=True)
    await watching.until(ann.seen)
    token = (watching.revision, watching.change_id)
    await bob.changes("LeaveSeat")
    while await watching.next() != "snapshot":
        pass
    assert (watching.table.revision, watching.table.viewer) == (old, 0)
    # What was heard at the seat is no way in again.
    resumed = Watching(
        world.running.caller(bob.token, host.table_id), start=token[0], change_id=token[1]
    )
    assert await resumed.next() == "snapshot"
    assert resumed.table.revision == old
    await world.passes(DELAY)
    for watcher in (watching, resumed):
        await watcher.until(bob.seen)
        watcher.ends()


async def test_a_seat_that_is_not_free_any_more_is_refused_without_a_word_too_much(
    world: World,
) -> None:
    host = await world.a_table(seats=3, start_when_full=False)
    ann = world.running.caller("the token of Ann, for tests", host.table_id)
    await ann.takes_seat(2, name=MARKER)
    late = world.running.caller(STRANGER, host.table_id)
    with refused("SEAT_TAKEN", revision=1) as failure:
        await late.takes_seat(2, name="Zed")
    assert "free seats" not in failure.sentence
    with refused("UNKNOWN_NAME", revision=1):
        await late.takes_seat(4, name="Zed")
    await late.takes_seat(3, name="Zed")


async def test_a_repeated_call_of_somebody_who_got_up_tells_nothing_newer(world: World) -> None:
    host, (ann, bob) = await world.a_game()
    ahead = (await host.looks()).revision
    await bob.changes("LeaveSeat")
    zed = world.running.caller(STRANGER, host.table_id)
    taken = await zed.takes_seat(2, name="Zed", request_id="sit down")
    await zed.changes("LeaveSeat", request_id="get up")
    await ann.acts("score 7 for seat 2", confirm=True)
    with refused("NOT_ALLOWED", revision=ahead):
        await zed.takes_seat(2, name="Zed", request_id="sit down")
    again = await zed.changes("LeaveSeat", request_id="get up")
    assert (again.replayed, again.revision) == (True, taken.table.revision + 1)
    with refused("REQUEST_ID_REUSED", revision=ahead):
        await zed.changes("LeaveSeat", seat=1, request_id="get up")


async def test_a_call_that_comes_too_late_tells_no_revision_that_is_too_new(world: World) -> None:
    host, (ann, _) = await world.a_game()
    ahead = (await host.looks()).revision
    await ann.acts("score 7 for seat 2", confirm=True)
    keeper = world.running.service.keeper
    pause = commands.Pause(by=commands.By(digest(STRANGER)))
    with pytest.raises(Refused) as raised:
        await keeper.carry_out(host.table_id, pause, None, deadline=0.0)
    assert raised.value.reason.value == "STORE_UNAVAILABLE"
    assert raised.value.details["revision"] == str(ahead)
