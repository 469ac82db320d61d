"""A table to play at in tests, with words from the rule book.

    table = play(seats=3, boats={"red": "C3"}, holds={"red": "YYR"})
    table.red.builds_outpost(at="C3")
    table.red.confirms()

It keeps what each seat staged apart, on top of the confirmed position, as the
service does; and it counts the cubes after every action (see `ledger`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from tableturn_server.rules import catalog, components
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
from tableturn_server.rules.choices import Choice, Illegal
from tableturn_server.rules.components import ComponentSet
from tableturn_server.rules.game import Game, Outcome, Prompt, PromptKind, Resolved
from tableturn_server.rules.mechanics import bonus
from tableturn_server.rules.mechanics.cubes import LETTERS, Color, Cubes, CubesView, from_letters
from tableturn_server.rules.mechanics.harbour import CLOSED, EMPTY
from tableturn_server.rules.mechanics.islands import SEA, replaced
from tableturn_server.rules.mechanics.position import Phase, Player, Position, Secrets
from tableturn_server.rules.views import GameView, IslandTileView, PlayerView, PortView
from tests.rules import ledger

SEATS = ("red", "blue", "green", "white", "black")
BOATS = {"red": "B1", "blue": "B5", "green": "D5", "white": "D1"}
"""Where boats begin in tests that don't say it: far apart."""
SEED = bytes(range(16))
change = msgspec.structs.replace


