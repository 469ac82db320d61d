"""Sequences of a panel and its host: hello, sessions, numbers and versions."""

from __future__ import annotations

from tableturn_bridge.protocol import VERSION, HelloRequest, ResetCause, Result, SetUid
from vectors.sequence import SESSION, SHOWN, UID, Sequence, picture


def _kept() -> Sequence:
    kept = Sequence(
        "session-kept", "a session is adopted once; later proposals change nothing", 1500
    )
    kept.greet(900, 0x11111111, effective=SESSION)
    return kept


def _reset() -> Sequence:
    reset = Sequence(
        "reset",
        "a reset ends the session and all that waits; numbers begin anew",
        4000,
        silent=1200,
    )
    sent = reset.press(1000, 0)
    reset.event(sent, 1, 0, age=60)
    reset.start(1150, ResetCause.WATCHDOG)
    reset.greet(1600, 0x22222222, cause=ResetCause.WATCHDOG)
    reset.pictures(1605, 4000, picture(58))
    again = reset.press(2000, 1)
    reset.event(again, 1, 1, age=60, revision=58, session=0x22222222)
    reset.ack(again + 20, 1, Result.ACCEPTED, 0x22222222)
    return reset


def _no_session() -> Sequence:
    no_session = Sequence(
        "no-picture-before-a-session", "a panel that was reset shows nothing until it is greeted",
        1500, host=None,
    )  # fmt: skip
    no_session.shows(200, *["TEST"] * 4)
    no_session.shows(300, *["LINK_LOST"] * 4)
    no_session.host(600, picture())
    no_session.shows(700, *["LINK_LOST"] * 4)
    no_session.pong(800, session=0, revision=0)
    no_session.greet(900)
    no_session.host(905, picture())
    no_session.shows(1000, *SHOWN)
    return no_session


def _number() -> Sequence:
    number = Sequence(
        "set-uid",
        "a panel takes one number and keeps it, also without power",
        3000,
        uid=0,
        host=None,
    )
    number.greet(400, uid=0)
    number.host(420, SetUid(UID))
    number.greet(500, 0x11111111, effective=SESSION)
    number.host(520, SetUid(0x0BADF00D))
    number.greet(600, 0x11111111, effective=SESSION)
    number.start(1000, ResetCause.POWER_ON)
    number.greet(1400, 0x22222222)
    return number


def _version() -> Sequence:
    version = Sequence(
        "version", "no version in common: it says its own, takes no session, and shows it", 2000,
        host=None,
    )  # fmt: skip
    version.host(400, HelloRequest(VERSION + 1, VERSION + 2, SESSION))
    version.hello(400, session=0)
    version.host(410, picture())
    version.shows(500, *["VERSION"] * 4)
    version.greet(900)
    version.host(905, picture())
    version.shows(1000, *SHOWN)
    return version


def greeting() -> list[Sequence]:
    """Hello, sessions, numbers and versions."""
    return [
        _kept(),
        _reset(),
        _no_session(),
        _number(),
        _version(),
    ]
