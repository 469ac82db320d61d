"""Sequences of a panel and its host: what a finger does, and what it is taken for."""

from __future__ import annotations

from tableturn_bridge.frames import encode
from tableturn_bridge.protocol import (
    DEBOUNCE,
    LONG_PRESS,
    NO_BUTTON,
    Flags,
    Kind,
    Result,
    with_mark,
)
from vectors.sequence import SESSION, SHOWN, Sequence, picture


def _unarmed() -> Sequence:
    unarmed = Sequence(
        "not-armed", "a button that is not asked: one flash, no event", 3000, shown=picture(armed=2)
    )
    at = unarmed.press(1000, 0)
    unarmed.shows(at + 50, "NOT_ARMED", *SHOWN[1:])
    unarmed.shows(at + 1200, *SHOWN)
    return unarmed


def _seen() -> Sequence:
    seen = Sequence(
        "revision-at-the-press", "a press carries what was shown when it began", 3000, silent=1000
    )
    seen.pictures(1020, 3000, picture(58))
    at = seen.press(1000, 0, 100)
    seen.event(at, 1, 0, age=100, revision=57)
    seen.ack(at + 20, 1, Result.STALE)
    return seen


def _marked() -> Sequence:
    """The mark lies on top of what the lamp says; what a finger does goes before it."""
    marked = Sequence(
        "marked",
        "the start player's mark is on the button whose number stands above the flags",
        6000,
        silent=3000,
        shown=picture(flags=with_mark(Flags.TIME_LOW, 3)),
    )
    marked.shows(1000, *SHOWN, marked=2)
    at = marked.press(1500, 2)
    marked.event(at, 1, 2, age=60)
    marked.shows(at + 50, *SHOWN[:2], "PENDING", SHOWN[3])
    marked.ack(at + 100, 1, Result.ACCEPTED)
    marked.shows(at + 150, *SHOWN, marked=2)
    marked.pictures(3030, 4500, picture(58, flags=with_mark(0, 1)))
    marked.shows(3100, *SHOWN, marked=0)
    marked.pictures(4530, 6000, picture(59))
    marked.shows(4600, *SHOWN)
    return marked


def _long() -> Sequence:
    long = Sequence("long", "from 800 ms on it is a long press", 5000)
    at = long.press(1000, 0, 780)
    long.event(at, 1, 0, age=780)
    long.ack(at + 20, 1, Result.ACCEPTED)
    at = long.press(2500, 0, 820)
    long.event(at, 2, 0, age=820, kind=Kind.LONG)
    long.ack(at + 20, 2, Result.ACCEPTED)
    return long


def _disarmed() -> Sequence:
    disarmed = Sequence(
        "disarmed-at-the-release",
        "a press whose button is armed no longer when it is let go, or was not yet when it was "
        "pressed: one flash, no event",
        5000,
        silent=1000,
    )
    disarmed.pictures(1030, 3000, picture(58, armed=0b0010))
    at = disarmed.press(1000, 0)
    disarmed.shows(at + 50, "NOT_ARMED", *SHOWN[1:])
    disarmed.shows(at + 1200, *SHOWN)
    disarmed.pictures(3030, 5000, picture(59, armed=0b0001))
    at = disarmed.press(3000, 0)
    disarmed.shows(at + 50, "NOT_ARMED", *SHOWN[1:])
    at = disarmed.press(4500, 0)
    disarmed.event(at, 1, 0, age=60, revision=59)
    disarmed.ack(at + 20, 1, Result.ACCEPTED)
    return disarmed


