"""Codes: to join a table, and to move a seat to another device; nobody finds one by trying."""

import asyncio
import secrets
from typing import Any

import pytest

from tableturn_server.service import codes
from tableturn_server.service.keeper import Done
from tableturn_server.store.codes import MOST_TRIES
from tests.service.company import (
    AWAY,
    Listening,
    a_device,
    cp,
    forget_tries,
    join_code,
    resolve,
    seat_code,
    sits_down,
)
from tests.service.panels import a_panel
from tests.service.support import (
    ADMIN,
    Running,
    digest,
    new_id,
    outcome,
    pb,
    refused,
    serving,
)
from tests.store.support import Server, eventually

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
async def fresh_tries(running: Running) -> None:
    """All tests come from one address: none has used up its tries."""
    await forget_tries(running)


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


@pytest.mark.case("S7")
async def test_a_device_that_holds_the_seat_already_may_repeat_itself(running: Running) -> None:
    """Nothing changes by it, the first time nor later, when somebody else has the seat."""
    host, (ann, bob) = await running.a_game()
    code = await seat_code(ann)
    for _ in range(3):
        again = await sits_down(ann, code, request_id="move")
        assert (again.seat, again.table.revision) == (1, ann.seen)
    with refused("UNKNOWN_CODE"):
        await sits_down(ann, code, request_id="another")
    with refused("UNKNOWN_CODE"):
        await resolve(bob, code)
    phone = a_device(running, host.table_id)
    await sits_down(phone, await seat_code(ann))
    with refused("NOT_ALLOWED"):
        await sits_down(ann, code, request_id="move")
    assert (await phone.looks()).viewer == 1


@pytest.mark.case("S7")
async def test_a_used_code_moves_nothing_when_its_request_is_not_remembered(
    running: Running,
) -> None:
    """The last requests are remembered; a code knows for as long as it lasts who has used it."""
    host, (ann, _) = await running.a_game()
    phone, code = a_device(running, host.table_id), await seat_code(ann)
    await sits_down(phone, code, request_id="move")
    await running.store.connection.call(
        "DEL", f"tt:{{{host.table_id}}}:seen:{digest(phone.token).hex()}"
    )
    again = await sits_down(phone, code, request_id="move")
    assert (again.seat, again.replayed) == (1, True)
    tablet = a_device(running, host.table_id, "tablet")
    await sits_down(tablet, await seat_code(phone))
    with refused("UNKNOWN_CODE"):
        await sits_down(phone, code, request_id="move")
    assert (await tablet.looks()).viewer == 1


@pytest.mark.case("S7", "S12")
async def test_sent_many_times_at_once_all_are_answered_alike(valkey: Server) -> None:
    """And none of them is a wrong try."""
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        for _ in range(3):
            host, (ann, _) = await one.a_game()
            code = await seat_code(ann)
            phone = f"the token of a phone {secrets.token_hex(4)}"
            devices = [(one, two)[n % 2].caller(phone, host.table_id) for n in range(8)]
            found = await asyncio.gather(
                *(sits_down(who, code, request_id="move") for who in devices)
            )
            assert {one.seat for one in found} == {1}
            assert [one.replayed for one in found].count(False) == 1
        guesses = [await outcome(resolve(one.caller(), codes.draw())) for _ in range(MOST_TRIES)]
        assert guesses == ["UNKNOWN_CODE"] * MOST_TRIES


@pytest.mark.case("S7")
@pytest.mark.parametrize("kind", ["seat", "join"])
async def test_what_was_carried_out_a_moment_ago_is_answered_again(
    valkey: Server, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The same request, in another process, is done just when the code is about to be looked up."""
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host = await one.a_table(private=True)
        code = await join_code(host)
        if kind == "seat":
            ann = a_device(one, host.table_id, "laptop")
            await sits_down(ann, code, name="Ann")
            code = await seat_code(ann)
        phone = a_device(one, host.table_id)
        keeper, answered = one.service.keeper, one.service.keeper.answered

        async def too_early(*asked: Any) -> Done | None:
            monkeypatch.setattr(keeper, "answered", answered)
            found = await answered(*asked)
            there = two.caller(phone.token, host.table_id)
            assert not (await sits_down(there, code, name="Ann", request_id="sit")).replayed
            if kind == "join":
                await join_code(host, renew=True)
            else:
                await one.store.connection.call("DEL", f"tt:code:{{{codes.read(code)}}}")
            return found

        for _ in range(MOST_TRIES - 1):
            assert await outcome(resolve(phone, codes.draw())) == "UNKNOWN_CODE"
        monkeypatch.setattr(keeper, "answered", too_early)
        again = await sits_down(phone, code, name="Ann", request_id="sit")
        assert (again.seat, again.replayed) == (1, True)
        # It was no wrong try.
        assert await outcome(resolve(phone, codes.draw())) == "UNKNOWN_CODE"
        assert await outcome(resolve(phone, codes.draw())) == "LIMIT_REACHED"


async def test_a_seat_gets_so_many_codes(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host, (ann, bob) = await one.a_game()
        there = two.caller(ann.token, host.table_id)
        made = [await outcome(seat_code((ann, there)[n % 2])) for n in range(8)]
        assert made == ["done"] * 5 + ["LIMIT_REACHED"] * 3
        with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED") as failure:
            await seat_code(host, 1)
        assert 0 < int(failure.details["retry_after_ms"]) <= 600_000
        await seat_code(bob)


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
    with refused("BAD_FIELD", field="seat"):  # the host's token holds no seat: which one?
        await seat_code(host)


async def test_nobody_is_moved_by_the_host_who_is_there(running: Running) -> None:
    """Whoever holds the seat's code holds its hand: the host gets none behind anybody's back."""
    host, (ann, _) = await running.a_game()
    watch = await Listening(ann).begins()
    with refused("NOT_ALLOWED") as failure:
        await seat_code(host, 1)
    assert "is there" in failure.sentence
    assert await seat_code(ann, 1)
    watch.ends()

    async def is_away() -> bool:
        table = await host.call("GetTable", pb.GetTableRequest(table_id=host.table_id))
        return bool(table.presence.seats[0].state == AWAY)

    await eventually(is_away)
    assert await seat_code(host, 1)


async def test_the_log_tells_that_the_host_has_moved_somebody(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    await sits_down(a_device(running, host.table_id), await seat_code(ann, 1))
    await sits_down(a_device(running, host.table_id), await seat_code(host, 1))
    own, by_host = (await host.reads_log())[-2:]
    assert "host" not in own.lines[0]
    assert by_host.lines[0].endswith("with a code that the host made")


async def test_a_new_code_ends_the_one_before(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    old = await seat_code(ann, 1)
    new = await seat_code(ann, 1)
    phone = a_device(running, host.table_id)
    with refused("UNKNOWN_CODE"):
        await sits_down(phone, old)
    assert (await sits_down(phone, new)).seat == 1
    with refused("UNKNOWN_CODE"):  # nor does one that was made before bring the seat back
        await sits_down(a_device(running, host.table_id), old)


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
