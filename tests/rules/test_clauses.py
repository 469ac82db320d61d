"""Every clause of the rules has a test."""

from __future__ import annotations

import pytest

from tests.clause_report import listed, proved, report


def test_every_clause_has_a_test() -> None:
    assert sorted(set(listed()) - set(proved())) == []


def test_no_test_names_a_clause_that_is_not_listed() -> None:
    prefixes = {clause.split("-")[0] for clause in listed()}
    named = {clause for clause in proved() if clause.split("-")[0] in prefixes}
    assert sorted(named - set(listed())) == []


@pytest.mark.parametrize("clause", ["EW-15", "DR-4"])
def test_the_report_names_clauses_and_tests(clause: str) -> None:
    lines = list(report())
    at = next(n for n, line in enumerate(lines) if line.startswith(f"{clause} "))
    assert lines[at + 1].startswith("    rules/test_")
