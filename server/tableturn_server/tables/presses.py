"""Gestures at a panel: what a press of a button means, by where the table stands.

| | seats are taken | the game runs |
|---|---|---|
| press | take a seat | confirm, unless that skips a turn; take the seat, if it was left |
| long press | start with those who are here | pass the round, else confirm |
| either, while a bot stands in | | play on instead of the bot, and nothing else |
| chord | | undo a step, else take a turn back |
| master | | pause, or go on |
| master, long | | begin the next round, between rounds |

When the game is over a long press asks for a rematch, which makes another table: `rematch_press`
checks such a press, and the service does the rest.

Order of the checks: whether the panel is on the table and this its token, whether the game runs,
whether the button still serves what it served when the panel showed it, whether the question is
still the one that was shown, whether the game is paused, whether the panel confirms for the seat,
and at last whether the rules allow it.
"""

from __future__ import annotations

from msgspec.structs import replace

from tableturn_server.rules.actions import Action, PassRound
from tableturn_server.rules.game import PromptKind
from tableturn_server.tables import commands
from tableturn_server.tables.change import Change
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.facts import (
    free_seats,
    in_words,
    name_of,
    panel_of,
    panel_serving,
    plays_in_person,
    staged_position,
    waits_for_button,
)
from tableturn_server.tables.history import History
from tableturn_server.tables.moving import panel_name
from tableturn_server.tables.panels import button_since, mapped, unknown_panel
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_not_over,
    check_not_paused,
    check_over,
    check_panel_confirms,
    check_question,
    check_running,
    check_since,
    is_known,
    stale,
    unknown_token,
)
from tableturn_server.tables.seating import seated, starting
from tableturn_server.tables.stand_ins import coming_back
from tableturn_server.tables.state import (
    Confirmation,
    Occupant,
    Panel,
    Status,
    Table,
    Takeback,
    game_of,
)
from tableturn_server.tables.takebacks import taking_back
from tableturn_server.tables.turns import Positions, not_asked, pausing, play, undone

_MASTER = (Gesture.MASTER, Gesture.MASTER_LONG)


def press(
    table: Table,
    command: commands.Press,
    now: int,
    history: History | None,
    positions: Positions,
) -> Change | None:
    """Carry out what was done with a button."""
    panel = _panel(table, command)
    check_not_over(table)
    if table.status is Status.OPEN:
        return _in_the_lobby(table, panel, command, now)
    expected = command.expected_revision
    check_since(table, button_since(panel, command.button), expected)
    match command.gesture:
        case Gesture.MASTER:
            check_since(table, table.paused_at, expected)
            return pausing(table, f"panel {panel.uid}", 0, now, paused=not table.paused)
        case Gesture.MASTER_LONG:
            return _next_round(table, panel, command, now, positions)
        case Gesture.PRESS if panel.seats[command.button - 1] in free_seats(table):
            return _sit_down_again(table, panel, command, now)
    number = _seat_in_game(table, panel, command)
    if table.seat(number).stand_in:
        return _come_back(table, number, command, now)
    match command.gesture:
        case Gesture.PRESS:
            return _confirm(table, number, now, positions)
        case Gesture.LONG:
            return _end_turn(table, number, now, positions)
        case _:
            return _go_back(table, number, command, now, history)


def rematch_press(table: Table, command: commands.Press) -> int:
    """The seat (0: none) whose button asks for a rematch, after the end of the game.

    Raises Refused for any other gesture, and for a press that was meant for what the panel
    showed before the end.
    """
    panel = _panel(table, command)
    check_over(table)
    since = max(table.turned_at, button_since(panel, command.button))
    check_since(table, since, command.expected_revision)
    if command.gesture is not Gesture.LONG:
        raise Refused(Reason.GAME_OVER, "the game is over; hold a button for a rematch")
    return panel.seats[command.button - 1]


