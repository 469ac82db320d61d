"""What follows when somebody is away: after a grace, by the table's policy, with nobody's leave.

C7: a bot that takes over at a short disconnect plays badly, and whoever comes back has the next
decision. C8: a host that is gone must not keep the others from going on.
"""

from __future__ import annotations

import pytest

from tableturn_server.jobs import Sweeper
from tableturn_server.jobs.absences import LOOK_MS
from tableturn_server.jobs.duty import Counts
from tableturn_server.service.rooms import Held
from tableturn_server.store.jobs import KEPT_MS
from tableturn_server.tables import commands
from tableturn_server.tables.facts import has_deputy
from tableturn_server.tables.rights import is_host
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Occupant,
    TimeoutPolicy,
)
from tests.jobs.support import Clock as FakeClock
from tests.jobs.support import Hold, Office, an_office, token_of
from tests.jobs.test_sweeper import lose_all_jobs
from tests.jobs.test_timeouts import HOUR, is_quiet
from tests.store.support import Server, eventually
from tests.tables.play import HOST

GRACE = 120_000
BOT_PLAYS = Absence(policy=AbsencePolicy.BOT, grace=GRACE)
DROPPED = Absence(policy=AbsencePolicy.DROP, grace=GRACE)
WAITS = Absence(policy=AbsencePolicy.WAIT, grace=GRACE)


