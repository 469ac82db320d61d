"""Over the wire, too: what is hidden is in no byte before it is turned up."""

import json
import random
import secrets
import time
from typing import Any

import grpc
import pytest
from msgspec.structs import replace

from tableturn.v1 import table_pb2
from tableturn_server.store import Stored
from tableturn_server.tables import state
from tableturn_server.tables.export import export
from tests.service.support import (
    ADMIN,
    Caller,
    Running,
    chosen,
    failure_of,
    message,
    new_id,
    refused,
)
from tests.tables.hiding import otherwise_hidden
from tests.tables.play import a_table

pb = table_pb2
pytestmark = pytest.mark.e2e


async def copied(running: Running, host: Caller, people: list[Caller]) -> list[list[Caller]]:
    """Two tables with the history of this one: as it is, and with another hidden half."""
    stored = await running.store.tables.load(host.table_id)
    assert stored is not None
    found = []
    log = await running.store.tables.log(host.table_id, 0, 1000)
    for hide in (lambda table: table, otherwise_hidden):
        table_id = new_id()
        table = state.decode(stored.blob)
        moved = replace(table, making=replace(table.making, table_id=table_id))
        blob = state.encode(hide(moved))
        await running.store.tables.restore(
            table_id,
            Stored(stored.revision, stored.change_id, blob),
            log,
            [],
            None,
            created_ms=1,
        )
        found.append([running.caller(who.token, table_id) for who in (host, *people)])
    return found


def plain(data: bytes, seed_hashes: list[bytes]) -> bytes:
    """Bytes without the published hash of the seed."""
    for value in seed_hashes:
        data = data.replace(value, b"-" * len(value))
    return data


def beside_time(message: Any) -> bytes:
    """A message without what it says of the time when it was sent, and of who was there then."""
    for name in {"time", "presence"} & set(message.DESCRIPTOR.fields_by_name):
        message.ClearField(name)
    return bytes(message.SerializeToString(deterministic=True))


async def answer(call: Any) -> bytes:
    """What is told of a call, refusals too."""
    try:
        return beside_time(await call)
    except grpc.aio.AioRpcError as error:
        return repr(failure_of(error)).encode()


async def everything(caller: Caller, own: int) -> list[bytes]:
    """All that can be read of a table, and all that is refused."""
    found = []
    table_id = caller.table_id
    for seat in (0, 1, 2):
        found += [
            await answer(caller.call("GetTable", pb.GetTableRequest(table_id=table_id, seat=seat))),
            await answer(caller.call("ListLog", pb.ListLogRequest(table_id=table_id, seat=seat))),
            await answer(
                caller.call("ListActions", pb.ListActionsRequest(table_id=table_id, seat=seat))
            ),
        ]
    found.append(await answer(caller.call("ExportTable", pb.ExportTableRequest(table_id=table_id))))
    for text in ("move C3", "claim", "trade 99", "harvest", "pay red to seat 2", "build paying RR"):
        request = pb.ActRequest(
            table_id=table_id,
            request_id="x",
            seat=own,
            expected_revision=1,
            actions=[message(text)],
        )
        found.append(await answer(caller.call("Act", request)))
    watch = caller.watches(seat=own)
    event = await watch.read()
    found.append(beside_time(event))
    watch.cancel()
    return found


@pytest.mark.case("L2")
@pytest.mark.parametrize("game", ["eastern-wonders", "from-sand-to-sea", "spice-road"])
async def test_two_tables_with_different_hidden_halves_tell_the_same(
    running: Running, game: str
) -> None:
    chance = random.Random(1)
    host, people = await running.a_game(game)
    await running.play_on(people, 4, chance)
    first, second = await copied(running, host, people)
    seeds = [(await caller.looks()).seed_hash for caller in (first[0], second[0])]
    assert seeds[0] != seeds[1]

    for own, (one, other) in enumerate(zip(first, second, strict=True)):
        ours, theirs = await everything(one, own), await everything(other, own)
        for mine, yours in zip(ours, theirs, strict=True):
            assert plain(mine, seeds) == plain(
                yours.replace(other.table_id.encode(), one.table_id.encode()), seeds
            )


@pytest.mark.parametrize("game", ["from-sand-to-sea", "spice-road"])
async def test_a_hand_is_told_to_its_owner_only(running: Running, game: str) -> None:
    """SR-16: what a player holds is in no view of anybody else, nor in their choices."""
    host, people = await running.a_game(game, seed=bytes(range(16)))
    await running.play_on(people, 12, random.Random(4))
    for hand in (player.hand_size for player in (await host.looks()).game_view.players):
        assert hand > 0
    for own, caller in enumerate((host, *people)):
        seen = await caller.call("GetTable", pb.GetTableRequest(table_id=host.table_id, seat=own))
        watch = caller.watches(seat=own)
        event = await watch.read()
        watch.cancel()
        for view in (seen.table, event.snapshot.table):
            for player in view.game_view.players:
                is_own = player.seat == own
                assert len(player.hand) == (player.hand_size if is_own else 0)
                assert len(player.discard) == (player.discard_size if is_own else 0)
                assert len(player.claimed_cards) in (0, player.claimed if is_own else 0)
            if view.prompts and view.prompts[0].seat != own:
                assert not view.choices


