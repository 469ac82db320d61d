"""What is hidden is in no byte that leaves the service.

Two services have the same tables, but for what nobody has seen yet: in the second one the rest of
each pile lies in another order, and the generator is another. Whatever they are asked, they answer
with the same bytes.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import grpc
import msgspec
import pytest
from google.protobuf.message import DecodeError

from tableturn.v1 import table_pb2
from tableturn.v1.actions_pb2 import Action
from tableturn_server.store import open_store
from tableturn_server.tables.state import Table as State
from tableturn_server.tables.state import decode, encode
from tests.e2e.calls import (
    TIMEOUT,
    Connection,
    action,
    bearer,
    digest,
    new_id,
    new_token,
    refusal_of,
)
from tests.e2e.playing import pick
from tests.e2e.processes import serving
from tests.e2e.tables import Table, new_table
from tests.tables.hiding import OTHER_SEED, heights, other_half

pytestmark = pytest.mark.e2e

CHEAP = json.dumps(
    {
        "format": 1,
        "name": "cheap",
        "victory_tiles": {
            "items": [
                {"id": f"EW-V{number:02}", "cost": "Y", "points": number} for number in range(1, 27)
            ]
        },
    }
).encode()
"""Tiles that are soon claimed, so that much is drawn."""


# -- tables with a past ----------------------------------------------------------------------


def _another_is_asked(table: Table, seat: int, kinds: list[str], claims: int) -> bool:
    """The turn of a seat is over."""
    return table.asked().seat != seat


def play(table: Table, random: Random, until: Callable[[list[str], int], bool]) -> None:
    """Take choices at random, tiles whenever they can be had, until it is as wanted.

    `until` is told the kinds of choices, and how many tiles have been claimed.
    """
    claimed = 0
    for _ in range(3000):
        person = table.asked()
        asked = person.actions()
        kinds = [choice.kind for choice in asked.choices]
        if until(kinds, claimed):
            return
        if "claim_tile" in kinds:
            person.act("claim", confirm=True, expected=asked.revision)
            claimed += 1
        elif asked.prompt.can_confirm and (not kinds or random.random() < 0.4):
            person.confirm(expected=asked.revision)
        else:
            request = table_pb2.ActRequest(
                table_id=table.table_id,
                request_id=new_id(),
                expected_revision=asked.revision,
                actions=[pick(random.choice(asked.choices), random)],
            )
            person.call("Act", request)
    pytest.fail("it was never as wanted")


def tables_with_a_past(connection: Connection, watch: str) -> dict[str, Table]:
    """Tables of which much is hidden."""
    start = new_table(connection, "eastern-wonders", seats=3, options={"map": "random"})
    claimed = new_table(connection, "eastern-wonders", seats=3, component_set=CHEAP)
    play(claimed, Random(1), lambda kinds, claims: "claim_tile" in kinds and claims == 3)
    claimed.asked().act("claim")
    taken_back = new_table(connection, "eastern-wonders", component_set=CHEAP)
    play(taken_back, Random(2), lambda kinds, claims: claims == 2)
    taken_back.take_back()
    guarded = new_table(
        connection, "eastern-wonders", component_set=CHEAP, watch_token_sha256=digest(watch)
    )
    paused = new_table(connection, "eastern-wonders", seats=4)
    paused.call(
        "PauseGame", table_pb2.PauseGameRequest(table_id=paused.table_id, request_id=new_id())
    )
    free = new_table(connection, options={"first_seat": "random"})
    cards, sea = new_table(connection, "spice-road"), new_table(connection, "from-sand-to-sea")
    for table in (cards, sea):
        looks = iter(range(60))
        play(table, Random(3), lambda kinds, claims, looks=looks: next(looks) > 40)  # type: ignore[misc]
    return {
        "cards": cards,
        "sand": sea,
        "start": start,
        "claimed": claimed,
        "taken back": taken_back,
        "guarded": guarded,
        "paused": paused,
        "free": free,
    }


# -- the other half --------------------------------------------------------------------------


def seed_hash(seed: bytes) -> bytes:
    """What is published of a seed before the game."""
    return blake2b(seed, digest_size=32).digest()


def with_another_half(state: State, left: dict[str, int]) -> State:
    """The table of another seed, with the rest of its piles in another order.

    The last `left` of each pile are the rest, which nobody has seen.
    """
    return msgspec.structs.replace(
        state,
        making=msgspec.structs.replace(state.making, seed=OTHER_SEED),
        hidden=other_half(state.hidden, left),
    )


async def permute(data: Path, table_ids: list[str]) -> dict[str, bytes]:
    """Write the other half into the store, into the snapshots for takebacks too.

    Returns the true seeds of the tables.
    """
    seeds: dict[str, bytes] = {}
    async with open_store(data=data) as store:
        call = store.connection.call
        for table_id in table_ids:
            stored = await store.tables.load(table_id)
            assert stored is not None
            state = decode(stored.blob)
            seeds[table_id] = state.making.seed
            left = heights(state.hidden)
            other = encode(with_another_half(state, left))
            assert other != stored.blob
            await call("HSET", f"tt:{{{table_id}}}:table", "blob", other)
            key = f"tt:{{{table_id}}}:snaps"
            for turn in await call("HKEYS", key):
                snapshot = decode(await call("HGET", key, turn))
                await call("HSET", key, turn, encode(with_another_half(snapshot, left)))
    return seeds


@dataclass
class Twins:
    """Two services with the same tables, but for what is hidden."""

    connections: tuple[Connection, Connection]
    tables: dict[str, Table]
    watch: str
    seeds: dict[str, bytes]

    def with_its_own_seed(self, table: Table, answers: list[bytes]) -> list[bytes]:
        """What the second service has answered, with the published hash of the first one's seed.

        That hash is the only thing that may differ.
        """
        other, own = seed_hash(OTHER_SEED), seed_hash(self.seeds[table.table_id])
        return [one.replace(other, own) for one in answers]

    def who(self, table: Table) -> dict[str, str]:
        """The tokens of all who may look or try to."""
        seats = {f"seat {n}": person.token for n, person in enumerate(table.people, 1)}
        return {"nobody": "", "host": table.token, "watcher": self.watch, **seats}


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    home = tmp_path_factory.mktemp("twins")
    watch = new_token()
    with serving(home / "one") as one:
        with Connection(one.address) as connection:
            tables = tables_with_a_past(connection, watch)
        assert one.terminate() == 0
        (home / "two").mkdir()
        shutil.copytree(one.data, home / "two" / "data")
        ids = [table.table_id for table in tables.values()]
        seeds = asyncio.run(permute(home / "two" / "data", ids))
        one.start()
        with (
            serving(home / "two") as two,
            Connection(one.address) as here,
            Connection(two.address) as there,
        ):
            yield Twins((here, there), tables, watch, seeds)


# -- all that can be asked -------------------------------------------------------------------


def same(method: str, here: list[bytes], there: list[bytes]) -> bool:
    """The same bytes. Maps, such as the options of a view, are written in any order."""
    if here == there:
        return True
    kind: Any = getattr(table_pb2, f"{method}Response")
    try:
        here, there = ([_beside_time(kind, one) for one in told] for told in (here, there))
        return [(sorted(one), _sorted_maps(kind, one)) for one in here] == [
            (sorted(one), _sorted_maps(kind, one)) for one in there
        ]
    except DecodeError:  # it is a status
        return False


def _beside_time(kind: Any, message: bytes) -> bytes:
    """The bytes without those that say when they were sent, and who was there then."""
    told = kind.FromString(message)
    for name in {"time", "presence"} & set(kind.DESCRIPTOR.fields_by_name):
        if told.HasField(name):
            part = kind(**{name: getattr(told, name)}).SerializeToString()
            assert message.count(part) == 1
            message = message.replace(part, b"")
    return message


def _sorted_maps(kind: Any, message: bytes) -> bytes:
    whole: bytes = kind.FromString(message).SerializeToString(deterministic=True)
    return whole


def answer(connection: Connection, method: str, request: Any, token: str) -> list[bytes]:
    """What comes over the wire for a call: its answers, or its status, as bytes."""
    path = f"/tableturn.v1.TableService/{method}"
    body = request.SerializeToString()
    try:
        if method != "WatchTable":
            call: Any = connection.channel.unary_unary(path)
            return [call(body, metadata=bearer(token), timeout=TIMEOUT)]
        return [*_history(connection, path, body, token)]
    except grpc.RpcError as error:
        refusal = refusal_of(error)
        sent: Any = error.trailing_metadata() or ()
        trailing = sorted(key for key, _ in sent)
        metadata = sorted(refusal.metadata.items())
        told = (refusal.code, refusal.reason, refusal.sentence, metadata, sorted(refusal.details))
        return [repr((told, trailing)).encode()]


def _history(connection: Connection, path: str, body: bytes, token: str) -> Iterator[bytes]:
    """The events of a watch until it has told all that has happened."""
    call: Any = connection.channel.unary_stream(path)
    stream = call(body, metadata=bearer(token), timeout=TIMEOUT)
    for event in stream:
        yield event
        told = table_pb2.WatchTableResponse.FromString(event)
        if told.HasField("snapshot") or told.change.HasField("table"):
            stream.cancel()
            return


def questions(twins: Twins, table: Table) -> Iterator[tuple[str, Any, str]]:
    """Every look at a table, and every call that is refused, of everybody."""
    table_id = table.table_id
    known = Table(twins.connections[0], table_id, table.people[0].token)
    entries = known.log()
    revision = entries[-1].revision
    for who, token in twins.who(table).items():
        # Everybody as what they are; some ask for other seats too, and for one that isn't there.
        seats = range(len(table.people) + 2) if who in ("nobody", "seat 1") else range(1)
        for seat in seats:
            yield "GetTable", table_pb2.GetTableRequest(table_id=table_id, seat=seat), token
            yield "ListActions", table_pb2.ListActionsRequest(table_id=table_id, seat=seat), token
            log = table_pb2.ListLogRequest(table_id=table_id, seat=seat, page_size=500)
            yield "ListLog", log, token
            yield "WatchTable", table_pb2.WatchTableRequest(table_id=table_id, seat=seat), token
        for entry in entries[-40:-1:3]:
            request = table_pb2.WatchTableRequest(
                table_id=table_id,
                start_revision=entry.revision,
                start_change_id=entry.change_id,
            )
            yield "WatchTable", request, token
        yield "ExportTable", table_pb2.ExportTableRequest(table_id=table_id), token
        yield from _refused_calls(table, revision, token)
    yield "ListTables", table_pb2.ListTablesRequest(), ""


def _refused_calls(table: Table, revision: int, token: str) -> Iterator[tuple[str, Any, str]]:
    table_id = table.table_id
    texts = [
        *("claim", "move A1", "build", "trade 99", "harvest", "take bonus vp", "return YY"),
        *("acquire M43", "play M01", "claim P36", "take card M09", "rest", "put red on M12"),
    ]
    for text in texts:
        # The second is none: whatever the first may do, the call is refused.
        request = table_pb2.ActRequest(
            table_id=table_id, request_id=new_id(), expected_revision=revision
        )
        request.actions.extend([action(text), Action()])
        yield "Act", request, token
    for number in (1, revision + 1):
        for method in ("Confirm", "Undo", "TakeBack"):
            kind: Any = getattr(table_pb2, f"{method}Request")
            yield (
                method,
                kind(table_id=table_id, request_id=new_id(), expected_revision=number),
                token,
            )
    yield (
        "CreateTable",
        table_pb2.CreateTableRequest(
            table_id=table_id,
            request_id=new_id(),
            game="eastern-wonders",
            host_token_sha256=digest(token or "x" * 20),
            if_absent=True,
        ),
        token,
    )


@pytest.mark.case("L2", "L3")
def test_no_byte_tells_what_is_hidden(twins: Twins) -> None:
    """One test, because two services are a long way to go for three."""
    no_answer_tells_what_is_hidden(twins)
    what_is_done_without_drawing_tells_nothing(twins)
    the_halves_really_differ(twins)


def no_answer_tells_what_is_hidden(twins: Twins) -> None:
    """Whatever anybody asks, the answers are the same bytes."""
    count = 0
    for name, table in twins.tables.items():
        for method, request, token in questions(twins, table):
            here, there = (answer(c, method, request, token) for c in twins.connections)
            there = twins.with_its_own_seed(table, there)
            assert same(method, here, there), (name, method, request)
            assert not any(OTHER_SEED in one for one in there)
            count += 1
    assert count > 400


def what_is_done_without_drawing_tells_nothing(twins: Twins) -> None:
    """Staging, undoing, leaving, taking back: the same at both, but for times and random ids."""
    for name, table in twins.tables.items():
        if name in ("paused", "free"):
            continue
        told = []
        for connection in twins.connections:
            told.append(list(_same_things(table.through(connection), table.people)))
        assert told[0] == told[1], name


def _same_things(host: Table, people: list[Table]) -> Iterator[bytes]:
    people = [person.through(host.connection) for person in people]
    host.people = people
    random = Random(9)
    watch = people[0].watch(timeout=TIMEOUT)
    first = next(watch)
    assert first.HasField("snapshot")
    steps = 0
    for _ in range(6):
        person = host.asked()
        asked = person.actions()
        if asked.choices:
            request = table_pb2.ActRequest(
                table_id=host.table_id,
                request_id=new_id(),
                expected_revision=asked.revision,
                actions=[pick(random.choice(asked.choices), random)],
            )
            person.call("Act", request)
            steps += 1
        for viewer in (host, *people):
            yield _without_chance(viewer.view())
            yield _without_chance(person.actions())
    host.asked().undo(everything=True)
    if host.view().turns:
        host.take_back()
        steps += 1
        for viewer in (host, *people):
            yield _without_chance(viewer.view())
    for _ in range(steps + 1):
        event = next(watch)
        yield _without_chance(event.change.entry) + _without_chance(event.change.table)
    watch.cancel()
    for viewer in (host, *people):
        for entry in viewer.log():
            yield _without_chance(entry)


def _without_chance(message: Any) -> bytes:
    """A message's bytes without times, change ids and the seed's hash, which are others."""
    copy = type(message)()
    copy.CopyFrom(message)
    for name in ("change_id", "time", "update_time", "create_time", "seed_hash"):
        if name in copy.DESCRIPTOR.fields_by_name:
            copy.ClearField(name)
    whole: bytes = copy.SerializeToString(deterministic=True)
    return whole


def the_halves_really_differ(twins: Twins) -> None:
    """What is drawn when a turn is confirmed is another tile or card: the tests have eyes."""
    table = twins.tables["taken back"]
    drawn = []
    for connection in twins.connections:
        host = table.through(connection)
        host.people = [person.through(connection) for person in table.people]
        before = host.revision
        play(host, Random(3), lambda kinds, claims: claims == 1)
        ports = [port.victory_tile for port in host.view().game_view.harbour.ports]
        drawn.append((ports, [list(entry.lines) for entry in host.log(after=before)]))
    (here, said_here), (there, said_there) = drawn
    assert here != there
    assert said_here[:-1] == said_there[:-1]
    assert said_here[-1] != said_there[-1]
    for name in ("cards", "sand"):
        other_cards_are_turned_up(twins, twins.tables[name])


def other_cards_are_turned_up(twins: Twins, table: Table) -> None:
    """Two cards are acquired, and others of the deck come to the row.

    Two, because the first to be dealt may have been seen: a turn has been taken back.
    """
    rows = []
    for connection in twins.connections:
        host = table.through(connection)
        host.people = [person.through(connection) for person in table.people]
        for _ in range(2):
            play(host, Random(5), lambda kinds, claims: "acquire_card" in kinds)
            person = host.asked()
            person.act(f"acquire {host.view().game_view.merchants.row[0].card}")
            passed_on = partial(_another_is_asked, host, person.seat)
            play(host, Random(6), passed_on)
        rows.append([card.card for card in host.view().game_view.merchants.row])
    assert rows[0] != rows[1]
