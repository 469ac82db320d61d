"""The rules in our own words: complete, and the same in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tableturn_server.rules.catalog import GAMES
from tableturn_server.rules.texts import document, rules_text
from tableturn_server.rules.texts.pages import page

DOCS = Path(__file__).parents[2] / "docs" / "rules"


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_its_rules(game: str) -> None:
    text = rules_text(game)
    assert text.title == GAMES[game].title
    assert text.introduction
    ids = [clause.id for clause in text.clauses]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("game", GAMES)
def test_every_line_of_a_list_is_a_clause(game: str) -> None:
    lines = [line for line in document(game).splitlines() if line.startswith("-")]
    assert len(lines) == len(rules_text(game).clauses)


@pytest.mark.parametrize("game", GAMES)
def test_every_option_of_a_game_stands_in_its_rules(game: str) -> None:
    text = document(game)
    of_every_table = {"max_rounds"}
    named = {option.name for option in GAMES[game].options} - of_every_table
    assert [name for name in named if f"`{name}`" not in text] == []


@pytest.mark.parametrize("game", GAMES)
def test_the_docs_show_the_same_rules(game: str) -> None:
    assert (DOCS / f"{game}.md").read_text("utf-8") == page(game)


@pytest.mark.parametrize("game", GAMES)
def test_a_clause_that_is_named_is_a_link_to_it(game: str) -> None:
    links = re.findall(r"\[([^]]+)]\(([a-z-]+\.md)?#([^)]+)\)", page(game))
    for clause, other, anchor in links:
        target = other.removesuffix(".md") if other else game
        assert f'<a id="{anchor}"></a>{clause} ' in page(target)
    unlinked = re.findall(r"(?<![\[>])\b(?!DR-)[A-Z]{2}-R?[0-9]+", page(game))
    assert unlinked == []
