"""Words and texts: what others wrote, made safe, and numbers with their nouns."""

from __future__ import annotations

import textwrap
import unicodedata

from rich.cells import cell_len, set_cell_size

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SMALL = {"and", "of", "the", "to"}
_MOST_MARKS = 2
"""How many combining marks may stand on one letter."""


def clean(text: str, longest: int = 0) -> str:
    """A text of somebody else's, safe for a terminal: no control or invisible characters.

    White space becomes single blanks. With `longest` it is cut to so many
    columns, a cut one ending in "~".
    """
    kept: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if char.isspace():
            char = " "
        elif category in _UNSEEN:
            continue
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= _MOST_MARKS:
            kept.append(char)
    cleaned = " ".join("".join(kept).split())
    return cut(cleaned, longest) if longest else cleaned


def cut(text: str, columns: int) -> str:
    """The text in at most so many columns; a cut one ends in "~"."""
    if cell_len(text) <= columns:
        return text
    return set_cell_size(text, max(0, columns - 1)).rstrip() + "~"


def folded(text: str, columns: int, indent: str = "") -> str:
    """The text in lines of at most so many columns, the lines after the first indented."""
    lines = [
        line
        for part in text.split("\n")
        for line in textwrap.wrap(part, max(20, columns), subsequent_indent=indent) or [""]
    ]
    return "\n".join(lines)


def narrow(text: str) -> str:
    """The text with a "?" for each character that doesn't take exactly one column."""
    return "".join(char if cell_len(char) == 1 else "?" for char in clean(text))


def many(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 point`, `2 points`."""
    return f"{number} {noun if abs(number) == 1 else plural or noun + 's'}"


def spelled(name: str) -> str:
    """A name such as `eastern-wonders` or `END_REASON_LAST_SEAT` as words."""
    return clean(name).replace("-", " ").replace("_", " ").lower()


def titled(game: str) -> str:
    """A game's name as a title: `Eastern Wonders`."""
    words = spelled(game).split()
    return " ".join(
        word if number and word in _SMALL else word.capitalize()
        for number, word in enumerate(words)
    )


def listed(words: list[str], last: str = "and") -> str:
    """Words in a sentence: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
