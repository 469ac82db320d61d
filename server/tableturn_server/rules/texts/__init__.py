"""The rules as we play them, in our own words: one file for each game, a clause to a line.

What `tableturn rules` prints and docs/rules/ shows comes from here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import msgspec

_CLAUSE = re.compile(r"- (?P<id>[A-Z0-9]{2}-R?[0-9]+) (?P<text>.+)")


class Clause(msgspec.Struct, frozen=True):
    """One numbered rule, such as EW-15, under the heading that it stands below."""

    id: str
    section: str
    text: str


class RulesText(msgspec.Struct, frozen=True):
    """The rules of a game: what it is about, and its clauses in order."""

    title: str
    introduction: str
    clauses: tuple[Clause, ...]


def document(game: str) -> str:
    """The text of a game as Markdown. Raises FileNotFoundError for an unknown game."""
    name = game.replace("-", "_") + ".md"
    return files(__package__).joinpath(name).read_text("utf-8")


@lru_cache
def rules_text(game: str) -> RulesText:
    """The rules of a game. Raises FileNotFoundError for an unknown game."""
    title, introduction, section = "", [], ""
    clauses = []
    for line in document(game).splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif line.startswith("## "):
            section = line[3:]
        elif found := _CLAUSE.fullmatch(line):
            clauses.append(Clause(found["id"], section, found["text"]))
        elif line and not section:
            introduction.append(line)
    return RulesText(title, " ".join(introduction), tuple(clauses))
