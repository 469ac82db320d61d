"""What can go wrong, as a tree by phase and cause.

    TableturnError
      NotSent               nothing was sent: the caller can put it right
        BadAddress            the server's address can't be read
        BadValue              a value can't be sent
          UnreadableText        a text is no action
        NothingSeen           a command was given before the table was looked at
        NoCredentials         no token is known for what was asked
      NoAnswer              sent or tried, and no answer came: it may have happened
        CannotConnect         nobody answers at the address
        ConnectionLost        the connection broke while the call ran
        DeadlinePassed        no answer within the time
      BadAnswer             an answer came, and it makes no sense
        NotTableturn          the server at the address is something else
        NotSupported          an older Tableturn, which doesn't know the call
        ServiceFault          the service failed
      Refused               the service said no, and nothing changed
        NotFound              UnknownTable, UnknownName, UnknownCode
        BadRequest            BadField, UnreadableAction, RequestIdReused, BadComponents, BadImport
        NotPermitted          BadToken, NotAllowed
        NotNow                SeatTaken, TableFull, NotStarted, AlreadyStarted, GameOver, Paused,
                              NotAsked, IllegalAction, CannotConfirm, NothingToUndo,
                              NothingToTakeBack, TableExists, PanelHeld, GameRunning, NoClock
        StaleRevision         what the seat is asked has changed since
        LimitReached          too many calls, watches or tables
        Unavailable           StoreUnavailable, StoreFull, ShuttingDown

Every error carries what is needed to act. `faults.py` makes them out of what gRPC
raises, by one table.
"""

from __future__ import annotations

from dataclasses import dataclass


class TableturnError(Exception):
    """Anything that this package raises on purpose. `sentence` is for a person."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


# ---------------------------------------------------------------- nothing was sent


class NotSent(TableturnError):
    """Nothing was sent."""


class BadAddress(NotSent):
    """The server's address can't be read."""


class BadValue(NotSent):
    """A value can't be sent, such as a seed that is no 32 hexadecimal digits."""


class UnreadableText(BadValue):
    """A text is no action.

    `index` is its place among the actions that were given, from 0; `marked` is the
    text with carets under what wasn't understood.
    """

    def __init__(self, sentence: str, *, index: int = 0, marked: str = "") -> None:
        super().__init__(sentence)
        self.index = index
        self.marked = marked


class NothingSeen(NotSent):
    """A command needs a revision, and this handle has seen no state of the table yet."""


class NoCredentials(NotSent):
    """No token is known on this machine for what was asked."""


# ---------------------------------------------------------------- no answer


class NoAnswer(TableturnError):
    """No answer came within the time. A change may have happened all the same.

    `request_id` repeats the call safely: with it, the answer is that of the first time.
    """

    def __init__(self, sentence: str, *, server: str = "", request_id: str = "") -> None:
        super().__init__(sentence)
        self.server = server
        self.request_id = request_id


class CannotConnect(NoAnswer):
    """Nobody answers at the address."""


class ConnectionLost(NoAnswer):
    """The connection broke while the call ran."""


class DeadlinePassed(NoAnswer):
    """No answer within the time."""


# ---------------------------------------------------------------- an answer without sense


class BadAnswer(TableturnError):
    """Something answered, and the answer makes no sense."""

    def __init__(self, sentence: str, *, server: str = "") -> None:
        super().__init__(sentence)
        self.server = server


class NotTableturn(BadAnswer):
    """The server at this address is something else."""


class NotSupported(BadAnswer):
    """The service is older than this client, and doesn't know the call."""


class ServiceFault(BadAnswer):
    """The service failed: a fault of the service, not of the call."""


# ---------------------------------------------------------------- refused


@dataclass(frozen=True)
class Refusal:
    """What the service says with a refusal; see `errors.proto`.

    `reason` is a name such as `ILLEGAL_ACTION`, `revision` the table's current one
    (None where there is no table), `index` the failing action's from 0, `holder` the
    bridge that holds a panel. `retry_after` is in seconds.
    """

    reason: str
    sentence: str
    revision: int | None = None
    index: int | None = None
    field: str | None = None
    asked_at: int | None = None
    place: str | None = None
    retry_after: float | None = None
    holder: str | None = None


class Refused(TableturnError):
    """The service said no. Nothing was changed."""

    repeatable = False
    """The same call may succeed a moment later; `Client` repeats it by itself."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal

    @property
    def reason(self) -> str:
        """The name of the reason, such as `ILLEGAL_ACTION`."""
        return self.refusal.reason

    @property
    def revision(self) -> int | None:
        """The table's revision at the refusal."""
        return self.refusal.revision

    @property
    def index(self) -> int | None:
        """Which action of the call failed, from 0."""
        return self.refusal.index

    @property
    def field(self) -> str | None:
        """Which field of the request is at fault."""
        return self.refusal.field

    @property
    def asked_at(self) -> int | None:
        """The revision at which what the seat is asked last changed."""
        return self.refusal.asked_at

    @property
    def place(self) -> str | None:
        """Where in a document the fault is."""
        return self.refusal.place

    @property
    def retry_after(self) -> float | None:
        """After how many seconds the call may be made again."""
        return self.refusal.retry_after

    @property
    def holder(self) -> str | None:
        """The name under which another bridge holds the panel."""
        return self.refusal.holder


