"""Every call over a real socket: what is accepted, what is refused, and how that is told."""

import asyncio
import json
import secrets
from typing import Any

import grpc
import pytest

from tableturn.v1 import actions_pb2, catalog_pb2, table_pb2
from tableturn_server import bots
from tableturn_server.service.errors import STATUS
from tableturn_server.tables.refusals import Reason
from tests.service.support import (
    ADMIN,
    HOST,
    Running,
    digest,
    message,
    new_id,
    refused,
)

pb = table_pb2
pytestmark = pytest.mark.e2e


@pytest.mark.case("S4")
async def test_a_seat_that_is_taken_can_be_played_from_at_once(running: Running) -> None:
    host = await running.a_table(options={"first_seat": "2"})
    ann = running.caller("the token of Ann, for tests", host.table_id)
    bob = running.caller("the token of Bob, for tests", host.table_id)
    await ann.takes_seat(name="Ann")
    taken = await bob.takes_seat(name="Bob")
    table = taken.table
    assert (taken.seat, table.viewer, table.status) == (2, 2, pb.TABLE_STATUS_RUNNING)
    assert [choice.kind for choice in table.choices] == ["finish_game"]
    assert table.prompts[0].asked_at == table.revision
    done = await bob.confirms(at=table.revision)
    assert done.revision == table.revision + 1
    assert done.lines[0] == "Bob (blue) confirms"


@pytest.mark.case("S2")
async def test_one_call_may_act_and_confirm(running: Running) -> None:
    _, (ann, bob) = await running.a_game(options={"points": "on", "first_seat": "1"})
    done = await ann.acts("score 3 for seat 1", "score 4 for seat 2", confirm=True)
    assert done.lines[0].endswith("scores 3 points for seat 1")
    view = await bob.looks()
    assert [player.points for player in view.game_view.players] == [3, 4]
    assert [prompt.seat for prompt in view.prompts] == [2]
    entry = (await bob.reads_log())[-1]
    assert entry.texts == ["score 3 for seat 1", "score 4 for seat 2"]
    assert entry.actions[0] == message("score 3 for seat 1")
    assert list(entry.lines) == list(done.lines)


async def test_what_is_staged_is_seen_by_all_and_undone(running: Running) -> None:
    _, (ann, bob) = await running.a_game(options={"points": "on", "first_seat": "1"})
    await ann.acts("score 3 for seat 1")
    view = await bob.looks()
    assert [(s.seat, list(s.texts)) for s in view.staged] == [(1, ["score 3 for seat 1"])]
    await ann.changes("Undo", expected_revision=ann.seen)
    assert not (await bob.looks()).staged
    with refused("NOTHING_TO_UNDO", "FAILED_PRECONDITION", revision=ann.seen):
        await ann.changes("Undo", expected_revision=ann.seen, all=True)


async def test_actions_that_can_not_be_read_are_named_by_their_index(running: Running) -> None:
    _, (ann, _) = await running.a_game(options={"points": "on", "first_seat": "1"})
    good = message("score 3 for seat 1")
    for bad in (
        actions_pb2.Action(),
        actions_pb2.Action.FromString(b"\xfa\x07\x00"),  # an action of a later version
        actions_pb2.Action(move=actions_pb2.Move()),
        actions_pb2.Action(move=actions_pb2.Move(tile="C3" * 50)),
        actions_pb2.Action(move=actions_pb2.Move(tile="C3", cube=77)),  # type: ignore[arg-type]
        actions_pb2.Action(upgrade=actions_pb2.Upgrade()),
        actions_pb2.Action(take_bonus=actions_pb2.TakeBonus(bonus=-1)),  # type: ignore[arg-type]
        actions_pb2.Action(trade=actions_pb2.Trade()),
        actions_pb2.Action(pick_up=actions_pb2.PickUp(cubes=actions_pb2.Cubes(red=2**32 - 1))),
        actions_pb2.Action(score_points=actions_pb2.ScorePoints(points=4)),
    ):
        with refused("UNREADABLE_ACTION", "INVALID_ARGUMENT", index=1):
            await ann.changes("Act", expected_revision=ann.seen, actions=[good, bad])
    with refused("ILLEGAL_ACTION", "FAILED_PRECONDITION", index=1, revision=ann.seen):
        await ann.acts("score 3 for seat 1", "move C3")
    with refused("BAD_FIELD", field="actions"):
        await ann.changes("Act", expected_revision=ann.seen, actions=[good] * 65)


