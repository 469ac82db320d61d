"""Answers of a person: a number and words are put together to an action, step by step.

A `Draft` is an action of which some fields are known. `read` takes the words of
a line, `missing` names what is still to be asked. Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rich.text import Text

from tableturn import notation
from tableturn.notation.fields import BONUSES, COLORS
from tableturn.v1 import actions_pb2
from tableturn_client import actions
from tableturn_client.drawing import bonus, choices, cubes
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, listed

Counts = tuple[int, int, int, int]
Value = int | str | Counts

FEW_BUNDLES = 9
"""So many bundles of cubes are listed with numbers."""
_WORDS_BETWEEN = frozenset(
    {"to", "for", "on", "seat", "dropping", "paying", "with", "tile", "boat", "card", "and"}
)
_LISTS = {
    "tile": "tiles",
    "cube": "colors",
    "seat": "seats",
    "bonus": "bonuses",
    "pile": "piles",
    "card": "cards",
}
_BOUNDS = ("cubes", "count", "points")


Faces = Mapping[str, Text]


class Unclear(ValueError):
    """An answer can't be read. The sentence is for the person."""


@dataclass(frozen=True)
class Draft:
    """An action of one kind that is being put together."""

    choice: actions_pb2.Choice
    fields: dict[str, Value] = field(default_factory=dict)
    faces: Faces = field(default_factory=dict)
    """What is on the cards that are seen, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that the choice offers something for, in the order in which they are asked."""
        kind = actions_pb2.Action.DESCRIPTOR.fields_by_name.get(self.choice.kind)
        if kind is None or kind.message_type is None:
            return ()
        return tuple(f.name for f in kind.message_type.fields if _offers(self.choice, f.name))

    @property
    def missing(self) -> str | None:
        """The next field to be asked; None if the action is complete."""
        return next((name for name in self.names if name not in self.fields), None)

    @property
    def text(self) -> str:
        """The action in its text form. Raises Unclear for a kind that this version can't write."""
        try:
            return notation.format(self.choice.kind, self.fields)
        except notation.Unwritable:
            raise Unclear(
                f'this version can\'t write "{choices.label(self.choice)}"; a newer tableturn can'
            ) from None

    def with_(self, name: str, value: Value) -> Draft:
        """The draft with one more field."""
        return replace(self, fields={**self.fields, name: value})

    def settled(self) -> Draft:
        """With every field for which there is only one value."""
        draft = self
        for name in self.names:
            if name not in draft.fields and name != "points":
                only = _values(self.choice, name, 2)
                if only is not None and len(only) == 1:
                    draft = draft.with_(name, only[0])
        if (
            draft.choice.kind == "put_cube" and draft.missing == "card"
        ):  # the leftmost, unless named
            draft = draft.with_("card", draft.choice.cards[0])
        return draft

    @property
    def default(self) -> Value | None:
        """What Enter means for the missing field: only where it can be undone without harm."""
        name = self.missing
        if name == "count":
            return self.choice.count.max
        if name == "cube" and self.choice.kind == "put_cube":
            return min(self.choice.colors)
        if name != "cubes":
            return None
        bounds, there = self.choice.cubes, cubes.counts(self.choice.cubes.available)
        if self.choice.kind == "pick_up" and sum(there) <= bounds.max:
            return there
        if self.choice.kind == "return_cubes":
            return _lowest(there, bounds.min)
        return None


def begin(
    choice: actions_pb2.Choice, words: Sequence[str] = (), faces: Faces = MappingProxyType({})
) -> Draft:
    """A draft for a choice, with the words that were typed behind its number."""
    if not actions.known(choice) or not notation.forms(choice.kind):
        raise Unclear(f'"{choices.label(choice)}" needs a newer version of tableturn')
    draft = Draft(choice, faces=faces)
    for word in words:
        if word.lower() not in _WORDS_BETWEEN:
            draft = _placed(draft, word)
    return draft.settled()


def typed(
    text: str, offered: Iterable[actions_pb2.Choice], faces: Faces = MappingProxyType({})
) -> Draft:
    """A draft for an action in text form. Raises Unclear, with what may be done instead."""
    try:
        kind, fields = notation.parse(text)
    except notation.Unreadable as unreadable:
        raise Unclear(str(unreadable)) from None
    choice = next((choice for choice in offered if choice.kind == kind), None)
    if choice is None:
        raise Unclear(f'"{clean(text, 40)}" is not possible now')
    draft = Draft(choice, faces=faces)
    for name, value in fields.items():
        if name in draft.names:
            if not _admits(choice, name, value):
                raise Unclear(_refusal(choice, name, _shown(name, value)))
            draft = draft.with_(name, value)
        elif value not in (0, "", (0, 0, 0, 0)):
            raise Unclear(f"no {name} is chosen here: {choices.label(choice)}")
    return draft.settled()


