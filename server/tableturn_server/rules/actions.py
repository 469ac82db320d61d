"""The steps that seats take: small frozen values, one class for each action.

The class name is that of the message in `tableturn.v1`, the tag is the name of
its field in `Action`, and the fields are the same. The text form is in
`tableturn.notation`.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from tableturn_server.rules.mechanics.cubes import NO_CUBES, Color, Cubes

MOST_CUBES = 1000
"""Of one colour in a bundle: no game has as many, and no sum gets out of hand."""
LONGEST_NAME = 16
"""Of a tile or another component."""
MOST_NUMBER = 2**31 - 1


class BonusKind(IntEnum):
    """What a bonus tile does (EW-21). The numbers are those of `tableturn.v1.BonusKind`."""

    MOVE = 1
    UPGRADE = 2
    HARVEST = 3
    CARGO = 4
    VP = 5


class Step(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What all actions have in common."""

    @property
    def kind(self) -> str:
        """The action's name, as in `Action`'s oneof, such as `build_outpost`."""
        return str(self.__struct_config__.tag)


class TakePile(Step, frozen=True, tag="take_pile"):
    """Choose a pile of starting cubes (EW-08)."""

    pile: Cubes


class PlaceBoat(Step, frozen=True, tag="place_boat"):
    """Put the own boat on its first tile (EW-08)."""

    tile: str


class Move(Step, frozen=True, tag="move"):
    """Move the own boat one step; one that is not free costs a cube (EW-11) or a card (SS-12)."""

    tile: str
    cube: Color | None = None
    card: str | None = None


class PayOwner(Step, frozen=True, tag="pay_owner"):
    """Pay one cube to the owner of a boat where the movement ends (EW-12)."""

    seat: int
    cube: Color


class PickUp(Step, frozen=True, tag="pick_up"):
    """Take cubes that lie on the tile where the movement ended (EW-13)."""

    cubes: Cubes


class BuildOutpost(Step, frozen=True, tag="build_outpost"):
    """Build an outpost on the tile of the own boat (EW-15)."""

    cubes: Cubes = NO_CUBES


class TakeBonus(Step, frozen=True, tag="take_bonus"):
    """Take a bonus tile for an emptied column (EW-16, SS-15)."""

    bonus: BonusKind


class Upgrade(Step, frozen=True, tag="upgrade"):
    """Upgrade one cube by one colour (EW-21, SR-11)."""

    cube: Color


class Trade(Step, frozen=True, tag="trade"):
    """Do the exchange of a market tile or a trade card `count` times (EW-17, SR-11)."""

    count: int


class ClaimTile(Step, frozen=True, tag="claim_tile"):
    """Pay for and take the victory point tile of the port (EW-18)."""


class Harvest(Step, frozen=True, tag="harvest"):
    """Harvest (EW-20)."""


class ReturnCubes(Step, frozen=True, tag="return_cubes"):
    """Return cubes above the limit to the supply (EW-22, SR-15)."""

    cubes: Cubes


class AcquireCard(Step, frozen=True, tag="acquire_card"):
    """Choose a merchant card of the row; the cards to its left are paid next (SR-12)."""

    card: str


class PutCube(Step, frozen=True, tag="put_cube"):
    """Put a cube on a card to the left of the wanted one (SR-12)."""

    cube: Color
    card: str


class TakeCard(Step, frozen=True, tag="take_card"):
    """Take a merchant card of the row free of charge (SS-15)."""

    card: str


class PlayCard(Step, frozen=True, tag="play_card"):
    """Play a card of the own hand (SR-10)."""

    card: str


class ClaimCard(Step, frozen=True, tag="claim_card"):
    """Pay for and take a point card (SR-14)."""

    card: str


class Rest(Step, frozen=True, tag="rest"):
    """Take the own cards back into the hand (SR-13, SS-16)."""


class PassRound(Step, frozen=True, tag="pass_round"):
    """free-table: sit out the rest of the round."""


class ScorePoints(Step, frozen=True, tag="score_points"):
    """free-table: change the points of a seat by hand."""

    seat: int
    points: int


class NameNext(Step, frozen=True, tag="name_next"):
    """free-table: name the seat that takes the next place in the turn order."""

    seat: int


class FinishGame(Step, frozen=True, tag="finish_game"):
    """free-table: the game is over; the points stand."""


Action = (
    TakePile
    | PlaceBoat
    | Move
    | PayOwner
    | PickUp
    | BuildOutpost
    | TakeBonus
    | Upgrade
    | Trade
    | ClaimTile
    | Harvest
    | ReturnCubes
    | AcquireCard
    | PutCube
    | TakeCard
    | PlayCard
    | ClaimCard
    | Rest
    | PassRound
    | ScorePoints
    | NameNext
    | FinishGame
)
"""Any action of any game."""


def check_bounds(action: Action) -> None:
    """Raise ValueError for an action with a value that no game has, whoever wrote it."""
    for name in action.__struct_fields__:
        value = getattr(action, name)
        if isinstance(value, str):
            if len(value) > LONGEST_NAME or not (value.isascii() and value.isprintable()):
                raise ValueError(f"{name} is no name of a component")
        elif isinstance(value, Cubes):
            if not all(0 <= count <= MOST_CUBES for count in value):
                raise ValueError(f"{name} has more cubes than there are, or fewer than none")
        elif value is not None and not -MOST_NUMBER <= value <= MOST_NUMBER:
            raise ValueError(f"{name} is out of range")
