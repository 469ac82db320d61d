"""Boats on a map of islands: outposts and trades at markets, victory tiles at ports.

What Eastern Wonders and From Sand to Sea share. How a boat moves, and what a
column of outposts brings, is each game's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from tableturn_server.rules.actions import (
    Action,
    BonusKind,
    BuildOutpost,
    ClaimTile,
    PayOwner,
    PlaceBoat,
    TakeBonus,
    TakePile,
    Trade,
)
from tableturn_server.rules.choices import Choice, CubeBounds, Range
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import BadOption, Option, PointsPart, Setting
from tableturn_server.rules.mechanics import bonus, harbour, outposts
from tableturn_server.rules.mechanics.cubes import one
from tableturn_server.rules.mechanics.cubes import view as cubes_view
from tableturn_server.rules.mechanics.harbour import Harbour, Pile, VictoryTile
from tableturn_server.rules.mechanics.islands import (
    NOWHERE,
    SEA,
    BadLayout,
    Islands,
    Layout,
    TileFace,
    islands_view,
    laid_out,
    layout_warnings,
    random_layout,
    read_layout,
)
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step
from tableturn_server.rules.mechanics.merchants import exchanges
from tableturn_server.rules.mechanics.outposts import Board
from tableturn_server.rules.mechanics.position import (
    Did,
    Phase,
    Player,
    Position,
    Secrets,
    acted,
    change,
    given,
    may_go_on,
    paid,
    seated,
    traded,
)
from tableturn_server.rules.mechanics.words import (
    cubes_words,
    paying_words,
    seats_words,
    times_words,
)
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import GameView, PlayerView

TILES_TO_END = 4
"""Who takes so many victory point tiles triggers the end (EW-30, SS-20)."""
CARGO_TILE = 3
"""The spaces that a cargo tile adds (EW-21)."""

MAP = Option(
    name="map",
    default="first-game",
    values=("first-game", "random", "custom"),
    summary="the shape of the map: the printed pattern, one by chance, or your own",
    clause="EW-03",
)
LAYOUT = Option(
    name="layout",
    default="",
    summary="your own map: columns from west to east divided by /, each a height in half "
    "tiles and then m (market), p (port) or . (nothing) from north to south, such as "
    "`2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp`",
    clause="EW-03",
)


def check_map(options: dict[str, str]) -> None:
    """The layout is readable, and is given just for an own map. Raises BadOption."""
    layout = options.get("layout", "")
    if options.get("map", "first-game") == "custom":
        try:
            read_layout(layout)
        except BadLayout as error:
            raise BadOption(f"option layout: {error}") from None
    elif layout:
        raise BadOption("option layout is only used with map=custom")


def map_warnings(setting: Setting) -> tuple[str, ...]:
    """What is unusual about an own map (EW-03)."""
    if setting.options.get("map") != "custom":
        return ()
    return layout_warnings(read_layout(setting.options.get("layout", "")))


class Reward(NamedTuple):
    """What an emptied column brings: one of what is true (EW-16, SS-15)."""

    bonus: bool = False
    card: bool = False


class Voyage(Mechanic):
    """The map, the harbour, and the players' boats, boards and bonus tiles."""

    def __init__(
        self, printed: ComponentSet, setting: Setting, reward: Callable[[Position, int], Reward]
    ) -> None:
        """Bind what is printed; `reward` tells what emptying a column (from 1) brings."""
        self.markets = tuple(
            TileFace(tile.id, tile.symbol, tile.cost, tile.gain)
            for tile in printed.market_tiles.items
        )
        self.victories = tuple(
            VictoryTile(tile.price, tile.points) for tile in printed.victory_tiles.items
        )
        board = printed.player_boards.items[0]
        self.board = Board(
            tuple(row.symbol for row in board.rows), tuple(row.values for row in board.rows)
        )
        self._cargo = board.cargo
        self.bonuses: bonus.Supply = tuple(
            tuple(
                points
                for tile in printed.bonus_tiles.items
                if tile.bonus == kind
                for points in (tile.points,) * tile.count
            )
            for kind in BonusKind
        )
        self.piles = tuple(pile.pile for pile in printed.start_piles.items)
        self._first_map = next(m.layout for m in printed.maps.items if m.id == "first-game")
        self._setting = setting
        self._reward = reward
        self._outpost_price = 2 if setting.seats == 2 else 1  # EW-15
        self.steps = {
            "take_pile": Step(self.to_take_pile, self.take_pile),
            "place_boat": Step(self.to_place_boat, self.place_boat),
            "pay_owner": Step(self.to_pay_owner, self.pay_owner),
            "build_outpost": Step(self.to_build, self.build),
            "take_bonus": Step(self.to_take_bonus, self.take_bonus),
            "trade": Step(self.to_trade, self.trade),
            "claim_tile": Step(self.to_claim, self.claim),
        }

    # -- set-up

    def laid_out(self, source: Source, out: int, sea: int) -> tuple[Islands, Harbour, Pile, Source]:
        """The map and the harbour by chance (EW-01 to EW-05, SS-02).

        `out` market tiles of each symbol are left out; `sea` tiles are shuffled in.
        """
        layout, source = self._layout(source)
        kept: list[int] = []
        for symbol in self.board.symbols:
            tiles = [n for n, face in enumerate(self.markets) if face.symbol == symbol]
            for _ in range(out):
                gone, source = source.below(len(tiles))
                del tiles[gone]
            kept += tiles
        filled, source = source.shuffled((*sorted(kept), *(SEA,) * sea))
        ports, pile, source = harbour.harbour_set_up(len(self.victories), len(layout.ports), source)
        return laid_out(layout, filled, self._setting.seats), ports, pile, source

    def _layout(self, source: Source) -> tuple[Layout, Source]:
        """The shape of the map (EW-02, EW-03)."""
        kind = self._setting.options.get("map", "first-game")
        if kind == "random":
            return random_layout(source)
        own = self._setting.options.get("layout", "")
        return read_layout(own if kind == "custom" else self._first_map), source

    def to_take_pile(self, open: Position, seat: int) -> Choice | None:
        """Any pile that is left (EW-08)."""
        if open.phase != Phase.START or open.rounds.seat != seat or open.player(seat).hold.total:
            return None
        return Choice(kind="take_pile", piles=open.piles, label="take a pile of starting cubes")

    def take_pile(self, open: Position, seat: int, action: TakePile) -> Position:
        """The pile's cubes come into the hold (EW-08)."""
        at = open.piles.index(action.pile)
        piles = open.piles[:at] + open.piles[at + 1 :]
        return change(given(open, seat, action.pile), piles=piles)

    def to_place_boat(self, open: Position, seat: int) -> Choice | None:
        """Any market tile, shared or not (EW-08, SS-R2)."""
        if open.phase != Phase.START or open.rounds.seat != seat:
            return None
        if not open.player(seat).hold.total or open.islands.boat(seat) != NOWHERE:
            return None
        islands = open.islands
        shape = islands.shape
        tiles = tuple(shape.names[place] for place in shape.slots if islands.tiles[place] != SEA)
        return Choice(kind="place_boat", tiles=tiles, label="place the boat on a market tile")

    def place_boat(self, open: Position, seat: int, action: PlaceBoat) -> Position:
        """The boat lies on its first tile (EW-08)."""
        return sailed(open, seat, action.tile)

    # -- the end of a movement

    def owed(self, open: Position, seat: int) -> tuple[int, ...]:
        """The owners to be paid if the movement ends here (EW-12); none without a step (EW-R2)."""
        if not open.turn.steps:
            return ()
        owners = open.islands.owners_at(open.islands.boat(seat), seat)
        return tuple(owner for owner in owners if owner not in open.turn.paid)

    def arrived(self, open: Position, seat: int) -> bool:
        """The seat may act where its boat is: all owners are paid, no reward is due."""
        turn = open.turn
        return (
            may_go_on(open, seat)
            and not turn.bonus_due
            and not turn.card_due
            and not self.owed(open, seat)
        )

    def to_pay_owner(self, open: Position, seat: int) -> Choice | None:
        """A cube to each owner of another boat where the movement ends (EW-12)."""
        if not may_go_on(open, seat):
            return None
        owed = self.owed(open, seat)
        hold = open.player(seat).hold
        if not owed or len(owed) > hold.total:
            return None
        return Choice(
            kind="pay_owner",
            seats=owed,
            colors=hold.colors,
            label=f"end the movement here: pay a cube each to {seats_words(owed)}",
        )

    def pay_owner(self, open: Position, seat: int, action: PayOwner) -> Position:
        """A cube changes hands; the first payment ends the movement (EW-12)."""
        cube = one(action.cube)
        turn = change(open.turn, ended=True, paid=(*open.turn.paid, action.seat))
        return change(given(paid(open, seat, cube), action.seat, cube), turn=turn)

    # -- markets

    def to_build(self, open: Position, seat: int) -> Choice | None:
        """An outpost on a market tile without an own one (EW-14, EW-15)."""
        if not self.arrived(open, seat) or open.turn.did:
            return None
        place = open.islands.boat(seat)
        tile = open.islands.tiles[place]
        there = open.islands.outposts[place]
        if tile < 0 or seat in there:
            return None
        player = open.player(seat)
        symbol = self.markets[tile].symbol
        price = len(there) * self._outpost_price
        row_left = self.board.columns - player.built[self.board.row(symbol)]
        if price > player.hold.total or not row_left:
            return None
        cost = f"costs {cubes_words(price)}" if price else "free"
        return Choice(
            kind="build_outpost",
            cubes=CubeBounds(price, price, player.hold),
            label=f"build an outpost ({symbol}; {cost})",
        )

    def build(self, open: Position, seat: int, action: BuildOutpost) -> Position:
        """Pay, place, and see whether a column became empty (EW-15, EW-16, EW-R7)."""
        place = open.islands.boat(seat)
        player = open.player(seat)
        row = self.board.row(self.markets[open.islands.tiles[place]].symbol)
        built = outposts.taken(player.built, row)
        column = outposts.emptied(player.built, built)
        reward = Reward() if column is None else self._reward(open, column)
        turn = change(
            open.turn,
            ended=True,
            did=Did.BUILT,
            bonus_due=reward.bonus,
            card_due=reward.card,
            upgrades=bonus.count(player.bonuses, BonusKind.UPGRADE),
        )
        player = change(player, built=built, hold=player.hold.minus(action.cubes))
        islands = open.islands.with_outpost(place, seat)
        return change(seated(open, seat, player), islands=islands, turn=turn)

    def to_take_bonus(self, open: Position, seat: int) -> Choice | None:
        """One of the bonus tiles that are left, for an emptied column (EW-16, SS-15)."""
        if not may_go_on(open, seat) or not open.turn.bonus_due:
            return None
        return Choice(
            kind="take_bonus", bonuses=bonus.available(open.bonuses), label="take a bonus tile"
        )

    def take_bonus(self, open: Position, seat: int, action: TakeBonus) -> Position:
        """The top tile of a kind comes to the player (EW-16)."""
        supply, tile = bonus.taken(open.bonuses, action.bonus)
        player = open.player(seat)
        player = change(player, bonuses=(*player.bonuses, tile))
        return rewarded(change(seated(open, seat, player), bonuses=supply))

    def to_trade(self, open: Position, seat: int) -> Choice | None:
        """The exchange of the tile, with an own outpost on it (EW-14, EW-17)."""
        if not self.arrived(open, seat) or open.turn.did == Did.ALL:
            return None
        place = open.islands.boat(seat)
        if seat not in open.islands.outposts[place]:
            return None
        face = self.markets[open.islands.tiles[place]]
        most = exchanges(open.player(seat).hold, face.cost, face.gain)
        if not most:
            return None
        words = f"trade {face.cost.letters} for {face.gain.letters}"
        return Choice(kind="trade", count=Range(1, most), label=words)

    def trade(self, open: Position, seat: int, action: Trade) -> Position:
        """The exchange, so many times (EW-17)."""
        face = self.markets[open.islands.tiles[open.islands.boat(seat)]]
        return acted(traded(open, seat, face.cost, face.gain, action.count))

    # -- ports

    def to_claim(self, open: Position, seat: int) -> Choice | None:
        """The victory point tile of the port, paid exactly (EW-18)."""
        if not self.arrived(open, seat) or open.turn.did:
            return None
        tile = self._tile_here(open, seat)
        if tile is None or not open.player(seat).hold.covers(self.victories[tile].cost):
            return None
        face = self.victories[tile]
        words = f"pay {face.cost.letters} for the tile worth {face.points}"
        return Choice(kind="claim_tile", label=words)

    def claim(self, open: Position, seat: int, action: ClaimTile) -> Position:
        """The tile is paid and taken; the confirmation draws the next (EW-18)."""
        tile = self._tile_here(open, seat)
        assert tile is not None
        port = open.harbour.tiles.index(tile)
        player = open.player(seat)
        player = change(
            player,
            claimed=(*player.claimed, tile),
            hold=player.hold.minus(self.victories[tile].cost),
        )
        return acted(change(seated(open, seat, player), harbour=open.harbour.claimed(port)))

    def _tile_here(self, open: Position, seat: int) -> int | None:
        """The victory tile on the port where the seat's boat is."""
        place = open.islands.boat(seat)
        ports = open.islands.shape.ports
        return open.harbour.tile(ports.index(place)) if place in ports else None

    # -- its part of the game's answers

    def limit(self, player: Player) -> int:
        """The spaces of the cargo hold (EW-22)."""
        return self._cargo + CARGO_TILE * bonus.count(player.bonuses, BonusKind.CARGO)

    def ending(self, player: Player) -> str:
        """The 4th victory point tile (EW-30, SS-20)."""
        enough = len(player.claimed) >= TILES_TO_END
        return f"took the {TILES_TO_END}th victory tile" if enough else ""

    def due(self, open: Position, seat: int) -> str:
        """A starting place, owners to be paid (EW-12), or the reward of a column (EW-16)."""
        player = open.player(seat)
        if open.phase == Phase.START:
            if not player.hold.total:
                return "take a pile of starting cubes"
            return "" if open.islands.boat(seat) != NOWHERE else "place the boat"
        owed = self.owed(open, seat)
        if len(owed) > player.hold.total:  # EW-R12
            return "move on: the boats here can't be paid"
        if owed:
            return f"pay {seats_words(owed)}"
        words = []
        if open.turn.bonus_due:
            words.append("a bonus tile")
        if open.turn.card_due:
            words.append("a merchant card")
        return f"take {' or '.join(words)}" if words else ""

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What one of its actions does."""
        here = open.islands.name(seat)
        match action:
            case TakePile(pile):
                return f"takes the pile {pile.letters}"
            case PlaceBoat(tile):
                return f"places the boat on {tile}"
            case PayOwner(owner, cube):
                return f"pays a {cube.word} cube to seat {owner}"
            case BuildOutpost(cubes):
                return f"builds an outpost on {here}, {paying_words(cubes)}"
            case TakeBonus(kind):
                return f"takes a bonus tile: {kind.name.lower()}"
            case Trade(count):
                face = self.markets[open.islands.tiles[open.islands.boat(seat)]]
                words = f"trades {face.cost.letters} for {face.gain.letters}"
                return f"{words}, {times_words(count)}"
            case ClaimTile():
                victory = self._tile_here(open, seat)
                assert victory is not None
                words = self.victories[victory].words
                return f"takes {words} at port {here}"
        return ""

    def refilled(
        self, open: Position, hidden: Secrets
    ) -> tuple[Position, Secrets, tuple[str, ...]]:
        """The next victory point tile is drawn for a claimed one (EW-18, EW-19)."""
        ports, pile, drawn = harbour.refilled(open.harbour, hidden.pile)
        names = self._port_names(open)
        words = tuple(harbour.drawn_words(tile, names, self.victories) for tile in drawn)
        return change(open, harbour=ports), msgspec.structs.replace(hidden, pile=pile), words

    def left(self, open: Position, seat: int) -> Position:
        """The boat leaves the map; outposts stay (DR-4)."""
        return change(open, islands=open.islands.with_boat(seat, NOWHERE))

    def points(self, player: Player) -> tuple[PointsPart, ...]:
        """Victory point tiles, uncovered values and bonus tiles (EW-31)."""
        return (
            PointsPart(
                "victory point tiles", sum(self.victories[t].points for t in player.claimed)
            ),
            PointsPart("outposts", outposts.uncovered(self.board, player.built)),
            PointsPart("bonus tiles", bonus.points(player.bonuses)),
        )

    def on_table(self, view: GameView, open: Position) -> GameView:
        """The map, the harbour, bonus tiles, and starting piles."""
        return change(
            view,
            islands=islands_view(open.islands, self.markets),
            harbour=harbour.harbour_view(open.harbour, self._port_names(open), self.victories),
            bonuses=bonus.supply_view(open.bonuses),
            piles=tuple(cubes_view(pile) for pile in open.piles),
        )

    def before_player(self, view: PlayerView, open: Position, own: bool) -> PlayerView:
        """All is open but the values of claimed tiles (EW-18)."""
        player = open.player(view.seat)
        tiles = player.claimed if own else ()
        return change(
            view,
            boat=open.islands.name(view.seat),
            outposts=outposts.rows_view(self.board, player.built),
            bonuses=bonus.owned_view(player.bonuses),
            claimed=len(player.claimed),
            claimed_tiles=tuple(harbour.victory_view(self.victories[tile]) for tile in tiles),
        )

    def _port_names(self, open: Position) -> tuple[str, ...]:
        """The names of the ports, in the order of the harbour."""
        shape = open.islands.shape
        return tuple(shape.names[port] for port in shape.ports)


def sailed(open: Position, seat: int, tile: str, steps: int = 0) -> Position:
    """A boat came to a tile, in so many steps of its turn."""
    islands = open.islands
    return change(
        open,
        islands=islands.with_boat(seat, islands.shape.index[tile]),
        turn=change(open.turn, steps=open.turn.steps + steps),
    )


def rewarded(open: Position) -> Position:
    """The reward of an emptied column was taken."""
    return change(open, turn=change(open.turn, bonus_due=False, card_due=False))
