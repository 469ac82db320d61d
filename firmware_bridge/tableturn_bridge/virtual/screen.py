"""A panel in a terminal: its lamps as blocks of light, the keyboard as its buttons."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys as Special
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import Output
from rich.console import Console
from rich.text import Text

from tableturn_bridge.patterns import BRIGHTEST, STEP
from tableturn_bridge.protocol import ResetCause
from tableturn_bridge.virtual.board import Fate
from tableturn_bridge.virtual.keys import Do, Keys, Wish, legend
from tableturn_bridge.virtual.panel import LONG_MS, UNCLEAR, Lamp, Panel, Pressed
from tableturn_bridge.virtual.port import LinkTaken
from tableturn_client.drawing.look import ASCII, Look, Signs
from tableturn_client.drawing.words import clean, cut
from tableturn_client.play.terminal import is_screen

Status = Callable[[], list[str]]
"""Lines below the lamps: the table, the connection, what happened last."""

BLOCK = 7
LIGHT = ("·", "░", "▒", "▓", "█")
LIGHT_ASCII = (".", "-", "+", "=", "#")

WORDS = {
    "OFF": "not asked",
    "TURN": "to move",
    "STAGED": "a turn is staged: press to confirm",
    "NEXT": "next",
    "READY": "has confirmed",
    "FREE": "press to play here",
    "SEATED": "taken; hold to start the game",
    "PAUSED": "paused",
    "BETWEEN": "between two rounds",
    "LOW": "to move, time runs out",
    "WINNER": "has won",
    "SERVICE_LOST": "the service can't be reached",
    "ELSEWHERE": "can't be used here",
    "LINK_LOST": "no bridge is heard",
    "VERSION": "the bridge is of another version",
    "PENDING": "waits for its answer",
    "NO_ANSWER": "still no answer",
    "REFUSED": "refused",
    "STALE": "too late, it had passed",
    "NOT_ARMED": "nothing to confirm now",
    "HELD_LONG": "held: a long press",
    "HELD_CHORD": "held, and a second one: undo",
    "TEST": "lamp test",
    "DARK": "no power",
    UNCLEAR: "can't be made out",
}
"""What each sign means at the table."""

START = ", and begins the round"
"""What the mark of the start player means."""

FATES = {
    Fate.ACCEPTED: "accepted",
    Fate.STALE: "too late, what it was meant for had passed",
    Fate.REJECTED: "refused",
    Fate.NOT_ARMED: "nothing to confirm now",
    Fate.DROPPED: "too many wait already",
    Fate.LOST: "lost with the connection",
}

PAUSED = "the game is paused"
"""What a press is told that counts for nothing because of that."""

COLORS = {
    "red": "color(160)",
    "blue": "color(33)",
    "green": "color(34)",
    "yellow": "color(220)",
    "white": "color(255)",
    "black": "color(240)",
    "purple": "color(129)",
    "orange": "color(208)",
}

KEYS = "Ctrl-C ends, digits press, letters below hold, ? all keys"
NO_POWER = "no power: the board is unplugged; n plugs it in"
FOLDS = 8
"""A line that is too wide becomes so many at most."""


def draw(
    lamps: Sequence[Lamp],
    status: Sequence[str],
    *,
    note: str = "",
    help: bool = False,
    width: int = 80,
    height: int | None = None,
    signs: Signs | None = None,
    color: bool = False,
) -> str:
    """Draw a panel: a row for each button, what the status says, and the keys.

    A lamp is a block that is lit as brightly as it is now, the seat's colour as a word, and a
    word for what the lamp says, so that none of it needs colours. With `height`, in at most so
    many lines: the lamps and how to end go before the rest, and late news before early ones.
    """
    light = LIGHT_ASCII if signs is ASCII else LIGHT
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        color_system="256" if color else None,
        force_terminal=color,
    )
    words = WORDS | ({"NOT_ARMED": PAUSED} if _is_paused(lamps) else {})
    rows = [_row(button, lamp, light, words, width) for button, lamp in enumerate(lamps, 1)]
    news = [part for line in status for part in _folded(line, width, console)]
    said = _folded(note, width, console, "bold") if note else []
    keys = legend(len(lamps)) if help else (KEYS,)
    *more, end = [Text(cut(line, width), "dim") for line in keys]
    for line in _fitting(rows, news, said, more, end, height):
        console.print(line, soft_wrap=True, highlight=False)
    return file.getvalue()


def _folded(line: str, width: int, console: Console, style: str = "") -> list[Text]:
    """A line in as many as it needs, up to FOLDS; a longer one is cut."""
    lines = list(Text(clean(line, 500), style).wrap(console, width))
    if len(lines) > FOLDS:
        rest = " ".join(one.plain for one in lines[FOLDS - 1 :])
        lines[FOLDS - 1 :] = [Text(cut(rest, width), style)]
    return lines


def _fitting(
    rows: list[Text],
    news: list[Text],
    said: list[Text],
    more: list[Text],
    end: Text,
    height: int | None,
) -> list[Text]:
    """All of it in so many lines: `rows` and `end` first, then `more`, `said` and `news`."""
    if height is None:
        return [*rows, Text(), *news, *said, *more, end]
    rows = rows[: height - 1]
    left = height - 1 - len(rows)
    more = more[:left]
    said = said[: left - len(more)]
    left -= len(more) + len(said)
    gap = [Text()] if left > 1 else []
    left -= len(gap)
    news = news[max(0, len(news) - left) :]
    return [*rows, *gap, *news, *said, *more, end]


def _is_paused(lamps: Sequence[Lamp]) -> bool:
    """The lamps say that the game is paused; that of a button that was just pressed doesn't."""
    return any(lamp.sign == "PAUSED" for lamp in lamps)


