"""What all Century games have in common: rounds of turns, and the way from one to the next.

A game is a list of mechanics (`mechanics.mechanic`), each with its steps and its part
of every answer, and what the game says for itself: its set-up, its limit of cubes,
what a turn must hold, and when it ends.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from tableturn_server.rules.actions import Action, ReturnCubes, Upgrade
from tableturn_server.rules.choices import Choice, CubeBounds, Illegal, pick
from tableturn_server.rules.game import (
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
from tableturn_server.rules.mechanics import limit as limits
from tableturn_server.rules.mechanics.cubes import Color, one
from tableturn_server.rules.mechanics.cubes import view as cubes_view
from tableturn_server.rules.mechanics.mechanic import Mechanic, Step, either
from tableturn_server.rules.mechanics.position import (
    NO_TURN,
    Did,
    Phase,
    Player,
    Position,
    Secrets,
    change,
    given,
    may_go_on,
    paid,
    seated,
)
from tableturn_server.rules.mechanics.rounds import turn_order
from tableturn_server.rules.mechanics.standings import Score, ranked
from tableturn_server.rules.mechanics.words import cubes_words
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import GameView, PlayerView

LIMIT_CHECKED = Option(
    name="limit_checked",
    default="any_turn",
    values=("any_turn", "own_turn"),
    summary="when the cargo limit is checked: of all seats at the end of any turn, "
    "or of a seat at the end of its own",
    clause="EW-R11",
)
ORDER = (
    "take_pile",
    "place_boat",
    "play_card",
    "acquire_card",
    "put_cube",
    "move",
    "pay_owner",
    "pick_up",
    "build_outpost",
    "take_bonus",
    "take_card",
    "upgrade",
    "trade",
    "claim_tile",
    "claim_card",
    "harvest",
    "rest",
    "return_cubes",
)
"""The actions of all games, in the order in which they are offered."""
_MINIMAL = ("rest", "return_cubes", "pay_owner")
"""What a default turn holds before it takes the first offer (DR-3)."""


class Century(Game[Position, Secrets]):
    """A game of the Century family."""

    open_type: ClassVar[type[Any]] = Position
    hidden_type: ClassVar[type[Any]] = Secrets

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._cap = int(setting.options.get("max_rounds", "0"))
        self.mechanics = self.composed(setting)
        steps = {
            "upgrade": Step(self._to_upgrade, self._upgrade),
            "return_cubes": Step(self._to_return, self._return),
        }
        for mechanic in self.mechanics:
            for kind, step in mechanic.steps.items():
                steps[kind] = either(steps[kind], step) if kind in steps else step
        self.steps = {kind: steps[kind] for kind in sorted(steps, key=ORDER.index)}

    # -- what each game says for itself

    @abstractmethod
    def composed(self, setting: Setting) -> tuple[Mechanic, ...]:
        """The mechanics of the game, bound to what is printed."""

    @abstractmethod
    def limit(self, player: Player) -> int:
        """How many cubes a player may keep at the end of a turn."""

    @abstractmethod
    def ending(self, player: Player) -> str:
        """What the player did that ends the game with this round, in words; empty for nothing."""

    def all_checked(self) -> bool:
        """The limit is checked for all seats at the end of any turn, not for one's own only."""
        return self.setting.options.get("limit_checked", "any_turn") == "any_turn"

    def due(self, open: Position, seat: int) -> str:
        """What the seat must do before it may end its turn, in words; empty for nothing."""
        for mechanic in self.mechanics:
            words = mechanic.due(open, seat)
            if words:
                return words
        return ""

    def stuck(self, open: Position, seat: int) -> bool:
        """The seat has no action at all but to rest (SR-R3, SS-R6)."""
        return not any(step.ask(open, seat) for kind, step in self.steps.items() if kind != "rest")

    # -- set-up

    def check_options(self) -> None:
        """The first seat and the cap of rounds are numbers that can be used."""
        options = self.setting.options
        first = options.get("first_seat", "random")
        if first not in ("random", *map(str, range(1, self.setting.seats + 1))):
            raise BadOption(
                f"option first_seat is random or 1 to {self.setting.seats}, not {first!r}"
            )
        rounds = options.get("max_rounds", "0")
        if not (rounds.isascii() and rounds.isdigit() and len(rounds) <= 4):
            raise BadOption(f"option max_rounds is a number from 0 to 9999, not {rounds!r}")

    def order(self, source: Source) -> tuple[tuple[int, ...], Source]:
        """All seats, clockwise from the first, who is drawn or chosen (EW-07, SR-05)."""
        first, source = source.below(self.setting.seats)
        chosen = self.setting.options.get("first_seat", "random")
        seat = first + 1 if chosen == "random" else int(chosen)
        return turn_order(seat, self.setting.seats), source

    # -- what is legal

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
                    label="confirm" if r.cubes is not None else f"return {cubes_words(r.due)}",
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
                confirm_skips=turn and not missing and open.turn == NO_TURN,
                label=missing or "confirm",
            ),
        )

    def _missing(self, open: Position, seat: int) -> str:
        """What the seat at turn must still do before it can confirm; empty for nothing."""
        due = self.due(open, seat)
        if due or open.phase == Phase.START:
            return due
        player = open.player(seat)
        over = player.hold.total - self.limit(player)
        return f"return {cubes_words(over)}" if over > 0 else ""

    def legal_actions(self, open: Position, seat: int) -> tuple[Choice, ...]:
        """All that the seat may do now."""
        return tuple(
            choice for step in self.steps.values() if (choice := step.ask(open, seat)) is not None
        )

    def choice(self, open: Position, seat: int, kind: str) -> Choice | None:
        """The choice of one kind, if the seat has it now."""
        step = self.steps.get(kind)
        return step.ask(open, seat) if step else None

    def apply(self, open: Position, seat: int, action: Action) -> Position:
        """The position after an action that is known to be legal."""
        return self.steps[action.kind].do(open, seat, action)

    def _to_upgrade(self, open: Position, seat: int) -> Choice | None:
        """One cube that is not brown, right after building or playing (EW-21, EW-R7, SR-11)."""
        turn = open.turn
        if not turn.upgrades or not may_go_on(open, seat) or turn.bonus_due or turn.card_due:
            return None
        colors = tuple(c for c in open.player(seat).hold.colors if c != Color.BROWN)
        return Choice(kind="upgrade", colors=colors, label="upgrade a cube") if colors else None

    def _upgrade(self, open: Position, seat: int, action: Upgrade) -> Position:
        """A cube becomes one of the next colour (EW-21, SR-11)."""
        after = given(paid(open, seat, one(action.cube)), seat, one(Color(action.cube + 1)))
        return change(after, turn=change(open.turn, upgrades=open.turn.upgrades - 1))

    def _to_return(self, open: Position, seat: int) -> Choice | None:
        """Exactly what is above the limit; closes the own turn (EW-22, SR-15)."""
        over = self._to_be_returned(open, seat)
        if not over:
            return None
        return Choice(
            kind="return_cubes",
            cubes=CubeBounds(over, over, open.player(seat).hold),
            label=f"return {cubes_words(over)} to the supply",
        )

    def _to_be_returned(self, open: Position, seat: int) -> int:
        """How many cubes the seat may return now; 0 while something else is due first."""
        if open.phase == Phase.RETURN:
            entry = limits.asked(open.returns, seat)
            return entry.due if entry and entry.cubes is None else 0
        if not may_go_on(open, seat):
            return 0
        player = open.player(seat)
        over = player.hold.total - self.limit(player)
        return over if over > 0 and not self.due(open, seat) else 0

    def _return(self, open: Position, seat: int, action: ReturnCubes) -> Position:
        """At once in the own turn; an answer that waits for the others else (EW-22, EW-R10)."""
        if open.phase == Phase.RETURN:
            return change(open, returns=limits.answered(open.returns, seat, action.cubes))
        turn = change(open.turn, ended=True, did=Did.ALL, upgrades=0, returned=True)
        return change(paid(open, seat, action.cubes), turn=turn)

    # -- the confirmation

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
            open = change(open, returns=limits.confirmed(open.returns, seat))
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
        """Fill the holes, see whether the end is near, check the limits."""
        turned_up: tuple[str, ...] = ()
        for mechanic in self.mechanics:
            open, hidden, words = mechanic.refilled(open, hidden)
            turned_up += words
        events = list(turned_up)
        rounds = change(open.rounds, turns=open.rounds.turns + 1)
        player = change(open.player(seat), latest_turn=rounds.turns)
        ending = self.ending(player)
        if ending and not rounds.last:  # EW-30, SR-20
            rounds = change(rounds, last=True)
            events.append(f"seat {seat} {ending}: the last round")
        open = change(seated(open, seat, player), rounds=rounds, turn=NO_TURN)
        returns = self._over_limit(open)
        if returns:
            open = change(open, phase=Phase.RETURN, returns=returns)
        else:
            open, more = self._next_turn(open)
            events += more
        return Resolved(open, hidden, tuple(events), turned_up=turned_up)

    def _over_limit(self, open: Position) -> limits.Returns:
        """The seats that were paid above their limit, in turn order (EW-22, EW-R11)."""
        if not self.all_checked():
            return ()
        over = ((s, open.player(s)) for s in open.rounds.playing(open.dropped))
        return tuple(
            limits.Return(seat, player.hold.total - self.limit(player))
            for seat, player in over
            if player.hold.total > self.limit(player)
        )

    def _returned(self, open: Position) -> tuple[Position, tuple[str, ...]]:
        """When the last answer is in, all are applied and the game goes on (EW-R10)."""
        if not limits.complete(open.returns):
            return open, ()
        events = []
        for answer in open.returns:
            if answer.cubes is not None:
                open = paid(open, answer.seat, answer.cubes)
                events.append(f"seat {answer.seat} returned {answer.cubes.letters} to the supply")
        open, more = self._next_turn(change(open, returns=()))
        return open, (*events, *more)

    def _next_turn(self, open: Position) -> tuple[Position, tuple[str, ...]]:
        """The next seat's turn, or the end of the game (EW-10, EW-30, SR-06, SR-20)."""
        rounds = open.rounds.after(open.dropped, self._cap)
        if rounds is not None:
            return change(open, phase=Phase.TURN, rounds=rounds, turn=NO_TURN), ()
        if open.rounds.last:
            return _over(open, EndReason.COMPLETED), ("the game is over",)
        words = f"the game is over: {self._cap} rounds were played"
        return _over(open, EndReason.ROUND_CAP), (words,)

    def default(self, open: Position, seat: int) -> tuple[Action, ...]:
        """Rest, else no action, else the first offer, with the lowest cubes (DR-3)."""
        turn: list[Action] = []
        while not self._done(open, seat, turn):
            minimal = (self.choice(open, seat, kind) for kind in _MINIMAL)
            choice = next((c for c in minimal if c is not None), None)
            action = pick(choice or self.legal_actions(open, seat)[0], lambda bound: 0)
            turn.append(action)
            open = self.stage(open, seat, action)
        return tuple(turn)

    def _done(self, open: Position, seat: int, turn: list[Action]) -> bool:
        """A default turn can be confirmed, and has no rest to take."""
        if not turn and self.choice(open, seat, "rest") is not None:
            return False
        prompt = next((p for p in self.prompts(open) if p.seat == seat), None)
        return prompt is None or prompt.can_confirm

    def drop(self, open: Position, hidden: Secrets, seat: int) -> Resolved[Position, Secrets]:
        """The seat is skipped from now on; its points stay (DR-4)."""
        if open.player(seat).dropped:
            raise Illegal(f"seat {seat} has left already")
        if open.phase == Phase.OVER and open.end != EndReason.LAST_SEAT:
            raise Illegal("the game is over")
        open = seated(open, seat, change(open.player(seat), dropped=True))
        for mechanic in self.mechanics:
            open = mechanic.left(open, seat)
        left = open.rounds.playing(open.dropped)
        events: tuple[str, ...] = (f"seat {seat} left the game",)
        if not left:
            return Resolved(_over(open, EndReason.ABANDONED), hidden, (*events, "no seat is left"))
        if len(left) == 1:
            words = f"seat {left[0]} is the last one left and wins"
            return Resolved(_over(open, EndReason.LAST_SEAT), hidden, (*events, words))
        more: tuple[str, ...] = ()
        if open.phase == Phase.RETURN:
            open, more = self._returned(change(open, returns=limits.without(open.returns, seat)))
        elif open.rounds.seat == seat and open.phase == Phase.START:
            open = self._next_start(open)
        elif open.rounds.seat == seat:
            open, more = self._next_turn(open)
        return Resolved(open, hidden, (*events, *more))

    # -- what is seen

    def view(self, open: Position, seat: int | None) -> GameView:
        """What a seat sees, or a spectator: all but what is closed to it."""
        order = open.rounds.playing(open.dropped)
        seen = GameView(
            round=open.rounds.round,
            first_seat=order[0] if order else open.rounds.order[0],
            turn_order=order,
            last_round=open.rounds.last,
            players=tuple(
                self._player_view(open, owner, owner == seat or open.phase == Phase.OVER)
                for owner in range(1, len(open.players) + 1)
            ),
        )
        for mechanic in self.mechanics:
            seen = mechanic.on_table(seen, open)
        return seen

    def _player_view(self, open: Position, seat: int, own: bool) -> PlayerView:
        """What a seat has; with `own` also what is closed to others."""
        player = open.player(seat)
        seen = PlayerView(
            seat=seat,
            dropped=player.dropped,
            hold=cubes_view(player.hold),
            limit=self.limit(player),
        )
        for mechanic in self.mechanics:
            seen = mechanic.before_player(seen, open, own)
        return seen

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """What an action does, as a readable line."""
        match action:
            case Upgrade(cube):
                return f"upgrades a {cube.word} cube to {Color(cube + 1).word}"
            case ReturnCubes(cubes):
                return f"returns {cubes.letters} to the supply"
        lines = (mechanic.describe(open, seat, action) for mechanic in self.mechanics)
        return next((line for line in lines if line), action.kind.replace("_", " "))

    # -- end

    def outcome(self, open: Position) -> Outcome | None:
        """How the game ended: ranks by points, then by the latest turn (EW-32, SR-21)."""
        if open.phase != Phase.OVER or open.end is None:
            return None
        scores = [self._score(open, seat) for seat in range(1, len(open.players) + 1)]
        return Outcome(open.end, ranked(scores))

    def _score(self, open: Position, seat: int) -> Score:
        """The points of a seat in parts: those of the mechanics, and cubes (EW-31, SR-21)."""
        player = open.player(seat)
        parts = [part for mechanic in self.mechanics for part in mechanic.points(player)]
        cubes = PointsPart("cubes", player.hold.total - player.hold.yellow)
        return Score(
            seat=seat,
            parts=(*parts, cubes),
            latest_turn=player.latest_turn,
            dropped=player.dropped,
        )


def _over(open: Position, reason: EndReason) -> Position:
    """The game is over."""
    return change(open, phase=Phase.OVER, end=reason, turn=NO_TURN, returns=(), piles=())
