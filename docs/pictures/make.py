"""Draws the pictures of the docs: `make pictures`, or `python docs/pictures/make.py FOLDER`.

For those of the terminal a golden game is replayed to a lively position, and drawn as `tableturn
show` draws it. Those of a panel as hardware are drawn from what bridge and firmware go by.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import patterns
import wiring
from rich.console import Console
from rich.text import Text

from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import Color
from tableturn_bridge.virtual.panel import Lamp
from tableturn_bridge.virtual.screen import draw as draw_panel
from tableturn_client.actions import to_action
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.table import Eyes, draw
from tableturn_client.messages import TableView
from tableturn_server.service import convert
from tableturn_server.tables import commands, making
from tableturn_server.tables.authority import decide

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "tests" / "golden"
TURNS = 60
NAMES = ("Ann", "Ben", "Cleo", "Dan")
WIDTH = 104


def position(golden: str) -> TableView:
    """The view of seat 1 after some turns of a golden game of four."""
    head, turns, *_ = (GOLDEN / golden).read_text("utf-8").split("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    token, seed = b"t" * 32, bytes.fromhex(fields["seed"])
    table, _, _ = making.make(
        making.Wish(
            table_id="harbour",
            title="Friday evening",
            game=fields["game"],
            seats=int(fields["seats"]),
            options=dict(pair.split("=", 1) for pair in fields["options"].split()),
            host=token,
            start_when_full=True,
        ),
        drawn_seed=seed,
        now=0,
    )
    by = commands.By(token=token)
    for name in NAMES:
        change = decide(table, commands.TakeSeat(by=by, name=name, token=token), 0)
        assert change is not None
        table = change.table
    played = [line for line in turns.splitlines() if line.startswith("seat ")]
    for number, line in enumerate(played[: TURNS + 1]):
        seat, _, text = line.partition(": ")
        if text == "dropped":
            continue
        steps = text.split("; ") if text != "-" else []
        change = decide(
            table,
            commands.Act(
                by=by,
                seat=int(seat.removeprefix("seat ")),
                expected_revision=table.revision,
                actions=convert.read_actions(map(to_action, steps)),
                confirm=number < TURNS,
            ),
            0,
        )
        assert change is not None
        table = change.table
    return convert.table_view(table, "", 1)


def panel() -> str:
    """A virtual panel in the middle of an evening."""
    lamps = [
        Lamp(level, color, sign, 0, marked)
        for level, color, sign, marked in (
            (255, Color.RED, Pattern.LOW.name, False),
            (64, Color.BLUE, Pattern.NEXT.name, True),
            (0, Color.GREEN, Pattern.OFF.name, False),
            (255, Color.YELLOW, Pattern.PENDING.name, False),
            (0, Color.WHITE, Pattern.OFF.name, False),
            (255, Color.PURPLE, Pattern.FREE.name, False),
        )
    ]
    status = ["at the table harbour: Friday evening, 6 seats, running", "turn 9: seat 1 (Ann, red)"]
    return draw_panel(lamps, status, help=True, width=WIDTH, color=True)


def of_terminal(title: str, text: Text) -> str:
    """A drawing as SVG that needs nothing from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(text)
    svg = console.export_svg(title=title)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    for game in ("eastern-wonders", "from-sand-to-sea"):
        view = position(f"{game.replace('-', '_')}_4.txt")
        drawn = draw(view, Look(WIDTH, 60), Eyes((1,), 1))
        (folder / f"{game}.svg").write_text(of_terminal("tableturn show harbour", drawn), "utf-8")
    on_screen = of_terminal("tableturn panel --virtual", Text.from_ansi(panel()))
    (folder / "panel.svg").write_text(on_screen, "utf-8")
    (folder / "panel-patterns.svg").write_text(patterns.draw(), "utf-8")
    (folder / "panel-wiring.svg").write_text(wiring.draw(), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE)
