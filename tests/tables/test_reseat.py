"""A seat moves to another device: its token is another one from then on (S15)."""

import json

import pytest

from tableturn_server.tables import commands
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.rights import is_host
from tableturn_server.tables.state import decode, encode
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    SERVICE,
    STRANGER,
    UID,
    Confirmation,
    Person,
    TableOfTest,
    a_table,
    action,
    digest,
    refused,
)


def moves(game: TableOfTest, seat: int, token: bytes, since: int | None = None) -> object:
    """Somebody has a code for a seat; it was made when the same person sat there, or `since`."""
    since = game.table.seat(seat).since if since is None else since
    return game.does(commands.Reseat(by=SERVICE, seat=seat, token=token, since=since))


@pytest.mark.case("S15")
def test_the_other_device_plays_on_and_the_one_before_has_the_seat_no_more() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    tablet = Person(game, "Ann's tablet")
    ann.acts("score 5 for seat 1")
    since, asked_at = game.table.seat(1).since, game.table.asked_at
    assert ann.moves_to("the token of Ann's tablet")
    assert (game.log[-1].kind, game.log[-1].seat) == (ChangeKind.RESEAT, 1)
    assert game.log[-1].lines == ("Ann (red) plays on another device from now on",)
    assert "tablet" not in json.dumps(game.log[-1].lines)
    revision = game.table.revision
    for command in (
        commands.Act(by=ann.by, seat=1, expected_revision=revision, confirm=True),
        commands.Undo(by=ann.by, seat=1, expected_revision=revision),
        commands.LeaveSeat(by=ann.by, seat=1),
        commands.Concede(by=ann.by, seat=1),
        commands.StandIn(by=ann.by, seat=1, bot="greedy"),
        commands.ComeBack(by=ann.by, seat=1),
        commands.Pause(by=ann.by),
    ):
        with refused("BAD_TOKEN"):
            game.does(command)
    # The same person sits there: what is staged stays, and what was asked.
    assert (game.table.seat(1).since, game.table.asked_at) == (since, asked_at)
    assert tablet.staged == (action("score 5 for seat 1"),)
    assert game.table.seat(1).name == "Ann"
    tablet.confirms()
    assert game.asked == [bob]
    assert decode(encode(game.table)) == game.table


@pytest.mark.case("S15")
def test_a_code_is_of_no_use_when_somebody_else_sits_there() -> None:
    game = a_table(seats=3)
    since = game.table.seat(1).since
    game.person(1).leaves()
    with refused("STALE_REVISION", asked_at=game.table.revision):
        moves(game, 1, digest("a thief"), since)
    Person(game, "Eve").takes_seat(1)
    with refused("STALE_REVISION", asked_at=game.table.revision):
        moves(game, 1, digest("a thief"), since)
    assert moves(game, 1, digest("Eve's phone"))


def test_a_person_moves_and_nobody_else() -> None:
    game = a_table(seats=3)
    for by, reason in (
        (game.person(1).by, "NOT_ALLOWED"),
        (HOST, "NOT_ALLOWED"),
        (ADMIN, "BAD_TOKEN"),
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
    ):
        with refused(reason):
            game.does(
                commands.Reseat(by=by, seat=1, token=digest("x"), since=game.table.seat(1).since)
            )
    for seat in (0, 4):
        with refused("UNKNOWN_NAME", field="seat"):
            moves(game, seat, digest("x"), 1)
    with refused("BAD_FIELD", field="token_sha256"):
        moves(game, 1, b"short")
    game.person(1).leaves()
    with refused("BAD_FIELD", field="seat", says="nobody sits on seat 1"):
        moves(game, 1, digest("x"))
    game.host_seats_bot(seat=1)
    with refused("BAD_FIELD", field="seat", says="a bot sits on seat 1"):
        moves(game, 1, digest("x"))


def test_to_the_same_device_nothing_moves() -> None:
    game = a_table()
    assert moves(game, 1, game.person(1).by.token) is None


def test_from_a_panel_to_a_device_and_the_button_stays() -> None:
    game = a_table(taken=False, points="on")
    panel = game.host_puts_panel(seats=(0, 0))
    panel.presses(1)
    panel.presses(2)
    with refused("BAD_FIELD", field="token_sha256", says="a panel's token"):
        moves(game, 1, panel.token)
    assert moves(game, 1, digest("the token of Ann"))
    ann = Person(game, "Ann")
    seat = game.table.seat(1)
    assert (seat.at_panel, seat.name, seat.confirmation) == (False, "Red", Confirmation.EITHER)
    ann.acts("score 5 for seat 1")
    with refused("NOT_ALLOWED"):  # nobody plays along with a device
        game.does(commands.Undo(by=panel.by, seat=1, expected_revision=game.table.revision))
    assert panel.presses(1) == 1
    assert panel.presses(2) == 2
    # The panel goes, the device stays.
    game.does(commands.DetachPanel(by=HOST, uid=UID))
    assert game.table.seat(1).token == ann.by.token
    assert game.table.seat(2).token == b""


def test_the_hosts_duties_go_with_a_seat_that_has_them() -> None:
    game = a_table()
    game.host_passes_to(1)
    ann = game.person(1)
    ann.moves_to("the token of Ann's phone")
    assert not is_host(game.table, ann.by)
    assert is_host(game.table, Person(game, "Ann's phone").by)


def test_after_the_game_and_after_conceding_too() -> None:
    game = a_table(seats=3)
    game.person(1).concedes()
    assert game.person(1).moves_to("the token of Ann's phone")
    game.person(2).acts("finish game", confirm=True)
    assert game.person(2).moves_to("the token of Bob's phone")


def test_the_bot_plays_on_until_the_other_device_wants_to() -> None:
    game = a_table()
    ann = game.person(1)
    ann.lets_bot_play()
    ann.moves_to("the token of Ann's phone")
    assert game.table.seat(1).stand_in == "greedy"
    with refused("BAD_TOKEN"):
        ann.comes_back()
    assert Person(game, "Ann's phone").comes_back()
