"""Reading component sets: the shipped ones, and a user's own over a shipped base.

A set is a JSON file. What a user's file leaves out comes from its base (the
game's shipped set, unless `base` says `none`); an item with the id of an item of
the base changes the fields that it names, any other item is added, and a group
with `"replace": true` starts empty. A changed value is the user's word: unless
the file says otherwise its confidence is `single-source`, without sources.
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
from tableturn_server.rules.components.sets import GROUPS, ComponentSet

__all__ = ["BadComponents", "load", "shipped", "shipped_names"]

MAX_BYTES = 256 * 1024
MAX_NESTING = 8
MAX_TEXT = 1000
FORMAT = 1
_HEAD = ("format", "name", "game", "title", "note", "sources", "base")

Json = dict[str, Any]
Places = dict[str, dict[int, int]]
"""For each group: where an item of the merged set stands in the user's file."""


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
    """The content of a shipped file."""
    file = resources.files(__package__).joinpath(name.replace("-", "_") + ".json")
    return _read(file.read_bytes())


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
    if base not in shipped_names():
        names = ", ".join((*shipped_names(), "none"))
        raise BadComponents("base", f"must be one of {names}")
    merged, places = _merged(_shipped_data(base), given)
    try:
        return _own(_build(merged, game))
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
    """An object; a key that stands twice would silently win over the first."""
    found: Json = {}
    for key, value in pairs:
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


# -- a user's set over its base ------------------------------------------------------------


def _merged(base: Json, given: Json) -> tuple[Json, Places]:
    """What a user's file says, over the base; and where its items went."""
    merged = {**base, "name": "own", "note": "", "base": "none"}
    places: Places = {}
    for key, value in given.items():
        if key == "sources" and isinstance(value, dict):
            merged[key] = {**base.get(key, {}), **value}
        elif key in GROUPS:
            merged[key], places[key] = _merged_group(base.get(key, {}), value, key)
        elif key != "base":
            merged[key] = value
    return merged, places


def _merged_group(base: Json, given: Any, path: str) -> tuple[Json, dict[int, int]]:
    """A group of a user's file over the same group of the base.

    Also tells which place in the file each item of the file has in the result.
    """
    items = _items(given, path)
    default = given.get("confidence", "single-source")
    sources = given.get("sources", [])
    replace = given.get("replace", False)
    if not isinstance(replace, bool):
        raise BadComponents(f"{path}.replace", "true or false")
    merged = [] if replace else _items(_with_defaults(base, path), path)
    known = {item["id"]: place for place, item in enumerate(merged)}
    places: dict[int, int] = {}
    seen: set[str] = set()
    for place, item in enumerate(items):
        where = f"{path}.items[{place}]"
        name = item.get("id")
        if not isinstance(name, str):
            raise BadComponents(f"{where}.id", "every item has an id")
        if name in seen:
            raise BadComponents(f"{where}.id", f"{name!r} stands twice")
        seen.add(name)
        own = {"confidence": default, "sources": sources, **item}
        target = known.get(name, len(merged))
        places[target] = place
        if target == len(merged):
            merged.append(own)
        else:
            kept = {k: v for k, v in merged[target].items() if k not in _CLAIMS}
            merged[target] = {**kept, **own}
    group = {**base, **{k: v for k, v in given.items() if k not in ("items", "replace")}}
    return {**group, "items": merged}, places


_CLAIMS = ("confidence", "sources", "unsure", "alternative", "note")
"""What an item says about its values; void when the values are changed."""


def _items(group: Any, path: str) -> list[Json]:
    """The items of a group as they stand."""
    if not isinstance(group, dict):
        raise BadComponents(path, "a group is an object with `items`")
    items = group.get("items", [])
    if not isinstance(items, list):
        raise BadComponents(f"{path}.items", "a list of items")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadComponents(f"{path}.items[{index}]", "an item is an object")
    return items


def _with_defaults(group: Any, path: str) -> Json:
    """The group with its confidence and sources written into each item without."""
    items = _items(group, path)
    default = {key: group[key] for key in ("confidence", "sources") if key in group}
    return {**group, "items": [{**default, **item} for item in items]}


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
            whole[name] = _with_defaults(data[name], name)
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
