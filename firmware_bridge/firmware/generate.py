"""Writes the headers of the firmware: `python firmware_bridge/firmware/generate.py`.

Messages, codes, times and patterns are declared once, in `tableturn_bridge`; the C code gets them
from there, with their comments. A test fails if the headers are no longer what this writes.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Annotated, get_args, get_origin, get_type_hints

from tableturn_bridge import frames, patterns, protocol
from tableturn_bridge.protocol import Message
from tableturn_bridge.virtual import lights

HERE = Path(__file__).parent
WIDTH = 100
TYPES = {"B": "uint8_t", "H": "uint16_t", "I": "uint32_t"}
"""What the letters of `struct` are in C."""

Constants = dict[str, str]
"""Names in Python, and in C."""

PROTOCOL: Constants = {
    "VERSION": "PROTOCOL_VERSION",
    "FEWEST_BUTTONS": "FEWEST_BUTTONS",
    "MOST_BUTTONS": "MOST_BUTTONS",
    "LONGEST_BODY": "LONGEST_BODY",
    "NO_BUTTON": "NO_BUTTON",
    "LINK_LOST": "LINK_LOST_MS",
    "RESEND": "RESEND_MS",
    "RESEND_SEEN": "RESEND_SEEN_MS",
    "DEBOUNCE": "DEBOUNCE_MS",
    "LONG_PRESS": "LONG_PRESS_MS",
    "ANSWER_PATIENCE": "ANSWER_PATIENCE_MS",
    "QUEUE": "QUEUE_LENGTH",
}
HOST_ONLY = {
    "LOWEST_VERSION",
    "HELLO_EVERY",
    "HELLO_PATIENCE",
    "STATE_EVERY",
    "PING_EVERY",
    "PINGS_UNANSWERED",
}
"""What the panel has no use for."""
FRAMES: Constants = {
    "SHORTEST_CONTENT": "SHORTEST_CONTENT",
    "LONGEST_CONTENT": "LONGEST_CONTENT",
    "LONGEST_CODED": "LONGEST_CODED",
}
STEPS: Constants = {"STEP": "STEP_MS", "STEPS": "STEPS", "BRIGHTEST": "BRIGHTEST"}
SIGNS: Constants = {
    "MARK": "MARK_STEPS",
    "REFUSED": "REFUSED_STEPS",
    "STALE": "STALE_STEPS",
    "NOT_ARMED": "NOT_ARMED_STEPS",
    "NO_ANSWER": "NO_ANSWER_STEPS",
}
LIGHTS: Constants = {"LAMP_TEST": "LAMP_TEST_MS"}


def snake(name: str) -> str:
    """HelloRequest -> hello_request."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def comment(text: str | None, indent: str = "") -> str:
    """A text as a comment in C, with a line's end; nothing without a text."""
    if not text:
        return ""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    if len(paragraphs) == 1 and len(indent) + len(paragraphs[0]) + 6 <= WIDTH:
        return f"{indent}/* {paragraphs[0]} */\n"
    lines: list[str] = []
    for paragraph in paragraphs:
        if lines:
            lines.append("")
        lines += textwrap.wrap(paragraph, WIDTH - len(indent) - 3)
    body = "\n".join(f"{indent} * {line}".rstrip() for line in lines)
    return f"{indent}/*\n{body}\n{indent} */\n"


def notes(source: ModuleType | type) -> dict[str, str]:
    """The strings that stand below the assignments of a module or a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(source))).body
    if isinstance(source, type):
        (declared,) = body
        assert isinstance(declared, ast.ClassDef)
        body = declared.body
    found: dict[str, str] = {}
    for node, after in pairwise(body):
        match node, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = text
    return found


# ---------------------------------------------------------------- pieces


def constants(module: ModuleType, names: Constants, form: str = "{}u") -> Iterator[str]:
    """Numbers of a module, each with its comment."""
    said = notes(module)
    for name, in_c in names.items():
        value = getattr(module, name)
        yield comment(said.get(name))
        if isinstance(value, tuple):
            yield f"#define {in_c} {{{', '.join(f'{each}u' for each in value)}}}\n"
            yield f"#define {in_c.removesuffix('_MS')}_TIMES {len(value)}u\n"
        else:
            yield f"#define {in_c} {form.format(value)}\n"


def enumeration(kind: type[IntEnum]) -> Iterator[str]:
    """An enum, its members with the enum's name in front."""
    said = notes(kind)
    name = snake(kind.__name__)
    yield comment(kind.__doc__)
    yield f"enum {name} {{\n"
    for member in kind:
        yield comment(said.get(member.name), "    ")
        yield f"    {name.upper()}_{member.name} = {int(member)},\n"
    yield "};\n"


