"""The headers of the firmware are what the declarations in Python say."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.meta.tree import ROOT

from .host import SOURCES

CLANG_FORMAT = Path(sys.executable).with_name("clang-format")


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_headers", SOURCES / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_headers_are_what_the_script_writes() -> None:
    for name, text in generator().headers().items():
        assert (SOURCES / name).read_text("utf-8") == text, (
            f"run python firmware_bridge/firmware/generate.py: {name} is not what it writes"
        )


def test_the_c_code_is_formatted() -> None:
    folders = (ROOT / "firmware_bridge", ROOT / "tests" / "bridge")
    found = sorted(file for folder in folders for file in folder.rglob("*.[ch]"))
    assert SOURCES / "panel_core.c" in found
    ran = subprocess.run(
        [CLANG_FORMAT, "--dry-run", "--Werror", *found], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
