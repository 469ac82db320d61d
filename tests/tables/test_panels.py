"""Panels on the table, who confirms, and seats that were taken at a panel."""

import pytest
from msgspec.structs import replace

from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import acting_seat
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.export import export, read
from tableturn_server.tables.log import ChangeKind
from tableturn_server.tables.presses import rematch_press
from tableturn_server.tables.rematch import next_table
from tableturn_server.tables.state import Occupant, decode, encode
from tests.tables.play import (
    ADMIN,
    HOST,
    NOBODY,
    STRANGER,
    UID,
    Confirmation,
    PanelOfTest,
    Person,
    TableOfTest,
    a_table,
    action,
    digest,
    refused,
)

# -- put on the table, and taken away ------------------------------------------------------


def test_the_host_puts_a_panel_on_the_table_for_all_to_see() -> None:
    game = a_table(seats=3)
    panel = game.host_puts_panel(4_000_000_000, seats=(1, 0, 3))
    assert game.log[-1].kind is ChangeKind.PANEL
    assert game.log[-1].lines == ("panel 4000000000 is put on the table, for seats 1, 3",)
    for seat in (None, 1, 2):
        (seen,) = views.view(game.table, seat).panels
        assert (seen.uid, seen.seats) == (4_000_000_000, (1, 0, 3))
    assert decode(encode(game.table)) == game.table
    same = commands.AttachPanel(by=HOST, uid=panel.uid, token=panel.token, seats=(1, 0, 3))
    assert game.does(same) is None


def test_only_the_host_puts_panels_on_the_table() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1,))
    for by, reason in (
        (NOBODY, "BAD_TOKEN"),
        (STRANGER, "BAD_TOKEN"),
        (game.people[0].by, "NOT_ALLOWED"),
        (panel.by, "NOT_ALLOWED"),
    ):
        with refused(reason):
            game.does(commands.AttachPanel(by=by, uid=8, token=digest("8"), seats=(2,)))
    assert game.does(commands.AttachPanel(by=ADMIN, uid=8, token=digest("8"), seats=(2,)))


@pytest.mark.parametrize(
    ("uid", "token", "seats", "reason", "field"),
    [
        (0, digest("t"), (1,), "BAD_FIELD", "panel_uid"),
        (2**32, digest("t"), (1,), "BAD_FIELD", "panel_uid"),
        (1, b"the token itself", (1,), "BAD_FIELD", "panel_token_sha256"),
        (1, digest("t"), (), "BAD_FIELD", "seats"),
        (1, digest("t"), (0,) * 9, "BAD_FIELD", "seats"),
        (1, digest("t"), (1, 2, 1), "BAD_FIELD", "seats"),
        (1, digest("t"), (4,), "UNKNOWN_NAME", "seat"),
    ],
)
def test_a_panel_that_can_not_be(
    uid: int, token: bytes, seats: tuple[int, ...], reason: str, field: str
) -> None:
    game = a_table(seats=3)
    with refused(reason, field=field):
        game.does(commands.AttachPanel(by=HOST, uid=uid, token=token, seats=seats))


def test_a_seat_has_one_button_on_all_panels() -> None:
    game = a_table(seats=4)
    game.host_puts_panel(1, seats=(1, 2))
    with refused("SEAT_TAKEN"):
        game.host_puts_panel(2, seats=(2, 3))
    game.host_puts_panel(2, seats=(3, 4))
    # The same panel anew: its own seats are no others'.
    again = game.host_puts_panel(1, seats=(2, 1))
    assert again.seats == (2, 1)
    assert [panel.uid for panel in game.table.panels] == [1, 2]
    with refused("SEAT_TAKEN"):
        game.host_puts_panel(1, seats=(2, 1, 3))


def test_a_table_has_room_for_eight_panels() -> None:
    game = a_table()
    for uid in range(1, 9):
        game.host_puts_panel(uid, seats=(0, 0))
    with refused("LIMIT_REACHED"):
        game.host_puts_panel(9, seats=(0, 0))
    game.host_puts_panel(8, seats=(0, 1))