class Doors:
    """Who has left, and when, as the test says it."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._away: dict[int, int] = {}
        self._host: int | None = None
        self._back: int | None = None
        self.asked = 0

    def leaves(self, *seats: int) -> None:
        self._away.update(dict.fromkeys(seats, self._clock.ms))

    def comes(self, seat: int) -> None:
        del self._away[seat]

    def host_leaves(self) -> None:
        self._host, self._back = self._clock.ms, None

    def host_comes(self) -> None:
        self._host, self._back = None, self._clock.ms

    async def absent(self, held: Held, now: int) -> tuple[tuple[int, int], ...]:
        self.asked += 1
        return tuple(self._away.items())

    async def host_away(self, held: Held, now: int) -> int | None:
        return self._host

    async def host_back(self, held: Held, now: int) -> int | None:
        return self._back if has_deputy(held.table) else None


async def three_people(
    office: Office, absence: Absence = BOT_PLAYS, *, host_stays: bool = False
) -> str:
    return await office.a_table(
        "free-table", seats=3, people=3, first_seat="1", absence=absence, host_stays=host_stays
    )


async def test_a_bot_plays_for_whoever_is_away_after_the_grace_and_not_before(
    valkey: Server,
) -> None:
    """C7. Nobody announces it: the table is looked at when the grace of its turn is over."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        await office.lives(clock, 5000)
        doors.leaves(1)
        await office.lives(clock, GRACE - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.lives(clock, 1)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM")
        assert (await office.table(table_id)).seat(1).stand_in == "greedy"
        await is_quiet(office)
        assert office.runner.counts == Counts(absences=1, turns=1)


@pytest.mark.parametrize("time_is_first", [True, False])
async def test_of_time_and_absence_the_first_one_counts(
    valkey: Server, time_is_first: bool
) -> None:
    clock = FakeClock()
    doors = Doors(clock)
    step = GRACE // 2 if time_is_first else GRACE * 2
    turn = Clock(kind=ClockKind.PER_TURN, step=step, timeout=TimeoutPolicy.DROP)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await office.a_table(
            "free-table", seats=3, people=3, first_seat="1", absence=BOT_PLAYS, clock=turn
        )
        doors.leaves(1)
        await office.lives(clock, min(step, GRACE))
        expected = ["DROP"] if time_is_first else ["STAND_IN", "CONFIRM"]
        await office.has_happened(table_id, *expected)


async def test_whoever_comes_back_in_time_was_not_away(valkey: Server) -> None:
    """C7."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        for _ in range(3):
            doors.leaves(1)
            await office.lives(clock, GRACE - 1)
            await is_quiet(office)
            doors.comes(1)
            await office.lives(clock, GRACE)
            await is_quiet(office)
        assert await office.kinds(table_id) == []


async def test_whoever_leaves_late_in_a_turn_has_the_whole_grace(valkey: Server) -> None:
    """C7. The table is looked at again and again while somebody thinks."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        for _ in range(4):
            await office.lives(clock, GRACE)
            await is_quiet(office)
        await office.lives(clock, 1000)
        doors.leaves(1)
        await office.lives(clock, GRACE - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.lives(clock, 1)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM")


async def test_a_seat_that_is_not_asked_is_not_missed_until_it_is(valkey: Server) -> None:
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(2)
        await office.lives(clock, 2 * GRACE)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.confirms(table_id, 1)
        await office.lives(clock, LOOK_MS)
        await office.has_happened(table_id, "CONFIRM", "STAND_IN", "CONFIRM")


async def test_a_turn_of_the_bot_that_is_on_its_way_when_its_owner_comes_back_is_stale(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C7: the next decision is the owner's."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(1)
        hold = Hold(office.pool.turn, when_done=True)
        monkeypatch.setattr(office.pool, "turn", hold)
        await office.lives(clock, GRACE)
        await hold.reached.wait()
        doors.comes(1)
        await office.does(table_id, commands.ComeBack(by=token_of(1), seat=1))
        hold.go_on.set()
        await is_quiet(office)
        assert await office.kinds(table_id) == ["STAND_IN", "COME_BACK"]
        assert office.runner.counts == Counts(absences=1, stale=1)
        await office.confirms(table_id, 1)


async def test_whoever_is_away_once_more_is_missed_once_more(valkey: Server) -> None:
    """C7. Also if the service has heard nothing of them since the first time."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(1)
        await office.lives(clock, GRACE)
        once = ["STAND_IN", "CONFIRM"]
        await office.has_happened(table_id, *once)
        await office.does(table_id, commands.ComeBack(by=token_of(1), seat=1))
        for seat in (2, 3):
            await office.confirms(table_id, seat)
        await office.lives(clock, LOOK_MS)
        # They are back since then, and have the whole grace again.
        await office.has_happened(table_id, *once, "COME_BACK", "CONFIRM", "CONFIRM")
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, *once, "COME_BACK", "CONFIRM", "CONFIRM", *once)
        assert office.runner.counts.failures == 0


async def test_a_seat_is_dropped_for_its_absence_though_the_host_is_gone(valkey: Server) -> None:
    """C8: a policy by time, not by the owner's presence."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, DROPPED, host_stays=True)
        doors.host_leaves()
        doors.leaves(1)
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, "DROP")
        assert (await office.table(table_id)).seat(1).dropped
        await office.confirms(table_id, 2)


async def test_a_seat_that_was_left_is_missed_from_then_on(valkey: Server) -> None:
    """C8."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, DROPPED)
        await office.does(table_id, commands.LeaveSeat(by=token_of(1), seat=1))
        assert (await office.table(table_id)).seat(1).occupant is Occupant.NOBODY
        await office.is_due(table_id, clock.ms + GRACE)
        await office.lives(clock, GRACE - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == ["LEAVE_SEAT"]
        await office.lives(clock, 1)
        await office.has_happened(table_id, "LEAVE_SEAT", "DROP")


async def test_where_the_table_waits_nothing_happens(valkey: Server) -> None:
    """Nor where the game is paused, nor in one by correspondence."""
    clock = FakeClock()
    doors = Doors(clock)
    days = Clock(kind=ClockKind.CORRESPONDENCE, step=3 * 24 * HOUR)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        waiting = await three_people(office, WAITS)
        paused = await three_people(office)
        await office.does(paused, commands.Pause(by=HOST))
        by_post = await office.a_table("free-table", people=2, absence=BOT_PLAYS, clock=days)
        doors.leaves(1, 2, 3)
        for table_id in (waiting, paused, by_post):
            await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await office.lives(clock, 5 * GRACE)
        await is_quiet(office)
        assert await office.kinds(waiting) == await office.kinds(by_post) == []
        assert await office.kinds(paused) == ["PAUSE"]
        assert office.runner.counts == Counts()


async def test_in_an_outage_nobody_is_away(valkey: Server) -> None:
    """Their devices could not be heard: after it they have the whole grace to come back (C7)."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(1)
        doors.host_leaves()
        clock.passes(HOUR)
        await office.lives(clock, GRACE)
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.lives(clock, LOOK_MS)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM", "PASS_HOST")


async def test_what_two_processes_see_of_an_absence_is_done_once(valkey: Server) -> None:
    clock = FakeClock()
    doors = Doors(clock)
    async with (
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock, presence=doors) as here,
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock, presence=doors) as there,
    ):
        tables = [await three_people(here, DROPPED) for _ in range(5)]
        doors.leaves(1)
        await here.lives(clock, GRACE)
        there.runner.wake()
        for table_id in tables:
            await here.has_happened(table_id, "DROP")
        await is_quiet(here)
        counts = [here.runner.counts, there.runner.counts]
        assert sum(count.absences for count in counts) == 5
        assert sum(count.failures for count in counts) == 0


