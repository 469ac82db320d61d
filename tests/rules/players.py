"""Players for tests: quick, a little sensible, so that games reach their real end.

A player sees what a bot would see: the view of its seat and its legal actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tableturn_server.rules.actions import (
    AcquireCard,
    Action,
    ClaimCard,
    Move,
    PlayCard,
    PutCube,
    Rest,
    Trade,
    Upgrade,
)
from tableturn_server.rules.choices import Choice, pick
from tableturn_server.rules.game import Game, Prompt, PromptKind
from tableturn_server.rules.mechanics.cubes import NO_CUBES, Cubes, CubesView
from tableturn_server.rules.views import CardKind, CardView, GameView, IslandTileView

AnyGame = Game[Any, Any]
Turn = Iterator[Action]
"""The actions of a turn, asked for one by one."""

VALUES = (1, 2, 3, 4)
"""What a cube of each colour is worth to a player."""
RANDOM_TURNS = 0.12
"""How often a player takes a turn without any plan."""


def first(bound: int) -> int:
    return 0


def take_turn(game: AnyGame, open: Any, seat: int, random: Random) -> list[Action]:
    """The actions of one turn of a seat, which can be confirmed after them."""
    prompt = prompt_of(game, open, seat)
    assert prompt is not None
    turn: list[Action] = []
    planned = PLANS.get(game.name)
    if planned and prompt.kind == PromptKind.TURN and random.random() > RANDOM_TURNS:
        for action in planned(game, open, seat, random):
            open = game.stage(open, seat, action)
            turn.append(action)
    else:
        for _ in range(random.randrange(7)):
            choices = game.legal_actions(open, seat)
            if not choices:
                break
            turn.append(pick(random.choice(choices), random.randrange))
            open = game.stage(open, seat, turn[-1])
    return [*turn, *completion(game, open, seat)]


def prompt_of(game: AnyGame, open: Any, seat: int) -> Prompt | None:
    return next((p for p in game.prompts(open) if p.seat == seat), None)


def completion(game: AnyGame, open: Any, seat: int) -> list[Action]:
    """A cheap way on to a confirmation. Raises AssertionError if there is none."""
    found = _completion(game, open, seat, 12)
    assert found is not None, "this turn can't be completed"
    return found


def _completion(game: AnyGame, open: Any, seat: int, depth: int) -> list[Action] | None:
    prompt = prompt_of(game, open, seat)
    if prompt is not None and prompt.can_confirm:
        return []
    if depth == 0:
        return None
    choices = game.legal_actions(open, seat)
    for choice in sorted(choices, key=lambda c: c.kind == "move"):
        for number in range(len(choice.tiles) if choice.kind == "move" else 1):
            action = pick(choice, lambda bound, n=number: min(n, bound - 1))  # type: ignore[misc]
            rest = _completion(game, game.stage(open, seat, action), seat, depth - 1)
            if rest is not None:
                return [action, *rest]
    return None


# -- Eastern Wonders -----------------------------------------------------------------------


class Captain:
    """One turn of a player of Eastern Wonders who wants victory point tiles."""

    def __init__(self, game: AnyGame, open: Any, seat: int, random: Random) -> None:
        self.game, self.open, self.seat, self.random = game, open, seat, random
        self.see: GameView = game.view(open, seat)
        assert self.see.islands is not None
        assert self.see.harbour is not None
        self.tiles = {tile.tile: tile for tile in self.see.islands.tiles}
        self.targets = {
            port.tile: cubes(port.victory_tile.cost)
            for port in self.see.harbour.ports
            if port.victory_tile
        }
        me = self.see.players[seat - 1]
        self.limit = me.limit
        self.boat = me.boat
        self.hold = cubes(me.hold)

    def turn(self) -> Turn:
        """Sail to a port with a tile that can be paid, else trade towards one, else harvest."""
        near = sorted(self.targets, key=lambda port: steps(self.tiles, self.boat, port))
        for port in near:
            if self.hold.covers(self.targets[port]):
                yield from self.sail(port, self.targets[port])
                yield from self.wish("claim_tile")
                return
        wanted = max(
            self.targets.values(), key=lambda cost: worth(self.hold, cost), default=NO_CUBES
        )
        gains = {name: self.gain(tile, wanted) for name, tile in self.tiles.items()}
        useful = [name for name in gains if gains[name][0] > 0]
        if useful:
            best = min(
                useful, key=lambda n: (max(steps(self.tiles, self.boat, n), 1), -gains[n][0])
            )
            yield from self.sail(best, wanted)
            if self.boat == best:
                yield from self.wish("pick_up")
                yield from self.wish("build_outpost")
                yield from self.wish("take_bonus")
                yield from self.wish("upgrade")
                yield from self.wish("trade", count=gains[best][1])
        elif self.random.random() < 0.4:
            yield from self.wish("move")
            yield from self.wish("pay_owner")
        if self.random.random() < 0.4:
            yield from self.wish("build_outpost")
            yield from self.wish("take_bonus")
        if self.hold.total + 2 <= self.limit or self.random.random() < 0.5:
            yield from self.wish("harvest")

    def gain(self, tile: IslandTileView, wanted: Cubes) -> tuple[int, int]:
        """What a trade there is worth, and how many times it is best done."""
        if tile.cost is None or tile.gain is None:
            return 0, 0
        price = 0
        if self.seat not in tile.outposts:
            price = len(tile.outposts) * (2 if len(self.see.players) == 2 else 1)
        price += sum(1 for boat in tile.boats if boat != self.seat)
        hold = self.hold
        if price >= hold.total:
            return 0, 0
        hold = hold.minus(spare(hold, wanted, price))
        best = (0, 0)
        now = worth(self.hold, wanted)
        for count in range(1, 6):
            if not hold.covers(cubes(tile.cost)):
                break
            hold = hold.minus(cubes(tile.cost)).plus(cubes(tile.gain))
            best = max(best, (worth(hold, wanted) - now - max(0, hold.total - self.limit), count))
        return best

    def sail(self, goal: str, wanted: Cubes) -> Turn:
        """Steps towards a tile while they are free or paid with cubes that aren't wanted."""
        while self.boat != goal:
            choice = self.choice("move")
            if choice is None:
                break
            closer = steps(self.tiles, self.boat, goal) - 1
            on = [t for t in choice.tiles if steps(self.tiles, t, goal) == closer]
            unwanted = [c for c in choice.colors if self.hold.of(c) > wanted.of(c)]
            if not on or (choice.colors and not unwanted):
                break
            yield from self.wish("move", tile=on[0], cube=unwanted[0] if unwanted else None)
        while (choice := self.choice("pay_owner")) is not None:
            unwanted = [c for c in choice.colors if self.hold.of(c) > wanted.of(c)]
            yield from self.wish("pay_owner", cube=(unwanted or choice.colors)[0])

    def choice(self, kind: str) -> Choice | None:
        return self.game.choice(self.open, self.seat, kind)

    def wish(self, kind: str, **fields: object) -> Turn:
        """An action, if it can be had; what is not said is picked at random."""
        choice = self.choice(kind)
        if choice is None:
            return
        action = pick(choice, self.random.randrange)
        for name, value in fields.items():
            if name == "count":
                assert choice.count is not None
                assert isinstance(value, int)
                value = min(value, choice.count.max)
            action = type(action)(**{**fields_of(action), name: value})
        self.open = self.game.stage(self.open, self.seat, action)
        player = self.open.player(self.seat)
        self.hold, self.boat = player.hold, self.open.islands.name(self.seat)
        yield action


