"""The next table of the same people: one for all who ask, whatever happens on the way."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tableturn.v1 import table_pb2
from tableturn_server.store import StoreUnavailable
from tableturn_server.tables import commands
from tableturn_server.tables.rematch import next_id
from tests.service.panels import LONG, PRESS, Bridge, a_panel, detach
from tests.service.support import ADMIN, HOST, Caller, Running, digest, outcome, refused, serving
from tests.store.support import Server

pb = table_pb2
pytestmark = pytest.mark.e2e


async def a_finished_game(
    running: Running, seats: int = 2, **fields: Any
) -> tuple[Caller, list[Caller], Bridge]:
    """A game that is over, with a panel on the table."""
    host, people = await running.a_game(seats=seats, **fields)
    panel = await a_panel(host, running, [1, 2])
    await people[0].looks()
    await people[0].acts("finish game", confirm=True)
    view = await panel.looks()
    assert view.status == pb.TABLE_STATUS_FINISHED
    return host, people, panel


async def asks(who: Caller, request_id: str = "", order: int = 0) -> pb.RematchResponse:
    request = pb.RematchRequest(
        table_id=who.table_id,
        request_id=request_id or secrets.token_hex(8),
        order=order,  # type: ignore[arg-type]
    )
    answer: pb.RematchResponse = await who.call("Rematch", request)
    return answer


async def test_everybody_who_asks_gets_the_same_table(running: Running) -> None:
    host, (ann, bob), panel = await a_finished_game(running)
    first = await asks(ann)
    assert not first.replayed
    assert first.table_id != host.table_id
    for who in (host, bob, panel, ann):
        again = await asks(who)
        assert (again.table_id, again.replayed) == (first.table_id, True)
    old = await host.looks()
    assert old.next_table_id == first.table_id
    assert [e.kind for e in await ann.reads_log()].count(pb.CHANGE_KIND_REMATCH) == 1
    # The same people, with the same tokens, and the panel with its buttons.
    for who in (ann, bob, panel, host):
        who.table_id, who.seen = first.table_id, 0
    view = await bob.looks()
    assert (view.status, view.viewer) == (pb.TABLE_STATUS_RUNNING, 2)
    assert [(seat.name, seat.occupant) for seat in view.seats] == [
        (seat.name, seat.occupant) for seat in old.seats
    ]
    assert [list(p.seats) for p in view.panels] == [[1, 2]]
    assert view.seed_hash != old.seed_hash
    await ann.looks()
    await ann.confirms()
    await panel.holds()
    assert (await panel.presses(2, LONG, at=ann.seen)).seat == 2
    with refused("GAME_RUNNING", "FAILED_PRECONDITION", revision=panel.seen):
        await asks(host)


async def test_only_who_was_there_may_ask_and_only_after_the_end(running: Running) -> None:
    host, (ann, _) = await running.a_game(watch_token_sha256=digest("the watch token, for tests"))
    with refused("GAME_RUNNING", "FAILED_PRECONDITION"):
        await asks(ann)
    await ann.acts("finish game", confirm=True)
    for token, reason in (
        ("", "BAD_TOKEN"),
        ("a token of nobody here", "BAD_TOKEN"),
        ("the watch token, for tests", "NOT_ALLOWED"),
    ):
        with refused(reason):
            await asks(running.caller(token, host.table_id))
    assert not (await host.looks()).next_table_id
    assert (await asks(running.caller(ADMIN, host.table_id))).table_id


async def test_nobody_begins_without_those_who_have_left(running: Running) -> None:
    host, people = await running.a_game(seats=3)
    await people[1].changes("LeaveSeat")
    await people[0].looks()
    await people[0].acts("finish game", confirm=True)
    table_id = (await asks(people[2])).table_id
    people[0].table_id = table_id
    view = await people[0].looks()
    assert view.status == pb.TABLE_STATUS_OPEN
    assert [seat.occupant for seat in view.seats] == [
        pb.OCCUPANT_PERSON,
        pb.OCCUPANT_NOBODY,
        pb.OCCUPANT_PERSON,
    ]
    dan = running.caller("the token of Dan, for tests", table_id)
    await dan.takes_seat()
    assert (await dan.looks()).status == pb.TABLE_STATUS_RUNNING  # it starts when it is full
    assert host.table_id != table_id


@pytest.mark.case("S6", "S7")
async def test_four_ask_at_once_at_two_processes(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        for _ in range(3):
            host, people, panel = await a_finished_game(one)
            callers = [
                host,
                people[0],
                two.caller(people[1].token, host.table_id),
                two.caller(panel.token, host.table_id),
            ]
            found = await asyncio.gather(*map(asks, callers))
            assert len({answer.table_id for answer in found}) == 1
            host.table_id = found[0].table_id
            assert (await host.looks()).status == pb.TABLE_STATUS_RUNNING
            log = await host.reads_log()
            assert [entry.kind for entry in log] == [
                pb.CHANGE_KIND_CREATE,
                pb.CHANGE_KIND_START,
            ]
            notes = await people[0].reads_log()
            assert [e.kind for e in notes].count(pb.CHANGE_KIND_REMATCH) == 1


def cut_off(keeper: Any, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The store is lost when so many steps of a rematch are done; once."""
    steps = 0

    def counted(step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def wrapped(*args: Any) -> Any:
            nonlocal steps
            if steps == after:
                steps += 1
                raise StoreUnavailable("the store is gone")
            steps += 1
            return await step(*args)

        return wrapped

    monkeypatch.setattr(keeper, "create", counted(keeper.create))
    monkeypatch.setattr(keeper, "carry_out", counted(keeper.carry_out))


@pytest.mark.parametrize("after", range(3))
async def test_a_call_that_was_cut_off_is_repeated(
    running: Running, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    host, (ann, bob), _ = await a_finished_game(running)
    cut_off(running.service.keeper, monkeypatch, after)
    with refused("STORE_UNAVAILABLE", "UNAVAILABLE"):
        await asks(ann, "rematch")
    assert not (await host.looks()).next_table_id  # a table that isn't there is told to nobody
    first = await asks(bob) if after == 1 else await asks(ann, "rematch")
    assert (await asks(ann, "rematch")).table_id == first.table_id
    assert (await host.looks()).next_table_id == first.table_id
    ann.table_id = first.table_id
    assert (await ann.looks()).status == pb.TABLE_STATUS_RUNNING
    log = await ann.reads_log()
    assert [entry.kind for entry in log] == [pb.CHANGE_KIND_CREATE, pb.CHANGE_KIND_START]


async def test_a_table_of_somebody_else_is_not_the_next_one(running: Running) -> None:
    """Nobody can guess its id; should somebody have it, nothing of theirs is touched."""
    host, (ann, bob), panel = await a_finished_game(running)
    held = await running.service.keeper.look(host.table_id)
    other = running.caller("the token of another host, for tests", next_id(held.table))
    await other.changes(
        "CreateTable", game="free-table", seats=2, host_token_sha256=digest(other.token)
    )
    for person in (ann, bob):  # also where it could be started
        seated = running.caller(person.token, other.table_id)
        await seated.takes_seat()
    before = (await other.looks()).revision
    for who in (ann, host):
        with refused("TABLE_EXISTS", "ALREADY_EXISTS"):
            await asks(who)
    with refused("TABLE_EXISTS"):
        await panel.presses(1, LONG)
    assert not (await host.looks()).next_table_id
    view = await other.looks()
    assert (view.status, view.revision) == (pb.TABLE_STATUS_OPEN, before)


async def test_who_asks_again_changes_nothing_at_the_next_table(running: Running) -> None:
    host, people = await running.a_game(seats=3, start_when_full=False)
    await host.changes("StartGame")
    await people[1].changes("LeaveSeat")
    await people[0].looks()
    await people[0].acts("finish game", confirm=True)
    table_id = (await asks(host)).table_id
    dan = running.caller("the token of Dan, for tests", table_id)
    await dan.takes_seat()  # all are there, and the host says when it begins
    before = (await dan.looks()).revision
    for who in (host, people[0]):
        again = await asks(who)
        assert (again.table_id, again.replayed) == (table_id, True)
    view = await dan.looks()
    assert (view.status, view.revision) == (pb.TABLE_STATUS_OPEN, before)


@pytest.mark.case("S6")
@pytest.mark.parametrize(
    ("meanwhile", "token", "status"),
    [
        ("StartGame", HOST, pb.TABLE_STATUS_RUNNING),
        ("LeaveSeat", "", pb.TABLE_STATUS_OPEN),
    ],
)
async def test_somebody_is_faster_than_the_start(
    running: Running, monkeypatch: pytest.MonkeyPatch, meanwhile: str, token: str, status: int
) -> None:
    """Between the making of the next table and its start, it is started, or somebody gets up."""
    host, (ann, bob), _ = await a_finished_game(running)
    keeper = running.service.keeper
    carry_out = keeper.carry_out
    done: list[str] = []

    async def late(table_id: str, command: Any, *rest: Any) -> Any:
        if isinstance(command, commands.Start) and not done:
            done.append(meanwhile)
            await running.caller(token or bob.token, table_id).changes(meanwhile)
        return await carry_out(table_id, command, *rest)

    monkeypatch.setattr(keeper, "carry_out", late)
    found = await asks(ann)
    assert done
    assert (await host.looks()).next_table_id == found.table_id
    ann.table_id = found.table_id
    assert (await ann.looks()).status == status


async def test_a_request_id_is_for_one_request(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    await ann.acts("finish game", confirm=True, request_id="once")
    with refused("REQUEST_ID_REUSED", "INVALID_ARGUMENT"):
        await asks(ann, "once")
    assert not (await host.looks()).next_table_id
    held = await running.service.keeper.look(host.table_id)
    with refused("UNKNOWN_TABLE"):  # nor was one made that nobody knows of
        await running.caller(HOST, next_id(held.table)).looks()
    assert (await asks(bob, "once")).table_id  # another one's id


# -- who sits where ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "seats"),
    [
        (pb.REMATCH_ORDER_UNSPECIFIED, [1, 2, 3]),
        (pb.REMATCH_ORDER_SAME, [1, 2, 3]),
        (pb.REMATCH_ORDER_ROTATED, [3, 1, 2]),
        (pb.REMATCH_ORDER_LOSER_FIRST, [2, 3, 1]),
    ],
)
async def test_whoever_asks_first_says_who_sits_where(
    running: Running, order: int, seats: list[int]
) -> None:
    host, people = await running.a_game(seats=3, options={"points": "on", "first_seat": "1"})
    panel = await a_panel(host, running, [1, 2])
    await people[0].looks()
    await people[0].acts("score 5 for seat 1", "score 7 for seat 2", "finish game", confirm=True)
    first = await asks(people[0], order=order)
    for another in (pb.REMATCH_ORDER_SAME, pb.REMATCH_ORDER_ROTATED):
        again = await asks(people[1], order=another)
        assert (again.table_id, again.replayed) == (first.table_id, True)
    found = []
    for who in people:
        who.table_id, who.seen = first.table_id, 0
        view = await who.looks()
        assert view.status == pb.TABLE_STATUS_RUNNING
        found.append(view.viewer)
        assert [list(p.seats) for p in view.panels] == [seats[:2]]
    assert found == seats
    # A press at the table that is over leads there too.
    assert (await panel.presses(1, LONG)).next_table_id == first.table_id


async def test_an_order_that_there_is_not_is_told(running: Running) -> None:
    host, (ann, _), _ = await a_finished_game(running)
    with refused("BAD_FIELD", "INVALID_ARGUMENT", field="order"):
        await asks(ann, order=4)
    assert not (await host.looks()).next_table_id


async def test_the_game_begins_though_the_hosts_token_has_no_duties_any_more(
    running: Running,
) -> None:
    host, (ann, bob) = await running.a_game()
    await host.changes("PassHost", seat=1)
    await ann.looks()
    await ann.acts("finish game", confirm=True)
    with refused("NOT_ALLOWED"):
        await asks(host)
    found = await asks(ann, order=pb.REMATCH_ORDER_ROTATED)
    for who in (ann, bob, host):
        who.table_id, who.seen = found.table_id, 0
    view = await bob.looks()
    assert (view.status, view.viewer, view.host_seat) == (pb.TABLE_STATUS_RUNNING, 1, 2)
    with refused("NOT_ALLOWED"):
        await host.changes("PauseGame")
    await ann.changes("PauseGame")


# -- by a press ----------------------------------------------------------------------------


async def test_a_button_is_held_for_a_rematch(running: Running) -> None:
    host, (ann, _), panel = await a_finished_game(running)
    with refused("GAME_OVER"):
        await panel.presses(1, PRESS)
    first = await panel.presses(2, LONG, at=panel.seen, request_id="panel:rematch")
    assert first.next_table_id
    assert (first.seat, first.replayed) == (2, False)
    assert first.lines == [f"a rematch begins at the table {first.next_table_id}"]
    again = await panel.presses(2, LONG, at=panel.seen - 1, request_id="panel:rematch")
    assert (again.next_table_id, again.replayed) == (first.next_table_id, True)
    assert (await asks(ann)).table_id == first.next_table_id
    assert (await host.looks()).next_table_id == first.next_table_id
    # A press for the table that is over never reaches the next one.
    stale = Bridge(running.channel, panel.token, first.next_table_id)
    await stale.holds()
    seen = (await stale.looks()).revision
    with refused("STALE_REVISION"):
        await stale.presses(1, LONG, at=panel.seen + 100)
    assert (await stale.looks()).revision == seen


@pytest.mark.case("H8", "S7")
async def test_a_long_press_before_the_end_is_no_rematch(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    seen = (await panel.looks()).revision
    await ann.acts("finish game")
    staged = (await panel.looks()).revision
    # This press confirms the last turn; its answer is lost, and it is sent again after the end.
    first = await panel.presses(1, LONG, at=staged, request_id="panel:last")
    again = await panel.presses(1, LONG, at=staged, request_id="panel:last")
    assert (again.revision, again.replayed, again.next_table_id) == (first.revision, True, "")
    # Neither is one that was meant for the last turn and came too late.
    for at in (seen, staged):
        with refused("STALE_REVISION", asked_at=first.revision):
            await panel.presses(2, LONG, at=at)
    assert not (await host.looks()).next_table_id
    assert (await panel.presses(2, LONG, at=first.revision)).next_table_id


async def test_a_panel_that_comes_after_the_end_plays_the_rematch(running: Running) -> None:
    host, _, panel = await a_finished_game(running)
    await detach(panel)
    with refused("BAD_TOKEN"):
        await panel.presses(1, LONG)
    other = await a_panel(host, running, [2, 1], uid=4712)
    await other.looks()
    found = await other.presses(1, LONG)
    view = await running.caller(HOST, found.next_table_id).looks()
    assert [(p.uid, list(p.seats)) for p in view.panels] == [(4712, [2, 1])]


async def test_two_panels_ask_at_once(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        host, people = await one.a_game(seats=4)
        left = await a_panel(host, one, [1, 2])
        right = await a_panel(host, two, [3, 4], uid=4712)
        await people[0].looks()
        await people[0].acts("finish game", confirm=True)
        seen = people[0].seen
        found = await asyncio.gather(
            left.presses(1, LONG, at=seen), right.presses(2, LONG, at=seen), asks(host)
        )
        tables = {found[0].next_table_id, found[1].next_table_id, found[2].table_id}
        assert len(tables) == 1
        assert [answer.seat for answer in found[:2]] == [1, 4]
        assert await outcome(right.presses(1, LONG)) == "done"
        assert host.token == HOST
