"""The model of the panel's program in virtual time.

What it must do as the firmware does is tested on both, in tests/bridge/board.
"""

import random
from dataclasses import replace

import pytest

from tableturn_bridge import frames
from tableturn_bridge.patterns import SHAPES, Pattern, lamp
from tableturn_bridge.protocol import (
    NO_BUTTON,
    Hello,
    HelloRequest,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    State,
    with_mark,
)
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.board import Board, Make

from .play import SESSION, Bench, Host, all_armed, red_to_move, together


def hello(bench: Bench) -> Hello:
    (message,) = bench.messages()
    assert isinstance(message, Hello)
    return message


# ---------------------------------------------------------------- greeting


def test_it_says_hello_at_its_start_without_a_session() -> None:
    said = hello(Bench(Make(buttons=5, major=2, minor=3, build=4), uid=9))
    assert (said.session, said.uid, said.buttons, said.major, said.minor) == (0, 9, 5, 2, 3)
    assert said.reset_cause == ResetCause.POWER_ON


@pytest.mark.case("H5")
@pytest.mark.parametrize("span", [(1, 1), (3, 9)])
def test_without_a_common_version_it_says_its_own_and_shows_it(span: tuple[int, int]) -> None:
    bench = Bench(Make(protocol=2))
    bench.messages()
    bench.tell(HelloRequest(*span, SESSION))
    said = hello(bench)
    assert (said.protocol, said.session) == (2, 0)
    bench.shows()
    bench.wait(5000)
    assert set(bench.signs()) == {"VERSION"}
    bench.tell(HelloRequest(1, 2, SESSION))
    bench.shows()
    assert bench.sign(0) == "TURN"


def test_a_host_of_another_version_can_arm_nothing() -> None:
    """Also on a panel that has a session, from a host that was there before."""
    bench = Bench()
    bench.plays()
    bench.tell(HelloRequest(2, 3, SESSION))
    bench.shows()
    bench.messages()
    bench.press(0)
    bench.press(NO_BUTTON)
    assert bench.events() == []


def test_a_ping_is_answered_with_what_it_shows() -> None:
    bench = Bench()
    bench.plays()
    bench.raw(b"\0\x05abcd\0")
    bench.press(0)
    bench.messages()
    bench.tell(Ping(300))
    (pong,) = bench.messages()
    assert isinstance(pong, Pong)
    assert (pong.token, pong.revision, pong.session, pong.queue) == (300, 57, SESSION, 1)
    assert (pong.uptime, pong.crc_errors, pong.dropped) == (bench.now, 1, 0)


def test_it_lets_go_of_what_it_does_not_know() -> None:
    bench = Bench()
    bench.plays()
    bench.messages()
    grown = red_to_move.body() + b"something new"
    bench.raw(frames.enclose(State.CODE, 1, grown[:10]))
    bench.raw(frames.enclose(0x44, 2, b""))
    bench.raw(frames.encode(Pong(1, 2, 3, 4, 5, 6, 7, 8), 3))
    assert bench.signs()[0] == "TURN"
    bench.raw(frames.enclose(State.CODE, 4, replace(red_to_move, revision=99).body() + b"new"))
    assert bench.board.picture == replace(red_to_move, revision=99)
    assert bench.messages() == []


# ---------------------------------------------------------------- events


def full_panel() -> Bench:
    """Six seats and the master button have let go at the same moment: seven events wait."""
    bench = Bench(Make(buttons=6))
    bench.plays(replace(all_armed, armed=0b111111))
    for button in (*range(6), NO_BUTTON):
        bench.down(button)
    bench.wait(60)
    for button in (*range(6), NO_BUTTON):
        bench.up(button)
    bench.wait(8)
    return bench


def test_all_seats_and_the_master_button_may_wait_at_the_same_time() -> None:
    bench = full_panel()
    assert bench.board.waiting == 7
    assert bench.board.dropped == 0
    assert [event.button for event in bench.events()] == [*range(6), NO_BUTTON]
    assert set(bench.signs()) == {"PENDING"}


def test_an_eighth_event_finds_no_room_and_its_lamp_says_so_at_once() -> None:
    bench = full_panel()
    bench.press(3)
    assert bench.board.waiting == 7
    assert bench.board.dropped == 1
    assert bench.fates() == ["DROPPED"]
    assert bench.signs() == (*["PENDING"] * 3, "REFUSED", *["PENDING"] * 2)
    bench.wait(1023)
    assert bench.sign(3) == "REFUSED"
    bench.wait(1)
    assert bench.sign(3) == "PENDING"  # its first one
    bench.press(NO_BUTTON)
    assert set(bench.signs()) == {"REFUSED"}
    assert {event.number for event in bench.events()} == {*range(1, 8)}
    bench.ack(2, Result.ACCEPTED)
    bench.press(4)
    assert [event.number for event in bench.events() if event.button == 4][-1] == 8
    assert bench.sign(4) == "PENDING"