def fields_of(action: Action) -> dict[str, Any]:
    return {name: getattr(action, name) for name in action.__struct_fields__}


def cubes(seen: CubesView | None) -> Cubes:
    """A bundle as it stands in a view."""
    return Cubes(seen.yellow, seen.red, seen.green, seen.brown) if seen else NO_CUBES


def worth(hold: Cubes, wanted: Cubes) -> int:
    """What a hold is worth to somebody who wants to pay these cubes."""
    return sum(
        value * (held + 2 * min(held, need))
        for value, held, need in zip(VALUES, hold, wanted, strict=True)
    )


def spare(hold: Cubes, wanted: Cubes, count: int) -> Cubes:
    """So many cubes of a hold, first those that aren't wanted, then the lowest."""
    extra = Cubes(*(max(0, held - need) for held, need in zip(hold, wanted, strict=True)))
    spared = extra.lowest(count)
    return spared.plus(hold.minus(spared).lowest(count - spared.total))


def steps(tiles: dict[str, IslandTileView], start: str, goal: str) -> int:
    """How far apart two tiles are, as the crow flies."""
    q = tiles[start].q - tiles[goal].q
    r = tiles[start].r - tiles[goal].r
    return max(abs(q), abs(r), abs(q + r))


def captain(game: AnyGame, open: Any, seat: int, random: Random) -> Turn:
    return Captain(game, open, seat, random).turn()


# -- Spice Road and From Sand to Sea -------------------------------------------------------