def _panel(table: Table, command: commands.Press) -> Panel:
    """The panel that was pressed: it is on the table, this is its token, it has such buttons."""
    panel = panel_of(table, command.uid)
    if panel is None and is_known(table, command.by.token):
        raise unknown_panel(table, command.uid)
    if panel is None or not command.by.token or command.by.token != panel.token:
        raise unknown_token(table, command.by, f"the token of panel {command.uid}")
    buttons = len(panel.seats)
    if command.gesture in _MASTER:
        if command.button:
            raise Refused(
                Reason.BAD_FIELD,
                "this gesture is one of the button that belongs to no seat: 0",
                field="button",
            )
        return panel
    if not 1 <= command.button <= buttons:
        raise Refused(
            Reason.BAD_FIELD,
            f"panel {panel.uid} has buttons 1 to {buttons}, not {command.button}",
            field="button",
        )
    chord = command.gesture is Gesture.CHORD
    if chord and (not 1 <= command.second <= buttons or command.second == command.button):
        raise Refused(
            Reason.BAD_FIELD,
            f"the second button is another one of 1 to {buttons}, not {command.second}",
            field="second_button",
        )
    return panel


# -- while seats are taken -----------------------------------------------------------------


def _in_the_lobby(table: Table, panel: Panel, command: commands.Press, now: int) -> Change:
    """A short press takes a seat; a long one of somebody who sits starts the game."""
    if command.gesture not in (Gesture.PRESS, Gesture.LONG):
        check_running(table)
    number = panel.seats[command.button - 1]
    # Who presses means what they see: this button for this seat, with whoever sits there.
    since = max(button_since(panel, command.button), table.seat(number).since if number else 0)
    check_since(table, since, command.expected_revision)
    sits = bool(number) and table.seat(number).occupant is not Occupant.NOBODY
    if command.gesture is Gesture.PRESS:
        if sits:
            raise Refused(
                Reason.NOT_ASKED,
                f"{name_of(table, number)} already sits; hold the button to start the game",
            )
        return _sit_down(table, panel, command.button, now)
    if not sits:
        raise Refused(Reason.NOT_ASKED, "nobody sits at this button; press it to take a seat")
    return starting(table, now, number=number, without_free_seats=True)


def _sit_down(table: Table, panel: Panel, button: int, now: int) -> Change:
    """Somebody takes the seat of a button, or the first free one that has no button yet."""
    number = panel.seats[button - 1]
    panels = table.panels
    if not number:
        free = free_seats(table)
        if not free:
            raise Refused(Reason.TABLE_FULL, "every seat of this table is taken")
        number = next((n for n in free if panel_serving(table, n) is None), 0)
        if not number:
            raise Refused(
                Reason.SEAT_TAKEN,
                f"what is free has buttons of its own: {in_words(free)}",
            )
        panels = mapped(table, panel, button, number)
    seat = table.seat(number)
    sitting = replace(
        seat,
        name=panel_name(seat.color),
        occupant=Occupant.PERSON,
        token=panel.token,
        confirmation=Confirmation.EITHER,
        at_panel=True,
    )
    ready = replace(table, panels=panels)
    return seated(ready, number, sitting, f"{sitting.name} (panel {panel.uid})", now)


# -- while the game runs -------------------------------------------------------------------


def _sit_down_again(table: Table, panel: Panel, command: commands.Press, now: int) -> Change:
    """Somebody takes the seat of a button that was left; not with a press of whoever sat there."""
    number = panel.seats[command.button - 1]
    check_since(table, table.seat(number).since, command.expected_revision)
    check_not_paused(table)
    return _sit_down(table, panel, command.button, now)


def _seat_in_game(table: Table, panel: Panel, command: commands.Press) -> int:
    """The seat of a button, if the panel may do something for it."""
    number = panel.seats[command.button - 1]
    if not number:
        raise Refused(
            Reason.NOT_ASKED, f"button {command.button} of panel {panel.uid} serves no seat"
        )
    check_question(table, number, command.expected_revision)
    check_not_paused(table)
    seat = table.seat(number)
    if seat.dropped:
        raise Refused(Reason.NOT_ASKED, f"seat {number} has left the game")
    if seat.occupant is Occupant.NOBODY:
        raise Refused(Reason.NOT_ASKED, f"nobody sits on seat {number}; it must be taken first")
    check_panel_confirms(table, number)
    return number


def _come_back(table: Table, number: int, command: commands.Press, now: int) -> Change:
    """Whoever presses their button while a bot stands in is back; the turn is not confirmed."""
    if command.gesture not in (Gesture.PRESS, Gesture.LONG):
        raise Refused(
            Reason.NOT_ALLOWED,
            f"a bot plays on for {name_of(table, number)}; press the button to play yourself",
        )
    return coming_back(table, number, now)


