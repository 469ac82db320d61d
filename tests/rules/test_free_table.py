"""The free table: turns and rounds as people play them, and what holds in every game."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableturn import notation
from tableturn_server.rules.actions import Action, FinishGame, NameNext, PassRound, ScorePoints
from tableturn_server.rules.choices import Choice, Illegal, pick
from tableturn_server.rules.game import (
    BadOption,
    EndReason,
    Prompt,
    PromptKind,
    Resolved,
    Setting,
)
from tableturn_server.rules.games.free_table import (
    MOST_POINTS,
    SCORES_A_TURN,
    FreeTable,
    Hidden,
    Position,
)
from tableturn_server.rules.views import FreeTablePhase

SEED = bytes(range(16))
GOLDEN = Path(__file__).parents[1] / "golden"
ACTIONS = {"score_points": ScorePoints, "name_next": NameNext}
ACTIONS |= {"pass_round": PassRound, "finish_game": FinishGame}


def actions(text: str) -> tuple[Action, ...]:
    """The actions of a turn as people write it."""
    return tuple(ACTIONS[kind](**fields) for kind, fields in notation.parse_turn(text))


class Table:
    """A free table as the service keeps it: what each seat staged, on a confirmed position."""

    def __init__(self, seats: int, given: dict[str, str], seed: bytes) -> None:
        self.game = FreeTable(Setting(seats=seats, options=given))
        position = self.game.setup(seed)
        self.confirmed: Position = position.open
        self.hidden: Hidden = position.hidden
        self.events = list(position.events)
        self.staged: dict[int, tuple[Action, ...]] = {}

    # what people do

    def stage(self, seat: int, text: str) -> None:
        for action in actions(text):
            self.game.stage(self.as_staged_by(seat), seat, action)
            self.staged[seat] = (*self.staged.get(seat, ()), action)

    def confirm(self, seat: int, text: str = "-") -> None:
        """Stage what the text says, then confirm."""
        self.stage(seat, text)
        after = self.game.resolve(self.as_staged_by(seat), self.hidden, seat)
        self.staged.pop(seat, None)
        self._become(after)

    def confirm_all(self, *seats: int) -> None:
        for seat in seats:
            self.confirm(seat)

    def drop(self, seat: int) -> None:
        self.staged.pop(seat, None)
        self._become(self.game.drop(self.confirmed, self.hidden, seat))

    def _become(self, after: Resolved[Position, Hidden]) -> None:
        """Go on from a new position; what others staged is kept if it still applies."""
        asked_before = self._questions()
        self.confirmed, self.hidden = after.open, after.hidden
        self.events += after.events
        for seat in list(self.staged):
            try:
                self.as_staged_by(seat)
            except Illegal:
                del self.staged[seat]
        if self._questions() != asked_before:
            self.staged.clear()

    def _questions(self) -> tuple[int, str, int]:
        return self.round, self.phase, self.confirmed.turn

    # what people see

    def as_staged_by(self, seat: int) -> Position:
        position = self.confirmed
        for action in self.staged.get(seat, ()):
            position = self.game.stage(position, seat, action)
        return position

    def as_staged_by_all(self) -> Position:
        position = self.confirmed
        for seat, staged in self.staged.items():
            for action in staged:
                position = self.game.stage(position, seat, action)
        return position

    @property
    def asked(self) -> list[int]:
        return [prompt.seat for prompt in self.game.prompts(self.confirmed)]

    def prompt(self, seat: int) -> Prompt:
        position = self.as_staged_by(seat)
        return next(prompt for prompt in self.game.prompts(position) if prompt.seat == seat)

    def may(self, seat: int) -> set[str]:
        return {choice.kind for choice in self.game.legal_actions(self.as_staged_by(seat), seat)}

    @property
    def round(self) -> int:
        return self.confirmed.round

    @property
    def phase(self) -> str:
        return self.confirmed.phase.name.lower()

    @property
    def over(self) -> bool:
        return self.game.outcome(self.confirmed) is not None

    @property
    def reason(self) -> EndReason:
        outcome = self.game.outcome(self.confirmed)
        assert outcome is not None
        return outcome.reason

    @property
    def ranking(self) -> list[tuple[int, int, int]]:
        """Rank, seat and points."""
        outcome = self.game.outcome(self.confirmed)
        assert outcome is not None
        return [(result.rank, result.seat, result.points) for result in outcome.results]

    def seats_asked_in_turn(self, turns: int) -> list[int]:
        """Who has a turn, while everybody just ends it."""
        seats = []
        for _ in range(turns):
            (seat,) = self.asked
            seats.append(seat)
            self.confirm(seat)
        return seats


def table_of(seats: int = 3, **given: str) -> Table:
    """A new table with these options; seat 1 begins unless they say otherwise."""
    return Table(seats, {"first_seat": "1"} | given, SEED)


# ---------------------------------------------------------------- turn order


@pytest.mark.clause("FT-01", "FT-02")
def test_each_seat_has_one_turn_a_round_clockwise_from_the_first_seat() -> None:
    table = table_of(3, first_seat="2")
    assert table.seats_asked_in_turn(6) == [2, 3, 1, 2, 3, 1]
    assert table.round == 3
    assert table.events[:4] == [
        "seat 2 is the first seat",
        "round 1 begins",
        "all have had their turn",
        "round 1 is over",
    ]


@pytest.mark.clause("FT-01")
def test_an_ordinary_press_ends_the_turn_with_nothing_staged() -> None:
    table = table_of()
    prompt = table.prompt(1)
    assert prompt.kind == PromptKind.TURN
    assert prompt.can_confirm
    assert not prompt.confirm_skips
    assert prompt.label == "end the turn"


@pytest.mark.clause("FT-02")
def test_reversed_order_turns_round_with_every_round() -> None:
    table = table_of(3, order="reversed")
    assert table.seats_asked_in_turn(9) == [1, 2, 3, 3, 2, 1, 1, 2, 3]


@pytest.mark.clause("FT-02")
def test_a_chosen_order_is_named_seat_by_seat_and_the_last_follows_by_itself() -> None:
    table = table_of(3, order="chosen", first_seat="2")
    assert table.asked == [2]
    assert table.prompt(2).kind == PromptKind.ORDER
    assert not table.prompt(2).can_confirm
    assert table.prompt(2).label == "name the seat that is number 1 in round 1"
    table.stage(2, "next seat 3; next seat 1")
    assert table.may(2) == set()
    assert table.prompt(2).label == "play round 1 in the order 3, 1, 2"
    table.confirm(2)
    assert "the order of round 1: 3, 1, 2" in table.events
    assert table.seats_asked_in_turn(3) == [3, 1, 2]
    # Round 2 is ordered by the seat that began round 1.
    assert table.asked == [3]
    assert table.round == 2


def test_a_chosen_order_cannot_be_confirmed_half_named() -> None:
    table = table_of(3, order="chosen")
    table.stage(1, "next seat 2")
    assert table.may(1) == {"name_next"}
    with pytest.raises(Illegal, match="number 2 in round 1"):
        table.confirm(1)
    with pytest.raises(Illegal, match="seat must be one of 1, 3, not 2"):
        table.stage(1, "next seat 2")


def test_two_seats_need_only_one_name() -> None:
    table = table_of(2, order="chosen")
    table.confirm(1, "next seat 2")
    assert table.seats_asked_in_turn(2) == [2, 1]


@pytest.mark.clause("FT-02")
def test_the_first_seat_is_drawn_and_every_seat_can_be_it() -> None:
    drawn = {
        Table(4, {"first_seat": "random"}, seed=bytes(15) + bytes([n])).confirmed.turn
        for n in range(40)
    }
    assert drawn == {1, 2, 3, 4}


def test_only_a_drawn_first_seat_needs_a_hidden_half() -> None:
    assert table_of(first_seat="1").hidden == Hidden(None)
    assert table_of(first_seat="random").hidden.source is not None


# ---------------------------------------------------------------- passing


@pytest.mark.clause("FT-03")
def test_with_passing_a_round_goes_on_until_all_have_passed() -> None:
    table = table_of(3, passing="on")
    assert table.seats_asked_in_turn(3) == [1, 2, 3]
    table.confirm(1, "pass")
    assert table.seats_asked_in_turn(3) == [2, 3, 2]
    table.confirm(3, "pass")
    assert table.seats_asked_in_turn(2) == [2, 2], "the last one goes on alone"
    assert table.round == 1
    table.confirm(2, "pass")
    assert table.round == 2
    assert table.asked == [1]
    assert "all have passed" in table.events


def test_a_pass_is_staged_and_seen_before_it_is_confirmed() -> None:
    table = table_of(3, passing="on")
    table.stage(1, "pass")
    assert table.may(1) == set()
    assert table.prompt(1).label == "pass out of round 1"
    free_table = table.game.view(table.as_staged_by(1), None).free_table
    assert free_table is not None
    assert free_table.passed == (1,)
    assert table.asked == [1]


@pytest.mark.clause("FT-03")
def test_without_passing_nobody_passes() -> None:
    table = table_of()
    with pytest.raises(Illegal, match="pass is not possible now; possible now: `finish game`"):
        table.stage(1, "pass")


# ---------------------------------------------------------------- all together


@pytest.mark.parametrize(("together", "first_asked"), [("before", [1, 2, 3]), ("after", [1])])
@pytest.mark.clause("FT-04")
def test_all_must_be_ready_in_any_order(together: str, first_asked: list[int]) -> None:
    table = table_of(3, together=together)
    assert table.asked == first_asked
    if together == "after":
        table.confirm_all(1, 2, 3)
    assert table.prompt(2).kind == PromptKind.READY
    table.confirm(3)
    assert table.asked == [1, 2]
    with pytest.raises(Illegal, match="not asked"):
        table.confirm(3)
    table.confirm(1)
    assert table.phase == "together"
    table.confirm(2)
    assert table.phase == "turns"
    assert table.round == (1 if together == "before" else 2)
    assert "all are ready" in table.events


def test_what_seats_stage_together_does_not_disturb_the_others() -> None:
    table = table_of(3, together="before", points="on")
    table.stage(1, "score 5 for seat 1")
    table.stage(2, "score 3 for seat 1; score -1 for seat 2")
    points = [p.points for p in table.game.view(table.as_staged_by_all(), None).players]
    assert points == [8, -1, 0]
    table.confirm(2)
    assert table.confirmed.points == (3, -1, 0)
    assert table.staged == {1: actions("score 5 for seat 1")}
    table.confirm(1)
    assert table.confirmed.points == (8, -1, 0)
    assert table.asked == [3]


def test_a_confirmation_books_only_what_its_own_seat_staged() -> None:
    table = table_of(3, together="before", points="on")
    table.stage(1, "score 5 for seat 1")
    table.stage(2, "score 3 for seat 2")
    after = table.game.resolve(table.as_staged_by_all(), table.hidden, 2).open
    assert after.points == (0, 3, 0)
    assert [staged.seat for staged in after.staged] == [1]


# ---------------------------------------------------------------- points and between rounds


@pytest.mark.clause("FT-10")
def test_points_are_scored_for_any_seat_in_ones_own_turn() -> None:
    table = table_of(2, points="on")
    table.confirm(1, "score 5 for seat 1; score -2 for seat 2")
    assert table.confirmed.points == (5, -2)
    with pytest.raises(Illegal, match="points must be from -1000 to 1000, not 1001"):
        table.stage(2, "score 1001 for seat 2")
    with pytest.raises(Illegal, match="this seat is not asked"):
        table.stage(1, "score 1 for seat 1")


def test_a_turn_has_a_bounded_number_of_scores() -> None:
    table = table_of(2, points="on")
    for _ in range(SCORES_A_TURN):
        table.stage(1, "score 1 for seat 1")
    assert table.may(1) == {"finish_game"}
    table.confirm(1)
    assert table.confirmed.points == (SCORES_A_TURN, 0)
    assert "score_points" in table.may(2)


def test_points_stay_within_bounds() -> None:
    table = table_of(2, points="on")
    table.confirmed = msgspec.structs.replace(table.confirmed, points=(MOST_POINTS - 1, 0))
    table.confirm(1, "score 1000 for seat 1")
    assert table.confirmed.points == (MOST_POINTS, 0)


@pytest.mark.clause("FT-05")
def test_between_rounds_anybody_begins_the_next_one() -> None:
    table = table_of(3, between="on", points="on")
    table.confirm_all(1, 2, 3)
    assert table.asked == [1, 2, 3]
    assert {table.prompt(seat).kind for seat in (1, 2, 3)} == {PromptKind.BETWEEN_ROUNDS}
    assert table.prompt(2).label == "begin round 2"
    table.confirm(2, "score 7 for seat 3")
    assert table.asked == [1, 2, 3], "points are booked; the pause goes on"
    table.stage(1, "score 4 for seat 1")
    table.confirm(2)
    assert table.round == 2
    assert table.phase == "turns"
    assert table.confirmed.points == (0, 0, 7)
    assert table.staged == {}, "what seat 1 staged was for the pause that is over"


@pytest.mark.clause("FT-05", "FT-11")
def test_with_between_the_game_is_finished_there_and_nowhere_else() -> None:
    table = table_of(2, between="on")
    assert table.may(1) == set()
    table.confirm_all(1, 2)
    table.stage(2, "finish game")
    assert table.may(2) == set()
    assert table.prompt(2).label == "finish the game"
    table.confirm(2)
    assert table.reason is EndReason.COMPLETED
    assert table.asked == []


@pytest.mark.clause("FT-11")
def test_without_between_the_game_is_finished_in_ones_own_turn() -> None:
    table = table_of(2, passing="on", points="on")
    table.stage(1, "score 1 for seat 2; finish game")
    assert table.may(1) == {"score_points"}, "neither pass nor finish again"
    table.confirm(1)
    assert table.reason is EndReason.COMPLETED
    assert table.ranking == [(1, 2, 1), (2, 1, 0)]


# ---------------------------------------------------------------- the end


@pytest.mark.clause("FT-11")
def test_the_game_ends_after_its_rounds() -> None:
    table = table_of(2, rounds="2")
    assert not table.game.view(table.confirmed, None).last_round
    assert table.seats_asked_in_turn(2) == [1, 2]
    assert table.game.view(table.confirmed, None).last_round
    assert table.seats_asked_in_turn(2) == [1, 2]
    assert table.reason is EndReason.COMPLETED
    assert table.events[-2:] == ["round 2 is over", "the game is over"]


def test_the_last_round_too_has_time_for_points_after_it() -> None:
    table = table_of(2, rounds="1", between="on", points="on")
    table.confirm_all(1, 2)
    assert table.prompt(1).label == "end the game"
    table.confirm(1, "score 9 for seat 2")
    assert table.prompt(1).label == "end the game"
    table.confirm(1)
    assert table.ranking == [(1, 2, 9), (2, 1, 0)]


def test_the_cap_of_rounds_ends_an_open_game() -> None:
    table = table_of(2, max_rounds="1")
    table.confirm_all(1, 2)
    assert table.reason is EndReason.ROUND_CAP


@pytest.mark.clause("FT-12")
def test_seats_with_equal_points_share_a_rank() -> None:
    table = table_of(4, points="on", rounds="1")
    table.confirm(1, "score 5 for seat 2; score 5 for seat 4; score -3 for seat 1")
    table.confirm_all(2, 3, 4)
    assert table.ranking == [(1, 2, 5), (1, 4, 5), (3, 3, 0), (4, 1, -3)]


@pytest.mark.clause("FT-12")
def test_without_points_all_are_first() -> None:
    table = table_of(3, rounds="1")
    table.confirm_all(1, 2, 3)
    assert table.ranking == [(1, 1, 0), (1, 2, 0), (1, 3, 0)]


# ---------------------------------------------------------------- time-outs and seats that leave


@pytest.mark.clause("DR-3")
def test_a_seat_that_runs_out_of_time_ends_its_turn() -> None:
    table = table_of(3, passing="on", points="on")
    assert table.game.default(table.confirmed, 1) == ()
    assert table.game.default(table.confirmed, 2) == ()


@pytest.mark.clause("DR-3")
def test_the_last_seat_of_a_round_passes_when_it_runs_out_of_time() -> None:
    table = table_of(2, passing="on")
    table.confirm(1, "pass")
    assert table.game.default(table.confirmed, 2) == (PassRound(),)


@pytest.mark.clause("DR-3")
def test_an_order_that_nobody_chooses_is_seat_order() -> None:
    table = table_of(4, order="chosen", first_seat="3")
    table.drop(2)
    assert table.game.default(table.confirmed, 3) == (NameNext(1), NameNext(3))
    table.confirm(3, "next seat 1; next seat 3")
    assert table.confirmed.order == (1, 3, 4)


@pytest.mark.clause("DR-4", "FT-13")
def test_a_dropped_seat_is_skipped_and_ranked_behind_all_that_finished() -> None:
    table = table_of(3, points="on", rounds="2")
    table.confirm(1, "score 50 for seat 2")
    table.drop(2)
    assert table.seats_asked_in_turn(3) == [3, 1, 3]
    assert table.ranking == [(1, 1, 0), (1, 3, 0), (3, 2, 50)]


@pytest.mark.clause("DR-4")
def test_a_seat_that_leaves_in_its_own_turn_hands_it_on() -> None:
    table = table_of(3, order="reversed")
    table.drop(1)
    assert table.asked == [2]
    table.confirm_all(2, 3)
    assert table.seats_asked_in_turn(4) == [3, 2, 2, 3]


@pytest.mark.clause("DR-4")
def test_the_last_to_pass_ends_the_round_by_leaving() -> None:
    table = table_of(3, passing="on")
    table.confirm(1, "pass")
    table.confirm(2, "pass")
    table.drop(3)
    assert table.round == 2
    assert table.asked == [1]


@pytest.mark.clause("DR-4")
def test_the_last_that_is_not_ready_leaves() -> None:
    table = table_of(3, together="before", first_seat="2")
    table.confirm_all(1, 3)
    table.drop(2)
    assert table.phase == "turns"
    assert table.asked == [3]


@pytest.mark.clause("DR-4")
def test_the_next_seat_chooses_the_order_if_the_one_that_chooses_leaves() -> None:
    table = table_of(3, order="chosen", first_seat="3")
    table.drop(3)
    assert table.asked == [1]
    table.confirm(1, "next seat 2")
    assert table.seats_asked_in_turn(2) == [2, 1]


@pytest.mark.clause("DR-4")
def test_one_that_was_named_leaves_before_the_order_stands() -> None:
    table = table_of(3, order="chosen")
    table.stage(1, "next seat 3")
    table.drop(3)
    assert table.staged == {}
    assert not table.prompt(1).can_confirm


@pytest.mark.clause("DR-4")
def test_no_points_for_a_seat_that_has_left() -> None:
    table = table_of(3, points="on")
    table.drop(3)
    with pytest.raises(Illegal, match="seat must be one of 1, 2, not 3"):
        table.stage(1, "score 1 for seat 3")


@pytest.mark.clause("DR-4", "FT-13")
def test_the_last_one_left_wins() -> None:
    table = table_of(3, points="on")
    table.confirm(1, "score 9 for seat 2; score 3 for seat 1")
    table.drop(2)
    table.drop(1)
    assert table.reason is EndReason.LAST_SEAT
    assert table.ranking == [(1, 3, 0), (2, 2, 9), (3, 1, 3)]


@pytest.mark.clause("DR-4")
def test_a_table_that_all_have_left_is_abandoned() -> None:
    table = table_of(2)
    table.drop(1)
    table.drop(2)
    assert table.reason is EndReason.ABANDONED


@pytest.mark.clause("DR-4")
def test_who_leaves_after_the_end_changes_nothing() -> None:
    table = table_of(2)
    table.confirm(1, "finish game")
    table.drop(1)
    assert table.reason is EndReason.COMPLETED
    assert table.ranking == [(1, 1, 0), (1, 2, 0)]


# ---------------------------------------------------------------- options, words and views


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("rounds", "-1", "option rounds of free-table is a number from 0 to 9999, not '-1'"),
        ("rounds", "", "not ''"),
        ("rounds", "10000", "from 0 to 9999"),
        ("rounds", "9" * 5000, "from 0 to 9999"),
        ("max_rounds", "many", "option max_rounds of free-table is a number from 0 to 9999"),
        ("max_rounds", "²", "from 0 to 9999"),
        ("first_seat", "4", "option first_seat of free-table is random or a number from 1 to 3"),
        ("first_seat", "0", "random or a number from 1 to 3"),
    ],
)
def test_an_option_that_cannot_be(name: str, value: str, sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        table_of(3, **{name: value})
    assert sentence in str(refused.value)


def test_steps_are_told_in_words() -> None:
    table = table_of(3, order="chosen")
    told = [
        table.game.describe(table.confirmed, 1, action)
        for action in actions(
            "next seat 2; pass; score 1 for seat 2; score -5 for seat 3; finish game"
        )
    ]
    assert told == [
        "names seat 2 as number 1 in the order",
        "passes out of round 1",
        "scores 1 point for seat 2",
        "takes 5 points from seat 3",
        "finishes the game",
    ]


def test_the_view_of_a_table_without_points_shows_none() -> None:
    table = table_of(2, rounds="3", order="chosen")
    view = table.game.view(table.confirmed, 1)
    assert (view.round, view.first_seat, view.turn_order) == (1, 1, ())
    assert [player.points for player in view.players] == [None, None]
    assert view.free_table is not None
    assert view.free_table.phase is FreeTablePhase.ORDER
    assert view.free_table.rounds == 3
    table.stage(1, "next seat 2")
    staged = table.game.view(table.as_staged_by(1), None).free_table
    assert staged is not None
    assert staged.named == (2, 1)


# ---------------------------------------------------------------- what holds in every game

COMBINATIONS = [
    {"order": order, "passing": passing, "together": together, "points": points, "between": between}
    for order, passing, together, points, between in product(
        ("fixed", "reversed", "chosen"),
        ("off", "on"),
        ("none", "before", "after"),
        ("off", "on"),
        ("off", "on"),
    )
]
EXAMPLES = max(5, settings().max_examples // 20)
every_combination = pytest.mark.parametrize(
    "given_options", COMBINATIONS, ids=lambda chosen: "-".join(chosen.values())
)


def is_sound(table: Table) -> None:
    """What must hold of any position: nobody is stuck, and nothing is lost in the store."""
    game, position = table.game, table.confirmed
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(position), type=Position) == position
    assert table.over == (not table.asked)
    assert not set(table.asked) & set(position.dropped)
    assert position.staged == ()
    for seat in range(1, game.setting.seats + 1):
        assert game.view(position, seat) == game.view(position, None)
        if seat not in table.asked:
            assert game.legal_actions(position, seat) == ()
            assert game.default(position, seat) == ()
            with pytest.raises(Illegal):
                game.resolve(position, table.hidden, seat)
            continue
        staged = position
        for action in game.default(position, seat):
            staged = game.stage(staged, seat, action)
        game.resolve(staged, table.hidden, seat)
        for choice in game.legal_actions(position, seat):
            for below in (smallest, largest):
                can_be_completed(game, position, table.hidden, seat, pick(choice, below))


def smallest(bound: int) -> int:
    return 0


def largest(bound: int) -> int:
    return bound - 1


def can_be_completed(
    game: FreeTable, position: Position, hidden: Hidden, seat: int, action: Action
) -> None:
    assert game.describe(position, seat, action)
    position = game.stage(position, seat, action)
    while not next(p.can_confirm for p in game.prompts(position) if p.seat == seat):
        choice = game.legal_actions(position, seat)[0]
        position = game.stage(position, seat, pick(choice, smallest))
    game.resolve(position, hidden, seat)


def random_step(table: Table, random: Random, leaving: float) -> None:
    """Somebody stages a step, confirms or leaves."""
    below: Callable[[int], int] = random.randrange
    if random.random() < leaving:
        playing = table.confirmed.playing
        table.drop(playing[below(len(playing))])
        return
    seat = table.asked[below(len(table.asked))]
    choices: tuple[Choice, ...] = table.game.legal_actions(table.as_staged_by(seat), seat)
    if table.prompt(seat).can_confirm and (not choices or random.random() < 0.5):
        table.confirm(seat)
    elif choices:
        action = pick(choices[below(len(choices))], below)
        table.game.stage(table.as_staged_by(seat), seat, action)
        table.staged[seat] = (*table.staged.get(seat, ()), action)


@every_combination
@settings(max_examples=EXAMPLES)
@given(
    seats=st.integers(2, 8),
    rounds=st.sampled_from(["0", "1", "3"]),
    leaving=st.sampled_from([0.0, 0.1]),
    random=st.randoms(use_true_random=True),
)
def test_random_play_never_gets_stuck(
    given_options: dict[str, str], seats: int, rounds: str, leaving: float, random: Random
) -> None:
    table = Table(seats, given_options | {"rounds": rounds}, random.randbytes(16))
    for _ in range(40):
        if table.over:
            break
        is_sound(table)
        random_step(table, random, leaving)
    is_sound(table)


@every_combination
@settings(max_examples=EXAMPLES)
@given(steps=st.integers(0, 30), random=st.randoms(use_true_random=True))
@pytest.mark.clause("DR-4")
def test_seats_may_leave_at_any_moment(
    given_options: dict[str, str], steps: int, random: Random
) -> None:
    table = Table(4, given_options, random.randbytes(16))
    for _ in range(steps):
        if not table.over:
            random_step(table, random, leaving=0.0)
    if table.over:
        return
    before = table.confirmed.points
    for left, seat in zip((3, 2, 1, 0), random.sample((1, 2, 3, 4), 4), strict=True):
        table.drop(seat)
        is_sound(table)
        assert table.confirmed.points == before
        assert table.over == (left < 2)
    assert table.reason is EndReason.ABANDONED


@every_combination
def test_a_table_where_nobody_does_anything_comes_to_its_end(given_options: dict[str, str]) -> None:
    """Every turn by default, only that with passing somebody must pass."""
    table = table_of(3, rounds="2", **given_options)
    for _ in range(60):
        if table.over:
            break
        seat = table.asked[0]
        table.staged[seat] = table.game.default(table.confirmed, seat)
        if "pass_round" in table.may(seat):
            table.stage(seat, "pass")
        table.confirm(seat)
    assert table.reason is EndReason.COMPLETED
    assert table.round == 2


# ---------------------------------------------------------------- golden games


@pytest.mark.parametrize("name", ["free_table_points", "free_table_chosen"])
def test_a_golden_game(name: str) -> None:
    head, turns, end = (GOLDEN / f"{name}.txt").read_text().strip().split("\n\n")
    said = dict(line.split(": ", 1) for line in head.splitlines())
    assert said["game"] == FreeTable.name
    assert said["rules_version"] == str(FreeTable.rules_version)
    given_options = dict(option.split("=") for option in said["options"].split())
    table = Table(int(said["seats"]), given_options, bytes.fromhex(said["seed"]))
    for line in turns.splitlines():
        if line.startswith("#"):
            continue
        who, text = line.split(": ", 1)
        seat = int(who.removeprefix("seat "))
        if text == "dropped":
            table.drop(seat)
            continue
        assert notation.format_turn(notation.parse_turn(text)) == text
        table.confirm(seat, text)
    results = [f"rank {rank}: seat {seat}, {points} points" for rank, seat, points in table.ranking]
    assert [f"end: {table.reason.name.lower()}", *results] == end.splitlines()
