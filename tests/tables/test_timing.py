"""More time, and time that nobody had because the service was away."""

import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.clocks import MOST_BANK
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.spans import DAY, HOUR, MINUTE, SECOND, in_time
from tableturn_server.tables.state import ClockKind
from tests.tables.play import ADMIN, HOST, NOBODY, STRANGER, By, Person, a_table, digest, refused
from tests.tables.timed import EVERY_LIMITED, START, TimedTable, timed

PER_TURN, INCREMENT, DELAY = ClockKind.PER_TURN, ClockKind.INCREMENT, ClockKind.DELAY


def blitz(seats: int = 2, **wishes: object) -> TimedTable:
    return timed(INCREMENT, seats=seats, bank=60, step=10, **wishes)  # type: ignore[arg-type]


# -- more time ---------------------------------------------------------------------------------


def test_the_host_gives_time_to_a_seat() -> None:
    game = blitz()
    game.passes(20)
    game.gives(HOST, 100, seat=1)
    assert (game.deadline(1), game.left(1), game.left(2)) == (170, 150, 60)
    assert game.last(ChangeKind.ADD_TIME) == "the host gives Ann (red) 1 min 40 s more"
    assert game.log[-1].clocks == ((1, START + 170_000, 170_000),)
    game.gives(ADMIN, 5, seat=2)
    assert (game.deadline(2), game.left(2)) == (None, 65)


def test_the_host_gives_time_to_all_who_are_in_the_game() -> None:
    game = blitz(seats=3)
    game.person(3).concedes()
    game.gives(HOST, 30)
    assert [game.left(n) for n in (1, 2, 3)] == [100, 90, 60]
    assert game.last(ChangeKind.ADD_TIME) == "the host gives all 30 s more"
    with refused("NOT_ALLOWED", says="has left the game"):
        game.gives(HOST, 30, seat=3)


def test_others_who_play_give_time_and_nobody_gives_it_to_themselves() -> None:
    game = blitz(seats=3)
    ann, bob, cleo = game.people
    game.gives(bob.by, 15, seat=1)
    assert game.last(ChangeKind.ADD_TIME) == "Bob (blue) gives Ann (red) 15 s more"
    assert game.left(1) == 85
    for seat in (0, 1):
        with refused("NOT_ALLOWED", says="only the host" if not seat else "themselves"):
            game.gives(ann.by, 15, seat=seat)
    cleo.concedes()
    with refused("NOT_ALLOWED", says="the token of another seat that is in the game"):
        game.gives(cleo.by, 15, seat=1)
    for by in (NOBODY, STRANGER):
        with refused("BAD_TOKEN"):
            game.gives(by, 15, seat=1)
    assert game.left(1) == 85


def test_whoever_holds_several_seats_gives_time_to_none_of_them() -> None:
    game = timed(INCREMENT, seats=3, bank=60, step=10, taken=False)
    ann = Person(game, "Ann")
    ann.takes_seat(1)
    ann.takes_seat(2)
    Person(game, "Bob").takes_seat(3)
    for seat in (1, 2):
        with refused("NOT_ALLOWED", says="themselves"):
            game.gives(ann.by, 15, seat=seat)
    game.gives(ann.by, 15, seat=3)
    assert game.left(3) == 75


def test_a_seat_that_got_the_hosts_duties_may_do_what_the_host_may() -> None:
    game = blitz()
    ann, _ = game.people
    game.host_passes_to(1)
    game.gives(ann.by, 15, seat=2)
    game.gives(ann.by, 10)
    assert (game.left(1), game.left(2)) == (80, 85)
    with refused("NOT_ALLOWED"):
        game.gives(HOST, 15, seat=1)
    with refused("NOT_ALLOWED", says="nobody gives time to themselves"):
        game.gives(ann.by, 15, seat=1)


