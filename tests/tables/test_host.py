"""The host's duties: passed on by the host, by leaving, and beside a host who is away (C8)."""

import pytest
from msgspec.structs import replace

from tableturn_server.tables import commands, views
from tableturn_server.tables.facts import next_host
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.rights import is_host
from tableturn_server.tables.state import Clock, ClockKind, Takeback, decode, encode
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    SERVICE,
    STRANGER,
    Person,
    TableOfTest,
    a_table,
    refused,
)


def hosts(game: TableOfTest) -> list[str]:
    """Whoever has the host's powers."""
    found = ["the host"] if is_host(game.table, HOST) else []
    return found + [p.name for p in game.people_by_name if is_host(game.table, p.by)]


def service_passes(game: TableOfTest, seat: int) -> object:
    """The service says that the host has been away for too long."""
    return game.does(commands.PassHost(by=SERVICE, seat=seat))


def hosted_by_ann(**wishes: object) -> TableOfTest:
    """The host's token is the one of Ann's seat too."""
    game = a_table(seats=4, **wishes)  # type: ignore[arg-type]
    ann = game.person(1).by.token
    game.table = replace(game.table, making=replace(game.table.making, host=ann))
    assert hosts(game) == ["Ann"]
    return game


# -- by the host ---------------------------------------------------------------------------


@pytest.mark.case("C8")
def test_the_host_hands_the_duties_to_a_seat() -> None:
    game = a_table(seats=3, takeback=Takeback.HOST)
    ann, bob, cleo = game.people
    assert hosts(game) == ["the host"]
    game.host_passes_to(2)
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.PASS_HOST, 2)
    assert game.log[-1].lines == ("Bob (blue) has the host's duties",)
    assert views.view(game.table, None).host_seat == 2
    assert hosts(game) == ["Bob"]
    assert is_host(game.table, ADMIN)
    assert decode(encode(game.table)) == game.table
    # All that the host may.
    ann.confirms()
    with refused("NOT_ALLOWED"):
        game.host_takes_back()
    assert game.does(commands.TakeBack(by=bob.by, expected_revision=game.table.revision))
    with refused("NOT_ALLOWED"):
        game.does(commands.Concede(by=HOST, seat=3))
    with refused("NOT_ALLOWED"):
        game.host_pauses()
    assert game.does(commands.Concede(by=bob.by, seat=cleo.seat))
    with refused("NOT_ALLOWED"):
        game.host_passes_to(1)
    assert game.does(commands.PassHost(by=bob.by, seat=1))
    assert hosts(game) == ["Ann"]
    assert game.does(commands.PassHost(by=ADMIN, seat=2))
    assert hosts(game) == ["Bob"]


def test_only_the_host_hands_them_on() -> None:
    game = a_table(seats=3)
    for by, reason in (
        (game.person(1).by, "NOT_ALLOWED"),
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
    ):
        with refused(reason):
            game.does(commands.PassHost(by=by, seat=1))


def test_they_go_to_a_person_with_a_device() -> None:
    game = a_table(seats=4, taken=False)
    Person(game, "Ann").takes_seat()
    game.host_puts_panel(seats=(0, 2)).presses(2)
    game.host_seats_bot(seat=3)
    for seat, reason, says in (
        (0, "UNKNOWN_NAME", "no seat 0"),
        (5, "UNKNOWN_NAME", "no seat 5"),
        (2, "NOT_ALLOWED", "sits at a panel"),
        (3, "BAD_FIELD", "a bot sits on seat 3"),
        (4, "BAD_FIELD", "nobody sits on seat 4"),
    ):
        with refused(reason, says=says):
            game.host_passes_to(seat)
    game.host_passes_to(1)
    assert game.does(commands.PassHost(by=Person(game, "Ann").by, seat=1)) is None


def test_the_host_who_sits_there_may_keep_them_as_a_seat() -> None:
    game = hosted_by_ann()
    assert game.does(commands.PassHost(by=game.person(1).by, seat=1))
    assert hosts(game) == ["Ann"]


# -- by leaving ----------------------------------------------------------------------------


@pytest.mark.case("C8")
def test_they_pass_on_when_the_host_gets_up() -> None:
    game = hosted_by_ann()
    ann, bob, _, _ = game.people
    game.does(commands.LeaveSeat(by=ann.by, seat=1))
    assert game.log[-1].kind is ChangeKind.LEAVE_SEAT
    assert game.log[-1].lines[-1] == "Bob (blue) has the host's duties as well"
    assert hosts(game) == ["Ann", "Bob"]  # her token may still do it
    # From seat to seat.
    bob.leaves()
    assert game.log[-1].lines[-1] == "Cleo (green) has the host's duties as well"
    assert hosts(game) == ["Ann", "Cleo"]
    game.people_by_name[3].leaves()  # somebody else
    assert hosts(game) == ["Ann", "Cleo"]
    # Whoever sits down on a seat whose player was host isn't.
    Person(game, "Eve").takes_seat(2)
    assert not is_host(game.table, Person(game, "Eve").by)


