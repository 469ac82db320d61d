"""The rules as pages of docs/rules/: clauses can be linked to, and what names them is a link."""

from __future__ import annotations

import re

from tableturn_server.rules.catalog import GAMES
from tableturn_server.rules.texts import document, rules_text

_MENTION = re.compile(r"\b[A-Z0-9]{2}-R?[0-9]+\b")


def page(game: str) -> str:
    """The page of a game."""
    return "".join(f"{_line(line, game)}\n" for line in document(game).splitlines())


def _line(line: str, game: str) -> str:
    """A line of the text on its page; a clause gets an anchor."""

    def linked(mention: re.Match[str]) -> str:
        clause = mention[0]
        home = next((home for home in (game, *GAMES) if _has(home, clause)), None)
        if home is None:
            return clause
        return f"[{clause}]({'' if home == game else f'{home}.md'}#{clause.lower()})"

    if not line.startswith("- "):
        return _MENTION.sub(linked, line)
    id, _, text = line.removeprefix("- ").partition(" ")
    return f'- <a id="{id.lower()}"></a>{id} {_MENTION.sub(linked, text)}'


def _has(game: str, clause: str) -> bool:
    """The rules of a game contain a clause."""
    return any(one.id == clause for one in rules_text(game).clauses)