def test_the_host_or_the_panel_itself_takes_it_away() -> None:
    game = a_table()
    ann, _ = game.people
    panel, other = game.host_puts_panel(1, seats=(1,)), game.host_puts_panel(2, seats=(2,))
    for by, reason in ((STRANGER, "BAD_TOKEN"), (ann.by, "NOT_ALLOWED"), (other.by, "NOT_ALLOWED")):
        with refused(reason):
            game.does(commands.DetachPanel(by=by, uid=1))
    assert game.does(commands.DetachPanel(by=panel.by, uid=1))
    assert [there.uid for there in game.table.panels] == [2]
    with refused("BAD_TOKEN"):
        panel.presses(1)
    with refused("UNKNOWN_NAME", field="panel_uid"):
        game.does(commands.DetachPanel(by=HOST, uid=1))
    assert game.does(commands.DetachPanel(by=HOST, uid=2))
    assert game.table.panels == ()


def test_after_the_end_panels_come_and_go_for_the_rematch() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    game.people[0].acts("finish game", confirm=True)
    seen = game.table.revision
    assert game.does(commands.DetachPanel(by=panel.by, uid=panel.uid))
    with refused("BAD_TOKEN"):
        rematch_press(game.table, panel.command(1, Gesture.LONG))
    other = game.host_puts_panel(8, seats=(2,))
    # It was held when the button served no seat of this table.
    with refused("STALE_REVISION"):
        rematch_press(game.table, other.command(1, Gesture.LONG, at=seen))
    assert rematch_press(game.table, other.command(1, Gesture.LONG)) == 2
    table, _ = next_table(game.table, other.by, drawn_seed=bytes(16), now=game.clock)
    assert [(there.uid, there.seats) for there in table.panels] == [(8, (2,))]


def test_a_panel_has_a_token_of_its_own() -> None:
    game = a_table(watch=digest("the watch token"))
    ann, _ = game.people
    one = game.host_puts_panel(1, seats=(0,))
    for token, whose in (
        (HOST.token, "the host's token"),
        (digest("the watch token"), "the watch token"),
        (ann.by.token, "the token of seat 1"),
    ):
        attach = commands.AttachPanel(by=HOST, uid=2, token=token, seats=(1,))
        with refused("BAD_FIELD", says=whose, field="panel_token_sha256"):
            game.does(attach)
        with refused("BAD_FIELD", says=whose, field="panel_token_sha256"):
            game.does(replace(attach, uid=1))
    # One bridge may work two panels.
    assert game.does(commands.AttachPanel(by=HOST, uid=2, token=one.token, seats=(1,)))


# -- what a panel's token sees -------------------------------------------------------------


def test_a_panel_sees_what_a_spectator_sees() -> None:
    game = a_table(seats=3, taken=False, watch=digest("the watch token"))
    panel = game.host_puts_panel(seats=(0, 0, 0))
    assert panel.presses(2) == 1
    assert views.audience(game.table, panel.by, 0) is None
    assert views.audience(game.table, panel.by, 1) == 1
    with refused("NOT_ALLOWED"):
        views.audience(game.table, panel.by, 2)


def test_no_panels_token_is_in_a_view() -> None:
    game = a_table()
    panel = game.host_puts_panel(seats=(1, 2))
    assert panel.token not in repr(views.view(game.table, 1)).encode()
    assert repr(panel.token) not in repr(views.view(game.table, 1))


# -- seats that were taken at a panel ------------------------------------------------------


def red_at_the_panel() -> tuple[TableOfTest, PanelOfTest, Person]:
    """Somebody sits at the panel, as red; Bob has a device. The game has started."""
    game = a_table(seats=2, taken=False, points="on")
    panel = game.host_puts_panel(seats=(0, 0))
    panel.presses(1)
    bob = Person(game, "Bob")
    bob.takes_seat()
    return game, panel, bob


def acts(game: TableOfTest, by: commands.By, *texts: str, confirm: bool = False) -> None:
    """Somebody acts for the first seat."""
    assert game.does(
        commands.Act(
            by=by,
            seat=1,
            expected_revision=game.table.revision,
            actions=tuple(map(action, texts)),
            confirm=confirm,
        )
    )


