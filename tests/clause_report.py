"""Which test proves which clause of the rules: `python -m tests.clause_report`.

The clauses are those of `tableturn_server.rules.texts`; the tests name them:
`@pytest.mark.clause("EW-14", "EW-15")`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from tableturn_server.rules.catalog import GAMES
from tableturn_server.rules.texts import rules_text

TESTS = Path(__file__).parent
WIDTH = 100


def listed() -> dict[str, str]:
    """Every clause of every game, with what it says."""
    return {clause.id: clause.text for game in GAMES for clause in rules_text(game).clauses}


def proved() -> dict[str, list[str]]:
    """The tests of each clause that any test names."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for clause, test in _marks(ast.parse(file.read_text("utf-8"))):
            found.setdefault(clause, []).append(f"{file.relative_to(TESTS)}::{test}")
    return found


def _marks(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The clauses that tests are marked with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.clause":
                    for argument in mark.args:
                        yield ast.literal_eval(argument), node.name


def report() -> Iterator[str]:
    """Each clause with its tests, a line each; those without a test last."""
    tests = proved()
    clauses = listed()
    for clause, words in clauses.items():
        if clause in tests:
            yield shorten(f"{clause}  {words}", WIDTH, placeholder="…")
            yield from (f"    {test}" for test in tests[clause])
    missing = [clause for clause in clauses if clause not in tests]
    yield f"{len(clauses) - len(missing)} of {len(clauses)} clauses have a test"
    yield from (f"no test: {clause}  {clauses[clause]}" for clause in missing)


if __name__ == "__main__":
    print("\n".join(report()))
    sys.exit(not set(listed()) <= set(proved()))
