"""Texts and choices: what is offered can be expanded, picked at random, and typed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_client import errors, expand, pick, to_action, to_text, usage
from tableturn_client.cli.commands.turns import action_texts
from tableturn_client.messages import Action, Choice, CubeBounds, CubeColor, Cubes, Range

counts = st.integers(0, 4)
cubes = st.builds(Cubes, yellow=counts, red=counts, green=counts, brown=counts)


@st.composite
def bounds(draw: st.DrawFn) -> CubeBounds:
    there = draw(cubes)
    total = there.yellow + there.red + there.green + there.brown
    most = draw(st.integers(0, total))
    return CubeBounds(min=draw(st.integers(0, most)), max=most, available=there)


@st.composite
def ranges(draw: st.DrawFn, least: int, most: int) -> Range:
    low = draw(st.integers(least, most))
    return Range(min=low, max=draw(st.integers(low, most)))


tiles = st.lists(st.sampled_from(["A1", "B2", "C3", "D10"]), min_size=1, unique=True)
colors = st.lists(st.integers(1, 4), min_size=1, unique=True)
seats = st.lists(st.integers(1, 5), min_size=1, unique=True)
cards = st.lists(st.sampled_from(["S1", "M07", "M12", "P03"]), min_size=1, unique=True)
choices = st.one_of(
    st.builds(Choice, kind=st.just("move"), tiles=tiles),
    st.builds(Choice, kind=st.just("move"), tiles=tiles, colors=colors),
    st.builds(Choice, kind=st.just("move"), tiles=tiles, cards=cards),
    st.builds(Choice, kind=st.just("put_cube"), colors=colors, cards=cards),
    st.builds(Choice, kind=st.sampled_from(["play_card", "claim_card"]), cards=cards),
    st.builds(Choice, kind=st.just("pay_owner"), seats=seats, colors=colors),
    st.builds(Choice, kind=st.just("build_outpost"), cubes=bounds()),
    st.builds(Choice, kind=st.just("return_cubes"), cubes=bounds()),
    st.builds(Choice, kind=st.just("trade"), count=ranges(1, 5)),
    st.builds(Choice, kind=st.just("score_points"), seats=seats, points=ranges(-9, 9)),
    st.builds(Choice, kind=st.just("take_pile"), piles=st.lists(cubes, min_size=1, max_size=3)),
    st.builds(Choice, kind=st.sampled_from(["claim_tile", "harvest", "pass_round"])),
)


@given(choices, st.integers(0, 2**32))
def test_what_is_picked_is_one_of_all(choice: Choice, seed: int) -> None:
    expansion = expand(choice, few=10**6)
    assert expansion.complete
    assert expansion.total == len(expansion.actions) >= 1
    assert pick(choice, random.Random(seed)) in expansion.actions


@given(choices)
def test_each_action_can_be_typed(choice: Choice) -> None:
    for action in expand(choice, few=200).actions:
        kind = action.WhichOneof("action")
        assert kind == choice.kind
        typed = to_action(to_text(action))
        assert to_text(typed) == to_text(action)


@given(choices)
def test_many_are_bounded_not_listed(choice: Choice) -> None:
    expansion = expand(choice, few=3)
    assert expansion.complete == (expansion.total <= 3)
    assert expansion.usage == usage(choice)


def test_a_choice_reads_as_it_is_typed() -> None:
    held = Cubes(yellow=2, red=1)
    choice = Choice(kind="return_cubes", cubes=CubeBounds(min=2, max=2, available=held))
    assert usage(choice) == "return CUBES (2 out of YYR)"
    assert expand(choice).texts == ("return YY", "return YR")
    put = Choice(
        kind="put_cube",
        colors=[CubeColor.CUBE_COLOR_YELLOW, CubeColor.CUBE_COLOR_BROWN],
        cards=["M07", "M12"],
    )
    assert usage(put) == "put COLOUR on CARD (yellow brown, M07 M12)"
    assert expand(put).texts == (
        "put yellow on M07", "put yellow on M12", "put brown on M07", "put brown on M12",
    )  # fmt: skip
    free = Choice(kind="build_outpost", cubes=CubeBounds())
    assert expand(free).texts == ("build",)
    scores = Choice(kind="score_points", seats=[1, 2], points=Range(min=-1000, max=1000))
    assert usage(scores) == "score POINTS for seat SEAT (1 2, -1000 to 1000)"
    assert expand(scores).total == 4002


def test_a_kind_of_a_later_version_is_left_alone() -> None:
    choice = Choice(kind="fly", label="fly to the moon")
    assert expand(choice).actions == ()
    with pytest.raises(errors.BadValue):
        pick(choice, random.Random(1))
    assert to_text(Action()).startswith("?")


def test_an_unreadable_text_says_where() -> None:
    with pytest.raises(errors.UnreadableText) as raised:
        to_action("move to the moon", index=3)
    assert raised.value.index == 3
    assert "^" in raised.value.marked


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["move", "C3"], ["move C3"]),
        (["move C3"], ["move C3"]),
        (["move", "C3", "then", "build"], ["move C3", "build"]),
        (["move C3", "build"], ["move C3", "build"]),
        (["build", "move C3"], ["build", "move C3"]),
        (["move C3; build; trade 2"], ["move C3", "build", "trade 2"]),
        (["move", "C3;", "build"], ["move C3", "build"]),
        (["score", "-5", "for", "seat", "2"], ["score -5 for seat 2"]),
        ([";"], []),
    ],
)
def test_several_actions_on_a_command_line(words: list[str], texts: list[str]) -> None:
    assert action_texts(words) == texts
