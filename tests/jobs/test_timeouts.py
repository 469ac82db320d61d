"""Time that is up: said once, on time, and never while somebody has the time to act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from tableturn_server.jobs.duty import Counts
from tableturn_server.store import Stored
from tableturn_server.store.jobs import KEPT_MS
from tableturn_server.tables import commands
from tableturn_server.tables.state import (
    Clock,
    ClockKind,
    Confirmation,
    Status,
    TimeoutPolicy,
    encode,
)
from tests.jobs.support import Clock as FakeClock
from tests.jobs.support import Hold, Office, an_office, token_of
from tests.store.support import Server, eventually, new_id
from tests.tables.play import HOST

MINUTE = 60_000
HOUR = 60 * MINUTE
TURNS = Clock(kind=ClockKind.PER_TURN, step=MINUTE, timeout=TimeoutPolicy.DEFAULT)


def with_policy(policy: TimeoutPolicy) -> Clock:
    return replace(TURNS, timeout=policy)


async def two_people(office: Office, clock: Clock = TURNS) -> str:
    return await office.a_table("free-table", people=2, first_seat="1", clock=clock)


async def is_quiet(office: Office) -> None:
    """Whatever was due has been done."""
    office.runner.wake()
    await office.idle()


async def test_a_turn_ends_by_itself_when_its_time_is_up_and_not_before(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        await office.lives(clock, MINUTE - 1)
        await is_quiet(office)
        assert await office.kinds(table_id) == []
        await office.lives(clock, 1)
        await office.has_happened(table_id, "CONFIRM")
        entry = (await office.log(table_id))[-1]
        assert (entry.seat, entry.time) == (1, clock.ms)
        assert "is up" in entry.lines[0]
        table = await office.table(table_id)
        assert table.clocks[1].deadline == clock.ms + MINUTE
        await is_quiet(office)
        assert office.runner.counts == Counts(timeouts=1)


async def test_a_table_that_nobody_looks_after_any_more_goes_on(valkey: Server) -> None:
    """Turn after turn, each at its own deadline."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        for turns in range(1, 3):
            await office.lives(clock, MINUTE)
            await office.has_happened(table_id, *["CONFIRM"] * turns)
        assert [entry.seat for entry in await office.turns(table_id)] == [1, 2]