def test_others_stage_and_undo_for_a_seat_at_the_panel_and_its_button_confirms() -> None:
    game, panel, bob = red_at_the_panel()
    seen = views.view(game.table, bob.seat).seats
    assert [seat.from_panel for seat in seen] == [True, False]
    for by in (bob.by, HOST, ADMIN, panel.by):
        assert views.audience(game.table, by, 1) == 1
        assert acting_seat(game.table, by, 1) == 1
        acts(game, by, "score 1 for seat 1")
        acts(game, by, "score 2 for seat 1")
        game.does(commands.Undo(by=by, seat=1, expected_revision=game.table.revision))
    for by in (bob.by, HOST, ADMIN):
        with refused("NOT_ALLOWED"):
            acts(game, by, confirm=True)
        with refused("NOT_ALLOWED"):
            acts(game, by, "score 3 for seat 2", confirm=True)
    assert len(game.table.staged[0]) == 4
    assert panel.presses(1) == 1
    assert game.table.position.points == (4, 0)
    assert game.asked == [bob]


def test_strangers_and_spectators_do_nothing_for_a_seat_at_the_panel() -> None:
    game = a_table(seats=2, taken=False, points="on", watch=digest("the watch token"))
    panel = game.host_puts_panel(1, seats=(0,))
    other = game.host_puts_panel(2, seats=(0,))
    panel.presses(1)
    Person(game, "Bob").takes_seat()
    for by, reason in (
        (STRANGER, "BAD_TOKEN"),
        (NOBODY, "BAD_TOKEN"),
        (commands.By(digest("the watch token")), "NOT_ALLOWED"),
        (other.by, "NOT_ALLOWED"),
    ):
        with refused(reason):
            acts(game, by, "score 1 for seat 1")
        with refused(reason):
            views.audience(game.table, by, 1)


def test_only_seats_at_the_panel_are_played_by_others() -> None:
    game, panel, bob = red_at_the_panel()
    panel.presses(1)
    for by in (panel.by, HOST):
        with refused("NOT_ALLOWED"):
            game.does(
                commands.Act(
                    by=by,
                    seat=2,
                    expected_revision=game.table.revision,
                    actions=(action("score 1 for seat 1"),),
                )
            )
    # Whoever names no seat means their own.
    bob.acts("score 1 for seat 2")
    assert game.table.staged[0] == ()


def test_the_panels_own_token_has_the_powers_of_its_seats() -> None:
    game, panel, bob = red_at_the_panel()
    acts(game, panel.by, "score 1 for seat 1", confirm=True)
    assert game.asked == [bob]
    assert game.does(commands.Pause(by=panel.by))
    assert game.does(commands.Resume(by=panel.by))
    assert game.does(commands.LeaveSeat(by=panel.by, seat=1))


@pytest.mark.parametrize("started", [False, True])
def test_a_button_is_free_again_when_its_seat_is_left_before_the_start(started: bool) -> None:
    game = a_table(seats=2, taken=False, start_when_full=False)
    panel = game.host_puts_panel(seats=(0, 0))
    panel.presses(1)
    panel.presses(2)
    if started:
        game.host_starts()
    game.does(commands.LeaveSeat(by=HOST, seat=2))
    assert panel.seats == ((1, 2) if started else (1, 0))
    assert not game.table.seat(2).at_panel
    assert game.table.seat(2).occupant is Occupant.NOBODY


def test_a_button_that_the_host_gave_a_seat_keeps_it_whoever_leaves() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    panel = game.host_puts_panel(seats=(0, 2))
    for button, seat in ((2, 2), (1, 1)):
        assert panel.presses(button) == seat
    for seat in (2, 1):
        game.does(commands.LeaveSeat(by=HOST, seat=seat))
    assert panel.seats == (0, 2)
    assert panel.presses(2) == 2
    assert panel.presses(1) == 1
    # What had been taken by a press, the host says now.
    panel = game.host_puts_panel(seats=(1, 2, 0))
    game.does(commands.LeaveSeat(by=HOST, seat=1))
    assert panel.seats == (1, 2, 0)


def test_a_seat_without_a_button_is_left_like_any_other() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    one, two = game.host_puts_panel(1, seats=(0, 0)), game.host_puts_panel(2, seats=(0,))
    one.presses(2)
    two.presses(1)
    game.does(commands.DetachPanel(by=HOST, uid=2))
    game.does(commands.LeaveSeat(by=HOST, seat=2))
    assert one.seats == (0, 1)
    assert game.table.seat(2).occupant is Occupant.NOBODY


def test_a_device_that_leaves_keeps_the_button_that_the_host_gave_it() -> None:
    game = a_table(seats=2, taken=False)
    panel = game.host_puts_panel(seats=(1, 2))
    ann = Person(game, "Ann")
    ann.takes_seat()
    ann.leaves()
    assert panel.seats == (1, 2)


