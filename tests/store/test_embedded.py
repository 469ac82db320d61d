"""The embedded Valkey: never two, never lost, always there again."""

import asyncio
import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tableturn_server.store import (
    Committed,
    Conflict,
    Connection,
    EmbeddedValkey,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
    TableStore,
    open_store,
)
from tableturn_server.store import embedded as embedded_module
from tableturn_server.store.process import Process
from tests.store.support import at, binary, change, eventually

pytestmark = pytest.mark.e2e


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory with a path that is short enough for a socket."""
    root = Path(tempfile.mkdtemp(prefix="tt-data-"))
    yield root
    shutil.rmtree(root, ignore_errors=True)


def embedded(data: Path, *, reserve_bytes: int = 0) -> EmbeddedValkey:
    return EmbeddedValkey(data, binary(), reserve_bytes=reserve_bytes)


def pid_of(store: EmbeddedValkey) -> int:
    assert store.pid is not None
    return store.pid


async def _another_pid(store: EmbeddedValkey, pid: int) -> None:
    await eventually(lambda: store.pid not in (None, pid))


async def _more_than(count: Callable[[], int], limit: int) -> None:
    await eventually(lambda: count() > limit)


async def test_it_starts_keeps_and_ends(data: Path) -> None:
    store = embedded(data)
    async with store, Connection(store.url) as connection:
        pid = pid_of(store)
        tables = TableStore(connection)
        assert await tables.create("a", None, change(1), created_ms=1) == Committed(1)
        # A terminal's Ctrl-C goes to the service's session only.
        assert os.getsid(pid) != os.getsid(0)
        assert store.dir.socket.stat().st_mode & 0o077 == 0
    assert not Process(pid).alive()
    async with embedded(data) as again, Connection(again.url) as connection:
        assert await TableStore(connection).revision("a") == (1, "change-1")
        assert not again.adopted


async def test_a_second_server_on_the_same_data_is_refused(data: Path) -> None:
    async with embedded(data) as first:
        with pytest.raises(StoreRefused, match=rf"another server \(pid {os.getpid()}\)"):
            await embedded(data).start()
        async with Connection(first.url) as connection:
            assert await connection.call("PING") == b"PONG"
    async with embedded(data):
        pass


@pytest.mark.parametrize("runtime_dir", [True, False])
async def test_a_long_path_gets_a_short_socket(
    data: Path, monkeypatch: pytest.MonkeyPatch, runtime_dir: bool
) -> None:
    deep = data / ("d" * 60) / ("e" * 60)
    runtime = data / "run"
    runtime.mkdir()
    if runtime_dir:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    else:
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        monkeypatch.setattr(tempfile, "tempdir", str(runtime))
    async with embedded(deep) as store, Connection(store.url) as connection:
        assert store.dir.socket.parent.parent == runtime
        assert store.dir.socket.parent.stat().st_mode & 0o777 == 0o700
        assert await connection.call("PING") == b"PONG"
        first = store.dir.socket
    # A directory that somebody else could have made is not used.
    first.parent.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(runtime))
    async with embedded(deep) as store:
        assert store.dir.socket.parent.parent != runtime
    store.dir.socket.parent.rmdir()


@pytest.mark.case("S3", "D4")
async def test_valkey_is_killed_and_no_acknowledged_commit_is_lost(data: Path) -> None:
    async with open_store(data=data, binary=binary().path) as store:
        assert store.embedded is not None
        assert store.problems == []  # every write is synced before it is answered
        tables = store.tables
        await tables.create("a", None, change(1), created_ms=1)
        told = 1

        async def play(until: int) -> None:
            """Commit up to a revision; after an unclear end, look what is there."""
            nonlocal told
            while told < until:
                try:
                    answer = await tables.commit("a", at(told), None, change(told + 1))
                except StoreUnavailable:
                    continue
                if isinstance(answer, Conflict):
                    # The one commit whose answer was lost may have been made, no other.
                    assert answer.stored.revision == told + 1
                    told += 1
                else:
                    assert answer == Committed(told + 1)
                    told += 1

        for _ in range(3):
            pid = pid_of(store.embedded)
            playing = asyncio.create_task(play(told + 400))
            await _more_than(lambda: told, told + 150)
            os.kill(pid, signal.SIGKILL)
            await playing
            assert pid_of(store.embedded) != pid
        records = await tables.log("a", 0, 10_000)
        assert [record.revision for record in records] == list(range(1, told + 1))


@pytest.mark.parametrize("cut", [1, 30])
async def test_a_torn_end_of_the_file_is_cut_off(data: Path, cut: int) -> None:
    async with embedded(data) as store, Connection(store.url) as connection:
        tables = TableStore(connection)
        await tables.create("a", None, change(1), created_ms=1)
        for n in range(1, 10):
            await tables.commit("a", at(n), None, change(n + 1))
    (file,) = (data / "valkey" / "appendonlydir").glob("*.incr.aof")
    os.truncate(file, file.stat().st_size - cut)
    async with embedded(data) as store, Connection(store.url) as connection:
        tables = TableStore(connection)
        # The last commit is missing as a whole: state and log agree.
        assert await tables.revision("a") == (9, "change-9")
        assert (await tables.log_tail("a", 1))[0].revision == 9
        assert await tables.commit("a", at(9), None, change(10)) == Committed(10)


SERVICE = """
import asyncio, pathlib, sys
from tableturn_server.store import EmbeddedValkey
from tests.store.support import binary

