"""What a seat may do now: numbered choices, and the questions that follow from one.

A value has a word as it is typed (`C3`, `red`, `YYR`, `harvest`, `2`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tableturn import notation
from tableturn.v1 import actions_pb2
from tableturn_client.drawing import bonus, cubes
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, cut, spelled

_QUESTIONS = {
    "tile": "Which tile?",
    "cube": "Which cube?",
    "seat": "Which seat?",
    "bonus": "Which bonus tile?",
    "pile": "Which pile?",
    "card": "Which card?",
    "cubes": "Which cubes?",
    "count": "How many times?",
    "points": "How many points?",
}
_MARGIN = 4
_AFTER_QUESTION = 35
"""Columns for what Enter means, and how to go back."""
_RIGHT = 80
_MANY_TILES = 10


def label(choice: actions_pb2.Choice) -> str:
    """What a choice means at the table."""
    return clean(choice.label, 100) or spelled(choice.kind)


def form(choice: actions_pb2.Choice) -> str:
    """How the choice is typed, such as `move TILE`; empty for a kind that is not known."""
    usages = [form.usage for form in notation.forms(choice.kind)]
    usage = usages[0] if usages else ""
    if not choice.colors:  # an optional part that is not asked for
        usage = usage.replace(" [dropping COLOUR]", "")
    if not choice.cubes.max:
        usage = usage.replace(" [paying CUBES]", "")
    if not choice.cards:
        usage = usage.replace(" [with CARD]", "")
    return usage


def values(choice: actions_pb2.Choice, seats: Seats) -> Text:
    """What may be chosen first, on a line; empty where nothing is to be chosen."""
    if len(choice.tiles) > _MANY_TILES:
        return Text(f"{len(choice.tiles)} tiles, on the map with a *")
    if choice.tiles:
        return Text(" ".join(clean(tile, 6) for tile in choice.tiles))
    if choice.piles:
        return Text(" ").join(cubes.bundle(pile) for pile in choice.piles)
    if choice.bonuses:
        return Text(" ".join(bonus.word(kind) for kind in choice.bonuses))
    if choice.seats:
        return Text(" ").join(seats.chip(seat) for seat in choice.seats)
    if choice.HasField("cubes") and choice.cubes.max:
        return bounds(choice.cubes)
    if choice.colors:
        return Text(" ").join(color(one) for one in choice.colors)
    return Text(" ".join(clean(card, 6) for card in choice.cards))


def bounds(offered: actions_pb2.CubeBounds) -> Text:
    """How many cubes are to be chosen out of which: `2 of YYRG`."""
    least, most = offered.min, offered.max
    size = str(most) if least == most else f"{least} to {most}"
    return Text(f"{size} of ") + cubes.bundle(offered.available)


def color(number: int) -> Text:
    """A colour of cubes as a letter and a word."""
    word = cubes.color_word(number)
    return Text().append_text(cubes.colored(word[:1].upper())).append(word[1:])


def line(number: int, choice: actions_pb2.Choice, seats: Seats, look: Look) -> Text:
    """A numbered choice: its words, its values, and behind them how it is typed."""
    drawn = Text().append(f"{number:>3}", "bold cyan").append(f" {label(choice)}")
    offered = values(choice, seats)
    if offered.plain:
        drawn.append(": ").append_text(offered)
    typed = form(choice)
    if not typed:
        drawn.append("  (needs a newer version of tableturn)", "yellow")
    elif drawn.cell_len + len(typed) + _MARGIN <= look.width:
        right = max(min(look.width, _RIGHT), drawn.cell_len + len(typed) + _MARGIN)
        drawn.append(" " * (right - drawn.cell_len - len(typed) - 1)).append(typed, "dim")
    return drawn


def key(letter: str, words: str) -> Text:
    """A command of one letter, with what it does."""
    return Text.assemble((letter, "bold cyan"), f" {words}")


def question(name: str, choice: actions_pb2.Choice, look: Look) -> Text:
    """The question for one field of an action."""
    asked = _QUESTIONS.get(name, f"Which {spelled(name)}?")
    words = cut(label(choice), look.width - len(asked) - _AFTER_QUESTION)
    return Text.assemble((words, "italic"), " - ", (asked, "bold"))


def offers(words: Sequence[tuple[str, Text]], look: Look) -> Text:
    """Values to choose from, each behind what is typed for it, in as few lines as fit."""
    lines = [Text("   ")]
    for typed, drawn in words:
        part = Text.assemble((typed, "bold cyan"), " " if typed and drawn.plain else "", drawn)
        if lines[-1].cell_len + part.cell_len + 2 > look.width and lines[-1].plain.strip():
            lines.append(Text("   "))
        lines[-1].append(" ").append_text(part).append(" ")
    return Text("\n").join(lines)