@pytest.mark.case("C8")
def test_they_pass_on_from_a_seat_to_which_they_had_passed() -> None:
    game = a_table(seats=3)
    game.host_passes_to(1)
    game.person(1).leaves()
    assert game.log[-1].lines[-1] == "Bob (blue) has the host's duties"
    assert hosts(game) == ["Bob"]


def test_whoever_has_them_beside_the_host_keeps_them_when_the_host_gets_up() -> None:
    game = hosted_by_ann()
    assert service_passes(game, 3)
    game.person(1).leaves()
    assert hosts(game) == ["Ann", "Cleo"]
    assert len(game.log[-1].lines) == 1


def test_a_table_is_never_without_a_host() -> None:
    game = a_table(seats=3)
    game.host_passes_to(1)
    for seat in (3, 2, 1):
        game.person(seat).leaves()
    assert game.log[-1].lines[-1] == "the host's own token has the host's duties"
    assert (game.table.host_seat, game.table.host_gone) == (0, False)
    assert hosts(game) == ["the host"]


def test_who_plays_comes_before_who_does_not() -> None:
    game = a_table(seats=6, taken=False)
    game.host_puts_panel(seats=(1,)).presses(1)
    game.host_seats_bot(seat=2)
    for name in ("Cleo", "Dan", "Eve", "Finn"):
        Person(game, name).takes_seat()
    assert next_host(game.table) == 3
    Person(game, "Cleo").lets_bot_play()
    assert next_host(game.table) == 4
    Person(game, "Dan").concedes()
    assert next_host(game.table) == 5
    for name in ("Eve", "Finn"):
        Person(game, name).leaves()
    assert next_host(game.table) == 3
    for name in ("Cleo", "Dan"):
        Person(game, name).leaves()
    assert next_host(game.table) == 0


def test_where_the_host_stays_they_pass_on_by_wish_only() -> None:
    game = hosted_by_ann(host_stays=True)
    ann, bob, cleo, _ = game.people
    assert service_passes(game, 2) is None
    ann.leaves()
    assert game.table.host_seat == 0
    assert game.does(commands.PassHost(by=ann.by, seat=2))
    assert game.table.host_gone
    bob.leaves()
    assert not is_host(game.table, cleo.by)
    assert (game.table.host_seat, game.table.host_gone) == (0, False)
    assert is_host(game.table, ann.by)


def test_who_concedes_is_host_still() -> None:
    game = a_table(seats=3)
    game.host_passes_to(1)
    game.person(1).concedes()
    assert hosts(game) == ["Ann"]


# -- by absence ----------------------------------------------------------------------------


@pytest.mark.case("C8")
def test_they_pass_to_a_seat_beside_a_host_who_is_away() -> None:
    game = a_table(seats=3)
    assert service_passes(game, 2)
    assert game.log[-1].kind is ChangeKind.PASS_HOST
    assert game.log[-1].lines == ("Bob (blue) has the host's duties as well",)
    assert hosts(game) == ["the host", "Bob"]
    assert service_passes(game, 2) is None
    # The host is back, and keeps them from now on to nobody else.
    game.host_passes_to(1)
    assert hosts(game) == ["Ann"]
    # Ann is away as well: hers pass on, and to her alone.
    assert service_passes(game, 3)
    assert hosts(game) == ["Cleo"]
    assert game.log[-1].lines == ("Cleo (green) has the host's duties",)


def test_before_the_start_too() -> None:
    game = a_table(seats=3, start_when_full=False)
    service_passes(game, 1)
    assert game.does(commands.Start(by=game.person(1).by))


# -- a private table -----------------------------------------------------------------------


def test_nobody_sits_down_at_a_private_table_without_a_code_or_the_host() -> None:
    game = a_table(seats=8, private=True, taken=False, start_when_full=False)
    zoe = Person(game, "Zoe")

    def sits_down(by: commands.By, *, invited: bool = False) -> bool:
        return bool(
            game.does(commands.TakeSeat(by=by, name="Zoe", token=zoe.by.token, invited=invited))
        )

    for by in (NOBODY, STRANGER, SERVICE, zoe.by):
        with refused("NOT_ALLOWED", says="this table is private: it needs its join code"):
            sits_down(by)
    for by in (HOST, ADMIN):
        assert sits_down(by)
    assert sits_down(NOBODY, invited=True)
    game.host_passes_to(1)
    assert sits_down(zoe.by)  # the host now
    with refused("NOT_ALLOWED"):
        sits_down(HOST)
    game.does(commands.PassHost(by=zoe.by, seat=2))
    # A panel stands there because the host wants it.
    assert game.does(commands.AttachPanel(by=zoe.by, uid=7, token=STRANGER.token, seats=(0,)))
    assert game.does(
        commands.Press(
            by=STRANGER,
            uid=7,
            button=1,
            gesture=commands.Gesture.PRESS,
            expected_revision=game.table.revision,
        )
    )
    assert game.does(commands.SeatBot(by=zoe.by, bot="greedy"))