def _armed_after_all() -> Sequence:
    """What a lamp had to say of the press before hides neither the turn nor the next press."""
    armed = Sequence(
        "armed-after-all",
        "a flash of a button that had nothing to say ends when it has; no flash hides a press that "
        "counts",
        5000,
        silent=1100,
        shown=picture(armed=0),
    )
    at = armed.press(1000, 0)
    armed.press(1000, 1)
    armed.shows(at + 40, "NOT_ARMED", "NOT_ARMED", *SHOWN[2:])
    armed.pictures(at + 60, 5000, picture(58, armed=0b0001))
    armed.shows(at + 100, "TURN", "NOT_ARMED", *SHOWN[2:])
    at = armed.press(1250, 0)
    armed.event(at, 1, 0, age=60, revision=58)
    armed.shows(at + 30, "PENDING", "NOT_ARMED", *SHOWN[2:])
    armed.ack(at + 60, 1, Result.STALE)
    armed.shows(at + 90, "STALE", "NOT_ARMED", *SHOWN[2:])
    at = armed.press(1500, 0)  # its two flashes run still
    armed.event(at, 2, 0, age=60, revision=58)
    armed.shows(at + 30, "PENDING", "NOT_ARMED", *SHOWN[2:])
    armed.ack(at + 60, 2, Result.ACCEPTED)
    armed.shows(at + 90, "TURN", "NOT_ARMED", *SHOWN[2:])
    return armed


def _waits_over_flashes() -> Sequence:
    """The master button ends what it said itself, not what was said to a seat."""
    waits = Sequence(
        "master-over-flashes",
        "a gesture that waits ends the flash of the one before, on all of its lamps",
        5000,
    )
    at = waits.press(1000, NO_BUTTON)
    waits.event(at, 1, NO_BUTTON, age=60, kind=Kind.MASTER)
    waits.ack(at + 30, 1, Result.REJECTED)
    waits.shows(at + 60, *["REFUSED"] * 4)
    at = waits.press(1200, 2)
    waits.event(at, 2, 2, age=60)
    waits.shows(at + 30, "REFUSED", "REFUSED", "PENDING", "REFUSED")
    waits.ack(at + 60, 2, Result.STALE)
    waits.shows(at + 90, "REFUSED", "REFUSED", "STALE", "REFUSED")
    at = waits.press(1400, NO_BUTTON)
    waits.event(at, 3, NO_BUTTON, age=60, kind=Kind.MASTER)
    waits.shows(at + 30, "PENDING", "PENDING", "STALE", "PENDING")
    waits.ack(at + 60, 3, Result.ACCEPTED)
    waits.shows(at + 90, *SHOWN[:2], "STALE", SHOWN[3])
    return waits


def _over_a_lost_link() -> Sequence:
    lost = Sequence(
        "held-over-a-lost-link",
        "what was held while the link was lost was meant for another picture: one flash, no event",
        6000,
        silent=1000,
    )
    lost.shows(3000, *["LINK_LOST"] * 4)
    lost.pictures(3500, 6000, picture(58))
    at = lost.press(1000, 0, 3000)
    lost.shows(at + 50, "NOT_ARMED", *SHOWN[1:])
    at = lost.press(5300, 0)
    lost.event(at, 1, 0, age=60, revision=58)
    lost.ack(at + 20, 1, Result.ACCEPTED)
    return lost


def _held() -> Sequence:
    held = Sequence("held", "the lamp tells what a held button has become", 4000)
    at = held.press(1000, 1, 1500) - 1500  # it counts as pressed
    held.shows(at + LONG_PRESS - 50, *SHOWN)
    held.shows(at + LONG_PRESS + 50, "TURN", "HELD_LONG", *SHOWN[2:])
    held.event(at + 1500, 1, 1, age=1500, kind=Kind.LONG)
    held.shows(at + 1550, "TURN", "PENDING", *SHOWN[2:])
    held.ack(at + 1600, 1, Result.ACCEPTED)
    held.shows(at + 1650, *SHOWN)
    return held


def _chord() -> Sequence:
    chord = Sequence(
        "chord", "a second button while the first is held long: one gesture, also unarmed", 5000,
        shown=picture(armed=0),
    )  # fmt: skip
    chord.press(1000, 2, 1200)
    at = chord.press(2000, 1, 100)
    chord.event(at, 1, 2, age=1100, kind=Kind.CHORD, second=1)
    chord.ack(at + 20, 1, Result.ACCEPTED)
    return chord


def _refused_chord() -> Sequence:
    chord = Sequence("chord-refused", "both buttons of a chord tell what became of it", 5000)
    chord.press(1000, 2, 1200)
    chord.press(2000, 1, 300)
    chord.shows(2100, "TURN", "HELD_CHORD", "HELD_CHORD", "OFF")
    at = 2200 + DEBOUNCE  # the first one is let go, the second one is not
    chord.event(at, 1, 2, age=1200, kind=Kind.CHORD, second=1)
    chord.shows(at + 50, "TURN", "PENDING", "PENDING", "OFF")
    chord.ack(at + 100, 1, Result.REJECTED)
    chord.shows(at + 150, "TURN", "REFUSED", "REFUSED", "OFF")
    chord.shows(at + 1300, *SHOWN)
    return chord


