"""A position of the Century games: one record for each mechanic, empty where a game lacks it."""

from __future__ import annotations

from enum import IntEnum

import msgspec

from tableturn_server.rules.game import EndReason
from tableturn_server.rules.mechanics import bonus, harbour, limit, merchants, outposts, points
from tableturn_server.rules.mechanics.cubes import NO_CUBES, Cubes
from tableturn_server.rules.mechanics.harbour import NO_HARBOUR, Harbour
from tableturn_server.rules.mechanics.islands import NO_ISLANDS, Islands, replaced
from tableturn_server.rules.mechanics.merchants import NO_CARD
from tableturn_server.rules.mechanics.rounds import Rounds
from tableturn_server.rules.source import Source


class Phase(IntEnum):
    """What the game is at."""

    START = 1
    """Starting cubes and boats, in reverse turn order (EW-08)."""
    TURN = 2
    RETURN = 3
    """After a turn: seats over their limit return cubes (EW-22)."""
    OVER = 4


class Did(IntEnum):
    """How far the one action of a turn has come (EW-10)."""

    NOTHING = 0
    BUILT = 1
    """An outpost was built; the trade may follow (EW-14)."""
    ALL = 2


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """What was staged in this turn."""

    steps: int = 0
    ended: bool = False
    """The movement is over: no further step."""
    paid: tuple[int, ...] = ()
    """The owners of boats that were paid."""
    did: Did = Did.NOTHING
    bonus_due: bool = False
    """A column was emptied; a bonus tile may be taken for it (EW-16, SS-15)."""
    upgrades: int = 0
    """Upgrades that may still be done (EW-R7, SR-11)."""
    returned: bool = False
    """Cubes were returned: nothing may follow (EW-22)."""
    card_due: bool = False
    """A column was emptied; a merchant card may be taken for it (SS-15)."""
    trading: int = NO_CARD
    """The trade card that was played, whose exchange must be done (SR-R1)."""
    wanted: int = NO_CARD
    """The card of the row that is being acquired (SR-12)."""
    laid: tuple[int, ...] = ()
    """The cards to its left that have got their cube."""


NO_TURN = Turn()


class Player(msgspec.Struct, frozen=True, array_like=True):
    """What a seat has."""

    hold: Cubes = NO_CUBES
    built: outposts.Built = (0, 0, 0, 0)
    bonuses: tuple[bonus.Owned, ...] = ()
    claimed: tuple[int, ...] = ()
    """The numbers of the victory tiles or point cards it took; their values are closed."""
    latest_turn: int = 0
    dropped: bool = False
    cards: merchants.Cards = merchants.NO_CARDS
    coins: points.Coins = points.NO_COINS


class Position(msgspec.Struct, frozen=True, array_like=True):
    """The open half: all that the table sees, with the staged turn in it."""

    phase: Phase
    rounds: Rounds
    turn: Turn
    players: tuple[Player, ...]
    islands: Islands = NO_ISLANDS
    harbour: Harbour = NO_HARBOUR
    bonuses: bonus.Supply = ()
    piles: tuple[Cubes, ...] = ()
    """Starting piles not chosen yet."""
    returns: limit.Returns = ()
    end: EndReason | None = None
    row: merchants.Row = merchants.NO_ROW
    points: points.PointRow = points.NO_POINT_ROW

    def player(self, seat: int) -> Player:
        """What a seat has."""
        return self.players[seat - 1]

    @property
    def dropped(self) -> set[int]:
        """The seats that left."""
        return {seat for seat, player in enumerate(self.players, 1) if player.dropped}


class Secrets(msgspec.Struct, frozen=True, array_like=True):
    """The hidden half: the order of piles and decks, and the generator."""

    pile: harbour.Pile
    source: Source
    deck: merchants.Deck = ()
    """The merchant cards."""
    point_deck: merchants.Deck = ()
    """The point cards."""


change = msgspec.structs.replace


def seated(open: Position, seat: int, player: Player) -> Position:
    """The position with a seat changed."""
    return change(open, players=replaced(open.players, seat - 1, player))


def given(open: Position, seat: int, cubes: Cubes) -> Position:
    """Cubes came into a seat's hold."""
    player = open.player(seat)
    return seated(open, seat, change(player, hold=player.hold.plus(cubes)))


def paid(open: Position, seat: int, cubes: Cubes) -> Position:
    """Cubes left a seat's hold."""
    player = open.player(seat)
    return seated(open, seat, change(player, hold=player.hold.minus(cubes)))


def traded(open: Position, seat: int, cost: Cubes, gain: Cubes, count: int) -> Position:
    """An exchange was done so many times (EW-17, SR-11)."""
    player = open.player(seat)
    hold = player.hold.plus(gain.times(count)).minus(cost.times(count))
    return seated(open, seat, change(player, hold=hold))


def acted(open: Position, upgrades: int = 0) -> Position:
    """The one action of the turn is done, but for upgrades (EW-10, SR-06)."""
    return change(open, turn=change(open.turn, ended=True, did=Did.ALL, upgrades=upgrades))


def may_go_on(open: Position, seat: int) -> bool:
    """It is the seat's turn, and nothing has closed it."""
    return open.phase == Phase.TURN and open.rounds.seat == seat and not open.turn.returned


def begins(open: Position, seat: int) -> bool:
    """It is the seat's turn, and nothing was done in it."""
    return may_go_on(open, seat) and open.turn == NO_TURN