class Table:
    """A game as the service keeps it: a confirmed position and what each seat staged."""

    def __init__(
        self,
        name: str,
        seats: int,
        options: Mapping[str, str] | None = None,
        seed: bytes = SEED,
        own: ComponentSet | None = None,
    ) -> None:
        kind = catalog.GAMES[name]
        chosen = own or (components.shipped(kind.component_set) if kind.component_set else None)
        complete = catalog.complete_options(kind, dict(options or {}))
        self.game: Game[Any, Any] = catalog.bind(name, seats, complete, chosen)
        self.staged: dict[int, tuple[Action, ...]] = {}
        self.events: list[str] = []
        """What happened at the last confirmation, or when a seat left."""
        position = self.game.setup(seed)
        self.confirmed: Any = position.open
        self.hidden: Any = position.hidden
        self.events = list(position.events)

    # -- what is done

    def position(self, seat: int) -> Any:
        """The confirmed position with what the seat staged on it."""
        open = self.confirmed
        for action in self.staged.get(seat, ()):
            open = self.game.stage(open, seat, action)
        return open

    def stage(self, seat: int, action: Action) -> None:
        before = self.position(seat)
        after = self.game.stage(before, seat, action)
        assert self.game.describe(before, seat, action)
        see = self.game.view(before, seat)
        answers = any(p.kind == PromptKind.RETURN_CUBES for p in self.game.prompts(before))
        staged = ledger.Staged(self.staged.get(seat, ()), answers)
        effect = ledger.LEDGERS[self.game.name](see, seat, action, staged)
        now = ledger.in_play(self.game.view(after, None))
        assert now == ledger.add(ledger.in_play(see), effect), f"cubes got lost by {action}"
        self.staged[seat] = (*self.staged.get(seat, ()), action)

    def confirm(self, seat: int) -> None:
        position = self.position(seat)
        resolved = self.game.resolve(position, self.hidden, seat)
        before = self.game.view(position, None)
        self.staged.pop(seat, None)
        self._become(resolved)
        after = self.game.view(self.confirmed, None)
        if self.returned == ledger.NONE and len(before.piles) == len(after.piles):
            assert ledger.in_play(before) == ledger.in_play(after)

    def drop(self, seat: int) -> None:
        self.staged.pop(seat, None)
        self._become(self.game.drop(self.confirmed, self.hidden, seat))

    def undo(self, seat: int) -> None:
        self.staged[seat] = self.staged[seat][:-1]

    def _become(self, resolved: Resolved[Any, Any]) -> None:
        self.confirmed, self.hidden = resolved.open, resolved.hidden
        self.events = list(resolved.events)
        for seat in list(self.staged):
            self.position(seat)  # what others staged still holds

    @property
    def returned(self) -> ledger.Counts:
        """What went back to the supply at the last confirmation, by its events."""
        letters = "".join(
            line.split(" returned ")[1].split(" ")[0]
            for line in self.events
            if " returned " in line
        )
        return tuple(letters.count(letter) for letter in LETTERS)

    # -- what is seen

    def see(self, seat: int | None = None) -> GameView:
        return self.game.view(self.position(seat or 0), seat)

    def tile(self, name: str) -> IslandTileView:
        islands = self.see(self.at_turn).islands
        assert islands is not None
        return next(tile for tile in islands.tiles if tile.tile == name)

    def cubes_on(self, name: str) -> str:
        return from_counts(self.tile(name).cubes).letters

    def port(self, name: str) -> PortView:
        harbour = self.see(self.at_turn).harbour
        assert harbour is not None
        return next(port for port in harbour.ports if port.tile == name)

    def on_port(self, name: str) -> str:
        """What lies on a port: `YYYBB=11`, `closed`, `empty` or `to be drawn`."""
        port = self.port(name)
        if port.victory_tile:
            cost = from_counts(port.victory_tile.cost).letters
            return f"{cost}={port.victory_tile.points}"
        return "closed" if port.closed else "to be drawn" if port.to_be_drawn else "empty"

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return self.game.prompts(self.confirmed)

    @property
    def asked(self) -> dict[str, str]:
        """Which seats are asked what, in words."""
        return {SEATS[p.seat - 1]: p.kind.name.lower() for p in self.prompts}

    @property
    def at_turn(self) -> int | None:
        return self.prompts[0].seat if len(self.prompts) == 1 else None

    @property
    def outcome(self) -> Outcome | None:
        return self.game.outcome(self.confirmed)

    @property
    def ended(self) -> str:
        """Why the game ended, in a word; empty while it runs."""
        return self.outcome.reason.name.lower() if self.outcome else ""

    @property
    def ranking(self) -> list[str]:
        """The seats from the best to the last."""
        assert self.outcome is not None
        return [SEATS[result.seat - 1] for result in self.outcome.results]

    @property
    def round(self) -> int:
        return self.see().round

    @property
    def bonuses_left(self) -> dict[str, int]:
        return {supply.kind.name.lower(): supply.left for supply in self.see(self.at_turn).bonuses}

    def __getattr__(self, name: str) -> Seat:
        if name not in SEATS:
            raise AttributeError(name)
        return Seat(self, SEATS.index(name) + 1)

    def seat(self, number: int) -> Seat:
        return Seat(self, number)

    def all_pass(self, rounds: int = 1) -> None:
        """Every seat confirms without doing anything."""
        for _ in range(rounds * len(self.see().turn_order)):
            self.seat(self.prompts[0].seat).confirms()


