"""A store that has lost changes, and a process that holds what is not true any more."""

import pytest

from tableturn.v1 import table_pb2
from tests.service.support import Caller, Running, refused, serving
from tests.service.test_watching import Watching
from tests.store.support import Server

pb = table_pb2
pytestmark = pytest.mark.e2e


class Backup:
    """A table as the store had it; putting it back is what a failover or a backup does."""

    def __init__(self, running: Running, table_id: str) -> None:
        self._call = running.store.connection.call
        self._keys = [f"tt:{{{table_id}}}:{part}" for part in ("table", "log", "snaps")]
        self._kept: list[bytes] = []

    async def take(self) -> None:
        self._kept = [await self._call("DUMP", key) for key in self._keys]

    async def put_back(self) -> None:
        for key, dump in zip(self._keys, self._kept, strict=True):
            await self._call("RESTORE", key, 0, dump, "REPLACE")


async def backup_of(running: Running, table_id: str) -> Backup:
    backup = Backup(running, table_id)
    await backup.take()
    return backup


@pytest.mark.case("S6", "S9")
async def test_nothing_is_decided_on_a_change_that_the_store_has_lost(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        _, (ann, _) = await one.a_game(options={"points": "on", "first_seat": "1"})
        there = two.caller(ann.token, ann.table_id)
        seen = ann.seen
        backup = await backup_of(one, ann.table_id)
        await ann.acts("score 5 for seat 1", at=seen)
        await backup.put_back()
        await there.acts("score 1 for seat 2", at=seen)
        # One holds another change of this very revision. It decides on the one that counts.
        await ann.acts("score 7 for seat 1", at=seen + 1)
        view = await there.looks(seat=1)
        staged = list(view.staged[0].texts)
        assert (view.revision, staged) == (seen + 2, ["score 1 for seat 2", "score 7 for seat 1"])
        log = await there.reads_log(after=seen)
        assert [list(line.texts) for line in log] == [[text] for text in staged]


@pytest.mark.case("S9")
async def test_no_refusal_rests_on_a_change_that_the_store_has_lost(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host, (ann, _) = await one.a_game()
        elsewhere = two.caller(host.token, host.table_id)
        seen = ann.seen
        backup = await backup_of(one, ann.table_id)
        await host.changes("PauseGame")
        await backup.put_back()
        await elsewhere.changes("LeaveSeat", seat=2)
        # One holds a paused game of this revision; it is not paused.
        await ann.confirms(at=seen)
        assert (await host.looks()).revision == seen + 2


@pytest.mark.parametrize("more", [1, 2])
async def test_watchers_hear_of_another_change_of_the_revision_they_know(
    valkey: Server, more: int
) -> None:
    async with (
        serving(valkey.url, watch_interval=0.2) as one,
        serving(valkey.url) as two,
    ):
        _, (ann, _) = await one.a_game(options={"points": "on", "first_seat": "1"})
        there = two.caller(ann.token, ann.table_id)
        watching = Watching(ann, seat=1)
        await watching.next()
        seen = ann.seen
        backup = await backup_of(one, ann.table_id)
        await ann.acts("score 5 for seat 1", at=seen)
        await watching.until(seen + 1)
        lost = watching.change_id
        await backup.put_back()
        for n in range(more):
            await there.acts("score 1 for seat 2", at=seen + n)
        while watching.table.staged[0].texts[0] != "score 1 for seat 2":
            await watching.next(within=5)
        assert watching.kinds[-1] == "snapshot"
        while watching.table.revision < seen + more:
            await watching.next(within=5)
        view = await there.looks(seat=1)
        assert (watching.revision, watching.change_id) == (view.revision, view.change_id)
        assert watching.change_id != lost
        watching.ends()


# -- takebacks in a process that holds an old table --------------------------------------------


async def turns(host: Caller, people: list[Caller], many: int) -> None:
    for _ in range(many):
        view = await host.looks()
        await people[view.prompts[0].seat - 1].confirms(at=view.revision)


@pytest.mark.case("S1")
@pytest.mark.parametrize("again", [1, 2, 3])
async def test_a_takeback_in_a_process_that_holds_an_old_table(valkey: Server, again: int) -> None:
    """Turn 20, of which a snapshot is kept, was taken back and played again elsewhere."""
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host, people = await one.a_game()
        elsewhere = two.caller(host.token, host.table_id)
        await turns(host, people, 21)
        assert (await elsewhere.looks()).turns == 21
        for _ in range(2):
            await host.changes("TakeBack", expected_revision=(await host.looks()).revision)
        await turns(host, people, again)
        now = (await host.looks()).revision
        done = await elsewhere.changes("TakeBack", expected_revision=now)
        assert done.revision == now + 1
        assert (await host.looks()).turns == 19 + again - 1
        # And so it is when the command itself is stale.
        with refused("STALE_REVISION"):
            await elsewhere.changes("TakeBack", expected_revision=1)


@pytest.mark.parametrize("part", ["snaps", "log"])
async def test_turns_that_are_not_kept_are_told_as_such(running: Running, part: str) -> None:
    host, people = await running.a_game()
    await turns(host, people, 3)
    await running.store.connection.call("DEL", f"tt:{{{host.table_id}}}:{part}")
    now = (await host.looks()).revision
    with refused("NOTHING_TO_TAKE_BACK", "FAILED_PRECONDITION", revision=now) as failure:
        await host.changes("TakeBack", expected_revision=now)
    assert "not kept" in failure.sentence
    with refused("STALE_REVISION"):
        await host.changes("TakeBack", expected_revision=1)
    with refused("BAD_TOKEN"):
        nobody = running.caller("the token of nobody, for tests", host.table_id)
        await nobody.changes("TakeBack", expected_revision=now)