def _row(
    button: int, lamp: Lamp, light: Sequence[str], words: Mapping[str, str], width: int
) -> Text:
    """A button and its lamp."""
    level = _level(lamp)
    word = lamp.color_word
    style = COLORS.get(word, "default")
    text = Text.assemble(
        (f" {button}  ", "bold"),
        (light[level] * BLOCK, style if level else "dim"),
        (f"  {word:<7} ", style),
        words.get(lamp.sign, lamp.sign),
        START if lamp.marked else "",
    )
    text.truncate(width)
    return text


def _level(lamp: Lamp) -> int:
    """How brightly a lamp is drawn: which sign of LIGHT it is."""
    # A quarter of the light looks half as bright to an eye.
    most = len(LIGHT) - 1
    return 0 if not lamp.level else max(1, round((lamp.level / BRIGHTEST) ** 0.5 * most))


# ---------------------------------------------------------------- the terminal


async def show(
    panel: Panel,
    status: Status,
    *,
    input: Input | None = None,
    output: Output | None = None,
) -> None:
    """Show a panel, and press its buttons with the keyboard, until somebody ends it with Ctrl-C.

    Without a terminal, the drawing is written again whenever something else is to be seen, for
    ever. What the panel does goes on all the same.
    """
    if input is None and not is_screen():
        await _lines(panel, status, sys.stdout)
        return
    screen = _Screen(panel, status)
    application = screen.application(input, output)
    moving = asyncio.create_task(screen.move(application.invalidate))
    try:
        await application.run_async()
    finally:
        moving.cancel()
        await asyncio.gather(moving, return_exceptions=True)
        await screen.end()


async def _lines(panel: Panel, status: Status, file: TextIO) -> None:
    """Write the drawing whenever it says something else; the moving of a lamp is no news."""
    before: object = None
    while True:
        lamps, lines = panel.lamps(), status()
        news = [(lamp.sign, lamp.color, lamp.marked) for lamp in lamps], lines
        if news != before:
            before = news
            steady = [replace(lamp, level=0) for lamp in lamps]
            file.write(draw(steady, lines, signs=ASCII) + "\n")
            file.flush()
        await asyncio.sleep(4 * STEP / 1000)