@pytest.mark.parametrize("seats", [(1,), (1, 2)])
def test_the_host_who_plays_gives_time_to_all_or_to_others(seats: tuple[int, ...]) -> None:
    """Whoever has the host's token has no more time than the others by it."""
    game = timed(INCREMENT, seats=3, bank=60, step=10, taken=False)
    for seat in seats:
        game.does(commands.TakeSeat(by=HOST, seat=seat, name=f"H{seat}", token=HOST.token))
    for seat in {1, 2, 3} - set(seats):
        Person(game, "Ann" if seat == 2 else "Bob").takes_seat(seat)
    for seat in seats:
        with refused("NOT_ALLOWED", says="nobody gives time to themselves; others may"):
            game.gives(HOST, 15, seat=seat)
    assert game.gives(Person(game, "Bob").by, 15, seat=1)
    assert game.gives(HOST, 15, seat=3)
    assert game.gives(HOST, 15)
    assert game.gives(ADMIN, 15, seat=1)


@pytest.mark.parametrize("kind", EVERY_LIMITED)
def test_time_that_is_added_is_used_after_that_of_the_turn(kind: ClockKind) -> None:
    bank = 60 if kind in (INCREMENT, DELAY) else 0
    game = timed(kind, bank=bank, step=3600)
    game.gives(HOST, 100, seat=1)
    assert game.deadline(1) == bank + 3600 + 100
    game.passes(bank + 3600 + 30)
    assert game.left(1) == 70
    for person in game.people:
        person.confirms()
    # It is lost with no turn.
    assert game.left(1) == 3600 + 70


def test_a_pause_keeps_nobody_from_giving_time() -> None:
    game = blitz()
    game.host_pauses()
    game.gives(game.people[1].by, 40, seat=1)
    assert (game.left(1), game.running) == (110, [])
    game.passes(1000)
    game.host_resumes()
    assert game.deadline(1) == 1110


def test_a_turn_whose_time_was_up_has_time_again() -> None:
    game = blitz()
    game.runs_out(1)
    game.passes(30)
    game.gives(HOST, 20, seat=1)
    assert (game.deadline(1), game.clock_of(1).ran_out, game.used(1)) == (120, False, 100)
    assert game.runs_out(1)
    assert game.clock_of(1).ran_out


def test_how_much_time_may_be_given() -> None:
    game = blitz()
    for seconds in (0, 0.999, 7 * 24 * 3600 + 0.001, -5):
        with refused("BAD_FIELD", field="time", says="1 second to 7 days"):
            game.gives(HOST, seconds, seat=1)
    game.gives(HOST, 1, seat=1)
    game.gives(HOST, 7 * 24 * 3600, seat=1)
    with refused("UNKNOWN_NAME"):
        game.gives(HOST, 10, seat=3)


def test_no_bank_grows_without_end() -> None:
    game = blitz()
    with refused("BAD_FIELD", field="time", says="ten years"):
        for _ in range(600):
            game.gives(HOST, 7 * 24 * 3600)
    assert MOST_BANK - 7 * DAY < game.clock_of(1).bank <= MOST_BANK


def test_when_no_time_can_be_given() -> None:
    for kind in (ClockKind.NONE, ClockKind.COUNT_UP):
        with refused("NO_CLOCK"):
            timed(kind).gives(HOST, 10, seat=1)
    game = blitz(taken=False)
    with refused("NOT_STARTED"):
        game.gives(HOST, 10, seat=1)
    game = blitz()
    game.people[0].acts("finish game", confirm=True)
    with refused("GAME_OVER"):
        game.gives(HOST, 10, seat=1)


def test_more_time_changes_no_question() -> None:
    game = blitz(points="on")
    ann, bob = game.people
    ann.acts("score 1 for seat 1")
    seen = game.table.revision
    game.gives(bob.by, 10, seat=1)
    ann.confirms(at=seen)


# -- outages -----------------------------------------------------------------------------------


