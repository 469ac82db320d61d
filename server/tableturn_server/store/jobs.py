"""Jobs: "look at this table at that time", for whichever process comes first.

A job is announced before the change that makes it necessary, so that none is missing however a
process ends; one too many costs a look. A look may come before the change, though: so a job is
announced again after it, and says when it was announced last, that whoever finds nothing to do
doesn't settle it for good too soon (`KEPT_MS`).

A job that is claimed belongs to one process for a while, its lease. The lease only saves double
work: that each turn is taken once is the matter of the table's own commit. Each announcement
gives the job a counter that no other ever had, and only who has claimed that very one can settle
it: an announcement between claim and settling is never lost. All times are the caller's, in
milliseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import randrange
from secrets import token_hex

from . import keys
from .errors import StoreError
from .resp import Argument, Connection, Script

KEPT_MS = 5000
"""A job is not given up before it is so old, by the clocks of whoever announced and looks.

That is as long as a commit may take that was announced. Where the looker's clock is ahead, the
time is shorter by as much, and a process that dies right after such a commit may leave a table
without a job until the next sweep; where it is behind, one more look comes later by as much.
"""

# KEYS of all: due times, counters, leases, last counter. ARGV[1] of most: the table's id.
# A counter stands together with the time of its announcement, as `COUNTER TIME`.

_ANNOUNCE = """
-- ARGV: table, due time, now, '1': only where there is no job
if ARGV[4] == '1' and redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], redis.call('INCR', KEYS[4]) .. ' ' .. ARGV[3])
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
local counter = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '0', '%d+')
if counter ~= ARGV[2] then
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

_HASTEN = Script("""
-- ARGV: now, limit
local later = redis.call('ZRANGE', KEYS[1], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2])
for _, id in ipairs(later) do redis.call('ZADD', KEYS[1], ARGV[1], id) end
return #later
""")
_AT_ONCE = 1000
"""Jobs that are hastened in one step: others get their turn in between."""

_KEEP_SWEEP = Script("""
-- ARGV: who sweeps, for how long from now on; 0 ends it
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
""")


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that somebody holds until `until`, announced last at `announced`."""

    table_id: str
    counter: int
    until: int
    announced: int = 0


class JobBoard:
    """The jobs of all tables. Every method may raise a StoreError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._next = randrange(keys.JOB_SHARDS)

    async def announce(self, table_id: str, due_ms: int, now_ms: int) -> None:
        """Say that a table has to be looked at, not later than `due_ms`.

        Call it just before the commit, on the same connection: the store does both in this
        order. Nothing waits for it while the connection is up.

        They are two commands, between which others get their turn. One pipeline would not keep
        them together either: the commit is called by the digest of its script, which the store
        may not know, and a large table does not arrive in one piece.
        """
        if self._connection.connected:
            self.announce_again(table_id, due_ms, now_ms)
        else:
            await self._connection.call(*_announcement(table_id, due_ms, now_ms))

    def announce_again(self, table_id: str, due_ms: int, now_ms: int) -> None:
        """Say it once more, after the commit; nothing waits for it, and it may be lost."""
        self._connection.send(*_announcement(table_id, due_ms, now_ms))

    async def ensure(self, table_id: str, due_ms: int, now_ms: int) -> bool:
        """Announce a job for a table that has none; whether it had none."""
        names = keys.jobs_of(table_id)
        return bool(await _ENSURE(self._connection, names, [table_id, due_ms, now_ms, "1"]))

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
            for table, told in zip(reply[::2], reply[1::2], strict=True):
                counter, _, announced = told.partition(b" ")
                found.append(Claim(table.decode(), int(counter), until, int(announced or 0)))
        return found

    async def settle(self, claim: Claim, due_ms: int | None, now_ms: int) -> bool:
        """Say that a job is done, or when the table has to be looked at next.

        False if it was announced again since it was claimed: then it is due at once. Whoever has
        found nothing to do settles it for `claim.announced + KEPT_MS`, if that is still to come.
        """
        due = "" if due_ms is None else due_ms
        args: list[Argument] = [claim.table_id, claim.counter, claim.until, due, now_ms]
        return bool(await _SETTLE(self._connection, keys.jobs_of(claim.table_id), args))

    async def renew(self, claim: Claim, now_ms: int, lease_ms: int) -> Claim | None:
        """The claim with a lease from now on; None if somebody else has it by now."""
        until = max(now_ms + lease_ms, claim.until)
        names = keys.jobs_of(claim.table_id)
        kept = await _RENEW(self._connection, names, [claim.table_id, claim.until, until])
        return replace(claim, until=until) if kept else None

    async def hasten(self, now_ms: int) -> None:
        """Let all tables that have a job be looked at now.

        Also those that somebody looks at already: their leases are from before what makes it
        necessary, or double work at the most.
        """
        for shard in range(keys.JOB_SHARDS):
            names, args = keys.jobs(shard), [now_ms, _AT_ONCE]
            while await _HASTEN(self._connection, names, args) == _AT_ONCE:
                pass

    async def next(self) -> int | None:
        """When a job is due next, or free to be claimed again; None if there are none."""
        found = await self._connection.pipeline(
            [
                ("ZRANGE", keys.jobs(shard)[0], 0, 0, "WITHSCORES")
                for shard in range(keys.JOB_SHARDS)
            ]
        )
        for reply in found:
            if isinstance(reply, StoreError):
                raise reply
        return min((int(score) for reply in found for _, score in reply), default=None)

    async def waiting(self) -> int:
        """How many jobs there are, due or not."""
        counts = [
            await self._connection.call("ZCARD", keys.jobs(shard)[0])
            for shard in range(keys.JOB_SHARDS)
        ]
        return sum(counts)

    async def begin_sweep(self, lease_ms: int) -> str | None:
        """Be the one process that looks for missing jobs, for so long; None if there is one.

        The value names the sweep, for `keep_sweep` and `end_sweep`.
        """
        sweep = token_hex(8)
        taken = await self._connection.call("SET", keys.SWEEP, sweep, "NX", "PX", lease_ms)
        return sweep if taken is not None else None

    async def keep_sweep(self, sweep: str, lease_ms: int) -> bool:
        """Be it for so long from now on; False if the time was over."""
        return bool(await _KEEP_SWEEP(self._connection, [keys.SWEEP], [sweep, lease_ms]))

    async def end_sweep(self, sweep: str, now_ms: int) -> None:
        """All tables have been looked at. Somebody else's sweep goes on."""
        await self._connection.call("SET", keys.SWEPT, now_ms)
        await _KEEP_SWEEP(self._connection, [keys.SWEEP], [sweep, 0])

    async def swept_at(self) -> int:
        """When all tables were looked at last; 0 for never."""
        return int(await self._connection.call("GET", keys.SWEPT) or 0)


def _announcement(table_id: str, due_ms: int, now_ms: int) -> tuple[Argument, ...]:
    names = keys.jobs_of(table_id)
    return ("EVAL", _ANNOUNCE, len(names), *names, table_id, due_ms, now_ms, "0")
