"""The tree under test: its root, its settings and the files that git would commit."""

import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@cache
def committed_files() -> list[Path]:
    """Files that are committed or would be with the next `git add`, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = [Path(name) for name in listed.split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file()]


def floor(requirement_name: str) -> str:
    """The lowest version of a core dependency that pyproject.toml allows."""
    for requirement in pyproject()["project"]["dependencies"]:
        name, _, version = requirement.partition(">=")
        if name == requirement_name:
            assert isinstance(version, str)
            return version
    raise LookupError(requirement_name)
