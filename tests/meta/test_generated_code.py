"""The code beside the .proto files is what the generator makes, and runs on what is installed."""

import importlib
import os
import re
import subprocess
from pathlib import Path

import google.protobuf
import grpc
import pytest

from tests.meta.tree import ROOT, floor, pyproject

PROTOS = ROOT / "protos"
GENERATOR = ROOT / ".tools" / "protos" / "bin" / "python"

needs_generator = pytest.mark.skipif(
    not GENERATOR.exists() and os.environ.get("CI") != "true",
    reason="the generator is not set up (deploy/setup/environment protos)",
)


def generated(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for pattern in ("*_pb2.py*", "*_pb2_grpc.py*")
        for path in folder.rglob(pattern)
        if path.suffix in {".py", ".pyi"}
    }


def generated_modules() -> list[str]:
    return sorted(
        name.removesuffix(".py").replace("/", ".")
        for name in generated(PROTOS)
        if name.endswith(".py")
    )


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@needs_generator
def test_generating_again_changes_no_byte(tmp_path: Path) -> None:
    subprocess.run([ROOT / "deploy/setup/generate-protos", tmp_path], cwd=ROOT, check=True)
    fresh, committed = generated(tmp_path), generated(PROTOS)
    changed = sorted(
        name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name)
    )
    assert not changed, "run `make protos` and commit"


@pytest.mark.parametrize("module", generated_modules())
def test_generated_code_loads(module: str) -> None:
    importlib.import_module(module)


@needs_generator
def test_generated_code_loads_on_the_oldest_supported_runtime() -> None:
    """The generator's environment holds the oldest grpcio and protobuf that are supported."""
    loads = "; ".join(f"import {module}" for module in generated_modules())
    subprocess.run([GENERATOR, "-c", loads], cwd=PROTOS, check=True)


def test_floors_are_those_of_the_generator() -> None:
    pins = dict(
        requirement.split("==") for requirement in pyproject()["dependency-groups"]["protos"]
    )
    assert floor("grpcio") == pins["grpcio"] == pins["grpcio-tools"]
    assert floor("grpcio-status") == pins["grpcio"]
    assert floor("protobuf") == pins["protobuf"]

    floors = {
        match.groups()
        for name, code in generated(PROTOS).items()
        if name.endswith("_pb2.py")
        for match in [re.search(rb"Domain\.PUBLIC,\s+(\d+),\s+(\d+),\s+(\d+),", code)]
        if match
    }
    assert floors == {tuple(part.encode() for part in floor("protobuf").split("."))}


def test_the_installed_runtime_is_at_most_one_major_version_newer() -> None:
    gencode, runtime = as_numbers(floor("protobuf")), as_numbers(google.protobuf.__version__)
    assert runtime >= gencode
    assert runtime[0] <= gencode[0] + 1
    assert as_numbers(grpc.__version__) >= as_numbers(floor("grpcio"))