async def test_where_nobody_is_there_no_bot_stands_in(valkey: Server) -> None:
    """C7. Three phones in pockets: whoever comes back finds the game as it was left."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(1)
        await office.lives(clock, GRACE - 1000)
        doors.leaves(2, 3)  # before Ann has been away for too long
        for _ in range(5):
            await office.lives(clock, GRACE)
            await is_quiet(office)
        assert await office.kinds(table_id) == []
        doors.comes(2)
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM")


async def test_a_seat_is_dropped_for_its_absence_though_nobody_is_there(valkey: Server) -> None:
    """C8. Only bots wait for people."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, DROPPED)
        doors.leaves(1, 2, 3)
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, "DROP", "DROP")


async def test_somebody_who_comes_back_is_found_though_nobody_says_so(valkey: Server) -> None:
    """C7. The table is looked at again and again, as long as somebody may be missed."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office)
        doors.leaves(1, 2, 3)
        for _ in range(2):
            await office.lives(clock, GRACE)
            await is_quiet(office)
        assert await office.kinds(table_id) == []
        doors.comes(3)
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM", "STAND_IN", "CONFIRM")


# -- the host ------------------------------------------------------------------------------


async def test_the_duties_of_a_host_who_is_away_pass_to_the_first_who_is_there(
    valkey: Server,
) -> None:
    """C8. The host keeps them as well, and nothing else happens where the table waits."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, WAITS)
        doors.leaves(1)
        doors.host_leaves()
        await office.store.jobs.announce(table_id, clock.ms + GRACE, clock.ms)
        await office.lives(clock, GRACE - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.lives(clock, 1)
        await office.has_happened(table_id, "PASS_HOST")
        table = await office.table(table_id)
        assert table.host_seat == 2
        assert is_host(table, HOST)
        assert is_host(table, token_of(2))
        assert not is_host(table, token_of(1))
        assert not is_host(table, token_of(3))


async def test_the_duties_of_a_deputy_end_when_the_host_is_back(valkey: Server) -> None:
    """C8."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, WAITS)
        doors.host_leaves()
        await office.store.jobs.announce(table_id, clock.ms + GRACE, clock.ms)
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, "PASS_HOST")
        assert is_host(await office.table(table_id), token_of(1))
        doors.host_comes()
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await office.has_happened(table_id, "PASS_HOST", "PASS_HOST")
        table = await office.table(table_id)
        assert table.host_seat == 0
        assert not is_host(table, token_of(1))
        assert is_host(table, HOST)
        await is_quiet(office)
        assert office.runner.counts.absences == 2


async def test_a_host_who_stays_keeps_the_duties(valkey: Server) -> None:
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, WAITS, host_stays=True)
        doors.host_leaves()
        await office.lives(clock, KEPT_MS + GRACE)
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        assert doors.asked == 0


async def test_where_nobody_is_there_the_duties_wait_for_somebody(valkey: Server) -> None:
    """C8."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        table_id = await three_people(office, WAITS)
        doors.leaves(1, 2, 3)
        doors.host_leaves()
        await office.store.jobs.announce(table_id, clock.ms + GRACE, clock.ms)
        for _ in range(3):
            await office.lives(clock, GRACE)
            await is_quiet(office)
        assert await office.kinds(table_id) == []
        doors.comes(3)
        await office.lives(clock, GRACE)
        await office.has_happened(table_id, "PASS_HOST")
        assert (await office.table(table_id)).host_seat == 3


# -- nobody who knew is left ---------------------------------------------------------------


async def test_an_absence_is_found_though_the_process_that_knew_of_it_has_died(
    valkey: Server,
) -> None:
    """Jobs were lost with it: the sweep looks at every table where somebody may be missed."""
    clock = FakeClock()
    doors = Doors(clock)
    async with an_office(valkey.url, starts=False, clock=clock) as dead:
        missed, hostless = await three_people(dead), await three_people(dead, WAITS)
        doors.leaves(1)
        doors.host_leaves()
        await dead.lives(clock, 2 * GRACE)
        await lose_all_jobs(dead)
    async with an_office(valkey.url, poll=0.01, clock=clock, presence=doors) as office:
        sweeper = Sweeper(office.store.jobs, office.store.tables, office.keeper)
        assert await sweeper.sweep() == 1  # the other one had no job to be lost

        async def found() -> bool:
            kinds = [await office.kinds(table_id) for table_id in (missed, hostless)]
            return sorted(kinds[0]) == ["CONFIRM", "PASS_HOST", "STAND_IN"] and kinds[1] == [
                "PASS_HOST"
            ]

        await eventually(found)
