"""A long game: a takeback costs what it cost at the beginning (L5)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tableturn.v1.table_pb2 import ChangeKind
from tableturn_server.store import Connection as StoreConnection
from tests.e2e.calls import Code, Connection, refused
from tests.e2e.processes import Service
from tests.e2e.tables import Table, gapless, new_table

pytestmark = pytest.mark.e2e

IN_A_TURN = 4
TURNS = 520
"""The last of them is as far from a snapshot as can be."""
MOST_REPLAYED = 20


def play(table: Table, turns: int) -> None:
    """So many turns of four actions each, confirmed in the same call."""
    expected = table.revision
    for turn in range(turns):
        person = table.people[turn % 2]
        actions = [f"score {n} for seat {1 + turn % 2}" for n in range(1, IN_A_TURN + 1)]
        expected = person.act(*actions, confirm=True, expected=expected).revision


def shown(table: Table) -> bytes:
    """The game as all see it, and whose turn it is."""
    view = table.view()
    asked = [prompt.seat for prompt in view.prompts]
    return repr((view.game_view, view.turns, view.log_hash, asked)).encode()


async def keep_only_the_nearest(service: Service, table_id: str, turn: int) -> int:
    """Take everything out of the store that is older than what a takeback of this turn needs.

    Returns the number of turns from the snapshot to the last one.
    """
    async with StoreConnection(service.said["store"]) as connection:
        snaps, log = f"tt:{{{table_id}}}:snaps", f"tt:{{{table_id}}}:log"
        kept = max(at for at in map(int, await connection.call("HKEYS", snaps)) if at < turn)
        for at in map(int, await connection.call("HKEYS", snaps)):
            if at != kept:
                await connection.call("HDEL", snaps, at)
        entries: list[Any] = await connection.call("XRANGE", log, "-", "+")
        # Each turn is one change here: the last ones are those since the snapshot.
        first = entries[-(turn - kept)][0]
        await connection.call("XTRIM", log, "MINID", first)
        assert await connection.call("XLEN", log) == turn - kept
        return turn - kept


@pytest.mark.case("L5")
def test_a_takeback_after_2000_actions_needs_twenty_turns_at_most(
    own: Service, tmp_path: Path
) -> None:
    with Connection(own.address) as connection:
        table = new_table(connection)
        play(table, TURNS - 1)
        before = shown(table)
        play_one = table.asked()
        play_one.act("score 7 for seat 1", "score -7 for seat 2", confirm=True)
        assert table.view().turns == TURNS
        replayed = asyncio.run(keep_only_the_nearest(own, table.table_id, TURNS))
        assert replayed == MOST_REPLAYED
        own.kill()  # whatever it remembered is gone as well
        own.start()
        begin = time.monotonic()
        table.take_back()
        assert time.monotonic() - begin < 1
        assert shown(table) == before
        table.asked().act("score 1 for seat 1", confirm=True)
        assert table.view().turns == TURNS


@pytest.mark.case("L5", "L3")
def test_many_turns_are_taken_back_one_after_another(connection: Connection) -> None:
    table = new_table(connection)
    play(table, 22)
    before = []
    for _ in range(43):
        before.append(shown(table))
        table.asked().act("score 1 for seat 2", confirm=True)
    # Over two snapshots, back to where there was none yet.
    for wanted in reversed(before):
        table.take_back()
        assert shown(table) == wanted
    # Another way on, over snapshots of turns that don't stand any more.
    for _ in range(43):
        before.append(shown(table))
        table.asked().act("score -1 for seat 1", confirm=True)
    for wanted in before[:-6:-1]:
        table.take_back()
        assert shown(table) == wanted
    entries = table.log()
    assert gapless(entries)
    assert [e.kind for e in entries].count(ChangeKind.CHANGE_KIND_TAKEBACK) == 48
    with refused(Code.ABORTED, "STALE_REVISION"):
        table.people[0].confirm(expected=entries[-6].revision)
