"""kill -9 in the middle: of the service, of its Valkey, of both. It is a delay, and no more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tableturn.v1 import table_pb2
from tableturn.v1.clock_pb2 import ClockKind, ClockSettings, TimeoutPolicy
from tableturn.v1.table_pb2 import ChangeKind
from tableturn_server import store
from tests.e2e import ledger, playing
from tests.e2e.calls import TIMEOUT, Connection, bearer, new_id, new_token, refusal_of
from tests.e2e.following import Follower, following
from tests.e2e.processes import ROOT, TABLETURN, Service, environment, running_valkey, until
from tests.e2e.tables import Table, gapless, new_table
from tests.store.support import Proxy, eventually

pytestmark = pytest.mark.e2e

SEATS = 3
FREE = {
    "points": "on", "order": "chosen", "passing": "on", "together": "after", "between": "on",
}  # fmt: skip
"""Tables of each game at which the same people play at the same time."""
PROGRESS = 10
"""Changes that each player is told of before the next kill."""


@contextlib.contextmanager
def players(service: Service, lines: list[list[Table]], home: Path) -> Iterator[list[Path]]:
    """A process for each seat plays at all tables meanwhile; the value is their ledgers."""
    ledgers = [home / f"ledger-{seat}" for seat in range(1, SEATS + 1)]
    started = []
    try:
        for seat, path in enumerate(ledgers, 1):
            path.touch()
            config = playing.Config(
                address=service.address,
                lines=[[table.table_id for table in line] for line in lines],
                token=lines[0][0].people[seat - 1].token,
                seat=seat,
                ledger=str(path),
                seed=random.randrange(2**32),
            )
            command = [sys.executable, "-m", "tests.e2e.playing", playing.as_text(config)]
            started.append(
                subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE)
            )
        yield ledgers
        for player in started:
            player.communicate(timeout=60)
        assert [player.returncode for player in started] == [0] * SEATS
    finally:
        for player in started:
            player.kill()
            player.communicate()


def tables_of(connection: Connection) -> list[list[Table]]:
    """Tables of all games, with the same token on a seat of each; several to play in a row."""
    tokens = [new_token() for _ in range(SEATS)]
    lines = []
    games: list[tuple[str, dict[str, str], int]] = [
        ("eastern-wonders", {}, 3),
        ("free-table", FREE, 1),
        ("spice-road", {}, 3),
        ("free-table", FREE, 1),
        ("from-sand-to-sea", {}, 3),
        ("free-table", FREE, 1),
    ]
    for game, options, count in games:
        line = [
            new_table(connection, game, seats=SEATS, options=options, sit=False)
            for _ in range(count)
        ]
        for table in line:
            for seat, token in enumerate(tokens, 1):
                table.people.append(table.take_seat(f"player {seat}", seat, token))
        lines.append(line)
    return lines


async def kill(service: Service, what: str) -> None:
    """kill -9, and what is needed to go on; never two Valkeys on the same data."""
    before = service.valkey_pid
    if what == "valkey":
        os.kill(before, signal.SIGKILL)
        await asyncio.to_thread(until, lambda: service.valkeys() not in ([], [before]))
    else:
        first = random.random() < 0.5
        if what == "both" and first:
            os.kill(before, signal.SIGKILL)
        service.kill()
        if what == "both" and not first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(before, signal.SIGKILL)
        if what == "service":
            assert service.valkeys() == [before]
        await asyncio.to_thread(service.start)
    after = service.valkey_pid
    assert (after == before) is (what == "service")


async def play_through(service: Service, kills: Sequence[str], home: Path) -> None:
    """Play, and kill in the middle of it; then compare what was told with what is there."""
    with Connection(service.address) as connection:
        lines = tables_of(connection)
    tables = [table for line in lines for table in line]
    # Whoever looks on follows the tables that are played first.
    lookers = [Follower(service.address, line[0].table_id) for line in lines]
    with players(service, lines, home) as ledgers:
        async with following(*lookers):

            def changes() -> list[int]:
                """How many changes each player has been told of."""
                return [path.read_bytes().count(b'"line": "Done"') for path in ledgers]

            async def progress() -> None:
                before = changes()

                def enough() -> bool:
                    pairs = zip(changes(), before, strict=True)
                    return all(now >= then + PROGRESS for now, then in pairs)

                await eventually(enough, within=40)

            for what in kills:
                await progress()
                # At any moment of a change, not always at the end of one.
                await asyncio.sleep(random.random() * 0.01)
                await kill(service, what)
            await progress()
    noted = [line for path in ledgers for line in ledger.read(path)]
    with Connection(service.address) as connection:
        logs = {t.table_id: t.through(connection).log() for t in tables}
    for looker in lookers:
        assert looker.faults == []
        # It resumed each time without a gap: after the first snapshot it needed none.
        assert looker.snapshots == 1
        entries = logs[looker.table_id]
        assert [(e.revision, e.change_id) for e in entries][: looker.revision][
            -len(looker.told) :
        ] == looker.told
    assert all(gapless(entries) for entries in logs.values())
    count = ledger.check(noted, dict(logs), set(range(1, SEATS + 1)))
    assert count >= len(kills) * PROGRESS


@pytest.mark.case("S3", "R5", "S7")
async def test_kills_in_the_middle_of_games_lose_nothing(own: Service, tmp_path: Path) -> None:
    kills = ["service", "valkey", "both"] * 2
    random.shuffle(kills)
    await play_through(own, kills, tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.case("S3", "R5", "S7")
async def test_a_night_of_kills_loses_nothing(own: Service, tmp_path: Path) -> None:
    kills = ["service", "valkey", "both"] * 40
    random.shuffle(kills)
    await play_through(own, kills, tmp_path)


@pytest.mark.case("S3", "R4")
@pytest.mark.parametrize("what", ["service", "valkey", "both"])
async def test_a_turn_goes_on_where_it_was_staged(own: Service, what: str) -> None:
    with Connection(own.address) as connection:
        ann, bob = new_table(connection).people
        ann.act("score 5 for seat 2")
        ann.act("score 1 for seat 1")
        before = ann.view()
        await kill(own, what)
        assert ann.view() == before
        ann.undo()
        ann.confirm()
        assert [player.points for player in bob.view().game_view.players] == [0, 5]
        assert gapless(bob.log())


@pytest.mark.case("S3", "C1")
@pytest.mark.parametrize("what", ["service", "valkey", "both"])
async def test_a_clock_goes_on_where_it_was(own: Service, what: str) -> None:
    """Who is in the middle of a turn goes on with it, and is charged for what was no outage."""
    clock = ClockSettings(kind=ClockKind.CLOCK_KIND_PER_TURN)
    clock.step.FromSeconds(600)
    clock.timeout = TimeoutPolicy.TIMEOUT_POLICY_DEFAULT
    with Connection(own.address) as connection:
        ann, bob = new_table(connection, clock=clock).people
        ann.act("score 5 for seat 2")
        before = ann.view()
        await kill(own, what)
        after = ann.view()
        assert list(after.staged) == list(before.staged)
        assert list(after.prompts) == list(before.prompts)
        ann.act("score 1 for seat 1")
        ann.confirm()
        log = bob.log()
        # A machine that is busy may take so long to start it again that this was an outage.
        was_long = any(entry.kind == ChangeKind.CHANGE_KIND_OUTAGE for entry in log)
        started, ended = (
            [entry.time.ToMilliseconds() for entry in log if entry.kind == kind][-1]
            for kind in (ChangeKind.CHANGE_KIND_TAKE_SEAT, ChangeKind.CHANGE_KIND_CONFIRM)
        )
        mine, next_one = (seat.clock for seat in bob.view().seats)
        assert (mine.used.ToMilliseconds() == ended - started) is not was_long
        assert mine.used.ToMilliseconds() <= ended - started
        assert next_one.deadline.ToMilliseconds() == ended + 600_000
        assert gapless(log)


@pytest.mark.case("S3", "S7")
async def test_an_answer_that_died_with_the_service_is_given_again(tmp_path: Path) -> None:
    """The store carries the change out, and its reply never comes: then the service is killed."""
    with running_valkey() as valkey:
        proxy = Proxy(valkey.socket)
        path = str(valkey.socket.with_name("proxy.sock"))
        async with proxy.listen(path=path), store.Connection(valkey.url) as direct:
            tables = store.TableStore(direct)
            service = Service(tmp_path, store=f"unix://{path}")
            try:
                await asyncio.to_thread(service.start)
                await _lose(service, proxy, tables)
            finally:
                await asyncio.to_thread(service.clean_up)
    service.check_log()


async def _lose(service: Service, proxy: Proxy, tables: store.TableStore) -> None:
    with Connection(service.address) as connection:
        ann = (await asyncio.to_thread(new_table, connection)).people[0]
        seen = (await asyncio.to_thread(ann.view)).revision
        request_id = new_id()
        request = table_pb2.ConfirmRequest(
            table_id=ann.table_id, request_id=request_id, seat=1, expected_revision=seen
        )
        proxy.hang = True
        call = connection.tables.Confirm.future(
            request, metadata=bearer(ann.token), timeout=TIMEOUT
        )

        async def carried_out() -> bool:
            known = await tables.revision(ann.table_id)
            return known is not None and known[0] == seen + 1

        await eventually(carried_out)
        service.kill()
        proxy.hang = False
        assert refusal_of(await asyncio.to_thread(call.exception)).transient
        await asyncio.to_thread(service.start)
        answer = await asyncio.to_thread(
            ann.confirm, expected=seen, request_id=request_id, repeat=True
        )
        log = await asyncio.to_thread(ann.log)
    assert answer.replayed
    assert answer.revision == seen + 1 == log[-1].revision
    assert list(answer.lines) == list(log[-1].lines)
    assert gapless(log)


def test_a_second_service_on_the_same_data_is_refused(own: Service) -> None:
    valkey = own.valkey_pid
    ran = subprocess.run(
        [str(TABLETURN), "serve", "--data", str(own.data), "--port", "0", "--json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        env=environment(),
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert f"is used by another server (pid {own.pid})" in ran.stderr
    assert own.valkeys() == [valkey]
    with Connection(own.address) as connection:
        new_table(connection)


def test_kills_during_the_start_never_leave_two_valkeys(own: Service, tmp_path: Path) -> None:
    with Connection(own.address) as connection:
        table = new_table(connection)
        before = table.view()
        own.kill()
        for _ in range(5):
            with (own.home / "serve.log").open("ab") as log:
                starting = subprocess.Popen(
                    [str(TABLETURN), "serve", "--data", str(own.data), "--port", "0", "--json"],
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=environment(),
                )
            try:
                # At any moment of its start, or just when it is ready.
                starting.wait(0.3 + random.random() * 0.5)
            except subprocess.TimeoutExpired:
                starting.kill()
            starting.communicate()
            if random.random() < 0.5:
                for pid in own.valkeys():
                    os.kill(pid, signal.SIGKILL)
            assert len(own.valkeys()) <= 1
        own.start()
        assert len(own.valkeys()) == 1
        assert table.view() == before
