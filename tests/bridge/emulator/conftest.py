"""A small program for the board, that does what a test tells it to: `trial.c`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.wanted import missing

SOURCE = Path(__file__).with_name("trial.c")
FLAGS = ("-mmcu=atmega328p", "-DF_CPU=16000000UL", "-std=gnu11", "-Os", "-Wall", "-Wextra")


@pytest.fixture(scope="session")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its ELF file."""
    if shutil.which("avr-gcc") is None:
        missing("there is no avr-gcc")
    elf = tmp_path_factory.mktemp("trial") / "trial.elf"
    subprocess.run(["avr-gcc", *FLAGS, "-Werror", SOURCE, "-o", elf], check=True)
    return elf