def message(kind: type[Message]) -> Iterator[str]:
    """The code of a message, and its body."""
    name = snake(kind.__name__)
    yield f"#define {name.upper()}_CODE 0x{kind.CODE:02X}u\n\n"
    yield comment(kind.__doc__)
    yield f"struct {name} {{\n"
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):  # type: ignore[arg-type]
        hint = hints[field.name]
        assert get_origin(hint) is Annotated
        form = get_args(hint)[1]
        count = f"[{form[:-1]}]" if form[:-1] else ""
        yield f"    {TYPES[form[-1]]} {field.name}{count};\n"
    yield "} PACKED;\n"
    yield (f'_Static_assert(sizeof(struct {name}) == {kind.FORM.size}, "{name} has no padding");\n')


def _inline(name: str, argument: str, value: str) -> Iterator[str]:
    """A function that takes a part of a byte."""
    yield f"static inline uint8_t {name}(uint8_t {argument}) {{\n    return {value};\n}}\n"


# ---------------------------------------------------------------- headers


def messages_header() -> str:
    """What travels on the line, and the times that both sides count on."""
    known = PROTOCOL.keys() | HOST_ONLY
    for name, value in vars(protocol).items():
        if name.isupper() and isinstance(value, int) and not isinstance(value, bool):
            assert name in known, f"{name} is new: does the panel need it?"
    parts = [
        comment(
            "The messages between host and panel: written by generate.py from "
            "tableturn_bridge/protocol.py and frames.py. Change those, never this file."
        ),
        "#ifndef PANEL_MESSAGES_H\n#define PANEL_MESSAGES_H\n\n#include <stdint.h>\n\n",
        comment("Bodies are structures as they travel: little endian, without padding."),
        "#define PACKED __attribute__((packed))\n",
        "_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "
        '"messages are little endian");\n',
        "\n",
        *constants(protocol, PROTOCOL),
        "\n",
        *constants(frames, FRAMES),
    ]
    kinds = (
        protocol.Kind,
        protocol.Result,
        protocol.ResetCause,
        protocol.Caps,
        protocol.Flags,
        protocol.Color,
    )
    for kind in kinds:
        parts += ["\n", *enumeration(kind)]  # type: ignore[arg-type]
    parts += [
        "\n",
        comment(inspect.getdoc(protocol.marked)),
        *_inline("marked", "flags", "flags >> 4"),
        "\n",
        comment("The pattern of one lamp in `state`, and its colour."),
        *_inline("lamp_pattern", "lamp", "lamp & 0x0F"),
        *_inline("lamp_color", "lamp", "lamp >> 4"),
    ]
    for title, group in (
        ("host to panel", protocol.HOST_TO_PANEL),
        ("panel to host", protocol.PANEL_TO_HOST),
    ):
        parts.append(f"\n/* {'-' * 60} {title} */\n")
        for one in group:
            parts += ["\n", *message(one)]
    parts.append("\n#endif\n")
    return "".join(parts)


def patterns_header() -> str:
    """How lamps say something."""
    parts = [
        comment(
            "What lamps say and how: written by generate.py from tableturn_bridge/patterns.py. "
            "Change that, never this file.\n\n" + (patterns.__doc__ or "")
        ),
        "#ifndef PANEL_PATTERNS_H\n#define PANEL_PATTERNS_H\n\n#include <stdint.h>\n\n",
        *constants(patterns, STEPS),
        "\n",
        *constants(lights, LIGHTS),
        "\n",
        *enumeration(patterns.Pattern),
        "#define PATTERNS 16u\n\n",
        comment("How a pattern looks, beyond the steps in which the lamp is lit."),
        "enum look {\n    LOOK_PLAIN = 0,\n",
        "    /* At a quarter of the brightness. */\n    LOOK_DIM = 1,\n",
        "    /* Up in one run, down in the next. */\n    LOOK_BREATHES = 2,\n};\n\n",
        comment("The shape of each pattern: its steps and its look, in the order of the numbers."),
    ]
    rows = []
    for pattern in patterns.Pattern:
        shape = patterns.SHAPES[pattern]
        look = [name for name in ("dim", "breathes") if getattr(shape, name)]
        looks = " | ".join(f"LOOK_{each.upper()}" for each in look) or "LOOK_PLAIN"
        rows.append(f"[PATTERN_{pattern.name}] = {{0x{shape.steps:04X}u, {looks}}},")
    parts.append(_macro("PATTERN_SHAPES", ["{", *(f"    {row}" for row in rows), "}"]))
    parts += [
        "\n",
        *constants(patterns, SIGNS, "0x{:04X}u"),
        comment("A held button, and a second one: the lamps of both."),
        f"#define HELD_CHORD_STEPS 0x{lights.HELD_CHORD.steps:04X}u\n",
        "\n#endif\n",
    ]
    return "".join(parts)


def _macro(name: str, lines: list[str]) -> str:
    """A definition of several lines."""
    return " \\\n".join([f"#define {name}", *(f"    {line}" for line in lines)]) + "\n"


def headers() -> dict[str, str]:
    """The files by their names."""
    return {"panel_messages.h": messages_header(), "panel_patterns.h": patterns_header()}


def main() -> None:
    """Write them."""
    for name, text in headers().items():
        (HERE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
