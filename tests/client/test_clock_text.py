"""Clocks and times as people type them."""

from dataclasses import replace

import pytest

from tableturn.v1 import clock_pb2, table_pb2
from tableturn_client import Absence, Clock, IfAway, TimeUp, errors
from tableturn_client.clock_text import new_options, read_clock, read_time
from tableturn_client.clocks import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("2m", 120),
        ("2m 30s", 150),
        ("1h30m", 5_400),
        ("1.5 hours", 5_400),
        ("3 days", 259_200),
        ("1 day 2 hours", 93_600),
        (" 10 MIN ", 600),
        ("0s", 0),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "s", "1x", "2m -30s", "-5s", "1e3s", "nan", "5 s 3"])
def test_what_is_no_time_is_told_with_examples(text: str) -> None:
    with pytest.raises(errors.BadValue, match='"2m 30s"'):
        read_time(text)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("none", None),
        ("count-up", Clock.count_up()),
        ("90s", Clock.per_turn(90)),
        ("90s per turn", Clock.per_turn(90)),
        ("1m30s a turn", Clock.per_turn(90)),
        ("15m + 10s", Clock.increment(900, 10)),
        ("15m+10s", Clock.increment(900, 10)),
        ("15m delay 5s", Clock.delay(900, 5)),
        ("15m~5s", Clock.delay(900, 5)),
        ("30m in all", Clock.increment(1_800, 0)),
        ("3 days", Clock.correspondence(days=3)),
        ("3d", Clock.correspondence(days=3)),
        ("12h", Clock.per_turn(43_200)),
        ("12h by correspondence", Clock.correspondence(hours=12)),
        ("1 day per turn", Clock.per_turn(86_400)),
    ],
)
def test_clocks(text: str, clock: Clock | None) -> None:
    assert read_clock(text) == clock


@pytest.mark.parametrize("text", ["", "fast", "15m +", "+ 10s", "15m + 10s + 3s", "15", "delay 5s"])
def test_what_is_no_clock_is_told_with_examples(text: str) -> None:
    with pytest.raises(errors.BadValue, match=r'"15m \+ 10s"'):
        read_clock(text)


def test_a_clock_as_it_is_sent() -> None:
    sent = Clock.increment(900, 10, time_up=TimeUp.BOT, start=60).message
    assert sent.kind == clock_pb2.CLOCK_KIND_INCREMENT
    assert sent.timeout == clock_pb2.TIMEOUT_POLICY_BOT
    assert (sent.bank.seconds, sent.step.seconds, sent.start.seconds) == (900, 10, 60)
    assert Clock.per_turn(0.5).message.step.nanos == 500_000_000
    assert not Clock.increment(900, 0).message.HasField("step")
    away = Absence(IfAway.DROP, 30).message
    assert (away.policy, away.grace.seconds) == (clock_pb2.ABSENCE_POLICY_DROP, 30)
    assert not Absence(IfAway.WAIT).message.HasField("grace")


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e12])
def test_a_time_that_is_none_is_not_sent(seconds: float) -> None:
    with pytest.raises(errors.BadValue):
        _ = Clock.per_turn(seconds).message


AGREED = [
    Clock.count_up(start=300),
    Clock.per_turn(90, time_up=TimeUp.DEFAULT),
    Clock.increment(900, 10, time_up=TimeUp.BOT, start=90),
    Clock.increment(1_800, 0),
    Clock.delay(5_400, 1.5, time_up=TimeUp.DROP),
    Clock.correspondence(days=3),
    Clock.correspondence(hours=36),
]


@pytest.mark.parametrize("clock", AGREED)
def test_what_was_agreed_is_typed_as_it_is_read(clock: Clock) -> None:
    """As the end of a game tells how to make another one."""
    view = table_pb2.TableView(clock=clock.message)
    typed = dict(pair.split(" ", 1) for pair in new_options(view))
    read = read_clock(typed["--clock"].strip('"'))
    assert read is not None
    start = read_time(typed.get("--start-clock", "0s").strip('"'))
    up = TimeUp[typed.get("--time-up", "warn").upper()]
    assert replace(read, start=start, time_up=up) == clock


def test_who_is_away_and_who_may_see_it_are_agreed_too() -> None:
    view = table_pb2.TableView(
        absence=Absence(IfAway.BOT, 150).message, private=True, spectator_delay=duration(600)
    )
    assert new_options(view) == [
        "--absence bot",
        '--grace "2m 30s"',
        "--private",
        '--spectator-delay "10m"',
    ]
    assert new_options(table_pb2.TableView()) == []
