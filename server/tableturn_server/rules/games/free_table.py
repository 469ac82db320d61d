"""Free table: turns, rounds and points for a game whose pieces are real.

Any game from the shelf: the table only knows whose turn it is, who passed and
who is ready, and keeps points if it is asked to. A round runs through these
phases, as far as the options ask for them:

    order -> together (before) -> turns -> together (after) -> between

What a seat stages is its own and touches nothing until it is confirmed, so
seats that act at the same time never disturb each other.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from tableturn_server.rules.actions import Action, FinishGame, NameNext, PassRound, ScorePoints
from tableturn_server.rules.choices import Choice, Illegal, Range
from tableturn_server.rules.game import (
    FIRST_SEAT,
    MAX_ROUNDS,
    BadOption,
    EndReason,
    Game,
    Option,
    Outcome,
    Prompt,
    PromptKind,
    Resolved,
    SeatResult,
    Setting,
)
from tableturn_server.rules.mechanics.rounds import turn_order
from tableturn_server.rules.source import Source
from tableturn_server.rules.views import FreeTablePhase, FreeTableView, GameView, PlayerView

# ---------------------------------------------------------------- options

ORDER = Option(
    name="order",
    default="fixed",
    values=("fixed", "reversed", "chosen"),
    summary=(
        "the turn order: fixed is clockwise from the first seat in every round; reversed turns "
        "it round each time, so that who was last in a round begins the next; chosen asks before "
        "each round the seat that began the one before (at the start the first seat), which "
        "names the seats one after another"
    ),
)
PASSING = Option(
    name="passing",
    default="off",
    values=("off", "on"),
    summary=(
        "off: each seat has one turn in a round; on: turns go round and round until all have "
        "passed, and who passed sits out the rest of the round"
    ),
)
TOGETHER = Option(
    name="together",
    default="none",
    values=("none", "before", "after"),
    summary=(
        "a phase in which all act at the same time, before or after the turns of each round; it "
        "ends when every seat has confirmed that it is ready"
    ),
)
POINTS = Option(
    name="points",
    default="off",
    values=("off", "on"),
    summary=(
        "on: points are kept by hand and rank the seats at the end; a seat may score for any "
        "seat in its own turn, in the phase together and between rounds"
    ),
)
ROUNDS = Option(
    name="rounds",
    default="0",
    summary="the number of rounds of the game; 0 means that it is open and ends by finish game",
)
BETWEEN = Option(
    name="between",
    default="off",
    values=("off", "on"),
    summary=(
        "on: a pause for upkeep and points after each round, the last one too; a seat that "
        "confirms points books them, the first one that confirms with nothing staged begins the "
        "next round, and the game is finished there; off: rounds follow at once, and the game may "
        "be finished in one's own turn"
    ),
)

MOST_ROUNDS = 9999
POINTS_RANGE = Range(-1000, 1000)
MOST_POINTS = 1_000_000
"""A seat's points stay between this and its negative."""
SCORES_A_TURN = 20
"""How often a seat may score before it confirms: keeps a turn, and so a log entry, short."""

_PROMPTS = {
    FreeTablePhase.ORDER: PromptKind.ORDER,
    FreeTablePhase.TURNS: PromptKind.TURN,
    FreeTablePhase.TOGETHER: PromptKind.READY,
    FreeTablePhase.BETWEEN: PromptKind.BETWEEN_ROUNDS,
}

# ---------------------------------------------------------------- set-up


class Staged(msgspec.Struct, frozen=True, array_like=True):
    """What one seat has staged since its last confirmation."""

    seat: int
    scores: tuple[tuple[int, int], ...] = ()
    """Pairs of a seat and the points that it gets."""
    named: tuple[int, ...] = ()
    passes: bool = False
    finishes: bool = False


