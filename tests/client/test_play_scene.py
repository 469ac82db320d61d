"""What a person sees during a session: it fits on the screen, and says what to do."""

from dataclasses import replace

import pytest
from rich.text import Text

from tableturn.v1 import actions_pb2, table_pb2
from tableturn_client.drawing import Look
from tableturn_client.play import pages, scene
from tableturn_client.play.answers import begin
from tableturn_client.play.scene import Scene
from tests.client.test_drawing import table, widest, written

SMALL = Look(80, 22)  # 80 by 24 without the input line and the line below it
LOG = [Text(f"line {number}") for number in range(50)]


def seen(name: str, active: int = 2) -> Scene:
    return Scene(table(name), own=(2,), active=active, log=LOG)


def height(text: Text) -> int:
    return text.plain.count("\n") + 1


@pytest.mark.parametrize("name", ["start", "middle", "free_order", "free_turns", "free_together"])
@pytest.mark.parametrize("look", [SMALL, Look(100, 38), Look(132, 48)])
def test_a_question_fits_on_the_screen(name: str, look: Look) -> None:
    for now in (
        seen(name),
        replace(seen(name), note="Not possible: no.", banner="connection lost"),
    ):
        drawn = scene.whole(now, look)
        assert height(drawn) <= look.height
        assert widest(written(drawn, look.width)) <= look.width


def test_the_log_fills_the_room_that_is_left() -> None:
    drawn = scene.whole(seen("free_turns"), SMALL).plain
    assert "line 49" in drawn
    assert "line 44" in drawn


def test_choices_are_numbered_and_told_as_they_are_typed() -> None:
    view = table("start")
    del view.choices[:]
    view.choices.add(kind="move", tiles=["B2", "C3"], label="move one step (free)")
    view.choices.add(kind="harvest", label="harvest YY")
    view.prompts[0].can_confirm = True
    view.prompts[0].confirm_skips = True
    asked = scene.question(Scene(view, active=view.prompts[0].seat), Look()).plain.splitlines()
    assert asked[0].startswith("  1 move one step (free): B2 C3")
    assert asked[0].endswith(" move TILE")
    assert asked[1].startswith("  2 harvest YY")
    assert "end the turn without doing anything" in asked[2]


def test_what_is_still_to_be_done_is_told_once() -> None:
    view = table("start")
    view.prompts[0].can_confirm = False
    view.prompts[0].label = "pay seat 3"
    asked = scene.question(Scene(view, active=view.prompts[0].seat), Look()).plain
    assert "still to do: pay seat 3" in asked
    view.prompts[0].label = view.choices[0].label
    asked = scene.question(Scene(view, active=view.prompts[0].seat), Look()).plain
    assert "still to do" not in asked


def test_a_question_about_a_part_offers_its_values_and_the_default() -> None:
    trade = actions_pb2.Choice(kind="trade", label="trade YY>G")
    trade.count.min, trade.count.max = 1, 3
    asked = scene.question(replace(seen("middle"), draft=begin(trade)), Look()).plain
    assert "trade YY>G - How many times?" in asked
    assert "Enter: 3" in asked
    assert "1 to 3" in asked


def test_nobody_is_asked_who_may_not_answer() -> None:
    assert scene.question(seen("middle", active=0), Look()).plain == ""


def test_the_lobby_says_how_others_join() -> None:
    view = table("lobby")
    (hint,) = pages.hints(view, (2,), False, "10.0.0.5:7430")
    assert hint == ("Others join with: tableturn play evening --server 10.0.0.5:7430 --name NAME")
    assert pages.hints(view, (2,), False, "", "K7QM-4XRD") == (
        "Others join with: tableturn play evening --name NAME",
        "or tableturn play K7QM-4XRD --name NAME",
    )
    view.private = True
    [hint] = pages.hints(view, (2,), False, "", "K7QM-4XRD")
    assert hint == "Others join with: tableturn play K7QM-4XRD --name NAME"
    assert pages.hints(view, (2,), False, "") == ()
    view.seats[2].occupant = table_pb2.OCCUPANT_PERSON
    assert pages.hints(view, (2,), True, "") == ("All are here: type start",)
    assert pages.hints(view, (2,), False, "") == ("Waiting for the host to start.",)


def test_a_page_of_help_names_the_forms_of_this_game_only() -> None:
    text = pages.page("help", seen("free_turns"), Look()).plain
    assert "finish game" in text
    assert "move TILE" not in text
    text = pages.page("help", seen("middle"), Look()).plain
    assert "move TILE" in text
    assert "reconstructed" in text
    assert "acquire CARD" not in text
    assert "[with CARD]" not in text
    for name, there, missing in (
        ("spice_turn", ("acquire CARD", "claim CARD", "rest"), ("move TILE", "harvest")),
        ("sea_turn", ("move TILE [with CARD]", "take card CARD"), ("harvest", "dropping")),
    ):
        text = pages.page("help", seen(name), Look()).plain.split("Signs")[0]
        assert all(word in text for word in there)
        assert not any(word in text for word in missing)
    assert widest(text) <= 80
