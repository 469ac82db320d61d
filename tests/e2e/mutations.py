"""JSON documents with one thing in them changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

Path = tuple[str | int, ...]

WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 3, 2**24, 2**63, 2**64, 10**30, 1.5, 1e300, "", "x", "x" * 10_000, "\x00",
    "\x1b[31m", [], [[]], {}, {"x": 1}, [None],
)  # fmt: skip
"""Values of which at most one or two have a place anywhere."""


def paths(document: Any, path: Path = ()) -> Iterator[Path]:
    """The ways to each value of a document."""
    if path:
        yield path
    if isinstance(document, dict):
        for name, value in document.items():
            yield from paths(value, (*path, name))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from paths(value, (*path, index))


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def with_value(document: Any, path: Path, value: Any) -> Any:
    """The document with another value in one place."""
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def mutate(document: Any, random: Random) -> tuple[str, Any]:
    """One change at random: a value of another kind, one too few, one too many, two exchanged."""
    path = random.choice([*paths(document)])
    changed = copy.deepcopy(document)
    parent: Any = at(changed, path[:-1])
    match random.randrange(6):
        case 0:
            del parent[path[-1]]
            what = "is missing"
        case 1 if isinstance(parent, list):
            parent.insert(0, parent[int(path[-1])])
            what = "is there twice"
        case 2 if isinstance(parent, dict):
            parent["not-known"] = parent[path[-1]]
            what = "is there under another name too"
        case 3 if isinstance(parent, list) and len(parent) > 1:
            parent.reverse()
            what = "stands in reverse order"
        case _:
            value = random.choice(WRONG)
            parent[path[-1]] = value
            what = f"is {ascii(value)[:40]}"
    return f"{'.'.join(map(str, path))} {what}", changed
