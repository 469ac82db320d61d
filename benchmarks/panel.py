"""From a button's release to the next seat's lamp, and what an idle bridge costs.

All parts are processes of their own: the service with its Valkey, and two tables of two people.
At one of them the panel is the real firmware on an emulated chip, at the speed of a serial line;
at the other one it is the virtual panel, whose pseudo terminal takes no time for a byte. People
press in turn, once here and once there. Between two presses a bare grpc.aio echo is called, the
service's own `GetTable`, and something is appended and synced on the store's disk, so that all are
measured in the same minute.

The limit is what nothing of ours could do without: debouncing, the bytes of one event and of one
picture at 115,200 baud, one bare call, and one fsync.

Bars: on a disk whose fsync takes less than 3 ms half of the presses light the next lamp within 20
ms; not one of 500 is lost; an idle bridge uses at most 2 % of a core.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import measure
from benchmarks.service import peer_call
from tableturn_bridge.emulated import building
from tableturn_bridge.frames import encode
from tableturn_bridge.protocol import DEBOUNCE, MOST_BUTTONS, Event, State
from tableturn_bridge.virtual.remote import PanelProcess
from tableturn_client import Client, connect
from tableturn_client.credentials import Credentials
from tableturn_server.store import measure_fsync

PRESSES = 500
WARM_UP = 10
FINGER_MS = 20
BUTTONS = 2
IDLE = 20.0
"""Seconds in which nothing happens."""
IDLE_LIMIT = 0.02
BAR_MS = 20.0
"""From the release to the lamp, for half of the presses."""
QUICK_DISK_MS = 3.0
"""The bar is for disks whose fsync takes less."""
WITHIN = 20.0
BYTES = 60
"""Of an echoed message: as many as a press has."""
BAUD = 115_200
BITS = 10
"""Of a byte on the line."""
EMULATED, VIRTUAL = "the real firmware, emulated", "virtual panel"


def wire_ms() -> float:
    """Milliseconds on the line for what a press needs: an event, and the picture after it."""
    event = Event(0x12345678, 400, 1, 1, 255, 0x1234, 1234, 90, 0)
    state = State(0x1234, 1234, 1, 0, (1,) * MOST_BUTTONS, 0, 255)
    count = len(encode(event, 77)) + len(encode(state, 77))
    return count * BITS / BAUD * 1e3


# ---------------------------------------------------------------- a table with a panel


@dataclass
class Place:
    """A panel at a table of its own, and what was measured there, in milliseconds."""

    name: str
    panel: PanelProcess
    bridge: int
    """The pid of its bridge."""
    client: Client
    table_id: str = ""
    asked: int = 0
    """The button whose turn it is."""
    lamps: list[float] = field(default_factory=list)
    """From each release to the next seat's lamp."""
    answers: list[float] = field(default_factory=list)
    """From each release to the answer at the button."""

    async def sit_down(self, home: Path) -> None:
        """Two people press, and one holds: the game begins."""
        for button in (1, 2):
            await self.panel.wait_lamp(button, ["FREE"], WITHIN)
            await self.panel.press(button, wait=True)
        await self.panel.wait_lamp(2, ["SEATED"], WITHIN)
        await self.panel.hold(1, wait=True)
        (self.table_id,) = {one.table for one in Credentials(home / "tokens.json").all()}
        view = await self.client.table(self.table_id).view()
        self.asked = view.prompts[0].seat

    async def press(self) -> None:
        """One turn. Raises RuntimeError if the press was not accepted."""
        await self.panel.wait_lamp(self.asked, ["TURN"], WITHIN)
        told = await self.panel.press(self.asked, FINGER_MS, wait=True)
        if told["fate"] != "ACCEPTED":
            raise RuntimeError(f"a press was not accepted: {told}")
        released = told["released_at"]
        self.asked = 3 - self.asked
        lamp = await self.panel.wait_lamp(self.asked, ["TURN"], WITHIN, released)
        self.lamps.append(lamp["since"] - released)
        self.answers.append(told["acked_at"] - released)

    async def turns(self) -> int:
        """How many turns the service has counted."""
        return (await self.client.table(self.table_id).view()).turns


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


@asynccontextmanager
async def place(name: str, folder: Path, address: str, client: Client) -> AsyncIterator[Place]:
    """A panel, its bridge, and a table at which the game has begun."""
    options = {"emulated": True} if name == EMULATED else {}
    await asyncio.to_thread(folder.mkdir)
    async with AsyncExitStack() as stack:
        panel = PanelProcess(folder, buttons=BUTTONS, boot_ms=30, **options)
        await stack.enter_async_context(panel)
        home = folder / "home"
        pid = await stack.enter_async_context(bridge(home, panel.link, address))
        made = Place(name, panel, pid, client)
        await made.sit_down(home)
        yield made


# ---------------------------------------------------------------- beside it


