"""Drawings of tables: golden texts, bounds on their size, and what comes from others.

The golden files are made by `UPDATE_DRAWINGS=1 pytest tests/client/test_drawing.py`, and so
for `test_drawing_cards.py`; look at what has changed before you keep it. The tables with
cards are made by `samples`.
"""

import io
import json
import os
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from tableturn.v1 import actions_pb2, table_pb2, views_pb2
from tableturn_client.drawing import (
    ASCII,
    Eyes,
    Look,
    boards,
    draw,
    legend,
    lobby,
    log,
    results,
    status,
    words,
)
from tableturn_client.drawing import cubes as cube_drawing
from tableturn_client.drawing.seats import Seats

DRAWINGS = Path(__file__).parent / "drawings"
CARDS = ("spice_turn", "spice_acquire", "spice_result", "sea_turn", "sea_acquire", "sea_result")
TABLES = (
    *("start", "middle", "result", "free_order", "free_turns", "free_together", "lobby"),
    *CARDS,
)


def table(name: str) -> table_pb2.TableView:
    document = json.loads((DRAWINGS / f"{name}.json").read_text("utf-8"))
    return ParseDict(document, table_pb2.TableView())


def written(drawing: RenderableType, width: int, *, color: bool = False) -> str:
    """What a terminal of this width would get."""
    file = io.StringIO()
    console = Console(
        file=file, width=width, color_system="256" if color else None, force_terminal=color
    )
    console.print(drawing, soft_wrap=True)
    return file.getvalue()


