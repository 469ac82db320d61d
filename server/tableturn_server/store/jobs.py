"""Jobs: "look at this table at that time", for whichever process comes first.

A job is announced before the change that makes it necessary, so that none is missing however a
process ends; one too many costs a look. A job that is claimed belongs to one process for a
while, its lease. The lease only saves double work: that each turn is taken once is the matter of
the table's own commit. Each announcement gives the job a counter that no other ever had, and
only who has claimed that very one can settle it: an announcement between claim and settling is
never lost. All times are the caller's, in milliseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import randrange

from . import keys
from .resp import Argument, Connection, Script

# KEYS of all: due times, counters, leases, last counter. ARGV[1] of most: the table's id.

_ANNOUNCE = """
-- ARGV: table, due time, '1': only where there is no job
if ARGV[3] == '1' and redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], redis.call('INCR', KEYS[4]))
-- Whoever has the lease will see the counter: nobody else has to look meanwhile.
local lease = redis.call('HGET', KEYS[3], ARGV[1])
if not lease or tonumber(lease) <= tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], 'LT', ARGV[2], ARGV[1])
end
return 1
"""

_CLAIM = Script("""
-- ARGV: now, end of the lease, limit
local found = {}
local due = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[3])
for _, id in ipairs(due) do
  redis.call('ZADD', KEYS[1], ARGV[2], id)
  redis.call('HSET', KEYS[3], id, ARGV[2])
  found[#found + 1] = id
  found[#found + 1] = redis.call('HGET', KEYS[2], id) or '0'
end
return found
""")

_SETTLE = Script("""
-- ARGV: table, counter, end of the lease, the next due time or '', now
local mine = redis.call('HGET', KEYS[3], ARGV[1]) == ARGV[3]
if (redis.call('HGET', KEYS[2], ARGV[1]) or '0') ~= ARGV[2] then
  -- Announced meanwhile: somebody looks again, at once.
  if mine then
    redis.call('HDEL', KEYS[3], ARGV[1])
    redis.call('ZADD', KEYS[1], 'XX', ARGV[5], ARGV[1])
  end
  return 0
end
if mine then redis.call('HDEL', KEYS[3], ARGV[1]) end
if ARGV[4] ~= '' then
  if mine then redis.call('ZADD', KEYS[1], 'XX', ARGV[4], ARGV[1]) end
else
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1])
end
return 1
""")

_RENEW = Script("""
-- ARGV: table, end of the lease, its new end
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[1], 'XX', ARGV[3], ARGV[1])
return 1
""")

_ENSURE = Script(_ANNOUNCE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that somebody holds until `until`."""

    table_id: str
    counter: int
    until: int


class JobBoard:
    """The jobs of all tables. Every method may raise a StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._next = randrange(keys.JOB_SHARDS)

    async def announce(self, table_id: str, due_ms: int) -> None:
        """Say that a table has to be looked at, not later than `due_ms`.

        Call it just before the commit, on the same connection: the store does both in this
        order. Nothing waits for it while the connection is up.
        """
        names = keys.jobs_of(table_id)
        command = ("EVAL", _ANNOUNCE, len(names), *names, table_id, due_ms, "0")
        if self._connection.connected:
            self._connection.send(*command)
        else:
            await self._connection.call(*command)

    async def ensure(self, table_id: str, due_ms: int) -> bool:
        """Announce a job for a table that has none; whether it had none."""
        names = keys.jobs_of(table_id)
        return bool(await _ENSURE(self._connection, names, [table_id, due_ms, "1"]))

    async def claim(self, now_ms: int, lease_ms: int, limit: int) -> list[Claim]:
        """Take up to `limit` jobs that are due; nobody else gets them within `lease_ms`."""
        until = now_ms + lease_ms
        found: list[Claim] = []
        self._next += 1  # each shard comes first in its turn
        for turn in range(keys.JOB_SHARDS):
            if len(found) >= limit:
                break
            names = keys.jobs((self._next + turn) % keys.JOB_SHARDS)
            reply = await _CLAIM(self._connection, names, [now_ms, until, limit - len(found)])
            found += [
                Claim(table.decode(), int(counter), until)
                for table, counter in zip(reply[::2], reply[1::2], strict=True)
            ]
        return found

    async def settle(self, claim: Claim, due_ms: int | None, now_ms: int) -> bool:
        """Say that a job is done, or when the table has to be looked at next.

        False if it was announced again since it was claimed: then it is due at once.
        """
        due = "" if due_ms is None else due_ms
        args: list[Argument] = [claim.table_id, claim.counter, claim.until, due, now_ms]
        return bool(await _SETTLE(self._connection, keys.jobs_of(claim.table_id), args))

    async def renew(self, claim: Claim, now_ms: int, lease_ms: int) -> Claim | None:
        """The claim with a lease from now on; None if somebody else has it by now."""
        until = max(now_ms + lease_ms, claim.until)
        names = keys.jobs_of(claim.table_id)
        kept = await _RENEW(self._connection, names, [claim.table_id, claim.until, until])
        return Claim(claim.table_id, claim.counter, until) if kept else None

    async def waiting(self) -> int:
        """How many jobs there are, due or not."""
        counts = [
            await self._connection.call("ZCARD", keys.jobs(shard)[0])
            for shard in range(keys.JOB_SHARDS)
        ]
        return sum(counts)

    async def begin_sweep(self, lease_ms: int) -> bool:
        """Be the one process that looks for missing jobs, for so long; False if there is one."""
        taken = await self._connection.call("SET", keys.SWEEP, "1", "NX", "PX", lease_ms)
        return taken is not None

    async def end_sweep(self, now_ms: int) -> None:
        """All tables have been looked at."""
        await self._connection.call("SET", keys.SWEPT, now_ms)
        await self._connection.call("DEL", keys.SWEEP)

    async def swept_at(self) -> int:
        """When all tables were looked at last; 0 for never."""
        return int(await self._connection.call("GET", keys.SWEPT) or 0)
