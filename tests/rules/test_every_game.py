"""What every game must do, whatever its rules: a later game joins by being in the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableturn_server.rules import catalog
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.choices import Choice, Illegal, pick
from tableturn_server.rules.game import EndReason
from tableturn_server.rules.mechanics.cubes import Color, Cubes, from_letters
from tests.rules.play import Table
from tests.rules.players import PLANS, completion, fields_of, prompt_of, take_turn

GAMES = [(name, seats) for name, game in catalog.GAMES.items() for seats in game.seats]
PLANNED = [(name, seats) for name, seats in GAMES if name in PLANS]
"""Games whose players in tests reach the real end."""
every_game = pytest.mark.parametrize(("name", "seats"), GAMES)
every_planned_game = pytest.mark.parametrize(("name", "seats"), PLANNED)

VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "eastern-wonders": (
        {},
        {"map": "random", "limit_checked": "own_turn"},
        {"map": "random", "stay_picks_up": "on"},
    ),
    "from-sand-to-sea": (
        {},
        {"map": "random", "limit_checked": "own_turn", "open_hands": "on"},
        {"pass": "on"},
    ),
    "spice-road": ({}, {"open_hands": "on"}),
    "free-table": (
        {"rounds": "3"},
        {"rounds": "3", "points": "on", "passing": "on", "together": "after"},
        {"rounds": "3", "order": "chosen", "between": "on", "together": "before"},
    ),
}
"""Options with which each game is tried; games without any are played with the defaults."""


def table_of(name: str, seats: int, number: int = 0, **options: str) -> Table:
    variants = VARIANTS.get(name, ({},))
    chosen = {**variants[number % len(variants)], **options}
    return Table(name, seats, chosen, seed=number.to_bytes(16, "big"))


def turns(table: Table, random: Random) -> Iterator[int]:
    """Play on at random: each time the seat that is about to take a turn."""
    while table.prompts:
        seat = random.choice(table.prompts).seat
        yield seat
        if table.outcome is None and prompt_of(table.game, table.position(seat), seat):
            take_and_confirm(table, seat, random)


def take_and_confirm(table: Table, seat: int, random: Random) -> list[Action]:
    """A turn without the table's own checks: quick."""
    open = table.position(seat)
    turn = take_turn(table.game, open, seat, random)
    for action in turn:
        open = table.game.stage(open, seat, action)
    resolved = table.game.resolve(open, table.hidden, seat)
    table.staged.pop(seat, None)
    table.confirmed, table.hidden = resolved.open, resolved.hidden
    return turn


def played(table: Table, random: Random, count: int) -> None:
    """So many turns, unless the game ends before."""
    for _ in zip(range(count), turns(table, random), strict=False):
        pass


# -- whole games ---------------------------------------------------------------------------


def play_to_the_end(name: str, seats: int, number: int) -> EndReason:
    table = table_of(name, seats, number)
    for count, _ in enumerate(turns(table, Random(number))):
        assert count < 5_000, "this game does not end"
    assert table.outcome is not None
    ranks = [result.rank for result in table.outcome.results]
    assert ranks == sorted(ranks)
    assert sorted(result.seat for result in table.outcome.results) == list(range(1, seats + 1))
    return table.outcome.reason


@every_planned_game
def test_fifty_games_reach_their_real_end(name: str, seats: int) -> None:
    for number in range(50):
        assert play_to_the_end(name, seats, number) == EndReason.COMPLETED


@pytest.mark.nightly
@every_planned_game
def test_two_thousand_games_reach_their_real_end(name: str, seats: int) -> None:
    for number in range(100, 2_100):
        assert play_to_the_end(name, seats, number) == EndReason.COMPLETED


@every_game
def test_games_end_at_the_cap_of_rounds(name: str, seats: int) -> None:
    table = table_of(name, seats, max_rounds="2")
    for count, _ in enumerate(turns(table, Random(seats))):
        assert count < 200
    assert table.outcome is not None


@every_game
def test_cubes_are_conserved_and_staged_turns_undone(name: str, seats: int) -> None:
    """The table counts the cubes after each action (tests.rules.ledger)."""
    random = Random(seats)
    for number in range(3):
        table = table_of(name, seats, number)
        for _ in range(60):
            if not table.prompts:
                break
            seat = random.choice(table.prompts).seat
            states = [table.confirmed]
            for action in take_turn(table.game, table.confirmed, seat, random):
                table.stage(seat, action)
                states.append(table.position(seat))
            for state in reversed(states[:-1]):
                staged = table.staged[seat]
                table.undo(seat)
                assert table.position(seat) == state
                table.stage(seat, staged[-1])
                table.undo(seat)
            for action in take_turn(table.game, table.confirmed, seat, random):
                table.stage(seat, action)
            table.confirm(seat)