class NotFound(Refused):
    """Something of this name doesn't exist."""


class UnknownTable(NotFound):
    """No table has this id."""


class UnknownName(NotFound):
    """No game, option, component set, bot or seat has this name or number."""


class UnknownCode(NotFound):
    """The code is for nothing, or not any more."""


class BadRequest(Refused):
    """The request can't be understood."""


class BadField(BadRequest):
    """A field is missing, malformed or out of bounds: `field`."""


class UnreadableAction(BadRequest):
    """An action without content, or with a value that can't be read: `index`."""


class RequestIdReused(BadRequest):
    """The request id was used for another request."""


class BadComponents(BadRequest):
    """The component set can't be used: `place`."""


class BadImport(BadRequest):
    """The document is no export, or was changed: `place`."""


class NotPermitted(Refused):
    """The token doesn't open this."""


class BadToken(NotPermitted):
    """The call needs a token, and the table doesn't know the one that came."""


class NotAllowed(NotPermitted):
    """The token is known and doesn't allow this."""


class NotNow(Refused):
    """As things stand at the table, this can't be done."""


class TableExists(NotNow):
    """The id belongs to a table that was created otherwise."""


class SeatTaken(NotNow):
    """The seat has an occupant already."""


class TableFull(NotNow):
    """Every seat is taken."""


class NotStarted(NotNow):
    """The game has not started."""


class AlreadyStarted(NotNow):
    """The game has started already."""


class GameOver(NotNow):
    """The game is over."""


class Paused(NotNow):
    """The table is paused."""


class NotAsked(NotNow):
    """The seat is not asked anything now."""


class IllegalAction(NotNow):
    """The action is readable and not legal here: `index`."""


class CannotConfirm(NotNow):
    """The turn can't be confirmed as it is staged."""


class NothingToUndo(NotNow):
    """Nothing is staged."""


class NothingToTakeBack(NotNow):
    """No confirmed turn can be taken back."""


class PanelHeld(NotNow):
    """Another bridge holds the panel: `holder` says which, `retry_after` how long at least."""


class GameRunning(NotNow):
    """The game is still running."""


class NoClock(NotNow):
    """The table has no clock to which time could be added."""


class StaleRevision(Refused):
    """What the seat is asked changed after the revision that the command expected.

    Look again, and decide anew.
    """


class LimitReached(Refused):
    """Too many calls, watches or tables: `retry_after`."""


class Unavailable(Refused):
    """The service can't write now."""


class StoreUnavailable(Unavailable):
    """The service can't reach its store."""

    repeatable = True


class StoreFull(Unavailable):
    """The store's disk or memory is full: somebody must make room."""


class ShuttingDown(Unavailable):
    """The service is shutting down."""

    repeatable = True


REASONS: dict[str, type[Refused]] = {
    "UNKNOWN_TABLE": UnknownTable,
    "UNKNOWN_NAME": UnknownName,
    "TABLE_EXISTS": TableExists,
    "BAD_FIELD": BadField,
    "UNREADABLE_ACTION": UnreadableAction,
    "REQUEST_ID_REUSED": RequestIdReused,
    "BAD_COMPONENTS": BadComponents,
    "BAD_IMPORT": BadImport,
    "BAD_TOKEN": BadToken,
    "NOT_ALLOWED": NotAllowed,
    "SEAT_TAKEN": SeatTaken,
    "TABLE_FULL": TableFull,
    "NOT_STARTED": NotStarted,
    "ALREADY_STARTED": AlreadyStarted,
    "GAME_OVER": GameOver,
    "PAUSED": Paused,
    "NOT_ASKED": NotAsked,
    "ILLEGAL_ACTION": IllegalAction,
    "CANNOT_CONFIRM": CannotConfirm,
    "NOTHING_TO_UNDO": NothingToUndo,
    "NOTHING_TO_TAKE_BACK": NothingToTakeBack,
    "STALE_REVISION": StaleRevision,
    "LIMIT_REACHED": LimitReached,
    "STORE_UNAVAILABLE": StoreUnavailable,
    "STORE_FULL": StoreFull,
    "SHUTTING_DOWN": ShuttingDown,
    "PANEL_HELD": PanelHeld,
    "GAME_RUNNING": GameRunning,
    "NO_CLOCK": NoClock,
    "UNKNOWN_CODE": UnknownCode,
}
"""The error for each reason of `tableturn.v1.ErrorReason`."""
