"""Reading component sets: the shipped ones, and a user's own over a shipped base.

A set is a JSON file. A group of a shipped file may be `{"from": NAME}`, the same
group of another shipped set. What a user's file leaves out comes from its base
(`merging`), unless `base` says `none`. The key `//`, in any object, is a remark
for people and no part of the set.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any, NoReturn

import msgspec

from tableturn_server.rules.components.checks import check_set, games_with_components
from tableturn_server.rules.components.errors import BadComponents
from tableturn_server.rules.components.merging import Json, merged, with_defaults
from tableturn_server.rules.components.sets import GROUPS, ComponentSet

__all__ = ["BadComponents", "load", "shipped", "shipped_names"]

MAX_BYTES = 256 * 1024
MAX_NESTING = 8
MAX_TEXT = 1000
FORMAT = 1
_HEAD = ("format", "name", "game", "title", "note", "sources", "base")
REMARK = "//"


def shipped_names() -> tuple[str, ...]:
    """The names of the sets that come with Tableturn."""
    return _shipped_names()


@cache
def _shipped_names() -> tuple[str, ...]:
    files = resources.files(__package__).iterdir()
    names = (file.name.removesuffix(".json") for file in files if file.name.endswith(".json"))
    return tuple(sorted(name.replace("_", "-") for name in names))


@cache
def shipped(name: str) -> ComponentSet:
    """A set that comes with Tableturn. Raises KeyError for an unknown name."""
    if name not in shipped_names():
        raise KeyError(f"no component set {name!r}; there are: {', '.join(shipped_names())}")
    return _build(_shipped_data(name), name)


def _shipped_data(name: str) -> Json:
    """The content of a shipped file, whole: with the groups that it takes from others."""
    file = resources.files(__package__).joinpath(name.replace("-", "_") + ".json")
    data = _read(file.read_bytes())
    for group in GROUPS:
        if other := data.get(group, {}).get("from"):
            data = _with_taken(data, group, _shipped_data(other))
    return data


def _with_taken(data: Json, group: str, other: Json) -> Json:
    """A set with the group of another set, and the sources that the group names."""
    taken = with_defaults(other[group], group)
    sources = {name: other["sources"][name] for item in taken["items"] for name in item["sources"]}
    for name, text in sources.items():
        if data["sources"].get(name, text) != text:
            raise BadComponents("sources", f"{name!r} is another source where {group} come from")
    return {**data, group: taken, "sources": {**data["sources"], **sources}}


def load(data: bytes, game: str) -> ComponentSet:
    """A set from the bytes of a file, for a game. Raises BadComponents."""
    given = _read(data)
    if game not in games_with_components():
        raise BadComponents("game", f"{game!r} is played without components")
    if given.get("format") != FORMAT:
        raise BadComponents("format", f"must be {FORMAT}, the only format there is")
    if given.get("game", game) != game:
        other = repr(given["game"]) if isinstance(given["game"], str) else "another game"
        raise BadComponents("game", f"this set is for {other:.50}, not for {game!r}")
    base = given.get("base", game)
    if base == "none":
        return _own(_build(given, game))
    if base != game:
        raise BadComponents("base", f"must be one of {game}, none")
    whole, places = merged(_shipped_data(game), given)
    try:
        return _own(_build(whole, game))
    except BadComponents as error:
        raise error.moved(places) from None


def _own(components: ComponentSet) -> ComponentSet:
    """A user's set, which must not pass itself off as a shipped one."""
    name = components.name
    if name in shipped_names() and components != shipped(name):
        raise BadComponents("name", f"{name!r} is the name of a shipped set; take another")
    return components


# -- JSON with its limits ------------------------------------------------------------------


def _read(data: bytes) -> Json:
    """The JSON object in a file, its size, nesting, keys and texts checked."""
    if len(data) > MAX_BYTES:
        raise BadComponents("", f"the file has {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadComponents("", f"line {line}: the file is not UTF-8") from None
    _check_nesting(text)
    try:
        found = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_no_float,
            parse_int=_small_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadComponents("", f"{place}: not readable as JSON: {error.msg}") from None
    if not isinstance(found, dict):
        raise BadComponents("", "the file must hold one JSON object")
    _check_texts(found, "")
    return found


def _check_nesting(text: str) -> None:
    """Refuse deep nesting before the reader recurses into it."""
    depth = 0
    line = 1
    in_text = escaped = False
    for letter in text:
        if letter == "\n":
            line += 1
        if in_text:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"':
                in_text = False
        elif letter == '"':
            in_text = True
        elif letter in "[{":
            depth += 1
            if depth > MAX_NESTING:
                raise BadComponents("", f"line {line}: nested deeper than {MAX_NESTING} levels")
        elif letter in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> Json:
    """An object without its remarks; a key that stands twice would win over the first."""
    found: Json = {}
    for key, value in pairs:
        if key == REMARK:
            continue
        if key in found:
            raise BadComponents("", f"the key {key[:40]!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(word: str) -> NoReturn:
    raise BadComponents("", f"{word} is no number")


def _no_float(word: str) -> NoReturn:
    raise BadComponents("", f"only whole numbers are used, not {word[:40]}")


def _small_int(word: str) -> int:
    if len(word) > 6:
        raise BadComponents("", f"the number {word[:12]}... is too large")
    return int(word)


def _check_texts(value: Any, path: str) -> None:
    """Every text is short and has no control characters or broken surrogates."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_texts(key, path or "the file")
            _check_texts(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_texts(item, f"{path}[{index}]")
    elif isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise BadComponents(path, f"a text of at most {MAX_TEXT} letters, not {len(value)}")
        if not value.isprintable():
            raise BadComponents(path, f"{value[:20]!r} holds characters that can't be printed")


# -- typed and checked ---------------------------------------------------------------------


def _build(data: Json, game: str) -> ComponentSet:
    """The typed set, checked for a game."""
    known = (*_HEAD, *GROUPS)
    for key in data:
        if key not in known:
            raise BadComponents(key[:40], f"not known; there may be: {', '.join(known)}")
    whole: Json = {"note": "", **data, "base": "none"}
    for name in GROUPS:
        if name in data:
            whole[name] = with_defaults(data[name], name)
    try:
        typed = msgspec.convert(_as_pairs(whole), ComponentSet)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        raise BadComponents(path.strip("`").removeprefix("$").lstrip("."), message) from None
    check_set(typed, game)
    document = json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return msgspec.structs.replace(typed, document=document, sha256=sha256(document).digest())


def _as_pairs(data: Json) -> Json:
    """Objects with free keys as pairs, so that a set has nothing mutable in it."""
    found = dict(data)
    found["sources"] = _pairs(data.get("sources", {}))
    for name in GROUPS:
        if name in data:
            items = [
                {**item, "unsure": _pairs(item["unsure"])} if "unsure" in item else item
                for item in data[name]["items"]
            ]
            found[name] = {k: v for k, v in data[name].items() if k != "replace"}
            found[name]["items"] = items
    return found


def _pairs(value: Any) -> Any:
    """An object as a list of pairs; anything else is left to the type check."""
    return list(value.items()) if isinstance(value, dict) else value