def test_a_chord_that_finds_no_room_is_told_on_both_lamps() -> None:
    bench = full_panel()
    bench.down(1)
    bench.quietly(900, replace(all_armed, armed=0b111111))
    bench.press(2)
    assert bench.fates() == ["DROPPED"]
    assert bench.signs()[2] == "REFUSED"
    bench.up(1)
    bench.wait(8)
    assert [bench.sign(button) for button in range(4)] == [
        "PENDING", "REFUSED", "REFUSED", "PENDING"
    ]  # fmt: skip


# ---------------------------------------------------------------- what ends a flash


def test_no_flash_hides_the_next_press() -> None:
    bench = Bench()
    bench.plays(replace(red_to_move, armed=0))
    bench.press(0)
    bench.press(1)
    assert bench.signs()[:2] == ("NOT_ARMED", "NOT_ARMED")
    bench.shows(replace(red_to_move, armed=0b0001))
    assert bench.signs()[:2] == ("TURN", "NOT_ARMED")
    bench.press(0)
    assert bench.signs()[:2] == ("PENDING", "NOT_ARMED")
    bench.ack(1, Result.REJECTED)
    assert bench.sign(0) == "REFUSED"
    bench.press(0)
    assert bench.sign(0) == "PENDING"


def test_a_press_that_began_too_early_flashes_also_where_the_button_is_armed_by_now() -> None:
    """Pictures are repeated: only one that arms the button ends the flash."""
    bench = Bench()
    bench.plays(replace(red_to_move, armed=0))
    bench.down(0)
    bench.wait(30)
    bench.shows()
    bench.up(0)
    bench.wait(8)
    assert bench.sign(0) == "NOT_ARMED"
    bench.shows()
    assert bench.sign(0) == "NOT_ARMED"


def test_the_master_button_hides_no_answer_to_a_seat() -> None:
    bench = Bench()
    bench.plays(all_armed)
    bench.press(1)
    bench.ack(1, Result.REJECTED)
    bench.press(NO_BUTTON)
    assert bench.signs() == ("PENDING", "REFUSED", "PENDING", "PENDING")
    bench.ack(2, Result.STALE)
    assert set(bench.signs()) == {"STALE"}
    bench.press(NO_BUTTON)
    assert set(bench.signs()) == {"PENDING"}


@pytest.mark.parametrize(
    ("result", "sign", "flashes"),
    [(Result.REJECTED, "REFUSED", 3), (Result.STALE, "STALE", 2), (Result.ACCEPTED, "TURN", 1)],
)
def test_the_lamp_waits_and_then_tells_the_answer(result: Result, sign: str, flashes: int) -> None:
    bench = Bench()
    bench.plays()
    bench.press(0)
    assert bench.sign(0) == "PENDING"
    bench.wait(30)
    bench.ack(1, result)
    assert bench.sign(0) == sign
    lit = bench.watch(0, 1)
    assert len([part for part in lit.split(".") if part]) == flashes
    assert bench.sign(0) == "TURN"


def test_all_lamps_answer_for_the_button_that_has_none() -> None:
    bench = Bench()
    bench.plays()
    bench.press(NO_BUTTON)
    assert set(bench.signs()) == {"PENDING"}
    bench.ack(1, Result.REJECTED)
    assert set(bench.signs()) == {"REFUSED"}


def test_age_stops_at_its_largest_value() -> None:
    bench = Bench()
    bench.plays()
    bench.press(0)
    for _ in range(70):
        bench.ack(1, Result.SEEN)
        bench.quietly(1000)
    assert bench.events()[-1].age == 0xFFFF


# ---------------------------------------------------------------- resets


def test_what_was_not_sent_yet_is_lost_with_the_power() -> None:
    board = Board()
    board.power_on(ResetCause.POWER_ON, 0)
    board.power_off(1)
    assert board.take_output() == b""


# ---------------------------------------------------------------- lamps


def levels_of(pattern: Pattern, marked: int = 0) -> tuple[int, ...]:
    """How bright a lamp is in each step of two runs of a pattern; `marked` is 1 with the mark."""
    shown = replace(red_to_move, lamps=(lamp(pattern, 3),) * 6, flags=with_mark(0, marked))
    bench = Bench()
    bench.greet()
    bench.shows(shown)
    bench.quietly(2048, shown)
    levels = []
    for _ in range(32):
        levels.append(bench.board.lamps(bench.now)[0][0])
        bench.quietly(64, shown)
        bench.shows(shown)
    return tuple(levels)


