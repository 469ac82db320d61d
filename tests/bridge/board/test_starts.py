"""How a board starts, and how often: causes, sessions, its number, boot loaders, other hosts."""

from __future__ import annotations

import random

import pytest

from tableturn_bridge.protocol import (
    VERSION,
    Hello,
    HelloRequest,
    Ping,
    Pong,
    ResetCause,
    Result,
    SetUid,
)

from .bench import SESSION, UID, Bench, all_armed, red_to_move
from .benches import FirmwareBench, Kind, caps_of, on_the_bench, the_firmware
from .host import Host

UIDS = (1, 0x12345678, 0xA1B2C3D4, 0xFFFFFFFF, 0xFFFFFFFE, 0x00FF00FF, 0x5A5A5A5A)


def hello(bench: Bench) -> Hello:
    """The only thing that it has said."""
    (message,) = bench.messages()
    assert isinstance(message, Hello)
    return message


# ---------------------------------------------------------------- who is there


@pytest.mark.parametrize("buttons", [2, 3, 4, 5, 6])
def test_it_says_who_it_is_without_a_session(kind: Kind, buttons: int) -> None:
    with on_the_bench(kind, buttons) as bench:
        said = hello(bench)
        assert (said.protocol, said.session, said.uid) == (VERSION, 0, UID)
        assert (said.buttons, said.caps) == (buttons, caps_of(kind))
        assert said.reset_cause == ResetCause.POWER_ON
        assert (said.major, said.minor) == (1, 0)


def test_it_says_hello_within_some_milliseconds_of_its_start(chip: FirmwareBench) -> None:
    for cause in (ResetCause.BROWN_OUT, ResetCause.WATCHDOG, ResetCause.EXTERNAL):
        chip.wait(1000)
        chip.messages()
        chip.reset(cause)
        chip.wait(50)
        ((time, message),) = chip.sent
        assert isinstance(message, Hello)
        assert time - chip.started < 10


def test_it_adopts_a_session_only_when_it_has_none(bench: Bench) -> None:
    for session, effective in ((5, 5), (6, 5)):
        bench.messages()
        bench.greet(session)
        bench.wait(20)
        assert hello(bench).session == effective
    bench.reset(ResetCause.WATCHDOG)
    bench.wait(20)
    assert hello(bench).session == 0
    bench.greet(6)
    bench.wait(20)
    assert hello(bench).session == 6


@pytest.mark.case("H4")
def test_it_shows_no_picture_and_arms_nothing_before_it_has_a_session(bench: Bench) -> None:
    bench.shows()
    bench.wait(400)
    bench.messages()
    bench.press(0)
    bench.quietly(700)
    assert bench.events() == []
    assert bench.pinged().revision == 0


@pytest.mark.case("H5")
@pytest.mark.parametrize("span", [(2, 2), (3, 9), (0, 0)])
def test_a_host_without_a_common_version_arms_nothing(bench: Bench, span: tuple[int, int]) -> None:
    bench.plays()
    bench.press(0)
    bench.messages()
    bench.tell(HelloRequest(*span, SESSION))
    bench.wait(20)
    assert hello(bench).protocol == VERSION
    bench.shows()
    bench.wait(20)
    bench.press(0)
    bench.quietly(1500)
    assert bench.events() == []  # nor what had waited
    bench.tell(HelloRequest(0, 9, SESSION))
    bench.shows()
    bench.wait(20)
    assert hello(bench).session == SESSION
    bench.press(0)
    assert [event.number for event in bench.events()] == [2]


# ---------------------------------------------------------------- resets


@pytest.mark.case("H4", "H6")
@pytest.mark.parametrize(
    "cause",
    [ResetCause.POWER_ON, ResetCause.EXTERNAL, ResetCause.BROWN_OUT, ResetCause.WATCHDOG],
)
def test_a_reset_loses_all_but_the_number(bench: Bench, cause: ResetCause) -> None:
    bench.plays()
    bench.raw(b"\0\x05abcd\0")
    bench.press(0)
    bench.messages()
    bench.reset(cause)
    bench.wait(30)
    said = hello(bench)
    assert (said.uid, said.session, said.reset_cause) == (UID, 0, cause)
    pong = bench.pinged()
    assert (pong.revision, pong.session, pong.crc_errors, pong.queue) == (0, 0, 0, 0)
    assert pong.uptime < 60
    bench.plays()
    bench.quietly(2000)
    assert bench.events() == []
    bench.press(0)
    assert [event.number for event in bench.events()] == [1]


