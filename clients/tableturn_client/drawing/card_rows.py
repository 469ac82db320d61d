"""Rows of cards: each card a narrow column, all of them beside each other where they fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tableturn_client.drawing.look import Look

LABEL = 10
"""Columns for the words before a row."""
CHOICE = "bold underline green"
TO_BE_DEALT = (Text("?", "bold yellow"), Text("dealt", "yellow"))
"""A place that is filled when the turn is confirmed."""


def name(text: str, *, chosen: bool = False, taken: bool = False) -> Text:
    """A card's name; marked if it may be chosen now, or if it is being taken."""
    if taken:
        return Text(f"[{text}]", "bold reverse")
    return Text(f"*{text}", CHOICE) if chosen else Text(text, "bold")


def row(labels: Sequence[Text], cards: Sequence[Sequence[Text]], look: Look) -> Text:
    """Cards from the left, each with as many lines as there are labels; wrapped if need be.

    Lines that are empty for all cards are left out.
    """
    widths = [max((line.cell_len for line in card), default=0) for card in cards]
    room = look.width - LABEL - 1
    gap = 2 if sum(widths) + 2 * len(widths) <= room else 1
    bands: list[list[int]] = [[]]
    for number, width in enumerate(widths):
        used = sum(widths[n] + gap for n in bands[-1])
        if bands[-1] and used + width > room:
            bands.append([])
        bands[-1].append(number)
    lines = []
    for band in bands:
        for at, label in enumerate(labels):
            line = label.copy() if band is bands[0] else Text()
            line.append(" " * max(1, LABEL + 1 - line.cell_len))
            written = [(cards[n][at] if at < len(cards[n]) else Text(), widths[n]) for n in band]
            for text, width in written:
                line.append_text(text).append(" " * (width - text.cell_len + gap))
            if any(text.plain for text, _ in written):
                line.rstrip()
                line.truncate(look.width)
                lines.append(line)
    return Text("\n").join(lines)


def flow(label: str, cards: Sequence[Text], look: Look) -> Text:
    """Cards one behind the other behind a label, in as few lines as fit."""
    lines: list[Text] = []
    for card in cards:
        if lines and lines[-1].cell_len + 2 + card.cell_len <= look.width:
            lines[-1].append("  ").append_text(card)
        else:
            lines.append(Text(f"{'' if lines else label:<{LABEL}} ") + card)
    for line in lines:
        line.truncate(look.width)
    return Text("\n").join(lines)
