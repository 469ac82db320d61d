"""What is compiled when it is needed: who waits, who gives up, and folders that can't be used."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tableturn_bridge.emulated import building
from tableturn_bridge.emulated.building import Asker, NotBuilt, Stopped, Tools, made
from tests.support.wanted import missing

MAKE = Tools(("make",), ("true",), ())
MAKEFILE = """
$(BUILD)/it: source
\ttouch $(BUILD)/began
\tsh -c "$(HOW)"
\tcp source $@
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Sources of which a file can be made by copying, in a folder `thing`."""
    if shutil.which("make") is None:
        missing("there is no make")
    folder = tmp_path / "sources" / "thing"
    folder.mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "source").write_text("1")
    return tmp_path


def make(tree: Path, how: str = "true", asker: Asker | None = None) -> Path:
    return made(
        "thing",
        "it",
        MAKE,
        f"HOW={how}",
        sources=tree / "sources",
        built=tree / "built",
        asker=asker,
    )


@contextmanager
def somebody_compiles(tree: Path) -> Iterator[None]:
    folder = tree / "built" / "thing"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_it_is_made_when_it_has_to_be_and_that_is_told(tree: Path) -> None:
    told: list[str] = []
    asker = Asker(told.append)
    assert make(tree, asker=asker).read_text() == "1"
    assert told == ["compiling the thing ..."]
    make(tree, asker=asker)
    assert len(told) == 1, "there was nothing to do"
    newer = time.time() + 10
    (tree / "sources/thing/source").write_text("2")
    os.utime(tree / "sources/thing/source", (newer, newer))
    assert make(tree, asker=asker).read_text() == "2"
    assert len(told) == 2


def test_without_sources_nothing_is_said_to_be_compiled(tree: Path) -> None:
    told: list[str] = []
    shutil.rmtree(tree / "sources")
    with pytest.raises(building.NoSources):
        make(tree, asker=Asker(told.append))
    assert told == []


def test_what_make_says_is_told(tree: Path) -> None:
    with pytest.raises(NotBuilt, match="the thing can't be compiled:\nbroken\n"):
        make(tree, "echo broken; false")


def test_another_process_that_compiles_is_waited_for_and_it_is_said_once(tree: Path) -> None:
    told: list[str] = []
    asker = Asker(told.append)
    with somebody_compiles(tree):
        waiting = threading.Thread(target=make, args=(tree,), kwargs={"asker": asker})
        waiting.start()
        while not told:
            time.sleep(0.01)
        assert told == ["another process compiles the thing; waiting for it ..."]
    waiting.join()
    assert told[1:] == ["compiling the thing ..."]


def test_who_gives_up_waits_no_more(tree: Path) -> None:
    asker = Asker(lambda _: asker.stop.set())
    with somebody_compiles(tree), pytest.raises(Stopped):
        make(tree, asker=asker)


def test_who_gives_up_ends_make(tree: Path) -> None:
    asker = Asker(lambda _: asker.stop.set())
    with pytest.raises(Stopped):
        make(tree, "sleep 600", asker=asker)
    assert not (tree / "built/thing/it").exists()


async def test_a_task_that_is_cancelled_ends_it(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "SOURCES", tree / "sources")
    monkeypatch.setattr(building, "BUILT", tree / "built")
    (tree / "sources/thing").rename(tree / "sources/emulator")
    monkeypatch.setattr(building, "SIMAVR", MAKE)
    (tree / "built/emulator").mkdir(parents=True)
    with (tree / "built/emulator/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = asyncio.Event()
        loop = asyncio.get_running_loop()

        def tell(line: str) -> None:
            loop.call_soon_threadsafe(told.set)

        task = asyncio.create_task(building.needed(2, elf=tree, tell=tell))
        await told.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await loop.shutdown_default_executor()  # as at the end of a program


def test_the_lock_lasts_as_long_as_make(tree: Path) -> None:
    """Even if whoever has started it was killed."""
    code = (
        "from pathlib import Path; from tests.bridge.emulated.test_building import make; "
        f"make(Path({str(tree)!r}), 'while ! test -e go; do sleep 0.05; done')"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while not (tree / "built/thing/began").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        (tree / "sources/thing/go").touch()

    make(tree, asker=Asker(tell))
    assert told == ["another process compiles the thing; waiting for it ..."]


@pytest.mark.parametrize("kind", ["file", "dangling", "lock"])
def test_a_folder_that_can_not_be_used_is_named(tree: Path, kind: str) -> None:
    built = tree / "built"
    if kind == "file":
        built.write_text("mine")
    elif kind == "dangling":
        built.symlink_to("/no/such/folder")
    else:
        (built / "thing" / ".lock").mkdir(parents=True)
    with pytest.raises(NotBuilt, match=f"the folder {built}/thing can't be used: [A-Z]"):
        make(tree)


def test_what_is_up_to_date_is_used_where_nothing_can_be_written(tree: Path) -> None:
    made = make(tree)
    (tree / "built/thing/.lock").unlink()
    (tree / "built/thing/.lock").mkdir()
    assert make(tree) == made
    newer = time.time() + 10
    os.utime(tree / "sources/thing/source", (newer, newer))
    with pytest.raises(NotBuilt, match="can't be used"):
        make(tree)
