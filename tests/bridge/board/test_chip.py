"""The chip's own side of the firmware: its watchdog, its rings of bytes, its sleep, its start."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tableturn_bridge import frames
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import Color, Hello, Ping, Pong, ResetCause, SetUid

from .bench import SESSION, all_armed, red_to_move
from .benches import FirmwareBench, the_firmware

WATCHDOG = 512.0
"""Milliseconds until it bites: 65536 cycles of its own 128 kHz."""
WATCHDOG_AFTER_BITE = 16
"""After it has bitten it runs on with the shortest time that it has."""
BYTE_US = 10 / 115200 * 1e6
RECEIVED = 63
"""Bytes from the host that the firmware keeps until its main program has time for them."""


def tokens(chip: FirmwareBench) -> list[int]:
    """Those of the pings that were answered."""
    return [message.token for _, message in chip.sent if isinstance(message, Pong)]


# ---------------------------------------------------------------- the watchdog


def test_only_the_main_program_keeps_the_watchdog_quiet(chip: FirmwareBench) -> None:
    """It stands still; each interrupt that there is goes on: time, lamps, both ways of the line."""
    chip.plays(replace(all_armed, brightness=100))
    for ping in range(30):
        chip.tell(Ping(ping))  # so that there is something to send too
    chip.wait(20)
    began = chip.now
    chip.ask("hang busy")
    while not chip.started_by or chip.started_by[-1] != "watchdog":
        assert chip.now - began < 600
        lit = chip.levels()[0]
        assert 90 < lit < 110
        chip.tell(Ping(1))
        chip.wait(5)
    # It was fed a millisecond ago at most.
    assert WATCHDOG - 2 < chip.started - began < WATCHDOG + 0.1


def test_a_start_that_takes_its_time_is_not_bitten_again(chip: FirmwareBench) -> None:
    """Memory is cleared before the program sets the watchdog's time; until then it has to rest."""
    chip.ask("hang")
    chip.wait(WATCHDOG - 2)
    while not chip.started_by:
        chip.wait(0.02)
    chip.wait(0.02)  # its first instructions, and some of the memory
    chip.ask(f"hang {3 * WATCHDOG_AFTER_BITE * 1000}")
    chip.wait(4 * WATCHDOG_AFTER_BITE)
    assert chip.started_by == ["watchdog"]
    (hello,) = chip.messages()[1:]
    assert isinstance(hello, Hello)
    assert hello.reset_cause == ResetCause.WATCHDOG


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("late", [2, 20, 200])
def test_milliseconds_that_a_late_program_has_missed_are_made_up_for(
    chip: FirmwareBench, late: int
) -> None:
    chip.plays()
    before, asked = chip.pinged().uptime, chip.now
    for _ in range(5):
        chip.ask(f"hang busy {late * 1000}")
        chip.wait(late + 50)
    after = chip.pinged().uptime
    assert abs((after - before) - (chip.now - asked)) <= 1


# ---------------------------------------------------------------- the line


def test_a_full_ring_of_received_bytes_keeps_those_that_came_first(chip: FirmwareBench) -> None:
    """The main program stands still, and interrupts take what comes until there is no room."""
    chip.plays()
    kept = [replace(red_to_move, revision=58), Ping(1), Ping(2), Ping(3), Ping(4)]
    said = b"".join(frames.encode(message, number) for number, message in enumerate(kept))
    assert RECEIVED - 9 < len(said) <= RECEIVED
    lost = b"".join(frames.encode(Ping(token), token) for token in range(100, 120))
    chip.ask("hang busy 40000")
    chip.raw(said + lost)
    chip.wait(80)
    assert tokens(chip) == [1, 2, 3, 4]
    pong = chip.pinged()
    assert (pong.revision, pong.session) == (58, SESSION)
    assert pong.overruns == len(said + lost) - RECEIVED
    assert chip.state()["overruns"] == "0"  # the chip itself has lost nothing


