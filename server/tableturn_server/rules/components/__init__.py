"""Cards, tiles and boards as data, each with its sources."""

from tableturn_server.rules.components.reading import BadComponents, load, shipped, shipped_names
from tableturn_server.rules.components.sets import ComponentSet, Confidence, GroupSummary

__all__ = [
    "BadComponents",
    "ComponentSet",
    "Confidence",
    "GroupSummary",
    "load",
    "shipped",
    "shipped_names",
]
