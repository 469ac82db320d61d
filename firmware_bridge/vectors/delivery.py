"""Sequences of a panel and its host: events until they are acknowledged."""

from __future__ import annotations

from tableturn_bridge.protocol import (
    ANSWER_PATIENCE,
    DEBOUNCE,
    LINK_LOST,
    NO_BUTTON,
    QUEUE,
    RESEND,
    RESEND_SEEN,
    Kind,
    Result,
)
from tableturn_bridge.virtual.lights import RUN
from vectors.sequence import SESSION, SHOWN, Sequence, picture


def _press() -> Sequence:
    press = Sequence("press", "a press is sent when it is let go, once, and answered", 4000)
    sent = press.press(1000, 0)
    press.event(sent, 1, 0, age=60)
    press.ack(sent + 20, 1, Result.SEEN)
    press.shows(sent + 60, "PENDING", *SHOWN[1:])
    press.ack(sent + 100, 1, Result.ACCEPTED)
    press.shows(sent + 150, *SHOWN)
    sent = press.press(2000, 1)
    press.event(sent, 2, 1, age=60)
    press.ack(sent + 20, 2, Result.ACCEPTED)
    return press


def _resend() -> Sequence:
    resend = Sequence(
        "resend", "sent again after 120, 240, 480, 960, 960 ... ms, until answered", 6000
    )
    at = resend.press(1000, 2)
    for tries, pause in enumerate((0, *RESEND, RESEND[-1])):
        at += pause
        resend.event(at, 1, 2, age=at - 1000 - DEBOUNCE, tries=tries)
    resend.ack(at + 50, 1, Result.ACCEPTED)
    return resend


def _seen() -> Sequence:
    seen = Sequence("seen", "once seen, sent again each second only", 5000)
    at = seen.press(1000, 0)
    seen.event(at, 1, 0, age=60)
    seen.ack(at + 30, 1, Result.SEEN)
    at += 30
    for tries in (1, 2):
        at += RESEND_SEEN
        seen.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    seen.ack(at + 100, 1, Result.ACCEPTED)
    return seen


def _stale() -> Sequence:
    stale = Sequence("stale", "two flashes: it had passed", 4000)
    at = stale.press(1000, 0)
    stale.event(at, 1, 0, age=60)
    stale.ack(at + 50, 1, Result.STALE)
    stale.shows(at + 100, "STALE", *SHOWN[1:])
    stale.shows(at + 50 + RUN - 50, "STALE", *SHOWN[1:])
    stale.shows(at + 50 + RUN + 50, *SHOWN)
    return stale


def _refused() -> Sequence:
    refused = Sequence("refused", "three flashes: it was refused", 4000)
    at = refused.press(1000, 0)
    refused.event(at, 1, 0, age=60)
    refused.ack(at + 50, 1, Result.REJECTED)
    refused.shows(at + 100, "REFUSED", *SHOWN[1:])
    refused.shows(at + 1200, *SHOWN)
    return refused


def _late() -> Sequence:
    late = Sequence("no-answer", "after 3 seconds without an answer the lamp says so", 6500)
    at = late.press(1000, 0)
    released = at
    late.event(at, 1, 0, age=60)
    for tries in range(1, 4):
        # The host says SEEN each time; each time it is a second until the next.
        late.ack(at + 20, 1, Result.SEEN)
        at += 20 + RESEND_SEEN
        late.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    late.shows(released + ANSWER_PATIENCE - 50, "PENDING", *SHOWN[1:])
    late.shows(released + ANSWER_PATIENCE + 50, "NO_ANSWER", *SHOWN[1:])
    late.ack(at + 100, 1, Result.ACCEPTED)
    late.shows(at + 200, *SHOWN)
    return late


def _stranger() -> Sequence:
    stranger = Sequence("other-session", "an answer of another session says nothing", 3000)
    at = stranger.press(1000, 0)
    stranger.event(at, 1, 0, age=60)
    stranger.ack(at + 50, 1, Result.ACCEPTED, session=SESSION + 1)
    stranger.event(at + RESEND[0], 1, 0, age=60 + RESEND[0], tries=1)
    stranger.ack(at + RESEND[0] + 50, 1, Result.ACCEPTED)
    return stranger


def _two() -> Sequence:
    two = Sequence("two", "two wait, each with its own times; answers go by their numbers", 3000)
    first = two.press(1000, 0)
    two.event(first, 1, 0, age=60)
    second = two.press(1050, 1)
    two.event(second, 2, 1, age=60)
    two.event(first + RESEND[0], 1, 0, age=60 + RESEND[0], tries=1)
    two.ack(first + RESEND[0] + 20, 2, Result.ACCEPTED)  # before it is sent again
    third = first + RESEND[0] + RESEND[1]
    two.event(third, 1, 0, age=third - 1000 - DEBOUNCE, tries=2)
    two.ack(third + 20, 1, Result.ACCEPTED)
    return two


