"""Answers of a person: numbers with words, and texts, put together to actions."""

import pytest
from rich.text import Text

from tableturn.v1.actions_pb2 import Choice, CubeBounds, CubeColor, Cubes, Range
from tableturn_client.drawing import Look
from tableturn_client.drawing.choices import line
from tableturn_client.drawing.seats import Seats
from tableturn_client.play import paying
from tableturn_client.play.answers import Draft, Unclear, answer, begin, offers, typed
from tableturn_client.play.words import command

YELLOW, RED, BROWN = (
    CubeColor.CUBE_COLOR_YELLOW,
    CubeColor.CUBE_COLOR_RED,
    CubeColor.CUBE_COLOR_BROWN,
)
FREE_STEP = Choice(kind="move", tiles=["B2", "C3"], label="move one step (free)")
PAID_STEP = Choice(kind="move", tiles=["B2", "C3"], colors=[YELLOW, BROWN], label="move one step")
HARVEST = Choice(kind="harvest", label="harvest YY")
BUILD = Choice(
    kind="build_outpost",
    cubes=CubeBounds(min=2, max=2, available=Cubes(yellow=3, red=1)),
    label="build an outpost",
)
TRADE = Choice(kind="trade", count=Range(min=1, max=3), label="trade")
PICK_UP = Choice(kind="pick_up", cubes=CubeBounds(min=1, max=3, available=Cubes(yellow=1, green=2)))
RETURN = Choice(
    kind="return_cubes", cubes=CubeBounds(min=2, max=2, available=Cubes(yellow=1, red=9))
)
PILE = Choice(kind="take_pile", piles=[Cubes(yellow=4), Cubes(yellow=2, red=1)])
SCORE = Choice(kind="score_points", seats=[1, 2], points=Range(min=-9, max=9))
PLAY = Choice(kind="play_card", cards=["S1", "M12", "M13"], label="play a card")
PUT = Choice(kind="put_cube", colors=[YELLOW, RED], cards=["M03", "M07"], label="put a cube")
LAST = Choice(kind="put_cube", colors=[YELLOW, RED], cards=["M07"], label="put a cube")
SAIL = Choice(kind="move", tiles=["B2", "C3"], cards=["S1", "M12"], label="move one step")
FACES = {"S1": Text("+YY"), "M12": Text("R>YYY"), "M13": Text("YYY>B"), "M03": Text("YYY>B")}
"""What is on the cards in sight; M13 and M03 are alike."""
ALL = (FREE_STEP, HARVEST, BUILD, TRADE, PILE, SCORE)


def text_of(draft: Draft) -> str:
    assert draft.missing is None, draft.missing
    return draft.text


@pytest.mark.parametrize(
    ("choice", "words", "text"),
    [
        (HARVEST, "", "harvest"),
        (FREE_STEP, "b2", "move B2"),
        (PAID_STEP, "B2 y", "move B2 dropping yellow"),
        (PAID_STEP, "brown C3", "move C3 dropping brown"),
        (PAID_STEP, "to C3 dropping brown", "move C3 dropping brown"),
        (BUILD, "yr", "build paying YR"),
        (TRADE, "2", "trade 2"),
        (PILE, "YYR", "take pile YYR"),
        (PILE, "1", "take pile YYYY"),
        (SCORE, "2 -5", "score -5 for seat 2"),
        (SCORE, "2 1", "score 1 for seat 2"),
    ],
)
def test_a_number_and_words_make_an_action(choice: Choice, words: str, text: str) -> None:
    assert text_of(begin(choice, words.split())) == text


@pytest.mark.parametrize(
    ("choice", "words", "text"),
    [
        (PLAY, "m12", "play M12"),
        (PLAY, "yyy>b", "play M13"),
        (PLAY, "+YY", "play S1"),
        (PUT, "y m07", "put yellow on M07"),
        (PUT, "red on M03", "put red on M03"),
        (LAST, "r", "put red on M07"),
        (SAIL, "c3 with s1", "move C3 with S1"),
        (SAIL, "m12 B2", "move B2 with M12"),
    ],
)
def test_cards_are_named_or_known_by_what_is_on_them(choice: Choice, words: str, text: str) -> None:
    assert text_of(begin(choice, words.split(), FACES)) == text


def test_cards_are_asked_for_with_what_is_on_them() -> None:
    draft = begin(PLAY, (), FACES)
    assert [(word, drawn.plain) for word, drawn in offers(draft, Seats())] == [
        ("S1", "+YY"),
        ("M12", "R>YYY"),
        ("M13", "YYY>B"),
    ]
    assert text_of(answer(draft, "m13")) == "play M13"
    with pytest.raises(Unclear, match="choose S1, M12 or M13"):
        answer(draft, "M07")
    alike = Choice(kind="take_card", cards=["M03", "M13"])
    with pytest.raises(Unclear, match="choose M03 or M13"):
        begin(alike, ["yyy>b"], FACES)


def test_a_cube_goes_onto_the_leftmost_card_unless_another_is_named() -> None:
    assert text_of(begin(PUT, ["r"])) == "put red on M03"
    assert text_of(answer(begin(PUT), "r m07")) == "put red on M07"
    assert begin(PUT, ["m07"]).missing == "cube"
    assert text_of(answer(begin(PUT), "")) == "put yellow on M03"
    assert begin(PLAY).default is None


