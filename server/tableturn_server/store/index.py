"""The index of tables: newest first over all shards, and rebuilt from the tables when lost.

The index is a convenience, never the truth: it may name a table whose creation failed, and who
reads it skips what does not load.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from . import keys
from .errors import StoreError
from .records import Listed, Page
from .resp import Connection

_SCAN_COUNT = 1000


class TableIndex:
    """Sorted sets of table ids by the time of their creation, one for each shard."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def put(self, table_id: str, created_ms: int) -> None:
        """List a table; a table that is listed already keeps its place."""
        await self._connection.call("ZADD", keys.index_of(table_id), "NX", created_ms, table_id)

    async def list_tables(self, cursor: str, limit: int) -> Page:
        """Return up to `limit` tables, newest first, from where `cursor` ended ("": newest).

        Tables made meanwhile never shift a page: the cursor is the last line's place, not a
        number of lines. A ValueError if the cursor is none of ours.
        """
        if limit < 1:
            raise ValueError("a page has at least one line")
        after = _parse_cursor(cursor)
        shards = await asyncio.gather(
            *(self._shard(keys.index(n), after, limit + 1) for n in range(keys.INDEX_SHARDS))
        )
        found = [line for shard in shards for line in shard]
        found.sort(key=lambda line: (line.created_ms, line.table_id), reverse=True)
        page = found[:limit]
        more = len(found) > limit
        return Page(page, f"{page[-1].created_ms}:{page[-1].table_id}" if more else "")

    async def _shard(self, key: str, after: tuple[int, str] | None, limit: int) -> list[Listed]:
        """Return `limit` lines of one shard that come after the cursor's line."""
        newest: int | str = "+inf" if after is None else after[0]
        found: list[Listed] = []
        offset = 0
        while len(found) < limit:
            reply = await self._connection.call(
                *("ZRANGE", key, newest, "-inf", "BYSCORE", "REV"),
                *("LIMIT", offset, limit, "WITHSCORES"),
            )
            lines = [Listed(member.decode(), int(score)) for member, score in reply]
            # Tables of the cursor's own millisecond may have been on the page before.
            found += [
                line for line in lines if after is None or (line.created_ms, line.table_id) < after
            ]
            offset += limit
            if len(lines) < limit:
                break
        return found[:limit]

    async def rebuild(self) -> int:
        """List every table of the store; return how many there are. Safe while games go on."""
        count = 0
        async for batch in self._scan():
            times = await self._connection.pipeline([("HGET", key, "listed") for key in batch])
            puts = []
            for key, created in zip(batch, times, strict=True):
                if isinstance(created, StoreError):
                    raise created
                table_id = keys.id_of(key)
                puts.append(("ZADD", keys.index_of(table_id), int(created or 0), table_id))
            for reply in await self._connection.pipeline(puts):
                if isinstance(reply, StoreError):
                    raise reply
            count += len(batch)
        return count

    async def _scan(self) -> AsyncIterator[list[str]]:
        seen: set[str] = set()  # SCAN may name a key twice
        cursor = b"0"
        while True:
            cursor, found = await self._connection.call(
                *("SCAN", cursor, "MATCH", keys.TABLES_PATTERN, "COUNT", _SCAN_COUNT)
            )
            fresh = [key for key in map(bytes.decode, found) if key not in seen]
            seen.update(fresh)
            if fresh:
                yield fresh
            if cursor == b"0":
                return


def _parse_cursor(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    created, _, table_id = cursor.partition(":")
    if not created.isdecimal():
        raise ValueError("this cursor was not made by list_tables")
    return int(created), keys.check_table_id(table_id)
