"""Why a panel doesn't work, and what helps; or that it does, and what it says of itself.

`diagnose` looks: it opens the port, asks who is there and listens, as the bridge would. `judge`
decides what that means; it looks at nothing but the facts.
"""

from __future__ import annotations

import asyncio
import contextlib
import grp
import os
import pwd
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tableturn_bridge.connection import Lost, PanelConnection, Ready, milliseconds
from tableturn_bridge.errors import (
    NoPort,
    NotAPanel,
    PanelTrouble,
    PortBusy,
    PortForbidden,
    PortMissing,
)
from tableturn_bridge.finding import SERIAL, Finder, Ports, candidates, system_ports
from tableturn_bridge.protocol import Caps, Hello, Pong, ResetCause
from tableturn_bridge.reasons import known_here

TROUBLEMAKERS = frozenset(("ModemManager", "brltty"))
"""Programs of many systems that take serial ports for something else."""
PONG_PATIENCE = 5.0
"""Seconds for which a panel that is there may leave its first ping without an answer."""
WORN = 20
"""Damaged frames among a thousand from which on a cable is suspected."""

_STARTED = {
    ResetCause.UNKNOWN: "for an unknown reason",
    ResetCause.POWER_ON: "by power",
    ResetCause.EXTERNAL: "by its reset line, as when its port is opened",
    ResetCause.BROWN_OUT: "after its supply had dipped",
    ResetCause.WATCHDOG: "by its watchdog",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was found. `cure` is empty where nothing is to be done.

    `cause` is one word, such as `forbidden`, `silent` or `works`; `ok` says that the panel can
    be played with.
    """

    cause: str
    sentence: str
    cure: str
    ok: bool
    port: str = ""


@dataclass(frozen=True)
class Facts:
    """What was seen of one port."""

    port: str
    trouble: PanelTrouble | None = None
    hello: Hello | None = None
    pong: Pong | None = None
    frames: int = 0
    crc_errors: int = 0
    new_groups: frozenset[str] = frozenset()
    """Groups that the user has joined, and that don't count before the next login."""
    running: frozenset[str] = field(default=frozenset())
    """Those of TROUBLEMAKERS that run on this machine."""


# ---------------------------------------------------------------- deciding


def judge(facts: Facts) -> list[Finding]:
    """What the facts mean: what is wrong first, then what else is worth knowing."""
    if facts.trouble is not None:
        trouble = facts.trouble
        return [Finding(trouble.cause, trouble.problem, _cure(trouble, facts), False, facts.port)]
    if facts.hello is None:
        return []
    return [_works(facts, facts.hello), *_worries(facts, facts.hello)]


def _cure(trouble: PanelTrouble, facts: Facts) -> str:
    """The cure, with what is known of this machine."""
    match trouble:
        case PortForbidden(group=group) if group in facts.new_groups:
            return f"You have joined the group {group} already: log out and in again."
        case PortBusy(holders=()) if facts.running:
            names = " and ".join(sorted(facts.running))
            return f"It may be {names}, which runs here: stop it. {trouble.cure}"
        case PortMissing() | NoPort() if "brltty" in facts.running:
            return (
                f"{trouble.cure} brltty runs here and takes boards with a CH340 for itself: "
                "`sudo apt-get remove brltty`, then plug the panel in again."
            )
        case NotAPanel() if "ModemManager" in facts.running:
            return (
                f"{trouble.cure} ModemManager runs here and speaks to new ports for half a "
                "minute: wait, and try again."
            )
    return trouble.cure


def _works(facts: Facts, hello: Hello) -> Finding:
    caps = Caps(hello.caps & 0xFFFF)
    kind = "virtual panel" if Caps.VIRTUAL in caps else "panel"
    master = "a" if Caps.MASTER_BUTTON in caps else "no"
    return Finding(
        "works",
        f"{kind} {hello.uid} at {facts.port} works: firmware {hello.major}.{hello.minor} "
        f"(build {hello.build:08x}), {hello.buttons} buttons and {master} master button, "
        f"session {hello.session:08x}, started {_started(hello)}",
        "",
        True,
        facts.port,
    )


def _started(hello: Hello) -> str:
    known = hello.reset_cause in set(ResetCause)
    return _STARTED[ResetCause(hello.reset_cause) if known else ResetCause.UNKNOWN]


def _worries(facts: Facts, hello: Hello) -> Iterable[Finding]:
    """What works and isn't as it should be."""
    if hello.reset_cause == ResetCause.BROWN_OUT:
        yield Finding(
            "brown-out",
            "its supply had dipped before it started",
            "Plug it into another socket, not into a hub without its own supply.",
            True,
            facts.port,
        )
    if hello.reset_cause == ResetCause.WATCHDOG:
        yield Finding(
            "watchdog",
            "its program had hung before it started",
            "If that happens again, flash the firmware anew and tell its makers.",
            True,
            facts.port,
        )
    damaged = facts.crc_errors + (facts.pong.crc_errors if facts.pong else 0)
    if damaged * 1000 > WORN * max(facts.frames, 1):
        yield Finding(
            "noise",
            f"{damaged} frames came damaged",
            "Take a shorter cable, away from motors and chargers.",
            True,
            facts.port,
        )
    if facts.pong is not None and facts.pong.overruns:
        yield Finding(
            "overruns",
            f"the panel was too slow for {facts.pong.overruns} bytes",
            "Flash the firmware anew; it should take them all.",
            True,
            facts.port,
        )


# ---------------------------------------------------------------- looking


async def diagnose(
    port: str | None,
    *,
    locks: Path,
    ports: Ports = system_ports,
    links: Path = SERIAL,
    clock: Callable[[], int] = milliseconds,
    looking: Callable[[str], None] = lambda name: None,
) -> list[Finding]:
    """Look at one port, or at all that may be a panel's. Takes up to 6 seconds for each.

    A port that is opened resets most boards. Raises nothing: what can't be looked at is found.

    Args:
        port: The port's path; None: all that look like a panel's.
        locks: The folder in which the bridges of this machine lock their panels.
        ports: Lists the serial ports of this machine.
        links: The folder with lasting names.
        clock: Milliseconds; never goes back.
        looking: Told the name of each port before it is looked at.
    """
    names: list[str | None] = [port]
    if port is None and (found := candidates(ports, links)):
        names = [candidate.name for candidate in found]
    findings: list[Finding] = []
    for name in names:
        if name is not None:
            looking(name)
        finder = Finder(name, ports=ports, links=links)
        async with PanelConnection(name, locks=locks, finder=finder, clock=clock) as connection:
            findings += judge(await _look(connection, name or ""))
    return findings


async def _look(connection: PanelConnection, port: str) -> Facts:
    """What comes first: the panel, or the reason why not."""
    async with contextlib.aclosing(connection.events()) as events:
        async for happened in events:
            if isinstance(happened, Lost):
                trouble = known_here(happened.error)
                return Facts(port, trouble, new_groups=_new_groups(), running=_running())
            if isinstance(happened, Ready):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PONG_PATIENCE):
                        await connection.heard()
                    stats = connection.stats
                    return Facts(
                        happened.port,
                        None,
                        happened.hello,
                        stats.pong,
                        stats.frames,
                        stats.crc_errors,
                    )
    return Facts(port)


def _new_groups() -> frozenset[str]:
    """Groups of this user that this process doesn't have: joined since the login."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return frozenset()
    here = {*os.getgroups(), os.getegid()}
    return frozenset(
        group.gr_name
        for group in grp.getgrall()
        if user in group.gr_mem and group.gr_gid not in here
    )


def _running() -> frozenset[str]:
    """Those of TROUBLEMAKERS that run (Linux)."""
    names = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            names.add(path.read_text("utf-8", "replace").strip())
    return TROUBLEMAKERS & names
