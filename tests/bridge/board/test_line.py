"""A bad line, on the model and on the firmware: garbage, noise, and more than the chip can take."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tableturn_bridge import frames
from tableturn_bridge.protocol import (
    PANEL_TO_HOST,
    Event,
    EventAck,
    Ping,
    Pong,
    Result,
    SetUid,
    State,
)

from .bench import SESSION, Bench, all_armed, red_to_move
from .benches import FirmwareBench, the_firmware
from .host import Host
from .sequences import check_bytes

# ---------------------------------------------------------------- garbage


def garbage(draw: random.Random) -> bytes:
    """What may stand on a line that nobody would call a message."""
    some = draw.randbytes(draw.randrange(1, 60))
    state = frames.encode(replace(red_to_move, revision=666, armed=0b1111), draw.randrange(256))
    at = draw.randrange(1, len(state) - 1)
    match draw.randrange(6):
        case 0:
            return some
        case 1:
            return bytes(draw.randrange(1, 80))  # zeros
        case 2:
            return some.replace(b"\0", b"\x01") * draw.randrange(1, 6)  # without an end
        case 3:
            return state[:at]
        case 4:
            return state[:at] + some + state[at:]
        case _:
            return state[:at] + bytes([state[at] ^ 1 << draw.randrange(8)]) + state[at + 1 :]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_after_each_of_1000_bursts_of_garbage_a_ping_is_answered(bench: Bench, seed: int) -> None:
    draw = random.Random(seed)
    bench.plays()
    for burst in range(1000):
        bench.raw(garbage(draw))
        bench.tell(Ping(burst))
        bench.wait(45)  # the longest burst is 300 bytes, and then the ping and its answer
        (pong,) = bench.messages()
        assert isinstance(pong, Pong)
        assert (pong.token, pong.revision, pong.session) == (burst, 57, SESSION)
        if burst % 8 == 0:
            bench.shows()
    pong = bench.pinged()
    assert pong.overruns == 0
    assert pong.crc_errors > 100


def test_a_panel_is_not_armed_by_garbage(bench: Bench) -> None:
    draw = random.Random(7)
    bench.plays(replace(red_to_move, armed=0))
    for _ in range(100):
        bench.raw(garbage(draw))
        bench.shows(replace(red_to_move, armed=0))
        bench.wait(60)
    bench.press(0)
    assert bench.events() == []


def test_what_is_no_message_of_a_host_is_let_go(bench: Bench) -> None:
    """Types that nobody knows, types of panels, bodies that are too short; then longer ones."""
    bench.plays()
    for number, kind in enumerate(PANEL_TO_HOST):
        bench.raw(frames.enclose(kind.CODE, number, bytes(kind.FORM.size)))
    bench.raw(frames.enclose(0x7E, 1, bytes(32)))
    bench.raw(frames.enclose(State.CODE, 1, red_to_move.body()[:-1]))
    bench.raw(frames.enclose(Ping.CODE, 1, b"\1"))
    bench.raw(frames.enclose(SetUid.CODE, 1, b""))
    bench.wait(30)
    assert bench.messages() == []
    grown = replace(red_to_move, revision=99).body()
    bench.raw(frames.enclose(State.CODE, 4, grown + b"something new" + bytes(3)))
    bench.raw(frames.enclose(Ping.CODE, 5, b"\1\2and more"))
    bench.wait(30)
    (pong,) = bench.messages()
    assert isinstance(pong, Pong)
    assert (pong.token, pong.revision) == (0x0201, 99)


def test_numbers_of_frames_follow_one_another(bench: Bench) -> None:
    """Also over 255, and in the order in which things happened."""
    bench.plays(all_armed)
    bench.messages()
    for ping in range(300):
        bench.tell(Ping(ping))
        bench.wait(6)
    decoder = frames.Decoder()
    decoder.feed(bytes(bench.transcript))
    assert decoder.counts.gaps == 0
    assert [message.token for message in bench.messages() if isinstance(message, Pong)] == [
        *range(300)
    ]


# ---------------------------------------------------------------- noise


def presses_on_a_bad_line(bench: Bench, share: float, seed: int, presses: int) -> Host:
    """So many presses by four people, one after the other, each until the lamp has its answer."""
    draw = random.Random(seed)
    bench.noise(share, seed)
    host = Host(bench, draw, all_armed)
    host.until_up()
    host.run(200)
    counted: Counter[tuple[int, int]] = Counter()
    for press in range(presses):
        button = press % 4
        bench.down(button)
        host.run(40 + draw.random() * 40)
        bench.up(button)
        known = len(host.pressed)
        end = bench.now + 20_000
        while len(host.pressed) == known:
            assert bench.now < end, f"press {press} has not come"
            host.run(5)
        _, event = host.pressed[-1]
        assert event.button == button
        counted[event.session, event.number] += 1
        host.run(draw.random() * 30)  # the service thinks
        host.answer(event, Result.ACCEPTED)
        host.show(replace(all_armed, revision=58 + press))
        if press % 10 == 9:
            host.run(700)  # sometimes people think, and what was repeated comes
    host.run(3000)
    assert set(counted.values()) == {1}
    assert [event.number for _, event in host.pressed] == [*range(1, presses + 1)]
    assert len({event.session for _, event in host.pressed}) == 1
    return host


@pytest.mark.parametrize(
    ("share", "seed", "presses"),
    [
        (0.0, 0, 40),
        (0.02, 2, 250),  # of all bytes 1 % get lost, and 1 % are wrong
        pytest.param(0.002, 1, 250, marks=pytest.mark.nightly),
        # With twice as much, 2 s pass without a good frame once in a long evening: no link.
        pytest.param(0.01, 3, 2500, marks=pytest.mark.nightly),
    ],
)
def test_all_presses_arrive_exactly_once(
    bench: Bench, share: float, seed: int, presses: int
) -> None:
    host = presses_on_a_bad_line(bench, share, seed, presses)
    bench.noise(0)
    host.run(1500)
    pong = bench.pinged()
    assert pong.queue == 0
    assert pong.dropped == 0
    assert pong.overruns == 0
    assert (pong.crc_errors > 10) == (share > 0)


# ---------------------------------------------------------------- more than the chip can take


def test_normal_traffic_loses_nothing_with_all_that_a_panel_can_do() -> None:
    """Six dim pixels and lamps, frames without a pause in both directions, buttons that bounce."""
    lamps = (0x13, 0x23, 0x38, 0x48, 0x57, 0x78)
    with the_firmware(6, pixels=True) as bench:
        bench.plays(replace(all_armed, lamps=lamps, brightness=77))
        for burst in range(60):
            for ping in range(10):
                bench.tell(Ping(burst * 10 + ping))
                bench.shows(replace(all_armed, lamps=lamps, revision=burst, brightness=burst * 4))
            bench.bounce(burst % 6, burst % 12 < 6)
            bench.wait(20)
        pongs = [message for message in bench.messages() if isinstance(message, Pong)]
        assert [pong.token for pong in pongs] == [*range(600)]
        state = bench.state()
        assert (pongs[-1].overruns, pongs[-1].crc_errors, state["overruns"]) == (0, 0, "0")
        assert int(state["rx"]) >= 60 * 10 * (9 + 23)


def test_bytes_that_the_chip_could_not_take_are_counted() -> None:
    """The program stops for a moment while the host writes on: two bytes wait for it, and a third
    one in the receiver's shift register; all others are lost. How often the chip said so, the
    program has counted."""
    with the_firmware() as bench:
        bench.plays()
        told = 0
        for milliseconds in (1, 2, 5, 20, 60):
            lost = int(bench.state()["overruns"])
            bench.ask(f"hang {milliseconds * 1000}")
            bench.raw(frames.encode(replace(red_to_move, revision=666), 0) * 40)
            bench.wait(milliseconds + 120)
            state = bench.state()
            came = milliseconds * 115.2 / 10
            assert abs(int(state["overruns"]) - lost - (came - 3)) <= 2
            bench.shows()
            bench.wait(10)
            pong = bench.pinged()
            assert pong.overruns == int(state["overrun_flags"])
            assert told < pong.overruns <= told + 2
            told = pong.overruns
            assert pong.revision == 57
        assert bench.started_by in ([], ["power_on"])
        bench.press(0)
        assert len(bench.events()) == 1


def test_a_hang_under_load_ends_with_a_panel_that_knows_nothing() -> None:
    with the_firmware() as bench:
        bench.plays()
        bench.hang()
        for _ in range(10):
            bench.raw(frames.encode(replace(red_to_move, revision=666), 0))
            bench.wait(100)
        assert int(bench.state()["overruns"]) >= 40
        assert bench.started_by[-1] == "watchdog"
        bench.greet()
        bench.wait(20)
        assert bench.pinged().revision == 0


def test_what_finds_no_room_on_the_line_is_left_out_as_a_whole(chip: FirmwareBench) -> None:
    """Answers are three times as long as their pings: some are never said, none is said in part."""
    chip.greet()
    chip.shows(all_armed)
    chip.wait(300)
    chip.down(0)
    chip.wait(60)
    chip.up(0)
    for ping in range(60):
        chip.tell(Ping(ping))
    chip.wait(300)
    check_bytes(chip)
    tokens = [message.token for _, message in chip.sent if isinstance(message, Pong)]
    assert tokens == sorted(set(tokens))
    assert 20 < len(tokens) < 60
    events = [message for _, message in chip.sent if isinstance(message, Event)]
    assert [event.tries for event in events] == [*range(len(events))]
    assert len(events) > 1
    assert chip.pinged().overruns == 0


def test_acks_in_the_shortest_time_are_all_heard(bench: Bench) -> None:
    """Answers and pictures back to back, as a host writes them that was busy."""
    bench.plays(all_armed)
    for _ in range(30):
        for button in range(4):
            bench.press(button, 20)
        first = min(event.number for event in bench.events())
        for number in range(first, first + 4):
            bench.ack(number, Result.ACCEPTED)
            bench.tell(EventAck(number, Result.ACCEPTED, SESSION))
            bench.shows(all_armed)
        bench.wait(60)
        pong = bench.pinged()
        assert (pong.queue, pong.dropped, pong.overruns) == (0, 0, 0)
