"""The one table of all actions: kind, form and meaning.

A form is the text itself with `{fields}` in it; what stands in brackets may be
left out. A new action is one line here (and a line in `FIELDS` if it has a field
that no action had before, such as a card).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property

from tableturn.notation.fields import FIELDS, Value

FILLERS = frozenset({"to", "for", "seat", "up", "game", "on"})
"""Words that `format` writes and that may be left out by people: `pay red 2`."""

_PART = re.compile(r"\[([^]]+)]|\{(\w+)\}|(\w+)")


@dataclass(frozen=True)
class Word:
    """A fixed word of a form."""

    word: str

    @property
    def usage(self) -> str:
        """The word."""
        return self.word


@dataclass(frozen=True)
class Slot:
    """The place of a field in a form."""

    name: str

    @property
    def usage(self) -> str:
        """The field's placeholder in help texts."""
        return FIELDS[self.name].placeholder


@dataclass(frozen=True)
class Maybe:
    """A part of a form that may be left out."""

    parts: tuple[Part, ...]

    @property
    def usage(self) -> str:
        """The part in brackets."""
        return f"[{' '.join(part.usage for part in self.parts)}]"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in it."""
        return tuple(part.name for part in self.parts if isinstance(part, Slot))


Part = Word | Slot | Maybe


@dataclass(frozen=True)
class Form:
    """How one kind of action is written, and what it means at the table.

    `implied` are the values of fields that are left out in a text, where that
    is not the same as not being set (`trade` is `trade 1`).
    """

    kind: str
    pattern: str
    meaning: str
    implied: dict[str, Value] = field(default_factory=dict, hash=False)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The pattern, taken apart."""
        return _parts(self.pattern)

    @property
    def verb(self) -> str:
        """The first word."""
        return self.pattern.split()[0]

    @property
    def name(self) -> str:
        """The words that it begins with, such as `pick up`."""
        words = itertools.takewhile(lambda part: isinstance(part, Word), self.parts)
        return " ".join(part.usage for part in words)

    @property
    def usage(self) -> str:
        """The form for help texts, such as `move TILE [dropping COLOUR]`."""
        return " ".join(part.usage for part in self.parts)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields, in the order of the text."""
        names: list[str] = []
        for part in self.parts:
            if isinstance(part, Slot):
                names.append(part.name)
            elif isinstance(part, Maybe):
                names.extend(part.fields)
        return tuple(names)


def _parts(pattern: str) -> tuple[Part, ...]:
    """A pattern, taken apart."""
    parts: list[Part] = []
    for group, name, word in _PART.findall(pattern):
        parts.append(Maybe(_parts(group)) if group else Slot(name) if name else Word(word))
    return tuple(parts)


FORMS = (
    Form("take_pile", "take pile {pile}", "choose a pile of starting cubes"),
    Form("place_boat", "place boat {tile}", "put your boat on its first tile"),
    Form("move", "move {tile} [dropping {cube}] [with {card}]", "move your boat one step"),
    Form("pay_owner", "pay {cube} to seat {seat}", "pay the owner of a boat where you end"),
    Form("pick_up", "pick up {cubes}", "take cubes that lie on the tile where you ended"),
    Form("build_outpost", "build [paying {cubes}]", "build an outpost on the tile of your boat"),
    Form("take_bonus", "take bonus {bonus}", "take a bonus tile for an emptied column"),
    Form("upgrade", "upgrade {cube}", "exchange a cube for one of the next colour"),
    Form("trade", "trade [{count}]", "do the exchange of the tile or card, so often", {"count": 1}),
    Form("claim_tile", "claim", "pay for and take the victory point tile of the port"),
    Form("harvest", "harvest", "take the cubes of a harvest"),
    Form("return_cubes", "return {cubes}", "give cubes above the limit back to the supply"),
    Form("acquire_card", "acquire {card}", "choose a merchant card of the row"),
    Form("put_cube", "put {cube} on {card}", "pay a card to the left of the one you acquire"),
    Form("take_card", "take card {card}", "take a merchant card free of charge"),
    Form("play_card", "play {card}", "play a card of your hand"),
    Form("claim_card", "claim {card}", "pay for and take a point card"),
    Form("rest", "rest", "take your cards back into your hand"),
    Form("pass_round", "pass", "sit out the rest of the round"),
    Form("score_points", "score {points} for seat {seat}", "add points by hand, or take some"),
    Form("name_next", "next seat {seat}", "name the seat that is next in the turn order"),
    Form("finish_game", "finish game", "end the game; the points stand"),
)
"""All actions of all games, in the order of `tableturn.v1.Action`."""

BY_KIND = {form.kind: form for form in FORMS}
BY_VERB = {
    verb: tuple(form for form in FORMS if form.verb == verb)
    for verb in dict.fromkeys(form.verb for form in FORMS)
}


def forms(*kinds: str) -> tuple[Form, ...]:
    """The forms of these kinds, or all of them, for help texts.

    A kind that is not known to this version is left out.
    """
    if not kinds:
        return FORMS
    return tuple(BY_KIND[kind] for kind in kinds if kind in BY_KIND)
