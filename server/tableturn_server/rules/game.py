"""The questions that every game answers, in the same order.

A game is bound to a `Setting` (seats, options, components) and is otherwise
without state: positions are values. A position has two halves of different
types: the *open* half, which is all that `stage`, `view` and every other
question sees, and the *hidden* half (draw order, generator), which only
`setup`, `resolve` and `drop` are given. Staging can therefore reveal nothing,
and leaves holes that the confirmation fills.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Choice, Illegal, check, spelled, usage
from tableturn_server.rules.views import GameView

Open = TypeVar("Open")
Hidden = TypeVar("Hidden")


class PromptKind(IntEnum):
    """What a seat is asked. The numbers are those of `tableturn.v1.PromptKind`."""

    START = 1
    TURN = 2
    RETURN_CUBES = 3
    READY = 4
    ORDER = 5
    BETWEEN_ROUNDS = 6


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What the game waits for from one seat, as its turn is staged now."""

    seat: int
    kind: PromptKind
    can_confirm: bool = False
    confirm_skips: bool = False
    """A confirmation now would end a turn in which nothing was done."""
    label: str = ""


class EndReason(IntEnum):
    """Why a game ended. The numbers are those of `tableturn.v1.EndReason`."""

    COMPLETED = 1
    ROUND_CAP = 2
    LAST_SEAT = 3
    ABANDONED = 4


class PointsPart(msgspec.Struct, frozen=True):
    """One part of a seat's points, such as `victory point tiles`."""

    part: str
    points: int


class SeatResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one seat; ranks count from 1."""

    seat: int
    rank: int
    points: int
    parts: tuple[PointsPart, ...] = ()
    dropped: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """How a game ended; results by rank, the best first."""

    reason: EndReason
    results: tuple[SeatResult, ...]


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """A named ruling or variant that is chosen when a table is created.

    `values` lists what may be chosen; empty means free text that the game's
    `check_options` reads. A behaviour that changes becomes a new option whose
    old value old tables keep.
    """

    name: str
    default: str
    values: tuple[str, ...] = ()
    summary: str
    clause: str = ""


MAX_ROUNDS = Option(
    name="max_rounds",
    default="0",
    summary="end the game after so many rounds, for tables with bots; 0 means no cap",
)
FIRST_SEAT = Option(
    name="first_seat",
    default="random",
    summary="the seat that begins: random, or its number",
)


class BadOption(ValueError):
    """An option is unknown, or its value can't be used. The sentence says what may be."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a table was created with: never changes during a game."""

    seats: int
    options: dict[str, str]
    components: Any = None
    """The game's component set, as `rules.components` loaded it; None if it has none."""


class Resolved(msgspec.Struct, Generic[Open, Hidden], frozen=True):
    """A position after a confirmation or a drop, and what it turned up."""

    open: Open
    hidden: Hidden
    events: tuple[str, ...] = ()
    """Readable lines for the log about what happened by itself: a tile drawn,
    the end triggered. Public."""
    private: tuple[tuple[int, str], ...] = ()
    """Lines that only one seat may read, as pairs of seat and line."""
    turned_up: tuple[str, ...] = ()
    """Those of the events that tell what was hidden before and is seen now, such as a
    tile drawn: a takeback can't hide them again."""


class Game(ABC, Generic[Open, Hidden]):
    """A game, bound to one setting."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """How many may play."""
    rules_version: ClassVar[int]
    """Grows with each change after which an old log would not replay."""
    options: ClassVar[tuple[Option, ...]]
    component_set: ClassVar[str | None]
    """The name of the shipped component set; None for a game without components."""
    open_type: ClassVar[type[Any]]
    hidden_type: ClassVar[type[Any]]

    def __init__(self, setting: Setting) -> None:
        """Bind the game. Raises BadOption for options that it can't use."""
        self.setting = setting
        self.check_options()

    @classmethod
    def warnings(cls, setting: Setting) -> tuple[str, ...]:
        """What the players should know before they start, in sentences (EW-03)."""
        return ()

    def check_options(self) -> None:
        """Raise BadOption for a value that `Option.values` can't rule out."""

    @abstractmethod
    def setup(self, seed: bytes) -> Resolved[Open, Hidden]:
        """The position at the start, from a seed of 16 bytes."""

    @abstractmethod
    def prompts(self, open: Open) -> tuple[Prompt, ...]:
        """Which seats are asked what; in seat order. Empty when the game is over."""

    @abstractmethod
    def legal_actions(self, open: Open, seat: int) -> tuple[Choice, ...]:
        """What the seat may do now; empty if it is not asked. Each can be completed."""

    def stage(self, open: Open, seat: int, action: Action) -> Open:
        """The position after one more action of the seat.

        Only what `legal_actions` lists is accepted; otherwise Illegal says what
        is possible instead.
        """
        choice = self.choice(open, seat, action.kind)
        if choice is None:
            words = [usage(c.kind) for c in self.legal_actions(open, seat)]
            if any(p.seat == seat and p.can_confirm for p in self.prompts(open)):
                words.append("confirm")
            instead = f"possible now: {', '.join(words)}" if words else "this seat is not asked"
            raise Illegal(f"{spelled(action.kind)} is not possible now; {instead}")
        check(choice, action)
        return self.apply(open, seat, action)

    def choice(self, open: Open, seat: int, kind: str) -> Choice | None:
        """The choice of one kind, if the seat has it now."""
        return next((c for c in self.legal_actions(open, seat) if c.kind == kind), None)

    @abstractmethod
    def apply(self, open: Open, seat: int, action: Action) -> Open:
        """The position after an action that is known to be legal."""

    @abstractmethod
    def resolve(self, open: Open, hidden: Hidden, seat: int) -> Resolved[Open, Hidden]:
        """Confirm what the seat staged: fill the holes, ask whoever is next.

        Raises Illegal where the seat's prompt doesn't allow a confirmation.
        """

    @abstractmethod
    def default(self, open: Open, seat: int) -> tuple[Action, ...]:
        """The forced minimal choice of a seat with nothing staged (DR-3).

        After these actions the seat's turn can be confirmed.
        """

    @abstractmethod
    def drop(self, open: Open, hidden: Hidden, seat: int) -> Resolved[Open, Hidden]:
        """Take a seat out of the game for good (DR-4). Nothing is staged by then."""

    @abstractmethod
    def view(self, open: Open, seat: int | None) -> GameView:
        """What a seat sees, or a spectator (None)."""

    @abstractmethod
    def describe(self, open: Open, seat: int, action: Action) -> str:
        """What an action does, as a readable line without the seat's name.

        `open` is the position before the action.
        """

    def shown(self, action: Action) -> Action:
        """The action as others than its seat may see it, if it names what is closed to them."""
        return action

    @abstractmethod
    def outcome(self, open: Open) -> Outcome | None:
        """How the game ended; None while it runs."""
