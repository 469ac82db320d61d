"""The docs: links lead somewhere, and case ids stand in the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, committed_files

PAGES = [path for path in committed_files() if path.suffix == ".md"]
CASE = re.compile(r"""case\(((?:\s*"[A-Z][0-9]+",?\s*)+)\)""")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []


def test_every_case_that_a_test_names_is_told() -> None:
    told = set(re.findall(r"\*\*([A-Z][0-9]+)\*\*", (ROOT / "docs/cases.md").read_text("utf-8")))
    named: set[str] = set()
    for path in committed_files():
        if path.suffix == ".py" and "tests" in path.parts:
            for group in CASE.findall((ROOT / path).read_text("utf-8")):
                named |= set(re.findall(r"[A-Z][0-9]+", group))
    assert sorted(named - told) == []
    assert named
