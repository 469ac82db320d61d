"""Which test proves which clause of the rules: `python -m tests.clause_report`.

The clauses are listed in `tests/rules/clauses/`, one to a line with a few words.
The tests name them: `@pytest.mark.clause("EW-14", "EW-15")`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
LISTS = TESTS / "rules" / "clauses"


def listed() -> dict[str, str]:
    """Every clause, with a few words on what it says."""
    found: dict[str, str] = {}
    for file in sorted(LISTS.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            clause, _, words = line.partition(" ")
            found[clause] = words
    return found


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
            yield f"{clause}  {words}"
            yield from (f"    {test}" for test in tests[clause])
    missing = [clause for clause in clauses if clause not in tests]
    yield f"{len(clauses) - len(missing)} of {len(clauses)} clauses have a test"
    yield from (f"no test: {clause}  {clauses[clause]}" for clause in missing)


if __name__ == "__main__":
    print("\n".join(report()))
    sys.exit(not set(listed()) <= set(proved()))
