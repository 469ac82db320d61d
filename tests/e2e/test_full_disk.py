"""A full disk under the store: refused with a reason, nothing lost, and well again with room."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.e2e.calls import Code, Connection, Refusal, new_id, refusal_of
from tests.e2e.following import Follower, following
from tests.e2e.processes import TABLETURN, Service, environment, until
from tests.e2e.tables import Table, gapless, new_table
from tests.support.wanted import missing

pytestmark = pytest.mark.e2e

SIZE = 100 << 20
"""The service refuses changes below 32 MB of free space, and takes them again above 64."""


@pytest.fixture
def disk() -> Iterator[Path]:
    """A small disk of its own."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or mount is None or umount is None:
        missing("a small disk of its own needs root")
    root = Path(tempfile.mkdtemp(prefix="tt-disk-"))
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(root)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        root.rmdir()
        missing(f"a small disk can't be mounted here: {done.stderr}")
    try:
        yield root
    finally:
        subprocess.run([umount, "-l", str(root)], check=True)
        root.rmdir()


@pytest.fixture
def on_disk(disk: Path, tmp_path: Path) -> Iterator[Service]:
    """A service with its tables on the small disk."""
    service = Service(tmp_path)
    service.data = disk / "data"
    try:
        service.start()
        yield service
    finally:
        service.clean_up()
    service.check_log()


def fill(disk: Path, left: int) -> Path:
    """A file that leaves so many bytes free; with 0 not a single one."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        for _ in range(max(0, free - left) >> 20):
            file.write(b"x" * (1 << 20))
        while left == 0:
            file.write(b"x" * 4096)
    return ballast


def refusal(call: Any) -> Refusal | None:
    """Why a call was refused; None if it wasn't."""
    try:
        call()
    except grpc.RpcError as error:
        return refusal_of(error)
    return None


def click(person: Table, expected: int, reasons: set[str]) -> int:
    """A turn, repeated as it was until it is done; notes why it had to be."""
    request_id = new_id()
    while True:
        try:
            return person.act(
                "score 1 for seat 1", confirm=True, expected=expected, request_id=request_id
            ).revision
        except grpc.RpcError as error:
            why = refusal_of(error)
            if not why.transient:
                raise
            reasons.add(why.reason)
        time.sleep(0.01)


@pytest.mark.case("D4")
async def test_a_nearly_full_disk_takes_no_changes_and_lets_look(
    on_disk: Service, disk: Path
) -> None:
    valkey = on_disk.valkey_pid
    with Connection(on_disk.address) as connection:
        table = await asyncio.to_thread(new_table, connection)
        ann = table.people[0]
        seen = (await asyncio.to_thread(ann.view)).revision
        watcher = Follower(on_disk.address, table.table_id)
        async with following(watcher):
            await watcher.reaches(seen)
            ballast = await asyncio.to_thread(fill, disk, 20 << 20)

            def full() -> bool:
                """A click that is refused; those that were not are undone."""
                told = refusal(lambda: ann.act("score 1 for seat 1")) or refusal(ann.undo)
                if told is None:
                    return False
                assert (told.code, told.reason) == (Code.UNAVAILABLE, "STORE_FULL")
                assert "room" in told.sentence
                return True

            await asyncio.to_thread(until, full)
            # Everybody may look on, and every change is refused.
            before = await asyncio.to_thread(ann.state)
            seen = (await asyncio.to_thread(ann.view)).revision
            assert ann.actions().choices
            for call in (
                lambda: ann.confirm(expected=seen, request_id="done"),
                lambda: table.take_seat("Eve"),
                lambda: new_table(connection),
            ):
                told = await asyncio.to_thread(refusal, call)
                assert told is not None
                assert told.reason in ("STORE_FULL", "TABLE_FULL"), told
            assert await asyncio.to_thread(ann.state) == before
            assert on_disk.valkey_pid == valkey
            ballast.unlink()
            answer = await asyncio.to_thread(
                ann.confirm, expected=seen, request_id="done", repeat=True
            )
            assert answer.revision == seen + 1
            await watcher.reaches(seen + 1)
    assert watcher.faults == []
    assert watcher.snapshots == 1
    assert on_disk.valkey_pid == valkey


def test_a_disk_that_fills_up_in_the_middle_of_a_game_loses_nothing(
    on_disk: Service, disk: Path
) -> None:
    """Faster than anybody could look: Valkey can't write, ends, and is started again."""
    with Connection(on_disk.address) as connection:
        table = new_table(connection)
        told: list[int] = []
        reasons: set[str] = set()
        stop = threading.Event()

        def play() -> None:
            with Connection(on_disk.address) as mine:
                people = [person.through(mine) for person in table.people]
                expected = table.through(mine).revision
                while not stop.is_set():
                    person = people[len(told) % 2]
                    expected = click(person, expected, reasons)
                    told.append(expected)

        playing = threading.Thread(target=play)
        playing.start()
        try:
            until(lambda: len(told) > 20)
            ballast = fill(disk, 0)
            until(lambda: "STORE_FULL" in reasons)
            assert table.view().revision >= told[-1]
            ballast.unlink()
            before = len(told)
            until(lambda: len(told) > before + 20, within=30)
        finally:
            stop.set()
            playing.join(30)
        first = table.log()[0].revision + 3
        assert told == list(range(first, first + len(told)))
        assert gapless(table.log())
        assert table.revision == told[-1]
        points = table.view().game_view.players[0].points
        assert points == len(told)
        assert len(on_disk.valkeys()) == 1


def test_a_service_on_a_nearly_full_disk_starts_and_lets_look(on_disk: Service, disk: Path) -> None:
    with Connection(on_disk.address) as connection:
        table = new_table(connection)
        before = table.view()
        assert on_disk.terminate() == 0
        ballast = fill(disk, 16 << 20)
        on_disk.start()
        assert table.view() == before
        told = refusal(table.people[0].confirm)
        assert told is not None
        assert told.reason == "STORE_FULL"
        ballast.unlink()
        table.people[0].confirm(expected=before.revision, repeat=True)


def test_a_service_on_a_disk_without_any_room_says_so(on_disk: Service, disk: Path) -> None:
    with Connection(on_disk.address) as connection:
        table = new_table(connection)
        before = table.view()
        assert on_disk.terminate() == 0
        ballast = fill(disk, 0)
        ran = subprocess.run(
            [str(TABLETURN), "serve", "--data", str(on_disk.data), "--port", "0"],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment(),
        )
        assert ran.returncode == 1, ran
        assert "No space left" in ran.stderr or "full" in ran.stderr
        assert "fault of this program" not in ran.stderr
        assert on_disk.valkeys() == []
        ballast.unlink()
        on_disk.start()
        assert table.view() == before


def test_a_log_that_can_not_be_written_stops_nobody(disk: Path, tmp_path: Path) -> None:
    """The service's own log on the full disk: it says less, and serves on."""
    service = Service(disk)
    service.data = tmp_path / "data"
    try:
        service.start()
        with Connection(service.address) as connection:
            table = new_table(connection)
            ballast = fill(disk, 0)
            for turn in range(4):
                person = table.people[turn % 2]
                assert refusal(person.confirm) is None
                with pytest.raises(grpc.RpcError) as raised:
                    person.confirm(expected=1)
                assert refusal_of(raised.value).reason == "STALE_REVISION"
            ballast.unlink()
            assert refusal(table.people[0].confirm) is None
    finally:
        service.clean_up()
