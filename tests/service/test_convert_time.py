"""What a client reads of time: clocks, deadlines in the log, how long a game stood still."""

from __future__ import annotations

import pytest

from tableturn.v1 import clock_pb2, table_pb2
from tableturn_server.service import convert
from tableturn_server.tables.state import ClockKind
from tests.tables.timed import START, TimedTable, timed


def seen(game: TimedTable) -> table_pb2.TableView:
    return convert.table_view(game.table, "change", 1)


@pytest.mark.case("C1")
def test_an_entry_tells_the_deadlines_that_it_moved() -> None:
    game = timed(ClockKind.DELAY, bank=60, step=10)
    ann, _ = game.people
    game.passes(15)
    ann.confirms()
    told = convert.log_entry(game.log[-1], "change", None)
    assert told.time.ToMilliseconds() == START + 15_000
    one, two = told.clocks
    assert (one.seat, one.HasField("deadline"), one.left.ToMilliseconds()) == (1, False, 55_000)
    assert (two.seat, two.deadline.ToMilliseconds()) == (2, START + 15_000 + 70_000)
    assert two.left.ToMilliseconds() == 70_000


def test_a_seat_shows_its_clock_and_the_table_its_settings() -> None:
    game = timed(ClockKind.DELAY, bank=60, step=10)
    view = seen(game)
    assert view.clock.kind == clock_pb2.CLOCK_KIND_DELAY
    assert (view.clock.bank.seconds, view.clock.step.seconds) == (60, 10)
    ann, bob = (seat.clock for seat in view.seats)
    assert (ann.running, bob.running) == (True, False)
    assert ann.running_since.ToMilliseconds() == START
    assert ann.deadline.ToMilliseconds() == START + 70_000
    assert ann.low_time.ToMilliseconds() == START + 70_000 - 7_000
    assert not bob.HasField("deadline")
    assert not bob.HasField("running_since")
    assert (bob.left.seconds, bob.used.seconds) == (60, 0)


def test_a_clock_that_counts_has_no_time_left_to_show() -> None:
    game = timed(ClockKind.COUNT_UP)
    game.passes(5)
    game.people[0].confirms()
    clock = seen(game).seats[0].clock
    assert not clock.HasField("left")
    assert clock.used.seconds == 5


def test_how_long_the_game_was_paused_is_not_how_long_it_was_between_rounds() -> None:
    game = timed(ClockKind.COUNT_UP)
    game.passes(3)
    game.host_pauses()
    view = seen(game)
    assert view.standing_since.ToMilliseconds() == START + 3_000
    game.passes(7)
    game.host_resumes()
    view = seen(game)
    assert (view.paused_time.seconds, view.between_time.seconds) == (7, 0)
    assert not view.HasField("standing_since")
