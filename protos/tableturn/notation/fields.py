"""The fields of actions: how each is written, and how it is read.

A field reads one word or several and gives a plain value. Reading is forgiving
(`red`, `Red`, `r`; `YYR`, `2Y R`, `2 yellow, red`), writing is not: there is one
text for each value.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from difflib import get_close_matches

CubeCounts = tuple[int, int, int, int]
"""How many yellow, red, green and brown cubes."""

Value = int | str | CubeCounts
"""The value of any field."""

COLORS = ("yellow", "red", "green", "brown")
"""The colours of cubes, by their number in `tableturn.v1.CubeColor` from 1."""
LETTERS = "YRGB"
BONUSES = ("move", "upgrade", "harvest", "cargo", "vp")
"""The bonus tiles, by their number in `tableturn.v1.BonusKind` from 1."""

MAX_LETTERS = 12
"""A bundle of more cubes is written with counts: `20Y3R`."""
MAX_UINT32 = 2**32 - 1
MAX_SINT32 = 2**31 - 1

_BUNDLE = re.compile(r"([0-9]*)(yellow|red|green|brown|[yrgb])")
_COUNT = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")


class Misfit(Exception):
    """A word doesn't fit the field: which of the words read. The sentence is for a person."""

    def __init__(self, problem: str, word: int = 0) -> None:
        super().__init__(problem)
        self.word = word


class Field(ABC):
    """How one field stands in texts.

    `placeholder` is its name in help texts, `wanted` says what may stand there.
    """

    placeholder: str
    wanted: str
    empty: object = None
    """The value that means that the field is not set, as a protobuf message has it."""

    def takes(self, words: list[str]) -> int:
        """How many of the words that follow belong to this field; at least 1."""
        return 1

    @abstractmethod
    def read(self, words: list[str]) -> Value:
        """The value of the words taken, in lower case. Raises Misfit."""

    @abstractmethod
    def write(self, value: object) -> str:
        """The canonical text. Raises Misfit for a value that has none."""


class Name(Field):
    """A name on a component, such as the tile `C3`; written in upper case."""

    empty = ""

    def __init__(self, placeholder: str, wanted: str, pattern: str) -> None:
        """Bind a name; `pattern` is a regular expression for its upper-case form."""
        self.placeholder = placeholder
        self.wanted = wanted
        self._pattern = re.compile(pattern)

    def read(self, words: list[str]) -> str:
        """The name in upper case."""
        name = words[0].upper()
        if not words[0].isascii() or not self._pattern.fullmatch(name):
            raise Misfit(f"{_shown(words[0])} is not {self.wanted}")
        return name

    def write(self, value: object) -> str:
        """The name itself."""
        if not isinstance(value, str) or not self._pattern.fullmatch(value):
            raise Misfit(f"{_shown(value)} is not {self.wanted}")
        return value


class Whole(Field):
    """A whole number from `least` to `most`."""

    def __init__(
        self, placeholder: str, wanted: str, least: int, most: int, empty: int | None = None
    ) -> None:
        self.placeholder = placeholder
        self.wanted = wanted
        self.least = least
        self.most = most
        self.empty = empty

    def read(self, words: list[str]) -> int:
        """The number."""
        if not _NUMBER.fullmatch(words[0]):
            raise Misfit(f"{_shown(words[0])} is not {self.wanted}")
        value = int(words[0])
        self.write(value)
        return value

    def write(self, value: object) -> str:
        """The number in decimal digits."""
        if not isinstance(value, int) or not self.least <= value <= self.most:
            raise Misfit(f"{_shown(value)} is not {self.wanted}")
        return str(int(value))


