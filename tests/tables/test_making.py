"""What may be asked for when a table is made: its clock, absence, and who sees it."""

import pytest

from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.spans import DAY, HOUR, MINUTE, SECOND
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Making,
    TimeoutPolicy,
)
from tests.tables.play import HOST, SEED, refused

NONE, COUNT_UP, PER_TURN = ClockKind.NONE, ClockKind.COUNT_UP, ClockKind.PER_TURN
INCREMENT, DELAY = ClockKind.INCREMENT, ClockKind.DELAY
CORRESPONDENCE = ClockKind.CORRESPONDENCE


def a_wish(**wishes: object) -> Wish:
    return Wish(
        table_id="the-table",
        game="free-table",
        options={},
        host=HOST.token,
        **wishes,  # type: ignore[arg-type]
    )


def made(**wishes: object) -> Making:
    table, _, _ = make(a_wish(**wishes), drawn_seed=SEED, now=1000)
    return table.making


def test_without_a_wish_there_is_no_clock_and_the_table_waits() -> None:
    making = made()
    assert (making.clock, making.absence) == (Clock(), Absence())
    assert (making.absence.grace, making.spectator_delay) == (2 * MINUTE, 0)
    assert (making.private, making.unlisted, making.host_stays) == (False, False, False)


@pytest.mark.parametrize(
    "clock",
    [
        Clock(kind=COUNT_UP),
        Clock(kind=COUNT_UP, start=DAY),
        Clock(kind=PER_TURN, step=SECOND),
        Clock(kind=PER_TURN, step=DAY, start=MINUTE, timeout=TimeoutPolicy.DROP),
        Clock(kind=INCREMENT, bank=SECOND),
        Clock(kind=INCREMENT, bank=7 * DAY, step=DAY),
        Clock(kind=DELAY, bank=SECOND, timeout=TimeoutPolicy.BOT),
        Clock(kind=DELAY, bank=7 * DAY, step=DAY),
        Clock(kind=CORRESPONDENCE, step=HOUR, timeout=TimeoutPolicy.DEFAULT),
        Clock(kind=CORRESPONDENCE, step=60 * DAY),
    ],
)
def test_clocks_up_to_their_bounds(clock: Clock) -> None:
    assert made(clock=clock).clock == clock


@pytest.mark.parametrize(
    ("clock", "field", "says"),
    [
        (Clock(bank=SECOND), "bank", "a table without a clock has no bank"),
        (Clock(step=SECOND), "step", "has no step"),
        (Clock(start=SECOND), "start", "has no start"),
        (Clock(timeout=TimeoutPolicy.BOT), "timeout", "never runs out"),
        (Clock(kind=COUNT_UP, bank=SECOND), "bank", "a clock that only counts has no bank"),
        (Clock(kind=COUNT_UP, step=SECOND), "step", "has no step"),
        (Clock(kind=COUNT_UP, start=DAY + 1), "start", "0 s to 1 d"),
        (Clock(kind=COUNT_UP, timeout=TimeoutPolicy.DROP), "timeout", "never runs out"),
        (Clock(kind=PER_TURN), "step", "the step of a clock per turn is 1 s to 1 d"),
        (Clock(kind=PER_TURN, step=999), "step", "1 s to 1 d"),
        (Clock(kind=PER_TURN, step=DAY + 1), "step", "1 s to 1 d"),
        (Clock(kind=PER_TURN, bank=SECOND, step=SECOND), "bank", "a clock per turn has no bank"),
        (Clock(kind=INCREMENT, step=SECOND), "bank", "1 s to 7 d"),
        (Clock(kind=INCREMENT, bank=7 * DAY + 1), "bank", "1 s to 7 d"),
        (Clock(kind=INCREMENT, bank=MINUTE, step=DAY + 1), "step", "0 s to 1 d"),
        (Clock(kind=DELAY, step=SECOND), "bank", "a clock with a delay is 1 s to 7 d"),
        (Clock(kind=DELAY, bank=MINUTE, start=DAY + 1), "start", "0 s to 1 d"),
        (Clock(kind=CORRESPONDENCE, step=HOUR - 1), "step", "1 h to 60 d"),
        (Clock(kind=CORRESPONDENCE, step=60 * DAY + 1), "step", "1 h to 60 d"),
        (Clock(kind=CORRESPONDENCE, step=DAY, bank=1), "bank", "correspondence clock has no bank"),
    ],
)
def test_clocks_beyond_their_bounds(clock: Clock, field: str, says: str) -> None:
    with refused("BAD_FIELD", says, field=f"clock.{field}"):
        made(clock=clock)


@pytest.mark.parametrize("grace", [5 * SECOND, DAY])
def test_graces_up_to_their_bounds(grace: int) -> None:
    assert made(absence=Absence(grace=grace)).absence.grace == grace


@pytest.mark.parametrize("grace", [5 * SECOND - 1, DAY + 1, 0, -1])
def test_graces_beyond_their_bounds(grace: int) -> None:
    with refused("BAD_FIELD", "the grace is 5 s to 1 d", field="absence.grace"):
        made(absence=Absence(grace=grace))


def test_spectators_see_what_is_an_hour_old_at_most() -> None:
    assert made(spectator_delay=HOUR).spectator_delay == HOUR
    for delay in (HOUR + 1, -1):
        with refused("BAD_FIELD", "at most 1 h old", field="spectator_delay"):
            made(spectator_delay=delay)


def test_a_private_table_is_not_listed() -> None:
    making = made(private=True, host_stays=True)
    assert (making.private, making.unlisted, making.host_stays) == (True, True, True)


def test_what_is_said_of_absence_by_correspondence_is_warned_about() -> None:
    def warnings(policy: AbsencePolicy) -> tuple[str, ...]:
        days = Clock(kind=CORRESPONDENCE, step=DAY)
        wish = a_wish(clock=days, absence=Absence(policy=policy))
        return make(wish, drawn_seed=SEED, now=0)[2]

    assert warnings(AbsencePolicy.WAIT) == ()
    for policy in (AbsencePolicy.BOT, AbsencePolicy.DROP):
        assert "nobody is ever away" in warnings(policy)[0]
