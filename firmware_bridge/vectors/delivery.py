"""Sequences of a panel and its host: events until they are acknowledged."""

from __future__ import annotations

from tableturn_bridge.protocol import (
    ANSWER_PATIENCE,
    DEBOUNCE,
    LINK_LOST,
    RESEND,
    RESEND_SEEN,
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
    full = Sequence("full", "four wait at most; a fifth is dropped and counted", 3000)
    for number, button in enumerate((0, 1, 2, 3, 0), start=1):
        at = full.press(1000 + 100 * number, button)
        if number < 5:
            full.event(at, number, button, age=60)
            full.ack(at + 15, number, Result.SEEN)
    full.pong(1700, queue=4, dropped=1, session=SESSION, revision=57)
    for number in range(1, 5):
        full.ack(1800 + number, number, Result.ACCEPTED)
    full.pong(1850, queue=0, dropped=1, session=SESSION, revision=57)
    at = full.press(2000, 1)
    full.event(at, 5, 1, age=60)
    full.ack(at + 20, 5, Result.ACCEPTED)
    return full


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
        _lost(),
    ]
