"""What the service's own part of a committed action is made of, piece by piece in one process."""

from __future__ import annotations

import random
import timeit
from functools import lru_cache

from benchmarks import measure
from benchmarks.workload import Ply, bound, play
from tableturn.v1 import table_pb2
from tableturn_server.service import convert
from tableturn_server.tables import commands, log, making, state
from tableturn_server.tables.authority import Change, decide

TOKEN = b"t" * 32
GAME, SEATS = "eastern-wonders", 3
SEED = bytes(range(16))


@lru_cache
def game() -> tuple[list[tuple[state.Table, commands.Act]], list[Change]]:
    """A whole game as pairs of table and command, and the changes that they make."""
    wish = making.Wish(
        table_id="bench", game=GAME, seats=SEATS, options={}, host=TOKEN, seed=SEED,
        start_when_full=True,
    )  # fmt: skip
    table, _, _ = making.make(wish, drawn_seed=SEED, now=0)
    by = commands.By(token=TOKEN)
    for _ in range(SEATS):
        change = decide(table, commands.TakeSeat(by=by, name="Ann", token=TOKEN), 0)
        assert change is not None
        table = change.table
    pairs, changes = [], []
    for ply in play(bound(GAME, SEATS), SEED, random.Random(1), most=100_000):
        command = _command(by, table, ply)
        change = decide(table, command, 0)
        assert change is not None
        pairs.append((table, command))
        changes.append(change)
        table = change.table
    return pairs, changes


def _command(by: commands.By, table: state.Table, ply: Ply) -> commands.Act:
    actions = () if ply.action is None else (ply.action,)
    return commands.Act(
        by=by,
        seat=ply.seat,
        expected_revision=table.revision,
        actions=actions,
        confirm=ply.confirm,
    )


def sizes() -> tuple[int, int]:
    """The mean number of bytes of a table and of a log entry in the store."""
    _, changes = game()
    blobs = [len(state.encode(change.table)) for change in changes]
    entries = [len(log.encode_entry(change.entry)) for change in changes]
    return sum(blobs) // len(blobs), sum(entries) // len(entries)


def main() -> None:
    """Time each part over a whole game."""
    pairs, changes = game()
    requests = [
        table_pb2.ActRequest(
            table_id="bench",
            request_id="0123456789abcdef",
            seat=command.seat,
            expected_revision=command.expected_revision,
            actions=[convert.action(action) for action in command.actions],
            confirm=command.confirm,
        ).SerializeToString()
        for _, command in pairs
    ]
    messages = [table_pb2.ActRequest.FromString(request) for request in requests]
    blobs = [state.encode(change.table) for change in changes]
    rows: list[list[object]] = [["part", "us"]]

    def part(name: str, work: object) -> None:
        assert callable(work)
        seconds = min(timeit.repeat(work, number=1, repeat=7))
        rows.append([name, f"{seconds / len(pairs) * 1e6:.1f}"])

    part("read the request", lambda: [table_pb2.ActRequest.FromString(r) for r in requests])
    part("actions to rules", lambda: [convert.read_actions(m.actions) for m in messages])
    part("decide", lambda: [decide(table, command, 0) for table, command in pairs])
    part("write the table", lambda: [state.encode(change.table) for change in changes])
    part("write the entry", lambda: [log.encode_entry(change.entry) for change in changes])
    part("(cold: read a table)", lambda: [state.decode(blob) for blob in blobs])
    blob, entry = sizes()
    measure.show(f"Parts, mean of {len(pairs)} actions; table {blob} B, entry {entry} B", rows)


if __name__ == "__main__":
    main()