def test_seats_stay_with_a_panel_that_gets_another_token() -> None:
    game, panel, _ = red_at_the_panel()
    anew = game.host_puts_panel(UID, seats=(1, 0), token="another one")
    with refused("BAD_TOKEN"):
        panel.presses(1)
    assert anew.presses(1) == 1
    assert game.table.seat(1).token == anew.token
    without_buttons = game.host_puts_panel(UID, seats=(0, 0), token="a third one")
    assert game.table.seat(1).token == without_buttons.token


def test_a_panel_that_was_taken_off_has_no_power_left() -> None:
    game, panel, bob = red_at_the_panel()
    game.does(commands.DetachPanel(by=HOST, uid=panel.uid))
    red = game.table.seat(1)
    assert (red.token, red.at_panel, red.occupant) == (b"", True, Occupant.PERSON)
    for by in (panel.by, NOBODY):
        with refused("BAD_TOKEN"):
            acts(game, by, "score 1 for seat 1")
        with refused("BAD_TOKEN"):
            acts(game, by, confirm=True)
        with refused("BAD_TOKEN"):
            views.audience(game.table, by, 1)
        for command in (
            commands.Pause(by=by),
            commands.LeaveSeat(by=by, seat=1),
            commands.Concede(by=by, seat=1),
            commands.SetConfirmation(by=by, seat=1, confirmation=Confirmation.PANEL),
        ):
            with refused("BAD_TOKEN"):
                game.does(command)
    # Those at the table, and the host, look and stage for it still.
    for by in (bob.by, HOST):
        assert views.audience(game.table, by, 1) == 1
        acts(game, by, "score 1 for seat 1")
        with refused("NOT_ALLOWED", says="a panel that the host puts there confirms"):
            acts(game, by, confirm=True)
    assert decode(encode(game.table)) == game.table
    imported = read(export(game.table, game.recorded()), table_id="", now=game.clock)
    assert imported.table.seats == game.table.seats
    # The same panel again, with the same token: only what it serves is its own.
    again = game.host_puts_panel(panel.uid, seats=(0, 0))
    with refused("NOT_ALLOWED"):
        acts(game, again.by, "score 1 for seat 1")
    again = game.host_puts_panel(panel.uid, seats=(1, 0))
    assert again.presses(1) == 1
    assert game.asked == [bob]


def test_a_bridge_of_two_panels_keeps_the_seats_of_the_other_one() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    one = game.host_puts_panel(1, seats=(0,))
    two = game.host_puts_panel(2, seats=(0,), token="the token of panel 1")
    one.presses(1)
    two.presses(1)
    game.does(commands.DetachPanel(by=HOST, uid=2))
    assert [seat.token for seat in game.table.seats] == [one.token, b"", b""]


def test_seats_go_to_another_panel_when_theirs_is_gone() -> None:
    game, panel, _ = red_at_the_panel()
    game.does(commands.DetachPanel(by=HOST, uid=panel.uid))
    assert game.table.seat(1).at_panel
    other = game.host_puts_panel(8, seats=(2, 1))
    assert game.table.seat(1).token == other.token
    assert game.table.seat(2).token != other.token  # Bob's own
    assert other.presses(2) == 1


def test_a_seat_goes_to_the_panel_that_is_given_a_button_for_it() -> None:
    game, panel, _ = red_at_the_panel()
    game.host_puts_panel(panel.uid, seats=(0, 0))
    assert game.table.seat(1).token == panel.token
    other = game.host_puts_panel(8, seats=(1,))
    assert game.table.seat(1).token == other.token
    assert other.presses(1) == 1


def test_seats_of_one_panel_do_not_go_to_another_one() -> None:
    game = a_table(seats=3, taken=False, start_when_full=False)
    one = game.host_puts_panel(1, seats=(0,))
    two = game.host_puts_panel(2, seats=(0,), token="the token of panel 1")  # both of one bridge
    one.presses(1)
    two.presses(1)
    anew = game.host_puts_panel(2, seats=(2,), token="another one")
    assert [seat.token for seat in game.table.seats] == [one.token, anew.token, b""]


def test_somebody_with_a_panels_token_sits_at_the_panel() -> None:
    game = a_table(taken=False)
    panel = game.host_puts_panel(seats=(1, 2))
    take = commands.TakeSeat(by=NOBODY, name="Ann", token=panel.token)
    with refused("NOT_ALLOWED"):
        game.does(replace(take, confirmation=Confirmation.DEVICE))
    assert game.does(take)
    assert game.table.seat(1).at_panel