@dataclass
class Peers:
    """What is measured between the presses, in milliseconds."""

    calls: list[float] = field(default_factory=list)
    """Bare calls."""
    looks: list[float] = field(default_factory=list)
    """`GetTable` through the SDK."""
    syncs: list[float] = field(default_factory=list)
    """A small append with fsync beside the store's own file."""

    def limit(self, wire: float) -> float:
        """What nothing of ours could do without, by the medians, with so long on the line."""
        return DEBOUNCE + wire + measure.median(self.calls) + measure.median(self.syncs)


def measured(places: list[Place], peers: Peers) -> list[list[float]]:
    """All that is measured, to be forgotten after the warm-up."""
    own = [values for at in places for values in (at.lamps, at.answers)]
    return [*own, peers.calls, peers.looks, peers.syncs]


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1e3


def available() -> list[str]:
    """The kinds of panels that this machine can run."""
    try:
        building.firmware(BUTTONS)
        building.emulator()
    except building.NotBuilt as error:
        print(f"  without the real firmware: {error}")
        return [VIRTUAL]
    return [EMULATED, VIRTUAL]


async def compare() -> None:
    """Measure all, and print it."""
    names = available()
    async with AsyncExitStack() as stack:
        address, _, data = await stack.enter_async_context(measure.service("--rate", "0"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tt-bench-")))
        client = await stack.enter_async_context(connect(address))
        echo = await stack.enter_async_context(
            measure.process(
                sys.executable, "-m", "benchmarks.peers", "echo", str(BYTES), "1", "1", "-"
            )
        )
        channel, bare = peer_call(f"127.0.0.1:{await measure.first_line(echo)}", BYTES, "t" * 32)
        stack.push_async_callback(channel.close)
        places = [
            await stack.enter_async_context(place(name, folder / str(at), address, client))
            for at, name in enumerate(names)
        ]
        peers = Peers()
        for number in range(PRESSES + WARM_UP):
            for at in places:
                await at.press()
            peers.calls.append(await timed(bare))
            peers.looks.append(await timed(client.table(places[0].table_id).view))
            peers.syncs.append(measure_fsync(data, times=1))
            if number < WARM_UP:
                for values in measured(places, peers):
                    values.clear()
        report(places, peers)
        for at in places:
            lost = PRESSES + WARM_UP - await at.turns()
            print(f"  {at.name}: {lost} of {PRESSES + WARM_UP} presses lost")
        await idle(places)


async def idle(places: list[Place]) -> None:
    """What the bridges use while nothing happens."""
    before = [measure.cpu_seconds(at.bridge) for at in places]
    began = time.monotonic()
    await asyncio.sleep(IDLE)
    span = time.monotonic() - began
    for at, used in zip(places, before, strict=True):
        share = (measure.cpu_seconds(at.bridge) - used) / span
        verdict = "within" if share <= IDLE_LIMIT else "ABOVE"
        print(
            f"  an idle bridge ({at.name}): {share:.2%} of a core, {verdict} the limit of "
            f"{IDLE_LIMIT:.0%}"
        )


def report(places: list[Place], peers: Peers) -> None:
    """Print the times side by side, and whether the bar is met."""
    rows: list[list[object]] = [["", "p50 ms", "p99 ms", "largest ms", "of its limit"]]

    def row(title: str, values: list[float], limit: float = 0) -> None:
        half = measure.median(values)
        last = f"{measure.percentile(values, 0.99):.1f}"
        share = f"{half / limit:.2f} x" if limit else ""
        rows.append([title, f"{half:.1f}", last, f"{max(values):.1f}", share])

    for at in places:
        limit = peers.limit(wire_ms() if at.name == EMULATED else 0)
        rows.append([f"{at.name}: the limit", f"{limit:.1f}", "", "", ""])
        row(f"{at.name}: release to the next lamp", at.lamps, limit)
        row(f"{at.name}: release to the answer", at.answers, limit)
    row("one bare gRPC call", peers.calls)
    row("GetTable through the SDK", peers.looks)
    row("one fsync", peers.syncs)
    measure.show(f"A panel: {PRESSES} presses each ({measure.machine()})", rows)
    half, sync = measure.median(places[0].lamps), measure.median(peers.syncs)
    bare = peers.limit(wire_ms()) - DEBOUNCE
    print(f"  {DEBOUNCE} ms of each limit are debouncing, {wire_ms():.1f} ms are on a real line")
    print(f"  {places[0].name}: {half / bare:.1f} x of line, call and fsync alone ({bare:.1f} ms)")
    above = "ABOVE" if sync < QUICK_DISK_MS else "above, on a slow disk,"
    verdict = "within" if half <= BAR_MS else above
    print(f"  {places[0].name}: {half:.1f} ms, {verdict} the bar of {BAR_MS:.0f} ms")


def main() -> None:
    """Measure panels through the real service."""
    asyncio.run(compare())


if __name__ == "__main__":
    main()