@pytest.mark.case("H6")
def test_a_program_that_hangs_is_bitten_by_its_watchdog(chip: FirmwareBench) -> None:
    """The real one of the chip, half a second later; the reset's cause is told apart."""
    for _ in range(3):
        chip.plays()
        chip.press(0)
        chip.messages()
        hung = chip.now
        chip.hang()
        chip.wait(900)
        assert chip.started_by[-1] == "watchdog"
        assert 400 < chip.started - hung < 620
        assert hello(chip).reset_cause == ResetCause.WATCHDOG
    assert chip.started_by.count("watchdog") == 3
    resets = dict(one.split(":") for one in chip.state()["resets"].split(","))
    assert resets["watchdog"] == "3"


def test_a_program_that_works_is_never_bitten(chip: FirmwareBench) -> None:
    """Not in silence, not under load, not while it is held, not when its number is written."""
    chip.wait(5000)
    chip.plays(all_armed)
    draw = random.Random(3)
    for _ in range(40):
        chip.raw(draw.randbytes(700))
        chip.bounce(draw.randrange(4), draw.random() < 0.5)
        chip.shows(all_armed)
        chip.wait(100)
    assert chip.started_by in ([], ["power_on"])


def test_the_causes_are_told_apart_one_after_the_other(bench: Bench) -> None:
    """What the chip notes of one start is not left over for the next."""
    draw = random.Random(5)
    causes = [cause for cause in ResetCause if cause != ResetCause.UNKNOWN]
    for _ in range(30):
        cause = draw.choice(causes)
        bench.messages()
        bench.reset(cause)
        bench.wait(draw.uniform(20, 700))
        assert hello(bench).reset_cause == cause


def test_a_reset_at_any_moment_of_a_press_leaves_a_panel_that_works(bench: Bench) -> None:
    """In the middle of a bounce, of an event on the line, of an answer."""
    draw = random.Random(11)
    for _ in range(60):
        bench.plays()
        bench.down(0)
        bench.wait(draw.uniform(0, 30))
        bench.up(0)
        bench.wait(draw.uniform(0, 20))
        bench.ack(1, Result.ACCEPTED)
        bench.wait(draw.uniform(0, 3))
        bench.reset(draw.choice([ResetCause.BROWN_OUT, ResetCause.WATCHDOG]))
        bench.raw(b"\0")
        bench.wait(40)
        bench.messages()
        assert bench.pinged().session == 0


def test_without_power_it_is_dark_and_silent(bench: Bench) -> None:
    bench.plays()
    bench.unplug()
    bench.messages()
    bench.wait(3000)
    assert bench.messages() == []
    assert bench.levels() == (0,) * 4
    bench.plug()
    bench.wait(30)
    said = hello(bench)
    assert (said.uid, said.session, said.reset_cause) == (UID, 0, ResetCause.POWER_ON)


# ---------------------------------------------------------------- its number


@pytest.mark.parametrize("uid", UIDS)
def test_its_number_lasts_and_is_taken_once(kind: Kind, uid: int) -> None:
    with on_the_bench(kind, uid=0) as bench:
        assert hello(bench).uid == 0
        bench.tell(SetUid(uid))
        bench.tell(SetUid(uid ^ 0x1001))
        bench.greet()
        bench.wait(20)
        assert hello(bench).uid == uid  # at once, while it is still being written
        bench.wait(100)
        for cause in (ResetCause.WATCHDOG, ResetCause.POWER_ON):
            bench.reset(cause)
            bench.wait(30)
            assert hello(bench).uid == uid
            bench.tell(SetUid(77))
            bench.wait(100)
            bench.messages()
        bench.unplug()
        bench.wait(100)
        bench.plug()
        bench.wait(30)
        assert hello(bench).uid == uid


def test_a_number_that_was_there_before_is_read() -> None:
    for uid in UIDS:
        with the_firmware(uid=uid) as bench:
            assert hello(bench).uid == uid