# -- who confirms --------------------------------------------------------------------------


def test_a_seat_says_who_confirms_when_it_is_taken() -> None:
    game = a_table(taken=False)
    game.does(
        commands.TakeSeat(
            by=NOBODY, name="Ann", token=digest("Ann"), confirmation=Confirmation.PANEL
        )
    )
    Person(game, "Bob").takes_seat()
    seen = views.view(game.table, None).seats
    assert [s.confirmation for s in seen] == [Confirmation.PANEL, Confirmation.EITHER]


def test_the_seat_or_the_host_sets_who_confirms() -> None:
    game = a_table(seats=3)
    ann, bob, _ = game.people
    sets = commands.SetConfirmation
    assert game.does(sets(by=ann.by, confirmation=Confirmation.PANEL))
    assert game.log[-1].kind is ChangeKind.CONFIRMATION
    assert game.log[-1].lines == ("from now on the turns of Ann (red) are confirmed at the panel",)
    assert game.does(sets(by=HOST, seat=1, confirmation=Confirmation.PANEL)) is None
    assert game.does(sets(by=HOST, seat=1, confirmation=Confirmation.EITHER))
    assert game.log[-1].lines[0].endswith("are confirmed by their own device or at the panel")
    assert game.does(sets(by=HOST, seat=1, confirmation=Confirmation.DEVICE))
    assert game.log[-1].lines[0].endswith("are confirmed by their own device")
    with refused("NOT_ALLOWED"):
        game.does(sets(by=bob.by, seat=1, confirmation=Confirmation.DEVICE))
    with refused("BAD_TOKEN"):
        game.does(sets(by=STRANGER, confirmation=Confirmation.DEVICE))
    with refused("UNKNOWN_NAME"):
        game.does(sets(by=HOST, seat=4, confirmation=Confirmation.DEVICE))
    bob.leaves()
    with refused("BAD_FIELD", field="seat"):
        game.does(sets(by=HOST, seat=2, confirmation=Confirmation.DEVICE))


def test_a_change_of_who_confirms_makes_no_press_stale() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    ann.acts("score 1 for seat 1")
    seen = game.table.revision
    game.host_sets_confirmation(1, Confirmation.DEVICE)
    assert len(ann.staged) == 1
    ann.confirms(at=seen)
    assert game.asked == [bob]


def test_where_the_panel_confirms_the_device_only_stages() -> None:
    game = a_table(points="on")
    ann, bob = game.people
    panel = game.host_puts_panel(seats=(1, 2))
    game.host_sets_confirmation(1, Confirmation.PANEL)
    with refused("NOT_ALLOWED"):
        ann.acts("score 1 for seat 1", confirm=True)
    ann.acts("score 1 for seat 1")
    with refused("NOT_ALLOWED"):
        ann.confirms()
    panel.presses(1)
    assert game.asked == [bob]


def test_without_a_panel_the_refusal_says_what_to_do() -> None:
    game = a_table()
    ann, bob = game.people
    game.host_sets_confirmation(1, Confirmation.PANEL)
    with refused("NOT_ALLOWED", says="none at this table serves it: the seat or the host may"):
        ann.confirms()
    assert game.does(commands.SetConfirmation(by=ann.by, confirmation=Confirmation.DEVICE))
    ann.confirms()
    assert game.asked == [bob]


def test_a_seat_at_the_panel_has_no_device_to_confirm_on() -> None:
    game, _, _ = red_at_the_panel()
    with refused("NOT_ALLOWED"):
        game.host_sets_confirmation(1, Confirmation.DEVICE)
    game.host_sets_confirmation(1, Confirmation.PANEL)


def test_after_the_end_nobody_sets_who_confirms() -> None:
    game = a_table()
    game.people[0].acts("finish game", confirm=True)
    with refused("GAME_OVER"):
        game.host_sets_confirmation(1, Confirmation.DEVICE)


def test_whoever_sits_down_next_says_anew_who_confirms() -> None:
    game = a_table()
    ann, _ = game.people
    game.host_sets_confirmation(1, Confirmation.PANEL)
    ann.leaves()
    assert Person(game, "Eve").takes_seat() == 1
    assert game.table.seat(1).confirmation is Confirmation.EITHER
