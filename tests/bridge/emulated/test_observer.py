"""Who only listens to a board knows what a model of it knows that knows everything."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tableturn_bridge import frames
from tableturn_bridge.patterns import OWN, Pattern, lamp
from tableturn_bridge.protocol import (
    NO_BUTTON,
    QUEUE,
    Event,
    EventAck,
    HelloRequest,
    Kind,
    ResetCause,
    Result,
    SetUid,
    State,
)
from tableturn_bridge.virtual.board import Outcome

from .room import SESSION, Room, nothing, picture

TURN = lamp(Pattern.TURN, 1)


def is_known(room: Room) -> None:
    """All that the board knows is known."""
    board, observer = room.board, room.observer
    assert observer.picture == board.picture
    assert observer.session == board.session
    assert observer.uid == board.uid
    assert observer.waiting == board.waiting
    assert observer.frames_read == board.frames_read
    assert observer.events_sent == board.events_sent
    assert observer.resets == board.resets
    assert room.claimed == room.meant


def told(room: Room) -> list[tuple[str, int, int, int]]:
    """What became of the gestures, from the listener's side and the board's, which are the same."""
    room.wait(200)  # it takes a moment to be sure that nothing was sent
    heard, meant = room.observer.take_outcomes(), room.board.take_outcomes()
    assert sorted(map(key, heard)) == sorted(map(key, meant))
    return [key(one)[:4] for one in heard]


def key(one: Outcome) -> tuple[str, int, int, int, int, int]:
    gesture = one.gesture
    return (
        one.fate.name, gesture.button, one.number, one.sent, gesture.pressed_at, gesture.released_at
    )  # fmt: skip


def test_what_becomes_of_a_press() -> None:
    room = Room()
    room.plays(picture(TURN, armed=1))
    is_known(room)
    for number, result in enumerate((Result.ACCEPTED, Result.STALE, Result.REJECTED), 1):
        room.press(0)
        is_known(room)
        assert room.claimed[0].name == "PENDING"
        room.wait(130)  # it is sent once more
        room.ack(number, Result.SEEN)
        is_known(room)
        room.ack(number, result)
        is_known(room)
        assert told(room) == [(result.name, 0, number, 2)]
        room.quietly(1100, picture(TURN, armed=1))
    room.press(1)
    is_known(room)
    assert room.claimed[1].name == "NOT_ARMED"
    assert told(room) == [("NOT_ARMED", 1, 0, 0)]


def test_one_gesture_too_many_is_dropped_and_silence_loses_the_rest() -> None:
    room = Room()
    room.plays(nothing)
    for number in range(QUEUE + 1):
        room.press(number % 4)
        is_known(room)
    assert told(room) == [("DROPPED", QUEUE % 4, 0, 0)]
    room.wait(2000)
    is_known(room)
    assert room.observer.picture is None
    assert room.observer.picture_seen == nothing
    assert [fate for fate, *_ in told(room)] == ["LOST"] * QUEUE


def test_a_repeat_that_is_on_its_way_when_the_answer_comes_is_no_new_gesture() -> None:
    room = Room()
    room.plays(nothing)
    room.press(0)
    event = room.last
    room.ack(1, Result.ACCEPTED)
    room.observer.said(event, room.now)
    assert room.observer.events_sent == 2
    assert room.observer.waiting == 0
    assert told(room) == [("ACCEPTED", 0, 1, 1)]


def test_an_answer_of_another_session_answers_nothing() -> None:
    room = Room()
    room.plays(nothing)
    room.press(0)
    room.tell(EventAck(1, Result.ACCEPTED, SESSION + 1))
    is_known(room)
    assert room.observer.waiting == 1
    assert told(room) == []


def test_a_press_that_counted_after_all_waits_like_any_other() -> None:
    """Listener and board can't agree on which came first, the picture or the release."""
    room = Room()
    room.plays(picture(TURN, armed=1))
    room.moves(0, True)
    room.wait(60)
    unarmed = frames.encode(picture(TURN, armed=0), 0)
    room.observer.reached(unarmed, room.now)
    room.moves(0, False)
    room.wait(10)
    room.board.received(unarmed, room.now)
    is_known(room)
    assert room.claimed[0].name == "PENDING"
    room.ack(1, Result.ACCEPTED)
    assert told(room) == [("ACCEPTED", 0, 1, 1)]


def test_an_event_belongs_to_the_press_of_its_time() -> None:
    """One of a press that nobody noticed is not that of another press of the same button."""
    room = Room()
    room.plays(nothing)
    room.deaf = True
    began = room.now
    room.press(0)
    earlier = Event(SESSION, 9, 0, Kind.PRESS, NO_BUTTON, nothing.tag, nothing.revision, 500, 1)
    room.observer.said(frames.encode(earlier, 0), room.now)
    room.observer.said(room.last, room.now)
    life = room.observer.life
    assert life is not None
    pressed = {number: one.gesture.pressed_at for number, one in life.sent.items()}
    assert pressed == {9: room.now - 500, 1: began + 8}


def test_a_reset_loses_what_waits_and_keeps_the_number() -> None:
    room = Room(uid=0)
    room.plays(nothing)
    room.tell(SetUid(44))
    room.tell(SetUid(55))
    is_known(room)
    room.press(2)
    room.start(ResetCause.WATCHDOG)
    is_known(room)
    assert room.observer.uid == 44
    assert room.observer.session == 0
    assert told(room) == [("LOST", 2, 1, 1)]
    room.stop()
    assert {sign.name for sign in room.claimed} == {"DARK"}
    room.tell(nothing)
    room.press(1)
    assert room.observer.picture is None
    assert room.observer.resets == {"POWER_ON": 1, "WATCHDOG": 1}


