"""How a table says no: one exception, with a reason out of a closed list."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a command was refused: `tableturn.v1.ErrorReason` without its prefix."""

    UNKNOWN_TABLE = "UNKNOWN_TABLE"
    UNKNOWN_NAME = "UNKNOWN_NAME"
    TABLE_EXISTS = "TABLE_EXISTS"
    BAD_FIELD = "BAD_FIELD"
    UNREADABLE_ACTION = "UNREADABLE_ACTION"
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"
    BAD_COMPONENTS = "BAD_COMPONENTS"
    BAD_IMPORT = "BAD_IMPORT"
    BAD_TOKEN = "BAD_TOKEN"
    NOT_ALLOWED = "NOT_ALLOWED"
    SEAT_TAKEN = "SEAT_TAKEN"
    TABLE_FULL = "TABLE_FULL"
    NOT_STARTED = "NOT_STARTED"
    ALREADY_STARTED = "ALREADY_STARTED"
    GAME_OVER = "GAME_OVER"
    PAUSED = "PAUSED"
    NOT_ASKED = "NOT_ASKED"
    ILLEGAL_ACTION = "ILLEGAL_ACTION"
    CANNOT_CONFIRM = "CANNOT_CONFIRM"
    NOTHING_TO_UNDO = "NOTHING_TO_UNDO"
    NOTHING_TO_TAKE_BACK = "NOTHING_TO_TAKE_BACK"
    STALE_REVISION = "STALE_REVISION"
    LIMIT_REACHED = "LIMIT_REACHED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    STORE_FULL = "STORE_FULL"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    PANEL_HELD = "PANEL_HELD"
    GAME_RUNNING = "GAME_RUNNING"
    NO_CLOCK = "NO_CLOCK"
    UNKNOWN_CODE = "UNKNOWN_CODE"


class Refused(Exception):
    """A command was refused, and nothing changed.

    `sentence` says to a person what is wrong and what to do; `details` goes
    into the `ErrorInfo`'s metadata (`index`, `field`, `asked_at`, `place`).
    """

    def __init__(self, reason: Reason, sentence: str, **details: str | int) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.details = {name: str(value) for name, value in details.items()}

    def __repr__(self) -> str:
        return f"Refused({self.reason.value}: {self.sentence})"
