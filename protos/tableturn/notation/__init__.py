"""Actions as people write them: `move C3 dropping red`.

A pure package, shared by command line, log and web page. It knows an action as
a *kind*, the name of its field in `tableturn.v1.Action`, and a dict of plain
*fields*:

    >>> from tableturn import notation
    >>> notation.parse("Move c3, dropping R")
    ('move', {'tile': 'C3', 'cube': 2})
    >>> notation.format("build_outpost", {"cubes": (0, 2, 0, 0)})
    'build paying RR'
    >>> notation.parse("biuld")
    Traceback (most recent call last):
    tableturn.notation.errors.Unreadable: no action begins with "biuld"; try `build [paying CUBES]`

`format` writes the one canonical text, and `parse` is its exact inverse: for
every action that can be written, `parse(format(kind, fields)) == (kind, fields)`.
Whether an action is legal is not asked here.
"""

from tableturn.notation.errors import Unreadable, Unwritable
from tableturn.notation.fields import (
    BONUSES,
    COLORS,
    FIELDS,
    CubeCounts,
    Value,
    cubes_text,
    read_cubes,
)
from tableturn.notation.forms import FORMS, Form, forms
from tableturn.notation.text import (
    MAX_TEXT,
    MAX_TURN,
    Parsed,
    format,
    format_turn,
    parse,
    parse_turn,
    split_turn,
)

__all__ = [
    "BONUSES",
    "COLORS",
    "FIELDS",
    "FORMS",
    "MAX_TEXT",
    "MAX_TURN",
    "CubeCounts",
    "Form",
    "Parsed",
    "Unreadable",
    "Unwritable",
    "Value",
    "cubes_text",
    "format",
    "format_turn",
    "forms",
    "parse",
    "parse_turn",
    "read_cubes",
    "split_turn",
]
