"""Private tables: whoever knows the id alone gets nothing."""

import secrets
from typing import Any

import pytest

from tests.service.asking import STRANGER, Asking, methods
from tests.service.company import asks, hears, sits_down
from tests.service.panels import a_panel
from tests.service.support import HOST, Caller, Running, digest, outcome, pb, refused

pytestmark = pytest.mark.e2e


def a_stranger(running: Running, table_id: str) -> Caller:
    return running.caller(f"the token of a stranger {secrets.token_hex(4)}", table_id)


async def test_the_id_alone_lets_nobody_sit_watch_read_or_list(running: Running) -> None:
    host, (ann, _) = await private_game(running)
    id_ = host.table_id
    for who in (running.caller("", id_), a_stranger(running, id_)):
        calls = {
            "look": who.looks(),
            "log": who.reads_log(),
            "watch": who.watches().read(),
            "actions": who.may(),
            "chat": hears(who),
            "join code": asks(who, "GetJoinCode"),
            "seat code": asks(who, "MakeSeatCode", seat=1),
            "export": who.call("ExportTable", pb.ExportTableRequest(table_id=id_)),
        }
        found = {name: await outcome(call) for name, call in calls.items()}
        assert set(found.values()) == {"BAD_TOKEN"}, found
        request = pb.ListTablesRequest(page_size=100)
        listed, token = [], "-"
        while token:
            request.page_token = "" if token == "-" else token
            page = await who.call("ListTables", request)
            listed += [table.table_id for table in page.tables]
            token = page.next_page_token
        assert id_ not in listed
    assert (await ann.looks()).private


async def test_a_free_seat_is_taken_with_the_code_or_by_the_host_alone(running: Running) -> None:
    host = await running.a_table(private=True, seats=3)
    eve = a_stranger(running, host.table_id)
    with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
        await eve.takes_seat(name="Eve")
    ann = a_stranger(running, host.table_id)
    code = (await asks(host, "GetJoinCode")).code
    assert (await sits_down(ann, code, name="Ann")).seat == 1
    # Whoever sits there may tell it to others.
    bob = a_stranger(running, host.table_id)
    assert (await sits_down(bob, (await asks(ann, "GetJoinCode")).code, name="Bob")).seat == 2
    request = pb.TakeSeatRequest(
        table_id=host.table_id, request_id="host", name="Hal", token_sha256=digest(HOST)
    )
    answer = await host.call("TakeSeat", request)
    assert answer.seat == 3
    assert (await bob.looks()).status == pb.TABLE_STATUS_RUNNING


async def test_a_seat_that_was_left_is_taken_with_the_code_only(running: Running) -> None:
    host, (ann, bob) = await private_game(running)
    await bob.changes("LeaveSeat")
    eve = a_stranger(running, host.table_id)
    with refused("NOT_ALLOWED"):
        await eve.takes_seat(2, name="Eve")
    await sits_down(eve, (await asks(ann, "GetJoinCode")).code, name="Eve", seat=2)
    assert (await eve.looks()).viewer == 2
    # Who has left is a stranger now.
    with refused("BAD_TOKEN"):
        await bob.looks()


async def test_a_watch_ends_when_its_seat_is_left(running: Running) -> None:
    _, (_, bob) = await private_game(running)
    stream = bob.watches()
    await stream.read()
    await bob.changes("LeaveSeat")
    with refused("BAD_TOKEN"):
        while True:
            await stream.read()


async def test_a_watch_token_and_a_panel_are_let_in(running: Running) -> None:
    token = "the watch token, for tests"
    host, _ = await private_game(running, watch_token_sha256=digest(token))
    watch = running.caller(token, host.table_id)
    assert (await watch.looks()).private
    panel = await a_panel(host, running, [1, 2])
    event = await panel.watches().read()
    assert event.snapshot.table.private


async def test_no_refusal_tells_a_stranger_how_far_it_is(running: Running) -> None:
    host, (ann, _) = await private_game(running)
    code = (await asks(host, "GetJoinCode")).code
    for token in ("", STRANGER):
        eve = Asking(running.channel, token, host.table_id)
        told = await eve.everything("2222-2222")
        assert len(told) > len(list(methods()))
        assert not [asked for asked, answer in told.items() if b"'revision'" in answer]
    # Those whom it knows are told, and so is everybody where it isn't private.
    with refused("NOT_ALLOWED", revision=(await host.looks()).revision):
        await ann.changes("StartGame")
    open_host, _ = await running.a_game()
    told = await Asking(running.channel, STRANGER, open_host.table_id).everything(code)
    assert [asked for asked, answer in told.items() if b"'revision'" in answer]


async def private_game(running: Running, **fields: Any) -> tuple[Caller, list[Caller]]:
    """A private table on which two people sit."""
    host = await running.a_table(private=True, **fields)
    code = (await asks(host, "GetJoinCode")).code
    people = [a_stranger(running, host.table_id) for _ in range(2)]
    for name, who in zip(("Ann", "Bob"), people, strict=True):
        await sits_down(who, code, name=name)
    return host, people