# -- choices -------------------------------------------------------------------------------


@every_game
def test_every_listed_action_is_accepted_and_can_be_completed(name: str, seats: int) -> None:
    random = Random(seats)
    for number in range(4):
        table = table_of(name, seats, number)
        for _, seat in zip(range(80), turns(table, random), strict=False):
            open = table.confirmed
            for _ in range(random.randrange(5)):
                choices = table.game.legal_actions(open, seat)
                if not choices:
                    break
                for other in {prompt.seat for prompt in table.prompts} ^ {*range(1, seats + 1)}:
                    assert table.game.legal_actions(open, other) == ()
                for choice in choices:
                    for action in samples(choice, random):
                        after = table.game.stage(open, seat, action)
                        assert table.game.describe(open, seat, action)
                        completed(table, after, seat)
                open = table.game.stage(open, seat, pick(random.choice(choices), random.randrange))


def completed(table: Table, open: Any, seat: int) -> None:
    """The seat gets to a confirmation from here, and may confirm."""
    for action in completion(table.game, open, seat):
        open = table.game.stage(open, seat, action)
    table.game.resolve(open, table.hidden, seat)


def samples(choice: Choice, random: Random) -> Iterator[Action]:
    """The first and the last of a choice, each tile of it, and some more."""
    yield pick(choice, lambda bound: 0)
    yield pick(choice, lambda bound: bound - 1)
    for number in range(len(choice.tiles)):
        yield pick(choice, lambda bound, n=number: min(n, bound - 1))  # type: ignore[misc]
    for _ in range(3):
        yield pick(choice, random.randrange)


@every_game
def test_what_is_not_listed_is_refused_without_a_change(name: str, seats: int) -> None:
    random = Random(seats)
    refused = 0
    for number in range(20):
        table = table_of(name, seats, number)
        for _, seat in zip(range(40), turns(table, random), strict=False):
            open = table.confirmed
            for _ in range(random.randrange(4)):
                choices = table.game.legal_actions(open, seat)
                if choices:
                    action = pick(random.choice(choices), random.randrange)
                    open = table.game.stage(open, seat, action)
            before = msgspec.msgpack.encode(open)
            for anyone in (seat, seat % seats + 1):
                refused += tried(table, open, anyone, random.sample(UNIVERSE, 40))
            assert msgspec.msgpack.encode(open) == before
        if refused > 2_000:
            break
    assert refused > 2_000


def tried(table: Table, open: Any, seat: int, actions: list[Action]) -> int:
    """Stage each action; how many are refused. Just those that no choice admits."""
    refused = 0
    listed = table.game.legal_actions(open, seat)
    for action in actions:
        if any(admits(choice, action) for choice in listed):
            table.game.stage(open, seat, action)
        else:
            with pytest.raises(Illegal, match=r"\w"):
                table.game.stage(open, seat, action)
            refused += 1
    return refused


def admits(choice: Choice, action: Action) -> bool:
    """The action lies within the choice. Written apart from `choices.check`."""
    if choice.kind != action.kind:
        return False
    for field, value in fields_of(action).items():
        if field == "cubes":
            bounds = choice.cubes
            held = bounds.available if bounds else Cubes()
            low, high = (bounds.min, bounds.max) if bounds else (0, 0)
            if not low <= sum(value) <= high:
                return False
            if any(not 0 <= some <= most for some, most in zip(value, held, strict=True)):
                return False
        elif field in ("count", "points"):
            limits = choice.count if field == "count" else choice.points
            if limits is None or not limits.min <= value <= limits.max:
                return False
        else:
            plural = {"cube": "colors", "bonus": "bonuses"}.get(field, f"{field}s")
            offered = getattr(choice, plural)
            if value not in offered and not (value is None and not offered):
                return False
    return True


