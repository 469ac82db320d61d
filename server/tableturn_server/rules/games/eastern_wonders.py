"""Century: Eastern Wonders, for 2 to 4 players. The clauses EW-01 to EW-R12."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

import msgspec

from tableturn_server.rules import components
from tableturn_server.rules.actions import (
    Action,
    BonusKind,
    BuildOutpost,
    ClaimTile,
    Harvest,
    Move,
    PayOwner,
    PickUp,
    PlaceBoat,
    ReturnCubes,
    TakeBonus,
    TakePile,
    Trade,
    Upgrade,
)
from tableturn_server.rules.choices import Choice, CubeBounds, Illegal, Range
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import (
    FIRST_SEAT,
    MAX_ROUNDS,
    BadOption,
    EndReason,
    Game,
    Option,
    Outcome,
    PointsPart,
    Prompt,
    PromptKind,
    Resolved,
    Setting,
)
from tableturn_server.rules.mechanics import bonus, harbour, limit, outposts
from tableturn_server.rules.mechanics.cubes import NO_CUBES, Color, Cubes, one, view
from tableturn_server.rules.mechanics.harbour import Harbour, VictoryTile
from tableturn_server.rules.mechanics.islands import (
    NOWHERE,
    BadLayout,
    Islands,
    Layout,
    TileFace,
    islands_view,
    laid_out,
    layout_warnings,
    random_layout,
    read_layout,
    replaced,
)
from tableturn_server.rules.mechanics.outposts import Board
from tableturn_server.rules.mechanics.rounds import Rounds, turn_order
from tableturn_server.rules.mechanics.standings import Score, ranked
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import GameView, PlayerView

TILES_TO_END = 4
"""Who takes so many victory point tiles triggers the end (EW-30)."""
HARVEST = Cubes(yellow=2)
CARGO_TILE = 3
"""The spaces that a cargo tile adds (EW-21)."""

# -- the position --------------------------------------------------------------------------


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
    """A column was emptied; a bonus tile must be taken (EW-16)."""
    upgrades: int = 0
    """Upgrades that may still be done after the build (EW-R7)."""
    returned: bool = False
    """Cubes were returned: nothing may follow (EW-22)."""


class Player(msgspec.Struct, frozen=True, array_like=True):
    """What a seat has."""

    hold: Cubes = NO_CUBES
    built: outposts.Built = (0, 0, 0, 0)
    bonuses: tuple[bonus.Owned, ...] = ()
    claimed: tuple[int, ...] = ()
    """The numbers of the victory tiles it took; their values are closed (EW-18)."""
    latest_turn: int = 0
    dropped: bool = False


class Position(msgspec.Struct, frozen=True, array_like=True):
    """The open half: all that the table sees, with the staged turn in it."""

    phase: Phase
    rounds: Rounds
    turn: Turn
    players: tuple[Player, ...]
    islands: Islands
    harbour: Harbour
    bonuses: bonus.Supply
    piles: tuple[Cubes, ...]
    """Starting piles not chosen yet."""
    returns: limit.Returns = ()
    end: EndReason | None = None

    def player(self, seat: int) -> Player:
        """What a seat has."""
        return self.players[seat - 1]

    @property
    def dropped(self) -> set[int]:
        """The seats that left."""
        return {seat for seat, player in enumerate(self.players, 1) if player.dropped}


class Secrets(msgspec.Struct, frozen=True, array_like=True):
    """The hidden half: the order of the pile, and the generator."""

    pile: harbour.Pile
    source: Source


Ask = Callable[[Position, int], Choice | None]
Do = Callable[[Position, int, Any], Position]
change = msgspec.structs.replace


class EasternWonders(Game[Position, Secrets]):
    """Sail between islands, build outposts, trade, and take victory point tiles at ports."""

    name: ClassVar[str] = "eastern-wonders"
    title: ClassVar[str] = "Century: Eastern Wonders"
    seats: ClassVar[range] = range(2, 5)
    rules_version: ClassVar[int] = 1
    component_set: ClassVar[str | None] = "eastern-wonders"
    open_type: ClassVar[type[Any]] = Position
    hidden_type: ClassVar[type[Any]] = Secrets
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="map",
            default="first-game",
            values=("first-game", "random", "custom"),
            summary="the shape of the map: the printed pattern, one by chance, or your own",
            clause="EW-03",
        ),
        Option(
            name="layout",
            default="",
            summary="your own map: columns from west to east divided by /, each a height in half "
            "tiles and then m (market), p (port) or . (nothing) from north to south, such as "
            "`2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp`",
            clause="EW-03",
        ),
        Option(
            name="limit_checked",
            default="any_turn",
            values=("any_turn", "own_turn"),
            summary="when the cargo limit is checked: of all seats at the end of any turn, "
            "or of a seat at the end of its own",
            clause="EW-R11",
        ),
        Option(
            name="stay_picks_up",
            default="off",
            values=("off", "on"),
            summary="cubes may be picked up without moving",
            clause="EW-R2",
        ),
        FIRST_SEAT,
        MAX_ROUNDS,
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._read_components(setting.components or components.shipped("eastern-wonders"))
        self._outpost_price = 2 if setting.seats == 2 else 1  # EW-15
        self._stay_picks_up = setting.options.get("stay_picks_up", "off") == "on"  # EW-R2
        self._checks_all = setting.options.get("limit_checked", "any_turn") == "any_turn"  # EW-R11
        self._cap = int(setting.options.get("max_rounds", "0"))
        # Each action: what a seat may choose, and what it does.
        self._steps: dict[str, tuple[Ask, Do]] = {
            "take_pile": (self._piles_to_take, self._take_pile),
            "place_boat": (self._places_to_start, self._place_boat),
            "move": (self._steps_to_move, self._move),
            "pay_owner": (self._owners_to_pay, self._pay_owner),
            "pick_up": (self._cubes_to_pick_up, self._pick_up),
            "build_outpost": (self._outpost_to_build, self._build_outpost),
            "take_bonus": (self._bonuses_to_take, self._take_bonus),
            "upgrade": (self._cubes_to_upgrade, self._upgrade),
            "trade": (self._trades_to_do, self._trade),
            "claim_tile": (self._tile_to_claim, self._claim_tile),
            "harvest": (self._harvest_to_do, self._harvest),
            "return_cubes": (self._cubes_to_return, self._return_cubes),
        }

    # -- components ------------------------------------------------------------------------

    def _read_components(self, printed: ComponentSet) -> None:
        """What is printed on tiles and boards, in the form in which it is used."""
        self._markets = tuple(
            TileFace(tile.id, tile.symbol, tile.cost, tile.gain)
            for tile in printed.market_tiles.items
        )
        self._victories = tuple(
            VictoryTile(tile.price, tile.points) for tile in printed.victory_tiles.items
        )
        rows = printed.player_boards.items[0].rows
        self._board = Board(tuple(row.symbol for row in rows), tuple(row.values for row in rows))
        self._cargo = printed.player_boards.items[0].cargo
        self._bonus_supply: bonus.Supply = tuple(
            tuple(
                points
                for tile in printed.bonus_tiles.items
                if tile.bonus == kind
                for points in (tile.points,) * tile.count
            )
            for kind in BonusKind
        )
        self._start_piles = tuple(pile.pile for pile in printed.start_piles.items)
        self._first_map = next(m.layout for m in printed.maps.items if m.id == "first-game")

    @classmethod
    def warnings(cls, setting: Setting) -> tuple[str, ...]:
        """What is unusual about an own map (EW-03)."""
        if setting.options.get("map") != "custom":
            return ()
        return layout_warnings(read_layout(setting.options.get("layout", "")))

    def check_options(self) -> None:
        """The layout is readable, and is given just for an own map; numbers are numbers."""
        options = self.setting.options
        layout = options.get("layout", "")
        if options.get("map", "first-game") == "custom":
            try:
                read_layout(layout)
            except BadLayout as error:
                raise BadOption(f"option layout: {error}") from None
        elif layout:
            raise BadOption("option layout is only used with map=custom")
        first = options.get("first_seat", "random")
        if first not in ("random", *map(str, range(1, self.setting.seats + 1))):
            raise BadOption(
                f"option first_seat is random or 1 to {self.setting.seats}, not {first!r}"
            )
        rounds = options.get("max_rounds", "0")
        if not (rounds.isascii() and rounds.isdigit() and len(rounds) <= 4):
            raise BadOption(f"option max_rounds is a number from 0 to 9999, not {rounds!r}")

    # -- set-up ----------------------------------------------------------------------------

    def setup(self, seed: bytes) -> Resolved[Position, Secrets]:
        """The map, the harbour and the first player, by chance (EW-01 to EW-08)."""
        seats = self.setting.seats
        layout, source = self._layout(Source(seed))
        tiles, source = self._shuffled_markets(source)
        ports, pile, source = harbour.harbour_set_up(
            len(self._victories), len(layout.ports), source
        )
        first, source = source.below(seats)  # EW-07
        chosen = self.setting.options.get("first_seat", "random")
        order = turn_order(first + 1 if chosen == "random" else int(chosen), seats)
        position = Position(
            phase=Phase.START,
            rounds=Rounds(order=order, seat=order[-1]),  # EW-08
            turn=Turn(),
            players=(Player(),) * seats,
            islands=laid_out(layout, tiles, seats),
            harbour=ports,
            bonuses=self._bonus_supply,
            piles=self._start_piles,
        )
        return Resolved(position, Secrets(pile, source), (f"seat {order[0]} is the first player",))

    def _layout(self, source: Source) -> tuple[Layout, Source]:
        """The shape of the map (EW-02, EW-03)."""
        kind = self.setting.options.get("map", "first-game")
        if kind == "random":
            return random_layout(source)
        own = self.setting.options.get("layout", "")
        return read_layout(own if kind == "custom" else self._first_map), source

    def _shuffled_markets(self, source: Source) -> tuple[tuple[int, ...], Source]:
        """The market tiles in the order of the slots, one of each symbol left out (EW-01)."""
        kept: list[int] = []
        for symbol in self._board.symbols:
            tiles = [n for n, face in enumerate(self._markets) if face.symbol == symbol]
            out, source = source.below(len(tiles))
            kept += tiles[:out] + tiles[out + 1 :]
        return source.shuffled(sorted(kept))

    # -- what is legal ---------------------------------------------------------------------

    def prompts(self, open: Position) -> tuple[Prompt, ...]:
        """The seat whose turn it is, or all that have cubes to return."""
        if open.phase == Phase.OVER:
            return ()
        if open.phase == Phase.RETURN:  # EW-R10
            return tuple(
                Prompt(
                    seat=r.seat,
                    kind=PromptKind.RETURN_CUBES,
                    can_confirm=r.cubes is not None,
                    label="confirm" if r.cubes is not None else f"return {_cubes(r.due)}",
                )
                for r in sorted(open.returns, key=lambda r: r.seat)
                if not r.confirmed
            )
        seat = open.rounds.seat
        missing = self._missing(open, seat)
        turn = open.phase == Phase.TURN
        return (
            Prompt(
                seat=seat,
                kind=PromptKind.TURN if turn else PromptKind.START,
                can_confirm=not missing,
                confirm_skips=turn and not missing and open.turn == Turn(),
                label=missing or "confirm",
            ),
        )

    def _missing(self, open: Position, seat: int) -> str:
        """What the seat at turn must still do before it can confirm; empty for nothing."""
        player = open.player(seat)
        if open.phase == Phase.START:
            if not player.hold.total:
                return "take a pile of starting cubes"
            return "" if open.islands.boat(seat) != NOWHERE else "place the boat"
        owed = self._owed(open, seat)
        if len(owed) > player.hold.total:  # EW-R12
            return "move on: the boats here can't be paid"
        if owed:
            return f"pay {_seats(owed)}"
        if open.turn.bonus_due:
            return "take a bonus tile"
        over = player.hold.total - self._limit(player)
        return f"return {_cubes(over)}" if over > 0 else ""

    def legal_actions(self, open: Position, seat: int) -> tuple[Choice, ...]:
        """All that the seat may do now."""
        found = (ask(open, seat) for ask, _ in self._steps.values())
        return tuple(choice for choice in found if choice is not None)

    def choice(self, open: Position, seat: int, kind: str) -> Choice | None:
        """The choice of one kind, if the seat has it now."""
        step = self._steps.get(kind)
        return step[0](open, seat) if step else None

    def _piles_to_take(self, open: Position, seat: int) -> Choice | None:
        """Any pile that is left (EW-08)."""
        if open.phase != Phase.START or open.rounds.seat != seat or open.player(seat).hold.total:
            return None
        return Choice(kind="take_pile", piles=open.piles, label="take a pile of starting cubes")

    def _places_to_start(self, open: Position, seat: int) -> Choice | None:
        """Any market tile, shared or not (EW-08)."""
        if open.phase != Phase.START or open.rounds.seat != seat:
            return None
        if not open.player(seat).hold.total or open.islands.boat(seat) != NOWHERE:
            return None
        shape = open.islands.shape
        tiles = tuple(shape.names[place] for place in shape.slots)
        return Choice(kind="place_boat", tiles=tiles, label="place the boat on a market tile")

    def _steps_to_move(self, open: Position, seat: int) -> Choice | None:
        """One step to an adjacent tile from where a legal end can be reached (EW-11, EW-R12)."""
        if not self._may_go_on(open, seat) or open.turn.ended:
            return None
        player = open.player(seat)
        free = 1 + bonus.count(player.bonuses, BonusKind.MOVE) - open.turn.steps  # EW-R1
        left = player.hold.total
        if free <= 0:
            left -= 1
            if left < 0:
                return None
        islands = open.islands
        shape = islands.shape
        tiles = tuple(
            shape.names[place]
            for place in shape.neighbours[islands.boat(seat)]
            if islands.may_end(place, seat, left, max(free - 1, 0))
        )
        if not tiles:
            return None
        if free > 0:
            return Choice(kind="move", tiles=tiles, label="move one step (free)")
        return Choice(
            kind="move",
            tiles=tiles,
            colors=player.hold.colors,
            label=f"move one step, leaving a cube on {islands.name(seat)}",
        )

    def _owners_to_pay(self, open: Position, seat: int) -> Choice | None:
        """A cube to each owner of another boat where the movement ends (EW-12)."""
        if not self._may_go_on(open, seat):
            return None
        owed = self._owed(open, seat)
        hold = open.player(seat).hold
        if not owed or len(owed) > hold.total:
            return None
        return Choice(
            kind="pay_owner",
            seats=owed,
            colors=hold.colors,
            label=f"end the movement here: pay a cube each to {_seats(owed)}",
        )

    def _cubes_to_pick_up(self, open: Position, seat: int) -> Choice | None:
        """Any cubes where the movement ended, before the action (EW-13, EW-R4, EW-R5)."""
        if not self._arrived(open, seat) or open.turn.did:
            return None
        if not open.turn.steps and not self._stay_picks_up:  # EW-R2
            return None
        lying = open.islands.cubes[open.islands.boat(seat)]
        if not lying.total:
            return None
        return Choice(
            kind="pick_up",
            cubes=CubeBounds(1, lying.total, lying),
            label="pick up cubes",
        )

    def _outpost_to_build(self, open: Position, seat: int) -> Choice | None:
        """An outpost on a market tile without an own one (EW-14, EW-15)."""
        if not self._arrived(open, seat) or open.turn.did:
            return None
        place = open.islands.boat(seat)
        tile = open.islands.tiles[place]
        there = open.islands.outposts[place]
        if tile < 0 or seat in there:
            return None
        player = open.player(seat)
        symbol = self._markets[tile].symbol
        price = len(there) * self._outpost_price
        row_left = self._board.columns - player.built[self._board.row(symbol)]
        if price > player.hold.total or not row_left:
            return None
        cost = f"costs {_cubes(price)}" if price else "free"
        return Choice(
            kind="build_outpost",
            cubes=CubeBounds(price, price, player.hold),
            label=f"build an outpost ({symbol}; {cost})",
        )

    def _bonuses_to_take(self, open: Position, seat: int) -> Choice | None:
        """One of the bonus tiles that are left, for an emptied column (EW-16)."""
        if not self._may_go_on(open, seat) or not open.turn.bonus_due:
            return None
        return Choice(
            kind="take_bonus", bonuses=bonus.available(open.bonuses), label="take a bonus tile"
        )

    def _cubes_to_upgrade(self, open: Position, seat: int) -> Choice | None:
        """One cube that is not brown, right after building (EW-21, EW-R7)."""
        if not self._arrived(open, seat) or open.turn.did != Did.BUILT or not open.turn.upgrades:
            return None
        colors = tuple(c for c in open.player(seat).hold.colors if c != Color.BROWN)
        return Choice(kind="upgrade", colors=colors, label="upgrade a cube") if colors else None

    def _trades_to_do(self, open: Position, seat: int) -> Choice | None:
        """The exchange of the tile, with an own outpost on it (EW-14, EW-17)."""
        if not self._arrived(open, seat) or open.turn.did == Did.ALL:
            return None
        place = open.islands.boat(seat)
        if seat not in open.islands.outposts[place]:
            return None
        face = self._markets[open.islands.tiles[place]]
        most = _exchanges(open.player(seat).hold, face)
        if not most:
            return None
        words = f"trade {face.cost.letters} for {face.gain.letters}"
        return Choice(kind="trade", count=Range(1, most), label=words)

    def _tile_to_claim(self, open: Position, seat: int) -> Choice | None:
        """The victory point tile of the port, paid exactly (EW-18)."""
        if not self._arrived(open, seat) or open.turn.did:
            return None
        tile = self._tile_here(open, seat)
        if tile is None or not open.player(seat).hold.covers(self._victories[tile].cost):
            return None
        face = self._victories[tile]
        words = f"pay {face.cost.letters} for the tile worth {face.points}"
        return Choice(kind="claim_tile", label=words)

    def _harvest_to_do(self, open: Position, seat: int) -> Choice | None:
        """On any tile (EW-20)."""
        if not self._arrived(open, seat) or open.turn.did:
            return None
        return Choice(kind="harvest", label=f"harvest {self._yield(open.player(seat)).letters}")

    def _cubes_to_return(self, open: Position, seat: int) -> Choice | None:
        """Exactly what is above the limit; closes the own turn (EW-22)."""
        hold = open.player(seat).hold
        if open.phase == Phase.RETURN:
            entry = limit.asked(open.returns, seat)
            due = entry.due if entry and entry.cubes is None else 0
        else:
            due = hold.total - self._limit(open.player(seat)) if self._arrived(open, seat) else 0
        if due <= 0:
            return None
        return Choice(
            kind="return_cubes",
            cubes=CubeBounds(due, due, hold),
            label=f"return {_cubes(due)} to the supply",
        )

    def _may_go_on(self, open: Position, seat: int) -> bool:
        """It is the seat's turn, and nothing has closed it."""
        return open.phase == Phase.TURN and open.rounds.seat == seat and not open.turn.returned

    def _arrived(self, open: Position, seat: int) -> bool:
        """The seat may act where its boat is: all owners are paid, no bonus tile is due."""
        return (
            self._may_go_on(open, seat) and not open.turn.bonus_due and not self._owed(open, seat)
        )

    def _owed(self, open: Position, seat: int) -> tuple[int, ...]:
        """The owners to be paid if the movement ends here (EW-12); none without a step (EW-R2)."""
        if not open.turn.steps:
            return ()
        owners = open.islands.owners_at(open.islands.boat(seat), seat)
        return tuple(owner for owner in owners if owner not in open.turn.paid)

    def _tile_here(self, open: Position, seat: int) -> int | None:
        """The victory tile on the port where the seat's boat is."""
        place = open.islands.boat(seat)
        ports = open.islands.shape.ports
        return open.harbour.tile(ports.index(place)) if place in ports else None

    def _limit(self, player: Player) -> int:
        """The spaces of the cargo hold (EW-22)."""
        return self._cargo + CARGO_TILE * bonus.count(player.bonuses, BonusKind.CARGO)

    def _yield(self, player: Player) -> Cubes:
        """What a Harvest gives (EW-20, EW-21)."""
        return HARVEST.plus(Cubes(red=bonus.count(player.bonuses, BonusKind.HARVEST)))

    # -- what an action does ---------------------------------------------------------------

    def apply(self, open: Position, seat: int, action: Action) -> Position:
        """The position after an action that is known to be legal."""
        return self._steps[action.kind][1](open, seat, action)

    def _take_pile(self, open: Position, seat: int, action: TakePile) -> Position:
        at = open.piles.index(action.pile)
        piles = open.piles[:at] + open.piles[at + 1 :]
        return change(_given(open, seat, action.pile), piles=piles)

    def _place_boat(self, open: Position, seat: int, action: PlaceBoat) -> Position:
        place = open.islands.shape.index[action.tile]
        return change(open, islands=open.islands.with_boat(seat, place))

    def _move(self, open: Position, seat: int, action: Move) -> Position:
        """A step; one that is not free leaves a cube on the tile that is left (EW-11)."""
        islands = open.islands
        if action.cube is not None:
            place = islands.boat(seat)
            islands = islands.with_cubes(place, islands.cubes[place].plus(one(action.cube)))
            open = _paid(open, seat, one(action.cube))
        islands = islands.with_boat(seat, islands.shape.index[action.tile])
        return change(open, islands=islands, turn=change(open.turn, steps=open.turn.steps + 1))

    def _pay_owner(self, open: Position, seat: int, action: PayOwner) -> Position:
        """A cube changes hands; the first payment ends the movement (EW-12)."""
        cube = one(action.cube)
        turn = change(open.turn, ended=True, paid=(*open.turn.paid, action.seat))
        return change(_given(_paid(open, seat, cube), action.seat, cube), turn=turn)

    def _pick_up(self, open: Position, seat: int, action: PickUp) -> Position:
        """Cubes come into the hold; the movement is over (EW-13)."""
        place = open.islands.boat(seat)
        left = open.islands.cubes[place].minus(action.cubes)
        return change(
            _given(open, seat, action.cubes),
            islands=open.islands.with_cubes(place, left),
            turn=change(open.turn, ended=True),
        )

    def _build_outpost(self, open: Position, seat: int, action: BuildOutpost) -> Position:
        """Pay, place, and see whether a column became empty (EW-15, EW-16, EW-R7)."""
        place = open.islands.boat(seat)
        player = open.player(seat)
        row = self._board.row(self._markets[open.islands.tiles[place]].symbol)
        built = outposts.taken(player.built, row)
        emptied = outposts.emptied(player.built, built) is not None
        turn = change(
            open.turn,
            ended=True,
            did=Did.BUILT,
            bonus_due=emptied and bool(bonus.available(open.bonuses)),
            upgrades=bonus.count(player.bonuses, BonusKind.UPGRADE),
        )
        player = change(player, built=built, hold=player.hold.minus(action.cubes))
        islands = open.islands.with_outpost(place, seat)
        return change(_seated(open, seat, player), islands=islands, turn=turn)

    def _take_bonus(self, open: Position, seat: int, action: TakeBonus) -> Position:
        """The top tile of a kind comes to the player (EW-16)."""
        supply, tile = bonus.taken(open.bonuses, action.bonus)
        player = open.player(seat)
        return change(
            _seated(open, seat, change(player, bonuses=(*player.bonuses, tile))),
            bonuses=supply,
            turn=change(open.turn, bonus_due=False),
        )

    def _upgrade(self, open: Position, seat: int, action: Upgrade) -> Position:
        """A cube becomes one of the next colour (EW-21)."""
        after = _given(_paid(open, seat, one(action.cube)), seat, one(Color(action.cube + 1)))
        return change(after, turn=change(open.turn, upgrades=open.turn.upgrades - 1))

    def _trade(self, open: Position, seat: int, action: Trade) -> Position:
        """The exchange, so many times (EW-17)."""
        face = self._markets[open.islands.tiles[open.islands.boat(seat)]]
        hold = open.player(seat).hold.plus(face.gain.times(action.count))
        player = change(open.player(seat), hold=hold.minus(face.cost.times(action.count)))
        return _acted(_seated(open, seat, player))

    def _claim_tile(self, open: Position, seat: int, action: ClaimTile) -> Position:
        """The tile is paid and taken; the confirmation draws the next (EW-18)."""
        tile = self._tile_here(open, seat)
        assert tile is not None
        port = open.harbour.tiles.index(tile)
        player = open.player(seat)
        player = change(
            player,
            claimed=(*player.claimed, tile),
            hold=player.hold.minus(self._victories[tile].cost),
        )
        return _acted(change(_seated(open, seat, player), harbour=open.harbour.claimed(port)))

    def _harvest(self, open: Position, seat: int, action: Harvest) -> Position:
        """Two yellow cubes and what harvest tiles add (EW-20)."""
        return _acted(_given(open, seat, self._yield(open.player(seat))))

    def _return_cubes(self, open: Position, seat: int, action: ReturnCubes) -> Position:
        """At once in the own turn; an answer that waits for the others else (EW-22, EW-R10)."""
        if open.phase == Phase.RETURN:
            return change(open, returns=limit.answered(open.returns, seat, action.cubes))
        turn = change(open.turn, ended=True, did=Did.ALL, returned=True)
        return change(_paid(open, seat, action.cubes), turn=turn)

    # -- the confirmation ------------------------------------------------------------------

    def resolve(self, open: Position, hidden: Secrets, seat: int) -> Resolved[Position, Secrets]:
        """Confirm what the seat staged, and ask whoever is next."""
        prompt = next((p for p in self.prompts(open) if p.seat == seat), None)
        if prompt is None:
            raise Illegal("nothing is asked of this seat now")
        if not prompt.can_confirm:
            raise Illegal(f"not to be confirmed yet; still to be done: {prompt.label}")
        if open.phase == Phase.START:
            return Resolved(self._next_start(open), hidden)
        if open.phase == Phase.RETURN:
            open = change(open, returns=limit.confirmed(open.returns, seat))
            open, events = self._returned(open)
            return Resolved(open, hidden, events)
        return self._end_turn(open, hidden, seat)

    def _next_start(self, open: Position) -> Position:
        """The next seat in reverse turn order chooses; after the first the rounds begin (EW-08)."""
        rounds = open.rounds
        place = rounds.order.index(rounds.seat)
        for seat in reversed(rounds.order[:place]):
            if not open.player(seat).dropped:
                return change(open, rounds=change(rounds, seat=seat))
        return change(open, phase=Phase.TURN, rounds=rounds.begun(open.dropped), piles=())

    def _end_turn(self, open: Position, hidden: Secrets, seat: int) -> Resolved[Position, Secrets]:
        """Draw for a claimed tile, see whether the end is near, check the limits."""
        ports, pile, drawn = harbour.refilled(open.harbour, hidden.pile)
        names = self._port_names(open)
        turned_up = tuple(harbour.drawn_words(tile, names, self._victories) for tile in drawn)
        events = list(turned_up)
        rounds = change(open.rounds, turns=open.rounds.turns + 1)
        player = change(open.player(seat), latest_turn=rounds.turns)
        if len(player.claimed) >= TILES_TO_END and not rounds.last:  # EW-30
            rounds = change(rounds, last=True)
            events.append(f"seat {seat} took the 4th victory tile: the last round")
        open = change(_seated(open, seat, player), rounds=rounds, turn=Turn(), harbour=ports)
        returns = self._over_limit(open)
        if returns:
            open = change(open, phase=Phase.RETURN, returns=returns)
        else:
            open, more = self._next_turn(open)
            events += more
        secrets = Secrets(pile, hidden.source)
        return Resolved(open, secrets, tuple(events), turned_up=turned_up)

    def _over_limit(self, open: Position) -> limit.Returns:
        """The seats that were paid above their limit, in turn order (EW-22, EW-R11)."""
        if not self._checks_all:
            return ()
        over = ((s, open.player(s)) for s in open.rounds.playing(open.dropped))
        return tuple(
            limit.Return(seat, player.hold.total - self._limit(player))
            for seat, player in over
            if player.hold.total > self._limit(player)
        )

    def _returned(self, open: Position) -> tuple[Position, tuple[str, ...]]:
        """When the last answer is in, all are applied and the game goes on (EW-R10)."""
        if not limit.complete(open.returns):
            return open, ()
        events = []
        for answer in open.returns:
            if answer.cubes is not None:
                open = _paid(open, answer.seat, answer.cubes)
                events.append(f"seat {answer.seat} returned {answer.cubes.letters} to the supply")
        open, more = self._next_turn(change(open, returns=()))
        return open, (*events, *more)

    def _next_turn(self, open: Position) -> tuple[Position, tuple[str, ...]]:
        """The next seat's turn, or the end of the game (EW-10, EW-30)."""
        rounds = open.rounds.after(open.dropped, self._cap)
        if rounds is not None:
            return change(open, phase=Phase.TURN, rounds=rounds, turn=Turn()), ()
        if open.rounds.last:
            return _over(open, EndReason.COMPLETED), ("the game is over",)
        words = f"the game is over: {self._cap} rounds were played"
        return _over(open, EndReason.ROUND_CAP), (words,)

    def default(self, open: Position, seat: int) -> tuple[Action, ...]:
        """The forced minimal choice: no action, the first offer, the lowest cubes (DR-3)."""
        if open.phase == Phase.START:
            piles = self._piles_to_take(open, seat)
            first = open.islands.shape
            place = PlaceBoat(first.names[first.slots[0]])
            return (TakePile(piles.piles[0]), place) if piles else ()
        due = self._cubes_to_return(open, seat)
        if due is None or due.cubes is None:
            return ()
        return (ReturnCubes(due.cubes.available.lowest(due.cubes.min)),)

    def drop(self, open: Position, hidden: Secrets, seat: int) -> Resolved[Position, Secrets]:
        """The boat leaves; outposts, cubes and points stay; the seat is skipped (DR-4)."""
        if open.player(seat).dropped:
            raise Illegal(f"seat {seat} has left already")
        if open.phase == Phase.OVER and open.end != EndReason.LAST_SEAT:
            raise Illegal("the game is over")
        open = _seated(open, seat, change(open.player(seat), dropped=True))
        open = change(open, islands=open.islands.with_boat(seat, NOWHERE))
        left = open.rounds.playing(open.dropped)
        events: tuple[str, ...] = (f"seat {seat} left the game",)
        if not left:
            return Resolved(_over(open, EndReason.ABANDONED), hidden, (*events, "no seat is left"))
        if len(left) == 1:
            words = f"seat {left[0]} is the last one left and wins"
            return Resolved(_over(open, EndReason.LAST_SEAT), hidden, (*events, words))
        more: tuple[str, ...] = ()
        if open.phase == Phase.RETURN:
            open, more = self._returned(change(open, returns=limit.without(open.returns, seat)))
        elif open.rounds.seat == seat and open.phase == Phase.START:
            open = self._next_start(open)
        elif open.rounds.seat == seat:
            open, more = self._next_turn(open)
        return Resolved(open, hidden, (*events, *more))

    # -- what is seen ----------------------------------------------------------------------

    def view(self, open: Position, seat: int | None) -> GameView:
        """What a seat sees, or a spectator: all but the values of others' tiles (EW-18)."""
        order = open.rounds.playing(open.dropped)
        return GameView(
            round=open.rounds.round,
            first_seat=order[0] if order else open.rounds.order[0],
            turn_order=order,
            last_round=open.rounds.last,
            players=tuple(
                self._player_view(open, owner, owner == seat or open.phase == Phase.OVER)
                for owner in range(1, len(open.players) + 1)
            ),
            islands=islands_view(open.islands, self._markets),
            harbour=harbour.harbour_view(open.harbour, self._port_names(open), self._victories),
            bonuses=bonus.supply_view(open.bonuses),
            piles=tuple(view(pile) for pile in open.piles),
        )

    def _player_view(self, open: Position, seat: int, with_tiles: bool) -> PlayerView:
        """What a seat owns, with the values of its victory tiles or without."""
        player = open.player(seat)
        tiles = player.claimed if with_tiles else ()
        return PlayerView(
            seat=seat,
            dropped=player.dropped,
            hold=view(player.hold),
            limit=self._limit(player),
            boat=open.islands.name(seat),
            outposts=outposts.rows_view(self._board, player.built),
            bonuses=bonus.owned_view(player.bonuses),
            claimed=len(player.claimed),
            claimed_tiles=tuple(harbour.victory_view(self._victories[tile]) for tile in tiles),
        )

    def _port_names(self, open: Position) -> tuple[str, ...]:
        """The names of the ports, in the order of the harbour."""
        shape = open.islands.shape
        return tuple(shape.names[port] for port in shape.ports)

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What an action does, as a readable line."""
        here = open.islands.name(seat)
        match action:
            case TakePile(pile):
                return f"takes the pile {pile.letters}"
            case PlaceBoat(tile):
                return f"places the boat on {tile}"
            case Move(tile, None):
                return f"moves to {tile}"
            case Move(tile, Color() as cube):
                return f"moves to {tile}, leaving a {cube.word} cube on {here}"
            case PayOwner(owner, cube):
                return f"pays a {cube.word} cube to seat {owner}"
            case PickUp(cubes):
                return f"picks up {cubes.letters} on {here}"
            case BuildOutpost(cubes):
                return f"builds an outpost on {here}, {_paying(cubes)}"
            case TakeBonus(kind):
                return f"takes a bonus tile: {kind.name.lower()}"
            case Upgrade(cube):
                return f"upgrades a {cube.word} cube to {Color(cube + 1).word}"
            case Trade(count):
                face = self._markets[open.islands.tiles[open.islands.boat(seat)]]
                return f"trades {face.cost.letters} for {face.gain.letters}, {_times(count)}"
            case ClaimTile():
                victory = self._tile_here(open, seat)
                words = (
                    "a victory point tile" if victory is None else self._victories[victory].words
                )
                return f"takes {words} at port {here}"
            case Harvest():
                return f"harvests {self._yield(open.player(seat)).letters}"
            case ReturnCubes(cubes):
                return f"returns {cubes.letters} to the supply"
        return action.kind.replace("_", " ")

    # -- scoring ---------------------------------------------------------------------------

    def _score(self, open: Position, seat: int) -> Score:
        """The points of a seat in parts (EW-31)."""
        player = open.player(seat)
        parts = (
            ("victory point tiles", sum(self._victories[t].points for t in player.claimed)),
            ("outposts", outposts.uncovered(self._board, player.built)),
            ("bonus tiles", bonus.points(player.bonuses)),
            ("cubes", player.hold.total - player.hold.yellow),
        )
        return Score(
            seat=seat,
            parts=tuple(PointsPart(part, points) for part, points in parts),
            latest_turn=player.latest_turn,
            dropped=player.dropped,
        )

    # -- end -------------------------------------------------------------------------------

    def outcome(self, open: Position) -> Outcome | None:
        """How the game ended: ranks by points, then by the latest turn (EW-32)."""
        if open.phase != Phase.OVER or open.end is None:
            return None
        scores = [self._score(open, seat) for seat in range(1, len(open.players) + 1)]
        return Outcome(open.end, ranked(scores))


def _seated(open: Position, seat: int, player: Player) -> Position:
    """The position with a seat changed."""
    return change(open, players=replaced(open.players, seat - 1, player))


def _given(open: Position, seat: int, cubes: Cubes) -> Position:
    """Cubes came into a seat's hold."""
    player = open.player(seat)
    return _seated(open, seat, change(player, hold=player.hold.plus(cubes)))


