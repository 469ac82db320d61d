"""The drawing of a virtual panel, its keys, and both together without a real terminal.

The golden files are made by `UPDATE_DRAWINGS=1 pytest tests/bridge/virtual/test_screen.py`.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput
from prompt_toolkit.key_binding import KeyPressEvent
from prompt_toolkit.output import DummyOutput
from rich.cells import cell_len

from tableturn_bridge.patterns import Pattern
from tableturn_bridge.virtual import lights, screen
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.keys import Do, Keys, Wish, legend
from tableturn_bridge.virtual.panel import UNCLEAR, Lamp
from tableturn_bridge.virtual.pty import VirtualPanel
from tableturn_bridge.virtual.screen import FATES, FOLDS, WORDS, draw, show
from tableturn_client.drawing.look import ASCII

from .play import until

DRAWINGS = Path(__file__).parent / "drawings"
STATUS = ["Eastern Wonders · table evening", "connected at /dev/pts/7, 2 bots play"]

GAME = [
    Lamp(255, 1, "TURN", 0),
    Lamp(63, 2, "NEXT", 0),
    Lamp(0, 3, "OFF", 0),
    Lamp(0, 4, "PENDING", 0),
    Lamp(120, 5, "PAUSED", 0),
    Lamp(255, 8, "STAGED", 0),
]


def is_as_before(name: str, text: str) -> None:
    golden = DRAWINGS / f"{name}.txt"
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if os.environ.get("UPDATE_DRAWINGS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


# ---------------------------------------------------------------- drawings


def test_a_panel_in_a_game() -> None:
    is_as_before("game", draw(GAME, STATUS, note="button 1: accepted"))


def test_a_narrow_panel_with_all_keys() -> None:
    text = draw(GAME, [*STATUS, "x" * 100], help=True, width=60)
    is_as_before("narrow", text)


def test_a_panel_in_plain_ascii() -> None:
    text = draw(GAME, ["connected"], signs=ASCII)
    is_as_before("ascii", text)
    assert text.isascii()


def test_a_panel_without_a_bridge() -> None:
    is_as_before("lost", draw([Lamp(255, 0, "LINK_LOST", 0)] * 2, []))


LONG = (
    "nothing answers at /dev/ttyUSB0. Look whether it is the panel's port and whether the panel "
    "has power, and press its reset button; a board without the panel's firmware is silent too: "
    "flash it."
)


@pytest.mark.parametrize("width", [60, 80, 90])
def test_what_helps_is_not_cut_off(width: int) -> None:
    text = draw(GAME[:2], [LONG], width=width)
    assert LONG in " ".join(line.strip() for line in text.splitlines())


def test_a_line_without_end_is_cut() -> None:
    lines = draw([], ["very long " * 100], width=40).splitlines()
    assert len(lines) == 1 + FOLDS + 1
    assert lines[-2].endswith("~")


@pytest.mark.parametrize("help", [False, True])
@pytest.mark.parametrize("height", [1, 3, 7, 8, 9, 12, 20, 40])
def test_a_low_terminal_shows_the_lamps_and_how_to_end(height: int, help: bool) -> None:
    news = [f"news {number}: {LONG}" for number in range(5)] + ["the last news"]
    text = draw(GAME, news, note="a note", help=help, width=70, height=height)
    lines = text.splitlines()
    assert len(lines) <= height
    assert lines[-1].startswith("Ctrl-C")
    if height >= 7:
        assert [line[:3] for line in lines[:6]] == [f" {button} " for button in range(1, 7)]
    if height >= (14 if help else 8):
        assert "a note" in lines
    if height >= (16 if help else 10):
        assert "the last news" in lines
    if height == 40:
        assert text.count("flash it") == 5


def test_the_keys_are_those_of_the_buttons_that_exist() -> None:
    text = draw(GAME[:4], [], help=True)
    assert "1 to 4 " in text
    assert "q to r " in text
    assert "master button" in text
    for buttons in range(2, 7):
        keys = Keys(buttons)
        first, last = legend(buttons)[1].split()[0:3:2]
        assert keys.read(first) == Wish(Do.HOLD, 1)
        assert keys.read(last) == Wish(Do.HOLD, buttons)


@pytest.mark.parametrize("width", [30, 45, 60, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for lamp in [Lamp(255, 4, sign, 0) for sign in WORDS]:
        text = draw([lamp], STATUS, note="a note " * 20, help=True, width=width)
        assert max(map(cell_len, text.splitlines())) <= width


def test_colours_are_written_only_where_they_are_wanted() -> None:
    assert "\x1b[" not in draw(GAME, STATUS)
    colored = draw(GAME, STATUS, color=True)
    assert "\x1b[38;5;160m" in colored


def test_each_sign_and_each_fate_has_words_of_its_own() -> None:
    signs = {pattern.name for pattern in Pattern}
    signs |= {*lights.ONCE, *lights.WAITING, "HELD_LONG", "HELD_CHORD", "TEST", "DARK", UNCLEAR}
    assert set(WORDS) == signs
    assert len(set(WORDS.values())) == len(WORDS)
    assert set(FATES) == set(Fate)


def test_a_press_that_counts_for_nothing_is_not_told_that_nobody_asks() -> None:
    """The seat may well be asked: nothing is staged, it has confirmed already, or all is paused."""
    flash, paused = Lamp(200, 1, "NOT_ARMED", 0), Lamp(40, 2, "PAUSED", 0)
    assert "nothing to confirm now" in draw([flash, Lamp(0, 2, "OFF", 0)], [])
    assert "the game is paused" in draw([flash, paused], [])
    assert "nothing to confirm" not in draw([flash, paused], [])


def test_what_a_status_line_says_can_not_steer_the_terminal() -> None:
    assert "\x1b" not in draw(GAME, ["\x1b[2Jevil"], note="\x1b]0;evil\x07")


# ---------------------------------------------------------------- keys


def wishes(keys: str, buttons: int = 6) -> list[Wish]:
    reader = Keys(buttons)
    return [wish for wish in map(reader.read, keys) if wish is not None]


@pytest.mark.parametrize(
    ("keys", "do", "buttons"),
    [
        ("123456", Do.PRESS, [1, 2, 3, 4, 5, 6]),
        ("qwerty", Do.HOLD, [1, 2, 3, 4, 5, 6]),
        ("qwertz", Do.HOLD, [1, 2, 3, 4, 5, 6]),
        ("!@#$%^", Do.HOLD, [1, 2, 3, 4, 5, 6]),
        ("u3u1", Do.UNDO, [3, 1]),
        ("m", Do.MASTER, [0]),
        ("M", Do.MASTER_LONG, [0]),
        ("n", Do.PLUG, [0]),
        ("x", Do.RESET, [0]),
        ("?", Do.HELP, [0]),
    ],
)
def test_what_keys_ask_for(keys: str, do: Do, buttons: list[int]) -> None:
    assert wishes(keys) == [Wish(do, button) for button in buttons]


def test_keys_that_ask_for_nothing_say_so() -> None:
    keys = Keys(2)
    assert keys.read("3") is None
    assert keys.note == "this panel has no button 3"
    assert keys.read("k") is None
    assert keys.note == "'k' does nothing; ? shows the keys"
    assert keys.read("u") is None
    assert keys.note == "undo for which button? press its digit"
    for strange in ("", "12", "\x1b", "\x1b[A"):
        assert keys.read(strange) is None


def test_undo_is_forgotten_after_another_key() -> None:
    assert wishes("u?1") == [Wish(Do.HELP), Wish(Do.PRESS, 1)]


# ---------------------------------------------------------------- both together


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as keyboard:
        yield keyboard


async def test_keys_press_buttons_until_ctrl_c(keyboard: PipeInput) -> None:
    asked = 0

    def status() -> list[str]:
        nonlocal asked
        asked += 1
        return ["here"]

    async with VirtualPanel(3, opening_resets=False) as panel:
        shown = asyncio.create_task(show(panel, status, input=keyboard, output=DummyOutput()))
        await until(lambda: asked > 2)  # it moves by itself
        keyboard.send_text("1")
        await until(lambda: panel.board.fates["NOT_ARMED"] == 1)
        keyboard.send_text("m?k")
        await until(lambda: panel.board.fates["NOT_ARMED"] == 2)
        keyboard.send_text("n")
        await until(lambda: panel.path == "")
        keyboard.send_text("n")
        await until(lambda: panel.path != "")
        keyboard.send_text("x")
        await until(lambda: panel.board.resets["EXTERNAL"] == 1)
        keyboard.send_text("w")  # still held when it ends
        keyboard.send_text("\x03")
        async with asyncio.timeout(20):
            await shown


@pytest.mark.parametrize("key", ["1", "w", "m", "x"])
async def test_without_power_a_press_says_so(key: str) -> None:
    async with VirtualPanel(3) as panel:
        drawn = screen._Screen(panel, list)
        panel.unplug()
        drawn._key(cast(KeyPressEvent, SimpleNamespace(data=key)))
        await until(lambda: drawn._note == screen.NO_POWER)
        drawn._key(cast(KeyPressEvent, SimpleNamespace(data="n")))
        assert "plugged in at" in drawn._note
        await drawn.end()


async def test_a_picture_that_stays_is_not_drawn_again(
    keyboard: PipeInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody thinks for an hour: nothing but a look at the lamps is done meanwhile."""
    lines, looks, drawings = ["first"], 0, 0
    drawing = screen.draw

    def status() -> list[str]:
        nonlocal looks
        looks += 1
        return list(lines)

    def counted(*args: Any, **options: Any) -> str:
        nonlocal drawings
        drawings += 1
        return drawing(*args, **options)

    monkeypatch.setattr(screen, "draw", counted)
    async with VirtualPanel(2, opening_resets=False) as panel:
        lamps = [Lamp(255, 1, "TURN", 0), Lamp(0, 2, "OFF", 0)]
        monkeypatch.setattr(panel, "lamps", lambda: list(lamps))
        shown = asyncio.create_task(show(panel, status, input=keyboard, output=DummyOutput()))
        await until(lambda: drawings > 0 and looks > drawings + 5)
        before, looked = drawings, looks
        await until(lambda: looks > looked + 10)
        assert drawings == before
        lines[0] = "second"
        await until(lambda: drawings > before)
        before, looked = drawings, looks
        lamps[1] = Lamp(255, 2, "OFF", 0)
        await until(lambda: drawings > before)
        keyboard.send_text("\x03")
        async with asyncio.timeout(20):
            await shown


async def test_without_a_terminal_it_writes_what_is_new(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = ["first"]
    seen = ""
    async with VirtualPanel(2) as panel:
        shown = asyncio.create_task(show(panel, lambda: list(lines)))

        def has_written(text: str) -> bool:
            nonlocal seen
            seen += capsys.readouterr().out
            return text in seen

        await until(lambda: has_written("no bridge is heard"))
        assert seen.count("no bridge is heard") == 2
        lines[0] = "second"
        await until(lambda: has_written("second"))
        shown.cancel()
        with pytest.raises(asyncio.CancelledError):
            await shown