def _universe() -> list[Action]:
    """All sorts of actions, sensible and not."""
    tiles = ["", "A1", "B2", "C3", "C4", "D1", "E4", "Z9", "c3"]
    bundles = [from_letters(word) for word in ("", "Y", "R", "YY", "YR", "GB", "YYYY", "RRRR")]
    bundles += [Cubes(-1, 2, 0, 0), Cubes(0, 0, 0, -1), Cubes(99, 0, 0, 0)]
    values: dict[str, list[Any]] = {
        "tile": tiles,
        "cube": list(Color),
        "seat": [0, 1, 2, 3, 4, 9, -1],
        "bonus": list(BonusKind),
        "pile": bundles,
        "cubes": bundles,
        "count": [-1, 0, 1, 2, 3, 99],
        "points": [-10_000, -1, 0, 1, 7, 10_000],
        "card": ["", "M01", "M12", "M43", "S1", "S2", "P07", "C3"],
    }
    found: list[Action] = []
    for kind in Action.__args__:
        fields = kind.__struct_fields__
        optional = {field.name for field in msgspec.structs.fields(kind) if field.default is None}
        offered = ([None] * (name in optional) + values[name] for name in fields)
        for chosen in product(*offered):
            found.append(kind(**dict(zip(fields, chosen, strict=True))))
    return found


UNIVERSE = _universe()


# -- positions are values ------------------------------------------------------------------


@every_game
def test_a_position_written_and_read_in_mid_game_has_the_same_future(name: str, seats: int) -> None:
    for number in range(4):
        table = table_of(name, seats, number)
        played(table, Random(number), 10 + 7 * number)
        again = table_of(name, seats, number)
        game = table.game
        again.confirmed = msgspec.msgpack.decode(
            msgspec.msgpack.encode(table.confirmed), type=game.open_type
        )
        again.hidden = msgspec.msgpack.decode(
            msgspec.msgpack.encode(table.hidden), type=game.hidden_type
        )
        assert (again.confirmed, again.hidden) == (table.confirmed, table.hidden)
        played(table, Random(99), 60)
        played(again, Random(99), 60)
        assert (again.confirmed, again.hidden) == (table.confirmed, table.hidden)
        assert msgspec.msgpack.encode(again.confirmed) == msgspec.msgpack.encode(table.confirmed)


@every_game
def test_positions_stay_small(name: str, seats: int) -> None:
    table = table_of(name, seats)
    for _ in zip(range(150), turns(table, Random(1)), strict=False):
        size = len(msgspec.msgpack.encode(table.confirmed))
        assert size + len(msgspec.msgpack.encode(table.hidden)) < 3_000


@every_game
@settings(max_examples=25)
@given(seed=st.binary(min_size=16, max_size=16), number=st.integers(0, 2), chance=st.randoms())
def test_random_games(name: str, seats: int, seed: bytes, number: int, chance: Random) -> None:
    """Any seed, any options, any play: the same seed and turns give the same game."""
    variants = VARIANTS.get(name, ({},))
    table, again = (Table(name, seats, variants[number % len(variants)], seed) for _ in range(2))
    for _ in range(12):
        if not table.prompts:
            break
        seat = chance.choice(table.prompts).seat
        for action in take_turn(table.game, table.confirmed, seat, Random(chance.random())):
            table.stage(seat, action)
            again.stage(seat, action)
        table.confirm(seat)
        again.confirm(seat)
        assert (table.confirmed, table.hidden) == (again.confirmed, again.hidden)
        assert table.events == again.events
        for viewer in (None, *range(1, seats + 1)):
            assert table.game.view(table.confirmed, viewer).players


@every_game
def test_what_is_hidden_changes_nothing_until_it_is_drawn(name: str, seats: int) -> None:
    """Another order of pile and generator: the same views, choices, prompts and words."""
    for number in range(3):
        random = Random(number)
        table = table_of(name, seats, number)
        played(table, random, 20)
        other = table_of(name, seats, number)
        other.confirmed, other.hidden = table.confirmed, shuffled(table.hidden, random)
        for _ in range(40):
            assert seen(table) == seen(other)
            if not table.prompts:
                break
            seat = table.prompts[0].seat
            choices = table.game.legal_actions(table.position(seat), seat)
            kinds = {choice.kind for choice in choices}
            if choices and (random.random() < 0.8 or not can_confirm(table, seat)):
                action = pick(random.choice(choices), random.randrange)
                table.stage(seat, action)
                other.stage(seat, action)
                continue
            if not can_confirm(table, seat):
                assert kinds
            if not can_confirm(table, seat) or turns_up(table, seat):
                break
            table.confirm(seat)
            other.confirm(seat)


