"""The text form of actions: an exact inverse, forgiving to people, and never a crash."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tableturn import notation
from tableturn.notation import Form, Parsed, Unreadable, Unwritable
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.mechanics.cubes import Color, Cubes, from_letters

CLASSES: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in Action.__args__}

# ---------------------------------------------------------------- there and back

MOVE = "move TILE [dropping COLOUR] [with CARD]"
COUNTS = st.integers(0, 4) | st.integers(0, 2**32 - 1)
CUBES = st.tuples(COUNTS, COUNTS, COUNTS, COUNTS)
NUMBERS = st.integers(1, 2**32 - 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tile": st.from_regex(r"[A-Z]{1,2}[0-9]{1,3}", fullmatch=True),
    "cube": st.integers(1, 4),
    "cubes": CUBES,
    "pile": CUBES,
    "seat": NUMBERS,
    "bonus": st.integers(1, 5),
    "count": NUMBERS,
    "points": st.integers(-(2**31), 2**31 - 1),
    "card": st.from_regex(r"[A-Z]{1,2}[0-9]{1,3}", fullmatch=True),
}
OPTIONAL = {("move", "cube"), ("move", "card"), ("build_outpost", "cubes")}


@st.composite
def written_actions(draw: st.DrawFn) -> Parsed:
    form = draw(st.sampled_from(notation.FORMS))
    fields = {name: draw(VALUES[name]) for name in form.fields}
    for name in form.fields:
        if (form.kind, name) in OPTIONAL and (draw(st.booleans()) or fields[name] == (0, 0, 0, 0)):
            del fields[name]
    return form.kind, fields


@given(written_actions())
def test_parsing_undoes_writing(action: Parsed) -> None:
    text = notation.format(*action)
    assert len(text) <= notation.MAX_TEXT
    assert notation.parse(text) == action
    assert notation.parse(text.upper()) == action
    assert notation.parse(f"\t {text.replace(' ', '  ')} ") == action


@given(st.lists(written_actions(), max_size=6))
def test_a_turn_is_its_actions_with_semicolons(turn: list[Parsed]) -> None:
    text = notation.format_turn(turn)
    assert notation.parse_turn(text) == tuple(turn)
    assert (text == "-") == (turn == [])


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("take pile YYR", "take_pile", {"pile": (2, 1, 0, 0)}),
        ("place boat C3", "place_boat", {"tile": "C3"}),
        ("move C3", "move", {"tile": "C3"}),
        ("move C3 dropping red", "move", {"tile": "C3", "cube": 2}),
        ("pay red to seat 2", "pay_owner", {"cube": 2, "seat": 2}),
        ("pick up YR", "pick_up", {"cubes": (1, 1, 0, 0)}),
        ("build", "build_outpost", {}),
        ("build paying RR", "build_outpost", {"cubes": (0, 2, 0, 0)}),
        ("take bonus harvest", "take_bonus", {"bonus": 3}),
        ("upgrade yellow", "upgrade", {"cube": 1}),
        ("trade 2", "trade", {"count": 2}),
        ("claim", "claim_tile", {}),
        ("harvest", "harvest", {}),
        ("return YY", "return_cubes", {"cubes": (2, 0, 0, 0)}),
        ("return nothing", "return_cubes", {"cubes": (0, 0, 0, 0)}),
        ("return 13Y2B", "return_cubes", {"cubes": (13, 0, 0, 2)}),
        ("move C3 with M12", "move", {"tile": "C3", "card": "M12"}),
        (
            "move C3 dropping red with M12",
            "move",
            {"tile": "C3", "cube": 2, "card": "M12"},
        ),
        ("acquire M12", "acquire_card", {"card": "M12"}),
        ("put red on M07", "put_cube", {"cube": 2, "card": "M07"}),
        ("take card M12", "take_card", {"card": "M12"}),
        ("play S1", "play_card", {"card": "S1"}),
        ("claim P07", "claim_card", {"card": "P07"}),
        ("rest", "rest", {}),
        ("pass", "pass_round", {}),
        ("score 5 for seat 2", "score_points", {"points": 5, "seat": 2}),
        ("score -5 for seat 2", "score_points", {"points": -5, "seat": 2}),
        ("next seat 3", "name_next", {"seat": 3}),
        ("finish game", "finish_game", {}),
    ],
)
def test_the_canonical_texts(text: str, kind: str, fields: dict[str, Any]) -> None:
    assert notation.format(kind, fields) == text
    assert notation.parse(text) == (kind, fields)


# ---------------------------------------------------------------- what people type


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("  MOVE   c3 ", "move C3"),
        ("move c3, dropping R", "move C3 dropping red"),
        ("pay r 2", "pay red to seat 2"),
        ("pay Red to 2", "pay red to seat 2"),
        ("pick 2y r", "pick up YYR"),
        ("pick up ryy", "pick up YYR"),
        ("pick up 2 yellow, red", "pick up YYR"),
        ("pick up 2yellow 1r", "pick up YYR"),
        ("return 20 y", "return 20Y"),
        ("return 6y 7b", "return 6Y7B"),
        ("return 6y 6b", "return YYYYYYBBBBBB"),
        ("build paying nothing", "build"),
        ("trade", "trade 1"),
        ("trade +3", "trade 3"),
        ("trade 003", "trade 3"),
        ("score +5 2", "score 5 for seat 2"),
        ("score 0 for 2", "score 0 for seat 2"),
        ("next 3", "next seat 3"),
        ("finish", "finish game"),
        ("take bonus VP", "take bonus vp"),
        ("put r m07", "put red on M07"),
        ("CLAIM p07", "claim P07"),
        ("move c3, with s1", "move C3 with S1"),
    ],
)
def test_reading_is_forgiving(typed: str, canonical: str) -> None:
    assert notation.format(*notation.parse(typed)) == canonical


@pytest.mark.parametrize(
    ("typed", "problem", "place", "nearest"),
    [
        ("", "there is no action", "", ()),
        (
            "mvoe C3",
            'no action begins with "mvoe"',
            "mvoe",
            (MOVE,),
        ),
        (
            "build_outpost",
            'no action begins with "build_outpost"',
            "build_outpost",
            ("build [paying CUBES]",),
        ),
        ("xyzzy", 'no action begins with "xyzzy"', "xyzzy", ()),
        (
            "take",
            '"pile" is missing after "take"',
            "",
            ("take pile CUBES", "take card CARD", "take bonus BONUS"),
        ),
        (
            "take bonsu harvest",
            '"bonsu" stands after "take" instead of "bonus"',
            "bonsu",
            ("take bonus BONUS", "take pile CUBES", "take card CARD"),
        ),
        (
            "take bonus harvst",
            '"harvst" is not a bonus tile: move, upgrade, harvest, cargo or vp'
            ' (did you mean "harvest"?)',
            "harvst",
            ("take bonus BONUS",),
        ),
        (
            "move",
            'a tile such as C3 is missing after "move"',
            "",
            (MOVE,),
        ),
        (
            "move north",
            '"north" is not a tile such as C3',
            "north",
            (MOVE,),
        ),
        (
            "move C3 droping red",
            '"droping" is not understood here, only `dropping COLOUR` or `with CARD`',
            "droping",
            (MOVE,),
        ),
        (
            "move C3 dropping red red",
            '"red" is not understood here, only `with CARD`',
            "red",
            (MOVE,),
        ),
        (
            "upgrade yelow",
            '"yelow" is not a colour: yellow, red, green or brown (did you mean "yellow"?)',
            "yelow",
            ("upgrade COLOUR",),
        ),
        ("return 2", '"2": a colour is missing after the count', "2", ("return CUBES",)),
        ("return y 2", '"2": a colour is missing after the count', "2", ("return CUBES",)),
        ("return 0Y", '"0y": the count of a colour begins at 1', "0Y", ("return CUBES",)),
        ("trade 0", '"0" is not a number of times such as 2', "0", ("trade [COUNT]",)),
        ("pass now", '"now" is too much here', "now", ("pass",)),
    ],
)
def test_what_is_wrong_and_where(
    typed: str, problem: str, place: str, nearest: tuple[str, ...]
) -> None:
    with pytest.raises(Unreadable) as unreadable:
        notation.parse(typed)
    error = unreadable.value
    assert error.problem == problem
    assert typed[error.start : error.end] == place
    assert error.nearest == nearest
    assert str(error).startswith(problem)


def test_the_place_is_marked_for_a_terminal() -> None:
    with pytest.raises(Unreadable) as unreadable:
        notation.parse_turn("harvest; move C3 droping red")
    assert unreadable.value.marked == "harvest; move C3 droping red\n                 ^^^^^^^"
    assert str(unreadable.value) == (
        '"droping" is not understood here, only `dropping COLOUR` or `with CARD`; '
        "try `move TILE [dropping COLOUR] [with CARD]`"
    )


def test_numbers_too_large_for_the_wire_are_unreadable() -> None:
    for text in ("next seat 4294967296", "score 2147483648 for seat 1", f"return {'9' * 150}Y"):
        with pytest.raises(Unreadable):
            notation.parse(text)


def test_texts_have_a_limit() -> None:
    with pytest.raises(Unreadable, match="at most 200 characters, not 201"):
        notation.parse(" " * 201)
    with pytest.raises(Unreadable, match="at most 2000 characters"):
        notation.parse_turn("pass;" * 401)


# Words of the notation in any order come much deeper than random letters.
WORDS = {word for form in notation.FORMS for word in form.usage.strip("[]").lower().split()}
ODD = ["C3", "r", "2", "yyr", "2y", "-5", ",", ";", "nothing", "\x00", "ß3", "²", "İ", "\u2028"]
VOCABULARY = st.sampled_from([*sorted(WORDS), *ODD])


@given(st.text() | st.lists(VOCABULARY).map(" ".join) | st.lists(VOCABULARY).map("".join))
@example("\ud800")
@example("move ß3")
@example("trade ²")
@example("score ٣ for seat 1")
def test_nothing_but_unreadable_comes_of_any_text(text: str) -> None:
    for read in (notation.parse, notation.parse_turn):
        unreadable = None
        try:
            read(text)
        except Unreadable as error:
            unreadable = error
        if unreadable is not None:
            assert 0 <= unreadable.start <= unreadable.end <= len(text)
            assert unreadable.marked
            assert unreadable.problem


@given(st.lists(VOCABULARY).map(" ".join))
def test_whatever_can_be_read_can_be_written(text: str) -> None:
    try:
        parsed = notation.parse(text)
    except Unreadable:
        return
    assert notation.parse(notation.format(*parsed)) == parsed


# ---------------------------------------------------------------- what can't be written


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("fly", {}, "no action is called 'fly'"),
        ("move", {}, "move needs the field tile"),
        ("move", {"tile": "c3"}, 'move: tile: "c3" is not a tile such as C3'),
        ("move", {"tile": "C3", "pile": "SR-1"}, "move has no field pile"),
        ("move", {"tile": "C3", "card": "SR-1"}, 'card: "SR-1" is not a card such as M12'),
        ("upgrade", {"cube": 0}, 'upgrade: cube: "0" is not the number of a colour'),
        ("trade", {}, "trade needs the field count"),
        ("trade", {"count": 0}, 'trade: count: "0" is not a number of times such as 2'),
        ("pick_up", {"cubes": (1, 2, 3)}, "is not how many cubes there are of each colour"),
        ("pick_up", {"cubes": (-1, 0, 0, 0)}, "is not how many cubes there are of each colour"),
        ("name_next", {"seat": "2"}, 'name_next: seat: "2" is not a seat\'s number'),
    ],
)
def test_what_has_no_text(kind: str, fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Unwritable) as unwritable:
        notation.format(kind, fields)
    assert sentence in str(unwritable.value)


def test_unset_fields_count_as_left_out() -> None:
    assert notation.format("move", {"tile": "C3", "cube": None}) == "move C3"
    assert notation.format("move", {"tile": "C3", "cube": 0}) == "move C3"
    assert notation.format("build_outpost", {"cubes": (0, 0, 0, 0)}) == "build"


# ---------------------------------------------------------------- with the rules


def test_every_action_of_the_rules_has_a_form_with_its_fields() -> None:
    assert [form.kind for form in notation.FORMS] == list(CLASSES)
    for form in notation.FORMS:
        assert set(form.fields) == set(CLASSES[form.kind].__struct_fields__)


def test_the_comments_of_the_protocol_say_the_same_texts() -> None:
    proto = (Path(notation.__file__).parents[1] / "v1" / "actions.proto").read_text()
    for form in notation.FORMS:
        beginning = form.pattern.split("{")[0].split("[")[0].strip()
        assert f"`{beginning}" in proto, form


def test_values_of_the_rules_are_written_as_they_are() -> None:
    assert notation.format("pick_up", {"cubes": from_letters("RYY")}) == "pick up YYR"
    assert notation.format("upgrade", {"cube": Color.GREEN}) == "upgrade green"
    assert notation.format("take_bonus", {"bonus": BonusKind.VP}) == "take bonus vp"
    assert Cubes(*notation.read_cubes("2Y R")) == from_letters("YYR")
    assert tuple(color.word for color in Color) == notation.COLORS
    assert tuple(kind.name.lower() for kind in BonusKind) == notation.BONUSES


def test_cubes_alone() -> None:
    assert notation.cubes_text((2, 0, 0, 1)) == "YYB"
    assert notation.cubes_text((0, 0, 0, 0)) == "nothing"
    assert notation.read_cubes("nothing") == (0, 0, 0, 0)
    assert notation.read_cubes("Yellow, 2 brown") == (1, 0, 0, 2)
    for text in ("", "pink", "2", "y nothing"):
        with pytest.raises(ValueError, match=r"cubes|colour"):
            notation.read_cubes(text)


def test_help_has_a_line_for_each_form() -> None:
    assert notation.forms() == notation.FORMS
    wanted = notation.forms("trade", "unheard_of", "build_outpost")
    assert [f"{form.usage} - {form.meaning}" for form in wanted] == [
        "trade [COUNT] - do the exchange of the tile or card, so often",
        "build [paying CUBES] - build an outpost on the tile of your boat",
    ]


def test_a_new_action_is_one_line() -> None:
    form = Form("sail", "sail to {tile} [taking {cubes}]", "sail far")
    assert form.usage == "sail to TILE [taking CUBES]"
    assert form.fields == ("tile", "cubes")
    assert form.verb == "sail"


def test_the_session_in_the_documentation_runs() -> None:
    assert doctest.testmod(notation).failed == 0
