"""How a drawing is to look: how much room there is, and which signs may be used."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console


@dataclass(frozen=True)
class Signs:
    """The signs of the map and the rows; every one takes one column."""

    outpost: str
    boat: str
    turn: str
    arrow: str
    dot: str
    dash: str
    rising: str
    falling: str
    floor: str
    times: str
    done: str


UNICODE = Signs(
    outpost="⌂",
    boat="▲",
    turn="▶",
    arrow="→",
    dot="·",
    dash="–",
    rising="╱",
    falling="╲",
    floor="_",
    times="×",
    done="✓",
)
ASCII = Signs(
    outpost="#",
    boat="^",
    turn=">",
    arrow="->",
    dot="-",
    dash="-",
    rising="/",
    falling="\\",
    floor="_",
    times="x",
    done="+",
)


@dataclass(frozen=True)
class Look:
    """The room for a drawing, in columns and lines, and its signs."""

    width: int = 80
    height: int = 24
    signs: Signs = UNICODE

    @classmethod
    def of(cls, console: Console) -> Look:
        """The look for a console: plain ASCII where it can't write anything else."""
        signs = ASCII if console.options.ascii_only else UNICODE
        return cls(max(20, console.width), max(8, console.height), signs)

    @property
    def wide(self) -> bool:
        """There is room for boards beside a map."""
        return self.width >= 100
