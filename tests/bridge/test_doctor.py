"""The doctor: each cause by its name, with its cure; and a panel that works."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from tableturn_bridge import doctor
from tableturn_bridge.connection import milliseconds
from tableturn_bridge.doctor import Facts, Finding, diagnose, judge
from tableturn_bridge.errors import (
    NoPort,
    NotAPanel,
    PanelGone,
    PanelHeldHere,
    PanelLost,
    PanelSilent,
    PanelTrouble,
    PortBusy,
    PortForbidden,
    PortMissing,
    SeveralPorts,
    VersionRefused,
)
from tableturn_bridge.finding import UsbPort
from tableturn_bridge.link import Happening, Link
from tableturn_bridge.port import open_port
from tableturn_bridge.protocol import Caps, Hello, Pong, ResetCause
from tests.bridge.fake import FakePanel, Plugged, hello

PORT = "/dev/ttyUSB0"
CURE = "Do this."


def only(facts: Facts) -> Finding:
    (finding,) = judge(facts)
    return finding


# ---------------------------------------------------------------- deciding


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        (NoPort("none", CURE), "no-port"),
        (SeveralPorts("two", CURE), "several-ports"),
        (PortMissing("missing", CURE), "missing"),
        (PortForbidden("forbidden", CURE, "dialout"), "forbidden"),
        (PortBusy("busy", CURE, []), "busy"),
        (PanelGone(PORT, "it ended"), "gone"),
        (PanelSilent("silent", CURE), "silent"),
        (NotAPanel("garbage", CURE), "not-a-panel"),
        (VersionRefused("version", CURE), "version"),
        (PanelLost("lost", CURE), "lost"),
        (PanelHeldHere("held", CURE), "held-here"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_trouble_is_a_finding_with_its_cure(trouble: PanelTrouble, cause: str) -> None:
    finding = only(Facts(PORT, trouble))
    assert finding == Finding(cause, trouble.problem, trouble.cure, False, PORT)


def test_a_group_that_was_joined_since_the_login() -> None:
    trouble = PortForbidden("you may not", "Join the group.", "dialout")
    joined = only(Facts(PORT, trouble, new_groups=frozenset({"audio", "dialout"})))
    assert joined.cure == "You have joined the group dialout already: log out and in again."
    other = only(Facts(PORT, trouble, new_groups=frozenset({"audio"})))
    assert other.cure == "Join the group."


@pytest.mark.parametrize(
    ("trouble", "running", "words"),
    [
        (PortBusy("used", CURE, []), "ModemManager", "may be ModemManager"),
        (PortBusy("used", CURE, []), "brltty", "may be brltty"),
        (PortMissing("missing", CURE), "brltty", "remove brltty"),
        (NoPort("none", CURE), "brltty", "remove brltty"),
        (NotAPanel("garbage", CURE), "ModemManager", "half a minute"),
    ],
)
def test_programs_that_are_known_for_it_are_suspected(
    trouble: PanelTrouble, running: str, words: str
) -> None:
    assert words in only(Facts(PORT, trouble, running=frozenset({running}))).cure
    assert only(Facts(PORT, trouble)).cure == CURE


def test_a_program_that_is_known_by_name_is_enough() -> None:
    trouble = PortBusy("used by screen", CURE, ["screen (process 5)"])
    assert only(Facts(PORT, trouble, running=frozenset({"ModemManager"}))).cure == CURE


def works(
    hello: Hello, pong: Pong | None = None, frames: int = 10, crc_errors: int = 0
) -> list[Finding]:
    return judge(Facts(PORT, None, hello, pong, frames, crc_errors))


def test_a_panel_that_works_says_what_it_is() -> None:
    (finding,) = works(hello(session=0x5E55104E), frames=10)
    assert finding.ok
    assert finding.cause == "works"
    assert finding.cure == ""
    assert finding.sentence == (
        "panel 2712847316 at /dev/ttyUSB0 works: firmware 1.2 (build 00000063), 4 buttons and a "
        "master button, session 5e55104e, started by power"
    )
    virtual = Hello(1, 0, 9, 5, 6, 99, 2, Caps.VIRTUAL, 0)
    assert works(virtual)[0].sentence == (
        "virtual panel 5 at /dev/ttyUSB0 works: firmware 0.9 (build 00000000), 2 buttons "
        "and no master button, session 00000006, started for an unknown reason"
    )


@pytest.mark.parametrize(
    ("reset_cause", "causes"),
    [
        (ResetCause.EXTERNAL, ["works"]),
        (ResetCause.BROWN_OUT, ["works", "brown-out"]),
        (ResetCause.WATCHDOG, ["works", "watchdog"]),
    ],
)
def test_what_made_it_start_may_be_a_worry(reset_cause: ResetCause, causes: list[str]) -> None:
    found = works(Hello(1, 1, 0, 5, 6, reset_cause, 4, Caps(1), 0))
    assert [finding.cause for finding in found] == causes
    assert all(finding.ok for finding in found)
    assert all(finding.cure.endswith(".") for finding in found[1:])


def test_a_bad_cable_is_noticed() -> None:
    def pong(crc_errors: int, overruns: int = 0) -> Pong:
        return Pong(1, 0, 0, 7, crc_errors, overruns, 0, 0)

    def causes(pong: Pong | None, frames: int, crc_errors: int) -> list[str]:
        return [each.cause for each in works(hello(), pong, frames=frames, crc_errors=crc_errors)]

    assert causes(None, 1_000, 20) == ["works"]
    assert causes(None, 1_000, 21) == ["works", "noise"]
    assert causes(pong(21), 1_000, 0) == ["works", "noise"]
    assert causes(pong(0, overruns=1), 1_000, 0) == ["works", "overruns"]


# ---------------------------------------------------------------- looking


async def found(folder: Path, port: str | None, *ports: UsbPort) -> list[Finding]:
    return await diagnose(port, locks=folder / "locks", ports=lambda: ports, links=folder / "links")


async def test_no_panel_is_plugged_in(tmp_path: Path) -> None:
    assert [finding.cause for finding in await found(tmp_path, None)] == ["no-port"]


async def test_a_port_that_is_missing_or_no_port(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    looked: list[str] = []
    name = str(tmp_path / "no")
    await diagnose(name, locks=tmp_path / "locks", ports=tuple, looking=looked.append)
    await diagnose(None, locks=tmp_path / "locks", ports=tuple, looking=looked.append)
    assert looked == [name], "where no port is, none is looked at"
    assert [each.cause for each in await found(tmp_path, str(tmp_path / "no"))] == ["missing"]
    assert [each.cause for each in await found(tmp_path, str(tmp_path / "file"))] == ["not-serial"]


async def test_a_panel_that_works_and_one_that_another_program_has(tmp_path: Path) -> None:
    one, two = Plugged(FakePanel(uid=1), tmp_path / "1"), Plugged(FakePanel(uid=2), tmp_path / "2")
    try:
        with open_port(str(tmp_path / "2")):
            findings = await found(
                tmp_path,
                None,
                UsbPort(str(tmp_path / "1"), 0x2341, 1),
                UsbPort(str(tmp_path / "2"), 0x1A86, 0x7523),
            )
    finally:
        one.kill()
        two.kill()
    # The fake panel tells of 3 damaged frames and 2 lost bytes.
    assert [finding.cause for finding in findings] == ["works", "noise", "overruns", "busy"]
    assert "panel 1 at" in findings[0].sentence
    assert findings[0].port == str(tmp_path / "1")
    assert str(tmp_path / "2") in findings[-1].sentence


@pytest.mark.case("H5")
async def test_a_panel_of_another_version(tmp_path: Path) -> None:
    board = Plugged(FakePanel(protocol=3), tmp_path / "panel")
    try:
        (finding,) = await found(tmp_path, str(tmp_path / "panel"))
    finally:
        board.kill()
    assert finding.cause == "version"
    assert "speaks protocol version 3" in finding.sentence
    assert not finding.ok


class Clock:
    """Runs as it should, or once `patience_ends` so fast that the 5 seconds are over at once."""

    def __init__(self) -> None:
        self.patience_ends = False

    def __call__(self) -> int:
        return milliseconds() * (100 if self.patience_ends else 1)


@pytest.mark.parametrize(
    ("said", "cause", "words"),
    [
        (b"", "silent", "nothing answers"),
        (b"Hello, I am a thermometer: 21.5\r\n", "not-a-panel", "33 bytes that no panel sends"),
    ],
    ids=["silence", "garbage"],
)
async def test_something_that_is_no_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes, cause: str, words: str
) -> None:
    clock = Clock()
    clock.patience_ends = not said
    received = Link.received

    def noted(link: Link, data: bytes, now: int) -> list[Happening]:
        happened = received(link, data, now)
        clock.patience_ends = link.decoder.counts.bytes == len(said)
        return happened

    monkeypatch.setattr(Link, "received", noted)
    panel = FakePanel()
    panel.mute = True
    board = Plugged(panel, tmp_path / "panel", to_a_request=said)
    try:
        (finding,) = await diagnose(str(tmp_path / "panel"), locks=tmp_path / "locks", clock=clock)
    finally:
        board.kill()
    assert (finding.cause, finding.ok) == (cause, False)
    assert words in finding.sentence
    assert finding.cure.endswith(".")


def test_this_machine_can_be_asked() -> None:
    names = {group.gr_name for group in grp.getgrall()}
    assert doctor._new_groups() <= names
    assert doctor._running() <= doctor.TROUBLEMAKERS


def test_groups_that_were_joined_since_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    me = pwd.getpwuid(os.getuid()).pw_name
    mine, free = os.getegid(), 54_321
    groups = [
        grp.struct_group(("mine", "x", mine, [me])),
        grp.struct_group(("dialout", "x", free, ["somebody", me])),
        grp.struct_group(("others", "x", free + 1, ["somebody"])),
    ]
    monkeypatch.setattr(grp, "getgrall", lambda: groups)
    assert doctor._new_groups() == {"dialout"}
