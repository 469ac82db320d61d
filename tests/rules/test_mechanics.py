"""What games share: layouts and reachable ends, the harbour, the source of chance, choices."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_server.rules.actions import (
    BuildOutpost,
    Harvest,
    Move,
    TakePile,
    Trade,
)
from tableturn_server.rules.choices import Choice, CubeBounds, Illegal, Range, check, pick
from tableturn_server.rules.mechanics.cubes import Color, Cubes, from_letters, one
from tableturn_server.rules.mechanics.harbour import (
    CLOSED,
    EMPTY,
    TO_BE_DRAWN,
    Harbour,
    harbour_set_up,
    refilled,
)
from tableturn_server.rules.mechanics.islands import (
    NOWHERE,
    PORT,
    Islands,
    laid_out,
    layout_text,
    random_layout,
    read_layout,
)
from tableturn_server.rules.mechanics.outposts import Board, emptied, taken, uncovered
from tableturn_server.rules.mechanics.rounds import Rounds, turn_order
from tableturn_server.rules.source import Source

FIRST = "2 pmmp / 1 mmmmm / 0 mmmmmm / 1 mmmmm / 2 pmmp"
SEEDS = st.binary(min_size=16, max_size=16)


# -- islands -------------------------------------------------------------------------------


def test_a_layout_reads_the_same_however_it_is_written() -> None:
    shape = read_layout(FIRST)
    lines = "\n".join(FIRST.split(" / "))
    higher = "5 pmmp / 4 mmmmm / 3 mmmmmm / 4 mmmmm / 5 pmmp"
    loose = " 2   pmmp/1 mmmmm/0 mmmmmm/1 ..mmmmm/2 pmmp"
    assert read_layout(lines) == shape
    assert read_layout(higher) == shape
    assert read_layout(loose) != shape
    assert shape.text == FIRST


@given(SEEDS)
def test_a_random_layout_is_written_and_read_alike(seed: bytes) -> None:
    shape, source = random_layout(Source(seed))
    assert source.drawn > 20
    assert read_layout(shape.text) == shape
    kinds = {place: "p" if n in shape.ports else "m" for n, place in enumerate(shape.hexes)}
    assert layout_text(kinds) == shape.text
    assert len(set(shape.names)) == 24
    for place, beside in enumerate(shape.neighbours):
        assert all(place in shape.neighbours[other] for other in beside)


@pytest.mark.clause("EW-12", "EW-R12")
@given(SEEDS, st.randoms())
def test_a_legal_end_is_found_if_and_only_if_there_is_one(seed: bytes, chance: Random) -> None:
    """Against a search over all ways, step by step."""
    shape, _ = random_layout(Source(seed))
    islands = laid_out(shape, tuple(range(20)), 4)
    crowd = chance.sample(range(24), 2)
    for seat in (2, 3, 4):
        islands = islands.with_boat(seat, chance.choice(crowd))
    for place in crowd:
        for cubes in range(4):
            for free in range(3):
                assert _may_end(islands, place, cubes, free) == _finds_an_end(
                    islands, place, cubes, free
                )


def _may_end(islands: Islands, place: int, cubes: int, free: int) -> bool:
    """With some free steps, and a cube for each other one, as in Eastern Wonders."""
    return islands.may_end(place, 1, lambda steps: cubes - max(0, steps - free))


def _finds_an_end(islands: Islands, start: int, cubes: int, free: int) -> bool:
    seen = {(start, cubes, free)}
    todo = deque(seen)
    while todo:
        place, left, steps = todo.popleft()
        boats = sum(1 for boat in islands.boats[1:] if boat == place)
        if islands.tiles[place] == PORT or boats <= left:
            return True
        after = (left, steps - 1) if steps else (left - 1, 0)
        if after[0] >= 0:
            for beside in islands.shape.neighbours[place]:
                if (beside, *after) not in seen:
                    seen.add((beside, *after))
                    todo.append((beside, *after))
    return False


def test_owners_are_paid_on_market_tiles_only() -> None:
    shape = read_layout(FIRST)
    islands = laid_out(shape, tuple(range(20)), 3)
    port, market = shape.index["A1"], shape.index["C3"]
    for seat in (1, 2, 3):
        islands = islands.with_boat(seat, market)
    assert islands.owners_at(market, 2) == (1, 3)
    assert islands.with_boat(1, port).with_boat(3, port).owners_at(port, 1) == ()
    assert islands.with_boat(3, NOWHERE).owners_at(market, 2) == (1,)


# -- harbour, outposts, rounds -------------------------------------------------------------


@pytest.mark.clause("EW-05")
@given(SEEDS)
def test_closed_port_lies_among_the_first_six_of_the_pile(seed: bytes) -> None:
    harbour, pile, _ = harbour_set_up(26, 4, Source(seed))
    assert pile.index(CLOSED) < 6
    assert sorted((*harbour.tiles, *pile)) == [CLOSED, *range(26)]


@pytest.mark.clause("EW-19", "EW-R9")
@given(SEEDS, st.lists(st.integers(0, 3), max_size=40))
def test_from_the_draw_of_closed_port_on_one_port_is_always_closed(
    seed: bytes, claims: list[int]
) -> None:
    harbour, pile, _ = harbour_set_up(26, 4, Source(seed))
    for port in claims:
        if harbour.tile(port) is None:
            continue
        harbour, pile, _ = refilled(harbour.claimed(port), pile)
        assert TO_BE_DRAWN not in harbour.tiles
        assert harbour.tiles.count(CLOSED) == (CLOSED not in pile)
        assert (EMPTY in harbour.tiles) <= (not pile)
        assert harbour.pile == len(pile)


def test_nothing_is_drawn_where_nothing_was_claimed() -> None:
    harbour = Harbour(tiles=(1, 2, CLOSED, 4), pile=2)
    assert refilled(harbour, (7, 8)) == (harbour, (7, 8), ())


@pytest.mark.clause("EW-16", "EW-31")
def test_columns_and_points_of_a_board() -> None:
    board = Board(("a", "b"), ((0, 1, 2), (0, 3, 5)))
    built = taken(taken((0, 0), 0), 0)
    assert emptied((0, 0), built) is None
    assert emptied(built, taken(built, 1)) == 1
    assert uncovered(board, (2, 3)) == 1 + 8
    assert board.columns == 3


@pytest.mark.clause("EW-10", "DR-4")
def test_rounds_skip_who_left_and_end_after_the_last_in_the_order_of_the_start() -> None:
    assert turn_order(3, 4) == (3, 4, 1, 2)
    rounds = Rounds(order=(3, 4, 1, 2), seat=1, round=5, last=True)
    assert rounds.after({2}, 0) is None
    after = rounds.after({3}, 0)
    assert after is not None
    assert (after.seat, after.round) == (2, 5)
    rounds = Rounds(order=(3, 4, 1, 2), seat=2, round=5)
    after = rounds.after({3}, 0)
    assert after is not None
    assert (after.seat, after.round) == (4, 6)
    assert rounds.after({3}, 5) is None


# -- chance --------------------------------------------------------------------------------


def test_the_source_gives_the_same_numbers_for_ever() -> None:
    order, source = Source(bytes(range(16))).shuffled(range(10))
    assert (order, source.drawn) == ((8, 1, 7, 4, 0, 6, 5, 3, 2, 9), 9)
    number, source = source.below(1_000_000)
    assert (number, source.drawn) == (603869, 10)


def test_all_orders_are_equally_likely() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for number in range(2_400):
        order, _ = Source(number.to_bytes(16, "big")).shuffled(range(4))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 60  # chi-squared, 23 free


def test_a_bound_below_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Source(bytes(16)).below(0)


# -- choices -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "action", "words"),
    [
        (
            Choice(kind="trade", count=Range(1, 3)),
            Trade(4),
            "trade: count must be from 1 to 3, not 4",
        ),
        (
            Choice(kind="move", tiles=("B1", "B2"), colors=(Color.RED,)),
            Move("B1"),
            "move: cube must be one of red, not nothing",
        ),
        (
            Choice(kind="move", tiles=("B1",), label="move one step (free)"),
            Move("B1", Color.RED),
            "move: no cube is chosen here",
        ),
        (
            Choice(kind="take_pile", piles=(from_letters("RR"),)),
            TakePile(from_letters("YY")),
            "take pile: pile must be one of RR, not YY",
        ),
        (
            Choice(kind="build_outpost", cubes=CubeBounds(1, 1, from_letters("YR"))),
            BuildOutpost(Cubes(-1, 1, 1, 0)),
            "build: choose 1 out of YR",
        ),
        (Choice(kind="build_outpost"), BuildOutpost(one(Color.RED)), "choose 0 out of none"),
    ],
)
def test_a_refusal_says_what_is_allowed(choice: Choice, action: Move, words: str) -> None:
    with pytest.raises(Illegal, match=words):
        check(choice, action)


def test_negative_cubes_are_never_within_bounds() -> None:
    bounds = CubeBounds(1, 1, from_letters("YR"))
    assert not bounds.admits(Cubes(-1, 2, 0, 0))
    assert not bounds.admits(Cubes(2, -1, 0, 0))
    assert bounds.admits(one(Color.RED))


@given(st.integers(0, 4), st.integers(0, 4), st.text("YRGB", max_size=8), st.randoms())
def test_what_is_picked_is_admitted(low: int, more: int, held: str, chance: Random) -> None:
    bounds = CubeBounds(min(low, len(held)), min(low, len(held)) + more, from_letters(held))
    choice = Choice(kind="build_outpost", cubes=bounds)
    check(choice, pick(choice, chance.randrange))
    check(choice, pick(choice, lambda bound: 0))
    assert pick(Choice(kind="harvest"), lambda bound: 0) == Harvest()