def test_what_is_sent_is_whole_however_full_the_ring_is(chip: FirmwareBench) -> None:
    """Answers are longer than their questions, and come at each filling of the ring."""
    chip.plays()
    chip.transcript.clear()
    for gap in range(0, 900, 3):
        for ping in range(3):
            chip.tell(Ping(3 * gap + ping))
        chip.wait(2.5 + gap / 1000)
    chip.wait(100)
    decoder = frames.Decoder()
    decoder.feed(bytes(chip.transcript))
    counts = decoder.counts
    assert (counts.gaps, counts.crc_errors) == (0, 0)
    told = tokens(chip)
    assert told == sorted(set(told))
    assert 300 < len(told) < 900


def latencies(chip: FirmwareBench) -> list[float]:
    """Microseconds from the end of a ping to the end of its answer, for pings that come at each
    moment of a millisecond."""
    taken = []
    ping = len(frames.encode(Ping(7), 0)) * BYTE_US
    for phase in range(0, 1000, 5):
        chip.messages()
        chip.wait(4 - chip.now % 1 + phase / 1000)
        asked = chip.now
        chip.tell(Ping(7))
        chip.wait(8)
        ((time, _),) = chip.sent
        taken.append((time - asked) * 1000 - ping)
    return taken


def test_a_byte_that_comes_while_the_program_works_is_not_slept_over(chip: FirmwareBench) -> None:
    """Each millisecond it works for a moment. Whoever asks meanwhile has to wait until that is
    over, and no longer: so there is no jump between those who wait longest and all others."""
    chip.plays()
    taken = sorted(latencies(chip))
    longer = [after - before for before, after in pairwise(taken)]
    assert taken[-1] - taken[0] > 50  # some have come in such a moment
    assert max(longer) < 20


# ---------------------------------------------------------------- causes


@pytest.mark.parametrize(
    ("causes", "told"),
    [
        (("brown_out", "external"), ResetCause.EXTERNAL),
        (("watchdog", "external"), ResetCause.EXTERNAL),
        (("watchdog", "brown_out"), ResetCause.BROWN_OUT),
        (("brown_out", "watchdog"), ResetCause.BROWN_OUT),
        (("power_on", "brown_out"), ResetCause.POWER_ON),
        (("power_on", "external"), ResetCause.POWER_ON),
        (("power_on", "external", "brown_out", "watchdog"), ResetCause.POWER_ON),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_of_several_causes_the_most_telling_one_is_told(
    chip: FirmwareBench, causes: tuple[str, ...], told: ResetCause
) -> None:
    """One reset follows the other before the program has read the chip's flags."""
    chip.messages()
    for cause in causes:
        chip.ask(f"reset {cause}")
    chip.wait(30)
    (hello,) = chip.messages()
    assert isinstance(hello, Hello)
    assert hello.reset_cause == told


# ---------------------------------------------------------------- pixels and EEPROM


@pytest.mark.parametrize("brightness", [1, 2, 3, 7, 40])
def test_no_part_of_a_dim_colour_goes_out(brightness: int) -> None:
    """Each part of a colour is rounded up, so that a dim orange is no red."""
    full = {
        Color.RED: (255, 0, 0),
        Color.YELLOW: (255, 160, 0),
        Color.BLACK: (0, 160, 160),
        Color.PURPLE: (160, 0, 255),
        Color.ORANGE: (255, 64, 0),
        Color.NONE: (255, 255, 255),
    }
    lamps = tuple(lamp(Pattern.TURN, color) for color in full)
    with the_firmware(6, pixels=True) as chip:
        chip.plays(replace(all_armed, lamps=lamps, brightness=brightness))
        chip.wait(20)
        shown = [tuple(bytes.fromhex(one)) for one in chip.ask("lamps")["pixels"].split(",")]
        level = shown[-1][0]
        assert level > 0
        assert shown == [
            tuple(-(-part * level // 255) for part in parts) for parts in full.values()
        ]


def test_a_number_that_is_none_is_not_written() -> None:
    with the_firmware(uid=0) as chip:
        for _ in range(3):
            chip.tell(SetUid(0))
            chip.wait(60)
        assert chip.state()["eeprom_writes"] == "0"
        chip.tell(SetUid(5))
        chip.wait(60)
        assert chip.state()["uid"] == "5"
        written = int(chip.state()["eeprom_writes"])
        assert 1 < written <= 8
        chip.tell(SetUid(6))
        chip.wait(60)
        assert int(chip.state()["eeprom_writes"]) == written
