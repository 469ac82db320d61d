"""A component set as a file that an owner of the box fills in: what isn't verified, in place."""

from __future__ import annotations

import json
from typing import Any

from tableturn_client.client import ComponentSet
from tableturn_client.messages import ComponentGroup, Confidence

Json = dict[str, Any]
REMARK = "//"
"""The key of remarks for people: the service reads past them."""
WIDTH = 110
VERIFIED = "verified"
_CLAIMS = ("confidence", "sources", "unsure", "alternative", "note")
_HOW_TO = (
    "Put in what is printed on your copy, line by line. Cubes are letters: Y yellow, R red, "
    "G green, B brown.",
    "A line that you change is single-source from then on: you have seen it. A line that you leave "
    "as it is stays as sure as it was, which its remark says.",
    "A line that is right as it stands: add `confidence` `single-source` to it; or to its group, "
    "beside `items`, once you have looked at all its lines.",
    "Lines and groups may be taken out; what isn't here stays as it is shipped.",
)


def template(found: ComponentSet, *, everything: bool) -> Json:
    """The groups with values that aren't verified, the least sure first; or all of them."""
    document: Json = json.loads(found.document)
    summary = found.summary
    by_doubt = sorted(summary.groups, key=lambda group: -group.confidence)
    chosen = [group for group in by_doubt if everything or not _is_verified(group)]
    remark: Any = list(_HOW_TO)
    if not chosen:
        remark = nothing_to_fill_in(found)
    return {
        REMARK: remark,
        "format": document["format"],
        "name": f"my-{summary.name}"[:40],
        "game": summary.game,
        "sources": {"box": "my own copy of the game"},
        **{group.name: _group(document[group.name], everything) for group in chosen},
    }


def nothing_to_fill_in(found: ComponentSet) -> str:
    """What is said of a set whose values are all verified; empty for others."""
    if not all(map(_is_verified, found.summary.groups)):
        return ""
    return f"All values of {found.summary.name} are verified: nothing needs filling in."


def _is_verified(group: ComponentGroup) -> bool:
    return group.confidence == Confidence.CONFIDENCE_VERIFIED


def _group(group: Json, everything: bool) -> Json:
    """The lines of a group; what its owner changes is told of their box."""
    items = [_item(item) for item in group["items"] if everything or _doubts(item)]
    remark = {REMARK: group["note"]} if group.get("note") else {}
    return {**remark, "sources": ["box"], "items": items}


def _item(item: Json) -> Json:
    """One line: the values of an item, and how sure they are."""
    values = {key: value for key, value in item.items() if key not in _CLAIMS}
    return {"id": item["id"], **values, REMARK: _doubts(item) or VERIFIED}


def _doubts(item: Json) -> str:
    """How sure the values of an item are, in words; empty if they are verified."""
    words = [] if item["confidence"] == VERIFIED else [item["confidence"]]
    words += [f"{field}: {sure}" for field, sure in item.get("unsure", {}).items()]
    if alternative := item.get("alternative"):
        words.append(f"perhaps {alternative}")
    return "; ".join(words)


def laid_out(value: Any, used: int = 0, indent: str = "") -> str:
    """JSON with everything on one line that fits there."""
    line = json.dumps(value, ensure_ascii=False)
    if used + len(line) <= WIDTH or not value or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        parts = [laid_out(one, len(deeper), deeper) for one in value]
    else:
        keys = [f"{json.dumps(key)}: " for key in value]
        parts = [
            key + laid_out(one, len(deeper) + len(key), deeper)
            for key, one in zip(keys, value.values(), strict=True)
        ]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    body = f",\n{deeper}".join(parts)
    return f"{opening}\n{deeper}{body}\n{indent}{closing}"
