"""What lamps say by their light alone, and what light confirms of what was heard."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest

from tableturn_bridge.emulated.light import Trace, tolerance
from tableturn_bridge.patterns import DIMMEST, OWN, STEP, Pattern, lamp
from tableturn_bridge.protocol import NO_BUTTON, HelloRequest, ResetCause, Result
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.lights import LAMP_TEST, RUN
from tableturn_bridge.virtual.panel import UNCLEAR

from .room import BEFORE, SESSION, Room, nothing, picture

GIVEN = [pattern for pattern in Pattern if pattern < OWN]
TURN, NEXT, STAGED = (lamp(one, 1) for one in (Pattern.TURN, Pattern.NEXT, Pattern.STAGED))


def measured(room: Room) -> list[str]:
    return [lamp.measured for lamp in room.seen()]


# ---------------------------------------------------------------- each sign by its light


@pytest.mark.parametrize(
    ("pattern", "mark", "brightness"),
    [(pattern, *rest) for pattern in GIVEN for rest in ((0, 255), (1, 255), (0, DIMMEST))],
)
def test_each_pattern_is_known_by_its_light_after_a_run(
    pattern: Pattern, mark: int, brightness: int
) -> None:
    room = Room(2)
    shown = picture(lamp(pattern, 3), mark=mark, brightness=brightness)
    room.plays(shown)
    room.quietly(333, shown)
    assert room.seen()[0].sign == pattern.name, "it is confirmed at once"
    assert measured(room)[0] == UNCLEAR, "by its light alone it could be another one"
    assert pattern.name in room.seen()[0].candidates
    # What it was before may have looked alike for a run; then it runs through itself.
    room.quietly(round(2 * RUN) + 100, shown)
    assert measured(room)[0] == pattern.name
    assert room.seen()[0].marked == bool(mark)
    assert room.seen()[0].candidates == (pattern.name,)
    # And it stays so.
    for _ in range(12):
        room.quietly(177, shown)
        assert measured(room)[0] == room.seen()[0].sign == pattern.name


def test_no_two_signs_have_the_same_light() -> None:
    """Steps, dim and breathing tell all signs apart, with and without the mark."""
    plain = [lights.of_lamp(pattern) for pattern in GIVEN]
    signs = [*plain, *map(lights.with_mark, plain), lights.LINK_LOST, lights.VERSION]
    signs += [lights.Sign(name, shape) for name, shape in lights.WAITING.items()]

    def seen(sign: lights.Sign) -> list[int]:
        return [lights.light(sign, 255, 0, step * STEP) for step in range(32)]

    for one, other in combinations(signs, 2):
        pairs = zip(seen(one), seen(other), strict=True)
        assert max(abs(a - b) for a, b in pairs) > 2 * tolerance(255), (one, other)


def test_a_start_and_a_board_without_power() -> None:
    room = Room(2)
    assert measured(room) == ["DARK"] * 2
    room.start()
    room.wait(150)
    assert [lamp.sign for lamp in room.seen()] == ["TEST"] * 2
    assert measured(room) == ["TEST"] * 2
    room.wait(1300)
    assert measured(room) == ["LINK_LOST"] * 2
    room.stop()
    room.wait(10)
    assert measured(room) == ["DARK"] * 2
    assert [lamp.sign for lamp in room.seen()] == ["DARK"] * 2
    room.start(ResetCause.EXTERNAL)
    room.tell(HelloRequest(9, 9, SESSION))
    room.wait(1400)
    assert measured(room) == ["VERSION"] * 2


@pytest.mark.parametrize(
    ("result", "name", "within"),
    [(Result.REJECTED, "REFUSED", 900), (Result.STALE, "STALE", 640), (None, "NOT_ARMED", 400)],
)
@pytest.mark.parametrize("before", [Pattern.TURN, Pattern.NEXT, Pattern.OFF])
@pytest.mark.parametrize("later", [0, 23])
def test_flashes_are_known_once_they_have_flashed(
    result: Result | None, name: str, within: int, before: Pattern, later: int
) -> None:
    room = Room(2)
    shown = picture(lamp(before, 1), armed=0 if result is None else 1)
    room.plays(shown)
    room.quietly(2500 + later, shown)
    assert measured(room)[0] == before.name
    room.press(0)
    if result is not None:
        room.ack(1, result)
    room.wait(20)
    assert room.seen()[0].sign == name
    room.wait(within - 20)
    if (name, before) == ("NOT_ARMED", Pattern.TURN):
        # A light that stays for two steps more and goes out is that of a lamp that goes out.
        assert measured(room)[0] == UNCLEAR
        assert {"OFF", "NOT_ARMED"} <= set(room.seen()[0].candidates)
    else:
        assert measured(room)[0] == name
    room.quietly(3 * RUN, shown)
    assert measured(room)[0] == before.name


def test_a_sign_is_certain_only_when_it_has_run_through() -> None:
    room = Room(2)
    shown = picture(lamp(Pattern.LOW, 1))
    room.plays(shown)
    room.quietly(LAMP_TEST + RUN - STEP - 300, shown)
    assert room.seen()[0].candidates == ("LOW",)
    assert measured(room)[0] == UNCLEAR
    room.quietly(2 * STEP, shown)
    assert measured(room)[0] == "LOW"


def test_a_flash_is_certain_after_its_last_light_and_until_it_has_run_through() -> None:
    room = Room(2)
    shown = picture(TURN)
    room.plays(shown)
    room.quietly(2500, shown)
    room.press(0)
    room.ack(1, Result.REJECTED)
    room.quietly(9 * STEP + 30, shown)
    assert room.seen()[0].candidates == ("REFUSED",)
    assert measured(room)[0] == UNCLEAR, "it is lit for the third time, but not dark again"
    room.quietly(RUN - 10 * STEP, shown)
    assert measured(room)[0] == "REFUSED"
    room.quietly(STEP, shown)
    assert room.seen()[0].level == 255
    assert measured(room)[0] == UNCLEAR, "a fourth light is none of a flash"


def test_the_lamp_test_is_no_flash() -> None:
    room = Room(2)
    room.plays(nothing)
    assert "OFF" in room.seen()[0].candidates
    assert not set(lights.ONCE) & set(room.seen()[0].candidates)


def test_a_lamp_test_that_begins_anew_is_another_one() -> None:
    room = Room(2)
    room.start()
    room.wait(200)
    began = room.seen()[0].measured_since
    assert began == BEFORE
    room.start(ResetCause.WATCHDOG)
    room.wait(200)
    assert measured(room)[0] == "TEST"
    assert room.seen()[0].measured_since == began + 200


def test_a_dim_light_and_a_full_one_of_less_brightness_are_two_things() -> None:
    room = Room(2)
    room.plays(picture(NEXT))
    room.quietly(2 * RUN, picture(NEXT))
    assert measured(room)[0] == "NEXT"
    level = room.seen()[0].level
    shown = picture(TURN, brightness=level)
    room.tell(shown)
    room.quietly(2 * RUN, shown)
    assert room.seen()[0].level == level
    assert measured(room)[0] == room.seen()[0].sign == "TURN"


def test_a_gesture_that_waits_and_waits() -> None:
    room = Room(2)
    room.plays(picture(TURN))
    room.quietly(2000, picture(TURN))
    room.press(0)
    room.quietly(1400, picture(TURN))
    assert measured(room)[0] == room.seen()[0].sign == "PENDING"
    room.quietly(1600 + 1400, picture(TURN))
    assert measured(room)[0] == room.seen()[0].sign == "NO_ANSWER"
    room.ack(1, Result.ACCEPTED)
    room.quietly(2100, picture(TURN))
    assert measured(room)[0] == "TURN"


@pytest.mark.parametrize("pattern", GIVEN)
def test_a_held_button_turns_its_lamp_into_the_opposite(pattern: Pattern) -> None:
    room = Room(3)
    shown = picture(lamp(pattern, 1))
    room.plays(shown)
    room.quietly(2300, shown)
    room.moves(0, True)
    room.quietly(810, shown)
    room.quietly(300, shown)
    assert measured(room)[0] == room.seen()[0].sign == "HELD_LONG"
    room.moves(1, True)
    room.quietly(1300, shown)
    assert measured(room)[:2] == ["HELD_CHORD"] * 2
    assert [lamp.sign for lamp in room.seen()[:2]] == ["HELD_CHORD"] * 2
    room.moves(0, False)
    room.moves(1, False)
    room.wait(20)
    room.ack(1, Result.ACCEPTED)
    room.quietly(2300, shown)
    assert measured(room)[0] == pattern.name


def test_a_button_that_is_still_held_when_the_link_is_lost() -> None:
    room = Room(2)
    room.plays(picture(TURN))
    room.quietly(2300, picture(TURN))
    room.moves(0, True)
    room.quietly(1200, picture(TURN))
    assert measured(room)[0] == "HELD_LONG"
    room.wait(2000 + 2 * RUN)
    assert measured(room)[0] == room.seen()[0].sign == "LINK_LOST"


# ---------------------------------------------------------------- light against words


def test_a_lamp_that_does_something_else_than_was_asked_is_found_out() -> None:
    room = Room(3)
    room.plays(picture(TURN, NEXT))
    room.quietly(2000, picture(TURN, NEXT))
    room.levels = (255, 63, 0)
    room.tell(picture(NEXT, TURN))
    room.wait(20)
    room.quietly(1500, picture(NEXT, TURN))
    assert [lamp.sign for lamp in room.seen()] == measured(room) == ["TURN", "NEXT", "OFF"]
    room.levels = (130, 0, 0)  # half a light is that of no sign
    room.quietly(1500, picture(NEXT, TURN))
    assert room.seen()[0].sign == UNCLEAR
    assert measured(room)[1] == "OFF"


def test_a_picture_counts_only_when_the_light_follows() -> None:
    """What the benchmark measures: not when the picture came, but when the lamp was lit."""
    room = Room(2, lag=6)
    room.plays(picture(TURN, 0))
    room.quietly(2000, picture(TURN, 0))
    before = room.seen()[1]
    assert before.settled
    room.tell(picture(0, TURN))
    assert replace(room.seen()[1], settled=True) == before
    told = room.now
    room.wait(5)
    assert (room.seen()[1].sign, room.seen()[1].settled) == ("OFF", False)
    room.wait(10)
    lit = room.seen()[1]
    assert (lit.sign, lit.settled) == ("TURN", True)
    assert told + 5 <= lit.since <= told + 8
    assert room.eyes.changed_at() == lit.since
    room.wait(30)
    assert measured(room)[1] == UNCLEAR
    assert {"TURN", "STAGED"} <= set(room.seen()[1].candidates)


def test_a_lamp_that_goes_on_alike_says_the_new_thing_since_it_was_told() -> None:
    room = Room(2)
    room.plays(picture(TURN))
    room.quietly(2000 - 300 % 64, picture(TURN))
    while (room.now - 1000) % RUN > 100:
        room.wait(1)
    room.tell(picture(STAGED))
    told = room.now
    room.wait(5)
    assert (room.seen()[0].sign, room.seen()[0].since) == ("STAGED", told)
    assert measured(room)[0] == "TURN"
    room.quietly(2 * RUN, picture(STAGED))
    assert measured(room)[0] == "STAGED"


def test_a_board_that_is_not_heard_is_still_seen() -> None:
    room = Room(2)
    room.plays(picture(TURN))
    room.quietly(500, picture(TURN))
    room.deaf = True
    room.start(ResetCause.WATCHDOG)
    room.greet()
    room.quietly(2200, picture(TURN))
    assert room.observer.picture is None
    assert measured(room)[0] == "TURN"
    assert room.seen()[0].sign == "TURN"


@pytest.mark.parametrize("seed", range(3))
def test_what_is_certain_is_so(seed: int) -> None:
    """Pictures, presses and answers at any moment: a sign that stays is found, and no other one."""
    room, chance = Room(4), random.Random(seed)
    shown = nothing
    room.plays(shown)
    found = certain = 0
    for _ in range(900):
        what = chance.random()
        if what < 0.02:
            lamps = [lamp(chance.choice(GIVEN), chance.randrange(9)) for _ in range(4)]
            shown = picture(*lamps, mark=chance.randrange(5), revision=shown.revision + 1)
        elif what < 0.03:
            room.press(chance.choice((0, 1, 2, 3, NO_BUTTON)), chance.choice((20, 60, 900)))
        elif what < 0.06:
            for number in range(1, 40):
                room.ack(number, Result(chance.randrange(1, 4)))
        if chance.random() < 0.3:
            room.tell(shown)
        room.wait(chance.choice((3, 20, 77)))
        for sign, then, seen in zip(room.meant, room.since, room.seen(), strict=True):
            if room.now - then > 150:
                assert seen.sign == sign.name
            if sign.since is None and room.now - then > 2 * RUN + 200:
                found += 1
                assert seen.measured == sign.name
            if sign.since is None and room.now - then > RUN + 100 and seen.measured != UNCLEAR:
                certain += 1
                assert seen.measured == sign.name
    assert found > 50
    assert certain > found


# ---------------------------------------------------------------- light over time


def test_a_trace_remembers_when_the_light_changed() -> None:
    trace = Trace()
    assert (trace.level, trace.at(5), trace.edge_to(5), trace.edge_from(0)) == (0, 0, None, None)
    for at, level in ((100, 60), (101, 130), (102, 255), (300, 0)):
        trace.add(at, level)
    assert [trace.at(time) for time in (99.9, 100, 101.5, 299, 300)] == [0, 60, 130, 255, 0]
    assert trace.edge_to(250) == 100, "a level that rises is one edge"
    assert trace.edge_to(400) == 300
    assert trace.edge_from(102.5) == 300
    assert trace.outside(250, 255, 103, 299) is None
    assert trace.outside(250, 255, 103, 301) == 300
    assert trace.outside(100, 255, 50, 60) == 50
    trace.add(200, 7)
    assert [trace.at(time) for time in (250, 300)] == [255, 7], "time doesn't go back"
    assert trace.edge_from(301) is None


def test_a_trace_forgets_what_is_long_past() -> None:
    trace = Trace()
    for time in range(20_000):
        trace.add(time, time % 2 * 255)
    assert len(trace._times) <= 4096
    assert trace.outside(0, 254, 19_000, 19_100) == 19_001