def turns_up(table: Table, seat: int) -> bool:
    """A confirmation now would draw something."""
    return bool(table.game.resolve(table.position(seat), table.hidden, seat).turned_up)


def can_confirm(table: Table, seat: int) -> bool:
    prompt = prompt_of(table.game, table.position(seat), seat)
    return prompt is not None and prompt.can_confirm


def shuffled(hidden: Any, random: Random) -> Any:
    """The hidden half with its piles in another order and another seed."""
    changes: dict[str, Any] = {}
    for field in hidden.__struct_fields__:
        value = getattr(hidden, field)
        if isinstance(value, tuple):
            changes[field] = tuple(random.sample(value, len(value)))
        elif hasattr(value, "seed"):
            changes[field] = msgspec.structs.replace(value, seed=random.randbytes(16), drawn=7)
    return msgspec.structs.replace(hidden, **changes)


def seen(table: Table) -> list[Any]:
    """All that anybody can see, with what is staged."""
    seats = range(1, len(table.see().players) + 1)
    found: list[Any] = [table.see(None), table.events]
    for seat in seats:
        open = table.position(seat)
        choices = table.game.legal_actions(open, seat)
        found += [table.game.view(open, seat), choices, table.game.prompts(open)]
        found += [table.game.default(open, seat) if open is table.confirmed else ()]
        found += [
            table.game.describe(open, seat, pick(choice, lambda bound: 0)) for choice in choices
        ]
    return found


# -- defaults and seats that leave ---------------------------------------------------------


@pytest.mark.clause("DR-3")
@every_game
def test_the_default_is_legal_and_can_be_confirmed(name: str, seats: int) -> None:
    table = table_of(name, seats)
    for _, _ in zip(range(60), turns(table, Random(seats)), strict=False):
        for prompt in table.prompts:
            open = table.confirmed
            for action in table.game.default(open, prompt.seat):
                open = table.game.stage(open, prompt.seat, action)
            now = prompt_of(table.game, open, prompt.seat)
            assert now is not None
            assert now.can_confirm


@pytest.mark.clause("DR-3")
@every_game
def test_a_game_of_defaults_alone_goes_on(name: str, seats: int) -> None:
    table = table_of(name, seats, max_rounds="3")
    for _ in range(200):
        if not table.prompts:
            break
        table.seat(table.prompts[0].seat).runs_out_of_time()
    assert table.outcome is not None


@pytest.mark.clause("DR-4")
@every_game
def test_a_seat_leaves_at_any_point_and_the_game_goes_on(name: str, seats: int) -> None:
    for number in range(12):
        random = Random(number)
        table = table_of(name, seats, number)
        playing = list(range(1, seats + 1))
        played(table, random, random.randrange(40))
        while len(playing) > 1 and table.outcome is None:
            leaver = playing.pop(random.randrange(len(playing)))
            table.drop(leaver)
            assert leaver not in {prompt.seat for prompt in table.prompts}
            assert table.see(None).players[leaver - 1].dropped
            if table.outcome is None:
                assert leaver not in table.see(None).turn_order
                played(table, random, random.randrange(15))
        assert table.outcome is not None
        ranking = [result.seat for result in table.outcome.results]
        assert set(ranking[: len(playing)]) == set(playing)


@pytest.mark.clause("DR-4")
@every_game
def test_a_seat_that_left_is_never_asked_anything(name: str, seats: int) -> None:
    """Those leave, above all, who are asked together with others: they may still owe something."""
    for number in range(12):
        random = Random(number)
        table = table_of(name, seats, number)
        gone: set[int] = set()
        for _ in zip(range(200), turns(table, random), strict=False):
            asked = [prompt.seat for prompt in table.prompts]
            assert not gone & set(asked)
            if len(gone) < seats - 2 and random.random() < (0.5 if len(asked) > 1 else 0.02):
                leaver = random.choice(asked)
                table.drop(leaver)
                gone.add(leaver)
                assert not gone & {prompt.seat for prompt in table.prompts}


@pytest.mark.clause("DR-4")
@every_planned_game
def test_with_a_seat_less_the_game_reaches_its_real_end(name: str, seats: int) -> None:
    if seats == 2:
        pytest.skip("the last one left wins at once")
    for number in range(6):
        random = Random(number)
        table = table_of(name, seats, number)
        played(table, random, 3 * number)
        table.drop(random.randrange(seats) + 1)
        for _ in turns(table, random):
            pass
        assert table.outcome is not None
        assert table.outcome.reason == EndReason.COMPLETED