def answer(draft: Draft, line: str) -> Draft:
    """The draft with an answer to its missing field. Raises Unclear."""
    name = draft.missing
    if name is None:
        return draft
    words = [word for word in line.replace(",", " ").split() if word.lower() not in _WORDS_BETWEEN]
    if not words:
        if draft.default is None:
            raise Unclear("please choose one, or x to go back")
        return draft.with_(name, draft.default).settled()
    if name in ("cubes", "pile"):  # `2Y R`, `yellow red`
        value = _read(draft, name, " ".join(words))
        if value is not None:
            return draft.with_(name, value).settled()
    for word in words:
        draft = _placed(draft, word)
    return draft.settled()


def offers(draft: Draft, seats: Seats) -> list[tuple[str, Text]]:
    """What may be answered: what is typed, and what it means."""
    choice, name = draft.choice, draft.missing or ""
    if name == "tile":
        return [(clean(tile, 6), Text()) for tile in choice.tiles]
    if name == "seat":
        return [(str(seat), Text(seats.name(seat))) for seat in choice.seats]
    if name == "count":
        return [("", Text(f"{choice.count.min} to {choice.count.max}"))]
    if name == "points":
        return [("", Text(f"{choice.points.min} to {choice.points.max}"))]
    if name == "card":
        return [(clean(card, 6), draft.faces.get(card, Text())) for card in choice.cards]
    found = _values(choice, name, FEW_BUNDLES)
    if found is None:
        return [("", choices.bounds(choice.cubes))]
    offered = [(str(n), _drawn(name, value)) for n, value in enumerate(found, 1)]
    if choice.kind == "put_cube" and name == "cube" and len(choice.cards) > 1:
        example = "yr" + "y" * (len(choice.cards) - 2)
        offered.append((example, Text("a cube for each card from the left")))
    return offered


def _drawn(name: str, value: Value) -> Text:
    """A value in colour."""
    if name == "cube" and isinstance(value, int):
        return choices.color(value)
    if name == "bonus" and isinstance(value, int):
        word = bonus.word(value)
        return Text(f"{word} ({bonus.MEANINGS[word]})" if word in bonus.MEANINGS else word)
    if isinstance(value, tuple):
        return cubes.bundle(_message(value)) if sum(value) else Text("nothing")
    return Text(str(value))


# ---------------------------------------------------------------- reading


def _placed(draft: Draft, word: str) -> Draft:
    """The draft with a word as the value of the first field that it fits.

    A number could be many things, so it is the first field that is missing, or nothing.
    """
    for name in draft.names:
        if name not in draft.fields and (_number(word) is None or name == draft.missing):
            value = _read(draft, name, word)
            if value is not None:
                return draft.with_(name, value)
    name = draft.missing or (draft.names[-1] if draft.names else "")
    if not name:
        raise Unclear(f'"{clean(word, 20)}" is too much: nothing is to be chosen here')
    raise Unclear(_refusal(draft.choice, name, f'"{clean(word, 20)}"'))


def _read(draft: Draft, name: str, text: str) -> Value | None:
    """The value that a text means, if the choice admits it."""
    choice = draft.choice
    if name == "card":
        return _read_card(draft, text)
    value = _READERS[name](choice, text.strip())
    return value if value is not None and _admits(choice, name, value) else None


def _read_card(draft: Draft, text: str) -> Value | None:
    """A card by its name, or by what is on it (`yyy>b`) where only one has that."""
    word = text.lower()
    named = [card for card in draft.choice.cards if card.lower() == word]
    faced = [
        card
        for card in draft.choice.cards
        if card in draft.faces and draft.faces[card].plain.lower() == word
    ]
    found = named or faced
    return found[0] if len(found) == 1 else None


def _read_tile(choice: actions_pb2.Choice, text: str) -> Value | None:
    return next((tile for tile in choice.tiles if tile.lower() == text.lower()), None)


def _read_seat(choice: actions_pb2.Choice, text: str) -> Value | None:
    return _number(text)


def _read_color(choice: actions_pb2.Choice, text: str) -> Value | None:
    word = text.lower()
    found = [n for n, name in enumerate(COLORS, 1) if word in (name, name[0])]
    return found[0] if found else _at(text, list(choice.colors))


def _read_bonus(choice: actions_pb2.Choice, text: str) -> Value | None:
    if text.lower() in BONUSES:
        return BONUSES.index(text.lower()) + 1
    return _at(text, list(choice.bonuses))


def _read_pile(choice: actions_pb2.Choice, text: str) -> Value | None:
    return _at(text, _values(choice, "pile", 99) or []) or _bundle(text)