def test_a_payment_that_is_due_is_asked_for_at_once() -> None:
    assert paying.carried_on([PUT, HARVEST], FACES) is None
    assert paying.carried_on([PLAY], FACES) is None
    draft = paying.carried_on([PUT], FACES)
    assert draft is not None
    assert draft.missing == "cube"
    assert [(word, drawn.plain) for word, drawn in offers(draft, Seats())] == [
        ("1", "Yellow"),
        ("2", "Red"),
        ("yr", "a cube for each card from the left"),
    ]


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("ry", ["put red on M03", "put yellow on M07"]),
        ("B, b", ["put brown on M03", "put brown on M07"]),
        ("y", []),
        ("yyy", []),
        ("r m07", []),
        ("", []),
    ],
)
def test_several_cubes_are_put_down_from_the_left(line: str, texts: list[str]) -> None:
    assert paying.several(begin(PUT), line) == texts
    assert paying.several(begin(PLAY), line) == []


@pytest.mark.parametrize(
    ("choice", "form"),
    [
        (FREE_STEP, "move TILE"),
        (PAID_STEP, "move TILE [dropping COLOUR]"),
        (SAIL, "move TILE [with CARD]"),
    ],
)
def test_only_the_parts_that_are_asked_for_are_shown(choice: Choice, form: str) -> None:
    assert line(1, choice, Seats(), Look(100, 30)).plain.endswith(form)


def test_what_is_missing_is_asked_step_by_step() -> None:
    draft = begin(PAID_STEP)
    assert draft.missing == "tile"
    assert [word for word, _ in offers(draft, Seats())] == ["B2", "C3"]
    draft = answer(draft, "c3")
    assert draft.missing == "cube"
    assert [drawn.plain for _, drawn in offers(draft, Seats())] == ["Yellow", "Brown"]
    assert text_of(answer(draft, "2")) == "move C3 dropping brown"
    assert text_of(answer(draft, "b")) == "move C3 dropping brown"


def test_what_can_only_be_one_thing_is_not_asked() -> None:
    only = Choice(kind="move", tiles=["B2"], colors=[RED])
    assert text_of(begin(only)) == "move B2 dropping red"
    once = Choice(kind="trade", count=Range(min=1, max=1))
    assert text_of(begin(once)) == "trade 1"
    free = Choice(kind="build_outpost", cubes=CubeBounds())
    assert text_of(begin(free)) == "build"


def test_enter_is_a_default_where_it_does_no_harm() -> None:
    assert text_of(answer(begin(TRADE), "")) == "trade 3"
    assert text_of(answer(begin(PICK_UP), "")) == "pick up YGG"
    assert text_of(answer(begin(RETURN), "")) == "return YR"
    for choice in (PAID_STEP, BUILD, PILE, SCORE):
        with pytest.raises(Unclear):
            answer(begin(choice), "")


@pytest.mark.parametrize(
    ("choice", "words", "said"),
    [
        (FREE_STEP, "E4", '"E4" does not fit: choose B2 or C3'),
        (PAID_STEP, "B2 red", '"red" does not fit: choose yellow or brown'),
        (BUILD, "YYY", '"YYY" does not fit: choose 2 of YYYR'),
        (TRADE, "4", '"4" does not fit: a number from 1 to 3'),
        (HARVEST, "now", "nothing is to be chosen"),
        (SCORE, "3", '"3" does not fit'),
    ],
)
def test_what_does_not_fit_is_told_with_what_does(choice: Choice, words: str, said: str) -> None:
    with pytest.raises(Unclear) as unclear:
        answer(begin(choice, words.split()), "")
    assert said in str(unclear.value)


def test_a_text_is_completed_by_questions() -> None:
    assert text_of(typed("move c3", [FREE_STEP])) == "move C3"
    assert typed("move c3", [PAID_STEP]).missing == "cube"
    assert typed("build", [BUILD]).missing == "cubes"
    assert text_of(typed("trade", [TRADE])) == "trade 1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("claim", '"claim" is not possible now'),
        ("move E4", "E4 does not fit"),
        ("move C3 dropping red", "no cube is chosen here"),
        ("trade 9", "from 1 to 3"),
        ("jump", "no action begins with"),
    ],
)
def test_a_text_that_is_not_possible_is_told(text: str, said: str) -> None:
    with pytest.raises(Unclear) as unclear:
        typed(text, ALL)
    assert said in str(unclear.value)


def test_a_kind_of_a_newer_server_is_shown_and_not_sent() -> None:
    newer = Choice(kind="sail_away", label="sail away", tiles=["C3"])
    assert "newer version" in line(4, newer, Seats(), Look()).plain
    with pytest.raises(Unclear, match="newer version"):
        begin(newer)


@pytest.mark.parametrize("choice", ALL)
def test_a_numbered_choice_fits_on_a_line(choice: Choice) -> None:
    drawn = line(1, choice, Seats(), Look(80, 24))
    assert drawn.cell_len <= 80
    assert "\n" not in drawn.plain


def test_commands_are_told_from_answers() -> None:
    assert command(" U ") == "undo"
    assert command("undo all") == "undo all"
    assert command("?") == "help"
    assert not command("1 b2")
    assert not command("build")
