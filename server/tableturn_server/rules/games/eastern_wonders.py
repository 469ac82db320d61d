"""Century: Eastern Wonders, for 2 to 4 players. The clauses EW-01 to EW-R12."""

from __future__ import annotations

from typing import ClassVar

from tableturn_server.rules import components
from tableturn_server.rules.actions import Action, BonusKind, Harvest, Move, PickUp
from tableturn_server.rules.century import LIMIT_CHECKED, Century
from tableturn_server.rules.choices import Choice, CubeBounds
from tableturn_server.rules.game import FIRST_SEAT, MAX_ROUNDS, Option, Resolved, Setting
from tableturn_server.rules.mechanics import bonus
from tableturn_server.rules.mechanics.cubes import Color, Cubes, one
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step
from tableturn_server.rules.mechanics.position import (
    NO_TURN,
    Phase,
    Player,
    Position,
    Secrets,
    acted,
    change,
    given,
    may_go_on,
    paid,
)
from tableturn_server.rules.mechanics.rounds import Rounds
from tableturn_server.rules.mechanics.voyage import (
    LAYOUT,
    MAP,
    Reward,
    Voyage,
    check_map,
    map_warnings,
    sailed,
)
from tableturn_server.rules.source import Source

TILES_OUT = 1
"""The market tiles of each symbol that stay in the box (EW-01)."""
HARVEST = Cubes(yellow=2)


class EasternWonders(Century):
    """Sail between islands, build outposts, trade, and take victory point tiles at ports."""

    name: ClassVar[str] = "eastern-wonders"
    title: ClassVar[str] = "Century: Eastern Wonders"
    seats: ClassVar[range] = range(2, 5)
    rules_version: ClassVar[int] = 1
    component_set: ClassVar[str | None] = "eastern-wonders"
    options: ClassVar[tuple[Option, ...]] = (
        MAP,
        LAYOUT,
        LIMIT_CHECKED,
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

    def composed(self, setting: Setting) -> tuple[Mechanic, ...]:
        """A voyage, and what is done with cubes on the way."""
        printed = setting.components or components.shipped("eastern-wonders")
        self.voyage = Voyage(printed, setting, _reward)
        stay_picks_up = setting.options.get("stay_picks_up", "off") == "on"
        return self.voyage, Cargo(self.voyage, stay_picks_up)

    def limit(self, player: Player) -> int:
        """The spaces of the cargo hold (EW-22)."""
        return self.voyage.limit(player)

    def ending(self, player: Player) -> str:
        """The 4th victory point tile (EW-30)."""
        return self.voyage.ending(player)

    @classmethod
    def warnings(cls, setting: Setting) -> tuple[str, ...]:
        """What is unusual about an own map (EW-03)."""
        return map_warnings(setting)

    def check_options(self) -> None:
        """Those of all games, and the map's (EW-03)."""
        super().check_options()
        check_map(self.setting.options)

    def setup(self, seed: bytes) -> Resolved[Position, Secrets]:
        """The map, the harbour and the first player, by chance (EW-01 to EW-08)."""
        islands, ports, pile, source = self.voyage.laid_out(Source(seed), out=TILES_OUT, sea=0)
        order, source = self.order(source)
        position = Position(
            phase=Phase.START,
            rounds=Rounds(order=order, seat=order[-1]),  # EW-08
            turn=NO_TURN,
            players=(Player(),) * self.setting.seats,
            islands=islands,
            harbour=ports,
            bonuses=self.voyage.bonuses,
            piles=self.voyage.piles,
        )
        return Resolved(position, Secrets(pile, source), (f"seat {order[0]} is the first player",))


def _reward(open: Position, column: int) -> Reward:
    """A bonus tile for each emptied column, while there are any (EW-16)."""
    return Reward(bonus=bool(bonus.available(open.bonuses)))


class Cargo(Mechanic):
    """Cubes on the way: steps are paid with them, tiles keep them, Harvest gives some."""

    def __init__(self, voyage: Voyage, stay_picks_up: bool) -> None:
        """Bind the voyage, and whether cubes may be picked up without moving (EW-R2)."""
        self._voyage = voyage
        self._stay_picks_up = stay_picks_up
        self.steps = {
            "move": Step(self.to_move, self.move),
            "pick_up": Step(self.to_pick_up, self.pick_up),
            "harvest": Step(self.to_harvest, self.harvest),
        }

    def to_move(self, open: Position, seat: int) -> Choice | None:
        """One step to an adjacent tile from where a legal end can be reached (EW-11, EW-R12)."""
        if not may_go_on(open, seat) or open.turn.ended:
            return None
        player = open.player(seat)
        free = 1 + bonus.count(player.bonuses, BonusKind.MOVE) - open.turn.steps  # EW-R1
        held = player.hold.total - (free <= 0)
        if held < 0:
            return None
        further = max(free - 1, 0)
        islands = open.islands
        shape = islands.shape
        tiles = tuple(
            shape.names[place]
            for place in shape.neighbours[islands.boat(seat)]
            if islands.may_end(place, seat, lambda steps: held - max(0, steps - further))
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

    def move(self, open: Position, seat: int, action: Move) -> Position:
        """A step; one that is not free leaves a cube on the tile that is left (EW-11)."""
        if action.cube is not None:
            islands = open.islands
            place = islands.boat(seat)
            islands = islands.with_cubes(place, islands.cubes[place].plus(one(action.cube)))
            open = change(paid(open, seat, one(action.cube)), islands=islands)
        return sailed(open, seat, action.tile, steps=1)

    def to_pick_up(self, open: Position, seat: int) -> Choice | None:
        """Any cubes where the movement ended, before the action (EW-13, EW-R4, EW-R5)."""
        if not self._voyage.arrived(open, seat) or open.turn.did:
            return None
        if not open.turn.steps and not self._stay_picks_up:  # EW-R2
            return None
        lying = open.islands.cubes[open.islands.boat(seat)]
        if not lying.total:
            return None
        bounds = CubeBounds(1, lying.total, lying)
        return Choice(kind="pick_up", cubes=bounds, label="pick up cubes")

    def pick_up(self, open: Position, seat: int, action: PickUp) -> Position:
        """Cubes come into the hold; the movement is over (EW-13)."""
        place = open.islands.boat(seat)
        left = open.islands.cubes[place].minus(action.cubes)
        return change(
            given(open, seat, action.cubes),
            islands=open.islands.with_cubes(place, left),
            turn=change(open.turn, ended=True),
        )

    def to_harvest(self, open: Position, seat: int) -> Choice | None:
        """On any tile (EW-20)."""
        if not self._voyage.arrived(open, seat) or open.turn.did:
            return None
        return Choice(kind="harvest", label=f"harvest {_yield(open.player(seat)).letters}")

    def harvest(self, open: Position, seat: int, action: Harvest) -> Position:
        """Two yellow cubes and what harvest tiles add (EW-20)."""
        return acted(given(open, seat, _yield(open.player(seat))))

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What one of its actions does."""
        here = open.islands.name(seat)
        match action:
            case Move(tile, None):
                return f"moves to {tile}"
            case Move(tile, Color() as cube):
                return f"moves to {tile}, leaving a {cube.word} cube on {here}"
            case PickUp(cubes):
                return f"picks up {cubes.letters} on {here}"
            case Harvest():
                return f"harvests {_yield(open.player(seat)).letters}"
        return ""


def _yield(player: Player) -> Cubes:
    """What a Harvest gives (EW-20, EW-21)."""
    return HARVEST.plus(Cubes(red=bonus.count(player.bonuses, BonusKind.HARVEST)))