async def test_requests_of_any_kind_are_never_our_failure(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    table_id = host.table_id
    rid = "r1"
    bad: list[tuple[str, Any, str]] = [
        ("GetTable", pb.GetTableRequest(), "BAD_FIELD"),
        ("GetTable", pb.GetTableRequest(table_id="no-such-table"), "UNKNOWN_TABLE"),
        ("GetTable", pb.GetTableRequest(table_id="{a}:b"), "BAD_FIELD"),
        ("GetTable", pb.GetTableRequest(table_id=table_id, seat=99), "UNKNOWN_NAME"),
        ("GetTable", pb.GetTableRequest(table_id=table_id, seat=2**32 - 1), "UNKNOWN_NAME"),
        ("GetTable", pb.GetTableRequest(table_id=table_id, seat=2), "NOT_ALLOWED"),
        ("ListTables", pb.ListTablesRequest(page_token="x"), "BAD_FIELD"),
        ("ListTables", pb.ListTablesRequest(page_token="9" * 5000 + ":abc"), "BAD_FIELD"),
        ("ListTables", pb.ListTablesRequest(page_token="1:{}"), "BAD_FIELD"),
        ("ListLog", pb.ListLogRequest(table_id=table_id, seat=2), "NOT_ALLOWED"),
        ("ListActions", pb.ListActionsRequest(table_id=table_id, seat=3), "UNKNOWN_NAME"),
        ("Act", pb.ActRequest(table_id=table_id, request_id=rid, confirm=True), "BAD_FIELD"),
        ("Act", pb.ActRequest(table_id=table_id, request_id=rid, expected_revision=3), "BAD_FIELD"),
        ("Act", pb.ActRequest(table_id=table_id, expected_revision=3, confirm=True), "BAD_FIELD"),
        ("Confirm", pb.ConfirmRequest(table_id=table_id, request_id="x" * 65), "BAD_FIELD"),
        ("Confirm", pb.ConfirmRequest(table_id=table_id, request_id="a\nb"), "BAD_FIELD"),
        (
            "Confirm",
            pb.ConfirmRequest(table_id=table_id, request_id=rid, expected_revision=2**64 - 1),
            "STALE_REVISION",
        ),
        ("Concede", pb.ConcedeRequest(table_id=table_id, request_id=rid, seat=77), "UNKNOWN_NAME"),
        ("CreateTable", pb.CreateTableRequest(request_id=rid), "BAD_FIELD"),
        (
            "CreateTable",
            pb.CreateTableRequest(request_id=rid, host_token_sha256=digest(HOST)),
            "UNKNOWN_NAME",
        ),
        (
            "CreateTable",
            pb.CreateTableRequest(
                request_id=rid,
                host_token_sha256=digest(HOST),
                game="free-table",
                takeback=9,  # type: ignore[arg-type]
            ),
            "BAD_FIELD",
        ),
        (
            "CreateTable",
            pb.CreateTableRequest(
                request_id=rid,
                host_token_sha256=digest(HOST),
                game="free-table",
                options={"x" * 10_000: "y"},
            ),
            "UNKNOWN_NAME",
        ),
        ("TakeSeat", pb.TakeSeatRequest(table_id=table_id, request_id=rid), "BAD_FIELD"),
        ("WatchTable", pb.WatchTableRequest(table_id="x"), "BAD_FIELD"),
        ("WatchTable", pb.WatchTableRequest(table_id="no-such-table"), "UNKNOWN_TABLE"),
        ("WatchTable", pb.WatchTableRequest(table_id=table_id, seat=2), "NOT_ALLOWED"),
        ("ExportTable", pb.ExportTableRequest(table_id=table_id), "NOT_ALLOWED"),
        ("ImportTable", pb.ImportTableRequest(request_id=rid), "NOT_ALLOWED"),
    ]
    for method, request, reason in bad:
        with refused(reason) as failure:
            call = getattr(ann.tables, method)(request, metadata=ann.metadata, timeout=10)
            if method == "WatchTable":
                async for _ in call:
                    break
            else:
                await call
        assert failure.code is STATUS[Reason(reason)]


async def test_bytes_that_are_no_message_are_refused(running: Running) -> None:
    for method in ("Act", "ImportTable", "ListTables"):
        call: Any = running.channel.unary_unary(f"/tableturn.v1.TableService/{method}")
        with refused("BAD_FIELD", "INVALID_ARGUMENT", field="request"):
            await call(b"\xff\xff\xff", timeout=10)
    watch: Any = running.channel.unary_stream("/tableturn.v1.TableService/WatchTable")
    with refused("BAD_FIELD"):
        async for _ in watch(b"\xff\xff\xff", timeout=10):
            break
    act: Any = running.channel.unary_unary("/tableturn.v1.TableService/Act")
    with refused("BAD_FIELD", field="request"):
        await act(bytes(2 << 20), timeout=10)
    unknown: Any = running.channel.unary_unary("/tableturn.v1.TableService/NoSuchMethod")
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await unknown(b"", timeout=10)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer short", "Basic abc", f"Bearer {'x' * 257}", "x" * 40]
)
async def test_a_malformed_token_is_refused(running: Running, authorization: str) -> None:
    caller = running.caller()
    with refused("BAD_TOKEN", "UNAUTHENTICATED"):
        await caller.call(
            "ListTables", pb.ListTablesRequest(), metadata=(("authorization", authorization),)
        )