class Position(msgspec.Struct, frozen=True, array_like=True):
    """Where the game stands. Everything at this table is open.

    Seats count from 1. `start` is the seat that begins the first round; `order`
    are the seats of this round in turn order (while a new order is chosen,
    those of the round before); `turn` is the seat whose turn it is, 0 outside
    of turns; `points` has one number for each seat.
    """

    start: int
    points: tuple[int, ...]
    order: tuple[int, ...]
    round: int = 0
    phase: FreeTablePhase = FreeTablePhase.TURNS
    turn: int = 0
    passed: tuple[int, ...] = ()
    ready: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    staged: tuple[Staged, ...] = ()
    ended: EndReason | None = None

    @property
    def playing(self) -> tuple[int, ...]:
        """The seats that have not left, in seat order."""
        return tuple(n for n in range(1, len(self.points) + 1) if n not in self.dropped)

    def of(self, seat: int) -> Staged:
        """What a seat has staged."""
        return next((staged for staged in self.staged if staged.seat == seat), Staged(seat))

    def others(self, seat: int) -> tuple[Staged, ...]:
        """What the other seats have staged."""
        return tuple(staged for staged in self.staged if staged.seat != seat)


class Hidden(msgspec.Struct, frozen=True, array_like=True):
    """The source, if the first seat was drawn. Nothing is drawn after the set-up."""

    source: Source | None = None


