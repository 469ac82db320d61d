"""Gestures that wait for their answer, on the model and on the firmware: queue, times, the link."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tableturn_bridge import frames
from tableturn_bridge.protocol import NO_BUTTON, Event, Hello, Result

from .bench import SESSION, Bench, all_armed, red_to_move
from .benches import FirmwareBench, Kind, on_the_bench


def times_since(bench: Bench, start: float) -> list[float]:
    return [time - start for time in bench.event_times()]


# ---------------------------------------------------------------- sent again


def test_an_event_is_sent_again_at_its_times_until_it_is_answered(bench: Bench) -> None:
    bench.plays()
    start = bench.press(0)
    bench.quietly(120 + 240 + 480 + 3 * 960 + 100)
    due = [0, 120, 360, 840, 1800, 2760, 3720]
    assert bench.are(times_since(bench, start), list(map(float, due)))
    first, *others = bench.events()
    for tries, (event, at) in enumerate(zip(others, due[1:], strict=True), start=1):
        assert event == replace(first, age=event.age, tries=tries)
        assert abs(event.age - 60 - at) <= 2
    bench.ack(1, Result.ACCEPTED)
    bench.quietly(3000)
    assert bench.events() == []
    assert bench.pinged().queue == 0


@pytest.mark.parametrize("seen_after", [30, 250, 2000])
def test_seen_stretches_the_times_to_a_second_and_ends_nothing(
    bench: Bench, seen_after: float
) -> None:
    bench.plays()
    bench.press(0)
    bench.quietly(seen_after)
    bench.ack(1, Result.SEEN)
    start = bench.now
    bench.sent.clear()
    bench.quietly(3500)
    assert bench.are(times_since(bench, start), [1000.0, 2000.0, 3000.0])
    assert bench.pinged().queue == 1


@pytest.mark.parametrize("result", [Result.ACCEPTED, Result.STALE, Result.REJECTED])
def test_a_final_answer_ends_it(bench: Bench, result: Result) -> None:
    bench.plays()
    bench.press(0)
    bench.ack(1, result)
    bench.wait(10)
    bench.messages()
    bench.quietly(1500)
    assert bench.events() == []
    assert bench.pinged().queue == 0


def test_each_event_has_its_own_times(bench: Bench) -> None:
    bench.plays(all_armed)
    first = bench.press(0)
    bench.wait(30)
    second = bench.press(1)
    bench.wait(400)
    due = [(first + at, 1) for at in (0, 120, 360)] + [(second + at, 2) for at in (0, 120, 360)]
    due.sort()
    told = [(time, event) for time, event in bench.sent if isinstance(event, Event)]
    assert [event.number for _, event in told] == [number for _, number in due]
    assert bench.are([time for time, _ in told], [time for time, _ in due])


def test_answers_of_other_sessions_and_to_other_numbers_are_nothing(bench: Bench) -> None:
    bench.plays()
    bench.press(0)
    bench.ack(1, Result.ACCEPTED, session=SESSION + 1)
    bench.ack(1, Result.ACCEPTED, session=0)
    bench.ack(2, Result.ACCEPTED)
    bench.raw(frames.enclose(4, 0, b"\x01\x00\x77" + SESSION.to_bytes(4, "little")))
    bench.wait(30)
    assert bench.pinged().queue == 1


def test_all_seats_and_the_master_button_may_wait_and_an_eighth_finds_no_room(kind: Kind) -> None:
    """All let go at the same moment: the line has not room for that many frames at once."""
    with on_the_bench(kind, 6) as bench:
        bench.plays(all_armed)
        buttons = (*range(6), NO_BUTTON)
        for button in buttons:
            bench.down(button)
        bench.wait(60)
        for button in buttons:
            bench.up(button)
        bench.wait(40)
        first = bench.events()
        assert [(event.number, event.button) for event in first] == [*enumerate(buttons, 1)]
        assert {event.tries for event in first} == {0}
        pong = bench.pinged()
        assert (pong.queue, pong.dropped) == (7, 0)
        bench.messages()
        bench.quietly(1000)
        again = [event.number for event in bench.events()]
        assert {again.count(number) for number in range(1, 8)} == {3}  # after 120, 240, 480 ms
        bench.press(3)
        bench.press(NO_BUTTON)
        pong = bench.pinged()
        assert (pong.queue, pong.dropped) == (7, 2)
        bench.ack(2, Result.ACCEPTED)
        bench.press(4)
        assert 8 in [event.number for event in bench.events() if event.button == 4]
        assert bench.pinged().queue == 7


def test_four_that_wait_are_answered_in_any_order(bench: Bench) -> None:
    bench.plays(all_armed)
    for button in range(4):
        bench.press(button)
    for number in (3, 1, 4):
        bench.ack(number, Result.ACCEPTED)
    bench.wait(20)
    bench.messages()
    bench.quietly(1000)
    assert {event.number for event in bench.events()} == {2}
    bench.ack(2, Result.ACCEPTED)
    bench.wait(20)
    assert bench.pinged().queue == 0


def test_after_more_than_a_minute_nothing_has_wrapped(kind: Kind) -> None:
    """Counters of 16 bits would be over after 65.5 s."""
    with on_the_bench(kind) as bench:
        bench.plays(all_armed)
        bench.press(0)
        bench.down(2)
        ages = []
        for _ in range(70):
            bench.ack(1, Result.SEEN)
            bench.quietly(1000)
            ages += [event.age for event in bench.events() if event.number == 1]
        assert ages == sorted(ages)
        assert ages[-1] == 0xFFFF
        bench.up(2)
        bench.wait(20)
        (long,) = [event for event in bench.events() if event.number == 2]
        assert (long.kind, long.age) == (2, 0xFFFF)
        pong = bench.pinged()
        assert abs(pong.uptime - (bench.now - bench.started)) <= 20
        counts = bench.press(3)
        assert bench.are([bench.event_times()[-1]], [counts])


# ---------------------------------------------------------------- the link


def test_without_a_good_frame_for_2_seconds_nothing_counts_any_more(bench: Bench) -> None:
    bench.plays()
    bench.shows()
    bench.wait(10)
    heard = bench.now - 10
    bench.press(0)
    bench.to(heard + 1900)
    bench.raw(b"\0garbage\0" + frames.encode(red_to_move, 0)[:-3] + b"\0")  # no sign of life
    bench.to(heard + 1960)
    assert bench.levels()[1] > 0  # still the picture: the next player, dim
    bench.to(heard + 2200)
    bench.messages()
    bench.press(0)
    bench.press(NO_BUTTON)
    bench.wait(5000)
    assert bench.events() == []
    assert bench.levels() in ((0,) * 4, (255,) * 4)  # all in step
    assert bench.pinged().queue == 0


@pytest.mark.case("H8")
def test_no_event_of_before_is_sent_when_the_link_is_back(bench: Bench) -> None:
    bench.plays()
    bench.press(0)
    bench.down(0)
    bench.wait(3000)
    bench.messages()
    bench.greet(SESSION + 1)
    bench.wait(20)
    (hello,) = bench.messages()
    assert isinstance(hello, Hello)
    assert hello.session == SESSION  # no reset: the session lasts
    bench.shows()
    bench.wait(20)
    bench.up(0)
    bench.quietly(3000)
    assert bench.events() == []
    bench.press(0)
    assert [event.number for event in bench.events()] == [2]


@pytest.mark.parametrize(("silence", "waits"), [(1985, 1), (2015, 0)])
def test_the_link_is_lost_after_2_seconds_and_not_earlier(
    bench: Bench, silence: float, waits: int
) -> None:
    bench.plays()
    bench.shows()
    heard = bench.now
    bench.press(0)
    bench.to(heard + silence)
    assert bench.pinged().queue == waits


def test_any_good_frame_is_a_sign_of_life(bench: Bench) -> None:
    bench.plays()
    for _ in range(5):
        bench.wait(1500)
        bench.raw(frames.enclose(0x44, 0, b""))
    bench.wait(10)
    bench.press(0)
    assert len(bench.events()) == 1


def test_a_press_over_a_lost_link_makes_no_event(bench: Bench) -> None:
    bench.plays()
    bench.down(0)
    bench.wait(3000)
    bench.shows()
    bench.wait(50)
    bench.up(0)
    bench.quietly(500)
    assert bench.events() == []


def test_an_answer_while_the_event_is_on_the_line_counts(chip: FirmwareBench) -> None:
    """The host has the first copy while the second one is being sent."""
    chip.plays()
    start = chip.press(0)
    chip.to(start + 120.5)
    chip.ack(1, Result.ACCEPTED)
    chip.quietly(2000)
    assert len(chip.events()) <= 2
    assert chip.pinged().queue == 0