class Seat:
    """A player at the table: says what is done, and what is seen of the seat."""

    def __init__(self, table: Table, number: int) -> None:
        self.table = table
        self.number = number

    # -- start (EW-08)

    def takes_pile(self, letters: str) -> None:
        self.does(TakePile(from_letters(letters)))

    def places_boat(self, tile: str) -> None:
        self.does(PlaceBoat(tile))

    # -- a turn

    def moves(self, *tiles: str, dropping: str = "") -> None:
        """Steps; `dropping` names the cubes left by the last ones, in order."""
        drops = [None] * (len(tiles) - len(dropping)) + [color(letter) for letter in dropping]
        for tile, drop in zip(tiles, drops, strict=True):
            self.does(Move(tile, drop))

    def pays(self, owner: Seat, letter: str) -> None:
        self.does(PayOwner(owner.number, color(letter)))

    def picks_up(self, letters: str) -> None:
        self.does(PickUp(from_letters(letters)))

    def builds_outpost(self, at: str = "", paying: str = "") -> None:
        assert not at or self.boat == at
        self.does(BuildOutpost(from_letters(paying)))

    def takes_bonus(self, kind: str) -> None:
        self.does(TakeBonus(BonusKind[kind.upper()]))

    def upgrades(self, letter: str) -> None:
        self.does(Upgrade(color(letter)))

    def trades(self, count: int) -> None:
        self.does(Trade(count))

    def claims(self, at: str = "") -> None:
        assert not at or self.boat == at
        self.does(ClaimTile())

    def harvests(self) -> None:
        self.does(Harvest())

    def returns(self, letters: str) -> None:
        self.does(ReturnCubes(from_letters(letters)))

    def does(self, action: Action) -> None:
        self.table.stage(self.number, action)

    def confirms(self) -> None:
        self.table.confirm(self.number)

    def undoes(self) -> None:
        self.table.undo(self.number)

    def leaves(self) -> None:
        self.table.drop(self.number)

    def runs_out_of_time(self) -> None:
        """The default is taken and confirmed (DR-2, DR-3)."""
        self.table.staged.pop(self.number, None)
        for action in self.table.game.default(self.table.confirmed, self.number):
            self.does(action)
        self.confirms()

    # -- what may be done

    def may(self, kind: str) -> Choice | None:
        return self.table.game.choice(self.position, self.number, kind)

    @property
    def choices(self) -> set[str]:
        """The kinds of actions that the seat may take now, and `confirm`."""
        kinds = {c.kind for c in self.table.game.legal_actions(self.position, self.number)}
        return kinds | ({"confirm"} if self.may_confirm else set())

    def may_move_to(self) -> set[str]:
        choice = self.may("move")
        return set(choice.tiles) if choice else set()

    @property
    def prompt(self) -> Prompt | None:
        prompts = self.table.game.prompts(self.position)
        return next((p for p in prompts if p.seat == self.number), None)

    @property
    def may_confirm(self) -> bool:
        return self.prompt is not None and self.prompt.can_confirm

    @contextmanager
    def refused(self, words: str) -> Iterator[None]:
        """What is tried within is illegal, for a reason in these words; nothing changes."""
        before = self.position
        with pytest.raises(Illegal, match=words):
            yield
        assert self.position == before

    # -- what is seen

    @property
    def position(self) -> Any:
        return self.table.position(self.number)

    @property
    def seen(self) -> PlayerView:
        """The seat as it sees itself."""
        return self.seen_by(self)

    def seen_by(self, other: Seat | None) -> PlayerView:
        viewer = other.number if other else None
        return self.table.game.view(self.position, viewer).players[self.number - 1]

    @property
    def hold(self) -> str:
        return from_counts(self.seen.hold).letters

    @property
    def boat(self) -> str:
        return self.seen.boat

    @property
    def limit(self) -> int:
        return self.seen.limit

    @property
    def built(self) -> dict[str, int]:
        """The outposts taken from the board, by symbol; none are left out."""
        return {row.symbol: row.built for row in self.seen.outposts if row.built}

    @property
    def bonuses(self) -> list[str]:
        return [tile.kind.name.lower() for tile in self.seen.bonuses]

    @property
    def claimed(self) -> list[int]:
        """The points of the victory point tiles taken."""
        return [tile.points for tile in self.seen.claimed_tiles]

    @property
    def points(self) -> dict[str, int]:
        """The points at the end, in parts."""
        assert self.table.outcome is not None
        results = self.table.outcome.results
        parts = next(r.parts for r in results if r.seat == self.number)
        return {part.part: part.points for part in parts}


def color(letter: str) -> Color:
    return Color(LETTERS.index(letter) + 1)


def from_counts(seen: CubesView | None) -> Cubes:
    return Cubes(*ledger.counts(seen))


# -- Eastern Wonders in any situation ------------------------------------------------------


def set_out(seats: int = 3, own: ComponentSet | None = None, **options: str) -> Table:
    """Eastern Wonders at the very start; red is the first player unless said otherwise."""
    return Table("eastern-wonders", seats, {"first_seat": "1", **options}, own=own)


