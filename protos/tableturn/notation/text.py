"""Reading and writing actions by the table of forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple

from tableturn.notation.errors import Unreadable, Unwritable
from tableturn.notation.fields import FIELDS, Misfit, Value
from tableturn.notation.forms import BY_KIND, BY_VERB, FILLERS, Form, Maybe, Part, Slot, Word

Parsed = tuple[str, dict[str, Value]]
"""The kind of an action, and its fields that are set."""

MAX_TEXT = 200
"""The longest text of an action, in characters."""
MAX_TURN = 2000
"""The longest text of a whole turn, in characters."""
_BETWEEN = re.compile(r";|(?<!\S)then(?!\S)", re.IGNORECASE)
"""What stands between the actions of a turn."""
NOTHING = "-"
"""A turn in which nothing was staged."""

_TOKEN = re.compile(r"[^\s,]+")


class _Token(NamedTuple):
    """A word as it was typed, in lower case, and where it stands."""

    word: str
    start: int
    end: int


class _Failure(Exception):
    """A form doesn't fit from this token on."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at


def parse(text: str) -> Parsed:
    """The action that a text means, as its kind and the fields that are set.

    Forgiving in case, white space and commas, in colours (`red`, `r`) and
    bundles (`YYR`, `2Y R`, `2 yellow, red`), and the words `to`, `for`, `on`, `seat`,
    `up` and `game` may be left out. Raises Unreadable, and nothing else.
    """
    if len(text) > MAX_TEXT:
        raise Unreadable(
            f"an action has at most {MAX_TEXT} characters, not {len(text)}",
            text,
            MAX_TEXT,
            len(text),
        )
    tokens = [_Token(m[0].lower(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    if not tokens:
        raise Unreadable("there is no action", text, 0, len(text))
    candidates = BY_VERB.get(tokens[0].word)
    if candidates is None:
        word = _quoted(text, tokens[0])
        raise Unreadable(
            f"no action begins with {word}",
            text,
            tokens[0].start,
            tokens[0].end,
            _nearest_verbs(tokens),
        )
    failures: list[tuple[_Failure, Form]] = []
    for form in candidates:
        try:
            return form.kind, _read(form, tokens, text)
        except _Failure as failure:
            failures.append((failure, form))
    furthest = max(failure.at for failure, _ in failures)
    kept = [(failure, form) for failure, form in failures if failure.at == furthest]
    kept.sort(key=lambda pair: _likeness(pair[1], tokens), reverse=True)
    start, end = (
        (tokens[furthest].start, tokens[furthest].end)
        if furthest < len(tokens)
        else (len(text), len(text))
    )
    raise Unreadable(kept[0][0].problem, text, start, end, tuple(form.usage for _, form in kept))


def format(kind: str, fields: Mapping[str, object]) -> str:
    """The canonical text of an action; the inverse of `parse`.

    A field that is None, or that has the value an unset field has in a protobuf
    message, counts as left out. Raises Unwritable for a kind that is not known,
    and for a field that is unknown, missing or out of range.
    """
    form = BY_KIND.get(kind)
    if form is None:
        raise Unwritable(f"no action is called {kind!r}")
    unknown = set(fields) - set(form.fields)
    if unknown:
        raise Unwritable(f"{kind} has no field {', '.join(sorted(unknown))}")
    return " ".join(_written(form, form.parts, fields))


def split_turn(text: str) -> list[str]:
    """The texts between `;` or the word `then`, empty ones left out.

    >>> split_turn("move C3 then build; trade 2")
    ['move C3', 'build', 'trade 2']
    """
    return [part for between in _BETWEEN.split(text) if (part := between.strip())]


def parse_turn(text: str) -> tuple[Parsed, ...]:
    """The actions of a turn, with `;` or `then` between them; `-` for none. Raises Unreadable."""
    if len(text) > MAX_TURN:
        raise Unreadable(
            f"a turn has at most {MAX_TURN} characters, not {len(text)}",
            text,
            MAX_TURN,
            len(text),
        )
    if text.strip() == NOTHING:
        return ()
    actions: list[Parsed] = []
    offset = 0
    for between in (*_BETWEEN.finditer(text), None):
        part = text[offset : between.start() if between else len(text)]
        try:
            actions.append(parse(part))
        except Unreadable as unreadable:
            raise unreadable.moved(text, offset) from None
        offset = between.end() if between else offset
    return tuple(actions)


def format_turn(actions: Iterable[tuple[str, Mapping[str, object]]]) -> str:
    """The actions of a turn as one text; the inverse of `parse_turn`."""
    return "; ".join(format(kind, fields) for kind, fields in actions) or NOTHING


# ---------------------------------------------------------------- reading


def _read(form: Form, tokens: list[_Token], text: str) -> dict[str, Value]:
    """The fields of a text of this form. Raises _Failure."""
    fields: dict[str, Value] = {}
    at = _read_parts(form.parts, tokens, 0, text, fields)
    if at < len(tokens):
        word = _quoted(text, tokens[at])
        maybes = [part for part in form.parts if isinstance(part, Maybe)]
        left = [f"`{part.usage[1:-1]}`" for part in maybes if not set(part.fields) & set(fields)]
        if left:
            raise _Failure(f"{word} is not understood here, only {' or '.join(left)}", at)
        raise _Failure(f"{word} is too much here", at)
    for part in form.parts:
        if isinstance(part, Maybe):
            for name in part.fields:
                if name in fields and fields[name] == FIELDS[name].empty:
                    del fields[name]
    return {**form.implied, **fields}


def _read_parts(
    parts: tuple[Part, ...], tokens: list[_Token], at: int, text: str, fields: dict[str, Value]
) -> int:
    """Read parts from the token `at` on; the token that comes after them."""
    for part in parts:
        if isinstance(part, Word):
            if at < len(tokens) and tokens[at].word == part.word:
                at += 1
            elif part.word not in FILLERS:
                raise _Failure(_missing(f'"{part.word}"', tokens, at, text), at)
        elif isinstance(part, Slot):
            at = _read_field(part.name, tokens, at, text, fields)
        elif at < len(tokens) and _begins(part, tokens[at]):
            at = _read_parts(part.parts, tokens, at, text, fields)
    return at


def _read_field(
    name: str, tokens: list[_Token], at: int, text: str, fields: dict[str, Value]
) -> int:
    """Read one field; the token that comes after it."""
    field = FIELDS[name]
    if at >= len(tokens):
        raise _Failure(_missing(field.wanted, tokens, at, text), at)
    words = [token.word for token in tokens[at:]]
    taken = field.takes(words)
    try:
        fields[name] = field.read(words[:taken])
    except Misfit as misfit:
        raise _Failure(str(misfit), at + misfit.word) from None
    return at + taken


def _begins(part: Maybe, token: _Token) -> bool:
    """An optional part begins at this token."""
    first = part.parts[0]
    return not isinstance(first, Word) or first.word == token.word


def _missing(wanted: str, tokens: list[_Token], at: int, text: str) -> str:
    """The sentence for what should stand at a token."""
    after = f"after {_quoted(text, tokens[at - 1])}" if at else "at the beginning"
    if at < len(tokens):
        return f"{_quoted(text, tokens[at])} stands {after} instead of {wanted}"
    return f"{wanted} is missing {after}"


def _quoted(text: str, token: _Token) -> str:
    """A word as it was typed, shortened."""
    word = text[token.start : token.end]
    return f'"{word[:24]}..."' if len(word) > 24 else f'"{word}"'


# ---------------------------------------------------------------- what may have been meant


def _nearest_verbs(tokens: list[_Token]) -> tuple[str, ...]:
    """The forms whose beginning looks like what was typed, the closest first."""
    typed = tokens[0].word[:40]
    names = {form.kind: form for forms in BY_VERB.values() for form in forms}
    close = get_close_matches(typed, BY_VERB, n=2) + get_close_matches(typed, names, n=1)
    found = [form for name in close for form in BY_VERB.get(name, (names.get(name),)) if form]
    return tuple(dict.fromkeys(form.usage for form in found))


def _likeness(form: Form, tokens: list[_Token]) -> float:
    """How much a text looks like the fixed words of a form."""
    words = " ".join(part.word for part in form.parts if isinstance(part, Word))
    typed = " ".join(token.word for token in tokens[: len(form.parts) - 1])
    return SequenceMatcher(None, words, typed).ratio()


# ---------------------------------------------------------------- writing


def _written(form: Form, parts: tuple[Part, ...], fields: Mapping[str, object]) -> list[str]:
    """The words of parts of a form."""
    words: list[str] = []
    for part in parts:
        if isinstance(part, Word):
            words.append(part.word)
        elif isinstance(part, Maybe):
            if any(name in form.implied or _is_set(name, fields) for name in part.fields):
                words.extend(_written(form, part.parts, fields))
        else:
            value = fields.get(part.name)
            if value is None:
                raise Unwritable(f"{form.kind} needs the field {part.name}")
            try:
                words.append(FIELDS[part.name].write(value))
            except Misfit as misfit:
                raise Unwritable(f"{form.kind}: {part.name}: {misfit}") from None
    return words


def _is_set(name: str, fields: Mapping[str, object]) -> bool:
    """The field has a value of its own."""
    value = fields.get(name)
    return value is not None and value != FIELDS[name].empty
