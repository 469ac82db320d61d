"""From a button's release to the next seat's lamp, and what an idle bridge costs.

All parts are processes of their own: the service with its Valkey, a bridge, a virtual panel on a
pseudo terminal. Two people press in turn at a free-table. Between two presses a bare grpc.aio echo
is called, and the service's own `GetTable`, so that all are measured in the same minute.

Time on the wire is not in it: a pseudo terminal has none. At 115,200 baud an event of 25 bytes
takes 2.4 ms and a picture of 23 bytes 2.2 ms; debouncing takes 8 ms of it here as on a board.

Limit: an idle bridge uses at most 2 % of a core.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from benchmarks import measure
from benchmarks.service import peer_call
from tableturn_bridge.protocol import DEBOUNCE
from tableturn_bridge.virtual.remote import PanelProcess
from tableturn_client import Client, connect
from tableturn_client.credentials import Credentials

PRESSES = 500
FINGER_MS = 20
IDLE = 20.0
"""Seconds in which nothing happens."""
LIMIT = 0.02
WITHIN = 20.0
BYTES = 60
"""Of an echoed message: as many as a press has."""


@asynccontextmanager
async def bridge(home: Path, link: Path, server: str) -> AsyncIterator[int]:
    """A bridge between a port and a service; its pid."""
    environment = {**os.environ, "TABLETURN_HOME": str(home)}
    tableturn = "from tableturn_client.cli.main import main; main()"
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", tableturn, "panel", "--port", str(link)),
        *("--server", server, "--json"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        yield child.pid
    finally:
        child.terminate()
        await child.wait()


async def sit_down(panel: PanelProcess) -> None:
    """Two people press, and one holds: the game begins."""
    for button in (1, 2):
        await panel.wait_lamp(button, ["FREE"], WITHIN)
        await panel.press(button, wait=True)
    await panel.wait_lamp(2, ["SEATED"], WITHIN)
    await panel.hold(1, wait=True)


async def press(panel: PanelProcess, button: int) -> tuple[float, float]:
    """One turn: milliseconds from the release to the answer, and to the next seat's lamp."""
    told = await panel.press(button, FINGER_MS, wait=True)
    if told["fate"] != "ACCEPTED":
        raise RuntimeError(f"a press was not accepted: {told}")
    lamp = await panel.wait_lamp(3 - button, ["TURN"], WITHIN, told["released_at"])
    return told["acked_at"] - told["released_at"], lamp["since"] - told["released_at"]


async def compare() -> None:
    """Measure all, and print it."""
    async with AsyncExitStack() as stack:
        address, _, _ = await stack.enter_async_context(measure.service("--rate", "0"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tt-bench-")))
        panel = await stack.enter_async_context(PanelProcess(folder, buttons=2, boot_ms=30))
        home = folder / "home"
        pid = await stack.enter_async_context(bridge(home, panel.link, address))
        client = await stack.enter_async_context(connect(address))
        echo = await stack.enter_async_context(
            measure.process(
                sys.executable, "-m", "benchmarks.peers", "echo", str(BYTES), "1", "1", "-"
            )
        )
        channel, bare = peer_call(f"127.0.0.1:{await measure.first_line(echo)}", BYTES, "t" * 32)
        stack.push_async_callback(channel.close)
        await sit_down(panel)
        (table_id,) = {one.table for one in Credentials(home / "tokens.json").all()}
        view = await client.table(table_id).view()
        button = view.prompts[0].seat
        acks, lamps, calls, looks = [], [], [], []
        for number in range(PRESSES + 10):
            await panel.wait_lamp(button, ["TURN"], WITHIN)
            ack, lamp = await press(panel, button)
            call, look = await timed(bare), await looked(client, table_id)
            if number >= 10:  # warm-up
                acks.append(ack)
                lamps.append(lamp)
                calls.append(call)
                looks.append(look)
            button = 3 - button
        turns = (await client.table(table_id).view()).turns
        report(acks, lamps, calls, looks, turns)
        before = measure.cpu_seconds(pid)
        began = time.monotonic()
        await asyncio.sleep(IDLE)
        share = (measure.cpu_seconds(pid) - before) / (time.monotonic() - began)
        verdict = "within" if share <= LIMIT else "ABOVE"
        print(f"  an idle bridge: {share:.2%} of a core, {verdict} the limit of {LIMIT:.0%}")


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1e3


async def looked(client: Client, table_id: str) -> float:
    """Milliseconds of a look at the table."""
    return await timed(client.table(table_id).view)


def report(
    acks: list[float], lamps: list[float], calls: list[float], looks: list[float], turns: int
) -> None:
    """Print the times side by side."""
    rows: list[list[object]] = [["", "p50 ms", "p99 ms", "largest ms", "of a bare call"]]
    bare = measure.median(calls)
    for name, values in (
        ("release to the next seat's lamp", lamps),
        (f"the same without {DEBOUNCE} ms of debouncing", [one - DEBOUNCE for one in lamps]),
        ("release to the answer at the button", acks),
        ("one bare gRPC call", calls),
        ("GetTable through the SDK", looks),
    ):
        rows.append(
            [
                name,
                f"{measure.median(values):.1f}",
                f"{measure.percentile(values, 0.99):.1f}",
                f"{max(values):.1f}",
                f"{measure.median(values) / bare:.1f} x",
            ]
        )
    measure.show(f"A panel: {PRESSES} presses, {turns} turns ({measure.machine()})", rows)


def main() -> None:
    """Measure a panel through the real service."""
    asyncio.run(compare())


if __name__ == "__main__":
    main()
