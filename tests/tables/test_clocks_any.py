"""Whatever is done, and whenever: the clocks agree with a second account, made from the log."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableturn_server.tables import clocks, commands
from tableturn_server.tables.due import due_at, due_bots
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import ClockKind, TimeoutPolicy, game_of
from tests.tables.clock_model import Model, asked
from tests.tables.play import BOTS, HOST, NOBODY, SERVICE, action, digest
from tests.tables.timed import START, TimedTable, timed

KINDS = (ClockKind.COUNT_UP, ClockKind.PER_TURN, ClockKind.INCREMENT, ClockKind.DELAY)
OPTIONS = (
    {"together": "before", "passing": "on"},
    {"between": "on", "order": "chosen"},
    {"together": "after", "between": "on"},
)
Does = Callable[[TimedTable, random.Random], commands.AnyCommand | None]


def confirms(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    """Somebody who is asked ends the turn, with the least that it takes."""
    return _turn(game, chance, game.asked_seats)


def stages(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    people = [n for n in game.asked_seats if game.table.seat(n).token]
    if not people:
        return None
    seat = chance.choice(people)
    return commands.Act(
        by=commands.By(game.table.seat(seat).token),
        seat=seat,
        expected_revision=game.table.revision,
        actions=(action("score 1 for seat 1"),),
    )


def bots_play(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return _turn(game, chance, due_bots(game.table), by=BOTS)


def _turn(
    game: TimedTable,
    chance: random.Random,
    seats: tuple[int, ...],
    *,
    by: commands.By | None = None,
) -> commands.AnyCommand | None:
    if not seats:
        return None
    seat = chance.choice(seats)
    nothing = not game.table.staged[seat - 1]
    least = game_of(game.table).default(game.table.position, seat) if nothing else ()
    return commands.Act(
        by=by or commands.By(game.table.seat(seat).token),
        seat=seat,
        expected_revision=game.table.revision,
        actions=least,
        confirm=True,
    )


def runs_out(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    due = [(at, n) for n, at in clocks.deadlines(game.table).items() if at <= game.clock]
    if not due:
        return None
    at, seat = min(due)
    return commands.TimeOut(by=SERVICE, seat=seat, deadline=at, bot="greedy")


def is_excused(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    if game.clock <= game.table.stamp:
        return None
    begin, end = sorted(chance.randint(game.table.stamp, game.clock) for _ in range(2))
    return commands.Excuse(by=SERVICE, begin=begin, end=end)


def gives(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.AddTime(by=HOST, seat=chance.randrange(4), time=chance.randint(1000, 20_000))


def stands_in(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.StandIn(by=HOST, seat=chance.randint(1, 3), bot="greedy")


def comes_back(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    seat = chance.randint(1, 3)
    return commands.ComeBack(by=commands.By(game.table.seat(seat).token), seat=seat)


def leaves(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.LeaveSeat(by=HOST, seat=chance.randint(1, 3))


def takes_seat(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    token = digest(f"token {game.table.revision}")
    return commands.TakeSeat(by=NOBODY, name="Zoe", token=token)


def seats_bot(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.SeatBot(by=HOST, bot="greedy")


def undoes(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    seat = chance.randint(1, 3)
    by = commands.By(game.table.seat(seat).token)
    return commands.Undo(by=by, seat=seat, expected_revision=game.table.revision)


def takes_back(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.TakeBack(by=HOST, expected_revision=game.table.revision)


def pauses(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.Resume(by=HOST) if game.table.paused else commands.Pause(by=HOST)


def concedes(game: TimedTable, chance: random.Random) -> commands.AnyCommand | None:
    return commands.Concede(by=HOST, seat=chance.randint(1, 3))


DOES: list[Does] = [
    *[confirms] * 8, *[bots_play] * 3, *[runs_out] * 3, *[takes_back] * 3, stages, undoes,
    is_excused, gives, stands_in, comes_back, leaves, takes_seat, seats_bot, pauses, pauses,
    concedes,
]  # fmt: skip


def agree(game: TimedTable, model: Model) -> None:
    """The clocks say the same as the account, and each is sound in itself."""
    table = game.table
    turns = {} if table.paused else asked(table)
    limited = table.making.clock.kind is not ClockKind.COUNT_UP
    for number, clock in enumerate(table.clocks, 1):
        account = model.accounts[number]
        stands = clocks.stopped(clock, table.stamp)
        assert stands.used == account.used
        assert bool(clock.since) is (number in turns)  # nobody's clock runs who is not asked
        assert min(clock.bank, clock.delay, clock.owed, clock.start) >= 0
        if limited:
            assert (stands.bank, stands.delay) == (max(0, account.bank), account.delay)
            assert clock.owed == account.debt
        seat = table.seat(number)
        timely = limited and clock.since and not (clock.ran_out or seat.bot or seat.stand_in)
        assert clock.deadline == (clock.since + clocks.left(clock) if timely else 0)
        assert clock.since <= table.stamp
    assert all(at >= 0 for at in (table.paused_time, table.between_time))
    nothing_due = not due_bots(table) and not clocks.deadlines(table)
    assert (due_at(table) is None) is nothing_due


@pytest.mark.case("C1")
@settings(max_examples=80)
@given(
    kind=st.sampled_from(KINDS),
    timeout=st.sampled_from(TimeoutPolicy),
    options=st.sampled_from(OPTIONS),
    does=st.lists(
        st.tuples(st.sampled_from(DOES), st.integers(-2_000, 25_000), st.integers(0, 99)),
        min_size=10,
        max_size=60,
    ),
)
def test_who_is_charged_for_what_follows_from_the_log(
    kind: ClockKind,
    timeout: TimeoutPolicy,
    options: dict[str, str],
    does: list[tuple[Does, int, int]],
) -> None:
    bank = 30 if kind in (ClockKind.INCREMENT, ClockKind.DELAY) else 0
    step = 0 if kind is ClockKind.COUNT_UP else 12
    limited = kind is not ClockKind.COUNT_UP
    game = timed(
        kind,
        seats=3,
        bank=bank,
        step=step,
        timeout=timeout if limited else TimeoutPolicy.WARN,
        points="on",
        **options,  # type: ignore[arg-type]
    )
    model = Model(game.table)
    begin = START
    for what, span, seed in does:
        game.clock = max(START, game.clock + span)
        command = what(game, random.Random(seed))
        if command is None:
            continue
        try:
            change = game.does(command)
        except Refused:
            continue
        if change is None:
            continue
        assert game.log[-1].time == game.table.stamp >= begin
        begin = game.table.stamp
        model.sees(command, change.entry, change.table)
        agree(game, model)
        if game.is_over():
            break