class _Screen:
    """The drawing that moves, and the keys."""

    def __init__(self, panel: Panel, status: Status) -> None:
        self._panel = panel
        self._status = status
        self._keys = Keys(panel.buttons)
        self._note = ""
        self._help = False
        self._drawn: object = None
        self._doing: set[asyncio.Task[None]] = set()

    def application(self, input: Input | None, output: Output | None) -> Application[None]:
        """What prompt_toolkit runs."""
        bindings = KeyBindings()
        bindings.add(Special.Any)(self._key)
        bindings.add("c-c")(lambda event: event.app.exit())
        bindings.add("c-d")(lambda event: event.app.exit())
        window = Window(FormattedTextControl(self._drawing, show_cursor=False))
        return Application(
            layout=Layout(window),
            key_bindings=bindings,
            input=input,
            output=output,
        )

    async def move(self, redraw: Callable[[], None]) -> None:
        """Have it drawn again whenever something else is to be seen, for ever."""
        while True:
            await asyncio.sleep(STEP / 1000)
            if self._seen() != self._drawn:
                redraw()

    def _seen(self) -> object:
        """What the drawing shows."""
        shown = self._panel.lamps()
        lamps = [(_level(lamp), lamp.color, lamp.sign, lamp.marked) for lamp in shown]
        return lamps, self._status(), self._keys.note or self._note, self._help

    def _drawing(self) -> ANSI:
        self._drawn = self._seen()
        console = Console()
        look = Look.of(console)
        return ANSI(
            draw(
                self._panel.lamps(),
                self._status(),
                note=self._keys.note or self._note,
                help=self._help,
                width=look.width - 1,
                height=look.height,
                signs=look.signs,
                color=not console.no_color,
            )
        )

    def _key(self, event: KeyPressEvent) -> None:
        """A key was typed."""
        wish = self._keys.read(event.data)
        if wish is None:
            return
        self._note = ""
        if wish.do is Do.HELP:
            self._help = not self._help
        elif wish.do is Do.PLUG:
            self._plug()
        elif not self._panel.path:
            self._note = NO_POWER
        elif wish.do is Do.RESET:
            self._reset()
        else:
            task = asyncio.get_running_loop().create_task(self._press(wish))
            self._doing.add(task)
            task.add_done_callback(self._doing.discard)

    def _plug(self) -> None:
        """Pull the plug, or put it back."""
        try:
            if self._panel.path:
                self._panel.unplug()
                self._note = "unplugged; n plugs it in again"
            else:
                self._note = f"plugged in at {self._panel.plug()}"
        except (LinkTaken, ValueError) as error:  # an emulator that is ending refuses it
            self._note = str(error)

    def _reset(self) -> None:
        """Press the board's own reset button."""
        try:
            self._panel.reset(ResetCause.EXTERNAL)
            self._note = "the board is reset"
        except ValueError as error:
            self._note = str(error)

    async def _press(self, wish: Wish) -> None:
        """Do what a finger does, and note what becomes of it."""
        what, press = self._finger(wish)
        self._note = f"{what} ..."
        try:
            pressed = await press
        except TimeoutError:
            self._note = f"{what}: nothing came of it" if self._panel.path else NO_POWER
            return
        except ValueError as error:
            self._note = f"{what}: {error}"
            return
        if pressed is not None:
            idle = pressed.fate is Fate.NOT_ARMED and _is_paused(self._panel.lamps())
            self._note = f"{what}: {PAUSED if idle else FATES[pressed.fate]}"

    def _finger(self, wish: Wish) -> tuple[str, Coroutine[Any, Any, Pressed | None]]:
        """What a wish is called, and how it is done."""
        panel, button = self._panel, wish.button
        if wish.do is Do.HOLD:
            return f"button {button}, held", panel.hold(button, wait=True)
        if wish.do is Do.UNDO:
            second = 1 if button > 1 else 2
            return f"button {button}, undo", panel.chord(button, second, wait=True)
        if wish.do is Do.MASTER:
            return "master button", panel.master(wait=True)
        if wish.do is Do.MASTER_LONG:
            return "master button, held", panel.master(LONG_MS, wait=True)
        return f"button {button}", panel.press(button, wait=True)

    async def end(self) -> None:
        """Let go of all buttons."""
        for task in self._doing:
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)
