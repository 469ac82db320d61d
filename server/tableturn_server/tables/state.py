"""The state of a table: everything that the store keeps, as one frozen value."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec

from tableturn_server.rules import catalog, components
from tableturn_server.rules.actions import Action
from tableturn_server.rules.game import Game

Open = TypeVar("Open")
Hidden = TypeVar("Hidden")

SNAPSHOT_EVERY = 20
"""Turns between two snapshots: a takeback replays at most so many."""

SEAT_COLORS = ("red", "blue", "green", "yellow", "white", "black", "purple", "orange")
"""The colours of the seats, in order."""


class Status(IntEnum):
    """Where a table stands. The numbers are those of `tableturn.v1.TableStatus`."""

    OPEN = 1
    RUNNING = 2
    FINISHED = 3


class Occupant(IntEnum):
    """Who sits on a seat. The numbers are those of `tableturn.v1.Occupant`."""

    NOBODY = 1
    PERSON = 2
    BOT = 3


class Takeback(IntEnum):
    """Who may take a confirmed turn back, numbered as `tableturn.v1.TakebackPolicy`."""

    HOST = 1
    ALL_AGREE = 2
    NEVER = 3


class Confirmation(IntEnum):
    """Who confirms the turns of a seat, numbered as `tableturn.v1.Confirmation`."""

    DEVICE = 1
    PANEL = 2
    EITHER = 3


class ClockKind(IntEnum):
    """How a seat's time is counted, numbered as `tableturn.v1.ClockKind`."""

    NONE = 1
    COUNT_UP = 2
    PER_TURN = 3
    INCREMENT = 4
    DELAY = 5
    CORRESPONDENCE = 6


class TimeoutPolicy(IntEnum):
    """What happens when a seat's time is up, numbered as `tableturn.v1.TimeoutPolicy`."""

    WARN = 1
    DEFAULT = 2
    BOT = 3
    DROP = 4


class AbsencePolicy(IntEnum):
    """What happens to a seat whose player is not there: `tableturn.v1.AbsencePolicy`."""

    WAIT = 1
    BOT = 2
    DROP = 3


