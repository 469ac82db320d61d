"""Codes: to join a table, and to move a seat to another device; nobody finds one by trying."""

import asyncio
import secrets

import pytest

from tableturn_server.service import codes
from tableturn_server.store.codes import MOST_TRIES
from tests.service.company import asks, cp, resolve, sits_down
from tests.service.panels import a_panel
from tests.service.support import (
    ADMIN,
    Caller,
    Running,
    digest,
    new_id,
    outcome,
    pb,
    refused,
    serving,
)
from tests.store.support import Server, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
async def fresh_tries(running: Running) -> None:
    """All tests come from one address: none has used up its tries."""
    _, found = await running.store.connection.call(
        "SCAN", "0", "MATCH", "tt:tries:*", "COUNT", 1000
    )
    for key in found:
        await running.store.connection.call("DEL", key)


def a_device(running: Running, table_id: str, name: str = "phone") -> Caller:
    return running.caller(f"the token of a {name} {secrets.token_hex(4)}", table_id)


async def seat_code(who: Caller, seat: int = 0) -> str:
    return str((await asks(who, "MakeSeatCode", seat=seat)).code)


async def join_code(who: Caller, **fields: bool) -> str:
    return str((await asks(who, "GetJoinCode", **fields)).code)


# -- the join code -------------------------------------------------------------------------


def test_a_code_is_read_however_it_was_typed() -> None:
    assert codes.shown("K7QM4XRD") == "K7QM-4XRD"
    for typed in ("K7QM-4XRD", "k7qm4xrd", " k7qm - 4xrd\n", "K7QM\u20134XRD", "k7 qm 4x rd"):
        assert codes.read(typed) == "K7QM4XRD"
    for typed in ("", "K7QM-4XR", "K7QM-4XRDD", "K7QM-4XR0", "K7QM-4XRI", "ÄÄÄÄ-ÄÄÄÄ", "K" * 99):
        assert codes.read(typed) == ""
    for look_alike in "01OILU":
        assert look_alike not in codes.ALPHABET
    drawn = {codes.draw() for _ in range(2000)}
    assert len(drawn) == 2000
    assert all(codes.read(codes.shown(code)) == code for code in drawn)
    assert set("".join(drawn)) == set(codes.ALPHABET)


async def test_a_code_leads_to_its_table(running: Running) -> None:
    host = await running.a_table(title="Friday")
    code = await join_code(host)
    assert (len(code), code[4]) == (9, "-")
    assert await join_code(host) == code
    found = await resolve(running.caller(), code.lower().replace("-", " "))
    assert (found.kind, found.table_id, found.seat) == (cp.CODE_KIND_JOIN, host.table_id, 0)
    assert (found.game, found.title) == ("free-table", "Friday")
    ann = a_device(running, found.table_id)
    assert (await sits_down(ann, code.lower(), name="Ann")).seat == 1
    assert await join_code(ann) == code


async def test_who_may_have_the_code(running: Running) -> None:
    host, (ann, _) = await running.a_game(watch_token_sha256=digest("the watch token, for tests"))
    code = await join_code(ann)
    assert await join_code(running.caller(ADMIN, host.table_id)) == code
    watch = running.caller("the watch token, for tests", host.table_id)
    stranger = a_device(running, host.table_id)
    nobody = running.caller("", host.table_id)
    for who, reason in ((watch, "NOT_ALLOWED"), (stranger, "BAD_TOKEN"), (nobody, "BAD_TOKEN")):
        assert await outcome(join_code(who)) == reason
    with refused("NOT_ALLOWED"):
        await join_code(ann, renew=True)
    with refused("UNKNOWN_TABLE"):
        await join_code(running.caller(ann.token, new_id()))


async def test_a_renewed_code_lets_nobody_in(running: Running) -> None:
    host = await running.a_table()
    before = await join_code(host)
    after = await join_code(host, renew=True)
    ann = a_device(running, host.table_id)
    for call in (resolve(ann, before), sits_down(ann, before, name="Ann")):
        with refused("UNKNOWN_CODE", "NOT_FOUND", field="code"):
            await call
    await sits_down(ann, after, name="Ann")