def _full() -> Sequence:
    """Its lamp says at once that it doesn't count, and then again that the first one waits."""
    full = Sequence(
        "full",
        "seven wait at most; what comes then is dropped, counted, and three flashes on its lamp",
        5000,
    )
    for number in range(1, QUEUE + 1):
        at = full.press(900 + 100 * number, (number - 1) % 4)
        full.event(at, number, (number - 1) % 4, age=60)
        full.ack(at + 15, number, Result.SEEN)
    at = full.press(1700, 3)
    full.shows(at + 40, "PENDING", "PENDING", "PENDING", "REFUSED")
    full.pong(at + 50, queue=QUEUE, dropped=1, session=SESSION, revision=57)
    for number in range(1, QUEUE + 1):
        if number != 4:
            full.ack(at + 70 + 4 * number, number, Result.ACCEPTED)
    full.shows(at + 150, *SHOWN[:3], "REFUSED")
    full.event(1368 + 15 + RESEND_SEEN, 4, 3, age=60 + 15 + RESEND_SEEN, tries=1)
    full.shows(at + RUN - 50, *SHOWN[:3], "REFUSED")
    full.shows(at + RUN + 50, *SHOWN[:3], "PENDING")
    full.ack(at + RUN + 100, 4, Result.ACCEPTED)
    full.pong(at + RUN + 150, queue=0, dropped=1, session=SESSION, revision=57)
    at = full.press(3000, 1)
    full.event(at, QUEUE + 1, 1, age=60)
    full.ack(at + 20, QUEUE + 1, Result.ACCEPTED)
    return full


def _full_for_master() -> Sequence:
    """All lamps say it, as they do whatever becomes of that button's gestures."""
    full = Sequence(
        "full-for-master", "the master button finds no room: three flashes on all lamps", 4000
    )
    for number in range(1, QUEUE + 1):
        at = full.press(900 + 100 * number, (number - 1) % 2)
        full.event(at, number, (number - 1) % 2, age=60)
        full.ack(at + 15, number, Result.SEEN)
    at = full.press(1700, NO_BUTTON)
    full.shows(at + 40, *["REFUSED"] * 4)
    full.pong(at + 50, queue=QUEUE, dropped=1, session=SESSION, revision=57)
    for number in range(1, QUEUE + 1):
        full.ack(at + 70 + 4 * number, number, Result.ACCEPTED)
    full.shows(at + RUN - 50, *["REFUSED"] * 4)
    full.shows(at + RUN + 50, *SHOWN)
    return full


def _all_at_once() -> Sequence:
    """The master button some milliseconds later: the line takes two for each event."""
    once = Sequence(
        "all-at-once", "all seats at the same moment, and the master button: all count", 3000
    )
    for button in range(4):
        at = once.press(1000, button)
        once.event(at, button + 1, button, age=60)
    at = once.press(1006, NO_BUTTON)
    once.event(at, 5, NO_BUTTON, age=60, kind=Kind.MASTER)
    once.shows(at + 40, *["PENDING"] * 4)
    once.pong(at + 50, queue=5, dropped=0, session=SESSION, revision=57)
    for number in range(1, 6):
        once.ack(at + 70 + 2 * number, number, Result.ACCEPTED)
    once.shows(at + 110, *SHOWN)
    return once


def _lost() -> Sequence:
    lost = Sequence(
        "link-lost", "2 s without a good frame: what waits is given up, and nothing is armed", 6000,
        silent=1000,
    )  # fmt: skip
    heard = 905  # the last picture
    at = lost.press(1000, 0)
    for tries, pause in enumerate((0, *RESEND)):
        if at + pause < heard + LINK_LOST:
            at += pause
            lost.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    lost.shows(heard + LINK_LOST - 50, "PENDING", *SHOWN[1:])
    lost.shows(heard + LINK_LOST + 50, *["LINK_LOST"] * 4)
    lost.press(3300, 0)
    lost.bytes(3500, b"\0\x05junk\0")
    lost.shows(3600, *["LINK_LOST"] * 4)
    lost.pictures(4000, 6000, picture(58))
    lost.shows(4100, *SHOWN)
    at = lost.press(4500, 0)
    lost.event(at, 2, 0, age=60, revision=58)
    lost.ack(at + 20, 2, Result.ACCEPTED)
    return lost


def delivery() -> list[Sequence]:
    """Events until they are acknowledged."""
    return [
        _press(),
        _resend(),
        _seen(),
        _stale(),
        _refused(),
        _late(),
        _stranger(),
        _two(),
        _full(),
        _full_for_master(),
        _all_at_once(),
        _lost(),
    ]