def test_nobody_is_charged_for_an_outage() -> None:
    game = blitz()
    game.passes(620)
    assert game.is_excused(10, 610)
    assert (game.deadline(1), game.left(1), game.used(1)) == (670, 50, 20)
    assert game.table.credited == START + 610_000
    line = "the service was away for 10 min; nobody is charged for it"
    assert game.last(ChangeKind.OUTAGE) == line
    assert game.log[-1].clocks == ((1, START + 670_000, 70_000),)


def test_an_outage_is_excused_once() -> None:
    game = blitz()
    game.passes(30)
    assert game.is_excused(10, 20)
    assert game.is_excused(10, 20) is None
    assert game.is_excused(5, 15) is None
    assert game.is_excused(15, 25)  # only what was not excused before
    assert game.left(1) == 70 - 30 + 15
    assert game.is_excused(25, 26)
    assert game.left(1) == 70 - 30 + 16


@pytest.mark.parametrize(
    ("begin", "end", "charged"), [(0, 100, 0), (10, 100, 10), (40, 100, 40), (60, 61, 99)]
)
def test_exactly_the_overlap_is_excused(begin: int, end: int, charged: int) -> None:
    """The clock ran from 0 on; the outage began before that or later, and is over."""
    game = blitz()
    game.passes(100)
    assert game.is_excused(begin - 20 if begin == 0 else begin, end)
    assert game.used(1) == charged
    assert game.left(1) == max(0, 70 - charged)
    assert game.deadline(1) == 70 + 100 - charged


def test_where_no_clock_ran_nobody_has_to_be_excused() -> None:
    game = blitz()
    game.passes(50)
    game.people[0].confirms()
    assert game.is_excused(10, 40) is None  # bob's clock has run since 50
    game.host_pauses()
    game.passes(100)
    assert game.is_excused(60, 140) is None
    over = blitz(taken=False)
    assert over.is_excused(0, 10) is None


def test_all_who_were_asked_are_excused_each_for_what_it_was_charged() -> None:
    game = timed(PER_TURN, seats=3, step=90, together="before")
    game.passes(30)
    game.gives(HOST, 10, seat=2)
    game.person(3).confirms()
    game.passes(50)
    game.is_excused(20, 80)
    assert [game.used(n) for n in (1, 2, 3)] == [20, 20, 30]
    assert [game.deadline(n) for n in (1, 2, 3)] == [150, 160, None]


def test_a_clock_that_only_counts_does_not_count_an_outage() -> None:
    game = timed(ClockKind.COUNT_UP)
    game.passes(100)
    game.is_excused(40, 90)
    assert (game.used(1), game.deadline(1)) == (50, None)


def test_a_process_whose_clock_is_behind_excuses_the_same() -> None:
    game = blitz()
    game.passes(79)
    game.is_excused(20, 80)
    assert (game.table.stamp, game.clock_of(1).since) == (START + 80_000, START + 60_000)
    game.people[0].confirms()
    assert (game.used(1), game.bank(1)) == (20, 50)


@pytest.mark.parametrize(
    "command",
    [
        commands.Excuse(by=HOST, begin=START, end=START + 5000),
        commands.Excuse(by=By(digest("the token of Ann")), begin=START, end=START + 5000),
        commands.TimeOut(by=ADMIN, seat=1, deadline=START + 70_000),
        commands.TimeOut(by=HOST, seat=1, deadline=START + 70_000),
    ],
)
def test_only_the_service_itself_says_so(command: commands.AnyCommand) -> None:
    game = blitz()
    game.passes(100)
    with pytest.raises(Exception, match="the service itself"):
        game.does(command)


def test_spans_in_words() -> None:
    assert in_time(90 * MINUTE) == "1 h 30 min"
    assert in_time(2 * DAY + 3 * HOUR + 5 * MINUTE) == "2 d 3 h"
    assert in_time(DAY + SECOND) == "1 d 1 s"
    assert (in_time(0), in_time(10), in_time(1999)) == ("0 s", "less than 1 s", "1 s")
    assert "clock" not in str(a_table().log[0].lines)