def _confirm(table: Table, number: int, now: int, positions: Positions) -> Change:
    """Confirm what is staged; never a turn in which nothing was done, if that skips it."""
    _check_decided(table, number)
    game = game_of(table)
    open_ = positions.get(number)
    if open_ is None:
        open_ = staged_position(game, table, number)
    prompt = next((p for p in game.prompts(open_) if p.seat == number), None)
    if prompt is None:
        raise not_asked(number)
    if prompt.confirm_skips:
        raise Refused(
            Reason.CANNOT_CONFIRM,
            "nothing was done in this turn; hold the button to end the turn with nothing done",
        )
    return play(table, number, (), True, now, positions)


def _end_turn(table: Table, number: int, now: int, positions: Positions) -> Change:
    """Pass the round where the game has that; else end the turn, also with nothing done.

    A bot that leaves its turns to the panel says what it stages, or that it stages nothing;
    until then its button counts for nothing.
    """
    _check_decided(table, number)
    actions: tuple[Action, ...] = ()
    if not table.staged[number - 1] and not table.seat(number).bot:
        offered = game_of(table).choice(table.position, number, "pass_round")
        actions = (PassRound(),) if offered else ()
    return play(table, number, actions, True, now, positions)


def _check_decided(table: Table, number: int) -> None:
    """Raise Refused unless a bot has staged its turn, or said that it stages nothing."""
    decided = table.staged[number - 1] or waits_for_button(table, number)
    if table.seat(number).bot and not decided:
        raise Refused(
            Reason.CANNOT_CONFIRM, f"{name_of(table, number)} is a bot and still has to decide"
        )


def _go_back(
    table: Table, number: int, command: commands.Press, now: int, history: History | None
) -> Change | None:
    """Undo the last step that is staged; with nothing staged, take the last turn back."""
    if table.seat(number).bot:
        raise Refused(Reason.NOT_ALLOWED, f"a bot plays for seat {number}, nobody else does")
    if table.staged[number - 1]:
        return undone(table, number, now, everything=False)
    policy = table.making.takeback
    if policy is Takeback.NEVER:
        raise Refused(Reason.NOT_ALLOWED, "at this table no confirmed turn is taken back")
    check_since(table, table.turned_at, command.expected_revision)
    # The host put the panel on the table: where the host may, whoever sits at the panel may.
    agreed = policy is Takeback.HOST
    return taking_back(table, number, name_of(table, number), now, history, agreed=agreed)


def takes_back(table: Table, command: commands.Press) -> bool:
    """A press takes a turn back, if it does anything: nothing is staged that it would undo."""
    panel = panel_of(table, command.uid)
    if panel is None or command.gesture is not Gesture.CHORD:
        return False
    if not 1 <= command.button <= len(panel.seats):
        return False
    number = panel.seats[command.button - 1]
    return number > 0 and not table.staged[number - 1]


def _next_round(
    table: Table, panel: Panel, command: commands.Press, now: int, positions: Positions
) -> Change:
    """Begin the next round, for a seat of the panel's that has nothing to book."""
    expected = command.expected_revision
    asked = [
        prompt.seat
        for prompt in game_of(table).prompts(table.position)
        if prompt.kind is PromptKind.BETWEEN_ROUNDS
    ]
    if not asked:
        check_since(table, table.turned_at, expected)
        check_not_paused(table)
        raise Refused(Reason.CANNOT_CONFIRM, "the game is not between rounds")
    check_since(table, min(table.asked_at[n - 1] for n in asked), expected)
    check_not_paused(table)
    ours = [n for n in asked if n in panel.seats and _presses_for(table, n)]
    if not ours:
        raise Refused(
            Reason.CANNOT_CONFIRM,
            "no seat of this panel can begin the next round now; staged points are booked first",
        )
    fresh = [n for n in ours if table.asked_at[n - 1] <= expected]
    if not fresh:
        raise stale(table, min(table.asked_at[n - 1] for n in ours))
    return play(table, fresh[0], (), True, now, positions)


def _presses_for(table: Table, number: int) -> bool:
    """A person at the panel may end the time between rounds for this seat."""
    seat = table.seat(number)
    return (
        plays_in_person(seat)
        and seat.confirmation is not Confirmation.DEVICE
        and not table.staged[number - 1]
    )