@pytest.mark.parametrize("cause", [ResetCause.BROWN_OUT, ResetCause.POWER_ON])
def test_a_number_that_was_not_wholly_written_is_none(cause: ResetCause) -> None:
    """The power fails at any moment of the writing: there is the number, or none, or the next."""
    whole = 0
    for step in range(45):
        with the_firmware(uid=0) as bench:
            first, second = 0xA1B2C3D4, 0x51525354
            bench.tell(SetUid(first))
            bench.wait(0.9 * step)
            bench.reset(cause)
            bench.wait(30)
            bench.messages()
            bench.greet()
            bench.wait(20)
            uid = hello(bench).uid
            assert uid in (0, first)
            whole += uid == first
            # Whatever half of it is there: the next one is taken, and lasts.
            bench.tell(SetUid(second))
            bench.wait(60)
            bench.reset(ResetCause.POWER_ON)
            bench.wait(30)
            assert hello(bench).uid == (uid or second)
    assert 0 < whole < 45


def test_the_line_is_heard_while_the_number_is_written() -> None:
    """Writing a byte takes 3.4 ms, in which ten times as many come on the line."""
    with the_firmware(uid=0) as bench:
        bench.messages()
        bench.tell(SetUid(5))
        for ping in range(20):
            bench.tell(Ping(ping))
            bench.wait(2.7)
        pongs = [message for message in bench.messages() if isinstance(message, Pong)]
        assert [pong.token for pong in pongs] == [*range(19)]
        assert pongs[-1].overruns == 0


def test_the_host_gives_a_number_once(kind: Kind) -> None:
    with on_the_bench(kind, uid=0) as bench:
        host = Host(bench, random.Random(1), red_to_move)
        host.until_up()
        given = host.ups[0].hello.uid
        assert given != 0
        host.run(200)
        bench.reset(ResetCause.POWER_ON)
        host.run(1500)
        assert [up.hello.uid for up in host.ups] == [given, given]


# ---------------------------------------------------------------- boot loaders, baud


@pytest.mark.case("H4")
@pytest.mark.parametrize("boot_ms", [0, 50, 800, 1800])
def test_a_board_that_boots_is_found_whatever_its_boot_loader_says(boot_ms: int) -> None:
    """Bytes that come while it boots are swallowed; what it says is no message."""
    with the_firmware(boot_ms=boot_ms, greeting=True) as bench:
        bench.reset(ResetCause.EXTERNAL)
        host = Host(bench, random.Random(1), red_to_move)
        host.until_up()
        assert bench.started >= boot_ms
        assert bench.now - bench.started < 300
        assert host.ups[0].hello.reset_cause == ResetCause.EXTERNAL
        host.run(400)
        bench.press(0)
        host.run(50)
        assert len(host.pressed) == 1


def test_at_another_speed_nothing_is_understood_and_nothing_breaks(chip: FirmwareBench) -> None:
    chip.plays()
    chip.ask("baud 57600")
    for _ in range(10):
        chip.shows(all_armed)
        chip.tell(Ping(1))
        chip.wait(100)
    chip.ask("baud 115200")
    chip.wait(10)
    chip.greet()
    chip.shows()
    chip.wait(20)
    chip.messages()
    pong = chip.pinged()
    assert (pong.revision, pong.session) == (57, SESSION)
    chip.press(0)
    assert len(chip.events()) == 1


@pytest.mark.case("H4", "H6")
def test_the_bridge_finds_a_board_again_after_every_kind_of_start(bench: Bench) -> None:
    host = Host(bench, random.Random(1), red_to_move)
    host.until_up()
    sessions = [host.ups[0].hello.session]
    for cause in (ResetCause.BROWN_OUT, ResetCause.WATCHDOG, ResetCause.EXTERNAL):
        host.run(300)
        ups = len(host.ups)
        bench.reset(cause)
        host.run(1200)
        assert len(host.ups) == ups + 1
        assert host.ups[-1].hello.reset_cause == cause
        assert host.ups[-1].again
        sessions.append(host.ups[-1].hello.session)
        assert bench.pinged().revision == 57
        host.look()
    assert len(set(sessions)) == 4
    assert host.failures == 0
