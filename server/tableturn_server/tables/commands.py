"""What can be asked of a table: one small value for each command."""

from __future__ import annotations

from enum import IntEnum

import msgspec

from tableturn_server.rules.actions import Action
from tableturn_server.tables.state import Confirmation


class Gesture(IntEnum):
    """What was done with a panel's button, numbered as `tableturn.v1.Gesture`."""

    PRESS = 1
    LONG = 2
    CHORD = 3
    MASTER = 4
    MASTER_LONG = 5


class By(msgspec.Struct, frozen=True):
    """Who sends a command: the SHA-256 of the token (empty: none), and the admin's scope.

    `bots`: the service itself, for seats for which a bot plays. `service`: the service itself,
    for what is due at a table though nobody asks for it.
    """

    token: bytes = b""
    admin: bool = False
    bots: bool = False
    service: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What all commands have in common."""

    by: By


class TakeSeat(Command, frozen=True, kw_only=True):
    """Take a free seat; 0 for the first free one. `invited`: with the table's join code."""

    seat: int = 0
    name: str
    token: bytes
    invited: bool = False
    confirmation: Confirmation = Confirmation.EITHER


class SeatBot(Command, frozen=True, kw_only=True):
    """Give a free seat to a bot; 0 for the first free one. An empty name: one is made."""

    seat: int = 0
    bot: str
    name: str = ""
    confirmation: Confirmation = Confirmation.EITHER


class SetConfirmation(Command, frozen=True, kw_only=True):
    """Say who confirms a seat's turns; 0 for the only seat that the token holds."""

    seat: int = 0
    confirmation: Confirmation


class LeaveSeat(Command, frozen=True, kw_only=True):
    """Leave a seat; 0 for the only one that the token holds.

    `expected_revision` is the revision at which the sender saw who sits there; 0 for whoever
    does now.
    """

    seat: int = 0
    expected_revision: int = 0


class Start(Command, frozen=True, kw_only=True):
    """Start the game; `without_free_seats`: with those who are here."""

    without_free_seats: bool = False


class Act(Command, frozen=True, kw_only=True):
    """Stage actions, and confirm the turn if `confirm` is set; 0 for the seat that is asked."""

    seat: int = 0
    expected_revision: int
    actions: tuple[Action, ...] = ()
    confirm: bool = False


class Undo(Command, frozen=True, kw_only=True):
    """Undo the last staged action of a seat, or all of them."""

    seat: int = 0
    expected_revision: int
    all: bool = False


class TakeBack(Command, frozen=True, kw_only=True):
    """Take the last confirmed turn back, or agree to it."""

    seat: int = 0
    expected_revision: int


class Pause(Command, frozen=True, kw_only=True):
    """Stop all turns."""


class Resume(Command, frozen=True, kw_only=True):
    """Let a paused game go on."""


class Concede(Command, frozen=True, kw_only=True):
    """Take a seat out of the game for good (DR-4); `expected_revision` as for `LeaveSeat`."""

    seat: int = 0
    expected_revision: int = 0


class AttachPanel(Command, frozen=True, kw_only=True):
    """Put a panel on the table; `seats` are those of its buttons, 0 for none."""

    uid: int
    token: bytes
    seats: tuple[int, ...]


class DetachPanel(Command, frozen=True, kw_only=True):
    """Take a panel off the table."""

    uid: int


class Press(Command, frozen=True, kw_only=True):
    """A gesture at a panel; buttons count from 1, 0 is the one that belongs to no seat."""

    uid: int
    button: int
    gesture: Gesture
    second: int = 0
    expected_revision: int


class NoteRematch(Command, frozen=True, kw_only=True):
    """Note the id of the next table of the same people."""

    next_table: str


class AddTime(Command, frozen=True, kw_only=True):
    """Give a seat more time, in milliseconds; 0 for all seats in the game."""

    seat: int = 0
    time: int


class StandIn(Command, frozen=True, kw_only=True):
    """Let a bot play on for a person; 0 for the only seat that the token holds."""

    seat: int = 0
    bot: str


class ComeBack(Command, frozen=True, kw_only=True):
    """A person plays on instead of the bot; 0 for the only seat that the token holds.

    From the service: a device of the seat was heard again.
    """

    seat: int = 0


class VoteDrop(Command, frozen=True, kw_only=True):
    """A seat (0: the only one that the token holds) wants another to leave the game for good.

    `away` are the seats of which the service knows that nobody is there.
    """

    seat: int = 0
    target: int
    withdraw: bool = False
    away: frozenset[int] = frozenset()


class PassHost(Command, frozen=True, kw_only=True):
    """Hand the host's duties to a seat.

    From the service: to one besides an absent host, or (0) to nobody any more but the host.
    """

    seat: int


class Reseat(Command, frozen=True, kw_only=True):
    """Move a seat to another device's token. Of the service, which has looked at the seat code.

    `since` is the revision since which the same person had sat there when the code was made,
    `by_host` says that the host made it.
    """

    seat: int
    token: bytes
    since: int
    by_host: bool = False


class TimeOut(Command, frozen=True, kw_only=True):
    """A seat's time is up: of the service. `deadline` is the one that it found."""

    seat: int
    deadline: int
    bot: str = ""


class GoAway(Command, frozen=True, kw_only=True):
    """A seat's player has been away for longer than the grace, since `since`: of the service."""

    seat: int
    since: int
    bot: str = ""


class Excuse(Command, frozen=True, kw_only=True):
    """The service was away from `begin` to `end`: nobody is charged for it. Of the service."""

    begin: int
    end: int


AnyCommand = (
    TakeSeat
    | SeatBot
    | SetConfirmation
    | LeaveSeat
    | Start
    | Act
    | Undo
    | TakeBack
    | Pause
    | Resume
    | Concede
    | AttachPanel
    | DetachPanel
    | Press
    | NoteRematch
    | AddTime
    | StandIn
    | ComeBack
    | VoteDrop
    | PassHost
    | Reseat
    | TimeOut
    | GoAway
    | Excuse
)
"""Any command."""
