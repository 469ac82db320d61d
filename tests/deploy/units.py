"""Units of systemd as far as a test needs them: what they run, with which environment."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from tests.meta.tree import ROOT

UNITS = ROOT / "deploy/systemd"
SETTINGS = UNITS / "tableturn.conf"


@dataclass
class Unit:
    """What a unit says: its values by section and name, in order."""

    name: str
    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def one(self, section: str, name: str) -> str:
        (value,) = self.values[section, name]
        return value

    def environment(self, settings: dict[str, str]) -> dict[str, str]:
        """Its variables; those of the settings' file come last, as with systemd."""
        pairs = [
            word for line in self.values["Service", "Environment"] for word in shlex.split(line)
        ]
        return dict(pair.split("=", 1) for pair in pairs) | settings

    def command(self, settings: dict[str, str]) -> list[str]:
        """The words that it runs. A word `$NAME` becomes the words of that variable."""
        variables = self.environment(settings)
        words: list[str] = []
        for word in shlex.split(self.one("Service", "ExecStart")):
            if word.startswith("$"):
                words += shlex.split(variables[word.removeprefix("$")])
            else:
                words.append(word)
        return words


def read_unit(name: str) -> Unit:
    unit, section = Unit(name), ""
    for line in (UNITS / name).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            unit.values.setdefault((section, key), []).append(value)
    return unit


def read_settings(text: str) -> dict[str, str]:
    """A file of settings, each value in double quotes."""
    return dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))


def with_program(name: str, program: Path, folder: Path) -> Path:
    """A copy of a unit that runs a program that is there."""
    text = (UNITS / name).read_text()
    assert "/opt/tableturn/bin/tableturn" in text
    copy = folder / name
    copy.write_text(text.replace("/opt/tableturn/bin/tableturn", str(program)))
    return copy
