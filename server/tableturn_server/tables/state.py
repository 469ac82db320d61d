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


class Making(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What a table was made with. Never changes, but for seats that are taken away at the start.

    Tokens are kept as SHA-256 only; `watch` is empty where anybody may watch.
    `custom_set` is the document of a component set of the maker's own. `left_out` counts the seats
    that were taken away. Times are milliseconds since 1970, UTC.
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


class Seat(msgspec.Struct, frozen=True, array_like=True):
    """One seat: colour, name, who sits there, and the SHA-256 of the token that holds it.

    `since` is the revision at which somebody sat down there or left last; 0 for never. `bot` is
    the name of the bot that sits there; it holds no token. `at_panel` says that somebody sat
    down by a press at a panel, whose token holds the seat then: none, once that panel was taken
    off the table.
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


def decode(blob: bytes) -> Table:
    """The table that `encode` wrote. Raises ValueError where it was not."""
    name, _, body = blob.partition(b"\0")
    try:
        table: Table = _decoder(name.decode()).decode(body)
    except msgspec.DecodeError as error:
        raise ValueError(f"the table's state can't be read: {error}") from error
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