async def test_a_call_that_needs_a_token_and_has_none_or_another(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    nobody = running.caller("", host.table_id)
    stranger = running.caller("a token of nobody here", host.table_id)
    for caller, reason in ((nobody, "BAD_TOKEN"), (stranger, "BAD_TOKEN"), (host, "NOT_ALLOWED")):
        with refused(reason, revision=bob.seen):
            await caller.acts(confirm=True, at=bob.seen)
        with refused(reason):
            await caller.may()
    with refused("NOT_ALLOWED", "PERMISSION_DENIED"):
        await ann.changes("StartGame")
    # The admin may do what any host may.
    admin = running.caller(ADMIN, host.table_id)
    await admin.changes("PauseGame")
    with refused("PAUSED"):
        await ann.confirms()
    again = await admin.changes("PauseGame")
    assert again.revision == admin.seen
    await ann.changes("ResumeGame")


async def test_tables_are_found_by_their_list(running: Running) -> None:
    hosts = [await running.a_table(title=f"number {n}") for n in range(3)]
    hidden = await running.a_table(unlisted=True)
    wanted = {host.table_id for host in hosts}
    found: list[str] = []
    token = ""
    for _ in range(200):
        page = await hidden.call("ListTables", pb.ListTablesRequest(page_size=2, page_token=token))
        assert len(page.tables) <= 2
        found += [table.table_id for table in page.tables]
        token = page.next_page_token
        if not token:
            break
    assert wanted <= set(found)
    assert hidden.table_id not in found
    assert len(found) == len(set(found))


@pytest.mark.case("S8")
async def test_a_table_is_made_once(running: Running) -> None:
    caller = running.caller(HOST)
    request = pb.CreateTableRequest(
        request_id=secrets.token_hex(8), game="free-table", host_token_sha256=digest(HOST)
    )
    first = await caller.call("CreateTable", request)
    again = await caller.call("CreateTable", request)
    assert first.table.table_id == again.table.table_id
    assert (first.replayed, again.replayed) == (False, True)
    request.seats = 5
    with refused("REQUEST_ID_REUSED", "INVALID_ARGUMENT"):
        await caller.call("CreateTable", request)
    request.request_id = secrets.token_hex(8)
    other = await caller.call("CreateTable", request)
    assert other.table.table_id != first.table.table_id
    assert len(other.table.seats) == 5


async def test_a_table_that_is_there_is_returned_if_it_is_the_one_that_is_wanted(
    running: Running,
) -> None:
    table_id = new_id()
    wanted: dict[str, Any] = {"game": "free-table", "seats": 3, "host_token_sha256": digest(HOST)}
    host = running.caller(HOST, table_id)
    await host.changes("CreateTable", **wanted)
    stranger = running.caller("a token of nobody here", table_id)
    mine = {**wanted, "host_token_sha256": digest("a token of nobody here")}
    with refused("TABLE_EXISTS", "ALREADY_EXISTS", revision=1):
        await stranger.changes("CreateTable", **mine)
    found = await stranger.changes("CreateTable", if_absent=True, **mine)
    assert (found.table.table_id, found.replayed) == (table_id, False)
    others: list[dict[str, Any]] = [
        {"seats": 4},
        {"options": {"points": "on"}},
        {"game": "eastern-wonders"},
    ]
    for other in others:
        with refused("TABLE_EXISTS"):
            await stranger.changes("CreateTable", if_absent=True, **{**mine, **other})


async def test_a_table_is_the_one_that_is_wanted_also_without_its_free_seats(
    running: Running,
) -> None:
    host = await running.a_table(seats=4, start_when_full=False)
    for name in ("Ann", "Bob"):
        await running.caller(f"the token of {name}, for tests", host.table_id).takes_seat()
    wanted: dict[str, Any] = {
        "game": "free-table",
        "seats": 4,
        "options": {"first_seat": "1"},
        "host_token_sha256": digest(HOST),
        "if_absent": True,
    }
    before = await host.changes("CreateTable", **wanted)
    await host.changes("StartGame", without_free_seats=True)
    found = await host.changes("CreateTable", **wanted)
    assert (len(before.table.seats), len(found.table.seats)) == (4, 2)
    with refused("TABLE_EXISTS"):  # nobody asked for two seats
        await host.changes("CreateTable", **{**wanted, "seats": 2})


async def test_nobody_sees_a_closed_table_by_making_it(running: Running) -> None:
    host = await running.a_table(watch_token_sha256=digest("the watch token, for tests"))
    stranger = running.caller("a token of nobody here", host.table_id)
    with refused("TABLE_EXISTS"):
        await stranger.changes(
            "CreateTable",
            game="free-table",
            seats=2,
            options={"first_seat": "1"},
            if_absent=True,
            host_token_sha256=digest("a token of nobody here"),
        )
    with refused("BAD_TOKEN"):
        await stranger.looks()
    watcher = running.caller("the watch token, for tests", host.table_id)
    assert (await watcher.looks()).viewer == 0


async def test_the_catalog_needs_no_token(running: Running) -> None:
    catalog = running.caller().catalog
    games = (await catalog.ListGames(catalog_pb2.ListGamesRequest())).games
    assert {"eastern-wonders", "free-table"} <= {game.name for game in games}
    assert all(list(game.bots) == list(bots.names(game.name)) for game in games)
    sets = (await catalog.ListComponentSets(catalog_pb2.ListComponentSetsRequest())).sets
    name = next(s.name for s in sets if s.game == "eastern-wonders")
    whole = await catalog.GetComponentSet(catalog_pb2.GetComponentSetRequest(name=name))
    assert whole.summary in sets
    assert all(g.confidence for g in whole.summary.groups)
    stand_ins = {g.name: g.reconstructed for g in whole.summary.groups if g.reconstructed}
    assert stand_ins == {"victory_tiles": 26, "bonus_tiles": 20}
    document = json.loads(whole.document)
    document["name"] = "my-own"
    check = catalog_pb2.CheckComponentSetRequest(
        game="eastern-wonders", document=json.dumps(document).encode()
    )
    assert (await catalog.CheckComponentSet(check)).summary.name == "my-own"
    check.document = b'{"format": 1, "colours": []}'
    with refused("BAD_COMPONENTS", "INVALID_ARGUMENT") as failure:
        await catalog.CheckComponentSet(check)
    assert failure.details["place"]
    with refused("UNKNOWN_NAME", "NOT_FOUND"):
        await catalog.GetComponentSet(catalog_pb2.GetComponentSetRequest(name="chess"))


async def test_a_table_with_components_of_its_own(running: Running) -> None:
    catalog = running.caller().catalog
    request = catalog_pb2.GetComponentSetRequest(name="eastern-wonders")
    document = json.loads((await catalog.GetComponentSet(request)).document)
    document["name"] = "my-own"
    component_set = json.dumps(document).encode()
    host, people = await running.a_game("eastern-wonders", component_set=component_set)
    view = await host.looks()
    assert (view.component_set.name, view.component_set.custom) == ("my-own", True)
    assert people[0].seat == 1
    with refused("BAD_COMPONENTS"):
        await running.a_table("eastern-wonders", component_set=b"{}")


async def test_takebacks_over_the_wire(running: Running) -> None:
    host, (ann, bob) = await running.a_game(takeback=pb.TAKEBACK_POLICY_ALL_AGREE)
    await ann.confirms()
    asked = await bob.changes("TakeBack", expected_revision=ann.seen)
    assert list(asked.waiting_for) == [1]
    again = await bob.changes("TakeBack", expected_revision=ann.seen)
    assert (list(again.waiting_for), again.revision) == ([1], asked.revision)
    assert list((await host.looks()).takeback_asked) == [2]
    done = await ann.changes("TakeBack", expected_revision=ann.seen)
    assert not done.waiting_for
    view = await ann.looks()
    assert (view.turns, [p.seat for p in view.prompts]) == (0, [1])
    with refused("NOTHING_TO_TAKE_BACK"):
        await ann.changes("TakeBack", expected_revision=ann.seen)


async def test_the_end_of_a_game(running: Running) -> None:
    host, (ann, bob) = await running.a_game("eastern-wonders")
    with refused("NOT_ALLOWED"):
        await ann.changes("Concede", seat=2)
    await ann.changes("Concede")
    view = await bob.looks()
    assert view.status == pb.TABLE_STATUS_FINISHED
    assert [result.seat for result in view.outcome.results] == [2, 1]
    assert len(view.seed) == 16
    with refused("GAME_OVER"):
        await bob.confirms()
    assert (await host.looks()).seed == view.seed


async def test_the_service_says_what_it_is_and_that_it_is_well(running: Running) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
    from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]
        reflection_pb2,
        reflection_pb2_grpc,
    )

    health = health_pb2_grpc.HealthStub(running.channel)
    for name in running.service.names:
        found = await health.Check(health_pb2.HealthCheckRequest(service=name))
        assert found.status == health_pb2.HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(running.channel)
    call = stub.ServerReflectionInfo()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    answer = await call.read()
    await call.done_writing()
    names = {service.name for service in answer.list_services_response.service}
    services = ("TableService", "CatalogService", "PanelService")
    assert {f"tableturn.v1.{service}" for service in services} <= names
    assert {f"tableturn.v1.{service}" for service in services} <= set(running.service.names)


async def test_an_error_of_ours_tells_nothing_but_its_id(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = await running.a_table()

    async def fail(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(running.service.keeper, "look", fail)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await host.looks()
    assert raised.value.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in str(raised.value)


async def test_calls_side_by_side_do_not_mix_up_their_answers(running: Running) -> None:
    games = [await running.a_game(seats=2) for _ in range(8)]

    async def play(people: list[Any]) -> None:
        for n in range(10):
            await people[n % 2].confirms(at=people[(n + 1) % 2].seen)
            people[(n + 1) % 2].seen = people[n % 2].seen

    await asyncio.gather(*(play(people) for _, people in games))
    for host, _ in games:
        assert (await host.looks()).turns == 10
