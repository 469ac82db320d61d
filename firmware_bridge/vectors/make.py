"""Writes the golden vectors: `python firmware_bridge/vectors/make.py`. See README.md there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tableturn_bridge.protocol import MESSAGES, VERSION
from vectors.delivery import delivery
from vectors.frames import golden_frames, golden_streams
from vectors.gestures import gestures
from vectors.greeting import greeting

HERE = Path(__file__).parent
TOLERANCE = 10


def documents() -> dict[str, dict[str, Any]]:
    """The files by their names."""
    sequences = [*greeting(), *delivery(), *gestures()]
    return {
        "frames.json": {
            "protocol": VERSION,
            "types": {kind.__name__: code for code, kind in MESSAGES.items()},
            "frames": golden_frames(),
            "streams": golden_streams(),
        },
        "panel.json": {
            "protocol": VERSION,
            "tolerance": TOLERANCE,
            "sequences": [sequence.document for sequence in sequences],
        },
    }


def text_of(document: dict[str, Any]) -> str:
    """JSON with one line for each frame and each step, so that a change shows as such."""
    lines = []
    for key, value in document.items():
        if isinstance(value, list):
            entries = ",\n    ".join(_entry(entry) for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n    {entries}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(entry: dict[str, Any]) -> str:
    """One frame on a line; of a sequence, one step."""
    if "steps" not in entry:
        return json.dumps(entry)
    steps = ",\n      ".join(json.dumps(step) for step in entry["steps"])
    head = json.dumps({key: value for key, value in entry.items() if key != "steps"})
    return f'{head[:-1]}, "steps": [\n      {steps}\n    ]}}'


def main() -> None:
    """Write both files."""
    for name, document in documents().items():
        (HERE / name).write_text(text_of(document), "utf-8")


if __name__ == "__main__":
    main()
