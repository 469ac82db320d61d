"""What can be asked of a table: one small value for each command."""

from __future__ import annotations

import msgspec

from tableturn_server.rules.actions import Action


class By(msgspec.Struct, frozen=True):
    """Who sends a command: the SHA-256 of the token (empty: none), and the admin's scope."""

    token: bytes = b""
    admin: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What all commands have in common."""

    by: By


class TakeSeat(Command, frozen=True, kw_only=True):
    """Take a free seat; 0 for the first free one."""

    seat: int = 0
    name: str
    token: bytes


class LeaveSeat(Command, frozen=True, kw_only=True):
    """Leave a seat; 0 for the only one that the token holds.

    `expected_revision` is the revision at which the sender saw who sits there; 0 for whoever
    does now.
    """

    seat: int = 0
    expected_revision: int = 0


class Start(Command, frozen=True, kw_only=True):
    """Start the game."""


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


AnyCommand = TakeSeat | LeaveSeat | Start | Act | Undo | TakeBack | Pause | Resume | Concede
"""Any command."""