class Clock(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """The clock of a table (`tableturn.v1.ClockSettings`); times in milliseconds."""

    kind: ClockKind = ClockKind.NONE
    bank: int = 0
    step: int = 0
    timeout: TimeoutPolicy = TimeoutPolicy.WARN
    start: int = 0


class Absence(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What happens to a seat whose player is not there, after which grace in milliseconds."""

    policy: AbsencePolicy = AbsencePolicy.WAIT
    grace: int = 120_000


class SeatClock(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """The clock of one seat as of the last change; all in milliseconds.

    `start`, `delay` and `bank` are left, and used up in this order. `used` is what the seat has
    thought in all. `since` is when it began to run, 0 if it stands; `deadline` when its time is
    up, 0 if it never is. `ran_out`: the time for this turn is up, and the turn goes on. `owed` is
    what was used of a step that a takeback withdrew; it is taken off the next one. `again`: for
    this turn the seat was given a second step, when its player came back with no time left. What
    is left of that is part of `delay`, whatever the kind of the clock, and so lost with the turn.
    """

    bank: int = 0
    delay: int = 0
    start: int = 0
    used: int = 0
    since: int = 0
    deadline: int = 0
    ran_out: bool = False
    owed: int = 0
    again: bool = False


class StandInCause(IntEnum):
    """Why a bot plays on for a person."""

    WISH = 1
    TIME = 2
    ABSENCE = 3


class Making(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What a table was made with. Never changes, but for seats that are taken away at the start.

    Tokens are kept as SHA-256 only; `watch` is empty where anybody may watch.
    `custom_set` is the document of a component set of the maker's own. `left_out` counts the seats
    that were taken away. `private`: nobody sits down without a join code or the host's token.
    `spectator_delay` (milliseconds) is how old what spectators see is. `host_stays`: the host's
    duties never pass on by themselves. `rematch`: it is the next table after another one. Times
    are milliseconds since 1970, UTC.
    """

    table_id: str
    title: str
    game: str
    rules_version: int
    seats: int
    options: dict[str, str]
    set_name: str
    set_sha256: bytes
    custom_set: bytes
    host: bytes
    watch: bytes
    unlisted: bool
    start_when_full: bool
    takeback: Takeback
    seed: bytes
    open_seed: bool
    created: int
    left_out: int = 0
    clock: Clock = Clock()
    absence: Absence = Absence()
    private: bool = False
    spectator_delay: int = 0
    host_stays: bool = False
    rematch: bool = False


class Seat(msgspec.Struct, frozen=True, array_like=True):
    """One seat: colour, name, who sits there, and the SHA-256 of the token that holds it.

    `since` is the revision at which somebody sat down there or left last; 0 for never. `bot` is
    the name of the bot that sits there; it holds no token. `at_panel` says that somebody sat
    down by a press at a panel, whose token holds the seat then: none, once that panel was taken
    off the table. `stand_in` is the bot that plays on for the person who sits there,
    `stand_in_cause` why (0: none does). `left_at` is when a seat was left in a running game, else
    0, and `plays_since` when its person sat down, came back or did something last; in milliseconds
    since 1970.
    """

    color: str
    name: str = ""
    occupant: Occupant = Occupant.NOBODY
    token: bytes = b""
    dropped: bool = False
    since: int = 0
    bot: str = ""
    confirmation: Confirmation = Confirmation.EITHER
    at_panel: bool = False
    stand_in: str = ""
    stand_in_cause: int = 0
    left_at: int = 0
    plays_since: int = 0


class Panel(msgspec.Struct, frozen=True, array_like=True):
    """A panel on the table: its number, the SHA-256 of its token, its buttons' seats (0: none).

    `since` is the revision at which the host said last which seats they are. `moved_at` has, for
    each button, the revision at which somebody took a seat by pressing it, left that seat or
    moved up with it; 0 where its seat is still what the host said (all of them, if it is empty).
    """

    uid: int
    token: bytes
    seats: tuple[int, ...]
    since: int = 0
    moved_at: tuple[int, ...] = ()


class TableState(msgspec.Struct, Generic[Open, Hidden], frozen=True, array_like=True, kw_only=True):
    """A table at one revision.

    `open` and `hidden` are the game's position as it was last *confirmed*; what
    seats have staged lies on top of it, as actions per seat. `asked_at` holds for
    each seat the revision at which what it is asked last changed; `turned_at` the
    revision of the last confirmed turn. `turns` counts the confirmed turns (and
    drops) that stand, and `log_hash` covers them. `stamp` is the time of the last
    change. `panels` are on the table; `next_table` is the rematch's id, once there
    is one. `bot_turns` counts the turns of bots since the last one of anybody else:
    a takeback goes through them. `paused_at` is the revision at which the game
    started, was paused or went on last. `drop_turn` is the last of the turns that is a
    drop: neither it nor what was before it is taken back. `waits_at` holds for each
    seat with a bot the revision at which the bot left its turn to the seat's button;
    it counts while what the seat is asked is still the same.

    `clocks` holds each seat's clock once the game has started, and nothing where the table has
    none. `standing_since` is when the game was paused or came between two rounds, 0 if it is
    neither; `paused_time` and `between_time` are how long it was so in all before that. `credited`
    is the end of the last outage for which nobody was charged. `votes` are pairs of a seat that
    shall leave and those who want it. `host_seat` is the seat to which the host's duties have
    passed (0: none), and `host_gone` says that the host's own token has them no more: without that
    the seat is a deputy's. `idle_turns` counts the turns that were ended because time was up since
    anybody did something. All times in milliseconds.
    """

    making: Making
    revision: int
    stamp: int
    status: Status
    paused: bool
    seats: tuple[Seat, ...]
    asked_at: tuple[int, ...]
    turned_at: int
    staged: tuple[tuple[Action, ...], ...]
    turns: int
    log_hash: bytes
    takeback_asked: tuple[int, ...]
    open: Open | None
    hidden: Hidden | None
    panels: tuple[Panel, ...] = ()
    next_table: str = ""
    bot_turns: int = 0
    paused_at: int = 0
    drop_turn: int = 0
    waits_at: tuple[int, ...] = ()
    clocks: tuple[SeatClock, ...] = ()
    standing_since: int = 0
    paused_time: int = 0
    between_time: int = 0
    credited: int = 0
    votes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    host_seat: int = 0
    host_gone: bool = False
    idle_turns: int = 0

    def seat(self, number: int) -> Seat:
        """A seat by its number, from 1."""
        return self.seats[number - 1]

    @property
    def position(self) -> Open:
        """The confirmed position of a started game."""
        assert self.open is not None
        return self.open

    def seats_of(self, token: bytes) -> tuple[int, ...]:
        """The numbers of the seats that a token holds."""
        if not token:
            return ()
        return tuple([n for n, seat in enumerate(self.seats, 1) if seat.token == token])


Table = TableState[Any, Any]
"""A table of any game."""


def game_of(table: Table) -> Game[Any, Any]:
    """The game that a table plays, bound to its seats, options and components."""
    making = table.making
    found = _bound.get(id(making))
    if found is None or found[0] is not making:
        game = catalog.bind(making.game, making.seats, making.options, component_set(making))
        if len(_bound) >= _MOST_BOUND:
            _bound.clear()
        found = _bound[id(making)] = (making, game)
    return found[1]


# The making of a table stays the same object from change to change: found again at no cost.
_bound: dict[int, tuple[Making, Game[Any, Any]]] = {}
_MOST_BOUND = 4096


def component_set(making: Making) -> components.ComponentSet | None:
    """The component set that a table plays with; None for a game without one.

    Raises ValueError where this version ships other values under that name: a
    running table never changes them. A corrected set is shipped under a new name.
    """
    if not making.set_name:
        return None
    if making.custom_set:
        return _custom_set(making.custom_set, making.game)
    chosen = components.shipped(making.set_name)
    if chosen.sha256 != making.set_sha256:
        raise ValueError(f"it plays with another edition of the component set {making.set_name}")
    return chosen


@lru_cache(maxsize=256)
def _custom_set(document: bytes, game: str) -> components.ComponentSet:
    return components.load(document, game)


_encoder = msgspec.msgpack.Encoder()


def encode(table: Table) -> bytes:
    """The table as the store keeps it: the game's name, a zero byte, MessagePack."""
    return table.making.game.encode() + b"\0" + _encoder.encode(table)


def decode(blob: bytes, like: Table | None = None) -> Table:
    """The table that `encode` wrote. Raises ValueError where it was not.

    `like` is the same table at another revision, which has the component set if this lacks it.
    """
    name, _, body = blob.partition(b"\0")
    try:
        table: Table = _decoder(name.decode()).decode(body)
    except msgspec.DecodeError as error:
        raise ValueError(f"the table's state can't be read: {error}") from error
    if like is not None:
        making = msgspec.structs.replace(table.making, custom_set=like.making.custom_set)
        same = making == like.making  # the same object, where it is: see `game_of`
        table = msgspec.structs.replace(table, making=like.making if same else making)
    component_set(table.making)  # the values that it began with are still at hand
    return table


def state_type(game: str) -> Any:
    """The type of a table's state for a game. Raises ValueError for an unknown game."""
    kind = catalog.GAMES.get(game)
    if kind is None:
        raise ValueError(f"the table plays {game!r}, which this version doesn't know")
    state: Any = TableState
    return state[kind.open_type, kind.hidden_type]


@lru_cache
def _decoder(game: str) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(state_type(game))