async def main():
    store = EmbeddedValkey(pathlib.Path(sys.argv[1]), binary())
    await store.start()
    print(store.pid, flush=True)
    if sys.argv[2] == "raise":
        raise SystemExit("nobody calls stop()")
    await asyncio.Event().wait()

asyncio.run(main())
"""


@contextlib.contextmanager
def service(data: Path, end: str = "wait") -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A service in a process of its own, and the pid of its Valkey."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVICE, str(data), end],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_the_orphan_of_a_killed_service_is_adopted(data: Path) -> None:
    with service(data) as (process, pid):
        process.kill()
        process.wait()
    assert Process(pid).alive()
    async with embedded(data) as store, Connection(store.url) as connection:
        assert store.adopted
        assert store.pid == pid
        # It is looked after as our own.
        await connection.call("SET", "kept", "yes")
        os.kill(pid, signal.SIGKILL)
        await _another_pid(store, pid)

        async def kept() -> bool:
            with contextlib.suppress(StoreUnavailable):
                return bool(await connection.call("GET", "kept") == b"yes")
            return False

        await eventually(kept)
        last = pid_of(store)
    assert not Process(last).alive()


async def test_an_orphan_without_pid_file_is_found_by_its_socket(data: Path) -> None:
    with service(data) as (process, pid):
        process.kill()
        process.wait()
    (data / "valkey.pid").unlink()
    async with embedded(data) as store:
        assert store.adopted
        assert store.pid == pid
    assert not Process(pid).alive()


async def test_an_orphan_whose_writes_were_stopped_may_write_again(data: Path) -> None:
    """The killed service had found the disk nearly full; by now there is room."""
    with service(data) as (process, pid):
        process.kill()
        process.wait()
    async with Connection(embedded(data).url) as connection:
        await connection.call("CONFIG", "SET", "maxmemory", "1")
    async with embedded(data) as store, Connection(store.url) as connection:
        assert store.pid == pid
        assert await connection.call("SET", "a", "b") == b"OK"


async def test_an_orphan_that_hangs_is_ended(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_module, "_SILENCE", 0.2)
    monkeypatch.setattr(embedded_module, "_STOP_TIMEOUT", 0.2)
    with service(data) as (process, pid):
        process.kill()
        process.wait()
    os.kill(pid, signal.SIGSTOP)
    async with embedded(data) as store:
        assert not store.adopted
        assert not Process(pid).alive()
        monkeypatch.setattr(embedded_module, "_STOP_TIMEOUT", 10.0)


async def test_an_orphan_of_another_version_is_ended_first(data: Path) -> None:
    with service(data) as (process, pid):
        process.kill()
        process.wait()
    newer = dataclasses.replace(binary(), version=(99, 0, 0))
    async with EmbeddedValkey(data, newer, reserve_bytes=0) as store:
        assert not store.adopted
        assert not Process(pid).alive()
        assert store.pid != pid


async def test_an_old_pid_file_is_nobody(data: Path) -> None:
    """After a reboot its number may be anybody's: here it is this very test's."""
    (data / "valkey.pid").write_text(f"{os.getpid()}\n")
    async with embedded(data) as store:
        assert not store.adopted
        assert store.pid != os.getpid()


async def test_valkey_ends_with_a_service_that_ends_by_an_error(data: Path) -> None:
    with service(data, "raise") as (process, pid):
        await eventually(lambda: process.poll() is not None)
        await eventually(lambda: not Process(pid).alive())


async def test_data_of_a_newer_version_are_a_clear_error(data: Path) -> None:
    async with embedded(data):
        pass
    (base,) = (data / "valkey" / "appendonlydir").glob("*.base.*")
    base.write_bytes(b"REDIS9999" + b"x" * 100)
    (data / "written-by").write_text("Valkey 99.1.0\n")
    begin = time.monotonic()
    with pytest.raises(StoreRefused, match=r"Valkey 99\.1\.0 has written\. Start that version"):
        await embedded(data).start()
    assert time.monotonic() - begin < 5
    # The directory is free again, and nothing was overwritten.
    assert base.read_bytes().startswith(b"REDIS9999")
    assert (data / "written-by").read_text() == "Valkey 99.1.0\n"


async def test_damaged_data_are_a_clear_error(data: Path) -> None:
    async with embedded(data) as store, Connection(store.url) as connection:
        for n in range(20):
            await connection.call("SET", f"key{n}", "x" * 100)
    (file,) = (data / "valkey" / "appendonlydir").glob("*.incr.aof")
    content = bytearray(file.read_bytes())
    content[300:340] = b"?" * 40
    file.write_bytes(content)
    with pytest.raises(StoreRefused, match=r"damaged, .*Make a copy"):
        await embedded(data).start()


async def test_a_program_that_can_never_start_says_so(data: Path) -> None:
    (data / "valkey").write_text("not a directory")
    with pytest.raises(StoreRefused, match="can't be used"):
        await embedded(data).start()


async def test_a_server_that_keeps_dying_is_tried_again(data: Path) -> None:
    store = embedded(data)
    async with store, Connection(store.url) as connection:
        for _ in range(4):
            pid = pid_of(store)
            os.kill(pid, signal.SIGKILL)
            await _another_pid(store, pid)

        async def answers() -> bool:
            with contextlib.suppress(StoreUnavailable):
                return bool(await connection.call("PING") == b"PONG")
            return False

        await eventually(answers)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 8 MB, which is really full when it is full."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or mount is None or umount is None:
        pytest.skip("a small disk of its own needs root")
    root = Path(tempfile.mkdtemp(prefix="tt-disk-"))
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=8m", "none", str(root)], check=False, capture_output=True
    )
    if done.returncode:
        root.rmdir()
        pytest.skip(f"a small disk can't be mounted here: {done.stderr.decode()}")
    yield root
    subprocess.run([umount, "-l", str(root)], check=True)
    root.rmdir()


async def _fill(tables: TableStore) -> int:
    """Commit until the store refuses; return the last acknowledged revision."""
    told = 1
    write = dataclasses.replace(change(1), entry=os.urandom(20_000))
    while told < 2000:
        with contextlib.suppress(StoreUnavailable):
            assert await tables.commit("a", (told, "change-1"), None, write) == Committed(told + 1)
            told += 1
            continue
        return told
    pytest.fail("the disk is never full")


async def test_a_nearly_full_disk_refuses_writes_and_lets_read(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    store = embedded(small_disk, reserve_bytes=3 << 20)
    async with store, Connection(store.url, explain=store.explain) as connection:
        tables = TableStore(connection)
        await tables.create("a", None, change(1), created_ms=1)
        pid = store.pid
        ballast.write_bytes(b"x" * (6 << 20))

        async def refused() -> bool:
            with contextlib.suppress(StoreFull):
                revision = await tables.revision("a")
                assert revision is not None
                await tables.commit("a", revision, None, change(2))
                return False
            return True

        await eventually(refused)
        assert await tables.load("a") is not None
        assert store.pid == pid
        ballast.unlink()

        async def accepted() -> bool:
            return not await refused()

        await eventually(accepted)
        assert store.pid == pid


async def test_a_really_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path) -> None:
    """Without a reserve the write itself fails: Valkey ends, and is started again."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (4 << 20))
    store = embedded(small_disk)
    async with store, Connection(store.url, explain=store.explain) as connection:
        tables = TableStore(connection)
        await tables.create("a", None, change(1), created_ms=1)
        told = await _fill(tables)
        assert told > 20

        async def full() -> bool:
            try:
                await tables.commit(
                    "a",
                    (told, "change-1"),
                    None,
                    dataclasses.replace(change(2), entry=os.urandom(1 << 20)),
                )
            except StoreUnavailable as error:
                return isinstance(error, StoreFull) and "make room" in error.sentence
            pytest.fail("there was room")

        await eventually(full, within=30)
        ballast.unlink()

        async def accepted() -> bool:
            with contextlib.suppress(StoreUnavailable):
                return isinstance(
                    await tables.commit("a", (told, "change-1"), None, change(2)),
                    Committed | Conflict,
                )
            return False

        await eventually(accepted, within=30)
        records = await tables.log("a", 0, 10_000)
        assert [record.revision for record in records][:told] == list(range(1, told + 1))