class OneOf(Field):
    """One word of a few, known by its number from 1."""

    empty = 0

    def __init__(self, placeholder: str, wanted: str, words: tuple[str, ...], letters: int) -> None:
        """Bind the words; their first `letters` letters do too, if not 0."""
        self.placeholder = placeholder
        self.wanted = f"{wanted}: {', '.join(words[:-1])} or {words[-1]}"
        self._words = words
        self._numbers = {word: number for number, word in enumerate(words, 1)}
        if letters:
            self._numbers.update({word[:letters]: self._numbers[word] for word in words})

    def read(self, words: list[str]) -> int:
        """The number of the word."""
        number = self._numbers.get(words[0])
        if number is None:
            close = get_close_matches(words[0], self._words, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else ""
            raise Misfit(f"{_shown(words[0])} is not {self.wanted}{hint}")
        return number

    def write(self, value: object) -> str:
        """The word."""
        if not isinstance(value, int) or not 1 <= value <= len(self._words):
            raise Misfit(f"{_shown(value)} is not the number of {self.wanted}")
        return self._words[value - 1]


class Bundle(Field):
    """A bundle of cubes: `YYR`; also `2Y R`, `2 yellow, red`, and `nothing`."""

    placeholder = "CUBES"
    wanted = "a bundle of cubes such as YYR or 2Y R"
    empty = (0, 0, 0, 0)

    def takes(self, words: list[str]) -> int:
        """All words in a row that read as cubes, at least one."""
        taken = 0
        for word in words:
            if not (_COUNT.fullmatch(word) or _colors(word)):
                break
            taken += 1
        return max(1, taken)

    def read(self, words: list[str]) -> CubeCounts:
        """The counts. Equal colours add up."""
        if words == ["nothing"]:
            return (0, 0, 0, 0)
        if not words:
            raise Misfit(f"there is nothing, not even the word; wanted are {self.wanted}")
        counts = [0, 0, 0, 0]
        count = ""
        for place, word in enumerate(words):
            if _COUNT.fullmatch(word) and not count:
                count = word
                continue
            if not _colors(word) or (count and word[0].isdigit()):
                raise Misfit(f"{_shown(word)} is not {self.wanted}", place)
            for number, color in _BUNDLE.findall(count + word):
                many = int(number or 1)
                if not many:
                    raise Misfit(f"{_shown(word)}: the count of a colour begins at 1", place)
                counts[LETTERS.index(color[0].upper())] += many
            count = ""
        if count:
            raise Misfit(f"{_shown(count)}: a colour is missing after the count", len(words) - 1)
        self.write(tuple(counts))
        yellow, red, green, brown = counts
        return (yellow, red, green, brown)

    def write(self, value: object) -> str:
        """The letters in ascending order, or counts where they would be too many."""
        if (
            not isinstance(value, tuple)
            or len(value) != len(LETTERS)
            or not all(isinstance(n, int) and 0 <= n <= MAX_UINT32 for n in value)
        ):
            raise Misfit(f"{_shown(value)} is not how many cubes there are of each colour")
        pairs = list(zip(LETTERS, value, strict=True))
        if sum(value) > MAX_LETTERS:
            return "".join(f"{int(many)}{letter}" for letter, many in pairs if many)
        return "".join(letter * many for letter, many in pairs) or "nothing"


def _colors(word: str) -> bool:
    """The word is made of colours with or without counts, such as `2yr`."""
    return bool(word) and not _BUNDLE.sub("", word)


def _shown(value: object) -> str:
    """A value as it stands in a sentence, shortened."""
    text = str(value)
    return f'"{text[:24]}..."' if len(text) > 24 else f'"{text}"'


FIELDS: dict[str, Field] = {
    "tile": Name("TILE", "a tile such as C3", r"[A-Z]{1,2}[0-9]{1,3}"),
    "card": Name("CARD", "a card such as M12", r"[A-Z]{1,2}[0-9]{1,3}"),
    "cube": OneOf("COLOUR", "a colour", COLORS, letters=1),
    "cubes": Bundle(),
    "pile": Bundle(),
    "seat": Whole("SEAT", "a seat's number such as 2", 1, MAX_UINT32, empty=0),
    "bonus": OneOf("BONUS", "a bonus tile", BONUSES, letters=0),
    "count": Whole("COUNT", "a number of times such as 2", 1, MAX_UINT32, empty=0),
    "points": Whole("POINTS", "a number of points", -MAX_SINT32 - 1, MAX_SINT32),
}
"""How each field of an action is written. A field of a new type is one line here."""


def cubes_text(counts: CubeCounts) -> str:
    """A bundle in letters, such as `YYR`, or `nothing`. Raises ValueError for others."""
    try:
        return FIELDS["cubes"].write(counts)
    except Misfit as misfit:
        raise ValueError(str(misfit)) from None


def read_cubes(text: str) -> CubeCounts:
    """The bundle of a text such as `YYR` or `2 yellow, red`. Raises ValueError for others."""
    try:
        return Bundle().read(text.lower().replace(",", " ").split())
    except Misfit as misfit:
        raise ValueError(str(misfit)) from None
