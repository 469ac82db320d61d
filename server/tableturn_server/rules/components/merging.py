"""A user's component set over its base: what changes, and how sure it then is.

An item with the id of an item of the base changes the fields that it names, any
other item is added, and a group with `"replace": true` starts empty. What is
changed is the user's word: unless the file says otherwise its confidence is
`single-source`, and its sources are those that the file names for the group. An
item that stands there with the values of the base changes nothing, so it keeps
the base's confidence and sources; who has looked says so by a `confidence` of the
item or of its group.
"""

from __future__ import annotations

from typing import Any

from tableturn_server.rules.components.errors import BadComponents
from tableturn_server.rules.components.sets import GROUPS, Confidence

Json = dict[str, Any]
Places = dict[str, dict[int, int]]
"""For each group: where an item of the merged set stands in the user's file."""

_WORD = ("confidence", "sources", "unsure")
"""What tells how sure an item is, and whose word that is."""
_CLAIMS = (*_WORD, "alternative", "note")
"""What an item says about its values; void when the values are changed."""


def merged(base: Json, given: Json) -> tuple[Json, Places]:
    """What a user's file says, over the base; and where its items went."""
    whole = {**base, "name": "own", "note": "", "base": "none"}
    places: Places = {}
    for key, value in given.items():
        if key == "sources" and isinstance(value, dict):
            whole[key] = {**base.get(key, {}), **value}
        elif key in GROUPS:
            whole[key], places[key] = _group(base.get(key, {}), value, key)
        elif key != "base":
            whole[key] = value
    return whole, places


def with_defaults(group: Any, path: str) -> Json:
    """The group with its confidence and sources written into each item without."""
    items = _items(group, path)
    default = {key: group[key] for key in ("confidence", "sources") if key in group}
    return {**group, "items": [{**default, **item} for item in items]}


def _group(base: Json, given: Any, path: str) -> tuple[Json, dict[int, int]]:
    """A group of a user's file over the same group of the base.

    Also tells which place in the file each item of the file has in the result.
    """
    items = _items(given, path)
    replace = given.get("replace", False)
    if not isinstance(replace, bool):
        raise BadComponents(f"{path}.replace", "true or false")
    before = [] if replace else with_defaults(base, path)["items"]
    after = list(before)
    known = {item["id"]: place for place, item in enumerate(before)}
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
        target = known.get(name, len(after))
        places[target] = place
        if target == len(after):
            after.append(_new(item, given))
        else:
            after[target] = _changed(before[target], item, given)
    # What the base says of its group is void once nothing is left that it holds for.
    kept = base if any(one in before for one in after) else {}
    group = {**kept, **{k: v for k, v in given.items() if k not in ("items", "replace")}}
    return {**group, "items": after}, places


def _new(item: Json, group: Json) -> Json:
    """An item of the user's own: their word, as the file gives it."""
    confidence = group.get("confidence", Confidence.SINGLE_SOURCE.value)
    return {"confidence": confidence, "sources": group.get("sources", []), **item}


def _changed(base: Json, item: Json, group: Json) -> Json:
    """An item of the base as the user's file has it."""
    changes = any(base.get(key) != value for key, value in item.items() if key not in _CLAIMS)
    says = "confidence" in group or any(key in item for key in _WORD)
    if not changes and not says:
        return {**base, **item}
    values = {key: value for key, value in base.items() if key not in _CLAIMS}
    if "confidence" in group or "confidence" in item:
        return {**values, **_new(item, group)}
    return {**values, "unsure": _still_reconstructed(base, item), **_new(item, group)}


def _still_reconstructed(base: Json, item: Json) -> Json:
    """The stand-ins of the base that an item leaves as they are."""
    unsure = base.get("unsure", {})
    fields = (key for key in base if key not in (*_CLAIMS, *item))
    words = {field: unsure.get(field, base["confidence"]) for field in fields}
    word = Confidence.RECONSTRUCTED.value
    return {field: word for field, found in words.items() if found == word}


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
