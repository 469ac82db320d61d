"""What only firmware has: a full line, counters that begin again, a number kept byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_uint16

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_bridge.frames import Decoder, enclose, encode
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import (
    LONGEST_BODY,
    Event,
    EventAck,
    HelloRequest,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    SetUid,
    State,
)

from .host import HostBoard, library

SESSION = 0x5E55104E
PICTURE = State(1, 57, 0b1111, 0, (lamp(Pattern.TURN, 1),) * 4 + (0, 0), 0, 255)
MS_PER_DAY = 24 * 60 * 60 * 1000


class Bench:
    """A panel with a session, and its host. Whoever waits keeps the link up meanwhile."""

    def __init__(self) -> None:
        self.board = HostBoard(4)
        self.now = 0
        self._decoder = Decoder()
        self.board.power_on(ResetCause.POWER_ON, 0)
        self.host(HelloRequest(1, 1, SESSION))
        self.host(PICTURE)
        self.wait(300)

    def host(self, message: Message) -> None:
        self.board.received(encode(message, 0), self.now)

    def wait(self, ms: int) -> None:
        for _ in range(ms):
            self.now += 1
            self.board.advance(self.now)
            if self.now % 500 == 0:
                self.host(PICTURE)

    def press(self, button: int = 0, ms: int = 60) -> None:
        self.board.edge(button, True, self.now)
        self.wait(ms)
        self.board.edge(button, False, self.now)
        self.wait(8)

    def messages(self) -> list[Message]:
        return self._decoder.feed(self.board.take_output())

    def events(self) -> list[Event]:
        return [one for one in self.messages() if isinstance(one, Event)]

    def pong(self) -> Pong:
        self.host(Ping(1))
        (pong,) = [one for one in self.messages() if isinstance(one, Pong)]
        return pong


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.messages()
    return bench


# ---------------------------------------------------------------- a line that is full


def test_an_event_that_finds_the_line_full_is_sent_when_there_is_room(bench: Bench) -> None:
    bench.board.core.host_set_room(10)
    bench.press()
    bench.wait(50)
    assert bench.events() == []
    bench.wait(1)  # what was fetched has made room
    (event,) = bench.events()
    assert (event.number, event.tries, event.age) == (1, 0, 111)


def test_a_frame_is_never_sent_in_part_and_takes_no_number(bench: Bench) -> None:
    for room in range(40):
        bench.board.core.host_set_room(room)
        bench.host(Ping(room))
        sent = bench.board.take_output()
        assert len(sent) == 0 or sent[0] == sent[-1] == 0
        assert len(sent) in (0, 28)
        bench._decoder.feed(sent)
    assert bench._decoder.counts.gaps == 0
    assert bench._decoder.counts.garbage == 0


# ---------------------------------------------------------------- counters


def test_events_are_numbered_anew_after_65535(bench: Bench) -> None:
    bench.board.core.host_set_number(c_uint16(0xFFFE))
    numbers = []
    for _ in range(3):
        bench.press()
        (event,) = bench.events()
        numbers.append(event.number)
        bench.host(EventAck(event.number, Result.ACCEPTED, SESSION))
    assert numbers == [0xFFFF, 0, 1]


def test_the_uptime_begins_again_after_49_days_and_nothing_else_does(bench: Bench) -> None:
    bench.board.core.host_set_uptime((1 << 32) - 100)
    assert bench.pong().uptime // MS_PER_DAY == 49
    bench.board.edge(0, True, bench.now)
    bench.wait(1000)
    assert bench.pong().uptime == 900
    assert bench.board.signs()[0] == "HELD_LONG"  # and no lamp test
    bench.board.edge(0, False, bench.now)
    bench.wait(8)
    (event,) = bench.events()
    assert event.age == 1000


def test_overruns_are_told(bench: Bench) -> None:
    bench.board.core.host_set_overruns(c_uint16(7))
    assert bench.pong().overruns == 7


def test_a_press_of_days_has_the_largest_age(bench: Bench) -> None:
    bench.press(ms=70_000)
    (event,) = bench.events()
    assert event.age == 0xFFFF


def test_tries_stop_at_their_largest_count(bench: Bench) -> None:
    bench.press()
    bench.wait(250_000)
    tries = [event.tries for event in bench.events()]
    assert tries[:3] == [0, 1, 2]
    assert tries[253:258] == [253, 254, 255, 255, 255]


def test_crc_errors_stop_at_their_largest_count(bench: Bench) -> None:
    damaged = bytearray(encode(PICTURE, 0))
    damaged[5] ^= 1
    bench.board.received(bytes(damaged) * 65_540, bench.now)
    assert bench.pong().crc_errors == 0xFFFF


# ---------------------------------------------------------------- messages of other versions


@given(st.integers(0, LONGEST_BODY), st.integers(0, 255))
def test_a_body_may_grow_but_not_shrink(length: int, code: int) -> None:
    bench = Bench()
    bench.messages()
    bench.board.received(enclose(code, 0, bytes([1] * length)), bench.now)
    answered = bool(bench.messages())
    assert answered == ((code == 1 and length >= 6) or (code == 3 and length >= 2))


# ---------------------------------------------------------------- the number that lasts

RECORD = 7
EMPTY = b"\xff" * RECORD


def record_of(record: bytes) -> int:
    return int(library(4).uid_record_read(record))


def writes(uid: int) -> Iterator[tuple[int, int]]:
    for done in range(RECORD + 1):
        write = library(4).uid_record_write(uid, done)
        yield write.place, write.byte


def written(uid: int, before: bytes) -> list[bytes]:
    """The record after each of the writes."""
    record = bytearray(before)
    states = []
    for place, byte in writes(uid):
        record[place] = byte
        states.append(bytes(record))
    return states


def test_an_empty_memory_has_no_number() -> None:
    assert record_of(EMPTY) == 0
    assert record_of(bytes(RECORD)) == 0


@given(st.integers(1, 0xFFFFFFFF), st.integers(1, 0xFFFFFFFF), st.binary(min_size=7, max_size=7))
def test_a_number_that_is_torn_in_writing_is_no_number(uid: int, old: int, junk: bytes) -> None:
    for before in (EMPTY, junk, written(old, EMPTY)[-1]):
        *torn, whole = written(uid, before)
        assert [record_of(record) for record in torn] == [0] * RECORD
        assert record_of(whole) == uid


@given(st.integers(1, 0xFFFFFFFF), st.integers(0, RECORD), st.integers(0, 255))
def test_a_cell_that_was_half_written_makes_no_wrong_number(uid: int, at: int, left: int) -> None:
    """Whatever is left in the cell whose writing was cut off."""
    place, _ = list(writes(uid))[at]
    record = bytearray(([EMPTY, *written(uid, EMPTY)])[at])
    record[place] = left
    assert record_of(bytes(record)) in (0, uid)


def test_a_number_is_taken_once(bench: Bench) -> None:
    assert bench.board.uid == 0
    bench.host(SetUid(0))
    bench.host(SetUid(7))
    bench.host(SetUid(8))
    assert bench.board.uid == 7
