"""The lock files hold names, versions and hashes, and nothing of the machine that wrote them."""

import re
from itertools import chain
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, pyproject

LOCKS = sorted((ROOT / "deploy/setup/locked").glob("*.txt"))
LINE = re.compile(
    r"#.*"
    r"|[a-z0-9.-]+(\[[a-z,-]+\])?==[\w.!+]+( ; [^\\@/]+)? \\"
    r"|    --hash=sha256:[0-9a-f]{64}( \\)?"
)


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", lock.read_text(), re.MULTILINE))


def normal(requirement: str) -> str:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_is_names_versions_and_hashes(lock: Path) -> None:
    strange = [line for line in lock.read_text().splitlines() if not LINE.fullmatch(line)]
    assert not strange


def test_running_uses_the_versions_that_are_tested() -> None:
    run, development = (
        pins(ROOT / f"deploy/setup/locked/{name}.txt") for name in ("run", "development")
    )
    assert run.items() <= development.items()


def test_every_dependency_is_locked() -> None:
    project = pyproject()["project"]
    extras = project["optional-dependencies"]
    build = pyproject()["dependency-groups"]["build"]
    development = pins(ROOT / "deploy/setup/locked/development.txt")
    wanted = {
        normal(requirement)
        for requirement in chain(project["dependencies"], *extras.values(), build)
    }
    assert wanted - {"tableturn"} <= development.keys(), "run `make lock`"
