"""The names of the store's keys and channels.

All keys of a table share one hash tag, `tt:{ID}:...`, and so one slot of a cluster: one script
may touch them all. Indexes are sharded and can be rebuilt from the tables.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

INDEX_SHARDS = 16
"""How many sorted sets the index of tables is spread over. Changing it needs a rebuild."""

JOB_SHARDS = 4
"""How many sorted sets the jobs are spread over. Jobs of another number of shards are not found;
the sweeper makes them again."""

TABLES_PATTERN = "tt:{*}:table"

# Ids end up in keys, channels and log lines: no braces, blanks or glob characters.
_TABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_PRINCIPAL = 200
_CACHED = 4096


def check_table_id(table_id: str) -> str:
    """Return the id; a ValueError if it could not be the id of a table."""
    if not _TABLE_ID.fullmatch(table_id):
        raise ValueError("a table id has 1 to 64 letters, digits, '.', '_' or '-'")
    return table_id


def _of(table_id: str, name: str) -> str:
    """A key of a table: all of them share its hash tag, and so one slot."""
    return f"tt:{{{check_table_id(table_id)}}}:{name}"


@lru_cache(_CACHED)
def table(table_id: str) -> str:
    """The hash with the fields rev, change, blob and listed."""
    return _of(table_id, "table")


@lru_cache(_CACHED)
def log(table_id: str) -> str:
    """The stream of log entries, ids `REVISION-0`."""
    return _of(table_id, "log")


@lru_cache(_CACHED)
def snaps(table_id: str) -> str:
    """The hash of snapshots by turn."""
    return _of(table_id, "snaps")


@lru_cache(_CACHED)
def past(table_id: str) -> str:
    """The stream of the states that spectators shall see later, ids `STAMP-REVISION`."""
    return _of(table_id, "past")


@lru_cache(_CACHED)
def seen(table_id: str, principal: str) -> str:
    """The list of a principal's last requests with their outcomes."""
    if len(principal) > _LONGEST_PRINCIPAL:
        raise ValueError(f"a principal has at most {_LONGEST_PRINCIPAL} characters")
    return _of(table_id, f"seen:{principal}")


@lru_cache(_CACHED)
def panel(table_id: str, uid: int) -> str:
    """The hash of who holds a panel, which expires by itself."""
    return _of(table_id, f"panel:{uid}")


@lru_cache(_CACHED)
def here(table_id: str) -> str:
    """The hash of who watches the table."""
    return _of(table_id, "here")


@lru_cache(_CACHED)
def chat(table_id: str) -> str:
    """The stream of what was said, ids `NUMBER-0`."""
    return _of(table_id, "chat")


@lru_cache(_CACHED)
def chat_settings(table_id: str) -> str:
    """The hash of who may speak, and of the last line's number."""
    return _of(table_id, "chat:settings")


@lru_cache(_CACHED)
def said(table_id: str, principal: str) -> str:
    """The list of what a principal has said last, by its requests."""
    if len(principal) > _LONGEST_PRINCIPAL:
        raise ValueError(f"a principal has at most {_LONGEST_PRINCIPAL} characters")
    return _of(table_id, f"said:{principal}")


@lru_cache(_CACHED)
def seat_code(table_id: str, seat: int) -> str:
    """The last code with which a seat may be moved to another device."""
    return _of(table_id, f"code:{seat}")


@lru_cache(_CACHED)
def join_code(table_id: str) -> str:
    """The code with which people join the table."""
    return _of(table_id, "code")


def seat_codes(table_id: str, seat: int) -> str:
    """How many codes were given for a seat."""
    return _of(table_id, f"codes:{seat}")


def code(letters: str) -> str:
    """What a code is for. Whoever asks has checked that it looks like a code."""
    return f"tt:code:{{{letters}}}"


def code_user(letters: str) -> str:
    """Who is using a code that may be used once."""
    return f"{code(letters)}:user"


def tries(address: str) -> str:
    """How many wrong codes an address (a digest of it) has tried."""
    return f"tt:tries:{{{address}}}"


@lru_cache(_CACHED)
def wake(table_id: str) -> str:
    """The channel on which a new revision is announced."""
    return _of(table_id, "wake")


def id_of(key: str) -> str:
    """The table id in a table's key or channel."""
    return key[key.index("{") + 1 : key.index("}")]


def index(shard: int) -> str:
    """The sorted set of table ids of one shard; the score is the time of creation in ms."""
    return f"tt:index:{{{shard}}}"


def index_of(table_id: str) -> str:
    """The shard that lists a table: a stable hash, the same in every process and version."""
    return index(zlib.crc32(check_table_id(table_id).encode()) % INDEX_SHARDS)


def jobs(shard: int) -> tuple[str, str, str, str]:
    """The jobs of one shard: due times, counters, leases by table id; the last counter given."""
    stem = f"tt:jobs:{{{shard}}}"
    return stem, f"{stem}:counters", f"{stem}:leases", f"{stem}:last"


def jobs_of(table_id: str) -> tuple[str, str, str, str]:
    """The keys of the shard that has a table's job."""
    return jobs(zlib.crc32(check_table_id(table_id).encode()) % JOB_SHARDS)


SWEEP = "tt:jobs:{sweep}"
"""Who is looking for jobs that are missing, for the time that it may take."""

SWEPT = "tt:jobs:{sweep}:done"
"""When that was done last."""

ALIVE = "tt:{alive}"
"""When any process gave a sign of life last."""

OUTAGES = "tt:{alive}:outages"
"""The last times without any."""