class FreeTable(Game[Position, Hidden]):
    """Turns, rounds and points for a game whose pieces are real."""

    name = "free-table"
    title = "Free table"
    seats = range(2, 9)
    rules_version = 1
    options = (ORDER, PASSING, TOGETHER, POINTS, ROUNDS, BETWEEN, FIRST_SEAT, MAX_ROUNDS)
    component_set = None
    open_type = Position
    hidden_type = Hidden

    def __init__(self, setting: Setting) -> None:
        """Bind the table. Raises BadOption for options that it can't use."""
        super().__init__(setting)
        self.order = self._chosen(ORDER)
        self.passing = self._chosen(PASSING) == "on"
        self.together = self._chosen(TOGETHER)
        self.points = self._chosen(POINTS) == "on"
        self.between = self._chosen(BETWEEN) == "on"
        self.rounds = int(self._chosen(ROUNDS))
        self.cap = int(self._chosen(MAX_ROUNDS))
        self.first_seat = self._chosen(FIRST_SEAT)

    def _chosen(self, option: Option) -> str:
        """What was chosen when the table was created."""
        return self.setting.options.get(option.name, option.default)

    def check_options(self) -> None:
        """Raise BadOption for numbers of rounds and first seats that can't be."""
        for option in (ROUNDS, MAX_ROUNDS):
            self._check_number(option, 0, MOST_ROUNDS, "")
        if self._chosen(FIRST_SEAT) != "random":
            self._check_number(FIRST_SEAT, 1, self.setting.seats, "random or ")

    def _check_number(self, option: Option, least: int, most: int, otherwise: str) -> None:
        """Raise BadOption unless an option is a whole number within bounds."""
        value = self._chosen(option)
        digits = value.isascii() and value.isdigit() and len(value) <= len(str(most))
        if not digits or not least <= int(value) <= most:
            wanted = f"{otherwise}a number from {least} to {most}"
            raise BadOption(f"option {option.name} of {self.name} is {wanted}, not {value!r}")

    def setup(self, seed: bytes) -> Resolved[Position, Hidden]:
        """The first round begins; only the first seat may be left to chance."""
        hidden = Hidden()
        if self.first_seat == "random":
            index, source = Source(seed).below(self.setting.seats)
            start, hidden = index + 1, Hidden(source)
        else:
            start = int(self.first_seat)
        position = Position(start=start, points=(0,) * self.setting.seats, order=())
        events = [f"seat {start} is the first seat"]
        position = self._begin_round(replace(position, order=self._clockwise(position)), events)
        return Resolved(position, hidden, tuple(events))

    # ------------------------------------------------------------ what is legal

    def prompts(self, open: Position) -> tuple[Prompt, ...]:
        """One seat in its turn or choosing the order; else all that are not ready."""
        kind = _PROMPTS[open.phase]
        return tuple(
            Prompt(
                seat=seat,
                kind=kind,
                can_confirm=kind != PromptKind.ORDER or self._order_stands(open, seat),
                label=self._confirmation(open, seat),
            )
            for seat in self._asked(open)
        )

    def _asked(self, open: Position) -> tuple[int, ...]:
        """The seats that are asked, in seat order."""
        if open.ended is not None:
            return ()
        match open.phase:
            case FreeTablePhase.ORDER:
                return open.order[:1]
            case FreeTablePhase.TURNS:
                return (open.turn,)
            case FreeTablePhase.TOGETHER:
                return tuple(seat for seat in open.playing if seat not in open.ready)
            case FreeTablePhase.BETWEEN:
                return open.playing

    def _confirmation(self, open: Position, seat: int) -> str:
        """What a confirmation of the seat does now, or what it lacks."""
        staged = open.of(seat)
        if staged.finishes:
            return "finish the game"
        match open.phase:
            case FreeTablePhase.ORDER:
                if self._order_stands(open, seat):
                    return f"play round {open.round} in the order {_listed(staged.named)}"
                return f"name the seat that is number {len(staged.named) + 1} in round {open.round}"
            case FreeTablePhase.TURNS:
                return f"pass out of round {open.round}" if staged.passes else "end the turn"
            case FreeTablePhase.TOGETHER:
                return "ready"
            case FreeTablePhase.BETWEEN if staged.scores:
                return "book the points"
            case FreeTablePhase.BETWEEN:
                last = self._end_after(open) is not None
                return "end the game" if last else f"begin round {open.round + 1}"

    def _order_stands(self, open: Position, seat: int) -> bool:
        """All are named: the last seat has followed by itself."""
        return len(open.of(seat).named) == len(open.playing)

    def legal_actions(self, open: Position, seat: int) -> tuple[Choice, ...]:
        """Naming seats, or scoring, passing and finishing as the options allow."""
        if seat not in self._asked(open):
            return ()
        staged = open.of(seat)
        if open.phase is FreeTablePhase.ORDER:
            if self._order_stands(open, seat):
                return ()
            left = tuple(n for n in open.playing if n not in staged.named)
            return (Choice(kind="name_next", seats=left, label=self._confirmation(open, seat)),)
        choices = []
        if self.points and len(staged.scores) < SCORES_A_TURN:
            choices.append(
                Choice(
                    kind="score_points",
                    seats=open.playing,
                    points=POINTS_RANGE,
                    label="add points by hand, or take some",
                )
            )
        undecided = not staged.passes and not staged.finishes
        if undecided and self.passing and open.phase is FreeTablePhase.TURNS:
            choices.append(Choice(kind="pass_round", label="sit out the rest of the round"))
        finishing = FreeTablePhase.BETWEEN if self.between else FreeTablePhase.TURNS
        if undecided and open.phase is finishing:
            choices.append(Choice(kind="finish_game", label="end the game; the points stand"))
        return tuple(choices)

    def default(self, open: Position, seat: int) -> tuple[Action, ...]:
        """Nothing; seats are named in seat order (DR-3).

        A seat that is the last one in a round with passing passes: turns
        without an action would never end the round for the others.
        """
        if seat not in self._asked(open):
            return ()
        if open.phase is FreeTablePhase.ORDER:
            return tuple(NameNext(named) for named in open.playing[:-1])
        alone = set(open.order) - set(open.passed) == {seat}
        if self.passing and alone and open.phase is FreeTablePhase.TURNS:
            return (PassRound(),)
        return ()

    # ------------------------------------------------------------ what an action does

    def apply(self, open: Position, seat: int, action: Action) -> Position:
        """Note the step with what the seat has staged."""
        staged = open.of(seat)
        match action:
            case ScorePoints(scored, points):
                staged = replace(staged, scores=(*staged.scores, (scored, points)))
            case NameNext(named):
                names = (*staged.named, named)
                left = tuple(n for n in open.playing if n not in names)
                staged = replace(staged, named=names + left if len(left) == 1 else names)
            case PassRound():
                staged = replace(staged, passes=True)
            case FinishGame():
                staged = replace(staged, finishes=True)
            case _:
                raise Illegal(f"{action.kind} is no action of a free-table")
        return replace(open, staged=(*open.others(seat), staged))

    def resolve(self, open: Position, hidden: Hidden, seat: int) -> Resolved[Position, Hidden]:
        """Book what the seat staged; then the next seat, phase or round."""
        prompt = next((p for p in self.prompts(open) if p.seat == seat), None)
        if prompt is None:
            raise Illegal("this seat is not asked")
        if not prompt.can_confirm:
            raise Illegal(f"the turn can't be confirmed yet: {prompt.label}")
        staged = open.of(seat)
        position = replace(open, staged=open.others(seat), points=_with_scores(open, (staged,)))
        events: list[str] = []
        if staged.finishes:
            position = _ended(position, EndReason.COMPLETED, events)
            return Resolved(position, hidden, tuple(events))
        match open.phase:
            case FreeTablePhase.ORDER:
                events.append(f"the order of round {open.round}: {_listed(staged.named)}")
                position = self._begin_play(replace(position, order=staged.named), events)
            case FreeTablePhase.TURNS:
                if staged.passes:
                    position = replace(position, passed=(*position.passed, seat))
                position = self._next_turn(position, self._following(open, seat), events)
            case FreeTablePhase.TOGETHER:
                position = replace(position, ready=(*position.ready, seat))
                position = self._when_all_ready(position, events)
            case FreeTablePhase.BETWEEN if not staged.scores:
                position = self._next_round(position, events)
        return Resolved(position, hidden, tuple(events))

    def describe(self, open: Position, seat: int, action: Action) -> str:
        """A step in words."""
        match action:
            case ScorePoints(scored, points):
                noun = "point" if abs(points) == 1 else "points"
                if points < 0:
                    return f"takes {-points} {noun} from seat {scored}"
                return f"scores {points} {noun} for seat {scored}"
            case NameNext(named):
                place = len(open.of(seat).named) + 1
                return f"names seat {named} as number {place} in the order"
            case PassRound():
                return f"passes out of round {open.round}"
            case FinishGame():
                return "finishes the game"
            case _:
                return action.kind.replace("_", " ")

    # ------------------------------------------------------------ rounds and phases

    def _clockwise(self, open: Position) -> tuple[int, ...]:
        """The seats that have not left, clockwise from the first seat."""
        ring = turn_order(open.start, len(open.points))
        return tuple(seat for seat in ring if seat not in open.dropped)

    def _begin_round(self, open: Position, events: list[str]) -> Position:
        """Begin the next round, with its order if that has to be chosen."""
        position = replace(open, round=open.round + 1, passed=(), ready=(), turn=0, staged=())
        events.append(f"round {position.round} begins")
        if self.order == "chosen":
            return replace(position, phase=FreeTablePhase.ORDER)
        order = self._clockwise(position)
        if self.order == "reversed" and position.round % 2 == 0:
            order = order[::-1]
        return self._begin_play(replace(position, order=order), events)

    def _begin_play(self, open: Position, events: list[str]) -> Position:
        """The order stands: all act together, or the turns begin."""
        if self.together == "before":
            return self._act_together(open, events)
        return self._begin_turns(open)

    def _act_together(self, open: Position, events: list[str]) -> Position:
        """All act at the same time."""
        events.append("all act together")
        return replace(open, phase=FreeTablePhase.TOGETHER, turn=0, ready=(), staged=())

    def _when_all_ready(self, open: Position, events: list[str]) -> Position:
        """Go on if every seat is ready."""
        if set(open.playing) - set(open.ready):
            return open
        events.append("all are ready")
        position = replace(open, ready=())
        if self.together == "before":
            return self._begin_turns(position)
        return self._end_round(position, events)

    def _begin_turns(self, open: Position) -> Position:
        """The first seat of the order has its turn."""
        return replace(open, phase=FreeTablePhase.TURNS, turn=open.order[0], staged=())

    def _following(self, open: Position, seat: int) -> tuple[int, ...]:
        """The seats of the order after one; with passing it goes round to itself."""
        place = open.order.index(seat) + 1
        return open.order[place:] + (open.order[:place] if self.passing else ())

    def _next_turn(self, open: Position, following: tuple[int, ...], events: list[str]) -> Position:
        """A turn is over; the first of those that follow and are still in is next."""
        out = {*open.passed, *open.dropped}
        turn = next((seat for seat in following if seat not in out), None)
        if turn is not None:
            return replace(open, turn=turn, staged=())
        events.append("all have passed" if self.passing else "all have had their turn")
        position = replace(open, turn=0)
        if self.together == "after":
            return self._act_together(position, events)
        return self._end_round(position, events)

    def _end_round(self, open: Position, events: list[str]) -> Position:
        """The round is over: time between rounds, or the next one at once."""
        events.append(f"round {open.round} is over")
        if self.between:
            return replace(open, phase=FreeTablePhase.BETWEEN, turn=0, staged=())
        return self._next_round(open, events)

    def _end_after(self, open: Position) -> EndReason | None:
        """Why the game ends after this round; None if it doesn't."""
        if self.rounds and open.round >= self.rounds:
            return EndReason.COMPLETED
        if self.cap and open.round >= self.cap:
            return EndReason.ROUND_CAP
        return None

    def _next_round(self, open: Position, events: list[str]) -> Position:
        """Begin the next round, or end the game after the last."""
        reason = self._end_after(open)
        return self._begin_round(open, events) if reason is None else _ended(open, reason, events)

    def drop(self, open: Position, hidden: Hidden, seat: int) -> Resolved[Position, Hidden]:
        """Take a seat out: it is skipped, and keeps its points (DR-4)."""
        if open.ended not in (None, EndReason.LAST_SEAT) or seat in open.dropped:
            return Resolved(open, hidden)
        position = replace(
            open,
            dropped=(*open.dropped, seat),
            order=tuple(n for n in open.order if n != seat),
            passed=tuple(n for n in open.passed if n != seat),
            ready=tuple(n for n in open.ready if n != seat),
            staged=(),
        )
        events: list[str] = []
        if len(position.playing) < 2:
            reason = EndReason.LAST_SEAT if position.playing else EndReason.ABANDONED
            position = _ended(position, reason, events)
        elif open.turn == seat:
            position = self._next_turn(position, self._following(open, seat), events)
        elif open.phase is FreeTablePhase.TOGETHER:
            position = self._when_all_ready(position, events)
        return Resolved(position, hidden, tuple(events))

    # ------------------------------------------------------------ what is seen

    def view(self, open: Position, seat: int | None) -> GameView:
        """All see the same: the position with everything that is staged."""
        choosing = open.phase is FreeTablePhase.ORDER
        points = _with_scores(open, open.staged)
        return GameView(
            round=open.round,
            first_seat=open.order[0] if open.order else open.start,
            turn_order=() if choosing else open.order,
            last_round=self._end_after(open) is not None,
            players=tuple(
                PlayerView(
                    seat=number,
                    dropped=number in open.dropped,
                    points=points[number - 1] if self.points else None,
                )
                for number in range(1, len(open.points) + 1)
            ),
            free_table=FreeTableView(
                phase=open.phase,
                passed=(*open.passed, *(staged.seat for staged in open.staged if staged.passes)),
                ready=open.ready,
                rounds=self.rounds,
                named=tuple(named for staged in open.staged for named in staged.named),
            ),
        )

    # ------------------------------------------------------------ end

    def outcome(self, open: Position) -> Outcome | None:
        """Ranks by points, where they are kept; equal points share a rank."""
        if open.ended is None:
            return None
        # DR-4: who left is ranked behind all that finished.
        standing = {
            seat: (seat in open.dropped, -points if self.points else 0)
            for seat, points in enumerate(open.points, 1)
        }
        results = [
            SeatResult(
                seat=seat,
                rank=1 + sum(other < own for other in standing.values()),
                points=open.points[seat - 1],
                dropped=seat in open.dropped,
            )
            for seat, own in standing.items()
        ]
        return Outcome(open.ended, tuple(sorted(results, key=lambda r: (r.rank, r.seat))))


def _ended(open: Position, reason: EndReason, events: list[str]) -> Position:
    """The game is over."""
    events.append("the game is over")
    return replace(open, ended=reason, turn=0, staged=())


def _with_scores(open: Position, staged: tuple[Staged, ...]) -> tuple[int, ...]:
    """The points of all seats with those that were staged."""
    points = list(open.points)
    for scores in staged:
        for seat, added in scores.scores:
            points[seat - 1] = max(-MOST_POINTS, min(MOST_POINTS, points[seat - 1] + added))
    return tuple(points)


def _listed(seats: tuple[int, ...]) -> str:
    """Seats as they stand in a sentence."""
    return ", ".join(str(seat) for seat in seats)