async def test_a_table_that_nobody_plays_at_for_a_round_is_paused(valkey: Server) -> None:
    """Or else it would be played for ever; whoever comes back lets it go on."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        round_of_nobody = ["CONFIRM", "CONFIRM", "PAUSE"]
        for number in range(1, 4):
            await office.lives(clock, MINUTE)
            await office.has_happened(table_id, *round_of_nobody[:number])
        await office.lives(clock, HOUR)
        await is_quiet(office)
        assert await office.kinds(table_id) == round_of_nobody
        await office.does(table_id, commands.Resume(by=token_of(2)))
        # The turn had no time left when the game was paused.
        await office.has_happened(table_id, *round_of_nobody, "RESUME", "CONFIRM")


async def test_of_several_who_are_idle_each_has_a_deadline_of_its_own(valkey: Server) -> None:
    """C5: the table does not wait once for each of them. Two were given more time."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await office.a_table(
            "free-table", seats=4, people=4, clock=TURNS, together="before"
        )
        begun = clock.ms
        for seat, more in ((1, MINUTE), (3, MINUTE // 2)):
            await office.does(table_id, commands.AddTime(by=HOST, seat=seat, time=more))
        happened = ["ADD_TIME"] * 2
        for turns in (2, 3, 4):
            await is_quiet(office)
            assert await office.kinds(table_id) == happened
            await office.lives(clock, MINUTE if turns == 2 else MINUTE // 2)
            happened = ["ADD_TIME"] * 2 + ["CONFIRM"] * turns
            await office.has_happened(table_id, *happened)
        ended = {entry.seat: entry.time - begun for entry in await office.turns(table_id)}
        assert ended == {2: MINUTE, 4: MINUTE, 3: 3 * MINUTE // 2, 1: 2 * MINUTE}


async def test_a_seat_that_is_warned_goes_on_and_is_warned_once(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office, with_policy(TimeoutPolicy.WARN))
        await office.lives(clock, MINUTE)
        await office.has_happened(table_id, "TIME_OUT")
        await office.lives(clock, 5 * MINUTE)
        await is_quiet(office)
        assert await office.kinds(table_id) == ["TIME_OUT"]
        await office.confirms(table_id, 1)


async def test_a_seat_that_is_dropped_for_its_time_ends_a_game_of_two(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office, with_policy(TimeoutPolicy.DROP))
        await office.lives(clock, MINUTE)
        await office.has_happened(table_id, "DROP")
        table = await office.table(table_id)
        assert table.seat(1).dropped
        await is_quiet(office)


@pytest.mark.parametrize("confirmation", [Confirmation.EITHER, Confirmation.PANEL])
async def test_a_bot_that_stands_in_plays_and_confirms(
    valkey: Server, confirmation: Confirmation
) -> None:
    """Also where a panel confirms the turns of the person."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await office.a_table(
            "eastern-wonders",
            people=2,
            clock=with_policy(TimeoutPolicy.BOT),
            confirmation=confirmation,
        )
        (seat,) = (n for n, one in enumerate((await office.table(table_id)).clocks, 1) if one.since)
        await office.lives(clock, MINUTE)
        await office.has_happened(table_id, "STAND_IN", "CONFIRM")
        table = await office.table(table_id)
        assert table.seat(seat).stand_in == "greedy"
        assert (await office.turns(table_id))[0].played
        assert office.runner.counts == Counts(timeouts=1, turns=1)


async def test_whoever_confirms_at_the_last_moment_has_confirmed(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner had seen that the time is up."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        carry_out = office.keeper.carry_out
        hold = Hold(carry_out)
        monkeypatch.setattr(office.keeper, "carry_out", hold)
        await office.lives(clock, MINUTE)
        await hold.reached.wait()
        monkeypatch.setattr(office.keeper, "carry_out", carry_out)
        await office.confirms(table_id, 1)
        hold.go_on.set()
        await is_quiet(office)
        assert office.runner.counts == Counts(stale=1)
        assert await office.kinds(table_id) == ["CONFIRM"]
        assert "is up" not in (await office.log(table_id))[-1].lines[0]


async def test_what_two_processes_see_is_said_once(valkey: Server) -> None:
    """Leases that hold nobody off: both say that the time is up, and one of them counts."""
    clock = FakeClock()
    async with (
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock) as here,
        an_office(valkey.url, poll=0.001, lease_ms=0, clock=clock) as there,
    ):
        table_id = await two_people(here)
        happened: list[str] = []
        for _ in range(10):
            await here.lives(clock, MINUTE)
            there.runner.wake()
            happened.append("CONFIRM")
            await here.has_happened(table_id, *happened)
            # Somebody is there, or else the game would be paused.
            await here.does(table_id, commands.Pause(by=HOST))
            await here.does(table_id, commands.Resume(by=HOST))
            happened += ["PAUSE", "RESUME"]
        assert len(await there.turns(table_id)) == 10
        counts = [here.runner.counts, there.runner.counts]
        assert sum(count.timeouts for count in counts) == 10
        assert sum(count.failures for count in counts) == 0


async def test_the_same_time_out_is_carried_out_once_whoever_asks_again(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer was lost: the second time it is known what became of the request."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await two_people(office)
        await office.lives(clock, MINUTE)
        old = await office.keeper.look(table_id)
        for _ in range(2):
            due = await office.runner._next(old, clock.ms)
            assert due is not None
            assert due.do is not None
            await due.do(office.outages.beat)
        assert await office.kinds(table_id) == ["CONFIRM"]
        assert office.runner.counts == Counts(timeouts=1, stale=1)


@pytest.mark.case("C5")
async def test_another_turn_may_have_the_same_deadline(valkey: Server) -> None:
    """Both have used up all they had; one takes a turn at once, and the other is asked again."""
    clock = FakeClock()
    all_in_all = Clock(kind=ClockKind.INCREMENT, bank=MINUTE, timeout=TimeoutPolicy.DEFAULT)
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await two_people(office, all_in_all)

        async def is_up() -> None:
            due = await office.runner._next(await office.keeper.look(table_id), clock.ms)
            assert due is not None
            assert due.do is not None
            await due.do(office.outages.beat)

        for _ in range(2):
            await office.lives(clock, MINUTE)
            await is_up()
        await office.confirms(table_id, 1)
        assert (await office.table(table_id)).clocks[1].deadline == clock.ms
        await is_up()
        assert [entry.seat for entry in await office.turns(table_id)] == [1, 2, 1, 2]
        assert office.runner.counts == Counts(timeouts=3)


async def test_what_was_said_too_early_is_said_again(valkey: Server) -> None:
    """A clock was set back a little: nothing happens then, and it is not remembered as done."""
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await two_people(office)
        await office.lives(clock, MINUTE)
        held = await office.keeper.look(table_id)
        for ms, kinds in ((-1, []), (1, ["CONFIRM"])):
            due = await office.runner._next(held, clock.ms)
            assert due is not None
            assert due.do is not None
            clock.passes(ms)
            await due.do(office.outages.beat)
            assert await office.kinds(table_id) == kinds
        assert office.runner.counts == Counts(timeouts=1, stale=1)


async def test_a_job_that_is_found_too_early_is_settled_for_the_right_time(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock, starts=False) as office:
        table_id = await two_people(office)
        deadline = clock.ms + MINUTE
        await office.is_due(table_id, deadline)
        await office.store.jobs.announce(table_id, clock.ms, clock.ms)
        await office.is_due(table_id, clock.ms)
        await office.lives(clock, KEPT_MS)
        office.runner.start()
        await office.is_due(table_id, deadline)
        assert await office.kinds(table_id) == []


async def test_a_deadline_that_is_still_to_come_needs_no_lease(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        await is_quiet(office)
        assert office.runner._claims == {}
        await office.is_due(table_id, clock.ms + MINUTE)


async def test_a_paused_game_has_no_deadline_and_goes_on_with_what_was_left(
    valkey: Server,
) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await two_people(office)
        await office.lives(clock, MINUTE - 5000)
        await office.does(table_id, commands.Pause(by=HOST))
        await office.lives(clock, HOUR)
        await is_quiet(office)
        await office.does(table_id, commands.Resume(by=HOST))
        await office.lives(clock, 4999)
        await is_quiet(office)
        assert await office.kinds(table_id) == ["PAUSE", "RESUME"]
        await office.lives(clock, 1)
        await office.has_happened(table_id, "PAUSE", "RESUME", "CONFIRM")


# -- on time -------------------------------------------------------------------------------


async def a_table_of_the_past(office: Office, ago: int) -> str:
    """A table whose seat 1 began to think so long ago; the job is announced as always."""
    made = await two_people(office)
    table = await office.table(made)
    stamp = office.keeper.now() - ago
    clock = replace(table.clocks[0], since=stamp, deadline=stamp + MINUTE)
    table_id = new_id()
    table = replace(
        table,
        making=replace(table.making, table_id=table_id),
        stamp=stamp,
        clocks=(clock, *table.clocks[1:]),
    )
    stored = Stored(table.revision, "the change", encode(table))
    await office.store.tables.restore(table_id, stored, [], [], None, created_ms=stamp)
    return table_id


async def known_from_a_change(office: Office) -> tuple[str, int]:
    """Somebody has staged something: the change tells of the deadline, which stays the same."""
    table_id = await a_table_of_the_past(office, MINUTE - 300)
    await office.does(
        table_id, commands.SetConfirmation(by=token_of(1), confirmation=Confirmation.DEVICE)
    )
    return table_id, (await office.table(table_id)).clocks[0].deadline


async def known_from_the_board(office: Office) -> tuple[str, int]:
    """Another process has announced it before this one has begun."""
    table_id = await a_table_of_the_past(office, MINUTE - 300)
    deadline = (await office.table(table_id)).clocks[0].deadline
    await office.store.jobs.announce(table_id, deadline, office.keeper.now())
    office.runner.start()
    return table_id, deadline


@pytest.mark.parametrize("known", [known_from_a_change, known_from_the_board])
async def test_a_runner_wakes_for_a_deadline_and_does_not_wait_for_its_next_look(
    valkey: Server, known: Callable[[Office], Awaitable[tuple[str, int]]]
) -> None:
    """It looks by itself in an hour only; the deadline is in a third of a second."""
    starts = known is known_from_a_change
    async with an_office(valkey.url, poll=3600, lease_ms=HOUR, starts=starts) as office:
        if starts:  # it rests by now
            await eventually(lambda: office.runner._look_at > office.keeper.now() + MINUTE)
        table_id, deadline = await known(office)

        async def over() -> bool:
            return (await office.table(table_id)).turns == 1

        await eventually(over)
        last = (await office.keeper.log(table_id, 0, 50))[-1].entry
        assert last.time >= deadline


async def test_a_runner_that_has_no_room_does_not_look_all_the_time(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=3600, clock=clock, starts=False) as office:
        for _ in range(2):
            await office.a_table("free-table", seats=2, rounds="3")
        office.runner._room = 1
        hold = Hold(office.pool.turn)
        monkeypatch.setattr(office.pool, "turn", hold)
        looks = 0
        claim = office.runner._claim

        async def counted() -> bool:
            nonlocal looks
            looks += 1
            return await claim()

        monkeypatch.setattr(office.runner, "_claim", counted)
        office.runner.start()
        await hold.reached.wait()
        for _ in range(50):
            await office.store.jobs.waiting()
        assert looks <= 3
        hold.go_on.set()


async def test_a_game_that_is_over_has_no_job(valkey: Server) -> None:
    clock = FakeClock()
    async with an_office(valkey.url, poll=0.01, clock=clock) as office:
        table_id = await office.a_table("free-table", people=2, rounds="1", clock=TURNS)
        for turns in (1, 2):
            await office.lives(clock, MINUTE)
            await office.has_happened(table_id, *["CONFIRM"] * turns)
        assert (await office.table(table_id)).status is Status.FINISHED
        await office.lives(clock, KEPT_MS + MINUTE)

        async def none() -> bool:
            return await office.store.jobs.waiting() == 0

        await eventually(none)