@pytest.mark.parametrize("open_hands", ["off", "on"])
async def test_which_card_is_put_away_is_told_to_its_owner_only(
    running: Running, open_hands: str
) -> None:
    """SS-12, SS-R7: not in what is staged, undone or confirmed, nor in any line of the log."""
    host, (ann, bob) = await running.a_game(
        "from-sand-to-sea", options={"first_seat": "1", "open_hands": open_hands}
    )
    for who in (bob, ann):
        for _ in range(2):
            (choice, *_) = (await who.may()).choices
            await who.changes(
                "Act", expected_revision=who.seen, actions=[chosen(choice, random.Random(1))]
            )
        await who.confirms()
    for again in range(2):
        move = next(c for c in (await ann.may()).choices if c.kind == "move")
        assert "S2" in move.cards
        step = message(f"move {move.tiles[0]} with S2")
        await ann.changes("Act", expected_revision=ann.seen, actions=[step])
        if not again:
            await ann.changes("Undo", expected_revision=ann.seen)
    assert b"S2" in b"".join(await everything(ann, 1))
    for own, caller in ((2, bob), (0, host), (0, running.caller("", host.table_id))):
        told = b"".join(await everything(caller, own))
        assert (b"with S2" in told) == (b"putting S2 away" in told) == (open_hands == "on")
        assert (b"putting a card away" in told) == (open_hands == "off")
    assert (await ann.looks()).staged[0].texts[0].endswith("with S2")


async def test_open_hands_are_told_to_all(running: Running) -> None:
    host, people = await running.a_game(
        "spice-road", options={"open_hands": "on"}, seed=bytes(range(16))
    )
    await running.play_on(people, 4, random.Random(4))
    seen = await host.looks()
    for player in seen.game_view.players:
        assert len(player.hand) == player.hand_size > 0


async def test_secrets_are_in_nothing_that_is_sent(running: Running) -> None:
    host, people = await running.a_game("eastern-wonders")
    await running.play_on(people, 2, random.Random(2))
    stored = await running.store.tables.load(host.table_id)
    assert stored is not None
    table = state.decode(stored.blob)
    secret = [table.making.seed, table.making.host, *(seat.token for seat in table.seats)]
    for own, caller in enumerate((host, *people)):
        for data in await everything(caller, own):
            assert not any(value in data for value in secret)
            assert not any(who.token.encode() in data for who in (host, *people))


async def test_an_export_goes_to_the_admin_and_comes_back(running: Running) -> None:
    host, people = await running.a_game("eastern-wonders")
    await running.play_on(people, 25, random.Random(3))
    admin = running.caller(ADMIN, host.table_id)
    request = pb.ExportTableRequest(table_id=host.table_id)
    for who in (host, *people):
        with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
            await who.call("ExportTable", request)
    with refused("BAD_TOKEN"):
        await running.caller("", host.table_id).call("ExportTable", request)
    document = (await admin.call("ExportTable", request)).document
    with refused("TABLE_EXISTS", "ALREADY_EXISTS"):
        await admin.changes("ImportTable", document=document)
    before = await host.looks()
    admin.table_id = new_id()
    rid = secrets.token_hex(4)
    made = await admin.changes("ImportTable", document=document, request_id=rid)
    again = await admin.changes("ImportTable", document=document, request_id=rid)
    assert (made.replayed, again.replayed) == (False, True)
    assert made.table.log_hash == before.log_hash
    assert made.table.game_view == before.game_view
    there = [running.caller(who.token, admin.table_id) for who in people]
    # The log, takebacks and turns go on.
    log = await there[0].reads_log()
    assert [entry.revision for entry in log] == list(range(1, made.table.revision + 1))
    moved = running.caller(host.token, admin.table_id)
    for _ in range(6):
        await moved.changes("TakeBack", expected_revision=(await moved.looks()).revision)
    await running.play_on(there, 3, random.Random(4))
    for bad, place in (
        (document[:-2], "$"),
        (document.replace(b'"Ann', b'"Bob').replace(b"red", b"rde", 1), "sha256"),
        (json.dumps({**json.loads(document), "version": 7}).encode(), "version"),
    ):
        with refused("BAD_IMPORT", "INVALID_ARGUMENT", place=place):
            await admin.changes("ImportTable", document=bad)
    with refused("BAD_FIELD"):
        await admin.changes("ImportTable", document=b" " * ((16 << 20) + 1))


async def test_the_host_gets_the_finished_game(running: Running) -> None:
    host, (ann, bob) = await running.a_game("eastern-wonders")
    await ann.changes("Concede")
    request = pb.ExportTableRequest(table_id=host.table_id)
    assert (await host.call("ExportTable", request)).document
    with refused("NOT_ALLOWED"):
        await bob.call("ExportTable", request)


async def test_the_host_of_whom_an_export_is_may_have_changed(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    await host.changes("PassHost", seat=2)
    request = pb.ExportTableRequest(table_id=host.table_id)
    with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
        await bob.call("ExportTable", request)  # the game is still running
    await ann.looks()
    await ann.acts("finish game", confirm=True)
    for who in (host, ann):
        with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
            await who.call("ExportTable", request)
    assert (await bob.call("ExportTable", request)).document


@pytest.mark.case("L5")
async def test_takebacks_of_a_long_game_take_no_longer(running: Running) -> None:
    chance = random.Random(5)
    long = a_table(points="on", seats=4)
    while sum(len(entry.actions) for entry in long.log) < 2000:
        long.plays_on(1, chance)
    admin = running.caller(ADMIN, new_id())
    document = export(long.table, long.recorded())
    await admin.changes("ImportTable", document=document)
    turns = long.table.turns
    for n in range(25):
        seen = (await admin.looks()).revision
        begin = time.perf_counter()
        await admin.changes("TakeBack", expected_revision=seen)
        assert time.perf_counter() - begin < 1
        long.host_takes_back()
        view = await admin.looks()
        assert (view.turns, view.log_hash) == (turns - n - 1, long.table.log_hash)