def is_as_before(name: str, text: str) -> None:
    """Compare with the golden file."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    golden = DRAWINGS / f"{name}.txt"
    if os.environ.get("UPDATE_DRAWINGS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def widest(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def lines(text: str) -> int:
    return text.rstrip("\n").count("\n") + 1


# ---------------------------------------------------------------- golden files


@pytest.mark.parametrize("name", TABLES)
def test_a_table_on_a_small_terminal(name: str) -> None:
    drawn = draw(table(name), Look(80, 24), Eyes((2,), 2), 20)
    is_as_before(f"{name}_small", written(drawn, 80))


@pytest.mark.parametrize("name", ["start", "middle", "result", *CARDS])
def test_a_table_on_a_large_terminal(name: str) -> None:
    drawn = draw(table(name), Look(80, 60), Eyes((2,), 2))
    is_as_before(f"{name}_large", written(drawn, 80))


@pytest.mark.parametrize("name", ["middle", "sea_turn"])
def test_a_table_on_a_wide_terminal(name: str) -> None:
    drawn = draw(table(name), Look(100, 50), Eyes((2,), 2), 40)
    is_as_before(f"{name}_wide", written(drawn, 100))


@pytest.mark.parametrize("name", ["middle", "spice_turn", "sea_turn"])
def test_a_table_in_plain_ascii(name: str) -> None:
    drawn = draw(table(name), Look(80, 60, ASCII), Eyes((2,), 2))
    text = written(drawn, 80).replace("Çağla", "Cagla").replace("ö", "o")
    is_as_before(f"{name}_ascii", text)
    assert text.isascii()


@pytest.mark.parametrize("name", ["middle", "spice_turn", "sea_turn"])
def test_a_table_on_a_narrow_terminal(name: str) -> None:
    drawn = draw(table(name), Look(50, 60), Eyes((2,), 2))
    is_as_before(f"{name}_narrow", written(drawn, 50))


@pytest.mark.parametrize(
    ("name", "golden"),
    [("middle", "boards"), ("spice_turn", "spice_boards"), ("sea_turn", "sea_boards")],
)
def test_all_boards(name: str, golden: str) -> None:
    is_as_before(golden, written(boards(table(name), Look(80, 40), 2), 80))


def test_the_result() -> None:
    is_as_before("result", written(results.table(table("result"), Look(80, 24)), 80))


@pytest.mark.parametrize(
    ("name", "golden"),
    [("middle", "legend"), ("spice_turn", "spice_legend"), ("sea_turn", "sea_legend")],
)
def test_the_legend(name: str, golden: str) -> None:
    is_as_before(golden, written(legend.draw(table(name), Look(80, 24)), 80))


# ---------------------------------------------------------------- size


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("width", [40, 60, 72, 80, 100, 132])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    view = table(name)
    for drawn in (draw(view, Look(width, 24), Eyes((2,), 2), 18), draw(view, Look(width, 90))):
        assert widest(written(drawn, width)) <= width
    assert widest(written(boards(view, Look(width, 24), 2), width)) <= width
    if width >= 80:
        assert widest(written(results.table(view, Look(width, 24)), width)) <= width
        assert widest(written(legend.draw(view, Look(width, 24)), width)) <= width


@pytest.mark.parametrize(
    "name", ["王小明王小明王小明王小明", "🧭🚢🧭🚢🧭🚢🧭🚢🧭🚢", "e\u0301" * 40]
)
def test_wide_names_take_their_room(name: str) -> None:
    for of in TABLES:
        view = table(of)
        for seat in view.seats:
            seat.name = name
        for width in (60, 80, 100):
            drawn = [draw(view, Look(width, 24), Eyes((2,), 2)), boards(view, Look(width, 24))]
            assert widest(written(Text("\n").join(drawn), width)) <= width


@pytest.mark.parametrize("name", ["start", "middle"])
def test_four_players_and_the_map_fit_on_80_by_24(name: str) -> None:
    drawn = draw(table(name), Look(80, 24), Eyes((2,), 2), 20)
    # Two lines of status, the smallest map, a row for each player, and what is staged.
    assert lines(written(drawn, 80)) <= 2 + 13 + 4 + 1


@pytest.mark.parametrize("width", [80, 100])
def test_the_map_is_as_large_as_the_room_allows(width: int) -> None:
    view = table("middle")
    high = [lines(written(draw(view, Look(width, 24), Eyes(), room), width)) for room in (18, 45)]
    assert high[0] < high[1] <= 45


# ---------------------------------------------------------------- meaning


def test_seats_and_cubes_are_never_told_by_colour_alone() -> None:
    text = written(draw(table("middle"), Look(80, 60), Eyes((2,), 2)), 80)
    assert "⌂2 ▲2" in text  # outpost and boat of seat 2
    assert "GGBB=14" in text or "CLOSED" in text
    assert "2 Ben (blue)" in text


def test_colours_come_with_their_own_background() -> None:
    drawn = written(cube_drawing.bundle(actions_pb2.Cubes(yellow=1, brown=2)), 80, color=True)
    assert drawn.count("\x1b[1;30;48;5;220mY") == 1
    assert drawn.count("\x1b[1;37;48;5;94mB") == 2


def test_the_ports_say_what_lies_there() -> None:
    text = written(draw(table("middle"), Look(80, 60)), 80)
    for word in ("CLOSED", "? drawn", "empty", "=13"):
        assert word in text


def test_whose_turn_it_is_can_not_be_missed() -> None:
    view = table("middle")
    own, other = (written(status.turn(view, Look(), seats), 80) for seats in ((2,), (1,)))
    assert "YOUR TURN" in own
    assert "2 Ben (blue)" in own
    assert "waiting for 2 Ben (blue)" in other
    assert "YOUR TURN" not in other


def test_a_pause_takes_the_place_of_the_turn() -> None:
    view = table("middle")
    view.paused = True
    assert "PAUSED" in written(status.turn(view, Look(), (2,)), 80)


def test_many_cubes_are_counted() -> None:
    many = actions_pb2.Cubes(yellow=12, green=3)
    assert cube_drawing.letters(many) == "12Y3G"
    assert cube_drawing.letters(actions_pb2.Cubes(red=2)) == "RR"


def test_reconstructed_values_are_told() -> None:
    assert any("reconstructed" in line for line in status.small_print(table("middle")))


def test_bots_and_who_confirms_are_told_while_seats_are_taken() -> None:
    view = table("lobby")
    view.seats[0].from_panel = True
    view.seats[1].confirmation = table_pb2.CONFIRMATION_PANEL
    view.seats[3].bot = "greedy"
    view.seats[3].confirmation = table_pb2.CONFIRMATION_PANEL
    told = written(draw(view, Look(80, 24)), 80).splitlines()
    for words_, line in (
        ("Anna (at the panel)", told[2]),
        ("Ben, confirmed at the panel", told[3]),
        ("free", told[4]),
        ("(greedy bot), confirmed at the panel", told[5]),
    ):
        assert words_ in line
    view.seats[1].confirmation = table_pb2.CONFIRMATION_DEVICE
    assert "Ben, confirmed at its device" in written(draw(view, Look(80, 24)), 80)


def test_bots_and_panels_are_told_on_a_line_during_the_game() -> None:
    view = table("middle")
    assert "bot" not in written(status.notes(view, Look()), 80)
    view.seats[0].occupant = view.seats[2].occupant = table_pb2.OCCUPANT_BOT
    view.panels.add(uid=4711, seats=[1, 2])
    view.seats[1].confirmation = table_pb2.CONFIRMATION_PANEL
    told = written(status.notes(view, Look()), 80)
    assert told == "bots on seats 1, 3 · panel 4711 · confirmed at the panel: seat 2\n"


def test_a_turn_that_waits_for_a_button_says_so() -> None:
    view = table("middle")
    view.prompts[0].can_confirm = True
    view.seats[1].confirmation = table_pb2.CONFIRMATION_PANEL
    assert view.staged[0].seat == 2
    assert "to press its button" in written(status.turn(view, Look(), (1,)), 80)
    del view.staged[:]
    assert "to press its button" not in written(status.turn(view, Look(), (1,)), 80)


def test_a_game_that_is_over_names_its_rematch() -> None:
    view = table("result")
    assert "rematch" not in written(draw(view, Look()), 80)
    view.next_table_id = "evening-2"
    assert "rematch: evening-2\n" in written(draw(view, Look()), 80)


# ---------------------------------------------------------------- what comes from others


@given(st.text(max_size=60))
def test_a_cleaned_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    cleaned = words.clean(text, 20)
    assert all(char.isprintable() for char in cleaned)
    assert cell_len(cleaned) <= 20
    assert words.clean(cleaned, 20) == cleaned


def test_names_can_not_write_to_the_screen() -> None:
    view = table("middle")
    evil = "\x1b[2J\x07\u202eAnna\r\n[bold]x[/bold]"
    view.seats[1].name = evil
    view.title = evil
    view.staged[0].texts[0] = evil
    entry = table_pb2.LogEntry(seat=2, lines=[evil])
    told = log.entry(entry, Seats.of(view))
    drawn = Text("\n").join([draw(view, Look(), Eyes((2,), 2)), boards(view, Look()), *told])
    for char in ("\x1b", "\x07", "\u202e", "\r"):
        assert char not in written(drawn, 80)
    assert "[bold]" in written(drawn, 80)  # no markup either


def test_a_heap_of_combining_marks_stays_a_letter() -> None:
    assert len(words.clean("a" + "\u0315" * 50)) <= 3


# ---------------------------------------------------------------- a newer server


def test_kinds_of_a_newer_server_break_nothing() -> None:
    view = table("middle")
    view.prompts[0].kind = 99  # type: ignore[assignment]
    view.game_view.islands.tiles[0].kind = 99  # type: ignore[assignment]
    view.game_view.islands.tiles[1].symbol = "saffron"
    view.game_view.bonuses[0].kind = 99  # type: ignore[assignment]
    view.game_view.players[1].bonuses[0].kind = 99  # type: ignore[assignment]
    view.seats[0].color = "octarine"
    view.seats[0].occupant = 99  # type: ignore[assignment]
    view.outcome.reason = 99  # type: ignore[assignment]
    view.outcome.results.add(seat=7, rank=1, points=3)
    for drawn in (
        draw(view, Look(), Eyes((2,), 2)),
        boards(view, Look()),
        legend.draw(view, Look()),
    ):
        assert written(drawn, 80)
    assert "seat 7" in written(results.table(view, Look()), 80)
    view.status = 99  # type: ignore[assignment]
    assert "does not know" in written(draw(view, Look()), 80)


def test_a_game_without_a_known_mechanic_shows_its_players() -> None:
    view = table("middle")
    view.game_view.ClearField("islands")
    text = written(draw(view, Look()), 80)
    assert "can't draw this game" in text
    assert "Ben" in text


def test_an_empty_view_is_drawn() -> None:
    empty = table_pb2.TableView(game_view=views_pb2.GameView(islands=views_pb2.IslandsView()))
    assert draw(empty, Look()) is not None
    assert lobby.options(empty) == ""