# -- a deputy ------------------------------------------------------------------------------


def with_a_deputy(**wishes: object) -> TableOfTest:
    """The host is away, and Bob has the duties as well."""
    game = a_table(seats=3, **wishes)  # type: ignore[arg-type]
    assert service_passes(game, 2)
    assert hosts(game) == ["the host", "Bob"]
    return game


@pytest.mark.case("C8")
def test_a_deputy_takes_no_duties_away_from_the_host() -> None:
    game = with_a_deputy()
    _, bob, cleo = game.people
    assert game.does(commands.PassHost(by=bob.by, seat=3))
    assert game.log[-1].lines == ("Cleo (green) has the host's duties as well",)
    assert hosts(game) == ["the host", "Cleo"]
    with refused("NOT_ALLOWED"):
        game.does(commands.PassHost(by=bob.by, seat=2))
    assert game.does(commands.PassHost(by=cleo.by, seat=1))
    assert hosts(game) == ["the host", "Ann"]
    game.host_passes_to(2)
    assert hosts(game) == ["Bob"]
    assert game.does(commands.PassHost(by=bob.by, seat=3))
    assert hosts(game) == ["Cleo"]


@pytest.mark.case("C8")
def test_a_deputy_keeps_the_game_going() -> None:
    clock = Clock(kind=ClockKind.INCREMENT, bank=60_000, step=1_000)
    game = with_a_deputy(clock=clock, start_when_full=False)
    bob = game.person(2)
    assert game.does(commands.Start(by=bob.by))
    assert game.does(commands.Pause(by=bob.by))
    assert game.does(commands.Resume(by=bob.by))
    assert game.does(commands.AddTime(by=bob.by, time=5_000))
    assert game.does(commands.StandIn(by=bob.by, seat=1, bot="greedy"))
    assert game.does(commands.AttachPanel(by=bob.by, uid=7, token=STRANGER.token, seats=(1, 2)))
    game.person(3).leaves()
    assert game.does(commands.SeatBot(by=bob.by, bot="greedy"))


def test_a_deputy_takes_a_seat_nobody_sits_on_out_of_the_game() -> None:
    game = with_a_deputy()
    game.person(3).leaves()
    assert game.does(commands.Concede(by=game.person(2).by, seat=3))


@pytest.mark.parametrize("stand_in", [False, True])
@pytest.mark.parametrize("command", [commands.Concede, commands.LeaveSeat])
def test_a_deputy_takes_no_seat_away_from_anybody_else(
    command: type[commands.Concede | commands.LeaveSeat], stand_in: bool
) -> None:
    game = with_a_deputy()
    _, bob, cleo = game.people
    if stand_in:
        cleo.lets_bot_play()
    with refused("NOT_ALLOWED", says="not a deputy; the others may vote"):
        game.does(command(by=bob.by, seat=3))
    assert game.does(command(by=HOST, seat=3))
    assert game.does(command(by=bob.by, seat=2))  # his own


@pytest.mark.parametrize("by", ["the host", "a seat that has the duties alone"])
def test_only_the_host_takes_turns_back_not_a_deputy(by: str) -> None:
    game = with_a_deputy(takeback=Takeback.HOST)
    ann, bob, _ = game.people
    ann.confirms()
    takes_back = commands.TakeBack(by=bob.by, expected_revision=game.table.revision)
    with refused("NOT_ALLOWED", says="not a deputy"):
        game.does(takes_back)
    if by == "the host":
        assert game.host_takes_back()
    else:
        game.host_passes_to(2)
        assert game.does(replace(takes_back, expected_revision=game.table.revision))


@pytest.mark.case("C8")
def test_a_host_who_is_back_has_the_duties_alone_again() -> None:
    game = with_a_deputy()
    assert service_passes(game, 0)
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.PASS_HOST, 0)
    assert game.log[-1].lines == ("the host is back and has the duties alone",)
    assert hosts(game) == ["the host"]
    assert service_passes(game, 0) is None
    # Whoever was given the duties for good keeps them.
    game.host_passes_to(2)
    assert service_passes(game, 0) is None
    assert hosts(game) == ["Bob"]
    for by in (HOST, ADMIN):
        with refused("UNKNOWN_NAME" if by is ADMIN else "NOT_ALLOWED"):
            game.does(commands.PassHost(by=by, seat=0))
