"""Component sets of a user's own, for tests."""

from __future__ import annotations

import json
from typing import Any

from tableturn_server.rules import components
from tableturn_server.rules.components import ComponentSet


def own_file(groups: dict[str, Any], *, game: str = "eastern-wonders", **head: Any) -> bytes:
    """A user's file over the shipped set of a game."""
    whole = {"format": 1, "name": "my-box", "game": game, **head, **groups}
    return json.dumps(whole).encode()


def own_set(groups: dict[str, Any], *, game: str = "eastern-wonders", **head: Any) -> ComponentSet:
    return components.load(own_file(groups, game=game, **head), game)