def test_a_host_of_another_version_is_noticed() -> None:
    room = Room()
    room.plays(nothing)
    room.tell(HelloRequest(2, 3, SESSION))
    is_known(room)
    assert {sign.name for sign in room.claimed} == {"VERSION"}
    room.tell(nothing)
    is_known(room)
    assert room.observer.picture is None
    room.greet()
    is_known(room)


def test_a_picture_counts_only_after_a_greeting() -> None:
    room = Room()
    room.start()
    room.tell(nothing)
    is_known(room)
    assert room.observer.picture is None


def test_held_buttons_and_chords() -> None:
    room = Room()
    room.plays(nothing)
    room.moves(0, True)
    room.wait(805)
    is_known(room)
    room.wait(10)
    is_known(room)
    assert room.claimed[0].name == "HELD_LONG"
    assert room.observer.down_since(0) == room.now - 807
    room.moves(1, True)
    room.wait(10)
    is_known(room)
    assert [sign.name for sign in room.claimed[:2]] == ["HELD_CHORD"] * 2
    room.moves(0, False)
    room.wait(10)
    is_known(room)
    room.ack(1, Result.ACCEPTED)
    assert told(room) == [("ACCEPTED", 0, 1, 1)]
    assert room.observer.down_since(0) is None


def test_which_lamps_a_new_picture_changed() -> None:
    room = Room()
    room.plays(nothing)
    began = room.now
    room.wait(10)
    room.tell(picture(0, TURN))
    assert room.observer.lamps_told_at == began + 10
    assert room.observer.lamps_changed == frozenset({1})
    room.wait(10)
    room.tell(picture(0, TURN, revision=58))
    assert room.observer.lamps_told_at == began + 10


# ---------------------------------------------------------------- a long evening


class Play:
    """People and a host who do whatever comes into their heads, by a seed."""

    def __init__(self, seed: int) -> None:
        self.room = Room()
        self.random = random.Random(seed)
        self.picture = nothing
        self.down: set[int] = set()
        self.did: Counter[str] = Counter()

    def run(self, steps: int) -> None:
        self.room.plays(self.picture)
        for _ in range(steps):
            what = self.random.choices(*zip(*CHANCES, strict=True))[0]
            self.did[what.__name__] += 1
            what(self)
            is_known(self.room)
        for button in list(self.down):
            self.room.moves(button, False)
        self.room.wait(200)
        is_known(self.room)

    def passes(self) -> None:
        self.room.quietly(self.random.choice((1, 7, 8, 30, 130, 700)), self.picture)

    def moves(self) -> None:
        button = self.random.choice((0, 1, 2, 3, NO_BUTTON))
        closed = button not in self.down
        (self.down.add if closed else self.down.discard)(button)
        self.room.moves(button, closed)
        self.room.wait(self.random.choice((2, 8, 9, 60)))
        self.room.tell(self.picture)

    def shows(self) -> None:
        chosen = [lamp(Pattern(self.random.randrange(OWN)), self.random.randrange(9))
                  for _ in range(4)]  # fmt: skip
        self.picture = picture(
            *chosen,
            mark=self.random.randrange(5),
            seating=self.random.random() < 0.2,
            armed=self.random.choice((15, 15, self.random.randrange(16))),
            revision=self.picture.revision + 1,
        )
        self.room.tell(self.picture)

    def answers(self) -> None:
        life = self.room.observer.life
        assert life is not None
        for number in list(life.sent):
            if self.random.random() < 0.7:
                self.room.ack(number, Result(self.random.randrange(4)))

    def answers_something_else(self) -> None:
        self.room.tell(EventAck(self.random.randrange(20), 1, SESSION + 1))
        self.room.tell(EventAck(1, 9, SESSION))

    def is_silent(self) -> None:
        self.room.wait(self.random.choice((400, 1990, 2500)))

    def resets(self) -> None:
        self.room.start(self.random.choice(list(ResetCause)))
        self.room.wait(self.random.choice((0, 10, 300)))
        self.room.greet()

    def babbles(self) -> None:
        self.room.raw(self.random.randbytes(30))

    def is_strange(self) -> None:
        self.room.tell(HelloRequest(2, 2, 1))
        self.room.wait(50)
        self.room.greet()


CHANCES = [
    (Play.passes, 25),
    (Play.moves, 60),
    (Play.shows, 15),
    (Play.answers, 12),
    (Play.answers_something_else, 2),
    (Play.is_silent, 1),
    (Play.resets, 1),
    (Play.babbles, 2),
    (Play.is_strange, 1),
]


@pytest.mark.parametrize("seed", range(4))
def test_an_evening_in_which_everything_happens(seed: int) -> None:
    play = Play(seed)
    play.run(500)
    room = play.room
    assert min(play.did.values()) >= 1
    heard, meant = room.observer.take_outcomes(), room.board.take_outcomes()
    assert Counter(one.fate for one in heard) == Counter(one.fate for one in meant)
    assert room.observer.fates == room.board.fates
    assert len(room.observer.fates) >= 4
    assert [one.number for one in heard if one.number] == [
        one.number for one in meant if one.number
    ]


def test_nobody_is_asked_about_a_board_that_has_no_power() -> None:
    room = Room()
    room.tell(State(1, 1, 1, 0, (1,) * 6, 0, 255))
    room.press(0)
    assert (room.observer.picture, room.observer.session, room.observer.waiting) == (None, 0, 0)
    assert (room.observer.dropped, room.observer.frames_read) == (0, 0)
    assert room.observer.down_since(0) is None
