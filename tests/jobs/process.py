"""A process that does what is due: `python -m tests.jobs.process URL LEASE_MS [holds]`.

It says "ready", begins when it is told a line, says when it has claimed something, and at the
end of its input what it has done. One that `holds` looks after nothing that it has claimed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec

from tests.jobs.support import an_office


def say(what: str) -> None:
    print(what, flush=True)


async def main(url: str, lease_ms: str, *wishes: str) -> None:
    async with an_office(url, starts=False, poll=0.05, lease_ms=int(lease_ms)) as office:
        if "holds" in wishes:

            async def holds(table_id: str) -> Any:
                say("claimed")
                await asyncio.Event().wait()

            office.keeper.look = holds  # type: ignore[method-assign]
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        office.runner.start()
        await asyncio.to_thread(sys.stdin.read)
        await office.runner.stop()
        say(msgspec.json.encode(office.runner.counts).decode())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