async def test_the_code_ends_with_the_game(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    code = await join_code(host)
    await ann.changes("Concede")
    assert (await host.looks()).status == pb.TABLE_STATUS_FINISHED
    with refused("UNKNOWN_CODE"):
        await resolve(bob, code)
    with refused("GAME_OVER"):
        await join_code(bob)


async def test_a_code_is_good_for_its_own_table_only(running: Running) -> None:
    host, other = await running.a_table(), await running.a_table()
    with refused("UNKNOWN_CODE"):
        await sits_down(a_device(running, other.table_id), await join_code(host), name="Ann")
    with refused("BAD_FIELD", field="code"):
        await resolve(host, "  ")


@pytest.mark.case("S7")
async def test_sitting_down_with_a_code_can_be_repeated(running: Running) -> None:
    host = await running.a_table(private=True)
    code = await join_code(host)
    ann = a_device(running, host.table_id)
    first = await sits_down(ann, code, name="Ann", request_id="sit")
    await join_code(host, renew=True)
    again = await sits_down(ann, code, name="Ann", request_id="sit")
    assert (first.seat, first.replayed, again.seat, again.replayed) == (1, False, 1, True)
    with refused("REQUEST_ID_REUSED"):
        await sits_down(ann, code, name="Anna", request_id="sit")


# -- a seat's code -------------------------------------------------------------------------


@pytest.mark.case("S15", "R4")
async def test_a_seat_moves_to_another_device(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    code = await seat_code(ann)
    found = await resolve(bob, code)
    assert (found.kind, found.seat, found.table_id) == (cp.CODE_KIND_SEAT, 1, host.table_id)
    phone = a_device(running, host.table_id)
    answer = await sits_down(phone, code)
    view = answer.table
    assert (answer.seat, view.viewer, view.seats[0].name) == (1, 1, ann.token[:20].strip())
    assert bool(view.choices)
    # The device before has lost it at once, and the new one plays.
    for call in (ann.confirms(), ann.changes("Concede"), seat_code(ann)):
        with refused("BAD_TOKEN"):
            await call
    await phone.confirms()
    # The seat is the same person's: what is said of it in the log is a move, no other player.
    kinds = [entry.kind for entry in await host.reads_log()]
    assert kinds[-2:] == [pb.CHANGE_KIND_RESEAT, pb.CHANGE_KIND_CONFIRM]


async def test_a_watch_of_the_old_device_becomes_a_spectator_s(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    stream = ann.watches()
    event = await stream.read()
    assert event.snapshot.table.viewer == 1
    await sits_down(a_device(running, host.table_id), await seat_code(ann))
    while not event.HasField("snapshot") or event.snapshot.table.viewer:
        event = await stream.read()
    assert not event.snapshot.table.choices
    stream.cancel()


@pytest.mark.case("S7", "S8")
async def test_a_seat_code_is_used_once(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    code = await seat_code(ann)
    phone, tablet = a_device(running, host.table_id), a_device(running, host.table_id, "tablet")
    first = await sits_down(phone, code, request_id="move")
    revision = first.table.revision
    for _ in range(3):
        again = await sits_down(phone, code, request_id="move")
        assert (again.seat, again.replayed, again.table.revision) == (1, True, revision)
    with refused("UNKNOWN_CODE"):
        await sits_down(tablet, code)
    with refused("UNKNOWN_CODE"):
        await sits_down(phone, code)
    with refused("REQUEST_ID_REUSED"):
        await sits_down(phone, await seat_code(phone), request_id="move")


async def test_of_many_devices_at_once_one_gets_the_seat(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        host, (ann, _) = await one.a_game()
        code = await seat_code(ann)
        devices = [a_device((one, two)[n % 2], host.table_id) for n in range(6)]
        found = await asyncio.gather(*(outcome(sits_down(who, code)) for who in devices))
        assert sorted(found) == ["UNKNOWN_CODE"] * 5 + ["done"]
        winner = devices[found.index("done")]
        assert (await winner.looks()).viewer == 1
        kinds = [entry.kind for entry in await host.reads_log()]
        assert kinds.count(pb.CHANGE_KIND_RESEAT) == 1


async def test_a_refused_try_does_not_use_the_code_up(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    code = await seat_code(ann)
    with refused("BAD_FIELD", field="token_sha256"):
        await sits_down(panel, code)
    phone = a_device(running, host.table_id)
    with refused("BAD_FIELD", field="seat"):
        await sits_down(phone, code, seat=2)
    assert (await sits_down(phone, code, seat=1)).seat == 1


async def test_the_host_helps_somebody_whose_phone_is_gone(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    with refused("NOT_ALLOWED"):
        await seat_code(bob, 1)
    code = await seat_code(host, 1)
    phone = a_device(running, host.table_id)
    assert (await sits_down(phone, code)).seat == 1
    with refused("BAD_TOKEN"):
        await ann.confirms()
    with refused("NOT_ALLOWED"):  # the host's token holds no seat: which one?
        await seat_code(host)


async def test_a_code_for_somebody_who_has_left_is_for_nothing(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    code = await seat_code(ann)
    await ann.changes("LeaveSeat")
    phone = a_device(running, host.table_id)
    for call in (resolve(bob, code), sits_down(phone, code)):
        with refused("UNKNOWN_CODE"):
            await call
    with refused("BAD_FIELD", field="seat"):
        await seat_code(host, 1)
    # Nor does it move whoever sits there now.
    cleo = a_device(running, host.table_id)
    await cleo.takes_seat(1, name="Cleo")
    with refused("UNKNOWN_CODE"):
        await sits_down(phone, code)
    assert (await cleo.looks()).viewer == 1


async def test_somebody_at_the_panel_gets_a_device(running: Running) -> None:
    host = await running.a_table(start_when_full=False)
    panel = await a_panel(host, running, [0, 0])
    await panel.presses(1)
    assert (await host.looks()).seats[0].occupant == pb.OCCUPANT_PERSON
    phone = a_device(running, host.table_id)
    await sits_down(phone, await seat_code(host, 1))
    view = await phone.looks()
    # The button goes on to serve the seat.
    assert (view.viewer, list(view.panels[0].seats)) == (1, [1, 0])


# -- those who guess -----------------------------------------------------------------------


async def test_nobody_finds_a_code_by_trying(valkey: Server) -> None:
    """The limit holds over all processes, for both ways to try, and hides right codes too."""
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host = await one.a_table(private=True)
        code = await join_code(host)
        guessers = [a_device((one, two)[n % 2], host.table_id) for n in range(MOST_TRIES)]
        for n, who in enumerate(guessers):
            wrong = codes.shown(codes.draw()) if n else "not even a code"
            with refused("UNKNOWN_CODE"):
                await (resolve(who, wrong) if n % 3 else sits_down(who, wrong, name="Eve"))
        for running in (one, two):
            for call in (
                resolve(running.caller(), code),
                sits_down(a_device(running, host.table_id), code, name="Eve"),
            ):
                with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED") as failure:
                    await call
                assert 0 < int(failure.details["retry_after_ms"]) <= 600_000
        # Whoever has a token is not kept from anything.
        assert await join_code(host) == code


async def test_many_guesses_at_once_are_no_way_around(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        guesses = [resolve((one, two)[n % 2].caller(), codes.draw()) for n in range(40)]
        found = await asyncio.gather(*map(outcome, guesses))
        assert found.count("UNKNOWN_CODE") == MOST_TRIES
        assert found.count("LIMIT_REACHED") == 40 - MOST_TRIES


async def test_right_codes_are_never_too_many(running: Running) -> None:
    host = await running.a_table()
    code = await join_code(host)
    for _ in range(3 * MOST_TRIES):
        await resolve(running.caller(), code)


@pytest.mark.case("D4")
async def test_without_a_store_no_code_is_wrong() -> None:
    with running_server() as server:
        async with serving(server.url) as running:
            host = await running.a_table()
            code = await join_code(host)
            server.process.kill()
            server.process.wait()
            with refused("STORE_UNAVAILABLE", "UNAVAILABLE"):
                await resolve(host, code)
