"""Rules of udev, as far as ours go: what becomes of a device.

Read here so that they can be proved without a device; where `udevadm verify` is, that reads them
as well. See udev(7).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

_PAIR = re.compile(r'([A-Z]+)(?:\{([\w.]+)\})?\s*(==|!=|\+=|=)\s*"([^"]*)"\s*(?:,\s*|$)')


@dataclass(frozen=True)
class Pair:
    """One part of a rule: a match or an assignment."""

    key: str
    name: str
    operator: str
    value: str

    @property
    def matches(self) -> bool:
        return self.operator in ("==", "!=")


@dataclass
class Device:
    """A device and what the rules have made of it so far."""

    subsystem: str
    attrs: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    action: str = "add"
    links: set[str] = field(default_factory=set)
    group: str = "root"
    mode: str = "0600"

    def _value(self, pair: Pair) -> str | None:
        match pair.key:
            case "ACTION":
                return self.action
            case "SUBSYSTEM":
                return self.subsystem
            case "ENV":
                return self.env.get(pair.name, "")
            case "ATTRS":
                return self.attrs.get(pair.name)
        raise ValueError(f"{pair.key} is not known here")

    def fits(self, pair: Pair) -> bool:
        value = self._value(pair)
        alternatives = pair.value.split("|")
        same = value is not None and any(fnmatchcase(value, one) for one in alternatives)
        return same == (pair.operator == "==")

    def change(self, pair: Pair) -> None:
        value = re.sub(r"\$env\{(\w+)\}", lambda found: self.env.get(found[1], ""), pair.value)
        match pair.key, pair.operator:
            case "ENV", "=":
                self.env[pair.name] = value
            case "SYMLINK", "+=":
                self.links |= set(value.split())
            case "GROUP", "=":
                self.group = value
            case "MODE", "=":
                self.mode = value
            case _:
                raise ValueError(f"{pair} is not known here")


def read_rules(path: Path) -> list[list[Pair]]:
    """The rules of a file. Raises ValueError for what is none."""
    rules = []
    for line in path.read_text().replace("\\\n", "").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        pairs, rest = [], line.strip()
        while rest:
            found = _PAIR.match(rest)
            if found is None:
                raise ValueError(f"no rule: {line}")
            pairs.append(Pair(found[1], found[2] or "", found[3], found[4]))
            rest = rest[found.end() :]
        rules.append(pairs)
    return rules


def apply(rules: list[list[Pair]], device: Device) -> Device:
    """Let the rules see a device, in order."""
    goal = ""
    for rule in rules:
        labels = [pair.value for pair in rule if pair.key == "LABEL"]
        if goal and goal not in labels:
            continue
        goal = ""
        if not all(device.fits(pair) for pair in rule if pair.matches):
            continue
        for pair in rule:
            if pair.key == "GOTO":
                goal = pair.value
            elif pair.key != "LABEL" and not pair.matches:
                device.change(pair)
    if goal:
        raise ValueError(f"there is no label {goal}")
    return device