def _paid(open: Position, seat: int, cubes: Cubes) -> Position:
    """Cubes left a seat's hold."""
    player = open.player(seat)
    return _seated(open, seat, change(player, hold=player.hold.minus(cubes)))


def _acted(open: Position) -> Position:
    """The one action of the turn is done (EW-10)."""
    return change(open, turn=change(open.turn, ended=True, did=Did.ALL, upgrades=0))


def _over(open: Position, reason: EndReason) -> Position:
    """The game is over."""
    return change(open, phase=Phase.OVER, end=reason, turn=Turn(), returns=(), piles=())


def _exchanges(hold: Cubes, face: TileFace) -> int:
    """How many times a trade can be done, each paid from the cubes held at that moment (EW-17)."""
    if not hold.covers(face.cost):
        return 0
    return min(
        (held - cost) // (cost - gain) + 1
        for held, cost, gain in zip(hold, face.cost, face.gain, strict=True)
        if cost > gain
    )


def _seats(seats: tuple[int, ...]) -> str:
    """Seats in a sentence."""
    return "seat " + " and seat ".join(map(str, seats))


def _cubes(count: int) -> str:
    """A number of cubes in a sentence."""
    return "1 cube" if count == 1 else f"{count} cubes"


def _paying(cubes: Cubes) -> str:
    """A price in a sentence."""
    return f"paying {cubes.letters}" if cubes.total else "free of charge"


def _times(count: int) -> str:
    """How often, in a sentence."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
