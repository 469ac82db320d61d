"""Who is there, as far as devices were heard: a pure question about a table and what was heard."""

import pytest

from tableturn_server.tables import presence as there
from tableturn_server.tables.commands import PassHost
from tableturn_server.tables.presence import SILENCE_MS, Heard, PresenceState, Records
from tableturn_server.tables.state import Confirmation
from tests.tables.play import HOST, STRANGER, TableOfTest, a_table

UNKNOWN, HERE, AWAY = PresenceState.UNKNOWN, PresenceState.HERE, PresenceState.AWAY
NOW = 10_000_000


def watching(came: int = 1000, watches: int = 1) -> Heard:
    """Somebody who watches now."""
    return Heard(came, 0, ((NOW - 100, watches),))


def gone(left: int) -> Heard:
    """Somebody who has left."""
    return Heard(1000, left, ())


def seats(game: TableOfTest, records: Records) -> list[tuple[PresenceState, int]]:
    found = there.presence(game.table, records, NOW).seats
    assert [one.seat for one in found] == list(range(1, len(found) + 1))
    return [(one.state, one.since) for one in found]


def test_a_seat_is_unknown_here_or_away() -> None:
    game = a_table(seats=3)
    ann, bob, _ = (person.by.token for person in game.people)
    records = {ann: watching(5000), bob: gone(7000)}
    assert seats(game, records) == [(HERE, 5000), (AWAY, 7000), (UNKNOWN, 0)]


def test_silence_is_being_away_since_the_last_sign() -> None:
    game = a_table()
    ann = game.people[0].by.token
    for age, expected in (
        (SILENCE_MS, (HERE, 1000)),
        (SILENCE_MS + 1, (AWAY, NOW - SILENCE_MS - 1)),
    ):
        assert seats(game, {ann: Heard(1000, 0, ((NOW - age, 1),))})[0] == expected
    # One process is silent, and the seat has left by another one since.
    late = Heard(1000, NOW - 5000, ((NOW - 2 * SILENCE_MS, 1),))
    assert seats(game, {ann: late})[0] == (AWAY, NOW - 5000)
    # Or is still there by another one.
    both = Heard(1000, 0, ((NOW - 2 * SILENCE_MS, 1), (NOW, 1)))
    assert seats(game, {ann: both})[0] == (HERE, 1000)


def test_a_panel_is_a_device_of_the_seats_that_confirm_on_it() -> None:
    game = a_table(seats=4)
    panel = game.host_puts_panel(seats=(1, 2, 3))
    game.host_sets_confirmation(2, Confirmation.DEVICE)
    game.host_sets_confirmation(3, Confirmation.PANEL)
    ann = game.people[0].by.token
    records = {panel.token: watching(2000)}
    assert [state for state, _ in seats(game, records)] == [HERE, UNKNOWN, HERE, UNKNOWN]
    # Here since the first of both came; away since the last of both left.
    assert seats(game, {**records, ann: watching(1500)})[0] == (HERE, 1500)
    assert seats(game, {**records, ann: gone(1500)})[0] == (HERE, 2000)
    assert seats(game, {panel.token: gone(3000), ann: gone(4000)})[0] == (AWAY, 4000)
    assert there.heard_for(game.table, panel.token) == (1, 3)


def test_who_sits_at_a_panel_is_there_with_it() -> None:
    game = a_table(taken=False)
    panel = game.host_puts_panel(seats=(0, 0))
    panel.presses(1)
    assert seats(game, {panel.token: watching(2000)}) == [(HERE, 2000)]


def test_seats_without_a_person_are_not_spoken_of() -> None:
    game = a_table(seats=3)
    game.people[2].leaves()
    assert len(there.presence(game.table, {}, NOW).seats) == 2


def test_spectators_are_those_without_a_seat() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    ann = game.people[0].by.token
    records = {
        ann: watching(watches=2),
        panel.token: watching(),
        HOST.token: watching(watches=1),
        b"": Heard(0, 0, ((NOW, 3), (NOW - 1, 4), (NOW - SILENCE_MS - 1, 90))),
    }
    assert there.presence(game.table, records, NOW).spectators == 8


def test_who_has_lost_the_seat_is_a_spectator() -> None:
    game = a_table()
    ann = game.people[0]
    ann.leaves()
    assert not there.takes_part(game.table, ann.by.token)
    assert there.presence(game.table, {ann.by.token: watching()}, NOW).spectators == 1
    assert there.heard_for(game.table, ann.by.token) == ()


@pytest.mark.case("C8")
def test_the_host_is_whoever_has_the_duties() -> None:
    game = a_table()
    ann, bob = (person.by.token for person in game.people)
    records = {HOST.token: gone(2000), ann: watching(3000)}
    assert there.of_host(game.table, {}, NOW).state is UNKNOWN
    found = there.of_host(game.table, records, NOW)
    assert (found.state, found.since) == (AWAY, 2000)
    assert there.of_host(game.table, {HOST.token: watching()}, NOW).state is HERE
    game.does(PassHost(by=HOST, seat=2))
    assert there.of_host(game.table, records, NOW).state is UNKNOWN
    assert there.of_host(game.table, {**records, bob: gone(4000)}, NOW).since == 4000


def test_who_takes_part() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    tokens = (game.people[0].by.token, panel.token, HOST.token, STRANGER.token, b"")
    found = [there.takes_part(game.table, token) for token in tokens]
    assert found == [True, True, True, False, False]