def _two_in_the_lobby() -> Sequence:
    two = Sequence(
        "no-chord-while-seats-are-taken",
        "one holds a button to begin, another one sits down meanwhile: two gestures",
        5000,
        shown=picture(flags=Flags.SEATING),
    )
    held = two.press(1000, 0, 1200)
    pressed = two.press(2000, 1)
    two.shows(2040, "HELD_LONG", *SHOWN[1:])
    two.event(pressed, 1, 1, age=60)
    two.ack(pressed + 20, 1, Result.ACCEPTED)
    two.event(held, 2, 0, age=1200, kind=Kind.LONG)
    two.ack(held + 20, 2, Result.ACCEPTED)
    late = two.press(3000, 0, 1000)  # the other way round: the second one is let go last
    pressed = two.press(3950, 1, 100)
    two.event(late, 3, 0, age=1000, kind=Kind.LONG)
    two.ack(late + 20, 3, Result.ACCEPTED)
    two.event(pressed, 4, 1, age=100)
    two.ack(pressed + 20, 4, Result.ACCEPTED)
    return two


def _same() -> Sequence:
    same = Sequence("same-moment", "two people press at the same moment: two presses", 3000)
    first = same.press(1000, 0, 100)
    second = same.press(1005, 1, 125)
    same.event(first, 1, 0, age=100)
    same.ack(first + 10, 1, Result.ACCEPTED)
    same.event(second, 2, 1, age=125)
    same.ack(second + 20, 2, Result.ACCEPTED)
    return same


def _master() -> Sequence:
    master = Sequence(
        "master", "the button that belongs to no seat, short and long; it is never armed", 4000,
        shown=picture(armed=0),
    )  # fmt: skip
    at = master.press(1000, NO_BUTTON)
    master.event(at, 1, NO_BUTTON, age=60, kind=Kind.MASTER)
    master.ack(at + 20, 1, Result.ACCEPTED)
    at = master.press(2000, NO_BUTTON, 900)
    master.event(at, 2, NO_BUTTON, age=900, kind=Kind.MASTER_LONG)
    master.ack(at + 20, 2, Result.REJECTED)
    master.shows(at + 70, *["REFUSED"] * 4)
    return master


def _short() -> Sequence:
    short = Sequence("spike", "a contact closed for less than 8 ms is no press", 2000)
    short._add(1000, down=0)
    short._add(1004, up=0)
    short._add(1100, down=0)
    short._add(1105, up=0)
    return short


def _bounce() -> Sequence:
    bounce = Sequence("bounce", "80 bounces on both edges are one press", 3000)
    for begin, last, other in ((1000, "down", "up"), (1100, "up", "down")):
        for edge in range(80):
            name = last if edge % 2 == 0 else other
            bounce._add(begin + round(0.4 * edge, 1), **{name: 0})
        bounce._add(begin + 32, **{last: 0})
    bounce.event(1100 + 32 + 5, 1, 0, age=100)
    bounce.ack(1160, 1, Result.ACCEPTED)
    return bounce


def _damaged() -> Sequence:
    damaged = Sequence("damaged", "damaged frames change nothing and are counted", 2000)
    frame = bytearray(encode(picture(60), 0))
    frame[5] ^= 0x40
    damaged.bytes(1000, bytes(frame))
    damaged.bytes(1010, b"\x99" * 50)
    damaged.pong(1020, crc_errors=1, session=SESSION, revision=57)
    return damaged


def gestures() -> list[Sequence]:
    """What a finger does, and what it is taken for."""
    return [
        _unarmed(),
        _seen(),
        _marked(),
        _long(),
        _disarmed(),
        _armed_after_all(),
        _waits_over_flashes(),
        _over_a_lost_link(),
        _held(),
        _chord(),
        _refused_chord(),
        _two_in_the_lobby(),
        _same(),
        _master(),
        _short(),
        _bounce(),
        _damaged(),
    ]