def _read_bundle(choice: actions_pb2.Choice, text: str) -> Value | None:
    return _at(text, _values(choice, "cubes", FEW_BUNDLES) or []) or _bundle(text)


def _read_number(choice: actions_pb2.Choice, text: str) -> Value | None:
    return _number(text)


_READERS: dict[str, Callable[[actions_pb2.Choice, str], Value | None]] = {
    "tile": _read_tile,
    "seat": _read_seat,
    "cube": _read_color,
    "bonus": _read_bonus,
    "pile": _read_pile,
    "cubes": _read_bundle,
    "count": _read_number,
    "points": _read_number,
}


def _number(text: str) -> int | None:
    """A whole number."""
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _at(text: str, found: Sequence[Value]) -> Value | None:
    """The value at a number of the list, from 1."""
    number = _number(text)
    return found[number - 1] if number is not None and 1 <= number <= len(found) else None


def _bundle(text: str) -> Counts | None:
    """Cubes in letters, counts or words."""
    try:
        return notation.read_cubes(text)
    except ValueError:
        return None


# ---------------------------------------------------------------- what a choice admits


def _offers(choice: actions_pb2.Choice, name: str) -> bool:
    """The choice offers something for this field."""
    if name in _LISTS:
        return bool(getattr(choice, _LISTS[name]))
    return name in _BOUNDS and choice.HasField(name)  # type: ignore[arg-type]


def _values(choice: actions_pb2.Choice, name: str, most: int) -> list[Value] | None:
    """All values of a field, if there are at most so many."""
    found: list[Value]
    if name in ("count", "points"):
        span = choice.count if name == "count" else choice.points
        if span.max - span.min >= most:
            return None
        found = list(range(span.min, span.max + 1))
    elif name == "cubes":
        bundles = _bundles(choice.cubes, most)
        if bundles is None:
            return None
        found = list(bundles)
    else:
        offered = getattr(choice, _LISTS[name])
        found = [cubes.counts(v) if isinstance(v, actions_pb2.Cubes) else v for v in offered]
    return found if len(found) <= most else None


def _bundles(bounds: actions_pb2.CubeBounds, most: int) -> list[Counts] | None:
    """The bundles within the bounds, the cheapest first, if there are at most so many."""
    there = cubes.counts(bounds.available)
    found: list[Counts] = []
    high = [min(count, bounds.max) for count in there]
    for yellow in range(high[0], -1, -1):
        for red in range(high[1], -1, -1):
            for green in range(high[2], -1, -1):
                for brown in range(high[3], -1, -1):
                    if bounds.min <= yellow + red + green + brown <= bounds.max:
                        found.append((yellow, red, green, brown))
                        if len(found) > most:
                            return None
    return sorted(found, key=sum)


def _admits(choice: actions_pb2.Choice, name: str, value: Value) -> bool:
    """The choice admits this value."""
    if name in ("count", "points"):
        span = choice.count if name == "count" else choice.points
        return isinstance(value, int) and span.min <= value <= span.max
    if name == "cubes":
        if not isinstance(value, tuple):
            return False
        there = cubes.counts(choice.cubes.available)
        fits = all(taken <= held for taken, held in zip(value, there, strict=True))
        return fits and choice.cubes.min <= sum(value) <= choice.cubes.max
    return value in (_values(choice, name, 9999) or [])


def _refusal(choice: actions_pb2.Choice, name: str, given: str) -> str:
    """Why a value is not admitted, with what is."""
    if name == "cubes":
        return f"{given} does not fit: choose {choices.bounds(choice.cubes).plain}"
    if name in ("count", "points"):
        span = choice.count if name == "count" else choice.points
        return f"{given} does not fit: a number from {span.min} to {span.max}"
    allowed = [_shown(name, value) for value in _values(choice, name, 99) or []]
    return f"{given} does not fit: choose {listed(allowed, 'or')}"


def _shown(name: str, value: object) -> str:
    """A value as it is typed."""
    if isinstance(value, tuple):
        return cubes.letters(_message(value)) or "nothing"
    if name == "cube" and isinstance(value, int):
        return cubes.color_word(value) if value else "no cube"
    if name == "bonus" and isinstance(value, int):
        return bonus.word(value)
    return clean(str(value), 20)


def _message(counts: Counts) -> actions_pb2.Cubes:
    yellow, red, green, brown = counts
    return actions_pb2.Cubes(yellow=yellow, red=red, green=green, brown=brown)


def _lowest(there: Counts, number: int) -> Counts:
    """So many cubes of the lowest value."""
    taken = []
    for held in there:
        taken.append(min(held, number))
        number -= taken[-1]
    return (taken[0], taken[1], taken[2], taken[3])