def play(
    seats: int = 3,
    *,
    boats: Mapping[str, str] = BOATS,
    holds: Mapping[str, str] | None = None,
    tiles: Mapping[str, str] | None = None,
    outposts: Mapping[str, tuple[str, ...]] | None = None,
    built: Mapping[str, Mapping[str, int]] | None = None,
    bonuses: Mapping[str, tuple[str, ...]] | None = None,
    cubes: Mapping[str, str] | None = None,
    ports: Mapping[str, str] | None = None,
    pile: tuple[str, ...] | None = None,
    claimed: Mapping[str, tuple[str, ...]] | None = None,
    turn: str = "red",
    round: int = 1,
    own: ComponentSet | None = None,
    table: Table | None = None,
    **options: str,
) -> Table:
    """Eastern Wonders in the middle of a game, red being the first player.

    `tiles` lays the market tile with that trade (`"C3": "YYY>B"`) or, if there is
    none, any of that symbol (`"C3": "tea"`), or `sea`; `outposts` and `built` (the
    player's board) are set apart; `ports` and `pile` name victory tiles as `YYYBB=11`,
    `closed` or `empty`. `table` is a table of another game on the same map, set out.
    """
    table = table or set_out(seats, own, **options)
    for _ in range(seats):
        table.seat(table.prompts[0].seat).runs_out_of_time()
    open: Position = table.confirmed
    secrets: Secrets = table.hidden
    shape = open.islands.shape
    for name in SEATS[:seats]:
        seat = SEATS.index(name) + 1
        board = (built or {}).get(name, {})
        player = Player(
            hold=from_letters((holds or {}).get(name, "")),
            built=tuple(board.get(row.symbol, 0) for row in table.see().players[0].outposts),
            claimed=tuple(_victory(table, tile) for tile in (claimed or {}).get(name, ())),
        )
        open = change(open, players=replaced(open.players, seat - 1, player))
        place = shape.index[boats.get(name, BOATS[name])]
        open = change(open, islands=open.islands.with_boat(seat, place))
        for kind in (bonuses or {}).get(name, ()):
            supply, tile = bonus.taken(open.bonuses, BonusKind[kind.upper()])
            player = change(open.player(seat), bonuses=(*open.player(seat).bonuses, tile))
            players = replaced(open.players, seat - 1, player)
            open = change(open, bonuses=supply, players=players)
    for name, trade in (tiles or {}).items():
        open = _laid(table, open, name, trade)
    for name, owners in (outposts or {}).items():
        for owner in owners:
            seat = SEATS.index(owner) + 1
            open = change(open, islands=open.islands.with_outpost(shape.index[name], seat))
    for name, letters in (cubes or {}).items():
        lying = open.islands.with_cubes(shape.index[name], from_letters(letters))
        open = change(open, islands=lying)
    harbour = open.harbour
    for name, tile_name in (ports or {}).items():
        at = shape.ports.index(shape.index[name])
        lies = replaced(harbour.tiles, at, _victory(table, tile_name))
        harbour = change(harbour, tiles=lies)
    if pile is not None:
        secrets = change(secrets, pile=tuple(_victory(table, tile) for tile in pile))
        harbour = change(harbour, pile=len(pile))
    rounds = change(open.rounds, seat=SEATS.index(turn) + 1, round=round)
    table.confirmed = change(open, phase=Phase.TURN, rounds=rounds, harbour=harbour)
    table.hidden = secrets
    return table


def _victory(table: Table, name: str) -> int:
    """The number of a victory tile by its cost and points."""
    if name in ("closed", "empty"):
        return CLOSED if name == "closed" else EMPTY
    cost, _, points = name.partition("=")
    items = table.game.setting.components.victory_tiles.items
    return next(
        n for n, item in enumerate(items) if (item.cost, str(item.points)) == (cost, points)
    )


def _laid(table: Table, open: Position, name: str, wanted: str) -> Position:
    """A market tile laid on a place; the one that lay there goes where it came from."""
    items = table.game.setting.components.market_tiles.items
    place = open.islands.shape.index[name]
    now = open.islands.tiles
    fitting = [n for n, item in enumerate(items) if wanted in (item.trade, item.symbol)] or [SEA]
    assert wanted == "sea" or fitting != [SEA]
    if now[place] in fitting:
        return open
    tile = fitting[0]
    if tile in now:
        now = replaced(now, now.index(tile), now[place])
    return change(open, islands=change(open.islands, tiles=replaced(now, place, tile)))