def test_all_sixteen_patterns_differ_without_colours() -> None:
    levels = {pattern: levels_of(pattern) for pattern in Pattern}
    assert len(set(levels.values())) == len(Pattern) == len(SHAPES) == 16
    assert levels[Pattern.TURN] == (255,) * 32
    assert levels[Pattern.NEXT] == (64,) * 32
    assert levels[Pattern.LOW] == ((255,) * 4 + (0,) * 4) * 4
    swells = levels[Pattern.PAUSED]
    assert swells[15:17] == (255, 255)
    assert swells[0] == swells[31] == 16
    assert list(swells[:16]) == sorted(set(swells))
    assert max(levels[Pattern.BETWEEN]) == 64


def test_the_start_players_mark_is_seen_on_each_pattern_and_changes_none_into_another() -> None:
    plain = {levels_of(pattern): pattern for pattern in Pattern}
    marked = {levels_of(pattern, 1): pattern for pattern in Pattern}
    assert len({*plain, *marked}) == 32
    shown = {pattern: levels[:16] for levels, pattern in marked.items()}
    assert shown[Pattern.TURN] == (255,) * 8 + (0, 255, 0) + (255,) * 5
    assert shown[Pattern.NEXT] == (64,) * 8 + (0, 64, 0) + (64,) * 5
    assert shown[Pattern.OFF] == (0,) * 8 + (64, 0, 64) + (0,) * 5


def test_what_runs_in_one_pattern_runs_in_step() -> None:
    bench = Bench()
    bench.plays(
        replace(red_to_move, lamps=(lamp(Pattern.LOW, 1), lamp(Pattern.LOW, 2), 0, 0, 0, 0))
    )
    for _ in range(40):
        first, second, *_ = bench.board.lamps(bench.now)
        assert first[0] == second[0]
        bench.wait(37)


def test_brightness_holds_for_all_patterns() -> None:
    bench = Bench()
    bench.plays(replace(red_to_move, brightness=40))
    assert [level for level, _ in bench.board.lamps(bench.now)] == [40, 10, 0, 0]


@pytest.mark.parametrize("brightness", [1, 2, 3, 15])
@pytest.mark.parametrize("pattern", SHAPES)
def test_what_is_lit_is_never_wholly_dark(pattern: Pattern, brightness: int) -> None:
    sign = lights.of_lamp(lamp(pattern))
    for step in range(32):
        level = lights.light(sign, brightness, 0, 64 * step)
        assert (0 < level <= brightness) == bool(sign.shape.steps >> step % 16 & 1)


# ---------------------------------------------------------------- a bad line


def presses_on_a_bad_line(noise: float, seed: int, presses: int) -> tuple[Host, list[str]]:
    """So many presses by four people, one after the other."""
    board = Board(Make(), uid=9)
    host = Host(board, noise, seed)
    board.power_on(ResetCause.POWER_ON, 0)
    now = 0.0
    while board.picture is None:
        now = together(board, host, now, now + 50)
    fates: list[str] = []
    for number in range(presses):
        board.edge(number % 4, True, now)
        now = together(board, host, now, now + 60)
        board.edge(number % 4, False, now)
        while len(fates) == number:
            now = together(board, host, now, now + 10)
            fates += [outcome.fate.name for outcome in board.take_outcomes()]
    return host, fates


@pytest.mark.parametrize(("noise", "seed"), [(0.0, 0), (0.002, 1), (0.01, 2), (0.01, 3)])
def test_250_of_250_presses_arrive_exactly_once(noise: float, seed: int) -> None:
    host, fates = presses_on_a_bad_line(noise, seed, 250)
    assert fates == ["ACCEPTED"] * 250
    assert host.accepted == [(host.accepted[0][0], number) for number in range(1, 251)]


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, _ = presses_on_a_bad_line(0.01, 5, 60)
    second, _ = presses_on_a_bad_line(0.01, 5, 60)
    other, _ = presses_on_a_bad_line(0.01, 6, 60)
    assert first.transcript == second.transcript
    assert first.transcript != other.transcript


def test_garbage_of_any_kind_changes_nothing() -> None:
    draw = random.Random(7)
    bench = Bench()
    bench.plays()
    bench.messages()
    for _ in range(1000):
        bench.raw(draw.randbytes(draw.randrange(1, 60)))
        bench.shows()
    assert bench.board.picture == red_to_move
    messages: list[Message] = bench.messages()
    assert messages == []


@pytest.mark.parametrize(
    "values", [{"buttons": 1}, {"buttons": 7}, {"protocol": 256}, {"major": -1}]
)
def test_a_board_that_can_not_be(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        Make(**values)  # type: ignore[arg-type]
