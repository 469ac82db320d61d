"""Is this external store fit to keep games? Asked once, at the start of the service.

A store that may forget what it has acknowledged, or throws tables away when memory runs short,
is refused with the sentence that says how to put it right.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass

from .binary import OLDEST
from .errors import StoreError, StoreUnavailable
from .info import parse_info, version_of
from .resp import Connection

LARGEST_SKEW = 1.0
"""Seconds that our clock and the store's may differ: clocks of games are compared with both."""


class Severity(enum.Enum):
    """An error forbids to serve with this store; a warning is printed."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a store: a code for programs, a sentence with the cure."""

    severity: Severity
    code: str
    sentence: str


async def check_store(
    connection: Connection, *, clock: Callable[[], float] = time.time
) -> list[Problem]:
    """Return what is wrong with the store, errors first. `clock` is our Unix time in seconds.

    Raises StoreUnavailable or StoreRefused if it can't be asked at all.
    """
    info = parse_info(await connection.call("INFO", "everything"))
    problems = [
        *_version(info),
        *_kind(info),
        *_policy(await _setting(connection, "maxmemory-policy"), info),
        *_durability(info, await _setting(connection, "appendfsync")),
        *await _clock(connection, clock),
        *await _permissions(connection),
    ]
    return sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)


async def _setting(connection: Connection, name: str) -> str | None:
    """Return a setting, or None where CONFIG is forbidden (most hosted stores)."""
    try:
        reply = await connection.call("CONFIG", "GET", name)
    except StoreUnavailable:
        raise
    except StoreError:
        return None
    value = reply.get(name.encode()) if isinstance(reply, dict) else None
    return None if value is None else bytes(value).decode()


def _error(code: str, sentence: str) -> Problem:
    return Problem(Severity.ERROR, code, sentence)


def _warning(code: str, sentence: str) -> Problem:
    return Problem(Severity.WARNING, code, sentence)


def _version(info: dict[str, str]) -> list[Problem]:
    version = version_of(info)
    if version is None:
        return [_warning("version", "The store does not tell its version; 7.0 is the oldest.")]
    if version < OLDEST:
        said = ".".join(map(str, version))
        return [_error("version", f"The store is version {said}: upgrade it to 7.0 or newer.")]
    return []


def _kind(info: dict[str, str]) -> list[Problem]:
    problems = []
    if info.get("cluster_enabled") == "1":
        problems.append(
            _error("cluster", "The store is a cluster, which is not supported yet: use one node.")
        )
    if info.get("role") == "slave":
        problems.append(
            _error("replica", "The store is a read-only replica: give the URL of its primary.")
        )
    return problems


def _policy(setting: str | None, info: dict[str, str]) -> list[Problem]:
    policy = setting or info.get("maxmemory_policy")
    if policy is None:
        return [
            _warning(
                "policy",
                "Could not check maxmemory-policy: make sure that it is noeviction, or tables"
                " disappear when memory runs short.",
            )
        ]
    if policy != "noeviction":
        return [
            _error(
                "policy",
                f"The store may throw tables away (maxmemory-policy {policy}):"
                " set maxmemory-policy noeviction.",
            )
        ]
    return []


def _durability(info: dict[str, str], fsync: str | None) -> list[Problem]:
    aof = info.get("aof_enabled")
    if aof == "0":
        return [
            _error(
                "persistence",
                "The store forgets accepted turns when it crashes (no append-only file):"
                " set appendonly yes and appendfsync always.",
            )
        ]
    if aof is None or fsync is None:
        return [
            _warning(
                "persistence",
                "Could not check appendfsync: make sure that it is always, or the last accepted"
                " turns may be lost in a crash.",
            )
        ]
    if fsync != "always":
        lost = "a second or two of" if fsync == "everysec" else "many"
        return [
            _warning(
                "persistence",
                f"A crash of the store may lose {lost} accepted turns (appendfsync {fsync}):"
                " set appendfsync always.",
            )
        ]
    return []


async def _clock(connection: Connection, clock: Callable[[], float]) -> list[Problem]:
    before = clock()
    seconds, micros = await connection.call("TIME")
    after = clock()
    there = int(seconds) + int(micros) / 1e6
    # The store read its clock somewhere in between: only what that can't explain is skew.
    skew = max(before - there, there - after, 0.0)
    if skew <= LARGEST_SKEW:
        return []
    return [
        _error(
            "clock",
            f"The clocks of this machine and the store differ by {skew:.1f} s:"
            " synchronise both (NTP).",
        )
    ]


async def _permissions(connection: Connection) -> list[Problem]:
    """Try what the service does all day; a user's rights (ACL) may not include it."""
    problems = []
    probe = "tt:{check}:"
    keys = [probe + name for name in ("table", "log", "snaps", "seen:check")]
    body = "redis.call('XLEN', KEYS[2]); return redis.call('LLEN', KEYS[4])"
    tries: list[tuple[str, ...]] = [
        ("EVAL", body, "4", *keys),
        ("DEL", *keys),
        ("ZCARD", "tt:index:{0}"),
    ]
    for command in tries:
        try:
            await connection.call(*command)
        except StoreUnavailable:
            # A replica or a full store refuses to write: that is said elsewhere.
            continue
        except StoreError as error:
            problems.append(
                _error(
                    "permissions",
                    f"The store's user may not do what is needed ({error.sentence}):"
                    " grant it `~tt:* &tt:* +@all -@admin`.",
                )
            )
            break
    try:
        await connection.call("PUBLISH", probe + "wake", "0")
    except StoreUnavailable:
        pass
    except StoreError:
        problems.append(
            _warning(
                "channels",
                "The store's user may not use channels, so changes made by other processes are"
                " seen only every few seconds: grant it `&tt:*`.",
            )
        )
    return problems
