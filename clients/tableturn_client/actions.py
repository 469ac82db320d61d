"""Actions as messages and as texts, and what a choice admits.

    >>> to_text(to_action("Move c3, dropping R"))
    'move C3 dropping red'

A `Choice` lists or bounds what may be chosen for one kind of action; every combination is
legal. `expand` writes the combinations out where they are few, `pick` takes one at random:
a client plays any game without knowing its rules.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from tableturn import notation
from tableturn.v1.actions_pb2 import Action, BonusKind, Choice, CubeBounds, CubeColor, Cubes
from tableturn_client.errors import BadValue, UnreadableText
from tableturn_client.values import shown

AnyAction = Action | str
"""An action as a message, or in its text form."""

Counts = tuple[int, int, int, int]
_Value = int | str | Counts

FEW = 64
"""So many actions are written out by `expand`."""

# For each field of an action, the field of a choice that lists or bounds it.
_LISTS = {
    "tile": "tiles",
    "cube": "colors",
    "seat": "seats",
    "bonus": "bonuses",
    "pile": "piles",
    "card": "cards",
    "cubes": "cubes",
    "count": "count",
    "points": "points",
}


# ---------------------------------------------------------------- texts


def to_action(action: AnyAction, index: int = 0) -> Action:
    """The action that a text means; a message is taken as it is. Raises UnreadableText."""
    if isinstance(action, Action):
        return action
    if not isinstance(action, str):
        raise BadValue(f"an action is a text or a message, not {shown(action)}")
    try:
        kind, fields = notation.parse(action)
    except notation.Unreadable as unreadable:
        raise UnreadableText(str(unreadable), index=index, marked=unreadable.marked) from None
    return _action(kind, fields)


def to_actions(actions: Iterable[AnyAction]) -> list[Action]:
    """Several actions; the error names the index of the first that is none."""
    return [to_action(action, index) for index, action in enumerate(actions)]


def to_text(action: Action) -> str:
    """The text form of an action; `?` and its kind where this version knows no text for it."""
    kind = action.WhichOneof("action")
    if kind is None:
        return "? (of a later version)"
    message = getattr(action, kind)
    fields = {
        field.name: _counts(value) if isinstance(value, Cubes) else value
        for field, value in message.ListFields()
    }
    for field in message.DESCRIPTOR.fields:  # 0 is a number of points like any other
        if field.name == "points":
            fields.setdefault("points", 0)
    try:
        return notation.format(kind, fields)
    except notation.Unwritable:
        return f"? {kind}"


def _action(kind: str, fields: dict[str, _Value]) -> Action:
    """The message of a kind with these fields."""
    action = Action()
    if kind not in Action.DESCRIPTOR.fields_by_name:
        raise BadValue(f"this version knows no action of the kind {kind}")
    message = getattr(action, kind)
    message.SetInParent()
    for name, value in fields.items():
        if isinstance(value, tuple):
            getattr(message, name).CopyFrom(_cubes(value))
        else:
            setattr(message, name, value)
    return action


def _cubes(counts: Sequence[int]) -> Cubes:
    yellow, red, green, brown = counts
    return Cubes(yellow=yellow, red=red, green=green, brown=brown)


def _counts(cubes: Cubes) -> Counts:
    return (cubes.yellow, cubes.red, cubes.green, cubes.brown)


# ---------------------------------------------------------------- choices


@dataclass(frozen=True)
class Expansion:
    """The actions of a choice. Not `complete`: there are more, `total` in all.

    `usage` is the choice in one line, with what is to be chosen in capitals and what may
    stand there: `return CUBES (2 out of YYR)`.
    """

    actions: tuple[Action, ...]
    total: int
    usage: str

    @property
    def complete(self) -> bool:
        """All actions are listed."""
        return len(self.actions) == self.total

    @property
    def texts(self) -> tuple[str, ...]:
        """The actions in text form."""
        return tuple(map(to_text, self.actions))


def expand(choice: Choice, few: int = FEW) -> Expansion:
    """The actions that a choice admits: all where they are `few`, else none, and the bounds.

    A kind of action that this version doesn't know has none.
    """
    if not known(choice):
        return Expansion((), 0, f"? {choice.kind} (of a later version)")
    names = _fields(choice)
    total = prod(_count(choice, name) for name in names)
    if total > few:
        return Expansion((), total, usage(choice))
    actions = tuple(
        _action(choice.kind, dict(zip(names, values, strict=True)))
        for values in itertools.product(*(_values(choice, name) for name in names))
    )
    return Expansion(actions, total, usage(choice))


def pick(choice: Choice, rng: random.Random) -> Action:
    """One of the actions that a choice admits, at random. Raises BadValue for an unknown kind."""
    if not known(choice):
        raise BadValue(f"this version knows no action of the kind {choice.kind}")
    fields: dict[str, _Value] = {}
    for name in _fields(choice):
        offered = getattr(choice, _LISTS[name])
        if name == "cubes":
            fields[name] = _pick_cubes(offered, rng)
        elif name in ("count", "points"):
            fields[name] = rng.randint(offered.min, offered.max)
        else:
            value = rng.choice(offered)
            fields[name] = _counts(value) if isinstance(value, Cubes) else value
    return _action(choice.kind, fields)


def known(choice: Choice) -> bool:
    """This version knows the kind of action, and all of its fields."""
    return all(name in _LISTS for name in _field_names(choice.kind))


def usage(choice: Choice) -> str:
    """A choice in one line that says what can be typed."""
    named = {form.kind: form for form in notation.forms(choice.kind)}
    if choice.kind not in named:
        return choice.label or choice.kind
    hints = [hint for name in _fields(choice) if (hint := _hint(choice, name))]
    form = named[choice.kind].usage
    return f"{form} ({', '.join(hints)})" if hints else form


def _field_names(kind: str) -> list[str]:
    """The fields of a kind of action; for a kind that isn't known, one that isn't either."""
    field = Action.DESCRIPTOR.fields_by_name.get(kind)
    if field is None or field.message_type is None:
        return ["?"]
    return [field.name for field in field.message_type.fields]


def _fields(choice: Choice) -> list[str]:
    """The fields of the action for which this choice offers something."""
    return [name for name in _field_names(choice.kind) if _offers(choice, name)]


def _offers(choice: Choice, name: str) -> bool:
    match name:
        case "cubes" | "count" | "points":
            return choice.HasField(name)
        case _:
            return bool(getattr(choice, _LISTS[name]))


def _count(choice: Choice, name: str) -> int:
    """How many values there are for a field."""
    offered = getattr(choice, _LISTS[name])
    if name == "cubes":
        return _bundle_count(offered)
    if name in ("count", "points"):
        return len(range(offered.min, offered.max + 1))
    return len(offered)


def _values(choice: Choice, name: str) -> Iterable[_Value]:
    """The values for a field."""
    offered = getattr(choice, _LISTS[name])
    if name == "cubes":
        return _bundles(offered)
    if name in ("count", "points"):
        return range(offered.min, offered.max + 1)
    return [_counts(value) if isinstance(value, Cubes) else value for value in offered]


def _bundle_count(bounds: CubeBounds) -> int:
    """How many bundles lie within the bounds."""
    ways = [1]  # ways[n]: bundles of n cubes out of the colours so far
    for most in _counts(bounds.available):
        most = min(most, bounds.max)
        sums = [0, *itertools.accumulate(ways)]
        ways = [
            sums[min(n + 1, len(ways))] - sums[max(0, n - most)] if n - most < len(ways) else 0
            for n in range(min(len(ways) + most, bounds.max + 1))
        ]
    return sum(ways[bounds.min :])


def _bundles(bounds: CubeBounds) -> Iterator[Counts]:
    """All bundles within the bounds, those of few and cheap cubes first."""
    ranges = (range(min(most, bounds.max), -1, -1) for most in _counts(bounds.available))
    fitting = (
        (yellow, red, green, brown)
        for yellow, red, green, brown in itertools.product(*ranges)
        if bounds.min <= yellow + red + green + brown <= bounds.max
    )
    return iter(sorted(fitting, key=sum))


def _pick_cubes(bounds: CubeBounds, rng: random.Random) -> Counts:
    """A bundle within the bounds: a number of cubes first, then so many out of those there."""
    there = _counts(bounds.available)
    size = rng.randint(bounds.min, min(bounds.max, sum(there)))
    taken = rng.sample(range(4), k=size, counts=list(there)) if size else []
    return (taken.count(0), taken.count(1), taken.count(2), taken.count(3))


def _hint(choice: Choice, name: str) -> str:
    """What may stand for a field, in a few words."""
    offered = getattr(choice, _LISTS[name])
    if name == "cubes":
        if not offered.max:
            return ""
        size = f"{offered.min}" if offered.min == offered.max else f"{offered.min}-{offered.max}"
        return f"{size} out of {notation.cubes_text(_counts(offered.available))}"
    if name in ("count", "points"):
        return str(offered.min) if offered.min == offered.max else f"{offered.min} to {offered.max}"
    return " ".join(_word(name, value) for value in offered)


def _word(name: str, value: object) -> str:
    """A value of a list as it is typed."""
    if isinstance(value, Cubes):
        return notation.cubes_text(_counts(value))
    if name == "cube" and isinstance(value, int):
        return CubeColor.Name(CubeColor.ValueType(value)).removeprefix("CUBE_COLOR_").lower()
    if name == "bonus" and isinstance(value, int):
        return BonusKind.Name(BonusKind.ValueType(value)).removeprefix("BONUS_KIND_").lower()
    return str(value)