class Merchant:
    """One turn of a player who wants to pay for point cards, or for victory point tiles."""

    def __init__(self, game: AnyGame, open: Any, seat: int, random: Random) -> None:
        self.game, self.open, self.seat, self.random = game, open, seat, random
        self.see: GameView = game.view(open, seat)
        self.me = self.see.players[seat - 1]
        self.hold = cubes(self.me.hold)
        prices = (cubes(cost) for cost in self.prices())
        self.wanted = max(prices, key=lambda cost: worth(self.hold, cost), default=NO_CUBES)

    def prices(self) -> Iterator[CubesView]:
        """What the cards or tiles in sight cost."""
        if self.see.point_cards:
            yield from (card.cost for card in self.see.point_cards.row)
        if self.see.harbour:
            tiles = (port.victory_tile for port in self.see.harbour.ports)
            yield from (tile.cost for tile in tiles if tile)

    def turn(self) -> Turn:
        """Claim what can be paid; else play the best card, rest, or acquire another."""
        claim = self.choice("claim_card")
        if claim is not None:
            yield ClaimCard(claim.cards[-1])
            return
        plays = {card: self.gain(card) for card in self.me.hand}
        useful = [card for card in plays if plays[card][0] > 0]
        acquire = self.choice("acquire_card")
        if acquire and self.random.random() < 0.2 and self.me.hand_size < 12:
            yield from self.acquire(self.random.choice(acquire.cards[:3]))
        elif useful:
            best = max(useful, key=lambda card: plays[card])
            yield from self.wish(PlayCard(best.card))
            for _ in range(best.upgrades):
                choice = self.choice("upgrade")
                if choice is None:
                    break
                yield from self.wish(Upgrade(self.random.choice(choice.colors)))
            if best.kind == CardKind.TRADE:
                yield from self.wish(Trade(plays[best][1]))
        elif self.choice("rest") is not None:
            yield from self.wish(Rest())
        elif acquire:
            yield from self.acquire(acquire.cards[0])

    def gain(self, card: CardView) -> tuple[int, int]:
        """What playing a card is worth, and how many times a trade is best done."""
        now = worth(self.hold, self.wanted)
        if card.kind == CardKind.UPGRADE:
            low = self.hold.total - self.hold.brown
            return (card.upgrades if low else 0), 0
        if card.kind == CardKind.SPICE:
            after = self.hold.plus(cubes(card.gain))
            return worth(after, self.wanted) - now - 3 * max(0, after.total - self.me.limit), 0
        best, hold = (0, 0), self.hold
        for count in range(1, 6):
            if not hold.covers(cubes(card.cost)):
                break
            hold = hold.minus(cubes(card.cost)).plus(cubes(card.gain))
            over = 3 * max(0, hold.total - self.me.limit)
            best = max(best, (worth(hold, self.wanted) - now - over, count))
        return best

    def acquire(self, name: str) -> Turn:
        """A card of the row, paid with the lowest cubes."""
        yield from self.wish(AcquireCard(name))
        while (choice := self.choice("put_cube")) is not None:
            yield from self.wish(PutCube(choice.colors[0], choice.cards[0]))

    def choice(self, kind: str) -> Choice | None:
        return self.game.choice(self.open, self.seat, kind)

    def wish(self, action: Action) -> Turn:
        self.open = self.game.stage(self.open, self.seat, action)
        self.hold = self.open.player(self.seat).hold
        yield action


class Skipper(Merchant):
    """A merchant with a boat: sails to what can be paid, and builds now and then."""

    def turn(self) -> Turn:
        assert self.see.islands is not None
        assert self.see.harbour is not None
        tiles = {tile.tile: tile for tile in self.see.islands.tiles}
        ports = [
            port.tile
            for port in self.see.harbour.ports
            if port.victory_tile and self.hold.covers(cubes(port.victory_tile.cost))
        ]
        markets = [name for name, tile in tiles.items() if tile.symbol]
        if ports:
            goal = min(ports, key=lambda port: steps(tiles, self.me.boat, port))
        elif self.random.random() < 0.3:
            goal = self.random.choice(markets)
        else:
            yield from super().turn()
            return
        cards = self.me.hand_size + len(self.me.played)
        if steps(tiles, self.me.boat, goal) > cards and self.choice("rest") is not None:
            yield from self.wish(Rest())
            return
        yield from self.sail(tiles, goal)
        for kind in ("claim_tile", "build_outpost", "take_card", "take_bonus", "trade"):
            choice = self.choice(kind)
            if choice is not None:
                yield from self.wish(pick(choice, self.random.randrange))

    def sail(self, tiles: dict[str, IslandTileView], goal: str) -> Turn:
        while (here := self.open.islands.name(self.seat)) != goal:
            choice = self.choice("move")
            if choice is None:
                break
            closer = [t for t in choice.tiles if steps(tiles, t, goal) < steps(tiles, here, goal)]
            if not closer:
                break
            yield from self.wish(Move(closer[0], card=choice.cards[-1] if choice.cards else None))
        while (owners := self.choice("pay_owner")) is not None:
            yield from self.wish(pick(owners, first))


def merchant(game: AnyGame, open: Any, seat: int, random: Random) -> Turn:
    return Merchant(game, open, seat, random).turn()


def skipper(game: AnyGame, open: Any, seat: int, random: Random) -> Turn:
    return Skipper(game, open, seat, random).turn()


PLANS: dict[str, Callable[[AnyGame, Any, int, Random], Turn]] = {
    "eastern-wonders": captain,
    "from-sand-to-sea": skipper,
    "spice-road": merchant,
}
"""How a turn of each game is planned. Games without a plan are played at random."""
