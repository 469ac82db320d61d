"""What the docs say about the panel as hardware agrees with what bridge and firmware go by."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from dataclasses import fields
from enum import IntEnum, IntFlag
from pathlib import Path
from types import ModuleType
from typing import get_args, get_type_hints

import pytest

from tableturn_bridge import protocol
from tableturn_bridge.frames import crc
from tableturn_bridge.patterns import Pattern
from tests.meta.tree import ROOT

PICTURES = ROOT / "docs/pictures"
BUILDING = (ROOT / "docs/panel-building.md").read_text("utf-8")
PROTOCOL = (ROOT / "docs/panel-protocol.md").read_text("utf-8")
FIRMWARE = ROOT / "firmware_bridge/firmware"


@pytest.fixture
def wiring(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PICTURES))
    return importlib.import_module("wiring")


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PICTURES))
    return importlib.import_module("patterns")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table below a row of headings."""
    lines = page.splitlines()
    found = lines.index(heading) + 2
    table: list[list[str]] = []
    while found < len(lines) and lines[found].startswith("|"):
        table.append([cell.strip() for cell in lines[found].strip("|").split("|")])
        found += 1
    return table


# ---------------------------------------------------------------- pictures


def test_the_pictures_are_what_is_drawn(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", PICTURES / "make.py", tmp_path], check=True)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    there = {path.name: path.read_text("utf-8") for path in PICTURES.glob("*.svg")}
    assert drawn == there, "run `make pictures`"


def test_all_patterns_are_in_the_picture(patterns: ModuleType) -> None:
    shown = {pattern.name for pattern, _ in (*patterns.TABLE, *patterns.PANEL)}
    shown |= {name for name, _ in patterns.PRESS}
    assert shown >= {pattern.name for pattern in Pattern} - {"OFF"}
    assert shown >= {"NO_ANSWER", "NOT_ARMED", "STALE", "REFUSED"}
    assert {sign.name for sign, _ in patterns.HELD} == {"HELD_LONG", "HELD_CHORD"}


def pin_of_chip(name: str) -> str:
    """What the chip calls a pin of an Arduino: D8 is PB0, A0 is PC0."""
    number = int(name[1:])
    if name.startswith("A"):
        return f"PC{number}"
    return f"PB{number - 8}" if number >= 8 else f"PD{number}"


def test_the_wiring_is_that_of_the_firmware(wiring: ModuleType) -> None:
    defined = dict(
        re.findall(r"^#define (\w+) (\w+)$", (FIRMWARE / "pins.h").read_text(), re.MULTILINE)
    )
    buttons, lamps = defined["BUTTON_PORT"][-1], defined["LAMP_PORT"][-1]
    seats = range(protocol.MOST_BUTTONS)
    assert [pin_of_chip(pin) for pin in wiring.BUTTON_PINS] == [f"P{buttons}{n}" for n in seats]
    assert [pin_of_chip(pin) for pin in wiring.LAMP_PINS] == [f"P{lamps}{n}" for n in seats]
    assert pin_of_chip(wiring.MASTER_PIN) == defined["MASTER_PIN"]
    assert pin_of_chip(wiring.PIXEL_PIN) == defined["PIXEL_PIN"]


def test_the_table_of_pins_is_the_picture(wiring: ModuleType) -> None:
    table = rows(BUILDING, "| seat | button | lamp |")
    seats = [row for row in table if row[0].isdigit()]
    assert tuple(row[1] for row in seats) == wiring.BUTTON_PINS
    assert tuple(row[2] for row in seats) == wiring.LAMP_PINS
    assert ["master button", wiring.MASTER_PIN, ""] in table
    assert ["data of the pixels", wiring.PIXEL_PIN, ""] in table


def test_every_wire_ends_at_the_pin_of_its_name(wiring: ModuleType) -> None:
    """In the picture, level with the name that stands there."""
    svg = (PICTURES / "panel-wiring.svg").read_text("utf-8")
    for pin in (*wiring.BUTTON_PINS, *wiring.LAMP_PINS, wiring.MASTER_PIN, wiring.PIXEL_PIN):
        edge = wiring.PADS_LEFT - 5 if pin in wiring.LEFT else wiring.PADS_RIGHT + 5
        y = wiring.y_of(pin)
        assert f'points="{edge},{y:g} ' in svg, pin
        x = edge + 17 if pin in wiring.LEFT else edge - 17
        [text_y] = re.findall(rf'<text x="{x}" y="([\d.]+)"[^>]*>{pin}</text>', svg)
        assert abs(float(text_y) - y) < 6


# ---------------------------------------------------------------- the protocol


def test_the_frame_that_is_taken_apart_is_a_golden_one() -> None:
    vectors = json.loads((ROOT / "firmware_bridge/vectors/frames.json").read_text())
    [golden] = [frame for frame in vectors["frames"] if frame["name"] == "state-game"]
    [frame] = re.findall(r"^((?:[0-9a-f]{2} )+00)$", PROTOCOL, re.MULTILINE)
    assert bytes.fromhex(frame) == bytes.fromhex(golden["frame"])

    parts = rows(PROTOCOL, "| bytes | field | what it says |")
    assert "".join(cell.strip("`").replace(" ", "") for cell, *_ in parts) == golden["content"]
    names = [field.name for field in fields(protocol.State)]
    assert [name for _, name, _ in parts] == ["type", "number", *names, "CRC"]
    said = {name: words for _, name, words in parts}
    assert str(golden["fields"]["tag"]) in said["tag"]
    assert str(golden["fields"]["brightness"]) in said["brightness"]
    content = bytes.fromhex(golden["content"])
    assert f"0x{crc(content[:-2]):04x}" in said["CRC"]


def test_every_body_is_told_field_by_field() -> None:
    words = {"B": "u8", "H": "u16", "I": "u32", f"{protocol.MOST_BUTTONS}B": "6 × u8"}
    wanted = []
    for kind in (*protocol.HOST_TO_PANEL, *protocol.PANEL_TO_HOST):
        hints = get_type_hints(kind, include_extras=True)
        forms = [
            f"{field.name} {words[get_args(hints[field.name])[1]]}"
            for field in fields(kind)  # type: ignore[arg-type]
        ]
        wanted.append([f"`{kind.__name__}`", f"`{kind.CODE:02x}`", ", ".join(forms)])
    assert rows(PROTOCOL, "| message | type | body |") == wanted


def test_every_number_of_a_field_is_told() -> None:
    numbers: dict[str, type[IntEnum] | type[IntFlag]] = {
        "kind": protocol.Kind,
        "result": protocol.Result,
        "reset_cause": protocol.ResetCause,
        "caps": protocol.Caps,
        "flags, lower half": protocol.Flags,
        "lamp, lower half": Pattern,
        "lamp, upper half": protocol.Color,
    }
    wanted = [
        [name, ", ".join(f"{one.value} {one.name}" for one in values)]
        for name, values in numbers.items()
    ]
    assert rows(PROTOCOL, "| field | values |") == wanted
